"""Files of records in Python, as store/record_file.h reads them in C++: plain, gzip or xz, each
record's graph in it or named by its "graph_id" and kept in ../graphs (docs/measurements.md)."""
import gzip, hashlib, json, lzma, os

KINDS = ("layers", "networks")
ID_DIGITS = 12
GRAPH_KEY = '"graph":'
# `xz -9e`, but for text, which has no words of fixed width (pb) and whose last byte tells much
# about the next one (lc): some 4 % smaller.
FILTERS = [{"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME, "lc": 4, "lp": 0, "pb": 0}]


def open_text(path):
    """A file to read, unpacked according to its name."""
    for ending, opened in ((".gz", gzip.open), (".xz", lzma.open)):
        if path.endswith(ending):
            return opened(path, "rt")
    return open(path)


def write_xz(path, lines):
    """The same lines give the same bytes. Appears whole or not at all."""
    with lzma.open(path + ".new", "wb", check=lzma.CHECK_CRC64, filters=FILTERS) as file:
        file.writelines((line + "\n").encode() for line in lines)
    os.replace(path + ".new", path)


def graph_id(text):
    return hashlib.sha256(text.encode()).hexdigest()[:ID_DIGITS]


def graphs_folder(record_file):
    return os.path.join(os.path.dirname(os.path.abspath(record_file)), "..", "graphs")


def read_graphs(path):
    """Of a file of graphs: (label, text) by id. The id is computed from the text."""
    graphs = {}
    if not os.path.exists(path):
        return graphs
    with open_text(path) as file:
        for number, line in enumerate(file, 1):
            line = line.rstrip("\n")
            at = line.find(GRAPH_KEY)
            if at < 0 or not line.endswith("}"):
                raise ValueError("%s:%d: has no %s" % (path, number, GRAPH_KEY[:-1]))
            text = line[at + len(GRAPH_KEY) : -1]
            graphs[graph_id(text)] = (json.loads(line[:at].rstrip(",") + "}")["label"], text)
    return graphs


class Reader:
    """Entries of one file after the other; graphs are looked up where they are needed, and each
    file of them is read once."""

    def __init__(self):
        self.folders, self.names = {}, []

    def graph_text(self, name, record_file):
        folder = graphs_folder(record_file)
        if folder not in self.folders:
            self.folders[folder] = {}
            for kind in KINDS:
                self.folders[folder].update(read_graphs(os.path.join(folder, kind + ".jsonl.xz")))
        if name not in self.folders[folder]:
            raise KeyError('graph_id "%s": no file in %s has this graph' % (name, os.path.relpath(folder)))
        return self.folders[folder][name][1]

    def entry(self, line, record_file):
        """One line; None for what only served the packing. The graph stays named: graph_text has
        it."""
        entry = json.loads(line)
        if not isinstance(entry, dict):
            return entry
        if entry.get("kind") == "names":
            self.names = entry["names"]
            return None
        if "profile" in entry:
            entry["profile"] = [
                [self.names[name] if isinstance(name, int) else name, *rest] for name, *rest in entry["profile"]
            ]
        return entry

    def records(self, record_file):
        """The records of a file, with their graphs in them."""
        with open_text(record_file) as file:
            for line in file:
                entry = self.entry(line, record_file)
                if entry is None or entry["kind"] != "record":
                    continue
                if "graph_id" in entry:
                    entry["graph"] = json.loads(self.graph_text(entry.pop("graph_id"), record_file))
                yield entry
