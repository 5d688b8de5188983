#!/usr/bin/env python3
"""Networks of torchvision on images and in batches from small to large, for `cobra-worker measure
--space graphs`.

data/measurements/batches.py > batches.jsonl
cobra-worker measure --space graphs --networks batches.jsonl --count 1000 --out OUT.jsonl

The same network in batches of 1, 2 and 4 shows where a runtime takes another way: LibTorch computes
some convolutions of one image as products, which another image makes ones of oneDNN
(graph/cost/convolution_algorithm.h).
"""
import json
import lzma
import pathlib
import sys

NAMES = (
    "alexnet densenet121 efficientnet_b0 googlenet mnasnet1_0 mobilenet_v2 mobilenet_v3_large regnet_x_400mf "
    "regnet_y_800mf resnet18 resnet34 resnet50 resnext50_32x4d squeezenet1_1 vgg11 vgg13_bn"
).split()
IMAGES, BATCHES = (32, 64, 96, 160), (1, 2, 4)
SMALLEST = {"alexnet": 64, "squeezenet1_1": 64}  # a pooling has nothing left below


def main():
    root = pathlib.Path(__file__).resolve().parents[2]
    with lzma.open(root / "data/networks/torchvision.jsonl.xz", "rt") as lines:
        networks = {}
        for line in lines:
            network = json.loads(line)
            networks.setdefault(network["name"], network["graph"])
    for name in NAMES:
        graph = networks[name]
        for image in IMAGES:
            for batch in BATCHES:
                if image >= SMALLEST.get(name, 0):
                    graph["inputs"][0]["shape"] = [batch, 3, image, image]
                    json.dump({"name": name, "graph": graph}, sys.stdout)
                    print()


if __name__ == "__main__":
    main()
