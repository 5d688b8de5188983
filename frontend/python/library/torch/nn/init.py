# The values of weights change no latency. A weight that is drawn at random is marked as random;
# constants keep their values, since programs read those.
import math

from torch.nn.modules.module import _body


def calculate_gain(nonlinearity, param=None):
    if nonlinearity in (
        "linear",
        "conv1d",
        "conv2d",
        "conv3d",
        "conv_transpose1d",
        "conv_transpose2d",
        "conv_transpose3d",
        "sigmoid",
    ):
        return 1
    elif nonlinearity == "tanh":
        return 5.0 / 3
    elif nonlinearity == "relu":
        return math.sqrt(2.0)
    elif nonlinearity == "leaky_relu":
        return math.sqrt(2.0 / (1 + (0.01 if param is None else param) ** 2))
    elif nonlinearity == "selu":
        return 3.0 / 4
    raise ValueError("Unsupported nonlinearity {}".format(nonlinearity))


def _calculate_fan_in_and_fan_out(tensor):
    if tensor.dim() < 2:
        raise ValueError("Fan in and fan out can not be computed for tensor with fewer than 2 dimensions")
    receptive_field_size = 1
    for s in tensor.shape[2:]:
        receptive_field_size *= s
    return tensor.size(1) * receptive_field_size, tensor.size(0) * receptive_field_size


def _calculate_correct_fan(tensor, mode):
    fan_in, fan_out = _calculate_fan_in_and_fan_out(tensor)
    return fan_in if mode.lower() == "fan_in" else fan_out


@_body("random")
def uniform_(tensor, a=0.0, b=1.0, generator=None):
    ...


@_body("random")
def normal_(tensor, mean=0.0, std=1.0, generator=None):
    ...


@_body("random")
def trunc_normal_(tensor, mean=0.0, std=1.0, a=-2.0, b=2.0, generator=None):
    ...


@_body("fill")
def constant_(tensor, val):
    ...


@_body("ones")
def ones_(tensor):
    ...


@_body("zeros")
def zeros_(tensor):
    ...


@_body("random")
def _drawn(tensor):
    ...


def eye_(tensor):
    if tensor.dim() != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    return _drawn(tensor)


def dirac_(tensor, groups=1):
    if tensor.dim() not in (3, 4, 5):
        raise ValueError("Only tensors with 3, 4, or 5 dimensions are supported")
    if tensor.size(0) % groups != 0:
        raise ValueError("dim 0 must be divisible by groups")
    return _drawn(tensor)


@_body("random_matrix")
def xavier_uniform_(tensor, gain=1.0, generator=None):
    # Fewer than two dimensions.
    _calculate_fan_in_and_fan_out(tensor)


@_body("random_matrix")
def xavier_normal_(tensor, gain=1.0, generator=None):
    # Fewer than two dimensions.
    _calculate_fan_in_and_fan_out(tensor)


@_body("random_matrix")
def kaiming_uniform_(tensor, a=0, mode="fan_in", nonlinearity="leaky_relu", generator=None):
    # Fewer than two dimensions.
    if 0 not in tensor.shape:
        _calculate_fan_in_and_fan_out(tensor)
    return tensor.normal_()


@_body("random_matrix")
def kaiming_normal_(tensor, a=0, mode="fan_in", nonlinearity="leaky_relu", generator=None):
    # Fewer than two dimensions.
    if 0 not in tensor.shape:
        _calculate_fan_in_and_fan_out(tensor)
    return tensor.normal_()


def orthogonal_(tensor, gain=1, generator=None):
    if tensor.dim() < 2:
        raise ValueError("Only tensors with 2 or more dimensions are supported")
    return _drawn(tensor)


def sparse_(tensor, sparsity, std=0.01):
    if tensor.dim() != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    return _drawn(tensor)


uniform = uniform_
normal = normal_
constant = constant_
xavier_uniform = xavier_uniform_
xavier_normal = xavier_normal_
kaiming_uniform = kaiming_uniform_
kaiming_normal = kaiming_normal_
orthogonal = orthogonal_
