# torch.nn.functional: what is written in Python there too
import torch
from torch import _VF


def triplet_margin_with_distance_loss(anchor, positive, negative, *, distance_function=None, margin=1.0, swap=False, reduction='mean'):
    if distance_function is None or distance_function.__class__.__name__ == 'PairwiseDistance':
        return _triplet_margin_with_distance_loss(anchor, positive, negative, margin=margin, swap=swap, reduction=reduction)
    distance = distance_function  # written in Python: its calls are the network's
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = torch.minimum(far, distance(positive, negative))
    loss = torch.clamp_min(margin + near - far, 0)
    return loss.mean() if reduction == 'mean' else loss.sum() if reduction == 'sum' else loss


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
