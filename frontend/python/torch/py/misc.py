# Small modules, one section each: "# == name" (library.cc cuts them apart)
# == torch.nn.parameter
class UninitializedParameter:
    def __init__(self, *args, **kwargs):
        raise NotImplementedError('lazy modules')


UninitializedBuffer = UninitializedParameter
# == torch._jit_internal
from torch.jit import _overload, _overload_method, export, ignore, is_scripting, unused
from typing import Dict, List, Optional, Tuple

Final = None


class _BroadcastingList:
    def __getitem__(self, types):
        return None


BroadcastingList1 = BroadcastingList2 = BroadcastingList3 = _BroadcastingList()


def _copy_to_script_wrapper(fn):
    return fn


def boolean_dispatch(arg_name, arg_index, default, if_true, if_false, module_name, func_name):
    return if_false
# == torch.jit.annotations
from torch._jit_internal import BroadcastingList1, BroadcastingList2, BroadcastingList3
# == torch.fx
def wrap(fn_or_name):
    return fn_or_name


class Node:
    pass


class Tracer:
    pass


class Graph:
    pass


class GraphModule:
    pass


class Proxy:
    pass


def symbolic_trace(root, *args, **kwargs):
    return root
# == torch.fx.graph_module
from torch.fx import GraphModule
# == torch.hub
def load_state_dict_from_url(*args, **kwargs):
    return {}


def load(*args, **kwargs):
    raise RuntimeError('torch.hub.load: there is no network here')


def get_dir():
    return '/nowhere/torch/hub'


def _get_torch_home():
    return '/nowhere/torch'


def download_url_to_file(*args, **kwargs):
    raise RuntimeError('torch.hub: there is no network here')


def set_dir(d):
    pass
# == torch.utils
# == torch.utils.checkpoint
def checkpoint(function, *args, use_reentrant=None, preserve_rng_state=True, context_fn=None, determinism_check=None, debug=None, **kwargs):
    return function(*args, **kwargs)


def checkpoint_sequential(functions, segments, input, **kwargs):
    if hasattr(functions, 'children'):
        functions = list(functions.children())
    for function in functions:
        input = function(input)
    return input
# == torch.utils.model_zoo
def load_url(*args, **kwargs):
    return {}
# == torch.utils.data
class Dataset:
    pass


class IterableDataset(Dataset):
    pass


class DataLoader:
    pass


class Sampler:
    pass


class ConcatDataset(Dataset):
    pass


class Subset(Dataset):
    pass


def random_split(*args, **kwargs):
    raise RuntimeError('torch.utils.data does not run here')
# == torch.utils._pytree
def tree_map(fn, tree):
    if isinstance(tree, (list, tuple)):
        return type(tree)(tree_map(fn, v) for v in tree)
    if isinstance(tree, dict):
        return {k: tree_map(fn, v) for k, v in tree.items()}
    return fn(tree)
# == torch.cuda
def is_available():
    return False


def device_count():
    return 0


def current_device():
    return 0


def is_bf16_supported():
    return False


def empty_cache():
    pass


def synchronize(device=None):
    pass


def manual_seed(seed):
    pass


def manual_seed_all(seed):
    pass


def get_device_capability(device=None):
    return (0, 0)
# == torch.cuda.amp
from torch import autocast


def custom_fwd(fn=None, **kwargs):
    return fn if fn is not None else lambda f: f


custom_bwd = custom_fwd


class GradScaler:
    def __init__(self, *args, **kwargs):
        pass
# == torch.amp
from torch import autocast
# == torch.backends
# == torch.backends.cudnn
enabled = True
benchmark = False
deterministic = False
allow_tf32 = True


def is_available():
    return False


def version():
    return None
# == torch.backends.cuda
import contextlib


class _Flags:
    allow_tf32 = False


matmul = _Flags()


def sdp_kernel(*args, **kwargs):
    return contextlib.nullcontext()


def is_built():
    return False
# == torch.backends.mps
def is_available():
    return False


def is_built():
    return False
# == torch.backends.quantized
supported_engines = ['fbgemm', 'none']
engine = 'fbgemm'
# == torch.version
cuda = None
hip = None
git_version = ''
# == torch.types
import typing

Number = typing.Union[int, float, bool]
_int = int
_float = float
_bool = bool
Device = typing.Any
# == torch.autograd
class Function:
    @classmethod
    def apply(cls, *args):
        return cls.forward(_Context(), *args)


class _Context:
    def save_for_backward(self, *tensors):
        self.saved_tensors = tensors

    def mark_dirty(self, *tensors):
        pass

    def mark_non_differentiable(self, *tensors):
        pass

    def set_materialize_grads(self, value):
        pass


def Variable(data, requires_grad=False, volatile=False):
    return data


def grad(*args, **kwargs):
    raise RuntimeError('torch.autograd.grad: gradients are not computed here')


def set_detect_anomaly(*args):
    pass
# == torch.autograd.function
from torch.autograd import Function


def once_differentiable(fn):
    return fn
# == torch.distributed
def is_available():
    return False


def is_initialized():
    return False


def get_rank(group=None):
    return 0


def get_world_size(group=None):
    return 1
# == torch.onnx
def is_in_onnx_export():
    return False


def register_custom_op_symbolic(*args, **kwargs):
    pass


def unregister_custom_op_symbolic(*args, **kwargs):
    pass
# == torch.onnx.symbolic_helper
def parse_args(*args):
    return lambda function: function


def quantized_args(*args, **kwargs):
    return lambda function: function
# == torch.overrides
def has_torch_function(*args):
    return False


has_torch_function_unary = has_torch_function_variadic = has_torch_function


def handle_torch_function(*args, **kwargs):
    raise RuntimeError('handle_torch_function')
# == torch._six
import collections.abc as container_abcs

string_classes = (str, bytes)
int_classes = int
inf = float('inf')
# == torch._C
def _get_tracing_state():
    return None


def _log_api_usage_once(*args):
    pass


class _NN:
    pass


_nn = _NN()
# == torch._utils
def _flatten_dense_tensors(tensors):
    raise RuntimeError('torch._utils')
# == torch.ops
# == torch.ao
# == torch.ao.quantization
from torch.nn import Module


class QuantStub(Module):
    # Before convert() a stub hands its input on.
    def __init__(self, qconfig=None):
        super().__init__()

    def forward(self, x):
        return x


class DeQuantStub(QuantStub):
    pass
# == torch.quantization
from torch.ao.quantization import DeQuantStub, QuantStub
# == torch.optim
class Optimizer:
    pass
# == torch.optim.lr_scheduler
class _LRScheduler:
    pass


LRScheduler = _LRScheduler
# == torch.distributions
# == torch.package
# == torch.multiprocessing
# == torch.profiler
class record_function:
    def __init__(self, name, args=None):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *args):
        pass
# == torch.nn.quantized
import torch
from torch.nn import Module


class FloatFunctional(Module):
    def __init__(self):
        super().__init__()
        self.activation_post_process = torch.nn.Identity()

    def forward(self, x):
        raise RuntimeError("FloatFunctional is not intended to use the 'forward'. Please use the corresponding operation")

    def add(self, x, y):
        return self.activation_post_process(torch.add(x, y))

    def add_scalar(self, x, y):
        return torch.add(x, y)

    def mul(self, x, y):
        return self.activation_post_process(torch.mul(x, y))

    def mul_scalar(self, x, y):
        return torch.mul(x, y)

    def cat(self, x, dim=0):
        return self.activation_post_process(torch.cat(x, dim=dim))

    def add_relu(self, x, y):
        return self.activation_post_process(torch.nn.functional.relu(torch.add(x, y)))

    def matmul(self, x, y):
        return self.activation_post_process(torch.matmul(x, y))
# == torch.nn.quantized.modules
# == torch.nn.parallel
def _module(module, *args, **kwargs):
    return module


DataParallel = DistributedDataParallel = _module
# == torch.nn.attention
import contextlib
import enum


class SDPBackend(enum.Enum):
    ERROR = -1
    MATH = 0
    FLASH_ATTENTION = 1
    EFFICIENT_ATTENTION = 2
    CUDNN_ATTENTION = 3


def sdpa_kernel(*args, **kwargs):
    return contextlib.nullcontext()
# == torch.nn.utils
def clip_grad_norm_(*args, **kwargs):
    return None


def clip_grad_value_(*args, **kwargs):
    return None


def parameters_to_vector(parameters):
    import torch
    return torch.cat([p.view(-1) for p in parameters])
# == torch.nn.utils.rnn
import torch


def pad_sequence(sequences, batch_first=False, padding_value=0.0):
    return torch._pad_sequence(list(sequences), batch_first, padding_value)
# == torch.nn.intrinsic
# == torch.nn.modules.lazy
class _LazyProtocol:
    pass
