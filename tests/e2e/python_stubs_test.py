#!/usr/bin/env python3
"""Any language can be a client: Python's grpcio with stubs from the published proto gets the
numbers that cobra-client gets."""
import concurrent.futures
import contextlib
import importlib
import io
import os
import textwrap

import grpc

import programs

NET = """
import torch.nn as nn

class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.conv = nn.Conv2d(3, width, 3, padding=1)
        self.norm = nn.BatchNorm2d(width)
        self.head = nn.Linear(width, 10)

    def forward(self, x):
        x = self.norm(self.conv(x)).relu()
        return self.head(x.mean((2, 3)))
"""


class PythonStubsTest(programs.ServedTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.pb, cls.services = programs.stubs()
        cls.channel = grpc.insecure_channel(cls.server.address)
        cls.stub = cls.services.CobraStub(cls.channel)
        cls.net = cls.path("net.py", NET)

    def request(self, **changes):
        source = self.pb.SourceModel(
            files=[self.pb.SourceFile(path="net.py", text=NET.encode())],
            file="net.py",
            entry="Net(24)",
            inputs=["2x3x32x32"],
        )
        for name, value in changes.items():
            setattr(source, name, value)
        return self.pb.PredictRequest(source=source, targets=[self.target], breakdown=True)

    def test_same_numbers_as_cobra_client(self):
        reply = self.stub.Predict(self.request(), timeout=60)
        answer = programs.predict(
            self.server, self.net, "--entry", "Net(24)", "--input", "2x3x32x32", "--target", self.target, "--breakdown"
        )
        self.assertEqual(answer.code, 0, answer.err)
        theirs = answer.json()
        self.assertEqual(reply.fingerprint, theirs["fingerprint"])
        self.assertEqual(reply.parameter_count, theirs["params"])
        self.assertEqual(reply.macs, theirs["macs"])
        self.assertEqual(reply.peak_memory_bytes, theirs["peak_memory_bytes"])
        for mine, other in zip(reply.predictions, theirs["predictions"]):
            for field in ("latency_us", "low_us", "high_us", "confidence"):
                self.assertEqual(getattr(mine, field), other[field], field)
            self.assertEqual(
                [row.latency_us for row in mine.breakdown], [row["latency_us"] for row in other["breakdown"]]
            )

    def test_files_that_are_missing_are_named(self):
        def error(files, file):
            source = self.pb.SourceModel(
                files=[self.pb.SourceFile(path=path, text=text.encode()) for path, text in files.items()],
                file=file,
                entry="Net()",
                inputs=["1x3"],
            )
            with self.assertRaises(grpc.RpcError) as raised:
                self.stub.Predict(self.pb.PredictRequest(source=source, targets=[self.target]), timeout=60)
            self.assertEqual(raised.exception.code(), grpc.StatusCode.INVALID_ARGUMENT)
            return raised.exception.details() + str(raised.exception.trailing_metadata())

        details = error({"net.py": NET}, "nett.py")
        self.assertIn("nett.py: is neither among the files of the model nor in a library", details)
        self.assertIn("did you mean net.py? the files are net.py", details)
        files = {"net/__init__.py": "", "net/model.py": "from .layers import MLP\n"}
        self.assertIn("net/layers.py is not among the files", error(files, "net/model.py"))

    def test_batches_differ(self):
        one = self.stub.Predict(self.request(), timeout=60)
        source = self.request()
        source.source.inputs[0] = "16x3x32x32"
        sixteen = self.stub.Predict(source, timeout=60)
        self.assertGreater(sixteen.predictions[0].latency_us, one.predictions[0].latency_us)

    def test_errors_carry_the_place(self):
        source = self.pb.SourceFile(
            path="net.py", text=NET.replace("Linear(width, 10)", "Linear(width + 1, 10)").encode()
        )
        request = self.request()
        request.source.files[0].CopyFrom(source)
        with self.assertRaises(grpc.RpcError) as raised:
            self.stub.Predict(request, timeout=60)
        self.assertEqual(raised.exception.code(), grpc.StatusCode.INVALID_ARGUMENT)
        detail = programs.error_detail(raised.exception)
        self.assertEqual(detail.position.file, "net.py")
        self.assertEqual(detail.position.line, 1 + NET.split("\n").index("        return self.head(x.mean((2, 3)))"))
        self.assertTrue(detail.message)

    def test_unknown_target(self):
        request = self.request()
        request.targets[:] = ["abacus"]
        with self.assertRaises(grpc.RpcError) as raised:
            self.stub.Predict(request, timeout=60)
        self.assertEqual(raised.exception.code(), grpc.StatusCode.NOT_FOUND)
        self.assertIn("(the nearest of ", programs.error_detail(raised.exception).hint)

    def test_thousands_at_once(self):
        """The code of docs/api.md waits and goes on where the server refuses."""
        with open(os.path.join(programs.SOURCE, "docs", "api.md")) as file:
            section = file.read().split("### When the server is busy")[1]
        code = textwrap.dedent(section.split("```python")[1].split("```")[0])
        # A connection carries 128 calls: more of them wait in the client.
        askers = []
        for _ in range(10):
            channel = grpc.insecure_channel(self.server.address, [("grpc.use_local_subchannel_pool", 1)])
            self.addCleanup(channel.close)
            error_pb2 = importlib.import_module("cobra.v1.error_pb2")
            names = {"grpc": grpc, "stub": self.services.CobraStub(channel), "error_pb2": error_pb2}
            exec(code, names)
            askers.append(names["ask"])
        operations = ["none", "skip_connect", "nor_conv_1x1", "nor_conv_3x3", "avg_pool_3x3"]

        def architecture(i):
            a, b, c, d, e, f = (operations[i // 5**k % 5] for k in range(6))
            text = f"nasbench201:|{a}~0|+|{b}~0|{c}~1|+|{d}~0|{e}~1|{f}~2|"
            return self.pb.PredictRequest(architecture=self.pb.Architecture(text=text), targets=[self.target])

        refused = 'cobra_requests_total{method="Predict",status="RESOURCE_EXHAUSTED"}'
        before = programs.metric(self.server, refused)
        # Whether anything is refused depends on how fast this process asks: again, until something
        # was.
        for start in range(0, 10000, 2000):
            with concurrent.futures.ThreadPoolExecutor(1200) as pool:
                ask = lambda i: askers[i % len(askers)](architecture(i), deadline_s=300)
                replies = list(pool.map(ask, range(start, start + 2000)))
            self.assertTrue(all(reply.predictions[0].latency_us > 0 for reply in replies))
            if programs.metric(self.server, refused) > before:
                break
        self.assertGreater(programs.metric(self.server, refused), before, "nothing was refused, so nothing was shown")
        with self.assertRaises(grpc.RpcError) as raised:
            names["ask"](self.pb.PredictRequest(targets=[self.target]))
        self.assertEqual(raised.exception.code(), grpc.StatusCode.INVALID_ARGUMENT)

    def test_the_examples_of_the_documentation_run(self):
        with open(os.path.join(programs.SOURCE, "docs", "api.md")) as file:
            section = file.read().split("### Many at once, and the rest")[1]
        names = {"grpc": grpc, "stub": self.stub, "pb": self.pb, "address": self.server.address}
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(textwrap.dedent(section.split("```python")[1].split("```")[0]), names)
        lines = printed.getvalue().splitlines()
        self.assertIn("no_such_op", lines[2])
        self.assertTrue(all(float(line) > 0 for line in lines[:2]))
        self.assertEqual([line.split()[0] for line in lines[4:]], ["reply", "network", "prediction", "embedding"])

    def test_message_over_the_limit(self):
        request = self.request()
        request.source.files[0].text = b"#" * 50_000_000
        with self.assertRaises(grpc.RpcError) as raised:
            self.stub.Predict(request, timeout=60)
        self.assertEqual(raised.exception.code(), grpc.StatusCode.RESOURCE_EXHAUSTED)
        self.assertTrue(self.stub.Predict(self.request(), timeout=60).predictions)

    def peak_memory_mb(self):
        with open("/proc/%d/status" % self.server.process.pid) as file:
            return int(next(line for line in file if line.startswith("VmHWM")).split()[1]) / 1024

    def test_bytes_that_would_grow(self):
        """Two bytes may be an empty call of a graph, or an empty file of source, which takes 100
        and more in memory: 20 MB of them are refused before they are gigabytes."""
        raw = self.channel.unary_unary("/cobra.v1.Cobra/Predict")
        before = self.peak_memory_mb()
        target = self.pb.PredictRequest(targets=[self.target]).SerializeToString()
        for field, part, message in (
            (b"\x12", b"\x32\x00", "10,000,000 calls"),  # graph: nodes
            (b"\x0a", b"\x0a\x00", "in memory"),  # source: files
        ):
            parts = part * 10_000_000
            size = bytes([len(parts) >> shift & 127 | 128 for shift in (0, 7, 14)]) + bytes([len(parts) >> 21])
            with self.assertRaises(grpc.RpcError) as raised:
                raw(field + size + parts + target, timeout=60)
            self.assertEqual(raised.exception.code(), grpc.StatusCode.RESOURCE_EXHAUSTED)
            self.assertIn(message, programs.error_detail(raised.exception).message)
        self.assertLess(self.peak_memory_mb(), before + 300)
        with self.assertRaises(grpc.RpcError) as raised:
            raw(b"no message", timeout=60)
        self.assertEqual(raised.exception.code(), grpc.StatusCode.INVALID_ARGUMENT)
        self.assertTrue(self.stub.Predict(self.request(), timeout=60).predictions)

    def test_deadline(self):
        request = self.request()
        request.source.files[0].text = b"while True:\n    pass\n"
        with self.assertRaises(grpc.RpcError) as raised:
            self.stub.Predict(request, timeout=0.3)
        self.assertIn(raised.exception.code(), (grpc.StatusCode.DEADLINE_EXCEEDED, grpc.StatusCode.RESOURCE_EXHAUSTED))
        self.assertTrue(self.stub.Predict(self.request(), timeout=60).predictions)


if __name__ == "__main__":
    programs.main()
