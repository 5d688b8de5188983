#!/usr/bin/env python3
"""`cmake --install` into a folder: the programs find their data there, from whatever folder they
are started; man pages and completions say what --help says."""
import glob
import gzip
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
import programs  # noqa: E402

PROGRAMS = ("cobra-client", "cobra-server", "cobra-reader", "cobra-worker", "cobra-train")
CONVNET = """
import torch.nn as nn
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3)
    def forward(self, x):
        return self.conv(x).relu()
"""
TARGET = "cpu-epyc-genoa-1t"


class InstallTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.home = tempfile.mkdtemp()
        cls.prefix = os.path.join(cls.home, "a prefix")
        build = os.path.dirname(programs.BIN)
        subprocess.run(["cmake", "--install", build, "--prefix", cls.prefix], check=True, stdout=subprocess.DEVNULL)
        os.mkdir(os.path.join(cls.home, "run"), 0o700)
        # Nothing of this environment: neither the source tree nor a server of the user's.
        cls.environment = {"HOME": cls.home, "XDG_RUNTIME_DIR": os.path.join(cls.home, "run"), "PATH": "/usr/bin:/bin"}

    @classmethod
    def tearDownClass(cls):
        for path in glob.glob("/proc/[0-9]*/exe"):
            try:
                if os.readlink(path).startswith(cls.prefix + "/"):
                    os.kill(int(path.split("/")[2]), signal.SIGKILL)
            except OSError:
                continue
        shutil.rmtree(cls.home)

    def run_installed(self, *command, **options):
        return subprocess.run(
            [os.path.join(self.prefix, "bin", command[0]), *command[1:]],
            cwd="/",
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            timeout=300,
            **options,
        )

    def share(self, *parts):
        return os.path.join(self.prefix, "share", *parts)

    def test_a_question_in_a_foreign_folder(self):
        model = os.path.join(self.home, "net.py")
        with open(model, "w") as file:
            file.write(CONVNET)
        question = ("predict", model, "--entry", "Net()", "--input", "1x3x64x64", "--target", TARGET)
        asked = self.run_installed("cobra-client", *question, "--format", "json")
        self.assertEqual(asked.returncode, 0, asked.stderr)
        answer = json.loads(asked.stdout)
        with programs.Server(os.path.join(self.home, "tree.sqlite")) as server:
            tree = subprocess.run(
                [os.path.join(programs.BIN, "cobra-client"), *question, "--format", "json", "--server", server.address],
                stdout=subprocess.PIPE,
                check=True,
            )
        self.assertEqual(answer["predictions"], json.loads(tree.stdout)["predictions"])

    def test_each_program_finds_its_data(self):
        layers = os.path.join(self.home, "layers.jsonl")
        for command in (
            ("cobra-worker", "sample", "--space", "real-layers", "--count", "3", "--out", layers),
            ("cobra-worker", "sample", "--space", "timm", "--count", "1", "--out", layers),
            ("cobra-worker", "describe"),
        ):
            done = self.run_installed(*command)
            self.assertEqual(done.returncode, 0, (command, done.stderr))
        rows, device = os.path.join(self.home, "rows.csv"), os.path.join(self.home, "space")
        with open(rows, "w") as file:
            file.write("row,arch,latency_ms\n")
            for i in range(40):
                operators = ["nor_conv_3x3", "nor_conv_1x1", "avg_pool_3x3", "skip_connect", "none"]
                cell = [operators[(i * k + k) % 5] for k in (1, 2, 3, 4, 6, 7)]
                arch = "|%s~0|+|%s~0|%s~1|+|%s~0|%s~1|%s~2|" % tuple(cell)
                file.write(f"{i},{arch},{1 + i % 7}\n")
        done = self.run_installed("cobra-train", "fit", "--space", "nasbench201", "--rows", rows, "--out", device)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_no_file_names_the_source_tree(self):
        for root, _, files in os.walk(os.path.join(self.prefix, "share")):
            for name in files:
                with open(os.path.join(root, name), "rb") as file:
                    self.assertNotIn(programs.SOURCE.encode() + b"/", file.read(), os.path.join(root, name))
        with open(os.path.join(self.prefix, "lib/systemd/system/cobra-server.service")) as file:
            self.assertIn("bin/cobra-server --listen 127.0.0.1:50051", file.read())

    def test_hints_name_installed_pages(self):
        missing = self.run_installed("cobra-client", "check")
        self.assertEqual(missing.returncode, 2)
        page = self.share("doc/cobra/docs/ci.md")
        self.assertIn(f" {page} says", missing.stderr)
        self.assertTrue(os.path.exists(page))

    def test_a_man_page_of_each_command(self):
        if not shutil.which("help2man"):
            self.skipTest("help2man is not installed: no man pages")
        commands = self.run_installed("cobra-client", "--completion", "fish").stdout
        for program in PROGRAMS:
            self.assertTrue(os.path.exists(self.share("man/man1", program + ".1.gz")), program)
        named = [
            line.split(" -a ")[1].split()[0] for line in commands.splitlines() if "__fish_use_subcommand -a" in line
        ]
        self.assertIn("predict", named)
        for command in named:
            with gzip.open(self.share("man/man1", f"cobra-client-{command}.1.gz"), "rt") as file:
                page = file.read()
            self.assertIn(f".SH NAME\ncobra-client-{command} \\- ", page)
            self.assertIn("\\-\\-help", page, command)
            self.assertIn(f"$ cobra-client {command}", page.split(".SH EXAMPLES")[1], command)

    def complete(self, *words, programs_at=None):
        """What bash offers for the last of the words."""
        script = """
            source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=()
            $(complete -p cobra-client | sed 's/.*-F \\([^ ]*\\) .*/\\1/'); printf '%s\\n' "${COMPREPLY[@]}" """
        file = self.share("bash-completion/completions/cobra-client")
        path = (programs_at or os.path.join(self.prefix, "bin")) + ":" + self.environment["PATH"]
        done = subprocess.run(
            ["bash", "-uc", script, "bash", file, "cobra-client", *words],
            env=dict(self.environment, PATH=path),
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
        return done.stdout.split()

    def test_bash_completes(self):
        self.assertEqual(self.run_installed("cobra-client", "targets").returncode, 0)  # starts a server
        self.assertEqual(self.complete("pred"), ["predict"])
        self.assertIn("--target", self.complete("predict", "net.py", "--ta"))
        self.assertIn("json", self.complete("predict", "net.py", "--format", ""))
        self.assertNotIn("--entry", self.complete("targets", "--"))
        names = self.targets("cpu-epyc-genoa")
        self.assertEqual(self.complete("predict", "--target", "cpu-epyc-genoa"), names)
        # As bash cuts --target=NAME into words, and a list of names.
        self.assertEqual(self.complete("predict", "--target", "=", "cpu-epyc-genoa"), names)
        self.assertGreater(len(self.complete("predict", "--target", "=")), len(names))
        more = [f"a,b,{name}" for name in names]
        self.assertEqual(self.complete("predict", "--target", "a,b,cpu-epyc-genoa"), more)
        self.assertEqual(self.complete("predict", "--target", "=", "a,b,cpu-epyc-genoa"), more)
        self.assertIn("json", self.complete("predict", "net.py", "--format", "=", "j"))

    def test_names_of_a_server_are_no_commands(self):
        folder, trace = os.path.join(self.home, "other"), os.path.join(self.home, "trace")
        os.mkdir(folder)
        program = os.path.join(folder, "cobra-client")
        with open(program, "w") as file:
            file.write(f"#!/bin/sh\necho '$(touch$IFS{trace})'\necho '`touch$IFS{trace}`'\necho '*'\n")
        os.chmod(program, 0o755)
        names = [f"$(touch$IFS{trace})", f"`touch$IFS{trace}`", "*"]
        self.assertEqual(self.complete("predict", "--target", "", programs_at=folder), names)
        listed = self.complete("predict", "--target", "$(x),", programs_at=folder)
        self.assertEqual(listed, ["$(x)," + name for name in names])
        self.assertFalse(os.path.exists(trace))

    def targets(self, prefix):
        listed = self.run_installed("cobra-client", "targets", "--no-start", "--format", "names")
        return [name for name in listed.stdout.split() if name.startswith(prefix)]

    def test_other_shells_read_their_scripts(self):
        for shell, flag, path in (
            ("zsh", "-n", "zsh/vendor-completions/_cobra-client"),
            ("fish", "--no-execute", "fish/vendor_completions.d/cobra-client.fish"),
        ):
            self.assertTrue(os.path.exists(self.share(path)))
            if shutil.which(shell):
                subprocess.run([shell, flag, self.share(path)], check=True)


if __name__ == "__main__":
    unittest.main()
