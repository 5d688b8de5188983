#!/usr/bin/env python3
"""What programs see that look at more than shapes: every list of behaviour_cases.py is the same in our reader and in real
PyTorch, of 1.13 (Debian's python3-torch) and of 2.13 (`scripts/setup.sh --pypi`), as far as they are there.

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
CASES = HERE + "/behaviour_cases.py"
JUDGES = {"1.13.1": "/usr/bin/python3", "2.13.0": ROOT + "/build/pypi/bin/python3"}
ASK = """
import json, sys
sys.path.insert(0, %r)
sys.dont_write_bytecode = True
import torch, behaviour_cases
print(json.dumps({name: behaviour_cases.outcomes(name) for name in sys.argv[1:]}))
"""


def names():
    with open(CASES) as file:
        return re.findall(r"^def (case_\w+)\(", file.read(), re.M)


def theirs(python, cases):
    done = subprocess.run([python, "-W", "ignore", "-c", ASK % HERE, *cases], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(done.stderr[-500:])
    return json.loads(done.stdout.splitlines()[-1])


def ours(version, cases):
    requests = [{"file": CASES, "entry": f"show({case!r})", "inputs": []} for case in cases]
    done = subprocess.run(
        [BIN + "/read_model", "--batch", "--torch-version", version],
        input="".join(json.dumps(request) + "\n" for request in requests),
        capture_output=True,
        text=True,
    )
    answers = {}
    for case, line in zip(cases, done.stdout.splitlines()):
        error = json.loads(line).get("error", "no error")
        found = re.search(r"LookupError: (\[.*\])$", error, re.M)
        answers[case] = ast.literal_eval(found[1]) if found else error
    return answers


def main():
    cases, wrong, asked = sys.argv[1:] or names(), 0, 0
    for version, python in JUDGES.items():
        if not os.path.exists(python):
            print(f"{python} is not there: scripts/setup.sh --pypi")
            continue
        real, read = theirs(python, cases), ours(version, cases)
        for case in cases:
            if isinstance(read[case], str):
                wrong += 1
                print(f"{case} {version}: {read[case]}")
                continue
            asked += len(real[case])
            for i, (a, b) in enumerate(zip(real[case], read[case])):
                if a != b:
                    wrong += 1
                    print(f"{case}[{i}] {version}\n  PyTorch: {a}\n  ours:    {b}")
    print(f"{asked} answers, {wrong} wrong")
    return 1 if wrong or not asked else 0


if __name__ == "__main__":
    sys.exit(main())
