#!/usr/bin/env python3
"""Which files of a folder go with a Source: those that its import statements may mean, whatever form
they have."""
import unittest

import support

support.stage()
import os  # noqa: E402

from cobra_latency import Source  # noqa: E402
from cobra_latency.models import request_of  # noqa: E402

CASES = {  # the text of net.py: the files that go with it
    "": [],
    "import torch.nn as nn": [],
    "import a": ["a.py"],
    "import a as b": ["a.py"],
    "import torch, a": ["a.py"],
    "import pack.inner": ["pack/__init__.py", "pack/inner.py"],
    "from pack import inner": ["pack/__init__.py", "pack/inner.py"],
    "from pack import absent": ["pack/__init__.py"],
    "from a import *": ["a.py"],
    "from a import (\n    x,\n    y,\n)": ["a.py"],
    "from pack import (x,  # see (a)\n inner)": ["pack/__init__.py", "pack/inner.py"],
    "from \\\n    a import x": ["a.py"],
    "import torch, \\\n    a": ["a.py"],
    "from pack \\\nimport inner": ["pack/__init__.py", "pack/inner.py"],
    "x = 1; import a": ["a.py"],
    "if True: import a": ["a.py"],
    "try:\n    import a  # perhaps\nexcept ImportError:\n    pass": ["a.py"],
    "import\ta": ["a.py"],
    "from\ta\timport\tx": ["a.py"],
    "from a import x as y, z": ["a.py"],
    "import  a": ["a.py"],
    "import a . b": ["a.py"],
    "import torch\rimport a": ["a.py"],
    "import torch\x0c\nimport a": ["a.py"],
    "import ａ": ["a.py"],  # a letter that Python reads as another
    '"""\nimport a\n"""': [],
    '"""\nimport a\n"""\nimport pack': ["pack/__init__.py"],
    "# import a": [],
    "text = 'import a'": [],
    "__import__('a')": [],
    "import a a": [],  # not Python; the server says so
}


class SourceTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        os.makedirs(support.path("folder", "pack"))
        for name in ("a.py", "torch.txt", "pack/__init__.py", "pack/inner.py"):
            support.write(os.path.join("folder", name), "x = 1\n")

    def test_files_that_go_with_it(self):
        for text, expected in CASES.items():
            with self.subTest(text):
                path = support.write(os.path.join("folder", "net.py"), text)
                source = request_of(Source(path, "Net()"), "1x3").source
                self.assertEqual([file.path for file in source.files], sorted([*expected, "net.py"]))

    def test_files_of_what_is_imported(self):
        os.makedirs(support.path("other", "pack"))
        support.write(os.path.join("other", "a.py"), "")
        support.write(os.path.join("other", "pack", "__init__.py"), "")
        support.write(os.path.join("other", "pack", "inner.py"), "from . import more\nfrom .. import a\n")
        support.write(os.path.join("other", "pack", "more.py"), "")
        path = support.write(os.path.join("other", "net.py"), "import pack.inner")
        files = [file.path for file in request_of(Source(path, "Net()"), "1x3").source.files]
        self.assertEqual(files, ["a.py", "net.py", "pack/__init__.py", "pack/inner.py", "pack/more.py"])

    def test_a_changed_file_is_read_again(self):
        path = support.write(os.path.join("folder", "net.py"), "import torch")
        self.assertEqual(len(request_of(Source(path, "Net()"), "1x3").source.files), 1)
        support.write(os.path.join("folder", "net.py"), "import a")
        self.assertEqual(len(request_of(Source(path, "Net()"), "1x3").source.files), 2)


if __name__ == "__main__":
    support.main()
