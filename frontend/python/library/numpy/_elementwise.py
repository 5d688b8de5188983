# More of numpy's functions of each element, and what numpy 2 calls them.
import cmath
import math

import torch
from numpy import _TYPES, _array, asarray, float64, int64, ndarray, pi
from numpy._functions import (
    _pairwise,
    _unary,
    arccos,
    arcsin,
    arctan,
    arctan2,
    concatenate,
    iscomplexobj,
    power,
    sin,
    vstack,
    where,
)

long, short, byte = (_TYPES[name] for name in ("int64", "int16", "int8"))
csingle, cdouble = _TYPES["complex64"], _TYPES["complex128"]
arccosh, arcsinh, arctanh = (
    _unary(torch.acosh, math.acosh),
    _unary(torch.asinh, math.asinh),
    _unary(torch.atanh, math.atanh),
)
acos, asin, atan, atan2, acosh, asinh, atanh = arccos, arcsin, arctan, arctan2, arccosh, arcsinh, arctanh
concat, pow, row_stack = concatenate, power, vstack


def _part(of_tensor, of_number):
    def function(val):
        if isinstance(val, (ndarray, list, tuple)):
            return _array(of_tensor(asarray(val)._t))
        return of_number(val)

    return function


def _is_complex(tensor):
    return tensor.dtype in (torch.complex64, torch.complex128)


real = _part(lambda t: t.real if _is_complex(t) else t, lambda x: x.real)
imag = _part(lambda t: t.imag if _is_complex(t) else torch.zeros_like(t), lambda x: x.imag)
conj = conjugate = _part(lambda t: torch.complex(t.real, -t.imag) if _is_complex(t) else t, lambda x: x.conjugate())
angle = _part(
    lambda t: torch.atan2(t.imag, t.real) if _is_complex(t) else torch.atan2(torch.zeros_like(t), t).to(torch.float64),
    lambda x: float64(cmath.phase(x)),
)
isreal = _part(lambda t: t.imag == 0 if _is_complex(t) else torch.ones_like(t, dtype=torch.bool), lambda x: x.imag == 0)
iscomplex = _part(
    lambda t: t.imag != 0 if _is_complex(t) else torch.zeros_like(t, dtype=torch.bool), lambda x: x.imag != 0
)
isrealobj = lambda x: not iscomplexobj(x)
positive = _part(lambda t: t, lambda x: x)
bitwise_and, bitwise_or, bitwise_xor = (
    _pairwise(torch.bitwise_and, lambda a, b: int64(a & b)),
    _pairwise(torch.bitwise_or, lambda a, b: int64(a | b)),
    _pairwise(torch.bitwise_xor, lambda a, b: int64(a ^ b)),
)
left_shift = bitwise_left_shift = _pairwise(lambda a, b: a * 2**b, lambda a, b: int64(a << b))
right_shift = bitwise_right_shift = _pairwise(lambda a, b: a // 2**b, lambda a, b: int64(a >> b))


def sinc(x):
    scaled = pi * where(asarray(x) == 0, 1.0e-20, asarray(x))
    return sin(scaled) / scaled


def tensordot(a, b, axes=2):
    a, b = asarray(a), asarray(b)
    if isinstance(axes, int):
        axes = range(a.ndim - axes, a.ndim), range(axes)
    of_a, of_b = ([n % x.ndim for n in ([one] if isinstance(one, int) else one)] for x, one in zip((a, b), axes))
    rest_a, rest_b = [n for n in range(a.ndim) if n not in of_a], [n for n in range(b.ndim) if n not in of_b]
    if [a.shape[n] for n in of_a] != [b.shape[n] for n in of_b]:
        raise ValueError("shape-mismatch for sum")
    rows, columns = tuple(a.shape[n] for n in rest_a), tuple(b.shape[n] for n in rest_b)
    inner = math.prod(a.shape[n] for n in of_a)
    product = a.transpose(*rest_a, *of_a).reshape(-1, inner) @ b.transpose(*of_b, *rest_b).reshape(inner, -1)
    return product.reshape(rows + columns)


def matrix_transpose(x):
    return _array(asarray(x)._t.transpose(-2, -1))


def diagonal(a, offset=0, axis1=0, axis2=1):
    return _array(asarray(a)._t.diagonal(offset, axis1, axis2))


def broadcast_shapes(*shapes):
    return tuple(torch.broadcast_shapes(*shapes))


def broadcast_arrays(*args):
    shape = broadcast_shapes(*[asarray(a).shape for a in args])
    return [_array(asarray(a)._t.expand(shape)) for a in args]


def iterable(y):
    try:
        iter(y)
    except TypeError:
        return False
    return True
