# Joining, splitting and moving numpy's arrays.
import builtins
import math
import operator

import torch
from numpy._arrays import _array, _given, _wrap, array, asarray, ndarray
from numpy._dtypes import _TORCH, _functions, _type_name
from numpy._indexing import _axes, _one_axis, _shape, _shapes_fit
from numpy._promotion import _can_cast, _promoted


def _joined(join, arrays, axis, out, dtype, casting):
    arrays = [asarray(a) for a in arrays]
    if not arrays:
        raise ValueError("need at least one array to concatenate")
    if out is not None and dtype is not None:
        raise TypeError("concatenate() only takes `out` or `dtype` as an argument, but both were provided.")
    name = _promoted([a.dtype.name for a in arrays]) if dtype is None else _type_name(dtype)
    for a in arrays:
        if dtype is not None and not _can_cast(a.dtype.name, name, casting):
            raise TypeError(
                "Cannot cast array data from %r to dtype('%s') according to the rule %r" % (a.dtype, name, casting)
            )
    return _given(_array(_shapes_fit(join, [a._t.to(_TORCH[name]) for a in arrays], axis)), out, casting)


def concatenate(arrays, axis=0, out=None, *, dtype=None, casting="same_kind"):
    arrays = [asarray(a) for a in arrays]
    if axis is None:
        arrays, axis = [a.reshape(-1) for a in arrays], 0
    if builtins.any(a.ndim == 0 for a in arrays):
        raise ValueError("zero-dimensional arrays cannot be concatenated")
    if arrays:
        axis = _one_axis(axis, arrays[0].ndim)
        if builtins.any(a.ndim != arrays[0].ndim for a in arrays):
            raise ValueError("all the input array dimensions except for the concatenation axis must match exactly")
    return _joined(torch.cat, arrays, axis, out, dtype, casting)


concat = concatenate


def stack(arrays, axis=0, out=None, *, dtype=None, casting="same_kind"):
    arrays = [asarray(a) for a in arrays]
    if not arrays:
        raise ValueError("need at least one array to stack")
    return _joined(torch.stack, arrays, _one_axis(axis, arrays[0].ndim + 1), out, dtype, casting)


def vstack(tup, *, dtype=None, casting="same_kind"):
    return concatenate([atleast_2d(a) for a in tup], 0, dtype=dtype, casting=casting)


row_stack = vstack


def hstack(tup, *, dtype=None, casting="same_kind"):
    arrays = [atleast_1d(a) for a in tup]
    return concatenate(arrays, 0 if arrays and arrays[0].ndim == 1 else 1, dtype=dtype, casting=casting)


def dstack(tup):
    return concatenate([atleast_3d(a) for a in tup], 2)


def column_stack(tup):
    return concatenate([a.reshape(-1, 1) if a.ndim < 2 else a for a in map(asarray, tup)], 1)


def block(arrays):
    def depth(items):
        return 1 + depth(items[0]) if isinstance(items, list) else 0

    def joined(items, axis):
        if not isinstance(items, list):
            item = asarray(items)
            return item.reshape((1,) * builtins.max(0, most - item.ndim) + item.shape)
        return concatenate([joined(i, axis + 1) for i in items], axis)

    most = depth(arrays)
    return array(joined(arrays, -most))


def append(arr, values, axis=None):
    return concatenate([arr, values], axis)


def split(ary, indices_or_sections, axis=0):
    ary = asarray(ary)
    if isinstance(indices_or_sections, int) and ary.shape[axis] % indices_or_sections:
        raise ValueError("array split does not result in an equal division")
    return array_split(ary, indices_or_sections, axis)


def array_split(ary, indices_or_sections, axis=0):
    a = asarray(ary)
    if isinstance(indices_or_sections, int):
        if indices_or_sections <= 0:
            raise ValueError("number sections must be larger than 0.")
        sections = int(indices_or_sections)
    else:
        sections = [operator.index(i) for i in indices_or_sections]
    return [a._view(t) for t in torch.tensor_split(a._t, sections, _one_axis(axis, a.ndim))]


def _split_along(name, axis_of):
    def function(ary, indices_or_sections):
        a = asarray(ary)
        if a.ndim < axis_of[0]:
            raise ValueError("%s only works on arrays of %d or more dimensions" % (name, axis_of[0]))
        return split(a, indices_or_sections, axis_of[1] if a.ndim > 1 or axis_of[1] != 1 else 0)

    return function


vsplit, hsplit, dsplit = (
    _split_along("vsplit", (2, 0)),
    _split_along("hsplit", (1, 1)),
    _split_along("dsplit", (3, 2)),
)


# ---- methods of arrays, as functions
def reshape(a, newshape, order="C"):
    return asarray(a).reshape(newshape, order=order)


def transpose(a, axes=None):
    return asarray(a).transpose(*([] if axes is None else [axes]))


permute_dims = transpose


def ravel(a, order="C"):
    return asarray(a).ravel(order)


def squeeze(a, axis=None):
    return asarray(a).squeeze(axis)


def swapaxes(a, axis1, axis2):
    return asarray(a).swapaxes(axis1, axis2)


def matrix_transpose(x):
    return asarray(x).swapaxes(-1, -2)


def astype(x, dtype, copy=True):
    return x.astype(dtype, copy=copy)


def expand_dims(a, axis):
    a = asarray(a)
    axes = axis if isinstance(axis, (tuple, list)) else (axis,)
    n = a.ndim + len(axes)
    axes = [_one_axis(i, n) for i in axes]
    if len(builtins.set(axes)) != len(axes):
        raise ValueError("repeated axis")
    rest = iter(a.shape)
    return a.reshape([1 if i in axes else next(rest) for i in range(n)])


def moveaxis(a, source, destination):
    a = asarray(a)
    source, destination = (
        [_one_axis(i, a.ndim) for i in (x if isinstance(x, (tuple, list)) else (x,))] for x in (source, destination)
    )
    if len(source) != len(destination):
        raise ValueError("`source` and `destination` arguments must have the same number of elements")
    order = [n for n in range(a.ndim) if n not in source]
    for to, of in sorted(zip(destination, source)):
        order.insert(to, of)
    return a.transpose(order)


def rollaxis(a, axis, start=0):
    a = asarray(a)
    axis, start = _one_axis(axis, a.ndim), start + a.ndim if start < 0 else start
    order = [n for n in range(a.ndim) if n != axis]
    order.insert(start - 1 if axis < start else start, axis)
    return a.transpose(order)


def flip(m, axis=None):
    m = asarray(m)
    if m.ndim == 0:
        return _wrap(m._t)
    made = _array(torch.flip(m._t, _axes(axis, m.ndim)))
    made._lock = "writing through what numpy.flip() made"
    return made


def flipud(m):
    return flip(m, 0)


def fliplr(m):
    if asarray(m).ndim < 2:
        raise ValueError("Input must be >= 2-d.")
    return flip(m, 1)


def rot90(m, k=1, axes=(0, 1)):
    made = _array(torch.rot90(asarray(m)._t, k, axes))
    made._lock = "writing through what numpy.rot90() made"
    return made


def roll(a, shift, axis=None):
    a = asarray(a)
    t = a._t
    if axis is None:
        if not isinstance(shift, int):
            torch._unsupported("numpy.roll() by several without an axis")
        return _array(t.reshape(-1).roll(shift, 0).reshape(t.shape))
    axes = [_one_axis(i, a.ndim) for i in (axis if isinstance(axis, (tuple, list)) else (axis,))]
    shifts = list(shift) if isinstance(shift, (tuple, list)) else [shift] * len(axes)
    axes = axes * len(shifts) if len(axes) == 1 else axes
    for s, d in zip(shifts, axes):
        t = t.roll(operator.index(s), d)
    return _array(t)


def tile(A, reps):
    t = asarray(A)._t
    reps = tuple(int(r) for r in reps) if isinstance(reps, (tuple, list, ndarray)) else (operator.index(reps),)
    return _array(t.repeat((1,) * builtins.max(0, t.dim() - len(reps)) + reps))


def repeat(a, repeats, axis=None):
    a = asarray(a)
    a, d = (a.reshape(-1), 0) if axis is None else (a, _one_axis(axis, a.ndim))
    counts = repeats if isinstance(repeats, int) else asarray(repeats).reshape(-1).tolist()
    if not isinstance(counts, int) and len(counts) == 1:
        counts = counts[0]
    if isinstance(counts, int):
        return _array(a._t.repeat_interleave(counts, d))
    if len(counts) != a.shape[d]:
        raise ValueError("operands could not be broadcast together with shape (%d,) (%d,)" % (a.shape[d], len(counts)))
    places = [i for i, n in enumerate(counts) for _ in range(n)]
    return _array(a._t.index_select(d, torch.tensor(places, dtype=torch.int64)))


def resize(a, new_shape):
    t, shape = asarray(a)._t.reshape(-1), _shape(new_shape)
    count = math.prod(shape)
    if not t.numel():
        return _array(torch.zeros(shape, dtype=t.dtype))
    return _array(t.repeat(-(-count // t.numel()))[:count].reshape(shape))


def broadcast_to(array, shape, subok=False):
    a = asarray(array)
    made = _array(_shapes_fit(a._t.expand, _shape(shape)))
    made._lock = a._READ_ONLY
    return made


def broadcast_shapes(*args):
    return tuple(_shapes_fit(torch.broadcast_shapes, *[_shape(s) for s in args]))


def broadcast_arrays(*args, subok=False):
    shape = broadcast_shapes(*[asarray(a).shape for a in args])
    return [asarray(a) if asarray(a).shape == shape else broadcast_to(a, shape) for a in args]


def _at_least(one):
    def function(*arys):
        made = [one(asarray(a)) for a in arys]
        return made[0] if len(made) == 1 else made

    return function


atleast_1d = _at_least(lambda a: a.reshape(1) if a.ndim == 0 else a)
atleast_2d = _at_least(lambda a: a.reshape(1, -1) if a.ndim < 2 else a)
atleast_3d = _at_least(lambda a: a if a.ndim > 2 else a.reshape(*a.shape, 1) if a.ndim == 2 else a.reshape(1, -1, 1))


def _selection(of, n):
    # The places that insert() and delete() are given, in order.
    if isinstance(of, slice):
        return list(range(*of.indices(n)))
    places = asarray(of)
    if places.dtype == bool:
        return [i for i, v in enumerate(places.tolist()) if v]
    found = places.reshape(-1).tolist()
    if builtins.any(not -n <= i < n for i in found):
        raise IndexError("index %s is out of bounds for axis 0 with size %d" % (found[0], n))
    return [i % n for i in found]


def delete(arr, obj, axis=None):
    a = asarray(arr)
    a, d = (a.reshape(-1), 0) if axis is None else (a, _one_axis(axis, a.ndim))
    gone = _selection(obj, a.shape[d])
    kept = [i for i in range(a.shape[d]) if i not in gone]
    return _array(a._t.index_select(d, torch.tensor(kept, dtype=torch.int64)))


def insert(arr, obj, values, axis=None):
    a = asarray(arr)
    a, d = (a.reshape(-1), 0) if axis is None else (a, _one_axis(axis, a.ndim))
    n = a.shape[d]
    one = not isinstance(obj, slice) and asarray(obj).ndim == 0
    given = [int(obj)] if one else list(range(*obj.indices(n))) if isinstance(obj, slice) else asarray(obj).tolist()
    if builtins.any(not -n <= i <= n for i in given):
        raise IndexError("index %s is out of bounds for axis %d with size %d" % (given[0], d, n))
    places = [i + n if i < 0 else i for i in given]
    values = array(values, a.dtype, ndmin=a.ndim)
    if one:
        if asarray(values).ndim == a.ndim and d and values.shape[0] != 1 and a.ndim > 1:
            values = moveaxis(values, 0, d) if values.shape[d] == 1 else values
        count = values.shape[d]
        places = places * count
    shape = list(a.shape)
    shape[d] = len(places)
    values = broadcast_to(values, shape)._t
    order = sorted(range(len(places)), key=lambda k: places[k])
    pieces, at = [], 0
    for k in order:
        pieces += [a._t.narrow(d, at, places[k] - at), values.narrow(d, k, 1)]
        at = places[k]
    return _array(torch.cat(pieces + [a._t.narrow(d, at, n - at)], d))


def trim_zeros(filt, trim="fb"):
    values = list(filt)
    first, last = 0, len(values)
    if "f" in trim.lower():
        while first < last and values[first] == 0:
            first += 1
    if "b" in trim.lower():
        while last > first and values[last - 1] == 0:
            last -= 1
    return filt[first:last]


def _pairs(given, n):
    # One number, (before, after), or one such pair for each dimension.
    a = asarray(given).tolist()
    if not isinstance(a, list):
        return [(a, a)] * n
    if a and not isinstance(a[0], list):
        return [(a[0], a[-1])] * n
    a = [(p[0], p[-1]) for p in a]
    if len(a) not in (1, n):
        raise ValueError("operands could not be broadcast together with remapped shapes [original->remapped]")
    return a * n if len(a) == 1 else a


_PAD_KEYWORDS = {
    "constant": ("constant_values",),
    "edge": (),
    "linear_ramp": ("end_values",),
    "maximum": ("stat_length",),
    "mean": ("stat_length",),
    "median": ("stat_length",),
    "minimum": ("stat_length",),
    "reflect": ("reflect_type",),
    "symmetric": ("reflect_type",),
    "wrap": (),
    "empty": (),
}


def _mirrored(i, n, mode):
    # The place that is there for the place `i` of a row of n.
    if mode == "edge":
        return builtins.min(builtins.max(i, 0), n - 1)
    if mode == "wrap":
        return i % n
    period = 2 * n if mode == "symmetric" else 2 * n - 2
    i = i % period if period else 0
    return i if i < n else period - i - (mode == "symmetric")


def pad(array, pad_width, mode="constant", **kwargs):
    a = asarray(array)
    if mode not in _PAD_KEYWORDS:
        if callable(mode):
            torch._unsupported("numpy.pad() by a function")
        raise ValueError("mode '%s' is not supported" % mode)
    for key in kwargs:
        if key not in _PAD_KEYWORDS[mode]:
            raise ValueError("unsupported keyword arguments for mode '%s': {'%s'}" % (mode, key))
    widths = _pairs(pad_width, a.ndim)
    if builtins.any(w < 0 for pair in widths for w in pair):
        raise ValueError("index can't contain negative values")
    if builtins.any(not isinstance(w, int) for pair in widths for w in pair):
        raise TypeError("`pad_width` must be of integral type.")
    t = a._t
    if mode == "constant":
        for d, (values, width) in enumerate(zip(_pairs(kwargs.get("constant_values", 0), a.ndim), widths)):
            parts = []
            for value, count in zip(values, width):
                shape = list(t.shape)
                shape[d] = count
                parts.append(torch.full(shape, value).to(t.dtype))
            t = torch.cat([parts[0], t, parts[1]], d)
        return _array(t)
    if mode not in ("edge", "reflect", "symmetric", "wrap") or kwargs.get("reflect_type", "even") != "even":
        torch._unsupported("numpy.pad(mode='%s'%s)" % (mode, ", reflect_type='odd'" if mode[0] in "rs" else ""))
    for d, (before, after) in enumerate(widths):
        n = t.shape[d]
        if n == 0 and before + after:
            raise ValueError("can't extend empty axis %d using modes other than 'constant' or 'empty'" % d)
        if mode == "wrap" and builtins.max(before, after) > n:
            torch._unsupported("numpy.pad(mode='wrap') by more than there is", "versions of NumPy differ")
        if before + after:
            places = [_mirrored(i, n, mode) for i in range(-before, n + after)]
            t = t.index_select(d, torch.tensor(places, dtype=torch.int64))
    return _array(t if t is not a._t else t.clone())


def shape(a):
    return asarray(a).shape


def ndim(a):
    return asarray(a).ndim


def size(a, axis=None):
    return asarray(a).size if axis is None else asarray(a).shape[axis]


ndarray.repeat = lambda self, repeats, axis=None: repeat(self, repeats, axis)
_functions.update(resize=resize, moveaxis=moveaxis, flip=flip)
