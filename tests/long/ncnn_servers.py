#!/usr/bin/env python3
"""ncnn as cobra-worker measures it here, against what users of benchncnn published of x86 servers
(ncnn_servers.csv).

    ncnn_servers.py [--core 0] [--budget 4m]      needs scripts/setup.sh --runtimes; leave the
                                                  machine alone meanwhile

ncnn's own benchmark networks, those in float32, are read from its files, written for ncnn again and
measured on one thread. Speeds of machines differ, so that the ratios between the networks are
compared: our time over theirs, over the median of that over all networks. benchncnn computes in
bf16 or fp16 where the processor can, and runs layers that pnnx has fused; versions of ncnn differ
too. Passed: the median of |ratio - 1| is at most 15 %."""
import argparse
import csv
import json
import os
import statistics
import subprocess
import sys
import tempfile

SOURCE = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
BIN = os.path.abspath(os.environ.get("COBRA_BIN", os.path.join(SOURCE, "build", "release", "bin")))
MODELS = os.path.join(SOURCE, "tests", "frontend", "ncnn", "models")
MOST_DIFFERENCE = 0.15


def rows():
    with open(os.path.join(SOURCE, "tests", "long", "ncnn_servers.csv")) as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


def graph_of(row):
    command = [os.path.join(BIN, "cobra-client"), "graph", os.path.join(MODELS, row["model"] + ".param")]
    text = open(command[-1]).readlines()[2:]
    name = next(line.split()[4] for line in text if line.startswith("Input"))
    command += ["--input", "%s=%s" % (name, row["input"]), "--format", "json"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(done.stderr)
    return json.loads(done.stdout)


def measured(graphs, options):
    """Latency of each in microseconds."""
    with tempfile.TemporaryDirectory() as folder:
        path, out = os.path.join(folder, "graphs.jsonl"), os.path.join(folder, "records.jsonl")
        with open(path, "w") as file:
            for name, graph in graphs.items():
                file.write(json.dumps({"name": name, "graph": graph}) + "\n")
        command = [os.path.join(BIN, "cobra-worker"), "measure", "--graphs", path, "--runner", "ncnn", "--out", out]
        command += ["--core", str(options.core), "--budget", options.budget]
        subprocess.run(command, check=True, cwd=SOURCE, stderr=subprocess.DEVNULL)
        times = {}
        names = list(graphs)
        with open(out) as file:
            for record in map(json.loads, file):
                if record["kind"] != "record":
                    continue
                name = names[record["index"] - 1]  # lines count from 1
                if record["outcome"] != "ok":
                    print("%-20s %s" % (name, record.get("error", record["outcome"])[:120]))
                    continue
                us = record.get("quiet_us") or record["latency_us"]
                times[name] = min(us, times.get(name, us))
        return times


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--core", type=int, default=0)
    parser.add_argument("--budget", default="4m")
    options = parser.parse_args()
    table = rows()
    servers = [name for name in table[0] if name.endswith("_ms")]
    ours_us = measured({row["model"]: graph_of(row) for row in table}, options)
    failed = len(ours_us) < 0.9 * len(table)
    for server in servers:
        ratios = {r["model"]: ours_us[r["model"]] / 1e3 / float(r[server]) for r in table if r["model"] in ours_us}
        middle = statistics.median(ratios.values())
        print("\n%s: ours takes %.2f times as long" % (server, middle))
        for name, ratio in ratios.items():
            print("%-20s %10.2f ms  %+6.1f %%" % (name, ours_us[name] / 1e3, 100 * (ratio / middle - 1)))
        difference = statistics.median(abs(ratio / middle - 1) for ratio in ratios.values())
        print("%d networks: median difference %.1f %%" % (len(ratios), 100 * difference))
        failed = failed or difference > MOST_DIFFERENCE
    sys.exit(failed)


if __name__ == "__main__":
    main()
