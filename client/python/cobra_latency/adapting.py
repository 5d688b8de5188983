"""Targets for devices that nobody trained on: a data sheet, networks that were timed, and what the
server made of them."""
from __future__ import annotations

import difflib
import json
import numbers
import os
import sys
import warnings
from typing import Any, Dict, Iterable, Iterator, List, Mapping, NamedTuple, Sequence, Tuple, Union

from google.protobuf.descriptor import FieldDescriptor

from . import models
from ._proto import cobra_pb2 as pb
from ._proto import target_pb2
from .errors import UsageError, carried, one_line
from .results import Table, Tabular

Spec = Union[Mapping[str, Any], str, "os.PathLike[str]", "target_pb2.TargetSpec"]
"""A data sheet: a dictionary, the path of a JSON file, as `cobra-worker describe` prints it, or a message."""

# What `cobra-worker describe` prints beside the data sheet.
_DESCRIBED_TOO = ("caches_kb", "disturbed", "governor", "precisions", "sensors", "versions")
_HINT = "for example {'device': 'Some Board', 'kind': 'cpu', 'runtime': 'ncnn', 'precision': 'float16', 'threads': 4}"


class Timed(NamedTuple):
    """A network that was timed on a device.

    `model` and `inputs`: as for Client.predict(). `latency_ms`: the median of warmed-up runs;
    `timings`: of how many. `row`: its name in errors;
    its position, from 1, if empty.
    """

    model: Any
    inputs: Any
    latency_ms: float
    row: str = ""
    timings: int = 1


class Part(NamedTuple):
    """A trained target that explains a part of an adapted one."""

    target: str
    weight: float
    own_specification: bool


_WARNING = "warning: "  # beside the doubted timings of a reply (server/targets/new_level.h)


class Adapted(Tabular):
    """A target that was made from a data sheet and timings. Errors are fractions."""

    def __init__(self, message: "pb.AdaptResponse") -> None:
        target = message.target
        self.target: str = target.spec.name
        self.samples: int = target.samples
        """Different networks that were timed."""
        self.mape_before: float = target.sample_mape_before
        """Mean error on them with only the data sheet."""
        self.mape_after: float = target.sample_mape_after
        """The same, each network predicted from all others."""
        self.parts: List[Part] = [Part(p.base_target, p.weight, p.own_specification) for p in target.parts]
        """The trained targets that explain the device together, the heaviest first."""
        self.doubted: List[str] = [row for row in target.doubted if not row.startswith(_WARNING)]
        """Timings that the others contradict, which count little."""
        self.warnings: List[str] = [row[len(_WARNING) :] for row in target.doubted if row.startswith(_WARNING)]
        """What is to be known of all of them: they are at another level than the earlier ones."""
        self.refused: List[Tuple[str, str]] = [(refused.row, refused.error.message) for refused in message.refused]
        """With skip_refused: row and reason of what was left out."""
        self.version: int = next((version.version for version in target.calibrations if version.serving), 0)

    def summary(self) -> str:
        """What the timings did for the target."""
        target = one_line(self.target)
        if not self.samples:
            return f"{target}: based only on the data sheet; a few timings improve it (Client.observe)"
        networks = "1 network" if self.samples == 1 else f"{self.samples} networks"
        text = f"{target}: {networks} timed, the data sheet alone is off by {self.mape_before:.1%}"
        if self.samples > 1 and self.mape_after != self.mape_before:
            text += f", each network predicted from the others by {self.mape_after:.1%}"
        return text

    def table(self) -> Table:
        """A row per trained target that explains the device."""
        rows = [[p.target, f"{p.weight:.0%}", "the new one" if p.own_specification else "its own"] for p in self.parts]
        below = [f"counts little: {one_line(row)}" for row in self.doubted]
        below += [f"{_WARNING}{one_line(row)}" for row in self.warnings]
        below += [f"left out: row {one_line(row)}: {one_line(why)}" for row, why in self.refused]
        return Table(["explained by", "weight", "data sheet"], rows, above=self.summary(), below="\n".join(below))

    def __repr__(self) -> str:
        return f"Adapted({self.target!r}, samples={self.samples}, version={self.version})"


class Suggestions(Tabular):
    """Networks to time first, the most informative first: pairs of model and inputs."""

    def __init__(self, asked: Sequence[Tuple[Any, Any]], message: "pb.SuggestSamplesResponse") -> None:
        self.numbers: List[int] = [int(row) for row in message.rows]
        """Their positions in the list that was given, from 0."""
        self.networks: List[Tuple[Any, Any]] = [asked[number] for number in self.numbers]
        self.refused: List[Tuple[int, str]] = [(int(refused.row), refused.error.message) for refused in message.refused]
        """Position and reason of networks that cannot be read, which are left out."""

    def __iter__(self) -> Iterator[Tuple[Any, Any]]:
        return iter(self.networks)

    def __len__(self) -> int:
        return len(self.networks)

    def table(self) -> Table:
        """A row per network."""
        rows = [[str(n), models.name_of(model), str(inputs)] for n, (model, inputs) in zip(self.numbers, self.networks)]
        return Table(["number", "model", "inputs"], rows, left=3)

    def __repr__(self) -> str:
        return f"Suggestions({self.numbers!r})"


def spec_of(spec: Spec) -> "target_pb2.TargetSpec":
    """The message of a data sheet.

    >>> spec_of({"device": "Some Board", "kind": "cpu", "runtime": "ncnn", "threads": 4}).precision
    'float32'
    >>> spec_of({"kind": "cpu", "threads": "two"})
    Traceback (most recent call last):
    ...
    cobra_latency.errors.UsageError: spec: threads='two': is not a whole number
    hint: for example {'device': 'Some Board', 'kind': 'cpu', 'runtime': 'ncnn', 'precision': 'float16', 'threads': 4}
    """
    if isinstance(spec, target_pb2.TargetSpec):
        return spec
    written, sheet = _loaded(spec)
    message = target_pb2.TargetSpec(precision="float32", layout="nchw", compile="eager", threads=1)
    fields = target_pb2.TargetSpec.DESCRIPTOR.fields_by_name
    ignored = [str(name) for name in sheet if name not in fields and name not in _DESCRIBED_TOO]
    for name in ignored:
        # A field that is misspelled must not be ignored: the answers would be those of another
        # device.
        for meant in difflib.get_close_matches(name, fields, n=1, cutoff=0.75):
            raise UsageError(f"{written}: {one_line(name)}: no such field", f"did you mean {meant}?")
    if sheet.get("disturbed"):
        warnings.warn(f"{written}: other programs ran while the speeds were measured; describe again", stacklevel=3)
    if ignored:
        warnings.warn(f"{written}: ignored: {one_line(', '.join(ignored))}", stacklevel=3)
    for name, value in sheet.items():
        if name in fields and value is not None:
            setattr(message, name, _checked(written, name, value, fields[name].cpp_type))
    if not message.kind:
        raise UsageError(f"{written}: has no kind", "say what the device is: 'kind': 'cpu' or 'gpu'")
    return message


def _loaded(spec: Any) -> Tuple[str, Mapping[str, Any]]:
    if isinstance(spec, Mapping):
        return "spec", spec
    if not isinstance(spec, (str, os.PathLike)):
        raise UsageError(f"spec={spec!r}: is not a data sheet", _HINT)
    path = os.fsdecode(spec)
    written = one_line(path)
    try:
        with open(path, encoding="utf-8") as file:
            sheet = json.load(file)
    except OSError as error:
        raise UsageError(f"{written}: {error.strerror}", "give a dictionary, or the path of a JSON file") from None
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{written}: is not JSON: {error}", _HINT) from None
    if not isinstance(sheet, dict):
        raise UsageError(f"{written}: is not a JSON object", _HINT)
    return written, sheet


def _checked(written: str, name: str, value: Any, kind: int) -> Any:
    if kind == FieldDescriptor.CPPTYPE_STRING:
        if isinstance(value, str):
            return carried(value, f"{written}: {name}")
        what = "text"
    elif kind == FieldDescriptor.CPPTYPE_INT32:
        if _is_number(value) and abs(value) < 2**31 and value == int(value):
            return int(value)
        what = "a whole number"
    else:
        if _is_number(value) and abs(value) <= sys.float_info.max:
            return float(value)
        what = "a number"
    raise UsageError(f"{written}: {name}={value!r}: is not {what}", _HINT)


def _is_number(value: Any) -> bool:
    """Also those of NumPy."""
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def timed_networks(samples: Iterable[Timed]) -> List["pb.TimedNetwork"]:
    """The messages of what was timed."""
    messages = []
    for number, sample in enumerate(samples, 1):
        if not isinstance(sample, Timed):
            raise UsageError(f"samples: {sample!r}: is not Timed", "write Timed(model, inputs, latency_ms)")
        row = carried(sample.row, f"row {number}") or str(number)
        ms, timings = sample.latency_ms, sample.timings
        if not _is_number(ms) or not 0 < ms <= sys.float_info.max:
            raise UsageError(f"row {row}: latency_ms={ms!r}: is not a time", "give milliseconds")
        if not _is_number(timings) or not 1 <= timings < 2**31 or timings != int(timings):
            raise UsageError(
                f"row {row}: timings={timings!r}: is not a count", "give how many timings latency_ms is the median of"
            )
        message = _network(sample.model, sample.inputs, row)
        message.latency_ms = float(ms)
        message.timings = int(timings)
        messages.append(message)
    return messages


def untimed_networks(networks: Iterable[Tuple[Any, Any]]) -> List["pb.TimedNetwork"]:
    """The messages of networks to choose from; their rows are their positions."""
    messages = []
    for number, pair in enumerate(networks):
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise UsageError(f"networks: {pair!r}: is not a pair", "write (model, inputs)")
        messages.append(_network(*pair, str(number)))
    return messages


def _network(model: Any, inputs: Any, row: str) -> "pb.TimedNetwork":
    request = models.request_of(model, inputs)
    form = request.WhichOneof("model")
    given: Dict[str, Any] = {str(form): getattr(request, str(form))}
    return pb.TimedNetwork(row=row, **given)
