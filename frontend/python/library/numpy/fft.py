import torch
from numpy import _array, asarray, pi


def fftfreq(n, d=1.0):
    half = (n - 1) // 2 + 1
    return _array(torch.cat([torch.arange(0, half), torch.arange(-(n // 2), 0)]).to(torch.float64) / (n * d))


def fftshift(x, axes=None):
    t = asarray(x)._t
    dims = list(range(t.dim())) if axes is None else [axes] if isinstance(axes, int) else list(axes)
    return _array(torch.roll(t, [t.shape[d] // 2 for d in dims], dims))


# Of known values; the products are exact to some 1e-13 for the lengths of frames.
def _transform(a, n, axis, norm, sign):
    t = asarray(a)._t
    if norm not in (None, "backward"):
        torch._unsupported("numpy.fft: norm=%r" % norm)
    t = t.to(torch.complex128).movedim(axis, -1)
    n = t.shape[-1] if n is None else n
    t = t[..., :n]
    if t.shape[-1] < n:
        t = torch.cat([t, torch.zeros(list(t.shape[:-1]) + [n - t.shape[-1]], dtype=torch.complex128)], -1)
    steps = torch.arange(n)
    angles = (steps.reshape(-1, 1) * steps % n).to(torch.float64) * (2 * pi / n)
    cosines, sines = torch.cos(angles), torch.sin(angles) * sign
    real, imaginary = t.real @ cosines - t.imag @ sines, t.real @ sines + t.imag @ cosines
    return torch.complex(real, imaginary)


def fft(a, n=None, axis=-1, norm=None):
    return _array(_transform(a, n, axis, norm, -1).movedim(-1, axis))


def ifft(a, n=None, axis=-1, norm=None):
    t = _transform(a, n, axis, norm, 1)
    return _array((t / t.shape[-1]).movedim(-1, axis))


def rfft(a, n=None, axis=-1, norm=None):
    t = _transform(a, n, axis, norm, -1)
    return _array(t[..., : t.shape[-1] // 2 + 1].movedim(-1, axis))


def irfft(a, n=None, axis=-1, norm=None):
    t = asarray(a)._t.to(torch.complex128).movedim(axis, -1)
    n = 2 * (t.shape[-1] - 1) if n is None else n
    t = t[..., : n // 2 + 1]
    rest = t[..., 1 : (n + 1) // 2]
    whole = _transform(_array(torch.cat([t, torch.flip(rest.conj(), [-1])], -1)), n, -1, norm, 1)
    return _array((whole.real / n).movedim(-1, axis))


def rfftfreq(n, d=1.0):
    return _array(torch.arange(0, n // 2 + 1).to(torch.float64) / (n * d))
