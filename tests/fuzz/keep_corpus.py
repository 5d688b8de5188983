#!/usr/bin/env python3
"""Keeps of what a fuzzer has learned what is worth keeping: inputs that together reach all that was
reached, the smallest first, up to a size.

    keep_corpus.py FUZZER WORK ARCHIVE [--kilobytes 1000]

FUZZER: the program; WORK: its corpus so far; ARCHIVE: the committed one
(tests/fuzz/corpus/NAME.tar.gz), which is replaced but for its fault-* files. Without FUZZER's work,
`keep_corpus.py - FOLDER ARCHIVE` packs a folder as it is. The same files give the same bytes.
"""
import argparse
import gzip
import io
import os
import subprocess
import sys
import tarfile
import tempfile


def files(folder):
    return [os.path.join(folder, name) for name in os.listdir(folder)]


def read(path):
    with open(path, "rb") as file:
        return file.read()


def unpack(archive):
    """Name -> bytes."""
    with tarfile.open(archive) as tar:
        return {member.name: tar.extractfile(member).read() for member in tar}


def pack(inputs, archive):
    bytes_of_tar = io.BytesIO()
    with tarfile.open(fileobj=bytes_of_tar, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for name in sorted(inputs):
            member = tarfile.TarInfo(name)
            member.size = len(inputs[name])
            tar.addfile(member, io.BytesIO(inputs[name]))
    with open(archive, "wb") as file, gzip.GzipFile("", "wb", 9, file, mtime=0) as zipped:
        zipped.write(bytes_of_tar.getvalue())


def merged(fuzzer, committed, work):
    """Files that reach all that `committed` and `work` reach: name -> bytes."""
    with tempfile.TemporaryDirectory() as folder:
        earlier, result = os.path.join(folder, "earlier"), os.path.join(folder, "merged")
        os.mkdir(earlier)
        os.mkdir(result)
        for name, data in committed.items():
            with open(os.path.join(earlier, name), "wb") as file:
                file.write(data)
        # What is committed comes first, so that it changes as little as possible.
        # -use_counters=0: what is reached, not how often: a quarter of the files.
        options = ["-set_cover_merge=1", "-use_counters=0", "-rss_limit_mb=4096", "-timeout=60"]
        command = [fuzzer, *options, result, earlier, work]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return {os.path.basename(path): read(path) for path in files(result)}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("fuzzer")
    parser.add_argument("work")
    parser.add_argument("archive")
    parser.add_argument("--kilobytes", type=int, default=1000)
    options = parser.parse_args()
    if options.fuzzer == "-":
        pack({os.path.basename(path): read(path) for path in files(options.work)}, options.archive)
        return
    committed = unpack(options.archive) if os.path.exists(options.archive) else {}
    kept = {name: data for name, data in committed.items() if name.startswith("fault-")}
    found = merged(options.fuzzer, committed, options.work)
    total = 0
    for name in sorted(found, key=lambda name: (len(found[name]), name)):
        total += len(found[name])
        if total > options.kilobytes * 1000:
            break
        kept[name] = found[name]
    pack(kept, options.archive)
    print(f"{options.archive}: {len(kept)} inputs kept of {len(found)}", file=sys.stderr)


main()
