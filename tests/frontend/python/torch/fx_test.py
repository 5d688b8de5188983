#!/usr/bin/python3
"""What torch.fx makes of a network (models/tracing.py) runs the same calls here and in real
PyTorch."""
import importlib
import json
import os
import subprocess
import sys

os.environ.setdefault("OMP_NUM_THREADS", "1")
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, HERE + "/models"]
LIBRARY = "/usr/lib/python3/dist-packages"
BIN = os.environ.get("COBRA_BIN", "build/release/bin")
CASES = [
    ("traced()", 32),
    ("edited()", 32),
    ("by_hand()", 32),
    ("contracted()", 32),
    ("features('resnet18', 'layer2', 'layer4')", 64),
    ("features('mobilenet_v3_small', 'features.4', 'features.8')", 64),
    ("features('densenet121', 'features.denseblock2')", 64),
    ("features('googlenet', 'inception4a', init_weights=False)", 64),
    ("features('vit_b_16', 'encoder.layers.encoder_layer_1')", 224),
    ("features('swin_t', 'features.1', 'features.5')", 64),
    ("features('convnext_tiny', 'features.3', 'avgpool')", 64),
    ("at('resnet18', 0.3, 0.6)", 64),
    ("at('shufflenet_v2_x0_5', 0.2, 0.5)", 64),
    ("at('regnet_y_400mf', 0.4, 0.7)", 64),
    ("at('swin_t', 0.3, 0.5)", 64),
    ("at('efficientnet_b0', 0.25, 0.5)", 64),
]


def mend_unpacking():
    """PyTorch 1.13 looks in the bytecode how many values an unpacking wants, and on Python 3.11 at
    the wrong place."""
    import dis
    import torch.fx

    def iterate(proxy):
        frame = sys._getframe(1)
        found = [
            i for i in dis.get_instructions(frame.f_code) if i.offset == frame.f_lasti and i.opname == "UNPACK_SEQUENCE"
        ]
        return (proxy[i] for i in range(found[0].argval)) if found else proxy.tracer.iter(proxy)

    torch.fx.Proxy.__iter__ = iterate


def main():
    if not os.path.isdir(LIBRARY + "/torchvision"):
        print("python3-torchvision is not installed")
        return 77
    import graph_equality_test
    import make_goldens
    import torch
    import torchvision_suite

    torch.set_num_threads(1)
    torchvision_suite.without_initialization()
    mend_unpacking()
    tracing, wrong = importlib.import_module("tracing"), 0
    for expression, size in CASES:
        golden = make_goldens.record(eval(expression, dict(vars(tracing))).eval(), [torch.zeros(1, 3, size, size)])
        answer = subprocess.run(
            [
                BIN + "/read_model",
                HERE + "/models/tracing.py",
                expression,
                "1x3x%dx%d" % (size, size),
                "--library",
                LIBRARY,
                # torchvision's tracer matches each new node's name against those of all nodes
                # before it.
                "--steps-times",
                "10",
            ],
            capture_output=True,
            text=True,
        )
        why = graph_equality_test.difference(golden, json.loads(answer.stdout or '{"error": "no answer"}'))
        if why:
            wrong += 1
            print("DIFFERS", expression, why[:1500])
    print("%d traced networks, %d different" % (len(CASES), wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
