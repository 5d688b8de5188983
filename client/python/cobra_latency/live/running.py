"""Runs torch functions for their shapes: on `meta`, or on the CPU where torch has no `meta` kernel
that works."""
from __future__ import annotations

from typing import Any, Callable, Dict, Optional, Sequence

import torch

from .builder import meta_like, tensors_in

MOST_ON_CPU = 1 << 26  # elements of a call that runs on the CPU because torch has no `meta` kernel for it


def run(call: Callable[..., Any], args: Sequence[Any], kwargs: Dict[str, Any]) -> Any:
    """Runs a call whose tensors are on `meta`. Where torch has no `meta` kernel that works, it runs
    on the CPU, on numbers of no meaning."""
    try:
        return call(*args, **kwargs)
    except Exception as error:
        if sum(t.numel() for t in tensors_in([args, kwargs])) > MOST_ON_CPU:
            raise
        for numbers in (_ones, _identities):
            try:
                return mapped(meta_like, call(*mapped(numbers, args), **mapped(numbers, kwargs)))
            except Exception:  # torch refuses it there too
                pass
        raise error


def mapped(function: Callable[[torch.Tensor], torch.Tensor], value: Any, device: Optional[str] = "cpu") -> Any:
    """Nested arguments with each tensor replaced; `device` takes the place of a device that is
    given."""
    if isinstance(value, torch.Tensor):
        return function(value)
    if isinstance(value, dict):
        moved = {key: mapped(function, item, device) for key, item in value.items()}
        return {**moved, "device": device} if device and moved.get("device") else moved
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(mapped(function, item, device) for item in value))
    return type(value)(mapped(function, item, device) for item in value) if type(value) in (list, tuple) else value


def _ones(tensor: torch.Tensor) -> torch.Tensor:
    """Integers are 0, which is an index of everything. The strides are the tensor's: a view that
    PyTorch refuses is refused here."""
    number = 1 if tensor.is_floating_point() or tensor.is_complex() else 0
    if tensor.is_contiguous():
        return torch.full(tensor.shape, number, dtype=tensor.dtype)
    last = 0 if tensor.numel() == 0 else 1 + sum((n - 1) * step for n, step in zip(tensor.shape, tensor.stride()))
    return torch.full((last,), number, dtype=tensor.dtype).as_strided(tensor.shape, tensor.stride())


def _identities(tensor: torch.Tensor) -> torch.Tensor:
    """Matrices that can be factored."""
    square = tensor.dim() > 1 and tensor.shape[-1] == tensor.shape[-2]
    if not square or not (tensor.is_floating_point() or tensor.is_complex()):
        return _ones(tensor)
    return torch.eye(tensor.shape[-1], dtype=tensor.dtype).expand(tensor.shape).clone()
