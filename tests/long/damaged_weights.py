#!/usr/bin/env python3
"""Bytes of the weights and of the manifest are damaged 10,000 times while a server serves them:
each damaged version is refused, the old one serves on with the same answer, and the undamaged one
is taken again.

    damaged_weights.py [--flips 10000] [--seed 1]        COBRA_BIN: where the programs are
"""
import argparse
import os
import random
import shutil
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
import programs  # noqa: E402

FAILED = 'cobra_model_loads_total{result="failed"}'
LOADED = 'cobra_model_loads_total{result="ok"}'


def damage(data, chance):
    """One to eight bits of it, or an end that is missing, doubled or zero."""
    data = bytearray(data)
    kind = chance.randrange(10)
    if kind < 7:
        for _ in range(chance.choice((1, 1, 1, 2, 8))):
            data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    elif kind == 7:
        del data[chance.randrange(len(data)) :]
    elif kind == 8:
        data += data[-chance.randrange(1, 1000) :]
    else:
        at = chance.randrange(len(data))
        length = min(4096, len(data) - at)
        if not any(data[at : at + length]):
            data[at] = 1
        else:
            data[at : at + length] = bytes(length)
    return bytes(data)


def replace(path, data):
    with open(path + ".new", "wb") as file:
        file.write(data)
    os.replace(path + ".new", path)


class Run:
    def __init__(self, folder, seed):
        self.model = os.path.join(folder, "model")
        shutil.copytree(os.path.join(programs.SOURCE, "model", "pretrained"), self.model)
        self.whole = {}
        for name in ("manifest.json", "tensors.safetensors"):
            with open(os.path.join(self.model, name), "rb") as file:
                self.whole[name] = file.read()
        self.chance = random.Random(seed)
        self.server = programs.Server(os.path.join(folder, "store.sqlite"), "--model", self.model)
        target = programs.first_target(self.server)
        self.question = (
            programs.RESNET,
            "--library",
            programs.LIBRARY,
            "--entry",
            "resnet18()",
            "--input",
            "1x3x64x64",
            "--target",
            target,
        )
        self.answer = self.ask()

    def ask(self):
        return programs.predict(self.server, *self.question).json()["predictions"]

    def reload(self):
        """What the server says about the version that is there now."""
        before = programs.metric(self.server, FAILED), programs.metric(self.server, LOADED)
        self.server.process.send_signal(1)
        now = before
        while now == before:
            time.sleep(0.002)
            now = programs.metric(self.server, FAILED), programs.metric(self.server, LOADED)
        return "refused" if now[0] > before[0] else "served"

    def flip(self):
        name = self.chance.choice(list(self.whole))
        replace(os.path.join(self.model, name), damage(self.whole[name], self.chance))
        result = self.reload()
        replace(os.path.join(self.model, name), self.whole[name])
        return name, result

    def check(self):
        """The old version has the same answer, and so has the undamaged one."""
        return self.ask() == self.answer and self.reload() == "served" and self.ask() == self.answer


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--flips", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    folder = tempfile.mkdtemp()
    start = time.time()
    counts = {}
    failed = False
    try:
        run = Run(folder, options.seed)
        with run.server:
            for i in range(options.flips):
                what = run.flip()
                counts[what] = counts.get(what, 0) + 1
                if what[1] != "refused":
                    print(f"flip {i} of seed {options.seed}: damaged {what[0]} was served", flush=True)
                    failed = True
                if i % 500 == 499:
                    failed = not run.check() or failed
                    print(f"{i + 1} flips, {time.time() - start:.0f} s", file=sys.stderr, flush=True)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    for (name, result), count in sorted(counts.items()):
        print(f"{name}: {count} {result}")
    print(f"{options.flips} flips, {time.time() - start:.0f} s: {'FAILED' if failed else 'passed'}")
    sys.exit(1 if failed else 0)


main()
