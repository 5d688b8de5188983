#!/usr/bin/env python3
"""The quick form of `cobra-train table nasbench201`: its shape, not its figures. And a run that was
cut goes on."""
import json
import os
import subprocess
import sys
import tempfile

TRAIN = os.path.join(os.environ["COBRA_BIN"], "cobra-train")
SOURCE = os.environ["COBRA_SOURCE"]
GPU = "desktop_gpu_gtx_1080ti_fp32"


def table(*arguments):
    done = subprocess.run(
        [TRAIN, "table", "nasbench201", "--quick", *arguments],
        cwd=SOURCE,
        capture_output=True,
        text=True,
        env=dict(os.environ, OMP_NUM_THREADS="1"),
    )
    assert done.returncode == 0, done.stderr
    return done


def main():
    with tempfile.TemporaryDirectory() as out:
        first = table("--json", "--out", out)
        result = json.loads(first.stdout)
        assert result["table"] == "nasbench201" and "--quick" in result["command"]
        rows = {(row["group"], row["method"]): row for row in result["rows"]}
        groups = {group for group, _ in rows}
        assert GPU in groups and len(groups) == 5, groups
        for (group, method), row in rows.items():
            metrics = row["metrics"]
            assert row["seeds"] == 1 and row["seconds"] > 0, row
            if "seconds" in metrics:
                continue
            assert (
                0 <= metrics["within_1"] <= metrics["within_5"] <= metrics["within_10"] <= metrics["within_25"] <= 1
            ), row
            assert metrics["n"] > (1000 if "same network" in method else 11000), row
        line = rows[GPU, "linear, one-hot"]["metrics"]
        assert rows[GPU, "COBRA: Gaussian process"]["parameters"] > 1000
        assert line["spearman"] > 0.8, line  # it is fitted whole in the quick form, too
        markdown = open(os.path.join(out, "nasbench201.md")).read()
        assert "| COBRA: Gaussian process |" in markdown and "cobra-train table nasbench201 --quick" in markdown
        # The quick form looks at the shape: it is not in the ledger, and leaves nothing to go on
        # from.
        assert sorted(os.listdir(out)) == ["nasbench201.md"], os.listdir(out)

        # Every cell of the state is taken over: such a run ends with the same figures, whatever
        # they are.
        state = os.path.join(out, "nasbench201.quick.partial.jsonl")
        with open(state, "w") as f:
            for row in result["rows"]:
                f.write(
                    json.dumps(
                        {
                            "method": row["method"],
                            "group": row["group"],
                            "seed": 1,
                            "seconds": 1,
                            "parameters": 1,
                            "figures": {"mape": 0.125},
                        }
                    )
                    + "\n"
                )
        again = json.loads(table("--json", "--out", out).stdout)
        assert all(row["metrics"] == {"mape": 0.125} for row in again["rows"]) and len(again["rows"]) == len(rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
