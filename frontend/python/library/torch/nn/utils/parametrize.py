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
    # The modules that a parameter goes through each time it is read; the parameter itself is
    # `original` (or original0, original1 ...).
    def __init__(self, modules, original, unsafe=False):
        super().__init__(modules)
        self.unsafe = unsafe
        new = original
        for module in reversed(self):
            if hasattr(module, "right_inverse"):
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
                self.register_buffer("original", new)
        else:
            self.ntensors = len(new)
            for i, tensor in enumerate(new):
                if isinstance(original, Parameter):
                    setattr(self, "original%d" % i, Parameter(tensor, original.requires_grad))
                else:
                    self.register_buffer("original%d" % i, tensor)

    def right_inverse(self, value):
        pass

    def forward(self):
        if len(self) == 0:
            return self.original
        if self.is_tensor:
            x = self[0](self.original)
        else:
            x = self[0](*(getattr(self, "original%d" % i) for i in range(self.ntensors)))
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
        raise ValueError(
            "Module '{}' does not have a parameter, a buffer, or a parametrized element with name '{}'".format(
                module, tensor_name
            )
        )
    original = getattr(module, tensor_name)
    parametrizations = ParametrizationList([parametrization], original, unsafe=unsafe)
    delattr(module, tensor_name)
    if not is_parametrized(module):
        cls = module.__class__
        module.__class__ = type("Parametrized" + cls.__name__, (cls,), {"__module__": cls.__module__})
        module.parametrizations = ModuleDict()
    setattr(module.__class__, tensor_name, _make_property(tensor_name))
    module.parametrizations[tensor_name] = parametrizations
    return module


def is_parametrized(module, tensor_name=None):
    parametrizations = getattr(module, "parametrizations", None)
    if parametrizations is None or not isinstance(parametrizations, ModuleDict):
        return False
    return len(parametrizations) > 0 if tensor_name is None else tensor_name in parametrizations


def remove_parametrizations(module, tensor_name, leave_parametrized=True):
    if not is_parametrized(module, tensor_name):
        raise ValueError("Module {} does not have a parametrization on {}".format(module, tensor_name))
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
        delattr(module, "parametrizations")
        module.__class__ = module.__class__.__bases__[0]
    return module


def type_before_parametrizations(module):
    return module.__class__.__bases__[0] if is_parametrized(module) else type(module)
