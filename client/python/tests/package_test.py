#!/usr/bin/env python3
"""The wheel: the same bytes from the same sources, nothing generated in the tree, examples that
run, types that hold."""
import doctest
import glob
import importlib
import importlib.util
import json
import os
import pkgutil
import subprocess
import sys
import unittest
import zipfile

import support

support.stage()
import cobra_latency  # noqa: E402

# Modules of cobra_latency.search, and what each adapts to: extras of the wheel.
ADAPTERS = {"optuna": "optuna", "pymoo": "pymoo", "ray": "ray"}
PYTHON = os.path.join(support.ROOT, "client", "python")


class PackageTest(unittest.TestCase):
    def test_reproducible(self):
        wheels = [support.build(name) for name in ("one", "two")]
        contents = []
        for wheel in wheels:
            with open(wheel, "rb") as file:
                contents.append(file.read())
        self.assertEqual(*contents)
        self.assertLess(len(contents[0]), 160_000)

    def test_contents(self):
        with zipfile.ZipFile(support.build("three")) as wheel:
            names = wheel.namelist()
            metadata = wheel.read(f"cobra_latency-{cobra_latency.__version__}.dist-info/METADATA").decode()
        for name in (
            "__init__.py",
            "py.typed",
            "_proto/cobra_pb2.py",
            "_proto/cobra_pb2.pyi",
            "live/operators.json",
            "search/optuna.py",
            "adapting.py",
        ):
            self.assertIn("cobra_latency/" + name, names)
        self.assertTrue(all(name.startswith(("cobra_latency/", "cobra_latency-")) for name in names), names)
        self.assertIn("Requires-Python: >=3.9", metadata)
        self.assertIn("Requires-Dist: protobuf>=", metadata)
        for extra in ADAPTERS:
            self.assertRegex(metadata, rf'(?m)^Provides-Extra: {extra}$\nRequires-Dist: {extra}.*; extra == "{extra}"$')

    def test_nothing_generated_is_in_the_tree(self):
        for _, _, files in os.walk(os.path.join(PYTHON, "cobra_latency")):
            self.assertFalse([name for name in files if name.endswith(("_pb2.py", ".pyi", ".json"))])

    def test_stubs_of_a_program_do_not_collide(self):
        """A program may have stubs of cobra.v1 of its own (docs/api.md), even of another
        version."""
        folder = support.path("stubs")
        os.makedirs(folder)
        proto = os.path.join(support.ROOT, "proto")
        files = [os.path.join(proto, "cobra", "v1", name + ".proto") for name in ("cobra", "error", "graph", "target")]
        subprocess.run(["protoc", "-I", proto, "--python_out", folder, *files], check=True)
        program = (
            "import cobra_latency; from cobra.v1 import cobra_pb2; print(cobra_pb2.PredictRequest.DESCRIPTOR.full_name)"
        )
        environment = support.environment(folder, support.path("package"))
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment)
        self.assertEqual(done.stdout.strip(), "cobra.v1.PredictRequest", done.stderr)

    def test_torch_is_not_imported(self):
        program = "import sys, cobra_latency; cobra_latency.Client; sys.exit('torch' in sys.modules)"
        environment = support.environment(support.path("package"))
        self.assertEqual(subprocess.run([sys.executable, "-c", program], env=environment).returncode, 0)

    def test_names_are_imported_when_they_are_used(self):
        program = (
            "import sys, cobra_latency\n"
            "assert {'Client', 'local', '__version__'} < set(dir(cobra_latency)), dir(cobra_latency)\n"
            "from cobra_latency import *\n"
            "from cobra_latency.own_server import local as same\n"
            "assert local is same is cobra_latency.local and Client is cobra_latency.client.Client\n"
            "assert not hasattr(cobra_latency, 'Clinet') and not hasattr(cobra_latency, '_hidden')\n"
        )
        first = "import sys, cobra_latency; sys.exit('grpc' in sys.modules or 'google.protobuf' in sys.modules)"
        modules = (name for _, name, _ in pkgutil.iter_modules(cobra_latency.__path__) if name != "__main__")
        environment = support.environment(support.path("package"))
        for text in (program, first, *(f"import cobra_latency.{name}" for name in modules)):
            with self.subTest(text):
                done = subprocess.run([sys.executable, "-c", text], env=environment, capture_output=True, text=True)
                self.assertEqual(done.returncode, 0, done.stderr)

    def test_the_examples_in_docstrings(self):
        has_torch = importlib.util.find_spec("torch") is not None
        tried = 0
        for module in pkgutil.walk_packages(cobra_latency.__path__, "cobra_latency."):
            if "_proto" in module.name or (".live" in module.name and not has_torch):
                continue
            library = ADAPTERS.get(module.name.rpartition(".")[2] if ".search." in module.name else "")
            if library and importlib.util.find_spec(library) is None:
                continue
            result = doctest.testmod(importlib.import_module(module.name))
            self.assertEqual(result.failed, 0, module.name)
            tried += result.attempted
        self.assertGreater(tried, 5)

    def test_everything_public_has_a_docstring(self):
        for name in cobra_latency.__all__:
            self.assertTrue(name.startswith("__") or getattr(cobra_latency, name).__doc__, name)

    def needs(self, *names):
        if any(importlib.util.find_spec(name) is None for name in names):
            self.skipTest(f"{', '.join(names)} are not all installed for this Python (scripts/setup.sh --pypi)")

    def check(self, *command):
        command = [sys.executable, "-m", *command]
        done = subprocess.run(command, cwd=support.path("package"), capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_types(self):
        self.needs("mypy", "torch", "grpc-stubs")
        self.check("mypy", "--strict", "--cache-dir", support.path("mypy"), self.program_of_a_user())
        # The libraries of searches are not installed beside the type checkers, and what derives
        # from them is not known.
        settings = "".join(f"[mypy-{name}.*]\nignore_missing_imports = true\n" for name in ADAPTERS.values())
        settings = (
            "[mypy]\nstrict = true\n" + settings + "[mypy-cobra_latency.search.*]\ndisallow_subclassing_any = false\n"
        )
        path = support.write("mypy.ini", settings)
        self.check("mypy", "--config-file", path, "--cache-dir", support.path("mypy"), "-p", "cobra_latency")

    def program_of_a_user(self):
        """Names of the package, which are imported late, are known to type checkers."""
        return support.write(
            "uses.py",
            "import cobra_latency\n"
            "from cobra_latency import Client, FeasibleUnder, Prediction\n"
            "with cobra_latency.local() as client:\n"
            "    prediction: Prediction = client.predict('net.onnx')\n"
            "fits = FeasibleUnder(budget_ms=20, target='cpu', client=Client(cobra_latency.DEFAULT_SERVER))\n"
            "print(cobra_latency.__version__, cobra_latency.predict('net.onnx').ms + prediction.ms, fits('net.onnx'))\n"
            "cobra_latency.Clinet  # type: ignore[attr-defined]  # --strict: an unused comment is an error\n",
        )

    def test_types_by_pyright(self):
        self.needs("basedpyright", "torch", "grpc-stubs")
        settings = {
            "include": [support.path("package", "cobra_latency"), self.program_of_a_user()],
            "extraPaths": [support.path("package")],
            "ignore": [support.path("package", "cobra_latency", "_proto")],
            "typeCheckingMode": "standard",
            "pythonVersion": "3.9",
        }
        search = os.path.join(support.ROOT, "build", "pypi-search", "lib")
        found = glob.glob(os.path.join(search, "python3*", "site-packages"))
        if found:
            settings["extraPaths"] += found
        else:
            settings["ignore"].append(support.path("package", "cobra_latency", "search"))
        path = support.write("pyrightconfig.json", json.dumps(settings))
        self.check("basedpyright", "-p", path, "--pythonpath", sys.executable)

    def test_nothing_is_newer_than_python_3_9(self):
        self.needs("vermin")
        program = "import sys; from vermin.main import main; main()"
        options = ["-t=3.9-", "--no-tips", "--violations", "--eval-annotations", "--quiet", "cobra_latency"]
        done = subprocess.run(
            [sys.executable, "-c", program, *options], cwd=support.path("package"), capture_output=True, text=True
        )
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == "__main__":
    support.main()
