"""What PyTorch refuses and its `meta` kernels take: types that do not go together, and constant
indices that lie outside."""
from __future__ import annotations

import re
from typing import Any, Callable, Dict, Iterator, List, Optional, Sequence, Tuple

import torch

from .binder import Bound
from .builder import Value, tensors_in
from .running import mapped

_MOST_REAL = 1 << 22  # elements of a call that is tried in its own size
_MOST_FOUND = 10_000
_NEGATIVE_TOO = frozenset("index_fill take put index_put".split())
_NEVER = frozenset("getitem setitem to type type_as new".split())
_OF_TYPES = re.compile("type|not implemented for|not support|integers", re.I)
_OF_INTEGERS = re.compile("bitwise_")  # a floating type is wrong there, though it be the only one
# Their `meta` kernels take each dimension.
_ANY_DIMENSION = frozenset("softmax log_softmax softmin gumbel_softmax sort argsort".split())
# That a CPU of this version has no kernel says nothing about other devices.
_OF_THIS_CPU = re.compile("not implemented for '(Half|BFloat16|ComplexHalf)'")
_ALL, _FLOATS, _INTEGERS = range(3)
_OF_OVERLAP = re.compile("single memory location")
_found: Dict[Any, Optional[Exception]] = {}


def refuse_types(call: Callable[..., Any], bound: Bound, args: Sequence[Any], kwargs: Dict[str, Any]) -> None:
    """Raises PyTorch's own error. `args` and `kwargs` are on `meta`.

    A call whose tensors have one floating type is taken as it is. Every other one runs on the CPU,
    with sizes of at most 2; where that fails and the same in float32 does not, the types are the
    reason. What cannot be made so small is tried in its own size.
    """
    tensors = tensors_in([args, kwargs])
    types = {tensor.dtype for tensor in tensors}
    takes_each = not _OF_INTEGERS.match(bound.operator.name)
    if len(types) == 1 and next(iter(types)).is_floating_point and takes_each or not types:
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
        errors = [_tried(call, args, kwargs, most, number) for number in (0, 1)]
        if None in errors:
            return None
        # Of indices the type stays, or nothing would take them; or only they are of a wrong one.
        others = ((torch.float32, _FLOATS), (torch.float32, _ALL), (torch.int64, _ALL), (torch.int64, _INTEGERS))
        if any(_tried(call, args, kwargs, most, number, *to) is None for number in (1, 0) for to in others):
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
    dtype: Optional[torch.dtype] = None,
    which: int = _ALL,
) -> Optional[Exception]:
    """The error of the call; with some of the tensors of another type."""

    def made(tensor: torch.Tensor) -> torch.Tensor:
        is_integer = not (tensor.is_floating_point() or tensor.is_complex() or tensor.dtype == torch.bool)
        is_meant = {_ALL: True, _FLOATS: tensor.is_floating_point(), _INTEGERS: is_integer}[which]
        of = dtype if dtype and is_meant else tensor.dtype
        shape = [size if most is None else min(size, most) for size in tensor.shape]
        return torch.full(shape, 1 if of.is_floating_point or of.is_complex else number, dtype=of)

    try:
        with torch.autocast("cpu", enabled=False):
            call(*mapped(made, tuple(args)), **mapped(made, kwargs))
    except Exception as error:
        return error.with_traceback(None)
    return None


def refuse_overlap(call: Callable[..., Any], bound: Bound, args: Sequence[Any], kwargs: Dict[str, Any]) -> None:
    """Writing to a tensor of which several elements are one, as expand() makes it: most kernels
    refuse that, and those on `meta` do not ask. `args` and `kwargs` are on `meta`."""
    tensors = tensors_in([args, kwargs])
    if not bound.inplace or not tensors or not _overlaps(tensors[0]):
        return
    most = None if sum(tensor.numel() for tensor in tensors) <= _MOST_REAL else 2

    def made(tensor: torch.Tensor) -> torch.Tensor:
        shape = [size if most is None else min(size, most) for size in tensor.shape]
        real = torch.zeros([1 if step == 0 else n for n, step in zip(shape, tensor.stride())], dtype=tensor.dtype)
        return real.expand(shape)

    try:
        call(*mapped(made, tuple(args)), **mapped(made, kwargs))
    except RuntimeError as error:
        if _OF_OVERLAP.search(str(error)):
            raise error.with_traceback(None)
    except Exception:
        pass  # of the sizes, or the numbers


def _overlaps(tensor: torch.Tensor) -> bool:
    return any(n > 1 and step == 0 for n, step in zip(tensor.shape, tensor.stride()))


def refuse_indices(bound: Bound, values: Sequence[Optional[Value]]) -> None:
    """As CheckKnownIndices() of frontend/python/torch/functions/functions.cc."""
    name, selects = bound.operator.name, bound.operator.selects
    if name in ("getitem", "setitem"):
        _refuse_items(bound, values)
    if name in _ANY_DIMENSION and values and values[0] is not None:
        dim, rank = bound.attributes.get("dim"), max(values[0].tensor.dim(), 1)
        if isinstance(dim, int) and not -rank <= dim < rank:
            raise IndexError(
                f"Dimension out of range (expected to be in range of [{-rank}, {rank - 1}], but got {dim})"
            )
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


def refuse_nothing_left(bound: Bound, values: Sequence[Optional[Value]], result: Any) -> None:
    """A kernel that is larger than its input: PyTorch 1.13 has no check of it on `meta`."""
    if not re.match(r"conv\dd$", bound.operator.name) or not isinstance(result, torch.Tensor) or result.numel() > 0:
        return
    image, weight = values[0], values[1]
    if image is None or weight is None or image.tensor.numel() == 0 or weight.tensor.numel() == 0:
        return
    size, kernel = (" x ".join(map(str, value.tensor.shape[2:])) for value in (image, weight))
    raise RuntimeError(
        f"Input size per channel: ({size}). Kernel size: ({kernel}). Kernel size can't be greater than actual input size"
    )


def _refuse_items(bound: Bound, values: Sequence[Optional[Value]]) -> None:
    if not values or values[0] is None:
        return
    shape = values[0].tensor.shape
    for dim, numbers in _places(str(bound.attributes["index"]), len(shape), values[1:]):
        for number in numbers:
            if dim < len(shape) and not -shape[dim] <= number < shape[dim]:
                raise IndexError(f"index {number} is out of bounds for dimension {dim} with size {shape[dim]}")


def _places(text: str, rank: int, tensors: Sequence[Optional[Value]]) -> Iterator[Tuple[int, List[int]]]:
    """The dimensions that lists and known tensors of an index (indexing.py) choose from, with the
    least and the largest of the numbers."""
    items = re.findall(r"\[(?:[^][]|\[[^][]*\])*\]|[^, ]+", text)
    takes = [_taken(item, tensors) for item in items]
    dim = 0
    for item, taken in zip(items, takes):
        if item == "...":
            dim += rank - sum(takes)
            continue
        numbers = [int(each) for each in re.findall(r"-?\d+", item)] if item[0] == "[" else []
        value = _tensor_of(item, tensors)
        if value is not None and value.is_known and not value.tensor.is_floating_point() and value.tensor.numel():
            if value.tensor.dtype not in (torch.bool, torch.uint8):
                numbers = [int(value.tensor.min()), int(value.tensor.max())]
        yield dim, numbers
        dim += taken


def _tensor_of(item: str, tensors: Sequence[Optional[Value]]) -> Optional[Value]:
    number = int(item[1:]) if re.fullmatch(r"T\d+", item) else len(tensors)
    return tensors[number] if number < len(tensors) else None


def _taken(item: str, tensors: Sequence[Optional[Value]]) -> int:
    """How many dimensions an item stands for."""
    value = _tensor_of(item, tensors)
    if value is not None and value.tensor.dtype in (torch.bool, torch.uint8):
        return value.tensor.dim()
    return 0 if item in ("None", "True", "False", "...") else 1


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
