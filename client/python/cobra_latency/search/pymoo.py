"""pymoo: a problem whose last objective is the predicted latency, with the budget as a constraint.

    class Widths(LatencyProblem):
        def candidate(self, x):
            return Net(*x).eval(), "1x3x32x32"

        def objectives(self, x):
            return [1 - train(Net(*x))]

    problem = Widths(FeasibleUnder(5, "cpu-epyc-turin-1t", client), n_var=4, n_obj=2, xl=8, xu=64, vtype=int)
    result = minimize(problem, NSGA2(), ("n_gen", 20))

Latencies of a whole population are asked in one message; what exceeds the budget is not evaluated.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, List, Optional, Sequence, Tuple

from ..constraint import FeasibleUnder, Verdict
from ._library import library

if TYPE_CHECKING:
    from pymoo.core.problem import Problem
else:
    Problem = library("pymoo.core.problem", "pymoo").Problem

# Of candidates that are not evaluated: algorithms compare these only by their constraint, so any
# finite number does.
_NOT_EVALUATED = 1e9


class LatencyProblem(Problem):
    """Derive from it, and say what a row of the population is (candidate) and how good it is
    (objectives)."""

    def __init__(self, fits: FeasibleUnder, **options: Any) -> None:
        """`options` are those of pymoo's Problem: n_var, n_obj (the latency is one of them), xl, xu
        ..."""
        super().__init__(n_ieq_constr=1, **options)
        self.fits = fits
        self.verdict: Optional[Verdict] = None
        """On the candidate that objectives() is asked for, with its milliseconds."""

    def candidate(self, x: Any) -> Tuple[Any, Any]:
        """The model and its inputs."""
        raise NotImplementedError

    def objectives(self, x: Any) -> Sequence[float]:
        """What is to be minimised besides latency; asked only for candidates within the budget."""
        raise NotImplementedError

    def _evaluate(self, X: Any, out: Dict[str, Any], *args: Any, **options: Any) -> None:
        rows: List[List[float]] = []
        verdicts = self.fits.many(self.candidate(x) for x in X)
        for x, verdict in zip(X, verdicts):
            self.verdict = verdict
            others = list(self.objectives(x)) if verdict else [_NOT_EVALUATED] * (self.n_obj - 1)
            rows.append([*others, _NOT_EVALUATED if verdict.ms is None else verdict.ms])
        out["F"] = rows
        out["G"] = [[self.fits.excess(verdict)] for verdict in verdicts]
