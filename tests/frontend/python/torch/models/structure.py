"""nn.Module as programs use it: containers that are changed, hooks, tied and parametrized weights, state dicts, checkpointing, wrappers."""
import copy
import functools
from collections import OrderedDict

import torch
import torch.fx
import torch.nn as nn
import torch.nn.utils.parametrizations
from torch.autograd import Function
from torch.cuda.amp import autocast, custom_fwd
from torch.nn.utils import parametrize, spectral_norm, weight_norm
from torch.utils.checkpoint import checkpoint, checkpoint_sequential


@torch.fx.wrap
def twice(x):
    return x * 2


class Square(Function):
    @staticmethod
    @custom_fwd
    def forward(ctx, x, k):
        ctx.save_for_backward(x)
        return x * x + k

    @staticmethod
    def backward(ctx, grad):
        return grad, None


class Symmetric(nn.Module):
    def forward(self, w):
        return w.triu() + w.triu(1).transpose(-1, -2)


class Structure(nn.Module):
    def __init__(self, width):
        super().__init__()
        layer = functools.partial(nn.Linear, width, width)
        self.first = layer()
        self.scales = nn.ParameterDict({"a": nn.Parameter(torch.ones(width)), "b": nn.Parameter(torch.zeros(width))})
        self.shifts = nn.ParameterList([nn.Parameter(torch.randn(width)) for _ in range(3)])
        self.register_buffer("positions", torch.arange(float(width)), persistent=False)
        self.register_buffer("unit", torch.ones(1))
        self.register_parameter("absent", None)
        self.named = nn.Sequential(OrderedDict([("one", layer()), ("act", nn.ReLU()), ("two", layer())]))
        self.named.append(nn.Tanh())
        self.named.add_module("last", layer())
        self.plain = nn.Sequential(layer(), nn.GELU(), layer())
        self.plain.insert(1, nn.LayerNorm(width))
        self.plain.extend(nn.Sequential(nn.Sigmoid()))
        self.part = self.plain[1:3]
        self.listed = nn.ModuleList([layer()])
        self.listed += [layer()]
        self.listed.append(layer())
        self.listed.insert(0, layer())
        self.listed.extend([nn.Identity()])
        self.by_name = nn.ModuleDict({"x": layer()})
        self.by_name["y"] = layer()
        self.by_name.update([("z", layer())])
        self.by_name.pop("y")
        del self.by_name["z"]
        self.normed = weight_norm(layer())
        self.normed_whole = weight_norm(nn.Conv1d(3, 3, 3, padding=1), dim=None)
        self.spectral = spectral_norm(layer())
        self.spectral_transposed = spectral_norm(nn.ConvTranspose1d(3, 3, 3, padding=1))
        self.spectral_new = nn.utils.parametrizations.spectral_norm(layer())
        self.symmetric = parametrize.register_parametrization(layer(), "weight", Symmetric())
        self.copied = copy.deepcopy(self.plain)
        self.tied = layer(bias=False)
        self.tied.weight = self.first.weight
        self.wrapped = nn.DataParallel(layer())
        self.seen = {}
        self.add_hooks()
        self.use_state()

    def add_hooks(self):
        self.first.register_forward_hook(lambda module, args, out: out + 1)
        self.listed[0].register_forward_pre_hook(lambda module, args: (args[0] * 3,))
        self.listed[1].register_full_backward_hook(lambda module, grad_in, grad_out: None)
        self.listed[2].register_forward_hook(lambda module, args, out: out * 100).remove()
        for name, module in self.listed.named_children():
            module.register_forward_hook(functools.partial(self.save, name))

    def use_state(self):
        state = self.state_dict()
        assert "positions" not in state and "unit" in state and "normed.weight_g" in state and "symmetric.parametrizations.weight.original" in state
        self.load_state_dict(state)
        try:
            self.load_state_dict({"first.weight": torch.zeros(1)})
        except RuntimeError as e:
            assert "size mismatch for first.weight" in str(e) and "Missing key(s)" in str(e)
        assert self.get_submodule("named.one") is self.named.one
        assert self.get_parameter("named.one.weight") is self.named.one.weight
        assert [name for name, _ in self.named_parameters(prefix="p", recurse=False)] == []
        assert not any(p.requires_grad for p in self.requires_grad_(False).parameters())
        self.apply(lambda m: nn.init.trunc_normal_(m.weight, std=0.02) if type(m) is nn.Linear else None)

    def save(self, name, module, args, out):
        self.seen[name] = out

    @torch.no_grad()
    def forward(self, x):
        x = self.first(x) * self.scales["a"] + self.scales["b"]
        for shift in self.shifts:
            x = x + shift
        x = self.part(self.plain(self.named(x + self.positions * self.unit)))
        for module in self.listed:
            x = module(x)
        x = self.by_name["x"](x + self.seen["2"])
        x = self.normed_whole(self.normed(x))
        x = self.spectral_new(self.spectral_transposed(self.spectral(x)))
        x = self.tied(self.copied(self.symmetric(x)))
        x = checkpoint_sequential(self.plain, 2, checkpoint(self.named, Square.apply(x, 2)))
        with autocast(enabled=False), torch.inference_mode():
            x = self.wrapped(twice(x))
        return x
