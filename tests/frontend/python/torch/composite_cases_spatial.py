"""Resampling, padding, folding, convolutions and pools, for composites_test.py."""
from composite_draw import BOOLS, family


def image(d, n, channels=None, low=1, high=7, batch=True):
    """A shape with `n` spatial dimensions; without a batch from time to time."""
    shape = [d.size(1, 4) if channels is None else channels] + [d.size(low, high) for _ in range(n)]
    return ([d.size(1, 2)] if batch and d.odds(0.75) else []) + shape


@family("F.interpolate nn.Upsample")
def _(d):
    n = d.one(1, 2, 2, 2, 3)
    modes = {1: ["nearest", "linear"], 2: ["nearest", "bilinear", "bicubic"], 3: ["nearest", "trilinear"]}[n]
    mode = d.off(d.one(*modes, "area", "nearest-exact"), "linear", "bilinear", "trilinear", "x", "nearest")
    shape = [d.size(1, 2), d.size(1, 3)] + [d.size(1, 7) for _ in range(n)]
    size, scale = d.ints(n, [1, 2, 3, 5, 8]), d.one(
        repr(d.one(2, 0.5, 1.5, 2.0, 0.7)), repr(tuple(d.one(1.5, 2.0, 0.5, 3.0) for _ in range(d.off(n, n + 1))))
    )
    if d.fires(0.1):
        size, scale = d.one("0", "-1", "1.5", "None"), d.one("0.0", "-1.0", "0.01", "None")
    named = ["size=" + size] if d.odds(0.5) != d.fires(0.1) else ["scale_factor=" + scale]
    if d.fires(0.1):
        named = d.one([], ["size=" + size, "scale_factor=" + scale])
    if mode != "nearest" or d.odds(0.5):
        named.append("mode=%r" % mode)
    corners = d.odds(0.5) and "linear" in mode or mode == "bicubic" and d.odds(0.5)
    if corners != d.fires(0.2):
        named.append("align_corners=%s" % d.one(*BOOLS))
    if d.odds(0.25):
        named.append("recompute_scale_factor=%s" % d.one("True", "False", "None"))
    x = d.T(shape, d.one("float32", "float32", "float64", "uint8" if d.odds(0.2) else "float32"))
    if d.odds(0.3):
        return "%s(%s)" % (d.call("nn.Upsample", named), x)
    if d.odds(0.15):
        named.append("antialias=%s" % d.one(*BOOLS))
    return d.call("F.interpolate", [x] + named)


@family("F.grid_sample F.affine_grid")
def _(d):
    n = d.one(2, 2, 3)
    batch, out = d.size(1, 3), [d.size(1, 4) for _ in range(n)]
    if d.odds(0.4):
        size = [batch, d.size(1, 3)] + out
        size = d.one(repr(size), repr(tuple(size)), "torch.Size(%r)" % size)
        return d.call("F.affine_grid", [d.T([batch, n, n + 1]), size], [("align_corners", BOOLS + ["None"])])
    x = d.T([batch, d.size(1, 3)] + [d.size(1, 5) for _ in range(n)], d.one("float32", "float32", "float64"))
    grid = d.T([batch] + out + [d.off(n, n + 1)], "float64" if "float64" in x and not d.fires(0.3) else "float32")
    optional = [
        ("mode", ["'bilinear'", "'nearest'", "'bicubic'"]),
        ("padding_mode", ["'zeros'", "'border'", "'reflection'"]),
        ("align_corners", BOOLS + ["None"]),
    ]
    return d.call("F.grid_sample", [x, grid], optional)


@family("F.pad nn.Pad")
def _(d):
    rank = d.int(1, 5)
    shape = [d.size(1, 5) for _ in range(rank)]
    mode = d.one("constant", "constant", "reflect", "replicate", "circular")
    pairs = d.int(1, rank) if mode == "constant" else max(1, rank - d.one(1, 2, 2))
    pads = [d.one(0, 1, 2, 1, 0, -1, 3) for _ in range(2 * pairs - d.fires(0.1))]
    mode = d.off(mode, "x", "constant", "edge")
    dtype = d.one("float32", "float32", "float32", "int64", "bool", "float64")
    if d.odds(0.3):
        kind = d.one("Constant", "Zero", "Reflection", "Replication", "Circular")
        n = d.one(1, 2, 3)
        pads = d.ints(2 * n, [0, 1, 2, -1])
        value = [d.one("0.5", "1", "0.0")] if kind == "Constant" and not d.fires(0.3) else []
        return d.call(d.call("nn.%sPad%dd" % (kind, n), [pads] + value), [d.T(image(d, n))])
    optional = [("value", ["0.5", "1", "None", "0.0"])] if mode == "constant" or d.fires(0.2) else []
    named = ["mode=%r" % mode] if mode != "constant" or d.odds(0.3) else []
    named += ["value=" + d.one(*values) for _, values in optional if d.odds(0.5)]
    return d.call("F.pad", [d.T(shape, dtype), repr(d.one(tuple, list)(pads))], named=named)


@family("F.fold F.unfold")
def _(d):
    kernel = [d.one(1, 2, 3) for _ in range(2)]
    options = {
        name: [d.one(*choices) for _ in range(2)]
        for name, choices in (("dilation", (1, 1, 2)), ("padding", (0, 0, 1)), ("stride", (1, 1, 2)))
    }
    size = [d.int(3, 7) for _ in range(2)]
    given = {name: v for name, v in options.items() if d.odds(0.5)}
    dilation, padding, stride = (given.get(n, [b, b]) for n, b in (("dilation", 1), ("padding", 0), ("stride", 1)))
    blocks = [(size[i] + 2 * padding[i] - dilation[i] * (kernel[i] - 1) - 1) // stride[i] + 1 for i in (0, 1)]
    named = ["%s=%s" % (n, d.off(repr(tuple(v)), "0", "-1", "(1,)", "1.5", "(1, 1, 1)")) for n, v in given.items()]
    fold, layer, channels = d.odds(0.5), d.odds(0.3), d.int(1, 3)
    batch = [d.size(1, 2)] if d.odds(0.7) else []
    if fold:
        count = max(blocks[0], 0) * max(blocks[1], 0)
        x = d.T(
            batch + [channels * kernel[0] * kernel[1], d.off(count, count + 1)],
            d.one("float32", "float32", "float64", "int64" if d.fires() else "float32"),
        )
        first = [repr(tuple(size)), repr(tuple(kernel))]
        return (
            "%s(%s)" % (d.call("nn.Fold", first, named=named), x)
            if layer
            else d.call("F.fold", [x] + first, named=named)
        )
    x = d.T(batch + [channels] + size)
    first = [d.one(repr(tuple(kernel)), repr(kernel), "2", "1")]
    return (
        "%s(%s)" % (d.call("nn.Unfold", first, named=named), x)
        if layer
        else d.call("F.unfold", [x] + first, named=named)
    )


def convolution(transposed):
    def make(d):
        n, groups = d.one(1, 2, 2, 3), d.one(1, 1, 1, 2, 3)
        cin, cout = groups * d.int(1, 2), groups * d.int(1, 2)
        kernel, layer = [d.one(1, 2, 3) for _ in range(n)], d.odds(0.5)
        x = d.T(
            image(d, n, d.off(cin, cin + 1), 1, 6),
            d.one("float32", "float32", "float32", "float64" if d.fires() else "float32"),
        )
        optional = [("stride", [d.ints(n, [1, 1, 2, 3])]), ("padding", [d.ints(n, [0, 0, 1, 2])])]
        if transposed:
            optional += [("output_padding", [d.ints(n, [0, 0, 0, 1])])]
        elif d.odds(0.2):
            optional = [("padding", ["'same'", "'valid'"])]
        last = [("dilation", [d.ints(n, [1, 1, 2])])]
        grouped = ["groups=%s" % d.off(groups, groups + 1, 0)] if groups > 1 or d.odds(0.1) else []
        name = "onv%s%dd" % ("Transpose" if transposed and layer else "_transpose" if transposed else "", n)
        if not layer:
            weight = d.T([cin, cout // groups] + kernel if transposed else [cout, cin // groups] + kernel)
            bias = [d.T([cout])] if d.odds(0.5) else []
            named = grouped + ["%s=%s" % (k, d.one(*v)) for k, v in last if d.odds(0.3)]
            named += ["%s=%s" % (k, d.one(*v)) for k, v in optional if d.odds(0.5)]
            return d.call("F.c" + name, [x, weight] + bias, named=named)
        named = grouped + ["%s=%s" % (k, d.one(*v)) for k, v in optional + last if d.odds(0.4)]
        named += ["bias=" + d.one(*BOOLS)] if d.odds(0.3) else []
        if d.odds(0.2):
            named.append(
                "padding_mode=%s"
                % d.off(
                    d.one("'zeros'", *([] if transposed else ["'reflect'", "'circular'", "'replicate'"])),
                    "'x'",
                    "'reflect'",
                )
            )
        made = d.call("nn.C" + name, [str(cin), str(cout), d.one(repr(tuple(kernel)), "2", "3")], named=named)
        sizes = [
            "output_size=%s"
            % d.one(repr([d.int(1, 9) for _ in range(n)]), repr(tuple(d.int(3, 6) for _ in range(d.one(n, n, n + 2)))))
        ]
        return d.call(made, [x], named=sizes if transposed and d.odds(0.35) else [])

    return make


family("F.conv nn.Conv")(convolution(False))
family("F.conv_transpose nn.ConvTranspose")(convolution(True))


def pool_arguments(d, n, names):
    kernel = [d.one(1, 2, 2, 3) for _ in range(n)]
    choices = {
        "stride": [d.ints(n, [1, 2, 3]), "None"],
        "padding": [d.ints(n, [0, 0, 1])],
        "dilation": [d.ints(n, [1, 1, 2])],
        "ceil_mode": BOOLS,
        "return_indices": BOOLS,
        "count_include_pad": BOOLS,
        "divisor_override": ["2", "1", "None", d.off("3", "0", "-1")],
    }
    size = d.one(repr(tuple(kernel)), repr(kernel[0]))
    return d.off(size, "0", "-1", "(2, 2, 2, 2)", "()"), [(name, choices[name]) for name in names]


def pool(kind, names):
    def make(d):
        n = d.one(1, 2, 2, 3)
        rest = [name for name in names if name != "divisor_override" or n > 1]
        kernel, optional = pool_arguments(d, n, rest)
        x = d.T(
            image(d, n, low=1, high=7),
            d.one("float32", "float32", "float32", "float64", "int64" if d.odds(0.3) else "float32"),
        )
        power = []
        if kind == "lp":
            n = min(n, 2)
            power = [d.off(d.one("2", "1.0", "3"), "0", "'x'")]
            kernel, optional = pool_arguments(d, n, rest)
            x = d.T(image(d, n, low=1, high=7))
        if d.odds(0.4):
            if kind == "max":  # the layer has return_indices before ceil_mode
                optional = [o for o in optional if o[0] not in ("ceil_mode", "return_indices")] + [
                    o for o in optional[::-1] if o[0] in ("ceil_mode", "return_indices")
                ]
            layer = {"max": "MaxPool", "avg": "AvgPool", "lp": "LPPool"}[kind]
            return "%s(%s)" % (d.call("nn.%s%dd" % (layer, n), power + [kernel], optional, 0.6), x)
        return d.call("F.%s_pool%dd" % (kind, n), [x] + power + [kernel], optional, 0.6)

    return make


family("F.max_pool")(pool("max", ["stride", "padding", "dilation", "ceil_mode", "return_indices"]))
family("F.avg_pool")(pool("avg", ["stride", "padding", "ceil_mode", "count_include_pad", "divisor_override"]))
family("F.lp_pool")(pool("lp", ["stride", "ceil_mode"]))


@family("F.adaptive_pool")
def _(d):
    n, kind = d.one(1, 2, 2, 3), d.one("max", "avg")
    sizes = [d.one(1, 2, 3, 5, None if n > 1 else 4) for _ in range(d.off(n, n + 1, max(n - 1, 1)))]
    size = d.off(d.one(repr(tuple(sizes)), repr(sizes), repr(d.one(1, 2, 4))), "0", "-1", "None", "()")
    x = d.T(image(d, n), d.one("float32", "float32", "float64", "int64" if d.odds(0.2) else "float32"))
    indices = [("return_indices", BOOLS)] if kind == "max" else []
    if d.odds(0.4):
        return "%s(%s)" % (d.call("nn.Adaptive%sPool%dd" % (kind.title(), n), [size], indices), x)
    return d.call("F.adaptive_%s_pool%dd" % (kind, n), [x, size], indices)


@family("F.fractional_max_pool")
def _(d):
    n, kernel = d.one(2, 2, 3), d.one(1, 2, 3)
    shape = image(d, n, low=4, high=8)
    size = d.ints(n, [1, 2, 3, 5])
    ratio = d.one("0.5", repr(tuple(d.one(0.4, 0.6, 0.7) for _ in range(d.off(n, n + 1)))))
    ratio = d.off(ratio, "1.5", "0.0", "-0.5")
    named = ["output_size=" + size] if d.odds(0.5) else ["output_ratio=" + ratio]
    if d.fires(0.15):
        named = d.one([], ["output_size=" + size, "output_ratio=" + ratio])
    named += ["return_indices=" + d.one(*BOOLS)] if d.odds(0.4) else []
    if d.odds(0.2):
        batch = shape[:-n] if len(shape) == n + 2 else [1] + shape[:-n]
        named.append("_random_samples=" + d.T(batch + [n], values="pos"))
    kernel = d.one(str(kernel), repr((kernel,) * d.off(n, n + 1)))
    if d.odds(0.35):
        return "%s(%s)" % (d.call("nn.FractionalMaxPool%dd" % n, [kernel], named=named), d.T(shape))
    return d.call("F.fractional_max_pool%dd" % n, [d.T(shape), kernel], named=named)


@family("F.max_unpool")
def _(d):
    n, kernel = d.one(1, 2, 2, 3), d.one(1, 2, 3)
    shape = image(d, n, low=1, high=4)
    stride = d.one(None, 1, 2, 3)
    padding = d.one(None, None, 0, 1)
    named = ["stride=%r" % stride] if stride else []
    named += ["padding=%r" % padding] if padding is not None else []
    sizes = []
    if d.odds(0.4):
        s = stride or kernel
        default = [(v - 1) * s - 2 * (padding or 0) + kernel for v in shape[-n:]]
        sizes = [max(v + d.one(0, 0, 1, -1, d.off(0, 5, -5)), 0) for v in default]
        sizes = ["output_size=%r" % (d.one(sizes, tuple(sizes), shape[:-n] + sizes),)]
    x, indices = d.T(shape), d.T(shape, "int64", 1)
    if d.odds(0.3):
        return d.call(d.call("nn.MaxUnpool%dd" % n, [str(kernel)], named=named), [x, indices], named=sizes)
    if d.odds(0.3):  # as networks use it
        return "(lambda y, i, **k: F.max_unpool%dd(y, i, %d, **k))(*F.max_pool%dd(%s, %d, return_indices=True)%s)" % (
            n,
            kernel,
            n,
            d.T(shape[:-n] + [v * kernel for v in shape[-n:]]),
            kernel,
            "".join(", " + t for t in sizes),
        )
    return d.call("F.max_unpool%dd" % n, [x, indices, str(kernel)], named=named + sizes)


@family("F.pixel_shuffle F.channel_shuffle")
def _(d):
    f, h, w = d.int(1, 3), d.size(1, 4), d.size(1, 4)
    lead = d.one([], [2], [2, 1], [3])
    factor = [str(d.off(f, 0, -1, f + 1))]
    what = d.one("pixel_shuffle", "pixel_unshuffle", "channel_shuffle")
    if what == "pixel_shuffle":
        x = d.T(lead + [d.int(1, 2) * f * f, h, w])
    elif what == "pixel_unshuffle":
        x = d.T(lead + [d.int(1, 2), h * f, w * f])
    else:
        x = d.T([d.size(1, 2), d.int(1, 3) * f] + [h, w][: d.one(2, 2, 1)])
    layer = {"pixel_shuffle": "PixelShuffle", "pixel_unshuffle": "PixelUnshuffle", "channel_shuffle": "ChannelShuffle"}[
        what
    ]
    return "%s(%s)" % (d.call("nn." + layer, factor), x) if d.odds(0.3) else d.call("F." + what, [x] + factor)
