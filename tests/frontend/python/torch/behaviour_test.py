#!/usr/bin/env python3
"""What programs see that look at more than shapes: every list of behaviour_cases.py and
behaviour_errors.py is the same in our reader and in real PyTorch, of 1.13 (Debian's python3-torch)
and of 2.13 (`scripts/setup.sh --pypi`), as far as they are there.

    behaviour_test.py [CASE...]"""
import ast
import json
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.abspath(HERE + "/../../../..")
BIN = os.environ.get("COBRA_BIN", "build/release/bin")
FILES = ("behaviour_cases", "behaviour_errors")
PIECE = 20
JUDGES = {"1.13.1": "/usr/bin/python3", "2.13.0": ROOT + "/build/pypi/bin/python3"}
ASK = """
import json, sys
sys.path.insert(0, %r)
sys.dont_write_bytecode = True
import importlib, torch
module = importlib.import_module(sys.argv[1])
print(json.dumps({name: module.outcomes(getattr(module, name)()) for name in sys.argv[2:]}))
"""


def cases_of(name):
    """The name of each case, and the text of its parts if it returns a list as it is written."""
    with open(f"{HERE}/{name}.py") as file:
        text = file.read()
    found = {}
    for function in ast.parse(text).body:
        if isinstance(function, ast.FunctionDef) and function.name.startswith("case_"):
            parts = getattr(function.body[-1].value, "elts", [])
            found[function.name] = [ast.get_source_segment(text, part) for part in parts]
    return found


def theirs(python, name, cases):
    done = subprocess.run([python, "-W", "ignore", "-c", ASK % HERE, name, *cases], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(done.stderr[-500:])
    return json.loads(done.stdout.splitlines()[-1])


def ours(version, name, sizes):
    """In pieces: the text of an error is cut where it is long."""
    pieces = [(case, i, i + PIECE) for case, size in sizes.items() for i in range(0, size, PIECE)]
    requests = [
        {"file": f"{HERE}/{name}.py", "entry": f"show({case}, {first}, {last})", "inputs": []}
        for case, first, last in pieces
    ]
    done = subprocess.run(
        [BIN + "/read_model", "--batch", "--library", HERE, "--torch-version", version],
        input="".join(json.dumps(request) + "\n" for request in requests),
        capture_output=True,
        text=True,
    )
    answers = {}
    for (case, first, last), line in zip(pieces, done.stdout.splitlines()):
        error = json.loads(line).get("error", "no error")
        found = re.search(r"LookupError: (\[.*\])$", error, re.M)
        refused = [error.split("\n")[-2]] * min(PIECE, sizes[case] - first)
        answers.setdefault(case, []).extend(ast.literal_eval(found[1]) if found else refused)
    return answers


def compare(version, python, name, wanted):
    """How many answers of a file's cases were compared, and how many are wrong."""
    parts, wrong, asked = cases_of(name), 0, 0
    cases = [case for case in parts if not wanted or case in wanted]
    real = theirs(python, name, cases)
    read = ours(version, name, {case: len(answers) for case, answers in real.items()})
    for case in cases:
        asked += len(real[case])
        for i, (a, b) in enumerate(zip(real[case], read[case])):
            if a != b:
                wrong += 1
                text = parts[case][i] if i < len(parts[case]) else ""
                print(f"{version} {case}[{i}] {text}\n    PyTorch: {a}\n    ours:    {b}")
    return asked, wrong


def main():
    asked = wrong = 0
    for version, python in JUDGES.items():
        if not os.path.exists(python):
            print(f"{python} is not there: scripts/setup.sh --pypi")
            continue
        for name in FILES:
            more, differ = compare(version, python, name, sys.argv[1:])
            asked, wrong = asked + more, wrong + differ
    print(f"{asked} answers, {wrong} wrong")
    return 1 if wrong or not asked else 0


if __name__ == "__main__":
    sys.exit(main())
