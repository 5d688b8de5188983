"""Reductions, sorting, gathering, creation and type promotion, for composites_test.py. Where a
tensor is a constant its values are compared too."""
from composite_draw import ALL, BOOLS, family, made

REDUCTIONS = {
    "sum": "dkt",
    "mean": "dkt",
    "nansum": "dkt",
    "nanmean": "dkt",
    "prod": "1kt",
    "amax": "dk",
    "amin": "dk",
    "aminmax": "Dk",
    "logsumexp": "dk",
    "all": "1k",
    "any": "1k",
    "argmax": "1k",
    "argmin": "1k",
    "max": "1k",
    "min": "1k",
    "median": "1k",
    "nanmedian": "1k",
    "mode": "1k",
    "std": "dkc",
    "var": "dkc",
    "std_mean": "dkc",
    "var_mean": "dkc",
    "norm": "n",
    "count_nonzero": "d",
    "cumsum": "1t",
    "cumprod": "1t",
    "cummax": "1",
    "logcumsumexp": "1",
    "diff": "f",
}


@family("reductions")
def _(d):
    name = d.one(*REDUCTIONS)
    flags, shape = REDUCTIONS[name], d.shape(0, 4)
    rank = len(shape)
    x = made(
        d,
        shape,
        d.one(
            "float32",
            "float32",
            "float64",
            "int64",
            "int32",
            "bool",
            "uint8",
            "complex64" if d.odds(0.3) else "float32",
        ),
        0.3,
    )
    one = str(d.dim(rank))
    several = repr(d.one(tuple, list)(d.r.sample(range(-rank, 0), d.int(0, rank)) if rank else []))
    several = d.off(several, repr((0, 0)), repr((0, -rank)), "(9,)")
    named = []
    if "d" in flags and d.odds(0.75):
        named.append("dim=" + d.one(one, several, several, "None" if d.odds(0.3) else several))
    if ("1" in flags or "D" in flags) and d.odds(0.75):
        named.append("dim=" + d.off(one, several))
    if "k" in flags and d.odds(0.4) and (named or d.odds(0.2)):
        named.append("keepdim=" + d.one(*BOOLS))
    if "t" in flags and d.odds(0.25):
        named.append("dtype=torch." + d.one("float64", "int64", "float32", "bool" if d.fires() else "float32", "int32"))
    if "c" in flags and d.odds(0.35):
        named.append(d.one("unbiased=True", "unbiased=False", "correction=0", "correction=2"))
    if "n" in flags:
        named = ["p=" + d.one("2", "1", "'fro'", "float('inf')", "0", "3", d.off("'fro'", "'nuc'", "'x'"))] * d.odds(
            0.6
        )
        named += ["dim=" + d.one(one, several)] * d.odds(0.6) + ["keepdim=" + d.one(*BOOLS)] * d.odds(0.3)
    if "f" in flags:
        named = ["n=%d" % d.off(d.int(0, 3), -1)] * d.odds(0.5) + ["dim=" + one] * d.odds(0.5)
        named += ["prepend=" + made(d, d.like(shape) or [1], "float32", 0)] * d.odds(0.2)
    if named and named[0].startswith("dim=") and d.odds(0.4):
        named[0] = named[0][4:]
    if d.odds(0.3) and not name.startswith("cumm") or name in ("norm",):
        return d.call("torch." + name, [x], named=named)
    return (
        d.call("%s.%s" % (x, name), [], named=named)
        if not name.endswith("_mean")
        else d.call("torch." + name, [x], named=named)
    )


@family("sorting")
def _(d):
    shape = d.shape(0, 3)
    rank, dim = len(shape), d.dim(len(shape))
    size = shape[dim] if rank and -rank <= dim < rank else 1
    dtype = d.one("float32", "float32", "float64", "int64", "bool" if d.odds(0.2) else "int32")
    x = made(d, shape, dtype, 0.5)
    what = d.one(
        "quantile",
        "nanquantile",
        "kthvalue",
        "topk",
        "sort",
        "argsort",
        "unique",
        "unique_consecutive",
        "msort",
        "searchsorted",
        "bucketize",
        "histc",
        "bincount",
        "nonzero",
        "isin",
    )
    at = ("dim", [str(dim), str(dim), "None" if d.fires() else str(dim)])
    if what in ("quantile", "nanquantile"):
        q = d.one(
            "0.5",
            "0.25",
            "1",
            "C([0.25, 0.75], 'float32')",
            "C(0.5, 'float32')",
            d.T([2], "float32", "pos"),
            d.off("0.1", "1.5", "-0.1", "C([[0.5]], 'float32')"),
        )
        modes = ["'linear'", "'lower'", "'higher'", "'midpoint'", "'nearest'", d.off("'linear'", "'x'")]
        return d.call(
            "torch." + what,
            [x, q],
            [("dim", at[1] + ["None"]), ("keepdim", BOOLS)],
            0.4,
            ["interpolation=" + d.one(*modes)] * d.odds(0.3),
        )
    if what == "kthvalue":
        return d.call("torch.kthvalue", [x, str(d.off(d.int(1, max(size, 1)), 0, size + 1))], [at, ("keepdim", BOOLS)])
    if what == "topk":
        return d.call(
            "torch.topk", [x, str(d.off(d.int(0, size), size + 1, -1))], [at, ("largest", BOOLS), ("sorted", ["True"])]
        )
    if what in ("sort", "argsort"):
        stable = ["stable=" + d.one(*BOOLS)] * d.odds(0.2)
        return d.call("torch." + what, [x], [at, ("descending", BOOLS)], 0.5, stable)
    if what == "unique":
        return d.call(
            "torch.unique",
            [x],
            [("sorted", ["True"]), ("return_inverse", BOOLS), ("return_counts", BOOLS)] + [at] * d.odds(0.3),
            0.5,
        )
    if what == "unique_consecutive":
        return d.call(
            "torch.unique_consecutive",
            [x],
            [("return_inverse", BOOLS), ("return_counts", BOOLS)] + [at] * d.odds(0.3),
            0.5,
        )
    if what == "msort":
        return d.call("torch.msort", [x])
    if what in ("searchsorted", "bucketize"):
        edges = (
            "C(%r, 'float32')" % sorted(d.data([d.int(1, 4)], "float32"))
            if d.odds(0.6)
            else d.T(shape[:-1] + [d.size()], "float32")
        )
        named = ["out_int32=" + d.one(*BOOLS)] * d.odds(0.3) + ["right=" + d.one(*BOOLS)] * d.odds(0.3)
        return d.call("torch." + what, [edges, x] if what == "searchsorted" else [x, edges], named=named)
    if what == "histc":
        return d.call(
            "torch.histc", [x], [("bins", ["4", str(d.off(10, 0, -1))]), ("min", ["0", "-1"]), ("max", ["2", "5"])]
        )
    if what == "bincount":
        return d.call(
            "torch.bincount",
            [d.C(shape[:1] or [2], d.one("int64", "int32", "float32" if d.fires() else "int64"), d.off(0, -2), 4)],
            [("minlength", ["6", str(d.off(0, -1))])],
        )
    if what == "nonzero":
        return d.call("torch.nonzero", [x], named=["as_tuple=" + d.one(*BOOLS)] * d.odds(0.5))
    return d.call("torch.isin", [x, made(d, d.shape(0, 2), dtype)], named=["invert=" + d.one(*BOOLS)] * d.odds(0.4))


@family("gathering and scattering")
def _(d):
    shape = d.shape(0 if d.odds(0.1) else 1, 3)
    rank, dim = len(shape), d.dim(len(shape))
    size = shape[dim] if rank and -rank <= dim < rank else 1
    dtype = d.one("float32", "float32", "float64", "int64")
    constant = d.one(0, 0, 1)
    x = made(d, shape, dtype, constant)
    what = d.one(
        *"gather take_along_dim scatter scatter_add scatter_reduce index_select index_add index_copy index_fill index_reduce index_put take masked_fill masked_scatter masked_select where select_scatter slice_scatter diagonal_scatter put_ scatter_".split()
    )
    indices = (
        lambda s, t="int64": d.C(s, t, 0, max(size - 1, 0) + d.off(0, 3))
        if constant or d.odds(0.3)
        else d.T(s, t, max(size, 1))
    )
    smaller = [d.int(0, v) if d.odds(0.3) else v for v in shape]
    if rank and -rank <= dim < rank and d.odds(0.5):
        smaller[dim] = d.int(1, 4) if "gather" in what or "take" in what else min(d.int(1, 4), size)
    kind = d.one("int64", "int64", "int64", "int32" if d.fires() or d.odds(0.05) else "int64")
    at = str(dim)
    other = dtype if not d.fires() else d.one("float32", "int64", "float64")
    source = lambda s: made(d, s, other, constant)
    length = [d.size(1, 3)] if d.odds(0.9) else []
    line = list(shape)
    if rank and -rank <= dim < rank:
        line[dim] = length[0] if length else 1
    if what == "gather":
        return d.call("torch.gather", [x, at, indices(smaller, kind)])
    if what == "take_along_dim":
        return d.call(
            "torch.take_along_dim",
            [x, indices(d.like(smaller) if d.odds(0.2) else smaller, kind)],
            [("dim", [at, "None"])],
            0.2,
        )
    if what in ("scatter", "scatter_"):
        if what == "scatter_":
            return d.call(
                x + ".scatter_",
                [at, indices(smaller, kind), d.one(source(smaller), source(shape), "2", "0.5")],
                named=["reduce=%s" % d.off(d.one("'add'", "'multiply'"), "'x'")] * d.odds(0.3),
            )
        return d.call(
            "torch.scatter", [x, at, indices(smaller, kind), d.one(source(smaller), source(shape), "2", "0.5", "True")]
        )
    if what == "scatter_add":
        return d.call("torch.scatter_add", [x, at, indices(smaller, kind), d.one(source(smaller), source(shape))])
    modes = ["'sum'", "'prod'", "'mean'", "'amax'", "'amin'", d.off("'sum'", "'x'")]
    if what == "scatter_reduce":
        return d.call(
            "torch.scatter_reduce",
            [x, at, indices(smaller, kind), source(smaller), d.one(*modes)],
            named=["include_self=" + d.one(*BOOLS)] * d.odds(0.4),
        )
    if what == "index_select":
        return d.call("torch.index_select", [x, at, indices(d.off(length, [2, 2]), d.one(kind, "int32"))])
    if what in ("index_add", "index_copy"):
        named = ["alpha=%s" % d.one("2", "0.5")] * d.odds(0.3) if what == "index_add" else []
        return d.call("torch." + what, [x, at, indices(length, kind), source(line)], named=named)
    if what == "index_fill":
        return d.call(
            "torch.index_fill",
            [x, at, indices(length, kind), d.one("1", "0.5", "True", "C(2.0, 'float32')", "1j" if d.fires() else "0")],
        )
    if what == "index_reduce":
        return d.call("torch.index_reduce", [x, at, indices(length, kind), source(line), d.one(*modes[1:])])
    if what == "index_put":
        count = d.int(1, 3)
        parts = [
            "C(%r, 'int64')" % [d.off(d.int(0, max(v - 1, 0)), v) for _ in range(count)]
            for v in shape[: d.int(1, max(rank, 1))]
        ]
        value = d.one("C(1, %r)" % dtype, source([count] + shape[len(parts) :]), source([1]))
        return d.call("torch.index_put", [x, "[%s]" % ", ".join(parts), value], [("accumulate", BOOLS)])
    total = 1
    for v in shape:
        total *= v
    mask = (
        lambda s: d.C(s, "bool")
        if constant or d.odds(0.2)
        else d.T(s, "bool" if not d.fires() else d.one("uint8", "int64"))
    )
    if what in ("take", "put_"):
        where = "C(%r, %r)" % ([d.off(d.int(-total, total - 1) if total else 0, total) for _ in range(3)], kind)
        if what == "take":
            return d.call("torch.take", [x, where])
        return d.call(x + ".put_", [where, source([3])], [("accumulate", BOOLS)])
    if what == "masked_fill":
        return d.call(
            "torch.masked_fill",
            [
                x,
                mask(d.like(shape)),
                d.one("0.5", "-1", "True", "C(2, %r)" % dtype, source([1]) if d.fires() else "0", "float('-inf')"),
            ],
        )
    if what == "masked_scatter":
        return d.call(
            "torch.masked_scatter", [x, mask(d.like(shape)), source([total + d.off(0, -1)] if total else [1])]
        )
    if what == "masked_select":
        return d.call("torch.masked_select", [x, mask(d.like(shape))])
    if what == "where":
        condition = mask(d.like(shape))
        return d.call(
            "torch.where",
            [condition] + ([] if d.odds(0.1) else [d.one(x, x, "1", "0.5"), d.one(source(d.like(shape)), "2", "0.0")]),
        )
    if what == "select_scatter":
        rest = [v for k, v in enumerate(shape) if k != dim % max(rank, 1)]
        return d.call("torch.select_scatter", [x, source(rest), at, str(d.off(0, size, -size - 1))])
    if what == "slice_scatter":
        start, end, step = d.one(0, 1, None), d.one(None, size, size - 1), d.one(1, 1, 2)
        if rank and -rank <= dim < rank:
            line[dim] = len(range(*slice(start, end, step).indices(size)))
        return d.call(
            "torch.slice_scatter",
            [x, source(line)],
            named=["dim=" + at, "start=%r" % start, "end=%r" % end, "step=%d" % d.off(step, 0, -1)],
        )
    shape2 = (shape + [2, 2])[: max(rank, 2)]
    return d.call(
        "torch.diagonal_scatter",
        [
            made(d, shape2, dtype, constant),
            source([min(shape2[0], shape2[1])] if len(shape2) == 2 else shape2[2:] + [min(shape2[:2])]),
        ],
        [("offset", ["0", "1"])],
    )


@family("creation")
def _(d):
    number = lambda: d.one("0", "1", "-2", "5", "0.5", "-1.25", "10", "2.0", "True")
    dtype = ["dtype=torch." + d.one(*ALL)] * d.odds(0.5)
    what = d.one(
        "arange",
        "arange",
        "linspace",
        "linspace",
        "logspace",
        "range",
        "full",
        "zeros",
        "eye",
        "tensor",
        "full_like",
        "new",
        "tril_indices",
        "window",
        "as_tensor",
        "empty",
    )
    if what == "arange":
        return d.call("torch.arange", [number() for _ in range(d.one(1, 2, 3))], named=dtype)
    if what == "range":
        return d.call("torch.range", [number(), number()] + [number()] * d.odds(0.4), named=dtype)
    if what in ("linspace", "logspace"):
        ends = [d.one(number(), "C(1.5, 'float32')" if d.odds(0.15) else number()) for _ in "ab"]
        return d.call(
            "torch." + what,
            ends + ["steps=" * d.odds(0.4) + str(d.off(d.int(0, 6), -1))],
            named=dtype + ["base=2.0"] * (what == "logspace" and d.odds(0.4)),
        )
    shape = d.shape(0, 3)
    size = d.off(d.one(repr(tuple(shape)), repr(shape)), "(-1, 2)", "(2.5,)")
    if what == "full":
        return d.call(
            "torch.full", [size, d.one(number(), "1j", "float('nan')", "10**10", "C(2, 'int64')")], named=dtype
        )
    if what in ("zeros", "empty"):
        return d.call(
            d.one("torch.zeros", "torch.ones")
            if what == "zeros"
            else d.one("torch.empty", "torch.rand", "torch.randn"),
            [str(v) for v in shape] if shape and d.odds(0.5) else [size],
            named=dtype,
        )
    if what == "eye":
        return d.call("torch.eye", [str(d.off(d.int(0, 4), -1))] + [str(d.int(0, 4))] * d.odds(0.5), named=dtype)
    if what in ("tensor", "as_tensor"):
        kind = d.one("float32", "int64", "bool", "int64")
        data = repr(d.data(shape, kind))
        data = d.one(
            data,
            data,
            "[[1, 2.5], [True, 3]]",
            "[C(1, 'int64'), 2]",
            "[1j, 2]",
            "[C([1, 2], 'int64'), C([3, 4], 'int64')]",
            d.off("[]", "[[1], [2, 3]]", "[1, None]", "'x'", "[1, [2]]"),
        )
        return d.call("torch." + what, [data], named=dtype)
    if what == "full_like":
        x = made(d, shape, d.one(*ALL[:10]))
        name = d.one("full_like", "zeros_like", "ones_like", "empty_like", "rand_like", "randn_like")
        return d.call("torch." + name, [x] + [number()] * (name == "full_like"), named=dtype)
    if what == "new":
        x = made(d, shape, d.one("float32", "int64"))
        name = d.one("new_full", "new_zeros", "new_ones", "new_tensor", "new_empty")
        if name == "new_tensor":
            return d.call(x + ".new_tensor", [repr(d.data(shape, "int64"))], named=dtype)
        return d.call("%s.%s" % (x, name), [size] + [number()] * (name == "new_full"), named=dtype)
    if what == "window":
        name = d.one("hann", "hamming", "blackman", "bartlett", "kaiser")
        return d.call("torch.%s_window" % name, [str(d.off(d.int(0, 7), -1))], [("periodic", BOOLS)], 0.5, dtype)
    return d.call(
        "torch." + d.one("tril_indices", "triu_indices"),
        [str(d.off(d.int(0, 4), -1)), str(d.int(0, 4))],
        [("offset", ["1", "-1", "0"])],
        0.5,
        dtype,
    )


BINARY = """add sub mul div floor_divide remainder fmod pow maximum minimum atan2 eq ne lt le gt ge logical_and logical_or bitwise_and bitwise_or bitwise_xor
            bitwise_left_shift isclose true_divide rsub float_power copysign hypot logaddexp gcd lcm xlogy heaviside fmax ldexp nextafter where lerp addcmul clamp
            addcdiv dot matmul bmm outer masked_fill""".split()
OPERATORS = ["+", "-", "*", "/", "//", "%", "**", "==", "!=", "<", ">=", "&", "|", "^", "<<", ">>", "@"]


@family("promotion")
def _(d):
    shape = d.one([], [2], [2, 3], [1, 3])
    tensor = lambda: made(d, d.one(shape, shape, d.like(shape), []), d.one(*ALL), 0.35)
    number = d.one("2", "0.5", "True", "-1", "1j", "2.0", "0", "10**10", "False")
    a, b = tensor(), d.one(tensor(), tensor(), number)
    if d.odds(0.45):
        if d.odds(0.3):
            a, b = b, a
        return "%s %s %s" % (a, d.one(*OPERATORS), b)
    name = d.one(*BINARY)
    if name in ("dot", "matmul", "bmm", "outer"):
        size = {"dot": [3], "outer": [3], "matmul": [2, 2], "bmm": [2, 2, 2]}[name]
        one = d.one(*ALL)
        return d.call(
            "torch." + name, [made(d, size, one, 0.2), made(d, size, one if d.odds(0.6) else d.one(*ALL), 0.2)]
        )
    if name == "where":
        return d.call("torch.where", [d.T(d.like(shape), "bool"), a, b])
    if name == "lerp":
        return d.call("torch.lerp", [a, tensor(), d.one(b, "0.5")])
    if name in ("addcmul", "addcdiv"):
        return d.call("torch." + name, [a, tensor(), tensor()], named=["value=" + number] * d.odds(0.4))
    if name == "clamp":
        return d.call("torch.clamp", [a], [("min", [b]), ("max", [d.one(number, tensor())])], 0.3)
    if name == "masked_fill":
        return d.call("torch.masked_fill", [a, d.T(d.like(shape), "bool"), b])
    if name in ("add", "sub", "rsub") and d.odds(0.3):
        return d.call("torch." + name, [a, b], named=["alpha=" + d.one("2", "0.5", "True", "1j" if d.fires() else "2")])
    if name == "div" and d.odds(0.6):
        return d.call(
            "torch.div", [a, b], named=["rounding_mode=%s" % d.off(d.one("'floor'", "'trunc'", "None"), "'x'")]
        )
    if d.odds(0.2) and name not in ("true_divide", "isclose", "rsub", "float_power"):
        return d.call("%s.%s_" % (a, name), [b])
    return d.call("torch." + name, [a, b])


@family("unary promotion")
def _(d):
    names = "abs neg exp log sqrt rsqrt sin tanh sigmoid relu floor round ceil trunc sign reciprocal square erf isnan logical_not bitwise_not frac expm1 log1p angle sgn i0 digamma lgamma nan_to_num positive signbit isinf cumsum sum mean prod std argmax softmax cumprod clone conj real imag deg2rad logit".split()
    name = d.one(*names)
    x = made(d, d.one([], [3], [2, 3]), d.one(*ALL), 0.4)
    rest = ["0"] if name in ("cumsum", "cumprod", "softmax") else []
    if d.odds(0.15) and not rest and name in names[:40]:
        return d.call("%s.%s_" % (x, name), [])
    if d.odds(0.15):
        target = d.one(*ALL)
        return (
            d.call(x + d.one(".to", ".type"), ["torch." + target])
            if d.odds(0.7)
            else d.call(
                "%s.%s"
                % (x, d.one("float", "double", "half", "long", "int", "bool", "byte", "bfloat16", "short", "char")),
                [],
            )
        )
    return d.call("torch." + name, [x] + rest)
