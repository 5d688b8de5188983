#!/usr/bin/env python3
"""hasattr() answers for every public name of the modules of torch that our library has as it does
in real PyTorch, of 1.13 (Debian's python3-torch) and of 2.13 (`scripts/setup.sh --pypi`): a program
that finds a name missing takes another way, and its network is another one. What a module imports
from other packages is not asked about."""
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.abspath(HERE + "/../../../..")
BIN = os.environ.get("COBRA_BIN", "build/release/bin")
JUDGES = {"1.13.1": "/usr/bin/python3", "2.13.0": ROOT + "/build/pypi/bin/python3"}
CLASSES = {"torch.Tensor": "torch", "torch.nn.Module": "torch.nn", "torch.nn.MultiheadAttention": "torch.nn"}
PIECE = 100
# What only PyTorch's own files use, and what differs from one build to another.
NOT_ASKED = re.compile(r"^torch\.(_|jit|package|onnx|testing|version|distributed|multiprocessing|utils\.cpp_extension)")
# Of the annotations, of PyTorch's own tests, and there only once something else has imported it.
NOT_ASKED_NAMES = {"T_destination", "CURRENT_PATCHER", "checkpoint"}
ASK = """
import importlib, json, sys, types
import torch
def foreign(value):
    if isinstance(value, types.ModuleType):
        return not value.__name__.startswith("torch")
    return not str(getattr(value, "__module__", None) or "torch").startswith("torch")
found, foreigners = {}, {}
for name, home, more in json.load(sys.stdin):
    try:
        module = importlib.import_module(home)
    except ImportError:
        continue
    value = module if home == name else getattr(module, name[len(home) + 1:])
    found[name] = [n for n in sorted({*dir(value), *more}) if not n.startswith("_") and hasattr(value, n)]
    foreigners[name] = [n for n in found[name] if home == name and foreign(getattr(value, n))]
print(json.dumps([found, foreigners]))
"""
PROGRAM = """
import importlib
def ask(name, home, wanted, unwanted):
    value = importlib.import_module(home)
    if home != name:
        value = getattr(value, name[len(home) + 1:])
    missing = [n for n in wanted if not hasattr(value, n)]
    raise LookupError("missing %s, surplus %s." % (missing, [n for n in unwanted if hasattr(value, n)]))
"""


def places():
    """The modules and classes to ask about, each with the module that it is in."""
    root = ROOT + "/frontend/python/library"
    found = dict(CLASSES)
    for folder, _, files in os.walk(root + "/torch"):
        for file in files:
            path = os.path.relpath(os.path.join(folder, file), root)
            name = path[: -len(".py")].removesuffix("/__init__").replace("/", ".")
            if not NOT_ASKED.match(name):
                found[name] = name
    return found


def names(python, asked, others):
    """What dir() lists, and what else of the names of other versions is there: some modules make
    names when asked."""
    request = json.dumps([(name, home, others.get(name, [])) for name, home in asked.items()])
    done = subprocess.run([python, "-W", "ignore", "-c", ASK], input=request, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(done.stderr[-500:])
    return json.loads(done.stdout.splitlines()[-1])


def wrong_answers(version, asked, real, everywhere):
    pieces = []
    for name in sorted(real):
        here, elsewhere = real[name], sorted(set(everywhere[name]) - set(real[name]))
        for i in range(0, max(len(here), len(elsewhere)), PIECE):
            pieces.append((name, asked[name], here[i : i + PIECE], elsewhere[i : i + PIECE]))
    with tempfile.TemporaryDirectory() as folder:
        path = folder + "/ask.py"
        with open(path, "w") as file:
            file.write(PROGRAM)
        done = subprocess.run(
            [BIN + "/read_model", "--batch", "--torch-version", version],
            input="".join(json.dumps({"file": path, "entry": f"ask{p!r}", "inputs": []}) + "\n" for p in pieces),
            capture_output=True,
            text=True,
        )
    wrong = []
    for piece, line in zip(pieces, done.stdout.splitlines()):
        error = json.loads(line).get("error", "no error")
        if "missing [], surplus []." not in error:
            wrong.append(piece[0] + ": " + re.sub(r"^.*error: ", "", error.split("\nhint")[0].splitlines()[-1]))
    return wrong


def main():
    asked = places()
    judges = {version: python for version, python in JUDGES.items() if os.path.exists(python)}
    if not judges:
        return 77
    everywhere, imports = {name: set() for name in asked}, {name: set() for name in asked}
    for python in judges.values():
        found, foreigners = names(python, asked, {})
        for name in found:
            everywhere[name].update(found[name])
            imports[name].update(foreigners[name])
    everywhere = {name: sorted(found - imports[name] - NOT_ASKED_NAMES) for name, found in everywhere.items()}
    wrong = 0
    for version, python in judges.items():
        real, _ = names(python, asked, everywhere)
        real = {name: sorted(set(found) & set(everywhere[name])) for name, found in real.items()}
        for line in wrong_answers(version, asked, real, everywhere):
            wrong += 1
            print(version, line)
        print(f"PyTorch {version}: {sum(map(len, real.values()))} names of {len(real)} modules")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
