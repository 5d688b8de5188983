#!/usr/bin/env python3
"""docs/tflite_support.md has the table of operators that the code has; --write puts it there."""
import os, subprocess, sys

SOURCE = os.environ.get("COBRA_SOURCE", os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../.."))
BIN = os.environ.get("COBRA_BIN", os.path.join(SOURCE, "build/release/bin"))
PATH = os.path.join(SOURCE, "docs/tflite_support.md")
BEGIN, END = "<!-- generated: tests/frontend/tflite/support_test.py --write -->\n", "<!-- end -->\n"


def main():
    rows = subprocess.run([os.path.join(BIN, "tflite_support")], stdout=subprocess.PIPE, text=True, check=True).stdout
    table = "%d operators.\n\n| operator | PyTorch's calls | not supported |\n|---|---|---|\n%s" % (
        rows.count("\n"),
        rows,
    )
    text = open(PATH).read()
    head, rest = text.split(BEGIN)
    tail = rest.split(END)[1]
    wanted = head + BEGIN + table + END + tail
    if "--write" in sys.argv:
        open(PATH, "w").write(wanted)
    elif text != wanted:
        print("docs/tflite_support.md is out of date: run tests/frontend/tflite/support_test.py --write")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
