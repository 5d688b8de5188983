#!/usr/bin/env python3
"""The snippets of docs/ci.md, run as they stand there: a change that makes the network slower fails, one that does not
passes."""
import os
import re
import subprocess

import yaml

import programs

NET = """import torch.nn as nn

class Net(nn.Module):
    def __init__(self, width=%d):
        super().__init__()
        self.stem = nn.Conv2d(3, width, 3, padding=1)
        self.body = nn.Sequential(*[nn.Sequential(nn.Conv2d(width, width, 3, padding=1), nn.ReLU()) for _ in range(3)])
        self.head = nn.Linear(width, 10)

    def forward(self, x):
        return self.head(self.body(self.stem(x)).mean((2, 3)))
"""


def snippet(language):
    with open(os.path.join(programs.SOURCE, "docs", "ci.md")) as file:
        found = re.findall(rf"^```{language}\n(.*?)^```", file.read(), re.M | re.S)
    assert len(found) == 1, f"{len(found)} snippets in {language}"
    return found[0]


class CiTest(programs.ServedTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.environment = dict(
            os.environ,
            PATH=programs.BIN + ":" + os.environ["PATH"],
            GIT_CONFIG_GLOBAL="/dev/null",
            GIT_CONFIG_SYSTEM="/dev/null",
        )

    def bash(self, script, cwd, *arguments):
        return programs.Answer(
            subprocess.run(
                ["bash", "-e", "-o", "pipefail", "-c", script, "snippet", *arguments],
                cwd=cwd,
                env=self.environment,
                capture_output=True,
                text=True,
                timeout=300,
            )
        )

    def write(self, path, width):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write(NET % width)

    def test_shell(self):
        def git(*arguments):
            subprocess.run(
                ["git", "-c", "user.name=t", "-c", "user.email=t@t", *arguments],
                cwd=repository,
                env=self.environment,
                check=True,
                capture_output=True,
            )

        repository = os.path.join(self.folder.name, "repository")
        self.write(os.path.join(repository, "net.py"), 16)
        git("init", "--quiet")
        git("add", "net.py")
        git("commit", "--quiet", "-m", "net")
        git("update-ref", "refs/remotes/origin/main", "HEAD")
        same = self.bash(snippet("bash"), repository, self.server.address)
        self.assertEqual(same.code, 0, same.err)
        self.assertIn("the networks are the same", same.out)
        self.write(os.path.join(repository, "net.py"), 48)
        slower = self.bash(snippet("bash"), repository, self.server.address)
        self.assertEqual(slower.code, 1, slower.err)
        self.assertIn("slower than the 5 % allowed", slower.out)
        self.assertIn("body.", slower.out)
        self.assertEqual(
            subprocess.run(["git", "worktree", "list"], cwd=repository, capture_output=True, text=True).stdout.count(
                "\n"
            ),
            1,
        )

    def test_github_actions(self):
        steps = yaml.safe_load(snippet("yaml"))["jobs"]["latency"]["steps"]
        checkouts = [step["with"]["path"] for step in steps if step.get("uses", "").startswith("actions/checkout@")]
        self.assertEqual(checkouts, ["new", "old"])
        commands = [
            step["run"].replace("${{ vars.LATENCY_SERVER }}", self.server.address) for step in steps if "run" in step
        ]
        for width, expected in ((16, 0), (48, 1)):
            workspace = os.path.join(self.folder.name, f"workspace-{width}")
            for path in checkouts:
                self.write(os.path.join(workspace, path, "net.py"), width if path == "new" else 16)
            codes = []
            for command in commands:  # the first that fails ends the job
                codes.append(self.bash(command, workspace).code)
                if codes[-1] != 0:
                    break
            self.assertEqual(codes, [0] * (len(commands) - 1) + [expected])


if __name__ == "__main__":
    programs.main()
