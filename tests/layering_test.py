#!/usr/bin/env python3
"""Includes go one way: the table of ARCHITECTURE.md, checked on every source file of the tree.

    layering_test.py [ROOT]     exit 0: clean, 1: violations, each with file and line
The test first plants one violation of every rule in a tree of its own and fails if one of them is
not found.
"""
# Long because of its table, a row for each folder.
import collections
import os
import re
import sys
import tempfile

SOURCE = (".cc", ".h", ".def", ".inc")

FRONTENDS = ["frontend", "frontend/nas", "frontend/ncnn", "frontend/onnx", "frontend/python", "frontend/tflite"]
SYNTAX = ["frontend/python/syntax", "frontend/python/syntax/parse"]
RUNTIME = ["frontend/python/runtime/" + room for room in ("heap", "interpreter", "eval", "types", "modules")]
TORCH = ["frontend/python/torch/" + room for room in ("names", "tensor", "overrides", "functions", "layers")]
TORCH.append("frontend/python/torch")
SERVER_ROOMS = ["lanes", "access", "transport", "rpc", "reader", "targets", "queue"]  # below server/predict
# The API, then its rooms: what serves includes all of them.
PREDICT = [
    "model/predict",
    "model/predict/adapt",
    "model/predict/as_run",
    "model/predict/price",
    "model/predict/target",
    "model/predict/weights",
    "model/predict/work",
]
TRAINING = [
    "model/training",
    "model/training/evaluation",
    "model/training/rows",
    "model/training/selection",
]
SPACE = [
    "model/space",
    "model/space/architectures",
    "model/space/devices",
    "model/space/models",
]
# Folder -> folders that it may include beside itself. A folder stands for the files in it, not for
# the folders below it.
MAY_INCLUDE = {
    "base/bytes": [],
    "base/text": [],
    "base": ["base/text"],
    "base/file": ["base/text", "base"],
    "base/process": ["base/file", "base/text", "base"],
    "graph": ["base"],
    "graph/shape": ["graph", "base"],
    "graph/cost": ["graph/shape", "graph", "base"],
    "graph/builder": ["graph/shape", "graph", "base"],
    "graph/constants": ["graph/builder", "graph/cost", "graph/shape", "graph", "base"],
    "graph/form": ["graph/constants", "graph/builder", "graph/cost", "graph", "base"],
    "frontend/nas": ["graph", "base"],
    "frontend/ncnn": ["graph", "base"],
    "frontend/onnx/importer": ["graph", "base"],
    "frontend/onnx/operators": ["frontend/onnx/importer", "graph", "base"],
    "frontend/onnx": ["frontend/onnx/importer", "graph", "base"],
    "frontend/tflite": ["graph", "base"],
    "frontend/python/tables": [],
    "frontend/python/syntax": ["frontend/python/tables", "base"],
    "frontend/python/syntax/check": ["frontend/python/syntax", "base"],
    "frontend/python/syntax/parse": ["frontend/python/syntax/check", "frontend/python/syntax", "base"],
    "frontend/python/runtime/heap": ["frontend/python/syntax", "base"],
    "frontend/python/runtime/interpreter": [
        "frontend/python/runtime/heap",
        *SYNTAX,
        "frontend/python/tables",
        "base",
    ],
    "frontend/python/runtime/eval": [*RUNTIME[:2], *SYNTAX, "base"],
    "frontend/python/runtime/types": [*RUNTIME[:3], "frontend/python/syntax", "frontend/python/tables", "base"],
    "frontend/python/runtime/modules": [*RUNTIME[:4], *SYNTAX, "base"],
    "frontend/python/library": [*RUNTIME, "base"],
    "frontend/python/torch/names": ["frontend/python/tables", "base"],
    "frontend/python/torch/tensor": ["frontend/python/runtime/interpreter", "graph", "base"],
    "frontend/python/torch/overrides": [
        "frontend/python/torch/tensor",
        "frontend/python/runtime/interpreter",
        "graph",
        "base",
    ],
    "frontend/python/torch/functions": [
        *TORCH[:3],
        "frontend/python/runtime/interpreter",
        "graph",
        "base",
    ],
    "frontend/python/torch/layers": [
        *TORCH[:4],
        "frontend/python/runtime/interpreter",
        "graph",
        "base",
    ],
    "frontend/python/torch": [
        *TORCH[:5],
        "frontend/python/library",
        "frontend/python/runtime/interpreter",
        "graph",
        "base",
    ],
    "frontend/python": [
        *TORCH,
        "frontend/python/library",
        *RUNTIME,
        "frontend/python/syntax",
        "graph",
        "base",
    ],
    "frontend": [*FRONTENDS, "graph", "base"],
    "export": ["graph", "base"],
    "export/onnx": ["export", "graph", "base"],
    "export/ncnn": ["export", "graph", "base"],
    "export/python": ["export", "graph", "base"],
    "store/sql": ["base"],
    "store": ["store/sql", "graph", "base"],
    "store/queue": ["store", "store/sql", "graph", "base"],
    "model/text": ["graph", "base"],
    "model/kernels": [],
    "model/net": ["model/kernels", "model/text", "graph", "base"],
    "model/infer": ["model/kernels", "model/net", "model/text", "base"],
    "model/predict/target": ["store", "graph", "base"],
    "model/predict/work": ["model/predict/target", "graph", "base"],
    "model/predict/weights": [
        "model/predict/work",
        "model/predict/target",
        "model/net",
        "model/text",
        "graph",
        "base",
    ],
    "model/predict/price": [
        "model/predict/weights",
        "model/predict/work",
        "model/predict/target",
        "model/text",
        "graph",
        "base",
    ],
    "model/predict/as_run": ["model/predict/price", "model/predict/target", "graph", "base"],
    "model/predict/adapt": ["model/predict/work", "model/predict/target", "store", "graph", "base"],
    "model/predict": [*PREDICT[1:], "model/infer", "model/text", "graph", "base"],
    "model/training/rows": [*PREDICT, "model/net", "model/text", "store", "graph", "base"],
    "model/training": ["model/training/rows", *PREDICT, "model/net", "model/text", "graph", "base"],
    "model/training/evaluation": ["model/training", "model/training/rows", *PREDICT, "graph", "base"],
    "model/training/selection": [
        "model/training",
        "model/training/rows",
        *PREDICT,
        "model/net",
        "store",
        "graph",
        "base",
    ],
    "model/space/architectures": ["frontend/nas", "base"],
    "model/space/models": ["model/space/architectures", "model/training", "model/training/rows", "base"],
    "model/space/devices": [
        "model/space/architectures",
        "model/training/rows",
        *PREDICT,
        "frontend/nas",
        "graph",
        "base",
    ],
    "model/space": [*SPACE[1:], "model/training/rows", "model/net", "base"],
    "train": [*TRAINING, *SPACE, "model/net", "store", "base"],
    "lab/variants": [*TRAINING, *SPACE, *PREDICT, "model/net", "model/text", "graph", "base"],
    "lab/published/cobra": ["model/training/rows", "model/net", "graph", "base"],
    "lab/published/networks": ["lab/variants", "model/training", *SPACE, "base"],
    "lab/published/regressions": ["model/training/rows", *SPACE, *PREDICT, "model/text", "graph", "base"],
    "lab/replay": ["lab/variants", *TRAINING, "graph", "base"],
    "lab/sums": [*TRAINING, "graph", "base"],
    "lab/tables/run": ["lab/published/regressions", *TRAINING, *PREDICT, "base"],
    "lab/tables/papers": [
        "lab/tables/run",
        "lab/published/cobra",
        "lab/published/networks",
        "lab/published/regressions",
        "lab/variants",
        *TRAINING,
        *SPACE,
        *PREDICT,
        "frontend/nas",
        "base",
    ],
    "lab/tables/held_out": [
        "lab/tables/papers",
        "lab/tables/run",
        "lab/published/regressions",
        *TRAINING,
        *PREDICT,
        "base",
    ],
    "lab/tables": ["lab/tables/held_out", "lab/tables/papers", "lab/tables/run", "model/net", "base"],
    "lab": ["lab/replay", "lab/sums", "lab/tables", "train", *TRAINING, "base"],
    "proto": ["frontend", "graph", "base"],
    "worker/machine": ["model/predict/target", "base"],
    "worker/meter": ["store", "base"],
    "worker/sample": ["frontend/nas", "store", "graph", "base"],
    "worker/execute": ["worker/sample", "worker/meter", "worker/machine", "graph", "base"],
    "worker/run": [
        "worker/execute",
        "worker/sample",
        "worker/meter",
        "worker/machine",
        "model/predict/target",
        "export",
        "export/ncnn",
        "export/onnx",
        "export/python",
        "store",
        "graph",
        "base",
    ],
    "worker/queue": [
        "worker/run",
        "worker/sample",
        "worker/meter",
        "worker/machine",
        "proto",
        "model/predict/target",
        "store",
        "store/queue",
        "graph",
        "base",
    ],
    "worker": [
        "worker/queue",
        "worker/run",
        "worker/execute",
        "worker/meter",
        "worker/machine",
        "proto",
        "model/predict/target",
        "graph",
        "base",
    ],
    "report": ["proto", "graph", "base"],
    "reader": ["proto", "frontend", "frontend/python", *RUNTIME, "graph", "base"],
    "server/http": ["report", "proto", "base"],
    "server/lanes": ["proto", *PREDICT, "base"],
    "server/access": ["server/http", "server/lanes", "proto", "base"],
    "server/transport": ["server/http", "server/lanes", "server/access", "proto", "base"],
    "server/rpc": [
        "server/http",
        "server/lanes",
        "server/access",
        "server/transport",
        "report",
        "proto",
        "frontend/python",
        "base",
    ],
    "server/reader": [
        "server/lanes",
        "reader",
        "proto",
        "export/ncnn",
        "export/onnx",
        "frontend",
        "frontend/python",
        "graph",
        "base",
    ],
    "server/targets": [
        "server/lanes",
        "server/access",
        "server/reader",
        "proto",
        *PREDICT,
        "store",
        "store/sql",
        "graph",
        "base",
    ],
    "server/queue": [
        "server/lanes",
        "server/access",
        "server/rpc",
        "server/targets",
        "proto",
        *PREDICT,
        "store",
        "store/queue",
        "graph",
        "base",
    ],
    "server/predict": [
        *[f"server/{room}" for room in SERVER_ROOMS],
        "report",
        "proto",
        *PREDICT,
        "store",
        "frontend",
        "frontend/python",
        "graph",
        "base",
    ],
    "server": [
        *[f"server/{room}" for room in SERVER_ROOMS],
        "server/predict",
        "report",
        "proto",
        *PREDICT,
        "store",
        "store/queue",
        "store/sql",
        "frontend/python",
        "graph",
        "base",
    ],
    "client/terminal": ["base"],
    "client": ["client/terminal", "proto", "base"],
    "client/input": [
        "client/terminal",
        "report",
        "proto",
        "frontend",
        "frontend/onnx",
        "frontend/python",
        "frontend/python/runtime/interpreter",
        "frontend/python/syntax",
        "graph",
        "base",
    ],
    "client/request": [
        "client/input",
        "client",
        "client/terminal",
        "report",
        "proto",
        "frontend/python/torch/names",
        "graph",
        "base",
    ],
    "client/answer": ["client", "client/terminal", "proto", "export/ncnn", "export/onnx", "base"],
    "client/compare": ["client/answer", "client/request", "client/terminal", "base"],
    "client/adapt": [
        "client/answer",
        "client/request",
        "client/input",
        "client",
        "client/terminal",
        "proto",
        "frontend/python/torch/names",
        "base",
    ],
    "client/series": [
        "client/answer",
        "client/request",
        "client/input",
        "client",
        "client/terminal",
        "report",
        "proto",
        "frontend/python",
        "graph",
        "base",
    ],
    "client/explain": [
        "client/answer",
        "client/request",
        "client/input",
        "client/terminal",
        "report",
        "proto",
        "export",
        "export/ncnn",
        "export/onnx",
        "export/python",
        "graph",
        "base",
    ],
    "client/ask": [
        "client/series",
        "client/adapt",
        "client/compare",
        "client/answer",
        "client/request",
        "client/input",
        "client",
        "client/terminal",
        "report",
        "proto",
        "frontend/python/torch/names",
        "base",
    ],
    "client/check": [
        "client/ask",
        "client/adapt",
        "client/compare",
        "client/answer",
        "client/request",
        "client/input",
        "client",
        "client/terminal",
        "report",
        "frontend/python",
        "base",
    ],
    "client/doctor": ["client/answer", "client/request", "client/input", "client", "client/terminal", "base"],
    "portable": ["client/program", "reader", "server", "worker", "base"],
    "client/program": [
        "client/doctor",
        "client/check",
        "client/ask",
        "client/explain",
        "client/series",
        "client/adapt",
        "client/compare",
        "client/answer",
        "client/request",
        "client/input",
        "client/terminal",
        "proto",
        "frontend/python/torch/names",
        "frontend/python",
        "frontend/python/syntax",
        "base",
    ],
}
# What may include base/ or graph/ may include their rooms too.
for including, included in MAY_INCLUDE.items():
    for top in ("base", "graph"):
        if top in included and including.split("/")[0] != top:
            included += [room for room in MAY_INCLUDE if room.startswith(top + "/")]
# Tests may include everything, but lab/ may be absent: only its own tests may depend on it.
OPTIONAL = {"lab": "tests/lab/"}
# Beginning of an external include -> files that may have it.
EXTERNAL = {
    r"(ATen|c10|torch|caffe2)/": r"model/net/|model/predict/weights/bundle\.cc$"
    r"|model/training/(.*\.cc|(batch|frozen_encoder|optimizer|training_run)\.h)$|model/space/"
    r"|lab/(published|variants)/|lab/tables/.*\.cc$"
    r"|worker/execute/",
    r"(grpc|grpcpp)/": r"(proto/compression|proto/connection|proto/grpc_log|proto/grpc_status|server/|client/[^/]*$|worker/queue/)",
    r"google/protobuf/": r"(proto|reader|server|client|worker/queue)/",
    r"seccomp\.h": r"reader/sandbox",
    r"onnx/": r"(frontend|export)/onnx/",
    r"boost/": r"server/transport/http_session\.h$",
    r"prometheus/": r"server/(lanes|transport)/",
    r"(sqlite3|libpq-fe)\.h": r"store/sql/",
    r"xgboost/": r"lab/published/",
    r"(gtest|gmock)/": r"tests/",
}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^">]+)[">]')
FOLDERS = {folder.split("/")[0] for folder in MAY_INCLUDE}


def own_path(quote, name):
    """The path in this tree of what an include names; None if it is another library's or a
    generated file's."""
    if name.startswith("cobra/v1/"):  # generated from proto/
        return "proto/" + os.path.basename(name)
    return name if quote == '"' and name.split("/")[0] in FOLDERS | {"tests"} else None


def check_include(path, quote, name):
    """What is wrong with one include of `path`; None if nothing is."""
    for pattern, allowed in EXTERNAL.items():
        if re.match(pattern, name):
            if path.startswith("tests/") or re.match(allowed, path):
                return None
            return f"only {allowed} may include {name}"
    if name.startswith("../") or "/../" in name:
        return f"{name}: includes start at the repository's root"
    included = own_path(quote, name)
    if included is None:
        return None
    top = included.split("/")[0]
    if path.startswith("tests/"):
        if top in OPTIONAL and not path.startswith(OPTIONAL[top]):
            return f"{name}: only {OPTIONAL[top]} may include {top}/"
        return None
    if top == "tests":
        return "shipped code must not include tests"
    folder, other = os.path.dirname(path), os.path.dirname(included)
    if folder not in MAY_INCLUDE:
        return f"no rule for {folder}/: add one to {os.path.basename(__file__)}"
    if other != folder and other not in MAY_INCLUDE[folder]:
        return f"{folder}/ must not include {name} (only {', '.join(MAY_INCLUDE[folder])})"
    return None


def root_asked_for():
    """The command line's, or the tree that this file lies in."""
    return (
        sys.argv[1]
        if len(sys.argv) > 1
        else os.environ.get("COBRA_SOURCE", os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    )


def sources(root, endings=SOURCE):
    """Paths of the tree's own sources below `root`, with slashes."""
    for folder, folders, files in os.walk(root):
        folders[:] = [f for f in folders if not f.startswith(".") and not (folder == root and f == "build")]
        for file in sorted(files):
            if file.endswith(endings):
                yield os.path.relpath(os.path.join(folder, file), root).replace(os.sep, "/")


def includes(root):
    """(path, line number, quote, name) of every include."""
    for path in sources(root):
        with open(os.path.join(root, path), encoding="utf-8", errors="replace") as lines:
            for number, line in enumerate(lines, 1):
                if match := INCLUDE.match(line):
                    yield path, number, match[1], match[2]


def violations(root):
    found = []
    for path, number, quote, name in includes(root):
        if problem := check_include(path, quote, name):
            found.append(f"{path}:{number}: {problem}")
    return found


def folder_graph(root):
    """folder -> other folder -> the first include of it, as PATH:LINE. Tests are left out: nothing
    includes them."""
    edges = collections.defaultdict(dict)
    for path, number, quote, name in includes(root):
        included = own_path(quote, name)
        if included is None or path.startswith("tests/"):
            continue
        folder, other = os.path.dirname(path), os.path.dirname(included)
        if folder != other:
            edges[folder].setdefault(other, f"{path}:{number}")
    return edges


def path_between(edges, begin, end):
    """The folders of a shortest path of includes from `begin` to `end`, both among them; None if
    there is none."""
    before, waiting = {begin: None}, collections.deque([begin])
    while waiting:
        folder = waiting.popleft()
        if folder == end:
            path = []
            while folder is not None:
                path.append(folder)
                folder = before[folder]
            return path[::-1]
        for other in edges.get(folder, {}):
            if other not in before:
                before[other] = folder
                waiting.append(other)
    return None


def cycles(edges):
    """Each two folders that include each other, by whatever way; the lines name the includes of a
    shortest cycle."""
    found = {}
    for folder in sorted(edges):
        for other in sorted(edges[folder]):
            back = path_between(edges, other, folder)
            if back is not None:
                cycle = [folder, *back]
                steps = [f"{a}/ includes {b}/ ({edges[a][b]})" for a, b in zip(cycle, cycle[1:])]
                found.setdefault(frozenset(cycle), "cycle: " + ", ".join(steps))
    return list(found.values())


def rule_graph(rules):
    return {folder: {other: "allowed" for other in others if other != folder} for folder, others in rules.items()}


PLANTED = {
    "base/a.h": '#include "graph/graph.h"',
    "base/text/a.h": '#include "base/log.h"',
    "graph/shape/a.cc": '#include "graph/form/json.h"',
    "graph/a.cc": '#include "frontend/python/reader.h"',
    "frontend/python/a.cc": "#include <torch/torch.h>",
    "frontend/python/syntax/a.h": '#include "frontend/python/runtime/heap/value.h"',
    "frontend/b.cc": "#include <grpcpp/grpcpp.h>",
    "model/text/a.cc": '#include "model/predict/predictor.h"',
    "model/predict/price/a.h": '#  include "ATen/core/Tensor.h"',
    "model/predict/b.cc": '#include "model/training/rows/dataset.h"',
    "model/predict/work/a.cc": '#include "model/predict/price/known_range.h"',
    "model/predict/adapt/a.cc": '#include "model/predict/predictor.h"',
    "model/training/a.cc": '#include "model/space/architectures/space.h"',
    "model/training/b.cc": '#include "lab/variants/pretrain.h"',
    "model/training/c.h": "#include <torch/types.h>",
    "model/space/a.cc": '#include "store/store.h"',
    "model/a.cc": '#include "base/log.h"',
    "train/a.cc": '#include "lab/table_command.h"',
    "train/b.cc": '#include "lab/tables/tables.h"',
    "server/c.cc": '#include "lab/sums/layer_sum.h"',
    "server/d.cc": '#include "model/training/trainer.h"',
    "worker/b.cc": '#include "model/predict/predictor.h"',
    "worker/a.cc": '#include "model/net/cobra_net.h"',
    "worker/meter/a.h": '#include "worker/run/measure.h"',
    "lab/variants/a.cc": '#include "lab/published/networks/gcn.h"',
    "lab/tables/a.cc": "#include <xgboost/c_api.h>",
    "tests/model/a_test.cc": '#include "lab/variants/pretrain.h"',
    "client/a.cc": '#include "model/predict/predictor.h"',
    "client/b.cc": '#include "server/predict/pipeline.h"',
    "client/c.cc": "#include <sqlite3.h>",
    "client/input/d.cc": '#include "client/request/request.h"',
    "client/terminal/e.h": '#include "grpcpp/grpcpp.h"',
    "server/a.cc": '#include "worker/meter/meter.h"',
    "frontend/onnx/a.cc": '#include "frontend/python/reader.h"',
    "frontend/python/b.cc": '#include "onnx/onnx_pb.h"',
    "server/b.cc": '#include "c10/util/Exception.h"',
    "graph/b.cc": '#include "cobra/v1/graph.pb.h"',
    "graph/c.cc": '#include "../base/log.h"',
    "base/d.cc": '#include "tests/helper.h"',
    "newfolder/a.cc": '#include "base/log.h"',
}
CLEAN = {
    "server/ok.cc": '#include <vector>\n#include "absl/status/status.h"\n#include "cobra/v1/cobra.pb.h"\n'
    '#include "model/predict/predictor.h"',
    "model/net/ok.h": "#include <torch/nn/modules/linear.h>",
    "graph/form/ok.cc": '#include "base/text/json.h"\n#include "graph/graph.h"',
    "lab/main.cc": '#include "lab/table_command.h"\n#include "train/program.h"',
    "tests/lab/ok_test.cc": '#include "lab/variants/pretrain.h"',
    "tests/server/ok_test.cc": '#include "store/store.h"\n#include "gtest/gtest.h"',
}
PLANTED_CYCLE = {
    "graph/a.h": '#include "base/log.h"',
    "base/a.cc": '#include "frontend/nas/reader.h"',
    "frontend/nas/reader.h": '#include "base/log.h"\n#include "graph/a.h"',
}


def planted(files, look):
    """look(a tree of these files)."""
    with tempfile.TemporaryDirectory() as root:
        for path, text in files.items():
            os.makedirs(os.path.dirname(os.path.join(root, path)), exist_ok=True)
            with open(os.path.join(root, path), "w") as file:
                file.write(text + "\n")
        return look(root)


def self_test():
    """What the test does not find, or finds where nothing is."""
    found = {line.split(":")[0] for line in planted({**PLANTED, **CLEAN}, violations)}
    wrong = [f"{path}: not found" for path in sorted(set(PLANTED) - found)]
    wrong += [f"{path}: found, but clean" for path in sorted(found - set(PLANTED))]
    if len(planted(PLANTED_CYCLE, lambda root: cycles(folder_graph(root)))) != 2:
        wrong.append("base/ and frontend/nas/ include each other, and again by graph/: not found")
    if planted(CLEAN, lambda root: cycles(folder_graph(root))):
        wrong.append("a cycle is found where none is")
    if not cycles(rule_graph({**MAY_INCLUDE, "base": ["client"]})):
        wrong.append("a table that allows a cycle is not found")
    return wrong


def main():
    wrong = self_test()
    if wrong:
        print("\n".join(["the test itself is broken:", *wrong]))
        return 1
    root = root_asked_for()
    found = violations(root) + cycles(folder_graph(root)) + cycles(rule_graph(MAY_INCLUDE))
    print("\n".join(found) or "includes are clean")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
