"""What the tests of adapt share: a server of their own with the shipped weights, networks, a data
sheet, and what its device "takes"."""
import csv
import json
import os
import tempfile
import unittest

from programs import LIBRARY, Server, client

MODELS = os.path.join(LIBRARY, "torchvision", "models")
# Real models of torchvision: file, entry.
NETWORKS = [
    ("resnet.py", "resnet18()"),
    ("mobilenetv2.py", "mobilenet_v2()"),
    ("vgg.py", "vgg11()"),
    ("squeezenet.py", "squeezenet1_1()"),
    ("densenet.py", "densenet121()"),
    ("resnet.py", "resnet50()"),
    ("shufflenetv2.py", "shufflenet_v2_x1_0()"),
    ("mnasnet.py", "mnasnet1_0()"),
]
# A processor between those that the weights know.
SPEC = {
    "device": "Test CPU 9000",
    "kind": "cpu",
    "runtime": "libtorch-1.13.0",
    "threads": 1,
    "cores": 8,
    "peak_gflops": 120,
    "memory_gb_per_s": 15,
    "vector_bits": 512,
    "clock_mhz": 2800,
    "mode": "eval",
}


def write_list(path, rows, latencies=None):
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["row", "model", "entry", "inputs", "arguments"] + (["latency_ms"] if latencies else []))
        for number, (name, entry) in enumerate(rows, 1):
            line = [number, os.path.join(MODELS, name), entry, "1x3x224x224", ""]
            writer.writerow(line + ([latencies[number - 1]] if latencies else []))
    return path


class AdaptCase(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.store = cls.file("store.sqlite")
        cls.server = Server(cls.store)
        cls.write("spec.json", json.dumps(SPEC))
        # "Measured": what a trained target takes, half as long again.
        cls.truth = [1.5 * ms for ms in cls.predicted("cpu-xeon-cascadelake-1t", NETWORKS)]

    @classmethod
    def tearDownClass(cls):
        cls.server.stop()
        cls.folder.cleanup()

    @classmethod
    def file(cls, name):
        return os.path.join(cls.folder.name, name)

    @classmethod
    def write(cls, name, text):
        with open(cls.file(name), "w") as file:
            file.write(text)
        return cls.file(name)

    @classmethod
    def ask(cls, *arguments, server=None):
        return client(*arguments, "--server", (server or cls.server).address, "--library", LIBRARY)

    @classmethod
    def predicted(cls, target, networks, server=None):
        write_list(cls.file("ask.csv"), networks)
        out = cls.file("out.csv")
        asked = cls.ask("predict", "--list", cls.file("ask.csv"), "--target", target, "--out", out, server=server)
        assert asked.code == 0, asked.err
        with open(out, newline="") as file:
            return [float(row["latency_ms"]) for row in csv.DictReader(file)]

    @classmethod
    def adapt(cls, name, samples=0, *more, server=None):
        arguments = ["adapt", "--name", name, "--spec", cls.file("spec.json")]
        if samples:
            path = write_list(cls.file(f"{name}.csv"), NETWORKS[:samples], cls.truth)
            arguments += ["--samples", path]
        return cls.ask(*arguments, *more, "--format", "json", server=server)
