import torch
from torch import _has_torch_function, _has_torch_function_unary, _has_torch_function_variadic


def _get_tracing_state():
    return None


def _is_tracing():
    return False


_are_functorch_transforms_active = _is_tracing


def _log_api_usage_once(*args):
    pass


def _jit_set_profiling_mode(*args):
    return False


_jit_set_profiling_executor = (
    _jit_set_nvfuser_enabled
) = _jit_set_texpr_fuser_enabled = _jit_override_can_fuse_on_gpu = _jit_set_profiling_mode
_jit_override_can_fuse_on_cpu = (
    _debug_set_autodiff_subgraph_inlining
) = _jit_set_bailout_depth = _jit_set_autocast_mode = _jit_set_profiling_mode
_set_graph_executor_optimize = _jit_set_num_profiled_runs = _jit_set_profiling_mode


class DisableTorchFunctionSubclass:
    # Classes see no calls in here; a TorchFunctionMode does.
    _off = (1, 0)

    def __enter__(self):
        torch._switch_overrides(*self._off)

    def __exit__(self, *args):
        torch._switch_overrides(*(-n for n in self._off))


class DisableTorchFunction(DisableTorchFunctionSubclass):
    _off = (1, 0) if torch.__version__ < "2" else (1, 1)
