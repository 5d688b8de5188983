import torch

OutOfMemoryError = torch._OutOfMemoryError


def is_available():
    return False


def is_current_stream_capturing():
    return False


def is_initialized():
    return False


def device_count():
    return 0


def current_device():
    return 0


def is_bf16_supported(*args):
    return False


def empty_cache():
    pass


def synchronize(device=None):
    pass


def set_device(device):
    pass


def manual_seed(seed):
    pass


def manual_seed_all(seed):
    pass


def max_memory_allocated(device=None):
    return 0


memory_allocated = memory_reserved = max_memory_reserved = max_memory_allocated


def reset_peak_memory_stats(device=None):
    pass


def get_device_capability(device=None):
    raise RuntimeError("No CUDA GPUs are available")


get_device_name = get_device_properties = get_device_capability


class device(torch.no_grad):
    pass


class stream(torch.no_grad):
    pass


class Stream:
    def __init__(self, *args, **kwargs):
        pass

    def wait_stream(self, stream):
        pass

    def synchronize(self):
        pass

    record_event = wait_event = wait_stream


class Event:
    def __init__(self, *args, **kwargs):
        pass

    def record(self, stream=None):
        pass

    def synchronize(self):
        pass

    def elapsed_time(self, end_event):
        return 0.0


(
    FloatTensor,
    HalfTensor,
    BFloat16Tensor,
    DoubleTensor,
    LongTensor,
    IntTensor,
    ShortTensor,
    CharTensor,
    ByteTensor,
    BoolTensor,
) = (
    torch._tensor_type(name, cuda=True)
    for name in ("Float", "Half", "BFloat16", "Double", "Long", "Int", "Short", "Char", "Byte", "Bool")
)


def _nothing(*args, **kwargs):
    pass


init = (
    ipc_collect
) = set_per_process_memory_fraction = set_stream = reset_max_memory_allocated = seed = seed_all = _nothing
memory_summary = lambda *args, **kwargs: ""
current_stream = default_stream = lambda device=None: Stream()
