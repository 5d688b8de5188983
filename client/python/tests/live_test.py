#!/usr/bin/env python3
"""A live torch.nn.Module gives the graph that the C++ reader gives for its source: the same
fingerprint, cost and latency. Run with each PyTorch that is there; it compares with the reader as
for that version."""
import concurrent.futures
import unittest
import warnings

import support

support.require("torch")
support.stage()
import torch  # noqa: E402
from torch import nn  # noqa: E402

import cobra_latency  # noqa: E402
from cobra_latency import ModelError, Source  # noqa: E402

warnings.simplefilter("ignore")
VERSION = "1.13.1" if torch.__version__ < "2" else torch.__version__.split("+")[0]

NETS = '''
import torch
from torch import nn
import torch.nn.functional as F


class Writes(nn.Module):
    """Views, writes into them, masks, constants and what is computed of them."""

    def __init__(self, width=8):
        super().__init__()
        self.conv = nn.Conv2d(3, width, 3, padding=1)
        self.register_buffer("table", torch.arange(width))
        self.register_buffer("scale", torch.ones(width), persistent=False)
        self.grid = torch.linspace(0, 1, 4)

    def forward(self, x):
        x = self.conv(x)
        x[:, 0] += 1
        x[..., :2].mul_(0.5)
        y = x[:, self.table.flip(0)] * self.scale.view(1, -1, 1, 1)
        mask = torch.ones(4, 4).tril() == 0
        rows = int(self.table.max()) - 3
        z = torch.zeros(x.shape[0], rows, device=x.device)
        z[:, 1:] = y.mean((2, 3))[:, : rows - 1]
        scores = F.relu(y[:, :, :4, :4], inplace=True).masked_fill(mask, float("-inf"))
        return {"z": z.softmax(-1), "s": [scores * self.grid, 1 - y, 2 / y, -y]}


class Sharing(nn.Module):
    def __init__(self, width=6):
        super().__init__()
        self.a = nn.Linear(width, width)
        self.b = nn.Linear(width, width)
        self.b.weight = self.a.weight
        self.norm = nn.LayerNorm(width)
        self.drop = nn.Dropout(0.2)
        self.attention = nn.MultiheadAttention(width, 2, batch_first=True)

    def forward(self, x):
        x = self.norm(self.drop(self.a(x)) + self.b(x))
        return self.attention(x, x, x, need_weights=False)[0].unbind(1)


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(50, 12)
        self.lstm = nn.LSTM(12, 7, num_layers=2, bidirectional=True, batch_first=True)
        self.gru = nn.GRUCell(14, 5)

    def forward(self, tokens, mask=None):
        x, (h, c) = self.lstm(self.embed(tokens))
        for step in x.unbind(1):
            h = self.gru(step)
        return torch.einsum("bi,bj->bij", h, h), torch.cat([c[0], c[1]], dim=-1), mask


class Rotary(nn.Module):
    """Products of constants, which PyTorch computes in each run."""

    def __init__(self, d=8):
        super().__init__()
        self.q = nn.Linear(d, d)
        self.register_buffer("inv", 1.0 / (10000 ** (torch.arange(0, d, 2).float() / d)), persistent=False)

    def forward(self, x):
        angles = torch.einsum("i,j->ij", torch.arange(x.shape[1], device=x.device).type_as(self.inv), self.inv)
        h = self.q(x).view(*x.shape[:2], 2, -1).transpose(1, 2)
        mask = torch.full((x.shape[1],) * 2, float("-inf"), device=x.device).triu(1)
        c = h.clone()
        c[..., 0] = 0
        c[:, :, torch.tensor([0, 2])] = 1.5
        scores = (h @ h.transpose(-1, -2)) / h.size(-1) ** 0.5 + mask
        noise = x.new_empty((x.shape[0], 1, 1)).bernoulli_(0.8) * torch.randn_like(x)
        return (scores.softmax(-1) @ c) * angles.cos(), x.std((1,), unbiased=False), noise


class Normed(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(3, 8, 3, 2), nn.BatchNorm2d(8), nn.ReLU6(inplace=True), nn.MaxPool2d(2))
        self.head = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Dropout(), nn.Linear(8, 4))

    def forward(self, x):
        return F.log_softmax(self.head(F.interpolate(self.body(x), scale_factor=2.0, mode="nearest")), dim=1)


class Cast(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 8)

    def forward(self, x):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            y = self.fc(x)
        return y.float(), x.to(torch.float64).type_as(x).contiguous(), x.T.reshape(-1)
'''
CASES = [
    ("Writes()", ["2x3x8x8"]),
    ("Sharing()", ["2x5x6"]),
    ("Recurrent()", ["3x4:int64", "mask=3x4:bool"]),
    ("Rotary()", ["2x6x8"]),
    ("Normed()", ["2x3x32x32"]),
    ("Cast()", ["4x8"]),
    ("nn.TransformerEncoderLayer(8, 2)", ["3x2x8"]),
    ("nn.Sequential(nn.Linear(8, 8), nn.GELU(), nn.Linear(8, 2))", ["4x8"]),
]

BROKEN = """
import torch
from torch import nn


class Unknown(nn.Module):
    def forward(self, x):
        y = x + 1
        return torch.special.bessel_j0(y)


class Reads(nn.Module):
    def forward(self, x):
        if x.sum() > 0:
            return x
        return -x


class Inner(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(9, 2)

    def forward(self, x):
        return self.fc(x)


class Mismatch(nn.Module):
    def __init__(self):
        super().__init__()
        self.block = Inner()

    def forward(self, x):
        return self.block(x)


class Remembers(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(4)
        self.seen = []

    def forward(self, x):
        self.last = x
        self.seen.append(x)
        return self.norm(x)
"""


class LiveTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.client = support.start()
        cls.target = cls.client.targets(kind="cpu", runtime="libtorch").names()[0]
        cls.nets = support.load("nets", NETS)
        cls.broken = support.load("broken", BROKEN)

    def assert_same(self, entry, inputs, mode="eval"):
        model = eval(entry, dict(vars(self.nets))).train(mode == "train")
        source = Source(self.nets.__file__, entry, torch_version=VERSION, mode=mode)
        live, read = (self.client.predict(m, inputs, self.target, breakdown=True) for m in (model, source))
        self.assertEqual(live.fingerprint, read.fingerprint)
        self.assertEqual((live.calls, live.parameters, live.macs), (read.calls, read.parameters, read.macs))
        self.assertEqual(live.peak_memory_bytes, read.peak_memory_bytes)
        self.assertEqual(live.ms, read.ms)
        self.assertEqual([c.module for c in live.estimates[0].calls], [c.module for c in read.estimates[0].calls])
        return live, read

    def test_same_graph_as_the_source(self):
        for entry, inputs in CASES:
            for mode in ("eval", "train"):
                with self.subTest(entry=entry, mode=mode):
                    self.assert_same(entry, inputs, mode)

    def test_lines_are_the_programs(self):
        live, read = self.assert_same("Writes()", ["2x3x8x8"])
        self.assertEqual([c.line for c in live.estimates[0].calls], [c.line for c in read.estimates[0].calls])
        self.assertTrue(all(c.file.endswith("nets.py") for c in live.estimates[0].calls))

    def test_torchvision(self):
        try:
            from torchvision import models
        except (ImportError, RuntimeError) as error:
            self.skipTest(f"torchvision: {error}")
        files = {
            "resnet18": "resnet",
            "mobilenet_v2": "mobilenetv2",
            "swin_t": "swin_transformer",
            "maxvit_t": "maxvit",
        }
        for name, file in files.items():
            with self.subTest(name):
                path = getattr(models, file).__file__
                model = getattr(models, name)().eval()
                live = self.client.predict(model, "1x3x224x224", self.target)
                read = self.client.predict(Source(path, name + "()"), "1x3x224x224", self.target)
                self.assertEqual(live.fingerprint, read.fingerprint)
                self.assertEqual(live.ms, read.ms)

    def test_unknown_operator_is_named_with_its_line(self):
        with self.assertRaises(ModelError) as raised:
            self.client.predict(self.broken.Unknown(), "2x3", self.target)
        error = raised.exception
        self.assertEqual(error.line, 1 + BROKEN.split("\n").index("        return torch.special.bessel_j0(y)"))
        self.assertTrue(error.file.endswith("broken.py"))
        self.assertIn("bessel_j0() is not an operator that COBRA knows", str(error))

    def test_values_are_not_guessed(self):
        with self.assertRaises(ModelError) as raised:
            self.client.predict(self.broken.Reads(), "2x3", self.target)
        self.assertEqual(raised.exception.kind, "data_dependent")
        self.assertEqual(raised.exception.line, 1 + BROKEN.split("\n").index("        if x.sum() > 0:"))

    def test_shapes_that_do_not_fit(self):
        with self.assertRaises(ModelError) as raised:
            self.client.predict(self.broken.Mismatch(), "2x8", self.target)
        error = raised.exception
        self.assertEqual(error.line, 1 + BROKEN.split("\n").index("        return self.fc(x)"))
        self.assertEqual((error.kind, error.module_path), ("model_error", "block.fc"))

    def test_the_users_module_stays_as_it_is(self):
        model = self.broken.Remembers().train()
        before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
        self.client.predict(model, "8x4", self.target)
        self.assertFalse(hasattr(model, "last"))
        self.assertEqual(model.seen, [])
        for name, tensor in model.state_dict().items():
            self.assertTrue(torch.equal(tensor, before[name]), name)
        self.assertTrue(model.training)

    def test_weights_are_neither_read_nor_copied(self):
        with torch.no_grad():
            model = nn.Linear(8, 8)
            model.weight = nn.Parameter(
                torch.empty(1).expand(1 << 20, 1 << 16), requires_grad=False
            )  # 256 GiB if copied
            model.bias = None
        graph = cobra_latency.graph_of(model, (1, 1 << 16))
        self.assertEqual(list(graph.parameters[0].type.shape), [1 << 20, 1 << 16])
        self.assertLess(graph.ByteSize(), 500)

    def test_a_module_that_cannot_be_deep_copied(self):
        model = self.nets.Normed().eval()
        model.lock = __import__("threading").Lock()
        self.assertEqual(
            self.client.predict(model, "1x3x32x32", self.target).fingerprint,
            self.client.predict(self.nets.Normed().eval(), "1x3x32x32", self.target).fingerprint,
        )

    def test_export_where_calls_cannot_be_recorded(self):
        if not hasattr(torch, "export"):
            self.skipTest("torch.export came with torch 2.1")

        class Mapped(nn.Module):
            def __init__(self):
                super().__init__()
                self.fc = nn.Linear(8, 8)

            def forward(self, x):
                return torch.func.vmap(lambda row: torch.sin(row) * 2)(self.fc(x))

        graph = cobra_latency.graph_of(Mapped().eval(), (4, 8))
        self.assertEqual([node.op for node in graph.nodes], ["linear", "sin", "mul"])
        self.assertEqual([p.name for p in graph.parameters], ["fc.weight", "fc.bias"])

    def test_from_several_threads(self):
        """While other threads run models of their own."""
        model = self.nets.Writes().eval()
        x = torch.zeros(2, 3, 8, 8)
        expected = cobra_latency.graph_of(model, "2x3x8x8").SerializeToString(deterministic=True)
        before = model(x)["z"]

        def work(i):
            if i % 2:
                return torch.equal(model(x)["z"], before)
            return cobra_latency.graph_of(model, "2x3x8x8").SerializeToString(deterministic=True) == expected

        with concurrent.futures.ThreadPoolExecutor(4) as pool, torch.no_grad():
            self.assertEqual(list(pool.map(work, range(40))), [True] * 40)

    def test_lazy_modules_need_a_first_call(self):
        model = nn.Sequential(nn.LazyLinear(4)).eval()
        with self.assertRaisesRegex(ModelError, "LazyLinear.weight: has no shape before the first call") as raised:
            cobra_latency.graph_of(model, (2, 3))
        self.assertEqual(raised.exception.module_path, "0")
        model(torch.zeros(2, 3))
        self.assertEqual(len(cobra_latency.graph_of(model, (2, 3)).nodes), 1)

    def test_wrappers_are_taken_as_what_is_inside(self):
        model = self.nets.Normed().eval()
        wrappers = [nn.DataParallel] + ([torch.compile] if hasattr(torch, "compile") else [])
        expected = self.client.predict(model, "1x3x32x32", self.target).fingerprint
        for wrap in wrappers:
            self.assertEqual(self.client.predict(wrap(model), "1x3x32x32", self.target).fingerprint, expected)

    def test_scripts_are_refused(self):
        with self.assertRaisesRegex(ModelError, "compiled by torch.jit"):
            cobra_latency.graph_of(torch.jit.script(nn.Linear(2, 2)), (1, 2))


if __name__ == "__main__":
    support.main()
