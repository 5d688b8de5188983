#!/usr/bin/env python3
"""What real PyTorch runs for programs that use a library, for libraries.py: reads a JSON object a
line, {"name", "source", "entry", "inputs"}, and writes FOLDER/NAME.json.gz for each: what
make_goldens.py records, and the multiply-accumulates that torch.utils.flop_counter counts; or
{"unbuildable": why}.

    libraries_truth.py FOLDER

Run by the Python of build/pypi, with build/libraries on its path."""
import gzip
import itertools
import json
import os
import sys
import warnings

os.environ.update(OMP_NUM_THREADS="1", HF_HUB_OFFLINE="1", TRANSFORMERS_VERBOSITY="error")
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "frontend", "python", folder) for folder in ("torch", "libraries")]
import make_goldens  # noqa: E402  sets PYTORCH_JIT before torch is there
import torch  # noqa: E402
from torch.nn.attention import SDPBackend, sdpa_kernel  # noqa: E402
from torch.utils.flop_counter import FlopCounterMode  # noqa: E402

import torchvision_operators  # noqa: E402,F401


def tensor_of(spec):
    shape, _, dtype = spec.partition(":")
    sizes = [int(size) for size in shape.split("x")]
    return torch.randint(0, 2, sizes, dtype=getattr(torch, dtype)) if dtype else torch.rand(sizes)


def program(source):
    """Its names; or why it cannot be run."""
    names = {"__name__": "net"}
    try:
        exec(compile(source, "net.py", "exec"), names)  # a program of our own list
    except Exception as error:
        return error  # to all its questions: a second try would find half of its modules imported
    return names


def record(case, names):
    if isinstance(names, Exception):
        raise names
    torch.manual_seed(0)
    named = [text.rpartition("=")[::2] for text in case["inputs"]]

    def inputs():
        torch.manual_seed(1)
        return [tensor_of(spec) for name, spec in named if not name], {n: tensor_of(s) for n, s in named if n}

    model = eval(case["entry"], names)
    model.eval()
    golden = make_goldens.record(model, *inputs())
    # Again, for what a first run keeps is not made again: the network is that of a second run.
    model = eval(case["entry"], names).requires_grad_(False)
    model.eval()
    with FlopCounterMode(display=False) as counter, sdpa_kernel(SDPBackend.MATH), torch.no_grad():
        positional, keywords = inputs()
        model(*positional, **keywords)
    return {**golden, "counted": counter.get_total_flops() // 2}


def write(case, names):
    try:
        truth = record(case, names)
    except Exception as error:
        truth = {"unbuildable": (f"{type(error).__name__}: {error}".splitlines() or [""])[0][:300]}
    path = os.path.join(sys.argv[1], case["name"] + ".json.gz")
    with gzip.GzipFile(path + ".part", "wb", mtime=0) as file:
        file.write(json.dumps({**case, **truth}).encode())
    os.rename(path + ".part", path)


def main():
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    os.dup2(2, 1)  # what models print is not a report
    cases = [json.loads(line) for line in sys.stdin]
    for source, of_library in itertools.groupby(cases, key=lambda case: case["source"]):
        # A process for each, for libraries change each other.
        if (child := os.fork()) == 0:
            names = program(source)
            for case in of_library:
                write(case, names)
            os._exit(0)
        os.waitpid(child, 0)


main()
