#!/usr/bin/env python3
"""What the five programs have in common on the command line: --version, --help, exit code 2 and one
line for what is not understood."""
import os
import re
import shlex
import subprocess
import tempfile
import unittest

import programs

PROGRAMS = ["cobra-client", "cobra-server", "cobra-worker", "cobra-train", "cobra-bench"]


def run(program, *arguments):
    return programs.Answer(
        subprocess.run([os.path.join(programs.BIN, program), *arguments], capture_output=True, text=True, timeout=60)
    )


class CommandLineTest(unittest.TestCase):
    def each(self):
        for program in PROGRAMS:
            if not os.path.exists(os.path.join(programs.BIN, program)):
                continue  # not built here
            with self.subTest(program):
                yield program

    def test_version(self):
        with open(os.path.join(programs.SOURCE, "CMakeLists.txt")) as file:
            version = re.search(r"project\(cobra VERSION (\S+)", file.read())[1]
        for program in self.each():
            answer = run(program, "--version")
            self.assertEqual((answer.code, answer.out), (0, f"{program} {version}\n"), answer.err)

    def test_help_is_fine_and_names_exit_codes(self):
        for program in self.each():
            answer = run(program, "--help")
            self.assertEqual(answer.code, 0, answer.err)
            self.assertIn("Usage: " + program, answer.out)
            self.assertRegex(answer.out, "[Ee]xit codes")
        self.assertIn("measuring does not count", " ".join(run("cobra-client", "calibrate", "--help").out.split()))

    def test_each_command_has_examples_that_it_understands(self):
        commands = re.findall(r"(?m)^  ([a-z]+) +[A-Z]", run("cobra-client", "--help").out.split("Subcommands:")[1])
        self.assertIn("predict", commands)
        for command in commands:
            with self.subTest(command):
                text, examples = run("cobra-client", command, "--help").out.split("\nExamples:\n")
                lines = [shlex.split(line) for line in examples.splitlines()]
                self.assertGreaterEqual(len(lines), 2)
                for line in lines:
                    self.assertEqual(line[:3], ["$", "cobra-client", command])
                    for word in line:
                        if word.startswith("--"):
                            self.assertRegex(text, rf"{word}\b")
                    # Nothing runs, but what cannot be parsed is an error before that.
                    self.assertEqual(run(*line[1:], "--help").code, 0)

    def test_what_is_not_understood_is_one_error_and_exit_code_2(self):
        for program in self.each():
            for arguments in (["--bogus"], ["nope"]):
                answer = run(program, *arguments)
                self.assertEqual(answer.code, 2, answer.err)
                self.assertEqual(
                    answer.err.splitlines()[0][: len(program) + 9 + len(arguments[0])],
                    f"{program}: error: {arguments[0]}",
                )
                self.assertEqual(len(answer.err.splitlines()), 2, answer.err)  # and a hint

    def test_usage_errors_of_commands(self):
        for program, arguments, words in (
            ("cobra-client", ["pedict", "net.py"], "did you mean predict?"),
            ("cobra-client", ["predict", "net.py", "--inputs", "1x3"], "did you mean --input?"),
            ("cobra-client", ["predict", "net.py", "--budget-ms", "0", "--target", "x"], "0 is not a number above 0"),
            ("cobra-client", ["predict", "net.py", "--target", "x", "--max-increase", "3%"], "--max-increase requires"),
            ("cobra-client", ["targets", "--server", "http://127.0.0.1:50951"], "write --server 127.0.0.1:50951"),
            ("cobra-client", ["targets", "--server", "localhost"], "write --server localhost:50051"),
            ("cobra-client", ["explain", "net.py", "--targets", "a"], "did you mean --target?"),
            (
                "cobra-client",
                ["compare", "old.json"],
                "new: is missing\nhint: result of `predict --format json` for the ch",
            ),
            ("cobra-client", ["graph", "net.py", "--overwrite"], "--overwrite: no file is written"),
            ("cobra-client", ["calibrate", "--probe", "/dev/null", "--server", "127.0.0.1:1"], None),
            ("cobra-server", ["--listen", "foo"], "--listen foo: has no port\nhint: write --listen foo:50051"),
            ("cobra-server", ["--listen", "127.0.0.1:99999"], '"99999" is not a port'),
            ("cobra-server", ["--metrics", "127.0.0.1"], "write --metrics 127.0.0.1:9464"),
            ("cobra-worker", ["describe", "--bogus"], "--bogus"),
            ("cobra-train", ["evaluat"], "did you mean evaluate?"),
            ("cobra-bench", ["nope"], "nope"),
        ):
            if not os.path.exists(os.path.join(programs.BIN, program)):
                continue
            with self.subTest(" ".join([program, *arguments])):
                answer = run(program, *arguments)
                if words is None:
                    self.assertEqual(answer.code, 3, answer.err)
                    continue
                self.assertEqual(answer.code, 2, answer.err)
                self.assertIn(words, answer.err)

    def test_nothing_of_value_is_replaced(self):
        with tempfile.TemporaryDirectory() as folder:
            path = {}
            for name in ("net.py", "list.csv", "layers.py", "cobra.toml"):
                path[name] = os.path.join(folder, name)
                with open(path[name], "w") as file:
                    file.write("row,model,entry,inputs\n" + name)
            asked = ("--server", "127.0.0.1:1", "--target", "x")
            model = (path["net.py"], "--input", "1x3x8x8")
            for command in (
                ("report", *model, *asked, "--out", path["net.py"]),
                ("report", *model, *asked, "--out", path["layers.py"]),
                ("sweep", *model, *asked, "--out", path["cobra.toml"]),
                ("history", *asked, "--out", path["cobra.toml"]),
                ("predict", "--list", path["list.csv"], *asked, "--out", path["list.csv"]),
                ("predict", "--list", path["list.csv"], *asked, "--out", path["net.py"]),
                ("adapt", *asked[:2], "--name", "x", "--export", path["net.py"]),
            ):
                with self.subTest(command=command[0], out=command[-1]):
                    answer = run("cobra-client", *command)
                    self.assertEqual(answer.code, 2, answer.err)
                    self.assertRegex(
                        answer.err, r"--(out|export) \S+: (is a file that this command reads|already exists)"
                    )
            with open(path["layers.py"], "w") as file:
                file.write("from torch import nn\nclass Part(nn.ReLU): pass\n# layers.py")
            with open(path["net.py"], "w") as file:
                file.write("from layers import Part\nclass Net(Part): pass\n# net.py")
            write = ("--format", "python", "--overwrite", "--out")
            for name in ("layers.py", "net.py"):
                refused = run("cobra-client", "graph", *model, "--entry", "Net()", *write, path[name])
                self.assertEqual(refused.code, 2, refused.err)
            written = run("cobra-client", "graph", *model, "--entry", "Net()", *write, os.path.join(folder, "o.py"))
            self.assertEqual(written.code, 0, written.err)
            for name in path:
                with open(path[name]) as file:
                    self.assertTrue(file.read().endswith(name))

    def test_a_full_disk_is_an_error(self):
        net = os.path.join(programs.SOURCE, "examples", "unet.py")
        with open("/dev/full", "w") as full:
            done = subprocess.run(
                [os.path.join(programs.BIN, "cobra-client"), "graph", net, "--entry", "UNet(width=64)"]
                + ["--input", "1x3x64x64", "--input", "1"],
                stdout=full,
                stderr=subprocess.PIPE,
                text=True,
            )
        self.assertEqual(done.returncode, 2)
        self.assertIn("standard output cannot be written", done.stderr)

    def test_json_has_usage_errors_too(self):
        answer = run("cobra-client", "predict", "net.py", "--budget-ms", "0", "--format", "json")
        self.assertEqual(answer.code, 2)
        self.assertEqual(answer.json()["error"]["kind"], "usage")

    def test_a_missing_server_is_reported_with_a_hint(self):
        answer = run("cobra-client", "targets", "--server", "127.0.0.1:1")
        self.assertEqual(answer.code, 3)
        self.assertRegex(
            answer.err,
            r"^cobra-client: error: no server answers at 127\.0\.0\.1:1: Connection refused\nhint: start it there \(cobra-server\)",
        )

    def test_a_file_above_the_limit_of_a_request_is_not_sent(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "big.onnx")
            with open(path, "wb") as file:
                file.truncate(33 << 20)
            answer = run(
                "cobra-client", "predict", path, "--send", "source", "--target", "x", "--server", "127.0.0.1:1"
            )
        self.assertEqual(answer.code, 7, answer.err)
        self.assertIn("bytes, more than the limit of 33,554,432\nhint: omit --send source", answer.err)


if __name__ == "__main__":
    programs.main()
