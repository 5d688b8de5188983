"""Ray Tune: trials over the budget end before they train.

    fits = FeasibleUnder(5, "cpu-epyc-turin-1t", client)

    def train(config):
        tune.report({"accuracy": ...})

    trainable = within(fits, lambda config: (Net(config["width"]).eval(), "1x3x32x32"), train, otherwise={"accuracy": 0.0})
    tune.Tuner(trainable, param_space={"width": tune.randint(8, 64)}).fit()

Works with each searcher and scheduler: a trial over the budget reports `otherwise`, with
`latency_ms` and `latency_reason`, and is done.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Dict, Mapping, Tuple

from ..constraint import FeasibleUnder
from ._library import library

if TYPE_CHECKING:
    from ray import tune
else:
    tune = library("ray.tune", "ray")

Config = Dict[str, Any]


def within(
    fits: FeasibleUnder,
    candidate: Callable[[Config], Tuple[Any, Any]],
    train: Callable[[Config], Any],
    otherwise: Mapping[str, Any],
) -> Callable[[Config], Any]:
    """`train` for candidates (model and inputs of a configuration) within the budget; for the
    others one report of `otherwise`."""

    def trainable(config: Config) -> Any:
        verdict = fits(*candidate(config))
        if verdict:
            return train(config)
        tune.report({**otherwise, "latency_ms": verdict.ms, "latency_reason": verdict.reason})
        return None

    return trainable
