#!/usr/bin/env python3
"""data/measurements/pack_records.py: series of several seeds in one folder, packed again, graphs
that folders share, read by `cobra-worker import`; and the size of what the tree holds."""
import gzip, hashlib, json, lzma, os, shutil, subprocess, sys, tempfile

SOURCE = os.environ["COBRA_SOURCE"]
MOST_BYTES = 18.3e6  # of data/measurements: everybody clones it
PACK = os.path.join(SOURCE, "data/measurements/pack_records.py")
WORKER = os.path.join(os.environ["COBRA_BIN"], "cobra-worker")


def session(name, seed, target="cpu-x-1t", peak_gflops=100):
    machine = {"name": target, "peak_gflops": peak_gflops}
    return {"kind": "session", "session": name, "machine": machine, "seed": seed}


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


def entries(path):
    with lzma.open(path, "rt") as f:
        return [json.loads(line) for line in f]


def packed(folder, name="networks.jsonl.xz"):
    return entries(os.path.join(folder, name))


def graphs(folder, kind="networks"):
    """By the id that anybody computes: sha256sum, 12 digits."""
    with lzma.open(os.path.join(folder, "..", "graphs", kind + ".jsonl.xz"), "rt") as f:
        texts = [line[line.index('"graph":') + 8 : -2] for line in f]
    return {hashlib.sha256(text.encode()).hexdigest()[:12]: json.loads(text) for text in texts}


def run_import(path):
    return subprocess.run([WORKER, "import", path], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def imported(folder, name="networks.jsonl.xz"):
    done = run_import(os.path.join(folder, name))
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def check_series(root):
    """Two series, one in two sessions: index 1 was disturbed and measured again, index 0 twice; the
    last line was cut. The same indices of another seed are other subjects."""
    first, second, folder, lean = (os.path.join(root, n) for n in ("first.jsonl", "second.jsonl", "folder", "lean"))
    write(
        first,
        [
            session("a", 7),
            canary("a"),
            record("a", 0, 0, 16, 123.456),
            record("a", 1, 0, 24, 50, suspect=True),
            session("b", 7, peak_gflops=150),
            canary("b"),
            record("b", 0, 1, 16, 125),
            record("b", 1, 2, 24, 45, suspect=True),
            record("b", 1, 3, 24, 40),
        ],
        cut='{"kind":"rec',
    )
    write(second, [session("c", 8), canary("c"), record("c", 0, 0, 32, 77)])
    pack(first, folder)
    target = os.path.join(folder, "target.json")
    assert json.load(open(target)) == {"name": "cpu-x-1t", "peak_gflops": 150}
    pack(folder, second, folder)
    records = [e for e in packed(folder) if e["kind"] == "record"]
    assert [e["session"] for e in packed(folder) if e["kind"] == "session"] == ["a", "b", "c"]
    got = sorted((r["session"], r["index"], r["repeat"], r["latency_us"]) for r in records)
    assert got == [("a", 0, 0, 123.5), ("b", 0, 1, 125), ("b", 1, 3, 40), ("c", 0, 0, 77)], got
    assert records[0]["node_latency_us"] == [1.23, 2] and "graph" not in records[0], records[0]
    assert len(graphs(folder)) == 3 and {r["graph_id"] for r in records} == set(graphs(folder)), graphs(folder)
    assert all(list(g["param_shapes"]) == ["p0", "p1"] for g in graphs(folder).values())
    about = json.load(open(os.path.join(folder, "session.json")))
    stats = about["statistics"]
    assert [s["session"] for s in about["sessions"]] == ["a", "b", "c"]
    networks = stats["networks"]
    assert stats["dropped_and_measured_again"] == 2 and networks["records"] == 4 and networks["distinct"] == 3, stats
    assert networks["repeatability_floor"]["all"]["pairs"] == 1, stats
    assert [c["sessions"] for c in stats["canary"]] == [["a", "b"], ["c"]], stats["canary"]
    # What is left out is computed anew.
    text = pack("--lean", folder, lean)
    assert "| networks | 4 | 3 | 4 |" in text, text
    lean_graphs = [graphs(lean)[r["graph_id"]] for r in packed(lean) if r["kind"] == "record"]
    assert all("out" not in op for graph in lean_graphs for op in graph["ops"])
    full, thin = imported(folder), imported(lean)
    assert full == thin and len(full) == 7, (len(full), len(thin))
    assert len({e["fingerprint"] for e in full if e["kind"] == "record"}) == 3
    assert all("out" in op for e in thin if e["kind"] == "record" for op in e["graph"]["ops"])


def check_slow_canary(root):
    """A record between canaries that a neighbour made slower than the limit is left out, and its
    graph."""
    series, folder = os.path.join(root, "two.jsonl"), os.path.join(root, "two-threads", "two")
    first = dict(session("a", 7), canary_us={"conv_us": 90, "matmul_us": 100, "copy_us": 80})
    write(series, [first, record("a", 0, 0, 16, 5, canary_ratio=1.5), record("a", 1, 0, 24, 6, canary_ratio=1.1)])
    pack("--matmul-at-most", "120", series, folder)
    assert [e["index"] for e in packed(folder) if e["kind"] == "record"] == [1]
    assert len(graphs(folder)) == 1


def check_canary_without_convolution(root):
    """A worker without LibTorch has none."""
    series, folder = os.path.join(root, "plain.jsonl"), os.path.join(root, "plain", "plain")
    plain = {name: value for name, value in canary("a").items() if name != "conv_us"}
    write(series, [session("a", 7), plain, record("a", 0, 0, 16, 5)])
    printed = pack(series, folder)
    assert "matmul median" in printed and "conv median" not in printed, printed


def check_several_targets(root):
    root = os.path.join(root, "several")  # its folders share graphs with no others
    os.makedirs(root)
    mixed, folder = os.path.join(root, "mixed.jsonl"), os.path.join(root, "mixed")
    write(mixed, [session("a", 7), record("a", 0, 0, 16, 1), session("b", 7, "cpu-y-1t"), record("b", 1, 0, 16, 1)])
    done = subprocess.run([sys.executable, PACK, mixed, folder], stderr=subprocess.PIPE, text=True)
    assert done.returncode != 0 and "cpu-x-1t, cpu-y-1t" in done.stderr, done.stderr
    other = os.path.join(root, "other.jsonl")
    write(mixed, [session("a", 7), record("a", 0, 0, 16, 1)])
    write(other, [session("b", 7, "cpu-y-1t"), record("b", 1, 0, 16, 1)])
    pack(mixed, folder)
    done = subprocess.run([sys.executable, PACK, other, folder], stderr=subprocess.PIPE, text=True)
    assert done.returncode != 0 and "cpu-x-1t, cpu-y-1t" in done.stderr, done.stderr


def check_damaged(root):
    path = os.path.join(root, "damaged.jsonl")
    for entry, words in (
        (5, "is not a session, canary or record"),
        ({"kind": "session"}, "names no session"),
        (record("z", 0, 0, 16, 1), "session z has no line"),
        (record("a", 0, 0, 16, 1, target="cpu-y-1t"), "measured on cpu-y-1t, in a session on cpu-x-1t"),
        (record("a", 0, 0, 16, -1), "latency_us -1 is not a latency"),
        (record("a", 0, 0, 16, float("nan")), "latency_us nan is not a latency"),
    ):
        write(path, [session("a", 7), entry])
        folder = os.path.join(root, "damaged")
        done = subprocess.run([sys.executable, PACK, path, folder], stderr=subprocess.PIPE, text=True)
        assert done.returncode != 0 and path + ":2: " in done.stderr and words in done.stderr, done.stderr
        assert not os.path.exists(folder)


def check_two_series(root):
    """Two files have subject 0: the least disturbed record, with the profile that names calls, and
    the other as its repetition. Packing it again with the same files changes nothing."""
    first, second, folder = (os.path.join(root, n) for n in ("of-may.jsonl", "of-june.jsonl", "twice"))
    blind, seeing = [["aten::mm", 12.5, []]], [["F.linear", 11, [0]], ["F.relu", 1, [1]]]
    write(
        first,
        [
            session("a", 7),
            canary("a"),
            record("a", 0, 0, 16, 100, profile=blind),
            record("a", 1, 0, 24, 50, profile=blind),
        ],
    )
    write(
        second, [session("b", 7), record("b", 0, 0, 16, 110, profile=seeing), record("b", 2, 0, 24, 50, profile=seeing)]
    )
    for inputs in ((first, second), (folder, first, second)):
        pack(*inputs, folder)
        got = [r for r in packed(folder) if r["kind"] == "record"]
        got.sort(key=lambda r: (r["index"], r["repeat"]))
        assert [(r["session"], r["index"], r["repeat"], r["latency_us"]) for r in got] == [
            ("a", 0, 0, 100),
            ("b", 0, 1, 110),
            ("a", 1, 0, 50),
            ("b", 2, 0, 50),
        ], got
        assert [len(r.get("profile", [])) for r in got] == [2, 0, 1, 2], got
        assert json.load(open(os.path.join(folder, "session.json")))["statistics"]["networks"]["repeatability_floor"]
    shutil.rmtree(folder)  # or its graphs would be kept for it


def records_of(lines):
    return sorted(line for line in lines if line.startswith('{"kind":"record"'))


def check_round_trip(root):
    """Packed with --lean, plain, gzip and xz alike, and imported: the rows are those of the series
    itself."""
    plain, folder = os.path.join(root, "series.jsonl"), os.path.join(root, "cpu-x-1t")
    profile = [["aten::mm_with_a_long_name", 12.5, [0]], ["aten::relu", 1.25, [1]]]
    more = dict(seed=7, quiet_us=200, quiet_runs=4, profile=profile, load=0.5, canary_ratio=1.5)
    series = [session("a", 7)] + [
        record("a", i, 0, 8 + i % 5, 120 + i, node_latency_us=[1.5, 2], **more) for i in range(9)
    ]
    series += [record("a", 9, 0, 8, 0, outcome="timeout", message='"graph_id":"0"', seed=7)]
    for index in range(3):
        series.append(
            dict(record("a", index, 0, 64 + index, 5, label="x", seed=7), is_network=False, space="paper-layers")
        )
        for key in ("node_latency_us", "ci_low_us", "ci_high_us"):  # the interval is not kept
            del series[-1][key]
    write(plain, series)
    # Parameters are called p0, p1 ... where they are packed.
    text = run_import(plain).stdout.replace("head.weight", "p0").replace("head.bias", "p1")
    expected = records_of(text.splitlines())
    for path, opened in ((plain + ".gz", gzip.open), (plain + ".xz", lzma.open), (plain, open)):
        with opened(path, "wt") as f:
            f.write("".join(json.dumps(e) + "\n" for e in series))
        pack("--lean", path, folder)
        got = [run_import(os.path.join(folder, n + ".jsonl.xz")).stdout.splitlines() for n in ("layers", "networks")]
        assert len(expected) == 13 and records_of(sum(got, [])) == expected, (expected, got)
    names = [e for e in packed(folder) if e["kind"] == "names"]
    assert names == [{"kind": "names", "names": ["aten::mm_with_a_long_name", "aten::relu"]}], names
    return folder


def check_shared_graphs(root, folder):
    """A second target with the same graphs adds none; what nobody names any more goes; what is
    missing is named."""
    path = os.path.join(root, "graphs", "networks.jsonl.xz")
    stamp, known = os.stat(path).st_mtime_ns, set(graphs(folder))
    other = os.path.join(root, "cpu-y-1t")
    text = pack("--lean", folder, other)
    assert os.stat(path).st_mtime_ns == stamp and " new" not in text, text
    assert imported(folder) == imported(other)
    few = os.path.join(root, "few.jsonl")
    write(few, [session("z", 9), canary("z"), record("z", 0, 0, 8, 7)])
    before = open(path, "rb").read()
    for old in ("folder", "lean", "cpu-x-1t"):
        shutil.rmtree(os.path.join(root, old))
    pack("--lean", few, other)
    assert len(graphs(other)) == 1 and set(graphs(other)) < known, (known, graphs(other))
    assert open(path, "rb").read() != before
    os.remove(path)
    done = run_import(os.path.join(other, "networks.jsonl.xz"))
    assert done.returncode != 0 and "networks.jsonl.xz:2: graph_id " in done.stderr, done.stderr
    again = subprocess.run([sys.executable, PACK, other, other], stderr=subprocess.PIPE, text=True)
    assert again.returncode != 0 and "networks.jsonl.xz:2: graph_id " in again.stderr, again.stderr


def check_size():
    folder = os.path.join(SOURCE, "data/measurements")
    sizes = [os.path.getsize(os.path.join(at, name)) for at, _, names in os.walk(folder) for name in names]
    assert sum(sizes) < MOST_BYTES, "data/measurements: %d bytes, more than %d" % (sum(sizes), MOST_BYTES)


def check_rounding(root):
    """Fewer digits, but quantiles stay on their side of the median: otherwise nobody imports the
    record."""
    plain, folder = os.path.join(root, "rounded.jsonl"), os.path.join(root, "cpu-r-1t")
    layer = dict(record("r", 0, 0, 77, 1234.4, label="x", seed=7), is_network=False, space="paper-layers")
    layer.update(min_us=1233.4, p10_us=1234.1, p90_us=1234.6, mean_us=1239.9, peak_memory_bytes=123456, load=0.44)
    write(plain, [session("r", 7), layer])
    pack("--lean", plain, folder)
    (got,) = [json.loads(line) for line in run_import(os.path.join(folder, "layers.jsonl.xz")).stdout.splitlines()[1:]]
    found = [got[key] for key in ("min_us", "p10_us", "latency_us", "p90_us", "mean_us", "load")]
    assert found == [1233, 1233, 1234, 1234, 1240, 0.4], got


def main():
    if not os.path.exists(WORKER):
        sys.exit(77)
    check_size()
    root = tempfile.mkdtemp()
    try:
        check_series(root)
        check_several_targets(root)
        check_damaged(root)
        check_two_series(root)
        check_slow_canary(root)
        check_canary_without_convolution(root)
        check_rounding(root)
        check_shared_graphs(root, check_round_trip(root))
    finally:
        shutil.rmtree(root)
    print("packed, packed again, imported, shared")


if __name__ == "__main__":
    main()
