#!/usr/bin/python3
"""Every line of numpy_cases.txt in real numpy and in our reader: same type, dtype, shape and values, or an exception of
the same type. Exits 77 without python3-numpy and python3-torch."""
import json
import math
import os
import re
import subprocess
import sys
import tempfile

try:
    import numpy
    import torch
except ImportError:
    print("python3-numpy or python3-torch is not installed")
    sys.exit(77)

HERE = os.path.dirname(os.path.abspath(__file__))
BIN = os.environ.get("COBRA_BIN", "build/release/bin")
HEAD = """import math
import numpy as np
import torch


def parts(v):
    return [parts(e) for e in v] if isinstance(v, list) else [v.real, v.imag] if isinstance(v, complex) else v


def described(v):
    if isinstance(v, np.ndarray):
        return ['array', str(v.dtype), list(v.shape), parts(v.tolist())]
    if isinstance(v, torch.Tensor):
        return ['tensor', str(v.dtype), list(v.shape), v.tolist()]
    if isinstance(v, (list, tuple)):
        return [type(v).__name__] + [described(e) for e in v]
    if isinstance(v, (complex, np.complexfloating)):
        return ['complex', float(v.real), float(v.imag)]
    if v is None or isinstance(v, (bool, np.bool_, str)):
        return str(v)
    return float(v) if isinstance(v, (float, np.floating)) else int(v) if isinstance(v, (int, np.integer)) else str(v)


def show(f):
    try:
        text = repr(described(f()))
    except Exception as e:
        text = 'raises ' + type(e).__name__
    raise KeyboardInterrupt(text)
"""


def same(a, b, narrow=False):
    if isinstance(a, list) and isinstance(b, list):
        narrow = narrow or "float32" in a  # one unit in the last place
        return len(a) == len(b) and all(same(x, y, narrow) for x, y in zip(a, b))
    if isinstance(a, float) and isinstance(b, float):
        return (
            a == b
            or math.isnan(a)
            and math.isnan(b)
            or math.isclose(a, b, rel_tol=3e-7 if narrow else 1e-12, abs_tol=2e-15)
        )
    return type(a) is type(b) and a == b


def main():
    lines = [line.rstrip("\n") for line in open(HERE + "/numpy_cases.txt") if line.strip() and line[0] != "#"]
    with tempfile.TemporaryDirectory() as folder:
        path = folder + "/cases.py"
        with open(path, "w") as f:
            f.write(HEAD)
        requests = "".join("%s\tshow(lambda: %s)\t1\n" % (path, line) for line in lines)
        answer = subprocess.run([BIN + "/read_model", "--batch"], input=requests, capture_output=True, text=True)
    space, constants = {}, {"inf": math.inf, "nan": math.nan}
    exec(HEAD, space)
    wrong = 0
    graphs = [json.loads(line) for line in answer.stdout.splitlines()]
    for line, graph in zip(lines, graphs):
        try:
            exec("show(lambda: %s)" % line, space)
        except KeyboardInterrupt as e:
            want = str(e)
        raised = re.search("KeyboardInterrupt: (.*)", graph.get("error", ""))
        have = raised.group(1) if raised else graph.get("error", "no error")
        try:
            equal = want == have or same(eval(want, constants), eval(have, constants))
        except SyntaxError:
            equal = False
        if not equal:
            wrong += 1
            print("DIFFERS  %s\n   numpy %s\n   ours  %s" % (line, want[:300], have[:300]))
    print("%d expressions, %d different %s" % (len(lines), wrong, answer.stderr[:300]))
    return 1 if wrong or len(graphs) != len(lines) else 0


if __name__ == "__main__":
    sys.exit(main())
