# Tensors rearranged by named axes. This is our own implementation of what the library (einops 0.8,
# MIT, A. Rogozhnikov) does with torch tensors: a pattern makes at most one reshape, one permute,
# reductions, unsqueeze + expand and one reshape, each only where it changes something, in this
# order.
__version__ = "0.8.1"
__all__ = ["rearrange", "reduce", "repeat", "einsum", "pack", "unpack", "parse_shape", "asnumpy", "EinopsError"]


class EinopsError(RuntimeError):
    pass


from einops.einops import asnumpy, einsum, parse_shape, rearrange, reduce, repeat
from einops.packing import pack, unpack
