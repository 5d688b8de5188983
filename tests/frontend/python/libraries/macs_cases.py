"""Calls of operators that have products, with random shapes, dtypes and argument forms.

A case: what it calls, `setup` (statements of __init__), `forward` (an expression of x0, x1, ...),
`inputs` ("2x3:float64"), `uncounted`: the multiply-accumulates of products that run and that
FlopCounterMode leaves out, `why`, and whether it does so `sometimes`: strides decide which kernel
runs."""
import math
import random

LETTERS = "abijkXY"
TYPES = ("float32", "float32", "float32", "float64", "float16", "bfloat16")
VECTOR = "aten::mv and aten::dot have no formula"
BMM_SUMMED = "aten::addbmm has no formula"
TRILINEAR = "aten::_trilinear has no formula"
CONVOLUTION_TBC = "aten::conv_tbc has no formula"
GROUPED = "aten::_grouped_mm has no formula"
DEFORMED = "the product runs inside an operator of torchvision"


def spec(shape, dtype="float32"):
    return ("x".join(map(str, shape)) or "scalar") + ("" if dtype == "float32" else ":" + dtype)


def case(kind, forward, inputs, setup="", uncounted=0, why="", sometimes=False):
    return {
        "kind": kind,
        "setup": setup,
        "forward": forward,
        "inputs": inputs,
        "uncounted": uncounted,
        "why": why if uncounted else "",
        "sometimes": sometimes,
    }


class Draw:
    def __init__(self, seed):
        self.random = random.Random(seed)

    def size(self, most=7):
        return self.random.choice((1, *range(2, most + 1)))

    def sizes(self, count, most=7):
        return [self.size(most) for _ in range(count)]

    def dtype(self):
        return self.random.choice(TYPES)

    def flip(self):
        return self.random.random() < 0.5

    def broadcast(self, shape):
        """That shape, or one that is broadcast with it."""
        shape = [1 if self.random.random() < 0.3 else size for size in shape]
        return shape[self.random.randint(0, len(shape)) :] if self.flip() else shape


def einsum(draw):
    size = {letter: draw.size(6) for letter in LETTERS}
    dots = draw.sizes(draw.random.randint(0, 2)) if draw.random.random() < 0.4 else None
    terms, inputs = [], []
    dtype = draw.dtype()
    for _ in range(draw.random.choice((1, 2, 2, 2, 3, 3, 4))):
        letters = [draw.random.choice(LETTERS) for _ in range(draw.random.randint(0, 4))]
        shape = [size[c] for c in letters]
        for i, c in enumerate(letters):  # a size of one is broadcast, but a diagonal has one size
            if letters.count(c) == 1 and draw.random.random() < 0.1:
                shape[i] = 1
        if dots is not None and draw.random.random() < 0.8:
            at = draw.random.randint(0, len(letters))
            letters.insert(at, "...")
            shape[at:at] = draw.broadcast(dots)
        terms.append("".join(letters))
        inputs.append(spec(shape, dtype))
    equation = (", " if draw.flip() else ",").join(terms)
    used = sorted(set("".join(terms)) - {"."})
    if draw.random.random() < 0.75:
        out = draw.random.sample(used, draw.random.randint(0, min(4, len(used))))
        if "..." in equation and draw.random.random() < 0.8:
            out.insert(draw.random.randint(0, len(out)), "...")
        equation += draw.random.choice(("->", " -> ")) + "".join(out)
    arguments = ", ".join(f"x{i}" for i in range(len(inputs)))
    return case("einsum", f"torch.einsum({equation!r}, {arguments})", inputs)


def einsum_of_lists(draw):
    a, b, c, d = draw.sizes(4)
    return case(
        "einsum", "torch.einsum(x0, [0, 1], x1, [1, 2], x2, [2, 3], [3, 0])", [spec((a, b)), spec((b, c)), spec((c, d))]
    )


def matmul(draw):
    rank_a, rank_b = draw.random.choice([(a, b) for a in range(1, 5) for b in range(1, 5)])
    dtype = draw.random.choice((*TYPES, "int64", "complex64"))
    batch, m, k, n = draw.sizes(2), draw.size(), draw.size(), draw.size()
    a = [k] if rank_a == 1 else [*batch[4 - rank_a :], m, k]
    b = [k] if rank_b == 1 else [*batch[4 - rank_b :], k, n]
    if draw.flip() and min(rank_a, rank_b) > 2:
        a[0] = 1
    form = draw.random.choice(("x0 @ x1", "torch.matmul(x0, x1)", "torch.linalg.matmul(x0, x1)", "x0.matmul(x1)"))
    # A vector on the left of several matrices is the right one of their transposes.
    sometimes = rank_a == 1 and rank_b > 2
    uncounted = math.prod(a) if rank_b == 1 else math.prod(b) if sometimes else 0
    return case("matmul", form, [spec(a, dtype), spec(b, dtype)], "", uncounted, VECTOR, sometimes)


def vectors(draw):
    m, k, dtype = draw.size(), draw.size(), draw.dtype()
    form, inputs, macs = draw.random.choice(
        (
            ("torch.mv(x0, x1)", [(m, k), (k,)], m * k),
            ("torch.dot(x0, x1)", [(k,), (k,)], k),
            ("torch.addmv(x0, x1, x2, beta=2)", [(m,), (m, k), (k,)], m * k),
            ("torch.outer(x0, x1)", [(m,), (k,)], 0),
            ("torch.addr(x0, x1, x2)", [(m, k), (m,), (k,)], 0),
        )
    )
    return case(form.split("(")[0], form, [spec(shape, dtype) for shape in inputs], uncounted=macs, why=VECTOR)


def added(draw):
    b, m, k, n = draw.sizes(4)
    dtype = draw.dtype()
    form, inputs, macs = draw.random.choice(
        (
            ("torch.mm(x0, x1)", [(m, k), (k, n)], 0),
            ("torch.bmm(x0, x1)", [(b, m, k), (b, k, n)], 0),
            ("torch.addmm(x0, x1, x2, alpha=0.5)", [draw.broadcast((m, n)), (m, k), (k, n)], 0),
            ("torch.baddbmm(x0, x1, x2)", [(b, m, n), (b, m, k), (b, k, n)], 0),
            ("torch.addbmm(x0, x1, x2)", [(m, n), (b, m, k), (b, k, n)], b * m * k * n),
        )
    )
    return case(form.split("(")[0], form, [spec(s, dtype) for s in inputs], uncounted=macs, why=BMM_SUMMED)


def linear(draw):
    shape, width, dtype = draw.sizes(draw.random.randint(1, 4)), draw.size(), draw.dtype()
    if draw.random.random() < 0.25:
        weight = [spec((shape[-1],), dtype)]
        return case("linear", "F.linear(x0, x1)", [spec(shape, dtype), *weight], uncounted=math.prod(shape), why=VECTOR)
    bias = [spec((width,), dtype)] if draw.flip() else []
    form = "F.linear(x0, x1, x2)" if bias else "F.linear(x0, x1)"
    return case("linear", form, [spec(shape, dtype), spec((width, shape[-1]), dtype), *bias])


def bilinear(draw):
    batch, a, b, width = draw.sizes(draw.random.randint(0, 2)), draw.size(), draw.size(), draw.size()
    macs = math.prod(batch) * a * b * width
    inputs = [spec((*batch, a)), spec((*batch, b)), spec((width, a, b))]
    return case("bilinear", "F.bilinear(x0, x1, x2)", inputs, uncounted=macs, why=TRILINEAR)


def tensordot(draw):
    a, dtype = draw.sizes(draw.random.randint(1, 4)), draw.dtype()
    count = draw.random.randint(0, len(a))
    rest = draw.sizes(draw.random.randint(0, 2))
    if draw.flip():
        dims, b = str(count), [*a[len(a) - count :], *rest]
        left = a[: len(a) - count]
        inner = math.prod(a[len(a) - count :])
    else:
        of_a = draw.random.sample(range(len(a)), count)
        b = rest + [a[i] for i in of_a]
        order = list(range(len(b)))
        draw.random.shuffle(order)
        b = [b[i] for i in order]
        of_b = [order.index(len(rest) + i) for i in range(count)]
        if count and draw.flip():
            b[of_b[0]] = 1  # the other one is summed before
        dims = f"([{', '.join(str(i - len(a) if draw.flip() else i) for i in of_a)}], {of_b})"
        left = [size for i, size in enumerate(a) if i not in of_a]
        inner = math.prod(a[i] for i, j in zip(of_a, of_b) if a[i] == b[j])
    # Also a single element may be a dot product.
    uncounted = inner if math.prod(left + rest) == 1 else 0
    inputs = [spec(a, dtype), spec(b, dtype)]
    return case("tensordot", f"torch.tensordot(x0, x1, dims={dims})", inputs, "", uncounted, VECTOR, bool(left or rest))


def inner(draw):
    k, dtype = draw.size(), draw.dtype()
    a, b = ([*draw.sizes(draw.random.randint(0, 2)), k] for _ in range(2))
    if draw.random.random() < 0.1:
        a = []
    uncounted = k if a and math.prod(a + b) == k * k else 0
    return case("inner", "torch.inner(x0, x1)", [spec(a, dtype), spec(b, dtype)], "", uncounted, VECTOR, len(a + b) > 2)


def chain(draw):
    sizes = draw.sizes(draw.random.randint(3, 8), 30)
    inputs = [list(pair) for pair in zip(sizes, sizes[1:])]
    arguments = ", ".join(f"x{i}" for i in range(len(inputs)))
    if draw.random.random() < 0.3:
        return case("chain_matmul", f"torch.chain_matmul({arguments})", [spec(shape) for shape in inputs])
    if draw.random.random() < 0.4:
        inputs[0] = inputs[0][1:]
    if draw.random.random() < 0.4:
        inputs[-1] = inputs[-1][:1]
    return case("multi_dot", f"torch.linalg.multi_dot([{arguments}])", [spec(shape) for shape in inputs])


def power(draw):
    size, n = draw.size(), draw.random.randint(-9, 40)
    shape = spec((*draw.sizes(draw.random.randint(0, 2)), size, size))
    setup = "self.eye = torch.eye(%d) * 2" % size
    form = draw.random.choice(("torch.matrix_power(%s, %d)", "torch.linalg.matrix_power(%s, %d)"))
    return case("matrix_power", form % ("x0 * 0.001 + self.eye", n), [shape], setup)


def covariance(draw):
    shape, dtype = draw.sizes(draw.random.randint(1, 2)), draw.random.choice(("float32", "float64", "int64"))
    n = shape[-1]
    form = draw.random.choice(("torch.cov(x0)", "torch.corrcoef(x0)", "torch.cov(x0, correction=0, aweights=x1)"))
    return case("cov", form, [spec(shape, dtype), *([spec((n,), "float32")] if "x1" in form else [])])


def convolution(draw):
    dims, groups, transposed = draw.random.randint(1, 3), draw.random.choice((1, 1, 2, 3)), draw.flip()
    shape = [draw.size(2), groups * draw.size(4), *(draw.random.randint(5, 8) for _ in range(dims))]
    if draw.random.random() < 0.2:
        del shape[0]
    window = [draw.random.randint(1, 3) for _ in range(dims)]
    channels = shape[-dims - 1]
    if transposed:
        weight, options = [
            channels,
            draw.size(4),
            *window,
        ], f"stride={draw.random.randint(1, 3)}, padding={int(draw.flip())}"
    else:
        weight, options = [groups * draw.size(4), channels // groups, *window], f"stride={draw.random.randint(1, 3)}"
        options += f", dilation={draw.random.randint(1, 2)}"
        if draw.random.random() < 0.3:
            options = "padding='same'"
    name = f"conv{'_transpose' if transposed else ''}{dims}d"
    return case(name, f"F.{name}(x0, x1, groups={groups}, {options})", [spec(shape), spec(weight)])


def rare_convolution(draw):
    if draw.flip():
        time, batch, channels, width, window = draw.random.randint(3, 9), draw.size(), draw.size(), draw.size(), 3
        macs = (time + 2 * 1 - window + 1) * batch * width * channels * window
        inputs = [spec((time, batch, channels)), spec((window, channels, width)), spec((width,))]
        return case("conv_tbc", "torch.conv_tbc(x0, x1, x2, 1)", inputs, uncounted=macs, why=CONVOLUTION_TBC)
    batch, channels, width = draw.size(3), draw.size(), draw.size()
    inputs = [spec((batch, channels, 8, 9)), spec((batch, 18, 6, 7)), spec((width, channels, 3, 3))]
    macs = batch * width * 6 * 7 * channels * 9
    form = "torchvision.ops.deform_conv2d(x0, x1, x2)"
    return case("deform_conv2d", form, inputs, uncounted=macs, why=DEFORMED)


def cell(draw):
    width, hidden = draw.size(20), draw.size(20)
    bias = draw.flip()
    shape = draw.sizes(draw.random.randint(0, 1)) + [width]
    name = draw.random.choice(("LSTMCell", "GRUCell", "RNNCell"))
    return case(name, "self.cell(x0)", [spec(shape)], f"self.cell = nn.{name}({width}, {hidden}, bias={bias})")


def recurrent(draw):
    width, hidden = draw.size(9), draw.random.randint(2, 9)
    options = f"num_layers={draw.random.randint(1, 3)}, bidirectional={draw.flip()}, batch_first={draw.flip()}, bias={draw.flip()}"
    name = draw.random.choice(("LSTM", "GRU", "RNN"))
    if name == "LSTM" and draw.flip():
        options += f", proj_size={draw.random.randint(1, hidden - 1)}"
    if name == "RNN" and draw.flip():
        options += ", nonlinearity='relu'"
    shape = draw.sizes(draw.random.randint(1, 2)) + [width]
    return case(name, "self.layer(x0)", [spec(shape)], f"self.layer = nn.{name}({width}, {hidden}, {options})")


def attention(draw):
    """Scaled dot products: leading dimensions that are broadcast, masks, heads that share keys."""
    batch, queries, keys, width, out = draw.sizes(draw.random.randint(0, 2)), *draw.sizes(4)
    dtype, options, more = draw.dtype(), "", []
    leading = [batch] * 3
    if draw.random.random() < 0.3:
        groups, shared = draw.random.randint(1, 3), draw.random.randint(1, 3)
        batch = draw.sizes(1)
        leading = [[*batch, groups * shared], [*batch, groups], [*batch, groups]]
        options = ", enable_gqa=True"
    elif draw.flip():
        leading = [draw.broadcast(batch) for _ in range(3)]
    if draw.random.random() < 0.3:
        options += ", is_causal=True"
    elif draw.random.random() < 0.3:
        more = [spec((queries, keys), dtype)]
        options += ", attn_mask=x3"
    shapes = ([*leading[0], queries, width], [*leading[1], keys, width], [*leading[2], keys, out])
    form = f"F.scaled_dot_product_attention(x0, x1, x2{options})"
    return case("scaled_dot_product_attention", form, [*(spec(shape, dtype) for shape in shapes), *more])


def heads(draw):
    """nn.MultiheadAttention and its function, with all that adds or replaces keys."""
    count, batch, queries, keys = draw.random.randint(1, 3), draw.size(4), draw.size(), draw.size()
    embed = count * draw.random.randint(1, 5)
    if draw.flip():
        k, v = draw.random.choice(((embed, embed), (draw.size(), draw.size())))
        options = f"bias={draw.flip()}, add_bias_kv={draw.flip()}, add_zero_attn={draw.flip()}, kdim={k}, vdim={v}, "
        options += f"batch_first={draw.flip()}"
        shapes = [(queries, embed), (keys, k), (keys, v)]
        if draw.random.random() < 0.8:
            first = "batch_first=True" in options
            shapes = [(batch, n, width) if first else (n, batch, width) for n, width in shapes]
        forward = f"self.layer(x0, x1, x2, need_weights={draw.flip()})"
        setup = f"self.layer = nn.MultiheadAttention({embed}, {count}, {options})"
        return case("MultiheadAttention", forward, [spec(shape) for shape in shapes], setup)
    out = draw.size(9)  # CLIP's attention pool has another width
    weights = [(embed, embed)] * 3 + [(out, embed)]
    setup = "; ".join(f"self.w{i} = nn.Parameter(torch.rand{shape})" for i, shape in enumerate(weights))
    setup += f"; self.bias = nn.Parameter(torch.rand({3 * embed}))"
    static = ""
    inputs = [(queries, batch, embed), (keys, batch, embed)]
    if draw.random.random() < 0.3:
        static = ", static_k=x2, static_v=x3"
        inputs += [(batch * count, keys + 2, embed // count)] * 2
    forward = (
        f"F.multi_head_attention_forward(x0, x1, x1, {embed}, {count}, None, self.bias, None, None, {draw.flip()}, 0.0, self.w3, None, "
        f"training=False, need_weights={draw.flip()}, use_separate_proj_weight=True, q_proj_weight=self.w0, k_proj_weight=self.w1, "
        f"v_proj_weight=self.w2{static})"
    )
    return case("multi_head_attention_forward", forward, [spec(shape) for shape in inputs], setup)


def grouped(draw):
    groups, rows, k, n = draw.size(4), 8 * draw.size(4), 16, 16 * draw.random.randint(1, 2)
    setup = f"self.ends = torch.arange(1, {groups + 1}, dtype=torch.int32) * {rows // groups}"
    form = "torch._grouped_mm(x0, x1, self.ends)"
    inputs = [spec((rows, k)), spec((groups, k, n))]
    return case("_grouped_mm", form, inputs, setup, rows * k * n, GROUPED)


# Each with how often it is drawn.
KINDS = {
    einsum: 8,
    einsum_of_lists: 1,
    matmul: 4,
    vectors: 2,
    added: 2,
    linear: 2,
    bilinear: 1,
    tensordot: 3,
    inner: 2,
    chain: 3,
    power: 2,
    covariance: 2,
    convolution: 3,
    rare_convolution: 1,
    cell: 2,
    recurrent: 2,
    attention: 3,
    heads: 4,
    grouped: 1,
}


def drawn(seed, rounds):
    draw = Draw(seed)
    return [kind(draw) for kind, times in KINDS.items() for _ in range(times * rounds)]
