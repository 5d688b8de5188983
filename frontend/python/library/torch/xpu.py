from torch.cuda import device_count, is_available, is_initialized  # noqa: F401  none here
