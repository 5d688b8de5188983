# numpy.dtype: what types of numbers there are, and their names.
import builtins
import math

import torch

_functions = {}  # of the other chapters, by name, for the methods here
pi, e, inf, nan = math.pi, math.e, math.inf, math.nan


class _NoValueType:
    def __repr__(self):
        return "<no value>"


_NoValue = _NoValueType()


def _lacks(_name, **given):
    """Arguments that NumPy has and nothing here computes: anything but their defaults is
    refused."""
    for key, value in given.items():
        if value is not None and value is not _NoValue:
            torch._unsupported("numpy.%s(%s=%s)" % (_name, key, value if isinstance(value, (str, int)) else "..."))


_TORCH = {
    "float64": torch.float64,
    "float32": torch.float32,
    "float16": torch.float16,
    "int64": torch.int64,
    "int32": torch.int32,
    "int16": torch.int16,
    "int8": torch.int8,
    "uint8": torch.uint8,
    "bool": torch.bool,
    "complex64": torch.complex64,
    "complex128": torch.complex128,
}
_NAMES = {torch_type: name for name, torch_type in _TORCH.items()}
# By name: the letter of its kind, bytes, NumPy's letter and number of it.
_FACTS = {
    "bool": ("b", 1, "?", 0),
    "int8": ("i", 1, "b", 1),
    "uint8": ("u", 1, "B", 2),
    "int16": ("i", 2, "h", 3),
    "uint16": ("u", 2, "H", 4),
    "int32": ("i", 4, "i", 5),
    "uint32": ("u", 4, "I", 6),
    "int64": ("i", 8, "l", 7),
    "uint64": ("u", 8, "L", 8),
    "float16": ("f", 2, "e", 23),
    "float32": ("f", 4, "f", 11),
    "float64": ("f", 8, "d", 12),
    "complex64": ("c", 8, "F", 14),
    "complex128": ("c", 16, "D", 15),
    # A program may name these, and compare with them. No array has them.
    "object": ("O", 8, "O", 17),
    "str": ("U", 0, "U", 19),
    "bytes": ("S", 0, "S", 18),
}
_NO_NUMBERS = ("object", "str", "bytes")
_SIZES = {name: facts[1] for name, facts in _FACTS.items()}
_KINDS = {name: facts[0] for name, facts in _FACTS.items()}
_BY_KIND = {kind + str(size): name for name, (kind, size, _, _) in _FACTS.items()}
_LETTERS = {letter: name for name, (_, _, letter, _) in _FACTS.items()}
_ALIASES = {
    **_BY_KIND,
    **_LETTERS,
    "q": "int64",
    "Q": "uint64",
    "p": "int64",
    "P": "uint64",
    "float": "float64",
    "double": "float64",
    "single": "float32",
    "half": "float16",
    "int": "int64",
    "long": "int64",
    "longlong": "int64",
    "uint": "uint64",
    "ulong": "uint64",
    "intp": "int64",
    "uintp": "uint64",
    "int_": "int64",
    "float_": "float64",
    "intc": "int32",
    "uintc": "uint32",
    "short": "int16",
    "ushort": "uint16",
    "byte": "int8",
    "ubyte": "uint8",
    "bool_": "bool",
    "bool8": "bool",
    "complex": "complex128",
    "csingle": "complex64",
    "cdouble": "complex128",
    "object_": "object",
    "str_": "str",
    "bytes_": "bytes",
    "complex_": "complex128",
}
# Abstract types, which NumPy takes as these (with a warning).
_ABSTRACT = {"generic": None, "number": "float64", "integer": "int64", "signedinteger": "int64"}
_ABSTRACT.update(unsignedinteger="uint64", inexact="float64", floating="float64", complexfloating="complex128")
_OTHER_KINDS = "SUVMmagGc"  # text, objects, records, dates, long floats


class _NotHere(Exception):
    """A type that NumPy has, and that no array has here."""


def _unknown_type(spec):
    raise _NotHere("the type numpy.dtype(%s)" % (repr(spec) if isinstance(spec, str) else spec))


def _type_name(spec):
    """The name of the type that NumPy takes `spec` for."""
    try:
        return _found_name(spec)
    except _NotHere as error:
        lack = str(error)
    torch._unsupported(lack)


def _found_name(spec):
    if spec is None:
        return "float64"
    if isinstance(spec, type):
        name = spec.__name__
        if spec in (str, bytes, object):
            return name
        if spec.__module__ == "numpy" and name in _ABSTRACT and _ABSTRACT[name] is not None:
            return _ABSTRACT[name]
        for base in spec.__mro__:
            if base is object:
                break
            if base.__module__ in ("numpy", "builtins") and _ALIASES.get(base.__name__, base.__name__) in _FACTS:
                return _ALIASES.get(base.__name__, base.__name__)
        _unknown_type(name)
    if isinstance(spec, (list, tuple, dict)):
        _unknown_type("of records")
    if isinstance(spec, dtype):
        return spec.name
    if not isinstance(spec, str):
        if isinstance(getattr(spec, "dtype", None), dtype):
            return spec.dtype.name
        raise TypeError("Cannot interpret '%r' as a data type" % (spec,))
    text = spec
    if text[:1] in ("<", "=", "|", ">") and len(text) > 1:
        if text[0] == ">" and _SIZES.get(_ALIASES.get(text[1:]), 1) > 1:
            _unknown_type(spec)
        text = text[1:]
    name = _ALIASES.get(text, text)
    if name in _FACTS:
        return name
    if text in ("void", "datetime64", "timedelta64", "longdouble", "float128", "complex256"):
        _unknown_type(spec)
    if text and (text[0] in _OTHER_KINDS and (text[1:2].isdigit() or not text[1:]) or "," in text or text[0] == "("):
        _unknown_type(spec)
    raise TypeError("data type %r not understood" % (spec,))


def _promotion():
    import importlib

    return importlib.import_module("numpy._promotion")


class dtype:
    names = fields = subdtype = metadata = None
    isnative, isalignedstruct, shape, ndim, flags = True, False, (), 0, 0
    hasobject = property(lambda self: self.name == "object")

    def __new__(cls, dtype, align=False, copy=False, metadata=None):
        _lacks("dtype", metadata=metadata)
        if type(dtype) is cls:
            return dtype
        return _DTYPES[_type_name(dtype)]

    def __class_getitem__(cls, item):
        return cls

    type = property(lambda self: _TYPES[self.name])
    itemsize = alignment = property(lambda self: _SIZES[self.name])
    kind = property(lambda self: _FACTS[self.name][0])
    char = property(lambda self: _FACTS[self.name][2])
    num = property(lambda self: _FACTS[self.name][3])
    byteorder = property(lambda self: "|" if self.itemsize == 1 else "=")
    str = property(lambda self: ("|" if self.itemsize == 1 else "<") + self.kind + builtins.str(self.itemsize))
    descr = property(lambda self: [("", self.str)])
    isbuiltin = 1
    base = property(lambda self: self)

    def newbyteorder(self, new_order="S"):
        if self.itemsize > 1 and new_order not in ("=", "<", "L", "little", "native", "|"):
            torch._unsupported("numpy.dtype.newbyteorder(%r)" % new_order)
        return self

    @property
    def _torch(self):
        if self.name not in _TORCH:
            torch._unsupported("an array of numpy.%s" % self.name, "compute it with Python or with torch")
        return _TORCH[self.name]

    def __eq__(self, other):
        try:
            return self.name == (other.name if isinstance(other, dtype) else _found_name(other))
        except (TypeError, _NotHere):
            return False

    def __ne__(self, other):
        return not self == other

    def __lt__(self, other):
        return self != other and self <= other

    def __le__(self, other):
        return _promotion().can_cast(self, other)

    def __gt__(self, other):
        return self != other and self >= other

    def __ge__(self, other):
        return _promotion().can_cast(other, self)

    def __hash__(self):
        return hash(self.name)

    def __bool__(self):
        return True

    def __len__(self):
        return 0

    def __str__(self):
        return self.name

    def __repr__(self):
        return "dtype('%s')" % self.name

    def __reduce__(self):
        return dtype, (self.name,)

    def __deepcopy__(self, memo):
        return self


dtype.__module__ = "numpy"


def _made_dtype(name):
    made = object.__new__(dtype)
    made.name = name
    return made


_TYPES = {}  # the classes of numbers, by name: filled where they are
_DTYPES = {name: _made_dtype(name) for name in _FACTS}


def _torch_type(spec):
    # The type of a tensor for what NumPy takes as a type; None stays None.
    return None if spec is None else dtype(spec)._torch
