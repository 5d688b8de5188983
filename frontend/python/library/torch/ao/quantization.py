import torch


class QuantStub(torch.nn.Module):
    # Before convert() a stub hands its input on.
    def __init__(self, qconfig=None):
        super().__init__()

    def forward(self, x):
        return x


class DeQuantStub(QuantStub):
    pass


class QuantWrapper(torch.nn.Module):
    def __init__(self, module):
        super().__init__()
        self.quant = QuantStub()
        self.dequant = DeQuantStub()
        self.module = module

    def forward(self, X):
        return self.dequant(self.module(self.quant(X)))


def _no_quantization(*args, **kwargs):
    torch._unsupported("quantizing a network", "quantized networks are not covered: give the float model")


fuse_modules = (
    fuse_modules_qat
) = prepare = prepare_qat = convert = quantize = quantize_dynamic = get_default_qconfig = _no_quantization
get_default_qat_qconfig = _no_quantization
default_qconfig = default_per_channel_qconfig = default_dynamic_qconfig = None


class QConfig:
    def __init__(self, activation, weight):
        self.activation = activation
        self.weight = weight
