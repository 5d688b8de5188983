# Axes, shapes, orders in memory and indices of numpy's arrays.
import builtins
import operator

import torch
from numpy._dtypes import _functions
from numpy._types import bool_


def _is_array(value):
    return isinstance(getattr(value, "_t", None), torch.Tensor)


class AxisError(ValueError, IndexError):
    def __init__(self, axis, ndim=None, msg_prefix=None):
        text = axis if ndim is None else "axis %d is out of bounds for array of dimension %d" % (axis, ndim)
        super().__init__(text if msg_prefix is None else "%s: %s" % (msg_prefix, text))


AxisError.__module__ = "numpy"


def _one_axis(axis, ndim):
    axis = operator.index(axis)
    if not -ndim <= axis < ndim:
        raise AxisError(axis, ndim)
    return axis % ndim


def _axes(axis, ndim):
    """The axes as a sorted list, of None all."""
    if axis is None:
        return list(range(ndim))
    if not isinstance(axis, tuple):
        if ndim == 0 and axis in (0, -1):
            return []
        return [_one_axis(axis, ndim)]
    found = [_one_axis(a, ndim) for a in axis]
    if len(builtins.set(found)) != len(found):
        raise ValueError("duplicate value in 'axis'")
    return sorted(found)


def _shape(shape):
    if isinstance(shape, (tuple, list)):
        return tuple(s.__index__() for s in shape)
    if _is_array(shape):
        return tuple(int(s) for s in shape.reshape(-1).tolist())
    return (shape.__index__(),)


def _in_order(t, order):
    """The tensor with its values in that order in memory."""
    if order not in ("C", "F", "A", "K", None, "c", "f", "a", "k"):
        raise ValueError("order must be one of 'C', 'F', 'A', or 'K' (got '%s')" % (order,))
    if order in ("F", "f") and t.dim() > 1:
        backwards = list(range(t.dim() - 1, -1, -1))
        return t.permute(backwards).contiguous().permute(backwards)
    return t.contiguous() if order in ("C", "c") else t


def _flat_in(t, order):
    # Its values in one row.
    if order in ("F", "f"):
        return t.permute(list(range(t.dim() - 1, -1, -1))).reshape(-1)
    if order not in ("C", "c") and not t.is_contiguous():
        if (
            order in ("A", "a", "K", "k")
            and t.dim() > 1
            and t.permute(list(range(t.dim() - 1, -1, -1))).is_contiguous()
        ):
            return t.permute(list(range(t.dim() - 1, -1, -1))).reshape(-1)
        if order in ("K", "k"):
            torch._unsupported("numpy: order='K' of an array that is in neither order")
    return t.reshape(-1)


def _shapes_fit(function, *args, **kwargs):
    # torch's errors about shapes and types are NumPy's ValueErrors.
    try:
        return function(*args, **kwargs)
    except RuntimeError as error:
        raise ValueError(str(error))


def _expands(shape, to):
    return len(shape) <= len(to) and builtins.all(a in (1, b) for a, b in zip(shape[::-1], to[::-1]))


def _as_index(index):
    if _is_array(index):
        if index._t.dtype == torch.bool or index.dtype.kind in "iu":
            return index._t
        raise IndexError("arrays used as indices must be of integer (or boolean) type")
    if isinstance(index, list):
        if not index:
            return torch.zeros(0, dtype=torch.int64)
        return _as_index(_functions["array"](index))
    if isinstance(index, bool_):
        return builtins.bool(index)
    if isinstance(index, torch.Tensor):
        return index.tolist() if index.dim() == 0 else index
    if isinstance(index, (float, complex, str)):
        raise IndexError(
            "only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and integer or boolean arrays are valid"
            " indices"
        )
    return index


def _index(index):
    if not isinstance(index, tuple):
        return _as_index(index)
    parts = [_as_index(i) for i in index]
    if builtins.any(isinstance(p, torch.Tensor) and p.dim() for p in parts):
        # An integer beside arrays is an index like them.
        parts = [torch.tensor([p]) if isinstance(p, int) and not isinstance(p, builtins.bool) else p for p in parts]
    return tuple(parts)


def _turned(t, index):
    # Slices that run backwards, which tensors do not have: (the tensor with those dimensions
    # gathered, the rest of the index, whether there was one).
    parts = list(index) if isinstance(index, tuple) else [index]
    if not builtins.any(isinstance(p, slice) and p.step is not None and p.step < 0 for p in parts):
        return t, index, False
    if builtins.any(p is Ellipsis for p in parts):
        at = [p is Ellipsis for p in parts].index(True)
        parts[at : at + 1] = [slice(None)] * (t.dim() - builtins.sum(p is not None for p in parts) + 1)
    dim = 0
    for k, part in enumerate(parts):
        if isinstance(part, list) or _is_array(part):
            torch._unsupported("numpy: an array together with a reversed slice as an index")
        if isinstance(part, slice) and part.step is not None and part.step < 0:
            t = t.index_select(dim, torch.tensor(list(range(*part.indices(t.shape[dim]))), dtype=torch.int64))
            parts[k] = slice(None)
        dim += part is not None
    return t, tuple(parts), True


class _Flags:
    def __init__(self, owner):
        object.__setattr__(self, "_owner", owner)
        t = owner._t
        f = t.permute(list(range(t.dim() - 1, -1, -1))).is_contiguous()
        known = {"C_CONTIGUOUS": t.is_contiguous(), "F_CONTIGUOUS": f, "ALIGNED": True, "WRITEBACKIFCOPY": False}
        object.__setattr__(self, "_known", known)

    def __getitem__(self, name):
        name = {"C": "C_CONTIGUOUS", "F": "F_CONTIGUOUS", "W": "WRITEABLE", "O": "OWNDATA", "A": "ALIGNED"}.get(
            name, name
        )
        if name == "WRITEABLE":
            return not self._owner._lock
        if name == "OWNDATA":
            torch._unsupported("numpy.ndarray.flags.owndata")
        if name in ("CARRAY", "FNC", "FORC"):
            c, f = self["C"], self["F"]
            return c if name == "CARRAY" else f and not c if name == "FNC" else f or c
        if name not in self._known:
            raise KeyError("Unknown flag")
        return self._known[name]

    def __setitem__(self, name, value):
        if name not in ("W", "WRITEABLE", "A", "ALIGNED"):
            raise KeyError("Unknown flag")
        if name[0] == "W":
            self._owner.setflags(write=value)

    def __getattr__(self, name):
        try:
            return self[name.upper()]
        except KeyError:
            raise AttributeError("'numpy.flagsobj' object has no attribute '%s'" % name)

    def __setattr__(self, name, value):
        self[name.upper()] = value


class flatiter:
    __module__ = "numpy"

    def __init__(self, base):
        self.base, self.index = base, 0

    def __len__(self):
        return self.base.size

    def __iter__(self):
        return self

    def __next__(self):
        if self.index >= self.base.size:
            raise StopIteration
        self.index += 1
        return self.base.reshape(-1)[self.index - 1]

    def __getitem__(self, index):
        return self.base.reshape(-1)[index]

    def __setitem__(self, index, value):
        flat = self.base.reshape(-1).copy()
        flat[index] = value
        self.base[...] = flat.reshape(self.base.shape)

    def copy(self):
        return self.base.flatten()

    def __array__(self, dtype=None):
        return self.base.flatten() if dtype is None else self.base.flatten().astype(dtype)


def _forwards(part, n):
    # The places of a slice that runs backwards, in the other order.
    if not isinstance(part, slice) or part.step is None or part.step > 0:
        return part
    places = range(*part.indices(n))
    return slice(places[-1], places[0] + 1, -part.step) if len(places) else slice(0, 0)
