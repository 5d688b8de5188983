#!/usr/bin/env python3
"""Cuts the tables of `cobra-train table few_shot` out of a copy of HELP's data and draws its
samples, once.

    make_few_shot.py FOLDER_WITH_help_nasbench201_help_fbnet_help_ofa

Writes lab/data/help_*/{latency.csv.xz, rows.csv, draws.csv}. rows.csv says what a row is for;
draws.csv has 100 orders in which rows of a pool are measured: a device's samples are the first of
an order that the device has and that the protocol admits.
"""
import csv
import gzip
import io
import lzma
import os
import random
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
DRAWS, LENGTH = 100, 60


def read(folder):
    with gzip.open(os.path.join(folder, "latency.csv.gz"), "rt") as file:
        rows = list(csv.reader(file))
    return rows[0], rows[1:]


def connected(arch):
    """NAS-Bench-201: whether a path of operations other than `none` leads from input to output."""
    none = [edge.startswith("none") for node in arch.split("+") for edge in node.strip("|").split("|")]
    reached = [True, not none[0], False, False]
    reached[2] = not none[1] or (reached[1] and not none[2])
    return not none[3] or (reached[1] and not none[4]) or (reached[2] and not none[5])


def write(name, header, rows, parts):
    """parts: {part of the protocol: {"pool": rows, "test": rows}}"""
    out = os.path.join(HERE, name)
    os.makedirs(out, exist_ok=True)
    kept = set().union(*(part[use] for part in parts.values() for use in part))
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(header)
    table.writerows(row for row in rows if int(row[0]) in kept)
    with open(os.path.join(out, "latency.csv.xz"), "wb") as file:
        file.write(lzma.compress(text.getvalue().encode(), preset=9 | lzma.PRESET_EXTREME))
    with open(os.path.join(out, "rows.csv"), "w") as file:
        file.write("part,use,row\n")
        for part, uses in parts.items():
            for use, numbers in uses.items():
                file.writelines(f"{part},{use},{number}\n" for number in sorted(numbers))
    with open(os.path.join(out, "draws.csv"), "w") as file:
        file.write("part,draw,rows\n")
        for part, uses in parts.items():
            draw = random.Random(f"few_shot {name} {part}")
            for number in range(DRAWS):
                file.write(f"{part},{number},{' '.join(map(str, draw.sample(sorted(uses['pool']), LENGTH)))}\n")


def main():
    data = sys.argv[1]
    header, rows = read(os.path.join(data, "help_nasbench201"))
    live = [int(row[0]) for row in rows if connected(row[1])]
    drawn = random.Random("few_shot help_nasbench201").sample(live, 1900)
    write(
        "help_nasbench201",
        header,
        rows,
        {
            "help": {"pool": set(range(900)), "test": set(range(900, 1900))},
            "random": {"pool": set(drawn[:900]), "test": set(drawn[900:])},
        },
    )
    for name in ("help_fbnet", "help_ofa"):
        header, rows = read(os.path.join(data, name))
        write(name, header, rows, {"help": {"pool": set(range(4000)), "test": set(range(4000, 5000))}})


main()
