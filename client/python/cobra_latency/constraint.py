"""A latency budget as a constraint of a search."""
from __future__ import annotations

from typing import Any, Iterable, List, NamedTuple, Optional, Tuple

from .client import Client, Names, Question
from .errors import LimitReached, ModelError, UsageError, one_line, shown
from .results import Estimate, Prediction, milliseconds


class Verdict(NamedTuple):
    """True if feasible. `reason` says why, or why not."""

    feasible: bool
    reason: str
    ms: Optional[float]
    high_ms: Optional[float]

    def __bool__(self) -> bool:
        return self.feasible

    def __str__(self) -> str:
        return shown(("yes: " if self.feasible else "no: ") + self.reason)


class FeasibleUnder:
    """Whether a network keeps a budget on a target. A callable that says no with a reason:

        fits = FeasibleUnder(budget_ms=5, target="cpu-epyc-turin-1t", client=client)
        verdict = fits(candidate, "1x3x224x224")
        if not verdict:
            print(verdict.reason)

    With several targets it must keep the budget on each; a verdict is that of the target on which
    it is furthest over, or nearest.

    `by` says what must keep the budget: "expected", the predicted latency, or "high", the upper end
    of its 90 % interval. A prediction below `min_confidence` is no as well, and so is a network
    that needs more memory than the device has. A network that cannot be read is no, with the
    reason; an unknown target or a server that does not answer is an error.
    """

    def __init__(
        self,
        budget_ms: float,
        target: Names,
        client: Optional[Client] = None,
        by: str = "expected",
        min_confidence: float = 0.0,
    ) -> None:
        if not budget_ms > 0:  # nan too
            raise UsageError(f"budget_ms={budget_ms}: is not positive", "give milliseconds")
        if by not in ("expected", "high"):
            raise UsageError(f"by={by!r}: is neither 'expected' nor 'high'", "see FeasibleUnder")
        self.targets: List[str] = [target] if isinstance(target, str) else list(target)
        if not self.targets:
            raise UsageError("target=[]: is empty", "Client.targets() lists them")
        self.budget_ms = budget_ms
        self.target = self.targets[0]
        """The first one."""
        self.by = by
        self.min_confidence = min_confidence
        self._client = client or Client()

    def __call__(self, model: Any, inputs: Any = None) -> Verdict:
        try:
            return self._verdict(self._client.predict(model, inputs, self.targets), None)
        except (ModelError, LimitReached) as error:
            return self._verdict(None, error)

    def many(self, candidates: Iterable[Tuple[Any, Any]]) -> List[Verdict]:
        """The verdicts on many candidates, pairs of model and inputs, asked in one message."""
        verdicts = []
        for answer in self._client.predict_many(Question(m, inputs, self.targets) for m, inputs in candidates):
            if answer.error is not None and not isinstance(answer.error, (ModelError, LimitReached)):
                raise answer.error
            verdicts.append(self._verdict(answer.prediction, answer.error))
        return verdicts

    def _verdict(self, prediction: Optional[Prediction], error: Optional[Exception]) -> Verdict:
        if prediction is None:
            return Verdict(False, str(error), None, None)
        return max(map(self._judge, prediction.estimates), key=self.excess)

    def excess(self, verdict: Verdict) -> float:
        """How far a verdict is over the budget, as a fraction of it: at most 0 if feasible. What
        optimisers call the value of a constraint.

        >>> FeasibleUnder(10, "board").excess(Verdict(False, "15 ms exceed the budget", 15.0, 18.0))
        0.5
        """
        value = verdict.ms if self.by == "expected" else verdict.high_ms
        over = 1.0 if value is None else value / self.budget_ms - 1
        return over if verdict.feasible or over > 0 else 1.0

    def _judge(self, estimate: Estimate) -> Verdict:
        ms, high_ms, confidence = estimate.ms, estimate.high_ms, estimate.confidence
        value = ms if self.by == "expected" else high_ms
        what = "predicted" if self.by == "expected" else "the upper end of the interval,"
        target = one_line(estimate.target)
        budget = f"{milliseconds(self.budget_ms)} ms on {target}"
        if not confidence >= self.min_confidence:
            on = f" on {target}" if len(self.targets) > 1 else ""
            reason = f"a confidence of {confidence:.2f} is below {self.min_confidence:.2f}, so {milliseconds(ms)} ms{on} is a guess"
            return Verdict(False, reason, ms, high_ms)
        if not estimate.fits:
            return Verdict(False, f"{target} does not have the memory: {estimate.notes[0]}", ms, high_ms)
        what = f"{what} {milliseconds(value)} ms{', a guess,' if estimate.is_guess else ''}"
        if not value <= self.budget_ms:  # also what is not a number
            over = value / self.budget_ms - 1
            return Verdict(False, f"{what} exceed the budget of {budget} by {over:.0%}", ms, high_ms)
        return Verdict(True, f"{what} keep the budget of {budget}", ms, high_ms)

    def __repr__(self) -> str:
        target = self.target if len(self.targets) == 1 else self.targets
        return f"FeasibleUnder({self.budget_ms}, {target!r}, by={self.by!r}, min_confidence={self.min_confidence})"
