from torch.nn import functional as F
from torch.nn.modules.module import Module, _forward, _init
from torch.nn.modules.utils import _pair, _single, _triple


class _MaxPoolNd(Module):
    _format = (
        "kernel_size={kernel_size}, stride={stride}, padding={padding}, dilation={dilation}, ceil_mode={ceil_mode}"
    )
    __constants__ = ["kernel_size", "stride", "padding", "dilation", "return_indices", "ceil_mode"]

    @_init("kernel_size stride|kernel_size padding dilation return_indices ceil_mode")
    def __init__(self, kernel_size, stride=None, padding=0, dilation=1, return_indices=False, ceil_mode=False):
        ...


class MaxPool1d(_MaxPoolNd):
    @_forward(
        F,
        "max_pool1d",
        "input self.kernel_size self.stride self.padding self.dilation",
        ceil_mode="self.ceil_mode",
        return_indices="self.return_indices",
    )
    def forward(self, input):
        ...


class MaxPool2d(_MaxPoolNd):
    @_forward(
        F,
        "max_pool2d",
        "input self.kernel_size self.stride self.padding self.dilation",
        ceil_mode="self.ceil_mode",
        return_indices="self.return_indices",
    )
    def forward(self, input):
        ...


class MaxPool3d(_MaxPoolNd):
    @_forward(
        F,
        "max_pool3d",
        "input self.kernel_size self.stride self.padding self.dilation",
        ceil_mode="self.ceil_mode",
        return_indices="self.return_indices",
    )
    def forward(self, input):
        ...


class _MaxUnpoolNd(Module):
    _format = "kernel_size={kernel_size}, stride={stride}, padding={padding}"

    def __init__(self, kernel_size, stride=None, padding=0):
        super().__init__()
        self.kernel_size = self._tuple(kernel_size)
        self.stride = self._tuple(stride if (stride is not None) else kernel_size)
        self.padding = self._tuple(padding)


class MaxUnpool1d(_MaxUnpoolNd):
    _tuple = staticmethod(_single)

    @_forward(F, "max_unpool1d", "input indices self.kernel_size self.stride self.padding output_size")
    def forward(self, input, indices, output_size=None):
        ...


class MaxUnpool2d(_MaxUnpoolNd):
    _tuple = staticmethod(_pair)

    @_forward(F, "max_unpool2d", "input indices self.kernel_size self.stride self.padding output_size")
    def forward(self, input, indices, output_size=None):
        ...


class MaxUnpool3d(_MaxUnpoolNd):
    _tuple = staticmethod(_triple)

    @_forward(F, "max_unpool3d", "input indices self.kernel_size self.stride self.padding output_size")
    def forward(self, input, indices, output_size=None):
        ...


class _FractionalMaxPoolNd(Module):
    __constants__ = ["kernel_size", "return_indices", "output_size", "output_ratio"]

    def __init__(self, kernel_size, output_size=None, output_ratio=None, return_indices=False, _random_samples=None):
        super().__init__()
        name = self.__class__.__name__
        self.kernel_size = self._tuple(kernel_size)
        self.return_indices = return_indices
        self.register_buffer("_random_samples", _random_samples)
        self.output_size = self._tuple(output_size) if output_size is not None else None
        self.output_ratio = self._tuple(output_ratio) if output_ratio is not None else None
        if output_size is None and output_ratio is None:
            raise ValueError("{} requires specifying either an output size, or a pooling ratio".format(name))
        if output_size is not None and output_ratio is not None:
            raise ValueError("only one of output_size and output_ratio may be specified")
        if self.output_ratio is not None and not all(0 < ratio < 1 for ratio in self.output_ratio):
            raise ValueError("output_ratio must be between 0 and 1 (got {})".format(output_ratio))


class FractionalMaxPool2d(_FractionalMaxPoolNd):
    _tuple = staticmethod(_pair)

    @_forward(
        F,
        "fractional_max_pool2d",
        "input self.kernel_size self.output_size self.output_ratio self.return_indices",
        _random_samples="self._random_samples",
    )
    def forward(self, input):
        ...


class FractionalMaxPool3d(_FractionalMaxPoolNd):
    _tuple = staticmethod(_triple)

    @_forward(
        F,
        "fractional_max_pool3d",
        "input self.kernel_size self.output_size self.output_ratio self.return_indices",
        _random_samples="self._random_samples",
    )
    def forward(self, input):
        ...


class _AvgPoolNd(Module):
    _format = "kernel_size={kernel_size}, stride={stride}, padding={padding}"
    __constants__ = ["kernel_size", "stride", "padding", "ceil_mode", "count_include_pad"]


class AvgPool1d(_AvgPoolNd):
    @_init("kernel_size:1 stride|kernel_size:1 padding:1 ceil_mode count_include_pad")
    def __init__(self, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True):
        ...

    @_forward(F, "avg_pool1d", "input self.kernel_size self.stride self.padding self.ceil_mode self.count_include_pad")
    def forward(self, input):
        ...


class AvgPool2d(_AvgPoolNd):
    @_init("kernel_size stride|kernel_size padding ceil_mode count_include_pad divisor_override")
    def __init__(
        self, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None
    ):
        ...

    @_forward(
        F,
        "avg_pool2d",
        "input self.kernel_size self.stride self.padding self.ceil_mode self.count_include_pad self.divisor_override",
    )
    def forward(self, input):
        ...


class AvgPool3d(_AvgPoolNd):
    @_init("kernel_size stride|kernel_size padding ceil_mode count_include_pad divisor_override")
    def __init__(
        self, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None
    ):
        ...

    @_forward(
        F,
        "avg_pool3d",
        "input self.kernel_size self.stride self.padding self.ceil_mode self.count_include_pad self.divisor_override",
    )
    def forward(self, input):
        ...


class _LPPoolNd(Module):
    _format = "norm_type={norm_type}, kernel_size={kernel_size}, stride={stride}, ceil_mode={ceil_mode}"

    @_init("norm_type kernel_size stride ceil_mode")
    def __init__(self, norm_type, kernel_size, stride=None, ceil_mode=False):
        ...


class LPPool1d(_LPPoolNd):
    def forward(self, input):
        return F.lp_pool1d(input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode)


class LPPool2d(_LPPoolNd):
    def forward(self, input):
        return F.lp_pool2d(input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode)


class LPPool3d(_LPPoolNd):
    def forward(self, input):
        return F.lp_pool3d(input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode)


class _AdaptiveMaxPoolNd(Module):
    _format = "output_size={output_size}"

    @_init("output_size return_indices")
    def __init__(self, output_size, return_indices=False):
        ...


class AdaptiveMaxPool1d(_AdaptiveMaxPoolNd):
    @_forward(F, "adaptive_max_pool1d", "input self.output_size self.return_indices")
    def forward(self, input):
        ...


class AdaptiveMaxPool2d(_AdaptiveMaxPoolNd):
    @_forward(F, "adaptive_max_pool2d", "input self.output_size self.return_indices")
    def forward(self, input):
        ...


class AdaptiveMaxPool3d(_AdaptiveMaxPoolNd):
    @_forward(F, "adaptive_max_pool3d", "input self.output_size self.return_indices")
    def forward(self, input):
        ...


class _AdaptiveAvgPoolNd(Module):
    _format = "output_size={output_size}"
    __constants__ = ["output_size"]

    @_init("output_size")
    def __init__(self, output_size):
        ...


class AdaptiveAvgPool1d(_AdaptiveAvgPoolNd):
    @_forward(F, "adaptive_avg_pool1d", "input self.output_size")
    def forward(self, input):
        ...


class AdaptiveAvgPool2d(_AdaptiveAvgPoolNd):
    @_forward(F, "adaptive_avg_pool2d", "input self.output_size")
    def forward(self, input):
        ...


class AdaptiveAvgPool3d(_AdaptiveAvgPoolNd):
    @_forward(F, "adaptive_avg_pool3d", "input self.output_size")
    def forward(self, input):
        ...
