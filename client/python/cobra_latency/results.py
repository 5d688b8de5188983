"""Answers. Each prints as a table and renders in notebooks."""
from __future__ import annotations

import html
import math
import unicodedata
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Sequence, Tuple

from ._proto import cobra_pb2 as pb
from ._proto import target_pb2
from .errors import UnknownName, UsageError, one_line, shown


class Table:
    """Text, HTML and rows of one table. The first `left` columns are text, the others numbers.
    Control characters are shown as ?, and in cells line ends too: names are a server's or a file's.

    >>> print(Table(["target", "ms"], [["a-cpu", "1.50"], ["b", "12.00"]], left=1))
    target     ms
    a-cpu    1.50
    b       12.00
    """

    def __init__(
        self, head: Sequence[str], rows: Sequence[Sequence[str]], left: int = 1, above: str = "", below: str = ""
    ) -> None:
        self.head = [one_line(cell) for cell in head]
        self.rows = [[one_line(cell) for cell in row] for row in rows]
        self.left, self.above, self.below = left, shown(above), shown(below)

    def __str__(self) -> str:
        lines = [self.head, *self.rows]
        widths = [max(_columns(line[i]) for line in lines) for i in range(len(self.head))]
        cells = [
            [
                cell + " " * (width - _columns(cell)) if self._is_text(i) else " " * (width - _columns(cell)) + cell
                for i, (cell, width) in enumerate(zip(line, widths))
            ]
            for line in lines
        ]
        text = "\n".join("  ".join(line).rstrip() for line in cells)
        return "\n".join(part for part in (self.above, text, self.below) if part)

    def _is_text(self, column: int) -> bool:
        return column < self.left or self.head[column] in ("where", "module", "note")

    def to_html(self) -> str:
        """For notebooks."""
        body = "".join(self._html_row("td", cells) for cells in self.rows)
        table = f"<table><thead>{self._html_row('th', self.head)}</thead><tbody>{body}</tbody></table>"
        return _paragraphs(self.above) + table + _paragraphs(self.below)

    def _html_row(self, tag: str, cells: Sequence[str]) -> str:
        sides = ["left" if self._is_text(i) else "right" for i in range(len(cells))]
        columns = [f'<{tag} style="text-align:{side}">{html.escape(text)}</{tag}>' for side, text in zip(sides, cells)]
        return "<tr>" + "".join(columns) + "</tr>"


def _columns(text: str) -> int:
    """That a terminal gives the text: two for a wide letter, none for a combining accent."""
    wide = sum(unicodedata.east_asian_width(letter) in "WF" for letter in text)
    return len(text) + wide - sum(bool(unicodedata.combining(letter)) for letter in text)


def _paragraphs(text: str) -> str:
    return "".join(f"<div>{html.escape(line)}</div>" for line in text.splitlines())


class Tabular:
    """What prints as a table."""

    def table(self) -> Table:
        """The table."""
        raise NotImplementedError

    def __str__(self) -> str:
        return str(self.table())

    def _repr_html_(self) -> str:
        return self.table().to_html()


class Call(NamedTuple):
    """One call of a network and its share of the latency."""

    node: int
    op: str
    module: str
    file: str
    line: int
    ms: float
    alone_ms: float
    unknown: str

    @property
    def where(self) -> str:
        """The user's line."""
        return f"{one_line(self.file)}:{self.line}" if self.file else ""


class Estimate:
    """The prediction for one target. All times are in milliseconds."""

    def __init__(self, message: "pb.TargetPrediction", peak_memory_bytes: int = 0) -> None:
        self.target: str = message.target
        self.ms: float = message.latency_us / 1e3
        """Expected time of one forward pass: the median of a warmed-up run."""
        self.low_ms: float = message.low_us / 1e3
        self.high_ms: float = message.high_us / 1e3
        """Ends of the interval."""
        alone = message.undisturbed if message.HasField("undisturbed") else None
        self.undisturbed_ms: Optional[float] = alone.latency_us / 1e3 if alone else None
        """Of a calibrated target: the same while nothing else runs on the machine; the times above are of the machine
        as it is. None where that is not known."""
        self.undisturbed_low_ms: Optional[float] = alone.low_us / 1e3 if alone else None
        self.undisturbed_high_ms: Optional[float] = alone.high_us / 1e3 if alone else None
        self.coverage: float = message.coverage
        """How often such an interval contains the true latency; 0 if unknown."""
        self.confidence: float = message.confidence
        """From 0 to 1: how probable it is that the true latency is within a factor of 1.5 of latency_us."""
        self.extrapolating: bool = message.extrapolating
        """The network is outside of what the model was trained on: a guess."""
        self.unknown: List[Tuple[str, float]] = [(part.why, part.share) for part in message.unknown]
        """Why, with the share of the latency."""
        self.torch_version: str = message.torch_version
        self.peak_memory_bytes: int = message.peak_memory_bytes or peak_memory_bytes
        """Of the network as it is on this target."""
        self.memory_gb: float = 0.0
        """What the device has, in 10^9 bytes; 0 if unknown."""
        self.calls: List[Call] = [
            Call(
                row.node,
                row.op,
                row.module_path,
                row.file,
                row.line,
                row.latency_us / 1e3,
                row.alone_us / 1e3,
                row.unknown,
            )
            for row in message.breakdown
        ]
        """Of explain() and predict(breakdown=True): every call; their times add up to `ms`."""

    @property
    def is_guess(self) -> bool:
        """Whether nothing is known of how often the interval contains the truth."""
        return self.extrapolating or not self.coverage > 0

    @property
    def fits(self) -> bool:
        """Whether the network fits into the device's memory; an unknown memory holds everything."""
        return not self.memory_gb > 0 or self.peak_memory_bytes <= 1e9 * self.memory_gb

    @property
    def notes(self) -> List[str]:
        """What to know before the latency is used."""
        notes = [] if self.fits else [f"needs {self.peak_memory_bytes / 1e9:.4g} GB of {self.memory_gb:.4g} GB"]
        return notes + ([why for why, _ in self.unknown[:1]] if self.extrapolating else [])

    def __float__(self) -> float:
        return self.ms

    def __repr__(self) -> str:
        return f"Estimate({self.target!r}, {self.ms:.3f} ms, {self.low_ms:.3f} ... {self.high_ms:.3f})"


class Prediction(Tabular):
    """The predictions for one network, one per target.

    `prediction.ms` is that of the first target, `prediction["NAME"]` the Estimate of another.
    """

    def __init__(self, model: str, message: "pb.PredictResponse") -> None:
        self.model = model
        self.estimates: List[Estimate] = [Estimate(each, message.peak_memory_bytes) for each in message.predictions]
        self.fingerprint: str = message.fingerprint
        """32 hexadecimal digits; isomorphic networks have the same."""
        self.calls: int = message.node_count
        self.parameters: int = message.parameter_count
        self.macs: int = message.macs
        self.flops: int = message.flops
        self.peak_memory_bytes: int = message.peak_memory_bytes
        self.model_version: str = message.model_version

    @property
    def ms(self) -> float:
        """The latency on the first target, in milliseconds."""
        return self.estimates[0].ms

    def __getitem__(self, target: str) -> Estimate:
        for estimate in self.estimates:
            if estimate.target == target:
                return estimate
        raise _unknown(target, "was not requested", "answers are for", [e.target for e in self])

    def __iter__(self) -> Iterator[Estimate]:
        return iter(self.estimates)

    def __len__(self) -> int:
        return len(self.estimates)

    def summary(self) -> str:
        """One line about the network."""
        if not self.calls:  # only the latency was asked for
            return one_line(self.model)
        return (
            f"{one_line(self.model)}: {self.calls} calls, {count(self.parameters)} parameters, {count(self.macs)}MAC, "
            f"peak memory {self.peak_memory_bytes / 2**20:.1f} MiB"
        )

    def table(self) -> Table:
        """A row per target."""
        coverage = next((f"{100 * e.coverage:.0f} % " for e in self if e.coverage > 0), "")
        head = ["target", "predicted ms", f"{coverage}interval ms", "confidence", "note"]
        rows = [
            [
                e.target,
                milliseconds(e.ms),
                _interval(e),
                f"{e.confidence:.2f}",
                "; ".join(e.notes),
            ]
            for e in self
        ]
        return Table(head, rows, above=self.summary())

    def __repr__(self) -> str:
        return f"Prediction({self.model!r}, {self.estimates!r})"


class Explanation(Tabular):
    """Where the time of one network goes on a target: the first one, and in `each` on every one
    that was asked about."""

    def __init__(self, prediction: Prediction, top: int = 10, number: int = 0) -> None:
        self.prediction = prediction
        self.estimate = prediction.estimates[number]
        self.top = top
        others = [Explanation(prediction, top, n) for n in range(1, len(prediction))] if number == 0 else []
        self.each: List[Explanation] = [self, *others]
        """One for each target, in the order asked."""

    def __str__(self) -> str:
        return "\n\n".join(str(each.table()) for each in self.each)

    def _repr_html_(self) -> str:
        return "".join(each.table().to_html() for each in self.each)

    def __getitem__(self, target: str) -> "Explanation":
        for each in self.each:
            if each.estimate.target == target:
                return each
        raise _unknown(target, "was not requested", "answers are for", [each.estimate.target for each in self.each])

    def by(self, key: str) -> List[Tuple[str, float, int]]:
        """Sums by "op", "module" or "line": (name, milliseconds, calls), the slowest first."""
        field = {"op": "op", "module": "module", "line": "where"}.get(key)
        if field is None:
            raise UsageError(f"{key!r}: is not a list", "lists are op, module and line")
        sums: Dict[str, Tuple[float, int]] = {}
        for call in self.estimate.calls:
            ms, calls = sums.get(getattr(call, field), (0.0, 0))
            sums[getattr(call, field)] = (ms + call.ms, calls + 1)
        return sorted(((name, ms, calls) for name, (ms, calls) in sums.items()), key=lambda row: -row[1])

    def table(self) -> Table:
        """The slowest calls."""
        e = self.estimate
        slowest = sorted(e.calls, key=lambda call: -call.ms)[: self.top]
        rows = [
            [call.op, f"{_part(call.ms, e.ms):.1%}", milliseconds(call.ms), call.module or "(model)", call.where]
            for call in slowest
        ]
        above = (
            f"{self.prediction.summary()}\n"
            f"predicted {milliseconds(e.ms)} ms on {one_line(e.target)} ({_interval(e)}), confidence {e.confidence:.2f}"
        )
        above += "" if e.fits else f"\ndoes not fit: {e.notes[0]} of memory"
        unsure = [f"unsure: {share:.1%} of the time: {one_line(why)}" for why, share in e.unknown]
        share = _part(sum(call.ms for call in slowest), e.ms)
        below = f"{len(slowest)} of {len(e.calls)} calls, {share:.1%} of the time"
        return Table(
            ["operator", "time", "ms", "module", "where"], rows, above="\n".join([above, *unsure]), below=below
        )


class Comparison(Tabular):
    """Several networks on the same targets."""

    def __init__(self, predictions: Sequence[Prediction]) -> None:
        self.predictions = list(predictions)

    def __getitem__(self, model: str) -> Prediction:
        for prediction in self.predictions:
            if prediction.model == model:
                return prediction
        raise _unknown(model, "is not compared", "compared are", [p.model for p in self.predictions])

    def __iter__(self) -> Iterator[Prediction]:
        return iter(self.predictions)

    def fastest(self, target: str) -> Prediction:
        """The network with the least latency there; a guess only where all are, and last what does
        not fit into the memory."""
        return min(self.predictions, key=lambda p: (not p[target].fits, p[target].is_guess, p[target].ms))

    def table(self) -> Table:
        """A row per network, a column per target with the ratio to the first network. A guess has a
        ?, and what does not fit a note."""
        targets = [e.target for e in self.predictions[0]]
        head = (
            ["model"]
            + [text for target in targets for text in (f"{target} ms", "to first")]
            + ["parameters", "MAC", "note"]
        )
        rows = []
        for prediction in self.predictions:
            row = [prediction.model]
            for target in targets:
                first = self.predictions[0][target].ms
                e = prediction[target]
                mark = "?" if e.is_guess else ""
                row += [milliseconds(e.ms) + mark, f"{e.ms / first:.2f}x{mark}" if first else ""]
            lacks = [f"{e.target}: {e.notes[0]}" for e in prediction if not e.fits]
            rows.append(row + [count(prediction.parameters), count(prediction.macs), "; ".join(lacks)])
        return Table(head, rows)


class TargetInfo(NamedTuple):
    """One target of a server."""

    name: str
    device: str
    kind: str
    runtime: str
    threads: int
    precision: str
    network_mape: float
    """On held-out networks; of an adapted target on its timings, each predicted from the others; 0: not known."""


def _network_mape(target: "target_pb2.Target") -> float:
    # `errors` of a target that somebody made are those of the one that it begins from.
    if target.parts:
        return target.sample_mape_after if target.samples > 1 else 0
    return target.probe_network_mape_after if target.calibrated else target.errors.network_mape


class Targets(Tabular):
    """The targets of a server."""

    def __init__(self, message: "pb.ListTargetsResponse") -> None:
        self.targets = [
            TargetInfo(
                t.spec.name,
                t.spec.device,
                t.spec.kind,
                t.spec.runtime,
                t.spec.threads,
                t.spec.precision,
                _network_mape(t),
            )
            for t in message.targets
        ]

    def __iter__(self) -> Iterator[TargetInfo]:
        return iter(self.targets)

    def __len__(self) -> int:
        return len(self.targets)

    def names(self) -> List[str]:
        """Their names."""
        return [target.name for target in self.targets]

    def table(self) -> Table:
        """A row per target."""
        rows = [
            [t.name, t.device, t.runtime, str(t.threads), f"{t.network_mape:.1%}" if t.network_mape else ""]
            for t in self.targets
        ]
        return Table(["target", "device", "runtime", "threads", "MAPE of networks"], rows, left=3)


def _unknown(name: Any, what: str, known: str, names: Sequence[str]) -> UnknownName:
    written = one_line(name) if isinstance(name, str) else repr(name)
    return UnknownName(f"{written}: {what}", f"{known} {', '.join(map(one_line, names))}")


def _interval(estimate: Estimate) -> str:
    """An interval that claims no coverage is a guess, with two digits: more would look as if they
    were known."""
    ends = (estimate.low_ms, estimate.high_ms)
    if estimate.coverage <= 0:
        rough = [f"{ms:.0f}" if ms >= 10 else f"{ms:.1f}" if ms >= 1 else f"{ms:.2g}" for ms in ends]
        return f"a guess: {rough[0]} to {rough[1]}"
    return f"{milliseconds(ends[0])} ... {milliseconds(ends[1])}"


def _part(value: float, whole: float) -> float:
    return value / whole if whole else 0.0


def milliseconds(value: float) -> str:
    """Three significant digits at least.

    >>> milliseconds(0.01234), milliseconds(12.3456), milliseconds(1234.5)
    ('0.0123', '12.35', '1234.5')
    """
    if value == 0 or not math.isfinite(value):
        return str(value)
    digits = max(1, 2 - math.floor(math.log10(abs(value)))) if abs(value) < 10 else 2 if abs(value) < 1000 else 1
    return f"{value:.{digits}f}"


def count(value: int) -> str:
    """Large numbers with a prefix.

    >>> count(11689512), count(999)
    ('11.7 M', '999 ')
    """
    number: Any = value
    for prefix in ("", "k", "M", "G", "T"):
        if number < 1000 or prefix == "T":
            break
        number /= 1000
    return f"{number:.1f} {prefix}" if prefix else f"{value} "
