"""Inputs of a model: shapes, as text or as Python values."""
from __future__ import annotations

import enum
import re
from collections.abc import Mapping
from typing import Any, Dict, Iterator, List, NamedTuple, Set, Tuple

from .errors import UsageError, carried

DTYPES = "float32 float16 bfloat16 float64 int64 int32 int16 int8 uint8 bool complex64 complex128".split()


class Shape(NamedTuple):
    """The shape and element type of one input.

    >>> print(Shape((1, 128), "int64"))
    1x128:int64
    """

    sizes: Tuple[int, ...]
    dtype: str = "float32"

    def __str__(self) -> str:
        text = "x".join(map(str, self.sizes)) if self.sizes else "scalar"
        return text if self.dtype == "float32" else f"{text}:{self.dtype}"


class Constant:
    """A tensor that is the same in every run, given to a live module: no input of the network, but
    a constant that it may look into. So is a mask of which a model asks whether it hides anything:
    `{"input_ids": (1, 128), "attention_mask": Constant(torch.ones(1, 128))}`.
    """

    def __init__(self, tensor: Any) -> None:
        if getattr(tensor, "shape", None) is None or not hasattr(tensor, "detach"):
            raise UsageError(f"Constant({type(tensor).__name__}): is not a tensor", "Constant(torch.ones(1, 128))")
        self.tensor = tensor


def arguments(inputs: Any) -> Tuple[List[Any], Dict[str, Any]]:
    """Positional and keyword arguments, with a Shape in place of each tensor.

    One input is text ("1x3x224x224", "1x128:int64", "name=1x8", "[3x8x8,3x9x9]"), a tuple of
    numbers, or anything with a shape and a dtype (a tensor, of which nothing else is read). Several
    are a list or a tuple of these, or a dictionary by keyword. Beside tensors a live module takes
    numbers, words and objects (a cache with tensors in it).

    >>> arguments("1x3x224x224")
    ([Shape(sizes=(1, 3, 224, 224), dtype='float32')], {})
    >>> arguments([(1, 8), "mask=1x8:bool"])
    ([Shape(sizes=(1, 8), dtype='float32')], {'mask': Shape(sizes=(1, 8), dtype='bool')})
    >>> arguments(("1x8",)) == arguments("1x8")
    True
    >>> arguments({"x": (1, 8), "steps": 3, "mode": "mean"})[1]["mode"]
    'mean'
    >>> arguments("1x3xW")
    Traceback (most recent call last):
    ...
    cobra_latency.errors.UsageError: '1x3xW': is not a shape
    hint: write it as 1x3x224x224, 1x128:int64, scalar, name=1x8, [3x8x8,3x9x9], {"a": 1x8} or None
    """
    if isinstance(inputs, Mapping):  # also what a tokenizer returns
        return [], {name: shape_of(value) for name, value in inputs.items()}
    if type(inputs) is list and inputs and all(map(_is_int, inputs)):
        raise UsageError(f"{inputs!r}: is not an input", f"a shape is a tuple: {tuple(inputs)}")
    several = type(inputs) is list or type(inputs) is tuple and inputs and not all(map(_is_int, inputs))
    items = list(inputs) if several else [inputs]
    positional: List[Any] = []
    keywords: Dict[str, Any] = {}
    for item in items:
        match = re.fullmatch(r"\s*([A-Za-z_]\w*)\s*=(.*)", item, re.S) if isinstance(item, str) else None
        if match:
            keywords[match[1]] = shape_of(match[2])
        else:
            positional.append(shape_of(item) if several else _of_tensors(item))
    return positional, keywords


def _of_tensors(item: Any) -> Any:
    """The only input of a network, which is not a number and no word."""
    value = shape_of(item)
    if isinstance(value, (str, int, float, enum.Enum)):
        raise UsageError(
            f"{item!r}: is not a shape" if isinstance(item, str) else f"{item!r}: is not an input",
            _HINT,
        )
    return value


def shape_of(value: Any) -> Any:
    """One input; nested lists and dictionaries keep their form."""
    try:
        return _shape_of(value)
    except (RecursionError, OverflowError):
        raise UsageError(
            f"an input of type {type(value).__name__}: is nested too deeply, or has no finite size", _HINT
        ) from None


def _shape_of(value: Any) -> Any:
    if value is None or isinstance(value, (Shape, Constant, bool, float)):
        return value
    if isinstance(value, str):
        return value if _is_word(value) else _Reader(value).read()
    if isinstance(value, (int, enum.Enum, slice, range, complex)) or _is_of_torch(value):
        return value
    if isinstance(value, (tuple, list)) and value and all(map(_is_int, value)):
        return _checked(Shape(tuple(value)), str(value))
    shape, dtype = getattr(value, "shape", None), getattr(value, "dtype", None)
    if shape is not None and dtype is not None:
        try:
            sizes = tuple(int(n) for n in shape)
        except (TypeError, ValueError):  # sizes that are not known
            raise UsageError(f"an input of shape {shape!r}: is not an input", _HINT) from None
        return _checked(Shape(sizes, str(dtype).replace("torch.", "")), str(dtype))
    if isinstance(value, tuple) and not value:
        return Shape(())
    if isinstance(value, (list, tuple)) and not type(value).__module__.startswith("torch"):
        items = [_shape_of(item) for item in value]
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    if type(value) is dict:
        return {key: _shape_of(item) for key, item in value.items()}
    if next(tensors_in(value), None) is not None:
        return value
    raise UsageError(f"{value!r}: is not an input", _HINT)


def tensors_in(value: Any, name: str = "") -> Iterator[Tuple[str, Any]]:
    """The tensors that an object of the user's holds, with the names of the attributes that lead to
    them: those of a cache of keys and values."""
    yield from _tensors_in(value, name, 6, set())


def _tensors_in(value: Any, name: str, depth: int, entered: Set[int]) -> Iterator[Tuple[str, Any]]:
    if isinstance(value, (str, bytes, int, float, type)) or id(value) in entered or depth == 0:
        return
    entered.add(id(value))
    if hasattr(value, "shape") and hasattr(value, "dtype"):
        yield name, value
        return
    if isinstance(value, Mapping):
        inside = [(str(key), item) for key, item in value.items()]
    elif isinstance(value, (list, tuple)):
        names = getattr(value, "_fields", range(len(value)))
        inside = [(str(key), item) for key, item in zip(names, value)]
    else:
        inside = list(getattr(value, "__dict__", {}).items())
        if hasattr(value, "parameters"):  # a network is not an input
            return
    for key, item in inside:
        yield from _tensors_in(item, f"{name}.{key}" if name else key, depth - 1, entered)


def _is_int(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_word(text: str) -> bool:
    """Whether an argument is text, and no shape that is misspelled."""
    word = re.fullmatch(r"[A-Za-z_][\w.-]*", text) and not re.search(r"\dx|x\d", text)
    return bool(word) and text not in ("scalar", "None")


def _is_of_torch(value: Any) -> bool:
    """torch.float32, torch.device("cpu"): what is not a tensor and no container."""
    return type(value).__module__ == "torch" and type(value).__name__ in (
        "dtype",
        "device",
        "layout",
        "memory_format",
    )


def text_of(value: Any) -> str:
    """An input as SourceModel.inputs has it.

    >>> text_of([Shape((3, 8, 8)), Shape((3, 9, 9))]), text_of({"a": Shape((2,), "bool")})
    ('[3x8x8,3x9x9]', '{"a": 2:bool}')
    """
    if isinstance(value, list):
        return "[" + ",".join(map(text_of, value)) + "]"
    if isinstance(value, tuple) and not isinstance(value, Shape):
        return "(" + ",".join(map(text_of, value)) + ")"
    if isinstance(value, dict):
        return "{" + ", ".join(f'"{key}": {text_of(item)}' for key, item in value.items()) + "}"
    if not isinstance(value, (Shape, bool, float, type(None))):
        raise UsageError(
            f"{value!r}: is not a shape",
            "what is not a tensor: by keyword, or with Source(..., arguments={'name': 'expression'})",
        )
    return str(value)


def texts(inputs: Any) -> List[str]:
    """All inputs as SourceModel.inputs has them.

    >>> texts({"x": (1, 8)})
    ['x=1x8']
    """
    positional, keywords = arguments(inputs)
    written = [text_of(value) for value in positional]
    written += [f"{name}={text_of(value)}" for name, value in keywords.items()]
    return [carried(text, "inputs") for text in written]


_MOST_DIGITS = 18  # of a size
_HINT = 'write it as 1x3x224x224, 1x128:int64, scalar, name=1x8, [3x8x8,3x9x9], {"a": 1x8} or None'


def _checked(shape: Shape, written: str) -> Shape:
    if any(size < 0 for size in shape.sizes):
        raise UsageError(f"{written}: a size is negative", _HINT)
    if any(size >= 10**_MOST_DIGITS for size in shape.sizes):
        raise UsageError(f"{written}: a size is too large", _HINT)
    if shape.dtype not in DTYPES:
        raise UsageError(f"{written}: {shape.dtype} is not an element type", "use one of " + ", ".join(DTYPES))
    return shape


class _Reader:
    """Reads the text of one input."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def read(self) -> Any:
        value = self._value()
        if self._peek():
            raise self._error()
        return value

    def _error(self) -> UsageError:
        return UsageError(f"{self.text!r}: is not a shape", _HINT)

    def _peek(self) -> str:
        while self.at < len(self.text) and self.text[self.at].isspace():
            self.at += 1
        return self.text[self.at : self.at + 1]

    def _match(self, pattern: str) -> "re.Match[str]":
        self._peek()
        match = re.compile(pattern).match(self.text, self.at)
        if match is None:
            raise self._error()
        self.at = match.end()
        return match

    def _value(self) -> Any:
        opening = self._peek()
        if opening == "[":
            return self._items("]")
        if opening == "(":
            return tuple(self._items(")"))
        if opening == "{":
            return self._dictionary()
        word = self._match(r"[A-Za-z0-9_]+(?::[a-z0-9]+)?")[0]
        if word == "None":
            return None
        sizes, _, dtype = word.partition(":")
        if sizes != "scalar" and not re.fullmatch(r"[0-9]+(x[0-9]+)*", sizes):
            raise self._error()
        if len(max(sizes.split("x"), key=len)) > _MOST_DIGITS:
            raise UsageError(f"{self.text!r}: a size is too large", _HINT)
        numbers = () if sizes == "scalar" else tuple(int(n) for n in sizes.split("x"))
        return _checked(Shape(numbers, dtype or "float32"), word)

    def _items(self, closing: str) -> List[Any]:
        self.at += 1
        items: List[Any] = []
        while self._peek() != closing:
            items.append(self._value())
            if self._peek() == ",":
                self.at += 1
            elif self._peek() != closing:
                raise self._error()
        self.at += 1
        return items

    def _dictionary(self) -> Dict[str, Any]:
        self.at += 1
        items: Dict[str, Any] = {}
        while self._peek() != "}":
            key = self._match(r"[\"']?([A-Za-z_]\w*)[\"']?\s*:")[1]
            items[key] = self._value()
            if self._peek() == ",":
                self.at += 1
            elif self._peek() != "}":
                raise self._error()
        self.at += 1
        return items
