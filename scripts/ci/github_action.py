#!/usr/bin/env python3
"""The steps of the GitHub Action (action.yml at the root), one a call:

    python3 -I scripts/ci/github_action.py prepare | install | check

Needs git and Python 3.9 with pip or uv. Inputs come as variables, never as text of a shell: whoever
opens a pull request chooses names of branches and files. Nothing of the repository is run, and no
step here has a token.
"""
import glob
import json
import os
import platform
import re
import secrets
import shutil
import subprocess
import sys
import urllib.parse

PROGRAM = "cobra-client"
REPORTS = ("markdown", "sarif", "json")
MOST_ANNOTATIONS = 10  # GitHub shows no more of one step
MOST_ERROR_CHARACTERS = 10000
NO_COMMIT = "0" * 40  # the event's `before`, of a new branch


def fail(text):
    print("::error title=cobra-latency::" + escaped(text))
    sys.exit(2)


def escaped(text, separators=""):
    """A value in a workflow command; `separators`: more characters that end one."""
    for c in "%\r\n" + separators:
        text = text.replace(c, "%%%02X" % ord(c))
    return text


def given(name):
    return os.environ.get("INPUT_" + name, "").strip()


def set_outputs(**values):
    with open(os.environ["GITHUB_OUTPUT"], "a", encoding="utf-8") as file:
        for name, value in values.items():
            if re.search(r"[\r\n]", str(value)):
                fail(f"{name}: a line break in {value!r}")
            file.write(f"{name.replace('_', '-')}={value}\n")


def chosen(name, *values):
    """An input that is one of some words."""
    if given(name) not in values:
        fail(f"{name.lower()}: {given(name)!r}: must be {', '.join(values[:-1])} or {values[-1]}")
    return given(name)


# ---- the program


def prepare():
    """Where it is installed, and the key under which that folder is cached."""
    chosen("COMMENT", "always", "changes", "never")  # now, not after the check
    chosen("SARIF", "true", "false")
    caches = chosen("CACHE", "true", "false") == "true" and not given("PACKAGE")
    version, package = given("VERSION"), given("PACKAGE")
    if not re.fullmatch(r"[\w.+!-]*", version, re.ASCII):
        fail(f"version: {version!r}: is no version, as in 0.2.0")
    if not package and not version:
        if not shutil.which(PROGRAM):
            fail(f"version: is empty, and {PROGRAM} is not on the runner's PATH")
        set_outputs(folder="", key="")
        return
    folder = os.path.join(os.environ["RUNNER_TEMP"], f"cobra-latency-{'package' if package else version}")
    if package:
        shutil.rmtree(folder, ignore_errors=True)  # the last job's, on a runner that stays
    key = f"cobra-latency-{version}-{platform.system()}-{platform.machine()}"
    set_outputs(folder=folder, key=key if caches else "")


def has_module(name):
    return subprocess.run([sys.executable, "-c", "import " + name], cwd="/", capture_output=True).returncode == 0


def requirement():
    """What is installed: `package`, of which a path may have wildcards, or the version."""
    package = given("PACKAGE")
    if not package:
        return f"cobra-latency=={given('VERSION')}"
    found = sorted(glob.glob(os.path.join(os.environ["GITHUB_WORKSPACE"], package)))
    if len(found) > 1:
        fail(f"package: {package}: names {len(found)} files; name one")
    if not found and package.endswith(".whl") and "://" not in package:
        fail(f"package: {package}: there is no such file in the workspace")
    if not found and package.startswith("-"):
        fail(f"package: {package}: is no requirement, as in cobra-latency==0.2.0, and no path of a wheel")
    return found[0] if found else package


def works(program):
    return (
        os.path.exists(program) and subprocess.run([program, "--version"], capture_output=True, cwd="/").returncode == 0
    )


def install():
    folder = os.environ["FOLDER"]
    if not folder:
        return
    program = os.path.join(folder, "bin", PROGRAM)
    if works(program):
        print(f"{program}: is there already")
    else:
        if has_module("pip"):
            command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--no-compile"]
        elif shutil.which("uv"):
            command = ["uv", "pip", "install", "--python", sys.executable]
        else:
            fail("python3: has no pip, and uv is not installed: install one of them in an earlier step")
        # A folder of its own, so no environment is changed. The programs need none of the package's
        # dependencies. Not in the workspace, where Python would take modules of the change for its
        # own.
        shutil.rmtree(folder, ignore_errors=True)
        command += ["--quiet", "--no-deps", "--only-binary=:all:", "--target", folder, requirement()]
        environment = dict(os.environ, PIP_ROOT_USER_ACTION="ignore")  # containers' jobs are root's
        if subprocess.run(command, cwd=os.environ["RUNNER_TEMP"], env=environment).returncode != 0:
            fail(f"{requirement()}: cannot be installed; the reason is above")
        if not works(program):
            fail(f"{requirement()}: has no {PROGRAM} that runs here: the wheel for any platform has no programs")
    with open(os.environ["GITHUB_PATH"], "a", encoding="utf-8") as file:
        file.write(os.path.join(folder, "bin") + "\n")


# ---- what it is compared with


def trusting():
    """An environment in which git opens the checkout although another user owns it, as in a job's
    container: the runner has made it."""
    count = int(os.environ.get("GIT_CONFIG_COUNT", "0"))
    more = {f"GIT_CONFIG_KEY_{count}": "safe.directory", f"GIT_CONFIG_VALUE_{count}": "*"}
    return dict(os.environ, GIT_CONFIG_COUNT=str(count + 1), **more)


def git_command(*arguments):
    """Of the checkout that the runner has made. git itself would take a folder of the change for a
    repository, and run what its configuration names, if it looks like one. A change cannot contain
    anything called .git."""
    folder = os.getcwd()
    while not os.path.lexists(os.path.join(folder, ".git")) and folder != os.path.dirname(folder):
        folder = os.path.dirname(folder)
    return ["git", "--git-dir=" + os.path.join(folder, ".git"), "-c", "safe.bareRepository=explicit", *arguments]


def git(*arguments):
    """What git prints; None if it fails."""
    done = subprocess.run(git_command(*arguments), capture_output=True, text=True, env=trusting())
    return done.stdout.strip() if done.returncode == 0 else None


def has(commit):
    return git("cat-file", "-e", commit + "^{commit}") is not None


def fetch(commit):
    """A commit that a shallow checkout has left out."""
    if has(commit):
        return
    depth = ["--depth=1"] if git("rev-parse", "--is-shallow-repository") == "true" else []
    print(f"fetching {commit}")
    quiet = ["--quiet", "--no-tags", "--no-recurse-submodules", "--upload-pack=git-upload-pack"]
    subprocess.run(git_command("fetch", *quiet, *depth, "origin", commit), env=trusting())
    if not has(commit):
        fail(f"{commit}: is not in this checkout and cannot be fetched: give actions/checkout `fetch-depth: 2`, or 0")


def earlier():
    """The revision to compare with; empty: none, so only budgets are checked."""
    if given("AGAINST"):
        return given("AGAINST")
    with open(os.environ["GITHUB_EVENT_PATH"], encoding="utf-8") as file:
        event = json.load(file)
    if "pull_request" in event:
        # actions/checkout has merged the change into its base; the merge's first parent is that
        # base. A checkout of the change itself is compared with where that began.
        parents = re.findall(r"^parent (\w+)$", (git("cat-file", "commit", "HEAD") or "").split("\n\n")[0], re.M)
        if len(parents) == 2 and git("rev-parse", "HEAD") == os.environ.get("GITHUB_SHA"):
            fetch(parents[0])
            return parents[0]
        base = event["pull_request"]["base"]["sha"]
        fetch(base)
        return base + "..."
    commit = (event.get("merge_group") or {}).get("base_sha") or event.get("before") or NO_COMMIT
    if commit == NO_COMMIT:
        return ""
    fetch(commit)
    return commit


# ---- the check


def command_of(folder):
    suite = given("SUITE")
    command = [PROGRAM, "check"] + ([os.path.join(".", suite)] if suite else [])
    for flag, value in (
        ("against", earlier()),
        ("target", given("TARGETS")),
        ("only", given("ONLY")),
        ("server", given("SERVER")),
    ):
        command += [f"--{flag}={value}"] if value else []
    return command + [f"--report={form}={os.path.join(folder, 'latency.' + form)}" for form in REPORTS]


def run(command):
    """The exit code and standard error. No line of the output is a workflow command, whatever a
    file of the change is called."""
    end = secrets.token_hex(16)
    print("::stop-commands::" + end)
    print("$ " + " ".join(command), flush=True)
    try:
        done = subprocess.run(command, stderr=subprocess.PIPE, text=True, errors="replace", env=trusting())
        print(done.stderr, flush=True)
    finally:
        print(f"::{end}::", flush=True)
    return done.returncode, done.stderr


def worst_change(report):
    """The largest change of a latency in per cent; empty: nothing was compared."""
    changes = [
        100 * (target["new_latency_us"] / target["old_latency_us"] - 1)
        for model in report["models"]
        for target in model["targets"]
        if target.get("old_latency_us")
    ]
    return f"{max(changes):.1f}" if changes else ""


def annotate(sarif):
    """Shows the lines in the change; it takes no permission."""
    for result in sarif["runs"][0]["results"][:MOST_ANNOTATIONS]:
        place = result["locations"][0]["physicalLocation"]
        file = urllib.parse.unquote(place["artifactLocation"]["uri"])
        level = "error" if result["level"] == "error" else "warning"
        where = f"file={escaped(file, ':,')},line={place['region']['startLine']},title={result['ruleId']}"
        print(f"::{level} {where}::{escaped(result['message']['text'])}")


def not_checked(code, errors):
    """The report of a run that has not come to one."""
    text = errors.strip()[:MOST_ERROR_CHARACTERS]
    fence = "`" * max([3] + [len(run) + 1 for run in re.findall("`+", text)])
    title = f"### Predicted latency: not checked (exit code {code})"
    return f"<!-- cobra-client -->\n{title}\n\n{fence}\n{text}\n{fence}\n"


def check():
    name = given("NAME")
    folder = os.path.join(os.environ["RUNNER_TEMP"], "cobra-reports", re.sub(r"\W+", "-", name))
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    code, errors = run(command_of(folder))
    paths = {form: os.path.join(folder, "latency." + form) for form in REPORTS}
    change = ""
    if os.path.exists(paths["json"]):
        with open(paths["json"], encoding="utf-8") as file:
            change = worst_change(json.load(file))
        with open(paths["sarif"], encoding="utf-8") as file:
            annotate(json.load(file))
    else:
        with open(paths["markdown"], "w", encoding="utf-8") as file:
            file.write(not_checked(code, errors))
        print(f"::error title=cobra-latency::{escaped(errors.strip() or PROGRAM + ' has failed')}")
    with open(paths["markdown"], encoding="utf-8") as file, open(
        os.environ["GITHUB_STEP_SUMMARY"], "a", encoding="utf-8"
    ) as summary:
        summary.write(file.read() + "\n")
    paths = {form: path if os.path.exists(path) else "" for form, path in paths.items()}
    set_outputs(exit_code=code, worst_change=change, upload=paths["sarif"] if given("SARIF") == "true" else "", **paths)


STEPS = {"prepare": prepare, "install": install, "check": check}

if __name__ == "__main__":
    if sys.argv[1:2] and sys.argv[1] in STEPS:
        STEPS[sys.argv[1]]()
    else:
        sys.exit(__doc__)
