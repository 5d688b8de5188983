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


def inv(a):
    return _array(torch.linalg.inv(asarray(a).astype(np.float64)._t))


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


def matrix_power(a, n):
    out = np.eye(asarray(a).shape[0])
    for _ in range(n):
        out = out @ a
    return out
