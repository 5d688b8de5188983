#!/usr/bin/env python3
"""The recipes of docs/search.md for NNI, run by NNI 3.0 itself with the real server. Needs no
training: accuracy is a function of the widths."""
import contextlib
import io
import os
import re
import socket
import sys
import unittest

import support

support.in_environment("pypi-nni")
support.require("torch", "nni")
support.stage()
os.environ["HOME"] = support.path()  # NNI writes into ~/nni-experiments
os.environ["PATH"] = support.BIN + os.pathsep + os.environ["PATH"]
os.environ.update(support.environment(support.path("package")))
os.environ["PYTHONWARNINGS"] = "ignore"

# What the recipes have from the first program of the page, but for the training.
BEFORE = """
import torch
from torch import nn

import cobra_latency
from cobra_latency import FeasibleUnder

TARGET, INPUTS = "cpu-epyc-turin-1t-torch", "1x1x8x8"


def network(*widths):
    layers, before = [], 1
    for width in widths:
        layers += [nn.Conv2d(before, width, 3, padding=1), nn.ReLU()]
        before = width
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(before, 10))


def train(net):
    trained = 1.0 - 1.0 / sum(p.numel() for p in net.parameters())
    with open("trained.txt", "a") as file:
        file.write(f"{trained}\\n")
    return trained


"""


def recipes():
    with open(os.path.join(support.ROOT, "docs", "search.md"), encoding="utf-8") as file:
        blocks = re.findall(r"^```python\n(.*?)^```", file.read(), flags=re.M | re.S)
    return [block for block in blocks if block.startswith("# NNI")]


def trained():
    """How many networks were, since it was asked for last."""
    try:
        with open("trained.txt") as file:
            lines = file.readlines()
    except FileNotFoundError:
        return 0
    os.remove("trained.txt")
    return len(lines)


class NniTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.client = support.start()
        os.makedirs(support.path("work"))
        os.chdir(support.path("work"))
        cls.addClassCleanup(os.chdir, "/")

    def test_a_strategy(self):
        from nni.nas.space import ModelStatus

        names = {"__name__": "__main__"}
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            exec(compile(BEFORE + recipes()[0], "docs/search.md", "exec"), names)
        history = list(names["strategy"].list_models())
        self.assertEqual({model.sample["width"] for model in history}, {4, 8, 16})
        self.assertEqual(trained(), len(history))
        (refused,) = names["strategy"][1].list_models(ModelStatus.Invalid)  # by the filter
        self.assertEqual(refused.sample["width"], 256)
        self.assertRegex(said.getvalue(), r"\[\{'width': (4|8|16)\}\]")

    def test_a_trial(self):
        from nni.experiment import Experiment

        support.write(os.path.join("work", "trial.py"), BEFORE + recipes()[1])
        experiment = Experiment("local")
        experiment.config.trial_command = sys.executable + " trial.py"
        experiment.config.trial_code_directory = support.path("work")
        experiment.config.experiment_working_directory = support.path("experiments")
        experiment.config.search_space = {
            "first": {"_type": "choice", "_value": [8]},
            "second": {"_type": "choice", "_value": [8, 2048]},
        }
        experiment.config.tuner.name = "GridSearch"
        experiment.config.max_trial_number = 2
        experiment.config.trial_concurrency = 1
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        try:
            self.assertTrue(experiment.run(port, wait_completion=True))
            results = {trial.parameter["second"]: trial.value for trial in experiment.export_data()}
        finally:
            experiment.stop()
        self.assertGreater(results[8], 0.9)
        self.assertEqual(results[2048], 0.0)
        with open("trained.txt") as file:
            self.assertEqual(len(file.readlines()), 1)


if __name__ == "__main__":
    support.main()
