#!/usr/bin/env python3
"""lab/first_weights.py: what it writes is a version of this build, and answers for our targets as
well as the weights that it comes from."""
import json
import os
import re
import subprocess
import sys
import tempfile

SOURCE, BIN = os.environ["COBRA_SOURCE"], os.environ["COBRA_BIN"]
SCRIPT = os.path.join(SOURCE, "lab", "first_weights.py")
ROWS = "data/measurements/cpu-epyc-turin-1t-sse41"


def has(commit):
    shown = subprocess.run(["git", "cat-file", "-e", commit + "^{commit}"], cwd=SOURCE, capture_output=True)
    return shown.returncode == 0


def main():
    with open(SCRIPT) as script:
        commit = re.search(r'^COMMIT = "(\w+)"$', script.read(), re.MULTILINE).group(1)
    if not has(commit):
        print("the history ends before commit %s: git fetch --unshallow" % commit)
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, SCRIPT, folder], cwd=SOURCE, check=True)
        evaluate = [os.path.join(BIN, "cobra-train"), "evaluate", "--model", folder, "--rows", ROWS, "--json"]
        errors = json.loads(subprocess.run(evaluate, cwd=SOURCE, check=True, capture_output=True).stdout)
        networks = errors["networks"]["all"]
        assert networks["n"] > 0 and networks["mape"] < 0.1, networks
        # A commit whose networks have today's sizes is refused.
        shown = subprocess.run([sys.executable, SCRIPT, folder, "HEAD"], cwd=SOURCE, capture_output=True, text=True)
        assert shown.returncode != 0 and "HEAD: its networks have other sizes" in shown.stderr, shown.stderr


main()
