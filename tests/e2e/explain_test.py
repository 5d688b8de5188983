#!/usr/bin/env python3
"""`cobra-client explain` beside a real server and without one: the slow layer of a model that
nobody has seen is on the first lines."""
import json
import os
import pty
import re
import subprocess

import programs

# Looks harmless: the one wide convolution at full resolution is the cost.
NET = """import torch.nn as nn

class Fuse(nn.Module):
    def __init__(self):
        super().__init__()
        self.mix = nn.Conv2d(24, 160, 5, padding=2)
        self.back = nn.Conv2d(160, 24, 1)

    def forward(self, x):
        return x + self.back(self.mix(x))

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 24, 3, stride=2, padding=1)
        self.blocks = nn.Sequential(*[nn.Sequential(nn.Conv2d(24, 24, 3, padding=1), nn.ReLU()) for _ in range(4)])
        self.fuse = Fuse()
        self.head = nn.Linear(24, 10)

    def forward(self, x):
        x = self.fuse(self.blocks(self.stem(x)))
        return self.head(x.mean((2, 3)))
"""


class ExplainTest(programs.ServedTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.net = cls.path("net.py", NET)
        cls.model = (cls.net, "--entry", "Net()", "--input", "1x3x128x128")

    def asked(self, *flags):
        answer = programs.client(
            "explain", *self.model, "--target", self.target, "--server", self.server.address, *flags
        )
        self.assertEqual(answer.code, 0, answer.err)
        return answer

    def test_the_slow_layer_is_in_the_heading(self):
        lines = self.asked().out.splitlines()
        self.assertRegex(lines[2], r"^predicted [\d.]+ ms on \S+ \(90 % interval")
        headlines = [i for i, line in enumerate(lines) if line.startswith("slowest ")]
        self.assertEqual(len(headlines), 2)
        self.assertLess(headlines[1], lines.index(""))  # in the heading
        # mix, back and the sum
        self.assertRegex(lines[headlines[0]], r"^slowest line: .*net\.py:10, \d\d\.\d % of the time$")
        self.assertEqual(lines[headlines[0] + 1], "  return x + self.back(self.mix(x))")
        self.assertRegex(
            lines[headlines[1]], r"^slowest call: conv2d in fuse\.mix \(.*net\.py:10\), \d\d\.\d % of the time"
        )
        self.assertIn("        return x + self.back(self.mix(x))", lines)
        self.assertIn("0 ... 3 (4 alike)", "\n".join(lines))

    def test_without_a_server_the_same_layer_is_found_and_no_time_is_named(self):
        answer = programs.client("explain", *self.model)
        self.assertEqual(answer.code, 0, answer.err)
        self.assertIn("not of time", answer.out)
        self.assertRegex(answer.out, r"heaviest call: conv2d in fuse\.mix \(.*net\.py:10\)")
        self.assertNotRegex(answer.out, r"\bms\b|predicted")

    def test_json_agrees_with_predict(self):
        explained = self.asked("--format", "json").json()
        predicted = programs.predict(self.server, *self.model, "--target", self.target, "--breakdown").json()
        self.assertEqual(explained["prediction"]["latency_us"], predicted["predictions"][0]["latency_us"])
        for field in ("latency_us", "where"):
            self.assertEqual(
                [row[field] for row in explained["layers"]],
                [row[field] for row in predicted["predictions"][0]["breakdown"]],
            )
        self.assertEqual(explained["total"]["macs"], predicted["macs"])
        self.assertEqual(explained["total"]["flops"], predicted["flops"])
        self.assertEqual(explained["total"]["params"], predicted["params"])
        self.assertEqual(explained["total"]["peak_memory_bytes"], predicted["peak_memory_bytes"])
        for listing in ("layers", "ops", "lines"):
            self.assertAlmostEqual(sum(row["latency_share"] for row in explained[listing]), 1, places=9)
        self.assertEqual(explained["layers"][explained["top"][0]]["module"], "fuse.mix")
        self.assertAlmostEqual(explained["modules"][0]["latency_share"], 1, places=9)

    def test_every_list(self):
        calls = len(self.asked("--format", "json").json()["layers"])
        listed = self.asked("--by", "layer").out.splitlines()
        self.assertEqual(len(listed) - listed.index("Calls, in order of execution"), 2 + calls)  # itself, the header
        self.assertIn("fuse", self.asked("--by", "module").out)
        self.assertIn("return x + self.back(self.mix(x))", self.asked("--by", "line").out)
        self.assertIn("mean", self.asked("--by", "op").out)
        self.assertEqual(programs.client("explain", *self.model, "--by", "magic").code, 2)
        three = self.asked("--top", "3")
        self.assertRegex(three.out, r"Slowest calls, equal ones grouped: \d+ of %d, " % calls)
        self.assertIn("blocks.*.0", self.asked("--top", "5").out)  # four blocks, one line

    def test_a_graph_file_is_explained_too(self):
        graph = programs.client("graph", *self.model, "--format", "json")
        path = os.path.join(self.folder.name, "net.json")
        with open(path, "w") as file:
            file.write(graph.out)
        answer = programs.client("explain", path, "--format", "json")
        self.assertEqual(answer.code, 0, answer.err)
        self.assertEqual(
            [row["flops"] for row in answer.json()["layers"]],
            [row["flops"] for row in self.asked("--format", "json").json()["layers"]],
        )

    def test_the_terminal_decides_width_and_colour(self):
        def run(columns):
            leader, follower = pty.openpty()
            subprocess.run(["stty", "cols", str(columns)], stdin=follower, check=True)
            command = [os.path.join(programs.BIN, "cobra-client"), "explain", *self.model, "--by", "layer"]
            process = subprocess.Popen(command, stdout=follower, env=dict(os.environ, TERM="xterm"))
            os.close(follower)
            chunks = []
            try:
                while chunk := os.read(leader, 65536):
                    chunks.append(chunk)
            except OSError:  # the other end is closed
                pass
            os.close(leader)
            self.assertEqual(process.wait(), 0)
            return b"".join(chunks).decode()

        text = run(90)
        self.assertIn("\033[1m", text)
        lines = [re.sub(r"\033\[\d+m", "", line) for line in text.splitlines()]
        table = lines[lines.index("Calls, in order of execution") :]
        self.assertLessEqual(max(map(len, table)), 90)
        self.assertGreater(max(map(len, run(200).splitlines())), 90)
        self.assertNotIn("\033", programs.client("explain", *self.model).out)

    def test_several_targets_are_compared(self):
        other = programs.client("targets", "--server", self.server.address, "--format", "names").out.split()[1]
        question = ("explain", *self.model, "--server", self.server.address)
        several = programs.client(*question, "--target", f"{self.target},{other}")
        self.assertEqual(several.code, 0, several.err)
        self.assertIn("Operators, by how much the targets differ", several.out)
        repeated = programs.client(*question, "--target", self.target, "--target", other)
        self.assertEqual(repeated.out, several.out)

    def test_failures_are_reported(self):
        question = ("explain", *self.model, "--server", self.server.address)
        self.assertEqual(programs.client(*question, "--target", "abacus").code, 2)
        unknown = programs.client(*question, "--target", "abacus", "--format", "json")
        self.assertEqual(unknown.json()["error"]["status"], "NOT_FOUND")
        self.assertEqual(programs.client("explain", *self.model, "--target", "x", "--server", "127.0.0.1:1").code, 3)
        empty = programs.client(
            "explain",
            self.net,
            "--entry",
            "Net()",
            "--input",
            "0x3x128x128",
            "--target",
            self.target,
            "--server",
            self.server.address,
        )
        self.assertEqual(empty.code, 2, empty.err)
        self.assertIn("0x3x128x128:float32: an input without elements has no latency", empty.err)
        # PyTorch runs it, so there is a graph.
        self.assertEqual(
            json.loads(
                programs.client("graph", self.net, "--entry", "Net()", "--input", "0x3x128x128", "--format", "json").out
            )["macs"],
            0,
        )


if __name__ == "__main__":
    programs.main()
