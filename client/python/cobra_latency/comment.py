"""Puts a report of `cobra-client check` on the pull request or the merge request whose pipeline
runs here: one comment, which a later run replaces.

    python3 -m cobra_latency.comment latency.md
    python3 -m cobra_latency.comment --changes latency.json latency.md

GitHub Actions: GITHUB_TOKEN in the environment, with the permission `pull-requests: write`. GitLab
CI: COBRA_GITLAB_TOKEN, an access token of the project with the scope `api`. Elsewhere, and where
there is no request to comment on, it says so and exits with 0. It exits with 1 if the host refuses.

It needs nothing but Python's own library and imports no other module of the package, so it also
runs as a file: `python3 -I comment.py`, in a folder whose modules are not to be trusted.
"""
from __future__ import annotations

import argparse
import http.client
import json
import os
import re
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from typing import Any, Dict, Iterator, Optional, Tuple

MARK = "<!-- cobra-client -->"  # the first line of the report
MOST_CHARACTERS = 65000  # GitHub takes 65,536
TIMEOUT_S = 30
ATTEMPTS, WAIT_S = 3, 2
PER_PAGE, MOST_PAGES = 100, 30


class Refused(Exception):
    """Why there is no comment, for people."""


def mark_of(name: str) -> str:
    """What the comment begins with. Reports of different names are different comments.

    >>> mark_of("latency"), mark_of("")
    ('<!-- cobra-client: latency -->', '<!-- cobra-client -->')
    """
    if not re.fullmatch(r"[\w. ]*(-[\w. ]+)*", name, re.ASCII):  # "--" would end the HTML comment
        raise Refused(f"--name {name!r}: use letters, digits, blanks, '.', '_' and single '-'")
    return f"<!-- cobra-client: {name} -->" if name else MARK


def body_of(report: str, name: str, run: str) -> str:
    """The comment: the report under its mark, with a link to the run."""
    text = report[len(MARK) :] if report.startswith(MARK) else "\n" + report
    link = f"\n<sub>[The run]({run}).</sub>\n" if run else ""
    return mark_of(name) + text[:MOST_CHARACTERS] + link


class Api:
    """JSON over HTTP, for one token."""

    def __init__(self, address: str, headers: Dict[str, str]):
        self._address, self._headers = address.rstrip("/"), headers

    def ask(self, method: str, path: str, content: Optional[Dict[str, str]] = None) -> Any:
        """The reply. Raises urllib.error.HTTPError; a server that is out of order is asked again,
        unless it may have made the comment already."""
        data = None if content is None else json.dumps(content).encode()
        request = urllib.request.Request(self._address + path, data, method=method)
        for header, value in {"User-Agent": "cobra-latency", "Content-Type": "application/json"}.items():
            request.add_header(header, value)
        for header, value in self._headers.items():
            request.add_unredirected_header(header, value)  # never to another host
        for attempt in range(1, ATTEMPTS + 1):
            try:
                with urllib.request.urlopen(request, timeout=TIMEOUT_S) as reply:
                    return json.load(reply)
            except urllib.error.HTTPError as error:
                if error.code < 500 or method == "POST" or attempt == ATTEMPTS:
                    raise
            except OSError as error:
                if method == "POST" or attempt == ATTEMPTS:
                    raise Refused(f"no comment: {self._address}: {getattr(error, 'reason', error)}") from None
            except (ValueError, RecursionError):
                raise Refused(f"no comment: {self._address}: the answer is not JSON; is a proxy in between?") from None
            time.sleep(WAIT_S * attempt)
        raise AssertionError("unreachable")

    def pages(self, path: str) -> Iterator[Any]:
        """All entries of a list."""
        for page in range(1, MOST_PAGES + 1):
            entries = self.ask("GET", f"{path}?per_page={PER_PAGE}&page={page}")
            yield from entries
            if len(entries) < PER_PAGE:
                return


def annotation(kind: str, text: object) -> str:
    """A line for people: in GitHub Actions a workflow command, whose text can begin no other one, nor
    move a terminal's cursor."""
    line = "".join(c if c.isprintable() else "?" for c in " ".join(str(text).split()))
    if "GITHUB_ACTIONS" not in os.environ:
        return line
    return f"::{kind} title=cobra-latency::{line.replace('%', '%25')}"


def say(text: str) -> None:
    """A notice: in GitHub Actions on the run's page, too."""
    print(annotation("notice", text))


class GitHub:
    """The pull request of a workflow's event."""

    permission = "the token lacks `pull-requests: write`: name it under `permissions:` of the workflow"

    def __init__(self, environment: Dict[str, str]):
        self._repository = environment["GITHUB_REPOSITORY"]
        with open(environment["GITHUB_EVENT_PATH"], encoding="utf-8") as file:
            event = json.load(file)
        self._request = event.get("pull_request") or {}
        token = environment.get("GITHUB_TOKEN", "")
        self._has_token = bool(token)
        headers = {
            "Authorization": "Bearer " + token,
            "Accept": "application/vnd.github+json",
            "X-GitHub-Api-Version": "2022-11-28",
        }
        self._api = Api(environment["GITHUB_API_URL"], headers)
        self.run = "{GITHUB_SERVER_URL}/{GITHUB_REPOSITORY}/actions/runs/{GITHUB_RUN_ID}".format(**environment)

    def nothing_to_do(self) -> str:
        """Why there is no comment by design; else empty."""
        if not self._request:
            return "no comment: this run belongs to no pull request"
        origin = (self._request["head"].get("repo") or {}).get("full_name")
        if origin != self._repository:
            return (
                "no comment: the pull request comes from a fork, and the token of such a run may only read; "
                "the report is in the job's summary"
            )
        return "" if self._has_token else "no comment: GITHUB_TOKEN is not set"

    def _is_ours(self) -> Any:
        """Whether a user is the one of the token: others may have copied the mark."""
        try:
            login = self._api.ask("GET", "/user")["login"]
        except urllib.error.HTTPError as error:
            if error.code not in (401, 403, 404):
                raise
            return lambda user: user["type"] == "Bot"  # an app's token, as the workflow's own, may not ask that
        return lambda user: user["login"] == login

    def find(self, mark: str) -> Optional[str]:
        """The path of our comment."""
        is_ours = self._is_ours()
        comments = f"/repos/{self._repository}/issues/{self._request['number']}/comments"
        for comment in self._api.pages(comments):
            if (comment["body"] or "").startswith(mark) and is_ours(comment["user"]):
                return f"/repos/{self._repository}/issues/comments/{comment['id']}"
        return None

    def write(self, path: Optional[str], body: str) -> Any:
        """A new comment, or another text of the one at the path; its address."""
        new = f"/repos/{self._repository}/issues/{self._request['number']}/comments"
        method = "POST" if path is None else "PATCH"
        return self._api.ask(method, path or new, {"body": body})["html_url"]


class GitLab:
    """The merge request of a pipeline."""

    permission = "COBRA_GITLAB_TOKEN lacks the scope `api`, or its role is below Reporter"

    def __init__(self, environment: Dict[str, str]):
        token = environment.get("COBRA_GITLAB_TOKEN", "")
        self._has_token = bool(token)
        self._number = environment.get("CI_MERGE_REQUEST_IID", "")
        project = urllib.parse.quote(environment.get("CI_MERGE_REQUEST_PROJECT_ID", ""), safe="")
        self._notes = f"/projects/{project}/merge_requests/{self._number}/notes"
        self._api = Api(environment["CI_API_V4_URL"], {"PRIVATE-TOKEN": token})
        self.run = environment.get("CI_JOB_URL", "")

    def nothing_to_do(self) -> str:
        """Why there is no comment by design; else empty."""
        if not self._number:
            return "no comment: this pipeline belongs to no merge request"
        if not self._has_token:
            return (
                "no comment: COBRA_GITLAB_TOKEN is not set, or not visible to this pipeline (a fork's, or the "
                "variable is protected and the branch is not); the report is above and among the job's artifacts"
            )
        return ""

    def find(self, mark: str) -> Optional[str]:
        """The path of our note."""
        user = self._api.ask("GET", "/user")["id"]
        for note in self._api.pages(self._notes):
            if note["body"].startswith(mark) and note["author"]["id"] == user:
                return f"{self._notes}/{note['id']}"
        return None

    def write(self, path: Optional[str], body: str) -> Any:
        """A new note, or another text of the one at the path; its address."""
        self._api.ask("POST" if path is None else "PUT", path or self._notes, {"body": body})
        return self.run


def host_of(environment: Dict[str, str]) -> Any:
    """Whose pipeline this is; None: nobody's."""
    if environment.get("GITHUB_ACTIONS") == "true":
        return GitHub(environment)
    return GitLab(environment) if environment.get("GITLAB_CI") == "true" else None


def has_news(report: Any) -> bool:
    """Whether a report in JSON has anything to tell a reviewer.

    >>> has_news({"models": [{"status": "gone", "targets": []}]})
    True
    >>> one = {"old_latency_us": 5.0, "new_latency_us": 5.0, "problems": []}
    >>> has_news({"models": [{"status": "compared", "targets": [one]}]})
    False
    """
    for model in report["models"]:
        if model["status"] in ("new", "gone", "unreadable"):
            return True
        for target in model["targets"]:
            if target["problems"] or target.get("old_latency_us", target["new_latency_us"]) != target["new_latency_us"]:
                return True
    return False


def comment(report: str, name: str, only_update: bool, environment: Dict[str, str]) -> str:
    """Comments; what was done, for people. Raises Refused."""
    mark = mark_of(name)
    host = host_of(environment)
    if host is None:
        return "no comment: this is neither GitHub Actions nor GitLab CI"
    if host.nothing_to_do():
        return str(host.nothing_to_do())
    try:
        path = host.find(mark)
        if path is None and only_update:
            return "no comment: nothing has changed, and an earlier run has not commented"
        address = host.write(path, body_of(report, name, host.run))
        return f"{'commented' if path is None else 'updated the comment'}: {address}"
    except urllib.error.HTTPError as error:
        reason = host.permission if error.code in (401, 403, 404) else "try again later"
        raise Refused(f"no comment: HTTP {error.code} of {urllib.parse.urlsplit(error.url).path}: {reason}") from None


def arguments(given: Optional[Tuple[str, ...]] = None) -> argparse.Namespace:
    """Of the command line."""
    parser = argparse.ArgumentParser(
        prog="python3 -m cobra_latency.comment",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("report", help="what `cobra-client check --report markdown=FILE` has written")
    parser.add_argument("--name", default="", help="tells several reports on one request apart")
    parser.add_argument(
        "--changes",
        metavar="JSON",
        help="what --report json=FILE has written; without a change or a failure in it, an earlier comment is "
        "replaced, but no new one is made",
    )
    return parser.parse_args(given)


def main() -> int:
    """The exit code."""
    flags = arguments()
    try:
        with open(flags.report, encoding="utf-8") as file:
            report = file.read()
        only_update = False
        if flags.changes:
            with open(flags.changes, encoding="utf-8") as file:
                only_update = not has_news(json.load(file))
        say(comment(report, flags.name, only_update, dict(os.environ)))
    except (OSError, Refused) as error:
        print(annotation("warning", error), file=sys.stderr)
        return 1
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError, http.client.HTTPException) as error:
        # A server that answers something else than its documentation says, or a damaged report.
        print(annotation("warning", f"no comment: {type(error).__name__}: {error}"), file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
