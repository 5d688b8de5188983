#!/usr/bin/env python3
"""`cobra-client check` and `diff` over real git repositories: regressions are found and named in
every format, changes that leave the network as it is are not, and nothing of the user's checkout is
touched."""
import json
import os
import shutil
import subprocess
import tempfile
import urllib.parse
import xml.etree.ElementTree as xml

import programs

EXAMPLE = os.path.join(programs.SOURCE, "examples", "ci")
FORMATS = ("table", "json", "markdown", "junit", "sarif", "code-quality", "github-benchmark", "bencher")
NET = """import torch.nn as nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Conv2d(3, WIDTH, 3)

    def forward(self, x):
        return self.body(x)
"""


def read(path):
    with open(path) as file:
        return file.read()


class Repository:
    def __init__(self, path):
        self.path = path
        os.makedirs(path)
        self.git("init", "--quiet", "--initial-branch", "main")

    def git(self, *arguments):
        environment = dict(os.environ, GIT_CONFIG_GLOBAL="/dev/null", GIT_CONFIG_SYSTEM="/dev/null")
        user = ("-c", "user.name=t", "-c", "user.email=t@t")
        return subprocess.run(
            ["git", *user, *arguments], cwd=self.path, env=environment, check=True, capture_output=True, text=True
        ).stdout

    def write(self, **files):
        for name, text in files.items():
            path = os.path.join(self.path, name.replace("__", "/").replace("_toml", ".toml").replace("_py", ".py"))
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w") as file:
                file.write(text)

    def commit(self, message="commit"):
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", message)
        return self.git("rev-parse", "HEAD").strip()

    def state(self):
        """Of the checkout, as git and its files tell it."""
        return self.git("status", "--porcelain", "--branch"), self.git("worktree", "list"), self.git("stash", "list")


class CheckTest(programs.ServedTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.temporary = tempfile.TemporaryDirectory()
        os.environ["TMPDIR"] = cls.temporary.name

    @classmethod
    def tearDownClass(cls):
        del os.environ["TMPDIR"]
        cls.temporary.cleanup()
        super().tearDownClass()

    def tearDown(self):
        self.assertEqual(os.listdir(self.temporary.name), [])  # no version of the files is left behind

    def repository(self, name):
        return Repository(os.path.join(self.folder.name, name))

    def suite(self, *models, head=""):
        return f'[defaults]\ntargets = ["{self.target}"]\nmin-confidence = 0\n{head}\n' + "\n".join(models)

    def model(self, name, file="net.py", entry="Net()", size=32, more=""):
        quoted = json.dumps(name, ensure_ascii=False)
        return f'[models.{quoted}]\nmodel = "{file}"\nentry = "{entry}"\ninputs = ["1x3x{size}x{size}"]\n{more}\n'

    def client(self, command, repository, *arguments, code=0, cwd=""):
        answer = programs.client(
            command, *arguments, "--server", self.server.address, cwd=os.path.join(repository.path, cwd)
        )
        self.assertEqual(answer.code, code, answer.err + answer.out)
        return answer

    def check(self, repository, *arguments, **options):
        return self.client("check", repository, *arguments, **options)

    def statuses(self, repository, *arguments, code=0):
        answer = self.check(repository, "--format", "json", *arguments, code=code).json()
        return {m["model"]: (m["status"], " ".join(m["notes"])) for m in answer["models"]}

    def diff(self, repository, *arguments, **options):
        question = ("--entry", "Net()", "--input", "1x3x32x32", "--target", self.target, "--min-confidence", "0")
        return self.client("diff", repository, *arguments, *question, **options)

    def example(self, name):
        repository = self.repository(name)
        for commit in ("base", "harmless", "regression"):
            shutil.copytree(os.path.join(EXAMPLE, commit), repository.path, dirs_exist_ok=True)
            if commit == "harmless":
                os.remove(os.path.join(repository.path, "tagger.py"))
            repository.commit(commit)
        return repository

    def test_the_example(self):
        repository = self.example("example")
        repository.git("checkout", "--quiet", "HEAD~1")
        before = repository.state()
        answer = self.check(repository, "--against", "HEAD~1")
        self.assertEqual(answer.out.count("same network"), 4, answer.out)
        self.assertIn("tagger: its file was tagger.py", answer.out)
        self.assertEqual(repository.state(), before)
        repository.git("checkout", "--quiet", "main")
        answer = self.check(repository, "--against", "HEAD~1", code=1)
        self.assertIn("slower than the 5 % allowed", answer.out)
        self.assertIn("over the budget of 4 ms", answer.out)
        self.assertEqual(answer.out.count("same network"), 2, answer.out)
        # The models are unchanged: the slower line is in the file that they share.
        lines = read(os.path.join(repository.path, "layers.py")).split("\n")
        line = lines.index("        y = self.convolution(x)")
        self.assertIn(f"layers.py:{line + 1}", answer.out)

    def test_every_format_of_the_example(self):
        repository = self.example("formats")
        reports = {format: os.path.join(self.folder.name, "report." + format) for format in FORMATS}
        flags = [part for format, path in reports.items() for part in ("--report", f"{format}={path}")]
        printed = self.check(repository, "--against", "HEAD~1", *flags, code=1).out
        text = {format: read(path) for format, path in reports.items()}
        self.assertEqual(text["table"], printed)
        for format in FORMATS:
            again = self.check(repository, "--against", "HEAD~1", "--format", format, code=1).out
            self.assertEqual(again.strip(), text[format].strip())
        self.check_sarif(json.loads(text["sarif"]), repository)
        self.check_code_quality(json.loads(text["code-quality"]), repository)
        suite = xml.fromstring(text["junit"]).find("testsuite")
        self.assertEqual([suite.get(n) for n in ("tests", "failures", "errors", "skipped")], ["4", "2", "0", "0"])
        self.assertEqual({case.get("classname") for case in suite}, {"classifier", "tagger"})
        for entry in json.loads(text["github-benchmark"]):
            self.assertEqual({type(entry[k]) for k in ("name", "unit", "range", "extra")}, {str})
            self.assertGreater(entry["value"], 0)
        benchmarks = json.loads(text["bencher"])
        self.assertEqual(len(benchmarks), 4)
        for measures in benchmarks.values():
            latency = measures["latency"]
            self.assertLess(latency["lower_value"], latency["value"])
            self.assertLess(latency["value"], latency["upper_value"])
        self.assertIn("| `classifier` | `cpu-epyc-genoa-1t` |", text["markdown"])
        self.assertEqual(text["markdown"].count("<details>"), text["markdown"].count("</details>"))

    def check_code_quality(self, issues, repository):
        """What GitLab asks of each issue."""
        self.assertEqual(len({issue["fingerprint"] for issue in issues}), len(issues))
        self.assertTrue(issues)
        for issue in issues:
            self.assertIn(issue["severity"], ("info", "minor", "major", "critical", "blocker"))
            self.assertTrue(issue["description"] and issue["check_name"])
            with open(os.path.join(repository.path, issue["location"]["path"])) as lines:
                self.assertLessEqual(issue["location"]["lines"]["begin"], len(lines.readlines()))

    def check_sarif(self, log, repository):
        """The rules of SARIF 2.1.0 and of code scanning that concern such a file."""
        self.assertEqual(log["version"], "2.1.0")
        self.assertTrue(log["$schema"].startswith("https://"))
        (run,) = log["runs"]
        driver = run["tool"]["driver"]
        self.assertTrue(driver["name"])
        identities = [rule["id"] for rule in driver["rules"]]
        self.assertEqual(len(set(identities)), len(identities))
        for rule in driver["rules"]:
            for part in ("shortDescription", "fullDescription", "help"):
                self.assertTrue(rule[part]["text"])
        self.assertTrue(run["results"])
        for result in run["results"]:
            self.assertEqual(identities[result["ruleIndex"]], result["ruleId"])
            self.assertIn(result["level"], ("none", "note", "warning", "error"))
            self.assertTrue(result["message"]["text"])
            (location,) = result["locations"]
            place = location["physicalLocation"]
            file = urllib.parse.unquote(place["artifactLocation"]["uri"])
            with open(os.path.join(repository.path, file)) as lines:
                self.assertLessEqual(place["region"]["startLine"], len(lines.readlines()))

    def test_new_renamed_and_gone(self):
        repository = self.repository("changes")
        net = NET.replace("WIDTH", "16")
        repository.write(
            cobra_toml=self.suite(
                self.model("a"), self.model("b", "b.py"), self.model("c", "c.py"), self.model("kept")
            ),
            net_py=net,
            b_py=net + "# b\n" * 9,
            c_py=net,
        )
        repository.commit()
        # b's file moves and its class is renamed; c goes; d comes; a takes another name with its
        # file.
        os.remove(os.path.join(repository.path, "b.py"))
        os.remove(os.path.join(repository.path, "c.py"))
        repository.write(
            cobra_toml=self.suite(
                self.model("a2"),
                self.model("b", "models/b.py", "Network()"),
                self.model("d", "d.py"),
                self.model("kept", size=48),
            ),
            models__b_py=net.replace("class Net", "class Network") + "# b\n" * 9,
            d_py="import torch\n\n\nNet = lambda: torch.nn.Sequential(torch.nn.Conv2d(3, 4, 5), torch.nn.ReLU())\n",
        )
        found = self.statuses(repository, "--against", "HEAD", code=1)  # an input that grew takes longer
        self.assertEqual(
            {name: status for name, (status, _) in found.items()},
            {"a2": "compared", "b": "compared", "d": "new", "kept": "compared", "c": "gone"},
        )
        self.assertIn("renamed from a", found["a2"][1])
        self.assertIn("its file was b.py", found["b"][1])
        self.assertIn("entry is Net() in HEAD", found["b"][1])
        self.assertIn('inputs is ["1x3x32x32"] in HEAD', found["kept"][1])
        self.assertEqual(self.statuses(repository, "--against", "HEAD", "--only", "a2,d").keys(), {"a2", "d"})

    def test_a_suite_that_comes_with_the_change(self):
        repository = self.repository("adopted")
        repository.write(net_py=NET.replace("WIDTH", "16"))
        repository.commit()
        repository.git("mv", "net.py", "moved.py")
        repository.write(
            cobra_toml=self.suite(self.model("moved", "moved.py"), self.model("other", "other.py")),
            other_py=NET.replace("WIDTH", "16").replace("class Net", "# no other\nclass Net"),
        )
        repository.git("add", "moved.py")
        found = self.statuses(repository, "--against", "HEAD")
        self.assertEqual(found["moved"], ("compared", "its file was net.py"))
        self.assertIn(found["other"][0], ("new", "compared"))  # git may call it a copy of net.py

    def test_models_that_cannot_be_read(self):
        repository = self.repository("unreadable")
        net = NET.replace("WIDTH", "16")
        models = [self.model("mended", "mended.py"), self.model("broken", "broken.py"), self.model("fine")]
        repository.write(cobra_toml=self.suite(*models), net_py=net, broken_py=net, mended_py="def (")
        repository.commit()
        repository.write(mended_py=net)
        found = self.statuses(repository, "--against", "HEAD")
        self.assertEqual(found["mended"][0], "new")
        self.assertIn("the old version cannot be read", found["mended"][1])
        repository.write(broken_py=net.replace("self.body(x)", "self.body(x, 1, 2, 3)"))
        answer = self.check(repository, "--against", "HEAD", "--format", "sarif", code=6)
        self.assertIn("broken: ", answer.err)
        self.check_sarif(answer.json(), repository)
        place = answer.json()["runs"][0]["results"][0]["locations"][0]["physicalLocation"]
        self.assertEqual(place["artifactLocation"]["uri"], "broken.py")
        self.assertGreater(place["region"]["startLine"], 5)
        self.assertEqual(self.statuses(repository, "--against", "HEAD", code=6)["fine"][0], "compared")

    def test_errors_of_the_old_version_name_it(self):
        repository = self.repository("old-error")
        repository.write(net_py=NET.replace("WIDTH", "16/0"))
        repository.commit()
        repository.write(net_py=NET.replace("WIDTH", "16"))
        answer = self.diff(repository, "net.py", code=6)
        self.assertIn("HEAD:net.py:6", answer.err)
        self.assertNotIn(self.temporary.name, answer.err)

    def test_a_file_outside_of_the_repository_is_noted(self):
        repository = self.repository("inside")
        outside = self.path("outside.py")
        with open(outside, "w") as net:
            net.write(NET.replace("WIDTH", "16"))
        os.symlink(outside, os.path.join(repository.path, "link.py"))
        models = (self.model("link", "link.py"), self.model("absolute", outside), self.model("own", "net.py"))
        repository.write(cobra_toml=self.suite(*models), net_py=NET.replace("WIDTH", "16"))
        repository.commit()
        answer = self.check(repository, "--against", "HEAD")
        for name in ("link", "absolute"):
            self.assertIn(f"{name}: the file is outside of the repository", answer.out)
        self.assertNotIn("own: the file is outside", answer.out)

    def test_odd_names(self):
        repository = self.repository("odd")
        names = ["a|b", 'c`<b>&"d"', "\u00e9\u4e2d", "@octocat #1", "../../x"]
        file = "na me 'é|[x].py"
        with open(os.path.join(repository.path, file), "w") as net:
            net.write(NET.replace("WIDTH", "16"))
        repository.write(cobra_toml=self.suite(*(self.model(name, file) for name in names)))
        repository.commit()
        with open(os.path.join(repository.path, file), "w") as net:
            net.write(NET.replace("WIDTH", "64"))
        report = {f: self.check(repository, "--against", "HEAD", "--format", f, code=1).out for f in FORMATS}
        self.assertEqual([model["model"] for model in json.loads(report["json"])["models"]], names)
        cases = xml.fromstring(report["junit"]).iter("testcase")
        self.assertEqual([case.get("classname") for case in cases], names)
        self.check_sarif(json.loads(report["sarif"]), repository)
        rows = [line for line in report["markdown"].splitlines() if line.startswith("| ") and "slower than" in line]
        self.assertEqual(len(rows), len(names))
        for row in rows:
            self.assertEqual(row.count("|"), 7, row)
        for name in ("new\nline", "\u001b]0;title\u0007"):
            repository.write(cobra_toml=self.suite(self.model(name, file)))
            refused = self.check(repository, "--against", "HEAD", code=2)
            self.assertIn("control characters", refused.err)
            self.assertNotIn("\u001b", refused.err)

    def test_diff_as_in_git(self):
        repository = self.repository("diff")
        repository.write(
            net_py="from width import WIDTH\n" + NET,
            width_py="WIDTH = 16\n",
            models__other_py=NET.replace("WIDTH", "8"),
        )
        one = repository.commit()
        repository.write(width_py="WIDTH = 64\n")
        two = repository.commit()
        # The file itself is the same in both: what it imports comes from its own revision.
        for arguments in (
            (one, "net.py"),
            (one, two, "net.py"),
            (one + "..." + two, "net.py"),
            (one + ":net.py", "net.py"),
            (one + ":net.py", two + ":net.py"),
        ):
            answer = self.diff(repository, *arguments, code=1)
            self.assertIn("slower than the 5 % allowed", answer.out)
        self.assertIn("same network", self.diff(repository, "net.py").out)
        self.assertIn("same network", self.diff(repository, two, "net.py").out)
        self.assertIn("faster", self.diff(repository, two, one, "net.py").out)
        self.assertIn("same network", self.diff(repository, "HEAD:net.py", "net.py", cwd="models/..").out)
        self.assertIn("same network", self.diff(repository, "HEAD", "other.py", cwd="models").out)
        self.assertIn("within the", self.diff(repository, one, "net.py", "--max-increase", "10000%").out)
        self.assertIn("within the noise", self.diff(repository, one, "net.py", "--noise", "10000%").out)
        both = self.diff(repository, one, "net.py", "--budget-ms", "0.0001", code=1)
        self.assertIn("slower than the 5 % allowed, over the budget of 0.0001 ms", both.out)
        # In a linked worktree.
        repository.git("worktree", "add", "--quiet", "--detach", "linked", one)
        self.assertIn("faster", self.diff(repository, "main", "net.py", cwd="linked").out)

    def test_diff_of_what_is_new_renamed_or_gone(self):
        repository = self.repository("moves")
        repository.write(net_py=NET.replace("WIDTH", "16"))
        one = repository.commit()
        repository.git("mv", "net.py", "moved.py")
        repository.write(added_py="# added\n" * 30 + NET.replace("WIDTH", "8").replace("self.body", "self.b"))
        two = repository.commit()
        self.assertIn("renamed from net.py", self.diff(repository, one, "moved.py").out)
        self.assertIn("renamed to moved.py", self.diff(repository, one, two, "net.py").out)
        self.assertIn("new", self.diff(repository, one, two, "added.py").out)
        self.assertIn("gone", self.diff(repository, two, one, "added.py").out)
        self.diff(repository, one, two, "added.py", "--budget-ms", "0.0001", code=1)
        self.assertIn("neither at", self.diff(repository, one, two, "none.py", code=2).err)

    def test_diff_of_two_files(self):
        repository = self.repository("files")
        repository.write(a_py=NET.replace("WIDTH", "16"), b_py=NET.replace("WIDTH", "64").replace("Net", "Net2"))
        question = ("--input", "1x3x32x32", "--target", self.target, "--min-confidence", "0")
        answer = self.client("diff", repository, "a.py", "b.py", *question, code=1)  # each has one model
        self.assertIn("entry is Net() in a.py and Net2() in b.py", answer.out)
        named = ("--entry", "Net2()", "--old-entry", "Net()")
        self.client("diff", repository, "a.py", "b.py", *question, *named, code=1)

    def test_usage_errors_and_a_server_that_is_gone(self):
        repository = self.repository("errors")
        repository.write(cobra_toml=self.suite(self.model("a")), net_py=NET.replace("WIDTH", "16"), sub__x_py="")
        repository.commit()
        self.check(repository, cwd="sub")  # found above
        for arguments, message in (
            (("--against", "nothing"), "nothing: is not a revision"),
            (("--against", ""), "--against"),  # an unset variable
            (("--only", "b"), "--only b: no such model"),
            (("--target", "nowhere"), "nowhere: no such target"),
            (("--target", "this-machine"), "calibrate` creates this-machine"),
            (("--report", "pdf=x"), "pdf is not a format"),
            (("--report", "sarif"), "names no file"),
            (("--report", "json=/nonexistent/x"), "/nonexistent/x"),
            (("none.toml",), "none.toml"),
        ):
            answer = self.check(repository, *arguments, code=2)
            self.assertIn(message, answer.err)
            self.assertNotIn("cannot be read", answer.out)  # that is not a fault of a model
        repository.write(cobra_toml=self.suite(self.model("a", more="bugdet-ms = 5")))
        self.assertRegex(self.check(repository, code=2).err, r"cobra\.toml:\d+:\d+: error: bugdet-ms.*(\n.*)*budget-ms")
        repository.write(cobra_toml=self.suite(self.model("a")))
        answer = programs.client("check", "--server", "127.0.0.1:1", "--deadline-s", "1", cwd=repository.path)
        self.assertEqual(answer.code, 3, answer.err)
        outside = tempfile.mkdtemp(dir=self.folder.name)
        answer = programs.client("check", "--server", self.server.address, cwd=outside)
        self.assertEqual(answer.code, 2)
        self.assertIn("cobra.toml: not found", answer.err)

    def test_reports_replace_nothing_of_value(self):
        repository = self.repository("replaced")
        repository.write(cobra_toml=self.suite(self.model("net")), net_py=NET.replace("WIDTH", "16"), layers_py="x = 1")
        repository.commit()
        clean = repository.state()
        for name in ("net.py", "cobra.toml", "layers.py"):
            for command, more in (("check", ()), ("diff", ("net.py",))):
                with self.subTest(name=name, command=command):
                    run = self.diff if command == "diff" else self.check
                    answer = run(repository, *more, "--report", f"markdown={name}", code=2)
                    self.assertIn(f"--report markdown={name}: ", answer.err)
        self.check(repository, "--report", "json=r.json", "--report", "markdown=./r.json", code=2)
        self.assertEqual(repository.state(), clean)
        self.check(repository, "--report", "json=r.json")
        self.check(repository, "--report", "json=r.json")

    def test_an_old_suite_with_an_error_is_no_failure(self):
        repository = self.repository("old-suite")
        repository.write(cobra_toml="[models.\n", net_py=NET.replace("WIDTH", "16"))
        repository.commit()
        repository.write(cobra_toml=self.suite(self.model("a")))
        answer = self.check(repository, "--against", "HEAD")
        self.assertIn("same network", answer.out)
        self.assertIn("warning: the old suite is not used", answer.err)

    def test_predict_and_compare_have_the_formats_too(self):
        repository = self.repository("other-commands")
        saved = []
        for width in ("16", "64"):
            repository.write(net_py=NET.replace("WIDTH", width))
            question = ("net.py", "--entry", "Net()", "--input", "1x3x32x32", "--target", self.target)
            saved.append(os.path.join(repository.path, width + ".json"))
            with open(saved[-1], "w") as file:
                file.write(self.client("predict", repository, *question, "--breakdown", "--format", "json").out)
        for format in FORMATS[2:]:
            alone = self.client("predict", repository, *question, "--format", format).out
            compared = programs.client("compare", *saved, "--min-confidence", "0", "--format", format)
            self.assertEqual(compared.code, 1, compared.err)
            for report in (alone, compared.out):
                if format == "junit":
                    self.assertEqual(len(list(xml.fromstring(report).iter("testcase"))), 1)
                elif format != "markdown":
                    self.assertIsInstance(json.loads(report), (dict, list))
            if format not in ("github-benchmark", "bencher"):
                self.assertNotEqual(alone, compared.out)
        place = json.loads(programs.client("compare", *saved, "--min-confidence", "0", "--format", "sarif").out)[
            "runs"
        ][0]["results"][0]["locations"][0]["physicalLocation"]
        self.assertEqual((place["artifactLocation"]["uri"], place["region"]["startLine"]), ("net.py", 9))
        list_of_one = ("--list", "list.csv", "--target", self.target, "--format", "markdown")
        self.assertIn("--format: is for one model", self.client("predict", repository, *list_of_one, code=2).err)


if __name__ == "__main__":
    programs.main()
