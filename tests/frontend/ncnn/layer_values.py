"""Values of .param files: random shapes, and parameters as ncnn writes them."""


def image(r, c=None, least=4, most=12):
    return (c or r.randint(1, 8), r.randint(least, most), r.randint(least, most))


def blob(r, dims=None):
    dims = dims or r.randint(1, 3)
    return tuple(r.randint(2, 7) for _ in range(dims))


def real(value):
    return "%.6e" % value


def reals(key, values):
    return "-%d=%s" % (23300 + key, ",".join([str(len(values))] + [real(v) for v in values]))


def ints(key, values):
    return "-%d=%s" % (23300 + key, ",".join([str(len(values))] + [str(v) for v in values]))


def activation(r, key=9):
    kind = r.choice([0, 0, 1, 2, 3, 4, 5, 6])
    values = {2: [0.1], 3: r.choice([[0.0, 6.0], [-1.0, 1.0]]), 6: [1 / 6, 0.5]}.get(kind)
    return ["%d=%d" % (key, kind)] * (kind > 0) + ([reals(key + 1, values)] if values else [])


def window_keys(n, kernel, stride, dilation, before, after):
    """Parameters of a convolution over n dimensions; lists have the width first."""
    names = (1, 11, 21), (3, 13, 23), (2, 12, 22), (4, 14, 24), (15, 16, 17)
    out = []
    for keys, values in zip(names, (kernel, stride, dilation, before, after)):
        out += ["%d=%d" % (keys[i], values[i]) for i in range(n)]
    return out
