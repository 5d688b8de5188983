"""Random .param files of one layer, over the layer types of frontend/ncnn/layers.def and their
parameters.

Each maker returns (shapes of the inputs, outermost dimension first; parameters; number of outputs).
Sizes are small, and parameters are such that ncnn takes them. The layers that few networks have are
in rare_layers.py.
"""

import rare_layers
from layer_values import activation, blob, image, ints, real, reals, window_keys


def convolution(r, n, grouped):
    groups = r.choice([1, 2, 4]) if grouped else 1
    channels, outputs = groups * r.randint(1, 3), groups * r.randint(1, 4)
    if grouped and r.random() < 0.5:
        groups = outputs = channels
    kernel = [r.randint(1, 3) for _ in range(n)]
    stride, dilation = [r.randint(1, 3) for _ in range(n)], [r.randint(1, 2) for _ in range(n)]
    pads = r.choice(["none", "equal", "differs", "upper", "lower"])
    before = [r.randint(0, 2) if pads in ("equal", "differs") else 0 for _ in range(n)]
    after = [r.randint(0, 2) if pads == "differs" else b for b in before]
    if pads in ("upper", "lower"):
        before = after = [{"upper": -233, "lower": -234}[pads]] * n
    size = 1
    for k in kernel:
        size *= k
    params = ["0=%d" % outputs] + window_keys(n, kernel, stride, dilation, before, after)
    params += ["5=%d" % r.randint(0, 1), "6=%d" % (outputs * channels // groups * size)] + activation(r)
    if grouped:
        params.append("7=%d" % groups)
    if pads == "differs" and n < 3 and r.random() < 0.3:
        params.append("18=" + real(0.5))
    shape = tuple([channels] + [r.randint(6, 11) for _ in range(n)])
    return [shape], params, 1


def deconvolution(r, n, grouped):
    groups = r.choice([1, 2]) if grouped else 1
    channels, outputs = groups * r.randint(1, 3), groups * r.randint(1, 3)
    if grouped and r.random() < 0.5:
        groups = outputs = channels
    kernel = [r.randint(2, 4) for _ in range(n)]
    stride = [r.randint(1, 3) for _ in range(n)]
    pads = r.choice(["none", "equal", "differs", "size"])
    before = [r.randint(0, 1) if pads in ("equal", "differs") else 0 for _ in range(n)]
    after = [r.randint(0, 1) if pads == "differs" else b for b in before]
    params = ["0=%d" % outputs]
    shape = tuple([channels] + [r.randint(4, 8) for _ in range(n)])
    extra = 0
    if pads == "size":
        before = after = [r.choice([-233, -234])] * n
        whole = [(shape[n - i] - 1) * stride[i] + kernel[i] for i in range(n)]  # the width first
        keys = (25, 26, 27) if n == 3 else (20, 21)
        params += ["%d=%d" % (keys[i], max(1, whole[i] - r.randint(0, 2))) for i in range(n)]
    elif min(stride) > 1:
        extra = r.randint(0, 1)
        params.append("18=%d" % extra)
        if n > 1:
            params.append("19=%d" % extra)
        if n > 2:
            params.append("20=%d" % extra)
    size = 1
    for k in kernel:
        size *= k
    params += window_keys(n, kernel, stride, [1] * n, before, after)
    params += ["5=%d" % r.randint(0, 1), "6=%d" % (outputs * channels // groups * size)] + activation(r)
    if grouped:
        params.append("7=%d" % groups)
    return [shape], params, 1


def pooling(r, n):
    shape = tuple([r.randint(1, 6)] + [r.randint(5, 13) for _ in range(n)])
    kind = r.randint(0, 1)
    form = r.choice(["global", "adaptive", "window", "window", "window", "window"])
    if form == "global":
        return [shape], ["0=%d" % kind, "4=1"], 1
    if form == "adaptive":
        keys = (8, 18, 28)
        return [shape], ["0=%d" % kind, "7=1"] + ["%d=%d" % (keys[i], r.choice([1, 2, 3, -233])) for i in range(n)], 1
    kernel = [r.randint(2, 4) for _ in range(n)]
    stride = [r.randint(1, 3) for _ in range(n)]
    before = [r.randint(0, k // 2) for k in kernel]
    after = [b if r.random() < 0.7 else r.randint(0, k // 2) for b, k in zip(before, kernel)]
    mode = r.choice([0, 0, 1, 1, 2, 3])
    if mode > 1:
        before = after = [0] * n
    names = (1, 11, 21), (2, 12, 22), (3, 13, 23), (14, 15, 16)
    params = ["0=%d" % kind, "5=%d" % mode]
    for keys, values in zip(names, (kernel, stride, before, after)):
        params += ["%d=%d" % (keys[i], values[i]) for i in range(n)]
    if kind == 1:
        params.append("6=%d" % r.randint(0, 1))
    return [shape], params, 1


def interp(r):
    kind = r.randint(1, 3)
    shape = r.choice([image(r), image(r), (r.randint(2, 5), r.randint(4, 9)), (r.randint(2, 5),)])
    if len(shape) == 2 and kind == 3:
        kind = 2
    params = ["0=%d" % kind]
    if len(shape) == 1 or r.random() < 0.5:
        params += ["3=%d" % r.randint(2, 15), "4=%d" % r.randint(2, 15)]
    else:
        params += ["1=" + real(r.choice([0.5, 1.5, 2, 3])), "2=" + real(r.choice([0.5, 1.5, 2, 3]))]
    if kind > 1 and r.random() < 0.5:
        params.append("6=1")
    return [shape], params, 1


def binary(r):
    op = r.randint(0, 11)
    if r.random() < 0.3:
        return [blob(r)], ["0=%d" % r.randint(0, 9), "1=1", "2=" + real(r.uniform(0.5, 2))], 1
    c, h, w = r.sample(range(2, 9), 3)
    pairs = [
        ((c, h, w), (c, h, w)),
        ((c, h, w), (c, 1, 1)),
        ((c, h, w), (1, h, w)),
        ((c, h, w), (c, h, 1)),
        ((c, h, w), (c, 1, w)),
        ((c, h, w), (c, h)),
        ((c, h, w), (c,)),
        ((c, h, w), (w,)),
        ((c, h, w), (1,)),
        ((h, w), (h, w)),
        ((h, w), (h,)),
        ((h, w), (w,)),
        ((h, w), (1,)),
        ((w,), (w,)),
        ((w,), (1,)),
        ((c, 2, h, w), (c, 2, h, w)),
        ((c, 2, h, w), (c,)),
        ((c, 2, h, w), (w,)),
        ((c, 2, h, w), (c, 2)),
        ((c, 2, h, w), (c, 2, h)),
    ]
    a, b = r.choice(pairs)
    if r.random() < 0.5:
        a, b = b, a
    return [a, b], ["0=%d" % op], 1


def gemm(r):
    m, n, k = r.randint(2, 6), r.randint(2, 6), r.randint(2, 6)
    trans_a, trans_b = r.randint(0, 1), r.randint(0, 1)
    constant = r.choice(["b", "b", "a", "none"])
    inputs, params = [], ["2=%d" % trans_a, "3=%d" % trans_b]
    if constant == "a":
        params += ["4=1", "7=%d" % m, "9=%d" % k]
    else:
        inputs.append((k, m) if trans_a else (m, k))
    if constant == "b":
        params += ["5=1", "8=%d" % n, "9=%d" % k]
    else:
        inputs.append((n, k) if trans_b else (k, n))
    what = r.choice(["none", "constant", "input"])
    if what == "constant":
        params = [p for p in params if p[:2] not in ("7=", "8=")] + ["7=%d" % m, "8=%d" % n]
        params += ["6=1", "10=%d" % r.choice([-1, 0, 1, 2, 3, 4])]
    elif what == "input":
        inputs.append(r.choice([(m, n), (1, n), (m, 1), (n,) if n != m else (m, n), (1,)]))
    if r.random() < 0.4:
        params += ["0=" + real(0.5), "1=" + real(r.choice([2, 1]))]
    if r.random() < 0.3:
        params.append("14=1")
    if r.random() < 0.2:
        params.append("11=1")
    return inputs, params, 1


def matmul(r):
    m, n, k = r.randint(2, 6), r.randint(2, 6), r.randint(2, 6)
    trans = r.randint(0, 1)
    b2 = (n, k) if trans else (k, n)
    a, b = r.choice(
        [
            ((m, k), b2),
            ((3, m, k), (3,) + b2),
            ((3, m, k), b2),
            ((m, k), (3,) + b2),
            ((1, m, k), (3,) + b2),
            ((k,), b2),
            ((2, 3, m, k), (2, 3) + b2),
            ((2, 3, m, k), b2),
        ]
    )
    return [a, b], ["0=%d" % trans], 1


def attention(r):
    heads, size = r.randint(1, 3), r.randint(1, 4)
    embed, steps, other = heads * size, r.randint(2, 6), r.randint(2, 6)
    form = r.choice(["self", "three", "keys", "mask"])
    params = ["0=%d" % embed, "1=%d" % heads]
    width = embed
    if form == "self":
        inputs = [(steps, embed)]
    elif form == "mask":
        inputs = [(steps, embed), (other, embed), (other, embed), (steps, other)]
        params.append("5=1")
    elif form == "keys":
        inputs = [(steps, embed), (other, embed)]
    else:
        key, value = r.randint(2, 5), r.randint(2, 5)
        inputs = [(steps, embed), (other, key), (other, value)]
        params += ["3=%d" % key, "4=%d" % value]
    return inputs, params + ["2=%d" % (embed * width)], 1


def sdpa(r):
    groups = r.randint(1, 2)
    heads, size, out = groups * r.choice([1, 1, 2]), r.randint(2, 5), r.randint(2, 5)
    steps, other = r.randint(2, 5), r.randint(2, 5)
    inputs, params = [(heads, steps, size), (groups, other, size), (groups, other, out)], []
    if r.random() < 0.5:
        inputs.append((1, steps, other) if r.random() < 0.5 else (steps, other))
        params.append("5=1")
    if r.random() < 0.5:
        params.append("6=" + real(0.3))
    return inputs, params, 1


def recurrent(r, gates, cell):
    size, out, steps = r.randint(2, 5), r.randint(2, 5), r.randint(2, 6)
    direction = r.randint(0, 2)
    directions = 2 if direction == 2 else 1
    hidden, params = out, ["0=%d" % out, "2=%d" % direction]
    if cell and r.random() < 0.3:
        hidden = out + 2
        params.append("3=%d" % hidden)
    params.append("1=%d" % (directions * gates * hidden * size))
    inputs, tops = [(steps, size)], 1
    if r.random() < 0.4:
        inputs.append((directions, out))
        if cell:
            inputs.append((directions, hidden))
        tops = len(inputs)
    return inputs, params, tops


def concat(r):
    shape = list(blob(r, r.randint(1, 4)))
    axis = r.randrange(len(shape))
    inputs = []
    for _ in range(r.randint(2, 3)):
        shape[axis] = r.randint(1, 5)
        inputs.append(tuple(shape))
    return inputs, ["0=%d" % (axis if r.random() < 0.5 else axis - len(shape))], 1


def slice_(r):
    shape = list(blob(r, r.randint(1, 4)))
    axis = r.randrange(len(shape))
    parts = [r.randint(1, 3) for _ in range(r.randint(2, 3))]
    shape[axis] = sum(parts)
    form = r.choice(["rest", "sizes", "indices", "even"])
    if form == "even":
        shape[axis] = 6
        parts = [-233] * len(parts)
    if form == "rest":
        parts = parts[:-1] + [-233]
    lists = [ints(0, parts)]
    if form == "indices":
        lists = [ints(2, [sum(parts[: i + 1]) for i in range(len(parts) - 1)])]
    return [tuple(shape)], lists + ["1=%d" % (axis if r.random() < 0.5 else axis - len(shape))], len(parts)


def crop(r):
    shape = blob(r, r.randint(1, 4))
    shape = tuple(s + 3 for s in shape)
    dims = len(shape)
    if r.random() < 0.6:
        axes = r.sample(range(dims), r.randint(1, dims))
        starts = [r.randint(0, 2) for _ in axes]
        ends = [r.choice([shape[a], -1, -233, 2147483647, s + 1 + r.randint(0, 1)]) for a, s in zip(axes, starts)]
        params = [ints(9, starts), ints(10, ends)]
        if len(axes) < dims or r.random() < 0.5:
            params.append(ints(11, [a if r.random() < 0.5 else a - dims for a in axes]))
        else:
            params = [ints(9, starts), ints(10, [-233] * dims)]
        return [shape], params, 1
    keys = {1: [(0, 3, 6)], 2: [(1, 4, 7), (0, 3, 6)], 3: [(2, 5, 8), (1, 4, 7), (0, 3, 6)]}
    keys[4] = [(2, 5, 8), (13, 14, 15), (1, 4, 7), (0, 3, 6)]
    params = []
    for k, s in zip(keys[dims], shape):
        start = r.randint(0, 2)
        params.append("%d=%d" % (k[0], start))
        if r.random() < 0.5:
            params.append("%d=%d" % (k[1], r.randint(1, s - start)))
        else:
            params += ["%d=-233" % k[1], "%d=%d" % (k[2], r.randint(0, 1))]
    return [shape], params, 1


def padding(r):
    shape = r.choice([blob(r, 1), blob(r, 2), blob(r, 3), blob(r, 4)])
    shape = tuple(s + 1 for s in shape)
    kind = r.randint(0, 2) if len(shape) in (2, 3) else 0
    params = ["4=%d" % kind, "5=" + real(r.choice([0, 0.5])), "2=%d" % r.randint(0, 2), "3=%d" % r.randint(0, 2)]
    if len(shape) > 1:
        if kind == 0 or len(shape) == 3:
            params += ["0=%d" % r.randint(0, 2), "1=%d" % r.randint(0, 2)]
    if len(shape) > 2 and kind == 0:
        params += ["7=%d" % r.randint(0, 2), "8=%d" % r.randint(0, 2)]
    return [shape], params, 1


def reshape(r):
    shape = blob(r, r.randint(1, 4))
    total = 1
    for s in shape:
        total *= s
    w = r.choice([d for d in range(1, total + 1) if total % d == 0])
    form = r.choice(["one", "two", "three", "copy", "four"])
    if form == "one":
        return [shape], ["0=-1"], 1
    if form == "two":
        return [shape], ["0=%d" % w, "1=-1"], 1
    if form == "three":
        return [shape], ["0=%d" % w, "1=1", "2=-1"], 1
    if form == "four":
        return [shape], ["0=1", "1=%d" % w, "11=-1", "2=1"], 1
    return [shape], ["0=0", "1=-1"] if len(shape) < 3 else ["0=0", "1=0", "2=-1"], 1


def permute(r):
    dims = r.randint(1, 4)
    return [blob(r, dims)], ["0=%d" % r.randrange({1: 1, 2: 2, 3: 6, 4: 24}[dims])], 1


def squeeze(r):
    shape = list(blob(r, r.randint(1, 4)))
    for i in range(len(shape)):
        if r.random() < 0.5:
            shape[i] = 1
    if r.random() < 0.5:
        axes = r.sample(range(len(shape)), r.randint(1, len(shape)))
        return [tuple(shape)], [ints(3, axes)], 1
    return [tuple(shape)], ["%d=1" % k for k in (0, 1, 2, 11) if r.random() < 0.6], 1


def reduction(r):
    shape = blob(r, r.randint(1, 4))
    params = ["0=%d" % r.randint(0, 10), "4=%d" % r.randint(0, 1), "5=1"]
    if r.random() < 0.3:
        params.append("1=1")
    else:
        axes = r.sample(range(len(shape)), r.randint(1, len(shape)))
        params += ["1=0", ints(3, [a if r.random() < 0.5 else a - len(shape) for a in axes])]
    if r.random() < 0.3:
        params.append("2=" + real(0.5))
    return [shape], params, 1


def inner_product(r):
    out = r.randint(2, 6)
    shape = r.choice([(r.randint(2, 9),), (r.randint(2, 4), r.randint(2, 6)), image(r), (1, r.randint(2, 6))])
    total = 1
    for s in shape:
        total *= s
    rows = shape[-1] if len(shape) == 2 and r.random() < 0.7 else total
    return [shape], ["0=%d" % out, "1=%d" % r.randint(0, 1), "2=%d" % (rows * out)] + activation(r), 1


def layer_norm(r):
    shape = blob(r)
    size = shape[-1]
    if len(shape) == 3 and r.random() < 0.5:
        size = shape[1] * shape[2]
    return [shape], ["0=%d" % size, "1=" + real(1e-5), "2=%d" % r.randint(0, 1)], 1


def group_norm(r):
    groups = r.randint(1, 3)
    shape = (groups * r.randint(1, 3),) + blob(r)[: r.randint(0, 2)]
    if len(shape) == 1:
        shape = (groups * 3,)
    return [shape], ["0=%d" % groups, "1=%d" % shape[0], "2=" + real(1e-5), "3=%d" % r.randint(0, 1)], 1


def normalize(r):
    shape = image(r)
    space = r.randint(0, 1)
    shared = r.randint(0, 1)
    params = ["0=%d" % space, "1=%d" % shared, "2=" + real(1e-10), "3=%d" % (1 if shared else shape[0])]
    return [shape], params + ["4=%d" % (r.randint(0, 1) if space else 1), "9=%d" % r.randint(0, 2)], 1


def channels(key, shape, more=()):
    return [shape], ["%d=%d" % (key, shape[0])] + list(more), 1


def tile(r):
    shape = blob(r, r.randint(1, 3))
    if r.random() < 0.5:
        return [shape], ["0=%d" % r.randrange(len(shape)), "1=%d" % r.randint(1, 3)], 1
    return [shape], [ints(2, [r.randint(1, 3) for _ in range(r.randint(1, len(shape)))])], 1


def shuffle(r):
    groups = r.randint(1, 3)
    return [image(r, c=groups * r.randint(1, 4))], ["0=%d" % groups, "1=%d" % r.randint(0, 1)], 1


def simple(*params):
    return lambda r: ([blob(r, r.randint(1, 4))], list(params), 1)


def of_image(*params):
    return lambda r: ([image(r)], list(params), 1)


def prior_box(r):
    sizes = r.randint(1, 2)
    params = [reals(0, [20.0 * (i + 1) for i in range(sizes)]), reals(2, [2.0, 3.0][: r.randint(1, 2)])]
    if r.random() < 0.5:
        params.append(reals(1, [40.0 * (i + 1) for i in range(sizes)]))
    params += ["7=%d" % r.randint(0, 1), "9=-233", "10=-233", "13=" + real(0.5)]
    return [image(r), (3, 30, 30)], params, 1


def unfold(r):
    kernel, pad = [r.randint(1, 3), r.randint(1, 3)], [r.randint(0, 1), r.randint(0, 1)]
    return [image(r)], ["0=0"] + window_keys(2, kernel, [r.randint(1, 2)] * 2, [1, 1], pad, pad), 1


def fold(r):
    kernel, stride, c = [2, 3], [1, 2], r.randint(1, 3)
    width, height = r.randint(5, 8), r.randint(5, 8)
    steps = ((width - kernel[0]) // stride[0] + 1) * ((height - kernel[1]) // stride[1] + 1)
    params = window_keys(2, kernel, stride, [1, 1], [0, 0], [0, 0]) + ["20=%d" % width, "21=%d" % height]
    return [(c * 6, steps)], params, 1


def grid_sample(r):
    params = ["0=%d" % r.randint(1, 3), "1=%d" % r.randint(1, 3), "2=%d" % r.randint(0, 1)]
    return [image(r), (r.randint(2, 5), r.randint(2, 5), 2)], params, 1


def deformable(r):
    c, out, k = r.randint(1, 3), r.randint(1, 4), r.randint(1, 3)
    h, w = r.randint(6, 9), r.randint(6, 9)
    oh, ow = h + 2 - k + 1, w + 2 - k + 1
    inputs = [(c, h, w), (2 * k * k, oh, ow)] + [(k * k, oh, ow)] * r.randint(0, 1)
    params = ["0=%d" % out] + window_keys(2, [k] * 2, [1] * 2, [1] * 2, [1] * 2, [1] * 2)
    return inputs, params + ["5=%d" % r.randint(0, 1), "6=%d" % (out * c * k * k)] + activation(r), 1


def dynamic_convolution(r):
    c, out, k = r.randint(1, 3), r.randint(1, 4), r.randint(1, 3)
    bias = r.randint(0, 1)
    inputs = [(c, 7, 8), (out, c, k, k)] + [(out,)] * bias
    return inputs, ["0=%d" % out, "1=%d" % k, "5=%d" % bias, "6=%d" % (out * c * k * k), "19=1"], 1


MAKERS = {
    "AbsVal": simple(),
    "BatchNorm": lambda r: channels(0, blob(r, r.randint(1, 4)), ["1=" + real(1e-5)]),
    "Bias": lambda r: channels(0, image(r)),
    "BinaryOp": binary,
    "CELU": simple("0=" + real(1.5)),
    "Clip": simple("0=" + real(0.3), "1=" + real(1)),
    "Concat": concat,
    "Convolution": lambda r: convolution(r, 2, False) if r.random() < 0.8 else dynamic_convolution(r),
    "Convolution1D": lambda r: convolution(r, 1, False),
    "Convolution3D": lambda r: convolution(r, 3, False),
    "ConvolutionDepthWise": lambda r: convolution(r, 2, True),
    "ConvolutionDepthWise1D": lambda r: convolution(r, 1, True),
    "ConvolutionDepthWise3D": lambda r: convolution(r, 3, True),
    "Crop": lambda r: crop(r) if r.random() < 0.6 else rare_layers.crop_by_expressions(r),
    "CumulativeSum": lambda r: (lambda s: ([s], ["0=%d" % r.randrange(len(s))], 1))(blob(r)),
    "Deconvolution": lambda r: deconvolution(r, 2, False),
    "Deconvolution1D": lambda r: deconvolution(r, 1, False),
    "Deconvolution3D": lambda r: deconvolution(r, 3, False),
    "DeconvolutionDepthWise": lambda r: deconvolution(r, 2, True),
    "DeconvolutionDepthWise1D": lambda r: deconvolution(r, 1, True),
    "DeconvolutionDepthWise3D": lambda r: deconvolution(r, 3, True),
    "DeformableConv2D": deformable,
    "Dropout": lambda r: ([blob(r)], r.choice([[], ["0=" + real(0.5)]]), 1),
    "ELU": simple("0=" + real(0.7)),
    "Eltwise": lambda r: (lambda s, k: ([s] * k, ["0=%d" % r.randint(0, 2)], 1))(blob(r), r.randint(2, 3)),
    "Erf": simple(),
    "Exp": lambda r: ([blob(r)], r.choice([[], ["0=" + real(2)], ["1=" + real(0.5), "2=" + real(1)]]), 1),
    "ExpandDims": lambda r: (lambda s: ([s], [ints(3, [r.randint(-len(s) - 1, len(s))])], 1))(blob(r)),
    "Flatten": simple(),
    "Flip": lambda r: (lambda s: ([s], [ints(0, [r.randrange(len(s))])], 1))(blob(r)),
    "Fold": fold,
    "GELU": lambda r: ([blob(r)], ["0=%d" % r.randint(0, 1)], 1),
    "GLU": lambda r: (lambda s, a: ([tuple(2 * d for d in s)], ["0=%d" % (a % len(s))], 1))(blob(r), r.randint(0, 2)),
    "GRU": lambda r: recurrent(r, 3, False),
    "Gemm": gemm,
    "GridSample": grid_sample,
    "GroupNorm": group_norm,
    "HardSigmoid": simple("0=" + real(1 / 6), "1=" + real(0.5)),
    "HardSwish": simple("0=" + real(1 / 6), "1=" + real(0.5)),
    "InnerProduct": inner_product,
    "InstanceNorm": lambda r: channels(0, image(r), ["1=" + real(1e-5), "2=%d" % r.randint(0, 1)]),
    "Interp": lambda r: interp(r) if r.random() < 0.7 else rare_layers.interp_by_expressions(r),
    "LRN": lambda r: ([image(r)], ["0=%d" % r.randint(0, 1), "1=%d" % r.choice([3, 5]), "2=" + real(0.3)], 1),
    "LSTM": lambda r: recurrent(r, 4, True),
    "LayerNorm": layer_norm,
    "Log": lambda r: ([blob(r)], r.choice([[], ["0=" + real(2)], ["1=" + real(0.5), "2=" + real(1)]]), 1),
    "MVN": lambda r: ([image(r)], ["0=%d" % r.randint(0, 1), "1=%d" % r.randint(0, 1), "2=" + real(1e-8)], 1),
    "MatMul": matmul,
    "Mish": simple(),
    "MultiHeadAttention": attention,
    "Noop": simple(),
    "Normalize": normalize,
    "PReLU": lambda r: (lambda s: ([s], ["0=%d" % r.choice([1, s[0]])], 1))(blob(r)),
    "Padding": padding,
    "Permute": permute,
    "PixelShuffle": lambda r: ([image(r, c=4 * r.randint(1, 3))], ["0=2", "1=%d" % r.randint(0, 1)], 1),
    "Pooling": lambda r: pooling(r, 2),
    "Pooling1D": lambda r: pooling(r, 1),
    "Pooling3D": lambda r: pooling(r, 3),
    "Power": lambda r: ([blob(r)], ["0=" + real(r.choice([1, 2])), "1=" + real(0.5), "2=" + real(1)], 1),
    "PriorBox": prior_box,
    "RMSNorm": layer_norm,
    "RNN": lambda r: recurrent(r, 1, False),
    "ReLU": lambda r: ([blob(r)], r.choice([[], ["0=" + real(0.1)]]), 1),
    "Reduction": reduction,
    "Reorg": lambda r: ([(r.randint(1, 3), 4, 6)], ["0=2", "1=%d" % r.randint(0, 1)], 1),
    "Reshape": lambda r: reshape(r) if r.random() < 0.5 else rare_layers.reshape_by_expressions(r),
    "SDPA": sdpa,
    "SELU": simple(),
    "Scale": lambda r: channels(0, blob(r), ["1=%d" % r.randint(0, 1)]),
    "Shrink": simple("0=" + real(0), "1=" + real(0.5)),
    "ShuffleChannel": shuffle,
    "Sigmoid": simple(),
    "Slice": slice_,
    "Softmax": lambda r: (lambda s: ([s], ["0=%d" % r.randint(-len(s), len(s) - 1), "1=1"], 1))(blob(r)),
    "Softplus": simple(),
    "Split": lambda r: ([blob(r)], [], 2),
    "Squeeze": squeeze,
    "Swish": simple(),
    "TanH": simple(),
    "Threshold": simple("0=" + real(0.8)),
    "Tile": tile,
    "UnaryOp": lambda r: ([blob(r)], ["0=%d" % r.randint(0, 19)], 1),
    "Unfold": unfold,
    **rare_layers.MAKERS,
}


def param_text(kind, inputs, params, tops):
    """The text of a .param file whose inputs are in0 ... and whose layer's outputs are out0 ..."""
    lines = []
    for i, shape in enumerate(inputs):
        keys = {1: (0,), 2: (1, 0), 3: (2, 1, 0), 4: (2, 11, 1, 0)}[len(shape)]
        sizes = " ".join("%d=%d" % pair for pair in zip(keys, shape))
        lines.append("Input in%d 0 1 in%d %s" % (i, i, sizes))
    names = ["in%d" % i for i in range(len(inputs))] + ["out%d" % i for i in range(tops)]
    lines.append("%s layer %d %d %s %s" % (kind, len(inputs), tops, " ".join(names), " ".join(params)))
    return "7767517\n%d %d\n%s\n" % (len(lines), len(names), "\n".join(lines))
