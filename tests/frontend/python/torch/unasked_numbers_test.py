#!/usr/bin/env python3
"""Numbers that nobody can know: those of `random` without a seed, and of the clock. A text may hold
one (a name, a label), and a model that only has such texts is read. Where a shape, a branch, a key
or a tensor would depend on one, it is refused (exit code 4)."""
import json
import os
import subprocess
import sys
import tempfile

BIN = os.path.abspath(os.environ.get("COBRA_BIN", "build/release/bin"))
SOURCE = """
import copy
import datetime
import math
import random
import secrets
import string
import time
import torch
from torch import nn

class Labelled(nn.Module):
    def __init__(self):
        super().__init__()
        number = random.randrange(10, 20)
        assert len(f"{number}") == len("%d" % number) == len(str(number)) == 2
        assert len("%06x" % random.getrandbits(24)) == 6 and hex(random.getrandbits(8)).startswith("0x")
        self.name = "".join(random.choices(string.ascii_letters, k=8)) + random.choice("abc")
        assert len(self.name) == 9 and len(secrets.token_hex(4)) == 8
        self.more = [f"{random.random():.3f}", f"{int(1e6 * random.random())}", f"{round(random.uniform(1, 2), 1)}"]
        self.add_module("layer_%06x" % random.randrange(16**6), nn.ReLU())
        first, second = random.Random(), random.Random()
        assert str(first.getrandbits(64)) != str(second.getrandbits(64)) != str(first.getrandbits(64))
        self.drawn = copy.deepcopy(number)

    def forward(self, x):
        return next(self.children())(x)

class Dated(nn.Module):
    def __init__(self):
        super().__init__()
        now = datetime.datetime.now()
        self.name = f"run_{now:%Y%m%d}_{int(time.time())}_{now.year + 1}_{time.strftime('%H%M')}"
        assert self.name.startswith("run_19700101_")
        self.more = [str(now + datetime.timedelta(days=1)), now.isoformat(), repr(datetime.date.today())]
        self.begun = now
        assert datetime.datetime(2020, 2, 28) + datetime.timedelta(days=2) == datetime.datetime(2020, 3, 1)

    def forward(self, x):
        start = time.perf_counter()
        y = x.relu()
        print("took %.3f s" % (time.perf_counter() - start), datetime.datetime.now() - self.begun)
        return y

def of(value):
    def forward(x):
        value()
        return x + 1
    return forward
"""
READ = {"Labelled()": ["relu"], "Dated()": ["relu"]}
REFUSED = [
    "nn.Linear(random.randint(1, 9), 3)",
    "nn.Linear(int(random.random() * 9) + 1, 3)",
    "[1, 2][random.randint(0, 1)]",
    "{random.randint(0, 9): 2}",
    "random.choice([1, 2, 3])",
    "bool(random.random() < 0.5)",
    "float(random.random()) < 0.5",
    "math.sqrt(random.random())",
    "torch.full((3,), random.random())",
    "torch.zeros(datetime.datetime.now().year)",
    "torch.ones(3) * time.time()",
    "datetime.datetime.now() > datetime.datetime(2020, 1, 1)",
    "(datetime.datetime.now() - datetime.datetime(2020, 1, 1)).days > 5",
    "datetime.datetime.now() - datetime.datetime(2020, 1, 1) == datetime.timedelta(0)",
    "hash(datetime.date.today())",
    "datetime.date.today().weekday() == 3",
    "time.localtime().tm_hour > 3",
    "time.localtime()[0] == 1970",
    "range(int(time.time()))",
]


NOTES = {
    "Labelled()": "note: model.py:16: a text of random.getrandbits() without random.seed() is that of one",
    "Dated()": "there is no clock: a text of the date or time is that of 1970-01-01",
}


def without_notes():
    """What cobra-client does not say."""
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        with open(folder + "/model.py", "w") as file:
            file.write(SOURCE)
        for entry, note in NOTES.items():
            command = [BIN + "/cobra-client", "graph", "model.py", "--entry", entry, "--input", "4x4"]
            errors = subprocess.run(command, capture_output=True, text=True, cwd=folder).stderr
            if note not in " ".join(errors.split()):
                wrong.append(f"{entry}: no note: {errors}")
    return wrong


def main():
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        path = folder + "/model.py"
        with open(path, "w") as file:
            file.write(SOURCE)
        entries = [*READ, *(f"of(lambda: {each})" for each in REFUSED)]
        requests = [json.dumps({"file": path, "entry": entry, "inputs": ["4x4"]}) for entry in entries]
        done = subprocess.run(
            [BIN + "/read_model", "--batch"],
            input="".join(request + "\n" for request in requests),
            capture_output=True,
            text=True,
        )
    answers = dict(zip(entries, map(json.loads, done.stdout.splitlines())))
    for entry, answer in answers.items():
        error = answer.get("error", "")
        if entry in READ:
            if [op["op"] for op in answer.get("ops", ())] != READ[entry]:
                wrong.append(f"{entry}: {error or answer}")
        elif "is not supported" not in error or "the clock says" not in error and "without random.seed()" not in error:
            wrong.append(f"{entry}: {error or 'read'}")
    wrong += without_notes()
    print(f"{len(answers)} of {len(entries)} answered, {len(wrong)} wrong")
    print("\n".join(wrong))
    return 1 if wrong or len(answers) != len(entries) else 0


if __name__ == "__main__":
    sys.exit(main())
