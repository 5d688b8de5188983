#!/usr/bin/env python3
"""The quick form of `cobra-train table active`: its shape, not its figures. And a run that was cut
goes on."""
import json
import os
import subprocess
import sys
import tempfile

TRAIN = os.path.join(os.environ["COBRA_BIN"], "cobra-train")
SOURCE = os.environ["COBRA_SOURCE"]


def table(*arguments):
    done = subprocess.run(
        [TRAIN, "table", "active", "--quick", *arguments],
        cwd=SOURCE,
        capture_output=True,
        text=True,
        env=dict(os.environ, OMP_NUM_THREADS="1"),
    )
    assert done.returncode == 0, done.stderr
    return done


def main():
    with tempfile.TemporaryDirectory() as out:
        result = json.loads(table("--json", "--out", out).stdout)
        curves = {curve["strategy"]: curve["points"] for curve in result["curves"]}
        assert set(curves) == {"random", "variance"}, curves.keys()
        for strategy, points in curves.items():
            seconds = [p["seconds"] for p in points]
            assert seconds == sorted(set(seconds)) and len(seconds) == 3, (strategy, seconds)
            layers = [p["layers"] for p in points]
            assert layers == sorted(set(layers)), (strategy, layers)
            assert all(0 < p["median"] <= p["mean"] < 100 for p in points), (strategy, points)
        first = {strategy: points[0] for strategy, points in curves.items()}
        assert first["random"] == first["variance"], first  # the same layers, the same training
        assert result["test_layers"] > 1000 and 0 < result["floor"] < 0.1
        markdown = open(os.path.join(out, "active.md")).read()
        assert "| variance |" in markdown and "cobra-train table active --quick" in markdown
        assert open(os.path.join(out, "active.svg")).read().count('<path d="M') >= 2
        assert not os.path.exists(os.path.join(out, "active.partial.jsonl"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
