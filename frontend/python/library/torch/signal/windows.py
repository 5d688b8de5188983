import math

import torch


def _checked(name, M, dtype, layout):
    if M < 0:
        raise ValueError(name + " requires non-negative window length, got M=" + str(M))
    if layout is not torch.strided:
        raise ValueError(name + " is implemented for strided tensors only, got: " + str(layout))
    if (torch.get_default_dtype() if dtype is None else dtype) not in (torch.float32, torch.float64):
        raise ValueError(name + " expects float32 or float64 dtypes, got: " + str(dtype))


def _steps(start, end, M, dtype, requires_grad):
    dtype = torch.get_default_dtype() if dtype is None else dtype
    return torch.linspace(start=start, end=end, steps=M, dtype=dtype, requires_grad=requires_grad)


def _window(make):
    name = make.__name__

    def window(M, *args, sym=True, dtype=None, layout=torch.strided, device=None, requires_grad=False, **kwargs):
        if args and name != "general_cosine":
            raise TypeError(name + "() takes 1 positional argument but %d were given" % (1 + len(args)))
        _checked(name, M, dtype, layout)
        last = M if not sym and M > 1 else M - 1

        def steps(start, end):
            return _steps(start, end, M, dtype, requires_grad)

        if M == 0:
            return torch.zeros((0,), dtype=dtype, requires_grad=requires_grad)
        return make(M, last, sym, steps, *args, **kwargs)

    window.__name__ = name
    return window


@_window
def exponential(M, last, sym, steps, center=None, tau=1.0):
    if tau <= 0:
        raise ValueError("Tau must be positive, got: %s instead." % tau)
    if sym and center is not None:
        raise ValueError("Center must be None for symmetric windows")
    center = last / 2.0 if center is None else center
    return torch.exp(-torch.abs(steps(-center / tau, (-center + (M - 1)) / tau)))


@_window
def cosine(M, last, sym, steps):
    constant = math.pi / (last + 1)
    return torch.sin(steps(0.5 * constant, (0.5 + (M - 1)) * constant))


@_window
def gaussian(M, last, sym, steps, std=1.0):
    if std <= 0:
        raise ValueError("Standard deviation must be positive, got: %s instead." % std)
    constant = 1 / (std * math.sqrt(2))
    return torch.exp(-(steps(-last / 2.0 * constant, (-last / 2.0 + (M - 1)) * constant) ** 2))


@_window
def kaiser(M, last, sym, steps, beta=12.0):
    if beta < 0:
        raise ValueError("beta must be non-negative, got: %s instead." % beta)
    if M == 1:
        return steps(1.0, 1.0)
    beta = steps(beta, beta)[0]
    k = steps(-beta, torch.minimum(beta, -beta + (M - 1) * (2.0 * beta / last)))
    return torch.i0(torch.sqrt(beta * beta - torch.pow(k, 2))) / torch.i0(beta)


@_window
def bartlett(M, last, sym, steps):
    if M == 1:
        return steps(1.0, 1.0)
    return 1 - torch.abs(steps(-1, -1 + (M - 1) * (2 / last)))


@_window
def general_cosine(M, last, sym, steps, a=None):
    if not isinstance(a, (list, tuple)):
        raise TypeError("Coefficients must be a list/tuple")
    if not a:
        raise ValueError("Coefficients cannot be empty")
    if M == 1:
        return steps(1.0, 1.0)
    k = steps(0, (M - 1) * (2 * math.pi / last))
    signed = torch.tensor([(-1) ** i * w for i, w in enumerate(a)], dtype=k.dtype)
    i = torch.arange(signed.shape[0], dtype=k.dtype)
    return (signed.unsqueeze(-1) * torch.cos(i.unsqueeze(-1) * k)).sum(0)


def general_hamming(M, *, alpha=0.54, **kwargs):
    return general_cosine(M, a=[alpha, 1.0 - alpha], **kwargs)


def hamming(M, **kwargs):
    return general_hamming(M, **kwargs)


def hann(M, **kwargs):
    return general_hamming(M, alpha=0.5, **kwargs)


def blackman(M, **kwargs):
    return general_cosine(M, a=[0.42, 0.5, 0.08], **kwargs)


def nuttall(M, **kwargs):
    return general_cosine(M, a=[0.3635819, 0.4891775, 0.1365995, 0.0106411], **kwargs)
