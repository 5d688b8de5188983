#!/usr/bin/python3
"""Native functions in a loop (natives.txt), and names of a megabyte (below), through the real
cobra-client. Each program must end as it says, with a message, within 1 s of processor time and 256
MB of memory. CI runs every fifth; --all runs all.

    battery.py [--all] [--only TEXT] [--slowest N] [--jobs N] [--keep FOLDER]
"""
import argparse
import concurrent.futures
import os
import re
import resource
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import hostile_test  # noqa: E402

SECONDS = 1.0
ITERATIONS = 10**7  # more than the limit of steps

IMPORTS = """import torch, re, math, itertools, functools, collections, operator, copy, types, typing, string, enum
import dataclasses, inspect
from torch import nn
import torch.nn.functional as F


"""

LOOP = """class Net(nn.Module):
    def forward(self, x):
%s        for _ in range(%d):
            try:
                %s
            except Exception:
                pass
        return x
"""

NET = """class Net(nn.Module):
    def __init__(self):
        super().__init__()
%s
    def forward(self, x):
%s        return x
"""

# Names, paths and expressions of a megabyte, or many of them: (name, exit codes, __init__,
# forward). What ends with 6 or 0 does so before a limit is reached.
NAMES = [
    (
        "module",
        "setattr(self, 'm' * 1000000, nn.ReLU())",
        "for _ in range(50000):\n    x = getattr(self, 'm' * 1000000)(x)\n",
    ),
    (
        "module_some",
        "setattr(self, 'm' * 20000, nn.ReLU())",
        "for _ in range(50000):\n    x = getattr(self, 'm' * 20000)(x)\n",
    ),
    ("add_module", "self.add_module('m' * 1000000, nn.ReLU())", ""),
    ("register_module", "self.register_module('m' * 1000000, nn.ReLU())", ""),
    ("module_dict", "self.d = nn.ModuleDict({'m' * 1000000: nn.ReLU()})", "x = self.d['m' * 1000000](x)\n"),
    (
        "parameter",
        "setattr(self, 'p' * 1000000, nn.Parameter(torch.zeros(1)))",
        "for _ in range(50000):\n    x = x + getattr(self, 'p' * 1000000)\n",
    ),
    (
        "parameter_dict",
        "self.d = nn.ParameterDict({'p' * 1000000: nn.Parameter(torch.zeros(1))})",
        "x = x + self.d['p' * 1000000]\n",
    ),
    ("register_parameter", "self.register_parameter('p' * 1000000, nn.Parameter(torch.zeros(1)))", ""),
    (
        "buffer",
        "self.register_buffer('b' * 1000000, torch.zeros(1))",
        "for _ in range(50000):\n    x = x + getattr(self, 'b' * 1000000)\n",
    ),
    ("attribute", "", "for i in range(50000):\n    setattr(self, 'a' * 1000000 + str(i), i)\n"),
    (
        "parameters_below",
        "m = nn.Module()\nfor i in range(3000):\n    m.register_parameter('p%d' % i, nn.Parameter(torch.zeros(1)))\nsetattr(self, 'm' * 1000000, m)",
        "",
    ),
    (
        "deep",
        "m = nn.ReLU()\nfor i in range(900):\n    n = nn.Module()\n    setattr(n, 'm' * 200, m)\n    m = n\nself.m = m",
        "m = self.m\nfor i in range(900):\n    m = getattr(m, 'm' * 200)\nfor i in range(50000):\n    x = m(x)\n",
    ),
    (
        "class",
        "",
        "Long = type('A' * 1000000, (nn.Module,), {'forward': lambda self, x: x + 1})\nfor _ in range(50000):\n    x = Long()(x)\n",
    ),
    (
        "operator",
        "",
        "s = 'a,' * 500000\nfor _ in range(50000):\n    try:\n        x = torch.einsum(s, x)\n    except RuntimeError:\n        pass\n",
    ),
    ("cat", "", "l = [x] * 300000\nfor _ in range(3000):\n    y = torch.cat(l)\n"),
    ("shape", "", "l = [1] * 60\nfor i in range(50000):\n    x = x.reshape(l) if i % 2 else x.reshape(192)\n"),
    ("split", "", "y = x.repeat(1000, 1, 1, 1)\nfor _ in range(1000):\n    z = y.split(1)\n"),
]

# Statements with very many expressions.
EXPRESSIONS = [
    ("sum", "a" + " + a" * 900),
    ("and", "a" + " and a" * 20000),
    ("compare", "a" + " == a" * 20000),
    ("not", "not " * 900 + "a"),
    ("calls", "[" + "len(''), " * 2000 + "]"),
    ("targets", "b = " * 20000 + "a"),
    ("equal_keys", "{" + "a: a, " * 20000 + "}"),
    ("equal_items", "{" + "a, " * 20000 + "}"),
    ("arguments", "len(" + "a, " * 20000 + ")"),
    ("text", "f'" + "{a}" * 5000 + "'"),
]


def indented(text, width):
    return "".join(" " * width + line + "\n" for line in text.splitlines())


def cases():
    """(name, exit codes, text, arguments)"""
    with open(os.path.join(HERE, "natives.txt"), encoding="utf-8") as f:
        chunks = re.split(r"^=== ", f.read(), flags=re.M)[1:]
    arguments = ["--entry", "Net()", "--input", "1x3x8x8"]
    for chunk in chunks:
        name, want, before, statement = re.fullmatch(r"(\w+) -> ([\d ]+)\n(.*?)>>> ([^\n]+)\n", chunk, re.S).groups()
        text = IMPORTS + LOOP % (indented(before, 8), ITERATIONS, statement)
        yield name, tuple(map(int, want.split())), text, arguments
    for name, statement in EXPRESSIONS:
        text = IMPORTS + LOOP % ("        a = 1\n", ITERATIONS, statement)
        yield "expression_" + name, (7,), text, arguments
    for name, init, forward in NAMES:
        text = IMPORTS + NET % (indented(init, 8), indented(forward, 8))
        yield "name_" + name, (0, 6, 7), text, arguments
    # The longest argument that Linux passes has 128 KB.
    plain = IMPORTS + "class Net(nn.Module):\n    def forward(self, x, *more, **named):\n        return x + 1\n"
    for name, more in (
        ("input_rank", ["--entry", "Net()", "--input", "x".join(["1"] * 60000)]),
        ("input_list", ["--entry", "Net()", "--input", "[" + ",".join(["1"] * 60000) + "]"]),
        ("input_nested", ["--entry", "Net()", "--input", "[" * 60000]),
        ("input_name", ["--entry", "Net()", "--input", "1x3x8x8", "--input", "a" * 120000 + "=1"]),
        ("inputs_many", ["--entry", "Net()"] + ["--input", "1"] * 40000),
        ("arguments_many", arguments + [a for i in range(30000) for a in ("--arg", "a%d=0" % i)]),
        ("argument_name", arguments + ["--arg", "a" * 120000 + "=0"]),
        ("argument_long", arguments + ["--arg", "a=" + "+".join(["1"] * 60000)]),
        ("entry_long", ["--entry", "Net(" + " " * 120000 + ")", "--input", "1x3x8x8"]),
        ("entry_name", ["--entry", "N" * 120000, "--input", "1x3x8x8"]),
        ("method_name", arguments + ["--method", "f" * 120000]),
    ):
        yield name, (0, 2, 6, 7), plain, more


def check(case, folder):
    name, want, text, arguments = case
    path = os.path.join(folder, name, "model.py")
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    code, error, _, cpu, memory = hostile_test.run([path] + arguments)
    faults = []
    if code not in want:
        faults.append("exit %d, expected %s" % (code, " or ".join(map(str, want))))
    if cpu > SECONDS:
        faults.append("%.2f s of processor time" % cpu)
    if memory > hostile_test.MEMORY_KB:
        faults.append("%d MB" % (memory >> 10))
    if code > 0 and not re.search(r"error: \S", error):
        faults.append("no message")
    if len(error) > 20000:
        faults.append("a message of %d characters" % len(error))
    return name, faults, cpu, memory, code, error


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--slowest", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--keep", default="", help="write the programs into this folder and keep them")
    options = parser.parse_args()
    everything = list(cases())
    chosen = [
        case
        for number, case in enumerate(everything)
        if options.only in case[0] and (options.all or options.only or number % 5 == 0)
    ]
    print("%d of %d programs" % (len(chosen), len(everything)))
    assert len(everything) >= 300 and len(chosen) > 0
    assert len({case[0] for case in everything}) == len(everything)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    folder = tempfile.TemporaryDirectory()
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        results = []
        for r in pool.map(lambda case: check(case, options.keep or folder.name), chosen):
            results.append(r)
            if options.verbose:
                print("%6.3f s %4d MB exit %d  %s" % (r[2], r[3] >> 10, r[4], r[0]), flush=True)
    wrong = [r for r in results if r[1]]
    for name, faults, cpu, memory, code, error in wrong:
        print("%s: %s\n    %s" % (name, "; ".join(faults), error.strip()[-300:].replace("\n", "\n    ")))
    print("slowest (processor seconds, peak MB, exit):")
    for name, _, cpu, memory, code, _ in sorted(results, key=lambda r: -r[2])[: options.slowest]:
        print("  %6.3f %5d %2d  %s" % (cpu, memory >> 10, code, name))
    print("%d run, %d wrong; most memory %d MB" % (len(results), len(wrong), max(r[3] for r in results) >> 10))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
