# numpy's functions of arrays as sets: the different values, in their order.
import builtins

import torch
from numpy._arrays import array, asarray
from numpy._types import int64
from numpy._shaping import concatenate


def _order(values):
    # As numpy sorts: what is not a number comes last. Equal ones keep their order.
    return sorted(range(len(values)), key=lambda i: (values[i] != values[i], values[i]))


def unique(ar, return_index=False, return_inverse=False, return_counts=False, axis=None, *, equal_nan=True):
    ar = asarray(ar)
    if axis is not None and ar.ndim != 1:
        torch._unsupported("numpy.unique(axis=%r)" % (axis,))
    values = ar.reshape(-1).tolist()
    different, first, inverse, counts = [], [], [0] * len(values), []
    for i in _order(values):
        v = values[i]
        if not different or not (v == different[-1] or equal_nan and v != v and different[-1] != different[-1]):
            different.append(v)
            first.append(i)
            counts.append(0)
        counts[-1] += 1
        inverse[i] = len(different) - 1
    result = array(different, ar.dtype)
    if not (return_index or return_inverse or return_counts):
        return result
    wanted = (return_index, first), (return_inverse, inverse), (return_counts, counts)
    return (result, *(array(part, int64) for is_wanted, part in wanted if is_wanted))


def unique_values(x):
    return unique(x, equal_nan=False)


def in1d(ar1, ar2, assume_unique=False, invert=False, *, kind=None):
    if kind not in (None, "sort", "table"):
        raise ValueError("Invalid kind: '%s'. Please use None, 'sort' or 'table'." % kind)
    known = builtins.set(asarray(ar2).reshape(-1).tolist())
    return array(
        [(v in known and v == v) != builtins.bool(invert) for v in asarray(ar1).reshape(-1).tolist()], builtins.bool
    )


def isin(element, test_elements, assume_unique=False, invert=False, *, kind=None):
    made = in1d(element, test_elements, invert=invert, kind=kind).reshape(asarray(element).shape)
    return made


def union1d(ar1, ar2):
    return unique(concatenate((ar1, ar2), None))


def intersect1d(ar1, ar2, assume_unique=False, return_indices=False):
    if return_indices:
        torch._unsupported("numpy.intersect1d(return_indices=True)")
    both = concatenate((unique(ar1), unique(ar2)))[:0].dtype
    ar1 = unique(ar1)
    return ar1[in1d(ar1, ar2)].astype(both)


def setdiff1d(ar1, ar2, assume_unique=False):
    ar1 = asarray(ar1).reshape(-1) if assume_unique else unique(ar1)
    return ar1[in1d(ar1, ar2, invert=True)]


def setxor1d(ar1, ar2, assume_unique=False):
    a, b = unique(ar1), unique(ar2)
    return unique(concatenate((a[in1d(a, b, invert=True)], b[in1d(b, a, invert=True)])))
