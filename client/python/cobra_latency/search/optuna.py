"""Optuna: candidates over the budget are pruned before they are trained, and samplers know the
constraint.

    latency = Latency(FeasibleUnder(5, "cpu-epyc-turin-1t", client))

    def objective(trial):
        net = build(trial.suggest_int("width", 8, 64))
        latency.check(trial, net.eval(), "1x3x32x32")      # raises TrialPruned, with the reason
        return train(net)

    study = optuna.create_study(sampler=latency.sampler(optuna.samplers.TPESampler), direction="maximize")
    study.optimize(objective, n_trials=100)
"""
from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any, List, Optional

from ..constraint import FeasibleUnder, Verdict
from ..errors import CobraError
from ._library import library

if TYPE_CHECKING:
    import optuna
else:
    optuna = library("optuna", "optuna")

_PREFIX = "cobra_latency:"
_BUDGETS = "cobra_latency:budgets"


class Latency:
    """The budgets of a study: one, or several on different targets, each a separate constraint. A
    study has one Latency.

    What was predicted is kept as attributes of each trial: `cobra_latency:ms`,
    `cobra_latency:reason`, `cobra_latency:excess`; of the second budget and the later ones with its
    number, `cobra_latency:2:ms`.
    """

    def __init__(self, fits: FeasibleUnder, *more: FeasibleUnder) -> None:
        self.fits = fits
        self._all = (fits, *more)

    def note(self, trial: "optuna.trial.Trial", model: Any, inputs: Any = None) -> Verdict:
        """Predicts, and tells the sampler how far the candidate is over each budget. The trial goes
        on: for soft constraints.

        The verdict is on the first budget that is not kept, or on the first one.
        """
        budgets = "; ".join(map(repr, self._all))
        if trial.user_attrs.get(_BUDGETS, budgets) != budgets:
            raise CobraError(
                f"trial {trial.number}: has the budgets of another Latency, which these would replace",
                "give all of them to one: Latency(FeasibleUnder(...), FeasibleUnder(...))",
            )
        trial.set_user_attr(_BUDGETS, budgets)
        verdicts = [fits(model, inputs) for fits in self._all]
        for number, (fits, verdict) in enumerate(zip(self._all, verdicts)):
            excess = fits.excess(verdict)
            trial.set_user_attr(_name("excess", number), excess)
            trial.set_user_attr(_name("ms", number), verdict.ms)
            trial.set_user_attr(_name("reason", number), verdict.reason)
            if hasattr(trial, "set_constraint"):  # Optuna 5
                trial.set_constraint("latency" if number == 0 else f"latency {number + 1}", excess)
        return next((verdict for verdict in verdicts if not verdict), verdicts[0])

    def check(self, trial: "optuna.trial.Trial", model: Any, inputs: Any = None) -> float:
        """The predicted milliseconds, by the first budget; raises TrialPruned, with the reason, for
        a candidate over one of them. Before training, in the objective."""
        verdict = self.note(trial, model, inputs)
        if not verdict or verdict.ms is None:
            raise optuna.TrialPruned(verdict.reason)
        return verdict.ms

    def constraints(self, trial: "optuna.trial.FrozenTrial") -> List[float]:
        """`constraints_func` of a sampler of Optuna 2 to 4. Optuna 5 has the constraints from
        note() and check()."""
        names = [_name("excess", number) for number in range(len(self._all))]
        if any(name not in trial.user_attrs for name in names):
            raise CobraError(
                f"trial {trial.number}: has no latency", "call Latency.check(trial, model) in the objective"
            )
        return [float(trial.user_attrs[name]) for name in names]

    def sampler(self, kind: Any, **options: Any) -> "optuna.samplers.BaseSampler":
        """A sampler that knows the constraints, in all versions of Optuna:
        latency.sampler(optuna.samplers.NSGAIISampler, seed=1)."""
        if not hasattr(optuna.trial.Trial, "set_constraint"):
            if "constraints_func" not in inspect.signature(kind).parameters:
                raise CobraError(f"{kind.__name__}: takes no constraints", "use TPESampler, GPSampler or NSGAIISampler")
            options["constraints_func"] = self.constraints
        made: "optuna.samplers.BaseSampler" = kind(**options)
        return made


class LatencyPruner(optuna.pruners.BasePruner):
    """A pruner for objectives that call trial.should_prune() and Latency.note(): over a budget is
    pruned, `inner` decides about the others."""

    def __init__(self, inner: "Optional[optuna.pruners.BasePruner]" = None) -> None:
        self.inner = inner or optuna.pruners.NopPruner()

    def prune(self, study: "optuna.study.Study", trial: "optuna.trial.FrozenTrial") -> bool:
        """Whether the trial ends here."""
        excess = [v for k, v in trial.user_attrs.items() if k.startswith(_PREFIX) and k.endswith("excess")]
        return max(map(float, excess), default=0.0) > 0 or bool(self.inner.prune(study, trial))


def _name(what: str, number: int) -> str:
    return f"{_PREFIX}{what}" if number == 0 else f"{_PREFIX}{number + 1}:{what}"
