#!/usr/bin/python3
"""What forward computes from no input is in the graph as PyTorch runs it: from buffers, plain
tensors, fresh tensors and random draws. PyTorch's second run is recorded, since what the first one
made and kept is not made again.

    constant_calls_test.py [NAME...]     exit 0: the same calls, 1: others, 77: PyTorch is not
                                         installed"""
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
BIN = os.environ.get("COBRA_BIN", "build/release/bin")

HEAD = """import functools
import math
import torch
import torch.nn as nn
import torch.nn.functional as F
"""

# name: (class body, inputs)
PROGRAMS = {
    "int8 weights": (
        """
    def __init__(self):
        super().__init__()
        self.register_buffer("weight", torch.zeros((8, 16), dtype=torch.int8))
        self.register_buffer("scales", torch.ones(8))
    def forward(self, x):
        return F.linear(x, self.weight.to(dtype=x.dtype)) * self.scales
""",
        "1x16",
    ),
    "int4 weights": (
        """
    def __init__(self, i=64, o=8, g=32):
        super().__init__()
        self.g = g
        self.register_buffer("qweight", torch.zeros((o, i // 8), dtype=torch.int32))
        self.register_buffer("scales", torch.ones(o, i // g))
        self.register_buffer("zeros", torch.zeros(o, i // g))
        self.register_buffer("wf", torch.arange(0, 32, 4, dtype=torch.int32)[None, None])
    def forward(self, x):
        w = torch.bitwise_and(torch.bitwise_right_shift(self.qweight.unsqueeze(-1), self.wf), 15).flatten(1)
        w = w.view(w.shape[0], -1, self.g)
        w = (w - self.zeros[..., None]) * self.scales[..., None]
        return F.linear(x, w.view(w.shape[0], -1))
""",
        "1x64",
    ),
    "tables of the input's type and shape, made once": (
        """
    def __init__(self):
        super().__init__()
        self.kept = None
    def forward(self, x):
        if self.kept is None:
            a = torch.arange(8)
            b = a.float()
            self.kept = [a.type_as(x).sin(), a.to(x).cos(), b.expand_as(x) + 1, b.view_as(x[0]).exp(), b.reshape_as(x[0]) * 2]
            self.kept += [x.new_zeros(8) - 1, torch.ones_like(x) * 3, torch.full_like(x, 2.0).neg(), a.type(x.type()).tan()]
        for table in self.kept:
            x = x * table
        steps = torch.arange(8).type_as(x)
        return x + steps.sin() if steps[3] > 2 else x
""",
        "4x8",
    ),
    "a mask of windows": (
        """
    def forward(self, x, w=7, s=3):
        h, wd = x.shape[1:3]
        m = torch.zeros((1, h, wd, 1), device=x.device)
        c = 0
        for i in (slice(0, -w), slice(-w, -s), slice(-s, None)):
            for j in (slice(0, -w), slice(-w, -s), slice(-s, None)):
                m[:, i, j, :] = c
                c += 1
        m = m.view(1, h // w, w, wd // w, w, 1).permute(0, 1, 3, 2, 4, 5).reshape(-1, w ** 2)
        a = m.unsqueeze(1) - m.unsqueeze(2)
        return x.mean() + a.masked_fill(a != 0, -100.0).masked_fill(a == 0, 0.0)
""",
        "1x28x28x3",
    ),
    "a causal mask": (
        """
    def forward(self, x):
        t = x.shape[-1]
        return x + torch.full((t, t), float("-inf"), device=x.device).triu(1)
""",
        "1x5x5",
    ),
    "a table of sines": (
        """
    def forward(self, x):
        position = torch.arange(x.shape[1]).unsqueeze(1)
        step = torch.exp(torch.arange(0, 8, 2) * (-math.log(10000.0) / 8))
        table = torch.zeros(x.shape[1], 8)
        table[:, 0::2] = torch.sin(position * step)
        table[:, 1::2] = torch.cos(position * step)
        return x + table
""",
        "1x6x8",
    ),
    "noise": (
        """
    def forward(self, x):
        y = torch.empty(2, 3).uniform_(0, 1)
        return x + torch.randn_like(x) * 0.1 + torch.rand(x.shape) + y
""",
        "2x3",
    ),
    "like and new": (
        """
    def forward(self, x):
        return x + x.new_zeros(3) + torch.ones_like(x) + x.new_full((2, 1), 2.0) + torch.full_like(x, 3.0) + x.new_ones(1)
""",
        "2x3",
    ),
    "ranges": (
        """
    def forward(self, x):
        a = torch.linspace(0, 1, 3) + torch.eye(3).sum(0) + torch.arange(3) + torch.arange(0.5, 2.0, 0.5)
        i = torch.tril_indices(3, 3)
        return x * a + i.float().mean() + torch.tensor([1.0, 2.0, 3.0])
""",
        "2x3",
    ),
    "products of buffers": (
        """
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.randn(6, 6))
        self.register_buffer("c", torch.randn(6, 6))
        self.plain = torch.randn(6, 6)
    def forward(self, x):
        return F.linear(x, self.w + self.c @ self.c + self.plain @ self.plain)
""",
        "4x6",
    ),
    "a write through a view": (
        """
    def __init__(self):
        super().__init__()
        self.register_buffer("table", torch.zeros(4, 4))
    def forward(self, x):
        t = self.table.clone()
        row = t[1]
        row.add_(1.0)
        t[2].copy_(row)
        return x + t
""",
        "4x4",
    ),
    "kept in an attribute": (
        """
    def __init__(self):
        super().__init__()
        self.mask = None
    def forward(self, x):
        if self.mask is None:
            self.mask = torch.full((4, 4), float("-inf")).triu(1)
        return x + self.mask
""",
        "4x4",
    ),
    "kept in a dict": (
        """
    def __init__(self):
        super().__init__()
        self.tables = {}
    def forward(self, x):
        key = tuple(x.shape)
        if key not in self.tables:
            self.tables[key] = (torch.arange(4).cos(), torch.arange(4).sin())
        cos, sin = self.tables[key]
        return x * cos + x * sin
""",
        "4x4",
    ),
    "kept by functools": (
        """
    @staticmethod
    @functools.lru_cache(maxsize=None)
    def table(n):
        return torch.arange(n).float().exp()
    def forward(self, x):
        return x * self.table(4)
""",
        "4x4",
    ),
    "kept in a buffer": (
        """
    def forward(self, x):
        if not hasattr(self, "positions"):
            self.register_buffer("positions", torch.arange(4), persistent=False)
        return x + self.positions
""",
        "4x4",
    ),
    "grown where another size came": (
        """
    def __init__(self):
        super().__init__()
        self.length = 0
    def forward(self, x):
        if x.shape[1] > self.length:
            self.length = x.shape[1]
            self.cos = torch.outer(torch.arange(self.length).float(), torch.ones(4)).cos()
        return x + self.cos[: x.shape[1]]
""",
        "1x3x4",
    ),
    "layers made by the first run": (
        """
    def __init__(self):
        super().__init__()
        self.w = None
        self.layers = nn.ModuleList()
    def forward(self, x):
        if self.w is None:
            self.w = nn.Parameter(torch.randn(x.shape[1], 10))
            self.layers.append(nn.Linear(10, 4))
        return self.layers[0](x @ self.w)
""",
        "2x8",
    ),
}
PROGRAMS["a layer made by the first run"] = (
    """
    def forward(self, x):
        if not hasattr(self, "l"):
            self.l = nn.Linear(x.shape[1], 4)
        return self.l(x)
""",
    "2x8",
)
PROGRAMS["kept in a class"] = (
    """
    masks = {}
    def forward(self, x):
        if x.shape not in self.masks:
            type(self).masks[x.shape] = torch.ones(4, 4).tril()
        return x * self.masks[x.shape]
""",
    "4x4",
)
PROGRAMS["kept in an object"] = (
    """
    class Rotary:
        def __init__(self):
            self.seen = []
        def __call__(self, n):
            if len(self.seen) < 1:
                self.seen.append({"cos": torch.arange(n).cos()})
            return self.seen[0]["cos"]
    def __init__(self):
        super().__init__()
        self.rotary = self.Rotary()
    def forward(self, x):
        return x * self.rotary(4)
""",
    "4x4",
)
SAME = {"new_zeros": "zeros", "new_ones": "ones", "new_full": "full", "new_empty": "empty"}


def plain_name(name):
    return SAME.get(name, name[:-5] if name.endswith("_like") else name)


def calls_of(graph):
    """Name, shape and inplace of what is run; not a call that returns its argument, nor as_base,
    which PyTorch has no call for."""
    return [
        (plain_name(record["op"]), record["out"][0], bool(record.get("inplace")))
        for record in graph["ops"]
        if record.get("kind") != "alias" and record["op"] != "as_base"
    ]


def recorded(folder, file):
    import make_goldens
    import torch

    sys.path.insert(0, folder)
    model = __import__(file[:-3]).Net().eval()
    inputs = [torch.ones([int(n) for n in PROGRAMS_BY_FILE[file].split("x")])]
    with torch.no_grad():
        model(*inputs)
    return make_goldens.record(model, inputs)


PROGRAMS_BY_FILE = {}


def main():
    try:
        import torch  # noqa: F401
    except ImportError:
        print("python3-torch is not installed")
        return 77
    wanted = sys.argv[1:] or list(PROGRAMS)
    sys.path.insert(0, HERE)
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        lines = []
        for number, name in enumerate(wanted):
            body, inputs = PROGRAMS[name]
            file = "constant_calls_%d.py" % number
            PROGRAMS_BY_FILE[file] = inputs
            with open(os.path.join(folder, file), "w") as out:
                out.write(HEAD + "class Net(nn.Module):" + body)
            lines.append("%s\tNet()\t%s\n" % (os.path.join(folder, file), inputs))
        answer = subprocess.run([BIN + "/read_model", "--batch"], input="".join(lines), capture_output=True, text=True)
        graphs = [json.loads(line) for line in answer.stdout.splitlines()]
        assert len(graphs) == len(lines), answer.stderr
        for name, file, graph in zip(wanted, PROGRAMS_BY_FILE, graphs):
            if "error" in graph:
                print("REFUSED", name, graph["error"])
                wrong += 1
                continue
            truth = recorded(folder, file)
            want, have = calls_of(truth), calls_of(graph)
            if want != have or truth["macs"] != graph["macs"] or truth["params"] != graph["params"]:
                wrong += 1
                print(
                    "DIFFERS %s\n  ours      %s, %s MACs\n  PyTorch's %s, %s MACs"
                    % (name, have, graph["macs"], want, truth["macs"])
                )
    print("%d of %d programs run the same calls" % (len(wanted) - wrong, len(wanted)))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
