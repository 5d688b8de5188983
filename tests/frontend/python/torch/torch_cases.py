"""Random calls of torch functions, for torch_support_test.py: CASES maps the name of a function to
a generator of Python expressions. T(shape, dtype[, values]) stands for a tensor that the network
computes; values: an int n for integers in [0, n), 'pos' for (0, 1), 'spd' for positive definite
matrices, 'tri' for triangular ones. About one call in five is wrong on purpose."""
# Long because it is a list of functions, each with the calls to make of it.

FLOATS = ["float32"] * 4 + ["float64"]
ANY = ["float32"] * 5 + ["float64", "int64", "int64", "int32", "uint8", "bool"]
NUMBERS = ["float32"] * 5 + ["float64", "int64", "int64", "int32"]
INTS = ["int64", "int64", "int32", "uint8", "bool"]
CASES = {}


def text(shape):
    return "(%s)" % "".join("%d, " % d for d in shape)


def T(shape, dtype="float32", values=None):
    return "T(%s, '%s'%s)" % (text(shape), dtype, "" if values is None else ", %r" % values)


def dims(r, lo=0, hi=4, zero=True):
    return [0 if zero and r.random() < 0.03 else r.choice([1, 2, 2, 3, 4, 5]) for _ in range(r.randint(lo, hi))]


def wrong(r, p=0.06):
    return r.random() < p


def like(r, shape):
    """A shape that broadcasts with `shape`, mostly."""
    out = [1 if r.random() < 0.25 else d for d in shape]
    if r.random() < 0.3:
        out = out[r.randint(0, len(out)) :]
    elif r.random() < 0.15:
        out = [r.choice([1, 2, 3])] + out
    if wrong(r) and out:
        out[r.randrange(len(out))] += 1
    return out


def dim(r, rank):
    rank = max(rank, 1)
    return r.choice([-rank - 1, rank]) if wrong(r) else r.randint(-rank, rank - 1)


def some_dims(r, rank):
    if wrong(r):
        return [dim(r, rank), dim(r, rank)]
    picked = r.sample(range(max(rank, 1)), r.randint(1, max(rank, 1)))
    return [d if r.random() < 0.5 else d - max(rank, 1) for d in picked]


def call(r, function, first, *rest, method=True, torch=True):
    """torch.f(x, ...), or x.f(...)."""
    rest = [a for a in rest if a]
    if method and (not torch or r.random() < 0.4):
        return "%s.%s(%s)" % (first, function, ", ".join(rest))
    return "torch.%s(%s)" % (function, ", ".join([first] + rest))


def case(name):
    def add(generator):
        CASES[name] = generator
        return generator

    return add


# ---- elementwise
def unary(name, types=ANY, inplace=True, method=True, space="torch."):
    def make(r):
        x = T(dims(r), r.choice(types + (["complex64"] if r.random() < 0.3 else [])))
        if inplace and r.random() < 0.2:
            return "%s.%s_()" % (x, name)
        return "%s.%s()" % (x, name) if method and r.random() < 0.4 else "%s%s(%s)" % (space, name, x)

    CASES[space.replace("torch.", "") + name] = make


for n in """abs acos acosh asin asinh atan atanh ceil cos cosh deg2rad digamma erf erfc erfinv exp exp2 expm1 floor frac i0 lgamma log log10 log1p log2
            neg rad2deg reciprocal relu round rsqrt sigmoid sign sgn sin sinc sinh sqrt square tan tanh trunc arcsin arccos arctan arcsinh arccosh
            arctanh absolute negative fix nan_to_num""".split():
    unary(n)
for (
    n
) in (
    "angle positive isnan isinf isfinite signbit isposinf isneginf isreal logical_not conj_physical bitwise_not".split()
):
    unary(n, inplace=n in ("logical_not", "bitwise_not", "conj_physical"))
for n in "entr erfcx expit gammaln i0e i1 i1e log_ndtr ndtr ndtri psi".split():
    unary(n, ANY[:-1] + ["bool"], False, False, "torch.special.")


@case("logit")
def _(r):
    return call(r, "logit", T(dims(r), r.choice(ANY)), r.choice(["", "1e-6", "eps=0.1"]))


@case("clone")
def _(r):
    return call(r, "clone", T(dims(r), r.choice(ANY)))


@case("polygamma")
def _(r):
    return "torch.polygamma(%d, %s)" % (r.randint(0, 3), T(dims(r), r.choice(FLOATS)))


def binary(name, types=ANY, number=True, inplace=True, method=True):
    def make(r):
        shape = dims(r)
        a, b = r.choice(types), r.choice(types)
        x, y = T(shape, a), T(like(r, shape), b)
        if number and r.random() < 0.3:
            y = r.choice(["2", "3", "-1", "0.5", "2.0", "True"])
        if inplace and r.random() < 0.2:
            return "%s.%s_(%s)" % (x, name, y)
        return call(r, name, x, y, method=method)

    CASES[name] = make


for n in """add sub mul div floor_divide remainder fmod pow eq ne lt le gt ge bitwise_and bitwise_or bitwise_xor true_divide multiply subtract
            greater less_equal not_equal copysign xlogy float_power bitwise_left_shift""".split():
    binary(n)
for n in "maximum minimum fmax fmin logaddexp logaddexp2 max min".split():
    binary(n, number=False, inplace=False)
for n in "atan2 arctan2 hypot logical_and logical_or logical_xor heaviside gcd lcm nextafter ldexp".split():
    binary(n, number=False)


@case("operators")
def _(r):
    shape = dims(r)
    x, y = T(shape, r.choice(ANY)), T(like(r, shape), r.choice(ANY))
    if r.random() < 0.4:
        x, y = r.sample([x, r.choice(["2", "0.5", "True", "-1.5"])], 2)
    return "%s %s %s" % (x, r.choice("+ - * / // % ** == != < <= > >= & | ^".split()), y)


@case("unary operators")
def _(r):
    return r.choice(["-%s", "~%s", "abs(%s)", "+%s"]) % T(dims(r), r.choice(ANY))


@case("add with alpha")
def _(r):
    shape = dims(r)
    return "torch.%s(%s, %s, alpha=%s)" % (
        r.choice(["add", "sub", "rsub"]),
        T(shape, r.choice(ANY)),
        T(like(r, shape), r.choice(ANY)),
        r.choice(["2", "0.5"]),
    )


@case("div with rounding")
def _(r):
    shape = dims(r)
    return "torch.div(%s, %s, rounding_mode=%s)" % (
        T(shape, r.choice(ANY)),
        T(like(r, shape), r.choice(ANY)),
        r.choice(["'floor'", "'trunc'", "None"]),
    )


@case("where")
def _(r):
    shape = dims(r)
    pick = lambda: T(like(r, shape), r.choice(ANY)) if r.random() < 0.7 else r.choice(["0.5", "2", "0.0"])
    return "torch.where(%s, %s, %s)" % (T(shape, "bool" if not wrong(r) else "int64"), pick(), pick())


@case("masked_fill")
def _(r):
    shape = dims(r)
    mask = T(like(r, shape), "bool" if not wrong(r) else "float32")
    return "%s.masked_fill%s(%s, %s)" % (
        T(shape, r.choice(ANY)),
        r.choice(["", "_"]),
        mask,
        r.choice(["-1e9", "0", "True", "float('-inf')", T([], r.choice(NUMBERS), "pos")]),
    )


@case("clamp")
def _(r):
    shape = dims(r)
    x = T(shape, r.choice(ANY))
    if r.random() < 0.3:
        return call(
            r, "clamp", x, T(like(r, shape), r.choice(NUMBERS)), r.choice(["", T(like(r, shape), r.choice(NUMBERS))])
        )
    low, high = r.choice(["0", "0.5", "None", "-1"]), r.choice(["1", "2.5", "None"])
    return "%s.%s(%s, %s)" % (x, r.choice(["clamp", "clamp_", "clip"]), low, high)


@case("clamp_min")
def _(r):
    return "%s.%s(%s)" % (
        T(dims(r), r.choice(ANY)),
        r.choice(["clamp_min", "clamp_max", "clamp_min_"]),
        r.choice(["0", "0.5", T([], r.choice(NUMBERS))]),
    )


@case("lerp")
def _(r):
    shape = dims(r)
    d = r.choice(FLOATS)
    other = d if not wrong(r) else "int64"
    return call(r, "lerp", T(shape, d), T(like(r, shape), other), r.choice(["0.5", T(like(r, shape), d)]))


@case("addcmul")
def _(r):
    shape = dims(r)
    f = r.choice(["addcmul", "addcdiv"])
    return call(
        r,
        f,
        T(shape, r.choice(NUMBERS)),
        T(like(r, shape), r.choice(NUMBERS)),
        T(like(r, shape), r.choice(NUMBERS)),
        r.choice(["", "value=2", "value=0.5"]),
    )


@case("isclose")
def _(r):
    shape = dims(r)
    d = r.choice(ANY)
    return call(r, "isclose", T(shape, d), T(like(r, shape), d if not wrong(r) else r.choice(ANY)))


@case("complex")
def _(r):
    shape = dims(r)
    d = r.choice(FLOATS)
    return "torch.%s(%s, %s)" % (
        r.choice(["complex", "polar"]),
        T(shape, d),
        T(like(r, shape), d if not wrong(r) else r.choice(ANY)),
    )


@case("cross")
def _(r):
    shape = dims(r, 1, 3)
    shape[r.randrange(len(shape))] = 3
    d = r.choice(NUMBERS)
    if r.random() < 0.5:
        return "torch.linalg.cross(%s, %s%s)" % (
            T(shape, d),
            T(like(r, shape), d),
            r.choice(["", ", dim=%d" % dim(r, len(shape))]),
        )
    return call(r, "cross", T(shape, d), T(shape, d), r.choice(["", "%d" % dim(r, len(shape))]))


# ---- activations
for name, extra in {
    "relu": [""],
    "relu6": [""],
    "elu": ["", ", 0.5"],
    "selu": [""],
    "celu": ["", ", alpha=0.5"],
    "gelu": ["", ", approximate='tanh'"],
    "silu": [""],
    "mish": [""],
    "logsigmoid": [""],
    "hardsigmoid": [""],
    "hardswish": [""],
    "hardshrink": ["", ", 0.3"],
    "softshrink": ["", ", 0.3"],
    "tanhshrink": [""],
    "softplus": ["", ", 2, 10"],
    "softsign": [""],
    "hardtanh": ["", ", 0, 6"],
    "leaky_relu": ["", ", 0.2"],
    "threshold": [", 0.1, 20"],
    "rrelu": [""],
    "sigmoid": [""],
    "tanh": [""],
}.items():

    def make(r, name=name, extra=extra):
        inplace = (
            ", inplace=True"
            if name in ("relu", "elu", "silu", "hardtanh", "leaky_relu", "selu", "hardswish") and r.random() < 0.2
            else ""
        )
        return "F.%s(%s%s%s)" % (name, T(dims(r), r.choice(ANY)), r.choice(extra), inplace)

    CASES["F." + name] = make


@case("F.prelu")
def _(r):
    shape = dims(r, 0, 4)
    channels = shape[1] if len(shape) > 1 else 1
    return "F.prelu(%s, %s)" % (T(shape), T(r.choice([[1], [channels], [channels + 1], []])))


@case("F.glu")
def _(r):
    shape = dims(r, 0, 3)
    if shape and r.random() < 0.8:
        shape = [2 * d for d in shape]
    return "F.glu(%s%s)" % (T(shape, r.choice(FLOATS)), r.choice(["", ", %d" % dim(r, len(shape))]))


@case("F.softmax")
def _(r):
    shape = dims(r)
    f = r.choice(["softmax", "log_softmax", "softmin"])
    return "F.%s(%s, %d%s)" % (
        f,
        T(shape, r.choice(ANY)),
        dim(r, len(shape)),
        r.choice(["", "", ", dtype=torch.float64", ", dtype=torch.float32"]),
    )


@case("softmax")
def _(r):
    shape = dims(r)
    return call(
        r,
        r.choice(["softmax", "log_softmax"]),
        T(shape, r.choice(ANY)),
        "dim=%d" % dim(r, len(shape)),
        r.choice(["", "dtype=torch.float64"]),
    )


@case("F.gumbel_softmax")
def _(r):
    shape = dims(r, 1, 3, False)
    return "F.gumbel_softmax(%s, dim=%d, hard=%s)" % (
        T(shape, r.choice(FLOATS)),
        dim(r, len(shape)),
        r.choice(["True", "False"]),
    )


@case("F.dropout")
def _(r):
    return "F.%s(%s, 0.5, %s)" % (
        r.choice(["dropout", "alpha_dropout", "dropout"]),
        T(dims(r), r.choice(FLOATS)),
        "False",
    )


# ---- reductions
def reduction(name, types, several=True, keep=True, all_dims=True):
    def make(r):
        shape = dims(r, zero="median" not in name)
        args = ""
        if not all_dims or r.random() < 0.75:
            args = (
                "%d" % dim(r, len(shape)) if not several or r.random() < 0.5 else repr(tuple(some_dims(r, len(shape))))
            )
            if keep and r.random() < 0.4:
                args += ", keepdim=%s" % r.choice(["True", "False"])
        return call(r, name, T(shape, r.choice(types)), args)

    CASES[name] = make


for n, several in (
    ("sum", True),
    ("mean", True),
    ("prod", False),
    ("amax", True),
    ("amin", True),
    ("argmax", False),
    ("argmin", False),
    ("any", False),
    ("all", False),
    ("median", False),
    ("nansum", True),
    ("nanmean", True),
    ("nanmedian", False),
    ("std", True),
    ("var", True),
    ("max over dim", False),
    ("min over dim", False),
):
    reduction(n, [d for d in ANY if d != "bool" or "arg" not in n], several)
    if " " in n:
        CASES[n] = lambda r, make=CASES[n], n=n: make(r).replace(n, n.split()[0])
reduction("count_nonzero", ANY, keep=False)
reduction("logsumexp", ANY, all_dims=False)
reduction("mode", ANY, False, all_dims=False)
reduction("norm over dims", FLOATS)
CASES["norm over dims"] = (
    lambda r, make=CASES["norm over dims"]: make(r).replace("norm over dims(", "norm(").replace("norm(T", "norm(T")
    if False
    else norm(r)
)


def norm(r):
    shape = dims(r)
    x = T(shape, r.choice(FLOATS + ["int64"]))
    how = r.choice(
        [
            "",
            "1",
            "2",
            "float('inf')",
            "0",
            "p=1, dim=%d" % dim(r, len(shape)),
            "2, %d, True" % dim(r, len(shape)),
            "dim=%r" % (tuple(some_dims(r, len(shape))),),
            "p=3.0, dim=%d, keepdim=True" % dim(r, len(shape)),
        ]
    )
    return call(r, "norm", x, how)


@case("sum with dtype")
def _(r):
    shape = dims(r)
    return "%s.%s(%s, dtype=%s)" % (
        T(shape, r.choice(ANY)),
        r.choice(["sum", "mean", "cumsum", "prod"]),
        dim(r, len(shape)),
        r.choice(["torch.float64", "torch.int64", "torch.float32"]),
    )


@case("var with correction")
def _(r):
    shape = dims(r)
    f = r.choice(["var", "std", "var_mean", "std_mean"])
    how = r.choice(
        [
            "unbiased=False",
            "%d, unbiased=False" % dim(r, len(shape)),
            "%d, correction=0" % dim(r, len(shape)),
            "dim=%r, keepdim=True" % (tuple(some_dims(r, len(shape))),),
            "False",
        ]
    )
    return "torch.%s(%s, %s)" % (
        f,
        T(shape, r.choice(FLOATS + ["int64"])),
        how.replace("correction=0", "unbiased=True") if f == "x" else how,
    )


@case("aminmax")
def _(r):
    shape = dims(r)
    return call(
        r,
        "aminmax",
        T(shape, r.choice(ANY)),
        r.choice(["", "dim=%d" % dim(r, len(shape)), "dim=%d, keepdim=True" % dim(r, len(shape))]),
    )


@case("linalg.norm")
def _(r):
    shape = dims(r)
    how = r.choice(
        [
            "",
            ", dim=%d" % dim(r, len(shape)),
            ", 1, dim=%d" % dim(r, len(shape)),
            ", dim=%r, keepdim=True" % (tuple(some_dims(r, len(shape))),),
            ", 'fro'",
            ", ord=2, dim=-1",
        ]
    )
    return "torch.linalg.norm(%s%s)" % (T(shape, r.choice(FLOATS + ["int64", "complex64"])), how)


@case("linalg.vector_norm")
def _(r):
    shape = dims(r)
    how = r.choice(
        ["", ", 1", ", dim=%d" % dim(r, len(shape)), ", 3.5, dim=%r, keepdim=True" % (tuple(some_dims(r, len(shape))),)]
    )
    return "torch.linalg.vector_norm(%s%s)" % (T(shape, r.choice(FLOATS + ["int64", "complex64"])), how)


@case("linalg.matrix_norm")
def _(r):
    return "torch.linalg.matrix_norm(%s%s)" % (
        T(dims(r, 1, 4, False), r.choice(FLOATS + ["int64"])),
        r.choice(["", ", 1", ", 'nuc'", ", keepdim=True", ", dim=(0, 1)"]),
    )


def scan(name, types=ANY):
    def make(r):
        shape = dims(r, 1, 4, False)
        return call(r, name, T(shape, r.choice(types)), "%d" % dim(r, len(shape)))

    CASES[name] = make


for n in "cumsum cumprod cummax cummin logcumsumexp".split():
    scan(n)


@case("diff")
def _(r):
    shape = dims(r, 0, 3, False)
    d = dim(r, len(shape))
    how = r.choice(["", "dim=%d" % d, "n=2, dim=%d" % d, "dim=%d, prepend=%s" % (d, T(shape)), "n=0"])
    return call(r, "diff", T(shape, r.choice(ANY)), how)


@case("quantile")
def _(r):
    shape = dims(r, 0, 3, False)
    q = r.choice(["0.5", "1.5", "C([0.25, 0.75], 'float32')", "0.1"])
    return call(
        r,
        r.choice(["quantile", "nanquantile"]),
        T(shape, r.choice(FLOATS + ["int64"])),
        q,
        r.choice(
            ["", "dim=%d" % dim(r, len(shape)), "dim=%d, keepdim=True" % dim(r, len(shape)), "interpolation='nearest'"]
        ),
    )


@case("trapezoid")
def _(r):
    shape = dims(r, 0, 3, False)
    f = r.choice(["trapezoid", "cumulative_trapezoid", "trapz"])
    return "torch.%s(%s%s)" % (
        f,
        T(shape, r.choice(NUMBERS)),
        r.choice(["", ", dim=%d" % dim(r, len(shape)), ", dx=0.5", ", " + T(shape)]),
    )


@case("renorm")
def _(r):
    shape = dims(r)
    return call(r, "renorm", T(shape, r.choice(FLOATS + ["int64"])), "2", "%d" % dim(r, len(shape)), "5")


@case("histc")
def _(r):
    return call(
        r,
        "histc",
        T(dims(r, 0, 4, False), r.choice(FLOATS + ["int64"])),
        r.choice(["", "4", "bins=10, min=0, max=3", "0"]),
    )


@case("trace")
def _(r):
    return call(r, "trace", T(dims(r, r.choice([1, 2, 2, 2]), 2), r.choice(ANY)))


# ---- sorting, searching
@case("sort")
def _(r):
    shape = dims(r)
    return call(
        r,
        r.choice(["sort", "argsort"]),
        T(shape, r.choice(ANY)),
        r.choice(
            [
                "",
                "%d" % dim(r, len(shape)),
                "dim=%d, descending=True" % dim(r, len(shape)),
                "stable=True, dim=%d" % dim(r, len(shape)),
            ]
        ),
    )


@case("msort")
def _(r):
    return call(r, "msort", T(dims(r, 1), r.choice(ANY)))


@case("topk")
def _(r):
    shape = dims(r, 1)
    d = dim(r, len(shape))
    n = shape[d] if shape and -len(shape) <= d < len(shape) else 1
    return call(
        r,
        "topk",
        T(shape, r.choice(ANY)),
        "%d" % r.choice([1, n, max(n - 1, 0), n + 1]),
        "%d" % d,
        r.choice(["", "largest=False"]),
    )


@case("kthvalue")
def _(r):
    shape = dims(r, 0, 4, False)
    d = dim(r, len(shape))
    n = shape[d] if shape and -len(shape) <= d < len(shape) else 1
    return call(
        r,
        "kthvalue",
        T(shape, r.choice(NUMBERS)),
        "%d" % r.choice([1, n, n + 1, 0]),
        "%d" % d,
        r.choice(["", "keepdim=True"]),
    )


@case("searchsorted")
def _(r):
    shape = dims(r, 1, 3)
    if r.random() < 0.5:
        rows = shape[:-1] + [r.randint(1, 4)]
    else:
        rows, shape = dims(r), shape[:1]
    d = r.choice(NUMBERS)
    return "torch.searchsorted(%s, %s%s)" % (
        T(shape, d),
        T(rows, d if not wrong(r) else "int32"),
        r.choice(["", ", right=True", ", side='right'", ", out_int32=True"]),
    )


@case("bucketize")
def _(r):
    return "torch.bucketize(%s, %s%s)" % (
        T(dims(r), r.choice(NUMBERS)),
        T([r.randint(1, 4)] if not wrong(r) else [2, 2]),
        r.choice(["", ", right=True", ", out_int32=True"]),
    )


@case("isin")
def _(r):
    return "torch.isin(%s, %s)" % (T(dims(r), r.choice(NUMBERS)), r.choice([T(dims(r), r.choice(NUMBERS)), "2"]))


# ---- gathering, scattering
def index_for(r, shape, d, n):
    """An index tensor for gather and scatter along d."""
    sizes = [max(1, s - r.randint(0, 1)) if s else 0 for s in shape]
    if sizes:
        sizes[d] = n
    if wrong(r) and sizes:
        sizes[r.randrange(len(sizes))] += 4
    if wrong(r, 0.03):
        sizes = sizes + [1]
    return sizes


@case("gather")
def _(r):
    shape = dims(r, 0, 3, False)
    d = r.randrange(max(len(shape), 1))
    size = shape[d] if shape else 1
    index = T(index_for(r, shape, d, r.randint(1, 4)), "int64" if not wrong(r) else "int32", size)
    return call(r, "gather", T(shape, r.choice(ANY)), "%d" % d, index)


@case("take_along_dim")
def _(r):
    shape = dims(r, 1, 3, False)
    d = r.randrange(len(shape))
    sizes = [1 if r.random() < 0.2 else s for s in shape]
    sizes[d] = r.randint(1, 4)
    return call(
        r,
        "take_along_dim",
        T(shape, r.choice(ANY)),
        T(sizes, "int64" if not wrong(r) else "float32", shape[d]),
        "dim=%d" % d,
    )


@case("scatter")
def _(r):
    shape = dims(r, 0, 3, False)
    d = r.randrange(max(len(shape), 1))
    size = shape[d] if shape else 1
    sizes = index_for(r, shape, d, r.randint(1, max(size, 1)))
    index = T(sizes, "int64" if not wrong(r) else "int32", size)
    t = r.choice(NUMBERS)
    f = r.choice(["scatter", "scatter_", "scatter_add", "scatter_add_", "scatter_reduce"])
    src = T([s + r.randint(0, 1) for s in sizes], t if not wrong(r) else r.choice(NUMBERS))
    if f.startswith("scatter_reduce"):
        return "%s.%s(%d, %s, %s, %r)" % (
            T(shape, t),
            f,
            d,
            index,
            src,
            r.choice(["sum", "mean", "amax", "prod", "bad"]),
        )
    if f.startswith("scatter_add"):
        return "%s.%s(%d, %s, %s)" % (T(shape, t), f, d, index, src)
    return "%s.%s(%d, %s, %s%s)" % (
        T(shape, t),
        f,
        d,
        index,
        r.choice([src, "1.0", "2"]),
        r.choice(["", "", ", reduce='add'"]),
    )


@case("index_select")
def _(r):
    shape = dims(r, 0, 3, False)
    d = dim(r, len(shape))
    size = shape[d] if shape and -len(shape) <= d < len(shape) else 1
    return call(
        r,
        "index_select",
        T(shape, r.choice(ANY)),
        "%d" % d,
        T(r.choice([[1], [3], []]) if not wrong(r) else [2, 2], r.choice(["int64", "int64", "int32", "float32"]), size),
    )


@case("index_add")
def _(r):
    shape = dims(r, 1, 3, False)
    d = r.randrange(len(shape))
    n = r.randint(1, 4)
    source = list(shape)
    source[d] = n
    if wrong(r):
        source[r.randrange(len(source))] += 1
    t = r.choice(NUMBERS)
    f = r.choice(["index_add", "index_copy", "index_add_", "index_copy_", "index_reduce"])
    how = ", 'amax'" if f == "index_reduce" else ""
    return "%s.%s(%d, %s, %s%s)" % (
        T(shape, t),
        f,
        d,
        T([n], "int64", shape[d]),
        T(source, t if not wrong(r) else "float64"),
        how,
    )


@case("index_fill")
def _(r):
    shape = dims(r, 1, 3, False)
    d = r.randrange(len(shape))
    return "%s.%s(%d, %s, %s)" % (
        T(shape, r.choice(ANY)),
        r.choice(["index_fill", "index_fill_"]),
        d,
        T(r.choice([[2], [], [1]]), "int64" if not wrong(r) else "int32", shape[d]),
        r.choice(["1", "0.5", "-1"]),
    )


@case("take")
def _(r):
    shape = dims(r, 0, 3, False)
    n = 1
    for s in shape:
        n *= s
    return call(r, "take", T(shape, r.choice(ANY)), T(dims(r), "int64" if not wrong(r) else "int32", n))


@case("masked_scatter")
def _(r):
    shape = dims(r, 0, 3, False)
    t = r.choice(NUMBERS)
    return "%s.masked_scatter(%s, %s)" % (
        T(shape, t),
        T(like(r, shape), "bool" if not wrong(r) else "float32"),
        T([1000], t if not wrong(r) else "float64"),
    )


@case("select_scatter")
def _(r):
    shape = dims(r, 1, 3, False)
    d = r.randrange(len(shape))
    part = shape[:d] + shape[d + 1 :]
    if wrong(r):
        part = part + [2]
    return call(r, "select_scatter", T(shape), T(part), "%d" % d, "%d" % r.choice([0, -1, shape[d]]))


@case("slice_scatter")
def _(r):
    shape = dims(r, 1, 3, False)
    d = r.randrange(len(shape))
    start, end, step = r.randint(0, shape[d]), r.randint(0, shape[d] + 1), r.choice([1, 1, 2])
    part = list(shape)
    part[d] = len(range(*slice(start, end, step).indices(shape[d])))
    if wrong(r):
        part[d] += 1
    return call(r, "slice_scatter", T(shape), T(part), "%d, %d, %d, %d" % (d, start, end, step))


@case("F.embedding")
def _(r):
    return "F.embedding(%s, %s%s)" % (
        T(dims(r), r.choice(["int64", "int64", "int32", "float32"]), 5),
        T([5, 4] if not wrong(r) else [5], r.choice(FLOATS)),
        r.choice(["", ", padding_idx=0"]),
    )


@case("F.embedding_bag")
def _(r):
    rank = r.choice([1, 2, 2, 3])
    return "F.embedding_bag(%s, %s%s%s)" % (
        T(dims(r, rank, rank, False), "int64" if not wrong(r) else "float32", 5),
        T([5, 4]),
        ", C([0, 1], 'int64')" if rank == 1 and r.random() < 0.8 else "",
        r.choice(["", ", mode='sum'", ", mode='max'"]),
    )


@case("F.one_hot")
def _(r):
    return "F.one_hot(%s, %d)" % (
        T(dims(r, 0, 3, False), "int64" if not wrong(r) else r.choice(["int32", "float32"]), 3),
        r.choice([3, 5, 10]),
    )


@case("multinomial")
def _(r):
    return call(
        r,
        "multinomial",
        T(dims(r, 0, 3, False), r.choice(FLOATS + ["int64"]), "pos"),
        "%d" % r.choice([1, 2, 0]),
        r.choice(["True", "True", ""]),
    )


@case("getitem")
def _(r):
    shape = dims(r, 0, 4, False)
    items = []
    for s in shape[: r.randint(0, len(shape))]:
        kind = r.random()
        if kind < 0.25:
            items.append("%d" % r.choice([0, -1, s - 1, -s, s] if wrong(r) else [0, -1, s - 1, -s]))
        elif kind < 0.65:
            items.append(
                "%s:%s%s"
                % (r.choice(["", "0", "1", "-1", "-2"]), r.choice(["", "2", "-1", "9"]), r.choice(["", "", ":2", ":1"]))
            )
        elif kind < 0.75:
            items.append(T(dims(r, 1, 2, False), "int64", s))
        elif kind < 0.82:
            items.append(repr([r.randrange(s) for _ in range(r.randint(1, 3))]))
        else:
            items.append(":")
    for extra in ("None", "...", "None"):
        if r.random() < 0.2 and (extra != "..." or "..." not in items):
            items.insert(r.randint(0, len(items)), extra)
    if not items:
        items = [r.choice(["...", "None", ":"] if shape else ["...", "None"])]
    return "%s[%s]" % (T(shape, r.choice(ANY)), ", ".join(items))


# ---- joining
def join(name, lo=0, same=True):
    def make(r):
        shape = dims(r, lo, 3)
        n = r.randint(1, 3)
        parts = [
            T([d + (1 if wrong(r, 0.03) else 0) for d in shape], r.choice(ANY) if r.random() < 0.3 else "float32")
            for _ in range(n)
        ]
        d = (
            ", %d" % dim(r, len(shape) + (name == "stack"))
            if name in ("cat", "stack", "concat") and r.random() < 0.7
            else ""
        )
        return "torch.%s([%s]%s)" % (name, ", ".join(parts), d)

    CASES[name] = make


for n in "cat stack concat hstack vstack dstack column_stack row_stack".split():
    join(n)


@case("cat along")
def _(r):
    shape = dims(r, 1, 4)
    d = r.randrange(len(shape))
    parts = [
        T(shape[:d] + [r.randint(0, 3)] + shape[d + 1 :], r.choice(ANY) if r.random() < 0.3 else "float32")
        for _ in range(r.randint(1, 3))
    ]
    if r.random() < 0.1:
        parts.insert(0, T([0]))
    return "torch.cat((%s,), dim=%d)" % (", ".join(parts), d - (len(shape) if r.random() < 0.5 else 0))


@case("block_diag")
def _(r):
    return "torch.block_diag(%s)" % ", ".join(
        T(dims(r, 0, 2 if not wrong(r) else 3, False), r.choice(NUMBERS)) for _ in range(r.randint(1, 3))
    )


@case("cartesian_prod")
def _(r):
    t = r.choice(ANY)
    return "torch.cartesian_prod(%s)" % ", ".join(
        T(dims(r, 1, 1 if not wrong(r) else 2), t if not wrong(r, 0.03) else "float64") for _ in range(r.randint(1, 3))
    )


@case("combinations")
def _(r):
    return "torch.combinations(%s%s)" % (
        T(dims(r, 1, 1 if not wrong(r) else 2), r.choice(ANY)),
        r.choice(["", ", 3", ", r=2, with_replacement=True", ", 1"]),
    )


@case("meshgrid")
def _(r):
    t = r.choice(NUMBERS)
    return "torch.meshgrid(%s, indexing=%r)" % (
        ", ".join(
            T(dims(r, 0, 1 if not wrong(r) else 2), t if not wrong(r, 0.03) else "float64")
            for _ in range(r.randint(1, 3))
        ),
        r.choice(["ij", "xy"]),
    )


@case("broadcast_tensors")
def _(r):
    shape = dims(r)
    return "torch.broadcast_tensors(%s)" % ", ".join(T(like(r, shape), r.choice(ANY)) for _ in range(r.randint(1, 3)))


@case("atleast")
def _(r):
    return "torch.atleast_%dd(%s)" % (
        r.randint(1, 3),
        ", ".join(T(dims(r), r.choice(ANY)) for _ in range(r.choice([1, 1, 2]))),
    )


# ---- moving
@case("F.pad")
def _(r):
    shape = dims(r, 1, 5, False)
    mode = r.choice(["constant", "constant", "reflect", "replicate", "circular"])
    n = r.randint(1, len(shape)) if mode == "constant" else max(1, len(shape) - r.choice([1, 2, 2]))
    pad = [
        r.choice([0, 1, 2, -1, 1] if mode == "constant" else [0, 1, 1, 2])
        for _ in range(2 * n - (1 if wrong(r, 0.03) else 0))
    ]
    return "F.pad(%s, %r%s)" % (
        T(shape, r.choice(ANY if mode == "constant" else FLOATS)),
        tuple(pad),
        ", mode=%r" % mode if mode != "constant" else r.choice(["", ", value=1.5"]),
    )


@case("roll")
def _(r):
    shape = dims(r)
    d = some_dims(r, len(shape))
    return call(
        r,
        "roll",
        T(shape, r.choice(ANY)),
        r.choice(["%r, %r" % (tuple(r.randint(-3, 3) for _ in d), tuple(d)), "2", "1, %d" % dim(r, len(shape))]),
    )


@case("flip")
def _(r):
    shape = dims(r)
    return r.choice(
        [
            call(r, "flip", T(shape, r.choice(ANY)), "%r" % (tuple(some_dims(r, len(shape))),)),
            "torch.%s(%s)" % (r.choice(["fliplr", "flipud"]), T(shape, r.choice(ANY))),
        ]
    )


@case("rot90")
def _(r):
    shape = dims(r, 1, 4)
    return call(
        r,
        "rot90",
        T(shape, r.choice(ANY)),
        "%d" % r.randint(-2, 3),
        repr(r.choice([(0, 1), (1, 0), (-2, -1), (0, 0), (0, 3)])),
    )


@case("repeat")
def _(r):
    shape = dims(r, 0, 3)
    return "%s.repeat(%s)" % (
        T(shape, r.choice(ANY)),
        ", ".join("%d" % r.choice([0, 1, 2, 3]) for _ in range(max(1, len(shape) + r.choice([0, 0, 1, -1])))),
    )


@case("tile")
def _(r):
    return call(
        r, "tile", T(dims(r, 0, 3), r.choice(ANY)), "%r" % (tuple(r.choice([1, 2, 3]) for _ in range(r.randint(1, 4))),)
    )


@case("repeat_interleave")
def _(r):
    shape = dims(r, 0, 3, False)
    return call(
        r,
        "repeat_interleave",
        T(shape, r.choice(ANY)),
        r.choice(["2", "3, dim=%d" % dim(r, len(shape)), "C([2], 'int64'), dim=%d" % dim(r, len(shape)), "-1"]),
    )


@case("triu")
def _(r):
    return "%s.%s(%d)" % (
        T(dims(r, 1, 4, False), r.choice(ANY)),
        r.choice(["triu", "tril", "triu_", "tril_"]),
        r.randint(-2, 2),
    )


@case("diag")
def _(r):
    f = r.choice(["diag", "diagflat"])
    return call(
        r,
        f,
        T(dims(r, 0 if f != "diag" else 1, 3 if f != "diag" or wrong(r) else 2), r.choice(ANY)),
        # A diagonal outside of the matrix is an error in 1.13 alone.
        "%d" % (r.randint(-2, 2) if f == "diagflat" else r.randint(-1, 1)),
    )


@case("diag_embed")
def _(r):
    return call(
        r, "diag_embed", T(dims(r, 1, 3), r.choice(ANY)), r.choice(["", "1", "0, 0, 1", "-1, 0, -1", "0, 0, 0"])
    )


@case("pixel_shuffle")
def _(r):
    n = r.choice([1, 2, 3])
    if r.random() < 0.5:
        return "F.pixel_unshuffle(%s, %d)" % (
            T(dims(r, 0, 2, False) + [r.randint(1, 3), n * r.randint(1, 3), n * r.randint(1, 3) + wrong(r)]),
            n,
        )
    return "F.pixel_shuffle(%s, %d)" % (
        T(dims(r, 0, 2, False) + [n * n * r.randint(1, 2) + wrong(r), r.randint(1, 3), r.randint(1, 3)]),
        n,
    )


@case("channel_shuffle")
def _(r):
    n = r.choice([1, 2, 3])
    return "F.channel_shuffle(%s, %d)" % (
        T([r.randint(1, 2), n * r.randint(1, 3) + wrong(r)] + dims(r, 1, 2, False)),
        n,
    )


# ---- views
@case("reshape")
def _(r):
    shape = dims(r, 0, 4)
    n = 1
    for s in shape:
        n *= s
    target = [[n], [1, n], [-1], [n, 1, 1], [2, -1], shape[::-1], [1, -1, 1], [n + 1], [-1, -1]]
    x, f = r.choice([("", "reshape"), ("", "view"), (".transpose(0, -1)" if shape else "", "reshape")])
    return "%s%s.%s(%s)" % (T(shape, r.choice(ANY)), x, f, ", ".join(map(str, r.choice(target))))


@case("view(dtype)")
def _(r):
    return "%s.view(torch.%s)" % (
        T(dims(r, 0, 3, False), r.choice(ANY)),
        r.choice(["float32", "int32", "float64", "uint8", "int16", "int64"]),
    )


@case("flatten")
def _(r):
    shape = dims(r)
    return call(
        r,
        "flatten",
        T(shape, r.choice(ANY)),
        r.choice(["", "1", "%d, %d" % (dim(r, len(shape)), dim(r, len(shape))), "start_dim=-2"]),
    )


@case("unflatten")
def _(r):
    shape = dims(r, 1, 3, False)
    d = r.randrange(len(shape))
    sizes = r.choice([[1, shape[d]], [-1, 1], [shape[d], 1], [2, -1], [shape[d] + 1]])
    return call(r, "unflatten", T(shape, r.choice(ANY)), "%d" % d, "%r" % (tuple(sizes),))


@case("permute")
def _(r):
    shape = dims(r)
    order = list(range(len(shape)))
    r.shuffle(order)
    if wrong(r) and order:
        order[0] = r.choice([order[-1], len(order)])
    return call(r, "permute", T(shape, r.choice(ANY)), "%r" % (tuple(order),))


@case("transpose")
def _(r):
    shape = dims(r)
    return call(
        r,
        r.choice(["transpose", "swapaxes", "swapdims"]),
        T(shape, r.choice(ANY)),
        "%d, %d" % (dim(r, len(shape)), dim(r, len(shape))),
    )


@case("T")
def _(r):
    return "%s.%s" % (T(dims(r, 0, 3), r.choice(ANY)), r.choice(["T", "mT", "t()", "adjoint()", "mH", "H"]))


@case("movedim")
def _(r):
    shape = dims(r, 1)
    a, b = some_dims(r, len(shape)), some_dims(r, len(shape))
    return call(
        r,
        r.choice(["movedim", "moveaxis"]),
        T(shape, r.choice(ANY)),
        r.choice(["%d, %d" % (dim(r, len(shape)), dim(r, len(shape))), "%r, %r" % (tuple(a), tuple(b))]),
    )


@case("select")
def _(r):
    shape = dims(r)
    return call(r, "select", T(shape, r.choice(ANY)), "%d, %d" % (dim(r, len(shape)), r.choice([0, -1, 1, 5])))


@case("narrow")
def _(r):
    shape = dims(r)
    return call(
        r,
        "narrow",
        T(shape, r.choice(ANY)),
        "%d, %d, %d" % (dim(r, len(shape)), r.choice([0, 1, -1]), r.choice([0, 1, 2])),
    )


@case("diagonal")
def _(r):
    return call(
        r,
        "diagonal",
        T(dims(r, 2, 4, False), r.choice(ANY)),
        r.choice(["", "1", "0, 0, 1", "-1, -2, -1", "offset=9", "0, 1, 1"]),
    )


@case("unfold (tensor)")
def _(r):
    shape = dims(r, 0, 3, False)
    return "%s.unfold(%d, %d, %d)" % (
        T(shape, r.choice(ANY)),
        dim(r, len(shape)),
        r.choice([1, 2, 2, 3]),
        r.choice([1, 1, 2, 0]),
    )


@case("as_strided")
def _(r):
    return call(
        r,
        "as_strided",
        T([40], r.choice(ANY)),
        r.choice(["(2, 3), (3, 1)", "(2, 2, 2), (8, 4, 1)", "(3,), (2,), 1", "(2, -1), (1, 1)", "(5, 5), (1, 1)"]),
    )


@case("split")
def _(r):
    shape = dims(r)
    d = dim(r, len(shape))
    n = shape[d] if shape and -len(shape) <= d < len(shape) else 1
    size = r.choice(
        [
            "%d" % r.randint(1, 3),
            repr([n]),
            repr([1, n - 1] if n else [0]),
            repr([n, 1]),
            "0",
            repr([n // 2, n - n // 2]),
        ]
    )
    return call(r, "split", T(shape, r.choice(ANY)), size, "%d" % d)


@case("chunk")
def _(r):
    shape = dims(r)
    return call(r, "chunk", T(shape, r.choice(ANY)), "%d, %d" % (r.choice([1, 2, 3, 0]), dim(r, len(shape))))


@case("tensor_split")
def _(r):
    shape = dims(r)
    return call(
        r,
        "tensor_split",
        T(shape, r.choice(ANY)),
        r.choice(["2", "3", "(1, 3)", "(0, -1)", "0"]),
        "%d" % dim(r, len(shape)),
    )


@case("hsplit")
def _(r):
    return call(
        r,
        r.choice(["hsplit", "vsplit", "dsplit"]),
        T([2 * d for d in dims(r, 0, 4)], r.choice(ANY)),
        r.choice(["2", "(1, 2)", "3"]),
    )


@case("unbind")
def _(r):
    shape = dims(r)
    return call(r, "unbind", T(shape, r.choice(ANY)), r.choice(["", "%d" % dim(r, len(shape))]))


@case("squeeze")
def _(r):
    shape = dims(r)
    return call(r, "squeeze", T(shape, r.choice(ANY)), r.choice(["", "%d" % dim(r, len(shape))]))


@case("unsqueeze")
def _(r):
    shape = dims(r)
    return call(r, "unsqueeze", T(shape, r.choice(ANY)), "%d" % dim(r, len(shape) + 1))


@case("expand")
def _(r):
    shape = dims(r, 0, 3)
    target = [r.choice([d, -1, d]) if d != 1 else r.choice([1, 3, -1]) for d in shape]
    if r.random() < 0.4:
        target = [r.choice([2, 1, -1] if wrong(r) else [2, 1])] + target
    if wrong(r) and target:
        target[-1] = 7
    if r.random() < 0.3 and target:
        return call(r, "broadcast_to", T(shape, r.choice(ANY)), "%r" % (tuple(target),))
    return "%s.expand(%r)" % (T(shape, r.choice(ANY)), tuple(target))


@case("expand_as")
def _(r):
    shape = dims(r, 0, 3)
    return "%s.%s(%s)" % (
        T(like(r, shape), r.choice(ANY)),
        r.choice(["expand_as", "view_as", "reshape_as"]),
        T(shape, r.choice(ANY)),
    )


@case("view_as_real")
def _(r):
    shape = dims(r)
    return r.choice(
        [
            "torch.view_as_real(%s)" % T(shape, r.choice(["complex64", "complex128", "float32"])),
            "torch.view_as_complex(%s)" % T(shape + [2 if not wrong(r) else 3], r.choice(FLOATS + ["int64"])),
        ]
    )


@case("real")
def _(r):
    return "%s.%s" % (
        T(dims(r), r.choice(["complex64", "complex128", "float32", "int64"])),
        r.choice(["real", "imag", "conj()", "angle()", "abs()"]),
    )


@case("contiguous")
def _(r):
    shape = dims(r, 1, 4)
    return "%s%s.%s" % (
        T(shape, r.choice(ANY)),
        r.choice(["", ".transpose(0, -1)", "[..., :1]"]),
        r.choice(["contiguous()", "clone()", "detach()"]),
    )


@case("casts")
def _(r):
    how = r.choice(
        [
            "float()",
            "half()",
            "double()",
            "long()",
            "int()",
            "bool()",
            "short()",
            "char()",
            "byte()",
            "bfloat16()",
            "to(torch.float64)",
            "to('cpu')",
            "type(torch.int32)",
            "to(torch.float32)",
            "type_as(%s)" % T([1], r.choice(ANY)),
            "to(%s)" % T([1], r.choice(ANY)),
            "cfloat()",
        ]
    )
    return "%s.%s" % (T(dims(r), r.choice(ANY)), how)
