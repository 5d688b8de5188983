import torch
from numpy._arrays import _array, asarray
from numpy._dtypes import pi


def fftfreq(n, d=1.0):
    half = (n - 1) // 2 + 1
    return _array(torch.cat([torch.arange(0, half), torch.arange(-(n // 2), 0)]).to(torch.float64) / (n * d))


def fftshift(x, axes=None):
    t = asarray(x)._t
    dims = list(range(t.dim())) if axes is None else [axes] if isinstance(axes, int) else list(axes)
    return _array(torch.roll(t, [t.shape[d] // 2 for d in dims], dims))


# Of known values: a product with a table, which is exact to some 1e-13.
_MOST = 256


def _lengthened(t, n):
    if n < 1:
        raise ValueError("Invalid number of FFT data points (%d) specified." % n)
    if n > _MOST:
        torch._unsupported("numpy.fft of more than %d numbers" % _MOST, "use torch.fft")
    t = t[..., :n]
    if t.shape[-1] == n:
        return t
    return torch.cat([t, torch.zeros(list(t.shape[:-1]) + [n - t.shape[-1]], dtype=t.dtype)], -1)


def _transform(t, n, norm, sign):
    if norm not in (None, "backward"):
        torch._unsupported("numpy.fft: norm=%r" % (norm,))
    t = _lengthened(t, t.shape[-1] if n is None else n)
    n = t.shape[-1]
    steps = torch.arange(n)
    angles = (steps.reshape(-1, 1) * steps % n).to(torch.float64) * (2 * pi / n)
    cosines, sines = torch.cos(angles), torch.sin(angles) * sign
    return torch.complex(t.real @ cosines - t.imag @ sines, t.real @ sines + t.imag @ cosines)


def _last(a, axis, dtype=torch.complex128):
    t = asarray(a)._t
    return (t.real if dtype == torch.float64 and t.is_complex() else t).to(dtype).movedim(axis, -1)


def fft(a, n=None, axis=-1, norm=None):
    return _array(_transform(_last(a, axis), n, norm, -1).movedim(-1, axis))


def ifft(a, n=None, axis=-1, norm=None):
    t = _transform(_last(a, axis), n, norm, 1)
    return _array((t / t.shape[-1]).movedim(-1, axis))


def rfft(a, n=None, axis=-1, norm=None):
    t = _transform(_last(a, axis, torch.float64).to(torch.complex128), n, norm, -1)
    return _array(t[..., : t.shape[-1] // 2 + 1].movedim(-1, axis))


def irfft(a, n=None, axis=-1, norm=None):
    t = _last(a, axis)
    n = 2 * (t.shape[-1] - 1) if n is None else n
    if n < 1:
        raise ValueError("Invalid number of FFT data points (%d) specified." % n)
    t = _lengthened(t, n // 2 + 1)
    mirrored = torch.flip(t[..., 1 : (n + 1) // 2].conj(), [-1])
    whole = _transform(torch.cat([t, mirrored], -1), n, norm, 1)
    return _array((whole.real / n).movedim(-1, axis))


def rfftfreq(n, d=1.0):
    return _array(torch.arange(0, n // 2 + 1).to(torch.float64) / (n * d))
