#!/usr/bin/env python3
"""Packs what `cobra-worker measure --out` wrote, for committing.

    pack_records.py [--lean] INPUT [INPUT ...] OUTDIR
        writes OUTDIR/{layers,networks}.jsonl.gz and OUTDIR/session.json (sessions, statistics), prints the statistics
        as tables for README.md
    pack_records.py [--lean] --selected SEED[,SEED] ...
        what has one of these seeds was chosen (cobra-train select): it goes into OUTDIR/selected-layers.jsonl.gz, which
        is for training only

An INPUT is a file of records (JSON lines, plain or gzip) or a folder that was packed before; OUTDIR may be one of them.
Files may be of several sessions and seeds: a subject is (seed, space, index). Of a subject whose canary had moved, the
last of the records taken again is kept.

So that thousands fit into a repository, times have four significant digits (those of single calls three), parameters
short names, records of one label and size stand beside each other, and what `cobra-worker import` computes anew is left
out: the fingerprint; with --lean also the shapes of results ("out", "kind"). Everything else is as docs/measurements.md
says; each file begins with its sessions.
"""
import argparse, collections, gzip, json, os, statistics, sys

FILES = ("layers.jsonl.gz", "networks.jsonl.gz", "selected-layers.jsonl.gz")
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


def significant(value, digits):
    """`value` with so many significant digits; an integer where it is one."""
    rounded = float("%.*g" % (digits, value))
    return int(rounded) if rounded == int(rounded) else rounded


class Inputs:
    """What the inputs hold: sessions by name, records by subject and repeat, canaries, and what folders say of
    theirs."""

    def __init__(self):
        self.sessions, self.records, self.canaries = {}, {}, []
        self.packed_canaries, self.dropped, self.selected = [], 0, set()

    def read(self, path):
        if os.path.isdir(path):
            with open(os.path.join(path, "session.json")) as f:
                about = json.load(f)
            for session in about["sessions"]:
                self.sessions[session["session"]] = session
            canary = about["statistics"]["canary"]
            names = [s["session"] for s in about["sessions"]]
            self.packed_canaries += canary if isinstance(canary, list) else [dict(sessions=names, **canary)]
            self.selected |= set(about["statistics"].get("selected_seeds", []))
            self.dropped += about["statistics"]["dropped_and_measured_again"]
            for name in FILES:
                if os.path.exists(os.path.join(path, name)):
                    self.read_lines(os.path.join(path, name))
        else:
            self.read_lines(path)

    def read_lines(self, path):
        cut = 0
        with gzip.open(path, "rt") if path.endswith(".gz") else open(path) as f:
            for line in f:
                try:
                    entry = json.loads(line)
                except json.JSONDecodeError:
                    cut += 1  # cut short when the worker was stopped
                    continue
                if entry["kind"] == "session":
                    self.sessions[entry["session"]] = entry
                elif entry["kind"] == "canary":
                    self.canaries.append(entry)
                else:
                    seed = entry.get("seed", self.seed_of(entry))
                    if isinstance(seed, int) and entry["space"] != "asked":  # records did not always carry it
                        entry = {
                            "kind": "record",
                            "session": entry["session"],
                            "space": entry["space"],
                            "seed": seed,
                            **entry,
                        }
                    self.records[str(seed), entry["space"], entry["index"], entry["repeat"]] = entry
        if cut > 1:
            sys.exit("%s: %d lines are no JSON; one may be cut where the worker was stopped" % (path, cut))

    def seed_of(self, entry):
        # without a seed, the session stands for itself
        return self.sessions[entry["session"]].get("seed", entry["session"])

    def kept(self):
        # of a subject's records, the repetition for the floor (1) apart: 0, or the last of those taken again (2 and up)
        last = {}
        for *subject, repeat in self.records:
            if repeat != 1:
                last[tuple(subject)] = max(repeat, last.get(tuple(subject), 0))
        kept = {key: r for key, r in self.records.items() if key[3] == 1 or key[3] == last[key[:3]]}
        self.dropped += len(self.records) - len(kept)
        return kept


def slim(record, lean):
    """The record as it is packed."""
    r = {
        key: significant(value, 4) if key.endswith("_us") and key != "node_latency_us" else value
        for key, value in record.items()
        if key != "fingerprint"
    }
    if "node_latency_us" in r:
        r["node_latency_us"] = [significant(us, 3) for us in r["node_latency_us"]]
    graph = dict(r.pop("graph"))
    short = {}
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
    r["graph"] = graph
    return r


def write(path, sessions, records, lean):
    """Records of one label and size beside each other: gzip looks back 32 KB."""
    slimmed = sorted(
        (slim(r, lean) for r in records),
        key=lambda r: (
            r["label"],
            len(r["graph"]["ops"]),
            r["graph"].get("macs", 0),
            r["space"],
            r["session"],
            r["index"],
            r["repeat"],
        ),
    )
    used = {r["session"] for r in slimmed}
    with open(path + ".new", "wb") as raw, gzip.GzipFile(
        fileobj=raw, mode="wb", compresslevel=9, mtime=0, filename=""
    ) as f:
        for entry in [s for name, s in sorted(sessions.items()) if name in used] + slimmed:
            f.write((json.dumps(entry, separators=(",", ":")) + "\n").encode())
    os.replace(path + ".new", path)


def statistics_of(kept):
    """`kept`: (seed, space, index, repeat) -> record."""
    ok = {key: r for key, r in kept.items() if r["outcome"] == "ok"}
    first = {key[:3]: r for key, r in ok.items() if key[3] != 1}
    pairs = [
        (r["latency_us"], first[key[:3]]["latency_us"]) for key, r in ok.items() if key[3] == 1 and key[:3] in first
    ]
    values = lambda keep: [p for p in pairs if keep(p[1])]
    graph_text = lambda r: json.dumps(
        [[op[k] for k in ("op", "inputs", "attrs") if k in op] for op in r["graph"]["ops"]]
        + [r["graph"]["inputs"], list(r["graph"].get("param_shapes", {}).values())]
    )
    return {
        "records": len(kept),
        "outcomes": dict(collections.Counter(r["outcome"] for r in kept.values())),
        "distinct": len({hash(graph_text(r)) for r in kept.values()}),
        "spaces": dict(sorted(collections.Counter(r["space"] for r in kept.values()).items())),
        "labels": dict(collections.Counter(r["label"] for r in kept.values()).most_common()),
        "suspect_left": sum(bool(r.get("suspect")) for r in kept.values()),
        "latency_us": quantiles([r["latency_us"] for r in ok.values()]),
        "interval_half_width": quantiles(
            [round((r["ci_high_us"] - r["ci_low_us"]) / 2 / r["latency_us"], 5) for r in ok.values()]
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
        v = [c[key] for c in canaries]
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
            print(
                "| %s | %d | %d | %d | %s | %.2f %% |"
                % (
                    name.replace("_", " "),
                    s["records"],
                    s["distinct"],
                    s["outcomes"].get("ok", 0),
                    q,
                    100 * s["interval_half_width"]["median"],
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
        ]
        print("Canary of %s, %d times: %s." % (", ".join(canary["sessions"]), canary[CANARY[0]]["n"], "; ".join(texts)))
    print(
        "Dropped because they were measured again: %d; still suspect: %d."
        % (
            stats["dropped_and_measured_again"],
            sum(stats[name]["suspect_left"] for name in ("layers", "selected_layers", "networks")),
        )
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument(
        "--lean", action="store_true", help="leave out the shapes of results, which import computes anew"
    )
    parser.add_argument("--selected", default="", help="seeds of what was chosen, not drawn")
    parser.add_argument("inputs", nargs="+")
    parser.add_argument("out")
    arguments = parser.parse_args()
    inputs = Inputs()
    for path in arguments.inputs:
        inputs.read(path)
    kept = inputs.kept()
    os.makedirs(arguments.out, exist_ok=True)
    chosen = set(filter(None, arguments.selected.split(","))) | inputs.selected
    layers = {key: r for key, r in kept.items() if not r["is_network"] and key[0] not in chosen}
    selected = {key: r for key, r in kept.items() if not r["is_network"] and key[0] in chosen}
    networks = {key: r for key, r in kept.items() if r["is_network"]}
    by_seed = collections.defaultdict(list)
    for canary in inputs.canaries:
        by_seed[str(inputs.seed_of(canary))].append(canary)
    stats = {
        "dropped_and_measured_again": inputs.dropped,
        "selected_seeds": sorted(chosen),
        "layers": statistics_of(layers),
        "selected_layers": statistics_of(selected),
        "networks": statistics_of(networks),
        "canary": inputs.packed_canaries + [canary_statistics(c) for _, c in sorted(by_seed.items())],
        "failures": dict(
            collections.Counter(r.get("message", "") for r in kept.values() if r["outcome"] != "ok").most_common()
        ),
    }
    write(os.path.join(arguments.out, "layers.jsonl.gz"), inputs.sessions, layers.values(), arguments.lean)
    if selected:
        write(
            os.path.join(arguments.out, "selected-layers.jsonl.gz"), inputs.sessions, selected.values(), arguments.lean
        )
    write(os.path.join(arguments.out, "networks.jsonl.gz"), inputs.sessions, networks.values(), arguments.lean)
    with open(os.path.join(arguments.out, "session.json"), "w") as f:
        json.dump({"sessions": [s for _, s in sorted(inputs.sessions.items())], "statistics": stats}, f, indent=1)
        f.write("\n")
    print_tables(stats)
    for name in FILES[:2] + FILES[2:] * bool(selected) + ("session.json",):
        print("%10d bytes  %s" % (os.path.getsize(os.path.join(arguments.out, name)), name))


if __name__ == "__main__":
    main()
