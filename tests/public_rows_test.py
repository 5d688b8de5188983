#!/usr/bin/env python3
"""Measurements of others (data/public): every row has its graph, every label and target its fold,
every device its sheet.

    public_rows_test.py [ROOT]     exit 0: so it is, 1: what is missing is listed
"""
import csv
import glob
import json
import os
import sys

from layering_test import root_asked_for

# Data set: folds of its labels, folds of its targets. NeuSight's kernels have the source's own
# split, as their space.
FOLDS = {
    "kernelbench": ("kernelbench-problems.csv", "gpus.csv"),
    "ncnn-boards": ("boards-networks.csv", "boards-devices.csv"),
    "neusight": (None, "gpus.csv"),
    "timm": ("timm-families.csv", "gpus.csv"),
}
SHEETS = (("gpus.csv", "name"), ("integrated_gpus.csv", "name"), ("processors.csv", "device"))


def column(path, name):
    with open(path, newline="", encoding="utf-8") as file:
        return {row[name] for row in csv.DictReader(file)}


def rows_of(path, record_files):
    with record_files.open_text(path) as file:
        return [entry for entry in map(json.loads, file) if entry["kind"] == "record"]


def missing_in(root, record_files):
    data = os.path.join(root, "data")
    devices = set().union(*(column(os.path.join(data, "devices", name), key) for name, key in SHEETS))
    for data_set, folds in FOLDS.items():
        folder = os.path.join(data, "public", data_set)
        labels, targets = (column(os.path.join(data, "splits", name), "key") if name else None for name in folds)
        graphs = {}
        for kind in record_files.KINDS:
            graphs.update(record_files.read_graphs(os.path.join(folder, "graphs", kind + ".jsonl.xz")))
        named = set()
        for path in sorted(glob.glob(os.path.join(glob.escape(folder), "*", "target.json"))):
            with open(path, encoding="utf-8") as file:
                target = json.load(file)
            place = os.path.relpath(os.path.dirname(path), root)
            if target["name"] != os.path.basename(place):
                yield "%s: its target.json is of %s" % (place, target["name"])
            if target["device"] not in devices:
                yield "%s: no sheet in data/devices is of %s" % (place, target["device"])
            is_asked = folds[1] != "gpus.csv" or target["kind"] == "gpu"
            if is_asked and target["name"] not in targets:
                yield "%s: is in no fold of %s" % (place, folds[1])
            for rows in glob.glob(os.path.join(glob.escape(os.path.dirname(path)), "*.jsonl.xz")):
                for row in rows_of(rows, record_files):
                    named.add(row["graph_id"])
                    if row["graph_id"] not in graphs:
                        yield "%s: no graph %s" % (place, row["graph_id"])
                    if labels is not None and row["label"] not in labels:
                        yield "%s: %s is in no fold of %s" % (place, row["label"], folds[0])
        if not named:
            yield "%s: has no rows" % folder
        if graphs.keys() - named:
            yield "%s: %d graphs that no row names" % (folder, len(graphs.keys() - named))


def main():
    root = root_asked_for()
    sys.path.append(os.path.join(root, "data", "measurements"))
    import record_files

    missing = list(missing_in(root, record_files))
    print("\n".join(missing) or "nothing is missing")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
