#!/usr/bin/env python3
"""deploy/alerts.yml with the real promtool: the files are in order, and the alerts come and go as
tests/deploy/alerts.test.yml says."""
import os
import re
import shutil
import subprocess
import sys
import unittest

SOURCE = os.environ.get("COBRA_SOURCE", os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
DEPLOY = os.path.join(SOURCE, "deploy")


class AlertsTest(unittest.TestCase):
    def promtool(self, *arguments):
        run = subprocess.run(["promtool", *arguments], capture_output=True, text=True, timeout=60)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        return run.stdout

    def test_the_rules_are_in_order(self):
        self.assertIn(
            "11 rules found",
            self.promtool("check", "rules", "--lint=all", "--lint-fatal", os.path.join(DEPLOY, "alerts.yml")),
        )

    def test_the_configuration_finds_them(self):
        self.assertIn("1 rule files found", self.promtool("check", "config", os.path.join(DEPLOY, "prometheus.yml")))

    def test_alerts_come_and_go(self):
        self.promtool("test", "rules", os.path.join(SOURCE, "tests", "deploy", "alerts.test.yml"))

    def test_every_metric_is_one_of_ours(self):
        with open(os.path.join(DEPLOY, "alerts.yml")) as file:
            used = set(re.findall(r"cobra_[a-z_]+", file.read()))
        with open(os.path.join(SOURCE, "server", "lanes", "metrics.cc")) as file:
            ours = set(re.findall(r'"(cobra_[a-z_]+)"', file.read()))
        unknown = {name for name in used if name not in ours and re.sub("_(bucket|count|sum)$", "", name) not in ours}
        self.assertEqual(unknown, set())


if __name__ == "__main__":
    if shutil.which("promtool") is None:
        print("no promtool here")
        sys.exit(77)
    unittest.main(verbosity=2)
