# Pruning: a parameter becomes name_orig times the buffer name_mask, before every forward. What the
# mask holds is nobody's concern here.
from abc import ABC

import torch
from torch.nn.parameter import Parameter


class BasePruningMethod(ABC):
    _tensor_name = None

    def __call__(self, module, inputs):
        setattr(module, self._tensor_name, self.apply_mask(module))

    def apply_mask(self, module):
        assert self._tensor_name is not None, "Module {} has to be pruned".format(module)
        orig = getattr(module, self._tensor_name + "_orig")
        return getattr(module, self._tensor_name + "_mask").to(dtype=orig.dtype) * orig

    @classmethod
    def apply(cls, module, name, *args, importance_scores=None, **kwargs):
        found = [
            k
            for k, hook in module._forward_pre_hooks.items()
            if isinstance(hook, BasePruningMethod) and hook._tensor_name == name
        ]
        for k in found:
            del module._forward_pre_hooks[k]
        method = cls(*args, **kwargs)
        method._tensor_name = name
        if not found:
            orig = getattr(module, name)
            module.register_parameter(name + "_orig", orig)
            del module._parameters[name]
            mask = torch.ones_like(orig)
            module.register_buffer(name + "_mask", mask)
        setattr(module, name, method.apply_mask(module))
        module.register_forward_pre_hook(method)
        return method

    def remove(self, module):
        weight = getattr(module, self._tensor_name + "_orig")
        if hasattr(module, self._tensor_name):
            delattr(module, self._tensor_name)
        del module._parameters[self._tensor_name + "_orig"]
        del module._buffers[self._tensor_name + "_mask"]
        setattr(module, self._tensor_name, weight)


class Identity(BasePruningMethod):
    PRUNING_TYPE = "unstructured"


class PruningContainer(BasePruningMethod):
    def __init__(self, *args):
        self._pruning_methods = args


class RandomUnstructured(BasePruningMethod):
    PRUNING_TYPE = "unstructured"

    def __init__(self, amount=None, n=None, dim=-1, mask=None):
        self.amount, self.dim, self.mask = amount, dim, mask


class L1Unstructured(RandomUnstructured):
    pass


class RandomStructured(RandomUnstructured):
    PRUNING_TYPE = "structured"


class LnStructured(RandomUnstructured):
    PRUNING_TYPE = "structured"


class CustomFromMask(RandomUnstructured):
    PRUNING_TYPE = "global"


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
    return any(
        isinstance(hook, BasePruningMethod)
        for _, child in module.named_modules()
        for hook in child._forward_pre_hooks.values()
    )
