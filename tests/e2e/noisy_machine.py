"""A processor with a neighbour, and how well its predictions hold there: a program that burns
arithmetic, cache and memory in bursts on the core that networks are timed on; a calibration beside
it; networks that the probe has not, timed beside it as a user would, and compared."""
import json
import os
import random
import re
import statistics
import subprocess
import sys
import time

import programs

sys.path.insert(0, os.path.join(programs.SOURCE, "data", "measurements"))
import record_files  # noqa: E402

CORE = sorted(os.sched_getaffinity(0))[-1]
NETWORKS = os.path.join(programs.SOURCE, "data", "networks", "torchvision.jsonl.xz")
# They take a slow core more than a third of a second.
LARGE = re.compile(
    r"vgg|vit_|wide_|resnext|_(8|16|32|128)gf|resnet1|densenet(161|201)|_b[4-7]$|v2_[ml]|(convnext|swin)_[^t]"
)
# Beside a network it gets a quarter of the core in a burst: weight 335 of 335 + 1024. Bursts and
# pauses of a tenth of a second to two seconds, half of the time each, so that a network takes from
# 1 to 1.35 times as long.
NICE = 5
SHORTEST_S, LONGEST_S = 0.1, 2.0


def burn(core, seed):
    """The neighbour itself, until it is ended."""
    os.sched_setaffinity(0, {core})
    os.nice(NICE)
    draw = random.Random(seed)
    memory = bytearray(48 << 20)
    half = len(memory) // 2
    while True:
        end = time.monotonic() + draw.uniform(SHORTEST_S, LONGEST_S)
        while time.monotonic() < end:
            memory[:half] = memory[half:]
            sum(range(20000))
        time.sleep(draw.uniform(SHORTEST_S, LONGEST_S))


class Neighbour:
    """Use it in a `with`."""

    def __init__(self, seed, core=CORE):
        self.command = [sys.executable, os.path.abspath(__file__), str(core), str(seed)]

    def __enter__(self):
        self.process = subprocess.Popen(self.command)
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()


def worker(*arguments):
    command = [os.path.join(programs.BIN, "cobra-worker"), *map(str, arguments), "--core", str(CORE), "--share-device"]
    done = subprocess.run(command, cwd=programs.SOURCE, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(" ".join(command) + ":\n" + done.stderr)
    return done


def measure(folder, count, seed):
    """Records of `count` networks of torchvision, each as it is measured first, and the last line
    that the worker says."""
    with record_files.open_text(NETWORKS) as file:
        networks = [(json.loads(line), line) for line in file]
    lines = [line for network, line in networks if network["batch"] == 1 and not LARGE.search(network["name"])]
    chosen, out = os.path.join(folder, f"chosen-{seed}.jsonl"), os.path.join(
        folder, f"records-{seed}-{time.time()}.jsonl"
    )
    with open(chosen, "w") as file:
        file.writelines(random.Random(seed).sample(lines, count))
    # Nothing is measured again: a user does not know when the neighbour sleeps.
    done = worker(
        "measure", "--space", "graphs", "--networks", chosen, "--count", count, "--tolerance", 1e6, "--out", out
    )
    with open(out) as file:
        records = [record for record in map(json.loads, file) if record["kind"] == "record"]
    return [r for r in records if r["outcome"] == "ok" and r["repeat"] == 0], done.stderr.strip().split("\n")[-1]


def calibrate(server, folder, budget="1m", name="this-machine"):
    """The calibrated target, of a probe made here and now."""
    probe = os.path.join(folder, f"probe-{name}.json")
    text = worker("probe", "--json", "--budget", budget).stdout
    with open(probe, "w") as file:
        file.write(text)
    answer = programs.client(
        "calibrate", "--probe", probe, "--name", name, "--server", server.address, "--format", "json"
    )
    if answer.code != 0:
        raise RuntimeError(answer.err)
    return answer.json()["target"]


def predictions(server, folder, records, name="this-machine"):
    """Of each record."""
    path, found = os.path.join(folder, "graph.json"), []
    for record in records:
        with open(path, "w") as file:
            json.dump(record["graph"], file)
        answer = programs.predict(server, path, "--target", name, "--keep-private")
        if answer.code != 0:
            raise RuntimeError(answer.err)
        found.append(answer.json()["predictions"][0])
    return found


def is_inside(times, us):
    return times["low_us"] <= us <= times["high_us"]


def quality(found, measured_us):
    """(share inside the interval, mean absolute percentage error, median of the interval's
    half-width)"""
    pairs = list(zip(found, measured_us))
    return (
        statistics.mean(is_inside(times, us) for times, us in pairs),
        statistics.mean(abs(times["latency_us"] / us - 1) for times, us in pairs),
        statistics.median((times["high_us"] - times["low_us"]) / 2 / times["latency_us"] for times in found),
    )


if __name__ == "__main__":
    burn(int(sys.argv[1]), sys.argv[2])
