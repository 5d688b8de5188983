from torch import _at_least


def is_available():
    return True


def device_count():
    return 1


def is_initialized():
    return True


def current_device():
    return "cpu"


def synchronize(device=None):
    pass


def set_device(device):
    pass


if not _at_least(2, 1):
    del is_available, device_count, synchronize
if not _at_least(2, 3):
    del is_initialized, current_device, set_device
