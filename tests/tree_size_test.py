#!/usr/bin/env python3
"""The tree stays small enough to be cloned: what is tracked, and measurements of others.

    tree_size_test.py [ROOT]     exit 0: it is, 1: the largest files are listed
In a checkout, tracked files count; in a copy without git, all that are not hidden or below build/.
"""
import os
import subprocess
import sys

from layering_test import root_asked_for, sources

MEGABYTES = {"": 45, "data/public/": 5}
LISTED = 10


def files(root):
    if os.path.exists(os.path.join(root, ".git")):
        done = subprocess.run(["git", "-C", root, "ls-files", "-z"], capture_output=True, text=True)
        if done.returncode == 0:
            return [name for name in done.stdout.split("\0") if name]
    return list(sources(root, ""))


def main():
    root = root_asked_for()
    sizes = {
        path: os.lstat(os.path.join(root, path)).st_size
        for path in files(root)
        if os.path.lexists(os.path.join(root, path))
    }
    failed = not sizes
    for folder, most in MEGABYTES.items():
        inside = {path: size for path, size in sizes.items() if path.startswith(folder)}
        total = sum(inside.values())
        print("%s: %d files, %.1f MB of %d" % (folder or "the tree", len(inside), total / 1e6, most))
        if total > most * 1e6:
            failed = True
            for path in sorted(inside, key=inside.get, reverse=True)[:LISTED]:
                print("%10d  %s" % (inside[path], path))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
