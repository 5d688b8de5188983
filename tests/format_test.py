#!/usr/bin/env python3
"""Every C++ source of the tree is as clang-format 14 with the tree's .clang-format leaves it.

    format_test.py [ROOT]     exit 0: it is, 1: files and lines that are not; `clang-format-14 -i FILE` mends them
Skipped (77) where clang-format-14 is not installed.
"""
import os
import shutil
import subprocess
import sys

from layering_test import root_asked_for, sources


def complaints(files, text=None):
    command = ["clang-format-14", "--dry-run", "-Werror", "--style=file"]
    done = subprocess.run(command + files, input=text, capture_output=True, text=True)
    return "" if done.returncode == 0 else done.stderr


def main():
    if shutil.which("clang-format-14") is None:
        print("clang-format-14 is not installed")
        return 77
    root = root_asked_for()
    os.chdir(root)
    if not complaints([], "int  main( ){return 0;}\n") or complaints([], "int main() { return 0; }\n"):
        print("the test itself is broken: it does not tell a badly laid out line from a good one")
        return 1
    files = sorted(sources(".", (".cc", ".h")))
    if not files:
        print(f"{root}: no sources")
        return 1
    found = complaints(files)
    print(found or f"{len(files)} sources are clean")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
