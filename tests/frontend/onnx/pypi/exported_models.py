#!/usr/bin/env python3
"""Networks that torch.onnx.export(dynamo=True) writes, and what ONNX Runtime makes of them.

    exported_models.py FOLDER [NAME ...]

Each network is exported by PyTorch 2.13. Compared are the graph of the file and that of the source:
every call that computes or copies (export_test.py says how), without what the exporter takes apart.
Then ONNX Runtime optimises the file (extended level). The file and the optimised one are written as
cases for onnx_conformance, FOLDER/exported and FOLDER/optimised, with the results of ONNX Runtime
without optimisation. Exit 1 if a graph differs."""
import os
import sys
import sysconfig
import tempfile
import warnings

import numpy
import torch

import cases

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, ".."), os.path.join(HERE, "..", "..", "python", "libraries")]
import torchvision_operators  # noqa: E402,F401
import export_test  # noqa: E402

SITE = sysconfig.get_path("purelib")
VISION = "torchvision/models/"
# name: file below site-packages, entry, input shapes ("3x4:int64"), opset
MODELS = {
    "resnet18": (VISION + "resnet.py", "resnet18()", ["1x3x64x64"], 18),
    "mobilenet_v2": (VISION + "mobilenetv2.py", "mobilenet_v2()", ["1x3x64x64"], 18),
    "mobilenet_v3_small": (VISION + "mobilenetv3.py", "mobilenet_v3_small()", ["1x3x64x64"], 20),
    "efficientnet_b0": (VISION + "efficientnet.py", "efficientnet_b0()", ["1x3x64x64"], 18),
    "squeezenet1_1": (VISION + "squeezenet.py", "squeezenet1_1()", ["1x3x64x64"], 18),
    "shufflenet_v2_x0_5": (VISION + "shufflenetv2.py", "shufflenet_v2_x0_5()", ["1x3x64x64"], 18),
    "densenet121": (VISION + "densenet.py", "densenet121()", ["1x3x64x64"], 18),
    "mnasnet0_5": (VISION + "mnasnet.py", "mnasnet0_5()", ["1x3x64x64"], 18),
    "googlenet": (VISION + "googlenet.py", "googlenet(init_weights=False, aux_logits=False)", ["1x3x64x64"], 18),
    "regnet_y_400mf": (VISION + "regnet.py", "regnet_y_400mf()", ["1x3x64x64"], 18),
    "convnext_tiny": (VISION + "convnext.py", "convnext_tiny()", ["1x3x64x64"], 20),
    "vgg11": (
        VISION + "vgg.py",
        "VGG(make_layers(cfgs['A'], batch_norm=True), init_weights=False, num_classes=10)",
        ["1x3x32x32"],
        18,
    ),
    "vit": (VISION + "vision_transformer.py", "VisionTransformer(32, 8, 2, 4, 64, 128)", ["1x3x32x32"], 20),
    "vit_opset_23": (VISION + "vision_transformer.py", "VisionTransformer(32, 8, 2, 4, 64, 128)", ["1x3x32x32"], 23),
    "swin": (
        VISION + "swin_transformer.py",
        "SwinTransformer([4, 4], 32, [2, 2], [2, 4], [4, 4], num_classes=10)",
        ["1x3x64x64"],
        20,
    ),
    "fcn": (VISION + "segmentation/fcn.py", "fcn_resnet50(weights_backbone=None, num_classes=5)", ["1x3x64x64"], 18),
    "timm_resnet18": ("timm/models/__init__.py", "create_model('resnet18')", ["1x3x64x64"], 18),
    "timm_vit": (
        "timm/models/__init__.py",
        "create_model('vit_tiny_patch16_224', img_size=64, depth=2)",
        ["1x3x64x64"],
        23,
    ),
    "timm_mobilenetv4": ("timm/models/__init__.py", "create_model('mobilenetv4_conv_small')", ["1x3x64x64"], 18),
    "bert": (
        "transformers/__init__.py",
        "BertModel(BertConfig(hidden_size=64, num_hidden_layers=2, num_attention_heads=4, intermediate_size=128, vocab_size=100))",
        ["input_ids=1x12:int64"],
        20,
    ),
    "distilbert_opset_23": (
        "transformers/__init__.py",
        "DistilBertModel(DistilBertConfig(dim=64, n_layers=2, n_heads=4, hidden_dim=128, vocab_size=100))",
        ["input_ids=1x12:int64"],
        23,
    ),
}
# Networks of which the exporter takes calls apart (attention layers, tables of positions, adaptive
# pools, strides that it thinks it must keep) or drops some (the cat of one tensor): only
# multiply-accumulates are compared with the source.
TAKEN_APART = {
    "densenet121",
    "convnext_tiny",
    "vgg11",
    "vit",
    "vit_opset_23",
    "swin",
    "timm_vit",
    "bert",
    "distilbert_opset_23",
}


def build(file, entry):
    """The network that the entry makes in the file's name space."""
    module = __import__(os.path.splitext(file)[0].replace("/__init__", "").replace("/", "."), fromlist=["x"])
    torch.manual_seed(3)
    model = eval(entry, {name: getattr(module, name) for name in names(module, entry)})
    generator = torch.Generator().manual_seed(5)
    for tensor in [*model.parameters(), *model.buffers()]:  # equal weights would be stored once
        if tensor.is_floating_point():
            tensor.data += 0.02 * torch.rand(tensor.shape, generator=generator)
    return model.eval()


def names(module, entry):
    """What the entry mentions: modules of transformers come into being when they are asked for."""
    words = "".join(c if c.isalnum() or c == "_" else " " for c in entry).split()
    return [word for word in words if word.isidentifier() and hasattr(module, word)]


def tensors(shapes):
    generator = torch.Generator().manual_seed(1)
    made = {}
    for i, text in enumerate(shapes):
        name, _, shape = text.rpartition("=")
        shape, _, dtype = shape.partition(":")
        sizes = [int(d) for d in shape.split("x")]
        tensor = torch.randint(0, 90, sizes, generator=generator) if dtype else torch.randn(sizes, generator=generator)
        made[name or f"x{i}"] = tensor
    return made


def compare(path, name):
    """Raises AssertionError where the graph of the file is not that of the source."""
    file, entry, shapes, _ = MODELS[name]
    # An input whose batch is open gets the size that the export had.
    exported = export_test.graph(path)
    inputs = [part for shape in shapes for part in ("--input", shape)]
    source = export_test.graph(
        os.path.join(SITE, file), "--library", SITE, "--torch-version", "2.13", "--entry", entry, *inputs
    )
    mine, theirs = export_test.layers(exported, batch_norm=False), export_test.layers(source, batch_norm=False)
    assert exported["macs"] == source["macs"], f"{exported['macs']} MACs, the source has {source['macs']}"
    if name in TAKEN_APART:
        return "as many MACs as the source"
    for i, (a, b) in enumerate(zip(mine, theirs)):
        assert a == b, f"layer {i}: the file gives {a}, the source {b}"
    assert len(mine) == len(theirs), f"{len(mine)} layers, the source has {len(theirs)}"
    return f"{len(mine)} layers equal those of the source"


def run(folder, name, work):
    file, entry, shapes, opset = MODELS[name]
    model, inputs = build(file, entry), tensors(shapes)
    path, optimised = os.path.join(work, "model.onnx"), os.path.join(work, "optimised.onnx")
    named = any("=" in shape for shape in shapes)
    with torch.no_grad():
        program = torch.onnx.export(
            model,
            () if named else tuple(inputs.values()),
            kwargs=inputs if named else None,
            dynamo=True,
            opset_version=opset,
            verbose=False,
            **({} if named else {"input_names": list(inputs)}),
        )
    program.save(path, external_data=False)
    session = cases.session(path)
    feeds = {i.name: value.numpy() for i, value in zip(session.get_inputs(), inputs.values())}
    results = session.run(None, feeds)
    cases.session(path, optimised)
    for kind, source in (("exported", path), ("optimised", optimised)):
        with open(source, "rb") as data:
            cases.write(os.path.join(folder, kind), name, data.read(), list(feeds.values()), results)
    before, after = (export_test.graph(p) for p in (path, optimised))
    print(f"{name}: {len(before['ops'])} calls, {len(after['ops'])} of the optimised file", end="; ", flush=True)
    assert (
        before["macs"] == after["macs"]
    ), f"{after['macs']} MACs of the optimised file, {before['macs']} of the exported one"
    print(compare(path, name))


def main():
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    chosen = sys.argv[2:] or list(MODELS)
    failed = 0
    for name in chosen:
        with tempfile.TemporaryDirectory() as work:
            try:
                run(sys.argv[1], name, work)
            except Exception as error:  # also what the exporter cannot do
                failed += 1
                print(f"{name}: {type(error).__name__}: {str(error).strip()[:400]}", flush=True)
    apart = len(TAKEN_APART.intersection(chosen))
    print(
        f"{len(chosen)} exports, {failed} differ from their source; of {apart} only multiply-accumulates were compared"
    )
    return 1 if failed else 0


if __name__ == "__main__":
    numpy.seterr(all="ignore")
    sys.exit(main())
