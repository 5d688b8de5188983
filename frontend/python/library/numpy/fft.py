import torch
from numpy import _array, asarray


def fftfreq(n, d=1.0):
    half = (n - 1) // 2 + 1
    return _array(torch.cat([torch.arange(0, half), torch.arange(-(n // 2), 0)]).to(torch.float64) / (n * d))


def fftshift(x, axes=None):
    t = asarray(x)._t
    dims = list(range(t.dim())) if axes is None else [axes] if isinstance(axes, int) else list(axes)
    return _array(torch.roll(t, [t.shape[d] // 2 for d in dims], dims))
