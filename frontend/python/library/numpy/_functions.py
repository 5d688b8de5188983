# numpy's functions of arrays and numbers.
import builtins
import math

import torch
from numpy import (
    _TORCH,
    _array,
    _operate,
    _promoted,
    _shape,
    _wrap,
    arange,
    array,
    asarray,
    eye,
    float64,
    generic,
    inf,
    int64,
    nan,
    ndarray,
    pi,
    result_type,
    zeros,
)


# ---- elementwise
def _unary(of_tensor, of_number, integers=False):
    def function(x, out=None, **kwargs):
        if isinstance(x, torch.Tensor):
            return of_tensor(x)
        if isinstance(x, (ndarray, list, tuple)):
            x = asarray(x)
            return _wrap(of_tensor(x._t if integers or x.dtype.kind == "f" else x._t.to(torch.float64)))
        result = of_number(x)
        return float64(result) if isinstance(result, float) else int64(result) if type(result) is int else result

    return function


def _guarded(function, below):
    # numpy answers with inf or nan where math raises.
    def of_number(x):
        return function(x) if x > 0 else below if x == 0 else nan

    return of_number


exp = _unary(torch.exp, math.exp)
exp2 = _unary(torch.exp2, lambda x: 2.0**x)
expm1 = _unary(torch.expm1, math.expm1)
log = _unary(torch.log, _guarded(math.log, -inf))
log2 = _unary(torch.log2, _guarded(math.log2, -inf))
log10 = _unary(torch.log10, _guarded(math.log10, -inf))
log1p = _unary(torch.log1p, math.log1p)
sqrt = _unary(torch.sqrt, _guarded(math.sqrt, 0.0))
cbrt = _unary(lambda t: t.sign() * t.abs() ** (1 / 3), lambda x: math.copysign(builtins.abs(x) ** (1 / 3), x))
sin = _unary(torch.sin, math.sin)
cos = _unary(torch.cos, math.cos)
tan = _unary(torch.tan, math.tan)
arcsin = _unary(torch.asin, math.asin)
arccos = _unary(torch.acos, math.acos)
arctan = _unary(torch.atan, math.atan)
sinh = _unary(torch.sinh, math.sinh)
cosh = _unary(torch.cosh, math.cosh)
tanh = _unary(torch.tanh, math.tanh)
floor = _unary(torch.floor, lambda x: float(math.floor(x)))
ceil = _unary(torch.ceil, lambda x: float(math.ceil(x)))
trunc = fix = _unary(torch.trunc, lambda x: float(math.trunc(x)))
rint = _unary(torch.round, lambda x: float(builtins.round(x)))
abs = absolute = _unary(torch.abs, builtins.abs, integers=True)
fabs = _unary(torch.abs, math.fabs)
sign = _unary(torch.sign, lambda x: (x > 0) - (x < 0), integers=True)
square = _unary(torch.square, lambda x: x * x, integers=True)
reciprocal = _unary(torch.reciprocal, lambda x: 1.0 / x)
negative = _unary(torch.neg, lambda x: -x, integers=True)
deg2rad = radians = _unary(lambda t: t * (pi / 180), math.radians)
rad2deg = degrees = _unary(lambda t: t * (180 / pi), math.degrees)
isnan = _unary(torch.isnan, math.isnan, integers=True)
isinf = _unary(torch.isinf, math.isinf, integers=True)
isfinite = _unary(torch.isfinite, math.isfinite, integers=True)


def round(a, decimals=0, out=None):
    if isinstance(a, (ndarray, list, tuple)):
        a = asarray(a)
        return _wrap(a._t.round() if decimals == 0 else (a._t * 10.0**decimals).round() / 10.0**decimals)
    return float64(builtins.round(a, decimals)) if isinstance(a, float) else a


around = round_ = round


_NUMBERS = (int, float)


def _two(name):
    # Python's numbers need no arrays: tables of sinusoids are made of half a million powers.
    is_power = name == "pow"

    def function(a, b, out=None, **kwargs):
        if is_power and type(b) is float and type(a) in _NUMBERS and 0 < a < 1e6 and -50 < b < 50:
            return float64(a**b)
        if isinstance(a, (list, tuple)):
            a = array(a)
        if isinstance(b, (list, tuple)):
            b = array(b)
        result = _operate(name, a, b)
        return float64(result) if type(result) is float else result

    function.outer = _outer(function)
    return function


def _outer(function):
    def outer(a, b, **kwargs):
        a, b = asarray(a), asarray(b)
        return function(a.reshape(a.shape + (1,) * b.ndim), b, **kwargs)

    return outer


add, subtract, multiply, divide, floor_divide, mod, power = (
    _two(n) for n in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow")
)
true_divide, remainder, float_power = divide, mod, power
equal, not_equal, less, less_equal, greater, greater_equal = (_two(n) for n in ("eq", "ne", "lt", "le", "gt", "ge"))


def _pairwise(of_tensors, of_numbers):
    def function(a, b, **kwargs):
        if isinstance(a, (ndarray, list, tuple)) or isinstance(b, (ndarray, list, tuple)):
            a, b = asarray(a), asarray(b)
            target = _TORCH[_promoted([a.dtype.name, b.dtype.name])]
            return _wrap(of_tensors(a._t.to(target), b._t.to(target)))
        return of_numbers(a, b)

    function.outer = _outer(function)
    return function


maximum = fmax = _pairwise(torch.maximum, builtins.max)
minimum = fmin = _pairwise(torch.minimum, builtins.min)
fmod = _pairwise(torch.fmod, math.fmod)
gcd, lcm = _pairwise(torch.gcd, math.gcd), _pairwise(torch.lcm, math.lcm)
logical_and = _pairwise(torch.logical_and, lambda a, b: builtins.bool(a and b))
logical_or = _pairwise(torch.logical_or, lambda a, b: builtins.bool(a or b))
logical_xor = _pairwise(torch.logical_xor, lambda a, b: builtins.bool(a) != builtins.bool(b))
arctan2 = _pairwise(lambda a, b: torch.atan2(a.to(torch.float64), b.to(torch.float64)), math.atan2)
hypot = _pairwise(lambda a, b: torch.sqrt((a * a + b * b).to(torch.float64)), math.hypot)


def logical_not(x):
    return _wrap(torch.logical_not(x._t)) if isinstance(x, ndarray) else not x


def clip(a, a_min=None, a_max=None, **kwargs):
    if isinstance(a, (ndarray, list, tuple)):
        return asarray(a).clip(a_min, a_max)
    a = a if a_min is None or a >= a_min else a_min
    return a if a_max is None or a <= a_max else a_max


def where(condition, x=None, y=None):
    if x is None:
        return nonzero(condition)
    condition = asarray(condition)._t
    x, y = asarray(x), asarray(y)
    target = _TORCH[_promoted([x.dtype.name, y.dtype.name])]
    return _wrap(torch.where(condition, x._t.to(target), y._t.to(target)))


def isclose(a, b, rtol=1e-05, atol=1e-08):
    return abs(asarray(a) - b) <= atol + rtol * abs(b)


def allclose(a, b, rtol=1e-05, atol=1e-08, **kwargs):
    return builtins.bool(isclose(a, b, rtol, atol).all())


def array_equal(a, b):
    a, b = asarray(a), asarray(b)
    return a.shape == b.shape and builtins.bool((a == b).all())


def interp(x, xp, fp):
    xs, ps, fs = asarray(x).reshape(-1).tolist(), list(xp), list(fp)
    out = []
    for v in xs:
        k = builtins.max(builtins.min(builtins.sum(1 for p in ps if p <= v), len(ps) - 1), 1)
        t = builtins.min(builtins.max((v - ps[k - 1]) / (ps[k] - ps[k - 1]), 0.0), 1.0)
        out.append(fs[k - 1] + t * (fs[k] - fs[k - 1]))
    return _wrap(torch.tensor(out, dtype=torch.float64).reshape(asarray(x).shape))


def vectorize(function, *args, **kwargs):
    return lambda *arrays: array(
        [function(*values) for values in zip(*(asarray(a).reshape(-1).tolist() for a in arrays))]
    ).reshape(asarray(arrays[0]).shape)


# ---- reductions
def _reduction(name):
    def function(a, axis=None, **kwargs):
        return getattr(asarray(a), name)(axis, **{k: v for k, v in kwargs.items() if k != "out"})

    return function


sum, mean, var, std, prod, max, min, argmax, argmin, any, all, cumsum, cumprod = (
    _reduction(n)
    for n in ("sum", "mean", "var", "std", "prod", "max", "min", "argmax", "argmin", "any", "all", "cumsum", "cumprod")
)
amax, amin, product = max, min, prod


def ptp(a, axis=None):
    return max(a, axis) - min(a, axis)


def count_nonzero(a, axis=None):
    return sum(asarray(a) != 0, axis)


def diff(a, n=1, axis=-1):
    return _array(torch.diff(asarray(a)._t, n, axis))


# ---- order
def nonzero(a):
    a = asarray(a)
    strides = [math.prod(a.shape[i + 1 :]) for i in range(a.ndim)]
    found = [i for i, v in enumerate(a.reshape(-1).tolist()) if v]
    return tuple(array([i // s % n for i in found], int64) for s, n in zip(strides, a.shape))


def argwhere(a):
    return stack(nonzero(a), 1)


def flatnonzero(a):
    return nonzero(asarray(a).reshape(-1))[0]


def sort(a, axis=-1, **kwargs):
    return _array(torch.sort(asarray(a)._t, axis)[0])


def argsort(a, axis=-1, **kwargs):
    return asarray(a).argsort(axis)


class AxisError(ValueError, IndexError):
    pass


def _index_along(a, indices, axis):
    if indices.ndim != a.ndim:
        raise ValueError("`indices` and `arr` must have the same number of dimensions")
    if not -a.ndim <= axis < a.ndim:
        raise AxisError("axis %d is out of bounds for array of dimension %d" % (axis, a.ndim))
    if indices.dtype.kind not in "iu":
        raise IndexError("`indices` must be an integer array")
    axis = axis % a.ndim
    places = [arange(n).reshape([n if e == d else 1 for e in range(a.ndim)]) for d, n in enumerate(a.shape)]
    return tuple(places[:axis] + [indices] + places[axis + 1 :])


def take_along_axis(arr, indices, axis=-1):
    arr = asarray(arr)
    if axis is None:
        arr, axis = arr.reshape(-1), 0
    return arr[_index_along(arr, asarray(indices), axis)]


def put_along_axis(arr, indices, values, axis):
    if axis is None:
        flat = arr.reshape(-1).copy()
        flat[_index_along(flat, asarray(indices), 0)] = values
        arr[...] = flat.reshape(arr.shape)
    else:
        arr[_index_along(arr, asarray(indices), axis)] = values


# ---- joining, moving
def concatenate(arrays, axis=0, **kwargs):
    arrays = [asarray(a) for a in arrays]
    target = _TORCH[_promoted([a.dtype.name for a in arrays])]
    try:
        return _array(
            torch.cat([a._t.to(target) if axis is not None else a._t.to(target).reshape(-1) for a in arrays], axis or 0)
        )
    except RuntimeError as error:
        raise ValueError(str(error))


def stack(arrays, axis=0, **kwargs):
    arrays = [asarray(a) for a in arrays]
    target = _TORCH[_promoted([a.dtype.name for a in arrays])]
    return _array(torch.stack([a._t.to(target) for a in arrays], axis))


def vstack(arrays):
    return concatenate([a.reshape(1, -1) if a.ndim < 2 else a for a in map(asarray, arrays)], 0)


def hstack(arrays):
    arrays = [asarray(a) for a in arrays]
    return concatenate(arrays, 0 if arrays[0].ndim == 1 else 1)


def append(arr, values, axis=None):
    return concatenate([arr, values], axis)


def split(ary, indices_or_sections, axis=0):
    t = asarray(ary)._t
    if isinstance(indices_or_sections, int) and t.shape[axis] % indices_or_sections:
        raise ValueError("array split does not result in an equal division")
    return array_split(ary, indices_or_sections, axis)


def array_split(ary, indices_or_sections, axis=0):
    sections = indices_or_sections if isinstance(indices_or_sections, int) else [int(i) for i in indices_or_sections]
    return [_array(t) for t in torch.tensor_split(asarray(ary)._t, sections, axis)]


def _moved(name):
    return lambda a, *args, **kwargs: getattr(asarray(a), name)(*args, **kwargs)


reshape, transpose, ravel, squeeze, swapaxes, take = (
    _moved(n) for n in ("reshape", "transpose", "ravel", "squeeze", "swapaxes", "take")
)


def expand_dims(a, axis):
    t = asarray(a)._t
    for i in sorted(axis) if isinstance(axis, (tuple, list)) else [axis]:
        t = t.unsqueeze(i)
    return _array(t)


def moveaxis(a, source, destination):
    return _array(torch.movedim(asarray(a)._t, source, destination))


def flip(m, axis=None):
    t = asarray(m)._t
    return _array(
        torch.flip(t, list(range(t.dim())) if axis is None else [axis] if isinstance(axis, int) else list(axis))
    )


def flipud(m):
    return flip(m, 0)


def fliplr(m):
    return flip(m, 1)


def roll(a, shift, axis=None):
    t = asarray(a)._t
    return _array(t.reshape(-1).roll(shift, 0).reshape(t.shape) if axis is None else t.roll(shift, axis))


def tile(a, reps):
    return _array(asarray(a)._t.tile(*(reps if isinstance(reps, (tuple, list)) else (reps,))))


def repeat(a, repeats, axis=None):
    t = asarray(a)._t
    return _array(t.reshape(-1).repeat_interleave(repeats, 0) if axis is None else t.repeat_interleave(repeats, axis))


def broadcast_to(array, shape):
    return _array(asarray(array)._t.expand(*shape))


def atleast_1d(a):
    a = asarray(a)
    return a.reshape(1) if a.ndim == 0 else a


def atleast_2d(a):
    a = asarray(a)
    return a.reshape(1, -1) if a.ndim < 2 else a


def pad(array, pad_width, mode="constant", constant_values=0, **kwargs):
    t = asarray(array)._t
    if isinstance(pad_width, int):
        pad_width = [(pad_width, pad_width)] * t.dim()
    widths = [tuple(w) if isinstance(w, (tuple, list)) else (w, w) for w in pad_width]
    if len(widths) == 1:
        widths = widths * t.dim()
    if mode != "constant":
        torch._unsupported("numpy.pad(mode='%s')" % mode)
    return _array(torch.nn.functional.pad(t, [n for w in reversed(widths) for n in w], value=constant_values))


def unravel_index(indices, shape):
    strides = [math.prod(shape[i + 1 :]) for i in range(len(shape))]
    return tuple(indices // s % n for s, n in zip(strides, shape))


def ndindex(*shape):
    import itertools

    return itertools.product(*map(range, shape[0] if len(shape) == 1 and isinstance(shape[0], tuple) else shape))


def shape(a):
    return asarray(a).shape


def ndim(a):
    return asarray(a).ndim


def size(a, axis=None):
    return asarray(a).size if axis is None else asarray(a).shape[axis]


def iscomplexobj(x):
    return asarray(x).dtype.kind == "c"


def isscalar(x):
    return isinstance(x, (int, float, complex, str, generic))


# ---- products
def dot(a, b):
    a, b = asarray(a), asarray(b)
    return a * b if a.ndim == 0 or b.ndim == 0 else a @ b


def matmul(a, b):
    return asarray(a) @ asarray(b)


def outer(a, b):
    return asarray(a).reshape(-1, 1) * asarray(b).reshape(1, -1)


def inner(a, b):
    return (asarray(a) * b).sum(-1)


def kron(a, b):
    a, b = asarray(a), asarray(b)
    return (a.reshape(a.shape[0], 1, a.shape[1], 1) * b.reshape(1, b.shape[0], 1, b.shape[1])).reshape(
        a.shape[0] * b.shape[0], -1
    )


def einsum(subscripts, *operands, **kwargs):
    # Products over all letters, then sums: what constructors write is small.
    operands = [asarray(o) for o in operands]
    left, _, right = subscripts.replace(" ", "").partition("->")
    terms = left.split(",")
    letters = sorted(set("".join(terms)))
    if "->" not in subscripts:
        right = "".join(c for c in letters if left.count(c) == 1)
    if "." in left or builtins.any(len(set(t)) != len(t) for t in terms):
        torch._unsupported("numpy.einsum('%s')" % subscripts)
    product = None
    for term, operand in zip(terms, operands):
        operand = operand.transpose(*sorted(range(len(term)), key=lambda i: term[i])) if len(term) > 1 else operand
        operand = operand.reshape([operand.shape[sorted(term).index(c)] if c in term else 1 for c in letters])
        product = operand if product is None else product * operand
    summed = [i for i, c in enumerate(letters) if c not in right]
    product = product.sum(tuple(summed)) if summed else product
    kept = [c for c in letters if c in right]
    return product.transpose(*[kept.index(c) for c in right]) if len(right) > 1 else product


def trace(a):
    return (asarray(a) * eye(*asarray(a).shape)).sum()


def cross(a, b):
    a, b = asarray(a), asarray(b)
    return stack(
        [
            a[..., 1] * b[..., 2] - a[..., 2] * b[..., 1],
            a[..., 2] * b[..., 0] - a[..., 0] * b[..., 2],
            a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0],
        ],
        -1,
    )


def hanning(M):
    return 0.5 - 0.5 * cos(2 * pi * arange(M) / (M - 1))


def hamming(M):
    return 0.54 - 0.46 * cos(2 * pi * arange(M) / (M - 1))


def polyfit(*args, **kwargs):
    torch._unsupported("numpy.polyfit")


def convolve(a, v, mode="full"):
    a, v = asarray(a), asarray(v)
    if len(v) > len(a):
        a, v = v, a
    x, y = a.tolist(), v.tolist()
    if not y:
        raise ValueError("v cannot be empty")
    full = [
        builtins.sum(x[i - j] * y[j] for j in range(len(y)) if 0 <= i - j < len(x)) for i in range(len(x) + len(y) - 1)
    ]
    start, count = {
        "full": (0, len(full)),
        "same": ((len(y) - 1) // 2, len(x)),
        "valid": (len(y) - 1, len(x) - len(y) + 1),
    }[mode]
    return array(full[start : start + count], dtype=result_type(a, v))


def polyval(p, x):
    y = 0
    for c in p:
        y = y * x + c
    return y


class poly1d:
    """A polynomial by its coefficients, highest power first; products and powers are what filters of blur layers are
    made of."""

    def __init__(self, c_or_r, r=False, variable=None):
        c = atleast_1d(c_or_r.coeffs if isinstance(c_or_r, poly1d) else c_or_r)
        if r:
            c, roots = array([1.0]), c.tolist()
            for root in roots:
                c = convolve(c, [1, -root])
        while len(c) > 1 and c[0] == 0:
            c = c[1:]
        self.coeffs = c

    c = coef = coefficients = property(lambda self: self.coeffs)
    o = order = property(lambda self: len(self.coeffs) - 1)

    def __len__(self):
        return self.order

    def __getitem__(self, power):
        return self.coeffs[self.order - power] if 0 <= power <= self.order else 0

    def __call__(self, x):
        return (
            poly1d(polyval([poly1d(v) for v in self.coeffs], x)) if isinstance(x, poly1d) else polyval(self.coeffs, x)
        )

    def _added(self, other, sign):
        other = poly1d(other)
        n = builtins.max(len(self.coeffs), len(other.coeffs))
        a, b = (concatenate([zeros(n - len(p.coeffs), dtype=p.coeffs.dtype), p.coeffs]) for p in (self, other))
        return poly1d(a + sign * b)

    def __add__(self, other):
        return self._added(other, 1)

    def __sub__(self, other):
        return self._added(other, -1)

    def __neg__(self):
        return poly1d(-self.coeffs)

    def __mul__(self, other):
        return poly1d(self.coeffs * other) if isscalar(other) else poly1d(convolve(self.coeffs, poly1d(other).coeffs))

    __radd__, __rmul__ = __add__, __mul__

    def __rsub__(self, other):
        return poly1d(other) - self

    def __truediv__(self, other):
        return poly1d(self.coeffs / other)

    def __pow__(self, power):
        out = poly1d([1])
        for _ in range(power):
            out = out * self
        return out

    def __eq__(self, other):
        return isinstance(other, poly1d) and self.coeffs.tolist() == other.coeffs.tolist()
