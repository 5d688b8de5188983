import numpy as np
import torch
from numpy import _array, asarray


class LinAlgError(Exception):
    pass


def norm(x, ord=None, axis=None, keepdims=False):
    x = np.abs(asarray(x))
    if ord in (None, 2, "fro") and (ord != 2 or x.ndim == 1 or isinstance(axis, int)):
        return np.sqrt((x * x).sum(axis, keepdims=keepdims))
    if ord == 1 and (x.ndim == 1 or isinstance(axis, int)):
        return x.sum(axis, keepdims=keepdims)
    if ord == np.inf and (x.ndim == 1 or isinstance(axis, int)):
        return x.max(axis, keepdims=keepdims)
    torch._unsupported("numpy.linalg.norm(ord=%r)" % (ord,))


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


def inv(a):
    a = asarray(a)
    if a.dtype.kind == "c":
        return _array(torch.linalg.inv(a._t))
    if a.dtype == np.float16:
        raise TypeError("array type float16 is unsupported in linalg")
    t = a.astype(np.float64)._t
    if t.dim() == 2 and t.shape[0] == t.shape[1] <= 16 and torch._has_values(t):
        inverse = np.array(_inverse(t.tolist())) if t.shape[0] else _array(t)
    else:
        inverse = _array(torch.linalg.inv(t))
    return inverse.astype(np.float32) if a.dtype == np.float32 else inverse


def pinv(a, *args, **kwargs):
    return _array(torch.linalg.pinv(asarray(a).astype(np.float64)._t))


def det(a):
    return np._wrap(torch.linalg.det(asarray(a).astype(np.float64)._t))


def svd(a, full_matrices=True, **kwargs):
    return tuple(_array(t) for t in torch.linalg.svd(asarray(a).astype(np.float64)._t, full_matrices=full_matrices))


def qr(a, mode="reduced"):
    return tuple(_array(t) for t in torch.linalg.qr(asarray(a).astype(np.float64)._t, mode))


def eigh(a):
    return tuple(_array(t) for t in torch.linalg.eigh(asarray(a).astype(np.float64)._t))


def solve(a, b):
    return _array(torch.linalg.solve(asarray(a).astype(np.float64)._t, asarray(b).astype(np.float64)._t))


def lstsq(a, b, rcond=None):
    torch._unsupported("numpy.linalg.lstsq()")


def matrix_power(a, n):
    out = np.eye(asarray(a).shape[0])
    for _ in range(n):
        out = out @ a
    return out
