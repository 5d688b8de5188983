#!/usr/bin/env python3
"""The quick form of `cobra-train table few_shot`: every row is there, and ours is above what knows
less."""
import json
import os
import subprocess
import sys

BIN = os.environ["COBRA_BIN"]
SOURCE = os.environ["COBRA_SOURCE"]


def main():
    done = subprocess.run(
        [os.path.join(BIN, "cobra-train"), "table", "few_shot", "--quick", "--json"],
        cwd=SOURCE,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    table = json.loads(done.stdout)
    assert table["table"] == "few_shot" and "--quick" in table["command"]
    groups = {}
    for row in table["rows"]:
        groups.setdefault(row["group"], {})[row["method"]] = row["metrics"]
    help_group = groups["NAS-Bench-201, HELP's split, 10 samples: mean of 2 devices"]
    for method in (
        "COBRA",
        "COBRA, with a data sheet",
        "COBRA, samples chosen",
        "MAPLE-X, rebuilt",
        "mix of the other devices",
        "linear, one-hot",
        "linear, costs",
        "FLOPs",
    ):
        assert method in help_group, (method, sorted(help_group))
    assert sum(name.startswith("ceiling") for name in help_group) == 1
    for name, rows in groups.items():
        if "mean of" not in name:
            continue
        ours = rows["COBRA"]
        assert ours["spearman"] > 0.8 and ours["spearman"] > rows["linear, one-hot"]["spearman"], (name, ours)
        assert 0.5 < ours["covered"] <= 1 and ours["width"] > 0, (name, ours)
    assert any(name.endswith(": pixel2") for name in groups)
    return 0


if __name__ == "__main__":
    sys.exit(main())
