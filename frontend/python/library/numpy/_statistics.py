# numpy's functions of the distribution of an array's values.
import bisect
import builtins
import math

import torch
from numpy import array, asarray, float64, int64, nan
from numpy._functions import isnan, max, mean, min, sum, where


def _along(a, axis, keepdims, of_values, dtype):
    a = asarray(a)
    if axis is None:
        result = array(of_values(a.reshape(-1).tolist()), dtype)
        return result.reshape((1,) * a.ndim) if keepdims else result[()]
    if isinstance(axis, (tuple, list)):
        torch._unsupported("numpy: an axis that is a tuple")
    rows = a._t.movedim(axis, -1)
    shape = list(a.shape)
    size = shape[axis]
    shape[axis : axis % a.ndim + 1] = [1] if keepdims else []
    return array([of_values(row) for row in rows.reshape(-1, size).tolist()], dtype).reshape(shape)


def _result_dtype(a):
    return a.dtype if a.dtype.kind == "f" else float64


def _quantile(values, q):
    if not values or builtins.any(v != v for v in values):
        return nan
    values = sorted(values)
    at = q * (len(values) - 1)
    below = math.floor(at)
    a, b, t = values[below], values[builtins.min(below + 1, len(values) - 1)], at - below
    return b - (b - a) * (1 - t) if t >= 0.5 else a + (b - a) * t


def quantile(a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=False, **kwargs):
    if method != "linear" or kwargs:
        torch._unsupported("numpy.quantile(method=%r)" % method)
    a, q = asarray(a), asarray(q)
    each = q.reshape(-1).tolist()
    if builtins.any(not 0 <= one <= 1 for one in each):
        raise ValueError("Quantiles must be in the range [0, 1]")
    results = [_along(a, axis, keepdims, lambda values: _quantile(values, one), _result_dtype(a)) for one in each]
    if q.ndim == 0:
        return results[0]
    return array([r.tolist() for r in results], _result_dtype(a)).reshape(*q.shape, *asarray(results[0]).shape)


def percentile(a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=False, **kwargs):
    if builtins.any(not 0 <= one <= 100 for one in asarray(q).reshape(-1).tolist()):
        raise ValueError("Percentiles must be in the range [0, 100]")
    return quantile(a, asarray(q) / 100, axis, method=method, keepdims=keepdims, **kwargs)


def median(a, axis=None, out=None, overwrite_input=False, keepdims=False):
    def of_values(values):
        if not values or builtins.any(v != v for v in values):
            return nan
        values, n = sorted(values), len(values)
        return (values[(n - 1) // 2] + values[n // 2]) / 2

    return _along(a, axis, keepdims, of_values, _result_dtype(asarray(a)))


def average(a, axis=None, weights=None, returned=False, **kwargs):
    a = asarray(a)
    if returned or kwargs:
        torch._unsupported("numpy.average(returned=True)" if returned else "numpy.average(keepdims=...)")
    if weights is None:
        return mean(a, axis)
    weights = asarray(weights)
    if weights.shape != a.shape:
        if axis is None:
            raise TypeError("Axis must be specified when shapes of a and weights differ.")
        shape = [1] * a.ndim
        shape[axis] = -1
        weights = weights.reshape(shape)
    total = sum(weights + a * 0, axis)
    return sum(a * weights, axis) / total


def nansum(a, axis=None, **kwargs):
    a = asarray(a)
    return sum(where(isnan(a), 0, a) if a.dtype.kind == "f" else a, axis, **kwargs)


def nanmean(a, axis=None, **kwargs):
    a = asarray(a)
    return nansum(a, axis, **kwargs) / sum(a == a, axis, **kwargs)


def nanmax(a, axis=None, **kwargs):
    a = asarray(a)
    return max(where(isnan(a), -math.inf, a) if a.dtype.kind == "f" else a, axis, **kwargs)


def nanmin(a, axis=None, **kwargs):
    a = asarray(a)
    return min(where(isnan(a), math.inf, a) if a.dtype.kind == "f" else a, axis, **kwargs)


def bincount(x, weights=None, minlength=0):
    values = asarray(x).tolist()
    if values and builtins.min(values) < 0:
        raise ValueError("'list' argument must have no negative elements")
    counts = [0] * builtins.max(builtins.max(values, default=-1) + 1, minlength)
    for v, w in zip(values, [1] * len(values) if weights is None else asarray(weights).tolist()):
        counts[v] += w
    return array(counts, int64 if weights is None else float64)


def searchsorted(a, v, side="left", sorter=None):
    a, v = asarray(a), asarray(v)
    if sorter is not None:
        a = a[asarray(sorter)]
    values, find = a.tolist(), bisect.bisect_left if side == "left" else bisect.bisect_right
    found = [find(values, one) for one in v.reshape(-1).tolist()]
    return int64(found[0]) if v.ndim == 0 else array(found, int64).reshape(v.shape)


def digitize(x, bins, right=False):
    bins = asarray(bins)
    values = bins.tolist()
    if builtins.all(p <= q for p, q in zip(values, values[1:])):
        return searchsorted(bins, x, "left" if right else "right")
    if builtins.any(p < q for p, q in zip(values, values[1:])):
        raise ValueError("bins must be monotonically increasing or decreasing")
    return len(values) - searchsorted(bins[::-1], x, "left" if right else "right")


def nan_to_num(x, copy=True, nan=0.0, posinf=None, neginf=None):
    x = asarray(x)
    if x.dtype.kind != "f":
        return x
    largest = torch.finfo(x._t.dtype).max
    finite = where(isnan(x), nan, x)
    finite = where(x == math.inf, largest if posinf is None else posinf, finite)
    return where(x == -math.inf, -largest if neginf is None else neginf, finite).astype(x.dtype)


def histogram(a, bins=10, range=None, **kwargs):
    if kwargs:
        torch._unsupported("numpy.histogram(%s=)" % next(iter(kwargs)))
    values = [float(v) for v in asarray(a).reshape(-1).tolist()]
    if isinstance(bins, int):
        if bins < 1:
            raise ValueError("`bins` must be positive, when an integer")
        unknown = range is None and builtins.any(v != v for v in values)
        low, high = range or ((builtins.min(values), builtins.max(values)) if values else (0.0, 1.0))
        if unknown or not (math.isfinite(low) and math.isfinite(high)):
            raise ValueError("supplied range of [%s, %s] is not finite" % (low, high))
        if low > high:
            raise ValueError("max must be larger than min in range parameter.")
        if low == high:
            low, high = low - 0.5, high + 0.5
        step = (high - low) / bins
        edges = [i * step + low for i in builtins.range(bins)] + [float(high)]
        shown = array(edges, float64)
    else:
        shown = asarray(bins)
        edges = [float(e) for e in shown.tolist()]
        if builtins.any(x > y for x, y in zip(edges, edges[1:])):
            raise ValueError("`bins` must increase monotonically, when an array")
    counts = [0] * (len(edges) - 1)
    for v in values:
        if edges[0] <= v <= edges[-1]:
            counts[builtins.min(bisect.bisect_right(edges, v) - 1, len(counts) - 1)] += 1
    return array(counts, int64), shown
