# The modules inside numpy.
# == numpy.random
import torch
from numpy import _array, _shape


def seed(seed=None):
    pass


class _Drawn(float):
    # A number that numpy drew: it may be kept, and nothing may depend on it (LayerDrop draws one that only training looks at).
    def __new__(cls, name):
        drawn = float.__new__(cls, 0.5)
        drawn.name = name
        return drawn

    def _read(self, *args):
        torch._data_dependent('numpy.random.%s()' % self.name, 'a network that differs from run to run has no one latency')

    __lt__ = __le__ = __gt__ = __ge__ = __eq__ = __ne__ = __bool__ = __int__ = __float__ = __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _read
    __truediv__ = __rtruediv__ = __floordiv__ = __mod__ = __pow__ = __rpow__ = __neg__ = __abs__ = __round__ = __repr__ = __format__ = _read
    __hash__ = float.__hash__


def _drawn(size, name):
    if size is None and name in ('rand', 'randn', 'random', 'uniform', 'normal'):
        return _Drawn(name)
    if size is None:
        torch._data_dependent('numpy.random.%s()' % name, 'a network that differs from run to run has no one latency')
    return _array(torch.empty(_shape(size), dtype=torch.float64))


def rand(*shape):
    return _drawn(shape or None, 'rand')


def randn(*shape):
    return _drawn(shape or None, 'randn')


def random(size=None):
    return _drawn(size, 'random')


random_sample = ranf = sample = random


def uniform(low=0.0, high=1.0, size=None):
    return _drawn(size, 'uniform')


def normal(loc=0.0, scale=1.0, size=None):
    return _drawn(size, 'normal')


def standard_normal(size=None):
    return _drawn(size, 'standard_normal')


def beta(a, b, size=None):
    return _drawn(size, 'beta')


def binomial(n, p, size=None):
    return _drawn(size, 'binomial')


def randint(low, high=None, size=None, dtype=int):
    return _drawn(size, 'randint').astype(dtype)


def choice(a, size=None, replace=True, p=None):
    return _drawn(size, 'choice')


def permutation(x):
    return _drawn((x,), 'permutation').astype(int) if isinstance(x, int) else _drawn(x.shape, 'permutation')


def shuffle(x):
    torch._data_dependent('the order after numpy.random.shuffle()')


class RandomState:
    def __init__(self, seed=None):
        pass

    rand, randn, random, uniform, normal, randint, choice, permutation, shuffle, random_sample, standard_normal = (
        staticmethod(f) for f in (rand, randn, random, uniform, normal, randint, choice, permutation, shuffle, random_sample, standard_normal))
    seed = staticmethod(seed)


class Generator(RandomState):
    integers = staticmethod(randint)


def default_rng(seed=None):
    return Generator()
# == numpy.linalg
import numpy as np
import torch
from numpy import _array, asarray


class LinAlgError(Exception):
    pass


def norm(x, ord=None, axis=None, keepdims=False):
    x = np.abs(asarray(x))
    if ord in (None, 2, 'fro') and (ord != 2 or x.ndim == 1 or isinstance(axis, int)):
        return np.sqrt((x * x).sum(axis, keepdims=keepdims))
    if ord == 1 and (x.ndim == 1 or isinstance(axis, int)):
        return x.sum(axis, keepdims=keepdims)
    if ord == np.inf and (x.ndim == 1 or isinstance(axis, int)):
        return x.max(axis, keepdims=keepdims)
    torch._unsupported('numpy.linalg.norm(ord=%r)' % (ord,))


def inv(a):
    return _array(torch.linalg.inv(asarray(a).astype(np.float64)._t))


def pinv(a, *args, **kwargs):
    return _array(torch.linalg.pinv(asarray(a).astype(np.float64)._t))


def det(a):
    return np._wrap(torch.linalg.det(asarray(a).astype(np.float64)._t))


def svd(a, full_matrices=True, **kwargs):
    return tuple(_array(t) for t in torch.linalg.svd(asarray(a).astype(np.float64)._t, full_matrices=full_matrices))


def qr(a, mode='reduced'):
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
# == numpy.fft
import torch
from numpy import _array, asarray


def fftfreq(n, d=1.0):
    half = (n - 1) // 2 + 1
    return _array(torch.cat([torch.arange(0, half), torch.arange(-(n // 2), 0)]).to(torch.float64) / (n * d))


def fftshift(x, axes=None):
    t = asarray(x)._t
    dims = list(range(t.dim())) if axes is None else [axes] if isinstance(axes, int) else list(axes)
    return _array(torch.roll(t, [t.shape[d] // 2 for d in dims], dims))
# == numpy.typing
import typing

from numpy import ndarray

ArrayLike = typing.Any


class NDArray(ndarray):
    def __class_getitem__(cls, item):
        return cls
# == numpy.core
# == numpy.testing
from numpy import allclose


def assert_allclose(actual, desired, rtol=1e-07, atol=0, **kwargs):
    assert allclose(actual, desired, rtol, atol)
