#!/usr/bin/python3
"""Our graph of every golden (and of every model of the shared corpus, where that is there) must be
what real PyTorch ran: parameters, calls, shapes, attributes, data flow, outputs,
multiply-accumulates. read_model refuses a graph that is another one after a trip through JSON or
the API."""
import collections
import glob
import gzip
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
BIN = os.environ.get("COBRA_BIN", "build/release/bin")
LIBRARY = "/usr/lib/python3/dist-packages"
SKIPPED = ("view", "alias", "create", "const")
OF_TYPE = ("to", "type_as", "view_as", "reshape_as", "expand_as")  # that read only the type or shape of `other`
CASTS = ("to", "type_as", "float", "half", "double", "type", "contiguous")
LISTS = ("tensors", "operands", "hx", "params", "sequences")


def sources(record):
    """Sources of a record, in order, as [record, output] or names."""
    if "src" not in record:
        return [s if isinstance(s, (list, str)) else [s, 0] for s in record["inputs"]]
    out = []
    for name, value in record["src"].items():
        pair = isinstance(value, list) and len(value) == 2 and all(type(v) is int for v in value) and name not in LISTS
        for s in value if isinstance(value, list) and not pair else [value]:
            out.append(s if isinstance(s, (list, str)) else [s, 0])
    return out


ANY = "any"  # an attribute that is not compared


def reduced(graph):
    """Records that compute, with sources as numbers among those; and what the outputs come from."""
    root, kept = {}, []

    def resolve(s):
        if isinstance(s, list):
            return root[s[0]]
        return "const" if s == "c" or s.startswith("b:") else s

    for number, record in enumerate(graph["ops"]):
        come_from = [resolve(s) for s in sources(record)]
        kind = record.get("kind")
        read = come_from[:1] if record["op"] in OF_TYPE else come_from
        same = bool(read) and all(s == "const" for s in read) and record["op"] != "bernoulli"
        if kind in ("create", "const") or same:
            root[number] = "const"
        elif kind in SKIPPED or record["op"] in CASTS:
            root[number] = come_from[0] if come_from else "const"
        else:
            root[number] = len(kept)
            arguments = record.get("args", record.get("attrs"))
            if "pad" in record.get("src", {}):  # given as tensors, whose values the recorder does not keep
                arguments = {**arguments, "pad": ANY}
            if record["op"] == "tensordot" and isinstance(arguments.get("dims"), list):  # [[1], [0]] is axes=(1, 0)
                rest = {key: value for key, value in arguments.items() if key != "dims"}
                arguments = {**rest, "axes": [axis for part in arguments["dims"] for axis in part]}
            kept.append(
                (
                    record["op"],
                    record["out"],
                    [s for s in come_from if s != "const"],
                    arguments,
                    record.get("mod"),
                    bool(record.get("inplace")),
                )
            )
    flat = [[s, 0] if type(s) is int else s for s in graph["output"]]
    return kept, [resolve(s) for s in flat]


def same(a, b, rank):
    if ANY in (a, b):
        return True
    if isinstance(a, list) or isinstance(b, list):
        a, b = (v if isinstance(v, list) else [v] for v in (a, b))
        n = max(len(a), len(b))
        a, b = (v * n if len(v) == 1 else v for v in (a, b))
        return len(a) == len(b) and all(same(x, y, rank) for x, y in zip(a, b))
    if a == b:
        return True
    if any(isinstance(v, (str, bool)) or v is None for v in (a, b)):
        return False
    return abs(a - b) <= 1e-9 * max(abs(a), abs(b)) or (
        rank and a % rank == b % rank and type(a) is type(b) is int and min(a, b) < 0
    )


def difference(golden, ours, strict=True, in_order=True):
    """None, or the first difference. Not `strict`: an attribute that one side leaves out is none.
    Not `in_order`: the outputs may be in another order, and ours more."""
    if "error" in ours:
        return "refused: " + ours["error"]
    for key in ("param_shapes", "params"):
        if golden[key] != ours[key]:
            return "%s differ: %s" % (
                key,
                golden[key]
                if key == "params"
                else sorted(set(map(str, golden[key].items())) ^ set(map(str, ours[key].items())))[:4],
            )
    (want, want_out), (have, have_out) = reduced(golden), reduced(ours)
    for i, (a, b) in enumerate(zip(want, have)):
        if a[:2] != b[:2] or a[4:] != b[4:] or (a[2] != b[2] and sorted(map(str, a[2])) != sorted(map(str, b[2]))):
            return "call %d: ours %s, PyTorch's %s" % (i, b, a)
        for key in set(a[3]) | set(b[3]):
            if not strict and (key not in a[3] or key not in b[3]):
                continue
            if key not in a[3] or key not in b[3] or not same(a[3][key], b[3][key], len(a[1][0])):
                return "call %d (%s): attribute %s: ours %s, PyTorch's %s" % (
                    i,
                    a[0],
                    key,
                    b[3].get(key),
                    a[3].get(key),
                )
    if len(want) != len(have):
        return "%d calls, PyTorch made %d" % (len(have), len(want))
    if not in_order:
        want_out, have_out = collections.Counter(map(str, want_out)), collections.Counter(map(str, have_out))
        have_out &= want_out  # an object may hold more tensors than it gives when it is iterated
    if want_out != have_out:
        return "outputs from %s, PyTorch's from %s" % (have_out, want_out)
    return None if golden["macs"] == ours["macs"] else "macs %s, PyTorch's %s" % (ours["macs"], golden["macs"])


def arguments(inputs):
    """As read_model takes them: "1x3:float32,1:float32"; one list of tensors is
    "[1x3:float32,1x4:float32]"."""
    text = ",".join("x".join(map(str, i["shape"])) + ":" + i["dtype"] for i in inputs)
    return "[" + text + "]" if any("list" in i for i in inputs) else text


def main():
    if not os.path.isdir(LIBRARY + "/torchvision"):
        print("python3-torchvision is not installed")
        return 77
    cases = []
    for path in sorted(glob.glob(HERE + "/goldens/*.json.gz")):
        golden = json.loads(gzip.open(path).read())
        root = (
            LIBRARY
            if golden["library"]
            else HERE + ("/../../../.." if golden["file"].startswith("examples/") else "/models")
        )
        cases.append((golden, root + "/" + golden["file"]))
    corpus = os.path.join(HERE, "../../../../../shared/corpus/torchvision/truth")
    for path in sorted(glob.glob(corpus + "/*.json.gz")):
        truth = json.loads(gzip.open(path).read())
        out = truth["output"]
        truth["output"] = [
            t["src"] for t in ([out] if "src" in out else list(out.values()) if isinstance(out, dict) else out)
        ]
        cases.append((truth, LIBRARY + "/" + truth["file"]))
    wanted = sys.argv[1:]
    cases = [c for c in cases if not wanted or c[0]["name"] in wanted]
    lines = ["%s\t%s\t%s" % (path, g["call"], arguments(g["inputs"])) for g, path in cases]
    answer = subprocess.run(
        [BIN + "/read_model", "--batch", "--library", LIBRARY],
        input="\n".join(lines) + "\n",
        capture_output=True,
        text=True,
    )
    graphs = [json.loads(line) for line in answer.stdout.splitlines()]
    wrong = 0
    for (golden, _), ours in zip(cases, graphs):
        why = difference(golden, ours)
        if why:
            wrong += 1
            print("DIFFERS", golden["name"], why[:700])
    print("%d of %d equal" % (len(graphs) - wrong, len(cases)), answer.stderr)
    return 1 if wrong or len(graphs) != len(cases) else 0


if __name__ == "__main__":
    sys.exit(main())
