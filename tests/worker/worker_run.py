"""What the tests of cobra-worker's series share."""
import json
import os
import subprocess

SOURCE = os.environ.get("COBRA_SOURCE", os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
BIN = os.path.abspath(os.environ.get("COBRA_BIN", os.path.join(SOURCE, "build", "release", "bin")))
CORES = sorted(os.sched_getaffinity(0))
CORE = CORES[-1]


def command(*words):
    """Tests run beside each other: none of them has a processor to itself."""
    return [os.path.join(BIN, "cobra-worker"), *map(str, words), "--share-device"]


def run(*words, **more):
    return subprocess.run(command(*words), cwd=SOURCE, capture_output=True, text=True, timeout=120, **more)


def lines(path):
    """What is in a file of records that may be growing: all whole lines."""
    if not os.path.exists(path):
        return []
    with open(path) as file:
        return [json.loads(line) for line in file.read().split("\n")[:-1]]


def records(path):
    return [line for line in lines(path) if line["kind"] == "record"]
