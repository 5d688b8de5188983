#!/usr/bin/env python3
"""The quick form of `cobra-train table perfsage`: every row of every space. What needs no training
is right in it, too."""
import json
import os
import subprocess
import sys

TRAIN = os.path.join(os.environ["COBRA_BIN"], "cobra-train")
SPACES = ("perfsage-cnn-cifar10", "perfsage-cnn-imagenet", "perfsage-cnn-kws", "perfsage-vit-cifar100")


def main():
    done = subprocess.run(
        [TRAIN, "table", "perfsage", "--quick", "--json"],
        cwd=os.environ["COBRA_SOURCE"],
        capture_output=True,
        text=True,
        env=dict(os.environ, OMP_NUM_THREADS="1"),
    )
    assert done.returncode == 0, done.stderr
    rows = {(row["group"], row["method"]): row["metrics"] for row in json.loads(done.stdout)["rows"]}
    assert {group for group, _ in rows} == {
        f"{s}, {target}" for s in SPACES for target in ("latency", "peak memory")
    }, rows.keys()
    for (group, method), metrics in rows.items():
        assert metrics["n"] == 16 and 0 <= metrics["mape"] < 1e3, (group, method, metrics)
    for space in SPACES:
        latency, memory = f"{space}, latency", f"{space}, peak memory"
        assert (
            len([m for g, m in rows if g == latency]) == 7 and len([m for g, m in rows if g == memory]) == 4
        ), rows.keys()
        # Every network was measured with its calls profiled, and the rule of peak memory is fitted
        # to nothing.
        assert rows[latency, "per-kernel sum, fitted inside networks"]["mape"] < 0.15, rows[
            latency, "per-kernel sum, fitted inside networks"
        ]
        assert rows[memory, "COBRA: the rule"]["mape"] < 0.01, rows[memory, "COBRA: the rule"]
    return 0


if __name__ == "__main__":
    sys.exit(main())
