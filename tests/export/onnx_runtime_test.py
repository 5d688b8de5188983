"""ONNX models that are written compute what LibTorch's executor computes: calls of every operator, programs that write
through views, networks of torchvision; and the reader gets the network back.

    onnx_runtime_test.py            as ctest runs it
    onnx_runtime_test.py --long     many more networks (scripts/test-long.sh onnx-out)

Exit 77 without ONNX Runtime (build/pypi-onnx, which scripts/setup.sh --pypi installs).
"""
import json, os, subprocess, sys, tempfile

SOURCE = os.environ.get("COBRA_SOURCE", os.getcwd())
BIN = os.environ.get("COBRA_BIN", os.path.join(SOURCE, "build/release/bin"))
PACKAGES = os.path.join(SOURCE, "build/pypi-onnx")
PYTHON = os.path.join(SOURCE, "build/pypi/bin/python3")
if not os.path.isdir(os.path.join(PACKAGES, "onnxruntime")) or not os.path.exists(PYTHON):
    print("ONNX Runtime is missing: scripts/setup.sh --pypi installs it")
    sys.exit(77)
if os.environ.get("PYTHONPATH") != PACKAGES:  # its packages are not Debian's
    os.execve(PYTHON, [PYTHON] + sys.argv, dict(os.environ, PYTHONPATH=PACKAGES))

import numpy
import onnx
import onnxruntime

LIBRARY = "/usr/lib/python3/dist-packages"
TOLERANCE = 1e-4
# ONNX Runtime's Python has no type for its results.
NOT_COMPARED = ("bfloat16",)

NETWORKS = [
    ("resnet18()", "resnet.py", "1x3x64x64"),
    ("mobilenet_v3_small()", "mobilenetv3.py", "1x3x64x64"),
    ("shufflenet_v2_x0_5()", "shufflenetv2.py", "1x3x64x64"),
    ("vit_b_16(image_size=32)", "vision_transformer.py", "1x3x32x32"),
    ("densenet121()", "densenet.py", "1x3x64x64"),
]
LONG_NETWORKS = [
    ("alexnet()", "alexnet.py", "1x3x96x96"),
    ("vgg11_bn()", "vgg.py", "1x3x64x64"),
    ("squeezenet1_0()", "squeezenet.py", "1x3x96x96"),
    ("squeezenet1_1()", "squeezenet.py", "1x3x96x96"),
    ("googlenet(init_weights=False)", "googlenet.py", "1x3x96x96"),
    ("inception_v3(init_weights=False)", "inception.py", "1x3x96x96"),
    ("resnet50()", "resnet.py", "2x3x64x64"),
    ("resnext50_32x4d()", "resnet.py", "1x3x64x64"),
    ("wide_resnet50_2()", "resnet.py", "1x3x64x64"),
    ("mobilenet_v2()", "mobilenetv2.py", "1x3x64x64"),
    ("mobilenet_v3_large()", "mobilenetv3.py", "1x3x64x64"),
    ("mnasnet1_0()", "mnasnet.py", "1x3x64x64"),
    ("efficientnet_b0()", "efficientnet.py", "1x3x64x64"),
    ("efficientnet_v2_s()", "efficientnet.py", "1x3x64x64"),
    ("regnet_y_400mf()", "regnet.py", "1x3x64x64"),
    ("regnet_x_400mf()", "regnet.py", "1x3x64x64"),
    ("convnext_tiny()", "convnext.py", "1x3x64x64"),
    ("swin_t()", "swin_transformer.py", "1x3x64x64"),
    ("swin_v2_t()", "swin_transformer.py", "1x3x64x64"),
    ("maxvit_t()", "maxvit.py", "1x3x224x224"),
    ("fcn_resnet50(weights_backbone=None)", "segmentation/fcn.py", "1x3x64x64"),
    ("deeplabv3_mobilenet_v3_large(weights_backbone=None)", "segmentation/deeplabv3.py", "1x3x64x64"),
    ("lraspp_mobilenet_v3_large(weights_backbone=None)", "segmentation/lraspp.py", "1x3x64x64"),
    ("r3d_18()", "video/resnet.py", "1x3x4x32x32"),
    ("r2plus1d_18()", "video/resnet.py", "1x3x4x32x32"),
]
# Networks whose nodes are one for each call: the reader gets the same graph.
SAME = ("resnet18()", "densenet121()")
SAME_LONG = ("alexnet()", "vgg11_bn()", "squeezenet1_1()", "resnet50()", "resnext50_32x4d()", "wide_resnet50_2()")

HEAD = "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n\n\nclass Net(nn.Module):\n"
PROGRAMS = {
    "column added to": "    def forward(self, x):\n        x = x * 1\n        x[:, 0] += 1\n        return x * 2\n",
    "a view read after a write to its base": """    def forward(self, x):
        x = x * 1
        row = x[1]
        x.add_(1)
        return row * 2, x
""",
    "a base read after a write to its view": """    def forward(self, x):
        y = x.clone()
        part = y.view(-1)[2:7]
        part.mul_(3).sub_(1)
        return y, part, x
""",
    "two views of one tensor": """    def forward(self, x):
        y = x + 0
        a, b = y.t(), y[:, 1:3]
        b.fill_(7)
        a[0] = 5
        return a, b, y
""",
    "steps and transposes": """    def forward(self, x):
        y = x + 0
        y.transpose(0, 1)[::2].zero_()
        y[1:, 1::2] = x[1:, :2]
        return y
""",
    "chunks": """    def forward(self, x):
        y = x + 0
        a, b = y.chunk(2, dim=1)
        a.relu_()
        b += a
        return y, torch.cat([a, b])
""",
    "a reshape that copies": """    def forward(self, x):
        y = x.t()
        z = y.reshape(-1)
        z.add_(1)
        w = x.reshape(-1)
        w.mul_(2)
        return y, z, x
""",
    "an input written to": "    def forward(self, x):\n        return x.relu_() + F.dropout(x, training=False, inplace=True)\n",
    "diagonal and masks": """    def forward(self, x):
        y = x + 0
        y.diagonal().fill_(1)
        y.masked_fill_(y > 0.5, 0)
        y[y < -0.5] = -1
        return y
""",
    "known constants": """    def __init__(self):
        super().__init__()
        self.register_buffer("index", torch.tensor([2, 0, 1]))
        self.register_buffer("mask", torch.ones(3, 4).tril().bool())

    def forward(self, x):
        table = torch.arange(12).reshape(3, 4).float()
        return (x[:3] + table)[self.index].masked_fill(~self.mask, float("-inf"))
""",
}


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise AssertionError("%s: %s" % (" ".join(command[1:]), done.stderr.strip()[-400:]))
    return done.stdout


def typed(name):
    return {"bool": numpy.bool_, "bfloat16": numpy.uint16}.get(name) or numpy.dtype(name)


def inputs_of(folder, case):
    with open(os.path.join(folder, case["name"] + ".in"), "rb") as file:
        data = file.read()
    arrays, at = [], 0
    for entry in case["inputs"]:
        count = int(numpy.prod(entry["shape"], dtype=numpy.int64))
        array = numpy.frombuffer(data, typed(entry["dtype"]), count, at)
        at += array.nbytes
        arrays.append(array.reshape(entry["shape"]))
    return arrays


def session_of(path):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def fault_of(folder, case):
    """What is wrong with a model; None if nothing is."""
    path = os.path.join(folder, case["name"] + ".onnx")
    try:
        onnx.checker.check_model(path, full_check=True)
        session = session_of(path)
        feed = dict(zip((i.name for i in session.get_inputs()), inputs_of(folder, case)))
        got = session.run(None, feed)
    except Exception as error:
        return "%s: %s" % (type(error).__name__, " ".join(str(error).split())[:300])
    with open(os.path.join(folder, case["name"] + ".out"), "rb") as file:
        data = numpy.frombuffer(file.read(), numpy.float64)
    at = 0
    for number, (array, shape) in enumerate(zip(got, case["outputs"])):
        if list(array.shape) != shape:
            return "output %d is %s, not %s" % (number, list(array.shape), shape)
        want = data[at : at + array.size].reshape(shape)
        at += array.size
        fault = difference(array.astype(numpy.float64), want)
        if fault:
            return "output %d: %s" % (number, fault)
    return None if len(got) == len(case["outputs"]) and at == data.size else "%d outputs" % len(got)


def difference(got, want):
    special = ~numpy.isfinite(want)
    if not numpy.array_equal(got[special], want[special], equal_nan=True):
        return "infinities or NaNs differ"
    if want[~special].size == 0:
        return None
    largest = max(numpy.abs(want[~special]).max(), 1e-3)
    error = numpy.abs(got[~special] - want[~special]).max() / largest
    return None if error <= TOLERANCE else "differs by %.2g of the largest value (%.4g)" % (error, largest)


def check_cases(folder):
    cases = [json.loads(line) for line in run(os.path.join(BIN, "export_onnx"), "--cases", folder).splitlines()]
    faults, compared, refused = [], set(), set()
    for case in cases:
        if "refused" in case:
            refused.add(case["op"])
        elif "not_run" not in case and case["op"] not in NOT_COMPARED:
            fault = fault_of(folder, case)
            compared.add(case["op"])
            if fault:
                faults.append("%s: %s" % (case["name"], fault))
    not_run = sorted({c["op"] for c in cases if "not_run" in c} - compared)
    print(
        "%d calls of %d operators compared; %d operators refused; not run by LibTorch: %s"
        % (len(cases), len(compared), len(refused - compared), ", ".join(not_run) or "none")
    )
    for case in cases:
        if "refused" in case and "--refused" in sys.argv:
            print("refused", case["name"], case["refused"])
    return faults


def check_network(folder, name, arguments, same=False):
    graph = os.path.join(folder, "graph.json")
    with open(graph, "w", encoding="utf-8") as file:
        file.write(run(os.path.join(BIN, "cobra-client"), "graph", *arguments, "--format", "json"))
    case = json.loads(run(os.path.join(BIN, "export_onnx"), graph, folder, "network"))
    fault = case.get("refused") or case.get("not_run") or fault_of(folder, case)
    if fault is None and same:
        fault = run(os.path.join(BIN, "export_onnx"), "--same", graph, os.path.join(folder, "network.onnx")).strip()
    print(name, fault or "ok", flush=True)
    return ["%s: %s" % (name, fault)] if fault else []


def check_command_line(folder):
    """cobra-client writes the file itself; the weights' file is one that others can read."""
    out = os.path.join(folder, "net.onnx")
    with open(os.path.join(folder, "net.py"), "w", encoding="utf-8") as file:
        file.write(HEAD + PROGRAMS["known constants"])
    arguments = [os.path.join(folder, "net.py"), "--entry", "Net()", "--input", "4x4", "--format", "onnx"]
    run(os.path.join(BIN, "cobra-client"), "graph", *arguments, "--out", out)
    got = session_of(out).run(None, {"input0": numpy.zeros((4, 4), numpy.float32)})[0]
    table = numpy.arange(12, dtype=numpy.float32).reshape(3, 4)[[2, 0, 1]]
    want = numpy.where(numpy.tril(numpy.ones((3, 4))) > 0, table, -numpy.inf)
    faults = [] if numpy.array_equal(got, want) else ["values of constants: %s" % got]
    with open(os.path.join(folder, "net.safetensors"), "rb") as file:
        data = file.read()
    length = int.from_bytes(data[:8], "little")
    ends = [e["data_offsets"][1] for e in json.loads(data[8 : 8 + length]).values()]
    if max(ends) != len(data) - 8 - length:
        faults.append("net.safetensors: %d bytes of data, its header says %d" % (len(data) - 8 - length, max(ends)))
    done = subprocess.run([os.path.join(BIN, "cobra-client"), "graph", *arguments], capture_output=True, text=True)
    if done.returncode != 2 or "--out" not in done.stderr:
        faults.append("without --out: %d, %s" % (done.returncode, done.stderr))
    return faults


def main():
    faults = []
    with tempfile.TemporaryDirectory() as folder:
        faults += check_cases(folder)
    with tempfile.TemporaryDirectory() as folder:
        for name, text in PROGRAMS.items():
            path = os.path.join(folder, "net.py")
            with open(path, "w", encoding="utf-8") as file:
                file.write(HEAD + text)
            faults += check_network(folder, name, [path, "--entry", "Net()", "--input", "4x4"])
        faults += check_command_line(folder)
        models = os.path.join(LIBRARY, "torchvision/models")
        if not os.path.isdir(models):
            print("python3-torchvision is missing: no networks")
            return faults
        for entry, file, shape in NETWORKS + (LONG_NETWORKS if "--long" in sys.argv else []):
            arguments = [os.path.join(models, file), "--entry", entry, "--input", shape]
            faults += check_network(folder, entry, arguments, entry in SAME + SAME_LONG)
    return faults


if __name__ == "__main__":
    wrong = main()
    print("\n".join(wrong))
    sys.exit(1 if wrong else 0)
