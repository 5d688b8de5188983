#!/usr/bin/env python3
"""Makes this folder's tables and splits of the public latency.csv.gz (README.md): make_tables.py
LATENCY.csv.gz FOLDER.

The splits were drawn once, before anything was trained; running this again gives the same bytes.
"""
import csv
import gzip
import io
import math
import os
import random
import statistics
import sys

ROWS, VALIDATION, TEST, SPLITS = 2000, 200, 200, 3


def write_gzip(path, text):
    with open(path, "wb") as file, gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0) as packed:
        packed.write(text.encode())


def main(source, folder):
    with gzip.open(source, "rt", newline="") as file:
        rows = list(csv.DictReader(file))
    features = list(rows[0])[2:12]
    sets = {}
    for row in rows:
        sets.setdefault(f"{row['task']}-{row['device']}", []).append(row)
    spread = ["set,relative_deviation"]
    for name, members in sets.items():
        assert len(members) == ROWS, name
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(["row", *features, "latency_ms"])
        deviations = []
        for number, row in enumerate(members):
            total = float(row["latency_mean_encoder_ms"]) + float(row["latency_mean_decoder_ms"])
            writer.writerow([number, *(row[f] for f in features), f"{total:.7g}"])
            deviations.append(
                math.hypot(float(row["latency_std_encoder_ms"]), float(row["latency_std_decoder_ms"])) / total
            )
        write_gzip(os.path.join(folder, f"{name}.csv.gz"), out.getvalue())
        spread.append(f"{name},{statistics.median(deviations):.6f}")
    with open(os.path.join(folder, "spread.csv"), "w") as file:
        file.write("\n".join(spread) + "\n")
    for split in range(1, SPLITS + 1):
        drawn = random.Random(f"hat-{split}").sample(range(ROWS), VALIDATION + TEST)
        lines = ["row,part"]
        for part, chosen in (("validation", drawn[:VALIDATION]), ("test", drawn[VALIDATION:])):
            lines += [f"{row},{part}" for row in sorted(chosen)]
        with open(os.path.join(folder, f"split-{split}.csv"), "w") as file:
            file.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2])
