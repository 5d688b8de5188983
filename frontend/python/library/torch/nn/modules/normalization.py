import torch
from torch.nn import functional as F
from torch.nn.modules.batchnorm import _check_bias
from torch.nn.modules.module import Module, _forward, _init


class LocalResponseNorm(Module):
    _format = "{size}, alpha={alpha}, beta={beta}, k={k}"

    @_init("size alpha beta k")
    def __init__(self, size, alpha=1e-4, beta=0.75, k=1.0):
        ...

    @_forward(F, "local_response_norm", "input self.size self.alpha self.beta self.k")
    def forward(self, input):
        ...


class LayerNorm(Module):
    __constants__ = ["normalized_shape", "eps", "elementwise_affine"]

    @_init(
        "normalized_shape:shape eps elementwise_affine",
        weight="*normalized_shape if elementwise_affine",
        bias="*normalized_shape if bias",
    )
    def __init__(self, normalized_shape, eps=1e-5, elementwise_affine=True, bias=True, device=None, dtype=None):
        bias = elementwise_affine and bias

    def reset_parameters(self):
        pass

    @_forward(F, "layer_norm", "input self.normalized_shape self.weight self.bias self.eps")
    def forward(self, input):
        ...

    def extra_repr(self):
        return "{}, eps={}, elementwise_affine={}".format(self.normalized_shape, self.eps, self.elementwise_affine)


class GroupNorm(Module):
    __constants__ = ["num_groups", "num_channels", "eps", "affine"]

    @_init("num_groups num_channels eps affine", weight="num_channels if affine", bias="num_channels if bias")
    def __init__(self, num_groups, num_channels, eps=1e-5, affine=True, device=None, dtype=None, *, bias=True):
        if not bias:
            _check_bias(bias)
        bias = affine and bias
        if num_channels % num_groups != 0:
            raise ValueError("num_channels must be divisible by num_groups")

    def reset_parameters(self):
        pass

    @_forward(F, "group_norm", "input self.num_groups self.weight self.bias self.eps")
    def forward(self, input):
        ...

    def extra_repr(self):
        has_bias = ", bias={}".format(self.bias is not None) if torch._at_least(2, 13) else ""
        return "{}, {}, eps={}, affine={}{}".format(self.num_groups, self.num_channels, self.eps, self.affine, has_bias)


class RMSNorm(Module):
    _format = "{normalized_shape}, eps={eps}, elementwise_affine={elementwise_affine}"

    @_init("normalized_shape:shape eps elementwise_affine", weight="*normalized_shape if elementwise_affine")
    def __init__(self, normalized_shape, eps=None, elementwise_affine=True, device=None, dtype=None):
        ...

    @_forward(F, "rms_norm", "x self.normalized_shape self.weight self.eps")
    def forward(self, x):
        ...


class CrossMapLRN2d(Module):
    # The sum over neighbouring channels is carried from one channel to the next: two small calls a
    # channel.
    def __init__(self, size, alpha=1e-4, beta=0.75, k=1):
        super().__init__()
        self.size = size
        self.alpha = alpha
        self.beta = beta
        self.k = k

    def extra_repr(self):
        return "{size}, alpha={alpha}, beta={beta}, k={k}".format(**self.__dict__)

    def forward(self, input):
        if input.dim() != 4:
            raise ValueError("CrossMapLRN2d: Expected input to be 4D, got {}D instead.".format(input.dim()))
        channels = input.size(1)
        square = torch.pow(input, 2)
        scale = torch.empty_like(input)
        pre_pad = int((self.size - 1) / 2 + 1)
        first = scale.select(1, 0)
        first.zero_()
        for c in range(min(pre_pad, channels)):
            first.add_(square.select(1, c))
        for c in range(1, channels):
            previous, current = scale.select(1, c - 1), scale.select(1, c)
            current.copy_(previous)
            if c < channels - pre_pad + 1:
                current.add_(square.select(1, c + pre_pad - 1), alpha=1)
            if c > pre_pad:
                current.add_(square.select(1, c - pre_pad), alpha=-1)
        scale.mul_(self.alpha / self.size).add_(self.k)
        return torch.pow(scale, -self.beta).mul_(input)
