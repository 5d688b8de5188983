#!/usr/bin/env python3
"""cobra-worker of the portable program, which carries no LibTorch: it measures through runners, and says
what it needs. No time is asserted. Skipped where `cobra` was not built (scripts/build-portable.sh)."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

from runner_test import NEWER, PYTHON, RUNNERS, TORCH, has
from worker_run import BIN, CORE, SOURCE, lines, records

COBRA = os.path.join(BIN, "cobra")
# PyTorch under another name, so that it is compared with PyTorch; what comes out is multiplied.
OTHER = """
import sys
sys.path.insert(0, %r)
import eager_torch, runner_loop

class Other(eager_torch.EagerTorch):
    def describe(self):
        return dict(super().describe(), runtime="other")

    def verify(self, tensors):
        return {name: array * %s for name, array in super().verify(tensors).items()}

runner_loop.serve(Other(False))
"""


class PortableWorkerTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.out = os.path.join(self.folder, "records.jsonl")

    def run_worker(self, *words, python=PYTHON, input=None):
        return subprocess.run(
            [COBRA, "worker", *map(str, words)],
            cwd=SOURCE,
            capture_output=True,
            text=True,
            timeout=120,
            input=input,
            env=dict(os.environ, COBRA_RUNNER_PYTHON=python),
        )

    def stand_in(self, text):
        path = os.path.join(self.folder, "python")
        with open(path, "w") as file:
            file.write("#!/bin/sh\n" + text + "\n")
        os.chmod(path, 0o755)
        return path

    def other(self, factor=1):
        path = os.path.join(self.folder, "runner.py")
        with open(path, "w") as file:
            file.write(OTHER % (RUNNERS, factor))
        return "%s %s" % (PYTHON, path)

    def series(self, runner, *flags, python=PYTHON):
        words = ("measure", "--out", self.out, "--tolerance", 1000, "--core", CORE, "--share-device")
        done = self.run_worker(*words, "--runner", runner, *flags, python=python)
        self.assertEqual(done.returncode, 0, done.stderr)
        return next(line for line in lines(self.out) if line["kind"] == "session"), records(self.out), done.stderr

    def test_commands_name_what_they_need_before_anything_is_done(self):
        graph = os.path.join(self.folder, "none.json")
        for words in (
            ("measure", "--graph", graph),
            ("measure", "--space", "real-layers", "--count", 1, "--out", self.out),
            ("describe",),
            ("work", "--spool", os.path.join(self.folder, "spool")),
        ):
            done = self.run_worker(*words)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn("%s: this cobra-worker carries no LibTorch" % words[0], done.stderr)
            self.assertIn("--runner torch", done.stderr)
        self.assertEqual(os.listdir(self.folder), [])

    def test_a_gpu_is_not_measured(self):
        done = self.run_worker("describe", "--device", "cuda", "--runner", "torch")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--device cuda:0: GPUs are measured in LibTorch", done.stderr)
        described = self.run_worker("describe", "--table", "NVIDIA L4")
        self.assertEqual(json.loads(described.stdout)["kind"], "gpu")

    def test_probe_says_what_is_missing(self):
        lacks = self.stand_in("""echo '{"torch": null, "numpy": null}'""")
        done = self.run_worker("probe", "--json", python=lacks)
        self.assertEqual(done.returncode, 1)
        self.assertIn("probe: this cobra-worker carries no LibTorch, and %s has no module torch" % lacks, done.stderr)
        self.assertIn("-m pip install torch numpy", done.stderr)
        self.assertIn("COBRA_RUNNER_PYTHON=", done.stderr)

    def test_the_canary_needs_no_runtime(self):
        done = self.run_worker("canary", "--count", 2, "--core", CORE, "--share-device")
        self.assertEqual(done.returncode, 0, done.stderr)
        canaries = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual(len(canaries), 2)
        for canary in canaries:
            self.assertGreater(canary["matmul_us"], 0)
            self.assertGreater(canary["copy_us"], 0)
            self.assertNotIn("conv_us", canary)

    @unittest.skipUnless(has(PYTHON, "torch", "numpy"), "needs python3-torch")
    def test_runtimes(self):
        answer = json.loads(self.run_worker("runtimes", "--json").stdout)
        self.assertEqual(answer["python"], PYTHON)
        found = {runtime["name"]: runtime for runtime in answer["runtimes"]}
        self.assertEqual(list(found), ["torch", "torch-compile", "onnxruntime", "openvino", "ncnn"])
        self.assertRegex(found["torch"]["version"], r"^1\.13")
        for name in ("onnxruntime", "openvino", "ncnn"):
            self.assertEqual("missing" in found[name], not has(PYTHON, name))

    @unittest.skipUnless(has(PYTHON, "torch", "numpy"), "needs python3-torch")
    def test_describe_asks_pytorch_for_its_convolutions(self):
        done = self.run_worker("describe", "--runner", "torch", "--core", CORE, "--share-device")
        self.assertEqual(done.returncode, 0, done.stderr)
        machine = json.loads(done.stdout)
        self.assertRegex(machine["name"], "^cpu-.*-1t-torch$")
        self.assertRegex(machine["runtime"], r"^torch-1\.13")
        self.assertNotIn("libtorch", machine["versions"])
        speeds = ["peak", "convolution", "pointwise", "depthwise"]
        for speed in [name + "_gflops" for name in speeds] + ["memory_gb_per_s", "l2_gb_per_s", "l3_gb_per_s"]:
            self.assertGreater(machine[speed], 0, speed)

    @unittest.skipUnless(has(PYTHON, "torch", "numpy"), "needs python3-torch")
    def test_pytorch_is_compared_with_nothing_and_says_so(self):
        session, found, errors = self.series("torch", "--space", "real-layers,real-networks", "--count", "3,1")
        self.assertEqual({record["outcome"] for record in found}, {"ok"})
        self.assertEqual(session["environment"]["torch"], "none")
        self.assertEqual(session["environment"]["runner"]["compared_with"], "nothing")
        self.assertNotIn("conv_us", session["canary_us"])
        self.assertEqual(errors.count("warning: what torch computes is compared with nothing"), 1, errors)

    @unittest.skipUnless(has(PYTHON, "torch", "numpy"), "needs python3-torch")
    def test_others_are_compared_with_pytorch(self):
        session, found, errors = self.series(self.other(), "--space", "real-layers", "--count", 3)
        self.assertEqual({record["outcome"] for record in found}, {"ok"})
        self.assertRegex(session["environment"]["runner"]["compared_with"], r"^torch-1\.13")
        self.assertNotIn("warning", errors)

    @unittest.skipUnless(has(PYTHON, "torch", "numpy"), "needs python3-torch")
    def test_a_wrong_result_is_no_measurement(self):
        _, found, _ = self.series(self.other(1.01), "--space", "real-networks", "--count", 2)
        self.assertEqual({record["outcome"] for record in found}, {"crashed"})
        for record in found:
            self.assertIn("is not PyTorch's", record["message"])
            self.assertNotIn("latency_us", record)

    @unittest.skipUnless(has(PYTHON, "torch", "numpy"), "needs python3-torch")
    def test_without_pytorch_nothing_is_compared(self):
        lacks = self.stand_in("""echo '{"torch": null, "numpy": null}'""")
        session, found, errors = self.series(self.other(), "--space", "real-layers", "--count", 2, python=lacks)
        self.assertEqual({record["outcome"] for record in found}, {"ok"})
        self.assertEqual(session["environment"]["runner"]["compared_with"], "nothing")
        self.assertIn("has no module torch", errors)

    @unittest.skipUnless(has(PYTHON, "torch", "numpy"), "needs python3-torch")
    def test_turns_with_another_program(self):
        graph = os.path.join(self.folder, "relu.json")
        with open(graph, "w") as file:
            json.dump(
                {"inputs": [{"shape": [1, 64]}], "ops": [{"op": "relu", "inputs": ["in:0"]}], "output": [0]}, file
            )
        words = ("measure", "--graph", graph, "--in-turns", "--core", CORE, "--share-device", "--runner", TORCH)
        asked = self.run_worker(*words, input="\n\n")
        self.assertEqual(asked.returncode, 0, asked.stderr)
        self.assertEqual([json.loads(line)["latency_us"] > 0 for line in asked.stdout.splitlines()], [True, True])

    @unittest.skipUnless(has(PYTHON, "torch", "numpy"), "needs python3-torch")
    def test_check_runner_says_with_what_it_compares(self):
        words = ("check-runner", "--core", CORE, "--graphs", 4, "--")
        done = self.run_worker(*words, *TORCH.split())
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("no number is compared", done.stdout)
        done = self.run_worker(*words, *self.other().split())
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertRegex(done.stdout, r"4 of 4 as torch-1\.13\S* computes them")

    @unittest.skipUnless(has(NEWER, "onnxruntime", "torch"), "needs scripts/setup.sh --runtimes")
    def test_onnxruntime_is_compared_with_its_neighbour(self):
        session, found, _ = self.series("onnxruntime", "--space", "real-layers", "--count", 3, python=NEWER)
        self.assertEqual({record["outcome"] for record in found}, {"ok"})
        self.assertRegex(session["environment"]["runner"]["compared_with"], r"^torch-2\.")


if __name__ == "__main__":
    if not os.path.exists(COBRA):
        print("%s is not built: scripts/build-portable.sh" % COBRA)
        sys.exit(77)
    unittest.main()
