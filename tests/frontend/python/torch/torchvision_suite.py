#!/usr/bin/python3
"""Every model of python3-torchvision: is our graph what real PyTorch runs?

    torchvision_suite.py [--train | --write docs/torchvision_models.md] [REGEX...]

Each model is built and run once by PyTorch (weights are not initialised, so that they cost no
memory), recorded as make_goldens.py does, and compared with what read_model gives for the same
source, as graph_equality_test.py does.
Detectors choose boxes by their scores, so they are refused as data-dependent; their backbones, with
the feature pyramid, are compared. --train: as after model.train(), two inputs at once. Needs
python3-torchvision 0.14; one thread, a few minutes."""
import importlib
import json
import os
import re
import subprocess
import sys

os.environ.setdefault("OMP_NUM_THREADS", "1")
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
BIN = os.environ.get("COBRA_BIN", "build/release/bin")
LIBRARY = "/usr/lib/python3/dist-packages"
IMAGE, SMALL = [[1, 3, 224, 224]], [[1, 3, 128, 128]]


def cases():
    """(name, module, expression, input shapes, whether it is a detector)"""
    import torchvision.models as models

    found = []
    for name in models.list_models():
        builder = models.get_model_builder(name)
        module, call = builder.__module__, builder.__name__
        kind = module.split(".")[2]
        if kind == "detection":
            make = call + "(weights_backbone=None)"
            found.append((name, module, make, [[3, 320, 320]], True))
            found.append(
                (
                    name + ".backbone",
                    module,
                    make + ".backbone",
                    [[1, 3, 256, 256]] if "ssd300" not in name else [[1, 3, 300, 300]],
                    False,
                )
            )
        elif kind == "segmentation":
            found.append((name, module, call + "(weights_backbone=None)", SMALL, False))
        elif kind == "optical_flow":
            found.append((name, module, call + "()", SMALL * 2, False))
        elif kind == "video":
            size = 224 if call.startswith(("mvit", "s3d")) else 112
            found.append((name, module, call + "()", [[1, 3, 16, size, size]], False))
        elif call == "inception_v3":
            found.append((name, module, call + "(init_weights=False)", [[1, 3, 299, 299]], False))
        elif call == "googlenet":
            found.append((name, module, call + "(init_weights=False)", IMAGE, False))
        else:
            found.append((name, module, call + "()", IMAGE, False))
    return found


def without_initialization():
    """Weights stay pages that nobody has written."""
    import torch

    for name in dir(torch.nn.init):
        if name.endswith("_") and not name.startswith("_"):
            setattr(torch.nn.init, name, lambda tensor, *args, **kwargs: tensor)
    for name in ("normal_", "uniform_", "trunc_normal_", "erfinv_"):
        setattr(torch.Tensor, name, lambda tensor, *args, **kwargs: tensor)


def in_training(record):
    """`training` as ours: where it is true and, for batch normalization, where there are running
    statistics."""
    if record["args"].get("training") is False or (
        record["op"] == "batch_norm" and "running_mean" not in record["src"]
    ):
        record["args"].pop("training", None)
    return record


def golden(module_name, expression, shapes, training):
    import make_goldens
    import torch

    module = importlib.import_module(module_name)
    model = eval(expression, dict(vars(module))).train(training)
    recorded = make_goldens.record(model, [torch.zeros(s) for s in shapes])
    recorded["ops"] = [in_training(record) for record in recorded["ops"]]
    return recorded


def ours(case, training):
    name, module, expression, shapes, detector = case
    path = "%s/%s.py" % (LIBRARY, module.replace(".", "/"))
    texts = ["x".join(map(str, s)) for s in shapes]
    if detector:
        texts = ["[%s]" % ",".join(texts)]
    answer = subprocess.run(
        [BIN + "/read_model", path, expression, *texts, "--library", LIBRARY] + ["--train"] * training,
        capture_output=True,
        text=True,
    )
    if answer.returncode != 0:
        return {"error": "read_model: exit status %d" % answer.returncode}
    return json.loads(answer.stdout)


def reason(error):
    """The sentence of a refusal, and where."""
    found = re.search(r"(?m)^(?:.*/dist-packages/)?(\S+:\d+:\d+): error: (.*)$", error)
    return "%s (%s)" % (found.group(2), found.group(1)) if found else error.splitlines()[0]


def check(case, training):
    """(verdict, detail, graph)"""
    import graph_equality_test

    graph = ours(case, training)
    if case[4]:
        if "error" not in graph:
            return "differs", "a detector was not refused", graph
        refused = "depends on" in graph["error"] or "data-dependent" in graph["error"]
        return ("refused" if refused else "differs"), reason(graph["error"]), graph
    why = graph_equality_test.difference(golden(*case[1:4], training), graph)
    return ("differs", why[:300], graph) if why else ("equal", "", graph)


def table(rows):
    lines = [
        "# torchvision's models",
        "",
        "Made by `tests/frontend/python/torch/torchvision_suite.py --write docs/torchvision_models.md` from",
        "python3-torchvision 0.14.1: every model of `torchvision.models.list_models()`, its source read by",
        "this project and run by PyTorch 1.13. *equal*: parameters, calls, attributes, shapes, module paths,",
        "data flow and multiply-accumulates are the same. *refused*: shapes depend on what the network",
        "computes; the reason is the reader's.",
        "Quantized models are built with `quantize=False`.",
        "",
        "%d equal, %d refused, %d different."
        % tuple(sum(r[1] == v for r in rows) for v in ("equal", "refused", "differs")),
        "",
        "| model | input | parameters | calls | multiply-accumulates | result |",
        "|---|---|---|---|---|---|",
    ]
    for name, verdict, detail, shapes, graph in rows:
        numbers = (
            ("", "", "")
            if "error" in graph
            else ("%d" % graph["params"], "%d" % len(graph["ops"]), "%d" % graph["macs"])
        )
        lines.append(
            "| `%s` | %s | %s | %s | %s | %s |"
            % (
                name,
                ", ".join("x".join(map(str, s)) for s in shapes),
                *numbers,
                verdict + (": " + detail if detail else ""),
            )
        )
    return "\n".join(lines) + "\n"


def main():
    if not os.path.isdir(LIBRARY + "/torchvision"):
        print("python3-torchvision is not installed")
        return 77
    arguments, target = sys.argv[1:], None
    training = "--train" in arguments
    arguments = [a for a in arguments if a != "--train"]
    if "--write" in arguments:
        at = arguments.index("--write")
        target = arguments[at + 1]
        del arguments[at : at + 2]
    import make_goldens  # sets PYTORCH_JIT before torch is there
    import torch

    torch.set_num_threads(1)
    without_initialization()
    if training:
        make_goldens.NO_ATTRIBUTE.discard("training")
    rows = []
    for case in cases():
        if training and case[4]:
            continue  # a detector needs targets to train
        if training:
            case = (*case[:3], [[2, *shape[1:]] for shape in case[3]], False)
        if arguments and not any(re.fullmatch(a, case[0]) for a in arguments):
            continue
        verdict, detail, graph = check(case, training)
        rows.append((case[0], verdict, detail, case[3], graph))
        print(verdict, case[0], detail, flush=True)
    if target:
        with open(target, "w") as out:
            out.write(table(rows))
    wrong = sum(r[1] == "differs" for r in rows)
    print("%d models, %d different" % (len(rows), wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
