"""x[index] as the text that the operators getitem and setitem have, by the rules of
frontend/python/torch/functions/indexing.cc."""
from __future__ import annotations

import operator
from typing import Any, Callable, List

import torch


class Index:
    """`text` names tensors T0, T1 ...; `items` is the index to run with."""

    def __init__(self) -> None:
        self.text: List[str] = []
        self.tensors: List[torch.Tensor] = []
        self.items: List[Any] = []
        self.by_mask = False

    def add(self, text: str, item: Any) -> None:
        """An item that is not a tensor."""
        self.text.append(text)
        self.items.append(item)

    def add_tensor(self, tensor: torch.Tensor) -> None:
        """An item that is one."""
        self.add(f"T{len(self.tensors)}", tensor)
        self.tensors.append(tensor)


def read(
    index: Any,
    is_known: Callable[[torch.Tensor], bool],
    is_constant: Callable[[torch.Tensor], bool],
    values_of: Callable[[torch.Tensor, str], List[Any]],
    writes: bool,
    of_constant: bool,
) -> Index:
    """`writes`: x[index] = ...; `of_constant`: x is one."""
    items = list(index) if isinstance(index, tuple) else [index]
    if isinstance(index, list) and len(index) < 32 and any(_stands_for_tuple(item) for item in index):
        items = list(index)
    items = [_plain(item, is_known) for item in items]
    read_index = Index()
    for item in items:
        if isinstance(item, torch.Tensor):
            known = is_known(item) and (len(items) > 1 or of_constant)
            if item.dtype in (torch.bool, torch.uint8) and (not writes or known):
                values_of(item, "indexing by a mask")
                read_index.by_mask = True
                for column in item.nonzero(as_tuple=True):
                    read_index.add_tensor(column)
            else:
                read_index.add_tensor(item)
        elif isinstance(item, slice):
            read_index.add(_slice_text(item, values_of), item)
        elif item is None or isinstance(item, bool):
            read_index.add(str(item), item)
        elif item is Ellipsis:
            read_index.add("...", item)
        elif isinstance(item, (list, tuple, range)):
            read_index.add(_list_text(item, values_of), list(item))
        else:
            read_index.add(str(operator.index(item)), item)
    return read_index


def _stands_for_tuple(item: Any) -> bool:
    """As in old versions of numpy, a list that contains more than numbers is a tuple."""
    if isinstance(item, list):
        return not _holds_booleans(item)
    if isinstance(item, torch.Tensor):
        return item.dim() > 0
    return isinstance(item, (tuple, slice)) or item is None or item is Ellipsis


def _holds_booleans(item: Any) -> bool:
    while isinstance(item, list) and item:
        item = item[0]
    return isinstance(item, bool)


def _plain(item: Any, is_known: Callable[[torch.Tensor], bool]) -> Any:
    if type(item).__module__ == "numpy" and hasattr(item, "tolist"):
        item = item.tolist() if item.dtype != bool else torch.from_numpy(item)
    if isinstance(item, list) and _holds_booleans(item):
        return torch.tensor(item)
    if isinstance(item, torch.Tensor) and item.dim() == 0 and not item.is_floating_point() and is_known(item):
        return item.item()
    return item


def _int(item: Any, values_of: Callable[[torch.Tensor, str], List[Any]]) -> int:
    return int(values_of(item, "a slice by a tensor")[0]) if isinstance(item, torch.Tensor) else operator.index(item)


def _slice_text(item: slice, values_of: Callable[[torch.Tensor, str], List[Any]]) -> str:
    start, stop, step = (None if part is None else _int(part, values_of) for part in (item.start, item.stop, item.step))
    text = f"{'' if start is None else start}:{'' if stop is None else stop}"
    return text if step is None else f"{text}:{step}"


def _list_text(items: Any, values_of: Callable[[torch.Tensor, str], List[Any]]) -> str:
    parts = [
        _list_text(item, values_of) if isinstance(item, (list, tuple)) else str(_int(item, values_of)) for item in items
    ]
    return "[" + ", ".join(parts) + "]"
