#!/usr/bin/env python3
"""Networks of torchvision exported by python3-torch give the layers and multiply-accumulates that
their source gives.

Each model is exported at an opset and in a mode: `kept` keeps batch normalisation apart
(training=PRESERVE), `folded` lets the exporter fold it into the convolutions, as it does by
default; constant folding is on or off. Both graphs come from `cobra-client graph`. Compared is
every call that computes or copies (views and what inference drops are spelled otherwise by the
exporter): operator, output shape, the attributes of convolutions and pools. Exit 77 without
python3-torch, python3-torchvision.

    export_test.py [MODEL ...]
"""
import json
import os
import subprocess
import sys
import tempfile
import warnings

try:
    import torch
    import torchvision
except ImportError:
    print("python3-torch or python3-torchvision is missing")
    sys.exit(77)

warnings.filterwarnings("ignore")
os.environ.setdefault("OMP_NUM_THREADS", "1")
torch.set_num_threads(1)
CLIENT = os.path.join(os.environ.get("COBRA_BIN", "build/release/bin"), "cobra-client")
LIBRARY = os.path.dirname(os.path.dirname(torchvision.__file__))

# entry, file below torchvision/models, input, opset, keep batch norm apart, fold constants
CASES = [
    ("resnet18()", "resnet.py", "1x3x64x64", 11, True, False),
    ("resnet18()", "resnet.py", "2x3x64x64", 13, False, True),
    ("mobilenet_v2()", "mobilenetv2.py", "1x3x64x64", 11, True, True),
    ("mobilenet_v3_small()", "mobilenetv3.py", "1x3x64x64", 13, True, True),
    ("mobilenet_v3_small()", "mobilenetv3.py", "1x3x64x64", 17, True, False),
    ("efficientnet_b0()", "efficientnet.py", "1x3x64x64", 17, True, True),
    ("squeezenet1_1()", "squeezenet.py", "1x3x64x64", 11, False, True),
    ("shufflenet_v2_x0_5()", "shufflenetv2.py", "1x3x64x64", 13, True, True),
    ("densenet121()", "densenet.py", "1x3x64x64", 17, True, True),
    ("mnasnet0_5()", "mnasnet.py", "1x3x64x64", 9, True, True),
    ("googlenet(init_weights=False, aux_logits=False)", "googlenet.py", "1x3x64x64", 11, True, False),
    ("regnet_y_400mf()", "regnet.py", "1x3x64x64", 13, True, True),
    ("convnext_tiny()", "convnext.py", "1x3x64x64", 13, True, True),
    ("convnext_tiny()", "convnext.py", "1x3x64x64", 17, True, False),
]
# Same arithmetic under two names, or an argument that says nothing.
SAME = {"hardtanh": "clamp", "relu6": "clamp", "avgpool1": "", "matmul": "linear"}
COMPARED = {"stride", "padding", "dilation", "groups", "kernel_size", "ceil_mode", "output_size", "dim"}


def graph(*arguments):
    done = subprocess.run([CLIENT, "graph", *arguments, "--format", "json"], capture_output=True, text=True)
    if done.returncode != 0:
        raise AssertionError(done.stderr.strip())
    return json.loads(done.stdout)


def layers(model, batch_norm):
    """[(operator, output shape, attributes)] of the calls that do something."""
    found = []
    for op in model["ops"]:
        if op.get("kind") in ("view", "alias", "const") or op["op"] in ("stochastic_depth", "dropout"):
            continue
        if op["op"] == "batch_norm" and not batch_norm:
            continue
        rank = len(op["out"][0])
        attributes = {k: v for k, v in op["attrs"].items() if k in COMPARED}
        if isinstance(attributes.get("dim"), int):
            attributes["dim"] %= max(rank, 1)
        if isinstance(attributes.get("dim"), list):
            attributes["dim"] = sorted(d % (len(op["out"][0]) or 1) for d in attributes["dim"])
            attributes.pop("dim")
        if op["op"] == "avg_pool2d" and attributes["kernel_size"] == [1, 1]:
            continue
        if op["op"].startswith("adaptive_avg_pool") and set(attributes["output_size"]) == {1}:
            found.append(("mean", op["out"][0][:2], {}))
            continue
        if op["op"] == "mean":
            found.append(("mean", op["out"][0][:2], {}))
            continue
        found.append((SAME.get(op["op"], op["op"]), op["out"][0], attributes))
    return found


def export(entry, file, shape, opset, keep, fold, path):
    module = __import__("torchvision.models." + file[:-3], fromlist=["x"])
    model = eval(entry, vars(module)).eval()
    for tensor in [*model.parameters(), *model.buffers()]:  # equal weights would be stored once
        if tensor.is_floating_point():
            tensor.data.uniform_(0.5, 1.5)
    mode = torch.onnx.TrainingMode.PRESERVE if keep else torch.onnx.TrainingMode.EVAL
    x = torch.zeros([int(d) for d in shape.split("x")])
    torch.onnx.export(
        model,
        x,
        path,
        opset_version=opset,
        training=mode,
        do_constant_folding=fold,
        input_names=["x"],
        dynamic_axes={"x": {0: "batch"}},
    )


def check(case, folder):
    entry, file, shape, opset, keep, fold = case
    path = os.path.join(folder, "model.onnx")
    export(*case, path)
    exported = graph(path, "--input", f"x={shape}")
    source = graph(
        os.path.join(LIBRARY, "torchvision/models", file), "--library", LIBRARY, "--entry", entry, "--input", shape
    )
    mine, theirs = layers(exported, keep), layers(source, keep)
    for i, (a, b) in enumerate(zip(mine, theirs)):
        assert a == b, f"layer {i}: the file gives {a}, the source {b}"
    assert len(mine) == len(
        theirs
    ), f"{len(mine)} layers, the source has {len(theirs)}: {(mine + theirs)[min(len(mine), len(theirs)):][:3]}"
    assert exported["macs"] == source["macs"], f"{exported['macs']} MACs, the source has {source['macs']}"
    if keep:
        assert (
            exported["params"] == source["params"]
        ), f"{exported['params']} parameters, the source has {source['params']}"
    return len(mine)


def main():
    chosen = [case for case in CASES if not sys.argv[1:] or any(name in case[0] for name in sys.argv[1:])]
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for case in chosen:
            name = f"{case[0]} opset {case[3]}, batch norm {'kept' if case[4] else 'folded'}, constants {'folded' if case[5] else 'kept'}"
            try:
                print(f"{name}: {check(case, folder)} layers equal")
            except AssertionError as error:
                failed += 1
                print(f"{name}: {error}")
    print(f"{len(chosen) - failed} of {len(chosen)} exports equal their source")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
