import torch
from torch.nn.utils.stateless import functional_call


def vmap(func, in_dims=0, out_dims=0, randomness="error", *, chunk_size=None):
    def mapped(*args, **kwargs):
        torch._unsupported(
            "vmap()",
            "give the function the whole batch: most calls of torch take one, and einsum says which dimension is it",
        )

    return mapped


def _no_transform(*args, **kwargs):
    torch._unsupported("derivatives by functorch", "they are no part of a network at inference")


grad = grad_and_value = vjp = jvp = jacrev = jacfwd = hessian = functionalize = _no_transform
