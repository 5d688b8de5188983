#!/usr/bin/env python3
"""Writes split-SEED.csv (900 rows for training, 100 for validation) and split-2000-SEED.csv (the
same and 1,100 more for training). Ran once; the files are what counts.

    make_splits.py [--check]     --check: says whether the files are what it would write
"""
import csv
import lzma
import os
import random
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


def splits():
    with lzma.open(os.path.join(HERE, "latency.csv.xz"), "rt") as f:
        rows = [r["row"] for r in csv.DictReader(f) if all(r.values())]  # that all three devices have
    for seed in (1, 2, 3):
        drawn = random.Random(f"nasbench201-{seed}").sample(rows, 1000)
        small = [(row, "train") for row in drawn[:900]] + [(row, "validation") for row in drawn[900:]]
        yield f"split-{seed}.csv", small
        rest = sorted(set(rows) - set(drawn), key=int)
        yield f"split-2000-{seed}.csv", small + [
            (row, "train") for row in random.Random(f"nasbench201-2000-{seed}").sample(rest, 1100)
        ]


def main():
    wrong = 0
    for name, parts in splits():
        text = "row,part\n" + "".join(f"{row},{part}\n" for row, part in parts)
        path = os.path.join(HERE, name)
        if "--check" in sys.argv[1:]:
            same = os.path.exists(path) and open(path).read() == text
            wrong += not same
            print(name, "as drawn" if same else "DIFFERS")
        else:
            with open(path, "w") as f:
                f.write(text)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
