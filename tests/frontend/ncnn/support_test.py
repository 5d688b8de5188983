#!/usr/bin/env python3
"""docs/ncnn_support.md has the table of layers that the code has; --write puts it there."""
import os, subprocess, sys

SOURCE = os.environ.get("COBRA_SOURCE", os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../.."))
BIN = os.environ.get("COBRA_BIN", os.path.join(SOURCE, "build/release/bin"))
PATH = os.path.join(SOURCE, "docs/ncnn_support.md")
BEGIN, END = "<!-- generated: tests/frontend/ncnn/support_test.py --write -->\n", "<!-- end -->\n"


def main():
    command = [os.path.join(BIN, "ncnn_graph"), "--types"]
    rows = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
    heading = "| layer | PyTorch's calls | not supported, or different; why it is refused |\n|---|---|---|\n"
    refused = rows.count("| refused |")
    table = "%d layer types are read, %d refused.\n\n%s%s" % (rows.count("\n") - refused, refused, heading, rows)
    text = open(PATH).read()
    head, rest = text.split(BEGIN)
    tail = rest.split(END)[1]
    wanted = head + BEGIN + table + END + tail
    if "--write" in sys.argv:
        open(PATH, "w").write(wanted)
    elif text != wanted:
        print("docs/ncnn_support.md is out of date: run tests/frontend/ncnn/support_test.py --write")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
