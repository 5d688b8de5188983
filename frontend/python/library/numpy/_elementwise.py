# numpy's functions of each element.
import builtins
import math

import torch
from numpy._arrays import UFuncTypeError, _array, _given, _wrap, array, asarray, ndarray
from numpy._dtypes import _NAMES, _TYPES, _functions, _lacks, _type_name, inf, nan, pi
from numpy._indexing import _shapes_fit
from numpy._promotion import _result_name
from numpy._types import _in_bits, _number_name, float64, generic
from numpy._ufuncs import _double, _floats, _not_bool, _Pair, _quotients, ufunc


def _number(value, like):
    return torch.tensor(value, dtype=like.dtype)


def _is_float(t):
    return t.dtype.is_floating_point


def _items(function):
    # Of known values, one by one.
    def compute(*tensors):
        shape = torch.broadcast_shapes(*[tuple(t.shape) for t in tensors])
        rows = [t.expand(shape).reshape(-1).tolist() for t in tensors]
        return torch.tensor([function(*values) for values in zip(*rows)], dtype=tensors[0].dtype).reshape(shape)

    return compute


def _nan_kept(function, t):
    return torch.where(t != t, t, function(t)) if _is_float(t) else function(t)


# ---- of one
def _guarded(function, below):
    # numpy answers with inf or nan where math raises.
    def of_number(x):
        return function(x) if x > 0 else below if x == 0 else nan

    return of_number


def _rounded(t):
    return torch.complex(t.real.round(), t.imag.round()) if t.is_complex() else t.round()


def _of_floats(name, compute, python, kinds="buifc"):
    return ufunc(name, 1, compute, _floats, kinds, python)


exp = _of_floats("exp", torch.exp, math.exp)
exp2 = _of_floats("exp2", torch.exp2, lambda x: 2.0**x)
expm1 = _of_floats("expm1", torch.expm1, math.expm1)
log = _of_floats("log", torch.log, _guarded(math.log, -inf))
log2 = _of_floats("log2", torch.log2, _guarded(math.log2, -inf))
log10 = _of_floats("log10", torch.log10, _guarded(math.log10, -inf))
log1p = _of_floats("log1p", torch.log1p, math.log1p)
sqrt = _of_floats("sqrt", torch.sqrt, _guarded(math.sqrt, 0.0))
cbrt = _of_floats(
    "cbrt",
    lambda t: (t.sign() * t.to(torch.float64).abs() ** (1 / 3)).to(t.dtype),
    lambda x: math.copysign(builtins.abs(x) ** (1 / 3), x),
    "buif",
)
sin = _of_floats("sin", torch.sin, math.sin)
cos = _of_floats("cos", torch.cos, math.cos)
tan = _of_floats("tan", torch.tan, math.tan)
arcsin = asin = _of_floats("arcsin", torch.asin, math.asin)
arccos = acos = _of_floats("arccos", torch.acos, math.acos)
arctan = atan = _of_floats("arctan", torch.atan, math.atan)
sinh = _of_floats("sinh", torch.sinh, math.sinh)
cosh = _of_floats("cosh", torch.cosh, math.cosh)
tanh = _of_floats("tanh", torch.tanh, math.tanh)
arcsinh = asinh = _of_floats("arcsinh", torch.asinh, math.asinh)
arccosh = acosh = _of_floats("arccosh", torch.acosh, math.acosh)
arctanh = atanh = _of_floats("arctanh", torch.atanh, math.atanh)
floor = _of_floats("floor", torch.floor, lambda x: float(math.floor(x)), "buif")
ceil = _of_floats("ceil", torch.ceil, lambda x: float(math.ceil(x)), "buif")
trunc = _of_floats("trunc", torch.trunc, lambda x: float(math.trunc(x)), "buif")
rint = _of_floats("rint", _rounded, lambda x: float(builtins.round(x)))
fabs = _of_floats("fabs", torch.abs, math.fabs, "buif")
deg2rad = _of_floats("deg2rad", lambda t: t * (pi / 180), math.radians, "buif")
radians = _of_floats("radians", lambda t: t * (pi / 180), math.radians, "buif")
rad2deg = _of_floats("rad2deg", lambda t: t * (180 / pi), math.degrees, "buif")
degrees = _of_floats("degrees", lambda t: t * (180 / pi), math.degrees, "buif")
spacing = _of_floats("spacing", _items(lambda x: math.copysign(math.ulp(x), x)), None, "f")


class _Absolute(ufunc):
    def _number_made(self, loop):
        return _TYPES[{"complex64": "float32", "complex128": "float64"}.get(loop, loop)]


absolute = abs = _Absolute("absolute", 1, lambda t: t if t.dtype == torch.bool else t.abs(), python=builtins.abs)
square = ufunc("square", 1, lambda t: t * t, _not_bool)
sign = ufunc("sign", 1, lambda t: _nan_kept(torch.sign, t), kinds="uif")
negative = ufunc("negative", 1, torch.neg, kinds="uifc")
positive = ufunc("positive", 1, lambda t: t.clone(), kinds="uifc")


def _reciprocal(t):
    if _is_float(t) or t.is_complex():
        return 1 / t
    if _has_zero(t):
        torch._unsupported("numpy.reciprocal() of the integer 0")
    return torch.where(t.abs() == 1, t, 0 * t)


def _has_zero(t):
    return torch._has_values(t) and builtins.bool((t == 0).any())


reciprocal = ufunc("reciprocal", 1, _reciprocal, _not_bool)
conjugate = conj = ufunc(
    "conjugate", 1, lambda t: torch.complex(t.real, -t.imag) if t.is_complex() else t.clone(), _not_bool
)
invert = bitwise_not = bitwise_invert = ufunc("invert", 1, torch.bitwise_not, kinds="bui")
isnan = ufunc("isnan", 1, torch.isnan, result="bool", python=lambda x: x != x)
isinf = ufunc("isinf", 1, torch.isinf, result="bool")
isfinite = ufunc("isfinite", 1, torch.isfinite, result="bool")
signbit = ufunc("signbit", 1, lambda t: torch.copysign(torch.ones_like(t), t) < 0, _floats, "uif", result="bool")
logical_not = ufunc("logical_not", 1, torch.logical_not, result="bool", python=lambda x: not x)


# ---- of two
def _sum_all(t, axes, keepdims):
    return t.sum(axes, keepdim=keepdims)


def _one_by_one(name):
    def fold(t, axes, keepdims):
        for d in reversed(axes):
            t = getattr(t, name)(d, keepdim=keepdims)
        return t

    return fold


def _nonzero_one_by_one(name):
    fold = _one_by_one(name)
    return lambda t, axes, keepdims: fold(t != 0, axes, keepdims)


def _whole(function):
    # Of integers: a division by zero is zero.
    def compute(a, b):
        if _is_float(a):
            return function(a, b)
        zero = b == 0
        return torch.where(zero, torch.zeros_like(b), function(a, torch.where(zero, torch.ones_like(b), b)))

    return compute


def _quotient(a, b):
    quotient = a // b
    return torch.where(b == 0, a / b, quotient) if _is_float(a) else quotient


_EXACT = 1 << 53  # a tensor here holds integers below


def _large(t):
    return t.numel() and torch._has_values(t) and t.to(torch.float64).abs().amax().item() or 0


def _exact(function, python, size_of):
    """Of integers that are too large for tensors here: as Python computes them, in the bits of the
    type."""

    def compute(a, b):
        if a.dtype == torch.bool or _is_float(a) or a.is_complex() or size_of(_large(a), _large(b)) < _EXACT:
            return function(a, b)
        name = _NAMES[a.dtype]
        made = _items(lambda x, y: _in_bits(name, python(x, y)))(a, b)
        if _large(made) >= _EXACT:
            torch._unsupported("numpy: integers of more than 53 bits")
        return made

    return compute


def _size_of_power(a, b):
    return a**b if a < 2 or b < 64 else 2 * _EXACT


def _power(a, b):
    if not _is_float(b) and not b.is_complex() and torch._has_values(b) and builtins.bool((b < 0).any()):
        raise ValueError("Integers to negative integer powers are not allowed.")
    return a**b


def _power_in_bits(a, b):
    if b < 0:
        raise ValueError("Integers to negative integer powers are not allowed.")
    return builtins.pow(a, b, 1 << 64)


def _no_negative_power(a, b):
    if type(a) is not float and type(b) is not float and isinstance(a, int) and isinstance(b, int) and b < 0:
        raise ValueError
    return builtins.pow(a, b, 1 << 64) if isinstance(a, int) and isinstance(b, int) else a ** b


def _modulo(a, b):
    if isinstance(b, int) and b == 0 and isinstance(a, int):
        return 0
    return a % b


def _floor_quotient(a, b):
    if isinstance(b, int) and b == 0 and isinstance(a, int):
        return 0
    return a // b


add = ufunc("add", 2, lambda a, b: a + b, python=None, identity=0, fold=_sum_all)
subtract = ufunc("subtract", 2, lambda a, b: a - b, kinds="uifc")
multiply = ufunc(
    "multiply",
    2,
    _exact(lambda a, b: a * b, lambda a, b: a * b, lambda a, b: a * b),
    identity=1,
    fold=_one_by_one("prod"),
)
multiply._of_tensors = lambda a, b: a * b
divide = true_divide = ufunc("divide", 2, lambda a, b: a / b, _quotients)
floor_divide = ufunc("floor_divide", 2, _whole(_quotient), _not_bool, "uif")
remainder = mod = ufunc("remainder", 2, _whole(lambda a, b: a % b), _not_bool, "uif")
fmod = ufunc("fmod", 2, _whole(torch.fmod), _not_bool, "uif")
power = pow = ufunc("power", 2, _exact(_power, lambda a, b: _power_in_bits(a, b), _size_of_power), _not_bool)
power._python_of_floats = math.pow
power._of_tensors = lambda a, b: a**b
float_power = ufunc("float_power", 2, lambda a, b: a**b, _double)
equal = ufunc("equal", 2, lambda a, b: a == b, result="bool")
not_equal = ufunc("not_equal", 2, lambda a, b: a != b, result="bool")
less = ufunc("less", 2, lambda a, b: a < b, result="bool")
less_equal = ufunc("less_equal", 2, lambda a, b: a <= b, result="bool")
greater = ufunc("greater", 2, lambda a, b: a > b, result="bool")
greater_equal = ufunc("greater_equal", 2, lambda a, b: a >= b, result="bool")
maximum = ufunc("maximum", 2, torch.maximum, fold=lambda t, axes, keepdims: t.amax(axes, keepdim=keepdims))
minimum = ufunc("minimum", 2, torch.minimum, fold=lambda t, axes, keepdims: t.amin(axes, keepdim=keepdims))


def _number_first(function):
    # fmax, fmin: a number rather than nan.
    return lambda a, b: torch.where(a != a, b, torch.where(b != b, a, function(a, b)))


fmax = ufunc("fmax", 2, _number_first(torch.maximum))
fmin = ufunc("fmin", 2, _number_first(torch.minimum))
logical_and = ufunc("logical_and", 2, torch.logical_and, result="bool", identity=True, fold=_nonzero_one_by_one("all"))
logical_or = ufunc("logical_or", 2, torch.logical_or, result="bool", identity=False, fold=_nonzero_one_by_one("any"))
logical_xor = ufunc("logical_xor", 2, torch.logical_xor, result="bool", identity=False)
bitwise_and = ufunc("bitwise_and", 2, torch.bitwise_and, kinds="bui", identity=-1)
bitwise_or = ufunc("bitwise_or", 2, torch.bitwise_or, kinds="bui", identity=0)
bitwise_xor = ufunc("bitwise_xor", 2, torch.bitwise_xor, kinds="bui", identity=0)


def _shifted_left(a, b):
    bits = 8 * a.element_size()
    # Of so many bits that a power of two of that type is none.
    return torch.where(
        (b < 0) | (b >= bits), torch.zeros_like(a), a * 2 ** torch.where((b < 0) | (b >= bits), 0 * b, b)
    )


def _shifted_right(a, b):
    far = (b < 0) | (b >= 8 * a.element_size())
    wide, bits = a.to(torch.int64), torch.where(far, 0 * b, b).to(torch.int64).clamp(0, 62)
    return torch.where(far, torch.where(wide < 0, -torch.ones_like(wide), 0 * wide), wide // 2**bits).to(a.dtype)


left_shift = bitwise_left_shift = ufunc("left_shift", 2, _shifted_left, _not_bool, "ui")
right_shift = bitwise_right_shift = ufunc("right_shift", 2, _shifted_right, _not_bool, "ui")
gcd = ufunc("gcd", 2, _items(math.gcd), kinds="ui", identity=0)
lcm = ufunc("lcm", 2, _items(math.lcm), kinds="ui")
arctan2 = atan2 = ufunc("arctan2", 2, torch.atan2, _floats, "f", math.atan2)
hypot = ufunc("hypot", 2, torch.hypot, _floats, "f", math.hypot, identity=0)
copysign = ufunc("copysign", 2, torch.copysign, _floats, "f", math.copysign)
nextafter = ufunc("nextafter", 2, _items(math.nextafter), _floats, "f")
logaddexp = ufunc("logaddexp", 2, torch.logaddexp, _floats, "f", identity=-inf)
logaddexp2 = ufunc(
    "logaddexp2",
    2,
    lambda a, b: torch.logaddexp(a * math.log(2), b * math.log(2)) / math.log(2),
    _floats,
    "f",
    identity=-inf,
)
heaviside = ufunc(
    "heaviside", 2, lambda a, b: torch.where(a == 0, b, torch.where(a != a, a, (a > 0).to(a.dtype))), _floats, "f"
)


class _Ldexp(ufunc):
    def _tensor(self, inputs, name=None, casting=None):
        exponent = asarray(inputs[1])
        if exponent.dtype.kind not in "iub":
            raise TypeError("ufunc 'ldexp' not supported for the input types")
        first = asarray(inputs[0])
        name = self._loop_of(first.dtype.name) if name is None else name
        t = first.astype(name)._t
        return _shapes_fit(lambda: (t.to(torch.float64) * 2.0 ** exponent._t.to(torch.float64)).to(t.dtype))


ldexp = _Ldexp("ldexp", 2, None, _floats, "f")
spacing._compute = _items(lambda x: math.copysign(math.ulp(x), x))


def _narrow_refused(function):
    # Neighbours of a number are known of the longest type.
    compute = function._compute

    def of_long(*tensors):
        if tensors[0].dtype != torch.float64:
            torch._unsupported("numpy.%s() of short floats" % function.__name__)
        return compute(*tensors)

    function._compute = of_long


_narrow_refused(spacing)
_narrow_refused(nextafter)

_integers = {
    add: lambda a, b: a + b,
    subtract: lambda a, b: a - b,
    multiply: lambda a, b: a * b,
    floor_divide: _floor_quotient,
    remainder: _modulo,
    power: _no_negative_power,
}


# With numbers: as Python computes, whose integers are exact. bool is a type of its own in numpy.
for _function, _python in _integers.items():

    def _of_numbers(a, b, compute=_python):
        if isinstance(a, builtins.bool) and isinstance(b, builtins.bool):
            raise ValueError  # as tensors
        return compute(a, b)

    _function._python = _of_numbers
divide._python = lambda a, b: a / b
negative._python = lambda a: -a
for _function, _python in (
    (equal, lambda a, b: a == b),
    (not_equal, lambda a, b: a != b),
    (less, lambda a, b: a < b),
    (less_equal, lambda a, b: a <= b),
    (greater, lambda a, b: a > b),
    (greater_equal, lambda a, b: a >= b),
    (logical_and, lambda a, b: a and b),
    (logical_or, lambda a, b: a or b),
):
    _function._python = _python
square._python = lambda a: a * a

modf = _Pair(
    "modf", 1, ufunc("_fraction", 1, lambda t: torch.where(t.isinf(), 0 * t.sign(), t - t.trunc()), _floats, "f"), trunc
)
divmod = _Pair("divmod", 2, floor_divide, remainder)
_exponent = ufunc("_exponent", 1, _items(lambda x: math.frexp(x)[1] if math.isfinite(x) else 0), _floats, "f")
_exponent_of = lambda *args, **kwargs: asarray(_exponent(*args, **kwargs)).astype("int32")[()]
frexp = _Pair("frexp", 1, ufunc("_mantissa", 1, _items(lambda x: math.frexp(x)[0]), _floats, "f"), _exponent_of)


# ---- no ufuncs in NumPy either
def fix(x, out=None):
    return trunc(x) if out is None else trunc(x, out=out)


def isposinf(x, out=None):
    return logical_and(isinf(x), asarray(x) > 0, **({} if out is None else {"out": out}))


def isneginf(x, out=None):
    return logical_and(isinf(x), asarray(x) < 0, **({} if out is None else {"out": out}))


def clip(a, a_min, a_max, out=None, **kwargs):
    if not isinstance(a, torch.Tensor):
        a = asarray(a)
    return _clip(a, a_min, a_max, out, **kwargs)


def _clip(a, a_min=None, a_max=None, out=None, **kwargs):
    if a_min is None and a_max is None:
        raise ValueError("One of max or min must be given")
    bounds = [b if _number_name(b) else asarray(b) for b in (a_min, a_max) if b is not None]
    a = a if isinstance(a, ndarray) else asarray(a)
    name = _type_name(kwargs.pop("dtype")) if kwargs.get("dtype") is not None else _result_name([a, *bounds])
    where, casting = kwargs.pop("where", True), kwargs.pop("casting", "unsafe")
    kwargs.pop("order", None), kwargs.pop("subok", None)
    _lacks("clip", **{k: kwargs.pop(k, None) for k in ("signature", "extobj", "sig")})
    for key in kwargs:
        raise TypeError("clip() got an unexpected keyword argument '%s'" % key)
    made = a.astype(name)
    for bound, function in ((a_min, maximum), (a_max, minimum)):
        if bound is not None:
            made = function(made, asarray(bound).astype(name))
    if where is not True:
        torch._unsupported("numpy.clip(where=...)")
    return _given(made if isinstance(made, generic) else _wrap(made._t), out, casting, broadcasts=True)


def round(a, decimals=0, out=None):
    number = _number_name(a)
    a, decimals = asarray(a), decimals.__index__()
    t = a._t
    if a.dtype.kind == "b" and decimals:
        raise UFuncTypeError("Cannot cast ufunc 'multiply' output from dtype('float64') to dtype('bool')")
    if a.dtype.kind in "iub" and decimals >= 0:
        made = t.to(torch.float16) if a.dtype.kind == "b" else t.clone()
    elif a.dtype.kind in "iu":
        made = ((t.to(torch.float64) / 10.0**-decimals).round() * 10.0**-decimals).to(t.dtype)
    elif decimals == 0:
        made = _rounded(t)
    elif decimals > 0:
        made = _rounded(t * 10.0**decimals) / 10.0**decimals
    else:
        made = _rounded(t / 10.0**-decimals) * 10.0**-decimals
    return _given(_wrap(made), out)


around = round_ = round


def _part(of_tensor):
    def function(val):
        return _wrap(of_tensor(asarray(val)._t))

    return function


imag = lambda val: val.imag if hasattr(val, "imag") else asarray(val).imag
real = lambda val: val.real if hasattr(val, "real") else asarray(val).real


def angle(z, deg=False):
    z = asarray(z)
    made = arctan2(z.imag, z.real) if z.dtype.kind == "c" else arctan2(0, z)
    return made * (180 / pi) if deg else made


isreal = _part(lambda t: t.imag == 0 if t.is_complex() else torch.ones_like(t, dtype=torch.bool))
iscomplex = _part(lambda t: t.imag != 0 if t.is_complex() else torch.zeros_like(t, dtype=torch.bool))


def iscomplexobj(x):
    return asarray(x).dtype.kind == "c"


def isrealobj(x):
    return not iscomplexobj(x)


def sinc(x):
    from numpy._order import where

    scaled = pi * where(asarray(x) == 0, 1.0e-20, x)
    return sin(scaled) / scaled


def nan_to_num(x, copy=True, nan=0.0, posinf=None, neginf=None):
    x = asarray(x)
    if x.dtype.kind not in "fc":
        return array(x)[()] if copy else x
    if x.dtype.kind == "c":
        torch._unsupported("numpy.nan_to_num() of complex numbers")
    t, largest = x._t, torch.finfo(x._t.dtype).max
    made = torch.where(t != t, _number(nan, t), t)
    made = torch.where(t == inf, _number(largest if posinf is None else posinf, t), made)
    made = torch.where(t == -inf, _number(-largest if neginf is None else neginf, t), made)
    if not copy:
        x[...] = _array(made)
        return x
    return _wrap(made)


def isclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    a, b = asarray(a), asarray(b)
    if b.dtype.kind in "biu":
        b = b.astype(float64)
    finite = logical_and(isfinite(a), isfinite(b))
    near = less_equal(absolute(subtract(a, b)), atol + rtol * absolute(b))
    made = logical_or(logical_and(finite, near), equal(a, b))
    return logical_or(made, logical_and(isnan(a), isnan(b))) if equal_nan else made


def allclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    return builtins.bool(asarray(isclose(a, b, rtol, atol, equal_nan)).all())


def array_equal(a1, a2, equal_nan=False):
    a, b = asarray(a1), asarray(a2)
    if a.shape != b.shape:
        return False
    same = equal(a, b)
    return builtins.bool(asarray(logical_or(same, logical_and(isnan(a), isnan(b))) if equal_nan else same).all())


def array_equiv(a1, a2):
    try:
        return builtins.bool(asarray(equal(a1, a2)).all())
    except ValueError:
        return False


_functions["_clip"] = _clip
