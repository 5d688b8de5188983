#!/usr/bin/env python3
"""How large the source tree is, by revision, and what a build of it cost.

    scripts/tree.py [REVISION...]          rooms, files, lines of product code; default HEAD
    scripts/tree.py --build [FOLDER]       processor time of the last build in build/release, by
                                           what was made, from ninja's log: seconds of each step,
                                           which run two at a time on two cores

A room is a folder with sources. Product code is what is built or shipped, without tests, examples,
documents and data; its lines are counted without comments and blank ones.
"""
import collections
import os
import subprocess
import sys

SOURCES = (".cc", ".h", ".def", ".inc", ".py", ".proto", ".js", ".css", ".html")
NOT_PRODUCT = ("tests/", "docs/", "data/", "examples/")


def git(*arguments):
    return subprocess.run(["git", *arguments], check=True, capture_output=True).stdout


def texts(revision):
    """The sources of product code: (path, text)."""
    names = git("ls-tree", "-r", "--name-only", revision).decode().split("\n")
    names = [n for n in names if n.endswith(SOURCES) and not n.startswith(NOT_PRODUCT) and "/tests/" not in n]
    requests = "".join(f"{revision}:{name}\n" for name in names).encode()
    answers = subprocess.run(["git", "cat-file", "--batch"], input=requests, check=True, capture_output=True).stdout
    for name in names:
        header, answers = answers.split(b"\n", 1)
        size = int(header.split()[2])
        yield name, answers[:size].decode("utf8", "replace")
        answers = answers[size + 1 :]


def code_lines(path, text):
    comment = "#" if path.endswith(".py") else "//"
    return [line for line in text.split("\n") if line.strip() and not line.strip().startswith(comment)]


def print_tree(revision):
    lines, files, longest = collections.Counter(), collections.Counter(), (0, "")
    for path, text in texts(revision):
        code = code_lines(path, text)
        lines["lab" if path.startswith(("lab/", "evaluation/")) else "product"] += len(code)
        if path.endswith(".inc"):
            lines["of these in .inc files"] += len(code)
        files[os.path.dirname(path)] += 1
        if path.endswith((".cc", ".h", ".py")):
            longest = max(longest, max(((len(line), path) for line in code), default=longest))
    large = sum(1 for count in files.values() if count > 30)
    print(f"{revision}: {len(files)} rooms, {sum(files.values())} files, the largest {files.most_common(1)[0]}")
    print(f"  {large} rooms have more than 30 files")
    print(f"  lines of code: {', '.join(f'{what} {count:,}' for what, count in lines.items())}")
    print(f"  longest line of code: {longest[0]} columns ({longest[1]})")


def print_build(folder):
    """Of each output the last step, as ninja's log has it: start, end (ms), time, output, hash."""
    steps = {}
    with open(os.path.join(folder, ".ninja_log"), encoding="utf8") as log:
        for line in log:
            if not line.startswith("#"):
                start, end, _, output, _ = line.split("\t")
                steps[output] = (int(end) - int(start)) / 1000
    total = collections.Counter()
    for output, seconds in steps.items():
        total["compile" if output.endswith((".o", ".gch")) else "link, generate"] += seconds
    print(f"{folder}: {len(steps)} outputs; " + ", ".join(f"{what} {s:.0f} s" for what, s in total.items()))
    for output, seconds in sorted(steps.items(), key=lambda step: -step[1])[:10]:
        print(f"  {seconds:6.1f} s  {output}")


def main():
    arguments = sys.argv[1:]
    if arguments and arguments[0] == "--build":
        print_build(arguments[1] if len(arguments) > 1 else "build/release")
        return
    for revision in arguments or ["HEAD"]:
        print_tree(revision)


if __name__ == "__main__":
    main()
