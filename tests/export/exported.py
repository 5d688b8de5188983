"""What the tests of written networks have in common: the networks, the numbers of export_network,
the comparison."""
import importlib.util, json, os, subprocess, sys

import numpy

SOURCE = os.environ.get("COBRA_SOURCE", os.getcwd())
BIN = os.environ.get("COBRA_BIN", os.path.join(SOURCE, "build/release/bin"))
RUNTIMES = os.path.join(SOURCE, "build/runtimes")
# Python with PyTorch 2.13; None where `scripts/setup.sh --runtimes` has not installed all of it.
NEWER = os.path.join(RUNTIMES, "bin/python3") if os.path.exists(os.path.join(RUNTIMES, "requirements.txt")) else None
MODELS = "/usr/lib/python3/dist-packages/torchvision/models"
TOLERANCE = 1e-4

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


def fault_in(folder, case, got, tolerance=TOLERANCE):
    """What is wrong with the arrays that a network computed; None if nothing is."""
    with open(os.path.join(folder, case["name"] + ".out"), "rb") as file:
        data = numpy.frombuffer(file.read(), numpy.float64)
    at = 0
    for number, (array, shape) in enumerate(zip(got, case["outputs"])):
        if list(array.shape) != shape:
            return "output %d is %s, not %s" % (number, list(array.shape), shape)
        want = data[at : at + array.size].reshape(shape)
        at += array.size
        fault = difference(array.astype(numpy.float64), want, tolerance)
        if fault:
            return "output %d: %s" % (number, fault)
    return None if len(got) == len(case["outputs"]) and at == data.size else "%d outputs" % len(got)


def difference(got, want, tolerance=TOLERANCE):
    special = ~numpy.isfinite(want)
    if not numpy.array_equal(got[special], want[special], equal_nan=True):
        return "infinities or NaNs differ"
    if want[~special].size == 0:
        return None
    largest = max(numpy.abs(want[~special]).max(), 1e-3)
    error = numpy.abs(got[~special] - want[~special]).max() / largest
    return None if error <= tolerance else "differs by %.2g of the largest value (%.4g)" % (error, largest)


def write_cases(format, folder):
    lines = run(os.path.join(BIN, "export_network"), format, "--cases", folder).splitlines()
    return [json.loads(line) for line in lines]


def write_network(format, folder, arguments):
    """The case of a network that cobra-client reads; graph.json is the graph."""
    graph = os.path.join(folder, "graph.json")
    with open(graph, "w", encoding="utf-8") as file:
        file.write(run(os.path.join(BIN, "cobra-client"), "graph", *arguments, "--format", "json"))
    return json.loads(run(os.path.join(BIN, "export_network"), format, graph, folder, "network"))


def check_network(format, folder, name, arguments, fault_of, same=False, is_refused=False):
    """Faults of a network that is written and run: fault_of(folder, case) says what is wrong with
    its results; `same`: the reader gets the graph back; `is_refused`: it has to be refused."""
    case = write_network(format, folder, arguments)
    if is_refused:
        return [] if "refused" in case else ["%s: is not refused" % name]
    fault = case.get("refused") or case.get("not_run") or fault_of(folder, case)
    if fault is None and same:
        written = {"onnx": "network.onnx", "ncnn": "network.param"}[format]
        files = [os.path.join(folder, name) for name in ("graph.json", written)]
        fault = run(os.path.join(BIN, "export_network"), "--same", *files).strip()
    print(name, fault or "ok", flush=True)
    return ["%s: %s" % (name, fault)] if fault else []


def programs(folder):
    """(name, the client's arguments) of the programs."""
    for name, text in PROGRAMS.items():
        path = os.path.join(folder, "net.py")
        with open(path, "w", encoding="utf-8") as file:
            file.write(HEAD + text)
        yield name, [path, "--entry", "Net()", "--input", "4x4"]


def networks(long):
    """(entry, the client's arguments) of torchvision's networks."""
    if not os.path.isdir(MODELS):
        print("python3-torchvision is missing: no networks")
        return
    for entry, file, shape in NETWORKS + (LONG_NETWORKS if long else []):
        yield entry, [os.path.join(MODELS, file), "--entry", entry, "--input", shape]


def compute(folder, case):
    """The tensors that the program of the case computes from the numbers of the case."""
    import torch

    sys.path.insert(0, os.path.join(SOURCE, "worker", "runners"))
    from runner_loop import read_tensors

    spec = importlib.util.spec_from_file_location("network", os.path.join(folder, case["name"] + ".py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    network = module.Network().eval()
    numbers = read_tensors(os.path.join(folder, case["name"] + ".safetensors"))
    own = dict(network.named_parameters())
    own.update(network.named_buffers())
    inputs = []
    for array, entry in zip(inputs_of(folder, case), case["inputs"]):
        tensor = torch.from_numpy(array.copy())
        inputs.append(tensor.view(torch.bfloat16) if entry["dtype"] == "bfloat16" else tensor)
    with torch.no_grad():
        for name, tensor in own.items():
            tensor.copy_(torch.from_numpy(numbers[module.ORIGINAL_NAMES.get(name, name)].copy()))
        outputs = network(*inputs)
    return outputs if isinstance(outputs, tuple) else (outputs,)


def answers(script, folder, cases, python):
    """{name: answer} of the cases, from `script` in that Python, which calls answer() below."""
    with open(os.path.join(folder, "cases.json"), "w", encoding="utf-8") as file:
        json.dump(cases, file)
    command = [python, "-W", "ignore", os.path.abspath(script), "--answer", folder]
    done = subprocess.run(command, stdout=subprocess.PIPE)
    found = dict(map(json.loads, done.stdout.decode().splitlines()))
    if done.returncode != 0:
        found["the end"] = "exit status %d" % done.returncode
    return found


def answer(folder, of_case):
    """Prints a line of JSON for each case of the folder."""
    import torch

    torch.set_num_threads(1)
    with open(os.path.join(folder, "cases.json"), encoding="utf-8") as file:
        cases = json.load(file)
    for case in cases:
        print(json.dumps([case["name"], of_case(folder, case)]), flush=True)


def run_test(main, of_case):
    """A test that runs itself again in other Pythons. It begins in whichever has NumPy and torch:
    Debian's."""
    if sys.argv[1:2] == ["--answer"]:
        return answer(sys.argv[2], of_case)
    faults = main()
    print("\n".join(faults))
    sys.exit(1 if faults else 0)
