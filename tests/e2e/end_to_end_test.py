#!/usr/bin/env python3
"""The real server with the shipped weights, asked by the real client: unmodified torchvision source
in, latency out; bad input of every kind; stopping and restarting."""
import os
import re
import shutil
import socket
import subprocess
import tempfile
import threading
import time
import unittest
import urllib.request

import grpc

import programs
from programs import LIBRARY, RESNET

# What each of these must be answered: (name, source, entry, exit code, line, words of the message).
BAD_MODELS = [
    ("syntax error", "import torch.nn as nn\n\nclass Net(nn.Module)\n    pass\n", "Net()", 6, 3, ""),
    (
        "unknown layer",
        "import torch.nn as nn\nclass Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.a = nn.Conv2dWithMagic(3, 8)\n    def forward(self, x):\n        return self.a(x)\n",
        "Net()",
        None,
        5,
        "Conv2dWithMagic",
    ),
    (
        "data-dependent branch",
        "import torch.nn as nn\nclass Net(nn.Module):\n    def forward(self, x):\n        if x.sum() > 0:\n"
        "            return x + 1\n        return x\n",
        "Net()",
        4,
        4,
        "",
    ),
    (
        "infinite loop",
        "import torch.nn as nn\nclass Net(nn.Module):\n    def forward(self, x):\n        while True:\n            pass\n",
        "Net()",
        7,
        None,
        "",
    ),
    (
        "shape mismatch",
        "import torch.nn as nn\nclass Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.a = nn.Conv2d(4, 8, 3)\n    def forward(self, x):\n        return self.a(x)\n",
        "Net()",
        6,
        7,
        "",
    ),
]


class EndToEndTest(programs.ServedTest):
    def resnet18(self, *flags, shape="1x3x224x224"):
        return programs.predict(
            self.server,
            RESNET,
            "--library",
            LIBRARY,
            "--entry",
            "resnet18()",
            "--input",
            shape,
            "--target",
            self.target,
            *flags,
        )

    def assert_still_answers(self):
        answer = self.resnet18()
        self.assertEqual(answer.code, 0, answer.err)

    def test_resnet18_from_torchvision_source(self):
        answer = self.resnet18("--breakdown")
        self.assertEqual(answer.code, 0, answer.err)
        reply = answer.json()
        self.assertEqual(reply["params"], 11689512)
        self.assertEqual(reply["macs"], 1814073344)
        prediction = reply["predictions"][0]
        self.assertGreater(prediction["latency_us"], 100)
        self.assertLessEqual(prediction["low_us"], prediction["latency_us"])
        self.assertGreaterEqual(prediction["high_us"], prediction["latency_us"])
        self.assertAlmostEqual(
            sum(row["latency_us"] for row in prediction["breakdown"]),
            prediction["latency_us"],
            delta=1e-6 * prediction["latency_us"],
        )
        self.assertEqual(len(prediction["breakdown"]), reply["calls"])
        convolution = next(row for row in prediction["breakdown"] if row["op"] == "conv2d")
        self.assertRegex(convolution["where"], r"resnet\.py:\d+$")

    def test_source_read_by_the_server_gives_the_same(self):
        here, there = self.resnet18("--breakdown"), self.resnet18("--breakdown", "--send", "source")
        self.assertEqual(there.code, 0, there.err)
        here, there = here.json(), there.json()
        for answer in (here, there):
            del answer["read_us"], answer["predict_us"]
        self.assertEqual(here, there)

    def test_source_is_sent_with_what_lies_beside_it(self):
        os.makedirs(self.path("beside/pkg/parts"))
        self.path("beside/pkg/parts/conv.py", "import torch.nn as nn\nclass Conv(nn.Conv2d):\n    pass\n")
        package = self.path("beside/pkg/net.py", "from .parts.conv import Conv\n")
        script = self.path("beside/script.py", "from pkg.parts.conv import Conv\n")
        torchvision = (RESNET, "--entry", "resnet18()", "--input", "1x3x64x64")
        self.path("beside/pkg/__init__.py", "from .net import Conv\n")
        folder = self.path("beside/pkg")
        for model in (
            (package, "--entry", "Conv(3, 4, 3)", "--input", "1x3x9x9"),
            (folder, "--entry", "Conv(3, 4, 3)", "--input", "1x3x9x9"),
            (script, "--entry", "Conv(3, 4, 3)", "--input", "1x3x9x9"),
            torchvision,
        ):
            replies = []
            for send in ("graph", "source"):
                answer = programs.predict(self.server, *model, "--target", self.target, "--send", send)
                self.assertEqual(answer.code, 0, answer.err)
                replies.append(answer.json()["fingerprint"])
            self.assertEqual(*replies)

    def test_graph_file_gives_the_same(self):
        graph = programs.client(
            "graph", RESNET, "--library", LIBRARY, "--entry", "resnet18()", "--input", "1x3x224x224", "--format", "json"
        )
        self.assertEqual(graph.code, 0, graph.err)
        answer = programs.predict(self.server, self.path("resnet18.json", graph.out), "--target", self.target)
        self.assertEqual(answer.code, 0, answer.err)
        (own,) = self.resnet18().json()["predictions"]
        self.assertEqual(own.pop("torch_version"), "1.13.0")  # a graph is of no version
        self.assertEqual(answer.json()["predictions"], [own])

    def test_dropout_of_training_changes_no_answer(self):
        path = self.path(
            "dropout.py",
            "import torch.nn as nn\n\ndef net(p):\n    return nn.TransformerEncoderLayer(64, 4, 128, dropout=p, batch_first=True)\n\n"
            "def lstm(p):\n    return nn.LSTM(16, 32, 2, dropout=p)\n",
        )
        for entry in ("net(%g)", "lstm(%g)"):
            without, with_dropout = (
                programs.predict(
                    self.server,
                    path,
                    "--entry",
                    entry % p,
                    "--input",
                    "1x16x64" if "net" in entry else "5x1x16",
                    "--target",
                    self.target,
                ).json()
                for p in (0, 0.1)
            )
            self.assertEqual(with_dropout["predictions"], without["predictions"])
            self.assertEqual(with_dropout["fingerprint"], without["fingerprint"])

    def test_flags_stand_before_the_model_and_a_target_asked_twice_is_answered_once(self):
        flags = [
            "--target",
            self.target + "," + self.target,
            "--input",
            "1x3x224x224",
            "--library",
            LIBRARY,
            "--entry",
            "resnet18()",
        ]
        answer = programs.predict(self.server, *flags, "--target", self.target, RESNET)
        self.assertEqual(answer.code, 0, answer.err)
        self.assertEqual([p["target"] for p in answer.json()["predictions"]], [self.target])

    def test_graph_needs_no_server(self):
        graph = programs.client(
            "graph", RESNET, "--library", LIBRARY, "--entry", "resnet18()", "--input", "1x3x224x224", "--format", "json"
        ).json()
        self.assertEqual(graph["params"], 11689512)
        self.assertEqual(graph["macs"], 1814073344)
        self.assertGreater(graph["peak_memory_bytes"], 4 * graph["params"])
        self.assertTrue({"op", "inputs", "out", "attrs", "where"} <= set(graph["ops"][0]))

    def test_bad_models(self):
        for name, source, entry, code, line, words in BAD_MODELS:
            for send in ("graph", "source"):
                with self.subTest(name, send=send):
                    path = self.path("bad.py", source)
                    answer = programs.predict(
                        self.server,
                        path,
                        "--entry",
                        entry,
                        "--input",
                        "1x3x8x8",
                        "--target",
                        self.target,
                        "--send",
                        send,
                    )
                    if code is None:  # a name that is in no PyTorch: not read, or wrong
                        self.assertIn(answer.code, (4, 6), answer.err)
                    else:
                        self.assertEqual(answer.code, code, answer.err)
                    error = answer.json()["error"]
                    self.assertEqual(error["exit_code"], answer.code)
                    self.assertEqual(error["file"], path)
                    self.assertIn(words, error["message"])
                    if line is not None:
                        self.assertEqual(error["line"], line, answer.err)
                        self.assertIn(f"bad.py:{line}", answer.err)
                    else:
                        self.assertGreater(error["line"], 0)
        self.assert_still_answers()

    def test_source_of_50_megabytes(self):
        path = self.path("big.py")
        with open(path, "w") as file:
            file.write("# " + "x" * 50_000_000 + "\n")
        for send in ("graph", "source"):
            answer = programs.predict(
                self.server, path, "--entry", "Net()", "--input", "1x3", "--target", self.target, "--send", send
            )
            self.assertEqual(answer.code, 7, answer.err)
            self.assertIn("big.py", answer.err)
        os.remove(path)
        self.assert_still_answers()

    def test_usage(self):
        answer = programs.predict(
            self.server,
            RESNET,
            "--library",
            LIBRARY,
            "--entry",
            "resnet18()",
            "--input",
            "1x3x224x224",
            "--target",
            "abacus",
        )
        self.assertEqual(answer.code, 2, answer.err)
        self.assertIn("abacus", answer.err)
        self.assertIn("(the nearest of ", answer.err)
        self.assertEqual(
            programs.predict(self.server, self.path("missing.py"), "--entry", "Net()", "--target", self.target).code, 2
        )
        self.assertEqual(programs.client("predict", RESNET).code, 2)
        self.assertEqual(programs.client("nonsense").code, 2)
        self.assertEqual(self.resnet18("--input", "1x3xmany").code, 2)

    def test_no_server(self):
        answer = programs.client("targets", "--server", "127.0.0.1:1")
        self.assertEqual(answer.code, 3)
        self.assertIn("127.0.0.1:1", answer.err)

    def test_budget_and_confidence(self):
        answer = self.resnet18("--budget-ms", "0.001")
        self.assertEqual(answer.code, 1)
        self.assertTrue(answer.json()["predictions"][0]["over_budget"])
        self.assertEqual(self.resnet18("--budget-ms", "1e9").code, 0)
        confidence = answer.json()["predictions"][0]["confidence"]
        if confidence < 1:
            self.assertEqual(self.resnet18("--min-confidence", "1").code, 5)
        self.assertEqual(self.resnet18("--min-confidence", "0").code, 0)
        far = {"shape": "1x3x8192x8192"}  # beyond what was measured: whatever the budget, nobody may call it kept
        answer = self.resnet18("--budget-ms", "1e9", **far)
        self.assertEqual(answer.code, 5)
        unsure = answer.json()["predictions"][0]
        self.assertEqual(unsure["coverage"], 0)
        self.assertIn("measured", unsure["unknown"][0]["why"])
        self.assertEqual(self.resnet18("--budget-ms", "1e9", "--min-confidence", "0", **far).code, 0)

    def test_model_and_targets(self):
        model = programs.client("model", "--server", self.server.address, "--format", "json").json()
        self.assertRegex(model["sha256"], r"^[0-9a-f]{64}$")
        self.assertGreater(model["parameter_count"], 0)
        targets = programs.client("targets", "--server", self.server.address, "--format", "json").json()["targets"]
        trained = [t for t in targets if not t["calibrated"]]
        self.assertTrue(trained)
        for target in trained:
            errors = target["errors"]
            self.assertGreater(errors["networks_trained"] + errors["layers_trained"], 0)
            if errors["networks_tested"] > 0:
                self.assertGreater(errors["network_mape"], 0)
        self.assertIn(self.target, programs.client("targets", "--server", self.server.address).out)

    def test_every_trained_target_has_a_card(self):
        flags = ["--server", self.server.address, "--trained", "--format"]
        cards = programs.client("targets", *flags, "markdown").out
        for target in programs.client("targets", *flags, "json").json()["targets"]:
            name, errors = target["spec"]["name"], target["errors"]
            self.assertRegex(cards, rf"(?m)^(## {re.escape(name)}$|\| {re.escape(name)} \| )")
            if errors["networks_trained"] > 100:
                self.assertIn(f"Trained on: {errors['networks_trained']} networks", cards)

    @unittest.skipUnless(programs.DESCRIBED, "a build for another architecture cannot run what it built")
    def test_the_installed_documents_have_these_cards(self):
        cards = programs.client("targets", "--server", self.server.address, "--trained", "--format", "markdown").out
        with open(os.path.join(programs.SELF, "target_cards.md")) as file:
            self.assertEqual(file.read(), cards)

    def test_health_and_reflection(self):
        with grpc.insecure_channel(self.server.address) as channel:
            self.assertEqual(programs.health(channel), 1)
            services = channel.stream_stream("/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo")(
                iter([b"\x3a\x00"]), timeout=10
            )
            self.assertIn(b"cobra.v1.Cobra", next(iter(services)))

    def test_metrics(self):
        self.assert_still_answers()
        text = urllib.request.urlopen(f"http://{self.server.metrics_address}/metrics", timeout=10).read().decode()
        value = lambda name: float(re.search(rf"^{re.escape(name)} (\S+)$", text, re.M)[1])
        self.assertGreater(value('cobra_requests_total{method="Predict",status="OK"}'), 0)
        self.assertGreater(value('cobra_request_duration_seconds_count{method="Predict"}'), 0)
        self.assertGreater(value('cobra_cache_misses_total{cache="embedding"}'), 0)
        self.assertGreater(value('cobra_cache_bytes{cache="embedding"}'), 0)
        self.assertLessEqual(
            value('cobra_cache_bytes{cache="embedding"}'), value('cobra_cache_capacity_bytes{cache="embedding"}')
        )
        self.assertIn("cobra_model_info{", text)


class LifeTest(unittest.TestCase):
    """Servers of their own: started, stopped, started again."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def test_sigterm_finishes_what_runs_and_refuses_what_is_new(self):
        slow = self.path("slow.py")
        with open(slow, "w") as file:  # runs into the reader's limit of steps after some seconds
            file.write("n = 0\nwhile True:\n    n += 1\n")
        with programs.Server(self.path("store.sqlite")) as server:
            target = programs.first_target(server)
            answers = []
            asking = threading.Thread(
                target=lambda: answers.append(
                    programs.predict(
                        server, slow, "--entry", "n", "--input", "1", "--target", target, "--send", "source"
                    )
                )
            )
            with grpc.insecure_channel(server.address) as channel:
                self.assertEqual(programs.health(channel), 1)
                asking.start()
                programs.wait_until(lambda: programs.metric(server, 'cobra_requests_in_flight{lane="predictions"}') > 0)
                server.process.terminate()
                states = []
                while server.process.poll() is None and len(states) < 1000:
                    try:
                        states.append(programs.health(channel))
                    except grpc.RpcError:
                        break
                    if states[-1] == 2:
                        break
                    time.sleep(0.01)
                if states and states[-1] == 2:
                    refused = programs.client("targets", "--server", server.address)
                    self.assertEqual(refused.code, 3, refused.err)
            asking.join()
            self.assertEqual(server.stop(), 0, server.log())
        # The request in flight got its own answer, not a broken connection.
        self.assertEqual(answers[0].code, 7, answers[0].err)
        self.assertEqual(answers[0].json()["error"]["kind"], "limit")

    def test_sigterm_when_idle_is_quick_and_clean(self):
        with programs.Server(self.path("store.sqlite")) as server:
            self.assertEqual(server.stop(seconds=10), 0, server.log())

    def measure(self, probe):
        command = [os.path.join(programs.BIN, "cobra-worker"), "probe", "--json", "--share-device", "--budget", "5s"]
        with open(probe, "wb") as file:
            subprocess.run(command, check=True, stdout=file, stderr=subprocess.PIPE)

    @unittest.skipUnless(programs.measures_itself(), "this cobra-worker carries no LibTorch")
    def test_calibration_survives_a_restart(self):
        probe = self.path("probe.json")
        question = (
            RESNET,
            "--library",
            LIBRARY,
            "--entry",
            "resnet18()",
            "--input",
            "1x3x224x224",
            "--target",
            "this-machine",
        )
        store = self.path("store.sqlite")
        with programs.Server(store) as server:
            answer = programs.predict(server, *question)
            self.assertEqual(answer.code, 2)
            self.assertIn("calibrate", answer.err)
            for _ in range(3):  # the server refuses what it sees to be measured beside other load
                self.measure(probe)
                answer = programs.client("calibrate", "--probe", probe, "--server", server.address, "--format", "json")
                if "measure again" not in answer.err:
                    break
            self.assertEqual(answer.code, 0, answer.err)
            self.assertGreaterEqual(answer.json()["layers_used"], 30)
            before = programs.predict(server, *question).json()["predictions"]
            self.assertEqual(server.stop(), 0)
        with programs.Server(store, "--calibrate") as server:  # already uses it: does not measure again
            after = programs.predict(server, *question).json()["predictions"]
            # layers share batches otherwise: the last digits may differ
            for field in ("latency_us", "low_us", "high_us"):
                self.assertAlmostEqual(after[0][field], before[0][field], delta=1e-5 * before[0][field])
            self.assertEqual(server.stop(), 0)

    def test_sighup_reloads_and_a_bad_model_does_not_serve(self):
        model = self.path("model")
        shutil.copytree(os.path.join(programs.SOURCE, "model", "pretrained"), model)
        with programs.Server(self.path("store.sqlite"), "--model", model) as server:
            question = (
                RESNET,
                "--library",
                LIBRARY,
                "--entry",
                "resnet18()",
                "--input",
                "1x3x224x224",
                "--target",
                programs.first_target(server),
            )
            before = programs.predict(server, *question).json()["predictions"]
            server.process.send_signal(1)
            programs.wait_until(lambda: programs.metric(server, 'cobra_model_loads_total{result="ok"}') == 2)
            self.assertEqual(programs.predict(server, *question).json()["predictions"], before)
            with open(os.path.join(model, "manifest.json"), "w") as file:
                file.write("{")
            server.process.send_signal(1)
            programs.wait_until(lambda: programs.metric(server, 'cobra_model_loads_total{result="failed"}') == 1)
            self.assertEqual(programs.predict(server, *question).json()["predictions"], before)
            self.assertIn("the old model continues to serve", server.log())

    def test_a_failed_start_names_the_reason(self):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            address = "127.0.0.1:%d" % taken.getsockname()[1]
            for flags, words in (
                (["--model", self.path("none")], "none"),
                (["--library", self.path("none")], "none"),
                (["--listen", address], f"--listen {address}: Address already in use"),
                (["--metrics", address], f"--metrics {address}: Address already in use"),
            ):
                with self.subTest(flags=flags), self.assertRaises(RuntimeError) as raised:
                    programs.Server(self.path("store.sqlite"), *flags).__exit__()
                self.assertIn(words, str(raised.exception))


if __name__ == "__main__":
    programs.main()
