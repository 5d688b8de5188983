"""Draws the text of random calls, for composites_test.py: arguments over all parameters of a
function, present or absent, by position or by name, and in about a third of the calls some of them
wrong: another type, another size, another rank.

T(shape, dtype[, values]) stands for a tensor that the network computes, C(data, dtype) for a
constant."""

import re

JUNK = """None 'x' 1.5 -1 0 True () [2] [1,2,3] 2 -3 (1,-1) [None] [1.5] T((2,),'float32')""".split()
FLOATS = ["float32"] * 6 + ["float64"]
OTHER = ["float64", "int64", "int32", "bool", "complex64", "uint8", "bfloat16"]
ALL = "float32 float64 float16 bfloat16 int64 int32 int16 int8 uint8 bool complex64 complex128".split()

GENERATORS = {}


def family(name):
    def add(generator):
        GENERATORS[name] = generator
        return generator

    return add


class Draw:
    """Random choices for one call. `bad`: some of its arguments are to be wrong."""

    def __init__(self, r):
        self.r = r
        self.bad = r.random() < 0.4

    def fires(self, p=0.1):
        return self.bad and self.r.random() < p

    def odds(self, p):
        return self.r.random() < p

    def one(self, *choices):
        return self.r.choice(choices)

    def int(self, low, high):
        return self.r.randint(low, high)

    def off(self, good, *bad):
        """`good`, or one of `bad` in a call that is to be wrong."""
        return self.r.choice(bad) if self.fires(0.15) else good

    def size(self, low=1, high=4):
        return 0 if self.odds(0.015) else self.r.randint(low, high)

    def shape(self, low=0, high=4, largest=4):
        return [self.size(1, largest) for _ in range(self.r.randint(low, high))]

    def damaged(self, shape):
        shape, how = list(shape), self.r.randrange(6)
        if how == 0 and shape:
            shape[self.r.randrange(len(shape))] += self.one(1, 2)
        elif how == 1 and shape:
            shape[self.r.randrange(len(shape))] = 0
        elif how == 2:
            shape = shape[1:]
        elif how == 3:
            shape = shape[:-1]
        elif how == 4:
            shape = [self.one(1, 2)] + shape
        elif shape:
            shape[self.r.randrange(len(shape))] = 1
        return shape

    def T(self, shape, dtype=None, values=None):
        if self.fires(0.12):
            shape = self.damaged(shape)
        dtype = dtype or self.r.choice(FLOATS[:6])
        if self.fires(0.05):
            dtype = self.r.choice(OTHER)
        return "T(%r, %r%s)" % (tuple(shape), dtype, "" if values is None else ", %r" % values)

    def data(self, shape, dtype, low=-5, high=9):
        if not shape:
            if dtype == "bool":
                return self.odds(0.5)
            if dtype.startswith("complex"):
                return self.r.randint(low, high)
            return (
                self.r.randint(max(low, 0) if dtype == "uint8" else low, high)
                if "int" in dtype
                else round(self.r.uniform(low, high), 2)
            )
        return [self.data(shape[1:], dtype, low, high) for _ in range(shape[0])]

    def C(self, shape, dtype="float32", low=-5, high=9):
        return "C(%r, %r)" % (self.data(list(shape), dtype, low, high), dtype)

    def dim(self, rank):
        rank = max(rank, 1)
        return self.off(self.r.randint(-rank, rank - 1), rank, -rank - 1)

    def like(self, shape):
        """A shape that broadcasts with `shape`."""
        out = [1 if self.odds(0.25) else d for d in shape]
        if self.odds(0.25):
            out = out[self.r.randint(0, len(out)) :]
        return out

    def ints(self, n, choices, list_odds=0.4):
        """One int for all dimensions, or a tuple of n; wrong: another number of them."""
        if not self.odds(list_odds):
            return repr(self.r.choice(choices))
        n = self.off(n, n + 1, max(n - 1, 0), 0)
        made = [self.r.choice(choices) for _ in range(n)]
        return repr(self.one(tuple, list)(made))

    def junk(self, text):
        """Something wrong in the place of an argument, 'name=value' or 'value'."""
        name = re.match(r"\w+=", text)
        return (name.group() if name else "") + self.r.choice(JUNK)

    def call(self, function, required, optional=(), absent=0.55, named=()):
        """function(required..., some of optional, named...). `optional`: (name, [texts]) in the
        order of the signature; `named`: texts such as 'dim=1'."""
        texts = [self.junk(t) if self.fires(0.05) else t for t in required]
        if self.fires(0.03) and texts:
            texts.pop()
        positional = self.odds(0.25)
        for name, choices in optional:
            if self.odds(absent):
                positional = False
                continue
            value = self.r.choice(JUNK) if self.fires(0.12) else self.r.choice(choices)
            texts.append(value if positional else "%s=%s" % (name, value))
        texts += [t for t in named if t and not self.fires(0.05)]
        if self.fires(0.02):
            texts.append("bogus=1")
        return "%s(%s)" % (function, ", ".join(texts))


BOOLS = ["True", "False"]
REDUCTIONS = ["'mean'", "'sum'", "'none'"]


def made(d, shape, dtype=None, constant=0.4):
    """A tensor of the network, or a constant."""
    dtype = dtype or d.one("float32", "float32", "float32", "int64", "float64", "int32")
    if d.odds(constant):
        return d.C(d.damaged(shape) if d.fires() else shape, dtype)
    return d.T(shape, dtype, 3 if "int" in dtype else None)
