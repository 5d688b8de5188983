import torch
from torch.nn.parameter import Parameter


class WeightNorm:
    # weight = g * v / |v|, computed anew before every forward
    def __init__(self, name, dim):
        self.name = name
        self.dim = -1 if dim is None else dim

    def compute_weight(self, module):
        return torch._weight_norm(getattr(module, self.name + "_v"), getattr(module, self.name + "_g"), self.dim)

    @staticmethod
    def apply(module, name, dim):
        for hook in module._forward_pre_hooks.values():
            if isinstance(hook, WeightNorm) and hook.name == name:
                raise RuntimeError("Cannot register two weight_norm hooks on the same parameter {}".format(name))
        function = WeightNorm(name, dim)
        weight = getattr(module, name)
        del module._parameters[name]
        sizes = (
            ()
            if function.dim == -1
            else tuple(s if i == function.dim % weight.dim() else 1 for i, s in enumerate(weight.shape))
        )
        module.register_parameter(name + "_g", Parameter(torch.empty(sizes, dtype=weight.dtype)))
        module.register_parameter(name + "_v", Parameter(weight.data))
        setattr(module, name, function.compute_weight(module))
        module.register_forward_pre_hook(function)
        return function

    def remove(self, module):
        weight = getattr(module, self.name + "_v")
        delattr(module, self.name)
        del module._parameters[self.name + "_g"]
        del module._parameters[self.name + "_v"]
        setattr(module, self.name, Parameter(weight.data))

    def __call__(self, module, inputs):
        setattr(module, self.name, self.compute_weight(module))


def weight_norm(module, name="weight", dim=0):
    WeightNorm.apply(module, name, dim)
    return module


def remove_weight_norm(module, name="weight"):
    for k, hook in module._forward_pre_hooks.items():
        if isinstance(hook, WeightNorm) and hook.name == name:
            hook.remove(module)
            del module._forward_pre_hooks[k]
            return module
    raise ValueError("weight_norm of '{}' not found in {}".format(name, module))
