#!/usr/bin/env python3
"""Includes go one way: the table of ARCHITECTURE.md, checked on every source file of the tree.

    layering_test.py [ROOT]     exit 0: clean, 1: violations, each with file and line
The test first plants one violation of every rule in a tree of its own and fails if one of them is not found.
"""
import os
import re
import sys
import tempfile

SOURCE = (".cc", ".h", ".def", ".inc")

# Folder -> folders that it may include; the longest matching folder counts.
MAY_INCLUDE = {
    "base": ["base"],
    "graph": ["graph", "base"],
    "proto": ["proto", "graph", "base"],
    "frontend": ["frontend", "graph", "base"],
    "frontend/onnx": ["frontend/onnx", "graph", "base"],
    "frontend/python/syntax": ["frontend/python/syntax", "base"],
    "frontend/python/runtime": ["frontend/python/runtime", "frontend/python/syntax", "graph", "base"],
    "model/text": ["model/text", "graph", "base"],
    "model/net": ["model/net", "model/text", "graph", "base"],
    "model/predict": ["model/predict", "model/net", "model/text", "graph", "base"],
    "model/train": ["model", "store", "frontend", "graph", "base"],
    "model/space": ["model/space", "model/train", "model/predict", "model/text", "model/net", "frontend", "graph", "base"],
    "model/baseline": ["model/baseline", "model/space", "model/train", "model/predict", "model/text", "model/net", "frontend", "graph", "base"],
    "model/table": ["model", "store", "frontend", "graph", "base"],
    "worker": ["worker", "store", "proto", "model", "frontend", "graph", "base"],
    "store": ["store", "graph", "base"],
    "server": ["server", "store", "proto", "model", "frontend", "graph", "base"],
    "client": ["client", "proto", "frontend", "graph", "base"],
}
# Beginning of an external include -> files that may have it.
EXTERNAL = {
    r"(ATen|c10|torch|caffe2)/": r"model/net/|model/predict/[^/]*\.cc$|model/train/([^/]*\.cc|(batch|optimizer)\.h)$|model/(space|baseline)/|model/table/[^/]*\.cc$|worker/(executor|meter|machine|measure)",
    r"(grpc|grpcpp|google/protobuf)/": r"(proto|server|client|worker)/",
    r"onnx/": r"frontend/onnx/",
    r"prometheus/": r"server/",
    r"(sqlite3|libpq-fe)\.h": r"store/sql_",
    r"(gtest|gmock)/": r"tests/",
}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def rule_of(path):
    folder = os.path.dirname(path)
    while folder and folder not in MAY_INCLUDE:
        folder = os.path.dirname(folder)
    return folder


def check_include(path, quote, name, root):
    """What is wrong with one include of `path`; None if nothing is."""
    for pattern, allowed in EXTERNAL.items():
        if re.match(pattern, name):
            if path.startswith("tests/") or re.match(allowed, path):
                return None
            return f"only {allowed} may include {name}"
    if name.startswith("cobra/v1/"):  # generated from proto/
        name = "proto/" + name
    if quote == "<" and not name.startswith("proto/cobra/"):
        return None  # a system header
    if name.startswith("../") or "/../" in name:
        return f"{name}: includes start at the repository's root"
    top = name.split("/")[0]
    if top not in {folder.split("/")[0] for folder in MAY_INCLUDE} | {"tests"}:
        return None  # another library's header, in quotes
    if path.startswith("tests/"):
        return None
    if top == "tests":
        return "shipped code must not include tests"
    rule = rule_of(path)
    if not rule:
        return f"no rule for the folder of {path}: add one to {os.path.basename(__file__)}"
    if not any(name.startswith(folder + "/") for folder in MAY_INCLUDE[rule]):
        return f"{rule}/ must not include {name} (only {', '.join(MAY_INCLUDE[rule])})"
    return None


def root_asked_for():
    """The command line's, or the tree that this file lies in."""
    return sys.argv[1] if len(sys.argv) > 1 else os.environ.get("COBRA_SOURCE", os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def sources(root, endings=SOURCE):
    """Paths of the tree's own sources below `root`, with slashes."""
    for folder, folders, files in os.walk(root):
        folders[:] = [f for f in folders if not f.startswith(".") and not (folder == root and f == "build")]
        for file in sorted(files):
            if file.endswith(endings):
                yield os.path.relpath(os.path.join(folder, file), root).replace(os.sep, "/")


def violations(root):
    found = []
    for path in sources(root):
        with open(os.path.join(root, path), encoding="utf-8", errors="replace") as lines:
            for number, line in enumerate(lines, 1):
                match = INCLUDE.match(line)
                problem = match and check_include(path, match[1], match[2], root)
                if problem:
                    found.append(f"{path}:{number}: {problem}")
    return found


PLANTED = {
    "base/a.h": '#include "graph/graph.h"',
    "graph/a.cc": '#include "frontend/python/reader.h"',
    "frontend/python/a.cc": "#include <torch/torch.h>",
    "frontend/python/syntax/a.h": '#include "frontend/python/runtime/value.h"',
    "frontend/b.cc": "#include <grpcpp/grpcpp.h>",
    "model/text/a.cc": '#include "model/predict/predictor.h"',
    "model/predict/a.h": '#  include "ATen/core/Tensor.h"',
    "client/a.cc": '#include "model/predict/predictor.h"',
    "client/b.cc": '#include "server/pipeline.h"',
    "client/c.cc": "#include <sqlite3.h>",
    "server/a.cc": '#include "worker/meter.h"',
    "frontend/onnx/a.cc": '#include "frontend/python/reader.h"',
    "frontend/python/b.cc": '#include "onnx/onnx_pb.h"',
    "server/b.cc": '#include "c10/util/Exception.h"',
    "graph/b.cc": '#include "cobra/v1/graph.pb.h"',
    "graph/c.cc": '#include "../base/log.h"',
    "base/d.cc": '#include "tests/helper.h"',
    "newfolder/a.cc": '#include "base/log.h"',
}
CLEAN = {
    "server/ok.cc": '#include <vector>\n#include "absl/status/status.h"\n#include "cobra/v1/cobra.pb.h"\n#include "model/predict/predictor.h"',
    "model/net/ok.h": "#include <torch/nn/modules/linear.h>",
    "tests/server/ok_test.cc": '#include "store/store.h"\n#include "gtest/gtest.h"',
}


def self_test():
    with tempfile.TemporaryDirectory() as root:
        for path, text in {**PLANTED, **CLEAN}.items():
            os.makedirs(os.path.dirname(os.path.join(root, path)), exist_ok=True)
            with open(os.path.join(root, path), "w") as file:
                file.write(text + "\n")
        found = {line.split(":")[0] for line in violations(root)}
        return sorted(set(PLANTED) - found), sorted(found - set(PLANTED))


def main():
    missed, wrong = self_test()
    if missed or wrong:
        print(f"the test itself is broken: planted but not found {missed}, found but clean {wrong}")
        return 1
    found = violations(root_asked_for())
    print("\n".join(found) or "includes are clean")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
