#!/usr/bin/env python3
"""How well the shipped weights do on a machine that they were not trained on, after a minute of
calibration: the real server, `cobra-client calibrate`, a prediction for every network of a file of
records that cobra-worker measured on this machine.

    other_machine.py RECORDS.jsonl[.gz|.xz] [--probe FILE.json]        --probe: output of
                                                                       `cobra-worker probe --json`
                                                                       on the
                                                                   records' machine, instead of
                                                                   probing this one

Prints one line per family (the record's label): networks, MAPE, share within 10 and 25 %, share
inside the 90 % interval, median of predicted over measured. The first predictions are of the
shipped target itself, uncalibrated: what the calibration brings."""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "e2e"))
sys.path.insert(0, os.path.join(HERE, "..", "..", "data", "measurements"))
import programs  # noqa: E402
import record_files  # noqa: E402


def read_records(path):
    """The last record of each network that ran: one taken again, because the machine was disturbed,
    comes later."""
    records = {}
    for record in record_files.Reader().records(path):
        if record["outcome"] == "ok" and record["is_network"]:
            records[record["space"], record["index"]] = record
    return list(records.values())


def client(*arguments):
    done = subprocess.run([os.path.join(programs.BIN, "cobra-client"), *arguments], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"other_machine: cobra-client {' '.join(arguments)}: {done.stderr}")
    return done.stdout


def predict(records, target, server, folder):
    """[(measured, latency, low, high)] in microseconds, in the order of the records."""
    rows = []
    path = os.path.join(folder, "graph.json")
    for record in records:
        with open(path, "w") as file:
            json.dump(record["graph"], file)
        answer = json.loads(
            client("predict", path, "--target", target, "--server", server, "--format", "json", "--keep-private")
        )
        p = answer["predictions"][0]
        rows.append((record["latency_us"], p["latency_us"], p["low_us"], p["high_us"]))
    return rows


def print_rows(title, labels, rows):
    print(f"\n{title}\n{'family':34} networks   MAPE  within 10 %  within 25 %  inside  predicted / measured")
    families = {"all": rows}
    for label, row in zip(labels, rows):
        families.setdefault(label, []).append(row)
    for family, chosen in families.items():
        off = [abs(p / m - 1) for m, p, _, _ in chosen]
        share = lambda holds: 100 * sum(holds) / len(chosen)
        print(
            f"{family:34} {len(chosen):8} {100 * statistics.mean(off):5.1f} % {share(e <= 0.1 for e in off):10.0f} % {share(e <= 0.25 for e in off):10.0f} % "
            f"{share(low <= m <= high for m, _, low, high in chosen):5.0f} % {statistics.median(p / m for m, p, _, _ in chosen):12.2f}"
        )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("records")
    parser.add_argument("--probe")
    options = parser.parse_args()
    records = read_records(options.records)
    labels = [record["label"] for record in records]
    with tempfile.TemporaryDirectory() as folder, programs.Server(os.path.join(folder, "store.sqlite")) as server:
        client("calibrate", "--server", server.address, *(["--probe", options.probe] if options.probe else []))
        known = json.loads(client("targets", "--server", server.address, "--format", "json"))
        names = [t["spec"]["name"] for t in known["targets"] if not t["calibrated"]]
        for title, target in [(f"{name}, as it is", name) for name in names] + [
            ("this-machine, calibrated", "this-machine")
        ]:
            print_rows(title, labels, predict(records, target, server.address, folder))


main()
