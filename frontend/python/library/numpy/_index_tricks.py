# What makes indices of numpy's arrays.
import torch
from numpy import arange, asarray, bool_, concatenate, linspace, nonzero


class _IndexExpression:
    def __init__(self, always_tuple):
        self.always_tuple = always_tuple

    def __getitem__(self, item):
        return (item,) if self.always_tuple and not isinstance(item, tuple) else item


s_, index_exp = _IndexExpression(False), _IndexExpression(True)


def ix_(*args):
    found = []
    for k, sequence in enumerate(args):
        one = asarray(sequence)
        if one.ndim != 1:
            raise ValueError("Cross index must be 1 dimensional")
        if one.size == 0:
            one = one.astype(int)
        if one.dtype == bool_:
            one = nonzero(one)[0]
        found.append(one.reshape((1,) * k + (one.size,) + (1,) * (len(args) - k - 1)))
    return tuple(found)


class _Concatenated:
    def __init__(self, columns):
        self.columns = columns

    def __getitem__(self, key):
        parts = []
        for item in key if isinstance(key, tuple) else (key,):
            if isinstance(item, str):
                torch._unsupported("a string in numpy.r_ or numpy.c_")
            if isinstance(item, slice):
                start, step = item.start or 0, item.step
                if isinstance(step, complex):
                    part = linspace(start, item.stop, int(abs(step)))
                else:
                    part = arange(start, item.stop, 1 if step is None else step)
            else:
                part = asarray(item)
            if self.columns:
                part = part.reshape(-1, 1) if part.ndim < 2 else part
            elif part.ndim == 0:
                part = part.reshape(1)
            parts.append(part)
        return concatenate(parts, -1 if self.columns else 0)


r_, c_ = _Concatenated(False), _Concatenated(True)
