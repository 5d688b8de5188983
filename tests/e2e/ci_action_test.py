#!/usr/bin/env python3
"""The GitHub Action, the GitLab component and the hook of pre-commit: their steps, run as a runner
runs them, on a repository in which a commit makes a network slower. Comments go to a local server
that answers as the host does.

Of the installed wheel (COBRA_TEST_WHEEL, default: in build/portable): the hook, and the action in a
bare root, a folder that COBRA_TEST_ROOT names, with git, Python and pip, such as those that
scripts/portable-roots.sh makes of Debian; only root may do that."""
import contextlib
import glob
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import unittest.mock

import yaml

import ci_runner
import programs

EXAMPLE = os.path.join(programs.SOURCE, "examples", "ci")
TOKEN = "a-token-of-a-test"
MARK = "<!-- cobra-client: latency -->\n"


def wheel():
    """The wheel with the programs, or None."""
    if "COBRA_TEST_WHEEL" in os.environ:
        return os.environ["COBRA_TEST_WHEEL"]
    found = sorted(glob.glob(os.path.join(programs.SOURCE, "build", "portable", "cobra_latency-*linux*x86_64.whl")))
    return found[-1] if found else None


def source(*path):
    with open(os.path.join(programs.SOURCE, *path)) as file:
        return file.read()


class Repository:
    """The example: `main` is at its first commit, `topic` at another, the checkout is their merge,
    as actions/checkout has it."""

    def __init__(self, path, topic):
        self.path = path
        os.makedirs(path)
        self.git("init", "--quiet", "--initial-branch", "main")
        self.base = self.commit("base")
        self.git("checkout", "--quiet", "-b", "topic")
        for name in {"base": (), "harmless": ("harmless",), "regression": ("harmless", "regression")}[topic]:
            self.head = self.commit(name)
        self.git("checkout", "--quiet", "main")
        self.git("merge", "--quiet", "--no-ff", "--message", "merge", "topic")
        self.merge = self.git("rev-parse", "HEAD")

    def git(self, *arguments):
        user = ("-c", "user.name=t", "-c", "user.email=t@t", "-c", "safe.directory=*")
        environment = dict(os.environ, GIT_CONFIG_GLOBAL="/dev/null", GIT_CONFIG_SYSTEM="/dev/null")
        return subprocess.run(
            ["git", *user, *arguments], cwd=self.path, env=environment, check=True, capture_output=True, text=True
        ).stdout.strip()

    def commit(self, name=None):
        if name:
            shutil.copytree(os.path.join(EXAMPLE, name), self.path, dirs_exist_ok=True)
            if name == "harmless":
                os.remove(self.file("tagger.py"))
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", name or "commit")
        return self.git("rev-parse", "HEAD")

    def file(self, name, text=None):
        path = os.path.join(self.path, name)
        if text is not None:
            with open(path, "w") as file:
                file.write(text)
        return path

    def pull_request(self, origin="o/r"):
        return {"pull_request": {"number": 7, "head": {"repo": {"full_name": origin}}, "base": {"sha": self.base}}}


class RunnerTest(programs.ServedTest):
    def setUp(self):
        self.work = tempfile.mkdtemp(dir=self.folder.name)
        self.host = ci_runner.GitHub(TOKEN)
        self.addCleanup(lambda: self.host.close())

    def repository(self, topic):
        return Repository(tempfile.mkdtemp(dir=self.work) + "/r", topic)

    def run_action(self, repository, event=None, code=0, root="", **inputs):
        """A run of the action on the event, by default the pull request's."""
        temporary = tempfile.mkdtemp(dir=root + "/tmp" if root else self.work)[len(root) :]
        with open(root + os.path.join(temporary, "event"), "w") as file:
            json.dump(repository.pull_request() if event is None else event, file)
        environment = {
            "PATH": "/usr/sbin:/usr/bin:/sbin:/bin" if root else programs.BIN + ":" + os.environ["PATH"],
            "HOME": temporary,
            "TOKEN": TOKEN,
            "no_proxy": "*",
            "GITHUB_ACTIONS": "true",
            "GITHUB_ACTION_PATH": "/tmp/action" if root else programs.SOURCE,
            "GITHUB_API_URL": self.host.address,
            "GITHUB_EVENT_PATH": os.path.join(temporary, "event"),
            "GITHUB_REPOSITORY": "o/r",
            "GITHUB_RUN_ID": "1",
            "GITHUB_SERVER_URL": "https://host",
            "GITHUB_SHA": repository.merge,
        }
        given = {name.replace("_", "-"): value for name, value in inputs.items()}
        if not root:
            given = {"version": "", "server": self.server.address, **given}
        run = ci_runner.Run(repository.path[len(root) :], temporary, environment, given, root).run()
        self.assertEqual(run.code, code, run.log)
        return run

    def check_regression(self, run):
        self.assertEqual(run.output("exit-code"), "1")
        self.assertGreater(float(run.output("worst-change")), 100)
        (body,) = [comment["body"] for comment in self.host.comments]
        self.assertTrue(body.startswith(MARK + "### Predicted latency: 2 slower than allowed, 1 over budget"), body)
        self.assertIn("https://host/o/r/actions/runs/1", body)
        self.assertIn("| `classifier` | `cpu-epyc-genoa-1t` |", run.file("summary"))
        (sarif,) = [given for action, given in run.used if action == "github/codeql-action/upload-sarif"]
        self.assertEqual((sarif["category"], sarif["token"]), ("latency", TOKEN))
        with open(run.outside(sarif["sarif_file"])) as file:
            log = json.load(file)
        self.assertEqual(log["version"], "2.1.0")  # check_test.py has the rest
        results = log["runs"][0]["results"]
        self.assertEqual({result["ruleId"] for result in results}, {"slower-line", "over-budget"})
        lines = source("examples", "ci", "regression", "layers.py").split("\n")
        line = lines.index("        y = self.convolution(x)") + 1
        self.assertIn(f"::error file=layers.py,line={line},title=slower-line::", "\n".join(run.commands("error")))

    def run_job(self, repository, inputs, code=0, root="", **variables):
        """What the job of the GitLab component prints."""
        job = ci_runner.gitlab_job(inputs)
        environment = {
            "HOME": self.work,
            "TMPDIR": "/tmp" if root else self.work,
            "no_proxy": "*",
            "GITLAB_CI": "true",
            "CI_API_V4_URL": self.host.address,
            "CI_JOB_URL": "https://host/job/1",
            "CI_MERGE_REQUEST_DIFF_BASE_SHA": repository.base,
            "CI_MERGE_REQUEST_IID": "7",
            "CI_MERGE_REQUEST_PROJECT_ID": "3",
            "CI_PROJECT_DIR": repository.path[len(root) :],
            "COBRA_GITLAB_TOKEN": TOKEN,
            **variables,
        }
        for name, value in job["variables"].items():
            environment[name] = re.sub(r"\$(\w+)", lambda m: environment.get(m[1], ""), value)
        command = ["sh", "-e", "-c", "\n".join(job["script"])]
        code_and_log = ci_runner.run_in(root, command, environment, environment["CI_PROJECT_DIR"])
        self.assertEqual(code_and_log[0], code, code_and_log[1])
        self.written = [*job["artifacts"]["paths"], *job["artifacts"]["reports"].values()]
        return code_and_log[1]


class ActionTest(RunnerTest):
    def test_a_regression_and_its_repair_are_one_comment(self):
        repository = self.repository("regression")
        self.host.add(MARK + "copied from the bot", login="mallory", kind="User")
        self.host.comments += [{"id": n, "body": None, "user": {"login": "x", "type": "User"}} for n in range(99)]
        theirs = self.host.comments[:]
        run = self.run_action(repository, code=1)
        self.host.comments = [comment for comment in self.host.comments if comment not in theirs]
        self.check_regression(run)
        self.host.comments = theirs + self.host.comments  # ours is on the second page
        self.run_action(repository, code=1)
        self.assertEqual(self.host.methods(), ["POST", "PATCH"])
        repaired = self.repository("harmless")
        run = self.run_action(repaired)
        self.assertEqual((run.output("exit-code"), run.output("worst-change")), ("0", "0.0"))
        self.assertEqual(self.host.methods(), ["POST", "PATCH", "PATCH"])
        ours = [comment for comment in self.host.comments if comment["user"]["type"] == "Bot"]
        self.assertEqual(len(ours), 1)
        self.assertIn("### Predicted latency: 4 unchanged", ours[0]["body"])
        self.assertEqual(theirs[0]["body"], MARK + "copied from the bot")

    def test_where_nothing_changes_there_is_no_comment(self):
        run = self.run_action(self.repository("harmless"))
        self.assertEqual(self.host.methods(), [])
        self.assertIn("All 4 are the same networks as before.", run.file("summary"))
        self.assertEqual(run.commands("error"), [])
        self.run_action(self.repository("harmless"), comment="always")
        self.assertEqual(self.host.methods(), ["POST"])
        self.run_action(self.repository("regression"), comment="never", code=1)
        self.assertEqual(self.host.methods(), ["POST"])

    def test_two_uses_have_two_comments(self):
        repository = self.repository("regression")
        for name in ("latency", "other models"):
            run = self.run_action(repository, name=name, code=1)
        self.assertEqual(self.host.methods(), ["POST", "POST"], run.log)
        run = self.run_action(repository, name="a --> b", code=1)
        self.assertIn("--name 'a --> b': use letters", "".join(run.commands("warning")))
        self.assertEqual(self.host.methods(), ["POST", "POST"])

    def test_a_fork_gets_a_summary(self):
        repository = self.repository("regression")
        for origin in ("mallory/r", None):  # None: the fork is gone
            event = repository.pull_request(origin)
            if origin is None:
                event["pull_request"]["head"]["repo"] = None
            run = self.run_action(repository, event, code=1)
            self.assertEqual(self.host.requests, [])
            self.assertIn("comes from a fork", "".join(run.commands("notice")))
            self.assertIn("slower than the 5 % allowed", run.file("summary"))

    def test_a_refused_comment_is_a_warning(self):
        for status, reason in ((403, "pull-requests: write"), (422, "try again later")):
            self.host.status = status
            run = self.run_action(self.repository("regression"), code=1)
            (warning,) = run.commands("warning")
            self.assertIn(f"HTTP {status}", warning)
            self.assertIn(reason, warning)
            self.assertEqual(run.output("exit-code"), "1")
        self.host.status = None
        self.host.token = "another"
        run = self.run_action(self.repository("harmless"), comment="always")
        self.assertIn("HTTP 401", run.commands("warning")[0])
        self.host.close()
        run = self.run_action(self.repository("harmless"), comment="always")
        self.assertIn("Connection refused", run.commands("warning")[0])
        self.host = ci_runner.GitHub(TOKEN)

    def shallow(self, repository, revision, depth):
        """What a checkout of some depth has of a repository."""
        clone = Repository.__new__(Repository)
        clone.__dict__.update(repository.__dict__, path=tempfile.mkdtemp(dir=self.work))
        repository.git("config", "uploadpack.allowAnySHA1InWant", "true")
        clone.git("init", "--quiet")
        clone.git("remote", "add", "origin", "file://" + repository.path)
        clone.git("fetch", "--quiet", f"--depth={depth}", "origin", revision)
        clone.git("checkout", "--quiet", "FETCH_HEAD")
        return clone

    def test_what_it_is_compared_with(self):
        repository = self.repository("regression")
        zeros = "0" * 40
        for event, revision, old in (
            (repository.pull_request(), repository.merge, repository.base),
            ({"before": repository.base}, repository.head, repository.base),
            ({"merge_group": {"base_sha": repository.base}}, repository.head, repository.base),
            ({"before": zeros}, repository.head, None),  # a new branch
            ({}, repository.head, None),  # workflow_dispatch, schedule
        ):
            with self.subTest(event=event):
                clone = self.shallow(repository, revision, 1)
                run = self.run_action(clone, event, code=1)
                with open(run.output("json")) as file:
                    report = json.load(file)
                self.assertIn(old[:8] if old else "", report["old"])
                self.assertEqual(bool(report["old"]), old is not None)
                self.assertEqual(run.output("worst-change") != "", old is not None)
        self.assertEqual(len(self.host.comments), 1)  # only the pull request has one
        run = self.run_action(repository, against="topic", only="tagger")
        self.assertEqual(run.output("worst-change"), "0.0")
        # A checkout of the change itself, whose history is there.
        repository.git("checkout", "--quiet", "topic")
        run = self.run_action(repository, code=1)
        self.assertIn(repository.base[:8], run.file("summary"))

    def test_a_commit_that_cannot_be_fetched(self):
        repository = self.repository("regression")
        clone = self.shallow(repository, repository.merge, 1)
        clone.git("remote", "set-url", "origin", "file:///nonexistent")
        run = self.run_action(clone, code=2)
        self.assertIn(f"{repository.base}: is not in this checkout", "".join(run.commands("error")))
        self.assertIn("fetch-depth: 2", "".join(run.commands("error")))
        self.run_action(self.shallow(repository, repository.merge, 2), code=1)

    def test_a_check_that_comes_to_no_report(self):
        repository = self.repository("harmless")
        run = self.run_action(repository, targets="nowhere", code=2)
        self.assertEqual((run.output("json"), run.output("worst-change"), run.used), ("", "", []))
        for text in (run.file("summary"), self.host.comments[0]["body"]):
            self.assertIn("not checked (exit code 2)", text)
            self.assertIn("nowhere: no such target", text)
        self.assertRegex("".join(run.commands("error")), "nowhere.*%0A")  # all lines are the annotation's
        self.run_action(repository, server="127.0.0.1:1", code=3)

    def test_inputs(self):
        repository = self.repository("regression")
        for inputs, said in (
            ({"cache": "yes"}, "cache: 'yes': must be true or false"),
            ({"comment": "no"}, "comment: 'no': must be always, changes or never"),
            ({"sarif": ""}, "sarif: '': must be"),
            ({"version": "0.2.0; true"}, "is no version"),
            ({"version": "0.2.0", "package": "none*.whl"}, "there is no such file"),
            ({"version": "0.2.0", "package": "-rrequirements.txt"}, "is no requirement"),
        ):
            run = self.run_action(repository, code=2, **inputs)
            self.assertIn(said, "".join(run.commands("error")))
        run = self.run_action(repository, only="tagger", sarif="false")
        self.assertNotIn("classifier", run.file("summary"))
        self.assertEqual(run.used, [])
        run = self.run_action(repository, targets="cpu-epyc-turin-1t", suite="cobra.toml", code=1)
        self.assertIn("cpu-epyc-turin-1t", run.file("summary"))
        os.makedirs(repository.file("sub folder"))
        self.run_action(repository, working_directory="sub folder", code=1)

    def test_nothing_of_the_change_is_run_or_obeyed(self):
        """Neither names of files and models nor modules beside them."""
        repository = self.repository("harmless")
        pwned = os.path.join(self.work, "pwned")
        name = f"$(touch {pwned})`touch {pwned}`"
        for module in ("json", "pip", "os", "urllib", "cobra_latency", "comment"):
            repository.file(module + ".py", f"open({pwned!r}, 'w')\n")
        suite = source("examples", "ci", "harmless", "cobra.toml") + "\n"
        broken = json.dumps("::error::" + name) + ']\nmodel = "missing.py"\nentry = "X()"\ninputs = ["1"]\n'
        repository.file("cobra.toml", suite + "[models." + broken)
        repository.commit()
        repository.merge = "another"
        run = self.run_action(repository, code=2)
        self.assertIn("::error::$(touch", run.log)
        for line in run.commands("error"):
            self.assertRegex(line, r"^::error file=cobra\.toml,line=\d+,title=unreadable-model::")
        self.run_action(repository, code=2, targets=name)
        self.run_action(repository, code=2, suite=name + ".toml")
        self.assertFalse(os.path.exists(pwned))
        self.assertNotIn(TOKEN, run.log)

    def test_a_folder_that_looks_like_a_repository(self):
        """git would take it for one, and run what its configuration names."""
        repository = self.repository("harmless")
        pwned = os.path.join(self.work, "pwned")
        os.makedirs(repository.file("models/objects"))
        os.makedirs(repository.file("models/refs"))
        repository.file("models/HEAD", "ref: refs/heads/main\n")
        remote = f'[remote "origin"]\n\turl = .\n\tuploadpack = "touch {pwned};"\n'
        repository.file("models/config", "[core]\n\trepositoryformatversion = 0\n\tbare = true\n" + remote)
        for folder in ("objects", "refs"):
            repository.file(f"models/{folder}/kept", "")
        repository.commit()
        repository.merge = "another"
        self.run_action(repository, working_directory="models")
        self.assertFalse(os.path.exists(pwned))

    def program(self, name, text):
        """A program of ours, alone in a folder."""
        folder = tempfile.mkdtemp(dir=self.work)
        with open(os.path.join(folder, name), "w") as file:
            file.write("#!/bin/sh\n" + text)
        os.chmod(os.path.join(folder, name), 0o755)
        return folder

    def test_what_the_program_prints_is_no_command(self):
        text = 'echo "::error::out"; echo "::warning::err" >&2; exit 6'
        with unittest.mock.patch.object(programs, "BIN", self.program("cobra-client", text)):
            run = self.run_action(self.repository("harmless"), code=6)
        self.assertIn("\n::error::out\n", run.log)
        self.assertEqual(run.commands("error"), ["::error title=cobra-latency::::warning::err"])
        self.assertEqual(run.commands("warning"), [])

    def test_a_checkout_of_another_user(self):
        if os.geteuid() != 0:
            self.skipTest("only root can give files to another user")
        repository = self.repository("regression")
        for folder, folders, files in os.walk(repository.path):
            for name in [".", *folders, *files]:
                os.lchown(os.path.join(folder, name), 12345, 12345)
        self.run_action(repository, code=1)

    def test_without_the_program(self):
        repository = self.repository("harmless")
        with unittest.mock.patch.object(programs, "BIN", "/nonexistent"):
            run = self.run_action(repository, code=2)
        self.assertIn("cobra-client is not on the runner's PATH", "".join(run.commands("error")))


class FilesTest(unittest.TestCase):
    def test_versions_are_this_one(self):
        version = re.search(r"project\(cobra VERSION ([0-9.]+)", source("CMakeLists.txt"))[1]
        self.assertEqual(yaml.safe_load(source("action.yml"))["inputs"]["version"]["default"], version)
        header = next(yaml.safe_load_all(source("templates", "check", "template.yml")))
        self.assertEqual(header["spec"]["inputs"]["version"]["default"], version)
        self.assertIn(f'dependencies = ["cobra-latency=={version}"]', source("pyproject.toml"))
        for used in re.findall(r"(?:/cobra@v|/check@v|cobra-latency==|rev: v)([0-9.]+[0-9])", source("docs", "ci.md")):
            self.assertEqual(used, version)

    def test_the_action_quotes_nothing_into_a_shell_and_pins_what_it_uses(self):
        for step in yaml.safe_load(source("action.yml"))["runs"]["steps"]:
            self.assertNotIn("${{", step.get("run", ""))
            if "uses" in step:
                self.assertRegex(step["uses"], r"@[0-9a-f]{40}$")
            if "GITHUB_TOKEN" in step.get("env", {}):  # only what comments has it
                self.assertIn("comment.py", step["run"])

    def test_the_hook_is_for_models(self):
        (hook,) = yaml.safe_load(source(".pre-commit-hooks.yaml"))
        names = {"cobra.toml": True, "a/cobra.toml": True, "net.py": True, "net.onnx": True, "README.md": False}
        for name, fits in {**names, "my-cobra.toml": False}.items():
            self.assertEqual(re.search(hook["files"], name) is not None, fits, name)


class GitLabTest(RunnerTest):
    def setUp(self):
        super().setUp()
        self.host = ci_runner.GitLab(TOKEN)
        # pip, as the job calls it: it puts the programs where they are asked for.
        tools = os.path.join(self.work, "tools")
        os.makedirs(tools)
        with open(os.path.join(tools, "pip"), "w") as file:
            file.write(
                '#!/bin/sh\nset -e\nwhile [ "$1" != --target ]; do shift; done\necho "installs $3"\n'
                f'mkdir -p "$2/bin" "$2/cobra_latency"\nln -s {programs.BIN}/cobra-client "$2/bin"\n'
                f'ln -s {programs.SOURCE}/client/python/cobra_latency/comment.py "$2/cobra_latency"\n'
            )
        os.chmod(os.path.join(tools, "pip"), 0o755)
        self.path = tools + ":" + os.environ["PATH"]

    def run_job(self, repository, inputs=None, **options):
        job = {"server": self.server.address, **(inputs or {})}
        return super().run_job(repository, job, PATH=self.path, **options)

    def test_a_regression_and_its_repair(self):
        repository = self.repository("regression")
        self.host.add(MARK + "copied", author=6)
        for _ in range(2):
            log = self.run_job(repository, code=1)
            self.assertIn("slower than the 5 % allowed", log)
        self.assertIn("installs cobra-latency==", log)
        for name in self.written:
            self.assertTrue(os.path.getsize(repository.file(name)), name)
        with open(repository.file("latency.code-quality.json")) as file:
            for entry in json.load(file):
                self.assertTrue(os.path.exists(repository.file(entry["location"]["path"])))
        self.assertEqual(self.host.methods(), ["POST", "PUT"])
        self.assertTrue(self.host.comments[1]["body"].startswith(MARK + "### Predicted latency: 2 slower"))
        self.run_job(self.repository("harmless"))
        self.assertIn("4 unchanged", self.host.comments[1]["body"])
        self.assertEqual(self.host.comments[0]["body"], MARK + "copied")

    def test_no_comment(self):
        harmless, slower = self.repository("harmless"), self.repository("regression")
        self.assertIn("nothing has changed", self.run_job(harmless))
        self.assertIn("COBRA_GITLAB_TOKEN is not set", self.run_job(slower, code=1, COBRA_GITLAB_TOKEN=""))
        self.assertNotIn("omment", self.run_job(slower, {"comment": "never"}, code=1))
        self.assertIn("no merge request", self.run_job(slower, code=1, CI_MERGE_REQUEST_IID=""))
        self.assertEqual(self.host.methods(), [])
        self.run_job(harmless, {"comment": "always"})
        self.assertEqual(self.host.methods(), ["POST"])
        self.assertIn("scope `api`", self.run_job(slower, code=1, COBRA_GITLAB_TOKEN="wrong"))

    def test_inputs(self):
        repository = self.repository("regression")
        self.assertIn("installs other.whl", self.run_job(repository, {"package": "other.whl"}, code=1))
        self.assertNotIn("classifier", self.run_job(repository, {"only": "tagger"}))
        self.assertIn("cpu-epyc-turin-1t ", self.run_job(repository, {"targets": "cpu-epyc-turin-1t"}, code=1))
        self.assertNotIn("old:", self.run_job(repository, {"against": ""}, code=1))
        self.run_job(repository, {"suite": "$(exit 9)"}, code=2)


def all_in(root):
    """The processes in another root: the server that a client has started there, and its readers."""
    found = []
    for link in glob.glob("/proc/[0-9]*/root"):
        with contextlib.suppress(OSError):  # it has ended, or is not ours
            if os.readlink(link) == os.path.realpath(root):
                found.append(int(link.split("/")[2]))
    return found


def leave(root, kept):
    """Ends all that runs in a root, and removes what is new in its /tmp."""
    deadline = time.monotonic() + 60
    while all_in(root) and time.monotonic() < deadline:
        for process in all_in(root):
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGTERM)
        time.sleep(0.1)
    for name in set(os.listdir(os.path.join(root, "tmp"))) - set(kept):
        shutil.rmtree(os.path.join(root, "tmp", name))


class InstalledTest(RunnerTest):
    """With the wheel, as it is installed for users."""

    def setUp(self):
        super().setUp()
        if wheel() is None:
            self.skipTest("no wheel with programs in build/portable: scripts/build-portable.sh")

    def test_the_hook(self):
        """By the real pre-commit, which installs it."""
        if not shutil.which("pre-commit"):
            self.skipTest("pre-commit is not installed: apt install pre-commit")
        hooks = Repository(os.path.join(self.work, "hooks"), "base")
        for name in ("pyproject.toml", ".pre-commit-hooks.yaml"):
            shutil.copy(os.path.join(programs.SOURCE, name), hooks.path)
        revision = hooks.commit()
        wheels = os.path.join(self.work, "wheels")
        os.makedirs(wheels)
        shutil.copy(wheel(), wheels)
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "-d", wheels, "setuptools", wheel()]
        if subprocess.run(pip, capture_output=True).returncode != 0:
            self.skipTest("pip finds no setuptools, grpcio and protobuf")
        repository = self.repository("harmless")
        hook = {"repo": hooks.path, "rev": revision, "hooks": [{"id": "cobra-check"}]}
        repository.file(".pre-commit-config.yaml", yaml.safe_dump({"repos": [hook]}))
        repository.commit()
        environment = dict(
            os.environ,
            PIP_NO_INDEX="1",
            PIP_FIND_LINKS=wheels,
            PRE_COMMIT_HOME=os.path.join(self.work, "cache"),
            COBRA_SERVER=self.server.address,
        )
        for topic, code in (("harmless", 0), ("regression", 1)):
            shutil.copytree(os.path.join(EXAMPLE, topic), repository.path, dirs_exist_ok=True)
            repository.git("add", "--all")
            done = subprocess.run(
                ["pre-commit", "run", "--files", "layers.py"],
                cwd=repository.path,
                env=environment,
                capture_output=True,
                text=True,
            )
            self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        self.assertIn("slower than the 5 % allowed", done.stdout)

    def bare_root(self):
        """The root, and in it the example with the wheel."""
        if not os.environ.get("COBRA_TEST_ROOT") or os.geteuid() != 0:
            self.skipTest("COBRA_TEST_ROOT names no root to try it in, or this is not root")
        root = os.path.abspath(os.environ["COBRA_TEST_ROOT"])
        self.addCleanup(leave, root, os.listdir(os.path.join(root, "tmp")))
        work = tempfile.mkdtemp(dir=os.path.join(root, "tmp"))
        repository = Repository(os.path.join(work, "r"), "regression")
        shutil.copy(wheel(), repository.path)
        repository.commit()
        return root, repository

    def test_the_action_on_a_bare_root(self):
        root, repository = self.bare_root()
        action = os.path.join(root, "tmp", "action")
        for name in ("scripts/ci/github_action.py", "client/python/cobra_latency/comment.py"):
            os.makedirs(os.path.dirname(os.path.join(action, name)))
            shutil.copy(os.path.join(programs.SOURCE, name), os.path.join(action, name))
        self.check_regression(self.run_action(repository, code=1, root=root, package="*.whl"))

    def test_the_component_on_a_bare_root(self):
        root, repository = self.bare_root()
        self.host = ci_runner.GitLab(TOKEN)
        inputs = {"package": os.path.basename(wheel())}
        environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": os.path.dirname(repository.path)[len(root) :]}
        self.run_job(repository, inputs, code=1, root=root, **environment)
        for name in self.written:
            self.assertTrue(os.path.getsize(repository.file(name)), name)
        self.assertEqual(self.host.methods(), ["POST"])


if __name__ == "__main__":
    programs.main()
