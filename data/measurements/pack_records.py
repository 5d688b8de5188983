#!/usr/bin/env python3
"""Packs what `cobra-worker measure --out` wrote, for committing.

    pack_records.py RECORDS.jsonl [MORE.jsonl ...] OUTDIR    writes OUTDIR/{layers,networks}.jsonl.gz, OUTDIR/session.json; prints statistics

A record whose canary had moved is dropped where it was measured again later. Sessions and canaries go to session.json, with
statistics. The lines are otherwise those of worker/record.h.
"""
import collections, gzip, json, os, statistics, sys


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
    return {"pairs": len(d), "median": round(statistics.median(d), 5), "p90": round(d[int(0.9 * len(d))], 5), "max": round(d[-1], 5)}


def write(path, records):
    with open(path, "wb") as raw, gzip.GzipFile(fileobj=raw, mode="wb", mtime=0, filename="") as f:
        for r in records:
            f.write((json.dumps(r, separators=(",", ":")) + "\n").encode())


def main():
    out = sys.argv[-1]
    lines = []
    for path in sys.argv[1:-1]:
        for line in open(path):
            try:
                lines.append(json.loads(line))
            except json.JSONDecodeError:
                pass  # cut short when the worker was stopped
    sessions = [l for l in lines if l["kind"] == "session"]
    canaries = [l for l in lines if l["kind"] == "canary"]
    records = [l for l in lines if l["kind"] == "record"]
    by_key = {(r["space"], r["index"], r["repeat"]): r for r in records}
    again = {(s, i) for s, i, n in by_key if n == 2}
    kept = [r for r in by_key.values() if not (r["repeat"] == 0 and (r["space"], r["index"]) in again)]
    dropped = len(by_key) - len(kept)
    kept.sort(key=lambda r: (r["space"], r["index"], r["repeat"]))
    os.makedirs(out, exist_ok=True)
    layers = [r for r in kept if not r["is_network"]]
    networks = [r for r in kept if r["is_network"]]
    write(os.path.join(out, "layers.jsonl.gz"), layers)
    write(os.path.join(out, "networks.jsonl.gz"), networks)

    stats = {"dropped_and_measured_again": dropped}
    for name, list_ in (("layers", layers), ("networks", networks)):
        ok = [r for r in list_ if r["outcome"] == "ok"]
        s = {"records": len(list_), "outcomes": dict(collections.Counter(r["outcome"] for r in list_)),
             "distinct": len({r["fingerprint"] for r in list_}),
             "spaces": dict(collections.Counter(r["space"] for r in list_)),
             "labels": dict(collections.Counter(r["label"] for r in list_).most_common()),
             "suspect_left": sum(bool(r.get("suspect")) for r in list_),
             "latency_us": quantiles([r["latency_us"] for r in ok]),
             "interval_half_width": quantiles([round((r["ci_high_us"] - r["ci_low_us"]) / 2 / r["latency_us"], 5) for r in ok])}
        first = {(r["space"], r["index"]): r for r in ok if r["repeat"] != 1}
        pairs = [(r, first[r["space"], r["index"]]) for r in ok if r["repeat"] == 1 and (r["space"], r["index"]) in first]
        values = lambda keep: [(a["latency_us"], b["latency_us"]) for a, b in pairs if keep(b["latency_us"])]
        s["repeatability_floor"] = {"all": floor(values(lambda us: True)), "below_10us": floor(values(lambda us: us < 10)),
                                    "10us_to_1ms": floor(values(lambda us: 10 <= us < 1000)), "above_1ms": floor(values(lambda us: us >= 1000))}
        stats[name] = s
    stats["canary"] = {}
    for key in ("conv_us", "matmul_us", "copy_us"):
        v = [c[key] for c in canaries]
        m = statistics.median(v)
        stats["canary"][key] = dict(quantiles(v), off_by_5_percent=round(sum(abs(x / m - 1) > 0.05 for x in v) / len(v), 4))
    stats["failures"] = dict(collections.Counter(r.get("message", "") for r in kept if r["outcome"] != "ok").most_common())
    with open(os.path.join(out, "session.json"), "w") as f:
        json.dump({"sessions": sessions, "statistics": stats}, f, indent=1)
        f.write("\n")
    print(json.dumps(stats, indent=1))


if __name__ == "__main__":
    main()
