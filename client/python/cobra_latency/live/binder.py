"""Binds the arguments of a call to a signature, by the rules of
frontend/python/torch/functions/binder.cc."""
from __future__ import annotations

import numbers
import operator as python_operator
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple

import torch

from . import table

_OTHER_NAMES = {
    "self": "input",
    "x": "input",
    "axis": "dim",
    "keepdims": "keepdim",
    "min_": "min",
    "_random_samples": "random_samples",
}
_WITHOUT_EFFECT = ("memory_format", "device", "non_blocking", "generator", "_stacklevel")


class Mismatch(Exception):
    """The arguments do not fit this signature."""


class Bound:
    """A call of an operator: tensors by position, attributes by name."""

    def __init__(self, operator: table.Operator) -> None:
        self.operator = operator
        self.inputs: List[Optional[torch.Tensor]] = [None] * (len(operator.inputs) - operator.variadic)
        self.attributes: Dict[str, Any] = {}
        self.inplace = False
        self.reduce: Optional[bool] = None
        self.size_average: Optional[bool] = None

    def set(self, parameter: table.Parameter, value: Any) -> None:
        """An attribute; None and alpha=1 are left out, `inplace` is not one."""
        if value is None:
            return
        if parameter.name == "inplace":
            self.inplace = bool(value)
        elif not (parameter.name == "alpha" and type(value) is int and value == 1):
            self.attributes[parameter.attribute] = value


class Binder:
    """Binds one call. `values_of` gives the numbers of a constant tensor, or raises what is to be
    shown to the user."""

    def __init__(self, overload: table.Overload, values_of: Callable[[torch.Tensor, str], List[Any]]) -> None:
        self.overload = overload
        self.values_of = values_of
        self.bound = Bound(overload.operator)

    def bind(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Bound:
        """Raises Mismatch."""
        positional = list(args)
        used = set()
        for parameter in self.overload.parameters:
            if not parameter.keyword_only and positional:
                positional = self._take_positional(parameter, positional)
                continue
            key = self._keyword(parameter.name, kwargs)
            if key is not None:
                used.add(key)
                self._take(parameter, kwargs[key])
            elif parameter.kind == "I*?":
                self.bound.set(parameter, [])
            elif parameter.required:
                raise Mismatch(f'missing argument "{parameter.name}"')
            elif parameter.slot < 0 and not parameter.dropped:
                self.bound.set(parameter, parameter.default)
        if positional:
            raise Mismatch("too many positional arguments")
        unknown = [
            key for key in kwargs if key not in used and kwargs[key] is not None and not self._may_be_ignored(key)
        ]
        if unknown:
            raise Mismatch(f"unexpected keyword argument '{unknown[0]}'")
        if self.bound.reduce is not None or self.bound.size_average is not None:
            reduces, averages = self.bound.reduce is not False, self.bound.size_average is not False
            self.bound.attributes["reduction"] = "none" if not reduces else "mean" if averages else "sum"
        return self.bound

    def _take_positional(self, parameter: table.Parameter, positional: List[Any]) -> List[Any]:
        first = positional[0]
        if parameter.kind == "T*" and (isinstance(first, torch.Tensor) or len(positional) > 1):
            self._take_tensors(parameter, positional)
            return []
        if parameter.kind in ("I*", "I*?") and not isinstance(first, (list, tuple)):
            self.bound.set(parameter, [self._int(parameter, item) for item in positional])
            return []
        self._take(parameter, first)
        return positional[1:]

    @staticmethod
    def _keyword(name: str, kwargs: Mapping[str, Any]) -> Optional[str]:
        if name in kwargs:
            return name
        return next((key for key in kwargs if _OTHER_NAMES.get(key) == name), None)

    def _may_be_ignored(self, key: str) -> bool:
        names = (key, _OTHER_NAMES.get(key))
        return key in _WITHOUT_EFFECT or any(parameter.name in names for parameter in self.overload.parameters)

    def _take_tensors(self, parameter: table.Parameter, items: Sequence[Any]) -> None:
        if not all(isinstance(item, torch.Tensor) for item in items):
            raise Mismatch(f"argument '{parameter.name}' must be a tuple of tensors")
        self.bound.inputs.extend(items)

    def _take(self, parameter: table.Parameter, value: Any) -> None:
        kind = parameter.kind
        if parameter.dropped:
            if value is not None and parameter.name in ("size_average", "reduce"):
                setattr(self.bound, parameter.name, bool(value))
        elif parameter.slot >= 0 and kind != "TN":
            self._take_input(parameter, value)
        elif value is None:
            if not parameter.takes_none:
                raise Mismatch(f"argument '{parameter.name}' must be given")
        else:
            self._take_value(parameter, kind, value)

    def _take_input(self, parameter: table.Parameter, value: Any) -> None:
        if parameter.kind in ("T[]", "T*"):
            if not isinstance(value, (list, tuple)):
                raise Mismatch(f"argument '{parameter.name}' must be a tuple of tensors")
            self._take_tensors(parameter, value)
        elif isinstance(value, torch.Tensor):
            self.bound.inputs[parameter.slot] = value
        elif value is not None or not (parameter.kind == "T?" or not parameter.required):
            raise Mismatch(f"argument '{parameter.name}' must be a tensor")

    def _take_value(self, parameter: table.Parameter, kind: str, value: Any) -> None:
        if kind == "TN":
            if isinstance(value, complex):
                value = torch.tensor(value)
            if isinstance(value, torch.Tensor):
                self.bound.inputs[parameter.slot] = value
            else:
                self.bound.set(parameter, self._number(parameter, value))
        elif kind == "N":
            self.bound.set(parameter, self._number(parameter, value))
        elif kind == "f":
            number = self._number(parameter, value)
            given = type(number) is int and type(parameter.default) is int and number == parameter.default
            self.bound.set(parameter, number if parameter.name == "p" or given else float(number))
        elif kind == "i":
            self.bound.set(parameter, self._int(parameter, value))
        elif kind in ("b", "bt"):
            if kind == "b" and not isinstance(value, bool):
                raise Mismatch(f"argument '{parameter.name}' must be bool")
            self.bound.set(parameter, bool(value))
        elif kind == "s":
            if not isinstance(value, str):
                raise Mismatch(f"argument '{parameter.name}' must be str")
            self.bound.set(parameter, value)
        elif kind == "dt":
            self.bound.set(parameter, dtype_name(value))
        elif kind in ("FL", "A"):
            self.bound.set(parameter, self._any(parameter, value))
        else:
            self.bound.set(parameter, self._ints(parameter, kind, value))

    def _ints(self, parameter: table.Parameter, kind: str, value: Any) -> Any:
        count = table.COUNTS.get(kind, 0)
        if kind.endswith("s") and isinstance(value, str):
            return value
        if isinstance(value, torch.Tensor) and parameter.name == "indices" and value.dim() == 1:
            return [int(v) for v in self.values_of(value, "tensor_split() at indices")]
        if not isinstance(value, (list, tuple)):
            if kind == "I":
                raise Mismatch(f"argument '{parameter.name}' must be a tuple of ints")
            number = self._int(parameter, value)
            return number if kind == "II" else [number] * max(count, 1)
        if kind.startswith("O"):
            items = [-1 if item is None else self._int(parameter, item) for item in value]
        else:
            items = [int(v) if isinstance(v, bool) and k > 0 else self._int(parameter, v) for k, v in enumerate(value)]
        return items * count if len(items) == 1 and count > 1 else items

    def _int(self, parameter: table.Parameter, value: Any) -> int:
        if isinstance(value, bool) and parameter.name not in ("embed_dim_to_check", "num_heads"):
            raise Mismatch(f"argument '{parameter.name}' must be int")
        if isinstance(value, torch.Tensor):
            fits = value.dim() == 0 if parameter.kind == "i" else value.numel() == 1
            if not fits or value.is_floating_point():
                raise Mismatch(f"argument '{parameter.name}' must be int")
            return int(self.values_of(value, f"argument '{parameter.name}'")[0])
        try:
            return python_operator.index(value)
        except TypeError:
            raise Mismatch(f"argument '{parameter.name}' must be int") from None

    def _number(self, parameter: table.Parameter, value: Any) -> Any:
        if isinstance(value, torch.Tensor) and value.numel() == 1 and not value.is_complex():
            value = self.values_of(value, f"argument '{parameter.name}'")[0]
        number = as_number(value)
        if number is None:
            raise Mismatch(f"argument '{parameter.name}' must be a number")
        return number

    def _any(self, parameter: table.Parameter, value: Any) -> Any:
        if isinstance(value, str):
            return value
        if not isinstance(value, (list, tuple)):
            return self._number(parameter, value)
        items = [self._number(parameter, item) for item in value]
        integers = all(not isinstance(item, float) for item in items)
        return [int(item) if integers else float(item) for item in items]


def as_number(value: Any) -> Any:
    """A bool, an int or a float of Python, also for numbers of numpy; None if it is not one.

    >>> as_number(True), as_number(2), as_number("2")
    (True, 2, None)
    """
    if isinstance(value, bool):
        return value
    if isinstance(value, numbers.Integral) or (hasattr(value, "__index__") and not isinstance(value, torch.Tensor)):
        return python_operator.index(value)
    if isinstance(value, numbers.Real):
        return float(value)
    return None


def dtype_name(value: Any) -> str:
    """The name of torch.float32, or of Python's own float, int, bool.

    >>> dtype_name(torch.float32), dtype_name(int)
    ('float32', 'int64')
    """
    own = {float: torch.get_default_dtype(), int: torch.int64, bool: torch.bool}
    value = own.get(value, value) if isinstance(value, type) else value
    if not isinstance(value, torch.dtype):
        raise Mismatch("dtype must be torch.dtype")
    return str(value)[6:]


def bind(
    overloads: Sequence[table.Overload],
    version: Tuple[int, int],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    values_of: Callable[[torch.Tensor, str], List[Any]],
) -> Bound:
    """The first overload that fits; raises Mismatch with the last one's reason."""
    problem = "no way to call it in this version of torch"
    for overload in overloads:
        if version < overload.since:
            continue
        try:
            return Binder(overload, values_of).bind(args, kwargs)
        except Mismatch as mismatch:
            problem = str(mismatch)  # the exception itself would keep all frames alive, and what they hold
    raise Mismatch(problem)
