"""Looks into functions of torch that are written in Python."""
from __future__ import annotations

import types
from typing import Any, Callable, Dict

import torch


class _With:
    """A module with some of its names replaced."""

    def __init__(self, module: Any, **names: Any) -> None:
        self.__dict__.update(names)
        self._module = module

    def __getattr__(self, name: str) -> Any:
        return getattr(self._module, name)


def _no(*_: Any) -> bool:
    return False


_NO_DISPATCH = {"has_torch_function": _no, "has_torch_function_unary": _no, "has_torch_function_variadic": _no}
_TORCH = _With(torch, overrides=_With(torch.overrides, **_NO_DISPATCH))


def without_dispatch(function: Callable[..., Any]) -> Callable[..., Any]:
    """The body of a function of torch without its first lines, which would hand the call to the
    recorder again."""
    names: Dict[str, Any] = dict(_NO_DISPATCH)
    if function.__globals__.get("torch") is torch:
        names["torch"] = _TORCH
    body = types.FunctionType(
        function.__code__,
        {**function.__globals__, **names},
        function.__name__,
        function.__defaults__,
        function.__closure__,
    )
    body.__kwdefaults__ = function.__kwdefaults__
    return body
