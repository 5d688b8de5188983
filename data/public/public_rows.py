"""Folders of records (docs/measurements.md) made from published tables: a folder a target, the
graphs of all targets of a data set once, beside them."""
import argparse, collections, json, os, re, shutil, subprocess, sys, tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, "../measurements"))
import pack_records, record_files  # noqa: E402

ROOT = os.path.normpath(os.path.join(HERE, "../.."))
CLIENT = os.path.join(ROOT, "build/release/bin/cobra-client")
# Of the tests: reads many models in one process.
READER = os.path.join(ROOT, "build/release/bin/read_model")
# Where in the source a call stands, which no row keeps.
ORIGINS = ("where", "made", "mod")
# A target with fewer rows than this says nothing about its device.
FEWEST_ROWS = 8


def parser(reads_with):
    """Of the arguments of every script: where the source's tables are, the program that reads
    models, where to write."""
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--from", dest="data", required=True)
    arguments.add_argument("--" + reads_with, default={"client": CLIENT, "reader": READER}[reads_with])
    arguments.add_argument("--out", default=HERE)
    return arguments


def graph_text(graph):
    """The text of a graph as it is packed: without names, origins and what a reader computes
    anew."""
    graph = pack_records.short_graph(graph, lean=True)
    for op in graph["ops"]:
        for key in ORIGINS:
            op.pop(key, None)
        if not op.get("attrs", True):
            del op["attrs"]
    return pack_records.canonical({key: value for key, value in graph.items() if value != {}})


def read_graph(model, *options, client=CLIENT):
    """The graph of a model by the project's reader, and why there is none."""
    command = [client, "graph", model, *options, "--format", "json"]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        return None, reason(done.stderr) or "exit code %d" % done.returncode
    return json.loads(done.stdout), ""


def read_many(reader, questions, library, version, *options):
    """Yields for each question "FILE\\tENTRY\\tINPUT,..." the graph, or {"error": text}."""
    command = [reader, "--batch", "--torch-version", version, "--steps-times", "100", *options]
    if library:
        command += ["--library", library]
    with tempfile.TemporaryFile("w+") as file:
        file.writelines(question + "\n" for question in questions)
        file.seek(0)
        with subprocess.Popen(command, stdin=file, stdout=subprocess.PIPE, text=True) as process:
            for _ in questions:
                yield json.loads(process.stdout.readline())


def reason(text):
    """The one line of an error that says what is wrong."""
    lines = [line for line in text.splitlines() if "error:" in line]
    return (lines or text.splitlines() or [""])[-1]


def slug(text):
    """A text as part of a target's name."""
    return re.sub("[^a-z0-9.]+", "-", text.lower()).strip("-")


def microseconds(milliseconds):
    return pack_records.significant(1000 * float(milliseconds), 4)


class DataSet:
    """Collects rows and graphs of one source; write() replaces the folders of an earlier run."""

    def __init__(self, name, out=HERE):
        self.name, self.folder = name, os.path.join(out, name)
        self.graphs = {kind: {} for kind in record_files.KINDS}
        self.targets = {}
        self.rows = collections.defaultdict(list)

    def graph(self, text, label, is_network=True, order=()):
        """Keeps a graph that rows may name by the id that is returned. Graphs stand in the file by
        `order`, so that those that are alike are neighbours."""
        graphs = self.graphs["networks" if is_network else "layers"]
        name = record_files.graph_id(text)
        if graphs.setdefault(name, (order, label, text))[2] != text:
            sys.exit("two graphs have the id %s: record_files.py needs more digits" % name)
        return name

    def row(self, target, graph, label, milliseconds, index, is_network=True, repeat=0, space=None):
        self.targets[target["name"]] = target
        self.rows[target["name"]].append(
            {
                "kind": "record",
                "session": self.name,
                "space": space or self.name,
                "index": index,
                "repeat": repeat,
                "is_network": is_network,
                "label": label,
                "outcome": "ok",
                "latency_us": microseconds(milliseconds),
                "graph_id": graph,
            }
        )

    def write(self):
        """Returns the names of targets that were left out because they have too few rows."""
        shutil.rmtree(self.folder, ignore_errors=True)
        few = sorted(name for name, rows in self.rows.items() if len(rows) < FEWEST_ROWS)
        used = set()
        for name, rows in sorted(self.rows.items()):
            if name in few:
                continue
            used.update(row["graph_id"] for row in rows)
            self.write_target(os.path.join(self.folder, name), self.targets[name], rows)
        os.makedirs(os.path.join(self.folder, "graphs"))
        for kind, graphs in self.graphs.items():
            kept = sorted((*graph, name) for name, graph in graphs.items() if name in used)
            if kept:
                lines = ['{"label":%s,"graph":%s}' % (json.dumps(label), text) for _, label, text, _ in kept]
                record_files.write_xz(os.path.join(self.folder, "graphs", kind + ".jsonl.xz"), lines)
        self.report(few)
        return few

    def write_target(self, folder, target, rows):
        os.makedirs(folder)
        with open(os.path.join(folder, "target.json"), "w") as file:
            file.write(json.dumps(target, sort_keys=True) + "\n")
        session = {"kind": "session", "session": self.name, "machine": {"name": target["name"]}}
        for kind in record_files.KINDS:
            of_kind = [row for row in rows if row["is_network"] == (kind == "networks")]
            if of_kind:
                of_kind.sort(key=lambda row: (row["label"], row["index"], row["repeat"]))
                lines = [json.dumps(line, separators=(",", ":")) for line in [session, *of_kind]]
                record_files.write_xz(os.path.join(folder, kind + ".jsonl.xz"), lines)

    def report(self, few):
        sizes = collections.Counter()
        for folder, _, names in os.walk(self.folder):
            of_graphs = os.path.basename(folder) == "graphs"
            for name in names:
                sizes["graphs" if of_graphs else "rows"] += os.path.getsize(os.path.join(folder, name))
        kept = {name: rows for name, rows in self.rows.items() if name not in few}
        print(
            "%s: %d targets, %d rows, %d graphs; %d bytes of rows, %d of graphs"
            % (
                self.name,
                len(kept),
                sum(map(len, kept.values())),
                len({row["graph_id"] for rows in kept.values() for row in rows}),
                sizes["rows"],
                sizes["graphs"],
            )
        )
        for name in few:
            print("left out, fewer than %d rows: %s (%d)" % (FEWEST_ROWS, name, len(self.rows[name])))
