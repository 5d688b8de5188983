# numpy's functions of the distribution of an array's values.
import bisect
import builtins
import math

import torch
from numpy._arrays import _array, _given, array, asarray
from numpy._dtypes import _NoValue, nan
from numpy._indexing import _axes
from numpy._types import float64, int64
from numpy._ufuncs import _keeps


def _along(a, axis, keepdims, of_values, dtype):
    a = asarray(a)
    axes = _axes(axis, a.ndim)
    kept = [d for d in range(a.ndim) if d not in axes]
    rows = a._t.permute(kept + axes) if a.ndim else a._t
    shape = [n if d in kept else 1 for d, n in enumerate(a.shape) if keepdims or d in kept]
    size = math.prod(a.shape[d] for d in axes)
    count = math.prod(a.shape[d] for d in kept)
    flat = rows.reshape(-1).tolist()
    return array([of_values(flat[i * size : (i + 1) * size]) for i in range(count)], dtype).reshape(shape)[()]


def _result_dtype(a):
    if a.dtype.kind == "c":
        raise TypeError("a must be an array of real numbers")
    return a.dtype if a.dtype.kind == "f" else float64


_PLACES = {
    "lower": math.floor,
    "higher": math.ceil,
    "nearest": lambda at: builtins.round(at),
    "midpoint": lambda at: (math.floor(at) + math.ceil(at)) / 2,
    "linear": lambda at: at,
}


def _quantile(values, q, place):
    if not values or builtins.any(v != v for v in values):
        return nan
    values = sorted(values)
    at = place(q * (len(values) - 1))
    below = math.floor(at)
    a, b, t = values[below], values[builtins.min(below + 1, len(values) - 1)], at - below
    return b - (b - a) * (1 - t) if t >= 0.5 else a + (b - a) * t


def _check_method(method, interpolation):
    if interpolation is not None:
        method = interpolation
    if method not in _PLACES:
        torch._unsupported("numpy.quantile(method=%r)" % (method,))
    return method


def quantile(a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=False, *, interpolation=None):
    method = _check_method(method, interpolation)
    a, q = asarray(a), asarray(q)
    each = q.reshape(-1).tolist()
    if builtins.any(not 0 <= one <= 1 for one in each):
        raise ValueError("Quantiles must be in the range [0, 1]")
    if not a.size:
        raise IndexError("index -1 is out of bounds for axis 0 with size 0")
    # NumPy computes in the type of q: of whole ones, and where it takes items as they are, none is
    # computed.
    of = a.dtype if method in ("lower", "higher", "nearest") or q.dtype.kind in "iu" else float64
    if a.dtype.kind == "c":
        raise TypeError("a must be an array of real numbers")
    if a.dtype.kind == "b":
        torch._unsupported("numpy.quantile() of bool")
    place = _PLACES[method]
    results = [asarray(_along(a, axis, keepdims, lambda values: _quantile(values, one, place), of)) for one in each]
    if q.ndim == 0:
        return _given(results[0][()], out)
    made = torch.stack([r._t for r in results]).reshape(q.shape + results[0].shape) if results else a._t[:0]
    return _given(_array(made), out)


def percentile(
    a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=False, *, interpolation=None
):
    if builtins.any(not 0 <= one <= 100 for one in asarray(q).reshape(-1).tolist()):
        raise ValueError("Percentiles must be in the range [0, 100]")
    return quantile(a, asarray(q) / 100, axis, out, False, method, keepdims, interpolation=interpolation)


def _median(values):
    if not values or builtins.any(v != v for v in values):
        return nan
    values, n = sorted(values), len(values)
    return (values[(n - 1) // 2] + values[n // 2]) / 2


def median(a, axis=None, out=None, overwrite_input=False, keepdims=False):
    return _given(_along(a, axis, keepdims, _median, _result_dtype(asarray(a))), out, "unsafe")


def _known(function):
    return lambda values: function([v for v in values if v == v])


def nanmedian(a, axis=None, out=None, overwrite_input=False, keepdims=_NoValue):
    return _given(_along(a, axis, _keeps(keepdims), _known(_median), _result_dtype(asarray(a))), out, "unsafe")


def nanquantile(
    a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=_NoValue, *, interpolation=None
):
    if asarray(q).ndim:
        torch._unsupported("numpy.nanquantile() of several")
    place = _PLACES[_check_method(method, interpolation)]
    if asarray(a).dtype.kind == "b":
        raise TypeError("numpy boolean subtract, the `-` operator, is not supported")
    if not 0 <= q <= 1:
        raise ValueError("Quantiles must be in the range [0, 1]")
    of = _known(lambda values: _quantile(values, float(q), place))
    return _given(_along(a, axis, _keeps(keepdims), of, float64), out)


def nanpercentile(
    a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=_NoValue, *, interpolation=None
):
    return nanquantile(a, asarray(q) / 100, axis, out, False, method, keepdims, interpolation=interpolation)


def bincount(x, /, weights=None, minlength=0):
    x = asarray(x)
    if x.dtype.kind not in "iub" and x.size:
        raise TypeError("Cannot cast array data from %r to dtype('int64') according to the rule 'safe'" % x.dtype)
    if x.ndim != 1:
        raise ValueError(
            "object too deep for desired array" if x.ndim else "object of too small depth for desired array"
        )
    values = [int(v) for v in x.tolist()]
    if values and builtins.min(values) < 0:
        raise ValueError("'list' argument must have no negative elements")
    if minlength < 0:
        raise ValueError("'minlength' must not be negative")
    if weights is not None and len(weights) != len(values):
        raise ValueError("The weights and list don't have the same length.")
    counts = [0] * builtins.max(builtins.max(values, default=-1) + 1, minlength)
    for v, w in zip(values, [1] * len(values) if weights is None else asarray(weights).tolist()):
        counts[v] += w
    return array(counts, int64 if weights is None else float64)


def _range_of(values, range):
    if range is not None:
        low, high = range
        if low > high:
            raise ValueError("max must be larger than min in range parameter.")
    else:
        low, high = (builtins.min(values), builtins.max(values)) if values else (0.0, 1.0)
    unknown = range is None and builtins.any(v != v for v in values)
    if unknown or not (math.isfinite(low) and math.isfinite(high)):
        kind = "autodetected range" if range is None else "supplied range"
        raise ValueError("%s of [%s, %s] is not finite" % (kind, low, high))
    return (low - 0.5, high + 0.5) if low == high else (low, high)


def _edges(values, bins, range, of):
    if isinstance(bins, str):
        torch._unsupported("numpy.histogram(bins=%r)" % bins)
    if asarray(bins).ndim == 0:
        bins = bins.__index__()
        if bins < 1:
            raise ValueError("`bins` must be positive, when an integer")
        low, high = _range_of(values, range)
        step = (high - low) / bins
        return array([i * step + low for i in builtins.range(bins)] + [float(high)], of)
    shown = asarray(bins)
    if shown.ndim != 1:
        raise ValueError("`bins` must be 1d, when an array")
    edges = shown.tolist()
    if builtins.any(x > y for x, y in zip(edges, edges[1:])):
        raise ValueError("`bins` must increase monotonically, when an array")
    return shown


def histogram_bin_edges(a, bins=10, range=None, weights=None):
    return _edges([float(v) for v in asarray(a).reshape(-1).tolist()], bins, range, _result_dtype(asarray(a)))


def histogram(a, bins=10, range=None, density=None, weights=None):
    a = asarray(a)
    values = [float(v) for v in a.reshape(-1).tolist()]
    if weights is not None and asarray(weights).shape != a.shape:
        raise ValueError("weights should have the same shape as a.")
    shown = _edges(values, bins, range, _result_dtype(a))
    edges = [float(e) for e in shown.tolist()]
    counts = [0] * (len(edges) - 1)
    each = [1] * len(values) if weights is None else asarray(weights).reshape(-1).tolist()
    for v, w in zip(values, each):
        if edges[0] <= v <= edges[-1]:
            counts[builtins.min(bisect.bisect_right(edges, v) - 1, len(counts) - 1)] += w
    if density:
        total = builtins.sum(counts)
        counts = [c / (y - x) / total for c, x, y in zip(counts, edges, edges[1:])]
        return array(counts, float64), shown
    return array(counts, int64 if weights is None else asarray(weights).dtype), shown


def cov(m, y=None, rowvar=True, bias=False, ddof=None, fweights=None, aweights=None, *, dtype=None):
    if y is not None or fweights is not None or aweights is not None or dtype is not None:
        torch._unsupported("numpy.cov() with weights, y or dtype")
    t = asarray(m)._t.to(torch.float64)
    t = t.reshape(1, -1) if t.dim() < 2 else t if rowvar else t.t()
    t = t - t.sum(1, keepdim=True) / t.shape[1]
    made = t @ t.t() / (t.shape[1] - (0 if bias else 1) if ddof is None else t.shape[1] - ddof)
    return _array(made).squeeze()


def corrcoef(x, y=None, rowvar=True, *, dtype=None):
    if y is not None or dtype is not None:
        torch._unsupported("numpy.corrcoef() with y or dtype")
    made = asarray(cov(x, rowvar=rowvar))
    if made.ndim == 0:
        return made / made
    deviations = made._t.diagonal().sqrt()
    return _array((made._t / deviations.reshape(-1, 1) / deviations).clamp(-1, 1))
