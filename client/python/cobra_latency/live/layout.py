"""The memory order of a new tensor's dimensions, as the CPU's kernels produce it (StrideRule in
graph/op_rules.h). The `meta` kernels of torch order some of them differently, and then `view` fails
or `contiguous` copies although PyTorch's own run does not. Which operator has which rule comes from
op_rules.def; only the rules are applied here, since the program asks for strides while it runs, and
the package has no compiled code."""
from __future__ import annotations

from typing import List, Optional, Sequence, Tuple

import torch

from .binder import Bound


def arranged(bound: Bound, inputs: Sequence[Optional[torch.Tensor]], output: torch.Tensor) -> torch.Tensor:
    """The output itself if its order is right. `inputs` are on `meta`."""
    if output.dim() < 2 or not inputs or inputs[0] is None:
        return output
    strides = _strides(bound, inputs, output)
    if strides is None or strides == output.stride():
        return output
    return torch.empty_strided(tuple(output.shape), strides, dtype=output.dtype, device="meta")


def _strides(bound: Bound, inputs: Sequence[Optional[torch.Tensor]], output: torch.Tensor) -> Optional[Tuple[int, ...]]:
    first, rule, shape = inputs[0], bound.operator.strides, output.shape
    assert first is not None
    if rule == "Contiguous":
        return _contiguous(shape)
    if rule == "Dense":
        return _in_order_of(first, shape) if first.shape == shape else _contiguous(shape)
    if rule == "Innermost":
        return (
            _in_order_of(first, shape) if first.dim() == output.dim() and first.stride(-1) == 1 else _contiguous(shape)
        )
    if rule in ("ChannelsLast", "PooledLine"):
        last = first.dim() == output.dim() and _is_channels_last(first, 3 if rule == "PooledLine" else 4)
        return _channels_last(shape) if last else _contiguous(shape)
    if rule == "Concatenated":
        last = all(tensor is not None and _is_channels_last(tensor, 4) for tensor in inputs)
        return _channels_last(shape) if last and first.dim() == output.dim() else _contiguous(shape)
    return None


def _contiguous(shape: Sequence[int]) -> Tuple[int, ...]:
    return _in_steps(shape, range(len(shape) - 1, -1, -1))


def _channels_last(shape: Sequence[int]) -> Tuple[int, ...]:
    return _in_steps(shape, [1, *range(len(shape) - 1, 1, -1), 0])


def _in_order_of(tensor: torch.Tensor, shape: Sequence[int]) -> Tuple[int, ...]:
    return _in_steps(shape, sorted(range(len(shape)), key=lambda dim: (tensor.stride(dim), -dim)))


def _in_steps(shape: Sequence[int], innermost_first: Sequence[int]) -> Tuple[int, ...]:
    strides: List[int] = [0] * len(shape)
    step = 1
    for dim in innermost_first:
        strides[dim] = step
        step *= max(shape[dim], 1)
    return tuple(strides)


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
