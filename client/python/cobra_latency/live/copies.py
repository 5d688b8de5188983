"""A module's structure on `meta`: what forward() reads and changes, without its weights."""
from __future__ import annotations

import copy
import functools
import types
from typing import Any, Dict, List, Optional, Tuple

import torch
from torch import nn

from . import closures, structure
from .builder import meta_like

MOST_COPIED = 1 << 20  # elements of a buffer whose numbers are kept: they may determine shapes
_ALWAYS_SHARED = (str, bytes, int, float, complex, type(None), type, torch.dtype, torch.device, types.ModuleType)


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
                self._map(parameter, _parameter)
            for buffer in module._buffers.values():
                self._map(buffer, meta_like if device else _without_weights)
        for module in original.modules():
            for tensor in module.__dict__.values():
                if isinstance(tensor, torch.Tensor):
                    self._map(tensor, meta_like if device else _without_weights)
        memo = dict(self._memo)
        copier = structure.Copier(memo)
        try:
            self.model: nn.Module = copier.copied(original)
        except Exception:  # something in it cannot be copied (a lock, a file): it is shared
            memo, copier.is_plain = dict(self._memo), False
            self.model = _shallow(original, memo)
        if not copier.is_plain:
            closures.rebind(self.model, memo)

    def _map(self, tensor: Any, make: Any) -> None:
        if isinstance(tensor, torch.Tensor) and id(tensor) not in self._memo:
            made = make(tensor)
            self._memo[id(tensor)] = made
            self.pairs.append((tensor, made))


def _parameter(tensor: torch.Tensor) -> torch.Tensor:
    made: torch.Tensor = torch.Tensor._make_subclass(nn.Parameter, meta_like(tensor), False)
    return made


def _without_weights(tensor: torch.Tensor) -> torch.Tensor:
    if tensor.is_meta or tensor.numel() > MOST_COPIED or tensor.layout != torch.strided:
        return meta_like(tensor)
    return tensor.detach().cpu().clone()


def _shallow(original: nn.Module, memo: Dict[int, Any]) -> nn.Module:
    """Modules, the lists and dictionaries that they hold, and what else can be copied; the rest is
    shared."""
    modules = list(original.modules())
    for module in modules:  # first all of them: what refers to one finds its copy
        memo[id(module)] = module.__class__.__new__(module.__class__)
    for module in modules:
        memo[id(module)].__dict__.update((name, _shallow_value(v, memo)) for name, v in module.__dict__.items())
    made: nn.Module = memo[id(original)]
    return made


def _shallow_value(value: Any, memo: Dict[int, Any]) -> Any:
    if isinstance(value, _ALWAYS_SHARED):
        return value
    if id(value) in memo:
        return memo[id(value)]
    if isinstance(value, nn.Module):  # one that no module has registered
        return _shallow(value, memo)
    if isinstance(value, types.MethodType):
        return types.MethodType(value.__func__, _shallow_value(value.__self__, memo))
    if type(value) is functools.partial:
        arguments = [_shallow_value(item, memo) for item in value.args]
        keywords = {name: _shallow_value(item, memo) for name, item in value.keywords.items()}
        return functools.partial(_shallow_value(value.func, memo), *arguments, **keywords)
    if type(value) in (list, tuple):
        items = [_shallow_value(item, memo) for item in value]
        return _remembered(value, items if type(value) is list else tuple(items), memo)
    if isinstance(value, dict) and type(value).__module__ in ("builtins", "collections"):
        made = copy.copy(value)  # a defaultdict keeps its factory
        made.clear()
        made.update((key, _shallow_value(item, memo)) for key, item in value.items())
        return _remembered(value, made, memo)
    return closures.copied(value, memo)


def _remembered(value: Any, made: Any, memo: Dict[int, Any]) -> Any:
    memo[id(value)] = made
    memo.setdefault(id(memo), []).append(value)
    return made
