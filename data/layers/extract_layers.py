#!/usr/bin/env python3
"""Distinct layers of real networks, in the words of graph/ops.def, from op graphs in the layout of
timm_graphs.

    extract_layers.py GRAPHS.jsonl.gz real_layers.jsonl.xz

One JSON object a line: {"op", "attrs", "in": [[kind, shape] or null, ...], "n": how often it
occurs}; kind is "x" (activation), "w" (parameter) or "r" (running statistics). Only operators whose
record determines the call are taken. """
import collections, gzip, json, lzma, sys

UNARY = set("relu silu sigmoid hardswish hardsigmoid tanh sqrt rsqrt neg square".split())
CONST = set("add sub mul div maximum".split())


def many(v, n):
    return list(v) if isinstance(v, list) else [v] * n


def inputs_of(index, node, shape_of):
    """Shapes that the op saw: of activations, and of constants or parameters."""
    _, srcs, _, a = node
    seen = iter(a.get("in", []))
    xs = []
    for s in srcs:
        if isinstance(s, int):
            xs.append(("x", next(seen) if "in" in a else shape_of[index - s]))
        else:
            xs.append(("w", s))
    return xs


def convert(op, xs, out, a):
    """(op, attrs, inputs) or None."""
    if not xs or any(s is None or (s and isinstance(s[0], list)) for _, s in xs):
        return None
    x = xs[0][1]
    one = len(xs) == 1
    if op in UNARY and one:
        return op, {}, xs
    if op in ("conv2d", "conv1d") and one and a.get("w") and len(a["w"]) == (4 if op == "conv2d" else 3):
        n = 2 if op == "conv2d" else 1
        if isinstance(a.get("p"), str):
            return None
        attrs = {
            "stride": many(a.get("s", 1), n),
            "padding": many(a.get("p", 0), n),
            "dilation": many(a.get("d", 1), n),
            "groups": a.get("g", 1),
        }
        return op, attrs, xs + [("w", a["w"])] + ([("w", a["w"][:1])] if a.get("b") else [])
    if op == "linear" and one and a.get("w"):
        return op, {}, xs + [("w", a["w"])] + ([("w", a["w"][:1])] if a.get("b") else [])
    if op == "batch_norm" and one and len(x) >= 2:
        c = [x[1]]
        return op, {"eps": 1e-5}, xs + [("r", c), ("r", c), ("w", c), ("w", c)]
    if op == "layer_norm" and one:
        n = a["n"] if isinstance(a.get("n"), list) else x[-1:]
        return op, {"normalized_shape": n, "eps": 1e-6}, xs + ([("w", n), ("w", n)] if a.get("w") else [])
    if op == "group_norm" and one and a.get("g"):
        return op, {"num_groups": a["g"], "eps": 1e-5}, xs + [("w", [x[1]]), ("w", [x[1]])]
    if op == "gelu" and one:
        return op, {"approximate": a.get("ap", "none")}, xs
    if op == "hardtanh" and one:
        return op, {"min_val": 0.0, "max_val": 6.0}, xs
    if op == "leaky_relu" and one:
        return op, {"negative_slope": 0.01}, xs
    if op in ("softmax",) and one and isinstance(a.get("dim"), int):
        return op, {"dim": a["dim"]}, xs
    if op == "matmul" and len(xs) == 2:
        return op, {}, xs
    if op in CONST and len(xs) == 2:
        return op, {}, xs
    if op in ("add", "sub", "mul", "div") and one and isinstance(a.get("v"), (int, float)):
        return op, {"other": a["v"]}, xs
    if op == "pow" and one and isinstance(a.get("v"), (int, float)):
        return op, {"exponent": a["v"]}, xs
    if op in ("mean", "sum", "amax") and one and "dim" in a:
        d = a["dim"] if isinstance(a["dim"], list) else [a["dim"]]
        return op, {"dim": d, "keepdim": bool(a.get("keep", False))}, xs
    if op == "var" and one and "dim" in a:
        d = a["dim"] if isinstance(a["dim"], list) else [a["dim"]]
        return op, {"dim": d, "unbiased": True, "keepdim": bool(a.get("keep", False))}, xs
    if op in ("cat", "stack"):
        return op, {"dim": a.get("dim", 0)}, [("x", s) for _, s in xs]
    if op == "max_pool2d" and one:
        k = many(a["k"], 2)
        return (
            op,
            {
                "kernel_size": k,
                "stride": many(a.get("s", a["k"]), 2),
                "padding": many(a.get("p", 0), 2),
                "dilation": many(a.get("d", 1), 2),
                "ceil_mode": bool(a.get("c", False)),
            },
            xs,
        )
    if op == "avg_pool2d" and one:
        k = many(a["k"], 2)
        return (
            op,
            {
                "kernel_size": k,
                "stride": many(a.get("s", a["k"]), 2),
                "padding": many(a.get("p", 0), 2),
                "ceil_mode": bool(a.get("c", False)),
                "count_include_pad": True,
            },
            xs,
        )
    if op in ("adaptive_avg_pool2d", "adaptive_max_pool2d") and one and a.get("o") is not None:
        return op, {"output_size": many(a["o"], 2)}, xs
    if (
        op == "interpolate"
        and one
        and len(x) == 4
        and len(out) == 4
        and a.get("m") in ("nearest", "bilinear", "bicubic")
    ):
        attrs = {"size": out[2:], "mode": a["m"]}
        if a["m"] != "nearest":
            attrs["align_corners"] = False
        return op, attrs, xs
    if op == "pad" and one and isinstance(a.get("pad"), list):
        return op, {"pad": a["pad"], "mode": "constant", "value": 0.0}, xs
    if op == "normalize" and one:
        return op, {"p": 2.0, "dim": a.get("dim", 1), "eps": 1e-12}, xs
    if op == "roll" and one and isinstance(a.get("sh"), list):
        return op, {"shifts": a["sh"], "dims": a["dims"]}, xs
    return None


def main():
    count = collections.Counter()
    with gzip.open(sys.argv[1], "rt") as f:
        for line in f:
            g = json.loads(line)
            shape_of = [[1, 3, g["size"], g["size"]]] + [o[2] for o in g["ops"]]
            for i, o in enumerate(g["ops"]):
                node = (o[0], o[1], o[2], o[3] if len(o) > 3 else {})
                try:
                    row = convert(node[0], inputs_of(i + 1, node, shape_of), node[2], node[3])
                except (KeyError, StopIteration, TypeError):
                    row = None
                if row:
                    count[
                        json.dumps(
                            {"op": row[0], "attrs": row[1], "in": [[k, s] for k, s in row[2]]}, separators=(",", ":")
                        )
                    ] += 1
    with lzma.open(sys.argv[2], "wb", preset=9 | lzma.PRESET_EXTREME) as f:
        for text in sorted(count):
            f.write((text[:-1] + ',"n":%d}\n' % count[text]).encode())
    print(len(count), collections.Counter(json.loads(t)["op"] for t in count).most_common())


if __name__ == "__main__":
    main()
