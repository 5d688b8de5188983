#!/usr/bin/env python3
"""What the predictor can tell apart: pairs of networks with one small edit between them, measured
in turns on this machine and predicted.

    small_edits.py [--pairs 150] [--rounds 4] [--core 0] [--seed 1] [--target NAME] [--fresh]
                        COBRA_BIN: where the programs are; leave the machine alone for a quarter of
                        an hour

A pair is a network of edited_networks.py, drawn at random, and the same with one entry of its
configuration changed as a commit might change it (a wider layer, another kernel or activation, a
norm less, a block more). Both live in a cobra-worker each, on one core, and are measured in turns,
a quarter of a second each, the first alternating; the median of the ratios counts. Every tenth pair
is a network and itself: what measuring alone makes of no change.

Printed: of the pairs whose predicted change is at least so large, how many were measured to change
in the same direction; and the smallest change from which on it is 95 in 100, which is what
`cobra-client diff` goes by (docs/ci.md). Every pair goes into build/small_edits.jsonl at once; a
second run goes on from there."""
import argparse
import json
import math
import os
import random
import statistics
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
import programs
from in_turns import TimedGraph

NETWORKS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "edited_networks.py")
STATE = os.path.join(programs.SOURCE, "build", "small_edits.jsonl")
CHOICES = {
    "kind": ["residual", "mobile", "unet", "transformer"],
    "activation": ["relu", "gelu", "silu", "hardswish"],
    "norm": ["batch", "group", "none"],
    "kernel": [1, 3, 5, 7],
    "groups": [1, 2, 4],
    "expansion": [2, 3, 4, 6],
    "gate": [False, True],
    "pool": ["max", "average"],
    "heads": [2, 4, 8],
    "patch": [8, 14, 16],
    "ratio": [2.0, 2.5, 3.0, 3.5, 4.0],
    "bias": [False, True],
    "classes": [10, 100, 1000],
}
# Which entries matter for a kind, besides width and depths, which all have.
MATTERS = {
    "residual": ["activation", "norm", "kernel", "groups", "gate", "pool", "classes"],
    "mobile": ["activation", "norm", "kernel", "expansion", "gate", "pool", "classes"],
    "unet": ["activation", "norm", "kernel", "groups", "gate", "pool"],
    "transformer": ["activation", "heads", "patch", "ratio", "bias", "classes"],
}


def drawn(rng):
    c = {name: rng.choice(values) for name, values in CHOICES.items()}
    c["width"] = rng.choice([16, 24, 32, 40, 48])
    c["depths"] = [rng.randint(1, 3) for _ in range(rng.randint(2, 4))]
    c["size"] = rng.choice([64, 96, 112, 128, 160])
    return c


def edited(c, rng):
    """The same with one entry changed, by little where it is a number: the name of the entry, and
    the configuration."""
    entry = rng.choice(MATTERS[c["kind"]] + ["width", "width", "depths"])
    other = dict(c, depths=list(c["depths"]))
    if entry == "width":
        other["width"] += rng.choice([-8, -4, 4, 8])
    elif entry == "depths":
        i = rng.randrange(len(c["depths"]))
        other["depths"][i] += 1 if c["depths"][i] == 1 else rng.choice([-1, 1])
    else:
        values = CHOICES[entry]
        at = values.index(c[entry])
        near = [values[k] for k in (at - 1, at + 1) if 0 <= k < len(values)]
        other[entry] = rng.choice(near if isinstance(c[entry], (int, float)) else [v for v in values if v != c[entry]])
    return entry, other


def question(c):
    return [NETWORKS, "--entry", f"make({c!r})", "--input", f"1x3x{c['size']}x{c['size']}"]


def timed(c, path, core):
    graph = programs.client("graph", *question(c), "--format", "json")
    if graph.code != 0:
        raise RuntimeError(graph.err)
    return TimedGraph(programs.BIN, graph.out, path, core, "--share-device")


def measured_change(before, after, folder, options):
    with timed(before, os.path.join(folder, "a.json"), options.core) as a:
        with timed(after, os.path.join(folder, "b.json"), options.core) as b:
            for side in (a, b):
                side.measure()
            ratios, latencies = [], []
            for i in range(options.rounds):
                first, second = (a, b) if i % 2 == 0 else (b, a)
                times = {first: first.measure()}
                times[second] = second.measure()
                ratios.append(math.log(times[b] / times[a]))
                latencies.append(times[a])
    half = statistics.median(abs(r - statistics.median(ratios)) for r in ratios)
    return statistics.median(ratios), half, statistics.median(latencies)


def predicted_us(server, c, target):
    answer = programs.predict(server, *question(c), "--target", target)
    if answer.code != 0:
        raise RuntimeError(answer.err)
    return answer.json()["predictions"][0]["latency_us"]


def run(options):
    done = []
    if os.path.exists(STATE) and not options.fresh:
        with open(STATE) as file:
            done = [json.loads(line) for line in file]
    elif os.path.exists(STATE):
        os.remove(STATE)
    rng = random.Random(options.seed)
    with tempfile.TemporaryDirectory() as folder:
        for i in range(options.pairs):
            before = drawn(rng)
            entry, after = edited(before, rng)
            if i % 10 == 9:
                entry, after = "nothing", before
            if i < len(done):
                continue
            change, half, latency_us = measured_change(before, after, folder, options)
            row = {
                "pair": i,
                "kind": before["kind"],
                "entry": entry,
                "from": before.get(entry),
                "to": after.get(entry),
                "latency_us": latency_us,
                "measured": change,
                "spread": half,
                "before": before,
                "after": after,
            }
            done.append(row)
            with open(STATE, "a") as file:
                file.write(json.dumps(row) + "\n")
        with programs.Server(os.path.join(folder, "store.sqlite")) as server:
            for row in done:
                old, new = (predicted_us(server, row[side], options.target) for side in ("before", "after"))
                row["predicted"] = math.log(new / old)
    return done


def percent(log_ratio):
    return 100 * math.expm1(log_ratio)


def report(rows, target):
    floor = [abs(row["measured"]) for row in rows if row["entry"] == "nothing"]
    pairs = [row for row in rows if row["entry"] != "nothing" and row["predicted"] != 0]
    silent = [row for row in rows if row["entry"] != "nothing" and row["predicted"] == 0]
    errors = [abs(row["predicted"] - row["measured"]) for row in pairs]
    print(
        f"{len(pairs)} pairs with one small edit on {target}; latencies {min(r['latency_us'] for r in rows) / 1000:.2f} to ",
        end="",
    )
    print(f"{max(r['latency_us'] for r in rows) / 1000:.1f} ms; {len(silent)} more with the same graph")
    print(
        f"a network and itself, in turns: median {percent(statistics.median(floor)):.2f} %, at most {percent(max(floor)):.2f} % ({len(floor)})"
    )
    print(f"predicted change less the measured one: median {percent(statistics.median(errors)):.2f} %, ", end="")
    print(f"90 of 100 within {percent(sorted(errors)[int(0.9 * len(errors))]):.2f} %")
    print("predicted change at least   pairs   measured in the same direction")
    for least in (0, 0.5, 1, 1.5, 2, 3, 4, 5, 7, 10, 15):
        large = [row for row in pairs if abs(row["predicted"]) >= math.log1p(least / 100)]
        if large:
            right = sum(row["measured"] * row["predicted"] > 0 for row in large)
            print(f"{least:20.1f} %   {len(large):8d}   {100 * right / len(large):10.1f} %")
    by_size = sorted(pairs, key=lambda row: abs(row["predicted"]), reverse=True)
    smallest, right = None, 0
    for i, row in enumerate(by_size):
        right += row["measured"] * row["predicted"] > 0
        if right >= 0.95 * (i + 1):
            smallest = abs(row["predicted"])
    print(f"the smallest change from which on 95 in 100 are right: {percent(smallest):.2f} %")
    print("edits whose predicted direction is wrong, the largest first:")
    for row in [row for row in by_size if row["measured"] * row["predicted"] <= 0][:12]:
        print(
            f"  {row['kind']:12s} {row['entry']:10s} {row['from']} -> {row['to']}: "
            f"predicted {percent(row['predicted']):+.1f} %, measured {percent(row['measured']):+.1f} %"
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=150)
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--core", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--target", default="cpu-epyc-turin-1t")
    parser.add_argument("--fresh", action="store_true")
    options = parser.parse_args()
    report(run(options), options.target)


if __name__ == "__main__":
    main()
