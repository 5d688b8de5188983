#!/usr/bin/env python3
"""NeuSight's measurements as records: kernels, operators and whole language models on GPUs.

    make_neusight.py --from DATA [--reader build/release/bin/read_model]

DATA has neusight_gpu/ (README.md says where it comes from). A target is a GPU. Spaces:
neusight-train and neusight-test are the source's own split of its kernels (of train a fixed sample
of the shapes, the same for all GPUs; of test all), neusight-ops the calls of its traces of language
models, neusight-models the whole models. Graphs are read from neusight_models.py.
"""
import ast, collections, csv, gzip, os, random, statistics

import devices
import public_rows

SPACE = "neusight"
SPACES = ("neusight-models", "neusight-test", "neusight-train", "neusight-ops")
SEED = 20261124
SOURCE = os.path.join(public_rows.HERE, "neusight_models.py")
VERSION = "2.1.0"
# Of each operator of the training split so many shapes.
SAMPLES = {"bmm": 2400, "linear": 1600, "conv": 1600}
VECTOR_SAMPLES = 240
VECTORS = {
    **{name: 2 for name in ("add", "mul", "div", "pow")},
    **{name: 1 for name in ("addu", "mulu", "divu", "powu", "relu", "gelu", "tanh", "softmax")},
}
# The source contradicts itself: in its training split these run at a fifth of the peak, in its test
# split at three quarters; the other operators' splits agree, and so do the other GPUs'. Learned,
# they would teach what no GPU does.
CONTRADICTED = {("neusight-train", "linear", "Tesla P4")}
# Calls of the traces that are shorter say what asking for the time takes.
SHORTEST_MS = 0.03
MODELS = {
    "bert_large": "Bert({layers})",
    "gpt2_large": "GPT2({layers}, 1280, 20, 1024)",
    "gpt3_27": "GPT2({layers}, 2560, 32, 2048)",
    "gpt3_xl": "GPT2({layers}, 3072, 24, 2048)",
    "opt_13": "OPT({layers})",
}


def shape(*sizes):
    return "x".join(str(n) for n in sizes)


def kernel(row, op):
    """The entry and the inputs of a kernel."""
    if op == "conv":
        b, c, out, k, size, stride, padding = (
            int(row[key]) for key in ("B", "in_ch", "out_ch", "kernel", "in_size", "stride", "padding")
        )
        entry = "nn.Conv2d(%d, %d, %d, stride=%d, padding=%d, bias=False)" % (c, out, k, stride, padding)
        return entry, (shape(b, c, size, size),)
    if op in ("bmm", "linear"):
        b, m, n, k = (int(row[key]) for key in "BMNK")
        if op == "bmm":
            return "Call('bmm')", (shape(b, m, n), shape(b, n, k))
        return "nn.Linear(%d, %d)" % (n, k), (shape(b, m, n),)
    b, h = int(row["B"]), int(row["H"])
    if op == "ln":
        return "nn.LayerNorm(%d)" % h, (shape(b, h),)
    return "Call('%s')" % op, (shape(b, h),) * VECTORS[op]


def kernels(folder):
    """(space, operator, entry, inputs) -> {GPU: [ms]}"""
    every = collections.defaultdict(lambda: collections.defaultdict(list))
    for name in ("matmul", "vector", "conv"):
        with gzip.open(os.path.join(folder, "kernels_%s.csv.gz" % name), "rt") as file:
            for row in csv.DictReader(file):
                op = row.get("op", "conv")
                key = ("neusight-" + row["split"], op, *kernel(row, op))
                every[key][row["device"]].append(float(row["latency_ms"]))
    return every


def sampled(every):
    """All shapes of test, and a sample of those of train."""
    by_operator = collections.defaultdict(list)
    for key in every:
        by_operator[key[:2]].append(key)
    kept = {}
    for (space, op), keys in sorted(by_operator.items()):
        keys.sort()
        if space == "neusight-train":
            number = min(len(keys), SAMPLES.get(op, VECTOR_SAMPLES))
            keys = sorted(random.Random("%d/%s" % (SEED, op)).sample(keys, number))
        kept.update((key, every[key]) for key in keys)
    return kept


def traced(row):
    """Operator, entry and inputs of a call of a trace; None for those that are not learned from."""
    shapes = [tuple(s) for s in ast.literal_eval(row["input_shapes"])]
    out = ast.literal_eval(row["output_shape"])
    if row["dtype"] != "torch.float32" or not shapes:
        return None
    first, name, target = shapes[0], row["name"].lower(), row["target"]
    texts = tuple(shape(*s) for s in shapes)
    if row["op"] == "call_module":
        if "norm" in name or "_ln_" in name:
            return "ln", "nn.LayerNorm(%d)" % first[-1], texts
        if name.endswith("activation_fn"):
            return "relu", "Call('relu')", texts
        if any(word in name for word in ("query", "key", "value", "dense", "proj", "fc1", "fc2", "lm_head")):
            bias = ", bias=False" if "lm_head" in name else ""
            return "linear", "nn.Linear(%d, %d%s)" % (first[-1], out[-1], bias), texts
        return None
    if target == "addmm":
        return "linear", "AddMM(%d, %d)" % (shapes[1][1], shapes[2][1]), texts[1:2]
    if target in ("matmul", "bmm"):
        return "bmm", "Call('%s')" % target, texts
    if target in ("softmax", "gelu", "tanh"):
        return target, "Call('%s')" % target, texts[:1]
    operator = {"add": "add", "mul": "mul", "truediv": "div", "pow": "pow"}.get(target)
    if operator is None or first == (1,):
        return None
    if len(shapes) > 1 and shapes[1] != (1,):
        return operator, "Call('%s')" % operator, texts[:2]
    return operator + "u", "Call('%su')" % operator, texts[:1]


def operators(folder):
    """As kernels(), of the traces of inference."""
    every = collections.defaultdict(lambda: collections.defaultdict(list))
    with gzip.open(os.path.join(folder, "models_per_op.csv.gz"), "rt") as file:
        for row in csv.DictReader(file):
            ms = float(row["forward_ms"])
            call = traced(row) if row["mode"] == "inf" and ms >= SHORTEST_MS else None
            if call:
                every[("neusight-ops", *call)][row["device"].replace("_", " ")].append(ms)
    return every


def models(folder):
    """As kernels(), of whole models: inference on one GPU, not compiled."""
    every = collections.defaultdict(lambda: collections.defaultdict(list))
    left_out = collections.Counter()
    with gzip.open(os.path.join(folder, "models_end_to_end.csv.gz"), "rt") as file:
        for row in csv.DictReader(file):
            if row["model"] not in MODELS or row["mode"] != "inf" or row["option"]:
                left_out[row["mode"], row["option"] or "one GPU", row["model"].rstrip("0123456789_")] += 1
                continue
            entry = MODELS[row["model"]].format(layers=row["num_layer"])
            inputs = (shape(row["batch"], row["seqlen"]) + ":int64",)
            every[("neusight-models", row["model"], entry, inputs)][row["device"].replace("_", " ")].append(
                float(row["e2e_ms"])
            )
    for what, number in sorted(left_out.items()):
        print("left out: %s, %d rows" % (", ".join(what), number))
    return every


def gpu(device, names={name.replace("_", " ").replace("-", " "): name for name in devices.GPUS}):
    """The name in gpus.csv: the source's tables write blanks differently."""
    return names[device.replace("-", " ")]


def target_of(device):
    name = gpu(device)
    short = public_rows.slug(name).replace("nvidia-", "").replace("tesla-", "").replace("-instinct", "")
    precision = "tf32-convolutions" if devices.GPUS[name]["tf32_gflops"] else "float32"
    return devices.gpu_target("gpu-%s-torch-2.1" % short, name, "torch-2.1.0", precision)


def main():
    arguments = public_rows.parser("reader").parse_args()
    folder = os.path.join(arguments.data, "neusight_gpu")
    rows = {**sampled(kernels(folder)), **operators(folder), **models(folder)}
    # Of rows of one graph the first counts: kernels before the calls of traces.
    keys = sorted(rows, key=lambda key: (SPACES.index(key[0]), key))
    questions = ["%s\t%s\t%s" % (SOURCE, entry, ",".join(inputs)) for _, _, entry, inputs in keys]
    data = public_rows.DataSet(SPACE, arguments.out)
    for index, (key, graph) in enumerate(zip(keys, public_rows.read_many(arguments.reader, questions, "", VERSION))):
        space, operator, entry, inputs = key
        if "error" in graph:
            raise SystemExit("%s of %s: %s" % (entry, inputs, public_rows.reason(graph["error"])))
        is_network = space == "neusight-models"
        label = "%s/%s" % (SPACE, operator)
        text = public_rows.graph_text(graph)
        graph_id = data.graph(text, label, is_network, order=(operator, len(text), text))
        for device, times in sorted(rows[key].items()):
            if (space, operator, gpu(device)) in CONTRADICTED:
                continue
            ms = statistics.median(times)
            data.row(target_of(device), graph_id, label, ms, index, is_network, space=space)
    data.write()


if __name__ == "__main__":
    main()
