#!/usr/bin/env python3
"""Packs what `cobra-worker measure --out` wrote, for committing.

    pack_records.py [--lean] INPUT [INPUT ...] OUTDIR
        writes OUTDIR/{layers,networks}.jsonl.xz (those that have records), OUTDIR/session.json
        (sessions, statistics) and the graphs that are new
        to OUTDIR/../graphs/{layers,networks}.jsonl.xz; prints the statistics as tables for
        README.md
    pack_records.py [--lean] --selected SEED[,SEED] ...
        what has one of these seeds was chosen (cobra-train select): it goes into
        OUTDIR/selected-layers.jsonl.xz, which
        is for training only
    pack_records.py [--lean] --matmul-at-most US ...
        leaves out what was measured while the canary's product took longer. Two threads wait for
        the slower processor:
        where a neighbour had one, two took longer than one does on the same machine, and the record
        is none of two.

An INPUT is a file of records (JSON lines, plain, gzip or xz) or a folder that was packed before;
OUTDIR may be one of them.
Files may be of several sessions and seeds: a subject is (seed, space, index). Of a subject that was
measured again because the canary had moved, the least disturbed record is kept; of one that several
files have, this and the best of another file, as its repetition.

So that hundreds of thousands fit into a repository, a graph is stored once, for all folders beside
OUTDIR, and a record names it ("graph_id": record_files.py); times have four significant digits
(three: those of a network's calls, and what tells how far the runs were apart), the memory of a
layer three, the load one decimal; of a layer's median the interval is left out, and of what is for
training only the quantiles; parameters have short names, and those in profiles are listed once in a
file, without the numbers of a network's own kernels; records of one label and size stand beside
each other, otherwise in the order of the inputs; and what `cobra-worker import` computes anew is
left out: the fingerprint; with --lean also the shapes of results ("out", "kind") and counts.
Everything else is as docs/measurements.md says; each file begins with its sessions. A graph that no
record names any more is dropped.
"""
import argparse, collections, glob, json, math, os, re, statistics, sys

import record_files

FILES = ("layers.jsonl.xz", "networks.jsonl.xz", "selected-layers.jsonl.xz")
OLD_FILES = tuple(name.replace(".xz", ".gz") for name in FILES)
# In the order of the parameters, which is kept.
TABLES = ("param_shapes", "param_dtypes", "param_aliases", "buffer_shapes", "buffer_dtypes")
CANARY = ("conv_us", "matmul_us", "copy_us")


def quantiles(values):
    v = sorted(values)
    if not v:
        return {}
    at = lambda q: v[min(len(v) - 1, int(q * len(v)))]
    return {"n": len(v), "p10": at(0.1), "median": statistics.median(v), "p90": at(0.9), "max": v[-1]}


def floor(pairs):
    d = sorted(abs(a - b) / ((a + b) / 2) for a, b in pairs)
    if not d:
        return {}
    return {
        "pairs": len(d),
        "median": round(statistics.median(d), 5),
        "p90": round(d[int(0.9 * len(d))], 5),
        "max": round(d[-1], 5),
    }


def undisturbed_us(record):
    """As store::Measurement::undisturbed_us: the latency without the machine's neighbours, as far
    as it is known."""
    if record.get("quiet_us"):
        return record["quiet_us"]
    return record["min_us"] if record.get("suspect") and record.get("min_us") else record["latency_us"]


def significant(value, digits):
    """`value` with so many significant digits; an integer where it is one."""
    rounded = float("%.*g" % (digits, value))
    return int(rounded) if rounded == int(rounded) else rounded


def canonical(graph):
    """The text of a graph: the same one whoever wrote it, as far as order is without meaning."""
    text = lambda key: json.dumps(graph[key], separators=(",", ":"), sort_keys=key not in TABLES)
    return "{%s}" % ",".join('"%s":%s' % (key, text(key)) for key in sorted(graph))


def short_graph(graph, lean):
    """The graph as it is packed."""
    graph, short = dict(graph), {}
    for kind, tables in (("p", ("param_shapes", "param_dtypes")), ("b", ("buffer_shapes", "buffer_dtypes"))):
        for i, name in enumerate(graph.get(tables[0], {})):
            short["%s:%s" % (kind, name)] = "%s%d" % (kind, i)
        for table in tables:
            if table in graph:
                graph[table] = {short["%s:%s" % (kind, name)]: value for name, value in graph[table].items()}
    if "param_aliases" in graph:
        graph["param_aliases"] = {alias: short["p:" + name] for alias, name in graph["param_aliases"].items()}
    source = lambda s: s[:2] + short[s] if isinstance(s, str) and s in short else s
    left_out = {"out", "kind", "dtype"} if lean else set()
    graph["ops"] = [
        dict({k: v for k, v in op.items() if k not in left_out}, inputs=[source(s) for s in op["inputs"]])
        for op in graph["ops"]
    ]
    graph["output"] = [source(s) for s in graph["output"]]
    return {k: v for k, v in graph.items() if not lean or k not in ("macs", "params", "peak_memory_bytes")}


class Graph:
    """A graph as it is packed, and what the statistics ask of it. There are too many to keep them
    as objects of Python."""

    def __init__(self, graph, lean):
        graph = short_graph(graph, lean)
        self.text = canonical(graph)
        self.id = record_files.graph_id(self.text)
        self.calls = len(graph["ops"])
        # Graphs that compute the same on sizes that are the same: in place or not does not count.
        self.same = hash(
            json.dumps(
                [[op[k] for k in ("op", "inputs", "attrs") if k in op] for op in graph["ops"]]
                + [graph["inputs"], list(graph.get("param_shapes", {}).values())],
                sort_keys=True,
            )
        )


def without_folders(session):
    """Older workers wrote a runner's command with the folders of their machine."""
    runner = session.get("environment", {}).get("runner", {})
    if "command" in runner:
        runner["command"] = [os.path.basename(word) for word in runner["command"]]
    return session


class Inputs:
    """What the inputs hold: sessions by name, records by subject and repeat (with a Graph),
    canaries, and what folders say of theirs."""

    def __init__(self, lean, matmul_at_most=math.inf):
        self.lean, self.reader, self.graphs = lean, record_files.Reader(), {}
        self.matmul_at_most = matmul_at_most  # us
        self.sessions, self.records, self.canaries = {}, {}, []
        self.packed_canaries, self.dropped, self.selected = [], 0, set()
        self.of_another_series = set()  # keys of records whose subject an earlier input has too

    def read(self, path):
        if os.path.isdir(path):
            with open(os.path.join(path, "session.json")) as f:
                about = json.load(f)
            for session in about["sessions"]:
                self.sessions[session["session"]] = without_folders(session)
            canary = about["statistics"]["canary"]
            names = [s["session"] for s in about["sessions"]]
            self.packed_canaries += canary if isinstance(canary, list) else [dict(sessions=names, **canary)]
            self.selected |= set(about["statistics"].get("selected_seeds", []))
            self.dropped += about["statistics"]["dropped_and_measured_again"]
            for name in FILES + OLD_FILES:
                if os.path.exists(os.path.join(path, name)):
                    self.read_lines(os.path.join(path, name))
        else:
            self.read_lines(path)

    def read_lines(self, path):
        cut = 0
        with record_files.open_text(path) as f:
            for number, line in enumerate(f, 1):
                try:
                    entry = self.reader.entry(line, path)
                except json.JSONDecodeError:
                    cut += 1  # cut short when the worker was stopped
                    continue
                if entry is None:
                    continue
                problem = self.problem_of(entry)
                if problem:
                    sys.exit("%s:%d: %s" % (path, number, problem))
                if entry["kind"] == "session":
                    self.sessions[entry["session"]] = without_folders(entry)
                elif entry["kind"] == "canary":
                    self.canaries.append(entry)
                else:
                    try:
                        entry["graph"] = self.graph_of(entry, path)
                    except KeyError as error:
                        sys.exit("%s:%d: %s" % (path, number, error.args[0]))
                    seed = entry.get("seed", self.seed_of(entry))
                    if isinstance(seed, int) and entry["space"] != "asked":  # records did not always carry it
                        entry = {
                            "kind": "record",
                            "session": entry["session"],
                            "space": entry["space"],
                            "seed": seed,
                            **entry,
                        }
                    self.add(str(seed), entry)
        if cut > 1:
            sys.exit("%s: %d lines are no JSON; one may be cut where the worker was stopped" % (path, cut))

    def problem_of(self, entry):
        if not isinstance(entry, dict) or entry.get("kind") not in ("session", "canary", "record"):
            return "is not a session, canary or record"
        if not isinstance(entry.get("session"), str):
            return "names no session"
        if entry["kind"] != "record":
            return None
        session = self.sessions.get(entry["session"])
        if session is None:
            return "its session %s has no line before it" % entry["session"]
        target = (session.get("machine") or {}).get("name")
        if entry.get("target", target) != target:
            return "measured on %s, in a session on %s" % (entry["target"], target)
        missing = [key for key in ("space", "index", "repeat", "is_network", "label", "outcome") if key not in entry]
        if missing:
            return "a record needs %s" % ", ".join(missing)
        us = entry.get("latency_us", 0)
        if entry["outcome"] == "ok" and not (isinstance(us, (int, float)) and 0 < us < math.inf):
            return "latency_us %s is not a latency" % us
        return None

    def add(self, seed, entry):
        """A subject that another series measured too has its record as one taken again."""
        subject, repeat = (seed, entry["space"], entry["index"]), entry["repeat"]
        same = lambda other: all(other.get(key) == entry.get(key) for key in ("session", "time_utc", "repeat"))
        while (*subject, repeat) in self.records and not same(self.records[(*subject, repeat)]):
            repeat = max(2, repeat + 1)
            self.of_another_series.add((*subject, repeat))
        self.records[(*subject, repeat)] = entry

    def graph_of(self, entry, path):
        name = entry.pop("graph_id", None)
        if name is None:
            if "graph" not in entry:
                raise KeyError("a record needs a graph")
            graph = Graph(entry["graph"], self.lean)
        elif name not in self.graphs:
            self.graphs[name] = graph = Graph(json.loads(self.reader.graph_text(name, path)), self.lean)
        else:
            return self.graphs[name]
        return self.graphs.setdefault(graph.id, graph)

    def seed_of(self, entry):
        # without a seed, the session stands for itself
        return self.sessions[entry["session"]].get("seed", entry["session"])

    def kept(self):
        """Of a subject's records, the repetition for the floor (1) apart, the least disturbed: 0,
        or one of those taken again (2 and up). Where no repetition was asked for, but another
        series measured the subject too, the next best of these stands for one."""

        def disturbance(key):
            r = self.records[key]
            return (r["outcome"] != "ok", r.get("suspect", False), r.get("quiet_us") or r.get("min_us", 0), key[3])

        taken = collections.defaultdict(list)
        records = {key: r for key, r in self.records.items() if self.matmul_us(r) <= self.matmul_at_most}
        for key in sorted(records, key=disturbance):
            if key[3] != 1:
                taken[key[:3]].append(key)
        kept = {key: r for key, r in records.items() if key[3] == 1}
        for subject, keys in taken.items():
            kept[keys[0]] = self.with_calls(keys)
            first_series = [key for key in keys if key not in self.of_another_series]
            if (*subject, 1) in kept or not first_series or len(first_series) == len(keys):
                continue
            best_is_first = keys[0] in first_series
            other = next(key for key in keys if (key in first_series) != best_is_first)
            if self.records[other]["outcome"] == "ok":
                kept[(*subject, 1)] = {k: v for k, v in self.records[other].items() if k != "profile"} | {"repeat": 1}
        self.dropped += len(records) - len(kept)
        return kept

    def matmul_us(self, record):
        """What the canary's product took around it."""
        canary = self.sessions[record["session"]].get("canary_us", {})
        return record.get("canary_ratio", 1) * canary.get("matmul_us", 0)

    def with_calls(self, keys):
        """The first record; where its profile does not say what the times are of, with that of a
        later one that does."""
        best = self.records[keys[0]]
        says = lambda record: any(len(entry) > 2 and entry[2] for entry in record.get("profile", []))
        other = next((self.records[key] for key in keys if says(self.records[key])), best)
        return best if says(best) or other is best else {**best, "profile": other["profile"]}


def kernel_name(name):
    """Without the numbers that a runtime gives a network's own kernels: `calls` beside it says what
    it computes."""
    return re.sub(r"(?<=call)\d+|(?<=_)\d+(?=$|[/_:])", "#", name)


def digits_of(key):
    """What only tells how far the runs were apart needs fewer."""
    return 4 if key in ("latency_us", "min_us", "quiet_us", "device_us") else 3


def session_text(sessions, statistics):
    """Of session.json: a line for each session."""
    compact = json.JSONEncoder(separators=(",", ":")).encode
    lines = ",\n".join(compact(session) for session in sessions)
    return '{"sessions":[\n%s\n],\n"statistics":%s}\n' % (lines, compact(statistics))


def rounded(record):
    """What is not more exact than this is stored so. Of a layer's median the interval is left out:
    quantiles and the number of runs say as much."""
    for key, value in record.items():
        if key in ("ci_low_us", "ci_high_us") and not record["is_network"]:
            continue
        if key == "p10_us":
            value = min(
                max(significant(value, 3), packed_us(record, "min_us", 0)), packed_us(record, "latency_us", math.inf)
            )
        elif key == "p90_us":
            value = max(significant(value, 3), packed_us(record, "latency_us", 0))
        elif key.endswith("_us") and key != "node_latency_us":
            value = significant(value, digits_of(key))
        elif key == "peak_memory_bytes" and not record["is_network"]:
            value = significant(value, 3)
        elif key == "load":
            value = round(value, 1)
        yield key, value


def without_quantiles(record):
    """Of what is for training only, no table tells the spread."""
    return {key: value for key, value in record.items() if key not in ("p10_us", "p90_us")}


def packed_us(record, key, missing):
    return significant(record[key], digits_of(key)) if key in record else missing


def slim(record, names):
    """The record as it is packed; `names`: numbers of the names in profiles."""
    r = {key: value for key, value in rounded(record) if key not in ("fingerprint", "graph")}
    if "node_latency_us" in r:
        r["node_latency_us"] = [significant(us, 3) for us in r["node_latency_us"]]
    if "profile" in r:
        r["profile"] = [[names[kernel_name(name)], significant(us, 3), *calls] for name, us, *calls in r["profile"]]
    r["graph_id"] = record["graph"].id
    return r


def write(path, sessions, records):
    """Records of one label and size beside each other; the first of two with one graph stays the
    first."""
    ordered = sorted(records, key=lambda r: (r["label"], r["graph"].calls))
    used = {r["session"] for r in ordered}
    entries = [s for name, s in sorted(sessions.items()) if name in used]
    names = sorted({kernel_name(entry[0]) for r in ordered for entry in r.get("profile", [])})
    if names:
        entries.append({"kind": "names", "names": names})
    numbers = {name: i for i, name in enumerate(names)}
    entries += [slim(r, numbers) for r in ordered]
    record_files.write_xz(path, [json.dumps(entry, separators=(",", ":")) for entry in entries])


def named_by_others(out):
    """The ids that records of the folders beside `out` name."""
    named = set()
    for path in glob.glob(os.path.join(glob.escape(os.path.dirname(out)), "*", "*.jsonl.xz")):
        if os.path.dirname(path) != out and os.path.basename(path) in FILES:
            with record_files.open_text(path) as f:
                named.update(re.findall('"graph_id":"([0-9a-f]+)"', f.read()))
    return named


def write_graphs(out, kind, records, named):
    """Merges the graphs of `records` into ../graphs; `named`: what other folders need."""
    path = os.path.join(os.path.dirname(out), "graphs", kind + ".jsonl.xz")
    known = record_files.read_graphs(path)
    graphs = {name: known[name] for name in known if name in named}
    for r in records:
        graph = r["graph"]
        label, text = known.get(graph.id, (r["label"], graph.text))
        if text != graph.text:
            sys.exit("%s: two graphs have the id %s: record_files.py needs more digits" % (path, graph.id))
        graphs[graph.id] = (label, text)
    if graphs.keys() == known.keys():
        return
    os.makedirs(os.path.dirname(path), exist_ok=True)
    ordered = sorted(graphs.values(), key=lambda g: (g[0], g[1].count('"op":'), len(g[1]), g[1]))
    record_files.write_xz(path, ['{"label":%s,"graph":%s}' % (json.dumps(label), text) for label, text in ordered])
    print("%10d bytes  %s: %d graphs, %d new" % (os.path.getsize(path), path, len(graphs), len(graphs.keys() - known)))


def statistics_of(kept):
    """`kept`: (seed, space, index, repeat) -> record."""
    ok = {key: r for key, r in kept.items() if r["outcome"] == "ok"}
    first = {key[:3]: r for key, r in ok.items() if key[3] != 1}
    pairs = [
        (undisturbed_us(r), undisturbed_us(first[key[:3]])) for key, r in ok.items() if key[3] == 1 and key[:3] in first
    ]
    values = lambda keep: [p for p in pairs if keep(p[1])]
    return {
        "records": len(kept),
        "outcomes": dict(collections.Counter(r["outcome"] for r in kept.values())),
        "distinct": len({r["graph"].same for r in kept.values()}),
        "spaces": dict(sorted(collections.Counter(r["space"] for r in kept.values()).items())),
        "labels": dict(collections.Counter(r["label"] for r in kept.values()).most_common()),
        "suspect_left": sum(bool(r.get("suspect")) for r in kept.values()),
        "latency_us": quantiles([r["latency_us"] for r in ok.values()]),
        "interval_half_width": quantiles(
            [
                round((r["ci_high_us"] - r["ci_low_us"]) / 2 / r["latency_us"], 5)
                for r in ok.values()
                if "ci_low_us" in r  # of layers that were packed before it is not known any more
            ]
        ),
        "repeatability_floor": {
            "all": floor(pairs),
            "below_10us": floor(values(lambda us: us < 10)),
            "10us_to_1ms": floor(values(lambda us: 10 <= us < 1000)),
            "above_1ms": floor(values(lambda us: us >= 1000)),
        },
    }


def canary_statistics(canaries):
    result = {"sessions": sorted({c["session"] for c in canaries})}
    for key in CANARY:
        v = [c[key] for c in canaries if key in c]
        if not v:
            continue  # a worker without LibTorch has no convolution
        m = statistics.median(v)
        result[key] = dict(quantiles(v), off_by_5_percent=round(sum(abs(x / m - 1) > 0.05 for x in v) / len(v), 4))
    return result


def time_text(us):
    return "%.3g us" % us if us < 1000 else "%.3g ms" % (us / 1000) if us < 1e6 else "%.3g s" % (us / 1e6)


def print_tables(stats):
    print(
        "| | records | distinct | ok | latency p10, median, p90 | half 95 % interval, median |\n|---|---|---|---|---|---|"
    )
    for name in ("layers", "selected_layers", "networks"):
        s = stats[name]
        if s["latency_us"]:
            q = ", ".join(time_text(s["latency_us"][key]) for key in ("p10", "median", "p90"))
            half = s["interval_half_width"]
            print(
                "| %s | %d | %d | %d | %s | %s |"
                % (
                    name.replace("_", " "),
                    s["records"],
                    s["distinct"],
                    s["outcomes"].get("ok", 0),
                    q,
                    "%.2f %%" % (100 * half["median"]) if half else "",
                )
            )
    spaces = {**stats["layers"]["spaces"], **stats["networks"]["spaces"]}
    print(
        "\nSpaces: %s; selected: %s. Failures: %s."
        % (
            ", ".join("%s %d" % item for item in spaces.items()),
            ", ".join("%s %d" % item for item in stats["selected_layers"]["spaces"].items()) or "none",
            stats["failures"] or "none",
        )
    )
    print("\n| | pairs | median | p90 |\n|---|---|---|---|")
    for name in ("layers", "selected_layers", "networks"):
        for key, f in stats[name]["repeatability_floor"].items():
            if f and (key == "all" or name == "layers"):
                print(
                    "| %s, %s | %d | %.2f %% | %.1f %% |"
                    % (name.replace("_", " "), key.replace("_", " "), f["pairs"], 100 * f["median"], 100 * f["p90"])
                )
    print()
    for canary in stats["canary"]:
        texts = [
            "%s median %.0f us, 10th to 90th percentile %.0f to %.0f, off by more than 5 %% in %.1f %%"
            % (
                key[:-3],
                canary[key]["median"],
                canary[key]["p10"],
                canary[key]["p90"],
                100 * canary[key]["off_by_5_percent"],
            )
            for key in CANARY
            if key in canary
        ]
        print(
            "Canary of %s, %d times: %s." % (", ".join(canary["sessions"]), canary[CANARY[-1]]["n"], "; ".join(texts))
        )
    print(
        "Dropped because they were measured again: %d; still suspect: %d."
        % (
            stats["dropped_and_measured_again"],
            sum(stats[name]["suspect_left"] for name in ("layers", "selected_layers", "networks")),
        )
    )


def all_statistics(inputs, kept, parts, selected_seeds):
    by_seed = collections.defaultdict(list)
    for canary in inputs.canaries:
        by_seed[str(inputs.seed_of(canary))].append(canary)
    return {
        "dropped_and_measured_again": inputs.dropped,
        "selected_seeds": selected_seeds,
        "layers": statistics_of(parts["layers"]),
        "selected_layers": statistics_of(parts["selected-layers"]),
        "networks": statistics_of(parts["networks"]),
        "canary": inputs.packed_canaries + [canary_statistics(c) for _, c in sorted(by_seed.items())],
        "failures": dict(
            collections.Counter(r.get("message", "") for r in kept.values() if r["outcome"] != "ok").most_common()
        ),
    }


def write_all(out, sessions, parts):
    """Graphs first: records that name them are complete whenever this is stopped, but for graphs
    that `out` alone named and no longer does."""
    named = named_by_others(out)
    for kind in record_files.KINDS:
        write_graphs(out, kind, [r for part in parts if part.endswith(kind) for r in parts[part].values()], named)
    for part, records in parts.items():
        path = os.path.join(out, part + ".jsonl.xz")
        if records:
            write(path, sessions, records.values())
        elif os.path.exists(path):
            os.remove(path)
    for name in OLD_FILES:  # else they would be read beside the new ones
        if os.path.exists(os.path.join(out, name)):
            os.remove(os.path.join(out, name))


def target_of(out, sessions):
    """The folder's target: the one it has, or as the fastest session found it, since neighbours
    only ever make a probed speed lower."""
    path = os.path.join(out, "target.json")
    machines = [s["machine"] for s in sessions.values() if isinstance(s.get("machine"), dict)]
    names = {m.get("name") for m in machines}
    target = None
    if os.path.exists(path):
        with open(path) as f:
            target = json.load(f)
        names.add(target["name"])
    if len(names) > 1:
        sys.exit("%s: records of several targets: %s" % (out, ", ".join(sorted(map(str, names)))))
    return target or max(machines, key=lambda m: m.get("peak_gflops", 0), default=None)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument(
        "--lean", action="store_true", help="leave out the shapes of results, which import computes anew"
    )
    parser.add_argument("--selected", default="", help="seeds of what was chosen, not drawn")
    parser.add_argument("--matmul-at-most", type=float, default=math.inf, help="us of the canary's product")
    parser.add_argument("inputs", nargs="+")
    parser.add_argument("out")
    arguments = parser.parse_args()
    inputs = Inputs(arguments.lean, arguments.matmul_at_most)
    for path in arguments.inputs:
        inputs.read(path)
    out = os.path.abspath(arguments.out)
    target = target_of(out, inputs.sessions)
    kept = inputs.kept()
    os.makedirs(out, exist_ok=True)
    chosen = set(filter(None, arguments.selected.split(","))) | inputs.selected
    parts = {
        "layers": {key: r for key, r in kept.items() if not r["is_network"] and key[0] not in chosen},
        "networks": {key: r for key, r in kept.items() if r["is_network"]},
        "selected-layers": {
            key: without_quantiles(r) for key, r in kept.items() if not r["is_network"] and key[0] in chosen
        },
    }
    stats = all_statistics(inputs, kept, parts, sorted(chosen))
    write_all(out, inputs.sessions, parts)
    if target is not None and not os.path.exists(os.path.join(out, "target.json")):
        with open(os.path.join(out, "target.json"), "w") as f:
            f.write(json.dumps(target))
    with open(os.path.join(out, "session.json"), "w") as f:
        f.write(session_text([s for _, s in sorted(inputs.sessions.items())], stats))
    print_tables(stats)
    for name in FILES + ("session.json",):
        if os.path.exists(os.path.join(out, name)):
            print("%10d bytes  %s" % (os.path.getsize(os.path.join(out, name)), name))


if __name__ == "__main__":
    main()
