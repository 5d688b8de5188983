#!/usr/bin/env python3
"""Which functions of functions.def take `out` (without_out.inc), compared with the signatures of
PyTorch 2.13 (`scripts/setup.sh --pypi`). Exits 77 without it."""
import json
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.abspath(HERE + "/../../../..")
FOLDER = ROOT + "/frontend/python/torch/functions/"
PYTHON = ROOT + "/build/pypi/bin/python3"
MODULES = {"t": "torch", "f": "torch.fft", "l": "torch.linalg", "s": "torch.special"}
# They take it, and their documentation does not say so.
UNDOCUMENTED = {("l", "lstsq"), ("t", "spmm")}
# True: it takes `out`; None: nothing says so. Built-in functions say it in their documentation,
# torch's own in a stub.
ASK = """
import ast, importlib, inspect, json, os, re, sys
import torch
stub = {}
with open(os.path.join(os.path.dirname(torch.__file__), "_C/_VariableFunctions.pyi")) as f:
    for node in ast.walk(ast.parse(f.read())):
        if isinstance(node, ast.FunctionDef):
            names = [a.arg for a in node.args.args + node.args.kwonlyargs + node.args.posonlyargs]
            stub[node.name] = stub.get(node.name, False) or "out" in names
def takes_out(module, name):
    function = getattr(importlib.import_module(module), name, None)
    if function is None:
        return None
    if module == "torch" and name in stub:
        return stub[name]
    if inspect.isfunction(function):
        return "out" in inspect.signature(function).parameters
    first = (function.__doc__ or "").strip().split("->")[0]
    return bool(re.search(r"\\bout\\b *=", first)) if "(" in first else None
print(json.dumps({m + ":" + n: takes_out(m, n) for m, n in json.load(sys.stdin)}))
"""


def main():
    if not os.path.exists(PYTHON):
        print("needs PyTorch 2.13")
        return 77
    with open(FOLDER + "functions.def") as f:
        rows = re.findall(r'^COBRA_TORCH_FUNCTION\(\w+, "([\w ]+)", "(\w+)", "([^"]*)"\)', f.read(), re.M)
    with open(FOLDER + "without_out.inc") as f:
        without = {
            space: set(names.replace('"', " ").split()) for space, names in re.findall(r"\{'(\w)',([^}]*)\}", f.read())
        }
    asked, own = [], set()
    for names, spaces, signature in rows:
        for space in set(spaces) & set(MODULES):
            for name in names.split():
                asked.append((space, name))
                if "out=None" in signature:
                    own.add((space, name))
    asked = sorted(set(asked) - own - UNDOCUMENTED)
    done = subprocess.run(
        [PYTHON, "-c", ASK], input=json.dumps([(MODULES[s], n) for s, n in asked]), capture_output=True, text=True
    )
    answers = json.loads(done.stdout)
    wrong, judged = [], 0
    for space, name in asked:
        truth = answers[MODULES[space] + ":" + name]
        if truth is None:
            continue
        judged += 1
        if truth == (name in without[space]):
            wrong.append(f"{MODULES[space]}.{name}: {'takes' if truth else 'does not take'} out")
    print(f"{len(asked)} functions, {judged} judged, {len(wrong)} wrong")
    print("\n".join(wrong))
    return 1 if wrong or judged < len(asked) / 2 else 0


if __name__ == "__main__":
    sys.exit(main())
