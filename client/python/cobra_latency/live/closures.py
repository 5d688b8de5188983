"""Functions that a module holds (hooks, a forward() of one's own) act on its copy, not on the
user's module.

copy.deepcopy() takes functions as they are: a hook `lambda m, i, o: self.seen.append(o)` of the
copy would write into the original. Here what such a function closes over, and its defaults, are
replaced by their copies.
"""
from __future__ import annotations

import copy
import functools
import types
import weakref
from typing import Any, Dict, Set

import torch
from torch import nn


def rebind(model: nn.Module, memo: Dict[int, Any]) -> None:
    """`model`: the copy; `memo`: copies by the objects that they are of, as copy.deepcopy() has
    them."""
    rebinder = _Rebinder(memo)
    for module in list(model.modules()):
        rebinder.value(module)


def copied(value: Any, memo: Dict[int, Any]) -> Any:
    """A deep copy; the value itself where it has none. `memo` keeps all objects alive whose ids it
    has."""
    trial = dict(memo)  # a copy that fails leaves halves of it
    alive = memo.setdefault(id(memo), [])
    try:
        made = copy.deepcopy(value, trial)
    except Exception:
        return value
    alive += [value, made, *trial.pop(id(trial), [])]  # the next dictionary may have the same id
    memo.update(trial)
    return made


def is_shared(function: Any) -> bool:
    """Whether a function refers to nothing of which there may be a copy."""
    if not isinstance(function, types.FunctionType):  # of C: a method knows its object
        owner = getattr(function, "__self__", None)
        return owner is None or isinstance(owner, (types.ModuleType, type))
    if not (function.__closure__ or function.__defaults__ or function.__kwdefaults__):
        return True
    homes = (function.__module__, function.__globals__.get("__name__"))  # functools.wraps() changes the first
    return all(str(home).split(".")[0] == "torch" for home in homes)  # knows no module of the user's


class _Rebinder:
    def __init__(self, memo: Dict[int, Any]) -> None:
        self._memo = memo
        self._copies: Set[int] = {id(made) for made in memo.values()}
        self._entered: Set[int] = set()
        self._cells: Dict[int, types.CellType] = {}
        self._kept = [memo]  # ids are those of living objects

    def value(self, value: Any) -> Any:
        """The same object, or what takes its place. Objects that are copies are changed in
        place."""
        if isinstance(value, types.FunctionType):
            return self._function(value)
        if isinstance(value, types.MethodType):
            function, owner = self.value(value.__func__), self._copied(value.__self__)
            same = function is value.__func__ and owner is value.__self__
            return value if same else types.MethodType(function, owner)
        if isinstance(value, (types.BuiltinMethodType, types.MethodWrapperType)):
            owner = getattr(value, "__self__", None)  # of seen.append a list, of len a module
            made = self._memo.get(id(owner), owner)
            return value if made is owner else getattr(made, value.__name__)
        if type(value) is functools.partial:
            return self._partial(value)
        if isinstance(value, weakref.ref):
            target = value()
            made = self._memo.get(id(target)) if target is not None else None
            return value if made is None else weakref.ref(made)
        if type(value) is tuple:
            items = tuple(self.value(item) for item in value)
            return items if any(a is not b for a, b in zip(items, value)) else value
        if id(value) in self._copies and id(value) not in self._entered and not _is_of_torch(value):
            self._entered.add(id(value))
            self._inside(value)
        return value

    def _inside(self, value: Any) -> None:
        if isinstance(value, torch.Tensor):
            return
        if isinstance(value, dict):
            for key, item in list(dict.items(value)):
                new = self.value(item)
                if new is not item:
                    dict.__setitem__(value, key, new)
        elif isinstance(value, list):
            for place, item in enumerate(value):
                value[place] = self.value(item)
        if isinstance(getattr(value, "__dict__", None), dict):
            attributes = vars(value)
            for name, item in list(attributes.items()):
                # torch.nn.Module keeps its hooks and children in dictionaries, which deepcopy may
                # have left unnoted
                if isinstance(item, (dict, list)) and isinstance(value, nn.Module):
                    self._copies.add(id(item))
                new = self.value(item)
                if new is not item:
                    attributes[name] = new

    def _partial(self, value: Any) -> Any:
        function = self.value(value.func)
        arguments = [self.value(item) for item in value.args]
        keywords = {name: self.value(item) for name, item in value.keywords.items()}
        before = [value.func, *value.args, *value.keywords.values()]
        after = [function, *arguments, *keywords.values()]
        if all(a is b for a, b in zip(before, after)):
            return value
        return functools.partial(function, *arguments, **keywords)

    def _function(self, function: types.FunctionType) -> types.FunctionType:
        if id(function) in self._memo:
            found: types.FunctionType = self._memo[id(function)]
            return found
        if is_shared(function):
            return function
        made = types.FunctionType(
            function.__code__,
            function.__globals__,
            function.__name__,
            None,
            tuple(map(self._cell, function.__closure__)) if function.__closure__ else None,
        )
        self._memo[id(function)] = self._memo[id(made)] = made
        self._kept += [function, made]  # type: ignore[list-item]
        for name in functools.WRAPPER_ASSIGNMENTS:
            if hasattr(function, name):
                setattr(made, name, getattr(function, name))
        made.__dict__.update(vars(function))
        for cell in function.__closure__ or ():
            self._fill(cell)
        made.__defaults__ = tuple(map(self._copied, function.__defaults__)) if function.__defaults__ else None
        keywords = function.__kwdefaults__
        made.__kwdefaults__ = {name: self._copied(item) for name, item in keywords.items()} if keywords else None
        return made

    def _cell(self, cell: types.CellType) -> types.CellType:
        """One cell for all functions that share it."""
        if id(cell) not in self._cells:
            self._cells[id(cell)] = types.CellType()
            self._kept.append(cell)  # type: ignore[arg-type]
        return self._cells[id(cell)]

    def _fill(self, cell: types.CellType) -> None:
        made = self._cells[id(cell)]
        if made is cell or _is_filled(made) or not _is_filled(cell):
            return
        made.cell_contents = cell.cell_contents  # for functions that refer to themselves
        made.cell_contents = self._copied(cell.cell_contents)

    def _copied(self, value: Any) -> Any:
        """The copy of what a function refers to; what cannot be copied is shared."""
        if id(value) in self._memo:
            return self._memo[id(value)]
        if id(value) in self._copies:
            return value
        if isinstance(value, weakref.ProxyTypes):
            target = value.__repr__.__self__
            return weakref.proxy(self._memo[id(target)]) if id(target) in self._memo else value
        if isinstance(value, (types.FunctionType, types.BuiltinMethodType, types.MethodWrapperType, weakref.ref)):
            return self.value(value)
        known = set(self._memo)
        _share_tensors(value, self._memo, 3)
        made = copied(value, self._memo)
        self._copies.update(id(new) for key, new in self._memo.items() if key not in known)
        return self.value(made)


def _share_tensors(value: Any, memo: Dict[int, Any], depth: int) -> None:
    """Weights of other networks (a teacher, a trainer's) are not copied."""
    if isinstance(value, nn.Module):
        for tensor in (*value.parameters(), *value.buffers()):
            memo.setdefault(id(tensor), tensor)
    elif depth > 0:
        inside = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ()
        attributes = getattr(value, "__dict__", None)
        for item in (*inside, *(attributes.values() if isinstance(attributes, dict) else ())):
            _share_tensors(item, memo, depth - 1)


def _is_of_torch(value: Any) -> bool:
    """Graphs of torch.fx and the like, which refer to what only C++ may copy."""
    return type(value).__module__.split(".")[0] == "torch" and not isinstance(value, nn.Module)


def _is_filled(cell: types.CellType) -> bool:
    try:
        cell.cell_contents
    except ValueError:
        return False
    return True
