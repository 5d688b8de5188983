#!/usr/bin/env python3
"""The examples of searches and the programs of docs/search.md, run with the real server. They train
for seconds; what they find is not judged."""
import contextlib
import importlib
import io
import json
import os
import re
import subprocess
import sys
import unittest

import support

support.in_environment("pypi-search")
support.require("torch", "sklearn", "optuna", "pymoo")
support.stage()
EXAMPLES = os.path.join(support.ROOT, "examples", "search")
sys.path.insert(0, EXAMPLES)
import torch  # noqa: E402

torch.set_num_threads(1)
os.environ["PATH"] = support.BIN + os.pathsep + os.environ["PATH"]
os.environ["HOME"] = support.path()  # Ray Tune writes into ~/ray_results
os.environ.update(RAY_AIR_NEW_OUTPUT="0", RAY_USAGE_STATS_ENABLED="0", RAY_AUTH_MODE="disabled")
TARGET = "cpu-epyc-turin-1t-torch"


def read(*path):
    with open(os.path.join(support.ROOT, *path), encoding="utf-8") as file:
        return file.read()


def programs():
    """The Python of docs/search.md, in order, without the recipes for NNI, which nni_test.py runs
    in an environment of its own."""
    blocks = re.findall(r"^```python\n(.*?)^```", read("docs", "search.md"), flags=re.M | re.S)
    return [block for block in blocks if not block.startswith("# NNI")]


class DocumentTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.client = support.start()

    def test_the_first_program_is_the_example(self):
        example = read("examples", "search", "first_search.py").split("\n", 1)[1]
        self.assertEqual(programs()[0], example)

    def test_the_programs_run(self):
        # Ray sends their functions to another process by value, as those of a program that was
        # started.
        names = {"__name__": "__main__"}
        os.environ.update(support.environment(support.path("package")))
        first, *others = programs()
        for program in [first, *others]:
            if "import ray" in program and importlib.util.find_spec("ray") is None:
                continue
            program = program.replace("n_trials=30", "n_trials=10").replace("range(60)", "range(2)")
            said = io.StringIO()
            with self.subTest(program), contextlib.redirect_stdout(said):
                exec(compile(program, "docs/search.md", "exec"), names)
        self.assertIn("no: the upper end of the interval", said.getvalue())


class CompareTest(unittest.TestCase):
    def compare(self, space, out, *options):
        command = [sys.executable, os.path.join(EXAMPLES, "compare.py"), space, "--out", out, "--seeds", "1", *options]
        environment = support.environment(support.path("package"))
        done = subprocess.run(command, capture_output=True, text=True, env=environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.splitlines()

    def test_widths_go_on_where_they_were_cut(self):
        client = support.start()
        out = support.path("widths.jsonl")
        options = ("--seconds", "2", "--rounds", "1")
        table = self.compare("widths", out, *options, "--guide", "cobra", "--guide", "flops")
        self.assertEqual([row.split()[1] for row in table], ["guide", "---", "cobra", "flops"])
        with open(out, encoding="utf-8") as file:
            lines = file.readlines()
        self.assertEqual([json.loads(line).get("guide") for line in lines], ["cobra", "flops", None])
        with open(out, "w", encoding="utf-8") as file:  # cut within a line
            file.write(lines[0] + lines[1][:40])
        self.compare("widths", out, *options, "--guide", "cobra", "--guide", "flops")
        with open(out, encoding="utf-8") as file:
            again = file.readlines()
        self.assertEqual(again[0], lines[0])
        self.assertEqual([json.loads(line).get("guide") for line in again], ["cobra", "flops", None])
        self.compare("widths", out, *options)
        with open(out, encoding="utf-8") as file:
            self.assertEqual(file.readlines()[: len(again)], again)
        self.assertTrue(client.server_process())

    def test_cells(self):
        support.start()
        out = support.path("cells.jsonl")
        table = self.compare("cells", out, "--seconds", "2", "--rounds", "1", "--guide", "measure")
        self.assertEqual(table[-1].split()[1], "measure")


class PartsTest(unittest.TestCase):
    def test_a_cell_is_built_as_it_is_asked_about(self):
        import cells

        client = support.start()
        for choice in ((3, 0, 3, 1, 0, 1), (1, 2, 3, 4, 0, 3), (0, 0, 0, 0, 0, 0)):
            text = cells.architecture(choice)
            built = client.predict(cells.network(text).eval(), cells.INPUTS, TARGET)
            asked = client.predict(cells.asked(text), cells.INPUTS, TARGET)
            self.assertEqual((built.calls, built.parameters, built.macs), (asked.calls, asked.parameters, asked.macs))
            self.assertAlmostEqual(built.ms / asked.ms, 1, delta=0.02)

    def test_multiply_accumulates_are_those_of_the_graph(self):
        import guides
        import widths

        client = support.start()
        net = widths.network(widths.REFERENCE).eval()
        counted = guides.multiply_accumulates(net, widths.INPUTS)
        self.assertAlmostEqual(counted / client.predict(net, widths.INPUTS, TARGET).macs, 1, delta=0.05)

    def test_hypervolume(self):
        import report

        corner = report.WORST_ERROR
        self.assertEqual(report.hypervolume([]), 0)
        self.assertEqual(report.hypervolume([(0, 0)]), 1)
        self.assertEqual(report.hypervolume([(0, 1), (0, 2), (corner, 0), (1, 0)]), 0)
        self.assertAlmostEqual(report.hypervolume([(corner / 2, 0.5)]), 0.25)
        self.assertAlmostEqual(report.hypervolume([(corner / 2, 0.5), (0, 0.75), (corner / 2, 0.6)]), 0.25 + 0.125)
        self.assertEqual(report.front([(3, 1), (2, 2), (2, 3), (1, 3), (4, 0)]), [(4, 0), (3, 1), (2, 2), (1, 3)])


if __name__ == "__main__":
    support.main()
