# torch.nn.utils: one section each: "# == name"
# == torch.nn.utils
import torch
from torch.nn.utils.clip_grad import clip_grad_norm, clip_grad_norm_, clip_grad_value_
from torch.nn.utils.convert_parameters import parameters_to_vector, vector_to_parameters
from torch.nn.utils.fusion import fuse_conv_bn_eval, fuse_conv_bn_weights, fuse_linear_bn_eval
from torch.nn.utils.init import skip_init
from torch.nn.utils.memory_format import convert_conv2d_weight_memory_format
from torch.nn.utils.spectral_norm import remove_spectral_norm, spectral_norm
from torch.nn.utils.weight_norm import remove_weight_norm, weight_norm
# == torch.nn.utils.clip_grad
import torch


def clip_grad_norm_(parameters, max_norm, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    return torch.tensor(0.)


clip_grad_norm = clip_grad_norm_


def clip_grad_value_(parameters, clip_value, foreach=None):
    pass
# == torch.nn.utils.convert_parameters
import torch


def parameters_to_vector(parameters):
    return torch.cat([p.view(-1) for p in parameters])


def vector_to_parameters(vec, parameters):
    pointer = 0
    for param in parameters:
        param.data = vec[pointer:pointer + param.numel()].view_as(param).data
        pointer += param.numel()
# == torch.nn.utils.init
def skip_init(module_cls, *args, **kwargs):
    kwargs.pop('device', None)
    return module_cls(*args, **kwargs)
# == torch.nn.utils.memory_format
def convert_conv2d_weight_memory_format(module, memory_format):
    return module


convert_conv3d_weight_memory_format = convert_conv2d_weight_memory_format
# == torch.nn.utils.fusion
import copy

import torch


def fuse_conv_bn_weights(conv_w, conv_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b, transpose=False):
    if conv_b is None:
        conv_b = torch.zeros_like(bn_rm)
    return torch.nn.Parameter(conv_w, conv_w.requires_grad), torch.nn.Parameter(conv_b, conv_b.requires_grad)


def fuse_conv_bn_eval(conv, bn, transpose=False):
    assert not (conv.training or bn.training), "Fusion only for eval!"
    fused = copy.deepcopy(conv)
    fused.weight, fused.bias = fuse_conv_bn_weights(fused.weight, fused.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias, transpose)
    return fused


def fuse_linear_bn_weights(linear_w, linear_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b):
    return fuse_conv_bn_weights(linear_w, linear_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b)


def fuse_linear_bn_eval(linear, bn):
    return fuse_conv_bn_eval(linear, bn)
# == torch.nn.utils.weight_norm
import torch
from torch.nn.parameter import Parameter


class WeightNorm:
    # weight = g * v / |v|, computed anew before every forward
    def __init__(self, name, dim):
        self.name = name
        self.dim = -1 if dim is None else dim

    def compute_weight(self, module):
        return torch._weight_norm(getattr(module, self.name + '_v'), getattr(module, self.name + '_g'), self.dim)

    @staticmethod
    def apply(module, name, dim):
        for hook in module._forward_pre_hooks.values():
            if isinstance(hook, WeightNorm) and hook.name == name:
                raise RuntimeError("Cannot register two weight_norm hooks on the same parameter {}".format(name))
        function = WeightNorm(name, dim)
        weight = getattr(module, name)
        del module._parameters[name]
        sizes = () if function.dim == -1 else tuple(s if i == function.dim % weight.dim() else 1 for i, s in enumerate(weight.shape))
        module.register_parameter(name + '_g', Parameter(torch.empty(sizes, dtype=weight.dtype)))
        module.register_parameter(name + '_v', Parameter(weight.data))
        setattr(module, name, function.compute_weight(module))
        module.register_forward_pre_hook(function)
        return function

    def remove(self, module):
        weight = getattr(module, self.name + '_v')
        delattr(module, self.name)
        del module._parameters[self.name + '_g']
        del module._parameters[self.name + '_v']
        setattr(module, self.name, Parameter(weight.data))

    def __call__(self, module, inputs):
        setattr(module, self.name, self.compute_weight(module))


def weight_norm(module, name='weight', dim=0):
    WeightNorm.apply(module, name, dim)
    return module


def remove_weight_norm(module, name='weight'):
    for k, hook in module._forward_pre_hooks.items():
        if isinstance(hook, WeightNorm) and hook.name == name:
            hook.remove(module)
            del module._forward_pre_hooks[k]
            return module
    raise ValueError("weight_norm of '{}' not found in {}".format(name, module))
# == torch.nn.utils.spectral_norm
import torch
from torch.nn.parameter import Parameter


class SpectralNorm:
    # weight / sigma, with sigma = u^T W v of buffers u and v
    def __init__(self, name='weight', n_power_iterations=1, dim=0, eps=1e-12):
        if n_power_iterations <= 0:
            raise ValueError('Expected n_power_iterations to be positive, but got n_power_iterations={}'.format(n_power_iterations))
        self.name = name
        self.dim = dim
        self.n_power_iterations = n_power_iterations
        self.eps = eps

    def reshape_weight_to_matrix(self, weight):
        if self.dim != 0:
            weight = weight.permute(self.dim, *[d for d in range(weight.dim()) if d != self.dim])
        return weight.reshape(weight.size(0), -1)

    def compute_weight(self, module, do_power_iteration):
        weight = getattr(module, self.name + '_orig')
        matrix = self.reshape_weight_to_matrix(weight)
        sigma = torch.dot(getattr(module, self.name + '_u'), torch.mv(matrix, getattr(module, self.name + '_v')))
        return weight / sigma

    def remove(self, module):
        weight = getattr(module, self.name + '_orig')
        delattr(module, self.name)
        delattr(module, self.name + '_u')
        delattr(module, self.name + '_v')
        delattr(module, self.name + '_orig')
        module.register_parameter(self.name, Parameter(weight.detach()))

    def __call__(self, module, inputs):
        setattr(module, self.name, self.compute_weight(module, do_power_iteration=module.training))

    @staticmethod
    def apply(module, name, n_power_iterations, dim, eps):
        for hook in module._forward_pre_hooks.values():
            if isinstance(hook, SpectralNorm) and hook.name == name:
                raise RuntimeError("Cannot register two spectral_norm hooks on the same parameter {}".format(name))
        function = SpectralNorm(name, n_power_iterations, dim, eps)
        weight = module._parameters[name]
        if weight is None:
            raise ValueError('`SpectralNorm` cannot be applied as parameter `{}` is None'.format(name))
        h, w = function.reshape_weight_to_matrix(weight).size()
        delattr(module, name)
        module.register_parameter(name + '_orig', weight)
        setattr(module, name, weight.data.detach())
        module.register_buffer(name + '_u', torch.empty(h, dtype=weight.dtype))
        module.register_buffer(name + '_v', torch.empty(w, dtype=weight.dtype))
        module.register_forward_pre_hook(function)
        return function


def spectral_norm(module, name='weight', n_power_iterations=1, eps=1e-12, dim=None):
    if dim is None:
        transposed = isinstance(module, (torch.nn.ConvTranspose1d, torch.nn.ConvTranspose2d, torch.nn.ConvTranspose3d))
        dim = 1 if transposed else 0
    SpectralNorm.apply(module, name, n_power_iterations, dim, eps)
    return module


def remove_spectral_norm(module, name='weight'):
    for k, hook in module._forward_pre_hooks.items():
        if isinstance(hook, SpectralNorm) and hook.name == name:
            hook.remove(module)
            del module._forward_pre_hooks[k]
            return module
    raise ValueError("spectral_norm of '{}' not found in {}".format(name, module))
# == torch.nn.utils.parametrize
import contextlib

import torch
from torch.nn.modules.container import ModuleDict, ModuleList
from torch.nn.modules.module import Module
from torch.nn.parameter import Parameter


_cache_enabled, _cache = 0, {}


@contextlib.contextmanager
def cached():
    # Within it, a parametrized tensor is computed once.
    global _cache_enabled, _cache
    _cache_enabled += 1
    try:
        yield
    finally:
        _cache_enabled -= 1
        if not _cache_enabled:
            _cache = {}


class ParametrizationList(ModuleList):
    # The modules that a parameter goes through each time it is read; the parameter itself is `original` (or original0, original1 ...).
    def __init__(self, modules, original, unsafe=False):
        super().__init__(modules)
        self.unsafe = unsafe
        new = original
        for module in reversed(self):
            if hasattr(module, 'right_inverse'):
                try:
                    new = module.right_inverse(new)
                except NotImplementedError:
                    pass
        self.is_tensor = isinstance(new, torch.Tensor)
        if self.is_tensor:
            if isinstance(original, Parameter):
                if new is not original and new.shape != original.shape:
                    original = Parameter(new, original.requires_grad)
                self.original = original
            else:
                self.register_buffer('original', new)
        else:
            self.ntensors = len(new)
            for i, tensor in enumerate(new):
                if isinstance(original, Parameter):
                    setattr(self, 'original%d' % i, Parameter(tensor, original.requires_grad))
                else:
                    self.register_buffer('original%d' % i, tensor)

    def right_inverse(self, value):
        pass

    def forward(self):
        if len(self) == 0:
            return self.original
        if self.is_tensor:
            x = self[0](self.original)
        else:
            x = self[0](*(getattr(self, 'original%d' % i) for i in range(self.ntensors)))
        for i in range(1, len(self)):
            x = self[i](x)
        return x


def _make_property(name):
    def get_parametrized(self):
        if not _cache_enabled:
            return self.parametrizations[name]()
        key = (id(self), name)
        if key not in _cache:
            _cache[key] = self.parametrizations[name]()
        return _cache[key]

    def set_original(self, value):
        self.parametrizations[name].right_inverse(value)

    return property(get_parametrized, set_original)


def register_parametrization(module, tensor_name, parametrization, *, unsafe=False):
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        module.parametrizations[tensor_name].append(parametrization)
        return module
    if tensor_name not in module._buffers and tensor_name not in module._parameters:
        raise ValueError("Module '{}' does not have a parameter, a buffer, or a parametrized element with name '{}'".format(module, tensor_name))
    original = getattr(module, tensor_name)
    parametrizations = ParametrizationList([parametrization], original, unsafe=unsafe)
    delattr(module, tensor_name)
    if not is_parametrized(module):
        cls = module.__class__
        module.__class__ = type('Parametrized' + cls.__name__, (cls,), {'__module__': cls.__module__})
        module.parametrizations = ModuleDict()
    setattr(module.__class__, tensor_name, _make_property(tensor_name))
    module.parametrizations[tensor_name] = parametrizations
    return module


def is_parametrized(module, tensor_name=None):
    parametrizations = getattr(module, 'parametrizations', None)
    if parametrizations is None or not isinstance(parametrizations, ModuleDict):
        return False
    return len(parametrizations) > 0 if tensor_name is None else tensor_name in parametrizations


def remove_parametrizations(module, tensor_name, leave_parametrized=True):
    if not is_parametrized(module, tensor_name):
        raise ValueError('Module {} does not have a parametrization on {}'.format(module, tensor_name))
    parametrizations = module.parametrizations[tensor_name]
    value = parametrizations() if leave_parametrized or not parametrizations.is_tensor else parametrizations.original
    is_parameter = any(True for _ in parametrizations.parameters(recurse=False))
    del module.parametrizations[tensor_name]
    delattr(module.__class__, tensor_name)
    if is_parameter:
        module.register_parameter(tensor_name, value if isinstance(value, Parameter) else Parameter(value))
    else:
        module.register_buffer(tensor_name, value)
    if not is_parametrized(module):
        delattr(module, 'parametrizations')
        module.__class__ = module.__class__.__bases__[0]
    return module


def type_before_parametrizations(module):
    return module.__class__.__bases__[0] if is_parametrized(module) else type(module)
# == torch.nn.utils.parametrizations
import torch
from torch.nn import functional as F
from torch.nn.modules.module import Module
from torch.nn.utils.parametrize import register_parametrization


class _SpectralNorm(Module):
    def __init__(self, weight, n_power_iterations=1, dim=0, eps=1e-12):
        super().__init__()
        ndim = weight.ndim
        if dim >= ndim or dim < -ndim:
            raise IndexError("Dimension out of range (expected to be in range of [-{}, {}] but got {})".format(ndim, ndim - 1, dim))
        self.dim = dim if dim >= 0 else dim + ndim
        self.eps = eps
        self.n_power_iterations = n_power_iterations
        if ndim > 1:
            h, w = self._reshape_weight_to_matrix(weight).size()
            self.register_buffer('_u', torch.empty(h, dtype=weight.dtype))
            self.register_buffer('_v', torch.empty(w, dtype=weight.dtype))

    def _reshape_weight_to_matrix(self, weight):
        if self.dim != 0:
            weight = weight.permute(self.dim, *(d for d in range(weight.dim()) if d != self.dim))
        return weight.flatten(1)

    def forward(self, weight):
        if weight.ndim == 1:
            return F.normalize(weight, dim=0, eps=self.eps)
        weight_mat = self._reshape_weight_to_matrix(weight)
        u = self._u.clone()
        v = self._v.clone()
        sigma = torch.dot(u, torch.mv(weight_mat, v))
        return weight / sigma


def spectral_norm(module, name='weight', n_power_iterations=1, eps=1e-12, dim=None):
    weight = getattr(module, name, None)
    if not isinstance(weight, torch.Tensor):
        raise ValueError("Module '{}' has no parameter or buffer with name '{}'".format(module, name))
    if dim is None:
        transposed = isinstance(module, (torch.nn.ConvTranspose1d, torch.nn.ConvTranspose2d, torch.nn.ConvTranspose3d))
        dim = 1 if transposed else 0
    register_parametrization(module, name, _SpectralNorm(weight, n_power_iterations, dim, eps))
    return module


class _Orthogonal(Module):
    def __init__(self, weight, orthogonal_map, *, use_trivialization=True):
        super().__init__()
        if weight.is_complex() and orthogonal_map == 'householder':
            raise ValueError('The householder parametrization does not support complex tensors.')
        self.shape = weight.shape
        self.orthogonal_map = orthogonal_map
        if use_trivialization:
            self.register_buffer('base', None)

    def forward(self, X):
        n, k = X.size(-2), X.size(-1)
        transposed = n < k
        if transposed:
            X = X.mT
            n, k = k, n
        if self.orthogonal_map == 'householder':
            A = X.tril(diagonal=-1)
            tau = 2. / (1. + (A * A).sum(dim=-2))
            Q = torch.linalg.householder_product(A, tau)
            Q = Q * X.diagonal(dim1=-2, dim2=-1).int().unsqueeze(-2)
        else:
            X = X.tril()
            if n != k:
                X = torch.cat([X, X.new_zeros(n, n - k).expand(*X.shape[:-2], -1, -1)], dim=-1)
            A = X - X.mH
            if self.orthogonal_map == 'matrix_exp':
                Q = torch.matrix_exp(A)
            else:
                Id = torch.eye(n, dtype=A.dtype)
                Q = torch.linalg.solve(torch.add(Id, A, alpha=-0.5), torch.add(Id, A, alpha=0.5))
            if n != k:
                Q = Q[..., :k]
        if hasattr(self, 'base'):
            Q = self.base @ Q
        return Q.mT if transposed else Q

    def right_inverse(self, Q):
        if Q.shape != self.shape:
            raise ValueError('Expected a matrix or batch of matrices of shape {}. Got a tensor of shape {}.'.format(self.shape, Q.shape))
        if not hasattr(self, 'base'):
            if self.orthogonal_map != 'householder':
                raise NotImplementedError('It is not possible to assign to the matrix exponential or the Cayley parametrizations when '
                                          'use_trivialization=False.')
            return torch.empty_like(Q)
        n = max(Q.size(-2), Q.size(-1))
        self.base = torch.empty(*Q.shape[:-2], n, n if self.orthogonal_map != 'householder' else n, dtype=Q.dtype)
        return torch.empty_like(Q)


def orthogonal(module, name='weight', orthogonal_map=None, *, use_trivialization=True):
    weight = getattr(module, name, None)
    if not isinstance(weight, torch.Tensor):
        raise ValueError("Module '{}' has no parameter or buffer with name '{}'".format(module, name))
    if weight.ndim < 2:
        raise ValueError('Expected a matrix or batch of matrices. Got a tensor of {} dimensions.'.format(weight.ndim))
    if orthogonal_map is None:
        orthogonal_map = 'matrix_exp' if weight.size(-2) == weight.size(-1) or weight.is_complex() else 'householder'
    if orthogonal_map not in ('matrix_exp', 'cayley', 'householder'):
        raise ValueError('orthogonal_map has to be one of "matrix_exp", "cayley", "householder". Got: {}'.format(orthogonal_map))
    register_parametrization(module, name, _Orthogonal(weight, orthogonal_map, use_trivialization=use_trivialization), unsafe=True)
    return module


class _WeightNorm(Module):
    def __init__(self, dim=0):
        super().__init__()
        self.dim = -1 if dim is None else dim

    def forward(self, weight_g, weight_v):
        return torch._weight_norm(weight_v, weight_g, self.dim)

    def right_inverse(self, weight):
        sizes = () if self.dim == -1 else tuple(s if i == self.dim % weight.dim() else 1 for i, s in enumerate(weight.shape))
        return torch.empty(sizes, dtype=weight.dtype), weight


def weight_norm(module, name='weight', dim=0):
    register_parametrization(module, name, _WeightNorm(dim), unsafe=True)
    return module
# == torch.nn.utils.stateless
def _slot(module, path):
    *prefix, name = path.split('.')
    for item in prefix:
        module = getattr(module, item)
    for slots in (module._parameters, module._buffers):
        if name in slots:
            return slots, name
    raise KeyError("'{}' is not a parameter or a buffer of the module".format(path))


def functional_call(module, parameters_and_buffers, args, kwargs=None, *, tie_weights=True, strict=False):
    # The module runs with these tensors in place of its own; 2.x takes several dicts.
    given = parameters_and_buffers
    if isinstance(given, (tuple, list)):
        given = {name: value for part in given for name, value in part.items()}
    args = args if isinstance(args, tuple) else (args,)
    own = []
    try:
        for path, value in given.items():
            slots, name = _slot(module, path)
            own.append((slots, name, slots[name]))
            slots[name] = value
        return module(*args, **(kwargs or {}))
    finally:
        for slots, name, value in reversed(own):
            slots[name] = value
# == torch.nn.utils.prune
# Pruning: a parameter becomes name_orig times the buffer name_mask, before every forward. What the mask holds is nobody's concern here.
from abc import ABC

import torch
from torch.nn.parameter import Parameter


class BasePruningMethod(ABC):
    _tensor_name = None

    def __call__(self, module, inputs):
        setattr(module, self._tensor_name, self.apply_mask(module))

    def apply_mask(self, module):
        assert self._tensor_name is not None, 'Module {} has to be pruned'.format(module)
        orig = getattr(module, self._tensor_name + '_orig')
        return getattr(module, self._tensor_name + '_mask').to(dtype=orig.dtype) * orig

    @classmethod
    def apply(cls, module, name, *args, importance_scores=None, **kwargs):
        found = [k for k, hook in module._forward_pre_hooks.items() if isinstance(hook, BasePruningMethod) and hook._tensor_name == name]
        for k in found:
            del module._forward_pre_hooks[k]
        method = cls(*args, **kwargs)
        method._tensor_name = name
        if not found:
            orig = getattr(module, name)
            module.register_parameter(name + '_orig', orig)
            del module._parameters[name]
            mask = torch.ones_like(orig)
            module.register_buffer(name + '_mask', mask)
        setattr(module, name, method.apply_mask(module))
        module.register_forward_pre_hook(method)
        return method

    def remove(self, module):
        weight = getattr(module, self._tensor_name + '_orig')
        if hasattr(module, self._tensor_name):
            delattr(module, self._tensor_name)
        del module._parameters[self._tensor_name + '_orig']
        del module._buffers[self._tensor_name + '_mask']
        setattr(module, self._tensor_name, weight)


class Identity(BasePruningMethod):
    PRUNING_TYPE = 'unstructured'


class PruningContainer(BasePruningMethod):
    def __init__(self, *args):
        self._pruning_methods = args


class RandomUnstructured(BasePruningMethod):
    PRUNING_TYPE = 'unstructured'

    def __init__(self, amount=None, n=None, dim=-1, mask=None):
        self.amount, self.dim, self.mask = amount, dim, mask


class L1Unstructured(RandomUnstructured):
    pass


class RandomStructured(RandomUnstructured):
    PRUNING_TYPE = 'structured'


class LnStructured(RandomUnstructured):
    PRUNING_TYPE = 'structured'


class CustomFromMask(RandomUnstructured):
    PRUNING_TYPE = 'global'


def identity(module, name):
    Identity.apply(module, name)
    return module


def random_unstructured(module, name, amount):
    RandomUnstructured.apply(module, name, amount=amount)
    return module


def l1_unstructured(module, name, amount, importance_scores=None):
    L1Unstructured.apply(module, name, amount=amount)
    return module


def random_structured(module, name, amount, dim):
    RandomStructured.apply(module, name, amount, dim=dim)
    return module


def ln_structured(module, name, amount, n, dim, importance_scores=None):
    LnStructured.apply(module, name, amount, n, dim)
    return module


def custom_from_mask(module, name, mask):
    CustomFromMask.apply(module, name, mask=mask)
    return module


def global_unstructured(parameters, pruning_method, importance_scores=None, **kwargs):
    for module, name in parameters:
        custom_from_mask(module, name, None)


def remove(module, name):
    for k, hook in module._forward_pre_hooks.items():
        if isinstance(hook, BasePruningMethod) and hook._tensor_name == name:
            hook.remove(module)
            del module._forward_pre_hooks[k]
            return module
    raise ValueError("Parameter '{}' of module {} has to be pruned before pruning can be removed".format(name, module))


def is_pruned(module):
    return any(isinstance(hook, BasePruningMethod) for _, child in module.named_modules() for hook in child._forward_pre_hooks.values())
# == torch.nn.utils.rnn
from collections import namedtuple

import torch


class PackedSequence(namedtuple('PackedSequence', ['data', 'batch_sizes', 'sorted_indices', 'unsorted_indices'], defaults=[None, None])):
    # Sequences of several lengths without their padding, step by step. The lengths must be known: they decide the shapes.
    def __new__(cls, data, batch_sizes=None, sorted_indices=None, unsorted_indices=None):
        if unsorted_indices is None:
            unsorted_indices = invert_permutation(sorted_indices)
        return super().__new__(cls, data, batch_sizes, sorted_indices, unsorted_indices)

    def to(self, *args, **kwargs):
        return type(self)(self.data.to(*args, **kwargs), self.batch_sizes, self.sorted_indices, self.unsorted_indices)

    def cpu(self, *args, **kwargs):
        return self

    cuda = pin_memory = cpu

    def double(self):
        return self.to(torch.double)

    def float(self):
        return self.to(torch.float)

    def half(self):
        return self.to(torch.half)

    @property
    def is_cuda(self):
        return False

    def is_pinned(self):
        return False


def invert_permutation(permutation):
    if permutation is None:
        return None
    output = torch.empty_like(permutation)
    output.scatter_(0, permutation, torch.arange(0, permutation.numel()))
    return output


def pack_padded_sequence(input, lengths, batch_first=False, enforce_sorted=True):
    lengths = torch.as_tensor(lengths, dtype=torch.int64)
    if not torch._is_known(lengths):
        torch._data_dependent('the size of what pack_padded_sequence() packs', 'give the lengths as a list of numbers: --arg lengths=[7,5,2]')
    if enforce_sorted:
        sorted_indices = None
    else:
        lengths, sorted_indices = torch.sort(lengths, descending=True)
        input = input.index_select(0 if batch_first else 1, sorted_indices)
    steps = lengths.tolist()
    if steps and steps[-1] <= 0:
        raise RuntimeError("Length of all samples has to be greater than 0, but found an element in 'lengths' that is <= 0")
    if any(a < b for a, b in zip(steps, steps[1:])):
        raise RuntimeError('`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. You can pass `enforce_sorted=False` to '
                           'pack_padded_sequence and/or pack_sequence to sidestep this requirement if you do not need ONNX exportability.')
    data, batch_sizes = torch._pack_padded_sequence(input, lengths, batch_first)
    return PackedSequence(data, batch_sizes, sorted_indices, None)


def pad_packed_sequence(sequence, batch_first=False, padding_value=0.0, total_length=None):
    longest = sequence.batch_sizes.size(0)
    if total_length is None:
        total_length = longest
    elif total_length < longest:
        raise ValueError('Expected total_length to be at least the length of the longest sequence in input, but got total_length={} and max sequence '
                         'length being {}'.format(total_length, longest))
    padded, lengths = torch._pad_packed_sequence(sequence.data, sequence.batch_sizes, batch_first, padding_value, total_length)
    order = sequence.unsorted_indices
    if order is None:
        return padded, lengths
    return padded.index_select(0 if batch_first else 1, order), lengths[order.cpu()]


def pack_sequence(sequences, enforce_sorted=True):
    lengths = torch.as_tensor([v.size(0) for v in sequences])
    return pack_padded_sequence(pad_sequence(sequences), lengths, enforce_sorted=enforce_sorted)


def unpack_sequence(packed_sequences):
    padded, lengths = pad_packed_sequence(packed_sequences, batch_first=True)
    return unpad_sequence(padded, lengths, batch_first=True)


def pad_sequence(sequences, batch_first=False, padding_value=0.0):
    return torch._pad_sequence(list(sequences), batch_first, padding_value)


def unpad_sequence(padded_sequences, lengths, batch_first=False):
    if not batch_first:
        padded_sequences = padded_sequences.transpose(0, 1)
    return [seq[:length] for seq, length in zip(padded_sequences, lengths.tolist())]
