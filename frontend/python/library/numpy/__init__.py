# numpy as model sources use it while they build themselves: tables, grids, schedules. An array holds a constant tensor
# of torch (so its values are known where they are small) and has numpy's own types: float64 by default, and no
# promotion from float64 down.
# Long because numpy has that many functions, and a name of a module is looked for in its own file.
import builtins
import math

import torch

__version__ = "1.24.2"
pi, e, inf, nan = math.pi, math.e, math.inf, math.nan
Inf = Infinity = PINF = inf
NINF = -inf
NaN = NAN = nan
newaxis = None
euler_gamma = 0.5772156649015329


# ---- types
class generic:
    pass


class number(generic):
    pass


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


def _scalar_type(name, base, python):
    def new(cls, value=0):
        if isinstance(value, (ndarray, list, tuple)):
            return asarray(value).astype(cls)
        if isinstance(value, torch.Tensor):
            value = value.item()
        if python is float and name != "float64":
            value = torch.tensor(float(value), dtype=_TORCH[name]).item()
        return python.__new__(cls, value)

    return type(
        name,
        (base, python),
        {
            "__new__": new,
            "__module__": "numpy",
            "item": lambda self: python(self),
            "tolist": lambda self: python(self),
            "astype": lambda self, t: dtype(t).type(self),
            "dtype": property(lambda self: dtype(name)),
            "shape": (),
            "ndim": 0,
            "size": 1,
        },
    )


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
_ORDER = (
    "bool",
    "uint8",
    "int8",
    "int16",
    "int32",
    "int64",
    "float16",
    "float32",
    "float64",
    "complex64",
    "complex128",
)
_SIZES = {
    "float64": 8,
    "float32": 4,
    "float16": 2,
    "int64": 8,
    "int32": 4,
    "int16": 2,
    "int8": 1,
    "uint8": 1,
    "uint16": 2,
    "uint32": 4,
    "uint64": 8,
    "bool": 1,
    "complex64": 8,
    "complex128": 16,
}
_ALIASES = {
    "float": "float64",
    "double": "float64",
    "single": "float32",
    "half": "float16",
    "int": "int64",
    "long": "int64",
    "bool_": "bool",
    "f4": "float32",
    "f8": "float64",
    "f2": "float16",
    "i4": "int32",
    "i8": "int64",
    "u1": "uint8",
    "u2": "uint16",
    "u4": "uint32",
    "u8": "uint64",
    "i2": "int16",
    "i1": "int8",
    "f": "float32",
    "d": "float64",
    "complex": "complex128",
    "<f4": "float32",
    "<f8": "float64",
}


class dtype:
    def __new__(cls, spec):
        if isinstance(spec, dtype):
            return spec
        self = object.__new__(cls)
        if isinstance(spec, type):
            spec = spec.__name__
        elif not isinstance(spec, str):
            spec = str(spec).replace("torch.", "")
        self.name = _ALIASES.get(spec, spec)
        if self.name not in _TYPES:
            raise TypeError("data type %r not understood" % (spec,))
        return self

    @property
    def type(self):
        return _TYPES[self.name]

    @property
    def itemsize(self):
        return _SIZES[self.name]

    @property
    def kind(self):
        return "b" if self.name == "bool" else self.name[0]

    @property
    def _torch(self):
        if self.name not in _TORCH:
            torch._unsupported("an array of numpy.%s" % self.name, "compute it with Python or with torch")
        return _TORCH[self.name]

    def __eq__(self, other):
        try:
            return self.name == dtype(other).name
        except TypeError:
            return False

    def __hash__(self):
        return hash(self.name)

    def __str__(self):
        return self.name

    def __repr__(self):
        return "dtype('%s')" % self.name


float64 = double = float_ = _scalar_type("float64", floating, float)
float32 = single = _scalar_type("float32", floating, float)
float16 = half = _scalar_type("float16", floating, float)
int64 = int_ = intp = longlong = _scalar_type("int64", signedinteger, int)
int32 = intc = _scalar_type("int32", signedinteger, int)
int16 = _scalar_type("int16", signedinteger, int)
int8 = _scalar_type("int8", signedinteger, int)
uint8 = ubyte = _scalar_type("uint8", unsignedinteger, int)
uint16 = ushort = _scalar_type("uint16", unsignedinteger, int)
uint32 = uintc = _scalar_type("uint32", unsignedinteger, int)
uint64 = uint = uintp = ulonglong = _scalar_type("uint64", unsignedinteger, int)
complex64 = _scalar_type("complex64", complexfloating, complex)
complex128 = _scalar_type("complex128", complexfloating, complex)


class bool_(generic):
    def __new__(cls, value=False):
        return asarray(value).astype(bool_) if isinstance(value, (ndarray, list, tuple)) else builtins.bool(value)


bool8 = bool_
_TYPES = {
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


class finfo:
    def __init__(self, t):
        info = torch.finfo(dtype(t)._torch)
        self.dtype, self.bits, self.eps, self.max, self.min, self.tiny = (
            dtype(t),
            info.bits,
            info.eps,
            info.max,
            info.min,
            info.tiny,
        )
        self.smallest_normal, self.resolution = info.tiny, info.eps


class iinfo:
    def __init__(self, t):
        self.dtype = dtype(t)
        if self.dtype.kind not in "iu":
            raise ValueError("Invalid integer data type %r." % self.dtype.kind)
        self.bits = 8 * self.dtype.itemsize
        sign = 1 if self.dtype.kind == "i" else 0
        self.max, self.min = 2 ** (self.bits - sign) - 1, -sign * 2 ** (self.bits - 1)


def issubdtype(a, b):
    try:
        a = dtype(a).type
    except TypeError:
        pass
    return isinstance(a, type) and issubclass(
        a, _TYPES.get(_ALIASES.get(getattr(b, "__name__", b), getattr(b, "__name__", b)), b)
    )


def result_type(*operands):
    types = [dtype(o.dtype) if isinstance(o, ndarray) else dtype(o) for o in operands]
    return dtype(_promoted([t.name for t in types if t._torch]))


def _promoted(names):
    # numpy's: integers of 32 bits and more with a small float make float64.
    best = builtins.max(names, key=_ORDER.index)
    if best in ("float16", "float32") and builtins.any(n in ("int32", "int64") for n in names):
        return "float64"
    if best == "float16" and "int16" in names:
        return "float32"
    if best == "int8" and "uint8" in names:
        return "int16"
    if best == "complex64" and builtins.any(n in ("int32", "int64", "float64") for n in names):
        return "complex128"
    return best


# ---- arrays
def _wrap(tensor):
    # Of no dimensions: a scalar, where its value is known.
    if tensor.dim() == 0 and torch._has_values(tensor):
        return _TYPES[dtype(tensor.dtype).name](tensor.item())
    made = object.__new__(ndarray)
    made._t = tensor
    return made


def _array(tensor):
    made = object.__new__(ndarray)
    made._t = tensor
    return made


def _index(index):
    if isinstance(index, tuple):
        return tuple(_index(i) for i in index)
    if isinstance(index, ndarray):
        return index._t
    if isinstance(index, list):
        return torch.tensor(index)
    return index.tolist() if isinstance(index, torch.Tensor) and index.dim() == 0 else index


def _turned(t, index):
    # Slices that run backwards, which tensors do not have: (the tensor with those dimensions gathered, the rest of the
    # index).
    parts = list(index) if isinstance(index, tuple) else [index]
    if not builtins.any(isinstance(p, slice) and p.step is not None and p.step < 0 for p in parts):
        return t, index
    if Ellipsis in parts:
        at = parts.index(Ellipsis)
        parts[at : at + 1] = [slice(None)] * (t.dim() - builtins.sum(p is not None for p in parts) + 1)
    dim = 0
    for k, part in enumerate(parts):
        if isinstance(part, slice) and part.step is not None and part.step < 0:
            t = t.index_select(dim, torch.tensor(list(range(*part.indices(t.shape[dim]))), dtype=torch.int64))
            parts[k] = slice(None)
        dim += part is not None
    return t, tuple(parts)


def _binary(name, reflected=False):
    def operator(self, other):
        if isinstance(other, torch.Tensor):
            return _operate(name, *((other, self._t) if reflected else (self._t, other)))
        a, b = self._t, other
        own = dtype(a.dtype).name
        if isinstance(other, (list, tuple)):
            other = array(other)
        if isinstance(other, ndarray):
            names = [own, dtype(other._t.dtype).name]
            b = other._t
        elif isinstance(other, (builtins.bool, int, float)):
            kind = "float64" if isinstance(other, float) else "bool" if isinstance(other, builtins.bool) else "int64"
            # A number never widens floats, and an integer never widens integers.
            names = [own] if own[0] in "fc" or (kind != "float64" and own != "bool") else [own, kind]
            b = float(other) if isinstance(other, float) else other
        elif isinstance(other, complex):
            names = [own] if own[0] == "c" else [own, "complex64" if own in ("float16", "float32") else "complex128"]
        else:
            return NotImplemented
        target = _promoted(names)
        if name == "truediv" and target[0] not in "fc":
            target = "float64"
        a = a.to(_TORCH[target]) if target != own else a
        if isinstance(b, torch.Tensor) and b.dtype != _TORCH[target]:
            b = b.to(_TORCH[target])
        return _wrap(_operate(name, *((b, a) if reflected else (a, b))))

    return operator


class UFuncTypeError(TypeError):
    pass


def _inplace(name):
    of_two = _binary(name)

    def operator(self, other):
        made = of_two(self, other)
        if made is NotImplemented or isinstance(made, torch.Tensor):
            return made
        made, own = asarray(made), self.dtype
        if "bifc".index(made.dtype.kind.replace("u", "i")) > "bifc".index(own.kind.replace("u", "i")):
            raise UFuncTypeError(
                f"Cannot cast ufunc '{name}' output from {made.dtype!r} to {own!r} with casting rule 'same_kind'"
            )
        if made.shape != self.shape:
            raise ValueError(
                f"non-broadcastable output operand with shape {self.shape} doesn't match the broadcast shape {made.shape}"
            )
        self._t[...] = made._t.to(self._t.dtype)
        return self

    return operator


_OPERATORS = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "truediv": lambda a, b: a / b,
    "floordiv": lambda a, b: a // b,
    "mod": lambda a, b: a % b,
    "pow": lambda a, b: a**b,
    "matmul": lambda a, b: a @ b,
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
}


def _operate(name, a, b):
    try:
        return _product(a, b) if name == "matmul" else _OPERATORS[name](a, b)
    except RuntimeError as error:  # shapes that do not fit
        raise ValueError(str(error))


def _product(a, b):
    # With a vector: by products and a sum, which small constants are computed with.
    if b.dim() == 1:
        return (a * b).sum(-1) if a.shape[-1] == b.shape[0] else a @ b
    return (a.unsqueeze(-1) * b).sum(-2) if a.dim() == 1 and a.shape[0] == b.shape[-2] else a @ b


def _axes(axis):
    return axis if axis is None or isinstance(axis, int) else tuple(axis)


class ndarray:
    def __init__(self, shape, dtype=float, **kwargs):
        self._t = torch.empty(shape if isinstance(shape, (tuple, list)) else (shape,), dtype=_dtype(dtype))

    # -- what it is
    @property
    def shape(self):
        return tuple(self._t.shape)

    @property
    def ndim(self):
        return self._t.dim()

    @property
    def size(self):
        return self._t.numel()

    @property
    def dtype(self):
        return dtype(self._t.dtype)

    @property
    def itemsize(self):
        return self.dtype.itemsize

    @property
    def nbytes(self):
        return self.size * self.itemsize

    @property
    def T(self):
        return self.transpose()

    @property
    def flat(self):
        return iter(self.reshape(-1))

    def __len__(self):
        if self._t.dim() == 0:
            raise TypeError("len() of unsized object")
        return self._t.shape[0]

    def __iter__(self):
        return (self[i] for i in range(len(self)))

    def __repr__(self):
        return "array(%s)" % (self.tolist() if torch._has_values(self._t) else "..., shape=%s" % (self.shape,),)

    def __bool__(self):
        return builtins.bool(self._t)

    def __int__(self):
        return int(self.item())

    def __float__(self):
        return float(self.item())

    def __index__(self):
        return self._t.__index__()

    def __contains__(self, value):
        return value in self.reshape(-1).tolist()

    def __array__(self, dtype=None):
        return self

    __hash__ = None

    # -- items
    def __getitem__(self, index):
        t, index = _turned(self._t, index)
        return _wrap(t[_index(index)])

    def __setitem__(self, index, value):
        if isinstance(value, (list, tuple)):
            value = array(value)
        if isinstance(value, ndarray):
            value = value._t.to(self._t.dtype)
        self._t[_index(index)] = value

    def item(self, *args):
        return self[args].item() if args else self._t.item()

    def tolist(self):
        return self._t.tolist()

    # -- form
    def reshape(self, *shape, order="C"):
        return _array(self._t.reshape(*shape))

    def resize(self, *shape, **kwargs):
        self._t = self._t.reshape(*shape)

    def transpose(self, *axes):
        axes = axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes
        return _array(self._t.permute(*(axes if axes else range(self._t.dim() - 1, -1, -1))))

    def swapaxes(self, a, b):
        return _array(self._t.transpose(a, b))

    def flatten(self, order="C"):
        return _array(self._t.clone().reshape(-1))

    def ravel(self, order="C"):
        return _array(self._t.reshape(-1))

    @property
    def real(self):
        return _array(self._t.real) if self._t.is_complex() else self

    @property
    def imag(self):
        return _array(self._t.imag if self._t.is_complex() else torch.zeros_like(self._t))

    def squeeze(self, axis=None):
        return _wrap(self._t.squeeze() if axis is None else self._t.squeeze(axis))

    def astype(self, t, copy=True, **kwargs):
        t = self._t.to(_dtype(t))
        return _array(t.clone() if t is self._t and copy else t)

    def copy(self, order="C"):
        return _array(self._t.clone())

    def view(self, *args):
        return self

    def repeat(self, repeats, axis=None):
        return repeat(self, repeats, axis)

    def take(self, indices, axis=None):
        return (self.reshape(-1) if axis is None else self)[(slice(None),) * (axis or 0) + (indices,)]

    def fill(self, value):
        self._t.fill_(value)

    # -- arithmetic
    def __neg__(self):
        return _array(-self._t)

    def __pos__(self):
        return self

    def __abs__(self):
        return _array(self._t.abs())

    def __invert__(self):
        return _array(~self._t)

    def dot(self, other):
        return dot(self, other)

    # -- reductions
    def sum(self, axis=None, dtype=None, out=None, keepdims=False):
        t = self._t.to(torch.int64) if self.dtype.kind in "bi" else self._t
        t = t if dtype is None else t.to(_dtype(dtype))
        return _wrap(t.sum() if axis is None and not keepdims else t.sum(_all_axes(t, axis), keepdim=keepdims))

    def mean(self, axis=None, dtype=None, out=None, keepdims=False):
        t = self._t if self.dtype.kind == "f" else self._t.to(torch.float64)
        return _wrap(t.mean() if axis is None and not keepdims else t.mean(_all_axes(t, axis), keepdim=keepdims))

    def var(self, axis=None, ddof=0, keepdims=False, **kwargs):
        d = self - (self.mean(axis, keepdims=True) if axis is not None else self.mean())
        n = self.size if axis is None else math.prod(self.shape[a] for a in ([axis] if isinstance(axis, int) else axis))
        return (d * d).sum(axis, keepdims=keepdims) / (n - ddof)

    def std(self, axis=None, ddof=0, keepdims=False, **kwargs):
        return sqrt(self.var(axis, ddof, keepdims))

    def prod(self, axis=None, keepdims=False, **kwargs):
        t = self._t.to(torch.int64) if self.dtype.kind in "bi" else self._t
        return _wrap(t.prod() if axis is None else t.prod(axis, keepdim=keepdims))

    def max(self, axis=None, keepdims=False, **kwargs):
        return _wrap(self._t.max() if axis is None else self._t.amax(_axes(axis), keepdim=keepdims))

    def min(self, axis=None, keepdims=False, **kwargs):
        return _wrap(self._t.min() if axis is None else self._t.amin(_axes(axis), keepdim=keepdims))

    def argmax(self, axis=None, **kwargs):
        return _wrap(self._t.argmax() if axis is None else self._t.argmax(axis))

    def argmin(self, axis=None, **kwargs):
        return _wrap(self._t.argmin() if axis is None else self._t.argmin(axis))

    def argsort(self, axis=-1, **kwargs):
        return _array(self._t.argsort(axis))

    def any(self, axis=None, **kwargs):
        return _wrap((self._t != 0).any() if axis is None else (self._t != 0).any(axis))

    def all(self, axis=None, **kwargs):
        return _wrap((self._t != 0).all() if axis is None else (self._t != 0).all(axis))

    def cumsum(self, axis=None, **kwargs):
        return _array(self._t.reshape(-1).cumsum(0) if axis is None else self._t.cumsum(axis))

    def cumprod(self, axis=None, **kwargs):
        return _array(self._t.reshape(-1).cumprod(0) if axis is None else self._t.cumprod(axis))

    def clip(self, min=None, max=None, **kwargs):
        return _array(self._t.clamp(min, max))

    def round(self, decimals=0, **kwargs):
        return round(self, decimals)

    def nonzero(self):
        return nonzero(self)


for _name in _OPERATORS:
    setattr(ndarray, "__%s__" % _name, _binary(_name))
    if _name not in ("eq", "ne", "lt", "le", "gt", "ge"):
        setattr(ndarray, "__r%s__" % _name, _binary(_name, True))
        setattr(ndarray, "__i%s__" % _name, _inplace(_name))
torch._set_array_class(ndarray)


def _all_axes(t, axis):
    return tuple(range(t.dim())) if axis is None else _axes(axis)


def _dtype(t):
    return None if t is None else t if str(t).startswith("torch.") else dtype(t)._torch


# ---- making arrays
def array(object, dtype=None, copy=True, ndmin=0, **kwargs):
    if isinstance(object, ndarray):
        t = object._t.clone()
    elif isinstance(object, torch.Tensor):
        t = torch.tensor(object)
    elif isinstance(object, (list, tuple)) and builtins.any(isinstance(o, (ndarray, torch.Tensor)) for o in object):
        t = torch.stack([array(o)._t for o in object])
    else:
        if not isinstance(object, (list, tuple, int, float, complex)):
            object = list(object)
        t = torch.tensor(object)
        t = torch.tensor(object, dtype=torch.float64) if t.dtype == torch.float32 else t
        t = torch.tensor(object, dtype=torch.complex128) if t.dtype == torch.complex64 else t
    if dtype is not None:
        t = t.to(_dtype(dtype))
    while t.dim() < ndmin:
        t = t.unsqueeze(0)
    return _array(t)


def asarray(a, dtype=None, **kwargs):
    return a if isinstance(a, ndarray) and (dtype is None or a.dtype == dtype) else array(a, dtype)


asanyarray = ascontiguousarray = asfortranarray = asarray


def copy(a):
    return array(a)


def _shape(shape):
    return tuple(int(s) for s in shape) if isinstance(shape, (tuple, list, ndarray)) else (int(shape),)


def zeros(shape, dtype=float, **kwargs):
    return _array(torch.zeros(_shape(shape), dtype=_dtype(dtype)))


def ones(shape, dtype=float, **kwargs):
    return _array(torch.ones(_shape(shape), dtype=_dtype(dtype)))


def empty(shape, dtype=float, **kwargs):
    return _array(torch.empty(_shape(shape), dtype=_dtype(dtype)))


def full(shape, fill_value, dtype=None, **kwargs):
    made = _array(torch.full(_shape(shape), fill_value, dtype=torch.float64 if isinstance(fill_value, float) else None))
    return made if dtype is None else made.astype(dtype)


def zeros_like(a, dtype=None, **kwargs):
    a = asarray(a)
    return zeros(a.shape, dtype or a.dtype)


def ones_like(a, dtype=None, **kwargs):
    a = asarray(a)
    return ones(a.shape, dtype or a.dtype)


def empty_like(a, dtype=None, **kwargs):
    a = asarray(a)
    return empty(a.shape, dtype or a.dtype)


def full_like(a, fill_value, dtype=None, **kwargs):
    a = asarray(a)
    return full(a.shape, fill_value, dtype or a.dtype)


def eye(N, M=None, k=0, dtype=float):
    rows, columns = arange(N).reshape(-1, 1), arange(N if M is None else M)
    return (columns - rows == k).astype(dtype)


def identity(n, dtype=float):
    return eye(n, dtype=dtype)


def arange(*args, dtype=None, **kwargs):
    made = _array(
        torch.arange(*args, dtype=torch.float64 if builtins.any(isinstance(a, float) for a in args) else torch.int64)
    )
    return made if dtype is None else made.astype(dtype)


def linspace(start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0):
    num = int(num)
    step = (stop - start) / (num - 1 if endpoint else num) if num > (1 if endpoint else 0) else nan
    made = arange(num) * (step if num > 1 or not endpoint else 0.0) + start
    if endpoint and num > 1:
        made[num - 1] = stop
    made = made if dtype is None else made.astype(dtype)
    return (made, step) if retstep else made


def logspace(start, stop, num=50, endpoint=True, base=10.0, dtype=None):
    return base ** linspace(start, stop, num, endpoint)


def geomspace(start, stop, num=50, endpoint=True):
    return logspace(math.log10(start), math.log10(stop), num, endpoint)


def fromiter(iterable, dtype, count=-1):
    return array(list(iterable), dtype)


def fromfunction(function, shape, dtype=float, **kwargs):
    return function(
        *[_array(t.to(_dtype(dtype))) for t in torch.meshgrid(*[torch.arange(n) for n in shape], indexing="ij")]
    )


def meshgrid(*xi, copy=True, sparse=False, indexing="xy"):
    return [_array(t) for t in torch.meshgrid(*[asarray(x)._t for x in xi], indexing=indexing)]


def indices(dimensions, dtype=int):
    return stack([_array(t) for t in torch.meshgrid(*[torch.arange(n) for n in dimensions], indexing="ij")])


class _Grid:
    def __init__(self, open):
        self.open = open

    def __getitem__(self, key):
        one = not isinstance(key, tuple)
        axes = [arange(k.start or 0, k.stop, k.step or 1) for k in ((key,) if one else key)]
        if one:
            return axes[0]
        grids = [_array(t) for t in torch.meshgrid(*[a._t for a in axes], indexing="ij")]
        return (
            [a.reshape([-1 if i == j else 1 for j in range(len(axes))]) for i, a in enumerate(axes)]
            if self.open
            else stack(grids)
        )


mgrid, ogrid = _Grid(False), _Grid(True)


def tri(N, M=None, k=0, dtype=float):
    return _array(torch.tril(torch.ones(N, M or N, dtype=_dtype(dtype)), k))


def triu(m, k=0):
    return _array(torch.triu(asarray(m)._t, k))


def tril(m, k=0):
    return _array(torch.tril(asarray(m)._t, k))


def diag(v, k=0):
    v = asarray(v)
    return (
        _array(v._t.diagonal(k))
        if v.ndim == 2
        else v.reshape(-1, 1) * eye(v.size, dtype=v.dtype)
        if k == 0
        else torch._unsupported("numpy.diag() beside the diagonal")
    )


from numpy._functions import *
from numpy._elementwise import *
from numpy._bytes import *
from numpy._sets import *
from numpy._statistics import *


def tril_indices(n, k=0, m=None):
    return nonzero(tri(n, m, k))


def triu_indices(n, k=0, m=None):
    return nonzero(1 - tri(n, m, k - 1))


def diag_indices(n, ndim=2):
    return (arange(n),) * ndim


def rot90(m, k=1, axes=(0, 1)):
    return _array(torch.rot90(asarray(m)._t, k, axes))


def atleast_3d(*arys):
    def one(a):
        a = asarray(a)
        return a if a.ndim > 2 else a.reshape(*a.shape, 1) if a.ndim == 2 else a.reshape(1, -1, 1)

    return one(arys[0]) if len(arys) == 1 else [one(a) for a in arys]


def column_stack(tup):
    return concatenate([a.reshape(-1, 1) if a.ndim < 2 else a for a in map(asarray, tup)], 1)


def dstack(tup):
    return concatenate([atleast_3d(a) for a in tup], 2)


def ascontiguousarray(a, dtype=None):
    a = asarray(a, dtype)
    return a.reshape(1) if a.ndim == 0 else a


# ---- the rest
def set_printoptions(*args, **kwargs):
    pass


def seterr(*args, **kwargs):
    return {}


class errstate(torch.no_grad):
    pass


def load(*args, **kwargs):
    import importlib

    return importlib.import_module("numpy._load").load(*args, **kwargs)


def loadtxt(*args, **kwargs):
    torch._unsupported("numpy.loadtxt: files are not read here")


genfromtxt = fromfile = save = savez = loadtxt


def __getattr__(name):
    if name == "bool":  # of numpy 2; in this module the name is Python's
        return bool_
    if name.startswith("__") or name in ("int", "float", "object", "str", "complex", "unicode"):
        raise AttributeError("module 'numpy' has no attribute '%s'" % name)
    import importlib

    if name in ("random", "linalg", "fft", "typing", "testing", "core"):
        return importlib.import_module("numpy." + name)
    if name in ("s_", "index_exp", "ix_", "r_", "c_"):
        return getattr(importlib.import_module("numpy._index_tricks"), name)
    torch._unsupported("numpy." + name, "compute it with Python or with torch")
