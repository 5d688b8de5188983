#!/usr/bin/env python3
"""Callers share what the server has worked out. Nobody can change another one's answer by that,
make it wait, or get an answer that a quiet server would not give."""
import concurrent.futures
import importlib
import os
import random
import tempfile
import time
import unittest

import grpc

import programs

OPERATIONS = ["none", "skip_connect", "nor_conv_1x1", "nor_conv_3x3", "avg_pool_3x3"]
# A library that sets something, and then imports what reads it.
LIBRARY = {
    "__init__.py": "from . import config\n"
    "def build(width):\n    config.WIDTH = width\n    from . import net\n    return net.Net()\n",
    "config.py": "WIDTH = 3\n",
    "net.py": "from torch import nn\nfrom . import config\nWIDTH = config.WIDTH\n"
    "class Net(nn.Linear):\n    def __init__(self):\n        super().__init__(4, WIDTH)\n",
}


def cell(number):
    names = []
    for _ in range(6):
        names.append(OPERATIONS[number % 5])
        number //= 5
    return "|{}~0|+|{}~0|{}~1|+|{}~0|{}~1|{}~2|".format(*names)


def varint(value):
    return bytes([value & 127 | 128]) + varint(value >> 7) if value > 127 else bytes([value])


def field(number, payload):
    return varint(number << 3 | 2) + varint(len(payload)) + payload


class SharedWorkTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        library = os.path.join(cls.folder.name, "site", "setlib")
        os.makedirs(library)
        for name, text in LIBRARY.items():
            with open(os.path.join(library, name), "w") as file:
                file.write(text)
        cls.pb, cls.services = programs.stubs()
        cls.graphs = importlib.import_module("cobra.v1.graph_pb2")
        cls.server = programs.Server(
            os.path.join(cls.folder.name, "store.sqlite"), "--library", os.path.dirname(library), "--threads", "4"
        )
        cls.channel = grpc.insecure_channel(cls.server.address)
        cls.stub = cls.services.CobraStub(cls.channel)
        cls.target = programs.first_target(cls.server)

    @classmethod
    def tearDownClass(cls):
        cls.channel.close()
        cls.server.__exit__()
        cls.folder.cleanup()

    def architecture(self, text, *inputs):
        return self.pb.PredictRequest(
            architecture=self.pb.Architecture(text=text, inputs=inputs), targets=[self.target]
        )

    # The bytes of some strings are those of graphs without calls, whose fields nobody knows.
    def test_a_graph_is_not_kept_as_a_string(self):
        raw = self.channel.unary_unary("/cobra.v1.Cobra/Predict")
        tried = []
        for number in random.Random(5).sample(range(5**6), 3000):
            text = "nasbench201-pruned:" + cell(number)
            message = self.architecture(text, "256x3x32x32").architecture.SerializeToString()
            for prefix in b"architecture ", b"\0architecture ", b"":
                with self.assertRaises(grpc.RpcError) as refused:
                    raw(field(2, prefix + message) + field(6, self.target.encode()), timeout=60)
                if "has no calls" in refused.exception.details():
                    tried.append(text)
            if len(tried) > 10:
                break
        self.assertGreater(len(tried), 5)
        answers = set()
        for text in tried:
            try:
                answers.add(self.stub.Predict(self.architecture(text, "256x3x32x32"), timeout=60).fingerprint)
            except grpc.RpcError as error:
                self.assertIn("no path leads", error.details())
        self.assertGreater(len(answers), 3)

    def test_modules_that_a_library_imports_late_are_imported_late(self):
        source = self.pb.SourceModel(file="setlib/__init__.py", inputs=["1x4"])
        for _ in range(6):  # first without an image, then with one
            for width in 8, 5:
                source.entry = f"build({width})"
                answer = self.stub.Predict(
                    self.pb.PredictRequest(source=source, targets=[self.target], breakdown=True), timeout=60
                )
                self.assertEqual(answer.parameter_count, 5 * width)
            time.sleep(0.3)

    # New layers of many at once, some of whom leave: as a quiet server answers, bit by bit.
    def test_batches_that_callers_share_change_no_answer(self):
        def graph(seed):
            reader = random.Random(seed)
            message = self.graphs.Graph()
            message.inputs.add(name="x").type.MergeFrom(
                self.graphs.TensorType(shape=[1, 4, 8, 8], dtype=self.graphs.DTYPE_FLOAT32)
            )
            last = self.graphs.ValueRef(kind=self.graphs.ValueRef.KIND_INPUT)
            for number in range(reader.randrange(1, 40)):
                node = message.nodes.add(op="add")
                node.attributes.add(name="other", double_value=reader.randrange(60) / 7)
                node.inputs.add().CopyFrom(last)
                last = self.graphs.ValueRef(kind=self.graphs.ValueRef.KIND_NODE, index=number)
            message.outputs.add().CopyFrom(last)
            return self.pb.PredictRequest(graph=message, targets=[self.target])

        def ask(seed):
            if seed % 5 == 0:
                self.stub.Predict.future(graph(seed), timeout=60).cancel()
                return None
            return self.stub.Predict(graph(seed), timeout=60).predictions[0].latency_us

        seeds = [number % 150 for number in range(600)]
        with concurrent.futures.ThreadPoolExecutor(24) as pool:
            together = list(pool.map(ask, seeds))
        with programs.Server(os.path.join(self.folder.name, "quiet.sqlite")) as quiet:
            with grpc.insecure_channel(quiet.address) as channel:
                stub = self.services.CobraStub(channel)
                alone = {s: stub.Predict(graph(s), timeout=60).predictions[0].latency_us for s in set(seeds)}
        for seed, latency_us in zip(seeds, together):
            if latency_us is not None:
                self.assertEqual(latency_us, alone[seed], seed)


if __name__ == "__main__":
    unittest.main()
