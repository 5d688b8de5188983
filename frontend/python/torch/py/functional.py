# torch.nn.functional: what is written in Python there too
import torch
from torch import _VF


def gumbel_softmax(logits, tau=1, hard=False, eps=1e-10, dim=-1):
    return softmax(logits / tau, dim)


def cosine_embedding_loss(*args, **kwargs):
    raise NotImplementedError('cosine_embedding_loss')


def has_torch_function(*args):
    return False


def has_torch_function_unary(*args):
    return False


def has_torch_function_variadic(*args):
    return False


def upsample_nearest(input, size=None, scale_factor=None):
    return interpolate(input, size, scale_factor, mode='nearest')


def upsample_bilinear(input, size=None, scale_factor=None):
    return interpolate(input, size, scale_factor, mode='bilinear', align_corners=True)
