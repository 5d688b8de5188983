# Where numpy's arrays hold what: choosing, sorting, searching.
import bisect
import builtins
import math
import operator

import torch
from numpy._arrays import _array, _given, _wrap, array, asarray, ndarray
from numpy._dtypes import _DTYPES, _NoValue, _TORCH, _functions, _lacks
from numpy._indexing import _one_axis, _shape, _shapes_fit
from numpy._promotion import _promoted, _result_name, can_cast
from numpy._types import _number_name, generic, int64
from numpy._shaping import stack
from numpy._ufuncs import _keeps


def where(condition, x=_NoValue, y=_NoValue, /):
    if x is _NoValue and y is _NoValue:
        return nonzero(condition)
    if x is _NoValue or y is _NoValue:
        raise ValueError("either both or neither of x and y should be given")
    condition = asarray(condition)
    x, y = (v if _number_name(v) is not None else asarray(v) for v in (x, y))
    target = _DTYPES[_result_name([x, y])]._torch
    return _array(_shapes_fit(torch.where, condition._t != 0, asarray(x)._t.to(target), asarray(y)._t.to(target)))


def nonzero(a):
    a = asarray(a)
    if a.ndim == 0:
        a = a.reshape(1)
    strides = [math.prod(a.shape[i + 1 :]) for i in range(a.ndim)]
    found = [i for i, v in enumerate(a.reshape(-1).tolist()) if v]
    return tuple(array([i // s % n for i in found], int64) for s, n in zip(strides, a.shape))


def argwhere(a):
    return stack(nonzero(a), 1)


def flatnonzero(a):
    return nonzero(asarray(a).reshape(-1))[0]


def count_nonzero(a, axis=None, *, keepdims=False):
    a = asarray(a)
    made = _array((a._t != 0).to(torch.int64)).sum(axis, keepdims=keepdims)
    return int(made) if axis is None and not keepdims else made


_SORTS = ("quicksort", "mergesort", "heapsort", "stable", None)


def _sorted(a, axis, kind, order, with_places=False):
    _lacks("sort", order=order)
    if kind not in _SORTS:
        raise ValueError("sort kind must be one of 'quick', 'heap', or 'stable' (got %r)" % (kind,))
    t = a._t
    if axis is None:
        t, axis = t.reshape(-1), 0
    elif a.ndim == 0:
        _one_axis(axis, 0)
    d = _one_axis(axis, t.dim())
    if with_places and kind not in ("stable", "mergesort") and t.shape[d] > 16:
        # NumPy's quicksort has equal ones in no order that is known here.
        values = torch.sort(t, d)[0]
        if torch._has_values(t) and builtins.bool((torch.diff(values, 1, d) == 0).any()):
            torch._unsupported("numpy.argsort() of equal values", "kind='stable' keeps their order")
    return torch.sort(t, dim=d, stable=True)


def sort(a, axis=-1, kind=None, order=None):
    return _array(_sorted(asarray(a), axis, kind, order)[0])


def msort(a):
    return sort(a, 0)


def argsort(a, axis=-1, kind=None, order=None):
    return _array(_sorted(asarray(a), axis, kind, order, True)[1])


def _sort_inplace(self, axis=-1, kind=None, order=None):
    self._writable()[...] = _sorted(self, _one_axis(axis, self.ndim), kind, order)[0]


def _partition_inplace(self, kth, axis=-1, kind="introselect", order=None):
    torch._unsupported("numpy.ndarray.partition()", "sort() orders all of them")


def partition(a, kth, axis=-1, kind="introselect", order=None):
    torch._unsupported("numpy.partition()", "sort() orders all of them")


def argpartition(a, kth, axis=-1, kind="introselect", order=None):
    torch._unsupported("numpy.argpartition()", "argsort() orders all of them")


def lexsort(keys, axis=-1):
    rows = [asarray(k).tolist() for k in keys]
    if not rows or isinstance(rows[0], list) and rows[0] and isinstance(rows[0][0], list):
        torch._unsupported("numpy.lexsort() of more than rows")
    return array(sorted(range(len(rows[0])), key=lambda i: [row[i] for row in reversed(rows)]), int64)


def _arg_reduction(name):
    def function(a, axis=None, out=None, *, keepdims=_NoValue):
        a = asarray(a)
        t = a._t.to(torch.int64) if a.dtype == bool else a._t
        if t.is_complex():
            torch._unsupported("numpy.%s() of complex numbers" % name)
        if axis is None:
            if not t.numel():
                raise ValueError("attempt to get %s of an empty sequence" % name)
            made = getattr(t.reshape(-1), name)(0)
            made = made.reshape((1,) * t.dim()) if _keeps(keepdims) else made
        else:
            axis = operator.index(axis)
            d = _one_axis(axis, a.ndim) if a.ndim else 0
            if a.ndim and not t.shape[d]:
                raise ValueError("attempt to get %s of an empty sequence" % name)
            made = getattr(t, name)(d, keepdim=_keeps(keepdims)) if a.ndim else t.to(torch.int64) * 0
        if out is not None and getattr(out, "dtype", made) is not made and out.dtype.kind not in "iu":
            raise TypeError("Cannot cast array data from dtype('int64') to %r according to the rule 'safe'" % out.dtype)
        return _given(_wrap(made), out, "unsafe")

    function.__name__ = name
    return function


argmax, argmin = _arg_reduction("argmax"), _arg_reduction("argmin")


# ---- taking and putting
_MODES = ("raise", "wrap", "clip")


def _places(indices, n, mode):
    # Indices as tensors of places below n.
    places = asarray(indices)
    if not places.size:
        return places._t.to(torch.int64)
    if places.dtype.kind not in "iub":
        raise TypeError("Cannot cast array data from %r to dtype('int64') according to the rule 'safe'" % places.dtype)
    t = places._t.to(torch.int64)
    if mode == "wrap":
        return t % n
    if mode == "clip":
        return t.clamp(0, n - 1)
    if mode != "raise":
        raise ValueError("clipmode must be one of 'clip', 'raise', or 'wrap' (got %r)" % (mode,))
    if torch._has_values(t) and builtins.any(not -n <= i < n for i in t.reshape(-1).tolist()):
        raise IndexError("index is out of bounds for axis 0 with size %d" % n)
    return torch.where(t < 0, t + n, t)


def take(a, indices, axis=None, out=None, mode="raise"):
    a = asarray(a)
    a = a if a.ndim else a.reshape(1)
    a, d = (a.reshape(-1), 0) if axis is None else (a, _one_axis(axis, a.ndim))
    places = _places(indices, a.shape[d], mode)
    made = a._t.index_select(d, places.reshape(-1))
    return _given(_wrap(made.reshape(a.shape[:d] + tuple(places.shape) + a.shape[d + 1 :])), out)


def put(a, ind, v, mode="raise"):
    if not isinstance(a, ndarray):
        raise TypeError("argument 1 must be numpy.ndarray, not %s" % type(a).__name__)
    places = _places(ind, a.size, mode).reshape(-1)
    values = asarray(v).reshape(-1).tolist()
    if not places.numel() or not values:
        return
    flat = a.flatten()
    for k, place in enumerate(places.tolist()):
        flat[place] = values[k % len(values)]
    a[...] = flat.reshape(a.shape)


def place(arr, mask, vals):
    chosen = [i for i, v in enumerate(asarray(mask).reshape(-1).tolist()) if v]
    if chosen and not asarray(vals).size:
        raise ValueError("Cannot insert from an empty array!")
    put(arr, array(chosen, int64), vals)


def putmask(a, mask, values):
    values, n = asarray(values), a.size
    a[...] = _array(
        torch.where(asarray(mask)._t != 0, _functions["resize"](values, (n,))._t.reshape(a.shape).to(a._t.dtype), a._t)
    )


def copyto(dst, src, casting="same_kind", where=True):
    if not isinstance(dst, ndarray):
        raise TypeError("copyto() argument 1 must be numpy.ndarray, not %s" % type(dst).__name__)
    name, value = _number_name(src), src
    src = asarray(src)
    if not can_cast(value if name else src, dst.dtype, casting):
        raise TypeError(
            "Cannot cast array data from %r to %r according to the rule %r" % (src.dtype, dst.dtype, casting)
        )
    made = src._t.to(dst._t.dtype)
    if where is not True:
        made = torch.where(asarray(where).astype(bool)._t, made, dst._t)
    _given(_array(made), dst, "unsafe", broadcasts=True)


def fill_diagonal(a, val, wrap=False):
    if a.ndim < 2:
        raise ValueError("array must be at least 2-d")
    if wrap or a.ndim > 2 and len(builtins.set(a.shape)) > 1:
        torch._unsupported("numpy.fill_diagonal() of more than a matrix")
    n = builtins.min(a.shape)
    values = asarray(val).reshape(-1).tolist()
    for i in range(n):
        a[(i,) * a.ndim] = values[i % len(values)]


def choose(a, choices, out=None, mode="raise"):
    a, choices = asarray(a), [asarray(c) for c in choices]
    places, name = _places(a, len(choices), mode), _promoted([c.dtype.name for c in choices])
    shape = torch.broadcast_shapes(a.shape, *[c.shape for c in choices])
    if mode == "raise" and torch._has_values(a._t) and builtins.any(i < 0 for i in a.reshape(-1).tolist()):
        raise ValueError("invalid entry in choice array")
    made = choices[0]._t.to(_TORCH[name]).expand(shape)
    for k, c in enumerate(choices[1:], 1):
        made = torch.where(places == k, c._t.to(_TORCH[name]), made)
    return _given(_wrap(made.clone()), out)


def select(condlist, choicelist, default=0):
    if len(condlist) != len(choicelist):
        raise ValueError("list of cases must be same length as list of conditions")
    made = default if _number_name(default) else asarray(default)
    name = _result_name([c if _number_name(c) else asarray(c) for c in choicelist] + [made])
    made = asarray(made).astype(name)
    for condition, choice in zip(condlist[::-1], choicelist[::-1]):
        made = where(condition, asarray(choice).astype(name), made)
    return made


def compress(condition, a, axis=None, out=None):
    chosen = [i for i, v in enumerate(asarray(condition).tolist()) if v]
    return take(a, array(chosen, int64), axis, out)


def extract(condition, arr):
    return take(asarray(arr).reshape(-1), nonzero(asarray(condition).reshape(-1))[0])


def _index_along(a, indices, axis):
    if indices.ndim != a.ndim:
        raise ValueError("`indices` and `arr` must have the same number of dimensions")
    axis = _one_axis(axis, a.ndim)
    if indices.dtype.kind not in "iu":
        raise IndexError("`indices` must be an integer array")
    places = [
        _array(torch.arange(n).reshape([n if e == d else 1 for e in range(a.ndim)])) for d, n in enumerate(a.shape)
    ]
    return tuple(places[:axis] + [indices] + places[axis + 1 :])


def take_along_axis(arr, indices, axis):
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


def searchsorted(a, v, side="left", sorter=None):
    if side not in ("left", "right"):
        raise ValueError("search side must be 'left' or 'right' (got %r)" % (side,))
    a, v = asarray(a), asarray(v)
    if sorter is not None:
        a = a[asarray(sorter)]
    values, find = a.tolist(), bisect.bisect_left if side == "left" else bisect.bisect_right
    if builtins.any(x != x for x in values):
        torch._unsupported("numpy.searchsorted() among nan")
    found = [len(values) if one != one else find(values, one) for one in v.reshape(-1).tolist()]
    return int64(found[0]) if v.ndim == 0 else array(found, int64).reshape(v.shape)


def digitize(x, bins, right=False):
    bins = asarray(bins)
    values = bins.tolist()
    if builtins.all(p <= q for p, q in zip(values, values[1:])):
        return searchsorted(bins, x, "left" if right else "right")
    if builtins.any(p < q for p, q in zip(values, values[1:])):
        raise ValueError("bins must be monotonically increasing or decreasing")
    return len(values) - searchsorted(bins[::-1], x, "left" if right else "right")


# ---- indices
def unravel_index(indices, shape, order="C"):
    shape = _shape(shape)
    places = asarray(indices)
    if builtins.any(not 0 <= i < math.prod(shape) for i in places.reshape(-1).tolist()):
        raise ValueError("index is out of bounds for array with size %d" % math.prod(shape))
    if order not in ("C", "F"):
        raise ValueError("only 'C' or 'F' order is permitted")
    strides = [math.prod(shape[i + 1 :]) if order == "C" else math.prod(shape[:i]) for i in range(len(shape))]
    return tuple(_wrap(places._t // s % n) for s, n in zip(strides, shape))


def ravel_multi_index(multi_index, dims, mode="raise", order="C"):
    dims = _shape(dims)
    if mode != "raise" or order != "C":
        torch._unsupported("numpy.ravel_multi_index() with mode or order")
    made = 0
    for places, n in zip(multi_index, dims):
        places = asarray(places)
        if builtins.any(not 0 <= i < n for i in places.reshape(-1).tolist()):
            raise ValueError("invalid entry in coordinates array")
        made = made * n + places
    return made if isinstance(made, generic) or made.ndim else made[()]


def tril_indices(n, k=0, m=None):
    return nonzero(_functions["tri"](n, m, k, bool))


def triu_indices(n, k=0, m=None):
    return nonzero(_functions["logical_not"](_functions["tri"](n, m, k - 1, bool)))


def tril_indices_from(arr, k=0):
    return tril_indices(arr.shape[-2], k, arr.shape[-1])


def triu_indices_from(arr, k=0):
    return triu_indices(arr.shape[-2], k, arr.shape[-1])


def diag_indices(n, ndim=2):
    return (_array(torch.arange(n)),) * ndim


def diag_indices_from(arr):
    if arr.ndim < 2:
        raise ValueError("input array must be at least 2-d")
    if len(builtins.set(arr.shape)) > 1:
        raise ValueError("All dimensions of input must be of equal length")
    return diag_indices(arr.shape[0], arr.ndim)


def mask_indices(n, mask_func, k=0):
    return nonzero(mask_func(_array(torch.ones(n, n, dtype=torch.int64)), k))


class ndindex:
    def __init__(self, *shape):
        import itertools

        shape = shape[0] if len(shape) == 1 and isinstance(shape[0], tuple) else shape
        self._places = itertools.product(*map(range, shape))

    def __iter__(self):
        return self

    def __next__(self):
        return next(self._places)


class ndenumerate:
    def __init__(self, arr):
        self._array = asarray(arr)
        self._places = ndindex(self._array.shape)

    def __iter__(self):
        return self

    def __next__(self):
        at = next(self._places)
        return at, self._array[at]


for _name, _function in {
    "nonzero": nonzero,
    "sort": _sort_inplace,
    "argsort": argsort,
    "partition": _partition_inplace,
    "argpartition": argpartition,
    "argmax": argmax,
    "argmin": argmin,
    "take": take,
    "put": put,
    "searchsorted": searchsorted,
    "compress": lambda self, condition, axis=None, out=None: compress(condition, self, axis, out),
    "choose": choose,
}.items():
    setattr(ndarray, _name, _function)
