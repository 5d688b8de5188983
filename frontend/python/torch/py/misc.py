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
from collections import OrderedDict


class TreeSpec:
    def __init__(self, type, context, children_specs):
        self.type, self.context, self.children_specs = type, context, children_specs
        self.num_leaves = sum(s.num_leaves for s in children_specs) if type is not None else 1

    def __eq__(self, other):
        return (self.type, self.context, self.children_specs) == (other.type, other.context, other.children_specs)


class LeafSpec(TreeSpec):
    def __init__(self):
        super().__init__(None, None, [])


_registered = {}  # class: (flatten, unflatten)


def _register_pytree_node(cls, flatten_fn, unflatten_fn, **kwargs):
    _registered[cls] = (flatten_fn, unflatten_fn)


register_pytree_node = _register_pytree_node


def _children(tree):
    cls = type(tree)
    if cls in _registered:
        return _registered[cls][0](tree)
    if isinstance(tree, tuple) and hasattr(tree, '_fields'):
        return list(tree), cls
    if cls in (list, tuple):
        return list(tree), None
    if cls in (dict, OrderedDict):
        return list(tree.values()), list(tree.keys())
    return None


def tree_flatten(tree):
    children = _children(tree)
    if children is None:
        return [tree], LeafSpec()
    leaves, specs = [], []
    for child in children[0]:
        below, spec = tree_flatten(child)
        leaves.extend(below)
        specs.append(spec)
    return leaves, TreeSpec(type(tree), children[1], specs)


def tree_unflatten(leaves, spec):
    if spec.type is None:
        return leaves[0]
    children, at = [], 0
    for child in spec.children_specs:
        children.append(tree_unflatten(leaves[at:at + child.num_leaves], child))
        at += child.num_leaves
    if spec.type in _registered:
        return _registered[spec.type][1](children, spec.context)
    if spec.type in (dict, OrderedDict):
        return spec.type(zip(spec.context, children))
    return spec.type(*children) if hasattr(spec.type, '_fields') else spec.type(children)


def tree_leaves(tree):
    return tree_flatten(tree)[0]


def tree_map(fn, tree, *rest):
    leaves, spec = tree_flatten(tree)
    return tree_unflatten([fn(*v) for v in zip(leaves, *[tree_flatten(r)[0] for r in rest])], spec)


def tree_map_only(ty, fn, tree=None):
    if tree is None:
        return lambda t: tree_map_only(ty, fn, t)
    return tree_map(lambda v: fn(v) if isinstance(v, ty) else v, tree)


def tree_all(pred, tree):
    return all(map(pred, tree_leaves(tree)))


def tree_any(pred, tree):
    return any(map(pred, tree_leaves(tree)))
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


def is_acceptable(tensor):
    return False


def flags(*args, **kwargs):
    import contextlib
    return contextlib.nullcontext()


def set_flags(*args, **kwargs):
    return None
# == torch.backends.cuda
import contextlib


class _Flags:
    allow_tf32 = False
    allow_fp16_reduced_precision_reduction = True


matmul = _Flags()
cufft_plan_cache = None


def sdp_kernel(*args, **kwargs):
    return contextlib.nullcontext()


def is_built():
    return False


def enable_flash_sdp(enabled):
    pass


enable_math_sdp = enable_mem_efficient_sdp = enable_cudnn_sdp = enable_flash_sdp


def flash_sdp_enabled():
    return True


math_sdp_enabled = mem_efficient_sdp_enabled = flash_sdp_enabled


def preferred_linalg_library(backend=None):
    return None
# == torch.backends.mkldnn
import contextlib


def is_available():
    return True


def flags(*args, **kwargs):
    return contextlib.nullcontext()
# == torch.backends.mkl
def is_available():
    return True
# == torch.backends.openmp
def is_available():
    return True
# == torch.backends.opt_einsum
enabled = True
strategy = 'auto'


def is_available():
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


class set_detect_anomaly(torch.no_grad):
    pass


class detect_anomaly(torch.no_grad):
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
from torch.profiler import profile, record_function

emit_nvtx = profile
# == torch.onnx
def is_in_onnx_export():
    return False


def register_custom_op_symbolic(*args, **kwargs):
    pass


unregister_custom_op_symbolic = export = register_custom_op_symbolic


class OperatorExportTypes:
    ONNX, ONNX_ATEN, ONNX_ATEN_FALLBACK, ONNX_FALLTHROUGH = range(4)


class TrainingMode:
    EVAL, PRESERVE, TRAINING = range(3)
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


def _jit_set_profiling_mode(*args):
    return False


_jit_set_profiling_executor = _jit_set_nvfuser_enabled = _jit_set_texpr_fuser_enabled = _jit_override_can_fuse_on_gpu = _jit_set_profiling_mode
_jit_override_can_fuse_on_cpu = _debug_set_autodiff_subgraph_inlining = _jit_set_bailout_depth = _jit_set_autocast_mode = _jit_set_profiling_mode
_set_graph_executor_optimize = _jit_set_num_profiled_runs = _jit_set_profiling_mode
# == torch._utils
def _flatten_dense_tensors(tensors):
    raise RuntimeError('torch._utils')
# == torch.ops
import torch
import torch.ops.torchvision as torchvision


def load_library(path):
    pass


class _Operator:
    # torch.ops.aten.add, and .add.Tensor: a call of the function that PyTorch's public modules have under the name.
    def __init__(self, name, function):
        self._name, self._function = name, function
        self.__name__ = name

    def __call__(self, *args, **kwargs):
        return self._function(*args, **kwargs)

    def overloads(self):
        return ['default']

    def __getattr__(self, name):
        if name.startswith('__'):
            raise AttributeError(name)
        return self


class _Namespace:
    def __init__(self, name):
        self._name = name

    def __getattr__(self, name):
        if name.startswith('__'):
            raise AttributeError(name)
        if self._name == 'aten':
            for home in (torch, torch.nn.functional):
                if name in vars(home) and callable(vars(home)[name]):
                    return _Operator(name, vars(home)[name])
            if name in vars(torch.Tensor):
                return _Operator(name, lambda x, *args, **kwargs: getattr(x, name)(*args, **kwargs))
        torch._unsupported('torch.ops.%s.%s' % (self._name, name), 'write what this compiled operator does with torch functions')


aten, prims, image, video_reader = _Namespace('aten'), _Namespace('prims'), _Namespace('image'), _Namespace('video_reader')
# == torch.package
# == torch.random
from torch import Generator, get_rng_state, initial_seed, manual_seed, no_grad as _no_effect, seed, set_rng_state

default_generator = Generator()


class fork_rng(_no_effect):
    pass
# == torch.library
# An operator that a program defines: what it registers never runs here, the program's own calls of it do.
def impl(*args, **kwargs):
    return lambda function: function


def define(*args, **kwargs):
    return None


class Library:
    def __init__(self, *args, **kwargs):
        pass

    def define(self, schema, *args, **kwargs):
        return schema.split('(')[0]

    def impl(self, *args, **kwargs):
        return None
# == torch.testing
import torch


def assert_close(actual, expected, **kwargs):
    if isinstance(actual, torch.Tensor) and isinstance(expected, torch.Tensor) and actual.shape != expected.shape:
        raise AssertionError("The values for attribute 'shape' do not match: %s != %s." % (actual.shape, expected.shape))


assert_allclose = assert_close
# == torch.profiler
import enum


class ProfilerActivity(enum.Enum):
    CPU = 0
    CUDA = 1


class record_function:
    def __init__(self, name, args=None):
        pass

    def __call__(self, function):
        return function

    def __enter__(self):
        return self

    def __exit__(self, *args):
        pass
class profile(record_function):
    def __init__(self, *args, **kwargs):
        pass

    def step(self):
        pass


def schedule(*args, **kwargs):
    return None


tensorboard_trace_handler = schedule
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
