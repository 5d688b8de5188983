#!/usr/bin/python3
"""Tensors of a program's own classes, and modes (subclass_cases.py): what the classes see and what
the program gets is the same in our reader and in PyTorch, of 1.13 (Debian's python3-torch) and of
2.13 (`scripts/setup.sh --pypi`), as far as they are there; and the network runs the same calls.

    tensor_subclass_test.py [CASE...]     exit 77: python3-torch is not installed"""
import json
import os
import re
import subprocess
import sys
import tempfile
import warnings

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.abspath(HERE + "/../../../..")
BIN = os.environ.get("COBRA_BIN", "build/release/bin")
JUDGES = {"1.13.1": "/usr/bin/python3", "2.13.0": ROOT + "/build/pypi/bin/python3"}
PIECE = 600
ASK = """
import json, sys
sys.path.insert(0, %r)
sys.dont_write_bytecode = True
import subclass_cases
print(json.dumps([subclass_cases.outcome(getattr(subclass_cases, name)) for name in sys.argv[1:]]))
"""


def cases():
    with open(HERE + "/subclass_cases.py") as file:
        return re.findall(r"^(?:def|class) ((?:net|eager)_\w+)\(", file.read(), re.MULTILINE)


def read(version, entries):
    requests = [{"file": HERE + "/subclass_cases.py", "entry": entry, "inputs": inputs} for entry, inputs in entries]
    done = subprocess.run(
        [BIN + "/read_model", "--batch", "--library", HERE, "--torch-version", version],
        input="".join(json.dumps(request) + "\n" for request in requests),
        capture_output=True,
        text=True,
    )
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(answers) == len(entries), done.stderr[-500:]
    return answers


def outcomes_differ(version, python, names):
    asked = subprocess.run([python, "-W", "ignore", "-c", ASK % HERE, *names], capture_output=True, text=True)
    if asked.returncode != 0:
        sys.exit(asked.stderr[-500:])
    theirs_of = dict(zip(names, json.loads(asked.stdout.splitlines()[-1])))
    # In pieces: the text of an error is cut where it is long.
    pieces = [(name, at) for name in names for at in range(0, len(theirs_of[name]) + 1, PIECE)]
    answers = read(version, [(f"Outcome({name}, {at}, {at + PIECE})", ["4x8"]) for name, at in pieces])
    ours_of = dict.fromkeys(names, "")
    for (name, _), answer in zip(pieces, answers):
        found = re.search(r"LookupError: <(.*)>$", answer.get("error", "no error"), re.MULTILINE)
        ours_of[name] += found[1] if found else answer.get("error", "no error")
    differ = 0
    for name in names:
        ours, theirs = ours_of[name], theirs_of[name]
        if ours != theirs:
            differ += 1
            at = next((i for i, (a, b) in enumerate(zip(ours, theirs)) if a != b), min(len(ours), len(theirs)))
            at = max(0, at - 60)
            print(f"{version} {name}\n  PyTorch: {theirs[at:at + 300]}\n  ours:    {ours[at:at + 300]}")
    print(f"{version}: {differ} of {len(names)} cases differ")
    return differ


def recorded(name):
    """The calls as PyTorch runs them; of what is handed to a class, those that the class makes."""
    import make_goldens
    import subclass_cases
    import torch

    class Recorder(make_goldens.Recorder):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            switched_on = torch._C._is_torch_function_enabled()
            if not self.busy and switched_on and any(t not in (torch.Tensor, torch.nn.Parameter) for t in types):
                return NotImplemented  # the class makes its own calls
            return super().__torch_function__(func, types, args, kwargs)

        def as_subclass(self, tensor, cls):
            """A tensor that the graph knows as the one that it is made of."""
            made = as_subclass(tensor, cls)
            self.source.setdefault(id(made), self.src(tensor))
            self.keep.append(made)
            return made

        def __enter__(self):
            torch.Tensor.as_subclass = lambda tensor, cls: self.as_subclass(tensor, cls)
            return super().__enter__()

    as_subclass = torch.Tensor.as_subclass
    own, make_goldens.Recorder = make_goldens.Recorder, Recorder
    try:
        return make_goldens.record(subclass_cases.Net(getattr(subclass_cases, name)).eval(), [torch.ones(4, 8)])
    finally:
        make_goldens.Recorder, torch.Tensor.as_subclass = own, as_subclass


def calls_of(graph):
    """Name, shape and inplace of what is run."""
    import constant_calls_test

    return constant_calls_test.calls_of(graph)


def calls_differ(names):
    differ = 0
    for name, graph in zip(names, read("1.13.1", [(f"Net({name})", ["4x8"]) for name in names])):
        if "error" in graph:
            differ += 1
            print("REFUSED", name, graph["error"])
            continue
        truth = recorded(name)
        want, have = calls_of(truth), calls_of(graph)
        if want != have or truth["macs"] != graph["macs"]:
            differ += 1
            print(f"DIFFERS {name}\n  ours      {have}, {graph['macs']} MACs\n  PyTorch's {want}, {truth['macs']} MACs")
    print(f"the calls of {differ} of {len(names)} networks differ")
    return differ


def table_differs():
    """overrides.def is what make_overrides.py reads off the text of both."""
    folder = ROOT + "/frontend/python/torch/overrides/"
    if not all(os.path.exists(python) for python in JUDGES.values()):
        return 0
    made = subprocess.run(
        [sys.executable, folder + "make_overrides.py", *JUDGES.values()], capture_output=True, text=True
    )
    with open(folder + "overrides.def") as file:
        differs = made.stdout != file.read()
    print("overrides.def is" + (" not" if differs else "") + " what make_overrides.py writes")
    return int(differs)


def main():
    try:
        import torch  # noqa: F401
    except ImportError:
        print("python3-torch is not installed")
        return 77
    warnings.simplefilter("ignore")
    sys.path.insert(0, HERE)
    sys.dont_write_bytecode = True
    names = sys.argv[1:] or cases()
    differ = table_differs()
    for version, python in JUDGES.items():
        if os.path.exists(python):
            differ += outcomes_differ(version, python, names)
    differ += calls_differ([name for name in names if name.startswith("net_")])
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
