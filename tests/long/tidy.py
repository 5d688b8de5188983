#!/usr/bin/env python3
"""clang-tidy (.clang-tidy) over every source that the build compiles.

    tidy.py [FOLDER]     FOLDER: a build with compile_commands.json (build/release)
What is clean is remembered in FOLDER/tidy.json by what clang-tidy has read of the tree: a run that
was cut goes on where it ended, and one after a change takes what the change touches. Exit 0:
nothing was found.
"""
import concurrent.futures
import hashlib
import json
import os
import re
import shlex
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests"))
from compile_commands import compile_commands  # noqa: E402

FOLDERS = "base|graph|frontend|model|lab|train|store|proto|reader|worker|server|client|tests"
# g++'s precompiled headers, which clang cannot read. Sources include what they need.
PRECOMPILED = re.compile(r"(-Winvalid-pch )?-include \S+/cmake_pch\.hxx ")
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)
COMMAND = [
    "clang-tidy-14",
    "--quiet",
    f"--config-file={ROOT}/.clang-tidy",
    f"--header-filter=^{re.escape(ROOT)}/({FOLDERS})/",
    # The flags are those of g++.
    "--extra-arg=-Wno-unknown-warning-option",
    "--extra-arg=-Wno-ignored-optimization-argument",
]


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8", errors="replace") as file:
        return file.read()


def closure(path):
    """The tree's own files that a source consists of."""
    found, waiting = set(), [path]
    while waiting:
        name = waiting.pop()
        if name not in found and os.path.isfile(os.path.join(ROOT, name)):
            found.add(name)
            waiting += INCLUDE.findall(read(name))
    return sorted(found)


def digest(path, command):
    texts = [read(name) for name in closure(path)]
    return hashlib.sha256(
        "\0".join([read(".clang-tidy"), shlex.join(COMMAND), json.dumps(command), *texts]).encode()
    ).hexdigest()


def main():
    build = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else os.path.join(ROOT, "build", "release"))
    state_path = os.path.join(build, "tidy.json")
    entries = compile_commands(build)
    for entry in entries:
        entry["command"] = PRECOMPILED.sub("", entry["command"])
    folder = os.path.join(build, "tidy")
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "compile_commands.json"), "w", encoding="utf-8") as file:
        json.dump(entries, file)
    commands = {os.path.relpath(entry["file"], ROOT): entry for entry in entries}
    # What the build generates is not ours to mend.
    digests = {path: digest(path, entry) for path, entry in sorted(commands.items()) if re.match(f"({FOLDERS})/", path)}
    clean = {}
    if os.path.exists(state_path):
        with open(state_path, encoding="utf-8") as file:
            clean = json.load(file)
    left = [path for path, value in digests.items() if clean.get(path) != value]
    left.sort(key=lambda path: "/torch/" in commands[path]["command"])  # what takes longest comes last
    print(f"{len(digests)} sources, {len(digests) - len(left)} of them known to be clean")

    def check(path):
        return path, subprocess.run([*COMMAND, "-p", folder, os.path.join(ROOT, path)], capture_output=True, text=True)

    failed = 0
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        for done in concurrent.futures.as_completed([pool.submit(check, path) for path in left]):
            path, result = done.result()
            if result.returncode == 0:
                clean[path] = digests[path]
                with open(state_path + ".partial", "w", encoding="utf-8") as file:
                    json.dump(clean, file)
                os.replace(state_path + ".partial", state_path)
            else:
                failed += 1
                print(result.stdout.replace(ROOT + "/", "") or result.stderr, flush=True)
    print(f"{failed} of {len(digests)} sources have findings")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
