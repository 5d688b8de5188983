# Small modules, one section each: "# == name" (library.cc cuts them apart)
# == torch.nn.parameter
import torch


class UninitializedTensorMixin:
    cls_to_become = None

    def materialize(self, shape, device=None, dtype=None):
        return _materialize(self, tuple(shape), self.cls_to_become, dtype)

    @property
    def shape(self):
        raise RuntimeError("Can't access the shape of an uninitialized parameter or buffer. This error usually happens in `load_state_dict` when trying "
                           'to load an uninitialized parameter into an initialized one. Call `forward` to initialize the parameters before accessing '
                           'their attributes.')

    def __deepcopy__(self, memo):
        return type(self)(dtype=self.dtype)

    def __repr__(self):
        return '<' + self.__class__.__name__ + '>'


class UninitializedParameter(UninitializedTensorMixin, Parameter):
    cls_to_become = Parameter

    def __new__(cls, requires_grad=True, device=None, dtype=None):
        return _new_uninitialized(cls, dtype, requires_grad)


class UninitializedBuffer(UninitializedTensorMixin, torch.Tensor):
    cls_to_become = torch.Tensor

    def __new__(cls, requires_grad=False, device=None, dtype=None, persistent=True):
        return _new_uninitialized(cls, dtype, False)


class Buffer(torch.Tensor):
    # PyTorch 2.5: a tensor that becomes a buffer of the module that it is assigned to.
    def __new__(cls, data=None, *, persistent=True):
        out = torch.empty(0) if data is None else data.detach()
        out.__class__ = cls
        return out


_set_buffer_class(Buffer)
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
# == torch.utils._pytree
def tree_map(fn, tree):
    if isinstance(tree, (list, tuple)):
        return type(tree)(tree_map(fn, v) for v in tree)
    if isinstance(tree, dict):
        return {k: tree_map(fn, v) for k, v in tree.items()}
    return fn(tree)
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
import torch


class Function:
    # forward runs; nothing flows back
    def __init__(self, *args):
        raise RuntimeError('Legacy autograd function with non-static forward method is deprecated.')

    @classmethod
    def apply(cls, *args, **kwargs):
        ctx = _Context(args)
        if cls.setup_context is Function.setup_context:
            return cls.forward(ctx, *args, **kwargs)
        output = cls.forward(*args, **kwargs)
        cls.setup_context(ctx, args, output)
        return output

    @staticmethod
    def setup_context(ctx, inputs, output):
        raise NotImplementedError('setup_context is not implemented.')

    @staticmethod
    def forward(*args, **kwargs):
        raise NotImplementedError('You must implement the forward function for custom autograd.Function.')

    @staticmethod
    def backward(ctx, *grad_outputs):
        raise NotImplementedError('You must implement either the backward or vjp method for your custom autograd.Function')


class _Context:
    def __init__(self, args):
        self.needs_input_grad = (False,) * len(args)
        self.saved_tensors = ()

    def save_for_backward(self, *tensors):
        self.saved_tensors = tensors

    save_for_forward = save_for_backward

    def mark_dirty(self, *tensors):
        pass

    def mark_non_differentiable(self, *tensors):
        pass

    def set_materialize_grads(self, value):
        pass


FunctionCtx = _Context


def Variable(data, requires_grad=False, volatile=False):
    return data


def grad(*args, **kwargs):
    raise RuntimeError('torch.autograd.grad: gradients are not computed here')


def backward(*args, **kwargs):
    pass


def set_detect_anomaly(*args):
    pass


set_grad_enabled, no_grad, enable_grad, inference_mode = torch.set_grad_enabled, torch.no_grad, torch.enable_grad, torch.inference_mode
# == torch.autograd.function
from torch.autograd import Function, FunctionCtx

InplaceFunction = Function


def once_differentiable(fn):
    return fn
# == torch.autograd.variable
from torch.autograd import Variable
# == torch.autograd.grad_mode
from torch import enable_grad, inference_mode, no_grad, set_grad_enabled
# == torch.autograd.profiler
from torch.profiler import record_function
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
import torch
import torch.ops.torchvision as torchvision


def load_library(path):
    pass


class _Namespace:
    def __init__(self, name):
        self._name = name

    def __getattr__(self, name):
        if name.startswith('__'):
            raise AttributeError(name)
        torch._unsupported('torch.ops.%s.%s' % (self._name, name), 'write what this compiled operator does with torch functions')


aten, prims, image, video_reader = _Namespace('aten'), _Namespace('prims'), _Namespace('image'), _Namespace('video_reader')
# == torch.distributions
# == torch.package
# == torch.profiler
class record_function:
    def __init__(self, name, args=None):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *args):
        pass
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
