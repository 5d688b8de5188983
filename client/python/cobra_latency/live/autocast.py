"""torch.autocast('cpu'), by the rules of frontend/python/torch/tensor/autocast.cc. On `meta`
tensors PyTorch itself casts nothing. Which operator has which policy comes from torch_rules.def;
only the policies are applied here, since the program sees the type of each result while it runs,
and the package has no compiled code."""
from __future__ import annotations

from typing import Optional

import torch

from .binder import Bound
from .version import VERSION


def dtype_now() -> Optional[torch.dtype]:
    """The lower precision; None outside of autocast."""
    if VERSION < (2, 4):
        return torch.get_autocast_cpu_dtype() if torch.is_autocast_cpu_enabled() else None
    return torch.get_autocast_dtype("cpu") if torch.is_autocast_enabled("cpu") else None


def is_on() -> bool:
    """Whether calls cast their inputs."""
    return dtype_now() is not None


def target_of(bound: Bound, lower: torch.dtype) -> Optional[torch.dtype]:
    """To which type a call casts its inputs; None if it takes them as they are."""
    policy = bound.operator.autocast
    if policy == "OfPadding":
        policy = "Float32" if bound.attributes.get("mode") in ("reflect", "replicate") else "None"
    if policy == "OfSum":
        sums = bound.operator.name != "einsum" or einsum_sums(str(bound.attributes.get("equation", "")))
        policy = "Lower" if sums and len(bound.inputs) > 1 else "None"
    if policy == "Widest":
        wide = any(tensor is not None and tensor.dtype == torch.float32 for tensor in bound.inputs)
        policy = "Float32" if wide else "Lower"
    return {"Lower": lower, "Float32": torch.float32}.get(policy)


def einsum_sums(equation: str) -> bool:
    """Whether an einsum sums over a letter, so that it is more than products of elements.

    >>> einsum_sums("ij,jk->ik"), einsum_sums("i,j->ij")
    (True, False)
    """
    left, arrow, right = equation.replace(" ", "").partition("->")
    letters = set(left) - {",", "."}
    if not arrow:
        return any(left.count(letter) > 1 for letter in letters)
    return bool(letters - set(right))
