#!/usr/bin/env python3
"""What a user reads when a model cannot be read: the kind of mistake (exit code), the place, the
call chain, and a hint that is true. No server."""
# Long because it is a list of mistakes, each with the answer to it.
import os
import tempfile
import unittest

import programs

HEAD = "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n\n"

NET = (
    HEAD
    + """class Block(nn.Module):
    def __init__(self, cin, cout):
        super().__init__()
        self.conv = nn.Conv2d(cin, cout, 3, padding=1)
        self.bn = nn.BatchNorm2d(cout)

    def forward(self, x):
        return F.relu(self.bn(self.conv(x)))

class Net(nn.Module):
    def __init__(self, classes=10):
        super().__init__()
        self.stem = Block(3, 32)
        self.stages = nn.Sequential(Block(32, 64), Block(64, 64))
        self.head = nn.Linear(64, classes)

    def forward(self, x, scale=None):
        x = self.stages(self.stem(x))
        return self.head(x.mean((2, 3)))

def net():
    return Net()
"""
)


def forward(body, init="pass"):
    return (
        HEAD
        + "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        %s\n\n    def forward(self, x):\n%s\n"
        % (init, "\n".join("        " + line for line in body.split("\n")))
    )


# (name, source, flags beside the model, exit code, what standard error has)
CASES = [
    (
        "syntax error",
        "import torch.nn as nn\n\nclass Net(nn.Module)\n    pass\n",
        ["--entry", "Net()"],
        6,
        [
            '  File "net.py", line 3\n    class Net(nn.Module)\n                        ^\n',
            "net.py:3:21: syntax error: expected ':'",
        ],
    ),
    (
        "indentation",
        "def f():\nreturn 1\n",
        ["--entry", "f()"],
        6,
        ["net.py:2", "syntax error: expected an indented block"],
    ),
    (
        "raises when it is imported",
        "import torch\nx = 1 / 0\n",
        ["--entry", "Net()"],
        6,
        [
            '  File "net.py", line 2, in <module>\n    x = 1 / 0\n        ^^^^^\n',
            "ZeroDivisionError: division by zero",
            "when it imports the file",
        ],
    ),
    (
        "raises in __init__",
        forward("return x", "assert 7 % 2 == 0, 'dim 7 is odd'"),
        ["--entry", "Net()", "--input", "1x3"],
        6,
        ["in Net.__init__\n", "AssertionError: dim 7 is odd", "when it builds Net()"],
    ),
    (
        "shape mismatch in nested modules",
        NET,
        ["--entry", "Net()", "--input", "2x4x8x8"],
        6,
        [
            "line 22, in Net.forward\n    x = self.stages(self.stem(x))\n                    ^^^^^^^^^^^^\n",
            "line 12, in Block.forward\n",
            "net.py:12:31: error: RuntimeError: Given groups=1, weight of size [32, 3, 3, 3], expected input[2, 4, 8, 8] to have 3 channels, but got 4 "
            "channels instead\nin module stem.conv\nhint: PyTorch raises this too when it runs the model on 2x4x8x8: check --input",
        ],
    ),
    (
        "wrong element type",
        NET,
        ["--entry", "Net()", "--input", "1x3x8x8:int64"],
        6,
        ["RuntimeError: Input type", "in module stem.conv"],
    ),
    (
        "unbatched input",
        NET,
        ["--entry", "Net()", "--input", "1x8x8"],
        6,
        ["expected input[1, 1, 8, 8] to have 3 channels, but got 1 channels instead"],
    ),
    (
        "too few dimensions",
        NET,
        ["--entry", "Net()", "--input", "3x8"],
        6,
        ["Expected 3D (unbatched) or 4D (batched) input to conv2d"],
    ),
    (
        "raises in forward",
        forward("raise ValueError('no\\nway')"),
        ["--entry", "Net()", "--input", "1x3"],
        6,
        ["error: ValueError: no way", "when it runs the model on 1x3"],
    ),
    (
        "misspelled child",
        forward("return self.cnov(x)", "self.conv = nn.Conv2d(3, 4, 3)"),
        ["--entry", "Net()", "--input", "1x3x8x8"],
        6,
        [
            "'Net' object has no attribute 'cnov'. Did you mean: 'conv'?",
            "hint: PyTorch raises this too when it runs the model on 1x3x8x8; if it runs",
        ],
    ),
    (
        "misspelled function",
        forward("return torch.rleu(x)"),
        ["--entry", "Net()", "--input", "1"],
        6,
        ["module 'torch' has no attribute 'rleu'. Did you mean: 'relu'?"],
    ),
    (
        "the environment",
        "import os\nWIDTH = int(os.environ['WIDTH'])\n",
        ["--entry", "Net()"],
        6,
        ["KeyError: 'WIDTH'", "hint: a model is read without the environment of the process: os.environ is empty here"],
    ),
    (
        "function of a later version",
        HEAD + "@torch.compile\ndef f(x):\n    return F.relu(x)\n",
        ["--entry", "f", "--input", "1", "--torch-version", "1.13.1"],
        6,
        [
            "error: AttributeError: module 'torch' has no attribute 'compile'",
            "hint: torch.compile exists from PyTorch 2.0, the model is read as for 1.13.1: --torch-version 2.0\n",
        ],
    ),
    (
        "layer of a later version",
        "from torch.nn import RMSNorm\n",
        ["--entry", "RMSNorm(4)", "--input", "1x4", "--torch-version", "1.13.1"],
        4,
        [
            "calling torch.nn.RMSNorm() is not supported",
            "torch.nn.RMSNorm exists from PyTorch 2.4",
            "--torch-version 2.4\n",
        ],
    ),
    (
        "module of a later version",
        "import torch.nn.attention\n",
        ["--entry", "Net()", "--torch-version", "1.13.1"],
        6,
        ["No module named 'torch.nn.attention'", "exists from PyTorch 2.2"],
    ),
    (
        "unsupported call of torch",
        forward("return torch.nosuch.thing(x)"),
        ["--entry", "Net()", "--input", "1x3"],
        None,
        ["nosuch", "net.py:11"],
    ),
    (
        "data-dependent branch",
        forward("if x.mean() > 0:\n    return x\nreturn -x"),
        ["--entry", "Net()", "--input", "1x3"],
        4,
        ["    if x.mean() > 0:\n       ^^^^^^^^^^^^\n", "depends on tensor values", "hint: "],
    ),
    (
        "data-dependent shape",
        forward("return x.nonzero()"),
        ["--entry", "Net()", "--input", "1x3"],
        4,
        ["nonzero", "hint: "],
    ),
    (
        "item of an input",
        forward("return x[:int(x.sum().item())]"),
        ["--entry", "Net()", "--input", "9"],
        4,
        ["item()", "hint: "],
    ),
    (
        "missing import",
        HEAD
        + "from no_such_package.layers import Layer\nclass Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.layer = Layer(3)\n",
        ["--entry", "Net()"],
        4,
        [
            "self.layer = Layer(3)",
            "error: no_such_package was not found (imported at net.py:5), and calling no_such_package.layers.Layer() "
            "needs it\n",
            "hint: no_such_package is neither among the model's files nor in a library",
            "--library",
        ],
    ),
    (
        "missing import inside a function",
        forward("import no_such_package\nreturn no_such_package.layer(x)"),
        ["--entry", "Net()", "--input", "1"],
        4,
        ["hint: no_such_package is neither"],
    ),
    (
        "missing base class",
        "import no_such_package as pl\nclass Net(pl.LightningModule):\n    pass\n",
        ["--entry", "Net()", "--input", "1"],
        4,
        ["no_such_package.LightningModule", "hint: no_such_package is neither"],
    ),
    (
        "missing model",
        "from no_such_package import net\n",
        ["--entry", "net()", "--input", "1"],
        4,
        ["no_such_package.net()", "hint: no_such_package is neither"],
    ),
    (
        "relative import of what is not there",
        "from .blocks import Block\n",
        ["--entry", "Net()"],
        6,
        ["hint: there is neither ", "blocks.py nor a folder of that name"],
    ),
    (
        "relative import out of the folder",
        "from ..blocks import Block\n",
        ["--entry", "Net()"],
        6,
        [
            "ImportError: attempted relative import beyond top-level package",
            "hint: the package is part of a larger one",
        ],
    ),
    (
        "entry that is not there",
        NET,
        ["--entry", "Nett()"],
        2,
        ["Did you mean: 'Net'?", "models there: net(), Net(), Block(cin, cout)\n"],
    ),
    (
        "entry with a syntax error",
        NET,
        ["--entry", "Net("],
        2,
        ["'(' was never closed", "the entry is an expression in net.py"],
    ),
    ("entry with a wrong argument", NET, ["--entry", "Net(clases=3)"], 2, ["unexpected keyword argument 'clases'"]),
    (
        "entry without its call",
        NET,
        ["--entry", "Net", "--input", "1x3x8x8"],
        2,
        ["error: Net: is the class, not the model itself", "call it: Net()"],
    ),
    (
        "entry with a missing argument",
        NET,
        ["--entry", "Block()"],
        2,
        ["missing 2 required positional arguments", "Block(cin, cout)"],
    ),
    (
        "function without its call",
        NET,
        ["--entry", "net", "--input", "1x3x8x8"],
        2,
        ["error: net: is a function that makes the model, not the model itself", "hint: call it: net()\n"],
    ),
    (
        "function without its call, of which only the run knows",
        NET + "MAKERS = {'net': Net}\ndef pick(*, name='net'):\n    return MAKERS[name]()\n",
        ["--entry", "pick", "--input", "1x3x8x8"],
        2,
        ["error: pick: is a function that makes the model", "hint: call it: pick()\n"],
    ),
    (
        "function of tensors that fails",
        HEAD + "def f(x):\n    return x @ x\n",
        ["--entry", "f", "--input", "2x3"],
        6,
        [
            "mat1 and mat2 shapes cannot be multiplied",
            "f was called with the inputs: if it makes the model, write f(x)",
        ],
    ),
    ("entry that is not a model", NET, ["--entry", "F", "--input", "1"], 2, ["error: F: is a module, not a model"]),
    ("entry that is a number", NET, ["--entry", "3", "--input", "1"], 2, ["error: 3: is an int, not a model"]),
    (
        "no entry",
        NET + "\nclass Other(Net):\n    pass\n",
        [],
        2,
        ["error: --entry: is missing", "net.py has net(), Other(), Net(), Block(cin, cout): --entry 'net()'"],
    ),
    (
        "no input",
        NET,
        ["--entry", "Net()"],
        2,
        [
            "missing 1 required positional argument: 'x'",
            "of forward(self, x, scale=...), and --arg NAME=EXPR for anything that is not a tensor",
        ],
    ),
    (
        "too many inputs",
        NET,
        ["--entry", "Net()", "--input", "1x3x8x8", "--input", "1", "--input", "1"],
        2,
        ["were given", "forward(self, x, scale=...)"],
    ),
    (
        "unknown keyword",
        NET,
        ["--entry", "Net()", "--input", "1x3x8x8", "--arg", "q=1"],
        2,
        ["unexpected keyword argument 'q'"],
    ),
    (
        "argument that cannot be evaluated",
        NET,
        ["--entry", "Net()", "--input", "1x3x8x8", "--arg", "scale=zz"],
        2,
        ["name 'zz' is not defined", "the expressions of --arg are evaluated in net.py"],
    ),
    ("argument that is none", NET, ["--entry", "Net()", "--arg", "=3"], 2, ["--arg =3: is not NAME=EXPRESSION"]),
    (
        "unknown method",
        NET,
        ["--entry", "Net()", "--input", "1", "--method", "foward"],
        2,
        ["has no attribute 'foward'", "hint: name a method of Net(): --method forward\n"],
    ),
    (
        "shape that is none",
        NET,
        ["--entry", "Net()", "--input", "1x3xmany"],
        2,
        ['"1x3xmany" is not a shape: "many" is not a size, sizes are joined by x', "1x3x224x224"],
    ),
    (
        "commas for a shape",
        NET,
        ["--entry", "Net()", "--input", "1,3,8,8"],
        2,
        ['error: "1,3,8,8" is not a shape: sizes are joined by x', "1x3x224x224"],
    ),
    (
        "element type that is none",
        NET,
        ["--entry", "Net()", "--input", "1x3x8x8:float99"],
        2,
        ['"float99" is not a dtype: float32, float16, '],
    ),
    ("unknown library", NET, ["--entry", "Net()", "--library", "nowhere"], 2, ["--library nowhere: no such directory"]),
    (
        "loop without end",
        forward("while True:\n    x = x + 0"),
        ["--entry", "Net()", "--input", "1"],
        7,
        ["error: ", "in Net.forward", "hint: "],
    ),
    (
        "huge tensor",
        forward("return torch.cat([x] * 5000)"),
        ["--entry", "Net()", "--input", "100000x100000"],
        7,
        ["1 TiB", "hint: "],
    ),
    ("huge input", NET, ["--entry", "Net()", "--input", "1x3x1000000000x1000000000"], 7, ["hint: "]),
    (
        "deep recursion",
        forward("return self.forward(x)"),
        ["--entry", "Net()", "--input", "1"],
        6,
        ["RecursionError: maximum recursion depth exceeded", "in Net.forward"],
    ),
]


class ErrorsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write(text)
        return path

    def graph(self, path, *flags):
        """cobra-client graph, its messages without the folder's name."""
        answer = programs.client("graph", path, *flags)
        answer.err = answer.err.replace(self.folder + "/", "")
        return answer

    def test_cases(self):
        for name, source, flags, code, words in CASES:
            with self.subTest(name):
                answer = self.graph(self.write("net.py", source), *flags)
                if code is None:
                    self.assertIn(answer.code, (4, 6), answer.err)
                else:
                    self.assertEqual(answer.code, code, answer.err)
                for text in words:
                    self.assertIn(text, answer.err)
                self.assertEqual(answer.err.count("error: "), 1, answer.err)
                self.assertNotIn("\033", answer.err)

    def test_the_innermost_call_is_last_and_the_message_after_it(self):
        answer = self.graph(self.write("net.py", NET), "--entry", "Net()", "--input", "1x4x8x8")
        lines = answer.err.splitlines()
        self.assertEqual(lines[0], "Traceback (most recent call last):")
        order = [
            next(i for i, line in enumerate(lines) if text in line)
            for text in ("Net.forward", "Block.forward", "error: ", "in module ", "hint: ")
        ]
        self.assertEqual(order, sorted(order))
        self.assertEqual(len(lines) - 1, order[-1])

    def test_json_has_the_same(self):
        answer = programs.client(
            "graph", self.write("net.py", NET), "--entry", "Net()", "--input", "1x4x8x8", "--format", "json"
        )
        error = answer.json()["error"]
        self.assertEqual(
            (error["kind"], error["line"], error["column"], error["end_column"]), ("model_error", 12, 31, 43)
        )
        self.assertEqual(error["module"], "stem.conv")
        self.assertEqual([f["function"] for f in error["frames"]], ["Net.forward", "Block.forward"])
        error = programs.client(
            "graph", self.write("net.py", "from nope.x import Net\n"), "--entry", "Net()", "--format", "json"
        ).json()["error"]
        self.assertEqual(error["missing_module"], "nope.x")

    def test_the_library_that_would_help_is_named_and_helps(self):
        self.write("repo/pkg/__init__.py", "")
        self.write("repo/pkg/blocks.py", HEAD + "class Block(nn.Linear):\n    pass\n")
        self.write("repo/tools/tool.py", "from pkg.blocks import Block\n")
        self.write("repo/deep/er/tool.py", "from pkg.blocks import Block\n")
        for file in ("repo/tools/tool.py", "repo/deep/er/tool.py"):
            with self.subTest(file):
                question = (os.path.join(self.folder, file), "--entry", "Block(3, 4)", "--input", "1x3")
                answer = programs.client("graph", *question)
                self.assertIn(answer.code, (4, 6), answer.err)
                library = answer.err.rsplit("add --library ", 1)[1].strip()
                self.assertEqual(library, os.path.join(self.folder, "repo"))
                self.assertEqual(programs.client("graph", *question, "--library", library).code, 0)

    def test_what_lies_beside_a_file_is_found_and_named_as_the_user_did(self):
        self.write("repo/net.py", "from utils import Block\n")
        self.write("repo/utils.py", HEAD + "class Block(nn.Linear):\n    pass\n")
        self.write("pkg/__init__.py", "")
        self.write("pkg/deep/net.py", "from ..utils import Block\n")
        self.write("pkg/deep/__init__.py", "")
        self.write(
            "pkg/utils.py",
            HEAD + "class Block(nn.Linear):\n    def forward(self, x):\n        return super().forward(x)\n",
        )
        for file in ("repo/net.py", "pkg/deep/net.py"):
            question = (os.path.join(self.folder, file), "--entry", "Block(3, 4)", "--input")
            self.assertEqual(programs.client("graph", *question, "1x3").code, 0)
        self.assertIn('File "pkg/utils.py", line 7', self.graph(*question, "1x5").err)
        # By itself no folder's name is in the path.
        answer = programs.client(
            "graph", "net.py", "--entry", "Block(3, 4)", "--input", "1x3", cwd=os.path.join(self.folder, "pkg/deep")
        )
        self.assertEqual(answer.code, 0, answer.err)

    def test_a_folder_may_be_a_package(self):
        self.write("pkg/net/__init__.py", "from .body import Net\n")
        self.write("pkg/net/body.py", HEAD + "from .blocks import Block\nclass Net(Block):\n    pass\n")
        self.write(
            "pkg/net/blocks.py",
            HEAD + "class Block(nn.Linear):\n    def __init__(self):\n        super().__init__(3, 4)\n\n"
            "    def forward(self, x):\n        return super().forward(x)\n",
        )
        folder = os.path.join(self.folder, "pkg/net")
        for path, entry in (
            (folder, "Net()"),
            (folder + "/", "body.Net()"),
            (os.path.join(self.folder, "pkg"), "net.Net()"),
        ):
            with self.subTest(path + " " + entry):
                answer = programs.client("graph", path, "--entry", entry, "--input", "1x3")
                self.assertEqual(answer.code, 0, answer.err)
        self.assertIn('File "pkg/net/blocks.py", line 10', self.graph(folder, "--entry", "Net()", "--input", "1x5").err)
        self.write("pkg/__init__.py", "")  # the package is pkg.net now
        self.write("pkg/net/body.py", HEAD + "from ..net.blocks import Block\nclass Net(Block):\n    pass\n")
        self.assertEqual(programs.client("graph", folder, "--entry", "Net()", "--input", "1x3").code, 0)

    def test_a_folder_without_init_may_be_a_package(self):
        self.write("repo/main.py", "import models.net\n")
        self.write("repo/models/blocks.py", HEAD + "class Block(nn.Linear):\n    pass\n")
        for words in ("from .blocks import Block", "from models.blocks import Block"):
            with self.subTest(words):
                self.write("repo/models/net.py", words + "\n")
                answer = programs.client(
                    "graph", os.path.join(self.folder, "repo"), "--entry", "models.net.Block(3, 4)", "--input", "1x3"
                )
                self.assertEqual(answer.code, 0, answer.err)

    def test_what_a_package_lacks_is_an_error_where_it_is_imported(self):
        self.write("pkg/net/__init__.py", "")
        self.write("pkg/net/blocks.py", HEAD + "class Block(nn.Linear):\n    pass\n")
        for text, words in (
            ("from .blocks import Blok\n", "ImportError: cannot import name 'Blok' from 'net.blocks'"),
            ("from .blcks import Block\n", "ModuleNotFoundError: No module named 'net.blcks'"),
            ("from . import blcks\n", "ImportError: cannot import name 'blcks' from 'net'"),
        ):
            body = self.write(
                "pkg/net/body.py",
                HEAD + text + "class Net(nn.Module):\n    def __init__(self):\n        self.b = Block(3, 4)\n",
            )
            for path, entry in ((body, "Net()"), (os.path.join(self.folder, "pkg"), "net.body.Net()")):
                with self.subTest(text + path):
                    answer = self.graph(path, "--entry", entry, "--input", "1x3")
                    self.assertEqual(answer.code, 6, answer.err)
                    self.assertIn(words, answer.err)
                    self.assertIn("pkg/net/body.py:5", answer.err)
        # A package that is not here may be missing, and one that is ready for it too.
        self.write(
            "pkg/net/body.py",
            HEAD + "import no_such_package\nfrom no_such_package.x import y\ntry:\n    from .blcks import Block\n"
            "except ImportError:\n    from .blocks import Block\n",
        )
        answer = self.graph(body, "--entry", "Block(3, 4)", "--input", "1x3")
        self.assertEqual(answer.code, 0, answer.err)

    def test_a_misspelled_neighbour_is_named(self):
        self.write("repo/utils.py", "def helper():\n    pass\n")
        answer = self.graph(self.write("repo/miss.py", "import utilz\nmodel = utilz\n"), "--entry", "model.helper()")
        self.assertEqual(answer.code, 4, answer.err)
        self.assertIn(
            "error: utilz was not found (imported at repo/miss.py:1), and calling utilz.helper() needs it\n", answer.err
        )
        self.assertIn("hint: there is no utilz.py beside repo/miss.py, but utils: did you mean that?", answer.err)

    @unittest.skipUnless(os.path.exists(programs.RESNET), "python3-torchvision is not installed")
    def test_the_functions_of_a_library_are_offered(self):
        answer = programs.client("graph", programs.RESNET, "--entry", "resnet50", "--input", "1x3x224x224")
        self.assertEqual(answer.code, 2, answer.err)
        self.assertIn(
            "resnet50: is a function that makes the model, not the model itself\nhint: call it: resnet50()\n",
            answer.err,
        )
        answer = programs.client("graph", programs.RESNET)
        self.assertEqual(answer.code, 2, answer.err)
        self.assertIn("resnet.py has resnet18(), resnet34(), resnet50(), ", answer.err)
        self.assertIn(": --entry 'resnet18()'\n", answer.err)
        self.assertIn("BasicBlock(inplanes: int, planes: int)", answer.err)

    @unittest.skipUnless(os.path.exists(programs.RESNET), "python3-torchvision is not installed")
    def test_a_file_of_torchvision_needs_no_library(self):
        question = (programs.RESNET, "--entry", "resnet18()", "--input", "1x3x224x224")
        alone = programs.client("graph", *question)
        self.assertEqual(alone.code, 0, alone.err)
        self.assertEqual(alone.out, programs.client("graph", *question, "--library", programs.LIBRARY).out)

    def test_a_users_text_cannot_drive_the_terminal(self):
        answer = self.graph(
            self.write("net.py", forward("raise ValueError('\\x1b[31mred\\x07')  # \x1b]0;title\x07")),
            "--entry",
            "Net()",
            "--input",
            "1",
        )
        self.assertEqual(answer.code, 6)
        self.assertNotIn("\x1b", answer.err)
        self.assertNotIn("\x07", answer.err)

    def test_broken_graph_files_name_the_node(self):
        for text, words in (
            ("{", "is not a JSON object"),
            (
                '{"ops":[{"op":"relu","inputs":[0]}],"output":[]}',
                "node 0 (relu): [0, 0] is not an output of an earlier node",
            ),
            ('{"ops":[{"op":"magic","inputs":[]}],"output":[]}', "node 0 (magic): "),
        ):
            answer = self.graph(self.write("net.json", text))
            self.assertIn(answer.code, (2, 4), answer.err)
            self.assertIn(words, answer.err)


if __name__ == "__main__":
    programs.main()
