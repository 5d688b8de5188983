#!/usr/bin/env python3
"""The wheel: the same bytes from the same sources, nothing generated in the tree, examples that run, types that hold."""
import doctest
import importlib
import importlib.util
import os
import pkgutil
import subprocess
import sys
import unittest
import zipfile

import support

support.stage()
import cobra_latency  # noqa: E402

PYTHON = os.path.join(support.ROOT, "client", "python")


def build(folder):
    os.makedirs(folder)
    command = [sys.executable, os.path.join(PYTHON, "build_backend.py"), folder]
    name = subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
    return os.path.join(folder, name)


class PackageTest(unittest.TestCase):
    def test_reproducible(self):
        wheels = [build(support.path(name)) for name in ("one", "two")]
        contents = []
        for wheel in wheels:
            with open(wheel, "rb") as file:
                contents.append(file.read())
        self.assertEqual(*contents)
        self.assertLess(len(contents[0]), 150_000)

    def test_contents(self):
        with zipfile.ZipFile(build(support.path("three"))) as wheel:
            names = wheel.namelist()
            metadata = wheel.read("cobra_latency-0.1.0.dist-info/METADATA").decode()
        for name in ("__init__.py", "py.typed", "_proto/cobra_pb2.py", "_proto/cobra_pb2.pyi", "live/operators.json"):
            self.assertIn("cobra_latency/" + name, names)
        self.assertTrue(all(name.startswith(("cobra_latency/", "cobra_latency-")) for name in names), names)
        self.assertIn("Requires-Python: >=3.9", metadata)
        self.assertIn("Requires-Dist: protobuf>=", metadata)

    def test_nothing_generated_is_in_the_tree(self):
        for _, _, files in os.walk(os.path.join(PYTHON, "cobra_latency")):
            self.assertFalse([name for name in files if name.endswith(("_pb2.py", ".pyi", ".json"))])

    def test_stubs_of_a_program_do_not_collide(self):
        """A program may have stubs of cobra.v1 of its own (docs/api.md), even of another version."""
        folder = support.path("stubs")
        os.makedirs(folder)
        proto = os.path.join(support.ROOT, "proto")
        files = [os.path.join(proto, "cobra", "v1", name + ".proto") for name in ("cobra", "error", "graph", "target")]
        subprocess.run(["protoc", "-I", proto, "--python_out", folder, *files], check=True)
        program = (
            "import cobra_latency; from cobra.v1 import cobra_pb2; print(cobra_pb2.PredictRequest.DESCRIPTOR.full_name)"
        )
        path = os.pathsep.join([folder, support.path("package")])
        done = subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, env={**os.environ, "PYTHONPATH": path}
        )
        self.assertEqual(done.stdout.strip(), "cobra.v1.PredictRequest", done.stderr)

    def test_torch_is_not_imported(self):
        program = "import sys, cobra_latency; sys.exit('torch' in sys.modules)"
        env = {**os.environ, "PYTHONPATH": support.path("package")}
        self.assertEqual(subprocess.run([sys.executable, "-c", program], env=env).returncode, 0)

    def test_the_examples_in_docstrings(self):
        has_torch = importlib.util.find_spec("torch") is not None
        tried = 0
        for module in pkgutil.walk_packages(cobra_latency.__path__, "cobra_latency."):
            if "_proto" in module.name or (".live" in module.name and not has_torch):
                continue
            result = doctest.testmod(importlib.import_module(module.name))
            self.assertEqual(result.failed, 0, module.name)
            tried += result.attempted
        self.assertGreater(tried, 5)

    def test_everything_public_has_a_docstring(self):
        for name in cobra_latency.__all__:
            self.assertTrue(name.startswith("__") or getattr(cobra_latency, name).__doc__, name)

    def test_types(self):
        if any(importlib.util.find_spec(name) is None for name in ("mypy", "torch", "grpc-stubs")):
            self.skipTest("mypy, torch and grpc-stubs are not all installed for this Python")
        done = subprocess.run(
            [sys.executable, "-m", "mypy", "--strict", "--cache-dir", support.path("mypy"), "-p", "cobra_latency"],
            cwd=support.path("package"),
            capture_output=True,
            text=True,
        )
        self.assertEqual(done.returncode, 0, done.stdout)


if __name__ == "__main__":
    support.main()
