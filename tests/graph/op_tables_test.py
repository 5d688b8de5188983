#!/usr/bin/env python3
"""Every table of operators stops the compiler where an operator has no entry, and its message names
the operator.

    op_tables_test.py     exit 0: they do, 1: one does not, with what the compiler says
The faults are planted in copies: an operator more in ops.def, a row less in a table, a rule that
has no function.
"""
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.environ.get("COBRA_SOURCE", os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))

# A table, and a file that does not compile when it is wrong.
TABLES = {
    "graph/op_rules.def": "graph/op_rules.h",
    "frontend/python/torch/tensor/torch_rules.def": "frontend/python/torch/tensor/torch_rules.h",
}


def read(path):
    with open(os.path.join(ROOT, path)) as f:
        return f.read()


def without_row(text, op):
    changed, count = re.subn(rf"^COBRA_\w+\({op},.*\n", "", text, flags=re.M)
    assert count == 1, op
    return changed


def compile_with(changed, compiled):
    """What the compiler says of `compiled` when the files of `changed` (path: text) stand in for
    those of the tree."""
    with tempfile.TemporaryDirectory() as folder:
        for path, text in changed.items():
            os.makedirs(os.path.join(folder, os.path.dirname(path)), exist_ok=True)
            with open(os.path.join(folder, path), "w") as f:
                f.write(text)
        command = [os.environ.get("CXX", "c++"), "-std=c++17", "-fsyntax-only", "-x", "c++", "-I", folder, "-I", ROOT]
        result = subprocess.run(command + [os.path.join(ROOT, compiled)], capture_output=True, text=True)
        return result.returncode, result.stderr


def main():
    failures = []

    def expect(what, changed, compiled, op):
        code, text = compile_with(changed, compiled)
        if op is None and code != 0:
            failures.append(f"{what}: {compiled} does not compile\n{text[:2000]}")
        if op is not None and (code == 0 or f"Op::{op}" not in text):
            failures.append(f"{what}: the compiler does not name {op} in {compiled}\n{text[:2000]}")

    ops = read("graph/ops.def")
    one_more = ops + 'COBRA_OP(planted_operator, kMemory, "input", "", SameType, kZero)\n'
    for table, header in TABLES.items():
        expect("the tree as it is", {}, header, None)
        expect("an operator more", {"graph/ops.def": one_more}, header, "planted_operator")
        expect(f"a row less in {table}", {table: without_row(read(table), "softmax")}, header, "softmax")

    rules = read("graph/op_rules.def")
    row = re.search(r"^COBRA_OP_RULES\(tanhshrink,.*$", rules, re.M).group(0)
    named = rules.replace(row, re.sub(r"None,\s+None\)$", "Unary, None)", row))
    assert named != rules
    arithmetic = "graph/constants/const_eval_arithmetic.cc"
    expect("a rule without its function", {"graph/op_rules.def": named}, arithmetic, "tanhshrink")

    for failure in failures:
        print(failure)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
