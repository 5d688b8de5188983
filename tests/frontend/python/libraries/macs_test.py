#!/usr/bin/env python3
"""Multiply-accumulates of every operator that has products, against
torch.utils.flop_counter.FlopCounterMode (SDPBackend.MATH).

    macs_test.py [--seed N] [--rounds N]       needs `scripts/setup.sh --pypi`; exit 77 without it
    macs_test.py --truth PROGRAM CASES         run by build/pypi/bin/python3: a JSON object for each
                                               case

Half of what FlopCounterMode counts is what we say, or what macs_cases.py calls uncounted: products
that run in operators for which it has no formula. Read as PyTorch 2.13 runs them, and as 1.13 does
where it has the operator. The reports of ../shared are compared if they are there."""
import argparse
import collections
import glob
import importlib.util
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.normpath(os.path.join(HERE, "..", "..", "..", ".."))
sys.path.insert(0, HERE)
import macs_cases  # noqa: E402

BIN = os.environ.get("COBRA_BIN", os.path.join(ROOT, "build/release/bin"))
PYTHON = os.path.join(ROOT, "build/pypi/bin/python3")
REPORTS = os.path.join(ROOT, "..", "shared", "reports", "costs")
VERSIONS = ("2.13.0", "1.13.1")
MOST_REFUSED = 0.1  # of the cases, by PyTorch itself: a type that a kernel does not have, an odd equation


def program(cases):
    lines = ["import torch", "import torchvision", "import torch.nn as nn", "import torch.nn.functional as F"]
    for number, case in enumerate(cases):
        arguments = ", ".join(f"x{i}" for i in range(len(case["inputs"])))
        lines += ["", "", f"class Case{number}(nn.Module):", "    def __init__(self):", "        super().__init__()"]
        lines += ["        " + case["setup"]] if case["setup"] else []
        lines += ["", f"    def forward(self, {arguments}):", f"        return {case['forward']}"]
    return "\n".join(lines) + "\n"


def tensor_of(spec):
    import torch

    shape, _, dtype = spec.partition(":")
    sizes = [] if shape == "scalar" else [int(size) for size in shape.split("x")]
    return torch.ones(sizes, dtype=getattr(torch, dtype or "float32"))


def counted(model, inputs):
    from torch.nn.attention import SDPBackend, sdpa_kernel
    from torch.utils.flop_counter import FlopCounterMode

    with sdpa_kernel(SDPBackend.MATH), FlopCounterMode(display=False) as counter:
        model(*inputs)
    return counter.get_total_flops() // 2


def deformed(x, weight, offset, *_):
    return x.new_empty((x.shape[0], weight.shape[0], *offset.shape[2:]))


def truth(path, cases_path):
    """Prints what PyTorch counts in each case, or why it does not run it."""
    import torch
    import torchvision_operators  # before torchvision
    import torchvision.extension

    torchvision.extension._has_ops = lambda: True
    torchvision_operators.library.impl("deform_conv2d", deformed, "Meta")
    # Kernels that do a whole layer at once are not counted.
    torch.backends.mkldnn.enabled = False
    torch.backends.mha.set_fastpath_enabled(False)
    torch.backends.opt_einsum.enabled = False
    found = importlib.util.spec_from_file_location("macs_program", path)
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    with open(cases_path) as file:
        cases = json.load(file)
    for number, case in enumerate(cases):
        try:
            model = getattr(module, f"Case{number}")().eval()
            inputs = [tensor_of(spec) for spec in case["inputs"]]
            with torch.no_grad():
                try:
                    macs = counted(model, inputs)
                except NotImplementedError:  # torchvision's operators have no kernels here
                    macs = counted(model.to("meta"), [x.to("meta") for x in inputs])
            print(json.dumps({"macs": macs}))
        except (RuntimeError, IndexError, ValueError) as error:
            print(json.dumps({"error": str(error).splitlines()[0]}))


def torchvision():
    """The first file of torchvision beside PyTorch 2.13."""
    return glob.glob(os.path.join(ROOT, "build/pypi/lib/python3*/site-packages/torchvision/__init__.py"))[0]


def answers(path, cases, version):
    """What we say of each case, as PyTorch of that version runs it."""
    requests = [
        json.dumps({"file": path, "entry": f"Case{number}()", "inputs": case["inputs"]})
        for number, case in enumerate(cases)
    ]
    command = [BIN + "/read_model", "--batch", "--torch-version", version]
    if version == VERSIONS[0]:
        command += ["--library", os.path.dirname(os.path.dirname(torchvision()))]
    text = "\n".join(requests) + "\n"
    read = subprocess.run(command, input=text, stdout=subprocess.PIPE, text=True, check=True)
    return [json.loads(line) for line in read.stdout.splitlines()]


def compare(cases, path, cases_path):
    """How many cases differ; prints each."""
    command = [PYTHON, os.path.abspath(__file__), "--truth", path, cases_path]
    real = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True)
    truths = [json.loads(line) for line in real.stdout.splitlines()]
    differ, refused, kinds, left_out = 0, 0, collections.Counter(), {}
    for version in VERSIONS:
        for case, expected, ours in zip(cases, truths, answers(path, cases, version)):
            if "error" in expected:
                refused += version == VERSIONS[0]
                continue
            if "error" in ours and version != VERSIONS[0]:
                continue  # an operator or an argument of a later version
            wanted = expected["macs"] or case["uncounted"]
            if case["uncounted"] and expected["macs"] and not case["sometimes"]:
                print(f"FlopCounterMode counts {expected['macs']} in {case['forward']}: is '{case['why']}' still so?")
                differ += 1
            elif ours.get("macs") != wanted:
                differ += 1
                answer = ours.get("error") or f"macs {ours['macs']}"
                print(
                    f"PyTorch {version}: {case['forward']} {case['setup']} of {case['inputs']}: {wanted} wanted, {answer}"
                )
            kinds[case["kind"]] += 1
            left_out[case["kind"]] = case["why"] or left_out.get(case["kind"], "")
    for kind, count in sorted(kinds.items()):
        print(f"{count:5d} {kind}" + (f": {left_out[kind]}" if left_out[kind] else ""))
    print(f"{len(cases)} cases, {refused} refused by PyTorch, {differ} differ")
    return differ if refused <= MOST_REFUSED * len(cases) else max(differ, 1)


def compare_reports():
    """The same of the examples of ../shared, whose right answers are beside them."""
    differ = 0
    for path in sorted(glob.glob(os.path.join(REPORTS, "*", "expected.json"))):
        with open(path) as file:
            expected = json.load(file)
        right = expected["right"]
        if not isinstance(right, dict) or "macs" not in right:
            continue
        request = {
            "file": os.path.join(os.path.dirname(path), expected["fname"]),
            "entry": expected["entry"],
            "inputs": expected["inputs"],
        }
        command = [BIN + "/read_model", "--batch", "--torch-version", VERSIONS[0]]
        read = subprocess.run(command, input=json.dumps(request) + "\n", stdout=subprocess.PIPE, text=True, check=True)
        ours = json.loads(read.stdout)
        if ours.get("macs") == right["macs"]:
            continue
        differ += 1
        print(f"{os.path.basename(os.path.dirname(path))}: {right['macs']} wanted, {ours.get('error') or ours['macs']}")
    return differ


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--truth", nargs=2)
    options = parser.parse_args()
    if options.truth:
        truth(*options.truth)
        return 0
    if not os.path.exists(PYTHON):
        print("build/pypi is not there: scripts/setup.sh --pypi")
        return 77
    cases = macs_cases.drawn(options.seed, options.rounds)
    with tempfile.TemporaryDirectory() as folder:
        path, cases_path = os.path.join(folder, "macs_program.py"), os.path.join(folder, "cases.json")
        with open(path, "w") as file:
            file.write(program(cases))
        with open(cases_path, "w") as file:
            json.dump(cases, file)
        differ = compare(cases, path, cases_path)
    return 1 if differ + compare_reports() else 0


sys.exit(main())
