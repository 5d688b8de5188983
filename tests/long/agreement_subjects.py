"""What agreement.py compares: layers of data/layers, written out as torch modules, and networks of
torchvision."""
import collections
import lzma
import json
import os
import random

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LIBRARY = "/usr/lib/python3/dist-packages"
# Estimated time of a layer that is drawn: well above Python's overhead, well below a second
LEAST_US, MOST_US = 200, 50000

# How many layers of which kind.
LAYERS = {
    "conv2d 1x1": 4,
    "conv2d larger": 4,
    "conv2d depthwise": 4,
    "conv2d grouped": 2,
    "linear": 4,
    "matmul": 3,
    "attention": 2,
    "batch_norm": 1,
    "layer_norm": 2,
    "group_norm": 1,
    "relu": 1,
    "gelu": 1,
    "silu": 1,
    "hardswish": 1,
    "max_pool2d": 1,
    "avg_pool2d": 1,
    "adaptive_avg_pool2d": 1,
    "cat": 2,
    "interpolate": 2,
    "softmax": 2,
}
# The smallest (in multiply-accumulates) of every family of classification networks: file, entry,
# input size.
NETWORKS = [
    ("alexnet", "alexnet()", 224),
    ("vgg", "vgg11()", 224),
    ("resnet", "resnet18()", 224),
    ("resnet", "resnext50_32x4d()", 224),
    ("resnet", "wide_resnet50_2()", 224),
    ("squeezenet", "squeezenet1_1()", 224),
    ("densenet", "densenet121()", 224),
    ("inception", "inception_v3(init_weights=False)", 299),
    ("googlenet", "googlenet(init_weights=False)", 224),
    ("shufflenetv2", "shufflenet_v2_x0_5()", 224),
    ("mobilenetv2", "mobilenet_v2()", 224),
    ("mobilenetv3", "mobilenet_v3_small()", 224),
    ("mnasnet", "mnasnet0_5()", 224),
    ("efficientnet", "efficientnet_b0()", 224),
    ("efficientnet", "efficientnet_v2_s()", 224),
    ("regnet", "regnet_x_400mf()", 224),
    ("regnet", "regnet_y_400mf()", 224),
    ("convnext", "convnext_tiny()", 224),
    ("vision_transformer", "vit_b_32()", 224),
    ("swin_transformer", "swin_t()", 224),
    ("swin_transformer", "swin_v2_t()", 256),
    ("maxvit", "maxvit_t()", 224),
]

LAYER_SOURCE = """import torch
import torch.nn as nn
import torch.nn.functional as F


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        {init}

    def forward(self, {arguments}):
        return {forward}
"""

Subject = collections.namedtuple("Subject", "name is_network file entry inputs")


# ---- what is measured ----
def product(shape):
    result = 1
    for size in shape:
        result *= size
    return result


def kind_of(row):
    """Which entry of LAYERS a line of data/layers is; None: none of them."""
    op, shapes = row["op"], [shape for _, shape in row["in"]]
    if op == "conv2d":
        groups, weight = row["attrs"]["groups"], shapes[1]
        if groups == 1:
            return "conv2d 1x1" if weight[2:] == [1, 1] else "conv2d larger"
        return "conv2d depthwise" if groups == shapes[0][1] == weight[0] else "conv2d grouped"
    if op in ("matmul", "cat") and any(kind != "x" for kind, _ in row["in"]):
        return None
    if (
        op == "batch_norm"
        and len(shapes[0]) != 4
        or op == "interpolate"
        and ("size" not in row["attrs"] or len(shapes[0]) != 4)
    ):
        return None
    return op if op in LAYERS else None


def module_of(row):
    """(expression that makes the module or None, forward's expression)."""
    op, a, shapes = row["op"], row["attrs"], [shape for _, shape in row["in"]]
    x = shapes[0]
    if op == "conv2d":
        w = shapes[1]
        return (
            f"nn.Conv2d({x[1]}, {w[0]}, {tuple(w[2:])}, stride={tuple(a['stride'])}, padding={tuple(a['padding'])}, "
            f"dilation={tuple(a['dilation'])}, groups={a['groups']}, bias={len(shapes) > 2})",
            None,
        )
    if op == "linear":
        return f"nn.Linear({shapes[1][1]}, {shapes[1][0]}, bias={len(shapes) > 2})", None
    if op == "attention":
        return (
            f"nn.MultiheadAttention({x[2]}, {x[2] // 64}, batch_first=True)",
            "self.module(x0, x0, x0, need_weights=False)[0]",
        )
    if op == "matmul":
        return None, "torch.matmul(x0, x1)"
    if op == "cat":
        return None, f"torch.cat([{', '.join(f'x{i}' for i in range(len(shapes)))}], dim={a['dim']})"
    if op == "interpolate":
        more = f", align_corners={a['align_corners']}" if a.get("align_corners") is not None else ""
        return None, f"F.interpolate(x0, size={tuple(a['size'])}, mode={a['mode']!r}{more})"
    simple = {
        "relu": "nn.ReLU()",
        "silu": "nn.SiLU()",
        "hardswish": "nn.Hardswish()",
        "gelu": f"nn.GELU(approximate={a.get('approximate', 'none')!r})",
        "softmax": f"nn.Softmax(dim={a.get('dim')})",
    }
    if op in simple:
        return simple[op], None
    if op == "batch_norm":
        return f"nn.BatchNorm2d({x[1]}, eps={a['eps']})", None
    if op == "layer_norm":
        return (
            f"nn.LayerNorm({tuple(a['normalized_shape'])}, eps={a['eps']}, elementwise_affine={len(shapes) > 1})",
            None,
        )
    if op == "group_norm":
        return f"nn.GroupNorm({a['num_groups']}, {x[1]}, eps={a['eps']}, affine={len(shapes) > 1})", None
    if op == "adaptive_avg_pool2d":
        return f"nn.AdaptiveAvgPool2d({tuple(a['output_size'])})", None
    pool = f"{tuple(a['kernel_size'])}, stride={tuple(a['stride'])}, padding={tuple(a['padding'])}, ceil_mode={a['ceil_mode']}"
    if op == "max_pool2d":
        return f"nn.MaxPool2d({pool}, dilation={tuple(a['dilation'])})", None
    return f"nn.AvgPool2d({pool}, count_include_pad={a['count_include_pad']})", None


def estimate_us(row):
    """So that layers are drawn that take long enough: 50 G multiply-accumulates and 25 GB (they are
    in the caches) a second."""
    shapes = [shape for _, shape in row["in"]]
    numbers = sum(product(shape) for shape in shapes)
    x, macs = shapes[0], 0
    if row["op"] == "conv2d":
        w = shapes[1]
        numbers += x[0] * w[0] * product(x[2:]) // product(row["attrs"]["stride"])
        macs = product(w) * x[0] * product(x[2:]) // product(row["attrs"]["stride"])
    elif row["op"] == "linear":
        macs = product(x) * shapes[1][0]
    elif row["op"] == "matmul":
        macs = product(x) * shapes[1][-1]
    elif row["op"] == "attention":
        macs = 4 * product(x) * x[2] + 2 * product(x) * x[1]
    elif row["op"] == "interpolate":
        numbers += x[0] * x[1] * product(row["attrs"]["size"])
    else:
        numbers *= 2
    return macs / 50e3 + 4 * numbers / 25e3


def largest(row):
    """Numbers in the largest tensor: cobra-worker leaves out what has one above 64 MB."""
    shapes = [shape for _, shape in row["in"]]
    x, made = shapes[0], 0
    if row["op"] == "conv2d":
        made = x[0] * shapes[1][0] * product(x[2:])
    elif row["op"] == "linear":
        made = product(x[:-1]) * shapes[1][0]
    elif row["op"] == "matmul":
        made = product(x[:-1]) * shapes[1][-1]
    elif row["op"] == "cat":
        made = sum(product(shape) for shape in shapes)
    elif row["op"] == "interpolate":
        made = x[0] * x[1] * product(row["attrs"]["size"])
    return max([made, *map(product, shapes)])


def draw_layers(folder):
    """The same in every run: a seed, and the order of the file."""
    rows = {}
    with lzma.open(os.path.join(SOURCE, "data", "layers", "real_layers.jsonl.xz"), "rt") as file:
        for line in file:
            row = json.loads(line)
            # what attention blocks work on
            if row["op"] == "layer_norm" and len(row["in"][0][1]) == 3 and row["in"][0][1][2] % 64 == 0:
                rows.setdefault("attention", []).append(
                    {"op": "attention", "attrs": {}, "in": [["x", row["in"][0][1]]]}
                )
            kind = kind_of(row)
            if kind is not None:
                rows.setdefault(kind, []).append(row)
    rng = random.Random(20261120)
    subjects = []
    for kind, count in LAYERS.items():
        slowest = sorted(
            (row for row in rows[kind] if estimate_us(row) < MOST_US and largest(row) < 14e6), key=estimate_us
        )
        long_enough = [row for row in slowest if estimate_us(row) > LEAST_US]
        for i, row in enumerate(rng.sample(long_enough if len(long_enough) >= count else slowest[-count:], count)):
            shapes = [shape for which, shape in row["in"] if which == "x"]
            init, forward = module_of(row)
            arguments = ", ".join(f"x{k}" for k in range(len(shapes)))
            path = os.path.join(folder, f"{kind.replace(' ', '_')}_{i}.py")
            with open(path, "w") as file:
                file.write(
                    LAYER_SOURCE.format(
                        init=f"self.module = {init}" if init else "pass",
                        arguments=arguments,
                        forward=forward or f"self.module({arguments})",
                    )
                )
            sizes = " ".join("x".join(map(str, shape)) for _, shape in row["in"][:2])
            subjects.append(Subject(f"{kind} {sizes}", False, path, "Layer()", shapes))
    return subjects


def all_subjects(folder):
    networks = [
        Subject(
            entry.split("(")[0],
            True,
            os.path.join(LIBRARY, "torchvision", "models", file + ".py"),
            entry,
            [[1, 3, size, size]],
        )
        for file, entry, size in NETWORKS
    ]
    return draw_layers(folder) + networks


# ---- ours ----
