"""Which torch function a callable is: its space (functions.def) and its name."""
from __future__ import annotations

import types
from typing import Any, Callable, Dict, NamedTuple, Optional

DUNDERS = {
    "__add__": "add",
    "__radd__": "add",
    "__sub__": "sub",
    "__rsub__": "rsub",
    "__mul__": "mul",
    "__rmul__": "mul",
    "__truediv__": "div",
    "__div__": "div",
    "__rtruediv__": "rdiv",
    "__rdiv__": "rdiv",
    "__floordiv__": "floor_divide",
    "__rfloordiv__": "rfloor_divide",
    "__mod__": "remainder",
    "__rmod__": "rmod",
    "__pow__": "pow",
    "__rpow__": "rpow",
    "__matmul__": "matmul",
    "__rmatmul__": "matmul",
    "__eq__": "eq",
    "__ne__": "ne",
    "__lt__": "lt",
    "__le__": "le",
    "__gt__": "gt",
    "__ge__": "ge",
    "__and__": "bitwise_and",
    "__rand__": "bitwise_and",
    "__or__": "bitwise_or",
    "__ror__": "bitwise_or",
    "__xor__": "bitwise_xor",
    "__rxor__": "bitwise_xor",
    "__lshift__": "bitwise_left_shift",
    "__rshift__": "bitwise_right_shift",
}
UNARY = {"__neg__": "neg", "__abs__": "abs", "__invert__": "bitwise_not", "__pos__": "positive"}
_INPLACE = {f"__i{name[2:]}": op for name, op in DUNDERS.items() if name[2] != "r" or name in ("__rshift__",)}


class Function(NamedTuple):
    """`space` as in functions.def, or: p a property of Tensor, d a binary operator of Python, D one
    in place, u a unary one, o an operator that a program has registered, ? any other."""

    space: str
    name: str
    callable: Any

    @property
    def is_python(self) -> bool:
        """Whether it is written in Python, so that what it calls can be recorded instead."""
        return isinstance(self.callable, types.FunctionType)

    @property
    def shown(self) -> str:
        """As people write it."""
        spaces = {
            "t": "torch.",
            "I": "torch.",
            "F": "F.",
            "f": "torch.fft.",
            "l": "torch.linalg.",
            "s": "torch.special.",
        }
        name = self.name + ("_" if self.space in "iI" else "")
        return spaces.get(self.space, "Tensor." if self.space in "mip" else "") + name


_OTHER_NAMES = {
    ("F", "_threshold"): "threshold",
    ("F", "log_sigmoid"): "logsigmoid",
    ("F", "fractional_max_pool2d"): "_fractional_max_pool2d",
    ("F", "fractional_max_pool3d"): "_fractional_max_pool3d",
    ("F", "fractional_max_pool2d_with_indices"): "_fractional_max_pool2d_with_indices",
    ("F", "fractional_max_pool3d_with_indices"): "_fractional_max_pool3d_with_indices",
}
_PREFIXES = {
    "torch._C._fft": ("f", "fft_"),
    "torch._C._linalg": ("l", "linalg_"),
    "torch._C._special": ("s", "special_"),
}
_LIBRARIES = ("aten", "prim", "prims", "torchvision")
_cache: Dict[Any, Function] = {}


def resolve(function: Any) -> Function:
    """Cached: torch has few functions, and a network calls them often."""
    key = (function.__self__, function.__name__) if _is_property(function) else function
    try:
        found = _cache.get(key)
    except TypeError:
        return _resolve(function)
    if found is None:
        found = _cache[key] = _resolve(function)
    return found


def written_in_python(operator: Any) -> Optional[Callable[..., Any]]:
    """The body of an operator that torch.library.custom_op() has registered; None for all
    others."""
    try:
        from torch._library.custom_ops import OPDEFS
    except ImportError:  # before torch 2.4
        return None
    name = getattr(operator, "_qualified_op_name", None) or getattr(getattr(operator, "_schema", None), "name", None)
    definition = OPDEFS.get(str(name))
    return getattr(definition, "_init_fn", None)


def _is_property(function: Any) -> bool:
    return getattr(function, "__name__", "") in ("__get__", "__set__", "__delete__")


def _resolve(function: Any) -> Function:
    name: str = getattr(function, "__name__", str(function))
    if _is_property(function):
        owner = getattr(function.__self__, "__name__", "?")
        if isinstance(function.__self__, property):
            owner = getattr(function.__self__.fget, "__name__", "?")
        return Function("p", owner if name == "__get__" else f"{owner}.{name}", function)
    module = getattr(function, "__module__", None) or ""
    qualname = getattr(function, "__qualname__", name)
    if hasattr(function, "_qualified_op_name") or type(function).__name__ in ("OpOverloadPacket", "OpOverload"):
        library = str(function).split(".")[0]
        plain = name.split(".")[0]
        inplace = plain.endswith("_") and not plain.endswith("__")
        if library not in _LIBRARIES:  # somebody's own relu() is not PyTorch's
            return Function("o", f"torch.ops.{library}.{plain}", function)
        return Function(
            "v" if library == "torchvision" else "i" if inplace else "m",
            plain.rstrip("_") if inplace else plain,
            function,
        )
    if "Tensor" in qualname.split(".")[0] or type(function).__name__ in ("method_descriptor", "wrapper_descriptor"):
        return _method(name, function)
    if module in _PREFIXES:
        space, prefix = _PREFIXES[module]
        return Function(space, name[len(prefix) :] if name.startswith(prefix) else name, function)
    space = "F" if module in ("torch.nn.functional", "torch._C._nn") else "t" if module.startswith("torch") else "?"
    if module == "torch.nn.init":  # its normal_() is not normal_() of torch
        return Function("?", name, function)
    if name.endswith("_") and not name.endswith("__"):
        return Function("I", name[:-1], function)
    return Function(space, _OTHER_NAMES.get((space, name), name), function)


def _method(name: str, function: Any) -> Function:
    if name in DUNDERS:
        return Function("d", DUNDERS[name], function)
    if name in _INPLACE:
        return Function("D", _INPLACE[name], function)
    if name in UNARY:
        return Function("u", UNARY[name], function)
    if name.endswith("_") and not name.endswith("__"):
        return Function("i", name[:-1], function)
    return Function("m", name, function)
