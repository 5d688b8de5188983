"""cobra-client --python-version: whose syntax a model is read by, and what is answered where the
version is too old."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

CLIENT = os.path.join(os.environ["COBRA_BIN"], "cobra-client")
NET = """
import sys
import torch
from torch import nn

type Widths = list[int]


class Stack[L: nn.Module](nn.Module):
    def __init__(self, widths: Widths):
        super().__init__()
        names = {"kind": "fc"}
        for i, (a, b) in enumerate(zip(widths, widths[1:])):
            setattr(self, f"{names["kind"]}{i}", self.make(a, b))
        self.count = len(widths) - 1

    def make[T](self, a: T, b: T) -> L:
        return nn.Linear(a, b)

    def forward(self, x):
        for i in range(self.count):
            x = getattr(self, f"fc{i}")(x)
        return x if sys.version_info < (3, 12) else x.relu()
"""
DEFAULTS = "from torch import nn\nclass Net[T = int](nn.Identity): pass\n"


class PythonVersionTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.net = self.write("net.py", NET)

    def write(self, name, text):
        path = os.path.join(self.folder.name, name)
        with open(path, "w") as file:
            file.write(text)
        return path

    def client(self, *arguments, path=None, entry="Stack([8, 4, 2])", command="graph"):
        flags = [path or self.net, "--entry", entry, "--input", "3x8", *arguments]
        return subprocess.run([CLIENT, command, *flags], capture_output=True, text=True, timeout=120)

    def ops(self, *arguments):
        answer = self.client("--format", "json", *arguments)
        self.assertEqual(answer.returncode, 0, answer.stderr)
        return [op["op"] for op in json.loads(answer.stdout)["ops"]]

    def test_the_syntax_is_read_and_the_program_sees_the_version(self):
        self.assertEqual(self.ops("--python-version", "3.12"), ["linear", "linear", "relu"])
        self.assertEqual(self.ops("--python-version", "3.13"), ["linear", "linear", "relu"])
        self.assertEqual(self.ops("--python-version", "3.13.1"), ["linear", "linear", "relu"])
        self.assertEqual(self.ops(), ["linear", "linear"])  # sys.version_info is 3.11's
        self.assertEqual(self.client(command="explain").returncode, 0)

    def test_a_version_that_is_too_old_is_named(self):
        answer = self.client("--python-version", "3.11")
        self.assertEqual(answer.returncode, 6)
        self.assertIn("net.py:6", answer.stderr)
        self.assertIn(
            "this is syntax of Python 3.12, and the model is read as Python 3.11: --python-version 3.12", answer.stderr
        )
        defaults = self.write("defaults.py", DEFAULTS)
        answer = self.client("--python-version", "3.12", path=defaults, entry="Net()")
        self.assertEqual(answer.returncode, 6)
        self.assertIn("this is syntax of Python 3.13", answer.stderr)
        self.assertEqual(self.client("--python-version", "3.13", path=defaults, entry="Net()").returncode, 0)
        self.assertEqual(self.client(path=defaults, entry="Net()").returncode, 0)

    def test_what_no_version_accepts(self):
        wrong = self.write("wrong.py", "class Net[: pass\n")
        self.assertIn("Python rejects this too, from 3.11 to 3.13", self.client(path=wrong).stderr)
        answer = self.client("--python-version", "3.12", path=wrong)
        self.assertIn("Python 3.12 rejects this too", answer.stderr)
        self.assertEqual(answer.returncode, 6)

    def test_a_module_beside_the_model_is_read_alike(self):
        self.write("beside.py", "def width[T](x: T) -> T: return x\n")
        path = self.write(
            "uses.py",
            "import beside\nfrom torch import nn\nclass Net(nn.Linear):\n  def __init__(self): super().__init__(beside.width(8), 2)\n",
        )
        self.assertEqual(self.client(path=path, entry="Net()").returncode, 0)
        answer = self.client("--python-version", "3.11", path=path, entry="Net()")
        self.assertEqual(answer.returncode, 6)
        self.assertIn("beside.py:1", answer.stderr)

    def test_wrong_flags(self):
        for wrong in ("3.10", "3.14", "3", "twelve", ""):
            answer = self.client("--python-version", wrong)
            self.assertEqual(answer.returncode, 2, wrong)
            self.assertIn("--python-version", answer.stderr)
        answer = self.client("--python-version", "3.12", path=self.write("net.onnx", ""))
        self.assertEqual(answer.returncode, 2)
        answer = self.client(
            "--python-version",
            "3.12",
            "--send",
            "source",
            "--target",
            "x",
            "--server",
            "127.0.0.1:1",
            command="predict",
        )
        self.assertEqual(answer.returncode, 2)
        self.assertIn("omit --python-version", answer.stderr)


if __name__ == "__main__":
    unittest.main()
