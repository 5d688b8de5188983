"""A module's structure on `meta`: what forward() reads and changes, without its weights."""
from __future__ import annotations

import copy
from typing import Any, Dict, List, Optional, Tuple

import torch
from torch import nn

from .builder import meta_like

MOST_COPIED = 1 << 20  # elements of a buffer whose numbers are kept: they may determine shapes


def unwrapped(model: nn.Module) -> nn.Module:
    """The module inside of torch.compile() and of the wrappers for several devices."""
    for _ in range(8):
        inner = getattr(model, "_orig_mod", None)
        if inner is None and type(model).__name__ in ("DataParallel", "DistributedDataParallel"):
            inner = getattr(model, "module", None)
        if not isinstance(inner, nn.Module):
            break
        model = inner
    return model


class Copy:
    """`model` is the copy; `pairs` maps each parameter and buffer of the original to the copy's."""

    def __init__(self, original: nn.Module, device: Optional[torch.device] = None) -> None:
        """`device`: "meta" for buffers without numbers too."""
        self.pairs: List[Tuple[torch.Tensor, torch.Tensor]] = []
        self._memo: Dict[int, Any] = {}
        for module in original.modules():
            for parameter in module._parameters.values():
                self._map(parameter, lambda t: nn.Parameter(meta_like(t), requires_grad=False))
            for buffer in module._buffers.values():
                self._map(buffer, meta_like if device else _without_weights)
        for module in original.modules():
            for tensor in module.__dict__.values():
                if isinstance(tensor, torch.Tensor):
                    self._map(tensor, meta_like if device else _without_weights)
        try:
            self.model: nn.Module = copy.deepcopy(original, dict(self._memo))
        except Exception:  # something in it cannot be copied (a lock, a file): it is shared
            self.model = _shallow(original, dict(self._memo))

    def _map(self, tensor: Any, make: Any) -> None:
        if isinstance(tensor, torch.Tensor) and id(tensor) not in self._memo:
            made = make(tensor)
            self._memo[id(tensor)] = made
            self.pairs.append((tensor, made))


def _without_weights(tensor: torch.Tensor) -> torch.Tensor:
    if tensor.is_meta or tensor.numel() > MOST_COPIED or tensor.layout != torch.strided:
        return meta_like(tensor)
    return tensor.detach().cpu().clone()


def _shallow(module: nn.Module, memo: Dict[int, Any]) -> nn.Module:
    """Modules, and the lists and dictionaries that they hold; everything else is shared."""
    if id(module) in memo:
        found: nn.Module = memo[id(module)]
        return found
    made: nn.Module = module.__class__.__new__(module.__class__)
    memo[id(module)] = made
    for name, value in module.__dict__.items():
        made.__dict__[name] = _shallow_value(value, memo)
    return made


def _shallow_value(value: Any, memo: Dict[int, Any]) -> Any:
    if id(value) in memo:
        return memo[id(value)]
    if isinstance(value, nn.Module):
        return _shallow(value, memo)
    if type(value) is list:
        return [_shallow_value(item, memo) for item in value]
    if isinstance(value, dict) and type(value).__module__ in ("builtins", "collections"):
        made = type(value)()
        made.update((key, _shallow_value(item, memo)) for key, item in value.items())
        return made
    return copy.copy(value) if type(value) is set else value
