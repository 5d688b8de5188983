"""Networks that are written for ncnn compute what LibTorch's executor computes: calls of every
operator, programs, networks of torchvision; and the reader of .param files gets a network back.

    ncnn_run_test.py            as ctest runs it
    ncnn_run_test.py --long     all of torchvision's networks for classification
                                (scripts/test-long.sh ncnn-out)

Exit 77 without ncnn (build/runtimes, which scripts/setup.sh --runtimes installs).
"""
import json, os, subprocess, sys, tempfile

SOURCE = os.environ.get("COBRA_SOURCE", os.getcwd())
PYTHON = os.path.join(SOURCE, "build/runtimes/bin/python3")
if os.environ.get("COBRA_NCNN_TEST") != "1":
    if not os.path.exists(PYTHON) or subprocess.run([PYTHON, "-c", "import ncnn"], capture_output=True).returncode != 0:
        print("ncnn is missing: scripts/setup.sh --runtimes installs it")
        sys.exit(77)
    os.execve(PYTHON, [PYTHON] + sys.argv, dict(os.environ, COBRA_NCNN_TEST="1"))

sys.path[:0] = [os.path.join(SOURCE, "worker", "runners"), os.path.join(SOURCE, "data", "measurements")]

import numpy

import record_files
from exported import (
    BIN,
    HEAD,
    PROGRAMS,
    TOLERANCE,
    check_network,
    fault_in,
    inputs_of,
    networks,
    programs,
    run,
    write_cases,
)
from ncnn_runner import Ncnn

# Networks whose layers are one for each call: the reader gets the same graph.
SAME = ("resnet18()",)
# ncnn takes the reciprocal roots of some blobs to twelve bits.
ROUGH = {"layer_norm": 5e-4, "rms_norm": 5e-4}
# A thousand calls one after the other: 1.2e-4, with and without Winograd's convolutions.
ROUGH_NETWORKS = {"efficientnet_v2_l": 2e-4}
# Programs that write to a part of a tensor, take its rows by an index, or compute with truth
# values.
REFUSED = (
    "column added to",
    "a base read after a write to its view",
    "two views of one tensor",
    "steps and transposes",
    "chunks",
    "diagonal and masks",
    "known constants",
)
# What networks have that single calls do not: constants, tensors of six dimensions, weights that
# are changed first.
MORE = {
    "windows of an image": """    def forward(self, x):
        x = x.reshape(1, 4, 1, 2, 2, 1) * 2
        y = x.permute(0, 1, 3, 2, 4, 5).reshape(-1, 2, 2)
        return y, torch.roll(x.view(1, 4, 2, 2), (-1, 1), (1, 2)), y.flatten(0, 1).softmax(0)
""",
    "an order of six dimensions": """    def forward(self, x):
        y = torch.cat([x, x + 1, x * 2, -x]).view(1, 2, 2, 2, 2, 4)
        return y.permute(0, 5, 3, 1, 4, 2).reshape(1, 4, 16), y.permute(5, 4, 3, 2, 1, 0) + 1
""",
    "steps": "    def forward(self, x):\n        return x[0::2, 1::2], x[..., ::3], x[1:4:2] * 2, x[:, None, 1:3].sum(1)\n",
    "a causal mask": """    def __init__(self):
        super().__init__()
        self.register_buffer("mask", torch.ones(4, 4).triu(1).bool())
        self.table = nn.Embedding(6, 4)
        self.register_buffer("positions", torch.arange(4))

    def forward(self, x):
        x = x + self.table(self.positions)
        scores = (x @ x.t()).masked_fill(self.mask, float("-inf")).softmax(-1)
        return scores @ x, x.masked_fill(self.mask, 3.0), F.scaled_dot_product_attention(x[None], x[None], x[None])
""",
    "einsum": """    def forward(self, x):
        a = x.view(1, 2, 2, 4)
        return torch.einsum("bhid,bhjd->bhij", a, a + 1), torch.einsum("bhij,bhjd->bhid", a[..., :2], a)
""",
    "weights that are computed": """    def __init__(self):
        super().__init__()
        self.weight, self.scale = nn.Parameter(torch.rand(4, 3)), nn.Parameter(torch.rand(4))

    def forward(self, x):
        table = F.linear(torch.arange(6.0).view(1, 2, 3), self.weight, self.scale)
        table = F.relu(table, inplace=True).view(-1, 4)[torch.tensor([1, 0, 1, 1])]
        table[1:2].zero_()
        x = x + table
        return F.linear(x, self.weight.t(), None), x.var(1), x.std(0, keepdim=True), x * self.scale.exp()
""",
}


def fault_of(folder, case):
    """What is wrong with a network; None if nothing is."""
    runner = Ncnn()
    try:
        runner.load({"model": os.path.join(folder, case["name"] + ".param"), "threads": 1, "seed": 1})
        inputs = {str(i): array for i, array in enumerate(inputs_of(folder, case))}
        got = list(runner.verify(inputs).values())
        got = [array.reshape(shape) for array, shape in zip(got, case["outputs"])]
    except Exception as error:
        return "%s: %s" % (type(error).__name__, " ".join(str(error).split())[:300])
    tolerance = ROUGH.get(case["op"]) or ROUGH_NETWORKS.get(case.get("network")) or TOLERANCE
    return fault_in(folder, case, got, tolerance)


def fault_in_child(folder, case):
    """The same in a separate process: a fault of a layer may end it."""
    child = os.fork()
    if child == 0:
        fault = fault_of(folder, case)
        with open(os.path.join(folder, "fault"), "w", encoding="utf-8") as file:
            file.write(fault or "")
        os._exit(0)
    _, status = os.waitpid(child, 0)
    if status != 0:
        return "ncnn ended with status %d" % status
    with open(os.path.join(folder, "fault"), encoding="utf-8") as file:
        return file.read() or None


def check_cases(folder):
    faults, compared, refused = [], set(), set()
    cases = write_cases("ncnn", folder)
    for case in cases:
        if "refused" in case:
            refused.add(case["op"])
            if not case["refused"].removeprefix("error: ").startswith((case["op"], "input ")):
                faults.append('%s: refused as "%s"' % (case["name"], case["refused"]))
            if "--refused" in sys.argv:
                print("refused", case["name"], case["refused"])
        elif "not_run" not in case:
            fault = fault_in_child(folder, case)
            compared.add(case["op"])
            if fault:
                faults.append("%s: %s" % (case["name"], fault))
    print("%d calls; %d operators compared; %d refused" % (len(cases), len(compared), len(refused - compared)))
    return faults


def check_command_line(folder):
    """cobra-client writes both files itself, and says what is missing."""
    out = os.path.join(folder, "net.param")
    with open(os.path.join(folder, "net.py"), "w", encoding="utf-8") as file:
        file.write(HEAD + "    def forward(self, x):\n        return x * 2 + 1\n")
    arguments = [os.path.join(folder, "net.py"), "--entry", "Net()", "--input", "1x4", "--format", "ncnn"]
    run(os.path.join(BIN, "cobra-client"), "graph", *arguments, "--out", out)
    runner = Ncnn()
    runner.load({"model": out, "threads": 1, "seed": 1})
    got = runner.verify({"0": numpy.arange(4, dtype=numpy.float32).reshape(1, 4)})["0"]
    faults = [] if numpy.array_equal(got, [1, 3, 5, 7]) else ["the client's network: %s" % got]
    for more, word in ([], "--out"), (["--out", out], "already exists"), (["--out", "net.onnx"], ".param"):
        done = subprocess.run(
            [os.path.join(BIN, "cobra-client"), "graph", *arguments, *more], capture_output=True, text=True
        )
        if done.returncode != 2 or word not in done.stderr:
            faults.append("%s: %d, %s" % (more, done.returncode, done.stderr))
    return faults


def check_torchvision(folder):
    """Every network of the space torchvision that classifies images, at its own size."""
    faults, equal = [], 0
    with record_files.open_text(os.path.join(SOURCE, "data/networks/torchvision.jsonl.xz")) as lines:
        entries = [json.loads(line) for line in lines]
    names = set()
    for entry in entries:
        if entry.get("batch", 1) != 1 or entry["name"] in names:
            continue
        names.add(entry["name"])
        graph = os.path.join(folder, "graph.json")
        with open(graph, "w", encoding="utf-8") as file:
            json.dump(entry["graph"], file)
        case = json.loads(run(os.path.join(BIN, "export_network"), "ncnn", graph, folder, "network"))
        case["network"] = entry["name"]
        fault = case.get("refused") or case.get("not_run") or fault_in_child(folder, case)
        equal += fault is None
        print(entry["name"], fault or "ok", flush=True)
        if fault:
            faults.append("%s: %s" % (entry["name"], fault))
    print("%d of %d networks equal LibTorch's" % (equal, len(names)))
    return faults


def main():
    faults = []
    with tempfile.TemporaryDirectory() as folder:
        faults += check_cases(folder)
    with tempfile.TemporaryDirectory() as folder:
        PROGRAMS.update(MORE)
        for name, arguments in programs(folder):
            faults += check_network("ncnn", folder, name, arguments, fault_of, is_refused=name in REFUSED)
        faults += check_command_line(folder)
        for entry, arguments in networks(False):
            faults += check_network("ncnn", folder, entry, arguments, fault_of, entry in SAME)
        if "--long" in sys.argv:
            faults += check_torchvision(folder)
    return faults


if __name__ == "__main__":
    wrong = main()
    print("\n".join(wrong))
    sys.exit(1 if wrong else 0)
