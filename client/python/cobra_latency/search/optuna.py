"""Optuna: candidates over the budget are pruned before they are trained, and samplers know the constraint.

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

_EXCESS, _MS, _WHY = "cobra_latency:excess", "cobra_latency:ms", "cobra_latency:reason"


class Latency:
    """The budget of a study.

    What was predicted is kept as attributes of each trial: `cobra_latency:ms`, `cobra_latency:reason`, `cobra_latency:excess`.
    """

    def __init__(self, fits: FeasibleUnder) -> None:
        self.fits = fits

    def note(self, trial: "optuna.trial.Trial", model: Any, inputs: Any = None) -> Verdict:
        """Predicts, and tells the sampler how far the candidate is over the budget. The trial goes on: for soft constraints."""
        verdict = self.fits(model, inputs)
        excess = self.fits.excess(verdict)
        trial.set_user_attr(_EXCESS, excess)
        trial.set_user_attr(_MS, verdict.ms)
        trial.set_user_attr(_WHY, verdict.reason)
        if hasattr(trial, "set_constraint"):  # Optuna 5
            trial.set_constraint("latency", excess)
        return verdict

    def check(self, trial: "optuna.trial.Trial", model: Any, inputs: Any = None) -> float:
        """The predicted milliseconds; raises TrialPruned, with the reason, for a candidate over the budget. Before training, in the objective."""
        verdict = self.note(trial, model, inputs)
        if not verdict or verdict.ms is None:
            raise optuna.TrialPruned(verdict.reason)
        return verdict.ms

    def constraints(self, trial: "optuna.trial.FrozenTrial") -> List[float]:
        """`constraints_func` of a sampler of Optuna 2 to 4. Optuna 5 has the constraint from note() and check()."""
        if _EXCESS not in trial.user_attrs:
            raise CobraError(
                f"trial {trial.number}: has no latency", "call Latency.check(trial, model) in the objective"
            )
        return [float(trial.user_attrs[_EXCESS])]

    def sampler(self, kind: Any, **options: Any) -> "optuna.samplers.BaseSampler":
        """A sampler that knows the constraint, in all versions of Optuna: latency.sampler(optuna.samplers.NSGAIISampler, seed=1)."""
        if not hasattr(optuna.trial.Trial, "set_constraint"):
            if "constraints_func" not in inspect.signature(kind).parameters:
                raise CobraError(f"{kind.__name__}: takes no constraints", "use TPESampler, GPSampler or NSGAIISampler")
            options["constraints_func"] = self.constraints
        made: "optuna.samplers.BaseSampler" = kind(**options)
        return made


class LatencyPruner(optuna.pruners.BasePruner):
    """A pruner for objectives that call trial.should_prune() and Latency.note(): over the budget is pruned, `inner` decides about the others."""

    def __init__(self, inner: "Optional[optuna.pruners.BasePruner]" = None) -> None:
        self.inner = inner or optuna.pruners.NopPruner()

    def prune(self, study: "optuna.study.Study", trial: "optuna.trial.FrozenTrial") -> bool:
        """Whether the trial ends here."""
        return float(trial.user_attrs.get(_EXCESS, 0.0)) > 0 or bool(self.inner.prune(study, trial))
