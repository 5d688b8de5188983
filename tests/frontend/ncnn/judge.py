#!/usr/bin/env python3
"""ncnn itself as the judge of frontend/ncnn: `scripts/test-long.sh ncnn` (its PyPI package:
scripts/setup.sh --pypi).

Every .param file of data/lists/ncnn is loaded with random weights, every blob is extracted, and its
shape compared with ours.
Then --cases random files of one layer each. Where our graph can run, its outputs' values are
compared too.
"""
import argparse, os, random, struct, subprocess, sys, tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.environ.get("COBRA_SOURCE", os.path.join(HERE, "../../.."))
BIN = os.environ.get("COBRA_BIN", os.path.join(SOURCE, "build/release/bin"))
sys.path.insert(0, HERE)
import rare_layers, single_layers

TOLERANCE = 2e-3  # of the largest value: ncnn uses its own exp, Winograd and half precision nowhere

# Values that are known to differ, with the reason; shapes never do.
DIFFERENT_VALUES = {
    "GRU": "the graph has PyTorch's weights, which are not the arrays of the .bin file",
    "LSTM": "as GRU",
    "RNN": "as GRU",
    "PriorBox": "its table is a constant, whose values the graph does not have",
    "Requantize": "its scales are in the .bin file and not in the graph's calls",
}


def floats(numpy, count, seed, kind):
    generator = numpy.random.default_rng(seed)
    values = generator.uniform(0.2, 1.0, count)
    if kind == "weight":
        values *= generator.choice([-1.0, 1.0], count)
    return values.astype("float32")


class Reader:
    """Our reader as a process that answers line by line."""

    def __init__(self):
        command = [os.path.join(BIN, "ncnn_graph"), "--serve"]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, path, inputs, folder=None):
        """({blob: shape or None}, [(has_flag, shape, name)], {blob: output}, error)"""
        words = (["--run", folder] if folder else []) + [path] + inputs
        self.process.stdin.write(" ".join(words) + "\n")
        self.process.stdin.flush()
        blobs, weights, outputs = {}, [], {}
        for line in self.process.stdout:
            words = line.rstrip("\n").split(" ")
            if words[0] == "end":
                return blobs, weights, outputs, None
            if words[0] == "blob":
                blobs[words[1]] = None if words[2] == "open" else tuple(int(d) for d in words[2].split("x"))[1:]
            elif words[0] == "weight":
                weights.append((words[1] == "1", tuple(int(d) for d in words[2].split("x")), words[4]))
            elif words[0] == "output":
                outputs[words[2]] = int(words[1])
            elif words[0] == "error":
                self.process.stdout.readline()
                return blobs, weights, outputs, " ".join(words[1:])
        raise SystemExit("our reader ended while it read %s" % path)


def write_weights(numpy, path, weights):
    """The .bin file: arrays one after the other, some with four bytes in front that say float32."""
    with open(path, "wb") as out:
        for i, (has_flag, shape, name) in enumerate(weights):
            count = int(numpy.prod(shape))
            if name == "none" and not has_flag:
                values = numpy.full(count, 50, "float32")  # a scale of int8
            else:
                values = floats(numpy, count, i, "weight")
                if len(shape) > 1:  # keeps the size of activations from layer to layer
                    values *= numpy.sqrt(2.0 / max(1, int(numpy.prod(shape[1:])))) / 0.64
                if name.endswith("running_var") or name.endswith("data"):
                    values = abs(values)
            if has_flag:
                out.write(struct.pack("<I", 0))
            out.write(values.tobytes())


def ask_ncnn(numpy, ncnn, param, weights, inputs, names):
    """{blob: array}; a blob that ncnn does not compute is absent."""
    net = ncnn.Net()
    net.opt.use_vulkan_compute = False
    net.opt.num_threads = 1
    net.opt.lightmode = False
    net.opt.use_fp16_packed = net.opt.use_fp16_storage = net.opt.use_fp16_arithmetic = False
    net.opt.use_bf16_storage = False
    if net.load_param(param) != 0 or net.load_model(weights) != 0:
        return None
    extractor = net.create_extractor()
    for name, values in inputs.items():
        extractor.input(name, ncnn.Mat(values).clone())  # a Mat of an array does not keep it alive
    found = {}
    for name in names:
        status, mat = extractor.extract(name)
        if status == 0:
            found[name] = numpy.array(mat)
    return found


def in_child(function):
    """function() in a separate process, which may crash: (result, None) or (None, why)."""
    import pickle

    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(read)
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
            with os.fdopen(write, "wb") as out:
                pickle.dump(function(), out)
        finally:
            os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        data = pipe.read()
    _, status = os.waitpid(child, 0)
    return (pickle.loads(data), None) if data else (None, "ncnn ends with status %d" % status)


class Judge:
    def __init__(self, numpy, ncnn, folder):
        self.numpy, self.ncnn, self.folder, self.reader = numpy, ncnn, folder, Reader()
        self.read = self.blobs = self.valued = 0
        self.refused, self.not_run, self.ncnn_refused, self.different = {}, {}, [], []

    def one(self, label, path, requested, shapes, compare_values):
        """`shapes`: of the inputs, by name, without the batch."""
        numpy = self.numpy
        ours, weights, _, error = self.reader.ask(path, requested)
        if error:
            self.refused.setdefault(error.split(": ", 2)[-1][:150], []).append(label)
            return
        bin_path = os.path.join(self.folder, "net.bin")
        write_weights(numpy, bin_path, weights)
        inputs = {
            name: floats(numpy, int(numpy.prod(shape)), 100 + i, "input").reshape(shape)
            for i, (name, shape) in enumerate(shapes.items())
        }
        theirs, why = in_child(lambda: ask_ncnn(numpy, self.ncnn, path, bin_path, inputs, list(ours)))
        if theirs is None:
            self.ncnn_refused.append("%s: %s" % (label, why or "ncnn does not load it"))
            return
        self.read += 1
        for name, shape in ours.items():
            if shape is None:
                continue
            if name not in theirs or not theirs[name].size:
                self.ncnn_refused.append("%s: ncnn computes no %s (ours: %s)" % (label, name, shape))
            elif tuple(theirs[name].shape) != shape:
                self.different.append("%s: %s is %s, ncnn's %s" % (label, name, shape, tuple(theirs[name].shape)))
            else:
                self.blobs += 1
        if compare_values:
            self.values(label, path, requested, inputs, theirs)

    def values(self, label, path, requested, inputs, theirs):
        numpy = self.numpy
        for i, values in enumerate(inputs.values()):
            values.tofile(os.path.join(self.folder, "in%d.f32" % i))
        _, _, outputs, error = self.reader.ask(path, requested, self.folder)
        if error and error.startswith("unimplemented "):
            self.not_run.setdefault(error[14:], []).append(label)
            return
        if error:
            self.different.append("%s: our graph does not run: %s" % (label, error))
            return
        for name, k in outputs.items():
            if name not in theirs or not theirs[name].size:
                continue
            ours = numpy.fromfile(os.path.join(self.folder, "out%d.f32" % k), "float32").clip(
                -3.4028235e38, 3.4028235e38
            )
            wanted = theirs[name].astype("float32").ravel()
            off = abs(ours - wanted).max() / max(abs(wanted).max(), 1e-6) if ours.size == wanted.size else float("inf")
            if not off < TOLERANCE:
                self.different.append("%s: values of %s are off by %.2g of the largest" % (label, name, off))
            else:
                self.valued += 1


def published(judge, only):
    """The files of data/lists/ncnn at their published sizes."""
    folder = os.path.join(HERE, "../../../data/lists/ncnn")
    rows = open(os.path.join(folder, "models.csv")).read().split()[1:]
    for model, file, c, h, w in (row.split(",") for row in rows):
        if only and only not in model:
            continue
        path = os.path.join(folder, os.path.basename(file))
        text = open(path).read()
        name = next(line.split()[4] for line in text.splitlines() if line.startswith("Input"))
        given = (
            []
            if " 0=" in next(l for l in text.splitlines() if l.startswith("Input"))
            else ["%s=1x%sx%sx%s" % (name, c, h, w)]
        )
        # Old files have alphas of their own; int8 does not run here; the weights of detectors' ends
        # are no matter.
        runs = "int8" not in model and "HardS" not in text and "DetectionOutput" not in text
        judge.one(model, path, given, {name: (int(c), int(h), int(w))}, runs)


def random_layers(judge, count, seed, only):
    kinds = sorted(k for k in single_layers.MAKERS if only in (None, "all", k))
    r = random.Random(seed)
    path = os.path.join(judge.folder, "layer.param")
    for i in range(count):
        kind = kinds[i % len(kinds)]
        inputs, params, tops = single_layers.MAKERS[kind](r)
        text = single_layers.param_text(kind, inputs, params, tops)
        with open(path, "w") as out:
            out.write(text)
        line = text.splitlines()[-1]
        label = "%s [%s]" % (line, " ".join("x".join(map(str, s)) for s in inputs))
        given = []
        if rare_layers.input_type(kind) != "float32":
            given = [
                "in%d=1x%s:%s" % (k, "x".join(map(str, s)), rare_layers.input_type(kind)) for k, s in enumerate(inputs)
            ]
        compares = kind not in DIFFERENT_VALUES and not rare_layers.has_unknown_constant(kind, params)
        judge.one(label, path, given, {"in%d" % k: s for k, s in enumerate(inputs)}, compares)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cases", type=int, default=2000, help="random files of one layer")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--layer", help="only this layer type, or all of them: no published files")
    parser.add_argument("--model", help="only published files with this in their names, no single layers")
    parser.add_argument("--keep", metavar="FOLDER", help="only write a file of each layer type there")
    arguments = parser.parse_args()
    if arguments.keep:
        for kind, maker in sorted(single_layers.MAKERS.items()):
            with open(os.path.join(arguments.keep, kind), "w") as out:
                out.write(single_layers.param_text(kind, *maker(random.Random(arguments.seed))))
        return 0
    try:
        import ncnn, numpy
    except ImportError as error:
        print("skipped: %s (scripts/setup.sh --pypi installs ncnn)" % error)
        return 77
    print("ncnn %s" % ncnn.__version__)
    with tempfile.TemporaryDirectory() as folder:
        judge = Judge(numpy, ncnn, folder)
        if not arguments.layer:
            published(judge, arguments.model)
            print(
                "published files: %d read, %d blobs of equal shape, %d outputs of equal values"
                % (judge.read, judge.blobs, judge.valued)
            )
        if not arguments.model:
            random_layers(judge, arguments.cases, arguments.seed, arguments.layer)
    print(
        "read: %d files, %d blobs of equal shape, %d outputs of equal values" % (judge.read, judge.blobs, judge.valued)
    )
    for what, by_reason in (("refused by us", judge.refused), ("values not compared", judge.not_run)):
        print("%s: %d" % (what, sum(len(labels) for labels in by_reason.values())))
        for reason, labels in sorted(by_reason.items()):
            print("  %d x %s (%s)" % (len(labels), reason, labels[0][:160]))
    print("not computed by ncnn: %d" % len(judge.ncnn_refused))
    for line in judge.ncnn_refused[:40]:
        print("  " + line)
    print("different: %d" % len(judge.different))
    for line in judge.different[:60]:
        print("  " + line)
    return 1 if judge.different or not judge.read else 0


if __name__ == "__main__":
    sys.exit(main())
