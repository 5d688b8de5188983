# The classes of numpy's numbers.
import builtins
import math

import _cobra
import torch
from numpy._dtypes import _functions, _DTYPES, _KINDS, _SIZES, _TORCH, _TYPES


_REAL = {}  # types of numbers that Python computes with as numpy does


# ---- operators of numbers; what computes them is in the chapters that come later
_SYMBOLS = {
    "add": "add",
    "sub": "subtract",
    "mul": "multiply",
    "truediv": "divide",
    "floordiv": "floor_divide",
    "mod": "remainder",
    "pow": "power",
    "matmul": "matmul",
    "and": "bitwise_and",
    "or": "bitwise_or",
    "xor": "bitwise_xor",
    "lshift": "left_shift",
    "rshift": "right_shift",
    "divmod": "divmod",
}
_COMPARISONS = {
    "eq": "equal",
    "ne": "not_equal",
    "lt": "less",
    "le": "less_equal",
    "gt": "greater",
    "ge": "greater_equal",
}


def _number_operator(symbol, reflected=False):
    name = _SYMBOLS.get(symbol) or _COMPARISONS[symbol]

    def operator(self, other):
        if _number_name(other) is None:
            if not isinstance(other, (list, tuple)):
                return NotImplemented
            if symbol == "mul":
                return other * self._python_value()  # of a sequence, as Python multiplies it
            other = _functions["asarray"](other)
        return _functions[name](other, self) if reflected else _functions[name](self, other)

    return operator


def _float64_operator(symbol, reflected=False):
    # Of numbers of Python and short ones of numpy: directly, because tables are made of half a
    # million of them.
    native, slow = getattr(float, "__%s%s__" % ("r" if reflected else "", symbol)), _number_operator(symbol, reflected)
    new = float.__new__

    def operator(self, other):
        if type(other) in _REAL:
            try:
                return new(float64, native(self, other))
            except ArithmeticError:
                pass
        return slow(self, other)

    def power(self, other):
        if type(other) in _REAL:
            try:
                result = native(self, other)
                if type(result) is float:
                    return new(float64, result)
            except ArithmeticError:
                pass
        return slow(self, other)

    return power if symbol == "pow" else operator


def _number_comparison(symbol, python):
    native, slow = getattr(python, "__%s__" % symbol), _number_operator(symbol)

    def comparison(self, other):
        if type(other) in _REAL:
            result = native(self, other)
            if result is not NotImplemented:
                return True_ if result else False_
        return slow(self, other)

    return comparison


def _operators_of_numbers():
    found = {}
    for symbol in _SYMBOLS:
        if symbol != "matmul":
            found["__%s__" % symbol] = _number_operator(symbol)
            found["__r%s__" % symbol] = _number_operator(symbol, True)
    for symbol in _COMPARISONS:
        found["__%s__" % symbol] = _number_operator(symbol)
    for symbol, name in (("neg", "negative"), ("pos", "positive"), ("abs", "absolute"), ("invert", "invert")):
        found["__%s__" % symbol] = lambda self, name=name: _functions[name](self)
    return found


_COMPARED = {
    python: {"__%s__" % symbol: _number_comparison(symbol, python) for symbol in _COMPARISONS}
    for python in (int, float)
}
_OF_FLOAT64 = {
    "__%s%s__" % (r, symbol): _float64_operator(symbol, bool(r))
    for symbol in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow")
    for r in ("", "r")
}


# ---- the classes
class generic:
    """A number of numpy. What arrays can do and numbers of Python cannot is done by an array of
    it."""

    ndim, size, shape, strides = 0, 1, (), ()
    base = None
    __array_priority__ = -1000000.0
    itemsize = nbytes = property(lambda self: self.dtype.itemsize)
    T = property(lambda self: self)
    flat = property(lambda self: iter([self]))
    flags = property(lambda self: self._as_array().flags)
    data, __array_interface__, __array_struct__ = map(
        _cobra.inert, ("numpy.generic.data", "numpy.generic.__array_interface__", "numpy.generic.__array_struct__")
    )

    def _as_array(self):
        from numpy import array

        return array(self)

    def __array__(self, dtype=None):
        made = self._as_array()
        return made if dtype is None else made.astype(dtype)

    def __array_wrap__(self, array, context=None):
        return array

    def item(self, *args):
        if args and args[0] not in (0, -1, ()):
            raise IndexError("index %s is out of bounds for size 1" % (args[0],))
        return self._python_value()

    def tolist(self):
        return self._python_value()

    def astype(self, dtype, order="K", casting="unsafe", subok=True, copy=True):
        return self._as_array().astype(dtype, casting=casting)[()]

    def view(self, *args, **kwargs):
        return self._as_array().view(*args, **kwargs)[()]

    def __getitem__(self, index):
        if index == () or index is Ellipsis or index is None:
            return self._as_array()[index]
        raise IndexError("invalid index to scalar variable.")

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self

    def __round__(self, ndigits=None):
        if self.dtype.kind == "b":
            raise TypeError("type numpy.bool_ doesn't define __round__ method")
        value = builtins.round(self._python_value(), *([] if ndigits is None else [ndigits]))
        return value if ndigits is None else type(self)(value)

    # NumPy has them, and they do nothing to a number.
    def fill(self, value):
        pass

    sort = setflags = lambda self, *args, **kwargs: None

    def itemset(self, *args):
        raise ValueError("array-scalars are immutable")

    def resize(self, *args, **kwargs):
        raise TypeError("resize only works on arrays")


for _name, _function in _operators_of_numbers().items():
    setattr(generic, _name, _function)


def _through_array(name):
    def method(self, *args, **kwargs):
        made = getattr(self._as_array(), name)(*args, **kwargs)
        return made[()] if getattr(made, "_t", None) is not None and made.ndim == 0 else made

    method.__name__ = name
    return method


_ARRAY_METHODS = (
    "all any argmax argmin argsort choose clip compress conj conjugate copy cumprod cumsum diagonal dot flatten max mean"
    " min nonzero prod ptp put ravel repeat reshape round searchsorted squeeze std sum swapaxes take tobytes tostring trace"
    " transpose var byteswap newbyteorder dump dumps getfield setfield tofile"
)
for _name in _ARRAY_METHODS.split():
    setattr(generic, _name, _through_array(_name))


class number(generic):
    def __class_getitem__(cls, item):
        return cls


class integer(number):
    pass


class signedinteger(integer):
    pass


class unsignedinteger(integer):
    pass


class inexact(number):
    pass


class floating(inexact):
    pass


class complexfloating(inexact):
    pass


class flexible(generic):
    pass


class character(flexible):
    pass


for _class in (
    number,
    integer,
    signedinteger,
    unsignedinteger,
    inexact,
    floating,
    complexfloating,
    flexible,
    character,
):
    _class.__module__ = "numpy"
generic.__module__ = "numpy"


# ---- the classes
def _is_many(value):
    return isinstance(value, (list, tuple)) or getattr(value, "_t", None) is not None


def _in_bits(name, value):
    # As NumPy keeps an integer: its lowest bits.
    bits = 8 * _SIZES[name]
    value &= (1 << bits) - 1
    return value - (1 << bits) if _KINDS[name] == "i" and value >> (bits - 1) else value


_32 = torch.float32


def _rounded(name, value):
    # To a shorter float.
    if name == "float32" and -3.4028234e38 < value < 3.4028234e38 or name == "float16" and -65504 <= value <= 65504:
        return torch.tensor(value, dtype=_TORCH[name]).item()
    if value != value or value in (math.inf, -math.inf):
        return value
    return torch.tensor(value, dtype=torch.float64).to(_TORCH[name]).item()


def _shortest(name, value):
    # The shortest number that is rounded to this one.
    if value != value or value in (math.inf, -math.inf):
        return value
    for digits in builtins.range(1 if name == "float16" else 5, 10):
        text = float("%.*g" % (digits, value))
        if _rounded(name, text) == value:
            return text
    return value


def _scalar_type(name, base, python):
    is_short = name in ("float16", "float32", "complex64")
    is_integer, fixed = python is int, name

    def new(cls, value=0, *more):
        kind = type(value)
        if kind is not python:
            if _is_many(value):
                from numpy import asarray

                return asarray(value).astype(_TYPES[fixed])[()]
            if isinstance(value, torch.Tensor):
                value = value.item()
            elif isinstance(value, bool_):
                value = builtins.bool(value)
            if isinstance(value, complex) and python is not complex:
                value = value.real
            value = python(value, *more) if more else python(value)
        if is_integer:
            value = value if -128 <= value <= 127 and fixed[0] == "i" else _checked(fixed, value)
        elif is_short:
            value = (
                complex(_rounded("float32", value.real), _rounded("float32", value.imag))
                if python is complex
                else _rounded(fixed, value)
            )
        return python.__new__(cls, value)

    members = {
        "__new__": new,
        "__module__": "numpy",
        "_python_value": lambda self: python(self),
        "dtype": property(lambda self: _DTYPES[fixed]),
        **_COMPARED.get(python, {}),
        **(_OF_FLOAT64 if name == "float64" else {}),
        "__hash__": python.__hash__,
        "__format__": lambda self, spec: format(python(self), spec),
    }
    if is_short:
        members["__repr__"] = members["__str__"] = (
            (lambda self: repr(complex(_shortest("float32", self.real), _shortest("float32", self.imag))))
            if python is complex
            else (lambda self: repr(_shortest(fixed, float(self))))
        )
    else:
        members["__repr__"] = members["__str__"] = python.__repr__
    if python is complex:
        of = "float32" if name == "complex64" else "float64"
        members["real"] = property(lambda self: _TYPES[of](complex(self).real))
        members["imag"] = property(lambda self: _TYPES[of](complex(self).imag))
    else:
        members["real"] = property(lambda self: self)
        members["imag"] = property(lambda self: type(self)(0))
    if is_integer:
        members["numerator"] = property(lambda self: self)
        members["denominator"] = property(lambda self: type(self)(1))
        members["bit_count"] = lambda self: builtins.abs(int(self)).bit_count()
        members["is_integer"] = lambda self: True
    if python is float and name != "float64":
        members["is_integer"] = lambda self: float(self).is_integer()
        members["as_integer_ratio"] = lambda self: float(self).as_integer_ratio()
    return type(name, (base, python), members)


def _checked(name, value):
    if not -(1 << 63) <= value < 1 << 64:
        raise OverflowError("Python int too large to convert to C long")
    return _in_bits(name, value)


float64 = double = float_ = _scalar_type("float64", floating, float)
float32 = single = _scalar_type("float32", floating, float)
float16 = half = _scalar_type("float16", floating, float)
int64 = int_ = intp = longlong = long = _scalar_type("int64", signedinteger, int)
int32 = intc = _scalar_type("int32", signedinteger, int)
int16 = short = _scalar_type("int16", signedinteger, int)
int8 = byte = _scalar_type("int8", signedinteger, int)
uint8 = ubyte = _scalar_type("uint8", unsignedinteger, int)
uint16 = ushort = _scalar_type("uint16", unsignedinteger, int)
uint32 = uintc = _scalar_type("uint32", unsignedinteger, int)
uint64 = uint = uintp = ulonglong = ulong = _scalar_type("uint64", unsignedinteger, int)
complex64 = csingle = singlecomplex = _scalar_type("complex64", complexfloating, complex)
complex128 = cdouble = complex_ = cfloat = _scalar_type("complex128", complexfloating, complex)


class bool_(generic):
    __module__ = "numpy"

    def __new__(cls, value=False):
        if _is_many(value):
            from numpy import asarray

            return asarray(value).astype(bool_)[()]
        return True_ if value else False_

    dtype = property(lambda self: _DTYPES["bool"])
    real = property(lambda self: self)
    imag = property(lambda self: False_)

    def _python_value(self):
        return self is True_

    def __bool__(self):
        return self is True_

    def __int__(self):
        return 1 if self is True_ else 0

    __index__ = __int__

    def __pos__(self):
        return self

    def __float__(self):
        return 1.0 if self is True_ else 0.0

    def __complex__(self):
        return complex(float(self))

    def __hash__(self):
        return hash(self is True_)

    def __repr__(self):
        return "True" if self is True_ else "False"

    __str__ = __repr__

    def __format__(self, spec):
        return format(self is True_, spec)

    def __reduce__(self):
        return bool_, (self is True_,)


class object_(generic):
    def __new__(cls, value=None):
        return value


class void(flexible):
    def __new__(cls, value=None):
        torch._unsupported("numpy.void()")


class datetime64(generic):
    def __new__(cls, *args):
        torch._unsupported("numpy.datetime64()")


class timedelta64(signedinteger):
    def __new__(cls, *args):
        torch._unsupported("numpy.timedelta64()")


class str_(str, character):
    pass


class bytes_(bytes, character):
    pass


unicode_, string_ = str_, bytes_
for _class in (object_, void, datetime64, timedelta64, str_, bytes_):
    _class.__module__ = "numpy"
True_, False_ = object.__new__(bool_), object.__new__(bool_)
bool8 = bool_
_TYPES.update(
    {
        "float64": float64,
        "float32": float32,
        "float16": float16,
        "int64": int64,
        "int32": int32,
        "int16": int16,
        "int8": int8,
        "uint8": uint8,
        "uint16": uint16,
        "uint32": uint32,
        "uint64": uint64,
        "bool": bool_,
        "complex64": complex64,
        "complex128": complex128,
    }
)
_OF_TYPE = {made: name for name, made in _TYPES.items()}
_OF_TYPE.update({float: "float64", int: "int64", builtins.bool: "bool", complex: "complex128"})
_TYPES.update(object=object_, str=str_, bytes=bytes_)


def _number_name(value):
    """The name of the type of a number, of numpy's or Python's; None for anything else."""
    name = _OF_TYPE.get(type(value))
    if name == "int64" and type(value) is int and not -(1 << 63) <= value < 1 << 63:
        if value < 0 or value >= 1 << 64:
            torch._unsupported("numpy: an integer of more than 64 bits")
        return "uint64"
    if name is None:
        if isinstance(value, generic):
            return value.dtype.name
        for python in (builtins.bool, int, float, complex):
            if isinstance(value, python):
                return _OF_TYPE[python]
    return name


_REAL.update({kind: name for kind, name in _OF_TYPE.items() if _KINDS[name] in "uif" or kind is builtins.bool})
