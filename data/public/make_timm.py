#!/usr/bin/env python3
"""timm's own inference benchmark as records: image models on three GPUs and a processor.

    make_timm.py --from DATA --timm FOLDER [--cache FILE] [--check N] [--reader READ_MODEL]

DATA has timm_inference/latency.csv.gz (README.md says where it comes from), FOLDER is timm's
package, version 1.0.31 (`scripts/setup.sh --pypi` installs it below build/pypi). Each graph is read
from timm's source at the image size that was measured, in the version of PyTorch that ran it, at a
batch that is a prime (PRIME); its multiples are then replaced by those of the batch that was
measured. --check N reads N graphs at the measured batch, too, and compares. Reading takes half an
hour; --cache keeps what was read, so that a second run continues. Models that timm no longer has,
that the reader refuses, or whose parameters differ from the table's by more than 1 %, also with
their parallel branches merged, are left out and listed.
"""
import collections, csv, glob, gzip, json, os, random, re

import devices
import public_rows

SPACE = "timm"
SEED = 20261124
PRIME = 10007  # no size of a model is a multiple of it
MERGED = " merged"
NUMBER = re.compile(r"(?<![\w.])[0-9]+(?![\w.])")


GPUS = {
    "rtx3090": ("rtx-3090", "NVIDIA GeForce RTX 3090"),
    "5090": ("rtx-5090", "NVIDIA GeForce RTX 5090"),
    "pro6000maxq": ("rtx-pro-6000-max-q", "NVIDIA RTX PRO 6000 Blackwell Max-Q"),
}
CPU = "Intel Core i9-10940X"


class Setting:
    """One target, and the rows of the table that are its."""

    def __init__(self, device, torch, version, precision, layout="nchw", compiled="0", target_precision="amp-float16"):
        self.key = (device, torch, precision, layout, compiled)
        self.version, self.precision, self.layout = version, target_precision, layout
        self.compile = "inductor" if compiled == "1" else "eager"

    def target(self):
        runtime = "torch-" + self.version
        if self.key[0] not in GPUS:
            # The host's threads are not stated: one for each core.
            name = "cpu-core-i9-10940x-14t-torch-2.4-inductor"
            return devices.cpu_target(name, CPU, runtime, self.precision, self.layout, self.compile, threads=14)
        short, device = GPUS[self.key[0]]
        parts = [
            "gpu",
            short,
            self.precision,
            self.layout,
            "torch",
            ".".join(self.version.split(".")[:2]),
            self.compile,
        ]
        name = "-".join(part for part in parts if part not in ("nchw", "eager"))
        return devices.gpu_target(name, device, runtime, self.precision, self.layout, self.compile)


SETTINGS = [
    Setting("rtx3090", "pt240", "2.4.0", "amp"),
    Setting("rtx3090", "pt240", "2.4.0", "amp", layout="nhwc"),
    Setting("i9_10940x", "pt240", "2.4.0", "fp32", compiled="1", target_precision="float32"),
    Setting("5090", "pt291", "2.9.1", "amp"),
    Setting("5090", "pt291", "2.9.1", "amp", compiled="1"),
    Setting("pro6000maxq", "pt291", "2.9.1", "amp"),
    Setting("pro6000maxq", "pt291", "2.9.1", "amp", compiled="1"),
    Setting("pro6000maxq", "pt291", "2.9.1", "bf16", compiled="1", target_precision="bfloat16"),
    Setting("rtx3090", "pt113", "1.13.1", "amp"),
]


def modules_of(folder):
    """The module of each model's name, also of the names that timm has given up."""
    modules = {}
    for path in sorted(glob.glob(os.path.join(folder, "models", "*.py"))):
        with open(path) as file:
            text = file.read()
        module = os.path.basename(path)[: -len(".py")]
        for name in re.findall(r"@register_model\s+def (\w+)\(", text):
            modules[name] = module
        for block in re.findall(r"register_model_deprecations\(__name__, \{(.*?)\n\s*\}\)", text, re.S):
            for name in re.findall(r"['\"](\w+)['\"]\s*:", block):
                modules.setdefault(name, module)
    return modules


def at_batch(text, batch):
    """The text of a graph of batch PRIME at another batch."""

    def replaced(match):
        times, rest = divmod(int(match.group()), PRIME)
        return str(times * batch) if times and not rest else match.group()

    return NUMBER.sub(replaced, text)


class Graphs:
    """What the reader makes of the models, by (version of PyTorch, model, size, batch)."""

    def __init__(self, folder, reader, cache):
        self.folder, self.reader, self.cache, self.known = folder, reader, cache, {}
        if cache and os.path.exists(cache):
            with open(cache) as file:
                for line in file:
                    entry = json.loads(line)
                    self.known[tuple(entry["key"])] = entry

    def read(self, keys):
        keys = sorted(key for key in set(keys) if key not in self.known)
        for version in sorted({key[0] for key in keys}):
            of_version = [key for key in keys if key[0] == version]
            # A model that is bound to an image size takes it as an argument.
            refused = self.read_each(version, of_version, "create_model('{0}')")
            twice_refused = self.read_each(version, list(refused), "create_model('{0}', img_size={1})")
            self.keep({key: {"why": refused[key]} for key in twice_refused})

    def read_merged(self, keys):
        """Models whose parallel branches are merged for inference: their name ends in MERGED."""
        for version in sorted({key[0] for key in keys}):
            of_version = sorted(key for key in set(keys) if key[0] == version and key not in self.known)
            refused = self.read_each(version, of_version, "timm.utils.model.reparameterize_model(create_model('{0}'))")
            self.keep({key: {"why": why} for key, why in refused.items()})

    def read_each(self, version, keys, entry):
        """Keeps those that are read; why others are not."""
        start = os.path.join(self.folder, "models", "__init__.py")
        questions = [
            "%s\t%s\t%sx3x%sx%s" % (start, entry.format(key[1].replace(MERGED, ""), key[2]), key[3], key[2], key[2])
            for key in keys
        ]
        refused = {}
        library = os.path.dirname(self.folder)
        for key, graph in zip(keys, public_rows.read_many(self.reader, questions, library, version)):
            if "error" in graph:
                refused[key] = public_rows.reason(graph["error"])
            else:
                self.keep({key: {"params": graph["params"], "text": public_rows.graph_text(graph)}})
        return refused

    def keep(self, entries):
        self.known.update(entries)
        if self.cache:
            with open(self.cache, "a") as file:
                for key, entry in entries.items():
                    file.write(json.dumps({"key": key, **entry}, separators=(",", ":")) + "\n")


def main():
    parser = public_rows.parser("reader")
    parser.add_argument("--timm", required=True)
    parser.add_argument("--cache")
    parser.add_argument("--check", type=int, default=0)
    arguments = parser.parse_args()
    with gzip.open(os.path.join(arguments.data, "timm_inference/latency.csv.gz"), "rt") as file:
        table = collections.defaultdict(list)
        for row in csv.DictReader(file):
            table[tuple(row[key] for key in ("device", "torch", "precision", "layout", "compiled"))].append(row)
    modules = modules_of(arguments.timm)
    graphs = Graphs(arguments.timm, arguments.reader, arguments.cache)
    asked = [(s, row) for s in SETTINGS for row in table[s.key] if row["model"] in modules]
    graphs.read(key_of(*question) for question in asked)
    # What is beyond a limit at batch PRIME is read at its own.
    beyond = [question for question in asked if "why" in graphs.known[key_of(*question)]]
    graphs.read(key_of(s, row, row["batch"]) for s, row in beyond)
    graphs.read_merged([key_of(s, row, ending=MERGED) for s, row in asked if not fits(found(graphs, s, row), row)])
    check(graphs, random.Random(SEED).sample(asked, arguments.check))
    data, dropped = public_rows.DataSet(SPACE, arguments.out), collections.Counter()
    for setting in SETTINGS:
        for index, row in enumerate(table[setting.key]):
            add(data, setting, index, row, modules, graphs, dropped)
    data.write()
    for (model, why), rows in sorted(dropped.items()):
        print("left out: %s, %d rows: %s" % (model, rows, why))


def check(graphs, asked):
    """Reads each at its own batch, too."""
    graphs.read(key_of(setting, row, row["batch"]) for setting, row in asked)
    for setting, row in asked:
        at_prime, own = (graphs.known[key_of(setting, row, *batch)] for batch in ((), (row["batch"],)))
        if "why" not in at_prime and at_batch(at_prime["text"], int(row["batch"])) != own["text"]:
            raise SystemExit("%s: differs at batch %s" % (row["model"], row["batch"]))
    if asked:
        print("%d graphs checked" % len(asked))


def found(graphs, setting, row):
    graph = graphs.known[key_of(setting, row)]
    return graphs.known[key_of(setting, row, row["batch"])] if "why" in graph else graph


def fits(graph, row):
    """Whether it has the table's number of parameters."""
    millions = float(row["param_millions"] or 0)
    return abs(graph.get("params", 0) / 1e6 - millions) <= 0.01 * millions + 0.006


def key_of(setting, row, batch=PRIME, ending=""):
    # What timm makes of a model does not depend on which 2.x of PyTorch it is.
    version = "2.4.0" if setting.version.startswith("2.") else setting.version
    return (version, row["model"] + ending, row["img_size"], batch)


def add(data, setting, index, row, modules, graphs, dropped):
    model = row["model"]
    if model not in modules:
        dropped[model, "timm has no such model"] += 1
        return
    graph = found(graphs, setting, row)
    if not fits(graph, row):
        merged = graphs.known[key_of(setting, row, ending=MERGED)]
        graph = merged if fits(merged, row) else graph
    if "why" in graph or not fits(graph, row):
        sizes = "has %.2f M parameters, in the table %s" % (graph.get("params", 0) / 1e6, row["param_millions"])
        dropped[model, graph.get("why", sizes)] += 1
        return
    label = "%s/%s" % (SPACE, modules[model])
    order = (modules[model], model, int(row["img_size"]), setting.version, int(row["batch"]))
    graph_id = data.graph(at_batch(graph["text"], int(row["batch"])), label, order=order)
    data.row(setting.target(), graph_id, label, row["step_time_ms"], index)


if __name__ == "__main__":
    main()
