#!/usr/bin/env python3
"""cobra-worker measures in runners (docs/runners.md): PyTorch of Debian's Python, and where they
are installed PyTorch 2,
ONNX Runtime and OpenVINO. A runner whose results are wrong leaves no measurement. No time is
asserted."""
import json
import os
import subprocess
import tempfile
import unittest

from worker_run import BIN, CORE, SOURCE, lines, records, run

RUNNERS = os.path.join(SOURCE, "worker", "runners")
PYTHON = "/usr/bin/python3"
TORCH = "%s %s" % (PYTHON, os.path.join(RUNNERS, "eager_torch.py"))

# A runner of PyTorch's that is wrong by a little: what comes out is a hundredth larger.
WRONG = """
import sys
sys.path.insert(0, %r)
import eager_torch, runner_loop

class Wrong(eager_torch.EagerTorch):
    def verify(self, tensors):
        return {name: array * 1.01 for name, array in super().verify(tensors).items()}

runner_loop.serve(Wrong(False))
"""


# What a runner may do to its folder and in its file of outputs. /dev/zero has no end, and the large
# file is a hole.
FAULTS = {
    "a link": "os.symlink('/dev/zero', outputs)",
    "a pipe": "os.mkfifo(outputs)",
    "a hole of 200 GB": "open(outputs, 'wb').truncate(200 << 30)",
    "no tensors": "open(outputs, 'wb').write(b'\\xff' * 8 + b'{}')",
    "the folder removed": "shutil.rmtree(os.path.dirname(outputs))",
}
FAULTY = """
import os, shutil, sys
sys.path.insert(0, %r)
import eager_torch, runner_loop

loads = 0

def answer(runner, request):
    global loads
    loads += request["do"] == "load"
    if request["do"] == "verify" and os.path.exists(%r):
        os.remove(%r)
        outputs = request["outputs"]
        %s
        return {}
    if request["do"] == "describe":
        return dict(ours(runner, request), version="1.%%d" %% (os.path.exists(%r) or %d))
    return ours(runner, request)

ours, runner_loop.answer = runner_loop.answer, answer
runner_loop.serve(eager_torch.EagerTorch(False))
"""


RUNTIMES = os.path.join(SOURCE, "build", "runtimes")
NEWER = os.path.join(RUNTIMES, "bin", "python3")


def has(python, *modules):
    code = "import importlib.util, sys; sys.exit(not all(map(importlib.util.find_spec, %r)))" % (modules,)
    return os.path.exists(python) and subprocess.run([python, "-c", code]).returncode == 0


@unittest.skipUnless(has(PYTHON, "torch", "numpy"), "needs python3-torch")
class RunnerTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def series(self, runner, *flags):
        out = os.path.join(self.folder, "records.jsonl")
        done = run("measure", "--out", out, "--tolerance", 1000, "--core", CORE, "--runner", runner, *flags)
        self.assertEqual(done.returncode, 0, done.stderr)
        return next(line for line in lines(out) if line["kind"] == "session"), records(out)

    def test_layers_and_networks(self):
        session, found = self.series(TORCH, "--space", "real-layers,real-networks", "--count", "6,2")
        self.assertGreaterEqual(len(found), 8)
        for record in found:
            self.assertEqual(record["outcome"], "ok", record.get("message"))
            self.assertGreater(record["latency_us"], 0)
            self.assertEqual(record["is_network"], "profile" in record)
            # A small layer may fit into memory that the process had already.
            if record["is_network"]:
                self.assertGreater(record["peak_memory_bytes"], 0)
        self.assertRegex(session["machine"]["name"], "-1t-torch$")
        self.assertRegex(session["machine"]["runtime"], r"^torch-1\.13")
        self.assertEqual(session["environment"]["runner"]["format"], "python")

    def test_tensors_of_none_random_draws_and_bfloat16(self):
        _, found = self.series(TORCH, "--space", "constant-layers", "--count", 60)
        self.assertEqual({(record["outcome"], record.get("message")) for record in found}, {("ok", None)})
        self.assertLessEqual({"full", "rand", "arange", "to", "masked_fill"}, {record["label"] for record in found})

    @unittest.skipUnless(has(NEWER, "ncnn"), "needs scripts/setup.sh --runtimes")
    def test_ncnn_has_the_integers_that_it_is_given(self):
        graph = {
            "inputs": [{"dtype": "int64", "name": "x0", "shape": [1, 3000]}],
            "ops": [{"attrs": {}, "inputs": ["in:0", "p:p0"], "op": "embedding", "out": [[1, 3000, 8]]}],
            "output": [0],
            "param_shapes": {"p0": [4000, 8]},
        }
        path = os.path.join(self.folder, "graph.json")
        with open(path, "w") as file:
            json.dump(graph, file)
        done = run(
            "measure",
            "--graph",
            path,
            "--core",
            CORE,
            "--runner",
            NEWER + " " + os.path.join(RUNNERS, "ncnn_runner.py"),
        )
        record = json.loads(done.stdout)
        self.assertEqual((record["outcome"], record.get("message")), ("ok", None))

    def test_our_runners_have_names(self):
        os.environ["COBRA_RUNNER_PYTHON"] = PYTHON
        self.addCleanup(os.environ.pop, "COBRA_RUNNER_PYTHON")
        session, found = self.series("torch", "--space", "real-layers", "--count", 2)
        self.assertEqual({record["outcome"] for record in found}, {"ok"})
        self.assertEqual(session["environment"]["runner"]["command"], [os.path.basename(PYTHON), "eager_torch.py"])

    def test_turns_with_another_program(self):
        graph = os.path.join(self.folder, "relu.json")
        with open(graph, "w") as file:
            json.dump(
                {"inputs": [{"shape": [1, 64]}], "ops": [{"op": "relu", "inputs": ["in:0"]}], "output": [0]}, file
            )
        asked = run("measure", "--graph", graph, "--in-turns", "--core", CORE, "--runner", TORCH, input="\n\n")
        self.assertEqual(asked.returncode, 0, asked.stderr)
        turns = [json.loads(line) for line in asked.stdout.splitlines()]
        self.assertEqual(len(turns), 2)
        for turn in turns:
            self.assertGreater(turn["latency_us"], 0)
            self.assertGreater(turn["runs"], 0)

    @unittest.skipUnless(has(NEWER, "openvino", "onnxruntime", "torch", "ncnn"), "needs scripts/setup.sh --runtimes")
    def test_profiles_name_the_calls_that_ran_as_one(self):
        graph = os.path.join(self.folder, "fused.json")
        conv = {"stride": [1, 1], "padding": [1, 1], "dilation": [1, 1], "groups": 1}
        shapes = {"w": [8, 8, 3, 3], "v": [8, 8, 3, 3]}
        ops = [
            {"op": "conv2d", "inputs": ["in:0", "p:w"], "attrs": conv},
            {"op": "relu", "inputs": [0]},
            {"op": "conv2d", "inputs": [1, "p:v"], "attrs": conv},
        ]
        with open(graph, "w") as file:
            json.dump({"inputs": [{"shape": [1, 8, 16, 16]}], "param_shapes": shapes, "ops": ops, "output": [2]}, file)
        for runner, calls in (
            ("open_vino.py", [[0, 1]]),  # the last kernel has the name of the output
            ("onnx_runtime.py", [[1]]),
            ("eager_torch.py", [[0], [1], [2]]),
            ("ncnn_runner.py", [[0], [1], [2]]),
        ):
            command = "%s %s" % (NEWER, os.path.join(RUNNERS, runner))
            asked = run("measure", "--graph", graph, "--core", CORE, "--runner", command)
            self.assertEqual(asked.returncode, 0, asked.stderr)
            profile = json.loads(asked.stdout)["profile"]
            self.assertEqual(calls, [of for _, _, of in profile if of], (runner, profile))

    def test_a_wrong_result_is_no_measurement(self):
        path = os.path.join(self.folder, "wrong.py")
        with open(path, "w") as file:
            file.write(WRONG % RUNNERS)
        _, found = self.series("%s %s" % (PYTHON, path), "--space", "real-networks", "--count", 2)
        for record in found:
            self.assertEqual(record["outcome"], "crashed")
            self.assertIn("is not LibTorch's", record["message"])
            self.assertNotIn("latency_us", record)

    def test_a_runner_that_dies_costs_its_task(self):
        path = os.path.join(self.folder, "dies.py")
        with open(path, "w") as file:
            file.write(
                (WRONG % RUNNERS).replace(
                    "    def verify", "    def call(self):\n        raise SystemExit(3)\n\n    def verify"
                )
            )
        _, found = self.series("%s %s" % (PYTHON, path), "--space", "real-layers", "--count", 3)
        self.assertGreaterEqual(len(found), 3)
        self.assertEqual({record["outcome"] for record in found}, {"crashed"})
        self.assertIn("exit status 3", found[0]["message"])

    def faulty(self, fault, other_version=1):
        """A runner with a fault in its first task."""
        path, first = os.path.join(self.folder, "faulty.py"), os.path.join(self.folder, "first")
        open(first, "w").close()
        with open(path, "w") as file:
            file.write(FAULTY % (RUNNERS, first, first, fault, first, other_version))
        return "%s %s" % (PYTHON, path)

    def test_faults_in_its_folder_cost_one_task(self):
        for name, fault in FAULTS.items():
            with self.subTest(name):
                self.setUp()
                _, found = self.series(self.faulty(fault), "--space", "real-layers", "--count", 2)
                self.assertEqual(sorted(r["outcome"] for r in found), ["crashed", "ok"], found)
                message = next(r["message"] for r in found if r["outcome"] == "crashed")
                self.assertNotIn(os.sep + "dev", message)

    def test_another_version_after_a_restart_ends_the_series(self):
        out = os.path.join(self.folder, "records.jsonl")
        runner = self.faulty("os._exit(3)", other_version=2)
        words = ("measure", "--out", out, "--space", "real-layers", "--count", 3, "--core", CORE, "--runner", runner)
        done = run(*words)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("was torch 1.1, describes itself as torch 1.2", done.stderr)
        self.assertEqual([r for r in records(out) if r["outcome"] == "ok"], [])

    def test_a_wrong_clock_is_no_measurement_of_a_small_layer(self):
        path = os.path.join(self.folder, "double.py")
        with open(path, "w") as file:
            double = "import time\nns = time.perf_counter_ns\ntime.perf_counter_ns = lambda: ns() * 2\n"
            file.write(double + WRONG.replace(" * 1.01", "") % RUNNERS)
        _, found = self.series("%s %s" % (PYTHON, path), "--space", "real-layers", "--count", 3)
        self.assertEqual({record["outcome"] for record in found}, {"crashed"})
        self.assertIn("its clock is wrong", found[0]["message"])

    def test_check_runner_fails_one_that_runs_nothing(self):
        path = os.path.join(self.folder, "none.py")
        with open(path, "w") as file:
            none = "    def load(self, request):\n        raise runner_loop.Unsupported('all')\n\n    def verify"
            file.write((WRONG % RUNNERS).replace("    def verify", none))
        words = [os.path.join(BIN, "cobra-worker"), "check-runner", "--core", str(CORE), "--graphs", "3", "--"]
        # In any folder: the layers are found below the source tree.
        done = subprocess.run([*words, PYTHON, path], cwd=self.folder, capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn("it runs none of these graphs", done.stdout)
        self.assertIn("clock      not checked", done.stdout)

    def test_fewer_instructions(self):
        with open("/proc/cpuinfo") as file:
            if " avx2 " not in file.read():
                self.skipTest("needs a processor with AVX2")
        session, found = self.series(TORCH, "--space", "real-layers", "--count", 2, "--isa", "avx2")
        self.assertRegex(session["machine"]["name"], "-1t-avx2-torch$")
        self.assertRegex(session["machine"]["device"], "up to avx2$")
        self.assertEqual({record["outcome"] for record in found}, {"ok"})
        path = os.path.join(self.folder, "unlimited.py")
        with open(path, "w") as file:
            describe = "    def describe(self):\n        return {**super().describe(), 'isas': ['native']}\n\n"
            file.write((WRONG % RUNNERS).replace("    def verify", describe + "    def verify"))
        out = os.path.join(self.folder, "records.jsonl")
        unlimited = ("--runner", "%s %s" % (PYTHON, path), "--isa", "avx2")
        done = run("measure", "--out", out + "2", "--space", "real-layers", "--count", 1, "--core", CORE, *unlimited)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("--isa avx2", done.stderr)
        self.assertIn("has native", done.stderr)

    def test_no_such_runner(self):
        done = run(
            "measure",
            "--space",
            "real-layers",
            "--count",
            1,
            "--out",
            os.path.join(self.folder, "x"),
            "--runner",
            "no-such-runner",
        )
        self.assertEqual(done.returncode, 1)
        self.assertIn("no-such-runner", done.stderr)

    def test_a_blank_command_is_not_libtorch(self):
        out = os.path.join(self.folder, "x")
        done = run("measure", "--space", "real-layers", "--count", 1, "--out", out, "--runner", " ")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--runner: no command", done.stderr)

    def test_check_runner(self):
        words = [os.path.join(BIN, "cobra-worker"), "check-runner", "--core", str(CORE), "--graphs", "24", "--"]
        done = subprocess.run(words + TORCH.split(), cwd=SOURCE, capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("passed", done.stdout)
        self.assertIn("24 of 24 as LibTorch computes them", done.stdout)
        self.assertIn("clock      as ours in", done.stdout)

    def test_check_runner_finds_a_wrong_clock(self):
        path = os.path.join(self.folder, "half.py")
        with open(path, "w") as file:
            half = "import time\nns = time.perf_counter_ns\ntime.perf_counter_ns = lambda: ns() // 2\n"
            file.write(half + WRONG.replace(" * 1.01", "") % RUNNERS)
        words = [os.path.join(BIN, "cobra-worker"), "check-runner", "--core", str(CORE), "--graphs", "3", "--"]
        done = subprocess.run([*words, PYTHON, path], cwd=SOURCE, capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn("FAILED     clock: ", done.stdout)
        self.assertIn("memory     not checked", done.stdout)

    @unittest.skipUnless(os.path.exists(os.path.join(RUNTIMES, "requirements.txt")), "scripts/setup.sh --runtimes")
    def test_other_runtimes(self):
        for runner in ("eager_torch.py", "onnx_runtime.py", "open_vino.py"):
            with self.subTest(runner):
                words = [os.path.join(BIN, "cobra-worker"), "check-runner", "--core", str(CORE), "--graphs", "16", "--"]
                words += [NEWER, os.path.join(RUNNERS, runner)]
                done = subprocess.run(words, cwd=SOURCE, capture_output=True, text=True, timeout=300)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                self.assertIn("passed", done.stdout)


if __name__ == "__main__":
    unittest.main()
