"""Computations on small constants, as models make index tables, masks and rates while they build
themselves: VALUES maps a name to (generator, tolerance). The tolerance is in units of the last
place: 0 means bit for bit; functions that PyTorch's vector library rounds in its own way have 1 or
2, sums of floats a few."""
# Long because it is a list of functions, each with the calls to make of it.
from torch_cases import dim, dims, some_dims

VALUES = {}


def values(name, ulps=0):
    def add(generator):
        VALUES[name] = (generator, ulps)
        return generator

    return add


def data(r, shape, dtype):
    if not shape:
        if dtype == "bool":
            return r.random() < 0.5
        return (
            r.randint(-5, 9)
            if "int" in dtype and dtype != "uint8"
            else r.randint(0, 9)
            if dtype == "uint8"
            else round(r.uniform(-4, 4), r.choice([1, 2, 6]))
        )
    return [data(r, shape[1:], dtype) for _ in range(shape[0])]


def C(r, shape=None, dtype=None, lo=0, hi=3):
    shape = dims(r, lo, hi, False) if shape is None else shape
    dtype = dtype or r.choice(["float32", "float32", "float32", "float64", "int64", "int64", "int32", "bool", "uint8"])
    return "C(%r, '%s')" % (data(r, shape, dtype), dtype)


def num(r):
    return C(r, dtype=r.choice(["float32", "float32", "float64", "int64", "int32"]))


@values("arange")
def _(r):
    a, b, s = r.choice([0, 1, -2, 0.5, -1.25]), r.choice([5, 9, 20.5, 33, 7]), r.choice([1, 2, 0.1, 0.3, 1.5])
    return r.choice(
        [
            "torch.arange(%d)" % r.randint(0, 40),
            "torch.arange(%r, %r, %r)" % (a, b, s),
            "torch.arange(%d, -1, -1)" % r.randint(0, 20),
            "torch.arange(%d, dtype=torch.float32)" % r.randint(0, 40),
            "torch.arange(0, %d, 2).float() / %d" % (r.choice([16, 64]), r.choice([16, 64])),
            "torch.arange(%r, %r, %r, dtype=torch.float64)" % (a, b, s),
        ]
    )


@values("linspace")
def _(r):
    return "torch.linspace(%r, %r, %d%s)" % (
        r.choice([0, -1, 0.5]),
        r.choice([0.1, 1, 0.2, 7, -3]),
        r.randint(0, 40),
        r.choice(["", ", dtype=torch.float64"]),
    )


@values("creation")
def _(r):
    return r.choice(
        [
            "torch.eye(%d)" % r.randint(0, 5),
            "torch.full((2, 3), %r)" % r.choice([1, 0.1, True]),
            "torch.zeros(2, 3)",
            "torch.ones(%d, dtype=torch.int64)" % r.randint(0, 4),
            "torch.tril_indices(4, 3)",
            "torch.triu_indices(3, 5, offset=1)",
            "torch.ones_like(%s)" % C(r),
            "torch.full_like(%s, 2)" % C(r),
            "%s.new_full((2,), 3)" % C(r),
            "torch.tensor(%r)" % data(r, [2, 2], "float32"),
        ]
    )


for n in "abs neg square sign floor ceil trunc relu reciprocal sqrt".split():
    values(n)(lambda r, n=n: "%s.%s()" % (C(r, dtype=r.choice(["float32", "float64", "int64"])), n))
values("round")(lambda r: "%s.round()" % C(r, dtype=r.choice(["float32", "float64"])))
for n in "exp log sin cos tan tanh sigmoid exp2 expm1 log1p log2 log10 rsqrt erf atan asin acos sinh cosh".split():
    values(n, 2)(lambda r, n=n: "%s.%s()" % (num(r), n))
for n in "logical_not isnan isinf isfinite".split():
    values(n)(lambda r, n=n: "torch.%s(%s)" % (n, C(r)))


@values("operators")
def _(r):
    shape = dims(r, 0, 3, False)
    other = [1 if r.random() < 0.3 else d for d in shape][r.randint(0, len(shape)) :]
    a, b = C(r, shape), r.choice([C(r, other), C(r, other), "2", "0.5", "3", "0.1", "1e-3"])
    op = r.choice("+ - * / // % == != < <= > >=".split())
    if r.random() < 0.2:
        return "%s %s %s" % (C(r, shape, "int64"), r.choice(["&", "|", "^"]), C(r, other, "int64"))
    return "%s %s %s" % (a, op, b)


values("pow", 2)(lambda r: "%s ** %s" % (num(r), r.choice(["2", "3", "0.5", "1.5", "-1.0"])))
values("power of a number", 2)(
    lambda r: "%s ** (torch.arange(0, %d, 2).float() / %d)"
    % (r.choice(["10000", "10000.0", "2"]), r.choice([8, 16, 32]), r.choice([8, 16, 32]))
)
values("maximum")(lambda r: "torch.%s(%s, %s)" % (r.choice(["maximum", "minimum"]), C(r, [2, 3]), C(r, [3])))
values("clamp")(lambda r: "%s.clamp(%s)" % (num(r), r.choice(["0, 2", "min=0", "max=1.5", "-1, 1"])))
values("where")(lambda r: "torch.where(%s, %s, %s)" % (C(r, [2, 3], "bool"), C(r, [3]), C(r, [2, 1])))
values("masked_fill")(
    lambda r: "%s.masked_fill(%s, %s)"
    % (C(r, [2, 3], r.choice(["float32", "int64"])), C(r, [3], "bool"), r.choice(["0", "7", "-100"]))
)
values("div rounding")(
    lambda r: "torch.div(%s, %s, rounding_mode=%r)"
    % (C(r, [2, 3], r.choice(["float32", "int64"])), r.choice(["3", "0.5", "7"]), r.choice(["floor", "trunc"]))
)
values("casts")(
    lambda r: "%s.%s"
    % (
        C(r),
        r.choice(
            ["float()", "long()", "int()", "bool()", "double()", "half()", "bfloat16()", "to(torch.uint8)", "short()"]
        ),
    )
)
values("half")(lambda r: "(%s.half() * %r).float()" % (C(r, dtype="float32"), r.choice([2, 0.3])))


def reduction(name, types, ulps, several=True):
    @values(name, ulps)
    def _(r):
        shape = dims(r, 0, 3, False)
        how = r.choice(
            [
                "",
                "%d" % r.randrange(len(shape)) if shape else "",
                "%r"
                % (tuple(set(d % max(len(shape), 1) for d in [r.randrange(max(len(shape), 1)) for _ in range(2)])),)
                if several and shape
                else "",
                "-1, keepdim=True" if shape else "",
            ]
        )
        return "%s.%s(%s)" % (C(r, shape, r.choice(types)), name, how)


for n, types, ulps, several in (
    ("sum", ["float32", "int64", "bool", "float64"], 8, True),
    ("mean", ["float32", "float64"], 8, True),
    ("prod", ["float32", "int64"], 4, False),
    ("amax", ["float32", "int64"], 0, True),
    ("amin", ["float32", "int64"], 0, True),
    ("argmax", ["float32", "int64"], 0, False),
    ("argmin", ["float32", "int64"], 0, False),
    ("any", ["bool", "int64"], 0, False),
    ("all", ["bool", "float32"], 0, False),
    ("max", ["float32", "int64"], 0, False),
    ("min", ["float32", "int64"], 0, False),
    ("var", ["float32"], 16, True),
    ("std", ["float32"], 16, True),
    ("median", ["float32", "int64"], 0, False),
):
    reduction(n, types, ulps, several)
values("norm", 8)(
    lambda r: "%s.norm(%s)"
    % (C(r, [2, 3], "float32"), r.choice(["", "dim=1", "p=1, dim=0", "dim=-1, keepdim=True", "p=float('inf')"]))
)
values("logsumexp", 8)(
    lambda r: "%s.%s"
    % (C(r, [2, 3], "float32"), r.choice(["logsumexp(1)", "softmax(-1)", "log_softmax(0)", "softmax(0)"]))
)
values("cumsum", 4)(
    lambda r: "%s.%s(%d)"
    % (C(r, [2, 3], r.choice(["float32", "int64", "bool"])), r.choice(["cumsum", "cumprod"]), r.choice([0, 1, -1]))
)
values("cummax")(
    lambda r: "%s.%s(%d)"
    % (C(r, [3, 3], r.choice(["float32", "int64"])), r.choice(["cummax", "cummin"]), r.choice([0, 1]))
)
values("diff", 1)(
    lambda r: "%s.diff(%s)" % (C(r, [3, 4], r.choice(["float32", "int64"])), r.choice(["", "dim=0", "n=2"]))
)


def distinct(r, shape):
    n = 1
    for s in shape:
        n *= s
    flat = [v / 4 for v in r.sample(range(-200, 200), n)]

    def nest(values, shape):
        if not shape:
            return values[0]
        k = len(values) // shape[0]
        return [nest(values[i * k : (i + 1) * k], shape[1:]) for i in range(shape[0])]

    return "C(%r, 'float32')" % nest(flat, shape)


@values("sort")
def _(r):
    shape = dims(r, 1, 3, False)
    return "%s.%s(%d%s)" % (
        distinct(r, shape),
        r.choice(["sort", "argsort"]),
        r.randrange(len(shape)),
        r.choice(["", ", descending=True"]),
    )


values("stable sort")(
    lambda r: "torch.%s(%s, stable=True, dim=%d)"
    % (r.choice(["sort", "argsort"]), C(r, [4, 5], "int64"), r.choice([0, 1, -1]))
)


@values("topk")
def _(r):
    shape = dims(r, 1, 2, False)
    d = r.randrange(len(shape))
    return "%s.topk(%d, %d%s)" % (distinct(r, shape), r.randint(1, shape[d]), d, r.choice(["", ", largest=False"]))


values("kthvalue")(lambda r: "%s.kthvalue(%d, %d)" % (distinct(r, [3, 4]), r.randint(1, 3), r.choice([0, 1])))
values("searchsorted")(
    lambda r: "torch.searchsorted(C([-1.0, 0.5, 2.0, 2.0], 'float32'), %s%s)"
    % (C(r, [2, 3], "float32"), r.choice(["", ", right=True"]))
)
values("bucketize")(
    lambda r: "torch.bucketize(%s, C([-1, 0, 2, 5], 'int64')%s)"
    % (C(r, [2, 3], "int64"), r.choice(["", ", right=True"]))
)


@values("gather")
def _(r):
    rows, columns = r.randint(1, 4), r.randint(1, 4)
    index = [[r.randrange(columns) for _ in range(3)] for _ in range(rows)]
    return r.choice(["%s.gather(1, C(%r, 'int64'))", "torch.take_along_dim(%s, C(%r, 'int64'), 1)"]) % (
        C(r, [rows, columns]),
        index,
    )


@values("scatter")
def _(r):
    rows, columns = r.randint(1, 4), r.randint(2, 4)
    index = [r.sample(range(columns), 2) for _ in range(rows)]
    return r.choice(
        [
            "torch.zeros(%d, %d).scatter_(1, C(%r, 'int64'), 1.0)" % (rows, columns, index),
            "torch.zeros(%d, %d).scatter(1, C(%r, 'int64'), %s)" % (rows, columns, index, C(r, [rows, 2], "float32")),
            "torch.ones(%d, %d).scatter_add(1, C(%r, 'int64'), %s)"
            % (rows, columns, index, C(r, [rows, 2], "float32")),
        ]
    )


values("index_select")(
    lambda r: "%s.index_select(%d, C(%r, 'int64'))"
    % (C(r, [3, 3]), r.choice([0, 1]), [r.randrange(3) for _ in range(4)])
)
values("index_add")(
    lambda r: "torch.zeros(4, 2).%s(0, C([1, 3], 'int64'), %s)"
    % (r.choice(["index_add", "index_copy", "index_add_"]), C(r, [2, 2], "float32"))
)
values("index_fill")(lambda r: "%s.index_fill(1, C([0, 2], 'int64'), 5)" % C(r, [2, 3], "float32"))
values("one_hot")(
    lambda r: "F.one_hot(C(%r, 'int64')%s)"
    % ([r.randrange(4) for _ in range(5)], r.choice(["", ", 6", ", num_classes=4"]))
)
values("embedding")(
    lambda r: "F.embedding(C(%r, 'int64'), %s)" % ([[r.randrange(4) for _ in range(3)]], C(r, [4, 2], "float32"))
)
values("getitem")(
    lambda r: "%s[%s]"
    % (
        C(r, [3, 4]),
        r.choice(
            [
                "0",
                "-1",
                ":, 1",
                "1:, ::2",
                "..., None",
                "[0, 2]",
                ":, [1, 3]",
                "[[0, 1], [1, 2]]",
                "C([True, False, True], 'bool')",
                "C([2, 0], 'int64')",
                "C([0, 1], 'int64'), C([1, 3], 'int64')",
                ":, C([1, 1], 'int64')",
                "None, 1",
            ]
        ),
    )
)
values("mask")(lambda r: "(lambda x: x[x > 0])(%s)" % C(r, [3, 4], "float32"))
values("nonzero")(
    lambda r: "%s"
    % r.choice(["torch.nonzero(%s)", "%s.nonzero(as_tuple=True)", "torch.where(%s)", "torch.argwhere(%s)"])
    % C(r, [3, 4], "bool")
)
values("unique")(
    lambda r: "torch.unique(%s%s)"
    % (
        C(r, [3, 4], "int64"),
        r.choice(["", ", return_inverse=True", ", return_counts=True", ", return_inverse=True, return_counts=True"]),
    )
)
values("masked_select")(lambda r: "torch.masked_select(%s, %s)" % (C(r, [3, 4]), C(r, [4], "bool")))
values("bincount")(
    lambda r: "torch.bincount(C(%r, 'int64')%s)" % ([r.randrange(5) for _ in range(6)], r.choice(["", ", minlength=8"]))
)
values("item")(lambda r: "%s.%s" % (C(r, []), "item()"))
values("tolist")(lambda r: "%s.tolist()" % C(r))
values("equal")(
    lambda r: "torch.%s(%s, %s)" % (r.choice(["equal", "allclose"]), C(r, [2], "int64"), C(r, [2], "int64"))
    if r.random() < 0.5
    else "torch.equal(torch.ones(2), torch.ones(2))"
)
values("reshape")(
    lambda r: "%s.%s"
    % (
        C(r, [2, 6]),
        r.choice(
            [
                "reshape(3, 4)",
                "view(-1)",
                "flatten()",
                "t()",
                "T",
                "permute(1, 0)",
                "transpose(0, 1).reshape(-1)",
                "unsqueeze(1)",
                "unflatten(1, (2, 3))",
                "squeeze()",
                "movedim(0, 1)",
                "expand(3, 2, 6)",
                "repeat(2, 1)",
                "tile((2, 2))",
                "repeat_interleave(2)",
                "repeat_interleave(3, dim=1)",
                "flip(0)",
                "flip([0, 1])",
                "roll(1)",
                "roll((1, -2), (0, 1))",
                "rot90()",
                "rot90(2)",
                "fliplr()",
                "diagonal()",
                "diagonal(1)",
                "narrow(1, 2, 3)",
                "select(1, 2)",
                "unfold(1, 2, 2)",
                "chunk(2, 1)",
                "split(4, 1)",
                "split([1, 5], dim=1)",
                "unbind(0)",
                "tensor_split(3, 1)",
                "hsplit(2)",
                "swapaxes(0, 1)",
                "ravel()",
                "clone()",
                "contiguous()",
            ]
        ),
    )
)
values("tril")(lambda r: "%s.%s(%d)" % (C(r, [4, 4]), r.choice(["tril", "triu"]), r.randint(-2, 2)))
values("mask of ones")(lambda r: "torch.ones(4, 4).tril(%d).bool().logical_not()" % r.randint(-1, 1))
values("diag")(
    lambda r: r.choice(
        [
            "torch.diag(%s, %d)" % (C(r, [3]), r.randint(-1, 1)),
            "torch.diag(%s)" % C(r, [3, 4]),
            "torch.diag_embed(%s)" % C(r, [2, 3]),
            "torch.diagflat(%s)" % C(r, [2, 2]),
        ]
    )
)
values("join")(
    lambda r: "torch.%s([%s, %s])"
    % (
        r.choice(["cat", "stack", "hstack", "vstack", "dstack", "column_stack"]),
        C(r, [2, 3], "float32"),
        C(r, [2, 3], "float32"),
    )
)
values("block_diag")(lambda r: "torch.block_diag(%s, %s)" % (C(r, [2, 3], "float32"), C(r, [1, 2], "float32")))
values("meshgrid")(
    lambda r: "torch.stack(torch.meshgrid(torch.arange(%d), torch.arange(%d), indexing=%r))"
    % (r.randint(1, 4), r.randint(1, 4), r.choice(["ij", "xy"]))
)
values("cartesian_prod")(
    lambda r: "torch.%s"
    % r.choice(
        [
            "cartesian_prod(%s, %s)" % (C(r, [2], "int64"), C(r, [3], "int64")),
            "combinations(%s)" % C(r, [4], "int64"),
            "combinations(%s, 3)" % C(r, [4], "int64"),
            "combinations(%s, with_replacement=True)" % C(r, [3], "int64"),
        ]
    )
)
values("pad")(
    lambda r: "F.pad(%s, %r%s)"
    % (C(r, [1, 2, 3], "float32"), r.choice([(1, 0), (1, 2, 0, 1), (-1, 1)]), r.choice(["", ", value=2.0"]))
)
values("pad modes")(
    lambda r: "F.pad(%s, %r, mode=%r)"
    % (C(r, [1, 2, 4], "float32"), r.choice([(1, 0), (2, 1), (1, 3)]), r.choice(["reflect", "replicate", "circular"]))
)
values("matmul", 8)(lambda r: "%s @ %s" % (C(r, [2, 3], "float32"), C(r, [3, 4], "float32")))
values("products", 8)(
    lambda r: "torch.%s"
    % r.choice(
        [
            "outer(%s, %s)" % (C(r, [2], "float32"), C(r, [3], "float32")),
            "einsum('i,j->ij', %s, %s)" % (C(r, [2], "float32"), C(r, [3], "float32")),
            "einsum('ij,kj->ik', %s, %s)" % (C(r, [2, 3], "float32"), C(r, [4, 3], "float32")),
            "dot(%s, %s)" % (C(r, [3], "float32"), C(r, [3], "float32")),
            "mv(%s, %s)" % (C(r, [2, 3], "float32"), C(r, [3], "float32")),
            "kron(%s, %s)" % (C(r, [2, 2], "float32"), C(r, [2], "float32")),
            "bmm(%s, %s)" % (C(r, [2, 2, 3], "float32"), C(r, [2, 3, 2], "float32")),
            "cdist(%s, %s)" % (C(r, [2, 3], "float32"), C(r, [4, 3], "float32")),
        ]
    )
)
values("setitem")(
    lambda r: "(lambda x: (x.__setitem__(%s, %s), x)[1])(%s)"
    % (
        r.choice(["0", "(slice(None), 1)", "(0, 1)", "C([0, 2], 'int64')", "(slice(0, 2), slice(1, 3))"]),
        r.choice(["5", "-1.5"]),
        C(r, [3, 4], "float32"),
    )
)
values("in place")(
    lambda r: "%s.%s"
    % (
        C(r, [2, 3], "float32"),
        r.choice(["add_(1)", "mul_(0.5)", "clamp_(0)", "fill_(3)", "zero_()", "neg_()", "sub_(2).div_(4)", "floor_()"]),
    )
)
values("lerp", 4)(
    lambda r: "torch.%s"
    % r.choice(
        [
            "lerp(%s, %s, 0.3)" % (C(r, [3], "float32"), C(r, [3], "float32")),
            "addcmul(%s, %s, %s, value=0.5)" % (C(r, [3], "float32"), C(r, [3], "float32"), C(r, [3], "float32")),
            "atan2(%s, %s)" % (C(r, [3], "float32"), C(r, [3], "float32")),
            "hypot(%s, %s)" % (C(r, [3], "float32"), C(r, [3], "float32")),
        ]
    )
)
values("relative positions")(
    lambda r: "(lambda c: (lambda f: f[:, :, None] - f[:, None, :])(torch.flatten(c, 1)).permute(1, 2, 0).sum(-1))(torch.stack(torch.meshgrid(torch.arange(%d), torch.arange(%d), indexing='ij')))"
    % (r.randint(1, 4), r.randint(1, 4))
)
values("drop path rates")(
    lambda r: "[x.item() for x in torch.linspace(0, %r, %d)]" % (r.choice([0.1, 0.2, 0.3]), r.randint(1, 30))
)
values("windows", 16)(
    lambda r: "torch.%s_window(%d%s)"
    % (r.choice(["hann", "hamming", "blackman", "bartlett"]), r.randint(3, 20), r.choice(["", ", periodic=False"]))
)
values("log scale", 8)(
    lambda r: "torch.log(1 + torch.abs(%s)) * torch.sign(%s)" % (C(r, [3], "float32"), C(r, [3], "float32"))
)


# ---- complex numbers
def Z(r, shape):
    return r.choice(["torch.complex(%s, %s)", "torch.polar(%s, %s)"]) % (C(r, shape, "float32"), C(r, shape, "float32"))


values("complex", 4)(
    lambda r: r.choice(
        [
            "torch.view_as_real(%s)",
            "%s.real",
            "%s.imag",
            "torch.view_as_real(%s.conj().resolve_conj())",
            "%s.abs()",
            "%s.tolist()",
            "%s",
            "%s[0, 1:]",
            "%s.t()",
            "%s.reshape(3, 2)",
            "%s.unsqueeze(1).expand(2, 4, 3)",
            "%s.sum()",
            "%s.sum(0)",
            "%s.mean()",
            "%s.flip(0)",
            "torch.cat([%s, torch.ones(1, 3)])",
            "torch.stack([%s, torch.zeros(2, 3, dtype=torch.complex64)])",
            "-%s",
            "%s.to(torch.complex128)",
            "%s[1, 2].item()",
            "%s.cumsum(1)",
            "%s.roll(1, 0)",
            "%s.masked_fill(torch.ones(3).bool(), 2)",
            "%s[:, torch.tensor([0, 2])]",
        ]
    )
    % Z(r, [2, 3])
)
values("angle", 4)(lambda r: "torch.angle(%s)" % Z(r, [3]))
values("complex arithmetic", 16)(
    lambda r: r.choice(["%s + %s", "%s - %s", "%s * %s", "%s / (%s + 10)", "torch.mul(%s, %s)", "%s == %s"])
    % (Z(r, [2, 3]), r.choice([Z(r, [2, 3]), Z(r, [3]), "1j", "(2-1j)", "3", "0.5", C(r, [2, 3], "float32")]))
)
values("complex functions", 16)(
    lambda r: r.choice(
        [
            "torch.exp(1j * %s)",
            "torch.exp(torch.complex(%s, torch.ones(3)))",
            "(2 * torch.polar(torch.ones(3), %s)).square()",
            "torch.polar(%s.abs() + 1, torch.ones(3)).reciprocal()",
        ]
    )
    % C(r, [3], "float32")
)
values("complex creation")(
    lambda r: r.choice(
        [
            "torch.tensor([1+2j, 3])",
            "torch.tensor(1j)",
            "torch.zeros(2, dtype=torch.complex64)",
            "torch.ones(2, 2, dtype=torch.complex128)",
            "torch.tensor([[1j], [2.5]], dtype=torch.complex128)",
            "torch.view_as_complex(%s)" % C(r, [3, 2], "float32"),
            "%s.to(torch.complex64)" % C(r, [3], "int64"),
            "torch.full((2,), 3, dtype=torch.complex64)",
            "torch.ones_like(torch.tensor([1j]))",
        ]
    )
)
values("rotary embedding", 4)(
    lambda r: "(lambda x, f: torch.view_as_real(torch.view_as_complex(x.reshape(2, 3, -1, 2)) * f[None]).flatten(2))(%s, torch.polar(torch.ones(3, 2), torch.outer(torch.arange(3), 1 / 100.0 ** (torch.arange(0, 4, 2) / 4))))"
    % C(r, [2, 3, 4], "float32")
)

# ---- views that are written to, and bases under views
VIEW_OF = [
    "a[1:3]",
    "a[:, 0]",
    "a[1]",
    "a[..., ::2]",
    "a.t()",
    "a.t()[1:]",
    "a.view(-1)[3:7]",
    "a.reshape(2, 6)",
    "a.flatten()",
    "a.t().reshape(-1)",
    "a.diagonal()",
    "a[None]",
    "a.unsqueeze(1)[2]",
    "a.chunk(2)[0]",
    "a.split(1)[2]",
    "a.unbind(1)[3]",
    "a.narrow(1, 1, 2)",
    "a.select(0, 2)",
    "a.permute(1, 0)[2]",
    "a.transpose(0, 1).contiguous()",
    "a.contiguous()",
    "a.detach()",
    "a.expand(1, 3, 4)[0]",
    "a.unfold(1, 2, 2)",
    "a[1:][:, 1:]",
    "a.clone()",
    "a[[0, 2]]",
    "a.view_as(torch.ones(4, 3))",
    "a.swapaxes(0, 1)[:2]",
    "a.squeeze()",
    "a.view(3, 2, 2)[:, 1]",
    "a.t().flatten()",
    "a.movedim(0, 1)[1]",
    "a.unflatten(1, (2, 2))[..., 0]",
    "a.ravel()",
    "a.hsplit(2)[1]",
]
WRITES = [
    "%s.fill_(2)",
    "%s.zero_()",
    "%s.add_(1)",
    "%s.mul_(3)",
    "%s.clamp_(min=0)",
    "%s.neg_()",
    "%s.__setitem__(0, 5)",
    "%s.__setitem__(Ellipsis, 7)",
    "%s.copy_(torch.ones(()))",
    "%s.__iadd__(2)",
    "%s.masked_fill_(torch.ones(()).bool(), 4)",
]
values("written view")(
    lambda r: "(lambda a: (%s, a.flip(0), a))(%s)"
    % (r.choice(WRITES) % r.choice(VIEW_OF), C(r, [3, 4], r.choice(["float32", "int64"])))
)
values("view of what is written")(
    lambda r: "(lambda a: (lambda b: (%s, b, a, %s))(%s))(%s)"
    % (
        r.choice(WRITES) % "a",
        r.choice(["b.amax()", "b + 1", "b.tolist()"]),
        r.choice(VIEW_OF),
        C(r, [3, 4], r.choice(["float32", "int64"])),
    )
)
values("two views")(
    lambda r: "(lambda a: (lambda b, c: (%s, c, b, a))(%s, %s))(%s)"
    % (r.choice(WRITES) % "b", r.choice(VIEW_OF), r.choice(VIEW_OF), C(r, [3, 4], r.choice(["float32", "int64"])))
)
values("written twice")(
    lambda r: "(lambda a: (lambda b: (%s, %s, b, a))(%s))(%s)"
    % (
        r.choice(WRITES) % "b",
        r.choice(WRITES) % ("a[%d]" % r.randrange(3)),
        r.choice(VIEW_OF),
        C(r, [3, 4], r.choice(["float32", "int64"])),
    )
)
