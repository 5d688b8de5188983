"""The memory order of a new tensor's dimensions, as the CPU's kernels produce it (StrideRule in
graph/op_rules.h). The `meta` kernels of torch order some of them differently, and then `view` fails
or `contiguous` copies although PyTorch's own run does not. Which operator has which rule comes from
op_rules.def; only the rules are applied here, since the program asks for strides while it runs, and
the package has no compiled code."""
from __future__ import annotations

import functools
from typing import List, Optional, Sequence, Tuple

import torch

from .binder import Bound


def arranged(bound: Bound, inputs: Sequence[Optional[torch.Tensor]], output: torch.Tensor) -> torch.Tensor:
    """The output itself if its order is right. `inputs` are on `meta`."""
    if output.dim() < 2 or not inputs or inputs[0] is None:
        return output
    wanted = strides(bound, inputs, output.shape)
    if wanted is None or wanted == output.stride():
        return output
    return torch.empty_strided(tuple(output.shape), wanted, dtype=output.dtype, device="meta")


def strides(
    bound: Bound, inputs: Sequence[Optional[torch.Tensor]], shape: Tuple[int, ...]
) -> Optional[Tuple[int, ...]]:
    """Of an output of two dimensions or more; None: as torch has it."""
    first, rule = inputs[0], bound.operator.strides
    assert first is not None
    if rule == "Contiguous":
        return contiguous(shape)
    if rule == "Dense":
        return _in_order_of(first, shape) if first.shape == shape else contiguous(shape)
    if rule == "Innermost":
        return _in_order_of(first, shape) if first.dim() == len(shape) and first.stride(-1) == 1 else contiguous(shape)
    if rule in ("ChannelsLast", "PooledLine"):
        last = first.dim() == len(shape) and _is_channels_last(first, 3 if rule == "PooledLine" else 4)
        return _channels_last(shape) if last else contiguous(shape)
    if rule == "Concatenated":
        last = all(tensor is not None and _is_channels_last(tensor, 4) for tensor in inputs)
        return _channels_last(shape) if last and first.dim() == len(shape) else contiguous(shape)
    return None


@functools.lru_cache(maxsize=1024)
def contiguous(shape: Tuple[int, ...]) -> Tuple[int, ...]:
    """The strides of a tensor whose last dimension is the innermost one."""
    return in_steps(shape, range(len(shape) - 1, -1, -1))


def _channels_last(shape: Sequence[int]) -> Tuple[int, ...]:
    return in_steps(shape, [1, *range(len(shape) - 1, 1, -1), 0])


def _in_order_of(tensor: torch.Tensor, shape: Tuple[int, ...]) -> Tuple[int, ...]:
    if tensor.stride() == contiguous(shape):
        return contiguous(shape)
    return in_steps(shape, sorted(range(len(shape)), key=lambda dim: (tensor.stride(dim), -dim)))


def in_steps(shape: Sequence[int], innermost_first: Sequence[int]) -> Tuple[int, ...]:
    """The strides of a tensor whose elements lie side by side."""
    strides: List[int] = [0] * len(shape)
    step = 1
    for dim in innermost_first:
        strides[dim] = step
        step *= max(shape[dim], 1)
    return tuple(strides)


def is_view(tensor: torch.Tensor, sizes: Sequence[int]) -> bool:
    """Whether a tensor can be seen in other sizes without a copy: each run of dimensions that lie
    side by side must be some of the new ones. Neither has a size of 0."""
    shape, steps = tensor.shape, tensor.stride()
    place, step = len(sizes) - 1, steps[-1] if steps else 1
    elements = seen = 1
    for dim in range(len(shape) - 1, -1, -1):
        elements *= shape[dim]
        if dim > 0 and (shape[dim - 1] == 1 or steps[dim - 1] == elements * step):
            continue
        while place >= 0 and (seen < elements or sizes[place] == 1):
            seen *= sizes[place]
            place -= 1
        if seen != elements:
            return False
        if dim > 0:
            step, elements, seen = steps[dim - 1], 1, 1
    return True


def _is_channels_last(tensor: torch.Tensor, least_rank: int) -> bool:
    shape, strides = tensor.shape, tensor.stride()
    if not least_rank <= len(shape) <= 5 or shape[1] == 1 or strides[1] != 1:
        return False
    step = shape[1]
    for dim in range(len(shape) - 1, 1, -1):
        if strides[dim] != step and shape[dim] != 1:
            return False
        step *= shape[dim]
    return True
