#!/usr/bin/python3
"""Hostile programs and files through the real cobra-client: each must end as it says (programs.txt,
torch_programs.txt, files.py), with a message, within 256 MB of memory. Time is printed, not
asserted (CI machines are shared): --slowest N. CI runs every fifth; --all runs all.

    hostile_test.py [--all] [--only TEXT] [--slowest N] [--jobs N] [--list]
"""
import argparse
import concurrent.futures
import json
import os
import re
import resource
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import files  # noqa: E402

CLIENT = os.path.join(os.environ.get("COBRA_BIN", os.path.join(HERE, "../../build/release/bin")), "cobra-client")
MEMORY_KB = 256 << 10
HEAD = "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n\nclass Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"


def indented(text, width):
    return "".join(" " * width + line + "\n" for line in text.splitlines())


def model(text):
    init, forward = "", text
    if text.startswith("init:\n"):
        init, forward = text[len("init:\n") :].split("forward:\n")
    return HEAD + indented(init, 8) + "    def forward(self, x):\n" + indented(forward, 8)


def cases():
    """(file name, what it is, exit codes, bytes)"""
    for source, wrap in (("programs.txt", lambda t: t), ("torch_programs.txt", model)):
        chunks = re.split(r"^=== ", open(os.path.join(HERE, source), encoding="utf-8").read(), flags=re.M)[1:]
        for chunk in chunks:
            head, text = chunk.split("\n", 1)
            name, what, want = re.fullmatch(r"(\w+): (.*) -> ([\d ]+)", head).groups()
            prefix = "torch_" if source.startswith("torch") else ""
            yield prefix + name + ".py", what, tuple(map(int, want.split())), wrap(text).encode()
    yield from files.all_files()


def model_arguments(path):
    if path.endswith(".arch"):
        with open(path, "rb") as f:
            return ["--arch", f.read()]
    return (
        [path]
        if path.endswith((".json", ".onnx", ".tflite", ".param"))
        else [path, "--entry", "Net()", "--input", "1x3x8x8"]
    )


def run(model):
    """Of `cobra-client graph` with these arguments: (exit code or -signal, stderr, seconds,
    processor seconds, peak kB)"""
    # Five seconds of processor time are far beyond anything allowed; they bound a run in which
    # something is wrong.
    command = ["/bin/sh", "-c", 'ulimit -t 5; exec "$0" "$@"', CLIENT, "graph", "--limits-times", "1"] + model
    error = tempfile.TemporaryFile()
    start = time.perf_counter()
    child = os.posix_spawn(
        command[0],
        command,
        os.environ,
        file_actions=[(os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0), (os.POSIX_SPAWN_DUP2, error.fileno(), 2)],
    )
    _, status, usage = os.wait4(child, 0)
    seconds = time.perf_counter() - start
    error.seek(0)
    text = error.read(100000).decode("utf-8", "replace")
    return os.waitstatus_to_exitcode(status), text, seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss


def written(case, folder):
    """The case with its file's path for its bytes: a child's peak memory begins with that of this
    process."""
    name, what, want, data = case
    path = os.path.join(folder, name[:-3], "model.py") if name.endswith(".py") else os.path.join(folder, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as f:
        f.write(data)
    return name, what, want, path


def check(case):
    name, what, want, path = case
    code, error, seconds, cpu, memory = run(model_arguments(path))
    faults = []
    # A program that ends well has made no Net: a usage error, where an error of its own (6) would
    # be fine too.
    finished = code == 2 and 6 in want and "name 'Net' is not defined" in error
    if code not in want and not finished:
        faults.append("exit %d, expected %s" % (code, " or ".join(map(str, want))))
    if memory > MEMORY_KB:
        faults.append("%d MB" % (memory >> 10))
    if code > 0 and not re.search(r"error: \S", error):
        faults.append("no message")
    if len(error) > 20000:
        faults.append("a message of %d characters" % len(error))
    return name, what, faults, seconds, cpu, memory, code, error


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--slowest", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    if options.list:
        for name, what, want, data in cases():
            print("%-32s %-9s %10d bytes  %s" % (name, "|".join(map(str, want)), len(data), what))
        return 0
    folder = tempfile.TemporaryDirectory()
    # In a separate process: the peak memory of a child begins with that of the process that
    # starts it.
    manifest = os.path.join(folder.name, "manifest")
    writer = os.fork()
    if writer == 0:
        with open(manifest, "w", encoding="utf-8") as f:
            json.dump(
                [
                    written(case, folder.name)
                    if options.only in case[0] and (options.all or options.only or number % 5 == 0)
                    else None
                    for number, case in enumerate(cases())
                ],
                f,
            )
        os._exit(0)
    assert os.waitpid(writer, 0)[1] == 0
    with open(manifest, encoding="utf-8") as f:
        everything = json.load(f)
    total = len(everything)
    chosen = [case for case in everything if case is not None]
    print("%d of %d hostile programs and files" % (len(chosen), total))
    assert total >= 300
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        results = []
        for r in pool.map(check, chosen):
            results.append(r)
            if options.verbose:
                print("%6.3f s %4d MB exit %d  %s" % (r[4], r[5] >> 10, r[6], r[0]), flush=True)
    wrong = [r for r in results if r[2]]
    for name, what, faults, seconds, cpu, memory, code, error in wrong:
        print("%s (%s): %s\n    %s" % (name, what, "; ".join(faults), error.strip()[:300].replace("\n", "\n    ")))
    print("slowest (processor seconds, peak MB, exit):")
    for r in sorted(results, key=lambda r: -r[4])[: options.slowest]:
        print("  %6.3f %5d %2d  %s" % (r[4], r[5] >> 10, r[6], r[0]))
    cpu = sorted(r[4] for r in results)
    print(
        "%d run, %d wrong; processor time: median %.3f s, 95 %% %.3f s, most %.3f s, %d above 0.25 s; most memory %d MB"
        % (
            len(results),
            len(wrong),
            cpu[len(cpu) // 2],
            cpu[len(cpu) * 95 // 100],
            cpu[-1],
            sum(c > 0.25 for c in cpu),
            max(r[5] for r in results) >> 10,
        )
    )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
