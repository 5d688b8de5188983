import torch
from numpy import _array, _shape


def seed(seed=None):
    pass


class _Drawn(float):
    # A number that numpy drew: it may be kept, and nothing may depend on it (LayerDrop draws one that only training
    # looks at).
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


def _drawn(size, name):
    if size is None and name in ("rand", "randn", "random", "uniform", "normal"):
        return _Drawn(name)
    if size is None:
        torch._data_dependent("numpy.random.%s()" % name, "a network that differs from run to run has no one latency")
    return _array(torch.empty(_shape(size), dtype=torch.float64))


def rand(*shape):
    return _drawn(shape or None, "rand")


def randn(*shape):
    return _drawn(shape or None, "randn")


def random(size=None):
    return _drawn(size, "random")


random_sample = ranf = sample = random


def uniform(low=0.0, high=1.0, size=None):
    return _drawn(size, "uniform")


def normal(loc=0.0, scale=1.0, size=None):
    return _drawn(size, "normal")


def standard_normal(size=None):
    return _drawn(size, "standard_normal")


def beta(a, b, size=None):
    return _drawn(size, "beta")


def binomial(n, p, size=None):
    return _drawn(size, "binomial")


def randint(low, high=None, size=None, dtype=int):
    return _drawn(size, "randint").astype(dtype)


def choice(a, size=None, replace=True, p=None):
    return _drawn(size, "choice")


def permutation(x):
    return _drawn((x,), "permutation").astype(int) if isinstance(x, int) else _drawn(x.shape, "permutation")


def shuffle(x):
    torch._data_dependent("the order after numpy.random.shuffle()")


class RandomState:
    def __init__(self, seed=None):
        pass

    rand, randn, random, uniform, normal, randint, choice, permutation, shuffle, random_sample, standard_normal = (
        staticmethod(f)
        for f in (
            rand,
            randn,
            random,
            uniform,
            normal,
            randint,
            choice,
            permutation,
            shuffle,
            random_sample,
            standard_normal,
        )
    )
    seed = staticmethod(seed)


class Generator(RandomState):
    integers = staticmethod(randint)


def default_rng(seed=None):
    return Generator()
