#!/usr/bin/python3
"""Writes docs/torch_support.md from the code: what the reader's torch has, asked from the reader
itself.

    torch_support_table.py [--check]

With --check nothing is written; the exit code says whether the committed file is what the code
says."""
import ast
import collections
import csv
import glob
import json
import lzma
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.abspath(HERE + "/../../../..")
BIN = os.environ.get("COBRA_BIN", "build/release/bin")
OUT = ROOT + "/docs/torch_support.md"
NEWEST = "2.13.0"
MODULES = [
    ("torch", "Functions of `torch`"),
    ("torch.nn.functional", "Functions of `torch.nn.functional`"),
    ("torch.fft", "Functions of `torch.fft`"),
    ("torch.linalg", "Functions of `torch.linalg`"),
    ("torch.special", "Functions of `torch.special`"),
    ("torch.Tensor", "Methods and attributes of `Tensor`"),
]


def ask(version, expressions):
    done = subprocess.run(
        [BIN + "/eval_torch", "--torch-version", version],
        input="".join(e + "\n" for e in expressions),
        capture_output=True,
        text=True,
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


def names(version):
    answers = ask(version, ["[n for n in dir(%s) if n[0] != '_']" % module for module, _ in MODULES])
    found = {module: {ast.literal_eval(n) for n in answer["out"]} for (module, _), answer in zip(MODULES, answers)}
    # A tensor has the attributes that are not covered too, for hasattr(): they are opaque, or
    # cannot be read.
    attributes = sorted(found["torch.Tensor"])
    answers = ask(version, ["repr(torch.ones(2, 2).%s).startswith('<torch.Tensor.')" % name for name in attributes])
    found["torch.Tensor"] = {
        name
        for name, answer in zip(attributes, answers)
        if answer.get("out") != "True" and "is not supported" not in json.dumps(answer)
    }
    return found


def layers():
    """Classes of torch.nn, from the files that define them."""
    found = {}
    folder = ROOT + "/frontend/python/library/torch/nn/modules"
    for file in sorted(os.listdir(folder)):
        text = open(os.path.join(folder, file)).read()
        classes = [c for c in re.findall(r"^class (\w+)", text, re.M) if c[0] != "_"]
        if classes:
            found[file[:-3]] = sorted(classes)
    return found


def operators():
    return sorted(n.rstrip("_") for n in re.findall(r"^COBRA_OP\((\w+),", open(ROOT + "/graph/ops.def").read(), re.M))


def wrapped(words, width=100):
    lines, line = [], ""
    for word in words:
        if len(line) + len(word) + 2 > width:
            lines.append(line.rstrip())
            line = ""
        line += word + ", "
    return "\n".join(lines + [line.rstrip(", ")])


def table():
    now, newest = names("1.13.1"), names(NEWEST)
    hidden = {
        "device",
        "dtype",
        "Size",
        "Tensor",
        "Generator",
        "finfo",
        "iinfo",
        "layout",
        "memory_format",
        "math",
        "torch",
    }
    out = [
        "# Supported PyTorch functions",
        "",
        "Made by `tests/frontend/python/torch/torch_support_table.py` from the code; a test fails when this",
        "file is stale. `torch_support_test.py` compares shapes, types and errors of these functions with",
        "real PyTorch on random arguments, `graph_equality_test.py` the calls that reach the graph.",
        "",
        "The target version decides what `hasattr` answers: `--torch-version`, by default that of the",
        "target's runtime. A name of PyTorch that is not listed here may be imported and passed around;",
        "calling it is an error that names it. Functions whose shape depends on values (`nonzero`, `unique`,",
        "`masked_select` ...) are computed on small constants and refused as data-dependent on anything else.",
        "",
    ]
    for module, title in MODULES:
        have = sorted(n for n in now[module] if n not in hidden)
        later = sorted(newest[module] - now[module])
        out += ["## %s (%d)" % (title, len(have)), "", wrapped(have), ""]
        if later:
            out += [wrapped(["Since PyTorch 2: " + later[0], *later[1:]]), ""]
    found = layers()
    out += [
        "## Layers of `torch.nn` (%d classes)" % sum(map(len, found.values())),
        "",
        "| file | classes |",
        "|---|---|",
    ]
    out += ["| %s | %s |" % (file, ", ".join(classes)) for file, classes in found.items()]
    ops = operators()
    out += ["", "## Operators of the graph (%d)" % len(ops), "", wrapped(ops), ""]
    out += of_libraries()
    return "\n".join(out)


def of_libraries():
    """What models of libraries are refused for, from the lists that `scripts/test-long.sh timm
    transformers diffusers` writes."""
    rows = []
    for path in sorted(glob.glob(os.path.join(ROOT, "tests/frontend/python/libraries/*.csv*"))):
        library = os.path.basename(path).partition(".")[0]
        with (lzma.open if path.endswith(".xz") else open)(path, "rt", newline="") as file:
            rows += [(library, row) for row in csv.DictReader(file)]
    if not rows:
        return []
    out = [
        "## Models of libraries",
        "",
        "Each is compared with what PyTorch 2.13 runs (`tests/frontend/python/libraries/NAME.csv` has a row",
        "for each). *Unbuildable*: PyTorch itself cannot build or run it, at its default configuration or on",
        "the inputs that were tried.",
        "",
        "| library | tried | exact | refused | different | unbuildable |",
        "|---|---|---|---|---|---|",
    ]
    for library in sorted({library for library, _ in rows}):
        count = collections.Counter(row["result"] for own, row in rows if own == library)
        numbers = [count[result] for result in ("exact", "refused", "different", "unbuildable")]
        out.append("| %s | %d | %s |" % (library, sum(numbers), " | ".join(map(str, numbers))))
    reasons = collections.Counter(
        (library, re.sub(r"\d+", "N", row["reason"])) for library, row in rows if row["result"] == "refused"
    )
    out += ["", "| library | models | refused because |", "|---|---|---|"]
    for (library, reason), models in sorted(reasons.items(), key=lambda item: (-item[1], item[0])):
        out.append("| %s | %d | %s |" % (library, models, reason.replace("|", "\\|")))
    return [*out, ""]


def main():
    text = table()
    if "--check" in sys.argv:
        same = os.path.exists(OUT) and open(OUT).read() == text
        print(
            "docs/torch_support.md is %s"
            % ("up to date" if same else "stale: run tests/frontend/python/torch/torch_support_table.py")
        )
        return 0 if same else 1
    with open(OUT, "w") as f:
        f.write(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
