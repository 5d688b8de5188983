#!/usr/bin/env python3
"""cobra-train table
cobra_layers|cobra_networks|ablation|intervals|runtimes|kernelbench|boards|adapted --quick: every
row is there, with figures of test rows.

    measured_tables_test.py TABLE
"""
import json
import os
import subprocess
import sys

ROWS = {
    "cobra_layers": [
        "COBRA (shipped)",
        "boosted trees on shapes and costs",
        "kernel ridge on the call's numbers",
        "linear on FLOPs and bytes, one line per type",
        "repeatability floor: measured twice",
    ],
    "cobra_networks": [
        "COBRA (shipped)",
        "BRP-NAS: kinds of calls alone",
        "BRP-NAS: kinds and parameters",
        "BRP-NAS++: kinds, parameters, latency of each call alone",
        "boosted trees on shape and cost totals",
        "linear on FLOPs and bytes",
        "layer-wise sum: layers predicted by COBRA (shipped)",
        "the calls as profiled inside the network, added",
        "repeatability floor: measured twice",
    ],
    "ablation": [
        "ours: everything on",
        "numbers as words of digits, not as numbers",
        "without the target",
        "networks alone: no layers to learn from",
        "the same, the latency appended",
    ],
    "intervals": ["layers", "networks", "desktop_gpu_gtx_1080ti_fp32"],
    "runtimes": [
        "COBRA",
        "sum of layers alone, scaled",
        "sum of fused kernels, fitted (in the manner of nn-Meter)",
        "additive roofline, fitted",
        "repeatability floor: measured twice",
        "fastest of the runtimes",
    ],
    "kernelbench": ["COBRA", "additive roofline, fitted"],
    "boards": ["COBRA", "geometric pattern, scaled", "eight nearest, scaled", "Gaussian over networks"],
    "adapted": ["data sheet alone"] + [f"{n} timings, {how}" for n in (5, 10) for how in ("at random", "as suggested")],
}
OPTIONS = {"runtimes": ["--rows", "data/measurements"]}
PUBLISHED = {
    "cobra_layers": ["COBRA as published: encoder", "COBRA (ours) on the rows of the encoder as published"],
    "cobra_networks": ["COBRA as published"],
    "ablation": [],
    "intervals": [],
    "runtimes": [],
    "kernelbench": [],
    "boards": [],
    "adapted": [],
}


def main():
    table, source = sys.argv[1], os.environ["COBRA_SOURCE"]
    run = subprocess.run(
        [os.environ["COBRA_BIN"] + "/cobra-train", "table", table, "--quick", "--json", *OPTIONS.get(table, [])],
        cwd=source,
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr
    rows = json.loads(run.stdout)["rows"]
    methods = {r["method"] for r in rows}
    wanted = list(ROWS[table])
    if os.path.exists(source + "/build/wordpiece/vocab.txt"):
        wanted += PUBLISHED[table]
    missing = [m for m in wanted if m not in methods]
    assert not missing, (missing, methods)
    for r in rows:
        if "mape" in r["metrics"]:
            assert r["metrics"]["mape"] >= 0 and r["metrics"]["n"] > 0, r
    if table == "cobra_networks":  # the parts of a network add up to it, whatever predicts them
        profile = next(r for r in rows if r["method"].startswith("the calls as profiled"))
        assert profile["metrics"]["mape"] < 0.1, profile
    if table == "intervals":
        for r in rows:
            m = r["metrics"]
            assert 0 <= m["band_low"] < m["covered_90"] <= m["band_high"] <= 1 and m["width"] > 0, r
    print(table, len(rows), "rows")


main()
