#!/usr/bin/env python3
"""Every model of a library, live and from its source: is it the same graph? Takes minutes.

    compare_all.py torchvision [--csv FILE] [NAME...]     the classification models of torchvision
                                                          (the running Python's torch, 1.13 on
                                                          Debian 12)
    compare_all.py timm [--most N] [--csv FILE] [NAME...]  the N models of timm with the fewest
                                                           parameters (default 200)

Prints what differs, and at the end how many are equal, how many calls depend on no input and no
parameter, and how long taking one takes. Exit 1: something differs; 77: a library is not
installed."""
import argparse
import csv
import inspect
import os
import sys
import time
import warnings

import support

support.require("torch")
support.stage()
import torch  # noqa: E402

import cobra_latency  # noqa: E402
from cobra_latency import Source  # noqa: E402

warnings.simplefilter("ignore")
VERSION = "1.13.1" if torch.__version__ < "2" else torch.__version__.split("+")[0]


def without_initialization():
    """Weights stay memory that nobody has written: their values do not matter here."""
    for name in dir(torch.nn.init):
        if name.endswith("_") and not name.startswith("_"):
            setattr(torch.nn.init, name, lambda tensor, *_, **__: tensor)


def torchvision_models(_):
    """(name, how to make it, source, input)"""
    support.require("torchvision")
    from torchvision import models

    for name, make in sorted(vars(models).items()):
        if not inspect.isfunction(make) or not name.islower() or name.startswith("get_") or name == "list_models":
            continue
        options = {"init_weights": False} if name in ("googlenet", "inception_v3") else {}
        entry = f"{name}({', '.join(f'{key}={value}' for key, value in options.items())})"
        file = inspect.getsourcefile(inspect.unwrap(make))
        size = 299 if name == "inception_v3" else 224
        yield name, lambda make=make, options=options: make(**options), Source(file, entry), (1, 3, size, size)


def timm_models(most):
    """timm is imported beside a torch for which torchvision was not compiled: its operators are
    declared, and compute nothing."""
    declared = os.path.join(support.ROOT, "tests", "frontend", "python", "libraries")
    sys.path.insert(0, declared)
    try:
        import torchvision_operators  # noqa: F401
    except (ImportError, RuntimeError):
        pass
    support.require("timm")
    import timm

    found = []
    for name in timm.list_models():
        with torch.device("meta"):
            model = timm.create_model(name)
        size = tuple(model.pretrained_cfg.get("input_size") or (3, 224, 224))
        found.append((sum(p.numel() for p in model.parameters()), name, size))
    file = os.path.join(os.path.dirname(timm.__file__), "models", "__init__.py")
    for _, name, size in sorted(found)[:most]:
        source = Source(file, f"create_model('{name}')", torch_version=VERSION)
        yield name, lambda name=name: timm.create_model(name), source, (1, *size)


def constant_calls(graph):
    """How many calls depend on no input and no parameter. PyTorch runs them each time."""
    kinds = type(graph.outputs[0])
    constant = []
    for node in graph.nodes:
        constant.append(
            all(
                constant[ref.index]
                if ref.kind == kinds.KIND_NODE
                else ref.kind not in (kinds.KIND_INPUT, kinds.KIND_PARAMETER)
                for ref in node.inputs
            )
        )
    return sum(constant)


def compare(client, target, make, source, shape):
    """(what differs or "", seconds of taking the model, calls, those of them on constants)"""
    model = make().eval()
    start = time.perf_counter()
    try:
        graph = cobra_latency.graph_of(model, shape)
        seconds = time.perf_counter() - start
        live = client.predict(graph, None, target)
        read = client.predict(source, shape, target)
    except cobra_latency.CobraError as error:
        return str(error).replace("\n", " "), 0.0, 0, 0
    constant = constant_calls(graph)
    for what in ("fingerprint", "calls", "parameters", "macs", "ms"):
        if getattr(live, what) != getattr(read, what):
            different = f"{what}: {getattr(live, what)} live, {getattr(read, what)} from source"
            return different, seconds, live.calls, constant
    return "", seconds, live.calls, constant


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library", choices=("torchvision", "timm"))
    parser.add_argument("names", nargs="*")
    parser.add_argument("--most", type=int, default=200)
    parser.add_argument("--csv")
    options = parser.parse_args()
    models = list({"torchvision": torchvision_models, "timm": timm_models}[options.library](options.most))
    client = support.start()
    target = client.targets(kind="cpu", runtime="libtorch").names()[0]
    without_initialization()
    rows = []
    for name, make, source, shape in models:
        if options.names and name not in options.names:
            continue
        difference, seconds, calls, constant = compare(client, target, make, source, shape)
        rows.append((name, "x".join(map(str, shape)), calls, constant, f"{seconds:.3f}", difference or "equal"))
        if difference:
            print(f"{name}: {difference}", flush=True)
    if options.csv:
        with open(options.csv, "w", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows(
                [("model", "input", "calls", "calls on constants", "seconds", "result"), *rows]
            )
    equal = sum(row[-1] == "equal" for row in rows)
    times = sorted(float(row[4]) for row in rows)
    median, slowest = times[len(times) // 2], times[-1]
    print(
        f"torch {torch.__version__}: {equal} of {len(rows)} equal; {sum(row[3] for row in rows)} calls on constants in "
        f"{sum(row[3] > 0 for row in rows)} of them; taking one: median {median:.2f} s, slowest {slowest:.2f} s"
    )
    return 0 if equal == len(rows) else 1


if __name__ == "__main__":
    sys.exit(main())
