#!/usr/bin/env python3
"""Calls that depend on no input and no parameter are calls of the graph of a live module too, as
PyTorch runs them each time: the same ones as in the C++ reader's graph of its source. What a module
makes once and keeps is made by no call."""
import json
import os
import unittest
import warnings

import support

support.require("torch", "numpy")
support.stage()
import torch  # noqa: E402

import cobra_latency  # noqa: E402
from cobra_latency import ModelError, Source  # noqa: E402

warnings.simplefilter("ignore")
VERSION = "1.13.1" if torch.__version__ < "2" else torch.__version__.split("+")[0]
REPORTS = os.path.join(support.ROOT, "..", "shared", "reports", "costs")

NETS = '''
import functools

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn


class Created(nn.Module):
    """Tensors that are made of no other, in every way."""

    def __init__(self):
        super().__init__()
        self.register_buffer("scale", torch.ones(4))

    def forward(self, x):
        n = x.shape[1]
        made = [
            torch.zeros(2, n), torch.ones((2, n), dtype=torch.int64), torch.full((n,), 2), torch.full((n,), 0.5, device=x.device),
            torch.zeros_like(x), torch.ones_like(self.scale, dtype=torch.float64), torch.full_like(x, 3), torch.empty_like(self.scale),
            x.new_zeros(n), x.new_ones((n, 2)), x.new_full((n,), 7), x.new_empty(3).fill_(1), self.scale.new_tensor([1, 2]),
            torch.arange(n), torch.arange(1, n), torch.arange(0, 1, 0.25), torch.arange(n, dtype=torch.float32), torch.arange(5, 1, -2),
            torch.linspace(0, 1, n), torch.linspace(-1, 1, steps=3, dtype=torch.float64), torch.eye(n), torch.eye(2, 3, dtype=torch.int32),
            torch.tril_indices(n, n), torch.triu_indices(n, n, offset=1), torch.triu_indices(3, n, 1),
            torch.tensor([1.5, 2]), torch.tensor(3), torch.tensor([[True], [False]]), torch.as_tensor([1, 2]), torch.scalar_tensor(2),
            torch.tensor(self.scale), torch.as_tensor(self.scale), torch.as_tensor(self.scale, dtype=torch.int64),
            torch.tensor(self.scale, dtype=torch.float64), torch.logspace(0, 1, 4), torch.hann_window(8),
            torch.kaiser_window(5, periodic=False), torch.bartlett_window(4),
        ]
        return [m.float().sum() + x for m in made]


class Drawn(nn.Module):
    def forward(self, x):
        y = torch.rand(2, 3) + torch.randn_like(x) * 0.1 + torch.rand_like(x) + torch.normal(0.0, 1.0, size=(2, 3))
        at, order = torch.randint(0, 3, (4,)), torch.randperm(3)
        z = torch.empty(2, 3).uniform_(-1, 1) + torch.bernoulli(torch.full((2, 3), 0.3))
        noise = F.dropout(torch.ones(2, 3), 0.5, True)
        return x[:, at], y[:, order] * z, noise, torch.normal(torch.zeros(3), 1.0)


class Weights(nn.Module):
    """Weights that are drawn in each run."""

    def forward(self, x):
        w, b = torch.empty(3, 4), torch.empty(3)
        nn.init.normal_(w)
        nn.init.zeros_(b)
        return F.linear(x, w, b)


class Views(nn.Module):
    """In place, in constants and in views of them; then with what depends on the input."""

    def __init__(self):
        super().__init__()
        self.register_buffer("table", torch.zeros(4, 4))

    def forward(self, x):
        m = torch.zeros(4, 4)
        row = m[1]
        row.add_(2)
        m[:, 0].fill_(1)
        m.view(-1)[::2] = 5
        t = self.table.t()
        t[0] = 1
        z = torch.zeros(4, 4, dtype=x.dtype)
        z[:, 1:] = x[:, :3]
        w = torch.ones(4, 4)
        part = w[0]
        part.mul_(x[0])
        return m + x, self.table * x, z.softmax(-1), w + 1, t.contiguous() + x, m.contiguous() + x


class Plain(nn.Module):
    """Plain tensors, arrays, casts with and without effect, and numbers that are read."""

    def __init__(self):
        super().__init__()
        self.plain = torch.arange(6.0)
        self.register_buffer("i8", torch.zeros((4, 6), dtype=torch.int8))
        self.drop = nn.Dropout(0.5)

    def forward(self, x):
        w = self.i8.to(x.dtype) * self.plain.to(x.dtype).float()
        a = torch.from_numpy(np.arange(6.0)).float() + torch.tensor(np.ones(6, dtype=np.float32)) + torch.as_tensor(np.ones(6))
        n = int(torch.arange(3).max()) + int(self.plain[1] + 1)
        mask = torch.arange(6) > n
        a = a.masked_fill(mask, 0) if bool(mask.any()) else a
        b = self.drop(self.plain).expand(4, 6).contiguous().T.contiguous()
        s = torch.stack([self.plain, self.plain]).data.clone().detach()
        i = torch.where(mask)[0]
        return F.linear(x, w) * 2, a.float() + x, b + 1, s[:, i], x.new([1, 2]) * 2, self.plain.new(2).zero_() + 1


class Large(nn.Module):
    """Constants of more elements than are computed."""

    def forward(self, x):
        big = torch.zeros(2048, 1024)
        big[0, :3] = x[0]
        return big.sum(0), torch.ones(1200, 1200).t().contiguous() @ torch.ones(1200, 2)


class Tables(nn.Module):
    """A mask in an attribute, tables in a dictionary and in a cache."""

    def __init__(self, d=8):
        super().__init__()
        self.d = d
        self.q = nn.Linear(d, d)
        self.mask = None
        self.tables = {}
        self.counted = 0

    def forward(self, x):
        n = x.shape[1]
        self.counted += 1
        if self.mask is None:
            self.mask = torch.full((n, n), float("-inf")).triu(1)
        if n not in self.tables:
            inv = 1.0 / (10000 ** (torch.arange(0, self.d, 2).float() / self.d))
            self.tables[n] = torch.outer(torch.arange(n).float(), inv).repeat(1, 2)
        h = self.q(x) * self.tables[n].cos() + position(n, self.d)
        return (h @ h.transpose(-1, -2) + self.mask).softmax(-1), torch.arange(n) + x[0, :, 0]


@functools.lru_cache(maxsize=None)
def position(n, d):
    return torch.arange(n)[:, None] * torch.ones(d)


class OnCall(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = None
        self.layers = nn.ModuleList()

    def forward(self, x):
        if self.w is None:
            self.w = nn.Parameter(torch.randn(x.shape[1], 10))
            self.layers.append(nn.Linear(10, 4))
        return self.layers[0](x @ self.w)


class LayerOnCall(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = None

    def forward(self, x):
        if self.fc is None:
            self.fc = nn.Linear(x.shape[1], 3)
        return self.fc(x)


class Once(nn.Module):
    """Does not run a second time."""

    def __init__(self):
        super().__init__()
        self.mask = None

    def forward(self, x):
        if self.mask is not None:
            raise RuntimeError("a second time")
        self.mask = torch.ones(3)
        return x * self.mask


class Cached(nn.Module):
    """Keeps what it makes of an input in what it makes of nothing."""

    def __init__(self):
        super().__init__()
        self.seen = None

    def forward(self, x):
        if self.seen is None:
            self.seen = torch.zeros(3, 4)
        self.seen[:2] = x
        return self.seen.sum(0) * 2


class Counts(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(4)
        self.register_buffer("seen", torch.zeros(1))

    def forward(self, x):
        self.seen += 1
        self.seen.mul_(2)
        return self.norm(x) * self.seen


class Unknown(nn.Module):
    def forward(self, x):
        return x + torch.special.bessel_j0(torch.ones(3))
'''
CASES = [
    ("Created()", "2x4"),
    ("Drawn()", "2x3"),
    ("Weights()", "2x4"),
    ("Views()", "4x4"),
    ("Plain()", "4x6"),
    ("Large()", "2x3"),
    ("Tables()", "2x5x8"),
    ("OnCall()", "2x8"),
    ("LayerOnCall()", "2x8"),
    ("Once()", "2x3"),
    ("Cached()", "2x4"),
    ("Counts()", "3x4"),
]


def calls_of(graph):
    """Each call as text: "zeros size=[2, 4] dtype=float32", a call in place with "_"."""
    texts = []
    for node in graph.nodes:
        attributes = []
        for attribute in node.attributes:
            value = getattr(attribute, attribute.WhichOneof("value"))
            attributes.append(f"{attribute.name}={list(value.values) if hasattr(value, 'values') else value}")
        texts.append(" ".join([node.op + "_" * node.inplace, *attributes]))
    return texts


class LiveConstantsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.client = support.start()
        cls.target = cls.client.targets(kind="cpu", runtime="libtorch").names()[0]
        cls.nets = support.load("constant_nets", NETS)

    def assert_same(self, model, source, inputs):
        live, read = (self.client.predict(m, inputs, self.target) for m in (model, source))
        self.assertEqual((live.calls, live.parameters, live.macs), (read.calls, read.parameters, read.macs))
        self.assertEqual(live.fingerprint, read.fingerprint)
        self.assertEqual((live.peak_memory_bytes, live.ms), (read.peak_memory_bytes, read.ms))
        return live

    def test_same_graph_as_the_source(self):
        for entry, inputs in CASES:
            for mode in ("eval", "train"):
                with self.subTest(entry=entry, mode=mode):
                    self.nets.position.cache_clear()
                    model = eval(entry, dict(vars(self.nets))).train(mode == "train")
                    source = Source(self.nets.__file__, entry, torch_version=VERSION, mode=mode)
                    self.assert_same(model, source, inputs)

    def test_what_is_made_has_its_numbers(self):
        calls = calls_of(cobra_latency.graph_of(self.nets.Created().eval(), "2x4"))
        for call in (
            "full size=[4] dtype=int64 fill_value=2.0",
            "arange size=[2] dtype=int64 start=5 step=-2",
            "arange size=[4] dtype=float32 start=0.0 step=0.25",
            "linspace size=[3] dtype=float64 start=-1.0 end=1.0",
            "triu_indices size=[2, 6] dtype=int64 row=3 col=4 offset=1",
            "tensor size=[2, 1] dtype=bool",
        ):
            self.assertIn(call, calls)

    def test_a_write_into_a_view_of_a_constant_changes_its_base(self):
        graph = cobra_latency.graph_of(self.nets.Views().eval(), "4x4")
        self.assertEqual([node.op for node in graph.nodes[:4]], ["zeros", "getitem", "add", "as_base"])
        self.assertEqual([ref.index for ref in graph.nodes[3].inputs], [2, 0])  # the view and the base before
        self.assertEqual(graph.nodes[4].inputs[0].index, 3)  # the base after

    def test_what_a_module_keeps_is_there_when_it_is_timed(self):
        self.nets.position.cache_clear()
        model = self.nets.Tables().eval()
        calls = calls_of(cobra_latency.graph_of(model, "2x5x8"))
        self.assertEqual([call for call in calls if " dtype=" in call], ["arange size=[5] dtype=int64 start=0 step=1"])
        self.assertEqual((model.mask, model.tables, model.counted), (None, {}, 0))
        model(torch.zeros(2, 5, 8))
        self.assertEqual(calls_of(cobra_latency.graph_of(model, "2x5x8")), calls)

    def test_layers_that_are_made_on_the_first_call(self):
        graph = cobra_latency.graph_of(self.nets.OnCall().eval(), "2x8")
        self.assertEqual([node.op for node in graph.nodes], ["matmul", "linear"])
        self.assertEqual([p.name for p in graph.parameters], ["w", "layers.0.weight", "layers.0.bias"])
        graph = cobra_latency.graph_of(self.nets.LayerOnCall().eval(), "2x8")
        self.assertEqual([node.op for node in graph.nodes], ["linear"])

    def test_the_first_run_stands_where_there_is_no_second(self):
        self.assertEqual(
            calls_of(cobra_latency.graph_of(self.nets.Once().eval(), "2x3")), ["ones size=[3] dtype=float32", "mul"]
        )

    def test_an_unknown_operator_on_constants_is_an_error(self):
        with self.assertRaisesRegex(ModelError, "bessel_j0\\(\\) is not an operator that COBRA knows") as raised:
            cobra_latency.graph_of(self.nets.Unknown().eval(), "3x3")
        self.assertEqual(
            raised.exception.line,
            1 + NETS.split("\n").index("        return x + torch.special.bessel_j0(torch.ones(3))"),
        )

    def test_the_reports(self):
        if not os.path.isdir(REPORTS):
            self.skipTest("shared/reports is not there")
        for name in sorted(os.listdir(REPORTS)):
            folder = os.path.join(REPORTS, name)
            file = next(f for f in ("net.py", "new.py") if os.path.exists(os.path.join(folder, f)))
            with open(os.path.join(folder, "expected.json"), encoding="utf-8") as text:
                expected = json.load(text)
            with self.subTest(name), open(os.path.join(folder, file), encoding="utf-8") as text:
                source = text.read()
                if "scaled_dot_product_attention" in source and VERSION < "2":
                    continue  # PyTorch 1.13 has none
                module = support.load("report_" + name, source)
                entry, inputs = expected.get("entry", "Net()"), expected.get("inputs", ["1x512"])
                model = eval(entry, dict(vars(module))).eval()
                self.assert_same(model, Source(module.__file__, entry, torch_version=VERSION), inputs)


if __name__ == "__main__":
    support.main()
