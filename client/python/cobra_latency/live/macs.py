"""Multiply-accumulates of products of constants, which PyTorch runs each time (graph/cost.cc). They belong to no call of the graph."""
from __future__ import annotations

import math
from typing import Dict, List

import torch

from .binder import Bound


def of_call(bound: Bound, output: torch.Tensor) -> int:
    """0 for operators that networks do not call on constants alone."""
    inputs = [tensor for tensor in bound.inputs if tensor is not None]
    name = bound.operator.name
    if name in ("matmul", "bmm", "mm", "mv", "dot", "linear"):
        return output.numel() * inputs[0].shape[-1]
    if name in ("addmm", "baddbmm"):
        return output.numel() * inputs[1].shape[-1]
    if name in ("conv1d", "conv2d", "conv3d"):
        return output.numel() * (inputs[1].numel() // inputs[1].shape[0])
    if name == "scaled_dot_product_attention":
        return (inputs[0].numel() + output.numel()) * inputs[1].shape[-2]
    if name == "einsum":
        return _of_einsum(str(bound.attributes["equation"]).replace(" ", ""), inputs, output)
    return 0


def _of_einsum(equation: str, inputs: List[torch.Tensor], output: torch.Tensor) -> int:
    """All letters' sizes; with an ellipsis: the output's elements times the letters that are summed."""
    left, _, right = equation.partition("->")
    sizes: Dict[str, int] = {}
    for term, tensor in zip(left.split(","), inputs):
        head, _, tail = term.partition("...")
        sizes.update(zip(head, tensor.shape))
        sizes.update(zip(reversed(tail), reversed(tensor.shape)))
    if "..." in equation:
        return output.numel() * math.prod(size for letter, size in sizes.items() if letter not in right)
    return math.prod(sizes.values()) if len(inputs) > 1 else 0
