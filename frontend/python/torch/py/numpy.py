# numpy as model sources use it while they build themselves: numbers and small tables. An array is a constant tensor of torch.
import math

import torch

pi = math.pi
e = math.e
inf = Inf = math.inf
nan = NaN = math.nan
newaxis = None
float32, float64, float16 = torch.float32, torch.float64, torch.float16
int64, int32, int16, int8, uint8 = torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8
bool_ = torch.bool
ndarray = torch.Tensor


class generic:
    pass


class number(generic):
    pass


class integer(number):
    pass


class floating(number):
    pass


def _dtype(dtype):
    return {float: torch.float64, int: torch.int64, bool: torch.bool, 'float32': torch.float32, 'float64': torch.float64,
            'int64': torch.int64}.get(dtype, dtype)


def array(object, dtype=None):
    out = torch.tensor(object, dtype=_dtype(dtype))
    return out.double() if dtype is None and out.dtype == torch.float32 else out


asarray = array


def zeros(shape, dtype=float):
    return torch.zeros(shape, dtype=_dtype(dtype))


def ones(shape, dtype=float):
    return torch.ones(shape, dtype=_dtype(dtype))


def arange(*args, dtype=None):
    floating_point = any(isinstance(a, float) for a in args)
    return torch.arange(*args, dtype=_dtype(dtype) or (torch.float64 if floating_point else torch.int64))


def linspace(start, stop, num=50, endpoint=True):
    return torch.linspace(start, stop, num, dtype=torch.float64) if endpoint else torch.linspace(start, stop, num + 1, dtype=torch.float64)[:-1]


def _elementwise(of_tensor, of_number):
    def function(x, *args, **kwargs):
        if isinstance(x, (list, tuple)):
            x = array(x)
        if isinstance(x, torch.Tensor):
            return of_tensor(x.double() if not x.is_floating_point() else x)
        return of_number(x)
    return function


exp = _elementwise(torch.exp, math.exp)
log = _elementwise(torch.log, math.log)
log2 = _elementwise(torch.log2, math.log2)
log10 = _elementwise(torch.log10, math.log10)
sqrt = _elementwise(torch.sqrt, math.sqrt)
sin = _elementwise(torch.sin, math.sin)
cos = _elementwise(torch.cos, math.cos)
tanh = _elementwise(torch.tanh, math.tanh)
floor = _elementwise(torch.floor, lambda x: float(math.floor(x)))
ceil = _elementwise(torch.ceil, lambda x: float(math.ceil(x)))
round = around = rint = _elementwise(torch.round, lambda x: float(__import__('builtins').round(x)))
abs = absolute = _elementwise(torch.abs, math.fabs)


def power(x, y):
    return x ** y


def prod(a, axis=None):
    if isinstance(a, torch.Tensor):
        return a.prod().item() if axis is None else a.prod(axis)
    return math.prod(a)


def sum(a, axis=None):
    a = a if isinstance(a, torch.Tensor) else array(a)
    return a.sum().item() if axis is None else a.sum(axis)


def cumsum(a, axis=None):
    a = a if isinstance(a, torch.Tensor) else array(a)
    return a.flatten().cumsum(0) if axis is None else a.cumsum(axis)


def stack(arrays, axis=0):
    return torch.stack(list(arrays), axis)


def concatenate(arrays, axis=0):
    return torch.cat(list(arrays), axis)


def meshgrid(*xi, indexing='xy'):
    return list(torch.meshgrid(*xi, indexing=indexing))


def outer(a, b):
    return torch.outer(a, b)


def where(condition, x, y):
    return torch.where(condition, x, y)
