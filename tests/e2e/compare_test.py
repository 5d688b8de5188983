#!/usr/bin/env python3
"""`cobra-client compare` and `predict --baseline` on real predictions: what became slower is found,
and what cannot be compared is refused."""
import json
import os
import re

import programs

NET = """import torch.nn as nn

class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)

    def forward(self, x):
        return x + self.down(nn.functional.gelu(self.up(x)))

class Net(nn.Module):
    def __init__(self, depth=4, width=64):
        super().__init__()
        self.blocks = nn.ModuleList([Block(width) for _ in range(depth)])
        self.head = nn.Linear(width, HEAD)

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return self.head(x)
"""


class CompareTest(programs.ServedTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.old = cls.saved("old/net.py", 10)
        cls.new = cls.saved("new/net.py", 20000)

    @classmethod
    def question(cls, name, head):
        path = os.path.join(cls.folder.name, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write(NET.replace("HEAD", str(head)))
        return path, "--entry", "Net()", "--input", "32x64", "--target", cls.target

    @classmethod
    def saved(cls, name, head, *flags):
        answer = programs.predict(cls.server, *cls.question(name, head), "--breakdown", *flags)
        assert answer.code == 0, answer.err
        path = os.path.join(cls.folder.name, name.replace("/", "-") + ".json")
        with open(path, "w") as file:
            file.write(answer.out)
        return path

    def compare(self, *arguments):
        return programs.client("compare", *arguments)

    def test_json_has_the_question_and_the_device(self):
        with open(self.old) as file:
            saved = json.load(file)
        self.assertTrue(saved["model"].endswith("old/net.py"))
        self.assertEqual(
            (saved["entry"], saved["inputs"], saved["arch"], saved["method"]), ("Net()", ["32x64"], "", "forward")
        )
        targets = programs.client("targets", "--server", self.server.address, "--format", "json").json()["targets"]
        self.assertEqual(
            saved["predictions"][0]["device"],
            next(t["spec"]["device"] for t in targets if t["spec"]["name"] == self.target),
        )
        self.assertAlmostEqual(sum(row["latency_share"] for row in saved["predictions"][0]["breakdown"]), 1, places=9)

    def test_the_slower_module_is_named(self):
        answer = self.compare(self.old, self.new, "--min-confidence", "0")
        self.assertEqual(answer.code, 1, answer.err)
        self.assertRegex(answer.err, r"^\S+: \d+\.\d % slower; at most 5 % is allowed\n$")
        table = answer.out.splitlines()
        first = table[next(i for i, line in enumerate(table) if line.startswith("change ms")) + 1]
        self.assertRegex(first, r"^ *\+\d+\.\d{3} .* head$")
        self.assertEqual(self.compare(self.old, self.new, "--min-confidence", "0", "--max-increase", "100000%").code, 0)
        self.assertEqual(self.compare(self.new, self.old, "--min-confidence", "0").code, 0)

    def test_low_confidence_gives_no_verdict(self):
        with open(self.new) as file:
            unsure = json.load(file)
        unsure["predictions"][0].update(extrapolating=True, confidence=0.4)
        path = os.path.join(self.folder.name, "unsure.json")
        with open(path, "w") as file:
            json.dump(unsure, file)
        answer = self.compare(self.old, path)
        self.assertEqual(answer.code, 5)  # although it is slower too
        self.assertIn("too little is known to compare: the prediction for", answer.err)
        self.assertEqual(self.compare(self.old, path, "--min-confidence", "0.4").code, 1)
        answer = self.compare(self.old, path, "--min-confidence", "0.41")
        self.assertEqual(answer.code, 5)
        self.assertIn("confidence too low: 0.40", answer.err)

    def test_json_agrees_with_what_was_saved(self):
        answer = self.compare(self.old, self.new, "--format", "json", "--min-confidence", "0")
        self.assertEqual(answer.code, 1)
        target = answer.json()["targets"][0]
        with open(self.new) as file:
            self.assertEqual(target["new_latency_us"], json.load(file)["predictions"][0]["latency_us"])
        self.assertTrue(target["regressed"])
        self.assertFalse(answer.json()["same_network"])
        self.assertTrue(self.compare(self.old, self.old, "--format", "json").json()["same_network"])

    def test_a_baseline_is_compared_while_predicting(self):
        question = self.question("new/net.py", 20000)
        answer = programs.client(
            "predict", *question, "--server", self.server.address, "--baseline", self.old, "--min-confidence", "0"
        )
        self.assertEqual(answer.code, 1, answer.err)
        self.assertIn("new: this prediction", answer.out)
        answer = programs.predict(
            self.server, *question, "--baseline", self.old, "--max-increase", "100000%", "--min-confidence", "0"
        )
        self.assertEqual(answer.code, 0, answer.err)
        self.assertAlmostEqual(
            answer.json()["comparison"]["targets"][0]["new_latency_us"], answer.json()["predictions"][0]["latency_us"]
        )
        answer = programs.predict(self.server, *question, "--baseline", os.path.join(self.folder.name, "none.json"))
        self.assertEqual(answer.code, 2, answer.err)
        self.assertIn("none.json", answer.err)

    def test_the_hint_for_a_baseline_of_another_model_is_a_command_that_works(self):
        question = self.question("other/net3.py", 10)
        answer = programs.predict(self.server, *question, "--baseline", self.old)
        self.assertEqual(answer.code, 2, answer.err)
        command = re.search(r"then cobra-client (compare .*)", answer.err)[1].split()
        saved = os.path.join(self.folder.name, "new.json")
        with open(saved, "w") as file:
            file.write(programs.predict(self.server, *question).out)  # --format json
        answer = self.compare(*[saved if word == "new.json" else word for word in command[1:]], "--min-confidence", "0")
        self.assertEqual(answer.code, 0, answer.err)

    def test_what_cannot_be_compared_is_refused_with_its_name(self):
        other = self.saved("other/net2.py", 10)
        answer = self.compare(self.old, other)
        self.assertEqual(answer.code, 2, answer.err)
        self.assertIn("model is net.py in", answer.err)
        self.assertEqual(self.compare(self.old, other, "--different-models", "--min-confidence", "0").code, 0)
        self.assertEqual(self.compare(self.old, os.path.join(programs.SOURCE, "README.md")).code, 2)
        self.assertEqual(self.compare(self.old).code, 2)
        answer = self.compare(self.old, self.new, "--max-increase", "0.05")
        self.assertEqual(answer.code, 2)
        self.assertIn("--max-increase 5%", answer.err)


if __name__ == "__main__":
    programs.main()
