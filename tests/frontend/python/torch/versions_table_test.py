#!/usr/bin/env python3
"""frontend/python/torch/names/versions.def beside real PyTorch: 1.13 has none of its names, 2.13 has
them all. In which version between a name came is from PyTorch's release notes and documentation,
and is not checked.

Debian's python3-torch is asked, and the one of `scripts/setup.sh --pypi` if it is there."""
import json
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.abspath(HERE + "/../../../..")
ASK = """
import importlib, json, sys
import torch, torch.nn.functional
def has(module, name):
    try:
        home = torch.Tensor if module == "torch.Tensor" else importlib.import_module(module)
    except ImportError:
        return False
    if hasattr(home, name):
        return True
    try:
        importlib.import_module(module + "." + name)
        return True
    except ImportError:
        return False
names = json.load(sys.stdin)
print(json.dumps({"version": torch.__version__, "has": [has(*pair) for pair in names]}))
"""


def table():
    with open(ROOT + "/frontend/python/torch/names/versions.def") as file:
        rows = re.findall(r'^COBRA_TORCH_SINCE\("([^"]+)", "([^"]+)", \d+, \d+\)', file.read(), re.M)
    return [(module, name) for module, names in rows for name in names.split()]


def main():
    names, wrong = table(), 0
    for python, expected in (("/usr/bin/python3", False), (ROOT + "/build/pypi/bin/python3", True)):
        if not os.path.exists(python):
            print(f"{python} is not there: scripts/setup.sh --pypi")
            continue
        done = subprocess.run(
            [python, "-W", "ignore", "-c", ASK], input=json.dumps(names), capture_output=True, text=True
        )
        if done.returncode != 0:
            print(done.stderr[-300:])
            return 1
        answer = json.loads(done.stdout.splitlines()[-1])
        for (module, name), has in zip(names, answer["has"]):
            if has != expected:
                wrong += 1
                print(f"{module}.{name}: PyTorch {answer['version']} has it" + ("" if has else " not"))
        print(f"PyTorch {answer['version']}: {len(names)} names asked")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
