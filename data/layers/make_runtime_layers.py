#!/usr/bin/env python3
"""Calls that runtimes treat more differently than any others: views, which PyTorch never copies and
others often do, and convolutions that read more weights than image, whose weights some runtimes lay
out again in every call.

    make_runtime_layers.py runtime_layers.jsonl.gz [--count 260] [--seed 20261124]

Lines are those of `cobra-worker sample`, for `cobra-worker measure --graphs`. Sizes are
log-uniform.
"""
import argparse, gzip, json, math, random

MOST_BYTES = 32e6


def between(r, low, high):
    return round(math.exp(r.uniform(math.log(low), math.log(high))))


def convolution(r):
    """Of 1 to 7 times 1 to 7 pixels, on an image hardly larger than its windows."""
    while True:
        k = r.choice([1, 2, 3, 4, 5, 7, 7])
        size = k + r.choice([0, 0, 0, 1, 2, 4])
        i, o = between(r, 32, 2048), between(r, 64, 4096)
        i, o = (i // 16 * 16 or 16, o // 16 * 16) if r.random() < 0.7 else (i, o)
        if i * o * k * k * 4 < 3 * MOST_BYTES and i * o * k * k > 2 * (i * size * size + o):
            break
    attrs = {"stride": [1, 1], "padding": [0, 0], "dilation": [1, 1], "groups": 1}
    parameters = {"p0": [o, i, k, k], **({"p1": [o]} if r.random() < 0.5 else {})}
    return "conv2d", [[1, i, size, size]], attrs, parameters, [0]


def image(r):
    """Shape of an image of some bytes."""
    while True:
        size, channels = r.choice([7, 8, 14, 16, 28, 32, 56, 64]), between(r, 8, 1024)
        if 4e4 < size * size * channels * 4 < MOST_BYTES:
            return [1, channels, size, size]


def permute(r):
    n, c, h, w = shape = image(r)
    if r.random() < 0.5:
        return "permute", [shape], {"dims": r.choice([[0, 2, 3, 1], [0, 2, 1, 3], [0, 3, 1, 2]])}, {}, [0]
    part = r.choice([2, 4, 7, 8])
    if h % part or c % part:
        return permute(r)
    shape, dims = r.choice(
        [
            ([n, part, c // part, h, w], [0, 2, 1, 3, 4]),
            ([n, c, h // part, part, w], [0, 1, 3, 2, 4]),
            ([n, h // part, part, w, c], [0, 1, 3, 2, 4]),
            ([n, h * w, 3, part, c // part], [2, 0, 3, 1, 4]),
        ]
    )
    return "permute", [shape], {"dims": dims}, {}, [0]


def transpose(r):
    n, c, h, w = image(r)
    shape, dims = r.choice([([n, c, h * w], (1, 2)), ([n, h * w, c], (-2, -1)), ([n, c, h, w], (1, 3))])
    return "transpose", [shape], {"dim0": dims[0], "dim1": dims[1]}, {}, [0]


def unfold(r):
    n, c, h, w = image(r)
    size = r.choice([2, 4, 8, 14])
    if size > h:
        return unfold(r)
    attrs = {"dimension": r.choice([2, 3]), "size": size, "step": r.choice([size, max(1, size // 2)])}
    return "tensor_unfold", [[n, c, h, w]], attrs, {}, [0]


def expand(r):
    n, c, h, w = image(r)
    times = r.choice([2, 4, 8])
    return "expand", [[n, c, 1, h, w // 2]], {"size": [-1, -1, times, -1, -1]}, {}, [0]


def split(r):
    n, c, h, w = image(r)
    parts = r.choice([2, 3, 4])
    c = c // parts * parts
    shape, dim = r.choice([([n, c, h, w], 1), ([n, h * w, c], -1)])
    outputs = [[0, i] for i in range(parts)]
    return "split", [shape], {"split_size": [c // parts] * parts, "dim": dim}, {}, outputs


def pad(r):
    shape = image(r)
    return "pad", [shape], {"pad": [r.randrange(3) for _ in range(4)], "mode": "constant", "value": 0.0}, {}, [0]


def roll(r):
    n, c, h, w = image(r)
    return "roll", [[n, h, w, c]], {"shifts": [-(h // 8) or -1] * 2, "dims": [1, 2]}, {}, [0]


MAKERS = [convolution] * 10 + [permute] * 4 + [transpose] * 2 + [unfold] * 2 + [expand] * 2 + [split] * 2 + [pad, roll]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("out")
    parser.add_argument("--count", type=int, default=260)
    parser.add_argument("--seed", type=int, default=20261124)
    arguments = parser.parse_args()
    lines = []
    for index in range(arguments.count):
        r = random.Random("%d/%d" % (arguments.seed, index))
        op, shapes, attrs, parameters, outputs = MAKERS[index % len(MAKERS)](r)
        inputs = [{"name": "x%d" % i, "shape": shape, "dtype": "float32"} for i, shape in enumerate(shapes)]
        refs = ["in:%d" % i for i in range(len(inputs))] + ["p:" + name for name in parameters]
        graph = {"inputs": inputs, "ops": [{"op": op, "inputs": refs, "attrs": attrs}], "param_shapes": parameters}
        row = {"kind": "candidate", "space": "runtime-layers", "index": index, "seed": arguments.seed}
        row.update(is_network=False, label=op, graph={**graph, "output": outputs})
        lines.append(json.dumps(row, separators=(",", ":")))
    with gzip.GzipFile(arguments.out, "wb", mtime=0) as file:
        file.write(("\n".join(lines) + "\n").encode())


if __name__ == "__main__":
    main()
