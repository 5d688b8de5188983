#!/usr/bin/python3
"""Every line of numpy_cases.txt in real numpy and in our reader: same type, dtype, shape and
values, or an exception of the same type. Exits 77 without python3-numpy and python3-torch."""
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


FILES = """
import hashlib
import numpy as np


def described(v):
    return str(v.dtype), v.shape, repr(v.tolist())


found = []
for name in ("plain.npz", "packed.npz"):
    with np.load(name) as archive:
        found += [(key, described(archive[key])) for key in archive.files if key not in ("text", "large")]
for name in ("one.npy", "half.npy"):
    found.append(described(np.load(name)))
with open("plain.npz", "rb") as stream:
    found.append(described(np.load(stream)["a"]))
found.append(sorted(dict(np.load("plain.npz"))))
raise KeyboardInterrupt(" ".join(hashlib.sha256(str(v).encode()).hexdigest()[:12] for v in found))
"""
LARGE = """
import numpy as np
import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("weight", torch.from_numpy(np.load("packed.npz")["large"]).float())

    def forward(self, x):
        return x @ self.weight


class Branch(Net):
    def forward(self, x):
        return x if self.weight.sum() > 0 else x + 1
"""


def client(folder, file, entry):
    command = [BIN + "/cobra-client", "graph", f"{folder}/{file}", "--entry", entry, "--input", "4x100"]
    done = subprocess.run(command, capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def wrong_files():
    """What of files that numpy saved is not as numpy loads them."""
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        numpy.savez(
            folder + "/plain.npz", a=numpy.arange(6.0).reshape(2, 3), b=numpy.array([True]), text=numpy.array(["x"])
        )
        drawn = numpy.random.RandomState(0)
        numpy.savez_compressed(
            folder + "/packed.npz",
            a=numpy.linspace(0, 1, 500),
            zeros=numpy.zeros((40, 40)),
            short=numpy.arange(-3, 4, dtype=numpy.int16),
            drawn=drawn.rand(300),
            columns=numpy.asfortranarray(numpy.arange(6).reshape(2, 3)),
            large=numpy.zeros((100, 700)),
        )
        numpy.save(folder + "/one.npy", numpy.array([[1e-310, -0.0], [-numpy.inf, 3e300]]))
        numpy.save(folder + "/half.npy", numpy.array([0.1, -65504, 6e-8], dtype=numpy.float16))
        for name, text in (("files.py", FILES), ("large.py", LARGE)):
            with open(f"{folder}/{name}", "w") as f:
                f.write(text)
        before = os.getcwd()
        os.chdir(folder)
        try:
            exec(FILES, {})
        except KeyboardInterrupt as e:
            want = str(e)
        os.chdir(before)
        _, text = client(folder, "files.py", "Net()")
        have = re.search("KeyboardInterrupt: (.*)", text)
        if have is None or have.group(1) != want:
            wrong.append(f"numpy.load: {text[:500]}, not {want}")
        if (client(folder, "large.py", "Net()")[0], client(folder, "large.py", "Branch()")[0]) != (0, 4):
            wrong.append("a large array: " + client(folder, "large.py", "Branch()")[1][:300])
    return wrong


NAMES = """
import numpy as np


def lacking(names, *objects):
    return [name for name in names if not all(hasattr(o, name) for o in objects)]
"""
# What a lack of it shows: exit code 4 for what NumPy has, that of a wrong --entry for what it has
# not, 0 for what is only asked for or passed on.
USES = {
    "np.asmatrix([1])": 4,
    "np.zeros(2).partition(1)": 4,
    "np.zeros(2).view(np.uint8)": 4,
    "np.zeros(2)[::-1].fill(1)": 4,
    "np.zeros(2, dtype=np.uint16)": 4,
    "np.array(['a'])": 4,
    "np.add([1], 1, signature='ll->l')": 4,
    "np.zeros(2, like=np.ones(1))": 4,
    "np.seterr(all='raise')": 4,
    "np.array([2**60 + 1])": 4,
    "np.bogus": 2,
    "np.int": 2,
    "np.zeros(2).bogus": 2,
    "np.add([1], 1, bogus=1)": 2,
    "(np.asmatrix, np.polyfit, np.zeros(2).ctypes, np.seterr(all='ignore'))": 0,
}


def wrong_names():
    """Names that NumPy has and programs would not see here, and uses of them that end in the wrong
    way."""
    groups = [
        ([n for n in dir(numpy) if n[0] != "_"], "np"),
        ([n for n in dir(numpy.ndarray) if n[:2] != "__" and n != "base"], "np.ndarray, np.zeros(2)"),
        ([n for n in dir(numpy.float64) if n[:2] != "__"], "np.float64, np.float32(1), np.float16"),
        ([n for n in dir(numpy.int64) if n[:2] != "__"], "np.int64, np.uint8(1), np.int16"),
        ([n for n in dir(numpy.bool_) if n[:2] != "__"], "np.bool_, np.any([1])"),
        ([n for n in dir(numpy.ufunc) if n[0] != "_"], "np.add, np.sin"),
        ([n for n in dir(numpy.dtype("f4")) if n[0] != "_"], "np.dtype('f4')"),
        ([n for n in dir(numpy.finfo("f4")) if n[0] != "_"], "np.finfo('f4')"),
    ]
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        with open(folder + "/names.py", "w") as f:
            f.write(NAMES + "\n\nasked = [%s]\n" % ", ".join("lacking(%r, %s)" % g for g in groups))
            f.write("\n\ndef use(made):\n    made()\n    return torch.nn.Identity()\n\n\nimport torch\n")
            f.write("\n\ndef show():\n    raise KeyboardInterrupt(asked)\n")
        _, text = client(folder, "names.py", "show()")
        if "KeyboardInterrupt: [%s]" % ", ".join("[]" for _ in groups) not in text:
            wrong.append("names: " + text[-600:])
        for use, want in USES.items():
            have, text = client(folder, "names.py", "use(lambda: %s)" % use)
            if have != want:
                wrong.append("%s: exit code %d, not %d: %s" % (use, have, want, text[-300:]))
    return wrong


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
    for text in wrong_files() + wrong_names():
        wrong += 1
        print(text)
    print("%d expressions, %d different %s" % (len(lines), wrong, answer.stderr[:300]))
    return 1 if wrong or len(graphs) != len(lines) else 0


if __name__ == "__main__":
    sys.exit(main())
