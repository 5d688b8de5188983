import torch
from torch.distributed import device_mesh


def is_available():
    return False


def is_initialized():
    return False


def is_nccl_available():
    return False


def get_rank(group=None):
    return 0


def get_world_size(group=None):
    return 1


def barrier(*args, **kwargs):
    pass


def init_process_group(*args, **kwargs):
    raise RuntimeError("torch.distributed: only one process is supported here")


def _needs_group(*args, **kwargs):
    raise RuntimeError("Default process group has not been initialized, please make sure to call init_process_group.")


all_reduce = (
    all_gather
) = broadcast = reduce = gather = scatter = reduce_scatter = all_to_all = all_gather_object = new_group = _needs_group


class ReduceOp:
    SUM = "sum"
    MEAN = AVG = "avg"
    MAX = "max"
    MIN = "min"


class ProcessGroup:
    pass


class group:
    WORLD = None


def get_backend(group=None):
    _needs_group()


def destroy_process_group(group=None):
    pass


is_gloo_available = is_mpi_available = is_torchelastic_launched = is_nccl_available
monitored_barrier = (
    all_gather_into_tensor
) = broadcast_object_list = scatter_object_list = send = recv = isend = irecv = _needs_group
_all_gather_base = reduce_scatter_tensor = all_to_all_single = gather_object = get_global_rank = _needs_group
