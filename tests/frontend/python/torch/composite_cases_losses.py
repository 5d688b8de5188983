"""Norms, losses, distances and spectra, for composites_test.py."""
from composite_draw import BOOLS, REDUCTIONS, family

DTYPES = ["float32"] * 5 + ["float64"]


@family("F.layer_norm rms_norm")
def _(d):
    shape = d.shape(1, 4)
    last = shape[len(shape) - d.int(1, len(shape)) :]
    x, size = d.T(shape, d.one(*DTYPES)), d.off(
        repr(d.one(tuple, list)(last)), "()", "[99]", repr(last[-1]), repr(shape[:1])
    )
    dtype = "float64" if "float64" in x else "float32"
    eps = ("eps", ["1e-5", "1e-3", "None" if d.fires() else "1e-6"])
    if d.odds(0.35):
        kind = d.one("LayerNorm", "LayerNorm", "RMSNorm")
        optional = [eps, ("elementwise_affine", BOOLS)] + (
            [("bias", BOOLS)] if kind == "LayerNorm" and d.odds(0.2) else []
        )
        return "%s(%s)" % (d.call("nn." + kind, [d.one(size, repr(last[0])) if len(last) == 1 else size], optional), x)
    weight = ("weight", [d.T(last, dtype), "None"])
    if d.odds(0.3):
        return d.call("F.rms_norm", [x, size], [weight, eps])
    return d.call(
        d.one("F.layer_norm", "F.layer_norm", "torch.layer_norm"),
        [x, size],
        [weight, ("bias", [d.T(last, dtype), "None"]), eps],
    )


@family("F.group_norm")
def _(d):
    groups = d.int(1, 3)
    channels = groups * d.int(1, 3)
    shape = [d.size(1, 3), channels] + d.shape(0, 3)
    x = d.T(shape, d.one(*DTYPES))
    dtype = "float64" if "float64" in x else "float32"
    count = str(d.off(groups, groups + 1, 0, -1))
    eps = ("eps", ["1e-5", "1e-3"])
    if d.odds(0.35):
        return "%s(%s)" % (
            d.call("nn.GroupNorm", [count, str(d.off(channels, channels + 1))], [eps, ("affine", BOOLS)]),
            x,
        )
    optional = [("weight", [d.T([channels], dtype), "None"]), ("bias", [d.T([channels], dtype), "None"]), eps]
    return d.call(d.one("F.group_norm", "F.group_norm", "torch.group_norm"), [x, count], optional)


@family("F.batch_norm F.instance_norm")
def _(d):
    kind, channels, n = d.one("batch", "instance"), d.int(1, 4), d.int(0, 3)
    shape = [d.size(1, 3), channels] + [d.size(1, 4) for _ in range(n)]
    dtype = d.one(*DTYPES)
    if kind == "instance" and d.odds(0.2):
        shape = shape[1:]
    x = d.T(shape, dtype)
    if d.odds(0.4):
        layer = "nn.%sNorm%dd" % (kind.title(), d.off(max(n, 1), 1, 2, 3))
        optional = [
            ("eps", ["1e-5", "1e-3"]),
            ("momentum", ["0.1", "None"]),
            ("affine", BOOLS),
            ("track_running_stats", BOOLS),
        ]
        made = d.call(layer, [str(channels)], optional, 0.7) + ".eval()"
        return d.call(made, [x if dtype == "float32" or d.fires() else d.T(shape, "float32")])
    vector = lambda: d.one(d.T([channels], dtype), d.T([channels], dtype), "None")
    optional = [("weight", [vector()]), ("bias", [vector()])]
    rest = [("momentum", ["0.1", "0.9"]), ("eps", ["1e-5", "1e-3"])]
    stats = [d.T([channels], dtype), d.T([channels], dtype, "pos")]
    if kind == "batch":
        stats = ["None", "None"] if d.odds(0.15) else stats
        return d.call("F.batch_norm", [x] + stats, optional + [("training", BOOLS)] + rest)
    stats = [("running_mean", stats[:1]), ("running_var", stats[1:])] if d.odds(0.4) else []
    named = ["use_input_stats=" + d.one(*BOOLS)] if stats and d.odds(0.4) else []
    return d.call("F.instance_norm", [x], stats + optional + (rest if not stats else []), 0.5, named)


@family("F.local_response_norm")
def _(d):
    shape = [d.size(1, 3), d.size(1, 6)] + d.shape(0, 3)
    optional = [("alpha", ["0.0001", "1"]), ("beta", ["0.75", "0.5"]), ("k", ["1.0", "2"])]
    size = str(d.off(d.int(1, 5), 0, -1))
    if d.odds(0.3):
        return "%s(%s)" % (d.call("nn.LocalResponseNorm", [size], optional), d.T(shape))
    return d.call("F.local_response_norm", [d.T(shape, d.one(*DTYPES)), size], optional)


SIMPLE = {  # name: (class, further optional parameters before reduction, after it)
    "mse_loss": ("MSELoss", []),
    "l1_loss": ("L1Loss", []),
    "smooth_l1_loss": ("SmoothL1Loss", [("beta", ["1.0", "0.5", "0.0"])]),
    "huber_loss": ("HuberLoss", [("delta", ["1.0", "0.5"])]),
    "soft_margin_loss": ("SoftMarginLoss", []),
    "hinge_embedding_loss": ("HingeEmbeddingLoss", [("margin", ["1.0", "2"])]),
    "kl_div": ("KLDivLoss", [("log_target", BOOLS)]),
    "poisson_nll_loss": ("PoissonNLLLoss", [("log_input", BOOLS), ("full", BOOLS), ("eps", ["1e-8"])]),
    "multilabel_margin_loss": ("MultiLabelMarginLoss", []),
    "binary_cross_entropy": ("BCELoss", []),
    "binary_cross_entropy_with_logits": ("BCEWithLogitsLoss", []),
    "multilabel_soft_margin_loss": ("MultiLabelSoftMarginLoss", []),
}


def named_options(d, options, absent=0.6):
    options = options + [
        ("reduction", REDUCTIONS + ["'x'" if d.fires(0.2) else "'batchmean'" if d.odds(0.2) else "'none'"])
    ]
    if d.odds(0.07):
        options = options + [("size_average", BOOLS), ("reduce", BOOLS)]
    return ["%s=%s" % (n, d.one(*c)) for n, c in options if not d.odds(absent if n != "reduction" else 0.3)]


@family("F.losses of two tensors")
def _(d):
    name = d.one(*SIMPLE)
    layer, options = SIMPLE[name]
    shape = d.shape(0, 4) if name != "multilabel_margin_loss" else d.shape(1, 2)
    dtype = d.one(*DTYPES)
    other = shape if d.odds(0.85) else d.like(shape)
    target = (
        d.T(other, "int64", 1)
        if name == "multilabel_margin_loss"
        else d.T(other, d.one(dtype, dtype, dtype, "float64", "int64"), "pos")
    )
    x, weights = d.T(shape, dtype, "pos"), []
    weight = lambda: d.T(d.like(shape) if d.odds(0.6) else shape, dtype, "pos")
    if name.startswith("binary") or name == "multilabel_soft_margin_loss":
        weights = ["weight=" + weight()] if d.odds(0.3) else []
        if name.endswith("logits") and d.odds(0.3):
            weights.append("pos_weight=" + weight())
    named = named_options(d, options) + weights
    if d.odds(0.35):
        return d.call(d.call("nn." + layer, [], named=named), [x, target])
    return d.call("F." + name, [x, target], named=named)


@family("F.cross_entropy nll_loss")
def _(d):
    name, classes = d.one("cross_entropy", "cross_entropy", "nll_loss"), d.int(1, 5)
    n = None if d.odds(0.2) else d.size(1, 3)
    extra = d.shape(0, 3) if n is not None and d.odds(0.4) else []
    batch = [] if n is None else [n]
    x = d.T(batch + [classes] + extra, d.one(*DTYPES))
    dtype = "float64" if "float64" in x else "float32"
    target = d.T(batch + extra, d.one("int64", "int64", "int64", "int32" if d.fires() else "int64"), classes)
    if name == "cross_entropy" and d.odds(0.25):
        target = d.T(batch + [classes] + extra, dtype, "pos")
    options = [("weight", [d.T([classes], dtype, "pos")]), ("ignore_index", ["-100", "0", "1"])]
    if name == "cross_entropy":
        options.append(("label_smoothing", ["0.0", "0.1", d.off("0.5", "1.5", "-0.1")]))
    named = named_options(d, options)
    if d.odds(0.35):
        return d.call(
            d.call("nn." + {"cross_entropy": "CrossEntropyLoss", "nll_loss": "NLLLoss"}[name], [], named=named),
            [x, target],
        )
    return d.call("F." + name, [x, target], named=named)


@family("F.losses of three tensors")
def _(d):
    what = d.one(
        "margin_ranking",
        "cosine_embedding",
        "triplet_margin",
        "multi_margin",
        "gaussian_nll",
        "triplet_margin_with_distance",
    )
    n, width, dtype = d.size(1, 3), d.size(1, 4), d.one(*DTYPES)
    shape = d.one([n, width], [n, width], [width], [n, 2, width])
    layers = {
        "margin_ranking": "MarginRankingLoss",
        "cosine_embedding": "CosineEmbeddingLoss",
        "triplet_margin": "TripletMarginLoss",
        "multi_margin": "MultiMarginLoss",
        "gaussian_nll": "GaussianNLLLoss",
        "triplet_margin_with_distance": "TripletMarginWithDistanceLoss",
    }
    margin = ("margin", ["1.0", "0.0", "0.5", "2"])
    x = lambda s: d.T(s, dtype)
    if what == "margin_ranking":
        tensors, options = [
            x(shape),
            x(shape if d.odds(0.8) else d.like(shape)),
            x(shape if d.odds(0.8) else d.like(shape)),
        ], [margin]
    elif what == "cosine_embedding":
        shape = d.one([n, width], [n, width], [width])
        tensors, options = [x(shape), x(shape), x(shape[:-1])], [margin]
    elif what == "multi_margin":
        shape = d.one([n, width], [width])
        tensors = [x(shape), d.T(shape[:-1] if len(shape) > 1 else d.one([], [1]), "int64", max(width, 1))]
        options = [("p", ["1", "2", d.off("1", "3", "0")]), margin, ("weight", [d.T([width], dtype)])]
    elif what == "gaussian_nll":
        tensors = [
            x(shape),
            x(shape if d.odds(0.8) else d.like(shape)),
            d.T(d.one(shape, shape[:-1], shape[:-1] + [1]), dtype, "pos"),
        ]
        options = [("full", BOOLS), ("eps", ["1e-6", "0.1"])]
    else:
        tensors = [x(shape), x(shape if d.odds(0.85) else d.like(shape)), x(shape)]
        options = [margin, ("swap", BOOLS)]
        if what == "triplet_margin":
            options += [("p", ["2", "1", "2.0"]), ("eps", ["1e-6"])]
        else:
            options.append(
                (
                    "distance_function",
                    [
                        "nn.PairwiseDistance()",
                        "F.pairwise_distance",
                        "None",
                        "lambda a, b: (a - b).abs().sum(-1)",
                        "lambda x, y: 1.0 - F.cosine_similarity(x, y)",
                    ],
                )
            )
    named = named_options(d, options)
    if d.odds(0.35):
        return d.call(d.call("nn." + layers[what], [], named=named), tensors)
    return d.call("F.%s_loss" % what, tensors, named=named)


@family("F.ctc_loss")
def _(d):
    steps, n, classes, longest = d.int(3, 8), d.size(1, 3), d.int(2, 5), d.int(1, 3)
    batched = d.odds(0.85)
    x = d.T([steps, n, classes] if batched else [steps, classes], d.one("float32", "float32", "float64"))
    count = n if batched else 1
    inputs = [d.int(3, steps) for _ in range(d.off(count, count + 1))]
    targets = [d.int(0 if d.odds(0.1) else 1, longest) for _ in range(d.off(count, count + 1))]
    if d.fires(0.2):
        inputs = [steps + 1] * count
    if d.fires(0.2):
        targets = [longest + 1] * count
    kind = d.one("int64", "int64", "int32")
    flat = d.odds(0.3)
    target = d.T(
        [sum(targets)] if flat else [count, longest] if batched or d.odds(0.3) else [longest], kind, max(classes - 1, 1)
    )

    def lengths(values):
        if not batched and d.odds(0.6):
            return d.one("C(%d, 'int64')" % values[0], repr(tuple(values))) if values else "()"
        return d.one("C(%r, 'int64')" % values, repr(tuple(values)), repr(values), "C(%r, 'int32')" % values)

    options = [("blank", ["0", str(d.off(classes - 1, classes, -1))]), ("zero_infinity", BOOLS)]
    named = named_options(d, options)
    tensors = [x, target, lengths(inputs), lengths(targets)]
    if d.odds(0.3):
        return d.call(d.call("nn.CTCLoss", [], named=named), tensors)
    return d.call("F.ctc_loss", tensors, named=named)


@family("F.normalize cosine_similarity pairwise_distance cdist")
def _(d):
    what = d.int(0, 5)
    shape, dtype = d.shape(1, 4), d.one(*DTYPES)
    power = ("p", ["2.0", "1", "1.5", "float('inf')", d.off("0.5", "-1", "'fro'")])
    if what == 0:
        dims = [str(d.dim(len(shape))), "1", repr((0, -1)[: d.int(1, 2)])]
        return d.call("F.normalize", [d.T(shape, dtype)], [power, ("dim", dims), ("eps", ["1e-12", "0.1"])])
    other = d.T(shape if d.odds(0.7) else d.like(shape), dtype)
    x = d.T(shape, dtype)
    if what == 1:
        text, options = d.one("F.cosine_similarity", "nn.CosineSimilarity", "torch.cosine_similarity"), [
            ("dim", [str(d.dim(len(shape)))] * 2 + ["1"]),
            ("eps", ["1e-8"]),
        ]
    elif what == 2:
        text, options = d.one("F.pairwise_distance", "nn.PairwiseDistance", "torch.pairwise_distance"), [
            power,
            ("eps", ["1e-6"]),
            ("keepdim", BOOLS),
        ]
    elif what in (3, 4):
        batch, width = d.shape(0, 2), d.size(1, 4)
        x, other = d.T(batch + [d.size(), width], dtype), d.T(d.like(batch) + [d.size(), width], dtype)
        compute = [
            "'use_mm_for_euclid_dist'",
            "'use_mm_for_euclid_dist_if_necessary'",
            "'donot_use_mm_for_euclid_dist'",
            "'x'" if d.fires(0.3) else "None",
        ]
        return d.call("torch.cdist", [x, other], [power, ("compute_mode", compute)])
    else:
        return d.call(d.one("F.pdist", "torch.pdist"), [d.T(shape[:2], dtype)], [power])
    if text.startswith("nn."):
        return d.call(d.call(text, [], options), [x, other])
    return d.call(text, [x, other], options)


@family("F.gumbel_softmax softmax dropout")
def _(d):
    shape = d.shape(0, 4)
    x, dim = d.T(shape, d.one(*DTYPES, "int64")), str(d.dim(len(shape)))
    what = d.int(0, 5)
    if what < 3:
        return d.call(
            "F.gumbel_softmax", [x], [("tau", ["1", "0.5"]), ("hard", BOOLS), ("eps", ["1e-10"]), ("dim", [dim])]
        )
    dtype = ("dtype", ["torch.float64", "torch.float32", "None", d.off("torch.float64", "torch.int64", "float")])
    if what == 3:
        name = d.one("F.softmax", "F.log_softmax", "F.softmin", "torch.softmax", "torch.log_softmax")
        return d.call(name, [x, "dim=" + dim], named=[] if d.odds(0.6) else ["dtype=" + d.one(*dtype[1])])
    if what == 4:
        name = d.one("nn.Softmax", "nn.LogSoftmax", "nn.Softmin", "nn.Softmax2d")
        return "%s(%s)" % (d.call(name, [], [] if name.endswith("2d") else [("dim", [dim])]), x)
    name = d.one("dropout", "dropout1d", "dropout2d", "dropout3d", "alpha_dropout", "feature_alpha_dropout")
    return d.call(
        "F." + name,
        [x],
        [("p", ["0.5", "0.0", "1.0", d.off("0.3", "-0.1", "1.1")]), ("training", BOOLS), ("inplace", ["False"])],
    )


@family("torch.stft istft")
def _(d):
    n_fft = d.one(4, 5, 8)
    hop = d.one(None, 1, 2, 3, n_fft // 4)
    win = d.one(None, None, n_fft, n_fft - 1, 3)
    batch = d.one([], [], [2], [1, 2] if d.fires() else [3])
    named = []
    if hop is not None:
        named.append("hop_length=%d" % d.off(hop, 0, -1, n_fft + 1))
    if win is not None:
        named.append("win_length=%d" % d.off(win, n_fft + 1, 0))
    if d.odds(0.5):
        named.append(
            "window=%s"
            % d.one(d.T([win or n_fft]), "torch.hann_window(%d)" % (win or n_fft), "torch.ones(%d)" % (win or n_fft))
        )
    if d.odds(0.5):
        named.append("center=" + d.one(*BOOLS))
    if d.odds(0.3):
        named.append("normalized=" + d.one(*BOOLS))
    onesided = d.one(None, None, True, False)
    if onesided is not None:
        named.append("onesided=%s" % onesided)
    if d.odds(0.55):
        if d.odds(0.3):
            named.append(
                "pad_mode=%s" % d.one("'reflect'", "'constant'", "'replicate'", "'circular'", d.off("'reflect'", "'x'"))
            )
        if not d.fires(0.3):
            named.append("return_complex=" + d.one("True", "True", "True", "False"))
        x = d.T(batch + [d.int(6, 20)], d.one(*DTYPES, "complex64" if onesided is not True else "float32"))
        return d.call(d.one("torch.stft", "torch.Tensor.stft"), [x, str(d.off(n_fft, 0, 50))], named=named)
    bins = n_fft if onesided is False else n_fft // 2 + 1
    x = d.T(batch + [bins, d.int(2, 5)], d.one("complex64", "complex64", "complex128"))
    if d.odds(0.25):
        named.append("length=%d" % d.int(1, 12))
    if d.odds(0.2):
        named.append("return_complex=" + d.one(*BOOLS))
    return d.call("torch.istft", [x, str(n_fft)], named=named)


@family("torch.fft")
def _(d):
    names = "fft ifft rfft irfft hfft ihfft fft2 ifft2 rfft2 irfft2 fftn ifftn rfftn irfftn hfft2 ihfft2 hfftn ihfftn".split()
    name = d.one(*names)
    shape = d.shape(1, 4, 5)
    x = d.T(shape, d.one("float32", "float32", "complex64", "int64", "float64"))
    norm = ("norm", ["'ortho'", "'forward'", "'backward'", "None", d.off("None", "'x'")])
    if name[-1] in "2n" and not name.endswith("fft"):
        k = 2 if name[-1] == "2" else d.int(1, len(shape))
        dims = [d.dim(len(shape)) for _ in range(k)]
        size = [d.off(d.int(1, 5), 0, -1) for _ in range(d.off(k, k + 1))]
        return d.call(
            "torch.fft." + name,
            [x],
            named=["s=%r" % (d.one(tuple, list)(size),)] * d.odds(0.4)
            + ["dim=%r" % (tuple(dims),)] * d.odds(0.4)
            + ["norm=" + d.one(*norm[1])] * d.odds(0.3),
        )
    return d.call(
        "torch.fft." + name,
        [x],
        [("n", [str(d.off(d.int(1, 6), 0, -1)), "None"]), ("dim", [str(d.dim(len(shape)))]), norm],
    )


@family("torch.einsum")
def _(d):
    letters = list("abcdeAB")[: d.int(1, 5)]
    sizes = {c: d.size(1, 4) for c in letters}
    batch = d.one(None, None, None, [2], [2, 3])
    operands, seen = [], []
    for _ in range(d.one(1, 2, 2, 2, 3)):
        own = [d.one(*letters) for _ in range(d.int(0 if batch else 1, 3))]
        shape, text = [sizes[c] if not d.odds(0.03) else 1 for c in own], "".join(own)
        if batch is not None:
            at = d.int(0, len(own))
            lead = batch[d.int(0, len(batch)) :] if d.odds(0.3) else batch
            shape, text = shape[:at] + lead + shape[at:], text[:at] + "..." + text[at:]
        operands.append((text, d.T(shape, "float32")))
        seen += own
    left = d.one(",", ", ").join(t for t, _ in operands)
    out = "".join(c for c in dict.fromkeys(seen) if d.odds(0.6))
    out += d.off("", out[:1], "z", "...")
    if batch is not None and d.odds(0.85):
        out = d.one("..." + out, out + "...")
    equation = left + (d.one("->", " -> ") + out if d.odds(0.8) else "")
    equation = d.off(
        equation, equation + "->", equation.replace(",", ""), equation.replace("...", ".."), equation + "1"
    )
    tensors = [t for _, t in operands]
    if d.odds(0.1):
        return "torch.einsum(%r, [%s])" % (equation, ", ".join(tensors))
    return d.call("torch.einsum", [repr(equation)] + tensors)
