# Which type comes of several, and what types there are.
import builtins
import math

import _cobra
import torch
from numpy._dtypes import _ALIASES, _NO_NUMBERS, _DTYPES, _KINDS, _NAMES, _SIZES, _TORCH, _TYPES, _type_name, dtype
from numpy._types import (
    _number_name,
    complex128,
    complex64,
    float16,
    float32,
    float64,
    generic,
    int16,
    int32,
    int64,
    int8,
    uint16,
    uint32,
    uint64,
    uint8,
)

_CATEGORY = {"b": 0, "u": 1, "i": 1, "f": 2, "c": 2}
_promotions = {}


def _promote(a, b):
    if a == b:
        return a
    found = _promotions.get((a, b))
    if found is None:
        found = _promotions[a, b] = _promotions[b, a] = _promote_by_kind(a, b)
    return found


def _promote_by_kind(a, b):
    if a in _NO_NUMBERS or b in _NO_NUMBERS:
        torch._unsupported("numpy: arrays of text or objects")
    if "buifc".index(_KINDS[a]) > "buifc".index(_KINDS[b]):
        a, b = b, a
    of_a, of_b, size_a, size_b = _KINDS[a], _KINDS[b], _SIZES[a], _SIZES[b]
    if of_a == "b":
        return b
    if of_b == "c":
        part = _promote(a, "float%d" % (4 * size_b)) if of_a != "c" else "float%d" % (4 * builtins.max(size_a, size_b))
        return "complex128" if part == "float64" else "complex64"
    if of_b == "f":
        size = size_a if of_a == "f" else builtins.min(2 * size_a, 8)
        return "float%d" % (8 * builtins.max(size, size_b))
    if of_a == of_b:
        return a if size_a > size_b else b
    signed, unsigned = (size_a, size_b) if of_a == "i" else (size_b, size_a)
    size = signed if signed > unsigned else 2 * unsigned
    return "int%d" % (8 * size) if size <= 8 else "float64"


def _promoted(names):
    best = names[0]
    for name in names[1:]:
        best = _promote(best, name)
    return best


def _least(value, name):
    # The shortest type of the kind that holds the number.
    kind = _KINDS[name]
    if kind in "iu":
        if value >= 0:
            for size in (1, 2, 4):
                if value < 1 << 8 * size:
                    return "uint%d" % (8 * size)
            return "uint64"
        for size in (1, 2, 4):
            if value >= -(1 << (8 * size - 1)):
                return "int%d" % (8 * size)
        return "int64"
    if kind == "f":
        if value != value or value in (math.inf, -math.inf) or -65000 < value < 65000:
            return "float16"
        return name if name != "float64" or not -3.4e38 < value < 3.4e38 else "float32"
    if kind == "c":
        return _promote(_least(value.real, "float64"), "complex64")
    return name


def _names_of(operands):
    """The types that count where NumPy computes of several. Numbers beside arrays count by their
    values (NumPy 1)."""
    arrays, numbers = [], []
    for operand in operands:
        name = _number_name(operand)
        if name is not None:
            numbers.append((operand, name))
        elif operand._t.dim() == 0:
            numbers.append((operand, _NAMES[operand._t.dtype]))
        else:
            arrays.append(_NAMES[operand._t.dtype])
    if not arrays or not numbers:
        return arrays + [name for _, name in numbers]
    most = builtins.max(_CATEGORY[_KINDS[name]] for name in arrays)
    if builtins.max(_CATEGORY[_KINDS[name]] for _, name in numbers) > most:
        return arrays + [name for _, name in numbers]
    is_unsigned = _KINDS[_promoted(arrays)] == "u"
    for value, name in numbers:
        if name == "bool":
            continue
        if _number_name(value) is None:
            value = value._t.item() if torch._has_values(value._t) else 0
        least = _least(value, name)
        if least[0] == "u" and value < 1 << (8 * _SIZES[least] - 1) and not is_unsigned:
            least = least[1:]  # so small that it is of either sign
        arrays.append(least)
    return arrays


def _result_name(operands):
    return _promoted(_names_of(operands))


def result_type(*arrays_and_dtypes):
    if not arrays_and_dtypes:
        raise ValueError("at least one array or dtype is required")
    from numpy import asarray

    types, operands = [], []
    for one in arrays_and_dtypes:
        if isinstance(one, (dtype, type, str)) or one is None or str(one).startswith("torch."):
            types.append(_type_name(one))
        elif isinstance(one, (list, tuple)):
            raise TypeError("data type not understood")
        else:
            operands.append(one if _number_name(one) else asarray(one))
    found = types + ([_result_name(operands)] if operands and not types else [])
    if types and operands:
        numbers = [o for o in operands if _number_name(o) or o.ndim == 0]
        made = [torch.empty((1,), dtype=dtype(name)._torch) for name in types]
        from numpy import _array

        return dtype(_result_name([_array(t) for t in made] + [o for o in operands if o not in numbers] + numbers))
    return dtype(_promoted(found))


def promote_types(type1, type2):
    return dtype(_promote(_type_name(type1), _type_name(type2)))


def min_scalar_type(a):
    name = _number_name(a)
    if name is None:
        from numpy import asarray

        a = asarray(a)
        if a.ndim:
            return a.dtype
        name, a = a.dtype.name, a.item()
    return dtype(_least(a, name))


def can_cast(from_, to, casting="safe"):
    to = _type_name(to)
    if _number_name(from_) is not None:
        name = _number_name(from_)
        least = _least(from_, name)
        if least[0] == "u" and from_ < 1 << (8 * _SIZES[least] - 1) and _KINDS[to] == "i":
            least = least[1:]
        from_ = least
    elif getattr(from_, "_t", None) is not None:
        from_ = from_.dtype.name
    else:
        from_ = _type_name(from_)
    return _can_cast(from_, to, casting)


def _can_cast(a, b, casting):
    if casting not in ("no", "equiv", "safe", "same_kind", "unsafe"):
        raise ValueError("casting must be one of 'no', 'equiv', 'safe', 'same_kind', or 'unsafe' (got '%s')" % casting)
    if a == b or casting == "unsafe":
        return True
    if casting in ("no", "equiv"):
        return False
    if _promote(a, b) == b:
        return True
    order = "buifc"
    return casting == "same_kind" and order.index(_KINDS[a]) <= order.index(_KINDS[b])


class finfo:
    machar = _cobra.inert("numpy.finfo.machar")

    def __init__(self, dtype):
        name = _type_name(dtype) if not isinstance(dtype, (float, complex)) else _number_name(dtype)
        if _KINDS[name] == "c":
            name = "float%d" % (4 * _SIZES[name])
        if _KINDS[name] != "f":
            raise ValueError("data type <class 'numpy.%s'> not inexact" % name)
        info, of = torch.finfo(_TORCH[name]), _TYPES[name]
        self.dtype, self.bits = _DTYPES[name], info.bits
        self.eps, self.max, self.min, self.tiny = of(info.eps), of(info.max), of(info.min), of(info.tiny)
        self.smallest_normal = self.tiny
        self.nmant, self.nexp, self.precision = {16: (10, 5, 3), 32: (23, 8, 6), 64: (52, 11, 15)}[info.bits]
        self.iexp = self.nexp
        self.resolution = of(10.0**-self.precision)
        self.maxexp = 1 << (self.nexp - 1)
        self.minexp, self.machep, self.negep = 2 - self.maxexp, -self.nmant, -self.nmant - 1
        self.epsneg = of(2.0**self.negep)
        self.smallest_subnormal = of(2.0 ** (self.minexp - self.nmant))


class iinfo:
    def __init__(self, type):
        name = _number_name(type) if isinstance(type, int) else _type_name(type)
        self.dtype, self.kind = _DTYPES[name], _KINDS[name]
        if self.kind not in "iu":
            raise ValueError("Invalid integer data type %r." % self.kind)
        self.bits = 8 * _SIZES[name]
        sign = 1 if self.kind == "i" else 0
        self.max, self.min = 2 ** (self.bits - sign) - 1, -sign * 2 ** (self.bits - 1)


finfo.__module__ = iinfo.__module__ = "numpy"


def _class_of(arg):
    # The class that issubdtype() compares: an abstract one is itself.
    if isinstance(arg, type) and issubclass(arg, generic):
        return arg
    if isinstance(arg, str) and arg in ("number", "integer", "floating", "inexact", "complexfloating", "generic"):
        return globals()[arg]
    return _TYPES[_type_name(arg)]


def issubdtype(arg1, arg2):
    return issubclass(_class_of(arg1), _class_of(arg2))


def issubsctype(arg1, arg2):
    return issubdtype(arg1, arg2)


def issctype(rep):
    return isinstance(rep, type) and issubclass(rep, generic) or isinstance(rep, dtype)


def isdtype(dtype_, kind):
    names = {
        "bool": "b",
        "signed integer": "i",
        "unsigned integer": "u",
        "integral": "iu",
        "real floating": "f",
        "complex floating": "c",
        "numeric": "iufc",
    }
    of = dtype(dtype_)
    return builtins.any(
        of.kind in names[k] if isinstance(k, str) else of == dtype(k)
        for k in (kind if isinstance(kind, tuple) else (kind,))
    )


ScalarType = (int, float, complex, builtins.bool, bytes, str, memoryview) + tuple(_TYPES.values())
sctypeDict = {name: _TYPES[of] for name, of in _ALIASES.items()}
sctypeDict.update(_TYPES)
sctypes = {
    "int": [int8, int16, int32, int64],
    "uint": [uint8, uint16, uint32, uint64],
    "float": [float16, float32, float64],
    "complex": [complex64, complex128],
}
typecodes = {
    "Character": "c",
    "Integer": "bhilqp",
    "UnsignedInteger": "BHILQP",
    "Float": "efdg",
    "Complex": "FDG",
    "AllInteger": "bBhHiIlLqQpP",
    "AllFloat": "efdgFDG",
    "Datetime": "Mm",
    "All": "?bhilqpBHILQPefdgFDGSUVOMm",
}
