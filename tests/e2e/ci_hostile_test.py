#!/usr/bin/env python3
"""What comments on a pull request or a merge request, where the host is out of order or says what a
runner would obey; and the action, where a model's name is such a text."""
import contextlib
import importlib.util
import io
import json
import os
import socket
import sys
import tempfile
import unittest
import unittest.mock

import ci_runner
import programs
from ci_action_test import MARK, TOKEN, RunnerTest, source

# A runner takes a line that begins with :: for a command; %0A is a line break in the text of one.
EVIL = "x\n::error::owned\r::set-output name=exit-code::0%0A::add-mask::y\x1b[2J\u202e\u2028::warning::z ##[error]w"
PATH = os.path.join(programs.SOURCE, "client", "python", "cobra_latency", "comment.py")


def load():
    spec = importlib.util.spec_from_file_location("comment", PATH)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


comment = load()


class CommentTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.report = self.file("latency.md", comment.MARK + "\n### Predicted latency\n")
        self.use(ci_runner.GitHub)

    def use(self, kind):
        self.host = kind(TOKEN)
        self.addCleanup(self.host.close)
        event = {"pull_request": {"number": 7, "head": {"repo": {"full_name": "o/r"}}}}
        self.environment = {
            "GITHUB_ACTIONS": "true",
            "GITHUB_API_URL": self.host.address,
            "GITHUB_EVENT_PATH": self.file("event", json.dumps(event)),
            "GITHUB_REPOSITORY": "o/r",
            "GITHUB_RUN_ID": "1",
            "GITHUB_SERVER_URL": "https://host",
            "GITHUB_TOKEN": TOKEN,
            "no_proxy": "*",
        }
        if kind is ci_runner.GitLab:
            self.environment = {
                "GITLAB_CI": "true",
                "CI_API_V4_URL": self.host.address,
                "CI_JOB_URL": "https://host/job/1",
                "CI_MERGE_REQUEST_IID": "7",
                "CI_MERGE_REQUEST_PROJECT_ID": "3",
                "COBRA_GITLAB_TOKEN": TOKEN,
                "no_proxy": "*",
            }

    def file(self, name, text):
        path = os.path.join(self.folder.name, name)
        with open(path, "w") as file:
            file.write(text)
        return path

    def run_comment(self, code, *arguments, slept=None):
        """The one line that it says."""
        said = io.StringIO()
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said), unittest.mock.patch.dict(
            os.environ, self.environment, clear=True
        ), unittest.mock.patch.object(sys, "argv", [PATH, *(arguments or [self.report])]), unittest.mock.patch(
            "time.sleep"
        ) as sleep:
            self.assertEqual(comment.main(), code, said.getvalue())
        if slept is not None:
            self.assertEqual(sleep.call_count, slept)
        (line,) = said.getvalue().splitlines()
        self.assertTrue(line.isprintable(), line)
        self.assertNotIn(TOKEN, line)
        if "GITHUB_ACTIONS" in self.environment:
            self.assertRegex(line, "^::(notice|warning) title=cobra-latency::")
            self.assertNotRegex(line, "%(?!25)")  # no line break in the text of a command
        return line

    def test_nobody_listens(self):
        self.host.close()
        self.assertIn("Connection refused", self.run_comment(1, slept=comment.ATTEMPTS - 1))
        self.host = ci_runner.GitHub(TOKEN)

    def test_a_host_that_hangs_up(self):
        with socket.create_server(("127.0.0.1", 0)) as listener:
            self.environment["GITHUB_API_URL"] = f"http://127.0.0.1:{listener.getsockname()[1]}"
            with unittest.mock.patch.object(comment, "TIMEOUT_S", 0.05):
                self.assertIn("timed out", self.run_comment(1, slept=comment.ATTEMPTS - 1))

    def test_a_host_that_is_out_of_order_is_asked_again(self):
        for kind, listed in ((ci_runner.GitHub, self.host.list), (ci_runner.GitLab, ci_runner.GitLab.list)):
            self.use(kind)
            answers = [(500, b"oops"), (502, b"<html>Bad gateway</html>"), None]
            self.host.raw = lambda _, path: answers.pop(0) if path.endswith(listed) and answers else None
            self.assertIn("commented", self.run_comment(0, slept=2))
            self.assertEqual(self.host.methods(), ["POST"])
            answers[:] = [(503, b"")] * 4
            self.assertIn("HTTP 503 of ", self.run_comment(1, slept=2))
            self.assertEqual(self.host.methods(), ["POST"])
            # Whether a comment was made is not known, so it is made once only.
            self.host.comments.clear()
            self.host.raw = lambda method, _: (500, b"") if method == "POST" else None
            self.assertIn("try again later", self.run_comment(1, slept=0))
            self.assertEqual(self.host.methods(), ["POST", "POST"])

    def test_what_is_not_json(self):
        page = b"<!DOCTYPE html><title>Sign in</title>\n::error::owned\n"
        for data in (page, b"", b"\xff\xfe", b"[" * 100_000, b"NaN,", b'"x'):
            for method in ("GET", "POST"):
                self.host.raw = lambda asked, _: (200, data) if asked == method else None
                self.assertIn("the answer is not JSON", self.run_comment(1))
        self.host.raw = lambda method, path: (200, page) if path.endswith("/user") else None
        self.run_comment(1)

    def test_json_of_something_else(self):
        user = json.dumps({"login": EVIL})
        odd = [None, 5, "text", EVIL, {}, {"message": EVIL}, [None], [[]], [{}], [{"body": 5, "user": None}], [EVIL]]
        for kind in (ci_runner.GitHub, ci_runner.GitLab):
            self.use(kind)
            for reply in odd:
                data = json.dumps(reply).encode()
                for method in ("GET", "POST"):
                    self.host.raw = lambda asked, _: (200, data) if asked == method else None
                    with self.subTest(reply=reply, method=method, kind=kind.__name__):
                        is_read = method == "GET" or kind is ci_runner.GitHub
                        self.run_comment(1 if is_read else 0)
        self.host.raw = lambda _, path: (200, user.encode()) if path.endswith("/user") else None
        self.run_comment(1)

    def test_lists_that_do_not_end(self):
        self.host.comments = [{"id": n, "body": "x", "user": {"type": "Bot"}} for n in range(comment.PER_PAGE)]
        full = json.dumps(self.host.comments).encode()
        self.host.raw = lambda method, path: (200, full) if method == "GET" and path.endswith(self.host.list) else None
        self.assertIn("commented", self.run_comment(0))
        self.assertLess(len(self.host.requests), comment.MOST_PAGES + 5)

    def test_what_a_host_says_is_no_command(self):
        address = json.dumps({"html_url": EVIL}).encode()
        self.host.raw = lambda method, _: (201, address) if method == "POST" else None
        self.assertIn("owned", self.run_comment(0))
        body = MARK + EVIL
        self.host.raw = lambda *_: None
        self.host.add(body)
        self.run_comment(0, "--name", "latency", self.report)
        self.host.raw = lambda method, _: (403, EVIL.encode()) if method == "PATCH" else None
        self.assertIn("HTTP 403", self.run_comment(1, "--name", "latency", self.report))

    def test_what_is_given_is_no_command(self):
        self.assertIn("use letters", self.run_comment(1, "--name", EVIL, self.report))
        self.assertIn("No such file", self.run_comment(1, EVIL))
        for text in (EVIL, "5", json.dumps({"models": [EVIL]}), json.dumps({"models": [{"status": [EVIL]}]})):
            self.run_comment(1, "--changes", self.file("latency.json", text), self.report)
        for name in ("GITHUB_REPOSITORY", "GITHUB_API_URL"):
            with unittest.mock.patch.dict(self.environment, {name: EVIL}):
                self.run_comment(0 if name == "GITHUB_REPOSITORY" else 1)
        self.environment["GITHUB_EVENT_PATH"] = self.file("event", EVIL)
        self.run_comment(1)

    def test_another_host_does_not_get_the_token(self):
        other = ci_runner.GitHub(TOKEN)
        self.addCleanup(other.close)
        seen = []
        other.is_token = lambda headers: seen.append(TOKEN in str(headers))
        for kind in (ci_runner.GitHub, ci_runner.GitLab):
            self.use(kind)
            for status in (301, 302, 307, 308):
                elsewhere = status, b"", ("Location", other.address)
                self.host.raw = lambda method, _: elsewhere if method == "GET" else None
                self.run_comment(1)
        self.assertGreaterEqual(len(seen), 6)  # 308 is not followed by all releases of Python
        self.assertEqual(set(seen), {False})


class NamesTest(RunnerTest):
    NAMES = ("::error::owned", "%0A::error::owned", "##[error]owned", " ::set-output name=json::/etc/passwd")

    def check_names(self, names, annotation):
        repository = self.repository("harmless")
        broken = ']\nmodel = "missing.py"\nentry = "X()"\ninputs = ["1"]\n'
        suite = [source("examples", "ci", "harmless", "cobra.toml")]
        suite += ["[models." + json.dumps(name) + broken for name in names]
        repository.file("cobra.toml", "\n".join(suite))
        repository.commit()
        repository.merge = "another"
        run = self.run_action(repository, code=2, comment="always")
        self.assertEqual(run.output("exit-code"), "2")
        self.assertNotEqual(run.output("json"), "/etc/passwd")
        lines = run.commands(r"[\w-]+")
        self.assertGreater(len(lines), 1)
        for line in lines:
            self.assertRegex(line, f"^::({annotation}|notice title=cobra-latency::)")
            self.assertTrue(line.isprintable(), line)
        for line in run.file("summary").splitlines() + self.host.comments[-1]["body"].splitlines():
            self.assertFalse(line.lstrip().startswith("::"), line)

    def test_names_of_models_are_no_commands(self):
        self.check_names(self.NAMES, r"error file=cobra\.toml,line=\d+,title=unreadable-model::")

    def test_names_with_control_characters_are_refused(self):
        self.check_names([EVIL], r"error title=cobra-latency::cobra\.toml:\d+:\d+: error: a model's name has control")


if __name__ == "__main__":
    programs.main()
