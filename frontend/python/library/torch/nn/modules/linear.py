from torch.nn import functional as F
from torch.nn.modules.module import Module, _forward, _init


class Identity(Module):
    @_init("")
    def __init__(self, *args, **kwargs):
        ...

    def forward(self, input):
        return input


class Linear(Module):
    __constants__ = ["in_features", "out_features"]

    @_init("in_features out_features", weight="out_features in_features", bias="out_features if bias")
    def __init__(self, in_features, out_features, bias=True, device=None, dtype=None):
        ...

    def reset_parameters(self):
        pass

    @_forward(F, "linear", "input self.weight self.bias")
    def forward(self, input):
        ...

    def extra_repr(self):
        return "in_features={}, out_features={}, bias={}".format(
            self.in_features, self.out_features, self.bias is not None
        )


class NonDynamicallyQuantizableLinear(Linear):
    pass


class Bilinear(Module):
    @_init(
        "in1_features in2_features out_features",
        weight="out_features in1_features in2_features",
        bias="out_features if bias",
    )
    def __init__(self, in1_features, in2_features, out_features, bias=True, device=None, dtype=None):
        ...

    @_forward(F, "bilinear", "input1 input2 self.weight self.bias")
    def forward(self, input1, input2):
        ...

    def extra_repr(self):
        return "in1_features={}, in2_features={}, out_features={}, bias={}".format(
            self.in1_features, self.in2_features, self.out_features, self.bias is not None
        )
