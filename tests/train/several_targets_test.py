#!/usr/bin/env python3
"""One version for two targets: trained on two folders of rows, judged on each, served by the real
server."""
import csv
import json
import os
import subprocess
import sys
import tempfile

BIN = os.environ["COBRA_BIN"]
SOURCE = os.environ["COBRA_SOURCE"]
sys.path.insert(0, os.path.join(SOURCE, "data/measurements"))
import record_files  # noqa: E402

FOLDER = os.path.join(SOURCE, "data/measurements/cpu-xeon-emeraldrapids-1t")
SLOWER = 3.0  # the second target, in everything
LAYERS, NETWORKS = 380, 8


def train(*arguments, code=0):
    done = subprocess.run([os.path.join(BIN, "cobra-train"), *arguments], cwd=SOURCE, capture_output=True, text=True)
    assert done.returncode == code, (arguments, done.returncode, done.stderr)
    return done


def write_folder(path, name, records, factor):
    os.makedirs(path)
    with open(os.path.join(FOLDER, "target.json")) as f:
        target = json.load(f)
    target["name"] = name
    with open(os.path.join(path, "target.json"), "w") as f:
        json.dump(target, f)
    with open(os.path.join(path, "rows.jsonl"), "w") as f:
        for record in records:
            scaled = {
                key: value * factor if key.endswith("_us") and key != "node_latency_us" else value
                for key, value in record.items()
            }
            scaled["suspect"] = False
            f.write(json.dumps(scaled) + "\n")


def error(model, rows):
    report = json.loads(train("evaluate", "--model", model, "--rows", rows, "--json").stdout)
    return report["layers"]["all"]["mape"]


def check_predictions(model, rows, path):
    report = json.loads(train("evaluate", "--model", model, "--rows", rows, "--predictions", path, "--json").stdout)
    with open(path) as f:
        layers = [row for row in csv.DictReader(f) if row["kind"] == "layer"]
    off_by = [float(row["predicted_us"]) / float(row["measured_us"]) - 1 for row in layers]
    of_all = report["layers"]["all"]
    assert len(layers) == of_all["n"] and abs(sum(map(abs, off_by)) / len(layers) - of_all["mape"]) < 1e-3, of_all
    factors = [max(1 + x, 1 / (1 + x)) for x in off_by]
    assert factors == sorted(factors, reverse=True)
    assert all(float(r["low_us"]) < float(r["predicted_us"]) < float(r["high_us"]) for r in layers)


def main():
    records = []
    for name, count in (("layers.jsonl.xz", LAYERS), ("networks.jsonl.xz", NETWORKS)):
        of_file = [r for r in record_files.Reader().records(os.path.join(FOLDER, name)) if r["outcome"] == "ok"]
        records += of_file[:: max(1, len(of_file) // count)][:count]
    with tempfile.TemporaryDirectory() as out:
        fast, slow, mixed, model = (os.path.join(out, name) for name in ("fast", "slow", "mixed", "model"))
        write_folder(fast, "cpu-fast", records, 1.0)
        write_folder(slow, "cpu-slow", records, SLOWER)
        write_folder(mixed, "cpu-slow", records, 1.0)  # the rows of one target under the other's name
        sizes = ["--seeds", "1", "--width", "32", "--graph-width", "32"]
        train(
            "fit", "--rows", fast, "--rows", slow, "--out", model, *sizes, "--epochs", "50", "--learning-rate", "6e-3"
        )
        with open(os.path.join(model, "manifest.json")) as f:
            names = [t["spec"]["name"] for t in json.load(f)["targets"]]
        assert names == ["cpu-fast", "cpu-slow"], names
        errors = error(model, fast), error(model, slow), error(model, mixed)
        check_predictions(model, fast, os.path.join(out, "predictions.csv"))
        assert max(errors[:2]) < 1.0, errors
        assert errors[2] > 1.5, ("the target changes nothing", errors)
        with open(os.path.join(model, "training.json")) as f:
            assert set(json.load(f)["seeds"][0]["targets"]) == set(names)

        # Another target, beginning with these weights: what they know is known after two epochs.
        third, more = os.path.join(out, "third"), os.path.join(out, "more")
        write_folder(third, "cpu-third", records, SLOWER / 2)
        rows = ["--rows", fast, "--rows", slow, "--rows", third]
        two = ["--seeds", "2", *sizes[2:]]
        train("fit", *rows, "--from", model, "--out", more, *two, "--epochs", "2", "--learning-rate", "1e-3")
        with open(os.path.join(more, "training.json")) as f:
            trained = json.load(f)
        assert [seed["seed"] for seed in trained["seeds"]] == [1, 2, "mean"], trained["seeds"]
        assert trained["shipped_seed"] in (1, 2, "mean")
        assert error(os.path.join(more, "mean"), fast) < error(os.path.join(more, "seed-1"), fast) + 0.1
        with open(os.path.join(more, "manifest.json")) as f:
            assert "began with the weights" in str(json.load(f)["training_notes"])
        of_known = [error(more, fast), error(more, slow)]
        assert max(of_known) < max(errors[:2]) + 0.3, (of_known, errors)
        done = train("fit", *rows, "--from", model, "--out", os.path.join(out, "other"), "--seeds", "1", code=1)
        assert "its networks have other sizes" in done.stderr, done.stderr

        done = train("fit", "--rows", fast, "--rows", fast, "--out", os.path.join(out, "twice"), code=2)
        assert "another folder has cpu-fast" in done.stderr, done.stderr
        if not os.path.exists("/dev/nvidia0"):
            done = train("fit", "--rows", fast, "--out", os.path.join(out, "gpu"), "--device", "cuda", code=1)
            assert "--device cuda: this LibTorch finds no GPU" in done.stderr, done.stderr
        done = train("evaluate", "--model", model, "--rows", FOLDER, code=2)
        assert "the version has cpu-fast, cpu-slow" in done.stderr, done.stderr
    print("ok: errors %.2f and %.2f; of the other target's rows %.2f" % errors)


if __name__ == "__main__":
    main()
