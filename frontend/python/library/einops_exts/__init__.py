# What einops-exts adds to einops: the same pattern for several tensors, and shape checks by name.
from einops import rearrange, reduce, repeat


def check_shape(tensor, pattern, **kwargs):
    return rearrange(tensor, "{} -> {}".format(pattern, pattern), **kwargs)


def rearrange_many(tensors, pattern, **kwargs):
    return (rearrange(tensor, pattern, **kwargs) for tensor in tensors)


def repeat_many(tensors, pattern, **kwargs):
    return (repeat(tensor, pattern, **kwargs) for tensor in tensors)


def reduce_many(tensors, pattern, **kwargs):
    return (reduce(tensor, pattern, **kwargs) for tensor in tensors)
