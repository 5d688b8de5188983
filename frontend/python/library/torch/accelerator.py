# Models are read for a target, not for the machine's own devices.
def is_available():
    return False


def device_count():
    return 0


def current_accelerator(check_available=False):
    return None


def current_device_index():
    raise RuntimeError("Cannot access accelerator device when none is available.")


def synchronize(device=None, /):
    raise RuntimeError("Cannot access accelerator device when none is available.")


def empty_cache():
    raise RuntimeError("Cannot access accelerator device when none is available.")


def _needs_device(device_index=None):
    raise RuntimeError("Cannot access accelerator device when none is available.")


memory_allocated = max_memory_allocated = memory_reserved = reset_peak_memory_stats = get_memory_info = _needs_device
