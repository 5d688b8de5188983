# The functions that make a tensor out of numbers.
import torch


def fftfreq(n, d=1.0, *, out=None, dtype=None, layout=None, device=None, requires_grad=False):
    k = list(range((n - 1) // 2 + 1)) + list(range(-(n // 2), 0))
    return torch.tensor(k, dtype=dtype or torch.get_default_dtype()) * (1.0 / (n * d))


def rfftfreq(n, d=1.0, *, out=None, dtype=None, layout=None, device=None, requires_grad=False):
    return torch.arange(n // 2 + 1, dtype=dtype or torch.get_default_dtype()) * (1.0 / (n * d))
