#!/usr/bin/env python3
"""The rules of live/outputs.py against torch: random calls, right and wrong ones, recorded with the
rules and without them. Graphs, errors, types and memory orders must be the same."""
import os
import random
import sys
import unittest
import warnings

import support

support.require("torch")
support.stage()
import torch  # noqa: E402
import torch.nn.functional as F  # noqa: E402

import cobra_latency  # noqa: E402
from cobra_latency.live import outputs  # noqa: E402

warnings.simplefilter("ignore")
CALLS = int(os.environ.get("CALLS", 30))  # of each function
DTYPES = ("float32", "float32", "float32", "float64", "bfloat16", "int64")


def sizes(draw, rank=None, most=4):
    return [draw.randint(1, most) for _ in range(draw.randint(1, 4) if rank is None else rank)]


def either(draw, right, *wrong):
    """Mostly what is right."""
    return right if draw.random() < 0.75 else draw.choice(wrong)


def broadcast(draw, shape):
    """A shape that fits, or one that does not."""
    kept = [1 if draw.random() < 0.3 else size for size in shape[draw.randint(0, len(shape)) :]]
    return either(draw, kept, [*kept, 2], [size + 1 for size in kept])


# Each makes a call: the function, and the shapes of its tensors.


def unary(name, of=F):
    def make(draw):
        return getattr(of, name), [sizes(draw)]

    return make


def binary(function):
    def make(draw):
        shape = sizes(draw)
        if draw.random() < 0.3:
            number = draw.choice((2, 0.5, True))
            return lambda x: function(x, number), [shape]
        shapes = [shape, broadcast(draw, shape)]
        return function, shapes if draw.random() < 0.5 else shapes[::-1]

    return make


def dropout(draw):
    p, training = either(draw, draw.random(), 0.0, 1.0, 1.5), draw.random() < 0.5
    return lambda x: F.dropout(x, p, training), [sizes(draw)]


def clamp(draw):
    bounds = draw.choice(({"min": 0}, {"max": 1.5}, {"min": -1.0, "max": 1}, {}, {"min": True}))
    return lambda x: x.clamp(**bounds), [sizes(draw)]


def hardtanh(draw):
    least, most = either(draw, (-1.0, 1.0), (0, 6), (1.0, -1.0), (0.0, 0.0))
    return lambda x: F.hardtanh(x, least, most), [sizes(draw)]


def gelu(draw):
    how = either(draw, "none", "tanh", "fast")
    return lambda x: F.gelu(x, approximate=how), [sizes(draw)]


def softmax(function):
    def make(draw):
        shape = sizes(draw)
        dim = either(draw, draw.randrange(-len(shape), len(shape)), len(shape))
        dtype = draw.choice((None, None, torch.float32, torch.int64))
        return lambda x: function(x, dim, dtype=dtype), [shape]

    return make


def conv(rank, transposed=False):
    name = f"conv_transpose{rank}d" if transposed else f"conv{rank}d"

    def make(draw):
        groups, each = draw.choice((1, 1, 2)), draw.randint(1, 3)
        channels, width = groups * each, groups * draw.randint(1, 3)
        options = {"stride": draw.randint(1, 2), "dilation": draw.randint(1, 2), "groups": groups}
        options["padding"] = either(draw, draw.randint(0, 2), *(["same", "valid", -1] if not transposed else [1]))
        if transposed:
            options["output_padding"] = either(draw, 0, 1, 2)
        kernel = [draw.randint(1, 3) for _ in range(rank)]
        weight = [channels, width // groups, *kernel] if transposed else [width, each, *kernel]
        image = [draw.randint(1, 2), either(draw, channels, channels + 1), *(draw.randint(1, 7) for _ in range(rank))]
        image = either(draw, image, image[1:])
        shapes = [image, weight, [either(draw, width, width + 1)]][: draw.randint(2, 3)]
        return lambda *tensors: getattr(F, name)(*tensors, **options), shapes

    return make


def linear(draw):
    x, width = sizes(draw), draw.randint(1, 4)
    return F.linear, [x, [width, either(draw, x[-1], x[-1] + 1)], [either(draw, width, 1)]][: draw.randint(2, 3)]


def matmul(function, *ranks):
    def make(draw):
        a = sizes(draw, draw.choice(ranks))
        b = [*sizes(draw, draw.choice(ranks))]
        b[-min(len(b), 2)] = either(draw, a[-1], a[-1] + 1)
        batch = either(draw, a[:-2], [1] * len(a[:-2]), [2])
        return function, [a, [*batch, *b[-2:]] if len(b) > 2 else b]

    return make


def addmm(draw):
    n, m, p = sizes(draw, 3)
    start = draw.choice(([p], [n, p], [1, p], [], [n + 1, p]))
    return torch.addmm, [start, [n, m], [either(draw, m, m + 1), p]]


def embedding(draw):
    rows, padding = draw.randint(1, 5), draw.choice((None, 0, -1, 7))
    options = {"padding_idx": padding, **draw.choice(({}, {}, {"max_norm": 1.0}))}
    dtype = either(draw, torch.int64, torch.int32, torch.float32)
    return (
        lambda x, weight: F.embedding(x.to(dtype), weight, **options),
        [sizes(draw), either(draw, [rows, 3], [rows], [rows, 3, 2])],
    )


def attention(draw):
    batch, heads, length, keys, width, out = sizes(draw, 6)
    q, k = [batch, heads, length, width], [either(draw, batch, batch + 1), heads, keys, width]
    shapes = [q, k, [*k[:3], out]]
    options = {"is_causal": draw.random() < 0.2}
    if draw.random() < 0.4:
        shapes.append(broadcast(draw, [batch, heads, length, keys]))
    masked = draw.random() < 0.5

    def call(q, k, v, *mask):
        return F.scaled_dot_product_attention(q, k, v, *(m > 0 if masked else m for m in mask), **options)

    return call, shapes


def multi_head(draw):
    heads, width = draw.choice(((1, 4), (2, 4), (2, 6), (4, 6)))
    module = torch.nn.MultiheadAttention(8 * width, 8 if heads == 4 else heads, batch_first=draw.random() < 0.5)
    options = {"need_weights": draw.random() < 0.5, "average_attn_weights": draw.random() < 0.5}
    q = [draw.randint(1, 4), draw.randint(1, 3), 8 * width]
    k = either(draw, q, [draw.randint(1, 4), q[1], q[2]], [q[0] + 1, q[1] + 1, q[2]])
    return lambda q, k: module(q, k, k, **options), [q, k], module


def layer_norm(function):
    def make(draw):
        shape = sizes(draw)
        normalized = either(draw, shape[-draw.randint(1, len(shape)) :], [2], [])
        affine = [normalized][: draw.randint(0, 1)] if normalized else []
        return lambda x, *weight: function(x, normalized, *weight), [shape, *affine]

    return make


def batch_norm(draw):
    shape = sizes(draw, draw.randint(2, 4))
    channels = either(draw, shape[1], shape[1] + 1)
    training, affine = draw.random() < 0.5, [[channels]] * draw.choice((0, 2))

    def call(x, mean, variance, *affine):
        return F.batch_norm(x, mean, variance, *affine, training=training)

    return call, [shape, [channels], [channels], *affine]


def group_norm(draw):
    groups = draw.randint(1, 3)
    shape = [draw.randint(1, 2), either(draw, groups * draw.randint(1, 3), 5), *sizes(draw, draw.randint(0, 2))]
    affine = [[either(draw, shape[1], 2)]] * draw.choice((0, 2))
    return lambda x, *affine: F.group_norm(x, groups, *affine), [shape, *affine]


def pool(function):
    def make(draw):
        options = {
            "kernel_size": draw.randint(1, 3),
            "padding": either(draw, 0, 1, 2),
            "ceil_mode": draw.random() < 0.5,
        }
        options["stride"] = either(draw, draw.randint(1, 3), None, (1, 2))
        if function is F.max_pool2d:
            options["dilation"] = draw.randint(1, 2)
        shape = [draw.randint(1, 2), draw.randint(1, 3), draw.randint(1, 8), draw.randint(1, 8)]
        return lambda x: function(x, **options), [either(draw, shape, shape[1:])]

    return make


def adaptive_pool(draw):
    size = either(draw, draw.randint(1, 3), (1, 2), (None, 2), (0, 1))
    return lambda x: F.adaptive_avg_pool2d(x, size), [either(draw, sizes(draw, 4), sizes(draw, 3), sizes(draw, 2))]


def reduction(name):
    def make(draw):
        shape = sizes(draw)
        dims = draw.sample(range(-len(shape), len(shape) + 1), draw.randint(1, 2))
        arguments = draw.choice(((), (dims,), (dims[0], True)))
        options = {"dtype": torch.float64} if name in ("sum", "mean") and draw.random() < 0.2 else {}
        return lambda x: getattr(torch, name)(x, *arguments, **options), [shape]

    return make


def cat(draw):
    shape = sizes(draw)
    dim = either(draw, draw.randrange(-len(shape), len(shape)), len(shape))
    others = [list(shape) for _ in range(draw.randint(1, 2))]
    for other in others:
        other[either(draw, dim, 0) % len(shape)] += draw.randint(0, 2)
    return lambda *tensors: torch.cat(tensors, dim), [shape, *others]


def pad(draw):
    shape, mode = sizes(draw), either(draw, "constant", "reflect")
    by = [either(draw, draw.randint(0, 2), -1, -4) for _ in range(draw.choice((2, 2, 4, 3)))]
    return lambda x: F.pad(x, by, mode), [shape]


def masked_fill(draw):
    shape, value = sizes(draw), draw.choice((0, float("-inf"), True))
    return lambda x, mask: x.masked_fill(mask > 0, value), [shape, broadcast(draw, shape)]


def repeat_interleave(draw):
    shape, repeats = sizes(draw), either(draw, draw.randint(1, 3), 0, -1)
    dim = either(draw, draw.randrange(-len(shape), len(shape)), None, len(shape))
    return lambda x: x.repeat_interleave(repeats, dim), [shape]


def reshape(draw):
    shape = sizes(draw)
    rest = 1
    for size in shape:
        rest *= size
    wanted = []
    while rest > 1 and len(wanted) < 4:
        size = draw.choice([n for n in range(1, rest + 1) if rest % n == 0])
        wanted.append(size)
        rest //= size
    wanted = either(draw, [*wanted, rest], [*wanted, -1], [*wanted, rest + 1], [-1])
    draw.shuffle(wanted)
    return lambda x: x.reshape(wanted), [shape]


MADE = {
    **{
        name: unary(name)
        for name in "celu elu hardsigmoid hardswish leaky_relu mish relu relu6 selu silu softplus".split()
    },
    **{name: unary(name, torch) for name in "abs atan clone cos erf exp log log1p neg reciprocal rsqrt".split()},
    **{name: unary(name, torch) for name in "sigmoid sign sin sqrt square tanh".split()},
    "log_sigmoid": unary("logsigmoid"),
    "contiguous": unary("contiguous", torch.Tensor),
    **{name: binary(getattr(torch, name)) for name in "add sub mul div pow eq ne lt le gt ge".split()},
    **{name: binary(getattr(torch, name)) for name in ("maximum", "minimum")},
    **{f"conv{rank}d": conv(rank) for rank in (1, 2, 3)},
    **{f"conv_transpose{rank}d": conv(rank, True) for rank in (1, 2, 3)},
    **{name: reduction(name) for name in ("sum", "mean", "amax", "amin")},
    "softmax": softmax(F.softmax),
    "log_softmax": softmax(F.log_softmax),
    "max_pool2d": pool(F.max_pool2d),
    "avg_pool2d": pool(F.avg_pool2d),
    "adaptive_avg_pool2d": adaptive_pool,
    "addmm": addmm,
    "batch_norm": batch_norm,
    "bmm": matmul(torch.bmm, 3),
    "cat": cat,
    "clamp": clamp,
    "dropout": dropout,
    "embedding": embedding,
    "gelu": gelu,
    "group_norm": group_norm,
    "hardtanh": hardtanh,
    "layer_norm": layer_norm(F.layer_norm),
    "linear": linear,
    "masked_fill": masked_fill,
    "matmul": matmul(torch.matmul, 1, 2, 3, 4),
    "mm": matmul(torch.mm, 2),
    "multi_head_attention_forward": multi_head,
    "pad": pad,
    "repeat_interleave": repeat_interleave,
    "reshape": reshape,
    "scaled_dot_product_attention": attention,
}
if hasattr(F, "rms_norm"):
    MADE["rms_norm"] = layer_norm(F.rms_norm)
if not hasattr(F, "scaled_dot_product_attention"):
    del MADE["scaled_dot_product_attention"]


class Call(torch.nn.Module):
    """One call of a function on tensors in some memory order."""

    def __init__(self, function, orders, module=None, is_view=False):
        super().__init__()
        self.function, self.orders, self.inner, self.is_view = (function,), orders, module, is_view

    def forward(self, *tensors):
        moved = [tensor if order is None else tensor.permute(order) for tensor, order in zip(tensors, self.orders)]
        made = self.function[0](*moved)
        seen.append([described(tensor) for tensor in (made if isinstance(made, tuple) else [made])])
        if self.is_view:
            seen.append(made._is_view())
        return made


seen = []


def described(tensor):
    """What a program can see of a tensor. The stride of a dimension of size 1 means nothing."""
    if tensor is None:
        return None
    strides = [step for step, size in zip(tensor.stride(), tensor.shape) if size > 1]
    return tuple(tensor.shape), tensor.dtype, strides, tensor.is_contiguous()


def call_of(make, draw):
    """A module, and its inputs in the order in which the module takes them."""
    function, shapes, *module = make(draw)
    dtypes = [either(draw, "float32", draw.choice(DTYPES))] * len(shapes)
    if draw.random() < 0.1:
        dtypes[0] = draw.choice(DTYPES)
    orders, inputs = [], []
    for shape, dtype in zip(shapes, dtypes):
        order = list(range(len(shape)))
        draw.shuffle(order)
        order = None if draw.random() < 0.5 or not shape else order
        given = shape if order is None else [shape[order.index(place)] for place in range(len(shape))]
        orders.append(order)
        inputs.append(cobra_latency.Shape(tuple(given), dtype))
    return Call(function, orders, *module, is_view=make is reshape), inputs


def taken(module, inputs):
    """Graph or error of a call, and what the program sees of the result."""
    seen.clear()
    try:
        graph = cobra_latency.graph_of(module, inputs).SerializeToString(deterministic=True)
    except cobra_latency.CobraError as error:
        graph = f"{type(error).__name__}: {error}"
    return graph, list(seen)


class OutputsTest(unittest.TestCase):
    def setUp(self):
        self.of = outputs.of
        self.addCleanup(setattr, outputs, "of", self.of)

    def compare(self, name, number):
        """Whether the rule has answered."""
        answered = []

        def asked(bound, tensors):
            made = self.of(bound, tensors)
            if bound.operator.name == name:
                answered.append(made is not None)
            return made

        draw = random.Random(f"{name} {number}")
        module, inputs = call_of(MADE[name], draw)
        outputs.of = asked
        ours = taken(module, inputs)
        outputs.of = lambda bound, tensors: None
        self.assertEqual(ours, taken(module, inputs), f"{name}, call {number}: {inputs} in the orders {module.orders}")
        return any(answered)

    def test_every_rule_is_that_of_torch(self):
        for name in sorted(MADE):
            with self.subTest(name):
                answered = sum(self.compare(name, number) for number in range(CALLS))
                self.assertGreater(answered, 0, f"{name}: the rule answers nothing")

    def test_every_rule_is_tried(self):
        rules = {*outputs._RULES, *outputs._OWN}
        missing = rules - set(MADE) - ({"rms_norm"} if not hasattr(F, "rms_norm") else set())
        missing -= {"scaled_dot_product_attention"} if not hasattr(F, "scaled_dot_product_attention") else set()
        self.assertEqual(missing, set())

    def test_in_place(self):
        for function in (F.relu_, lambda x: x.add_(1), lambda x: x.mul_(x), lambda x: x.t().relu_(), torch.sigmoid_):
            with self.subTest(function):
                module, inputs = Call(function, [None]), [cobra_latency.Shape((3, 4))]
                ours = taken(module, inputs)
                outputs.of = lambda bound, tensors: None
                self.assertEqual(ours, taken(module, inputs))
                outputs.of = self.of

    def test_torch_is_asked_where_elements_overlap(self):
        module = Call(lambda x: x.expand(3, 4).add_(1), [None])
        with self.assertRaisesRegex(cobra_latency.ModelError, "single memory location"):
            cobra_latency.graph_of(module, "1x4")

    def test_first_network_imports_no_compiler(self):
        """What takes a second in torch 2."""
        program = (
            "import sys, torch, cobra_latency; n = torch.nn; "
            "net = n.Sequential(n.Conv2d(3, 8, 3), n.BatchNorm2d(8), n.ReLU(), n.AdaptiveAvgPool2d(1), n.Flatten(), n.Linear(8, 4)); "
            "cobra_latency.graph_of(net.eval(), '1x3x8x8'); "
            "cobra_latency.graph_of(n.TransformerEncoderLayer(8, 2, 16), '4x2x8'); "
            "print('sympy' in sys.modules, 'torch._dynamo' in sys.modules)"
        )
        if torch.__version__ < "2":
            self.skipTest("torch 1.13 has no compiler")
        self.assertEqual(
            support.run(sys.executable, "-c", program, **support.environment(support.path("package"))), "False False\n"
        )


if __name__ == "__main__":
    support.main()
