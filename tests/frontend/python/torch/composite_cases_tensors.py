"""Indexing, views, joining and splitting, for composites_test.py. Where a tensor is a constant its
values are compared too."""
from composite_draw import ALL, family, made


def one_index(d, size):
    """The text of an index into a dimension of `size`, or into more of them."""
    at = lambda: d.off(d.int(-size, size - 1) if size else 0, size, -size - 1)
    what = d.one("int", "int", "slice", "slice", "slice", "list", "tensor", "tensor", "mask", "bool")
    if what == "int":
        return d.one(str(at()), "C(%d, 'int64')" % at() if d.odds(0.2) else str(at()))
    if what == "slice":
        bound = lambda: d.one("", str(d.int(-size - 1, size + 1)))
        step = d.one("", "", ":", ":2", ":3", d.off(":1", ":-1", ":0"))
        return "%s:%s%s" % (bound(), bound(), step)
    shape = d.one([1], [2], [3], [], [2, 2], [0] if d.odds(0.1) else [2])
    if what == "list":
        return repr([at() for _ in range(d.int(1, 3))]) if d.odds(0.8) else repr([[at()], [at()]])
    if what == "tensor":
        kind = d.one(
            "int64", "int64", "int64", "int32", "int8" if d.fires() else "int64", "float32" if d.fires() else "int64"
        )
        if d.odds(0.3):
            return d.T(shape, kind, max(size, 1))
        return "C(%r, %r)" % (nested(shape, at), kind)
    if what == "mask":
        return d.C([d.off(size, size + 1)], "bool") if d.odds(0.7) else repr([d.odds(0.5) for _ in range(size)])
    return d.one("True", "False", "None")


def nested(shape, item):
    return item() if not shape else [nested(shape[1:], item) for _ in range(shape[0])]


def index(d, shape):
    """The text between the brackets."""
    if d.odds(0.06):
        return d.C(shape[: d.int(1, max(len(shape), 1))], "bool")
    parts = []
    for size in shape[: d.int(0, len(shape))]:
        if d.odds(0.15):
            parts.append("None")
        parts.append(one_index(d, size))
    if d.odds(0.25):
        parts.insert(d.int(0, len(parts)), "...")
    if d.odds(0.1):
        parts.append("None")
    if d.fires(0.1):
        parts.append(d.one("0", "...", "'x'", "1.5", ":", "(0, 1)"))
    return ", ".join(parts) + ("," if len(parts) == 1 and d.odds(0.2) else "") or "..."


@family("indexing")
def _(d):
    shape = d.shape(0, 4)
    return "%s[%s]" % (made(d, shape, constant=0.5), index(d, shape))


@family("assignment by index")
def _(d):
    shape = d.shape(0, 3)
    x, at = made(d, shape, constant=0.6), index(d, shape)
    other = d.one([], [1], shape[1:], shape[2:], shape, [1] + shape[1:])
    value = d.one("1", "0.5", "True", "-2", made(d, other, constant=0.7), made(d, other, constant=0.7))
    if d.fires(0.1):
        value = d.one("'x'", "None", "[1, 2]", "1j")
    # Items of a dict of one entry: an assignment has no value of its own.
    return "(lambda x: [x.__setitem__(I[%s], %s), x][1])(%s)" % (at, value, x)


@family("views")
def _(d):
    shape, what = d.shape(0, 4), d.int(0, 11)
    x, rank = made(d, shape), len(shape)
    count = 1
    for v in shape:
        count *= v
    if what == 0:
        size = d.shape(0, 3)
        stride = [d.off(d.int(0, 3), -1) for _ in range(d.off(len(size), len(size) + 1))]
        offset = [str(d.off(d.int(0, 2), -1))] if d.odds(0.4) else []
        return d.call("torch.as_strided", [x, repr(tuple(size)), repr(tuple(stride))] + offset)
    if what == 1:
        return d.call(x + ".unfold", [str(d.dim(rank)), str(d.off(d.int(1, 3), 0, -1)), str(d.off(d.int(1, 3), 0, -1))])
    if what in (2, 3):
        new = list(shape)
        d.r.shuffle(new)
        if len(new) > 1 and d.odds(0.5):
            new = [new[0] * new[1]] + new[2:]
        if new and d.odds(0.4):
            new[d.r.randrange(len(new))] = -1
        if d.odds(0.2):
            new.insert(d.int(0, len(new)), 1)
        if d.fires(0.2):
            new = d.one(new + [2], [-1, -1], new[:-1])
        chain = d.one("", ".transpose(0, -1)", "[::2]") if rank > 1 else ""
        return d.call(
            x + chain + d.one(".view", ".reshape"),
            [repr(tuple(new))] if new and d.odds(0.5) else [str(v) for v in new] or ["()"],
        )
    if what == 4:
        return d.call(
            d.one(x + ".flatten", x + ".flatten"),
            [],
            [("start_dim", [str(d.dim(rank))]), ("end_dim", [str(d.dim(rank))])],
        )
    if what == 5:
        at = d.dim(rank)
        size = shape[at] if -rank <= at < rank and rank else 1
        sizes = d.one([size], [1, size], [-1, 1], [size, -1], d.off([size, 1], [size + 1], [-1, -1], []))
        return d.call(x + ".unflatten", [str(at), repr(tuple(sizes))])
    if what == 6:
        order = list(range(rank))
        d.r.shuffle(order)
        order = [v - rank if d.odds(0.2) else v for v in order]
        if d.fires(0.2):
            order = d.one(order[:-1], order + [0], [0] * rank)
        return (
            d.call("torch.permute", [x, repr(tuple(order))])
            if d.odds(0.5)
            else d.call(x + ".permute", [str(v) for v in order])
        )
    if what == 7:
        new = [v if v != 1 else d.int(1, 3) for v in shape]
        new = [d.int(1, 2) for _ in range(d.one(0, 0, 1))] + [-1 if d.odds(0.2) else v for v in new]
        if d.fires(0.25):
            new = d.one(new[1:], [-1] + new, [v + 1 for v in new])
        return d.call(x + ".expand", [repr(tuple(new))] if d.odds(0.5) else [str(v) for v in new] or ["()"])
    if what == 8:
        name = d.one("squeeze", "unsqueeze", "squeeze")
        dims = [str(d.dim(rank + (name == "unsqueeze")))] if name == "unsqueeze" or d.odds(0.6) else []
        if name == "squeeze" and d.odds(0.15):
            dims = [repr(tuple(d.dim(rank) for _ in range(2)))]
        return d.call("torch." + name, [x] + dims) if d.odds(0.5) else d.call("%s.%s" % (x, name), dims)
    if what == 9:
        a, b = (
            repr(d.dim(rank)) if d.odds(0.6) else repr(tuple(d.dim(rank) for _ in range(d.int(1, 2)))) for _ in "ab"
        )
        return d.call(d.one("torch.movedim", "torch.moveaxis"), [x, a, b])
    if what == 10:
        return d.call(
            d.one("torch.diagonal", "torch.diag_embed"),
            [x],
            [("offset", ["0", "1", "-1", "5"]), ("dim1", [str(d.dim(rank))]), ("dim2", [str(d.dim(rank))])],
        )
    return d.call(
        d.one("torch.narrow", "torch.narrow"),
        [x, str(d.dim(rank)), str(d.off(d.int(0, 2), -1, 5)), str(d.off(d.int(0, 3), -1))],
    )


@family("joining")
def _(d):
    shape, what = d.shape(0 if d.odds(0.1) else 1, 4), d.one(
        "cat",
        "cat",
        "stack",
        "hstack",
        "vstack",
        "dstack",
        "column_stack",
        "block_diag",
        "cartesian_prod",
        "meshgrid",
        "broadcast_tensors",
        "repeat",
        "tile",
        "repeat_interleave",
        "roll",
        "flip",
        "rot90",
    )
    rank = len(shape)
    dim = d.dim(rank + (what == "stack"))
    parts, kind = [], d.one(None, None, d.one(*ALL))
    constant = d.one(0, 0, 1)
    for _ in range(d.off(d.int(1, 3), 0)):
        one = list(shape)
        if what == "cat" and rank and -rank <= dim < rank:
            one[dim] = d.size(0, 4)
        if what in ("cartesian_prod", "meshgrid"):
            one = [d.size(1, 3)]
        if what == "broadcast_tensors":
            one = d.like(shape)
        if what == "cat" and d.odds(0.05):
            one = [0]
        parts.append(made(d, one, kind or d.one("float32", "float32", "int64"), constant))
    listed = "%s" % ", ".join(parts)
    if what in ("cat", "stack"):
        return d.call("torch." + what, [d.one("[%s]", "(%s,)" if parts else "(%s)") % listed], [("dim", [str(dim)])])
    if what in ("hstack", "vstack", "dstack", "column_stack"):
        return d.call("torch." + what, ["[%s]" % listed])
    if what in ("block_diag", "cartesian_prod", "broadcast_tensors", "meshgrid"):
        return d.call(
            "torch." + what,
            parts,
            named=["indexing=%s" % d.off(d.one("'ij'", "'xy'"), "'x'")] if what == "meshgrid" and d.odds(0.6) else [],
        )
    x = made(d, shape)
    if what in ("repeat", "tile"):
        times = [d.off(d.int(0, 3), -1) for _ in range(max(rank + d.one(0, 0, 1, -1), 0))]
        return d.call("%s.%s" % (x, what), [repr(tuple(times))] if d.odds(0.5) else [str(v) for v in times] or ["()"])
    if what == "repeat_interleave":
        size = shape[dim] if rank and -rank <= dim < rank else 1
        repeats = d.one(
            "2", "0", str(d.off(3, -1)), "C(%r, 'int64')" % [d.int(0, 3) for _ in range(size)], "C([2], 'int64')"
        )
        return d.call(
            "torch.repeat_interleave",
            [x, repeats],
            [("dim", [str(dim), "None"]), ("output_size", [str(2 * size)] if repeats == "2" else ["None"])],
            0.4,
        )
    if what == "roll":
        k = d.int(1, 2)
        return d.call(
            "torch.roll",
            [x, d.ints(k, [1, -1, 2], 0.5)],
            [("dims", [repr(tuple(d.dim(rank) for _ in range(k))), str(dim)])],
        )
    if what == "flip":
        return d.call("torch.flip", [x, repr(tuple(d.dim(rank) for _ in range(d.int(0, 2))))])
    return d.call(
        "torch.rot90", [x], [("k", ["1", "2", "-1", "3"]), ("dims", [repr((d.dim(rank), d.dim(rank))), "(0, 1)"])]
    )


@family("splitting")
def _(d):
    shape = d.shape(0 if d.odds(0.1) else 1, 4, 7)
    rank, dim = len(shape), d.dim(len(shape))
    size = shape[dim] if rank and -rank <= dim < rank else 1
    what = d.one("split", "split", "chunk", "tensor_split", "unbind", "hsplit", "vsplit", "dsplit")
    count = str(d.off(d.int(1, 5), 0, -1))
    points = sorted(d.int(-2 if d.odds(0.2) else 0, size + 1) for _ in range(d.int(0, 3)))
    cuts = []
    left = size
    while left > 0:
        cuts.append(d.int(0, left))
        left -= cuts[-1]
    if d.fires(0.2):
        cuts.append(1)
    x, at = made(d, shape), [("dim", [str(dim)])]
    if what == "split":
        return d.call("torch.split", [x, d.one(count, repr(cuts), repr(tuple(cuts)))], at, 0.3)
    if what == "tensor_split":
        return d.call(
            "torch.tensor_split",
            [x, d.one(count, repr(points), repr(tuple(points)), "C(%r, 'int64')" % points)],
            at,
            0.3,
        )
    if what == "unbind":
        return d.call("torch.unbind", [x], at, 0.3)
    if what == "chunk":
        return d.call("torch.chunk", [x, count], at, 0.3)
    return d.call("torch." + what, [x, d.one(count, repr(points))])
