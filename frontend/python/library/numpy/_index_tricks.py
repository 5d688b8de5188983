# What makes indices of numpy's arrays.
from numpy import asarray, bool_, nonzero


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
