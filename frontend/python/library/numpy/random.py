import math
import sys

import torch
from numpy._arrays import _array, asarray
from numpy._dtypes import _lacks, _torch_type
from numpy._indexing import _shape
from numpy._types import float64, int64
from numpy._generator import MT19937, PCG64


def seed(seed=None):
    pass


class _Drawn(float):
    # A number that numpy drew: it may be kept, and nothing may depend on it (LayerDrop draws one
    # that only training looks at).
    def __new__(cls, name):
        drawn = float.__new__(cls, 0.5)
        drawn.name = name
        return drawn

    def _read(self, *args):
        torch._data_dependent(
            "numpy.random.%s()" % self.name, "a network that differs from run to run has no one latency"
        )

    __lt__ = (
        __le__
    ) = (
        __gt__
    ) = (
        __ge__
    ) = (
        __eq__
    ) = __ne__ = __bool__ = __int__ = __float__ = __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _read
    __truediv__ = (
        __rtruediv__
    ) = __floordiv__ = __mod__ = __pow__ = __rpow__ = __neg__ = __abs__ = __round__ = __repr__ = __format__ = _read
    __hash__ = float.__hash__


_OF_FLOATS = ("rand", "randn", "random", "uniform", "normal")


def _drawn(size, name, dtype=float64):
    if size is None and name in _OF_FLOATS:
        return _Drawn(name)
    if size is None:
        torch._data_dependent("numpy.random.%s()" % name, "a network that differs from run to run has no one latency")
    return _array(torch.empty(_shape(size), dtype=_torch_type(dtype)))


def _size_with(size, *parameters):
    # Of several parameters one number is drawn for each.
    shapes = [asarray(p).shape for p in parameters]
    return size if size is not None or not any(shapes) else tuple(torch.broadcast_shapes(*shapes))


def rand(*args):
    return _drawn(args or None, "rand")


def randn(*args):
    return _drawn(args or None, "randn")


def random(size=None, dtype=float64, out=None):
    _lacks("random.random", out=out)
    return _drawn(size, "random", dtype)


random_sample = ranf = sample = random


def uniform(low=0.0, high=1.0, size=None):
    return _drawn(_size_with(size, low, high), "uniform")


def normal(loc=0.0, scale=1.0, size=None):
    return _drawn(_size_with(size, loc, scale), "normal")


def standard_normal(size=None, dtype=float64, out=None):
    _lacks("random.standard_normal", out=out)
    return _drawn(size, "standard_normal", dtype)


def beta(a, b, size=None):
    return _drawn(_size_with(size, a, b), "beta")


def binomial(n, p, size=None):
    return _drawn(_size_with(size, n, p), "binomial", int64)


def randint(low, high=None, size=None, dtype=int, endpoint=False):
    return _drawn(_size_with(size, low, low if high is None else high), "randint", dtype)


def choice(a, size=None, replace=True, p=None, axis=0, shuffle=True):
    kind = int64 if isinstance(a, int) else asarray(a).dtype
    items = () if isinstance(a, int) else asarray(a).shape
    if len(items) > 1 and size is not None:
        taken = list(items)
        taken[axis : axis % len(items) + 1] = _shape(size)
        size = tuple(taken)
    return _drawn(size, "choice", kind)


def permutation(x, axis=0):
    return (
        _drawn((x,), "permutation", int64)
        if isinstance(x, int)
        else _drawn(asarray(x).shape, "permutation", asarray(x).dtype)
    )


def shuffle(x, axis=0):
    torch._data_dependent("the order after numpy.random.shuffle()")


_MOST_DRAWN = 4096  # numbers whose values are computed; those of larger arrays stay unknown


def _emulated(function):
    # While it is known what comes next. After anything else was drawn it is not.
    def method(self, *args, **kwargs):
        if self._bits is not None:
            drawn = function(self, *args, **kwargs)
            if drawn is not None:
                return drawn
            self._bits = None
        return getattr(_module, _NAMES.get(function.__name__, function.__name__))(*args, **kwargs)

    return method


def _unknown(name):
    def method(self, *args, **kwargs):
        self._bits = None
        return getattr(_module, name)(*args, **kwargs)

    return method


class _Drawing:
    """Of a seed that is an integer, numpy's own numbers; otherwise numbers that nobody knows."""

    def __init__(self, bits=None):
        self._bits = bits

    def _filled(self, size, draw):
        if size is None:
            return draw()
        shape = _shape(size)
        count = math.prod(shape)
        return asarray([draw() for _ in range(count)]).reshape(shape) if 0 < count <= _MOST_DRAWN else None

    normal, standard_normal, beta, binomial = (_unknown(n) for n in ("normal", "standard_normal", "beta", "binomial"))

    @_emulated
    def random(self, size=None, dtype=float64, out=None):
        if dtype not in (float, float64) or out is not None:
            return None
        return self._filled(size, lambda: self._bits.random())

    @_emulated
    def uniform(self, low=0.0, high=1.0, size=None):
        if not (isinstance(low, (int, float)) and isinstance(high, (int, float))):
            return None
        return self._filled(size, lambda: low + (high - low) * self._bits.random())

    @_emulated
    def integers(self, low, high=None, size=None, dtype=int64, endpoint=False):
        if not (isinstance(low, int) and isinstance(high, (int, type(None))) and dtype in (int, int64)):
            return None
        low, high = (0, low) if high is None else (low, high)
        if high + endpoint <= low:
            raise ValueError("low >= high" if not endpoint else "low > high")
        return self._filled(size, lambda: int64(low + self._bits.below(high + endpoint - low)))

    @_emulated
    def choice(self, a, size=None, replace=True, p=None, axis=0, shuffle=True):
        items = range(a) if isinstance(a, int) else a if isinstance(a, (list, tuple, range)) else asarray(a)
        if p is not None or axis != 0 or getattr(items, "ndim", 1) != 1 or not len(items):
            return None
        if isinstance(items, (list, tuple)):
            items = asarray(items)
        if replace or size is None:
            return self._filled(
                size, lambda: int64(at) if isinstance(at := items[self._bits.below(len(items))], int) else at
            )
        shape = _shape(size)
        count = math.prod(shape)
        if count > len(items):
            raise ValueError("Cannot take a larger sample than population when replace is False")
        if len(items) > 1000 * _MOST_DRAWN or not 0 < count <= _MOST_DRAWN:
            return None
        return asarray([items[at] for at in self._bits.sample(len(items), count, shuffle)]).reshape(shape)

    @_emulated
    def permutation(self, x, axis=0):
        items = list(range(x)) if isinstance(x, int) else x if isinstance(x, (list, tuple)) else x.tolist()
        if len(items) > _MOST_DRAWN or any(isinstance(item, (list, tuple)) for item in items):
            return None
        items = list(items)
        self._bits.shuffle(items)
        return asarray(items)

    def shuffle(self, x, axis=0):
        if self._bits is None or not isinstance(x, list):
            shuffle(x)
        self._bits.shuffle(x)


class Generator(_Drawing):
    pass


class RandomState(_Drawing):
    def __init__(self, seed=None):
        self.seed(seed)

    def seed(self, seed=None):
        self._bits = MT19937(seed) if isinstance(seed, int) else None

    def rand(self, *shape):
        return self.random(shape or None)

    def randint(self, low, high=None, size=None, dtype=int64):
        drawn = self.integers(low, high, size, dtype)
        return int(drawn) if isinstance(drawn, int64) and dtype is int64 else drawn

    random_sample, randn = _Drawing.random, _unknown("randn")


_module = sys.modules[__name__]
_NAMES = {"integers": "randint"}


def default_rng(seed=None):
    return seed if isinstance(seed, Generator) else Generator(PCG64(seed) if isinstance(seed, int) else None)
