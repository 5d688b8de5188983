"""Tensors that a program makes of no other: zeros, arange, tensor([1, 2]), random numbers. Each is
a call without inputs, with the attributes that frontend/python/torch/functions/creation.cc gives
it. What torch has in C++ only and COBRA has no operator for (windows) is written with calls that it
has."""
from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Optional, Sequence, Tuple

import torch

from . import binder
from .builder import node_ref, tensors_in
from .functions import Function

if TYPE_CHECKING:
    from .recorder import Recorder

# Elements of a constant whose numbers are computed: they determine shapes, and index tables are
# small.
MOST_KNOWN = 1 << 20

_OF_DATA = frozenset("tensor as_tensor asarray new_tensor scalar_tensor".split())
_FILLING = "zeros ones empty full rand randn randint".split()
_OPERATORS = {
    **{name: name for name in (*_FILLING, *"randperm arange linspace eye tril_indices triu_indices".split())},
    **{name + "_like": name for name in _FILLING},
    **{"new_" + name: name for name in ("zeros", "ones", "empty", "full")},
    **{name: "empty" for name in ("empty_strided", "new_empty_strided")},
}
_SIZED = frozenset((*_FILLING, "new_zeros", "new_ones", "new_empty", "new_full"))


def create(recorder: Recorder, function: Function, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> Any:
    """A call that looks only at shapes and numbers."""
    name = function.name
    if name in _OF_DATA:
        return _of_data(recorder, function, args, kwargs)
    attributes = _attributes(recorder, name, args, kwargs)
    result = _made(recorder, function, args, kwargs)
    if attributes is None:
        attributes = _range(recorder, result, args, kwargs)
    return created(recorder, _OPERATORS[name], result, attributes)


def created(recorder: Recorder, op: str, tensor: torch.Tensor, attributes: Dict[str, Any]) -> torch.Tensor:
    """Appends the call that has made `tensor`."""
    value = recorder.made(tensor)
    value.drawn = op.startswith("rand")
    value.random = value.drawn or op == "empty"
    attributes = {"size": list(tensor.shape), "dtype": binder.dtype_name(tensor.dtype), **attributes}
    value.computed = node_ref(recorder.append(recorder.bound(op, [], attributes), [], [tensor]))
    return tensor


def _made(recorder: Recorder, function: Function, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> Any:
    if "device" in kwargs or function.name.startswith("new_") or function.name.endswith("_like"):
        kwargs = {**kwargs, "device": "cpu"}
    if function.name.endswith("_like") and kwargs.get("memory_format") is not None:
        del kwargs["memory_format"]
    args = tuple(torch.device("cpu") if isinstance(a, torch.device) else a for a in args)
    if _elements(function.name, args, kwargs) > MOST_KNOWN:
        try:
            return function.callable(*recorder.on_meta(args), **{**recorder.on_meta(kwargs), "device": "meta"})
        except (NotImplementedError, TypeError):
            pass
    return function.callable(*recorder.as_constants(args), **recorder.as_constants(kwargs))


def _elements(name: str, args: Sequence[Any], kwargs: Dict[str, Any]) -> int:
    """How many elements the result may have."""
    if name.endswith("_like"):
        return int((args[0] if args else kwargs["input"]).numel())
    if name not in _SIZED:
        return 0
    sizes: List[Any] = [kwargs["size"]] if "size" in kwargs else [a for a in args if isinstance(a, (tuple, list))]
    return math.prod(size for size in (sizes or [args])[0] if isinstance(size, int))


def _attributes(recorder: Recorder, name: str, args: Sequence[Any], kwargs: Dict[str, Any]) -> Optional[Dict[str, Any]]:
    """Those beside size and dtype; None where they depend on the dtype."""
    op = _OPERATORS[name]
    if op == "arange":
        return None
    if op == "full":
        position = 2 if name == "new_full" else 1
        number = args[position] if len(args) > position else kwargs.get("fill_value")
        return {"fill_value": _number(recorder, number, "a number given as a tensor")}
    if op == "linspace":
        start, end = (args[i] if len(args) > i else kwargs.get(key) for i, key in enumerate(("start", "end")))
        return {"start": _number(recorder, start, "linspace()"), "end": _number(recorder, end, "linspace()")}
    if op in ("tril_indices", "triu_indices"):
        given = {"offset": 0, **kwargs, **dict(zip(("row", "col", "offset"), args))}
        return {key: int(given[key]) for key in ("row", "col", "offset")}
    return {}


def _range(recorder: Recorder, made: torch.Tensor, args: Sequence[Any], kwargs: Dict[str, Any]) -> Dict[str, Any]:
    """Of arange(), which counts integers from whole numbers."""
    start = kwargs.get("start", 0) if len(args) < 2 and not (args and "end" in kwargs) else args[0]
    step = args[2] if len(args) > 2 else kwargs.get("step", 1)
    numbers = {"start": _number(recorder, start, "arange()"), "step": _number(recorder, step, "arange()")}
    if made.is_floating_point():
        return dict(numbers)
    return {key: math.trunc(number) for key, number in numbers.items()}


def _number(recorder: Recorder, given: Any, what: str) -> float:
    if isinstance(given, torch.Tensor):
        given = recorder.values_of(given, what)[0]
    return float(given.real if isinstance(given, complex) else given)


# ---- of data


def _of_data(recorder: Recorder, function: Function, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> Any:
    """torch.tensor(data), and those that return a tensor that they are given."""
    name = function.name
    rest = args[1:] if name == "new_tensor" else args
    data = rest[0] if rest else kwargs.get("data", kwargs.get("obj", kwargs.get("s")))
    dtype = rest[1] if len(rest) > 1 and isinstance(rest[1], torch.dtype) else kwargs.get("dtype")
    if name == "new_tensor" and dtype is None:
        dtype = args[0].dtype
    if name == "scalar_tensor" and dtype is None:
        dtype = torch.get_default_dtype()
    return of_data(recorder, data, dtype, name in ("as_tensor", "asarray", "scalar_tensor"))


def of_data(recorder: Recorder, data: Any, dtype: Optional[torch.dtype], keeps: bool = False) -> torch.Tensor:
    """A tensor of numbers; a copy of a tensor, or with `keeps` that one itself where its type
    fits."""
    if _is_array(data):
        data = recorder.made((torch.as_tensor if keeps else torch.tensor)(data)).tensor
    if isinstance(data, torch.Tensor):
        return data if keeps and dtype in (None, data.dtype) else _copied(recorder, data, dtype)
    for tensor in tensors_in(data):
        recorder.values_of(tensor, "torch.tensor() of a tensor")
    return created(recorder, "tensor", torch.tensor(recorder.as_constants(data), dtype=dtype), {})


def _copied(recorder: Recorder, data: torch.Tensor, dtype: Optional[torch.dtype]) -> torch.Tensor:
    """A cast is a copy; a constant is copied before it."""
    casts = dtype is not None and dtype != data.dtype
    if not casts or recorder.value(data).is_constant:
        data = recorder.run(torch.clone, recorder.bound("clone", [data], {}), (data,), {})
    if casts:
        bound = recorder.bound("to", [data], {"dtype": binder.dtype_name(dtype)})
        data = recorder.run(torch.Tensor.to, bound, (data, dtype), {})
    return data


def _is_array(data: Any) -> bool:
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(data, numpy.ndarray)


# ---- what is written with other calls, as in frontend/python/library/torch/__init__.py


def _dtype_of(kwargs: Dict[str, Any]) -> Dict[str, Any]:
    return {"dtype": kwargs["dtype"]} if kwargs.get("dtype") is not None else {}


def _steps(length: int, kwargs: Dict[str, Any]) -> torch.Tensor:
    return torch.arange(length, **{"dtype": torch.float32, **_dtype_of(kwargs)})


def _cosines(length: int, periodic: bool, factors: Sequence[float], kwargs: Dict[str, Any]) -> Any:
    if length <= 1:
        return torch.ones(length, **_dtype_of(kwargs))
    x = _steps(length, kwargs) * (2 * math.pi / (length if periodic else length - 1))
    window: Any = 0
    for k, factor in enumerate(factors):
        window = window + factor * torch.cos(k * x)
    return window


def _hann(window_length: int, periodic: bool = True, **kwargs: Any) -> Any:
    return _cosines(window_length, periodic, (0.5, -0.5), kwargs)


def _hamming(window_length: int, periodic: bool = True, alpha: float = 0.54, beta: float = 0.46, **kwargs: Any) -> Any:
    return _cosines(window_length, periodic, (alpha, -beta), kwargs)


def _blackman(window_length: int, periodic: bool = True, **kwargs: Any) -> Any:
    return _cosines(window_length, periodic, (0.42, -0.5, 0.08), kwargs)


def _bartlett(window_length: int, periodic: bool = True, **kwargs: Any) -> Any:
    if window_length <= 1:
        return torch.ones(window_length, **_dtype_of(kwargs))
    x = _steps(window_length, kwargs) * (2 / (window_length if periodic else window_length - 1))
    return torch.where(x <= 1, x, 2 - x)


def _kaiser(window_length: int, periodic: bool = True, beta: float = 12.0, **kwargs: Any) -> Any:
    if window_length <= 1:
        return torch.ones(window_length, **_dtype_of(kwargs))
    half = (window_length if periodic else window_length - 1) / 2
    x = (_steps(window_length, kwargs) - half) / half
    of_all = torch.i0(beta * torch.sqrt(torch.clamp(1 - x * x, min=0)))
    return of_all / torch.i0(torch.tensor([float(beta)], dtype=x.dtype))


def _logspace(start: Any, end: Any, steps: int = 100, base: float = 10.0, **kwargs: Any) -> Any:
    made = base ** torch.linspace(start, end, steps, **_dtype_of(kwargs))
    return made if kwargs.get("dtype") is None else made.to(kwargs["dtype"])


_WRITTEN: Dict[str, Callable[..., Any]] = {
    "hann_window": _hann,
    "hamming_window": _hamming,
    "blackman_window": _blackman,
    "bartlett_window": _bartlett,
    "kaiser_window": _kaiser,
    "logspace": _logspace,
}


def write(recorder: Recorder, function: Function, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> Any:
    """A function that COBRA has no operator for, by the calls that it is made of."""
    return recorder.look_into(_WRITTEN[function.name], args, kwargs)


def normal(recorder: Recorder, function: Function, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> Any:
    """torch.normal(0.0, 1.0, size) is randn(); with tensors it is an operator."""
    given = {"std": 1.0, **kwargs, **dict(zip(("mean", "std", "size"), args))}
    mean, std = given["mean"], given["std"]
    if given.get("size") is not None:
        options: Dict[str, Any] = {key: kwargs[key] for key in ("dtype", "device") if key in kwargs}
        return create(recorder, Function("t", "randn", torch.randn), (tuple(given["size"]),), options)
    if isinstance(mean, torch.Tensor):
        return recorder.known(function, "t", args, kwargs)
    return recorder.look_into(lambda: torch.normal(torch.zeros(std.shape, dtype=std.dtype) + mean, std), (), {})


Special = Callable[["Recorder", Function, Tuple[Any, ...], Dict[str, Any]], Any]
SPECIAL: Dict[str, Special] = {
    **{name: create for name in (*_OPERATORS, *_OF_DATA)},
    **{name: write for name in _WRITTEN},
    "normal": normal,
}
