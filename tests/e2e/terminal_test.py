#!/usr/bin/env python3
"""cobra-client at a terminal: width, colours, progress, --watch, -q; and that none of it reaches
files and pipes."""
import os
import re
import shlex
import signal
import subprocess
import tempfile
import time
import unittest

import programs
import terminal

NET = """import torch
from torch import nn
from part import WIDTH

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, WIDTH, 3)
        self.gone = nn.Flatten()

    def forward(self, x):
        return self.gone(self.conv(x).relu()).view(-1).reshape(-1, 2)
"""
COLOUR = "\033["
LONG = "gpu-t4-modal-torch-2.5-eager-train", "gpu-l4-modal-torch-2.5-eager-train"


class TerminalTest(programs.ServedTest):
    def setUp(self):
        self.models = tempfile.mkdtemp(dir=self.folder.name)
        self.net = os.path.join(self.models, "net.py")
        self.write("net.py", NET)
        self.write("part.py", "WIDTH = 16\n")

    def write(self, name, text):
        with open(os.path.join(self.models, name), "w") as file:
            file.write(text)

    def question(self, *arguments, targets=None):
        return ["predict", self.net, "--input", "1x3x32x32", "--server", self.server.address, "--target"] + [
            ",".join(targets or [self.target]),
            *arguments,
        ]

    def at_terminal(self, *arguments, **options):
        with terminal.client(*arguments, **options) as client:
            code = client.end()
            return code, client

    # ---- width

    def test_no_line_is_wider_than_the_terminal(self):
        targets = [self.target, *LONG]
        for columns in (70, 80, 120):
            for command in (
                self.question("--breakdown", targets=targets),
                ["targets", "--server", self.server.address],
                ["sweep", *self.question("--batch", "1..4", targets=targets)[1:]],
                ["explain", self.net, "--input", "1x3x32x32", "--server", self.server.address, "--target", self.target],
            ):
                with self.subTest(columns=columns, command=command[0]):
                    code, client = self.at_terminal(*command, columns=columns)
                    self.assertEqual(code, 0, client.text)
                    table = [line for line in client.lines if re.search(r"  \S", line)]  # sentences may be longer
                    self.assertGreater(len(table), 3)
                    for line in table:
                        if not line.startswith(("target ", "  Net", "unsure", "knee")) and " ms on " not in line:
                            self.assertLessEqual(len(line), columns, line)
                    for line in client.lines:
                        if "  " not in line.strip():  # of words, between which it is broken
                            longest = max(map(len, line.split()), default=0)
                            self.assertLessEqual(len(line), max(columns, longest + 4), line)

    def test_names_that_are_cut_can_be_told_apart(self):
        code, client = self.at_terminal(*self.question(targets=list(LONG)), columns=62)
        self.assertEqual(code, 0, client.text)
        rows = [line.split("  ")[0] for line in client.lines if line.startswith("gpu-")]
        self.assertEqual(len(rows[:2]), len(set(rows[:2])), client.lines)
        self.assertTrue(all("..." in row for row in rows[:2]), rows)

    def test_rows_of_the_targets_can_be_told_apart(self):
        for columns in (80, 100, 160):
            for part in ("raspberry", "xeon-emeraldrapids", "gpu-t4"):
                with self.subTest(columns=columns, part=part):
                    listed = ("targets", "--name", part, "--server", self.server.address)
                    code, client = self.at_terminal(*listed, columns=columns)
                    self.assertEqual(code, 0, client.text)
                    header = client.lines[0]
                    rows = [line for line in client.lines[1:] if re.match("(cpu|gpu)-", line)]
                    answer = programs.client(*listed, "--format", "json").json()["targets"]
                    self.assertEqual(len(rows), len(answer))
                    self.assertIn("device", header)
                    for column in ("device", "runtime"):
                        if column in header:
                            begin = header.index(column)
                            cells = {line[begin:].split("  ")[0] for line in rows}
                            self.assertEqual(
                                len(cells), len({target["spec"][column] for target in answer}), client.lines
                            )

    def test_of_targets_that_nobody_named_the_fastest_are_shown(self):
        question = ["predict", self.net, "--input", "1x3x32x32", "--server", self.server.address]
        _, client = self.at_terminal(*question)
        shown = [line for line in client.lines if re.match("(cpu|gpu)-", line)]
        note = re.search(r"the 10 fastest; (\d+) more: --all, or --target NAME", client.text)
        self.assertIsNotNone(note, client.text)
        everything = programs.predict(self.server, *question[1:4]).json()["predictions"]
        self.assertEqual(len(everything), 10 + int(note[1]))
        times = sorted(p["latency_us"] for p in everything if p["coverage"] > 0)
        self.assertEqual([line.split()[1] for line in shown[:10]], ["%.3f" % (us / 1000) for us in times[:10]])
        piped = programs.client(*question)
        (summary,) = re.findall(r"(?m)^model .*$", piped.out)  # of the same network
        self.assertIn(summary, client.lines)
        _, client = self.at_terminal(*question, "--all")
        self.assertGreaterEqual(len([line for line in client.lines if re.match("(cpu|gpu)-", line)]), len(everything))
        self.assertNotIn("fastest; ", client.text)
        self.assertIn(note[0], piped.out)
        piped = programs.client(*question, "--all")
        self.assertNotIn("fastest; ", piped.out)
        self.assertEqual(len(set(re.findall(r"(?m)^[cg]pu-\S+", piped.out))), len(everything))

    def test_columns_is_the_width_of_a_terminal_and_of_nothing_else(self):
        targets = list(LONG)
        _, narrow = self.at_terminal(*self.question(targets=targets), columns=120, COLUMNS="62")
        self.assertTrue(any("..." in line for line in narrow.lines if line.startswith("gpu-")))
        piped = subprocess.run(
            [os.path.join(programs.BIN, "cobra-client"), *self.question(targets=targets)],
            capture_output=True,
            text=True,
            env=dict(os.environ, COLUMNS="62", TERM="xterm"),
        )
        for target in targets:
            self.assertRegex(piped.stdout, rf"(?m)^{target} +[\d.]+ +[\d.]+ \.\.\. [\d.]+ +[\d.]+$")

    # ---- colours

    def test_colours_are_for_terminals(self):
        over = self.question("--budget-ms", "0.000001")
        code, client = self.at_terminal(*over)
        self.assertEqual(code, 1)
        self.assertIn(COLOUR, client.text)
        for options in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
            code, client = self.at_terminal(*over, **options)
            self.assertEqual(code, 1)
            self.assertNotIn(COLOUR + "3", client.text, options)
        _, client = self.at_terminal(*over, "--color", "never")
        self.assertNotIn(COLOUR, client.text)
        with open(os.path.join(self.models, "out"), "w+") as file:
            code, client = self.at_terminal(*over, stdout=file)
            file.seek(0)
            self.assertNotIn("\033", file.read())
        answer = programs.client(*over)
        self.assertNotIn("\033", answer.out + answer.err)

    def test_colours_can_be_asked_for_in_a_pipe(self):
        self.assertIn(COLOUR, programs.client(*self.question("--color", "always")).out)
        environment = dict(os.environ, CLICOLOR_FORCE="1")
        command = [os.path.join(programs.BIN, "cobra-client"), *self.question()]
        self.assertIn(COLOUR, subprocess.run(command, capture_output=True, text=True, env=environment).stdout)
        environment["NO_COLOR"] = "1"
        self.assertNotIn("\033", subprocess.run(command, capture_output=True, text=True, env=environment).stdout)
        self.assertEqual(programs.client(*self.question("--color", "pink")).code, 2)

    def test_errors_are_red_on_a_terminal_only(self):
        wrong = ["predict", os.path.join(self.models, "nett.py"), "--server", self.server.address]
        _, client = self.at_terminal(*wrong)
        self.assertIn("\033[31merror:\033[0m", client.text)
        self.assertNotIn("\033", programs.client(*wrong).err)

    def test_a_model_cannot_write_to_the_terminal(self):
        evil = "x\033]0;owned\007"
        self.write(
            "net.py",
            NET.replace("self.conv =", f'self.add_module("{evil}", nn.ReLU()); self.conv =').replace(
                "self.conv(x).relu()", f'self._modules["{evil}"](self.conv(x))'
            ),
        )
        code, client = self.at_terminal(*self.question("--breakdown"))
        self.assertEqual(code, 0, client.text)
        self.assertNotIn("\033]", client.text)
        self.assertNotIn("\007", client.text)

    # ---- progress

    def test_progress_is_one_line_that_is_erased(self):
        self.server.process.send_signal(signal.SIGSTOP)
        try:
            with terminal.client(*self.question()) as client:
                client.wait_for(r"asking \S+ \.\.\. \d+ s")
                self.server.process.send_signal(signal.SIGCONT)
                self.assertEqual(client.end(), 0)
                self.assertIn("\r\033[K", client.text)
                self.assertFalse([line for line in client.lines if "asking" in line], client.lines)
        finally:
            self.server.process.send_signal(signal.SIGCONT)

    def test_no_progress_in_a_pipe_or_when_quiet(self):
        self.server.process.send_signal(signal.SIGSTOP)
        try:
            quiet = terminal.client(*self.question("-q"))
            piped = subprocess.Popen(
                [os.path.join(programs.BIN, "cobra-client"), *self.question()],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                text=True,
            )
            time.sleep(2.5)
        finally:
            self.server.process.send_signal(signal.SIGCONT)
        with quiet:
            self.assertEqual(quiet.end(), 0)
            self.assertRegex(quiet.text, r"^[\d.]+\r\n$")
        self.assertEqual(piped.communicate(timeout=60)[1], f"{self.net}: no --entry, taking Net()\n")

    # ---- numbers only

    def test_quiet_prints_milliseconds(self):
        targets = [self.target, *LONG]
        answer = programs.client(*self.question("-q", targets=targets))
        self.assertEqual((answer.code, answer.err), (0, ""))
        whole = programs.client(*self.question("--format", "json", targets=targets)).json()
        for line, prediction in zip(answer.out.splitlines(), whole["predictions"]):
            self.assertAlmostEqual(float(line), prediction["latency_us"] / 1000, delta=1e-5 * prediction["latency_us"])
        self.assertEqual(len(answer.out.splitlines()), 3)
        swept = programs.client("sweep", *self.question("-q", "--batch", "1,4")[1:])
        self.assertRegex(swept.out, r"^1 [\d.e-]+\n4 [\d.e-]+\n$")

    # ---- nothing in rows of zeros

    def test_calls_that_cost_nothing_share_a_line(self):
        answer = programs.client(*self.question("--breakdown"))
        self.assertNotRegex(answer.out, r" 0\.0000 ")
        explained = programs.client("explain", self.net, "--input", "1x3x32x32", "--by", "layer")
        self.assertEqual(explained.code, 0, explained.err)
        self.assertRegex(explained.out, r"and 3 calls with next to no arithmetic and memory traffic: ")

    # ---- --watch

    def watching(self, *arguments):
        return terminal.client(*self.question("--watch", *arguments), cwd=self.models)

    def change(self, client, pattern, edit):
        start = len(client.text)
        edit()
        client.wait_for(pattern, start=start)
        return client.text[start:]

    def test_watch_predicts_again_and_shows_the_change(self):
        with self.watching() as client:
            client.wait_for("Ctrl-C ends")
            shown = self.change(client, r"\+[\d.]+ %", lambda: self.write("part.py", "WIDTH = 64\n"))  # what it imports
            self.assertIn("predicted ms", terminal.ESCAPE.sub("", shown))
            # As vim and others do: written beside it and renamed over it.
            self.write("net.py.new", NET.replace("WIDTH, 3)", "WIDTH, 1)"))
            shown = self.change(
                client, r"-[\d.]+ %", lambda: os.replace(os.path.join(self.models, "net.py.new"), self.net)
            )
            shown = self.change(client, "invalid syntax", lambda: self.write("net.py", NET + "def broken(:\n"))
            shown = self.change(client, r"[+-][\d.]+ %", lambda: self.write("net.py", NET))
            start = len(client.text)
            self.write("notes.txt", "not a part of the model")
            self.write("other.py", "nor is this")
            time.sleep(1)
            client.read(0)
            self.assertEqual(client.text[start:], "")
            client.type("\003")
            self.assertEqual(client.end(), 0)

    def test_watch_survives_a_file_that_is_gone_for_a_while(self):
        with self.watching("-q") as client:
            client.wait_for(r"[\d.]+\r\n")
            self.change(client, "no such file", lambda: os.remove(self.net))
            self.change(client, r"(?m)^[\d.]+\r\n", lambda: self.write("net.py", NET))
            client.type("\003")
            self.assertEqual(client.end(), 0)

    def test_watch_ends_where_no_edit_helps(self):
        for arguments, word in (
            (["--format", "json"], "--format json: is for one answer"),
            (["--target", "nobody"], "nobody: no such target"),
        ):
            command = [
                "predict",
                self.net,
                "--input",
                "1x3x32x32",
                "--server",
                self.server.address,
                "--watch",
                *arguments,
            ]
            answer = programs.client(*command, *(["--target", self.target] if arguments[0] != "--target" else []))
            self.assertEqual(answer.code, 2, answer.err)
            self.assertIn(word, answer.err)


class MistakesTest(programs.ServedTest):
    """What newcomers type, and that the answer names what to type next."""

    def test_a_gpu_that_nobody_measured_is_made_by_the_command_of_the_error(self):
        net = self.path("net.py", NET.replace("from part import WIDTH", "WIDTH = 16"))
        server = ["--server", self.server.address]
        question = ["predict", net, "--input", "1x3x32x32", *server, "--target", "h100-pcie", "-q"]
        for command in (
            question,
            ["sweep", *question[1:-1], "--batch", "1"],
            ["targets", "--device", "h100-pcie", *server],
        ):
            answer = programs.client(*command)
            said = re.search(r"(?m)cobra-client adapt --name h100-pcie --spec '[^']*'$", answer.err + answer.out)
            self.assertIsNotNone(said, answer.err)
        words = shlex.split(said.group())
        adapted = programs.client(*words[1:], *server)
        self.assertEqual(adapted.code, 0, adapted.err)
        answer = programs.client(*question)
        self.assertEqual(answer.code, 0, answer.err)
        self.assertGreater(float(answer.out), 0)
        broken = programs.client("adapt", "--name", "x", "--spec", '{"device": ', *server)
        self.assertEqual(broken.code, 2)
        self.assertIn("--spec", broken.err)

    def test_the_error_names_the_next_command(self):
        net = self.path("net.py", NET.replace("from part import WIDTH", "WIDTH = 16"))
        two = self.path(
            "two.py", NET.replace("from part import WIDTH", "WIDTH = 16").replace("self, x)", "self, x, y)")
        )
        grey = self.path("grey.py", NET.replace("from part import WIDTH", "WIDTH = 16").replace("Conv2d(3", "Conv2d(1"))
        flat = self.path(
            "flat.py",
            "from torch import nn\nclass Net(nn.Sequential):\n    def __init__(self):\n"
            "        super().__init__(nn.Linear(784, 10))\n",
        )
        server, target = ["--server", self.server.address], ["--target", self.target]
        for arguments, code, hint in (
            ([], 2, "cobra-client predict net.py --input 1x3x224x224"),
            ([net], 2, f"did you mean: cobra-client predict {net}"),
            (["help"], 2, "did you mean: cobra-client --help"),
            (["help", "predict"], 2, "did you mean: cobra-client predict --help"),
            (["predict", net, *server, *target], 2, f"try: cobra-client predict {net}"),
            (["predict", net, *server, *target], 2, "--input 1x3x224x224"),
            (["graph", two], 2, "--input 1x3x224x224 --input "),
            (["graph", grey], 2, "--input 1x1x224x224"),
            (["graph", flat], 2, "--input 1x784"),
            (["predict", net, "1x3x32x32"], 2, f"did you mean: cobra-client predict {net} --input 1x3x32x32"),
            (["predict", net, "--target", "a", "b"], 2, f"did you mean: cobra-client predict {net} --target a,b"),
            (["predict", self.path("nett.py")], 2, f"did you mean {net}?"),
            (["predict", "no_model_of_anybody"], 2, "give the file that defines the model"),
            (["graph", net, "--input", "1,3,32,32"], 2, "as in 1x3x32x32"),
            (
                ["predict", net, "--input", "1x3x32x32", *server, "--target", "epyc"],
                2,
                "`cobra-client targets` lists all",
            ),
            (
                ["predict", net, "--input", "1x3x32x32", *server, "--target", "this-machine"],
                2,
                "`cobra-client calibrate`",
            ),
            (["sweep", net, "--input", "1x3x32x32", *server], 2, "cobra-client calibrate"),
            (["calibrate", "--name", "a b", *server], 2, "may have letters, digits"),
            (["targets", "--server", "127.0.0.1:1"], 3, "cobra-client doctor"),
            (["predict", net, "--inputs", "1x3"], 2, "did you mean --input?"),
        ):
            with self.subTest(" ".join(arguments)):
                answer = programs.client(*arguments)
                self.assertEqual(answer.code, code, answer.err)
                self.assertIn(hint, answer.err)

    @unittest.skipUnless(os.path.exists(programs.RESNET), "needs torchvision")
    def test_a_model_of_torchvision_by_its_name(self):
        answer = programs.client("graph", "resnet50", cwd="/")  # of two lists that we ship
        self.assertIn("say which: ncnn:resnet50 or torchvision:resnet50", answer.err)
        answer = programs.client("graph", "torchvision:resnet50", cwd="/")
        self.assertIn(f"--library {programs.LIBRARY}", answer.err)
        answer = programs.client("graph", "torchvision:resnet50", "--library", programs.LIBRARY, cwd="/")
        self.assertEqual(answer.code, 0, answer.err)


if __name__ == "__main__":
    programs.main()
