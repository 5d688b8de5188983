#!/usr/bin/env python3
"""examples/cpp is built outside the tree with what `cmake --install` leaves, and asks a server."""
import os
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import programs  # noqa: E402

CELL = "nasbench201:|nor_conv_3x3~0|+|none~0|skip_connect~1|+|nor_conv_1x1~0|avg_pool_3x3~1|none~2|"
TARGET = "cpu-epyc-genoa-1t"


class CmakePackageTest(unittest.TestCase):
    def test_a_program_outside_the_tree(self):
        with tempfile.TemporaryDirectory() as folder:
            prefix, build = os.path.join(folder, "prefix"), os.path.join(folder, "build")
            example = os.path.join(folder, "example")
            # Nothing of the tree is in reach but what was installed.
            subprocess.run(["cp", "-r", os.path.join(programs.SOURCE, "examples", "cpp"), example], check=True)
            for command in (
                ["--install", os.path.dirname(programs.BIN), "--component", "development", "--prefix", prefix],
                ["-S", example, "-B", build, f"-DCMAKE_PREFIX_PATH={prefix}"],
                ["--build", build],
            ):
                done = subprocess.run(["cmake", *command], capture_output=True, text=True)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            ask = os.path.join(build, "ask")
            with programs.Server(os.path.join(folder, "store.sqlite")) as server:
                done = subprocess.run([ask, server.address, CELL, TARGET], capture_output=True, text=True)
                self.assertRegex(done.stdout, rf"^{TARGET}: [0-9]+ us \([0-9]+ to [0-9]+\)\n$", done.stderr)
                done = subprocess.run([ask, server.address, "nasbench201:|x|", TARGET], capture_output=True, text=True)
                self.assertEqual(done.returncode, 1)
                self.assertIn("NAS-Bench-201", done.stderr)


if __name__ == "__main__":
    unittest.main()
