#!/usr/bin/env python3
"""cobra-train fit, predict, adapt on tables of search spaces: the real program on a slice of the
committed tables."""
import csv
import gzip
import json
import lzma
import os
import subprocess
import sys
import tempfile

BIN = os.environ["COBRA_BIN"]
SOURCE = os.environ["COBRA_SOURCE"]
KNOWN = [
    "1080ti_1",
    "1080ti_32",
    "1080ti_256",
    "silver_4114",
    "silver_4210r",
    "samsung_a50",
    "pixel3",
    "essential_ph_1",
    "samsung_s7",
]


def train(*arguments, code=0):
    done = subprocess.run([os.path.join(BIN, "cobra-train"), *arguments], cwd=SOURCE, capture_output=True, text=True)
    assert done.returncode == code, (arguments, done.returncode, done.stderr)
    return done.stderr


def read(path):
    with (lzma.open if path.endswith(".xz") else gzip.open if path.endswith(".gz") else open)(path, "rt") as file:
        return list(csv.DictReader(file))


def write(path, rows, columns):
    with (gzip.open if path.endswith(".gz") else open)(path, "wt", newline="") as file:
        out = csv.DictWriter(file, columns, extrasaction="ignore")
        out.writeheader()
        out.writerows(rows)


def ranks(values):
    order = sorted(range(len(values)), key=values.__getitem__)
    rank = [0.0] * len(values)
    first = 0
    while first < len(order):
        last = first
        while last + 1 < len(order) and values[order[last + 1]] == values[order[first]]:
            last += 1
        for i in range(first, last + 1):
            rank[order[i]] = (first + last) / 2
        first = last + 1
    return rank


def spearman(a, b):
    a, b = ranks(a), ranks(b)
    mean = (len(a) - 1) / 2
    above = sum((x - mean) * (y - mean) for x, y in zip(a, b))
    return above / (sum((x - mean) ** 2 for x in a) * sum((y - mean) ** 2 for y in b)) ** 0.5


def check(path, asked, device, rank, error):
    predicted = read(path)
    assert [p["row"] for p in predicted] == [a["row"] for a in asked], "order"
    estimates, measured = [float(p["latency_ms"]) for p in predicted], [float(a[device]) for a in asked]
    assert all(float(p["low_ms"]) < float(p["latency_ms"]) < float(p["high_ms"]) for p in predicted)
    inside = sum(float(p["low_ms"]) <= m <= float(p["high_ms"]) for p, m in zip(predicted, measured)) / len(asked)
    off = sum(abs(s / m - 1) for s, m in zip(estimates, measured)) / len(asked)
    found = spearman(estimates, measured)
    print(f"{device}: Spearman {found:.3f}, MAPE {off:.3f}, inside {inside:.3f}")
    assert found > rank and off < error and inside > 0.6, (device, found, off, inside)


def main():
    if not os.path.exists(os.path.join(SOURCE, "lab/data")):
        print("lab/data is not there")
        return 77
    with tempfile.TemporaryDirectory() as out:
        path = lambda name: os.path.join(out, name)
        rows = read(os.path.join(SOURCE, "lab/data/help_nasbench201/latency.csv.xz"))[:1900]
        asked = rows[900:1900][::-1]  # in another order than the table's
        write(path("train.csv.gz"), rows[:900], ["row", "arch"] + KNOWN)
        write(path("test.csv"), asked, ["row", "arch"])
        train("fit", "--space", "nasbench201", "--rows", path("train.csv.gz"), "--out", path("model"))
        manifest = json.load(open(path("model/manifest.json")))
        assert [d["name"] for d in manifest["devices"]] == KNOWN and sorted(os.listdir(path("model"))) == [
            "manifest.json",
            "tensors.safetensors",
        ]
        train(
            "predict",
            "--model",
            path("model"),
            "--rows",
            path("test.csv"),
            "--device",
            "1080ti_256",
            "--out",
            path("p.csv.gz"),
        )
        check(path("p.csv.gz"), asked, "1080ti_256", 0.995, 0.03)
        for device, rank, error in (("titan_rtx_256", 0.98, 0.06), ("eyeriss", 0.97, 0.2)):
            samples = [dict(row, latency_ms=row[device]) for row in rows[5:900:90]]
            write(path("few.csv"), samples, ["row", "arch", "latency_ms"])
            train(
                "adapt",
                "--model",
                path("model"),
                "--samples",
                path("few.csv"),
                "--rows",
                path("test.csv"),
                "--out",
                path("a.csv"),
            )
            check(path("a.csv"), asked, device, rank, error)
        # The same with samples of its choice: better than ten in even steps.
        train(
            "choose",
            "--model",
            path("model"),
            "--rows",
            path("train.csv.gz"),
            "--count",
            "10",
            "--out",
            path("chosen.csv"),
        )
        chosen = [row["row"] for row in read(path("chosen.csv"))]
        train(
            "choose",
            "--model",
            path("model"),
            "--rows",
            path("train.csv.gz"),
            "--count",
            "4",
            "--out",
            path("chosen4.csv"),
        )
        assert len(set(chosen)) == 10 and [row["row"] for row in read(path("chosen4.csv"))] == chosen[:4], chosen
        by_row = {row["row"]: row for row in rows}
        write(
            path("few.csv"),
            [dict(by_row[row], latency_ms=by_row[row]["eyeriss"]) for row in chosen],
            ["row", "arch", "latency_ms"],
        )
        train(
            "adapt",
            "--model",
            path("model"),
            "--samples",
            path("few.csv"),
            "--rows",
            path("test.csv"),
            "--out",
            path("a.csv"),
        )
        check(path("a.csv"), asked, "eyeriss", 0.985, 0.05)
        json.dump({"kind": "gpu", "batch": 256}, open(path("spec.json"), "w"))
        samples = [dict(row, latency_ms=row["titan_rtx_256"]) for row in rows[5:900:300]]
        write(path("few.csv"), samples, ["row", "arch", "latency_ms"])
        train(
            "adapt",
            "--model",
            path("model"),
            "--samples",
            path("few.csv"),
            "--spec",
            path("spec.json"),
            "--rows",
            path("test.csv"),
            "--out",
            path("a.csv"),
        )
        check(path("a.csv"), asked, "titan_rtx_256", 0.9, 0.2)

        # One device, latency_ms as its column.
        for space, folder, device, rank, error in (
            ("fbnet", "help_fbnet", "titan_rtx_1", 0.97, 0.03),
            ("ofa", "help_ofa", "v100_64", 0.97, 0.06),
        ):
            rows = read(os.path.join(SOURCE, f"lab/data/{folder}/latency.csv.xz"))
            write(path("one.csv"), [dict(r, latency_ms=r[device]) for r in rows[::16]], ["row", "arch", "latency_ms"])
            write(path("test.csv"), rows[1::25], ["row", "arch"])  # devices drift: rows from everywhere
            train("fit", "--space", space, "--rows", path("one.csv"), "--out", path(space))
            train("predict", "--model", path(space), "--rows", path("test.csv"), "--out", path("p.csv"))
            check(path("p.csv"), rows[1::25], device, rank, error)

        # Ten numbers an architecture; rows in the order of measuring.
        rows = read(os.path.join(SOURCE, "lab/data/hat/iwslt14deen-gpu_titanxp.csv.gz"))
        part = {r["row"]: r["part"] for r in read(os.path.join(SOURCE, "lab/data/hat/split-1.csv"))}
        asked = [r for r in rows if part.get(r["row"]) == "test"]
        write(path("hat.csv"), [r for r in rows if r["row"] not in part], list(rows[0]))
        write(path("hat-test.csv"), asked, [c for c in rows[0] if c != "latency_ms"])
        train("fit", "--space", "hat", "--rows", path("hat.csv"), "--out", path("hat"))
        train("predict", "--model", path("hat"), "--rows", path("hat-test.csv"), "--out", path("p.csv"))
        check(path("p.csv"), asked, "latency_ms", 0.98, 0.03)

        def refuses(words, *arguments):
            error = train(*arguments, code=2)
            assert all(word in error for word in words), (words, error)

        adapt = ["adapt", "--model", path("model"), "--rows", path("test.csv"), "--out", path("x.csv"), "--samples"]
        predict = ["predict", "--model", path("model"), "--out", path("x.csv"), "--rows"]
        refuses(["toaster: no such device", "1080ti_256"], *predict, path("train.csv.gz"), "--device", "toaster")
        refuses(["--device", "1080ti_256"], *predict, path("train.csv.gz"))
        refuses(["test.csv: line 2: ", "nasbench201"], *predict, path("test.csv"), "--device", "pixel3")
        refuses(["test.csv: line 1: no column latency_ms"], *adapt, path("test.csv"))
        choose = ["choose", "--model", path("model"), "--out", path("x.csv"), "--rows"]
        refuses(["--count: 20, but", "few.csv has 3 architectures"], *choose, path("few.csv"), "--count", "20")
        refuses(
            ["was fitted to one device"],
            "choose",
            "--model",
            path("fbnet"),
            "--rows",
            path("one.csv"),
            "--out",
            path("x.csv"),
        )
        refuses(["one.csv: is a table", "--space NAME"], "fit", "--rows", path("one.csv"), "--out", path("y"))
        refuses(
            ["--space excludes --seeds"],
            "fit",
            "--space",
            "fbnet",
            "--seeds",
            "5",
            "--rows",
            path("one.csv"),
            "--out",
            path("y"),
        )
        open(path("worse.csv"), "w").write("row,arch,latency_ms\n0,k3_e1 k9_e9,1.5\n")
        refuses(
            ["worse.csv: line 2: 'k9_e9'", "space fbnet"],
            "fit",
            "--space",
            "fbnet",
            "--rows",
            path("worse.csv"),
            "--out",
            path("y"),
        )
        refuses(
            ["a model of space hat cannot be adapted"],
            "adapt",
            "--model",
            path("hat"),
            "--rows",
            path("hat-test.csv"),
            "--out",
            path("x.csv"),
            "--samples",
            path("hat.csv"),
        )
        refuses(
            ["toaster", "latency_ms"],
            "predict",
            "--model",
            path("hat"),
            "--rows",
            path("hat-test.csv"),
            "--device",
            "toaster",
            "--out",
            path("x.csv"),
        )
        refuses(
            ["test.csv: line 1: the header has no column encoder_embed_dim"],
            "predict",
            "--model",
            path("hat"),
            "--rows",
            path("test.csv"),
            "--out",
            path("x.csv"),
        )
        refuses(
            ["cifar: unknown space", "fbnet", "hat"],
            "fit",
            "--space",
            "cifar",
            "--rows",
            path("one.csv"),
            "--out",
            path("y"),
        )
        open(path("bad.csv"), "w").write("row,arch,latency_ms\n0,k3_e1,fast\n")
        refuses(['bad.csv: line 2: latency_ms "fast"'], *adapt, path("bad.csv"))
        open(path("bad.csv"), "w").write("row,latency_ms\n0,1\n")
        refuses(
            ["bad.csv: line 1:", "row and arch"],
            "fit",
            "--space",
            "fbnet",
            "--rows",
            path("bad.csv"),
            "--out",
            path("y"),
        )
        assert not os.path.exists(path("x.csv")) and not os.path.exists(path("y"))
        with open(path("model/tensors.safetensors"), "r+b") as file:
            file.seek(-1, 2)
            file.write(b"!")
        assert "tensors.safetensors: SHA-256" in train(*predict, path("train.csv.gz"), "--device", "pixel3", code=1)
        manifest["format"] = "cobra-space-1"  # of an earlier build
        json.dump(manifest, open(path("model/manifest.json"), "w"))
        refuses(
            ["manifest.json: has format cobra-space-1", "fit it again"],
            *predict,
            path("train.csv.gz"),
            "--device",
            "pixel3",
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
