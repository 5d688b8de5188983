#!/usr/bin/env python3
"""The closed loop, with the real programs: a question about layers that the model does not know, a
worker that measures them, a refit, the gate, a reload, and a better answer. scripts/demo-learn.sh
does it and fails where the answer is not surer and closer; here its words are read too."""
import os
import re
import subprocess
import unittest

import programs


class LearnTest(unittest.TestCase):
    def test_the_same_question_has_a_better_answer_afterwards(self):
        script = os.path.join(programs.SOURCE, "scripts", "demo-learn.sh")
        run = subprocess.run(
            [script, "--seconds", "240", "--busy"],
            capture_output=True,
            text=True,
            timeout=800,
            env={**os.environ, "COBRA_BIN": programs.BIN},
        )
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        lines = dict(re.findall(r"^(before|after) +(predicted .*)$", run.stdout, re.MULTILINE))
        self.assertEqual(set(lines), {"before", "after"}, run.stdout)
        number = {when: [float(n) for n in re.findall(r"\d+\.\d+", text)] for when, text in lines.items()}
        for latency_ms, low_ms, high_ms, confidence, measured_ms in number.values():
            self.assertLess(low_ms, latency_ms)
            self.assertLess(latency_ms, high_ms)
            self.assertGreater(measured_ms, 0)
        self.assertLess(number["before"][3], 0.9)
        self.assertGreaterEqual(number["after"][3], 0.9)
        report = run.stderr
        self.assertRegex(report, r"new (layer|network) all +\d+")
        self.assertIn("\npassed\n", report)


if __name__ == "__main__":
    programs.main()
