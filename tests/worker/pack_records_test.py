#!/usr/bin/env python3
"""data/measurements/pack_records.py: series of several seeds in one folder, packed again, read by `cobra-worker
import`."""
import gzip, json, os, shutil, subprocess, sys, tempfile

SOURCE = os.environ["COBRA_SOURCE"]
PACK = os.path.join(SOURCE, "data/measurements/pack_records.py")
WORKER = os.path.join(os.environ["COBRA_BIN"], "cobra-worker")


def session(name, seed):
    return {"kind": "session", "session": name, "machine": {"name": "cpu-x-1t"}, "seed": seed}


def canary(name):
    return {"kind": "canary", "session": name, "conv_us": 100.0, "matmul_us": 100.0, "copy_us": 100.0}


def record(session_name, index, repeat, width, latency_us, **more):
    graph = {
        "inputs": [{"name": "x", "shape": [1, 8], "dtype": "float32"}],
        "ops": [
            {"op": "linear", "inputs": ["in:0", "p:head.weight", "p:head.bias"], "attrs": {}, "out": [[1, width]]},
            {"op": "relu", "inputs": [0], "attrs": {}, "out": [[1, width]]},
        ],
        "param_shapes": {"head.weight": [width, 8], "head.bias": [width]},
        "output": [1],
    }
    return dict(
        {
            "kind": "record",
            "session": session_name,
            "space": "paper-networks",
            "index": index,
            "repeat": repeat,
            "is_network": True,
            "label": "small",
            "fingerprint": "0" * 32,
            "outcome": "ok",
            "latency_us": latency_us,
            "p10_us": latency_us,
            "p90_us": latency_us,
            "min_us": latency_us,
            "mean_us": latency_us,
            "ci_low_us": latency_us,
            "ci_high_us": latency_us,
            "runs": 10,
            "batch": 1,
            "cold_us": 9.0,
            "node_latency_us": [1.23456, 2.0],
            "graph": graph,
        },
        **more,
    )


def write(path, entries, cut=""):
    with open(path, "w") as f:
        f.write("".join(json.dumps(e) + "\n" for e in entries) + cut)


def pack(*arguments):
    return subprocess.run([sys.executable, PACK, *arguments], check=True, stdout=subprocess.PIPE, text=True).stdout


def packed(folder, name="networks.jsonl.gz"):
    with gzip.open(os.path.join(folder, name), "rt") as f:
        return [json.loads(line) for line in f]


def imported(folder):
    path = os.path.join(folder, "networks.jsonl.gz")
    done = subprocess.run([WORKER, "import", path], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def main():
    if not os.path.exists(WORKER):
        sys.exit(77)
    root = tempfile.mkdtemp()
    try:
        first, second, folder, lean = (os.path.join(root, n) for n in ("first.jsonl", "second.jsonl", "folder", "lean"))
        # A series in two sessions: index 1 was disturbed and measured again, index 0 twice. The last line was cut.
        write(
            first,
            [
                session("a", 7),
                canary("a"),
                record("a", 0, 0, 16, 123.456),
                record("a", 1, 0, 24, 50, suspect=True),
                session("b", 7),
                canary("b"),
                record("b", 0, 1, 16, 125),
                record("b", 1, 2, 24, 45, suspect=True),
                record("b", 1, 3, 24, 40),
            ],
            cut='{"kind":"rec',
        )
        # The same indices of another seed are other subjects.
        write(second, [session("c", 8), canary("c"), record("c", 0, 0, 32, 77)])
        pack(first, folder)
        pack(folder, second, folder)
        records = [e for e in packed(folder) if e["kind"] == "record"]
        assert [e["session"] for e in packed(folder) if e["kind"] == "session"] == ["a", "b", "c"]
        got = sorted((r["session"], r["index"], r["repeat"], r["latency_us"]) for r in records)
        assert got == [("a", 0, 0, 123.5), ("b", 0, 1, 125), ("b", 1, 3, 40), ("c", 0, 0, 77)], got
        assert records[0]["node_latency_us"] == [1.23, 2] and list(records[0]["graph"]["param_shapes"]) == [
            "p0",
            "p1",
        ], records[0]
        about = json.load(open(os.path.join(folder, "session.json")))
        stats = about["statistics"]
        assert [s["session"] for s in about["sessions"]] == ["a", "b", "c"]
        assert (
            stats["dropped_and_measured_again"] == 2
            and stats["networks"]["records"] == 4
            and stats["networks"]["distinct"] == 3
        ), stats
        assert stats["networks"]["repeatability_floor"]["all"]["pairs"] == 1, stats
        assert [c["sessions"] for c in stats["canary"]] == [["a", "b"], ["c"]], stats["canary"]
        # What is left out is computed anew.
        text = pack("--lean", folder, lean)
        assert "| networks | 4 | 3 | 4 |" in text, text
        assert "out" not in packed(lean)[-1]["graph"]["ops"][0]
        full, thin = imported(folder), imported(lean)
        assert full == thin and len(full) == 7, (len(full), len(thin))
        assert len({e["fingerprint"] for e in full if e["kind"] == "record"}) == 3
        assert all("out" in op for e in thin if e["kind"] == "record" for op in e["graph"]["ops"])
    finally:
        shutil.rmtree(root)
    print("packed, packed again, imported")


if __name__ == "__main__":
    main()
