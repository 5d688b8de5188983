# numpy's sums, means and extremes along axes.
import builtins
import math
import operator

import torch
from numpy._arrays import _array, _given, _wrap, asarray, ndarray
from numpy._dtypes import _NoValue, _TORCH, _functions, _type_name, inf, nan
from numpy._indexing import _axes, _one_axis
from numpy._promotion import _promote, _result_name
from numpy._elementwise import add, logical_and, multiply, round
from numpy._ufuncs import _keeps, _mask


def _of_method(name):
    # What is not an array may have a method of that name of its own, which NumPy calls.
    def reduction(a, axis=None, dtype=None, out=None, keepdims=False, initial=_NoValue, where=True):
        return getattr(asarray(a), name)(axis, dtype, out, keepdims, initial, where)

    def extreme(a, axis=None, out=None, keepdims=False, initial=_NoValue, where=True):
        return getattr(asarray(a), name)(axis, out, keepdims, initial, where)

    def truth(a, axis=None, out=None, keepdims=False, *, where=True):
        return getattr(asarray(a), name)(axis, out, keepdims, where=where)

    function = reduction if name in ("sum", "prod") else extreme if name in ("max", "min") else truth
    function.__name__ = name
    return function


sum, prod, max, min, any, all = map(_of_method, ("sum", "prod", "max", "min", "any", "all"))
amax, amin, product, sometrue, alltrue = max, min, prod, any, all


def _count(a, axes, where):
    # Of how many items each result is.
    if where is True:
        return math.prod(a.shape[d] for d in axes)
    mask = _mask(where).expand(tuple(a._t.shape))
    return mask.to(torch.int64).sum(axes, keepdim=True) if axes else mask.to(torch.int64)


def _strict_axes(axis, ndim):
    # Also of an array without dimensions there is no axis 0.
    return [_one_axis(axis, 0)] if ndim == 0 and isinstance(axis, int) else _axes(axis, ndim)


def _float_of(a, dtype):
    # The type of a mean, and that in which it is computed.
    if dtype is not None:
        return _type_name(dtype), _type_name(dtype)
    name = a.dtype.name if a.dtype.kind in "fc" else "float64"
    return name, "float32" if name == "float16" else name


def _in_float(a, name):
    return a._t.to(_TORCH[name])


def _masked(t, where):
    return t if where is True else torch.where(_mask(where), t, torch.zeros_like(t))


def _squeezed(t, axes, keepdims):
    return t if keepdims else t.reshape([n for d, n in enumerate(t.shape) if d not in axes])


def mean(a, axis=None, dtype=None, out=None, keepdims=False, *, where=True):
    a = asarray(a)
    name, inner = _float_of(a, dtype)
    _same_type(out, name)
    axes = _strict_axes(axis, a.ndim)
    if name[0] in "iu":
        torch._unsupported("numpy.mean(dtype=%s)" % name)
    t = _masked(_in_float(a, inner), where)
    made = (t.sum(axes, keepdim=True) if axes else t) / _count(a, axes, where)
    return _given(_wrap(_squeezed(made, axes, _keeps(keepdims)).to(_TORCH[name])), out, "unsafe")


def _same_type(out, name):
    # NumPy keeps what it has so far in `out`, which rounds it.
    if isinstance(out, ndarray) and out.dtype != name:
        torch._unsupported("numpy.mean(), var() or std() into an array of another type")


def var(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True):
    _same_type(out, _float_of(asarray(a), dtype)[0])
    return _given(_wrap(_variance(a, axis, dtype, ddof, keepdims, where)), out, "unsafe")


def std(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True):
    _same_type(out, _float_of(asarray(a), dtype)[0])
    return _given(_wrap(_variance(a, axis, dtype, ddof, keepdims, where).sqrt()), out)


def _variance(a, axis, dtype, ddof, keepdims, where):
    a = asarray(a)
    name, _ = _float_of(a, dtype)
    axes, inner = _strict_axes(axis, a.ndim), name
    if name[0] in "iuc":
        torch._unsupported("numpy.var() of %s" % name)
    t, count = _in_float(a, inner), _count(a, axes, where)
    middle = _masked(t, where).sum(axes, keepdim=True) / count if axes else t / count
    squares = _masked((t - middle) * (t - middle), where)
    total = squares.sum(axes, keepdim=True) if axes else squares
    left = builtins.max(count - ddof, 0) if where is True else (count - ddof).clamp(0)
    return _squeezed(total / left, axes, _keeps(keepdims)).to(_TORCH[name])


def ptp(a, axis=None, out=None, keepdims=False):
    a = asarray(a)
    if a.dtype.kind == "b":
        raise TypeError("numpy boolean subtract, the `-` operator, is not supported")
    return _given(max(a, axis, keepdims=_keeps(keepdims)) - min(a, axis, keepdims=_keeps(keepdims)), out)


def cumsum(a, axis=None, dtype=None, out=None):
    a = asarray(a)
    return add.accumulate(
        a.reshape(-1) if axis is None or a.ndim == 0 else a, 0 if axis is None else operator.index(axis), dtype, out
    )


def cumprod(a, axis=None, dtype=None, out=None):
    a = asarray(a)
    return multiply.accumulate(
        a.reshape(-1) if axis is None or a.ndim == 0 else a, 0 if axis is None else axis, dtype, out
    )


cumproduct = cumprod


def cumulative_sum(x, /, *, axis=None, dtype=None, out=None, include_initial=False):
    if include_initial:
        torch._unsupported("numpy.cumulative_sum(include_initial=True)")
    return cumsum(x, axis, dtype, out)


def cumulative_prod(x, /, *, axis=None, dtype=None, out=None, include_initial=False):
    if include_initial:
        torch._unsupported("numpy.cumulative_prod(include_initial=True)")
    return cumprod(x, axis, dtype, out)


def diff(a, n=1, axis=-1, prepend=_NoValue, append=_NoValue):
    a = asarray(a)
    if a.ndim == 0:
        raise ValueError("diff requires input that is at least one dimensional")
    if n < 0:
        raise ValueError("order must be non-negative but got %r" % (n,))
    if n == 0:
        return a
    d, parts = _one_axis(axis, a.ndim), [a]
    for place, value in ((0, prepend), (len, append)):
        if value is not _NoValue:
            value = asarray(value)
            if value.ndim == 0:
                shape = list(a.shape)
                shape[d] = 1
                value = _array(value._t.expand(shape))
            parts.insert(0 if place == 0 else len(parts), value)
    a = a if len(parts) == 1 else _functions["concatenate"](parts, d)
    for _ in range(n):
        size = a.shape[d]
        later, earlier = (a._t.narrow(d, k, builtins.max(size - 1, 0)) for k in (1 if size else 0, 0))
        a = _array(later != earlier if a.dtype.kind == "b" else later - earlier)
    return a


def ediff1d(ary, to_end=None, to_begin=None):
    a = asarray(ary).reshape(-1)
    parts = [a[1:] - a[:-1]]
    if to_begin is not None:
        parts.insert(0, asarray(to_begin).reshape(-1).astype(a.dtype))
    if to_end is not None:
        parts.append(asarray(to_end).reshape(-1).astype(a.dtype))
    return _functions["concatenate"](parts)


def trapz(y, x=None, dx=1.0, axis=-1):
    y = asarray(y)
    d = _one_axis(axis, y.ndim)
    if x is not None:
        steps = diff(x, axis=d if asarray(x).ndim > 1 else -1)
        dx = steps if steps.ndim > 1 else steps.reshape([-1 if e == d else 1 for e in range(y.ndim)])
    n = y.shape[d]
    later, earlier = (_array(y._t.narrow(d, k, n - 1)) for k in (1, 0))
    return asarray(dx * (later + earlier) / 2.0).sum(d)


trapezoid = trapz


def gradient(f, *varargs, axis=None, edge_order=1):
    f = asarray(f)
    if f.dtype.kind == "b":
        raise TypeError("numpy boolean subtract, the `-` operator, is not supported")
    if edge_order != 1 or builtins.any(asarray(v).ndim for v in varargs):
        torch._unsupported("numpy.gradient() with edge_order=2 or coordinates")
    axes = _axes(axis, f.ndim)
    steps = list(varargs) * len(axes) if len(varargs) == 1 else list(varargs) or [1.0] * len(axes)
    t, made = _in_float(f, _float_of(f, None)[0]), []
    if len(steps) != len(axes):
        raise TypeError("invalid number of arguments")
    for d, step in zip(axes, steps):
        n = t.shape[d]
        if n < 2:
            raise ValueError(
                "Shape of array too small to calculate a numerical gradient, at least (edge_order + 1) elements are"
                " required."
            )
        first = (t.narrow(d, 1, 1) - t.narrow(d, 0, 1)) / step
        last = (t.narrow(d, n - 1, 1) - t.narrow(d, n - 2, 1)) / step
        inner = (t.narrow(d, 2, n - 2) - t.narrow(d, 0, n - 2)) / (2.0 * step)
        made.append(_array(torch.cat([first, inner, last], d)))
    return made[0] if len(made) == 1 else made


# ---- without nan
def _without_nan(a, value):
    a = asarray(a)
    if a.dtype.kind != "f":
        return a, None
    unknown = a._t != a._t
    return _array(torch.where(unknown, torch.tensor(value, dtype=a._t.dtype), a._t)), unknown


def nansum(a, axis=None, dtype=None, out=None, keepdims=False, initial=_NoValue, where=True):
    return sum(
        _without_nan(a, 0.0)[0], axis, dtype, out, _keeps(keepdims), initial, True if where is _NoValue else where
    )


def nanprod(a, axis=None, dtype=None, out=None, keepdims=False, initial=_NoValue, where=True):
    return prod(
        _without_nan(a, 1.0)[0], axis, dtype, out, _keeps(keepdims), initial, True if where is _NoValue else where
    )


def nancumsum(a, axis=None, dtype=None, out=None):
    return cumsum(_without_nan(a, 0.0)[0], axis, dtype, out)


def nancumprod(a, axis=None, dtype=None, out=None):
    return cumprod(_without_nan(a, 1.0)[0], axis, dtype, out)


def _numbers_only(function):
    def of_numbers(a, axis=None, dtype=None, out=None, keepdims=False, *, where=True):
        a = asarray(a)
        if a.dtype.kind == "f":
            known = _array(a._t == a._t)
            where = known if where is True else logical_and(known, where)
        return function(a, axis, dtype, out, _keeps(keepdims), where=where)

    return of_numbers


nanmean = _numbers_only(mean)
_nanvar = _numbers_only(
    lambda a, axis, dtype, out, keepdims, where: lambda ddof: (a, axis, dtype, out, ddof, keepdims, where)
)


def nanvar(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True):
    *args, mask = _nanvar(a, axis, dtype, out, keepdims, where=where)(ddof)
    return var(*args, where=mask)


def nanstd(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True):
    *args, mask = _nanvar(a, axis, dtype, out, keepdims, where=where)(ddof)
    return std(*args, where=mask)


def _nan_extreme(function, other):
    def extreme(a, axis=None, out=None, keepdims=False, initial=_NoValue, where=True):
        filled, unknown = _without_nan(a, other)
        if unknown is None:
            return function(a, axis, out, _keeps(keepdims), initial, where)
        made = asarray(function(filled, axis, None, _keeps(keepdims), initial, where))
        if where is True and initial is _NoValue:
            gone = _functions["logical_and"].reduce(_array(unknown), axis, None, None, _keeps(keepdims))
            made = _array(torch.where(asarray(gone)._t, torch.tensor(nan, dtype=made._t.dtype), made._t))
        return _given(_wrap(made._t), out, "unsafe")

    return extreme


nanmax, nanmin = _nan_extreme(max, -inf), _nan_extreme(min, inf)


def _nan_arg(name, other):
    def function(a, axis=None, out=None, *, keepdims=_NoValue):
        filled, unknown = _without_nan(a, other)
        if unknown is not None and builtins.bool(asarray(all(_array(unknown), axis)).any()):
            raise ValueError("All-NaN slice encountered")
        return _functions[name](filled, axis, out, keepdims=keepdims)

    return function


nanargmax, nanargmin = _nan_arg("argmax", -inf), _nan_arg("argmin", inf)


def average(a, axis=None, weights=None, returned=False, *, keepdims=_NoValue):
    a = asarray(a)
    keep = _keeps(keepdims)
    if weights is None:
        made = mean(a, axis, keepdims=keep)
        total = made.dtype.type(a.size / asarray(made).size)
    else:
        weights = asarray(weights)
        shown = weights
        if weights.shape != a.shape:
            if axis is None:
                raise TypeError("Axis must be specified when shapes of a and weights differ.")
            if weights.ndim != 1:
                raise TypeError("1D weights expected when shapes of a and weights differ.")
            if weights.shape[0] != a.shape[axis]:
                raise ValueError("Length of weights not compatible with specified axis.")
            shape = [1] * a.ndim
            shape[axis] = -1
            shown = _array(weights.reshape(shape)._t.expand(a.shape))
        name = _result_name([a, weights] + ([1.0] if a.dtype.kind in "iub" else []))
        name = _promote(name, "float64") if a.dtype.kind in "iub" else name
        total = sum(shown, axis, name, keepdims=keep)
        if builtins.bool(asarray(total == 0).any()):
            raise ZeroDivisionError("Weights sum to zero, can't be normalized")
        made = sum(multiply(a, shown), axis, name, keepdims=keep) / total
    if returned:
        if asarray(total).shape != asarray(made).shape:
            total = _array(asarray(total)._t.expand(asarray(made).shape).clone())
        return made, total
    return made


def _conjugate(self, *args, **kwargs):
    if not args and not kwargs and self.dtype.kind != "c":
        return self
    return _functions["conjugate"](self, *args, **kwargs)


for _name, _function in {
    "mean": mean,
    "var": var,
    "std": std,
    "ptp": ptp,
    "cumsum": cumsum,
    "cumprod": cumprod,
    "clip": lambda self, min=None, max=None, out=None, **kwargs: _functions["_clip"](self, min, max, out, **kwargs),
    "round": round,
    "conj": _conjugate,
    "conjugate": _conjugate,
    "diagonal": lambda self, offset=0, axis1=0, axis2=1: _functions["diagonal"](self, offset, axis1, axis2),
}.items():
    setattr(ndarray, _name, _function)
