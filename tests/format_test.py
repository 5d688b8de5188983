#!/usr/bin/env python3
"""Every source of the tree is as its formatter leaves it.

    format_test.py [ROOT]     exit 0: it is, 1: files that are not
C++ by clang-format 14 (.clang-format), Python by black 23.1 (pyproject.toml, which also names the sources whose lines
tests and documents refer to), CMake by cmake-format 0.6.13 (.cmake-format.yaml): all of Debian 12. `clang-format-14 -i
FILE`, `black .` and `cmake-format -i FILE` mend. Skipped (77) where one of them is not installed
and the others have found nothing.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

from cpp_source import LITERAL
from layering_test import root_asked_for, sources

# Of a comment that has a line to itself, and of one after code. Examples in a comment are
# indented, and may be as wide as code.
COLUMNS, CODE_COLUMNS = 100, 120


def run(*command, cwd):
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True)
    return "" if done.returncode == 0 else (done.stderr + done.stdout) or f"{command[0]} exits {done.returncode}\n"


def wide_comments(root, path):
    """clang-format leaves comments as people have laid them out: their tables and examples, but also their width."""
    with open(os.path.join(root, path), encoding="utf-8") as file:
        text = file.read()
    lines = text.split("\n")
    for comment in LITERAL.finditer(text):
        if not comment[0].startswith("//"):
            continue
        number = text.count("\n", 0, comment.start())
        columns = COLUMNS if re.match(r" *// ?\S", lines[number]) else CODE_COLUMNS
        if len(lines[number]) > columns:
            yield f"{path}:{number + 1}: a comment ends in column {len(lines[number])}, {columns} are allowed\n"


def cpp_complaints(root):
    files = sorted(sources(root, (".cc", ".h")))
    wide = "".join(complaint for path in files for complaint in wide_comments(root, path))
    return run("clang-format-14", "--dry-run", "-Werror", "--style=file", *files, cwd=root) + wide


def python_complaints(root):
    # black looks for files itself; it skips what pyproject.toml leaves out.
    return run("black", "--check", ".", cwd=root)


def cmake_complaints(root):
    files = sorted(sources(root, ("CMakeLists.txt", ".cmake")))
    return run("cmake-format", "-c", ".cmake-format.yaml", "--check", *files, cwd=root)


TABLE = "// A table:\n//   name    meaning\n//   width   " + " ".join(["columns"] * 9) + "\n"
# Formatter -> what it has to say of a tree; a file, with texts that have to be found fault with,
# and one that is as it should be.
FORMATTERS = {
    "clang-format-14": (
        cpp_complaints,
        "base/a.cc",
        ["int  main( ){return 0;}\n", TABLE.replace("columns\n", "columns, " + "and so on, " * 9 + "\n")],
        TABLE + "int main() { return 0; }\n",
    ),
    "black": (python_complaints, "tests/a.py", ["x = [ 1 ]\n", "x = 'a'\n"], "x = [1]\n"),
    "cmake-format": (cmake_complaints, "base/CMakeLists.txt", ["add_library( a  b.cc )\n"], "add_library(a b.cc)\n"),
}
CONFIGURATION = (".clang-format", "pyproject.toml", ".cmake-format.yaml")


def is_broken(root, formatter):
    """Whether the formatter does not tell badly laid out files from a good one."""
    complaints, path, bad, good = FORMATTERS[formatter]
    with tempfile.TemporaryDirectory() as tree:
        for name in CONFIGURATION:
            shutil.copy(os.path.join(root, name), tree)
        os.makedirs(os.path.dirname(os.path.join(tree, path)))
        complained = []
        for text in bad + [good]:
            with open(os.path.join(tree, path), "w", encoding="utf-8") as file:
                file.write(text)
            complained.append(complaints(tree) != "")
        return complained != [True] * len(bad) + [False]


def main():
    root, missing, failed = os.path.abspath(root_asked_for()), [], False
    for formatter, (complaints, *_) in FORMATTERS.items():
        if shutil.which(formatter) is None:
            missing.append(formatter)
        elif is_broken(root, formatter):
            print(
                f"the test itself is broken: it does not tell a file that {formatter} changes from one that it leaves"
            )
            failed = True
        else:
            found = complaints(root)
            print(found or f"{formatter}: clean")
            failed = failed or found != ""
    for formatter in missing:
        print(f"{formatter} is not installed: not checked")
    return 1 if failed else 77 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
