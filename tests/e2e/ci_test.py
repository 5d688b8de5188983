#!/usr/bin/env python3
"""The recipes of docs/ci.md, their commands run as they stand there: a change that makes the
network slower fails, one that does not passes."""
import os
import re
import shutil
import subprocess

import yaml

import programs

EXAMPLE = os.path.join(programs.SOURCE, "examples", "ci")


def snippets():
    """By the first line or, where that is a comment with a file's name, by the name."""
    with open(os.path.join(programs.SOURCE, "docs", "ci.md")) as file:
        found = re.findall(r"^```\w*\n(.*?)^```", file.read(), re.M | re.S)
    return {text.split("\n", 1)[0].lstrip("# "): text for text in found}


class CiTest(programs.ServedTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.environment = dict(
            os.environ,
            PATH=programs.BIN + ":" + os.environ["PATH"],
            GIT_CONFIG_GLOBAL="/dev/null",
            GIT_CONFIG_SYSTEM="/dev/null",
            COBRA_SERVER=cls.server.address,
        )
        cls.repository = os.path.join(cls.folder.name, "repository")
        os.makedirs(cls.repository)
        cls.git("init", "--quiet", "--initial-branch", "topic")
        for commit in ("base", "harmless", "regression"):
            shutil.copytree(os.path.join(EXAMPLE, commit), cls.repository, dirs_exist_ok=True)
            if commit == "harmless":
                os.remove(os.path.join(cls.repository, "tagger.py"))
            cls.git("add", "--all")
            cls.git("commit", "--quiet", "--message", commit)
            cls.git("tag", commit)

    @classmethod
    def git(cls, *arguments):
        user = ("-c", "user.name=t", "-c", "user.email=t@t")
        subprocess.run(
            ["git", *user, *arguments], cwd=cls.repository, env=cls.environment, check=True, capture_output=True
        )

    def bash(self, script, **variables):
        return programs.Answer(
            subprocess.run(
                ["bash", "-e", "-o", "pipefail", "-c", script],
                cwd=self.repository,
                env=dict(self.environment, **variables),
                capture_output=True,
                text=True,
                timeout=300,
            )
        )

    def codes(self, script, **variables):
        """Of a branch with a harmless commit, and of one with a regression; origin/main is where
        they begin."""
        codes = []
        for base, topic in (("base", "harmless"), ("harmless", "regression")):
            self.git("checkout", "--quiet", "--force", topic)
            self.git("update-ref", "refs/remotes/origin/main", base)
            answer = self.bash(script, **variables)
            self.assertIn(answer.code, (0, 1), answer.err)
            codes.append(answer.code)
        return codes

    def written(self, name):
        with open(os.path.join(self.repository, name)) as file:
            return file.read()

    def test_the_command(self):
        self.assertEqual(self.codes(snippets()["cobra-client check --against origin/main..."]), [0, 1])

    def test_the_suite_file(self):
        self.git("checkout", "--quiet", "--force", "base")
        with open(os.path.join(self.repository, "snippet.toml"), "w") as file:
            file.write(snippets()["[defaults]"])
        answer = self.bash("cobra-client check snippet.toml")
        self.assertEqual(answer.code, 0, answer.err)
        self.assertIn("tagger", answer.out)

    def test_the_output_is_a_real_one(self):
        printed = next(text for first, text in snippets().items() if first.startswith("old: "))
        self.git("checkout", "--quiet", "--force", "regression")
        answer = self.bash("cobra-client check --against HEAD~1")
        # The numbers are those of the weights of then.
        ours = [re.sub(r"[\d.]+|\s+|\(\w{8}\)", " ", line).split() for line in answer.out.splitlines()]
        rows = [line for line in printed.splitlines() if re.match("old|new|model|classifier|tagger", line)]
        self.assertEqual(len(rows), 8)
        for row in rows:
            self.assertIn(re.sub(r"[\d.]+|\s+|\(\w{8}\)", " ", row).split(), ours)

    def test_github_actions(self):
        steps = yaml.safe_load(snippets()["latency.yml without the action"])["jobs"]["latency"]["steps"]
        check = next(step for step in steps if "cobra-client" in step.get("run", ""))
        self.assertEqual(check["env"], {"BASE": "${{ github.base_ref }}"})
        self.assertEqual(self.codes(check["run"], BASE="main"), [0, 1])
        uploaded = next(step["with"]["sarif_file"] for step in steps if "sarif" in step.get("uses", ""))
        self.assertIn('"slower-line"', self.written(uploaded))
        self.assertIn("--body-file latency.md", next(step["run"] for step in steps if "gh pr" in step.get("run", "")))
        self.assertTrue(self.written("latency.md").startswith("<!-- cobra-client -->"))

    def test_gitlab(self):
        job = yaml.safe_load(snippets()[".gitlab-ci.yml without the component"])["latency"]
        codes = self.codes("\n".join(job["script"]), CI_MERGE_REQUEST_DIFF_BASE_SHA="HEAD~1")
        self.assertEqual(codes, [0, 1])
        for name in job["artifacts"]["paths"] + list(job["artifacts"]["reports"].values()):
            self.assertTrue(self.written(name))

    def test_hosted_runners(self):
        """The short recipes name what there is; ci_action_test.py runs it."""
        text = snippets()[".github/workflows/latency.yml"]
        self.assertLessEqual(len(text.splitlines()), 12)
        *_, checkout, action = yaml.safe_load(text)["jobs"]["latency"]["steps"]
        self.assertEqual(checkout["with"]["fetch-depth"], 2)
        self.assertTrue(action["uses"].startswith("OWNER/cobra@"))
        (included,) = yaml.safe_load(snippets()[".gitlab-ci.yml"])["include"]
        name = included["component"].split("/")[-1].split("@")[0]
        self.assertTrue(os.path.exists(os.path.join(programs.SOURCE, "templates", name, "template.yml")))
        (repository,) = yaml.safe_load(snippets()[".pre-commit-config.yaml"])["repos"]
        with open(os.path.join(programs.SOURCE, ".pre-commit-hooks.yaml")) as file:
            offered = [hook["id"] for hook in yaml.safe_load(file)]
        self.assertEqual([hook["id"] for hook in repository["hooks"]], offered)

    def test_pre_commit(self):
        (hook,) = yaml.safe_load(snippets()[".pre-commit-config.yaml of one's own"])["repos"][0]["hooks"]
        for before, after, expected in (("base", "harmless", 0), ("harmless", "regression", 1)):
            self.git("checkout", "--quiet", "--force", after)
            self.git("reset", "--quiet", "--soft", before)  # now it is about to be committed
            self.assertEqual(self.bash(hook["entry"]).code, expected)
        for name, fits in (("cobra.toml", True), ("a/net.py", True), ("net.onnx", True), ("README.md", False)):
            self.assertEqual(re.search(hook["files"], name) is not None, fits, name)

    def test_diff(self):
        self.git("checkout", "--quiet", "--force", "regression")
        question = '--entry "Classifier(10)" --input 1x3x64x64 --target cpu-epyc-genoa-1t --min-confidence 0'
        (commands,) = [text for first, text in snippets().items() if first.startswith("cobra-client diff")]
        for line in commands.splitlines():
            line = line.replace('--entry "Net()" --input 1x3x64x64', question)
            line = re.sub(r" \.\.\.( |$)", f" {question} ", line)
            for name, ours in (
                ("models/net.py", "classifier.py"),
                ("net.py", "classifier.py"),
                ("old.py", "classifier.py"),
                ("new.py", "classifier.py"),
                ("origin/main", "harmless"),
                ("v1.2", "base"),
                ("v1.3", "harmless"),
            ):
                line = line.replace(name, ours)
            answer = self.bash(line)
            self.assertIn(answer.code, (0, 1), line + answer.err)
            self.assertIn("classifier.py", answer.out)


if __name__ == "__main__":
    programs.main()
