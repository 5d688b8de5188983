#!/usr/bin/env python3
"""The quick form of `cobra-train table hat`: every row, one set; the rows that are fitted whole in
it have their figures."""
import json
import os
import subprocess
import sys

TRAIN = os.path.join(os.environ["COBRA_BIN"], "cobra-train")


def main():
    done = subprocess.run(
        [TRAIN, "table", "hat", "--quick", "--json"],
        cwd=os.environ["COBRA_SOURCE"],
        capture_output=True,
        text=True,
        env=dict(os.environ, OMP_NUM_THREADS="1"),
    )
    assert done.returncode == 0, done.stderr
    rows = {row["method"]: row for row in json.loads(done.stdout)["rows"]}
    assert len(rows) == 7 and {row["group"] for row in rows.values()} == {"iwslt14deen-gpu_titanxp"}, rows
    for row in rows.values():
        metrics = row["metrics"]
        assert metrics["n"] == 200 and 0 < metrics["mape"] < 1, row
        assert metrics["band_low"] <= metrics["covered_90"] <= metrics["band_high"] and metrics["width"] > 0, row
    mape = {method: row["metrics"]["mape"] for method, row in rows.items()}
    # The device's state is in the order of measuring; nothing that reads the features alone comes
    # near.
    assert mape["COBRA: law and drift"] < 0.02, mape
    assert mape["COBRA: law, ten features"] < mape["linear, ten features"], mape
    assert mape["COBRA: law and drift"] < 0.5 * mape["COBRA: law, ten features"], mape
    assert rows["HAT: 3 x 400 network"]["parameters"] == 11 * 400 + 3 * 401 * 400 + 401
    return 0


if __name__ == "__main__":
    sys.exit(main())
