#!/usr/bin/python3
"""Which names of NumPy the libraries use, and whether each is compared with NumPy: numpy_names.py
[--write FILE]

Counts the names in the sources of torch, torchvision, timm, transformers and diffusers below
build/pypi (scripts/setup.sh
--pypi). Of those used more than twice, each stands in tests/frontend/python/torch/numpy_cases.txt,
whose lines numpy_test.py compares with NumPy, or in OUTSIDE with the reason why the reader does
without it. Exits 77 without the libraries, 1 if a name is in neither."""
import argparse
import ast
import collections
import csv
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(HERE))))
SITE = os.path.join(ROOT, "build/pypi/lib/python3.11/site-packages")
LIBRARIES = "torch", "torchvision", "timm", "transformers", "diffusers"
CASES = os.path.join(HERE, "../torch/numpy_cases.txt")
OUTSIDE = {
    "ma.array": "masks of images before they are padded",
    "load": "reads a file",
    "fromfile": "reads a file",
    "lib.NumpyVersion": "compares versions",
    "__version__": "compares versions",
    "_NoValue": "a default in signatures",
    "typing": "annotations",
    "typing.NDArray": "annotations",
}


def names_of(tree):
    """The dotted names below `numpy` that a file reads, the longest ones."""
    modules = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.split(".")[0] == "numpy":
                    modules[alias.asname or "numpy"] = alias.name if alias.asname else "numpy"
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and (node.module or "").split(".")[0] == "numpy":
            for alias in node.names:
                modules[alias.asname or alias.name] = node.module + "." + alias.name
    inner = set()
    for node in ast.walk(tree) if modules else ():
        if isinstance(node, ast.Attribute) and id(node) not in inner:
            parts, below = [node.attr], node.value
            while isinstance(below, ast.Attribute):
                inner.add(id(below))
                parts.append(below.attr)
                below = below.value
            if isinstance(below, ast.Name) and below.id in modules:
                yield ".".join([modules[below.id]] + parts[::-1])
        elif isinstance(node, ast.Name) and "." in modules.get(node.id, "") and isinstance(node.ctx, ast.Load):
            yield modules[node.id]


def count():
    uses = collections.Counter()
    for library in LIBRARIES:
        for folder, _, files in os.walk(os.path.join(SITE, library)):
            for name in files:
                if not name.endswith(".py"):
                    continue
                try:
                    with open(os.path.join(folder, name), encoding="utf-8") as f:
                        tree = ast.parse(f.read())
                except (SyntaxError, UnicodeDecodeError):  # templates
                    continue
                uses.update(name[len("numpy.") :] for name in names_of(tree) if name != "numpy")
    return uses


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--write")
    args = parser.parse_args()
    missing = [library for library in LIBRARIES if not os.path.isdir(os.path.join(SITE, library))]
    if missing:
        print("%s: not below build/pypi (scripts/setup.sh --pypi)" % ", ".join(missing))
        return 77
    with open(CASES) as f:
        cases = f.read()
    rows, neither = [], []
    for name, uses in count().most_common():
        if uses <= 2:
            break
        compared = re.search(r"\bnp\.%s\b" % re.escape(name), cases)
        rows.append((name, uses, "compared" if compared else OUTSIDE.get(name, "")))
        if not rows[-1][2]:
            neither.append(name)
    if args.write:
        with open(args.write, "w", newline="") as f:
            csv.writer(f, lineterminator="\n").writerows([("name", "uses", "state")] + rows)
    print(
        "%d names used more than twice: %d compared with NumPy, %d outside of the reader, %d in neither list"
        % (
            len(rows),
            sum(r[2] == "compared" for r in rows),
            sum(r[2] != "compared" and r[2] != "" for r in rows),
            len(neither),
        )
    )
    for name in neither:
        print("in neither list: %s" % name)
    return 1 if neither else 0


if __name__ == "__main__":
    sys.exit(main())
