#!/usr/bin/env python3
"""Lock rules are kept: clang's -Wthread-safety over every source that states one (ABSL_GUARDED_BY
and its like) or includes a header that does.

    thread_safety_test.py [FILE ...]     exit 0: they are, 1: what clang complains of; only these
                                         files if any are given
The flags are those of compile_commands.json in the build folder ($COBRA_BIN/..). Skipped (77)
without clang++-14.
"""
import concurrent.futures
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

from compile_commands import compile_commands
from layering_test import sources

COMPILER = "clang++-14"
ROOT = os.environ.get("COBRA_SOURCE", os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.join(os.environ.get("COBRA_BIN", os.path.join(ROOT, "build", "release", "bin")), "..")
ANNOTATION = re.compile(
    r"\bABSL_(?:PT_)?GUARDED_BY\b|\bABSL_(?:EXCLUSIVE_|SHARED_)?LOCKS_(?:REQUIRED|EXCLUDED)\b|\bABSL_SCOPED_LOCKABLE\b"
)
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)

FAULT = """
#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
class Counter {
 public:
  void Add() {
    %s
    ++count_;
  }
 private:
  absl::Mutex mutex_;
  int count_ ABSL_GUARDED_BY(mutex_) = 0;
};
"""


def annotated_files():
    """Sources that state a lock rule, and those that include a header of ours that does."""
    texts = {}
    for path in sources(ROOT, (".cc", ".h")):
        with open(os.path.join(ROOT, path), encoding="utf-8", errors="replace") as file:
            texts[path] = file.read()
    stating = {path for path, text in texts.items() if ANNOTATION.search(text)}
    return {path for path, text in texts.items() if path in stating or stating & set(INCLUDE.findall(text))}


def flags_of(command):
    """The compiler's flags for one file without what only g++ knows, without output, warnings and
    precompiled headers."""
    words = command.get("arguments") or shlex.split(command["command"])
    kept, skip_next = [], False
    for at, word in enumerate(words):
        if skip_next:
            skip_next = False
        elif word in ("-o", "-MF", "-MT", "-MQ"):
            skip_next = True
        elif word == "-include" and words[at + 1].endswith("cmake_pch.hxx"):
            skip_next = True
        elif word.startswith(("-D", "-I", "-std=", "-f", "-include")):
            kept.append(word)
        elif word in ("-isystem", "-iquote"):
            kept += [word, words[at + 1]]
            skip_next = True
    return [word for word in kept if not word.startswith(("-flto", "-fno-fat-lto"))]


def complaints(folder, flags, path):
    command = [
        COMPILER,
        *flags,
        "-fsyntax-only",
        "-Wthread-safety",
        "-Werror=thread-safety",
        "-Wno-unknown-warning-option",
        path,
    ]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    return "" if done.returncode == 0 else done.stderr


def is_broken(folder, flags):
    """Whether clang does not tell a member that is used without its lock from one that is used with
    it."""
    with tempfile.TemporaryDirectory() as tree:
        path = os.path.join(tree, "counter.cc")
        found = []
        for lock in ("", "absl::MutexLock lock(&mutex_);"):
            with open(path, "w", encoding="utf-8") as file:
                file.write(FAULT % lock)
            found.append(complaints(folder, flags, path))
        return "requires holding mutex 'mutex_'" not in found[0] or found[1] != ""


def main():
    if shutil.which(COMPILER) is None:
        print(f"{COMPILER} is not installed")
        return 77
    by_path = {os.path.relpath(command["file"], ROOT): command for command in compile_commands(BUILD)}
    wanted = set(sys.argv[1:]) or annotated_files()
    work = [(by_path[path]["directory"], flags_of(by_path[path]), path) for path in sorted(wanted & set(by_path))]
    if not work:
        print("no source with a lock rule is in compile_commands.json")
        return 1
    if is_broken(*work[0][:2]):
        print("the test itself is broken: clang does not see a member that is used without its lock")
        return 1
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        found = list(pool.map(lambda item: complaints(item[0], item[1], os.path.join(ROOT, item[2])), work))
    print("\n".join(filter(None, found)) or f"{len(work)} sources keep their lock rules")
    return 1 if any(found) else 0


if __name__ == "__main__":
    sys.exit(main())
