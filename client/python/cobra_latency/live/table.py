"""The operators that COBRA knows, and the signatures of the torch functions that call them
(operators.json, made from the tables of the C++ reader when the wheel is built)."""
from __future__ import annotations

import functools
import json
import pkgutil
import re
from typing import Any, Dict, List, NamedTuple, Optional, Tuple


class Operator(NamedTuple):
    """One operator of graph/ops.def with the rules of op_rules.def and torch_rules.def that matter
    for recording."""

    name: str
    cost: str  # "compute", "memory", "view"
    inputs: Tuple[str, ...]  # names of the tensor arguments
    variadic: bool  # the last one is a list
    selects: Tuple[
        str, ...
    ]  # of each: of what it holds indices (Selects in graph/op.h); "" where they are numbers to compute with
    storage: str
    strides: str
    random: str
    autocast: str
    base: str
    itself: str
    arguments: str


class Parameter(NamedTuple):
    """One parameter of a signature (functions.def explains the kinds)."""

    kind: str
    name: str
    attribute: str
    required: bool
    default: Any
    keyword_only: bool
    dropped: bool
    slot: int  # position among the operator's tensor arguments; -1: an attribute

    @property
    def takes_none(self) -> bool:
        """Whether None may be given."""
        none = not self.required and self.default is None
        return none or self.kind == "A" or self.name in ("dim", "size")


class Overload(NamedTuple):
    """One way to call a function."""

    operator: Operator
    parameters: Tuple[Parameter, ...]
    since: Tuple[int, int]


_TENSORS = ("T", "T?", "T[]", "T*", "TN")
COUNTS = {"I1": 1, "I2": 2, "I3": 3, "I1s": 1, "I2s": 2, "I3s": 3, "O2": 2, "O3": 3}


@functools.lru_cache(maxsize=None)
def _tables() -> Dict[str, Any]:
    data = pkgutil.get_data("cobra_latency.live", "operators.json")
    if data is None:
        raise ImportError("operators.json is not in the package: build the wheel (scripts/build-python.sh)")
    tables: Dict[str, Any] = json.loads(data)
    return tables


@functools.lru_cache(maxsize=None)
def operator(name: str) -> Operator:
    """The operator of that name."""
    row = _tables()["operators"][name]
    inputs = tuple(re.sub(r"[?*]", "", i) for i in row["inputs"])
    variadic = bool(row["inputs"]) and row["inputs"][-1].endswith("*")
    rules = {
        key: row[key] for key in ("cost", "storage", "strides", "random", "autocast", "base", "itself", "arguments")
    }
    return Operator(
        name=name,
        inputs=inputs,
        variadic=variadic,
        selects=tuple(row["selects"]),
        **rules,
    )


@functools.lru_cache(maxsize=None)
def _signatures() -> Dict[Tuple[str, str], List[Tuple[str, str]]]:
    found: Dict[Tuple[str, str], List[Tuple[str, str]]] = {}
    for name, spellings, spaces, signature in _tables()["functions"]:
        for spelling in spellings.split():
            for space in spaces:
                found.setdefault((space, spelling), []).append((name, signature))
    return found


def is_known(space: str, name: str) -> bool:
    """Whether there is a function of that name: t torch, F torch.nn.functional, m method, i and I
    in place, f fft, l linalg, s special, v torchvision."""
    return (space, name) in _signatures()


@functools.lru_cache(maxsize=None)
def overloads(space: str, name: str) -> Tuple[Overload, ...]:
    """The ways to call a function, in the order in which they are tried.

    >>> [p.name for p in overloads("t", "softmax")[0].parameters]
    ['input', 'dim', 'dtype']
    """
    return tuple(_overload(op, signature) for op, signature in _signatures().get((space, name), []))


def _overload(name: str, signature: str) -> Overload:
    since = (0, 0)
    match = re.match(r"since (\d+)\.(\d+): ", signature)
    if match:
        since = (int(match[1]), int(match[2]))
        signature = signature[match.end() :]
    of = operator(name)
    parameters = []
    keyword_only = False
    for text in _split(signature):
        if text == "*":
            keyword_only = True
        else:
            parameters.append(_parameter(text, of, keyword_only))
    return Overload(of, tuple(parameters), since)


def _split(signature: str) -> List[str]:
    parts, depth = [""], 0
    for c in signature:
        depth += (c == "(") - (c == ")")
        if c == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += c
    return [part.strip() for part in parts]


def _parameter(text: str, of: Operator, keyword_only: bool) -> Parameter:
    kind, _, rest = text.partition(" ")
    dropped = kind.startswith("-")
    kind = kind.lstrip("-")
    name, equals, default = rest.partition("=")
    name, _, attribute = name.partition(":")
    slot = of.inputs.index(name) if kind in _TENSORS and name in of.inputs else -1
    return Parameter(
        kind=kind,
        name=name,
        attribute=attribute or name,
        required=not equals,
        default=_default(default, kind) if equals else None,
        keyword_only=keyword_only,
        dropped=dropped,
        slot=slot,
    )


def _default(text: str, kind: str) -> Any:
    constants: Dict[str, Optional[bool]] = {"None": None, "True": True, "False": False}
    if text in constants:
        return constants[text]
    if text[0] == "'":
        return text[1:-1]
    if text[0] == "(":
        return [int(item) for item in text[1:-1].split(",") if item.strip()]
    if re.fullmatch(r"-?\d+", text):
        return [int(text)] * COUNTS[kind] if kind in COUNTS and kind[0] == "I" else int(text)
    return float(text)
