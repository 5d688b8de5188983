#!/usr/bin/env python3
"""The adapters to Optuna, pymoo and Ray Tune, each in a real search with the real server. Needs no
training: accuracy is a function of the widths."""
import importlib.util
import os
import sys
import unittest

import support

support.in_environment("pypi-search")
support.require("torch")
support.stage()
from torch import nn  # noqa: E402

from cobra_latency import CobraError, FeasibleUnder  # noqa: E402

INPUT = "8x3x16x16"


def net(*widths):
    layers, before = [], 3
    for width in widths:
        layers += [nn.Conv2d(before, int(width), 3, padding=1), nn.BatchNorm2d(int(width)), nn.ReLU()]
        before = int(width)
    return nn.Sequential(*layers).eval()


def accuracy(*widths):
    return 1 - sum(1 / (1 + width) for width in widths) / len(widths)


def needs(name):
    return unittest.skipIf(
        importlib.util.find_spec(name) is None, f"{name} is not installed (scripts/setup.sh --search)"
    )


class SearchTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.client = support.start()
        cls.target = cls.client.targets(kind="cpu", runtime="libtorch").names()[0]
        least, most = (cls.client.predict(net(w, w), INPUT, cls.target).ms for w in (8, 64))
        cls.budget = (least + most) / 3
        cls.fits = FeasibleUnder(cls.budget, cls.target, cls.client)

    def test_a_client_in_another_process(self):
        import pickle

        fits = pickle.loads(pickle.dumps(self.fits))
        self.assertEqual(fits(net(8, 8), INPUT), self.fits(net(8, 8), INPUT))

    def test_many_verdicts_are_those_of_single_questions(self):
        nets = [net(8, 8), net(64, 64), net(8, 8)[:2]]
        self.assertEqual(self.fits.many([(n, INPUT) for n in nets]), [self.fits(n, INPUT) for n in nets])
        broken = self.fits.many([("nasbench101:[[0,0],[0,0]] [input, output]", None)])[0]
        self.assertFalse(broken)
        self.assertEqual(self.fits.excess(broken), 1.0)

    @needs("optuna")
    def test_optuna(self):
        import optuna

        from cobra_latency.search.optuna import Latency, LatencyPruner

        optuna.logging.set_verbosity(optuna.logging.ERROR)
        latency = Latency(self.fits)
        trained = []

        def objective(trial):
            widths = [trial.suggest_int(name, 8, 64) for name in ("a", "b")]
            ms = latency.check(trial, net(*widths), INPUT)
            trained.append(ms)
            return accuracy(*widths), ms

        for kind in (optuna.samplers.NSGAIISampler, optuna.samplers.TPESampler):
            study = optuna.create_study(sampler=latency.sampler(kind, seed=1), directions=["maximize", "minimize"])
            study.optimize(objective, n_trials=40)
            pruned = [t for t in study.trials if t.state == optuna.trial.TrialState.PRUNED]
            self.assertTrue(pruned)
            self.assertTrue(all("exceed the budget" in t.user_attrs["cobra_latency:reason"] for t in pruned))
            self.assertTrue(study.best_trials)
            self.assertTrue(all(t.values[1] <= self.budget for t in study.best_trials))
        self.assertLessEqual(max(trained), self.budget)

        def pruned_by_the_pruner(trial):
            widths = [trial.suggest_int(name, 8, 64) for name in ("a", "b")]
            latency.note(trial, net(*widths), INPUT)
            trial.report(accuracy(*widths), 1)
            if trial.should_prune():
                raise optuna.TrialPruned()
            return accuracy(*widths)

        study = optuna.create_study(sampler=latency.sampler(optuna.samplers.TPESampler, seed=2), pruner=LatencyPruner())
        study.optimize(pruned_by_the_pruner, n_trials=25)
        for trial in study.trials:
            over = trial.user_attrs["cobra_latency:ms"] > self.budget
            self.assertEqual(trial.state == optuna.trial.TrialState.PRUNED, over)

    @needs("optuna")
    def test_optuna_with_several_budgets(self):
        import optuna

        from cobra_latency.search.optuna import Latency, LatencyPruner

        optuna.logging.set_verbosity(optuna.logging.ERROR)
        other = self.client.targets(kind="cpu", runtime="libtorch").names()[1]
        strict = self.client.predict(net(24, 24), INPUT, other).ms
        latency = Latency(self.fits, FeasibleUnder(strict, other, self.client))

        def objective(trial):
            widths = [trial.suggest_int(name, 8, 64) for name in ("a", "b")]
            latency.check(trial, net(*widths), INPUT)
            return accuracy(*widths)

        study = optuna.create_study(sampler=latency.sampler(optuna.samplers.TPESampler, seed=1), direction="maximize")
        study.optimize(objective, n_trials=25)
        for trial in study.trials:
            within = [
                trial.user_attrs["cobra_latency:ms"] <= self.budget,
                trial.user_attrs["cobra_latency:2:ms"] <= strict,
            ]
            self.assertEqual([excess <= 0 for excess in latency.constraints(trial)], within)
            self.assertEqual(trial.state == optuna.trial.TrialState.PRUNED, not all(within))
            self.assertEqual(LatencyPruner().prune(study, trial), not all(within))
        self.assertIn("on " + other, " ".join(t.user_attrs["cobra_latency:2:reason"] for t in study.trials))
        trial = study.ask()
        Latency(self.fits).note(trial, net(8, 8), INPUT)
        with self.assertRaisesRegex(CobraError, "another Latency"):
            Latency(FeasibleUnder(strict, other, self.client)).note(trial, net(8, 8), INPUT)

    @needs("pymoo")
    def test_pymoo(self):
        from pymoo.algorithms.moo.nsga2 import NSGA2
        from pymoo.operators.repair.rounding import RoundingRepair
        from pymoo.operators.crossover.sbx import SBX
        from pymoo.operators.mutation.pm import PM
        from pymoo.operators.sampling.rnd import IntegerRandomSampling
        from pymoo.optimize import minimize

        from cobra_latency.search.pymoo import LatencyProblem

        evaluated = []

        class Widths(LatencyProblem):
            def candidate(self, x):
                return net(*x), INPUT

            def objectives(self, x):
                evaluated.append(tuple(x))
                return [1 - accuracy(*x)]

        problem = Widths(self.fits, n_var=2, n_obj=2, xl=8, xu=64, vtype=int)
        repair = {"vtype": float, "repair": RoundingRepair()}
        algorithm = NSGA2(pop_size=10, sampling=IntegerRandomSampling(), crossover=SBX(**repair), mutation=PM(**repair))
        result = minimize(problem, algorithm, ("n_gen", 4), seed=1)
        self.assertGreater(len(result.F), 1)
        self.assertLessEqual(result.F[:, 1].max(), self.budget)
        self.assertTrue(all(self.fits(net(*x), INPUT) for x in set(evaluated)))
        self.assertLess(len(evaluated), 40)

    @ needs("ray.tune") if importlib.util.find_spec("ray") else unittest.skip("ray is not installed")
    def test_ray(self):
        os.environ.update(
            RAY_AIR_NEW_OUTPUT="0",
            RAY_USAGE_STATS_ENABLED="0",
            RAY_DISABLE_IMPORT_WARNING="1",
            RAY_AUTH_MODE="disabled",
        )
        os.environ.update(support.environment(support.path("package")))
        import ray
        from ray import tune

        from cobra_latency.search.ray import within

        def train(config):
            tune.report({"accuracy": 1 - 1 / (1 + config["width"])})

        def candidate(config):
            return (
                nn.Sequential(nn.Conv2d(3, config["width"], 3), nn.Conv2d(config["width"], config["width"], 3)),
                INPUT,
            )

        widths = [8, 512]
        inside, outside = (
            self.client.predict(candidate({"width": w})[0].eval(), INPUT, self.target).ms for w in widths
        )
        fits = FeasibleUnder((inside + outside) / 2, self.target, self.client)
        ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False, object_store_memory=80 << 20)
        try:
            tuner = tune.Tuner(
                within(fits, candidate, train, otherwise={"accuracy": 0.0}),
                param_space={"width": tune.grid_search(widths)},
                run_config=tune.RunConfig(storage_path=support.path("ray"), verbose=0),
            )
            results = {result.config["width"]: result.metrics for result in tuner.fit()}
        finally:
            ray.shutdown()
        self.assertGreater(results[8]["accuracy"], 0.8)
        self.assertEqual(results[512]["accuracy"], 0.0)
        self.assertIn("exceed the budget", results[512]["latency_reason"])

    def test_a_library_that_is_not_installed_is_named(self):
        from cobra_latency.search._library import library

        with self.assertRaisesRegex(ImportError, r"pip install 'cobra-latency\[optuna\]'"):
            library("no_such_library", "optuna")


if __name__ == "__main__":
    support.main()
