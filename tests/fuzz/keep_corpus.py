#!/usr/bin/env python3
"""Keeps of what a fuzzer has learned what is worth keeping: inputs that together reach all that was reached, the smallest first, up to a size.

    keep_corpus.py FUZZER WORK CORPUS [--kilobytes 1000]

FUZZER: the program; WORK: its corpus so far; CORPUS: the committed one, which is replaced but for its fault-* files."""
import argparse
import os
import shutil
import subprocess
import sys
import tempfile


def files(folder):
    return [os.path.join(folder, name) for name in os.listdir(folder)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("fuzzer")
    parser.add_argument("work")
    parser.add_argument("corpus")
    parser.add_argument("--kilobytes", type=int, default=1000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as merged:
        # What is committed comes first, so that it changes as little as possible.
        subprocess.run(
            [
                options.fuzzer,
                "-set_cover_merge=1",
                "-use_counters=0",  # what is reached, not how often: a quarter of the files
                "-rss_limit_mb=4096",
                "-timeout=60",
                merged,
                options.corpus,
                options.work,
            ],
            check=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        chosen = sorted(files(merged), key=lambda path: (os.path.getsize(path), path))
        total, kept = 0, []
        for path in chosen:
            total += os.path.getsize(path)
            if total > options.kilobytes * 1000:
                break
            kept.append(path)
        for path in files(options.corpus):
            if not os.path.basename(path).startswith("fault-"):
                os.remove(path)
        for path in kept:
            shutil.copy(path, options.corpus)
    print(f"{options.corpus}: {len(kept)} of {len(chosen)} inputs kept", file=sys.stderr)


main()
