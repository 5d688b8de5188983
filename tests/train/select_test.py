#!/usr/bin/env python3
"""Candidates are drawn, chosen from and measured: the real programs, one after the other."""
import json
import os
import shutil
import subprocess
import sys
import tempfile

BIN = os.environ["COBRA_BIN"]
SOURCE = os.environ["COBRA_SOURCE"]


def run(program, *arguments, code=0):
    done = subprocess.run([os.path.join(BIN, program), *arguments], cwd=SOURCE, capture_output=True, text=True)
    assert done.returncode == code, (program, arguments, done.returncode, done.stderr)
    return done


def lines(path):
    return [json.loads(line) for line in open(path)]


def main():
    with tempfile.TemporaryDirectory() as out:
        pool, chosen, again, records = (
            os.path.join(out, name) for name in ("pool.jsonl", "chosen.jsonl", "again.jsonl", "records.jsonl")
        )
        run(
            "cobra-worker",
            "sample",
            "--space",
            "real-layers,paper-layers",
            "--count",
            "300,100",
            "--first",
            "1000000",
            "--seed",
            "3",
            "--out",
            pool,
        )
        drawn = {(c["space"], c["index"]): c for c in lines(pool)}
        assert len(drawn) > 350 and all(index >= 1000000 for _, index in drawn), len(drawn)
        run("cobra-train", "select", "--pool", pool, "--budget", "1500ms", "--out", chosen)
        keys = [(c["space"], c["index"]) for c in lines(chosen)]
        assert 3 <= len(keys) <= 40 and len(set(keys)) == len(keys) and set(keys) <= set(drawn), keys
        run("cobra-worker", "measure", "--graphs", chosen, "--share-device", "--out", records)
        measured = [r for r in lines(records) if r["kind"] == "record" and r["repeat"] == 0]
        assert {(r["space"], r["index"]) for r in measured} == set(keys)
        assert all(r["outcome"] == "ok" for r in measured), measured
        session = [r for r in lines(records) if r["kind"] == "session"][0]
        assert session["seed"] == 3, session["seed"]
        # What a session measured is known.
        target = os.path.join(SOURCE, "data/measurements/cpu-epyc-genoa-1t/target.json")
        os.makedirs(os.path.join(out, "rows"))
        shutil.copy(target, os.path.join(out, "rows/target.json"))
        shutil.copy(records, os.path.join(out, "rows/records.jsonl"))
        run(
            "cobra-train",
            "select",
            "--pool",
            pool,
            "--rows",
            os.path.join(out, "rows"),
            "--budget",
            "1500ms",
            "--out",
            again,
        )
        assert not {(c["space"], c["index"]) for c in lines(again)} & set(keys)
        with open(pool, "a") as file:
            file.write('{"graph":{}}\n')
        error = run("cobra-train", "select", "--pool", pool, "--budget", "1s", "--out", again, code=2).stderr
        assert f"pool.jsonl:{len(drawn) + 1}: " in error, error
    return 0


if __name__ == "__main__":
    sys.exit(main())
