"""Makers for single_layers.py: layers that few networks have, and sizes that are given as
expressions."""

from layer_values import blob, image, ints, real


def leaf(r, value, blobs):
    """`value` as a number, or as a size of one of `blobs` and what is missing."""
    if r.random() < 0.5:
        return "%d" % value
    k = r.randrange(len(blobs))
    shape = blobs[k]
    letters = {1: "w", 2: "hw", 3: "chw", 4: "cdhw"}[len(shape)]
    letter = r.choice("whdc")
    size = shape[letters.index(letter)] if letter in letters else 1
    if size == value:
        return "%d%s" % (k, letter)
    return "%s(%d%s,%d)" % ("+" if value > size else "-", k, letter, abs(value - size))


def expression(r, value, blobs, depth=2):
    """An expression of ncnn's for a value that is not negative. ncnn computes a Reshape's with
    sizes of 0 first, so nothing is divided by a size."""
    if depth == 0 or r.random() < 0.3:
        return leaf(r, value, blobs)

    def part(v):
        return expression(r, v, blobs, depth - 1) if v >= 0 else leaf(r, v, blobs)

    k = r.randint(1, 4)
    forms = [
        lambda: "+(%s,%s)" % (part(value - k), part(k)),
        lambda: "-(%s,%s)" % (part(value + k), part(k)),
        lambda: "*(%s,%s)" % (part(value), part(1)),
        lambda: "//(%s,%d)" % (part(value * k + r.randrange(k)), k),
        lambda: "max(%s,%s)" % (part(value), part(value - k)),
        lambda: "min(%s,%s)" % (part(value + k), part(value)),
        lambda: "neg(%s)" % part(-value),
        lambda: "abs(%s)" % part(-value),
        lambda: "floor(/(%s,2))" % part(2 * value + 1),
        lambda: "ceil(*(%s,0.5))" % part(2 * value - 1),
        lambda: "trunc(%.1f)" % (value + 0.5),
        lambda: "round(%.2f)" % (value + 0.25),
        lambda: "sqrt(square(%s))" % part(value),
        lambda: "fmod(%s,%d)" % (part(2 * value + k), value + k),
        lambda: "remainder(%s,%d)" % (part(2 * value + k), value + k),
        lambda: "*(%s,sign(%s))" % (part(value), part(k)),
        # Bits of whole numbers alone.
        lambda: "and(%s,%d)" % (leaf(r, value + 4096, blobs), 4095),
        lambda: "or(%s,0)" % leaf(r, value, blobs),
        lambda: "xor(%s,0)" % leaf(r, value, blobs),
        lambda: "lshift(%s,0)" % leaf(r, value, blobs),
        lambda: "rshift(%s,2)" % leaf(r, 4 * value + r.randrange(4), blobs),
    ]
    return r.choice(forms)()


def expressions(r, key, values, blobs):
    """A parameter: a list of expressions with these values; a negative one stands as it is."""
    while True:
        items = [expression(r, v, blobs) if v >= 0 else "%d" % v for v in values]
        text = ",".join(items)
        if len(text) < 250:
            return '%d="%s"' % (key, text)


def some_blobs(r, shape):
    return [shape] + [blob(r, r.randint(1, 4)) for _ in range(r.choice([0, 0, 1]))]


def reshape_by_expressions(r):
    shape = blob(r, r.randint(1, 4))
    rest = 1
    for s in shape:
        rest *= s
    sizes = []
    for _ in range(r.randint(0, 3)):
        sizes.append(r.choice([d for d in range(1, rest + 1) if rest % d == 0]))
        rest //= sizes[-1]
    sizes.append(rest)
    r.shuffle(sizes)
    if r.random() < 0.4:
        sizes[r.randrange(len(sizes))] = -1
    blobs = some_blobs(r, shape)
    return blobs, [expressions(r, 6, sizes, blobs)], 1


def crop_by_expressions(r):
    shape = tuple(s + 3 for s in blob(r, r.randint(1, 4)))
    blobs = some_blobs(r, shape)
    axes = r.sample(range(len(shape)), r.randint(1, len(shape)))
    starts = [r.randint(0, 2) for _ in axes]
    ends = [r.choice([shape[a], -1, -233, s + 1]) for a, s in zip(axes, starts)]
    axes = [a if r.random() < 0.7 else a - len(shape) for a in axes]
    return blobs, [expressions(r, key, values, blobs) for key, values in ((19, starts), (20, ends), (21, axes))], 1


def interp_by_expressions(r):
    shape = r.choice([image(r), image(r), (r.randint(2, 5), r.randint(4, 9)), (r.randint(2, 5),)])
    blobs = some_blobs(r, shape)
    sizes = [r.randint(2, 15) for _ in range(r.randint(1, 2) if len(shape) == 2 else 2)]
    return blobs, ["0=%d" % r.randint(1, 2 if len(shape) == 2 else 3), expressions(r, 9, sizes, blobs)], 1


def copy_to(r):
    shape = tuple(s + 2 for s in blob(r, r.randint(1, 4)))
    dims = len(shape)
    source = tuple(r.randint(1, s) for s in shape)
    offsets = [r.randint(0, s - n) for s, n in zip(shape, source)]
    if r.random() < 0.5:
        keys = {1: (0,), 2: (1, 0), 3: (2, 1, 0), 4: (2, 13, 1, 0)}[dims]
        return [shape, source], ["%d=%d" % pair for pair in zip(keys, offsets)], 1
    axes = r.sample(range(dims), r.randint(1, dims))
    if r.random() < 0.3:
        axes = list(range(dims))
    source = tuple(n if d in axes else s for d, (s, n) in enumerate(zip(shape, source)))
    starts = [o if r.random() < 0.7 else o - shape[a] for a, o in ((a, offsets[a]) for a in axes)]
    params = [ints(9, starts)]
    if axes != list(range(dims)) or r.random() < 0.5:
        params.append(ints(11, [a if r.random() < 0.5 else a - dims for a in axes]))
    return [shape, source], params, 1


def einsum(r):
    if r.random() < 0.1:
        size = r.randint(2, 6)
        return [(size, size)], [ints(0, [ord(c) for c in "ii"])], 1
    result = "ijkl"[: r.randint(1, 4)]
    letters = "ijklmn"[: len(result) + r.randint(0, 2)]
    sizes = {letter: r.randint(2, 4) for letter in letters}
    while True:
        terms = [r.sample(letters, r.randint(1, min(4, len(letters)))) for _ in range(r.randint(1, 3))]
        if r.random() < 0.1 and len(terms[0]) < 4:
            terms[0].append(r.choice(terms[0]))  # a diagonal
        if set(result) <= set(sum(terms, [])):
            break
    equation = ",".join("".join(term) for term in terms) + "->" + result
    return [tuple(sizes[c] for c in term) for term in terms], [ints(0, [ord(c) for c in equation])], 1


def rotary_embed(r):
    heads, steps, half = r.randint(1, 4), r.randint(2, 6), r.randint(2, 6)
    table = (steps + r.choice([0, 0, 2]), half)
    return [(heads, steps, 2 * half), table, table], r.choice([[], ["0=0"], ["0=1"]]), 1


def roi_align(r):
    params = ["0=%d" % r.randint(1, 5), "1=%d" % r.randint(1, 5), "2=" + real(r.uniform(4, 12))]
    # An aligned box may have a negative size, for which ncnn cannot compute how many points it
    # looks at.
    aligned = r.randint(0, 1)
    return [image(r), (4,)], params + ["3=%d" % r.randint(aligned, 3), "4=%d" % aligned, "5=1"], 1


def proposal(r):
    h, w = r.randint(2, 6), r.randint(2, 6)
    return [(18, h, w), (36, h, w), (3,)], r.choice([[], ["2=%d" % r.randint(10, 40), "5=0"]]), r.randint(1, 2)


def requantize(r):
    shape = blob(r, r.randint(1, 4))
    channels = 1 if len(shape) == 1 else shape[0]
    params = ["0=%d" % r.choice([1, channels]), "1=%d" % r.choice([1, channels]), "2=%d" % r.choice([0, 1, channels])]
    return [shape], params + r.choice([[], ["3=1"]]), 1


def spectrogram(r):
    n = r.choice([4, 8, 9, 16])
    params = ["0=%d" % n, "1=%d" % r.randint(0, 2), "4=%d" % r.choice([0, 0, 1, 2]), "5=%d" % r.randint(0, 1)]
    if r.random() < 0.7:
        params.append("2=%d" % r.randint(1, n))
    if r.random() < 0.5:
        params.append("3=%d" % r.randint(n // 2, n))
    params += ["6=%d" % r.randint(0, 2), "7=%d" % r.randint(0, 2), "8=%d" % r.randint(0, 1)]
    return [(r.randint(20, 50),)], params, 1


def inverse_spectrogram(r):
    n = r.choice([8, 9, 12, 16])
    length = r.choice([n, n, n - 2])
    center = r.randint(0, 1) if length == n else 1
    params = ["0=%d" % n, "1=1", "2=%d" % r.randint(1, length - 2), "3=%d" % length, "5=%d" % center]
    params += ["4=%d" % r.choice([0, 0, 1 if center else 2, 2]), "7=%d" % r.randint(0, 2)]
    return [(n // 2 + 1, r.randint(2, 6), 2)], params, 1


def diag(r):
    shape = blob(r, r.randint(1, 2))
    most = 3 if len(shape) == 1 else min(shape) - 1
    return [shape], ["0=%d" % r.randint(-most, most)], 1


MAKERS = {
    "BNLL": lambda r: ([blob(r, r.randint(1, 4))], [], 1),
    "CopyTo": copy_to,
    "DeepCopy": lambda r: ([blob(r, r.randint(1, 4))], [], 1),
    "Diag": diag,
    "Einsum": einsum,
    "InverseSpectrogram": inverse_spectrogram,
    "Proposal": proposal,
    "ROIAlign": roi_align,
    "Requantize": requantize,
    "RotaryEmbed": rotary_embed,
    "Spectrogram": spectrogram,
    "StatisticsPooling": lambda r: ([blob(r, r.randint(1, 4))], ["0=%d" % r.randint(0, 1)], 1),
}


def input_type(kind):
    """The type of the inputs that a layer reads."""
    return "int32" if kind == "Requantize" else "float32"


def has_unknown_constant(kind, params):
    """Whether the graph computes with a constant whose numbers it does not have."""
    return kind in ("Spectrogram", "InverseSpectrogram") and "4=0" not in params
