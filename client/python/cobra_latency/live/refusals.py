"""What PyTorch refuses and its `meta` kernels take: types that do not go together, and constant indices that lie outside."""
from __future__ import annotations

import re
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

import torch

from .binder import Bound
from .builder import Value, tensors_in
from .running import mapped

_MOST_REAL = 1 << 22  # elements of a call that is tried in its own size
_MOST_FOUND = 10_000
_NEGATIVE_TOO = frozenset("index_fill take put index_put".split())
_NEVER = frozenset("getitem setitem to type type_as new".split())
_OF_TYPES = re.compile("dtype|scalar type|not implemented for|data type|type", re.I)
# That a CPU of this version has no kernel says nothing about other devices.
_OF_THIS_CPU = re.compile("not implemented for '(Half|BFloat16|ComplexHalf)'")
_found: Dict[Any, Optional[Exception]] = {}


def refuse_types(call: Callable[..., Any], bound: Bound, args: Sequence[Any], kwargs: Dict[str, Any]) -> None:
    """Raises PyTorch's own error. `args` and `kwargs` are on `meta`.

    A call whose tensors have one floating type is taken as it is. Every other one runs on the CPU, with sizes of at most 2; where that fails and the
    same in float32 does not, the types are the reason. What cannot be made so small is tried in its own size.
    """
    tensors = tensors_in([args, kwargs])
    types = {tensor.dtype for tensor in tensors}
    if len(types) == 1 and next(iter(types)).is_floating_point or not types:
        return
    if bound.operator.cost == "view" or bound.operator.name in _NEVER:
        return
    key = (bound.operator.name, str(bound.attributes), tuple((t.dtype, tuple(t.shape)) for t in tensors))
    if len(_found) > _MOST_FOUND:
        _found.clear()
    if key not in _found:
        _found[key] = _refusal(call, args, kwargs, sum(tensor.numel() for tensor in tensors))
    error = _found[key]
    if error is not None:
        raise type(error)(*error.args)


def _refusal(
    call: Callable[..., Any], args: Sequence[Any], kwargs: Dict[str, Any], elements: int
) -> Optional[Exception]:
    for most in (2, None) if elements <= _MOST_REAL else (2,):
        errors = [_tried(call, args, kwargs, most, number, None) for number in (0, 1)]
        if None in errors:
            return None
        if _tried(call, args, kwargs, most, 1, torch.float32) is None:
            error = errors[0]
            text = str(error)
            return error if _OF_TYPES.search(text) and not _OF_THIS_CPU.search(text) else None
    return None


def _tried(
    call: Callable[..., Any],
    args: Sequence[Any],
    kwargs: Dict[str, Any],
    most: Optional[int],
    number: int,
    dtype: Optional[torch.dtype],
) -> Optional[Exception]:
    def made(tensor: torch.Tensor) -> torch.Tensor:
        of = dtype or tensor.dtype
        shape = [size if most is None else min(size, most) for size in tensor.shape]
        return torch.full(shape, 1 if of.is_floating_point or of.is_complex else number, dtype=of)

    try:
        with torch.autocast("cpu", enabled=False):
            call(*mapped(made, tuple(args)), **mapped(made, kwargs))
    except Exception as error:
        return error.with_traceback(None)
    return None


def refuse_indices(bound: Bound, values: Sequence[Optional[Value]]) -> None:
    """As CheckKnownIndices() of frontend/python/torch/functions.cc."""
    name, selects = bound.operator.name, bound.operator.selects
    for number, value in enumerate(values):
        what = selects[min(number, len(selects) - 1)] if selects else ""
        if what not in ("dim", "each", "element", "row") or value is None or not value.is_known:
            continue
        if value.tensor.dtype not in (torch.int64, torch.int32) or value.tensor.numel() == 0:
            continue
        source = values[1 if what == "row" else 0]
        place = _dimension(what, number, bound, source)
        if source is None or place is None:
            continue
        dim, size = place
        least, most = int(value.tensor.min()), int(value.tensor.max())
        if most >= size or least < (-size if name in _NEGATIVE_TOO else 0):
            wrong = most if most >= size else least
            raise IndexError(f"{name}(): index {wrong} is out of bounds for dimension {dim} with size {size}")


def _dimension(what: str, number: int, bound: Bound, source: Optional[Value]) -> Optional[Tuple[int, int]]:
    if source is None:
        return None
    shape: List[int] = list(source.tensor.shape)
    if what == "element":
        return 0, source.tensor.numel()
    dim = 0
    if what == "dim":
        given = bound.attributes.get("dim")
        if not isinstance(given, int):
            return None
        dim = given % max(len(shape), 1)
    elif what == "each":
        dim = number - 2  # after the tensor and the values
    if not shape:
        return dim, 1
    return (dim, shape[dim]) if 0 <= dim < len(shape) else None
