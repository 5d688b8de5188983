# There is no such device here: questions have an answer, and what would use one raises as in
# PyTorch's build for CPUs.
from torch.cuda import (  # noqa: F401
    device_count,
    empty_cache,
    is_available,
    is_bf16_supported,
    is_initialized,
    manual_seed,
    manual_seed_all,
    max_memory_allocated,
    max_memory_reserved,
    memory_allocated,
    memory_reserved,
)


def is_current_stream_capturing():
    raise RuntimeError("Tried to instantiate dummy base class _xpu_isCurrentStreamCapturing")


def _needs_device(*args, **kwargs):
    raise AssertionError("Torch not compiled with XPU enabled")


current_device = synchronize = set_device = get_device_name = _needs_device
get_device_capability = get_device_properties = _needs_device
