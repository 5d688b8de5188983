"""What a network keeps of its first run: a mask in an attribute, a table of positions in a cache.
Later runs find it there, and those are the ones that are timed
(frontend/python/kept_constants.h)."""
from __future__ import annotations

import weakref
from typing import Dict, List, Set

import torch
from torch import nn

from .builder import KIND_NODE, Value


def tensors_of(model: nn.Module) -> Set[int]:
    """Which parameters and buffers a model has, by their objects."""
    held = [tensors for module in model.modules() for tensors in (module._parameters, module._buffers)]
    return {id(tensor) for tensors in held for tensor in tensors.values() if tensor is not None}


def survivors(values: Dict[int, Value]) -> List[Value]:
    """The tensors of a run, by their objects, that something still refers to, as another run finds
    them. Takes `values`: nothing else may refer to the tensors of the run but the program and its
    model."""
    found = []
    for value in {id(value): value for value in values.values()}.values():
        found.append((value, weakref.ref(value.tensor)))
        value.twin = value.tensor = None  # type: ignore[assignment]
    values.clear()
    alive: List[Value] = []
    for value, object_of in found:
        tensor = object_of()
        if tensor is None:
            continue
        if hasattr(tensor, "_fix_weakref"):
            tensor._fix_weakref()  # only C++ refers to the base of a view
        value.tensor, value.twin = tensor, tensor if tensor.is_meta else None
        alive.append(value)
    for value in alive:
        if value.base is not None and value.base.tensor is None:
            value.base = None
    return alive


def is_made(value: Value) -> bool:
    """Whether a call of the run has made it of constants."""
    return value.computed is not None


def forget_run(value: Value) -> None:
    """As the next run finds it: what depended on inputs is not a constant that a program may read,
    and no call makes it."""
    value.drawn = value.drawn or (value.ref is not None and value.ref.kind == KIND_NODE)
    value.ref = value.computed = None
