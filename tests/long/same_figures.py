#!/usr/bin/env python3
"""`cobra-client graph`, `predict`, `explain` and the live module say the same of a model: calls,
parameters, multiply-accumulates, operations, peak memory, milliseconds on one target.

    same_figures.py torchvision [REGEX...]                every model of the running Python's
                                                          torchvision
    same_figures.py timm [--count 200] [--seed 1] [REGEX...]   so many of timm's, drawn at random
                                                               (0: all)

Each way reads the model by itself: three commands the source, the fourth runs the module of the
running Python's torch; `graph` prints figures rounded, which must be those of the others, rounded.
Detectors choose boxes by their scores: all four must refuse them, as data-dependent. What was
compared is kept in build/same-figures-LIBRARY-TORCH.csv; a second run of the same programs goes on
from there, and asks again what differed. COBRA_BIN: where they are. Needs grpc and protobuf beside
torch (scripts/setup.sh --pypi: PYTHONPATH=build/pypi-client build/pypi/bin/python3). Exit 1:
something differs; 77: a library is not installed."""
import argparse
import csv
import hashlib
import json
import os
import random
import re
import subprocess
import sys
import warnings

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path[1:1] = [
    os.path.join(ROOT, "client", "python", "tests"),
    os.path.join(ROOT, "tests", "frontend", "python", "torch"),
    os.path.join(ROOT, "tests", "frontend", "python", "libraries"),
    os.path.join(ROOT, "tests", "e2e"),
]
import programs  # noqa: E402
import support  # noqa: E402

support.require("torch")
support.stage()
import torch  # noqa: E402
import torchvision_suite  # noqa: E402

import cobra_latency  # noqa: E402

CLIENT = os.path.join(support.BIN, "cobra-client")
VERSION = re.match(r"\d+\.\d+\.\d+", torch.__version__).group()
REFUSED = "refused: its shapes depend on data"
EXIT_UNREADABLE = 4
SECONDS = 300  # of one command
LIMITS_TIMES = 200  # TinyViT computes its tables of positions in a loop of a million steps


def declare_operators():
    """Those of a torchvision from PyPI, which was not compiled for this torch: it can be imported
    then, and they compute nothing."""
    if torch.__version__ < "2":  # Debian's, which belong together
        return
    try:
        import torchvision_operators  # noqa: F401
    except (ImportError, RuntimeError):
        pass


def torchvision_models(_):
    """(name, expression, its file, inputs, whether it is a detector)"""
    declare_operators()
    support.require("torchvision")
    import torchvision

    folder = os.path.dirname(os.path.dirname(torchvision.__file__))
    for name, module, expression, shapes, detector in torchvision_suite.cases():
        yield name, expression, os.path.join(folder, *module.split(".")) + ".py", shapes, detector


def timm_models(options):
    declare_operators()
    support.require("timm")
    import timm

    names = sorted(timm.list_models())
    if 0 < options.count < len(names):
        names = sorted(random.Random(options.seed).sample(names, options.count))
    file = os.path.join(os.path.dirname(timm.__file__), "models", "__init__.py")
    for name in names:
        config = timm.get_pretrained_cfg(name, allow_unregistered=True)
        size = tuple((config and config.input_size) or (3, 224, 224))
        yield name, f"create_model('{name}')", file, [[1, *size]], False


def count_text(number):
    """As client/terminal/text_table.cc prints it."""
    for unit, digits, letter in ((1e9, 2, "G"), (1e6, 1, "M"), (1e3, 1, "k")):
        if number >= unit:
            return f"{number / unit:.{digits}f} {letter}"
    return str(number)


def command(name, case, *flags, server=None):
    """(standard output, None), or (None, why it was refused)"""
    _, expression, file, shapes, detector = case
    texts = ["x".join(map(str, shape)) for shape in shapes]
    inputs = [f"[{','.join(texts)}]"] if detector else texts
    line = [CLIENT, name, file, "--entry", expression, "--torch-version", VERSION, *flags]
    line += [part for text in inputs for part in ("--input", text)]
    line += ["--library", library_of(file), "--limits-times", str(LIMITS_TIMES)]
    if server:
        line += ["--server", server.address, "--deadline-s", str(SECONDS)]
    done = subprocess.run(line, capture_output=True, text=True, timeout=2 * SECONDS)
    if done.returncode == 0:
        return done.stdout, None
    if done.returncode == EXIT_UNREADABLE and re.search("depends? on|data-dependent", done.stderr):
        return None, REFUSED
    return None, f"cobra-client {name}: exit {done.returncode}: {' '.join(done.stderr.split())[:300]}"


def library_of(file):
    """The folder of packages that the file's package is in."""
    folder = os.path.dirname(file)
    while os.path.exists(os.path.join(folder, "__init__.py")):
        folder = os.path.dirname(folder)
    return folder


def of_graph(case):
    text, why = command("graph", case)
    if why:
        return why
    calls, parameters, macs, memory = re.search(
        r"([\d.]+) calls?, (.+) parameters, (.+) multiply-accumulates, peak memory (.+) MiB\s*$", text
    ).groups()
    return {"calls": int(calls), "parameters": parameters, "macs": macs, "peak memory": memory}


def of_predict(case, server, target):
    text, why = command("predict", case, "--target", target, "--format", "json", server=server)
    if why:
        return why
    answer = json.loads(text)
    figures = {
        "calls": answer["calls"],
        "parameters": answer["params"],
        "macs": answer["macs"],
        "flops": answer["flops"],
        "peak memory": answer["peak_memory_bytes"],
        "us": answer["predictions"][0]["latency_us"],
    }
    return figures


def of_explain(case, server, target):
    text, why = command("explain", case, "--target", target, "--format", "json", server=server)
    if why:
        return why
    answer = json.loads(text)
    total = answer["total"]
    return {
        "calls": total["calls"],
        "parameters": total["params"],
        "macs": total["macs"],
        "flops": total["flops"],
        "peak memory": total["peak_memory_bytes"],
        "us": answer["prediction"]["latency_us"],
    }


def of_module(case, client, target):
    name, expression, file, shapes, detector = case
    space = dict(vars(sys.modules[module_name(file)]))
    try:
        module = eval(expression, space).eval()
        inputs = [tuple(shape) for shape in shapes]
        answer = client.predict(module, [inputs] if detector else inputs, target)
    except cobra_latency.ModelError as error:
        return REFUSED if error.kind == "data_dependent" else "live module: " + " ".join(str(error).split())[:300]
    except cobra_latency.CobraError as error:
        return "live module: " + " ".join(str(error).split())[:300]
    return {
        "calls": answer.calls,
        "parameters": answer.parameters,
        "macs": answer.macs,
        "flops": answer.flops,
        "peak memory": answer.peak_memory_bytes,
        "us": answer.estimates[0].ms * 1000,
    }


def module_name(file):
    name = os.path.relpath(file, library_of(file))[: -len(".py")].replace(os.sep, ".")
    name = name[: -len(".__init__")] if name.endswith(".__init__") else name
    __import__(name)
    return name


def same(kind, first, second):
    # Milliseconds are a sum that each way makes in its own order.
    return abs(first - second) <= 1e-6 * abs(second) if kind == "us" else first == second


def difference(case, server, client, target):
    """The figures and "", or what differs and None."""
    ways = {
        "predict": of_predict(case, server, target),
        "graph": of_graph(case),
        "explain": of_explain(case, server, target),
        "live module": of_module(case, client, target),
    }
    refused = {way: why for way, why in ways.items() if isinstance(why, str)}
    if refused:
        if case[4] and len(refused) == len(ways) and set(refused.values()) == {REFUSED}:
            return "", None
        return "; ".join(f"{way}: {ways[way] if way in refused else 'an answer'}" for way in ways), None
    first = ways["predict"]
    rounded = {
        "calls": first["calls"],
        "parameters": count_text(first["parameters"]),
        "macs": count_text(first["macs"]),
        "peak memory": f"{first['peak memory'] / 2**20:.1f}",
    }
    found = []
    for way in ("graph", "explain", "live module"):
        expected = rounded if way == "graph" else first
        for kind, value in ways[way].items():
            if not same(kind, value, expected[kind]):
                found.append(f"{kind}: {value} by {way}, {expected[kind]} by predict")
    if case[4] and not found:
        found.append("a detector was not refused")
    return "; ".join(found), first


def without_initialization():
    """Weights stay memory that nobody has written, also those of a billion parameters: their values
    do not matter here."""
    torchvision_suite.without_initialization()
    for module in [module for name, module in sys.modules.items() if name.startswith("timm.")]:
        for name in ("lecun_normal_", "trunc_normal_", "trunc_normal_tf_", "variance_scaling_"):
            if hasattr(module, name):
                setattr(module, name, lambda tensor, *_, **__: tensor)


FIELDS = ["model", "input", "calls", "parameters", "macs", "flops", "peak memory", "us", "result", "programs"]


def programs_hash():
    """Of what answers: rows of other programs say nothing of these."""
    hashed = hashlib.sha256()
    for name in ("cobra-client", "cobra-server", "cobra-reader"):
        with open(os.path.join(support.BIN, name), "rb") as file:
            hashed.update(file.read())
    return hashed.hexdigest()[:12]


def earlier_rows(path, by):
    """Those that need not be compared again."""
    if not os.path.exists(path):
        return {}
    with open(path, newline="") as file:
        rows = {row["model"]: row for row in csv.DictReader(file)}
    return {n: row for n, row in rows.items() if row["result"] in ("equal", REFUSED) and row.get("programs") == by}


def compared(cases, server, path):
    """A row of each model; what is new goes into the file at once."""
    by = programs_hash()
    rows = earlier_rows(path, by)
    client = cobra_latency.Client(server.address, timeout_s=SECONDS)
    target = client.targets(kind="cpu", runtime="libtorch").names()[0]
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", newline="") as file:
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows.values())
        for case in cases:
            name = case[0]
            if name in rows:
                continue
            found, figures = difference(case, server, client, target)
            result = found or ("equal" if figures else REFUSED)
            shapes = ",".join("x".join(map(str, shape)) for shape in case[3])
            rows[name] = {**(figures or {}), "model": name, "input": shapes, "result": result, "programs": by}
            writer.writerow(rows[name])
            file.flush()
            if found:
                print(f"{name}: {found}", flush=True)
    return [rows[case[0]] for case in cases]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library", choices=("torchvision", "timm"))
    parser.add_argument("names", nargs="*")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    cases = list({"torchvision": torchvision_models, "timm": timm_models}[options.library](options))
    if options.names:
        cases = [case for case in cases if any(re.search(name, case[0]) for name in options.names)]
    without_initialization()
    path = os.path.join(ROOT, "build", f"same-figures-{options.library}-{VERSION}.csv")
    with programs.Server(support.path("store.sqlite")) as server:
        rows = compared(cases, server, path)
    equal, refused = (sum(row["result"] == what for row in rows) for what in ("equal", REFUSED))
    print(f"{options.library}, torch {VERSION}: {equal} of {len(rows)} equal, {refused} refused in all four ways")
    return 0 if rows and equal + refused == len(rows) else 1


if __name__ == "__main__":
    sys.exit(main())
