"""Deep copies of modules, as copy.deepcopy() makes them, in a fraction of its time.

A network is mostly modules, dictionaries and plain values, for which copy.deepcopy() asks each class
how it wants to be copied, and packs and unpacks its state. Here they are copied directly, if their
class leaves it to Python. Everything else goes to copy.deepcopy(), with the same memo.
"""
from __future__ import annotations

import collections
import copy
import copyreg
import types
import weakref
from typing import Any, Dict

import torch
from torch import nn

from . import closures

_ATOMS = frozenset((str, bytes, int, float, bool, complex, type(None), type(Ellipsis), type, range, torch.dtype))
_LEFT_TO_PYTHON = ("__new__", "__reduce__", "__reduce_ex__", "__getstate__", "__getattribute__")
_NOT_LEFT_TO_PYTHON = ("__deepcopy__", "__getnewargs__", "__getnewargs_ex__")
_KNOWS_AN_OBJECT = (weakref.ref, types.MethodType, types.MethodWrapperType, *weakref.ProxyTypes)
_KNOWS_NOTHING = (torch.Tensor, torch.Size, torch.device)
_NOTHING = object()
_HEAP_TYPE = 1 << 9  # of a class that is written in Python


def _holds_plain_values(value: Any, depth: int = 3) -> bool:
    """Whether it is an object that describes something: a configuration."""
    kind = type(value)
    if kind in _ATOMS:
        return True
    if depth == 0:
        return False
    if kind is dict:
        return all(_holds_plain_values(item, depth - 1) for pair in value.items() for item in pair)
    if kind in (list, tuple, set):
        return all(_holds_plain_values(item, depth - 1) for item in value)
    attributes = getattr(value, "__dict__", None)
    is_object = kind.__flags__ & _HEAP_TYPE and not isinstance(value, (dict, list, tuple, set, nn.Module))
    slots = any("__slots__" in vars(base) for base in kind.__mro__)
    return bool(is_object) and not slots and type(attributes) is dict and _holds_plain_values(attributes, depth)


class Copier:
    """Copies into a memo of copy.deepcopy(). `is_plain`: nothing that was copied holds a function or
    an object that may refer to the original."""

    def __init__(self, memo: Dict[int, Any]) -> None:
        self._memo = memo
        self._left_to_python: Dict[type, bool] = {}
        self.is_plain = True

    def copied(self, value: Any) -> Any:
        """What copy.deepcopy(value, memo) returns. All that it finds must stay alive while the memo
        is used."""
        kind = type(value)
        if kind in _ATOMS:
            return value
        made = self._memo.get(id(value), _NOTHING)
        if made is not _NOTHING:
            return made
        if kind is dict or kind is collections.OrderedDict and not vars(value):
            made = self._memo[id(value)] = kind()
            for key, item in value.items():
                made[key if type(key) is str else self.copied(key)] = self.copied(item)
            return made
        if kind is list:
            made = self._memo[id(value)] = []
            for item in value:
                made.append(self.copied(item))
            return made
        if kind is tuple:
            items = [self.copied(item) for item in value]
            if all(new is item for new, item in zip(items, value)):
                return value
            return self._memo.setdefault(id(value), tuple(items))
        if kind is set and all(type(item) is str for item in value):
            made = self._memo[id(value)] = set(value)
            return made
        if isinstance(value, nn.Module) and self._is_left_to_python(kind):
            return self._module(value)
        return self._other(value)

    def _module(self, module: nn.Module) -> nn.Module:
        kind: Any = type(module)
        made: nn.Module = kind.__new__(kind)
        self._memo[id(module)] = made
        copied = self.copied
        state = {name: item if type(item) in _ATOMS else copied(item) for name, item in vars(module).items()}
        made.__setstate__(state)  # type: ignore[no-untyped-call]
        return made

    def _other(self, value: Any) -> Any:
        made = copy.deepcopy(value, self._memo)
        if isinstance(value, (types.FunctionType, types.BuiltinFunctionType)):
            self.is_plain = self.is_plain and closures.is_shared(value)
        elif made is value:
            self.is_plain = self.is_plain and not isinstance(value, _KNOWS_AN_OBJECT)
        elif not isinstance(value, _KNOWS_NOTHING) and not _holds_plain_values(made):
            self.is_plain = False
        return made

    def _is_left_to_python(self, kind: Any) -> bool:
        """Whether a class says nothing about how its objects are copied, apart from how they take
        their state back. Asked for each network: a program may change its classes."""
        if kind not in self._left_to_python:
            self._left_to_python[kind] = (
                all(getattr(kind, name, None) is getattr(object, name, None) for name in _LEFT_TO_PYTHON)
                and kind.__getattr__ is nn.Module.__getattr__
                and not any(hasattr(kind, name) for name in _NOT_LEFT_TO_PYTHON)
                and not any("__slots__" in vars(base) for base in kind.__mro__)
                and kind not in copyreg.dispatch_table
            )
        return self._left_to_python[kind]
