"""A latency budget as a constraint of a search."""
from __future__ import annotations

from typing import Any, NamedTuple, Optional

from .client import Client
from .errors import LimitReached, ModelError, UsageError
from .results import milliseconds


class Verdict(NamedTuple):
    """True if feasible. `reason` says why, or why not."""

    feasible: bool
    reason: str
    ms: Optional[float]
    high_ms: Optional[float]

    def __bool__(self) -> bool:
        return self.feasible

    def __str__(self) -> str:
        return ("yes: " if self.feasible else "no: ") + self.reason


class FeasibleUnder:
    """Whether a network keeps a budget on a target. A callable that says no with a reason:

        fits = FeasibleUnder(budget_ms=5, target="cpu-epyc-turin-1t", client=client)
        verdict = fits(candidate, "1x3x224x224")
        if not verdict:
            print(verdict.reason)

    `by` says what must keep the budget: "expected", the predicted latency, or "high", the upper end of its 90 % interval. A prediction below
    `min_confidence` is no as well. A network that cannot be read is no, with the reason; an unknown target or a server that does not answer is
    an error.
    """

    def __init__(
        self,
        budget_ms: float,
        target: str,
        client: Optional[Client] = None,
        by: str = "expected",
        min_confidence: float = 0.0,
    ) -> None:
        if budget_ms <= 0:
            raise UsageError(f"budget_ms={budget_ms}: is not positive", "give milliseconds")
        if by not in ("expected", "high"):
            raise UsageError(f"by={by!r}: is neither 'expected' nor 'high'", "see FeasibleUnder")
        self.budget_ms = budget_ms
        self.target = target
        self.by = by
        self.min_confidence = min_confidence
        self._client = client or Client()

    def __call__(self, model: Any, inputs: Any = None) -> Verdict:
        try:
            estimate = self._client.predict(model, inputs, self.target).estimates[0]
        except (ModelError, LimitReached) as error:
            return Verdict(False, str(error), None, None)
        return self._judge(estimate.ms, estimate.high_ms, estimate.confidence)

    def _judge(self, ms: float, high_ms: float, confidence: float) -> Verdict:
        value = ms if self.by == "expected" else high_ms
        what = "predicted" if self.by == "expected" else "the upper end of the interval,"
        budget = f"{milliseconds(self.budget_ms)} ms on {self.target}"
        if confidence < self.min_confidence:
            reason = f"a confidence of {confidence:.2f} is below {self.min_confidence:.2f}, so {milliseconds(ms)} ms is a guess"
            return Verdict(False, reason, ms, high_ms)
        if value > self.budget_ms:
            over = value / self.budget_ms - 1
            return Verdict(
                False, f"{what} {milliseconds(value)} ms exceed the budget of {budget} by {over:.0%}", ms, high_ms
            )
        return Verdict(True, f"{what} {milliseconds(value)} ms keep the budget of {budget}", ms, high_ms)

    def __repr__(self) -> str:
        return f"FeasibleUnder({self.budget_ms}, {self.target!r}, by={self.by!r}, min_confidence={self.min_confidence})"
