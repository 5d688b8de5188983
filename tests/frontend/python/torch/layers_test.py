#!/usr/bin/python3
"""Every layer of torch.nn with random arguments, in PyTorch and in our reader: constructor,
attributes, text, parameters, buffers, and what forward runs.
layers_test.py [--seed N] [--rounds N] [CLASS...]     Exits 77 without python3-torch."""
import json
import os
import random
import re
import subprocess
import sys
import tempfile

os.environ.setdefault("OMP_NUM_THREADS", "1")
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
BIN = os.environ.get("COBRA_BIN", "build/release/bin")

# class: (arguments, input shapes). {a|b|c} is one of them at random; $k what the k-th choice of the
# arguments was. A shape may end in :int64.
IMAGE, SIGNAL, VOLUME, VECTORS = ["2x4x9x10"], ["2x4x11"], ["1x4x7x6x8"], ["3x5x8"]
ANY = ["{2x4x9x10|3x6|2x4x8}"]
CONV = "{4|8}, {4|8}, {1|2|3}, stride={1|2}, padding={0|1}, dilation={1|2}, groups={1|2|4}, bias={True|False}"
TRANSPOSED = "{4|8}, {4|8}, {2|3}, stride={2|3}, padding={0|1}, output_padding={0|1}, groups={1|2}, bias={True|False}, dilation={1|2}"
NORM = "{4|8}, eps={1e-05|0.001}, momentum={0.1|None}, affine={True|False}, track_running_stats={True|False}"
INSTANCE = NORM.replace("0.1|None", "0.1")
POOL = "{2|3}, stride={None|1|2}, padding={0|1}, ceil_mode={False|True}"
LOSS = "reduction={'mean'|'sum'|'none'}"
PAIR = ["3x5", "3x5"]
MHA = "8, {1|2|4}, dropout={0.0|0.1}, bias={True|False}, add_bias_kv={True|False}, add_zero_attn={True|False}, batch_first={True|False}"
BLOCK = "8, {1|2}, {16|32}, {0.0|0.1}, {'relu'|'gelu'|F.gelu}, batch_first={True|False}, norm_first={True|False}"
RECURRENT = (
    "6, {4|8}, {1|2}, bias={True|False}, batch_first={True|False}, dropout={0.0|0.2}, bidirectional={True|False}"
)
CASES = {
    "AdaptiveAvgPool1d": ("{1|3|(5,)}", SIGNAL),
    "AdaptiveAvgPool2d": ("{1|3|(2, 3)|(None, 4)}", IMAGE),
    "AdaptiveAvgPool3d": ("{1|2|(1, 2, 3)}", VOLUME),
    "AdaptiveMaxPool1d": ("{1|3}, return_indices={True|False}", SIGNAL),
    "AdaptiveMaxPool2d": ("{1|(2, 3)}, return_indices={True|False}", IMAGE),
    "AdaptiveMaxPool3d": ("{1|(1, 2, 3)}, return_indices={True|False}", VOLUME),
    "AdaptiveLogSoftmaxWithLoss": ("8, 20, [5, 12], div_value={2.0|4.0}, head_bias={True|False}", None),
    "AlphaDropout": ("{0.5|0.1}", VECTORS),
    "AvgPool1d": (POOL + ", count_include_pad={True|False}", SIGNAL),
    "AvgPool2d": (POOL + ", count_include_pad={True|False}, divisor_override={None|3}", IMAGE),
    "AvgPool3d": (POOL + ", count_include_pad={True|False}, divisor_override={None|3}", VOLUME),
    "BCELoss": (LOSS, PAIR),
    "BCEWithLogitsLoss": (LOSS, PAIR),
    "BatchNorm1d": (NORM, ["{2x$0x6|3x$0}"]),
    "BatchNorm2d": (NORM, ["2x$0x6x5"]),
    "BatchNorm3d": (NORM, ["2x$0x3x6x5"]),
    "Bilinear": ("{4|8}, {3|5}, {2|6}, bias={True|False}", ["2x$0", "2x$1"]),
    "CELU": ("{1.0|0.5}, inplace={True|False}", ANY),
    "CTCLoss": ("blank={0|1}, zero_infinity={True|False}", None),
    "ChannelShuffle": ("{2|4}", IMAGE),
    "ConstantPad1d": ("{2|(1, 2)}, {0.0|1.5}", SIGNAL),
    "ConstantPad2d": ("{2|(1, 2, 0, 3)}, {0.0|1.5}", IMAGE),
    "ConstantPad3d": ("{1|(1, 2, 0, 3, 1, 1)}, 0.5", VOLUME),
    "Conv1d": (CONV + ", padding_mode={'zeros'|'circular'|'reflect'|'replicate'}", ["2x$0x14"]),
    "Conv2d": (CONV + ", padding_mode={'zeros'|'circular'|'reflect'|'replicate'}", ["2x$0x12x9"]),
    "Conv3d": (CONV + ", padding_mode={'zeros'|'circular'|'replicate'}", ["1x$0x7x8x9"]),
    "ConvTranspose1d": (TRANSPOSED, ["2x$0x7"]),
    "ConvTranspose2d": (TRANSPOSED, ["2x$0x7x6"]),
    "ConvTranspose3d": (TRANSPOSED, ["1x$0x4x5x6"]),
    "CosineEmbeddingLoss": ("{0.0|0.5}, " + LOSS, ["3x5", "3x5", "3"]),
    "CosineSimilarity": ("dim={1|-1|0}, eps={1e-08|1e-06}", ["3x5x4", "3x5x4"]),
    "CrossEntropyLoss": (LOSS + ", label_smoothing={0.0|0.1}", ["3x5", "3:int64"]),
    "CrossMapLRN2d": ("{3|5}", None),
    "DataParallel": ("nn.Linear(8, {3|4})", VECTORS),
    "Dropout": ("{0.5|0.1}, inplace={True|False}", ANY),
    "Dropout1d": ("{0.5|0.1}", SIGNAL),
    "Dropout2d": ("{0.5|0.1}", IMAGE),
    "Dropout3d": ("{0.5|0.1}", VOLUME),
    "ELU": ("{1.0|0.5}, inplace={True|False}", ANY),
    "Embedding": ("{10|20}, {4|6}, padding_idx={None|0|-1}, max_norm={None|None}, sparse={True|False}", ["3x5:int64"]),
    "EmbeddingBag": ("{10|20}, {4|6}, mode={'sum'|'mean'|'max'}, padding_idx={None|0}", ["3x5:int64"]),
    "FeatureAlphaDropout": ("{0.5|0.1}", IMAGE),
    "Flatten": ("{1|0|2}, {-1|2}", IMAGE),
    "Fold": ("(6, 8), {2|(2, 2)}, stride={2|2}, padding=0", ["2x12x12"]),
    "FractionalMaxPool2d": ("{2|3}, output_size={3|(4, 5)}, return_indices=False", None),
    "FractionalMaxPool3d": ("2, output_ratio={0.5|0.7}", None),
    "GELU": ("approximate={'none'|'tanh'}", ANY),
    "GLU": ("{-1|0}", ["4x6"]),
    "GRU": (RECURRENT, ["3x5x6"]),
    "GRUCell": ("{6|4}, {5|8}, bias={True|False}", ["{3x$0|$0}"]),
    "GaussianNLLLoss": ("full={True|False}, " + LOSS, PAIR + ["3x5"]),
    "GroupNorm": ("{1|2|4}, {4|8}, eps={1e-05|0.01}, affine={True|False}", ["2x$1x5x6"]),
    "Hardshrink": ("{0.5|0.3}", ANY),
    "Hardsigmoid": ("inplace={True|False}", ANY),
    "Hardswish": ("inplace={True|False}", ANY),
    "Hardtanh": ("{-1.0|-2.0}, {1.0|3.0}, inplace={True|False}", ANY),
    "HingeEmbeddingLoss": ("{1.0|0.5}, " + LOSS, PAIR),
    "HuberLoss": (LOSS + ", delta={1.0|0.5}", PAIR),
    "Identity": ("{1|'a'|}", ANY),
    "InstanceNorm1d": (INSTANCE, ["{2x$0x6|$0x6}"]),
    "InstanceNorm2d": (INSTANCE, ["{2x$0x6x5|$0x6x5}"]),
    "InstanceNorm3d": (INSTANCE, ["2x$0x3x6x5"]),
    "KLDivLoss": (LOSS + ", log_target={True|False}", PAIR),
    "L1Loss": (LOSS, PAIR),
    "LPPool1d": ("{1|2.0|3}, {2|3}, stride={None|2}, ceil_mode={True|False}", SIGNAL),
    "LPPool2d": ("{1|2.0|3}, {2|(3, 2)}, stride={None|2}, ceil_mode={True|False}", IMAGE),
    "LSTM": (RECURRENT + ", proj_size={0|3}", ["3x5x6"]),
    "LSTMCell": ("{6|4}, {5|8}, bias={True|False}", ["{3x$0|$0}"]),
    "LayerNorm": ("{8|(5, 8)|[8]}, eps={1e-05|1e-06}, elementwise_affine={True|False}", VECTORS),
    "LazyBatchNorm1d": ("affine={True|False}", None),
    "LazyBatchNorm2d": ("eps={1e-05|0.1}", None),
    "LazyBatchNorm3d": ("", None),
    "LazyConv1d": ("{4|8}, 3", None),
    "LazyConv2d": ("{4|8}, 3, groups={1|2}", None),
    "LazyConv3d": ("4, 3", None),
    "LazyConvTranspose1d": ("4, 3", None),
    "LazyConvTranspose2d": ("4, 3, stride=2", None),
    "LazyConvTranspose3d": ("4, 3", None),
    "LazyInstanceNorm1d": ("", None),
    "LazyInstanceNorm2d": ("", None),
    "LazyInstanceNorm3d": ("", None),
    "LazyLinear": ("{4|8}, bias={True|False}", None),
    "LeakyReLU": ("{0.01|0.2}, inplace={True|False}", ANY),
    "Linear": ("{8|8}, {4|16}, bias={True|False}", VECTORS),
    "LocalResponseNorm": ("{2|3|5}, alpha={0.0001|0.01}, beta={0.75|0.5}, k={1.0|2.0}", IMAGE),
    "LogSigmoid": ("", ANY),
    "LogSoftmax": ("dim={1|-1|0}", ANY),
    "MSELoss": (LOSS, PAIR),
    "MarginRankingLoss": ("{0.0|0.5}, " + LOSS, ["5", "5", "5"]),
    "MaxPool1d": (POOL + ", dilation={1|2}, return_indices={True|False}", SIGNAL),
    "MaxPool2d": (POOL + ", dilation={1|2}, return_indices={True|False}", IMAGE),
    "MaxPool3d": (POOL + ", return_indices={True|False}", VOLUME),
    "MaxUnpool1d": ("{2|3}, stride={None|2}", None),
    "MaxUnpool2d": ("{2|(3, 2)}, padding={0|1}", None),
    "MaxUnpool3d": ("{2|3}", None),
    "Mish": ("inplace={True|False}", ANY),
    "Module": ("", None),
    "ModuleDict": ("{dict(a=nn.ReLU(), b=nn.Linear(3, 4))|}", None),
    "ModuleList": ("{[nn.ReLU(), nn.Linear(3, 4)]|}", None),
    "MultiLabelMarginLoss": (LOSS, None),
    "MultiLabelSoftMarginLoss": (LOSS, PAIR),
    "MultiMarginLoss": ("{1|2}, {1.0|0.5}, " + LOSS, ["3x5", "3:int64"]),
    "MultiheadAttention": (MHA, ["3x5x8", "3x5x8", "3x5x8"]),
    "NLLLoss": (LOSS, ["3x5", "3:int64"]),
    "PReLU": ("{1|4}, {0.25|0.1}", IMAGE),
    "PairwiseDistance": ("{2.0|1.0}, keepdim={True|False}", PAIR),
    "ParameterDict": ("{dict(a=torch.zeros(3), b=nn.Parameter(torch.ones(2)))|}", None),
    "ParameterList": ("{[torch.zeros(3), nn.Parameter(torch.ones(2))]|}", None),
    "PixelShuffle": ("2", IMAGE),
    "PixelUnshuffle": ("2", ["2x3x4x6"]),
    "PoissonNLLLoss": ("log_input={True|False}, full={True|False}, " + LOSS, PAIR),
    "RNN": (RECURRENT + ", nonlinearity={'tanh'|'relu'}", ["3x5x6"]),
    "RNNCell": ("{6|4}, {5|8}, bias={True|False}, nonlinearity={'tanh'|'relu'}", ["{3x$0|$0}"]),
    "RReLU": ("{0.125|0.1}, {0.3333333333333333|0.4}, inplace={True|False}", ANY),
    "ReLU": ("inplace={True|False}", ANY),
    "ReLU6": ("inplace={True|False}", ANY),
    "ReflectionPad1d": ("{2|(1, 2)}", SIGNAL),
    "ReflectionPad2d": ("{2|(1, 2, 0, 3)}", IMAGE),
    "ReflectionPad3d": ("{1|(1, 2, 0, 3, 1, 1)}", VOLUME),
    "ReplicationPad1d": ("{2|(1, 2)}", SIGNAL),
    "ReplicationPad2d": ("{2|(1, 2, 0, 3)}", IMAGE),
    "ReplicationPad3d": ("{1|(1, 2, 0, 3, 1, 1)}", VOLUME),
    "SELU": ("inplace={True|False}", ANY),
    "Sequential": (
        "{nn.Linear(8, 4), nn.ReLU(), nn.Dropout(0.1)|OrderedDict([('fc', nn.Linear(8, 4)), ('act', nn.GELU())])|}",
        VECTORS,
    ),
    "SiLU": ("inplace={True|False}", ANY),
    "Sigmoid": ("", ANY),
    "SmoothL1Loss": (LOSS + ", beta={1.0|0.5}", PAIR),
    "SoftMarginLoss": (LOSS, PAIR),
    "Softmax": ("dim={1|-1|0}", ANY),
    "Softmax2d": ("", IMAGE),
    "Softmin": ("dim={1|-1}", ANY),
    "Softplus": ("{1|2.0}, {20|10}", ANY),
    "Softshrink": ("{0.5|0.2}", ANY),
    "Softsign": ("", ANY),
    "SyncBatchNorm": (NORM, None),
    "Tanh": ("", ANY),
    "Tanhshrink": ("", ANY),
    "Threshold": ("{0.1|0.5}, {20|1.0}, inplace={True|False}", ANY),
    "Transformer": (
        "8, 2, 1, {1|2}, 16, batch_first={True|False}, norm_first={True|False}, activation={'relu'|'gelu'}",
        ["3x5x8", "3x5x8"],
    ),
    "TransformerDecoder": (
        "nn.TransformerDecoderLayer(8, 2, 16, batch_first={True|False}), 2, norm={None|nn.LayerNorm(8)}",
        ["3x5x8", "3x5x8"],
    ),
    "TransformerDecoderLayer": (BLOCK, ["3x5x8", "3x5x8"]),
    "TransformerEncoder": ("nn.TransformerEncoderLayer(8, 2, 16, batch_first={True|False}), {1|2}", VECTORS),
    "TransformerEncoderLayer": (BLOCK, VECTORS),
    "TripletMarginLoss": ("{1.0|0.5}, swap={True|False}, " + LOSS, PAIR + ["3x5"]),
    "TripletMarginWithDistanceLoss": ("margin={1.0|0.5}, swap={True|False}, " + LOSS, PAIR + ["3x5"]),
    "Unflatten": ("1, {(2, 2)|(4, 1)}", IMAGE),
    "Unfold": ("{2|(2, 3)}, dilation={1|2}, padding={0|1}, stride={1|2}", IMAGE),
    "Upsample": (
        "{size=(7, 5), mode='nearest'|scale_factor=2, mode='bilinear', align_corners=True|scale_factor=(2.0, 1.5), mode='bicubic'}",
        IMAGE,
    ),
    "UpsamplingBilinear2d": ("scale_factor={2|3}", IMAGE),
    "UpsamplingNearest2d": ("{scale_factor=2|size=(5, 6)}", IMAGE),
    "ZeroPad2d": ("{2|(1, 2, 0, 3)}", IMAGE),
}
# Deprecated names, and what is tested by itself.
LEFT_OUT = {
    "Container",
    "NLLLoss2d",
    "Parameter",
    "UninitializedParameter",
    "UninitializedBuffer",
    "RNNBase",
    "RNNCellBase",
}
HEAD = """import torch
import torch.nn as nn
import torch.nn.functional as F
from collections import OrderedDict


def plain(value):
    return value is None or isinstance(value, (int, float, bool, str)) or isinstance(value, (tuple, list)) and all(plain(v) for v in value)


def described(module):
    attributes = [(k, v) for k, v in sorted(vars(module).items()) if k[0] != '_' and plain(v)]
    buffers = [(n, tuple(b.shape) if not isinstance(b, nn.parameter.UninitializedBuffer) else '?') for n, b in module.named_buffers()]
    return repr((type(module).__name__, type(module).__module__.startswith('torch.nn.'), attributes, buffers, str(module)))


def show(module):
    raise RuntimeError(described(module))


"""


def choose(text, rng, chosen):
    def pick(match):
        chosen.append(rng.choice(match.group(1).split("|")))
        return chosen[-1]

    return re.sub(r"\{([^{}]*)\}", pick, text)


def instance(name, rng):
    """(expression, input shapes or None)"""
    arguments, shapes = CASES[name]
    chosen = []
    expression = "nn.%s(%s)" % (name, choose(arguments, rng, chosen))
    if shapes is None:
        return expression, None
    at = lambda text: re.sub(r"\$(\d)", lambda m: chosen[int(m.group(1))], text)
    return expression, [at(choose(s, rng, [])) for s in shapes]


def real(space, expression, shapes):
    """(description, record) of PyTorch; the error where it raises one."""
    import make_goldens
    import torch

    try:
        module = eval(expression, space)
        text = space["described"](module)
        module.eval()
    except Exception as e:
        return "error: " + str(e), None
    if shapes is None:
        return text, None
    inputs = []
    for shape in shapes:
        sizes, _, dtype = shape.partition(":")
        sizes = [int(s) for s in sizes.split("x")]
        inputs.append(torch.zeros(sizes, dtype=getattr(torch, dtype)) if dtype else torch.rand(sizes))
    try:
        return text, make_goldens.record(module, inputs)
    except Exception as e:
        return text, {"error": str(e)}


def main():
    try:
        import graph_equality_test
        import make_goldens
        import torch
    except ImportError:
        print("python3-torch is not installed")
        return 77
    arguments = sys.argv[1:]
    option = lambda name, default: int(arguments.pop(arguments.index(name) + 1)) if name in arguments else default
    seed, rounds = option("--seed", 1), option("--rounds", 4)
    wanted = [a for a in arguments if not a.startswith("--")]
    classes = sorted(n for n in dir(torch.nn) if isinstance(getattr(torch.nn, n), type) and n not in LEFT_OUT)
    missing = [n for n in classes if n not in CASES]
    rng = random.Random(seed)
    cases = []
    for name in wanted or [n for n in classes if n in CASES]:
        cases += [(name, *instance(name, rng)) for _ in range(rounds)]
    with tempfile.TemporaryDirectory() as folder:
        with open(folder + "/layers.py", "w") as f:
            f.write(HEAD)
        lines = []
        for name, expression, shapes in cases:
            lines.append("%s/layers.py\tshow(%s)\t1" % (folder, expression))
            lines.append("%s/layers.py\t%s\t%s" % (folder, expression, ",".join(shapes or ["1"])))
        answer = subprocess.run(
            [BIN + "/read_model", "--batch"], input="\n".join(lines) + "\n", capture_output=True, text=True
        )
    graphs = [json.loads(line) for line in answer.stdout.splitlines()]
    space = {}
    exec(HEAD, space)
    torch.manual_seed(0)
    wrong = len(lines) - len(graphs)
    for (name, expression, shapes), shown, graph in zip(cases, graphs[::2], graphs[1::2]):
        text, record = real(space, expression, shapes)
        raised = re.search("RuntimeError: (.*)", shown.get("error", ""))
        have = raised.group(1) if raised else ""
        if text.startswith("error: "):
            why = None if "error" in shown else "PyTorch raises " + text
        elif (
            have.endswith(" ...")
            and len(have) > 1000
            and any(t.startswith(have[:-4]) for t in (text, text.replace("\n", "\\n")))
        ):
            why = None  # a diagnostic cuts long messages
        elif have != text.replace("\n", "\\n") and have != text:
            why = "described as\n   %s, PyTorch\n   %s" % (have or shown["error"].split("\n")[0], text)
        elif record is not None and "error" in record:
            why = None if "error" in graph else "PyTorch raises " + record["error"]
        else:
            why = record and graph_equality_test.difference(record, graph, strict=False)
        if why:
            wrong += 1
            print("DIFFERS %s: %s" % (expression, why[:900]))
    for name in missing:
        print("NOT TESTED", name)
    print(
        "%d layers, %d instances (seed %d), %d different %s"
        % (len(set(c[0] for c in cases)), len(cases), seed, wrong, answer.stderr[:300])
    )
    return 1 if wrong or missing else 0


if __name__ == "__main__":
    sys.exit(main())
