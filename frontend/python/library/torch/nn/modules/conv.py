import torch  # this, _reverse_repeat_tuple and Parameter are for programs that import them from here
from torch.nn import functional as F
from torch.nn.modules.module import Module, _conv_init, _forward
from torch.nn.modules.utils import _pair, _reverse_repeat_tuple, _single, _triple
from torch.nn.parameter import Parameter


class _ConvNd(Module):
    __constants__ = [
        "stride",
        "padding",
        "dilation",
        "groups",
        "padding_mode",
        "output_padding",
        "in_channels",
        "out_channels",
        "kernel_size",
    ]

    @_conv_init(0)
    def __init__(
        self,
        in_channels,
        out_channels,
        kernel_size,
        stride,
        padding,
        dilation,
        transposed,
        output_padding,
        groups,
        bias,
        padding_mode,
        device=None,
        dtype=None,
    ):
        ...

    def reset_parameters(self):
        pass

    def extra_repr(self):
        s = "{in_channels}, {out_channels}, kernel_size={kernel_size}, stride={stride}"
        if self.padding != (0,) * len(self.padding):
            s += ", padding={padding}"
        if self.dilation != (1,) * len(self.dilation):
            s += ", dilation={dilation}"
        if self.output_padding != (0,) * len(self.output_padding):
            s += ", output_padding={output_padding}"
        if self.groups != 1:
            s += ", groups={groups}"
        if self.bias is None:
            s += ", bias=False"
        if self.padding_mode != "zeros":
            s += ", padding_mode={padding_mode}"
        return s.format(**self.__dict__)


class Conv1d(_ConvNd):
    @_conv_init(1)
    def __init__(
        self,
        in_channels,
        out_channels,
        kernel_size,
        stride=1,
        padding=0,
        dilation=1,
        groups=1,
        bias=True,
        padding_mode="zeros",
        device=None,
        dtype=None,
    ):
        ...

    @_forward(
        F,
        "conv1d",
        "input weight bias self.stride self.padding self.dilation self.groups",
        _where=("padding_mode", "zeros"),
    )
    def _conv_forward(self, input, weight, bias):
        padded = F.pad(input, self._reversed_padding_repeated_twice, mode=self.padding_mode)
        return F.conv1d(padded, weight, bias, self.stride, _single(0), self.dilation, self.groups)

    @_forward("self", "_conv_forward", "input self.weight self.bias")
    def forward(self, input):
        ...


class Conv2d(_ConvNd):
    @_conv_init(2)
    def __init__(
        self,
        in_channels,
        out_channels,
        kernel_size,
        stride=1,
        padding=0,
        dilation=1,
        groups=1,
        bias=True,
        padding_mode="zeros",
        device=None,
        dtype=None,
    ):
        ...

    @_forward(
        F,
        "conv2d",
        "input weight bias self.stride self.padding self.dilation self.groups",
        _where=("padding_mode", "zeros"),
    )
    def _conv_forward(self, input, weight, bias):
        padded = F.pad(input, self._reversed_padding_repeated_twice, mode=self.padding_mode)
        return F.conv2d(padded, weight, bias, self.stride, _pair(0), self.dilation, self.groups)

    @_forward("self", "_conv_forward", "input self.weight self.bias")
    def forward(self, input):
        ...


class Conv3d(_ConvNd):
    @_conv_init(3)
    def __init__(
        self,
        in_channels,
        out_channels,
        kernel_size,
        stride=1,
        padding=0,
        dilation=1,
        groups=1,
        bias=True,
        padding_mode="zeros",
        device=None,
        dtype=None,
    ):
        ...

    @_forward(
        F,
        "conv3d",
        "input weight bias self.stride self.padding self.dilation self.groups",
        _where=("padding_mode", "zeros"),
    )
    def _conv_forward(self, input, weight, bias):
        padded = F.pad(input, self._reversed_padding_repeated_twice, mode=self.padding_mode)
        return F.conv3d(padded, weight, bias, self.stride, _triple(0), self.dilation, self.groups)

    @_forward("self", "_conv_forward", "input self.weight self.bias")
    def forward(self, input):
        ...


class _ConvTransposeNd(_ConvNd):
    def _output_padding(self, input, output_size, stride, padding, kernel_size, num_spatial_dims, dilation=None):
        if output_size is None:
            return self.output_padding
        lead = 2 if input.dim() == num_spatial_dims + 2 else 1
        if len(output_size) == num_spatial_dims + lead:
            output_size = output_size[lead:]
        if len(output_size) != num_spatial_dims:
            raise ValueError(
                "ConvTranspose{}D: for {}D input, output_size must have {} or {} elements (got {})".format(
                    num_spatial_dims, input.dim(), num_spatial_dims, lead + num_spatial_dims, len(output_size)
                )
            )
        result = []
        for d in range(num_spatial_dims):
            smallest = (
                (input.size(d + lead) - 1) * stride[d]
                - 2 * padding[d]
                + (dilation[d] if dilation is not None else 1) * (kernel_size[d] - 1)
                + 1
            )
            if not smallest <= output_size[d] <= smallest + stride[d] - 1:
                raise ValueError(
                    "requested an output size of {}, but valid sizes start at {}".format(output_size, smallest)
                )
            result.append(output_size[d] - smallest)
        return result


class ConvTranspose1d(_ConvTransposeNd):
    @_conv_init(1, "transposed")
    def __init__(
        self,
        in_channels,
        out_channels,
        kernel_size,
        stride=1,
        padding=0,
        output_padding=0,
        groups=1,
        bias=True,
        dilation=1,
        padding_mode="zeros",
        device=None,
        dtype=None,
    ):
        ...

    def forward(self, input, output_size=None):
        output_padding = self._output_padding(
            input, output_size, self.stride, self.padding, self.kernel_size, 1, self.dilation
        )
        return F.conv_transpose1d(
            input, self.weight, self.bias, self.stride, self.padding, output_padding, self.groups, self.dilation
        )


class ConvTranspose2d(_ConvTransposeNd):
    @_conv_init(2, "transposed")
    def __init__(
        self,
        in_channels,
        out_channels,
        kernel_size,
        stride=1,
        padding=0,
        output_padding=0,
        groups=1,
        bias=True,
        dilation=1,
        padding_mode="zeros",
        device=None,
        dtype=None,
    ):
        ...

    def forward(self, input, output_size=None):
        output_padding = self._output_padding(
            input, output_size, self.stride, self.padding, self.kernel_size, 2, self.dilation
        )
        return F.conv_transpose2d(
            input, self.weight, self.bias, self.stride, self.padding, output_padding, self.groups, self.dilation
        )


class ConvTranspose3d(_ConvTransposeNd):
    @_conv_init(3, "transposed")
    def __init__(
        self,
        in_channels,
        out_channels,
        kernel_size,
        stride=1,
        padding=0,
        output_padding=0,
        groups=1,
        bias=True,
        dilation=1,
        padding_mode="zeros",
        device=None,
        dtype=None,
    ):
        ...

    def forward(self, input, output_size=None):
        output_padding = self._output_padding(
            input, output_size, self.stride, self.padding, self.kernel_size, 3, self.dilation
        )
        return F.conv_transpose3d(
            input, self.weight, self.bias, self.stride, self.padding, output_padding, self.groups, self.dilation
        )
