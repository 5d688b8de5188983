"""What a run would leave in the user's program outside of the module: a hook that keeps its output
in a global dictionary, a class that keeps a mask. Tensors on `meta` that a run has put there are
taken out again; the module itself needs none of this, for a copy of it runs (copies.py)."""
from __future__ import annotations

import collections
import contextlib
import functools
import operator
import os
import sys
import types
from typing import Any, Dict, Iterable, Iterator, List, Sequence, Tuple

import torch
from torch import nn

_DEPTH = 3  # of containers in containers
_MOST = 200_000  # objects that are looked at
_LONG = 10_000  # a container of so many items is data, and left alone
_NOT_THE_USERS = frozenset(("torch", "torchvision", "numpy", "builtins", "cobra_latency"))
_LIBRARIES = {"site-packages", "dist-packages"}
_STANDARD = os.path.dirname(os.path.abspath(os.__file__)) + os.sep
_PLAIN = (str, bytes, int, float, complex, type(None), torch.Tensor, torch.dtype, torch.device, types.ModuleType)
_DICTIONARIES = frozenset((dict, collections.OrderedDict))
_PLAIN_TYPES = frozenset((*_PLAIN, bool, torch.nn.Parameter))
_CONTAINERS = (dict, list, set, tuple)
_EMPTY: Dict[Any, Any] = {}


@contextlib.contextmanager
def untouched(model: nn.Module) -> Iterator[None]:
    """While a copy of the model runs."""
    modules = list(model.modules())
    before = _Before(modules)
    for module in modules:
        before.keep(vars(module), _DEPTH)
    for kind in dict.fromkeys(map(type, modules)):
        before.keep_class(kind)
    try:
        yield
    finally:
        before.restore()


class _Before:
    """The items of dictionaries, lists, sets and classes, as they were."""

    def __init__(self, modules: Sequence[nn.Module]) -> None:
        """`modules` are kept by themselves, wherever else they are found."""
        self._seen: Dict[int, int] = {id(module): _DEPTH for module in modules}  # by which depth
        self._alive: List[Any] = []  # ids are those of living objects
        self._items: List[Tuple[Any, Any]] = []

    def keep_class(self, kind: type) -> None:
        """A class, those it is derived from, and the modules of Python that they are in."""
        for one in kind.__mro__:
            if not _is_the_users(one.__module__) or not self._is_first(one, _DEPTH):
                continue
            self._items.append((one, dict(vars(one))))
            for item in dict(vars(one)).values():
                self.keep(getattr(item, "__func__", item), _DEPTH)

    def keep(self, value: Any, depth: int) -> None:
        """What can be reached from a value in a few steps."""
        kind = type(value)
        if kind in _PLAIN_TYPES:
            return
        if kind not in _DICTIONARIES and isinstance(value, _PLAIN) or not self._is_first(value, depth):
            return
        if kind in _DICTIONARIES and len(value) <= _LONG:  # most of a module
            items = dict(value)
            self._items.append((value, items))
            self._keep_all(items.values(), depth - 1)
            return
        if isinstance(value, _CONTAINERS) and type(value).__module__ not in ("builtins", "collections"):
            return  # one that may load what it has when it is asked
        if isinstance(value, _CONTAINERS) and len(value) > _LONG:
            return
        if isinstance(value, types.FunctionType):
            self._keep_function(value, depth)
        elif isinstance(value, types.MethodType):
            self.keep(value.__self__, depth)
            self.keep(value.__func__, depth)
        elif isinstance(value, dict):
            self._items.append((value, dict(value)))
            self._keep_all(list(value.values()), depth - 1)
        elif isinstance(value, (list, set)):
            self._items.append((value, type(value)(value) if type(value) in (list, set) else list(value)))
            self._keep_all(list(value), depth - 1)
        elif isinstance(value, tuple):
            self._keep_all(value, depth - 1)
        elif isinstance(value, type):
            self.keep_class(value)
        elif isinstance(getattr(value, "__dict__", None), dict) and _is_the_users(type(value).__module__):
            self.keep_class(type(value))
            self.keep(vars(value), depth)

    def _keep_all(self, values: Iterable[Any], depth: int) -> None:
        if depth <= 0:
            return
        seen = self._seen
        for value in values:
            kind = type(value)
            if kind in _PLAIN_TYPES:
                continue
            if kind in _DICTIONARIES and not value:  # most of a module: hooks that nobody has registered
                if id(value) not in seen:
                    seen[id(value)] = depth
                    self._alive.append(value)
                    self._items.append((value, _EMPTY))
            else:
                self.keep(value, depth)

    def _keep_function(self, function: types.FunctionType, depth: int) -> None:
        if not _is_the_users(function.__module__ or ""):
            return
        for cell in function.__closure__ or ():
            with contextlib.suppress(ValueError):  # one that is empty
                self.keep(cell.cell_contents, depth)
        self.keep(function.__defaults__, depth)
        self.keep(function.__globals__, _DEPTH - 1)

    def _is_first(self, value: Any, depth: int) -> bool:
        """Whether nobody has come here with as many steps left."""
        key = id(value)
        before = self._seen.get(key, 0)
        if depth <= before or len(self._seen) > _MOST:
            return False
        if not before:
            self._alive.append(value)
        self._seen[key] = depth
        return True

    def restore(self) -> None:
        """Takes out what the run has put in, where it is a tensor without numbers."""
        for holder, items in self._items:
            if isinstance(holder, type):
                _restore_class(holder, items)
            elif isinstance(holder, dict):
                _restore_dictionary(holder, items)
            elif len(holder) != len(items) or any(a is not b for a, b in zip(holder, items)):
                if any(map(_is_new, _not_in(holder, items))):
                    holder.clear()
                    (holder.extend if isinstance(holder, list) else holder.update)(items)


def _restore_dictionary(holder: Dict[Any, Any], items: Dict[Any, Any]) -> None:
    if not holder and not items:
        return
    if holder.keys() == items.keys() and all(map(operator.is_, map(holder.__getitem__, items), items.values())):
        return
    for key, value in list(holder.items()):
        if (key not in items or items[key] is not value) and _is_new(value):
            if key in items:
                holder[key] = items[key]
            else:
                del holder[key]
    for key in items.keys() - holder.keys():
        if isinstance(items[key], torch.Tensor):  # a cache that was emptied for the run's own
            holder[key] = items[key]


def _restore_class(kind: type, items: Dict[str, Any]) -> None:
    for name, value in list(vars(kind).items()):
        if (name not in items or items[name] is not value) and _is_new(value):
            if name in items:
                setattr(kind, name, items[name])
            else:
                delattr(kind, name)


def _not_in(holder: Any, items: Any) -> List[Any]:
    known = set(map(id, items))
    return [item for item in holder if id(item) not in known]


def _is_new(value: Any, depth: int = _DEPTH) -> bool:
    """Whether it is, or holds, a tensor that a run on `meta` has made."""
    if isinstance(value, torch.Tensor):
        return value.is_meta
    if depth == 0 or isinstance(value, (*_PLAIN, type)):
        return False
    if isinstance(value, dict):
        return any(_is_new(item, depth - 1) for item in list(value.values()))
    if isinstance(value, (list, tuple, set)):
        return any(_is_new(item, depth - 1) for item in list(value))
    attributes = getattr(value, "__dict__", None)
    return isinstance(attributes, dict) and any(_is_new(item, depth - 1) for item in list(attributes.values()))


@functools.lru_cache(maxsize=None)
def _is_the_users(module: str) -> bool:
    """Libraries are not: they are large, and keep nothing of a run in what is global."""
    file = getattr(sys.modules.get(module), "__file__", None)
    if module.split(".")[0] in _NOT_THE_USERS or module in sys.builtin_module_names:
        return False
    return file is None or not set(os.path.abspath(file).split(os.sep)) & _LIBRARIES and not file.startswith(_STANDARD)
