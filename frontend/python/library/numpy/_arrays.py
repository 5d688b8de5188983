# numpy.ndarray: a constant tensor of torch, so that its values are known where they are small.
import builtins
import math

import _cobra
import torch
from numpy._dtypes import (
    _DTYPES,
    _NAMES,
    _NoValue,
    _SIZES,
    _TORCH,
    _TYPES,
    _functions,
    _lacks,
    _torch_type,
    _type_name,
    dtype,
)
from numpy._indexing import (
    _Flags,
    _as_index,
    _axes,
    _expands,
    _flat_in,
    _forwards,
    _in_order,
    _index,
    _one_axis,
    _shape,
    _shapes_fit,
    _turned,
    flatiter,
)
from numpy._promotion import _can_cast, _promoted
from numpy._types import _number_name, generic


class UFuncTypeError(TypeError):
    pass


def _array(tensor):
    made = object.__new__(ndarray)
    made._t = tensor
    return made


def _wrap(tensor):
    # Of no dimensions: a scalar, where its value is known.
    if tensor.dim() == 0 and torch._has_values(tensor):
        return _TYPES[_NAMES[tensor.dtype]](tensor.item())
    made = object.__new__(ndarray)
    made._t = tensor
    return made


def _plain(number):
    # A number of Python.
    return number._python_value() if isinstance(number, generic) else number


def _given(result, out, casting="same_kind", broadcasts=False):
    """What NumPy returns: the result, or the array that the caller gave for it."""
    if isinstance(out, tuple):
        if len(out) != 1:
            raise ValueError("The 'out' tuple must have exactly one entry")
        out = out[0]
    if out is None:
        return result
    if not isinstance(out, ndarray):
        raise TypeError("return arrays must be of ArrayType")
    t = asarray(result)._t
    have, want = _NAMES[t.dtype], _NAMES[out._t.dtype]
    if not _can_cast(have, want, casting):
        raise UFuncTypeError(
            "Cannot cast output from %r to %r with casting rule %r" % (dtype(have), dtype(want), casting)
        )
    if t.shape != out._t.shape and not (broadcasts and _expands(t.shape, out._t.shape)):
        raise ValueError(
            "non-broadcastable output operand with shape %s doesn't match the broadcast shape %s"
            % (tuple(out._t.shape), tuple(t.shape))
        )
    out._writable().copy_(t.to(out._t.dtype))
    return out


class ndarray:
    __module__ = "numpy"
    __hash__ = None
    __array_priority__ = 0.0
    # Why it may not be written to: NumPy refuses, or what is a view in NumPy is a copy here.
    _lock = None
    _READ_ONLY = "assignment destination is read-only"

    def __init__(self, shape, dtype=float, buffer=None, offset=0, strides=None, order=None):
        _lacks("ndarray", buffer=buffer, strides=strides)
        self._t = _in_order(torch.empty(_shape(shape), dtype=_torch_type(dtype)), order or "C")

    def __class_getitem__(cls, item):
        return cls

    def _view(self, tensor):
        made = _array(tensor)
        if self._lock:
            made._lock = self._lock
        return made

    def _writable(self):
        if self._lock == self._READ_ONLY:
            raise ValueError(self._lock)
        if self._lock:
            torch._unsupported(self._lock)
        return self._t

    # -- what it is
    @property
    def shape(self):
        return tuple(self._t.shape)

    @shape.setter
    def shape(self, value):
        self._t = self.reshape(value)._t

    ndim = property(lambda self: self._t.dim())
    size = property(lambda self: self._t.numel())
    itemsize = property(lambda self: _SIZES[_NAMES[self._t.dtype]])
    nbytes = property(lambda self: self.size * self.itemsize)
    strides = property(lambda self: tuple(s * self.itemsize for s in self._t.stride()))
    T = property(lambda self: self.transpose())
    flags = property(lambda self: _Flags(self))
    base = property(lambda self: torch._unsupported("numpy.ndarray.base"))
    ctypes = _cobra.inert("numpy.ndarray.ctypes")
    data = _cobra.inert("numpy.ndarray.data")
    __array_interface__ = _cobra.inert("numpy.ndarray.__array_interface__")
    __array_struct__ = _cobra.inert("numpy.ndarray.__array_struct__")

    @property
    def dtype(self):
        return _DTYPES[_NAMES[self._t.dtype]]

    @dtype.setter
    def dtype(self, value):
        if self.dtype != value:
            torch._unsupported("assigning numpy.ndarray.dtype")

    @property
    def flat(self):
        return flatiter(self)

    @flat.setter
    def flat(self, value):
        flatiter(self)[...] = _functions["resize"](value, (self.size,))

    @property
    def real(self):
        return self._view(self._t.real) if self._t.is_complex() else self

    @real.setter
    def real(self, value):
        if self._t.is_complex():
            torch._unsupported("assigning numpy.ndarray.real")
        self[...] = value

    @property
    def imag(self):
        if self._t.is_complex():
            return self._view(self._t.imag)
        made = _array(torch.zeros_like(self._t))
        made._lock = self._READ_ONLY
        return made

    @imag.setter
    def imag(self, value):
        if not self._t.is_complex():
            raise TypeError("array does not have imaginary part to set")
        torch._unsupported("assigning numpy.ndarray.imag")

    def setflags(self, write=None, align=None, uic=None):
        if write is not None and not write:
            self._lock = self._lock or self._READ_ONLY
        elif write and self._lock == self._READ_ONLY:
            self._lock = None

    def __len__(self):
        if self._t.dim() == 0:
            raise TypeError("len() of unsized object")
        return self._t.shape[0]

    def __iter__(self):
        if self._t.dim() == 0:
            raise TypeError("iteration over a 0-d array")
        return (self[i] for i in range(len(self)))

    def __repr__(self):
        from numpy._text import array_repr

        return array_repr(self)

    def __str__(self):
        from numpy._text import array_str

        return array_str(self)

    def __format__(self, spec):
        return format(self.item() if self.ndim == 0 else str(self) if not spec else self.__no_format(), spec)

    def __no_format(self):
        raise TypeError("unsupported format string passed to numpy.ndarray.__format__")

    def __bool__(self):
        if self._t.numel() > 1:
            raise ValueError(
                "The truth value of an array with more than one element is ambiguous. Use a.any() or a.all()"
            )
        return builtins.bool(self._t.reshape(-1)[0]) if self._t.numel() else False

    def _only(self):
        if self._t.numel() != 1:
            raise TypeError("only size-1 arrays can be converted to Python scalars")
        return self._t.item()

    def __int__(self):
        return int(self._only())

    def __float__(self):
        return float(self._only())

    def __complex__(self):
        return complex(self._only())

    def __index__(self):
        if self._t.dim() or self.dtype.kind not in "iu":
            raise TypeError("only integer scalar arrays can be converted to a scalar index")
        return self._t.__index__()

    def __contains__(self, value):
        return builtins.bool((self == value).any())

    def __array__(self, dtype=None):
        return self if dtype is None or self.dtype == dtype else self.astype(dtype)

    def __array_wrap__(self, array, context=None):
        return array

    def __copy__(self):
        return self.copy()

    def __deepcopy__(self, memo):
        return self.copy()

    def __reduce__(self):
        return array, (self.tolist(), self.dtype.name)

    # -- items
    def __getitem__(self, index):
        if isinstance(index, str):
            _as_index(index)
        t, index, turned = _turned(self._t, index)
        # torch's own IndexErrors are NumPy's.
        made = t[_index(index)]
        if made.dim() == 0 and not (index is Ellipsis or isinstance(index, tuple) and Ellipsis in index):
            return _wrap(made)
        made = self._view(made)
        if turned:
            made._lock = "writing through a slice of a numpy array that runs backwards"
        return made

    def __setitem__(self, index, value):
        own = self._writable()
        if isinstance(value, (list, tuple)):
            value = array(value)
        elif not isinstance(value, ndarray) and _number_name(value) is None and hasattr(value, "__array__"):
            value = asarray(value)
        if isinstance(value, ndarray):
            if value._t.is_complex() and not own.is_complex() and value._t.dim() == 0:
                raise TypeError("can't convert complex to float")
            value = value._t.to(own.dtype)
        else:
            value = _plain(value)
            if value is None and own.dtype.is_floating_point:
                value = math.nan
            value = _checked_number(value, self.dtype)
        parts = index if isinstance(index, tuple) else (index,)
        if builtins.any(isinstance(p, slice) and p.step is not None and p.step < 0 for p in parts):
            if isinstance(value, torch.Tensor) or builtins.any(isinstance(p, (list, ndarray)) for p in parts):
                places = _array(torch.arange(self.size).reshape(self.shape))[index]
                flat, value = own.reshape(-1).clone(), _array(value) if isinstance(value, torch.Tensor) else value
                flat[places._t.reshape(-1)] = (
                    value if not isinstance(value, ndarray) else value._t.expand(places.shape).reshape(-1)
                )
                own[...] = flat.reshape(self.shape)
                return
            index = tuple(_forwards(p, n) for p, n in zip(parts, self.shape))
        whole = index is Ellipsis or isinstance(index, slice) and index == slice(None)
        index = _index(index)
        if isinstance(value, torch.Tensor):
            while value.dim() and value.shape[0] == 1 and value.dim() > self.ndim:
                value = value[0]
        if not whole:
            _shapes_fit(own.__setitem__, index, value)
        elif isinstance(value, torch.Tensor):
            _shapes_fit(own.copy_, value)
        else:
            own.fill_(value)

    def item(self, *args):
        if args:
            one = args[0] if len(args) == 1 else args
            found = self[one] if isinstance(one, tuple) else self.reshape(-1)[one]
            return found.item()
        if self._t.numel() != 1:
            raise ValueError("can only convert an array of size 1 to a Python scalar")
        return self._t.item()

    def itemset(self, *args):
        if not args:
            raise ValueError("itemset must have at least one argument")
        if len(args) == 1:
            if self.size != 1:
                raise ValueError("can only convert an array of size 1 to a Python scalar")
            self[...] = args[0]
        elif len(args) == 2 and not isinstance(args[0], tuple):
            self.flat[args[0]] = args[1]
        else:
            self[args[0] if len(args) == 2 else args[:-1]] = args[-1]

    def tolist(self):
        return self._t.tolist()

    def fill(self, value):
        self[...] = value

    # -- form
    def reshape(self, *shape, order="C"):
        if len(shape) == 1 and shape[0] is not None and not isinstance(shape[0], int):
            shape = _shape(shape[0])
        if order in ("A", "a"):
            order = "F" if self.flags.fnc else "C"
        if order in ("F", "f"):
            backwards = _shapes_fit(
                self._t.permute(list(range(self._t.dim() - 1, -1, -1))).reshape, [s.__index__() for s in shape[::-1]]
            )
            return self._view(backwards.permute(list(range(backwards.dim() - 1, -1, -1))))
        if order not in ("C", "c", None):
            raise ValueError("order 'K' is not permitted for reshaping")
        return self._view(_shapes_fit(self._t.reshape, [s.__index__() for s in shape]))

    def resize(self, *new_shape, refcheck=True):
        shape = _shape(new_shape[0] if len(new_shape) == 1 else new_shape)
        have, want = self._t.reshape(-1), math.prod(shape)
        if want > have.numel():
            have = torch.cat([have, torch.zeros(want - have.numel(), dtype=have.dtype)])
        self._t = have[:want].reshape(shape)

    def transpose(self, *axes):
        axes = axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes
        n = self._t.dim()
        if axes and len(axes) != n:
            raise ValueError("axes don't match array")
        axes = [_one_axis(a, n) for a in axes] if axes else list(range(n - 1, -1, -1))
        if len(builtins.set(axes)) != n:
            raise ValueError("repeated axis in transpose")
        return self._view(self._t.permute(axes)) if n else self

    def swapaxes(self, axis1, axis2):
        return self._view(self._t.transpose(_one_axis(axis1, self.ndim), _one_axis(axis2, self.ndim)))

    def flatten(self, order="C"):
        return _array(_flat_in(self._t, order).clone())

    def ravel(self, order="C"):
        return self._view(_flat_in(self._t, order))

    def squeeze(self, axis=None):
        if axis is None:
            return self._view(self._t.squeeze())
        axes = _axes(axis, self.ndim)
        if builtins.any(self._t.shape[a] != 1 for a in axes):
            raise ValueError("cannot select an axis to squeeze out which has size not equal to one")
        return self._view(self._t.reshape([n for a, n in enumerate(self._t.shape) if a not in axes]))

    def astype(self, dtype, order="K", casting="unsafe", subok=True, copy=True):
        name = _type_name(dtype)
        if not _can_cast(self.dtype.name, name, casting):
            raise TypeError(
                "Cannot cast array data from %r to %r according to the rule %r" % (self.dtype, _DTYPES[name], casting)
            )
        t = self._t.to(_DTYPES[name]._torch)
        if t is self._t and not copy:
            return self
        return _array(_in_order(t.clone() if t is self._t else t, order))

    def copy(self, order="C"):
        t = _in_order(self._t, order)
        return _array(t.clone() if t is self._t or order not in ("C", "c") else t)

    def view(self, dtype=None, type=None):
        for given in (dtype, type):
            if given is None or given is ndarray:
                continue
            if isinstance(given, builtins.type) and issubclass(given, ndarray):
                torch._unsupported("numpy.ndarray.view(%s)" % given.__name__)
            if self.dtype != given:
                torch._unsupported("numpy.ndarray.view(%s)" % _DTYPES[_type_name(given)])
        return self._view(self._t[...])

    def byteswap(self, inplace=False):
        if self.itemsize > 1:
            torch._unsupported("numpy.ndarray.byteswap()")
        return self if inplace else self.copy()

    def newbyteorder(self, new_order="S"):
        self.dtype.newbyteorder(new_order)
        return self

    def tobytes(self, order="C"):
        import struct

        values = _flat_in(self._t, order).tolist()
        if self.dtype.kind == "c":
            values = [part for v in values for part in (v.real, v.imag)]
        letter = {"F": "f", "D": "d", "l": "q"}.get(self.dtype.char, self.dtype.char)
        return struct.pack("<%d%s" % (len(values), letter), *values)

    tostring = tobytes

    # -- arithmetic of one
    def __pos__(self):
        return _functions["positive"](self)

    def __abs__(self):
        return _functions["absolute"](self)

    def __neg__(self):
        return _functions["negative"](self)

    def __invert__(self):
        return _functions["invert"](self)

    # -- reductions
    def sum(self, axis=None, dtype=None, out=None, keepdims=False, initial=_NoValue, where=True):
        return _functions["add"].reduce(self, axis, dtype, out, keepdims, initial, where)

    def prod(self, axis=None, dtype=None, out=None, keepdims=False, initial=_NoValue, where=True):
        return _functions["multiply"].reduce(self, axis, dtype, out, keepdims, initial, where)

    def max(self, axis=None, out=None, keepdims=False, initial=_NoValue, where=True):
        return _functions["maximum"].reduce(self, axis, None, out, keepdims, initial, where)

    def min(self, axis=None, out=None, keepdims=False, initial=_NoValue, where=True):
        return _functions["minimum"].reduce(self, axis, None, out, keepdims, initial, where)

    def any(self, axis=None, out=None, keepdims=False, *, where=True):
        return _functions["logical_or"].reduce(self, axis, None, out, keepdims, _NoValue, where)

    def all(self, axis=None, out=None, keepdims=False, *, where=True):
        return _functions["logical_and"].reduce(self, axis, None, out, keepdims, _NoValue, where)


def _refusing(name):
    def method(self, *args, **kwargs):
        torch._unsupported("numpy.ndarray.%s()" % name)

    method.__name__ = name
    return method


for _name in (
    "getfield setfield dump dumps tofile __array_function__ __array_ufunc__ __array_prepare__ __dlpack__"
    " __dlpack_device__ __setstate__"
).split():
    setattr(ndarray, _name, _refusing(_name))


def _checked_number(value, of):
    # A number that becomes an item of an array of that type.
    if value is None or isinstance(value, (str, bytes, dict, builtins.set)):
        if isinstance(value, str):
            return (int if of.kind in "iu" else float)(value)
        raise TypeError("%s() argument must be a string or a real number, not '%s'" % (of, type(value).__name__))
    if of.kind in "iu" and isinstance(value, float):
        return int(value)
    if isinstance(value, complex) and of.kind != "c":
        raise TypeError("can't convert complex to %s" % of)
    return value


torch._set_array_class(ndarray)


# ---- making them of what there is
def _tensor_of(object):
    # A number, a list of lists of numbers, tensors or arrays: a tensor of the type that NumPy gives
    # it.
    if isinstance(object, ndarray):
        return object._t.clone()
    if isinstance(object, torch.Tensor):
        return torch.tensor(object)
    name = _number_name(object)
    if name is not None:
        return _checked_size(
            torch.tensor(_plain(object), dtype=_DTYPES[name]._torch), isinstance(object, (int, list, tuple))
        )
    if isinstance(object, (list, tuple)):
        if builtins.any(isinstance(o, (ndarray, torch.Tensor)) for o in object):
            return _stacked([_tensor_of(o) for o in object])
        names = {}  # {type: whether one of them is a number of numpy's}
        if _kinds_of(object, names):
            values = _plains(object) if builtins.any(names.values()) else object
            return _checked_size(
                torch.tensor(values, dtype=_DTYPES[_promoted(list(names))]._torch if names else torch.float64)
            )
        return _stacked([_tensor_of(o) for o in object])
    if isinstance(object, (str, bytes, dict, builtins.set, frozenset)) or object is None:
        torch._unsupported("numpy.array() of %s" % type(object).__name__)
    if hasattr(object, "__array__"):
        return object.__array__()._t
    if hasattr(object, "__len__") and hasattr(object, "__getitem__"):
        return _tensor_of([object[i] for i in range(len(object))])
    torch._unsupported("numpy.array() of %s" % type(object).__name__)


def _checked_size(t, of_numbers=True):
    # Tensors hold integers of up to 53 bits here; one of numbers that are larger has no values.
    if t.dtype == torch.int64 and t.numel():
        if of_numbers and not torch._has_values(t) or torch._has_values(t) and t.abs().max().item() >= 1 << 53:
            torch._unsupported("numpy: integers of more than 53 bits")
    return t


def _kinds_of(items, names):
    # Collects the types of the numbers; False if there is something else than lists and numbers.
    kinds = builtins.set(map(type, items))
    for kind in kinds:
        if kind is list or kind is tuple:
            continue
        name = _number_name(next(i for i in items if type(i) is kind))
        if name is None:
            return False
        names[name] = names.get(name, False) or issubclass(kind, generic)
    if list in kinds or tuple in kinds:
        return builtins.all(_kinds_of(i, names) for i in items if isinstance(i, (list, tuple)))
    return True


def _plains(items):
    return [_plains(i) if isinstance(i, (list, tuple)) else _plain(i) for i in items]


def _stacked(tensors):
    target = _TORCH[_promoted([_NAMES[t.dtype] for t in tensors])]
    return _shapes_fit(torch.stack, [t.to(target) for t in tensors])


def array(object, dtype=None, *, copy=True, order="K", subok=False, ndmin=0, like=None):
    _lacks("array", like=like)
    if not copy and isinstance(object, ndarray) and (dtype is None or object.dtype == dtype):
        t = object._t
    else:
        t = _tensor_of(object)
    if dtype is not None:
        t = t.to(_torch_type(dtype))
    while t.dim() < ndmin:
        t = t.unsqueeze(0)
    made = _array(_in_order(t, order))
    if not copy and isinstance(object, ndarray) and t is object._t:
        return object
    return made


def asarray(a, dtype=None, order=None, *, like=None):
    if isinstance(a, ndarray) and (dtype is None or a.dtype == dtype) and order is None:
        return a
    return array(a, dtype, copy=False, order=order or "K", like=like)


def asanyarray(a, dtype=None, order=None, *, like=None):
    return asarray(a, dtype, order, like=like)


_functions.update(array=array, asarray=asarray)
