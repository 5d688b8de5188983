import builtins
import operator

import numpy as np
import torch
from numpy._arrays import _array, _wrap, asarray
from numpy._dtypes import _lacks
from numpy._indexing import _axes


class LinAlgError(Exception):
    pass


LinAlgError.__module__ = "numpy.linalg"


def norm(x, ord=None, axis=None, keepdims=False):
    x = asarray(x)
    if x.dtype.kind not in "fc":
        x = x.astype(float)
    x = np.abs(x) if x.ndim else np.abs(x).reshape(())
    axes = _axes(axis, x.ndim)
    if ord is None or ord in ("fro", "f") and len(axes) == 2 or ord == 2 and len(axes) == 1:
        return np.sqrt((x * x).sum(tuple(axes) if axis is not None else None, keepdims=keepdims))
    axis = axis if axis is None or isinstance(axis, tuple) else (axis,)
    if len(axes) > 2:
        raise ValueError("Improper number of dimensions to norm.")
    if len(axes) == 2 or isinstance(ord, str):
        torch._unsupported("numpy.linalg.norm(ord=%r) of a matrix" % (ord,))
    if ord in (np.inf, -np.inf):
        return (x.max if ord > 0 else x.min)(axis, keepdims=keepdims)
    if ord == 0:
        return (x != 0).astype(x.dtype).sum(axis, keepdims=keepdims)
    return (x**ord).sum(axis, keepdims=keepdims) ** (1.0 / ord)


def _inverse(rows):
    # Gauss and Jordan, with the largest pivot.
    n = len(rows)
    rows = [list(row) + [float(i == k) for k in range(n)] for i, row in enumerate(rows)]
    for k in range(n):
        pivot = max(range(k, n), key=lambda i: abs(rows[i][k]))
        if rows[pivot][k] == 0:
            raise LinAlgError("Singular matrix")
        rows[k], rows[pivot] = rows[pivot], rows[k]
        rows[k] = [v / rows[k][k] for v in rows[k]]
        for i in range(n):
            if i != k and rows[i][k] != 0:
                factor = rows[i][k]
                rows[i] = [v - factor * w for v, w in zip(rows[i], rows[k])]
    return [row[n:] for row in rows]


def _matrix(a, square=False):
    # Of the type that LAPACK computes in.
    a = asarray(a)
    if a.dtype == np.float16:
        raise TypeError("array type float16 is unsupported in linalg")
    if a.ndim < 2:
        raise LinAlgError("%d-dimensional array given. Array must be at least two-dimensional" % a.ndim)
    if square and a.shape[-1] != a.shape[-2]:
        raise LinAlgError("Last 2 dimensions of the array must be square")
    return a._t if a.dtype == np.float32 or a.dtype.kind == "c" else a.astype(np.float64)._t


def inv(a):
    t = _matrix(a, True)
    if not t.is_complex() and t.dim() == 2 and t.shape[0] <= 16 and torch._has_values(t):
        return np.array(_inverse(t.tolist())).reshape(t.shape).astype(_array(t).dtype) if t.shape[0] else _array(t)
    return _array(torch.linalg.inv(t))


def pinv(a, rcond=None, hermitian=False):
    _lacks("linalg.pinv", rcond=rcond, hermitian=hermitian or None)
    return _array(torch.linalg.pinv(_matrix(a)))


def det(a):
    return _wrap(torch.linalg.det(_matrix(a, True)))


def svd(a, full_matrices=True, compute_uv=True, hermitian=False):
    _lacks("linalg.svd", hermitian=hermitian or None)
    found = torch.linalg.svd(_matrix(a), full_matrices=builtins.bool(full_matrices))
    return tuple(_array(t) for t in found) if compute_uv else _array(found[1])


def qr(a, mode="reduced"):
    if mode not in ("reduced", "complete", "r"):
        torch._unsupported("numpy.linalg.qr(mode=%r)" % (mode,))
    found = torch.linalg.qr(_matrix(a), mode)
    return _array(found[1]) if mode == "r" else tuple(_array(t) for t in found)


def eigh(a, UPLO="L"):
    _lacks("linalg.eigh", UPLO=None if UPLO == "L" else UPLO)
    return tuple(_array(t) for t in torch.linalg.eigh(_matrix(a, True)))


def solve(a, b):
    left, right = _matrix(a, True), asarray(b)
    kind = np.result_type(_array(left), right if right.dtype.kind in "fc" else np.float64)
    left, right = _array(left).astype(kind)._t, right.astype(kind)._t
    return _array(torch.linalg.solve(left, right))


def lstsq(a, b, rcond="warn"):
    torch._unsupported("numpy.linalg.lstsq()")


def matrix_power(a, n):
    a = asarray(a)
    if a.ndim < 2 or a.shape[-1] != a.shape[-2]:
        raise LinAlgError("Last 2 dimensions of the array must be square")
    try:
        n = operator.index(n)
    except TypeError:
        raise TypeError("exponent must be an integer")
    if n < 0:
        a, n = inv(a), -n
    out = np.zeros_like(a) + np.eye(a.shape[-1], dtype=a.dtype)
    for _ in range(n):
        out = out @ a
    return out


def multi_dot(arrays, *, out=None):
    if len(arrays) < 2:
        raise ValueError("Expecting at least two arrays.")
    made = arrays[0]
    for a in arrays[1:-1]:
        made = np.dot(made, a)
    return np.dot(made, arrays[-1], out=out)
