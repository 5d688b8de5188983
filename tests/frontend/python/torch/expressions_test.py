#!/usr/bin/python3
"""Every line of expressions.txt in real PyTorch and in our reader: same shapes and dtypes, or an
error from both. Exits 77 without python3-torch."""
import json
import os
import subprocess
import sys
import tempfile

try:
    import torch
    import torch.nn.functional as F
except ImportError:
    print("python3-torch is not installed")
    sys.exit(77)

HERE = os.path.dirname(os.path.abspath(__file__))
BIN = os.environ.get("COBRA_BIN", "build/release/bin")
INPUTS = {
    "x": ([2, 3, 8, 8], "float32"),
    "y": ([4, 6], "float32"),
    "v": ([6], "float32"),
    "s": ([], "float32"),
    "i": ([4, 6], "int64"),
    "j": ([3], "int64"),
    "m": ([4, 6], "bool"),
    "h": ([4, 6], "float16"),
    "t": ([2, 5, 16], "float32"),
}


def text(shape, dtype):
    return ("x".join(map(str, shape)) or "scalar") + ":" + dtype


def flat(value):
    return [value] if isinstance(value, torch.Tensor) else [t for v in value for t in flat(v)]


def real(expression, inputs):
    try:
        return [
            text(list(t.shape), str(t.dtype)[6:]) for t in flat(eval(expression, {"torch": torch, "F": F, **inputs}))
        ]
    except Exception as e:
        return "error: %s: %s" % (type(e).__name__, str(e).split("\n")[0][:150])


def ours(graph):
    if "error" in graph:
        return "error: " + graph["error"].split("\n")[0]
    named, constants = list(INPUTS.values()), iter(graph.get("output_consts", []))
    out = []
    for s in graph["output"]:
        if s == "c":
            c = graph["constants"][next(constants)]
            out.append(text(c["shape"], c["dtype"]))
        elif isinstance(s, str):
            out.append(text(*named[int(s[3:])]))
        else:
            k, o = s if isinstance(s, list) else (s, 0)
            op = graph["ops"][k]
            out.append(text(op["out"][o], op["dtype"][o] if "dtype" in op else "float32"))
    return out


def main():
    torch.manual_seed(0)
    inputs = {}
    for name, (shape, dtype) in INPUTS.items():
        dtype = getattr(torch, dtype)
        inputs[name] = (
            torch.randn(shape).to(dtype)
            if dtype.is_floating_point
            else torch.randint(0, 2 if dtype == torch.bool else 3, shape).to(dtype)
        )
    lines = [line.rstrip("\n") for line in open(HERE + "/expressions.txt") if line.strip() and line[0] != "#"]
    with tempfile.TemporaryDirectory() as folder:
        path = folder + "/cases.py"
        with open(path, "w") as f:
            f.write("import torch\nimport torch.nn.functional as F\n\n")
            for k, line in enumerate(lines):
                f.write(
                    "\n\nclass E%d(torch.nn.Module):\n    def forward(self, %s):\n        return %s\n"
                    % (k, ", ".join(INPUTS), line)
                )
        shapes = ",".join(text(*v) for v in INPUTS.values())
        requests = "".join("%s\tE%d()\t%s\n" % (path, k, shapes) for k in range(len(lines)))
        answer = subprocess.run([BIN + "/read_model", "--batch"], input=requests, capture_output=True, text=True)
    graphs = [json.loads(line) for line in answer.stdout.splitlines()]
    wrong = len(lines) - len(graphs)
    for line, graph in zip(lines, graphs):
        want, have = real(line, inputs), ours(graph)
        both_fail = isinstance(want, str) and isinstance(have, str) and "error: " in have
        if want != have and not both_fail:
            wrong += 1
            print("DIFFERS  %s\n   PyTorch %s\n   ours    %s" % (line, want, have))
        elif both_fail and "-v" in sys.argv:
            print("both refuse  %s\n   PyTorch %s\n   ours    %s" % (line, want, have))
    print("%d of %d agree" % (len(lines) - wrong, len(lines)), answer.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
