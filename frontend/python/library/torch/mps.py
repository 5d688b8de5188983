# There is no such device here: see xpu.py.
from torch.cuda import device_count, is_available, manual_seed  # noqa: F401


def _needs_device(*args, **kwargs):
    raise RuntimeError("Cannot execute this without MPS backend.")


empty_cache = synchronize = current_allocated_memory = driver_allocated_memory = recommended_max_memory = _needs_device
