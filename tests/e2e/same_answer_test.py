#!/usr/bin/env python3
"""The same question gets the same answer, bit by bit: from two servers, in any order, with other
caches, after a reload, and after somebody else's attack. What a small request can make of a reply,
and of a server's time."""
import json
import os
import random
import signal
import tempfile
import time
import unittest
import urllib.request

import grpc

import programs
import second_preimage

DROPOUT = """
import torch.nn as nn

class Net(nn.Module):
    def __init__(self, dropout, layers=16, width=8):
        super().__init__()
        self.dropout = dropout
        layer = lambda: [nn.Linear(width, width)] + ([nn.Dropout(0.1)] if dropout else [])
        self.layers = nn.Sequential(*[module for _ in range(layers) for module in layer()])

    def forward(self, x):
        return self.layers(x.to(x.dtype) if self.dropout else x)
"""
CELL = "nasbench201,cells=1:|nor_conv_3x3~0|+|{}~0|skip_connect~1|+|{}~0|avg_pool_3x3~1|none~2|"


class SameAnswerTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.pb, cls.services = programs.stubs()
        cls.servers, cls.stubs = [], []
        flags = [], [
            "--embedding-cache-mb",
            "1",
            "--prediction-cache-mb",
            "1",
            "--reply-cache-mb",
            "1",
            "--threads",
            "1",
        ]
        for i, own in enumerate(flags):
            cls.servers.append(programs.Server(os.path.join(cls.folder.name, "%d.sqlite" % i), *own))
            options = [("grpc.max_receive_message_length", 64 << 20)]
            cls.stubs.append(cls.services.CobraStub(grpc.insecure_channel(cls.servers[i].address, options)))
        cls.trained = programs.first_target(cls.servers[0])
        cls.graph_pb = programs.importlib.import_module("cobra.v1.graph_pb2")

    @classmethod
    def tearDownClass(cls):
        for server in cls.servers:
            server.__exit__()
        cls.folder.cleanup()

    def chain(self, calls, width=8, file="net.py", module="", op="relu"):
        """Calls one after the other."""
        graph = self.graph_pb.Graph(source_files=[file])
        graph.inputs.add(name="x", type=self.tensor(1, 3, 8, width))
        for i in range(calls):
            node = graph.nodes.add(op=op)
            kind = self.graph_pb.ValueRef.KIND_NODE if i else self.graph_pb.ValueRef.KIND_INPUT
            node.inputs.add(kind=kind, index=max(0, i - 1))
            node.origin.file, node.origin.line, node.origin.module_path = 1, 1, module
        graph.outputs.add(kind=self.graph_pb.ValueRef.KIND_NODE, index=calls - 1)
        return graph

    def tensor(self, *shape):
        return self.graph_pb.TensorType(shape=shape, dtype=self.graph_pb.DTYPE_FLOAT32)

    def ask(self, stub, targets, breakdown=False, timeout=60, **model):
        request = self.pb.PredictRequest(targets=targets, breakdown=breakdown, keep_private=True, **model)
        return stub.Predict(request, timeout=timeout)

    def error(self, **request):
        with self.assertRaises(grpc.RpcError) as raised:
            self.ask(self.stubs[0], **request)
        return raised.exception

    def calibrate(self, name):
        """A machine that takes 1.3 times as long, on both servers."""
        records = []
        for width in range(8, 88, 8):
            reply = self.ask(self.stubs[0], [self.trained], graph=self.chain(1, width))
            shape = [1, 3, 8, width]
            graph = {
                "inputs": [{"name": "x", "shape": shape, "dtype": "float32"}],
                "ops": [{"op": "relu", "inputs": ["in:0"], "out": [shape], "attrs": {}}],
                "output": [0],
            }
            records.append({"latency_us": 1.3 * reply.predictions[0].latency_us, "is_network": False, "graph": graph})
        machine = {"name": name, "device": "Test CPU", "kind": "cpu", "runtime": "libtorch"}
        probe = {"machine": machine, "records": records}
        for stub in self.stubs:
            stub.Calibrate(self.pb.CalibrateRequest(probe_json=json.dumps(probe), target=name), timeout=60)

    def questions(self):
        files = [self.pb.SourceFile(path="net.py", text=DROPOUT.encode())]
        for entry in ("Net(True)", "Net(False)", "Net(True, width=24)", "Net(False, width=24)"):
            width = 24 if "24" in entry else 8
            yield {"source": self.pb.SourceModel(files=files, file="net.py", entry=entry, inputs=["1x%d" % width])}
        for name, entry in (("resnet", "resnet18()"), ("mobilenetv2", "mobilenet_v2()")):
            file = "torchvision/models/%s.py" % name
            yield {"source": self.pb.SourceModel(file=file, entry=entry, inputs=["1x3x64x64"])}
        for operations in (("none", "none"), ("nor_conv_1x1", "none"), ("avg_pool_3x3", "skip_connect")):
            yield {"architecture": self.pb.Architecture(text=CELL.format(*operations))}
        for calls in (1, 3, 40):
            yield {"graph": self.chain(calls, op="sigmoid")}

    def test_any_server_in_any_order(self):
        self.calibrate("slow-machine")
        questions = list(self.questions())
        drawn = random.Random(5)
        answers = {}
        for turn in range(120):
            i, server = drawn.randrange(len(questions)), drawn.randrange(2)
            targets = drawn.sample([self.trained, "slow-machine"], drawn.choice((1, 2)))
            breakdown = drawn.random() < 0.3
            reply = self.ask(self.stubs[server], targets, breakdown, **questions[i])
            self.assertEqual([p.target for p in reply.predictions], targets)
            for prediction in reply.predictions:
                if breakdown:
                    total = sum(row.latency_us for row in prediction.breakdown)
                    self.assertAlmostEqual(total, prediction.latency_us, delta=1e-9 * total)
                    del prediction.breakdown[:]
                expected = answers.setdefault((i, prediction.target), prediction)
                self.assertEqual(prediction, expected, questions[i])
            if turn == 60:
                for each in self.servers:
                    each.process.send_signal(signal.SIGHUP)
        # The dropouts and the cast return their argument; a fingerprint does not count them, and
        # they take time: in LibTorch a fiftieth of these small layers (measured), from Python a
        # third.
        with_dropout, without = (answers[i, self.trained].latency_us for i in (0, 1))
        self.assertNotEqual(with_dropout, without)
        from_python = [
            self.ask(self.stubs[0], ["cpu-epyc-turin-1t-torch"], **questions[i]).predictions[0].latency_us
            for i in (0, 1)
        ]
        self.assertGreater(from_python[0], 1.1 * from_python[1])

    def test_an_attack_on_the_hash_changes_nothing(self):
        """A call whose text has the MurmurHash3 of the first convolution of a ResNet."""
        convolution = self.graph_pb.Graph(inputs=[{"type": self.tensor(1, 3, 224, 224)}])
        convolution.parameters.add(name="w", type=self.tensor(64, 3, 7, 7))
        node = convolution.nodes.add(op="conv2d")
        node.inputs.add(kind=self.graph_pb.ValueRef.KIND_INPUT)
        node.inputs.add(kind=self.graph_pb.ValueRef.KIND_PARAMETER)
        node.inputs.add()
        for name, value in (("stride", 2), ("padding", 3), ("dilation", 1)):
            node.attributes.add(name=name).ints.values.extend([value, value])
        node.attributes.add(name="groups", int_value=1)
        convolution.outputs.add(kind=self.graph_pb.ValueRef.KIND_NODE)
        text = (
            b"conv2d(input=1x3x224x224:float32,weight=64x3x7x7:float32,bias=None,stride=(2,2),padding=(3,3),"
            b"dilation=(1,1),groups=1)->1x64x112x112:float32"
            b"#macs=118013952,read_bytes=602112,weight_bytes=37632,write_bytes=3211264"
        )

        def eigenvalues(triangle):
            graph = self.graph_pb.Graph(inputs=[{"type": self.tensor(2, 2)}])
            node = graph.nodes.add(op="linalg_eigh")
            node.inputs.add(kind=self.graph_pb.ValueRef.KIND_INPUT)
            node.attributes.add(name="UPLO", string_value=triangle)
            graph.outputs.add(kind=self.graph_pb.ValueRef.KIND_NODE)
            return graph

        macs = self.ask(self.stubs[0], [self.trained], graph=eigenvalues("L")).macs
        head = b"linalg_eigh(input=2x2:float32,UPLO='"
        tail = b"')->2:float32;2x2:float32#macs=%d,read_bytes=16,weight_bytes=0,write_bytes=24" % macs
        forged = second_preimage.forge(second_preimage.hash_of(text), head, tail)
        attack = self.ask(self.stubs[0], [self.trained], graph=eigenvalues(forged)).predictions[0]
        self.assertTrue(attack.extrapolating)
        attacked, untouched = (self.ask(stub, [self.trained], graph=convolution).predictions[0] for stub in self.stubs)
        self.assertEqual(attacked, untouched)
        self.assertFalse(attacked.extrapolating)

    def peak_memory_mb(self):
        with open("/proc/%d/status" % self.servers[0].process.pid) as file:
            return int(next(line for line in file if line.startswith("VmHWM")).split()[1]) / 1024

    def assert_limit(self, error, *words):
        self.assertEqual(error.code(), grpc.StatusCode.RESOURCE_EXHAUSTED)
        detail = programs.error_detail(error)
        self.assertIsNotNone(detail, error.details())
        for word in words:
            self.assertIn(word, detail.message + "\n" + detail.hint)

    def test_a_small_request_gets_no_large_reply(self):
        self.ask(self.stubs[0], [self.trained], breakdown=True, graph=self.chain(4096))
        before = self.peak_memory_mb()
        long_file = dict(graph=self.chain(200, file="f" * 100_000), breakdown=True)
        self.assert_limit(self.error(targets=[self.trained] * 64, **long_file), "source file", "4,096")
        rows = dict(graph=self.chain(4096, file="f" * 4096), breakdown=True)
        self.assert_limit(self.error(targets=[self.trained], **rows), "the reply", "fewer targets", "breakdown")
        reply = self.ask(self.stubs[0], [self.trained] * 64, breakdown=True, graph=self.chain(2000, file="f" * 200))
        self.assertEqual(len(reply.predictions), 1)
        self.assertLess(reply.ByteSize(), 1 << 20)
        self.assertLess(self.peak_memory_mb(), before + 100)

    def in_flight(self):
        url = "http://%s/metrics" % self.servers[0].metrics_address
        lines = urllib.request.urlopen(url, timeout=20).read().decode().splitlines()
        return float(next(line for line in lines if line.startswith("cobra_requests_in_flight")).split()[-1])

    def test_an_expired_request_ends(self):
        """Twelve machines, and a deadline that passes while the first ones are answered."""
        machines = ["machine-%d" % i for i in range(12)]
        for machine in machines:
            self.calibrate(machine)
        self.ask(self.stubs[0], machines, graph=self.chain(29_998))  # from here on the layers are known
        start = time.time()
        self.ask(self.stubs[0], machines, graph=self.chain(29_999))
        whole = time.time() - start
        error = self.error(targets=machines, graph=self.chain(30_000), timeout=whole / 4)
        self.assertEqual(error.code(), grpc.StatusCode.DEADLINE_EXCEEDED)
        start = time.time()
        while self.in_flight() > 0 and time.time() - start < whole + 2:
            time.sleep(0.05)
        self.assertEqual(self.in_flight(), 0)

    def test_bytes_that_are_no_text_leave_no_raw_line_in_the_log(self):
        raw = grpc.insecure_channel(self.servers[0].address).unary_unary("/cobra.v1.Cobra/Predict")
        with self.assertRaises(grpc.RpcError) as raised:
            raw(b"\x32\x01\xff", timeout=60)  # targets: the byte 255
        self.assertEqual(raised.exception.code(), grpc.StatusCode.INVALID_ARGUMENT)
        self.assertNotIn("libprotobuf", self.servers[0].log())


if __name__ == "__main__":
    programs.main()
