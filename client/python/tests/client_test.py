#!/usr/bin/env python3
"""Questions and answers of the client, with the real server. Needs no torch."""
import asyncio
import os
import pickle
import socket
import stat
import subprocess
import time
import unittest
import unittest.mock

import support

support.stage()
import cobra_latency  # noqa: E402
from cobra_latency import Architecture, FeasibleUnder, ModelError, Question, Source, UsageError  # noqa: E402

CELL = "nasbench201:|{}~0|+|none~0|skip_connect~1|+|none~0|none~1|nor_conv_3x3~2|"
OPERATIONS = ("nor_conv_1x1", "avg_pool_3x3", "nor_conv_3x3")
NET = """
import torch.nn as nn
from parts import Block

class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.block = Block(width)
        self.head = nn.Linear(width, 10)

    def forward(self, x, scale=1.0):
        return self.head(self.block(x).mean((2, 3))) * scale
"""
PARTS = """
import torch.nn as nn

class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.conv = nn.Conv2d(3, width, 3)

    def forward(self, x):
        return self.conv(x).relu()
"""


SHOP = """
import torch.nn as nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, {}, 3)

    def forward(self, x):
        return self.conv(x)
"""


class ClientTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.client = support.start()
        cls.targets = cls.client.targets(kind="cpu", runtime="libtorch").names()[:2]
        cls.target = cls.targets[0]
        support.write("parts.py", PARTS)
        cls.net = support.write("net.py", NET)

    def test_a_server_that_has_ended_is_started_again(self):
        question = (CELL.format("nor_conv_1x1"), None, self.target)
        before, process = self.client.predict(*question).ms, self.client.server_process()
        other = pickle.loads(pickle.dumps(self.client))
        self.client.stop_server()
        self.assertEqual(self.client.server_process(), 0)
        self.assertEqual(self.client.predict(*question).ms, before)
        again = self.client.server_process()
        self.assertNotIn(again, (0, process))
        self.assertEqual(other.predict(*question).ms, before)  # it finds that one
        self.assertEqual(other.server_process(), again)
        self.client.stop_server()

        async def streamed():
            return [answer.get().ms async for answer in self.client.stream([Question(*question)])]

        self.assertEqual(asyncio.run(streamed()), [before])

    def test_an_architecture(self):
        prediction = self.client.predict(CELL.format("nor_conv_1x1"), None, self.targets)
        self.assertEqual([e.target for e in prediction], self.targets)
        self.assertEqual(len(prediction.fingerprint), 32)
        for estimate in prediction:
            self.assertLess(estimate.low_ms, estimate.ms)
            self.assertLess(estimate.ms, estimate.high_ms)
        self.assertIn(self.target, str(prediction))
        self.assertIn("<table>", prediction._repr_html_())
        self.assertEqual(float(prediction[self.target]), prediction.ms)

    def test_labels_in_any_letters(self):
        with cobra_latency.Client(self.client.address, labels={"team": "gr\u00f6\u00dfe", "plain": "x"}) as client:
            self.assertGreater(client.predict(CELL.format("none"), targets=self.target).ms, 0)

    def test_a_guess_has_no_interval(self):
        from cobra_latency._proto import cobra_pb2 as pb

        message = pb.PredictResponse()
        message.predictions.add(target="guessed", latency_us=3760, low_us=1840, high_us=18310, extrapolating=True)
        table = str(cobra_latency.results.Prediction("net", message))
        self.assertIn("  interval ms", table)
        self.assertIn("a guess: 1.8 to 18 ", table)
        message.predictions.add(target="known", latency_us=1000, low_us=900, high_us=1100, coverage=0.9)
        table = str(cobra_latency.results.Prediction("net", message))
        self.assertIn("90 % interval ms", table)
        self.assertIn("0.900 ... 1.10", table)

    def test_a_machine_that_is_not_quiet_has_undisturbed_times(self):
        from cobra_latency._proto import cobra_pb2 as pb

        message = pb.PredictResponse()
        message.predictions.add(target="quiet", latency_us=1000, low_us=900, high_us=1100)
        loud = message.predictions.add(target="loud", latency_us=1200, low_us=950, high_us=1500)
        loud.undisturbed.CopyFrom(pb.UndisturbedLatency(latency_us=1000, low_us=900, high_us=1100))
        prediction = cobra_latency.results.Prediction("net", message)
        self.assertIsNone(prediction["quiet"].undisturbed_ms)
        loud = prediction["loud"]
        self.assertEqual((loud.undisturbed_ms, loud.undisturbed_low_ms, loud.undisturbed_high_ms), (1.0, 0.9, 1.1))

    def test_source_with_the_files_that_it_imports(self):
        prediction = self.client.predict(Source(self.net, "Net(24)"), "1x3x32x32", self.target)
        self.assertEqual(prediction.calls, 5)
        self.assertEqual(prediction.parameters, 3 * 24 * 9 + 24 + 240 + 10)
        doubled = self.client.predict(
            Source(self.net, "Net(24)", arguments={"scale": "2.0"}), [(1, 3, 32, 32)], self.target
        )
        self.assertNotEqual(doubled.fingerprint, prediction.fingerprint)

    def test_explanation_adds_up(self):
        explanation = self.client.explain(Source(self.net, "Net(24)"), "1x3x32x32", self.target)
        self.assertAlmostEqual(sum(call.ms for call in explanation.estimate.calls), explanation.estimate.ms, places=6)
        self.assertEqual(explanation.by("op")[0][0], "conv2d")
        self.assertEqual({name for name, _, _ in explanation.by("module")}, {"", "block", "block.conv", "head"})
        self.assertIn("parts.py:10", str(explanation))
        self.assertIn("parts.py:10", explanation._repr_html_())

    def test_comparison(self):
        comparison = self.client.compare({op: CELL.format(op) for op in OPERATIONS}, None, self.targets)
        self.assertEqual([p.model for p in comparison], list(OPERATIONS))
        fastest = comparison.fastest(self.target)
        self.assertEqual(fastest.ms, min(p.ms for p in comparison))
        self.assertIn("1.00x", str(comparison))
        self.assertEqual(
            comparison["nor_conv_3x3"].ms, self.client.predict(CELL.format("nor_conv_3x3"), None, self.target).ms
        )

    def test_a_latency_only(self):
        cell = CELL.format("nor_conv_3x3")
        whole = self.client.predict(cell, None, self.target)
        only = self.client.predict(cell, None, self.target, latency_only=True)
        self.assertEqual((only.ms, only.estimates[0].low_ms), (whole.ms, whole.estimates[0].low_ms))
        self.assertEqual((only.fingerprint, only.calls, only.macs, only.peak_memory_bytes), ("", 0, 0, 0))
        self.assertNotIn("calls", str(only))
        many = self.client.predict_many([Question(cell, None, self.target, latency_only=True)])
        self.assertEqual((many[0].get().ms, many[0].get().fingerprint), (whole.ms, ""))

    def test_many_with_an_error_among_them(self):
        questions = [Question(CELL.format(op), None, self.target) for op in (*OPERATIONS, "no_such_op")]
        answers = self.client.predict_many([*questions, Question(12, None, self.target)])
        self.assertEqual([a.number for a in answers], [0, 1, 2, 3, 4])
        self.assertTrue(all(a.prediction for a in answers[:3]))
        self.assertIn("no_such_op", str(answers[3].error))
        self.assertIsInstance(answers[4].error, UsageError)
        with self.assertRaises(cobra_latency.CobraError):
            answers[3].get()

    def test_stream(self):
        async def ask():
            questions = (Question(CELL.format(OPERATIONS[i % 3]), None, self.target) for i in range(200))
            return [answer async for answer in self.client.stream(questions)]

        answers = asyncio.run(ask())
        self.assertEqual(sorted(a.number for a in answers), list(range(200)))
        of_first = {a.get().ms for a in answers if a.number % 3 == 0}
        self.assertEqual(of_first, {self.client.predict(CELL.format(OPERATIONS[0]), None, self.target).ms})

    def test_a_stream_goes_on_after_a_question_that_is_none(self):
        async def ask():
            questions = [Question(CELL.format(OPERATIONS[0]), None, self.target), Question(7, None, self.target)]
            return [answer async for answer in self.client.stream(questions)]

        answers = {a.number: a for a in asyncio.run(ask())}
        self.assertIsNotNone(answers[0].prediction)
        self.assertIn("7: is not a model", str(answers[1].error))

    def test_a_budget(self):
        ms = self.client.predict(CELL.format("nor_conv_3x3"), None, self.target).ms
        tight, wide = (FeasibleUnder(ms * factor, self.target, self.client) for factor in (0.5, 2))
        verdict = tight(CELL.format("nor_conv_3x3"))
        self.assertFalse(verdict)
        self.assertIn("exceed the budget", verdict.reason)
        self.assertIn("by 100%", verdict.reason)
        self.assertTrue(wide(Architecture(CELL.format("nor_conv_3x3"))))
        self.assertFalse(wide(Source(self.net, "Net(24).head"), "1x3x32x32"))  # does not run: no, with the reason
        with self.assertRaises(UsageError):
            FeasibleUnder(1, "abacus", self.client)(CELL.format("nor_conv_3x3"))

    def test_several_targets_are_explained_and_ranked(self):
        cell = CELL.format("nor_conv_3x3")
        explained = self.client.explain(cell, None, self.targets, top=2)
        self.assertEqual([each.estimate.target for each in explained.each], self.targets)
        self.assertEqual(explained[self.targets[1]].estimate.ms, self.client.predict(cell, None, self.targets[1]).ms)
        for target in self.targets:
            self.assertIn(f" ms on {target} (", str(explained))
            self.assertIn(f" ms on {target} (", explained._repr_html_())
        with self.assertRaises(UsageError):
            explained["abacus"]

    def test_guesses_and_what_does_not_fit_are_no_winners(self):
        compared = self.client.compare({op: CELL.format(op) for op in OPERATIONS}, None, self.target)
        fastest = compared.fastest(self.target)
        estimate = fastest[self.target]
        self.assertTrue(estimate.fits and not estimate.is_guess)
        estimate.memory_gb = estimate.peak_memory_bytes / 2e9
        self.assertIsNot(compared.fastest(self.target), fastest)
        self.assertRegex(str(compared), rf"{self.target}: needs \S+ GB of \S+ GB")
        self.assertRegex(str(fastest), r"needs \S+ GB of \S+ GB")
        estimate.memory_gb, estimate.coverage = 0, 0
        self.assertIsNot(compared.fastest(self.target), fastest)
        self.assertRegex(str(compared), r"\d\?  ")

    @unittest.skipIf("COBRA_TESTS_INSECURE_READER" in os.environ, "emulated, it adapts for longer than a minute")
    def test_a_network_that_does_not_fit_keeps_no_budget(self):
        sheet = {"device": "Little", "kind": "gpu", "runtime": "torch-2.4", "precision": "float32"}
        self.client.adapt("little", {**sheet, "memory_gb": 1e-3, "peak_gflops": 900, "memory_gb_per_s": 50})
        fits = FeasibleUnder(1e6, "little", self.client)
        cell = CELL.format("nor_conv_3x3")
        verdict = fits(cell)
        self.assertFalse(verdict)
        self.assertRegex(verdict.reason, r"little does not have the memory: needs \S+ GB of 0.001 GB")
        self.assertGreater(fits.excess(verdict), 0)
        self.assertEqual(fits.many([(cell, None)]), [verdict])
        answer = self.client.predict_many([Question(cell, targets="little")])[0]
        self.assertFalse(answer.get().estimates[0].fits)

    def test_a_budget_on_several_targets(self):
        cell = CELL.format("nor_conv_3x3")
        each = {target: self.client.predict(cell, None, target).ms for target in self.targets}
        slow, fast = max(each, key=each.get), min(each, key=each.get)
        self.assertNotEqual(slow, fast)
        between = (each[slow] + each[fast]) / 2
        for order in ([slow, fast], [fast, slow]):
            fits = FeasibleUnder(between, order, self.client)
            verdict = fits(cell)
            self.assertFalse(verdict)
            self.assertEqual(verdict.ms, each[slow])
            self.assertIn(f"on {slow} by", verdict.reason)
            self.assertEqual(fits.many([(cell, None)]), [verdict])
        self.assertEqual(FeasibleUnder(2 * each[slow], self.targets, self.client)(cell).ms, each[slow])
        self.assertTrue(FeasibleUnder(between, fast, self.client)(cell))
        with self.assertRaises(UsageError):
            FeasibleUnder(1, [], self.client)

    def test_errors_say_where(self):
        broken = support.write("broken.py", NET.replace("Linear(width, 10)", "Linear(width + 1, 10)"))
        with self.assertRaises(ModelError) as raised:
            self.client.predict(Source(broken, "Net(8)"), "1x3x32x32", self.target)
        error = raised.exception
        line = 1 + NET.split("\n").index("        return self.head(self.block(x).mean((2, 3))) * scale")
        self.assertEqual((error.file, error.line, error.kind), ("broken.py", line, "model_error"))
        self.assertTrue(str(error).startswith(f"broken.py:{line}: "))
        self.assertTrue(error.frames)

    def test_wrong_questions(self):
        for model, inputs, target, message in (
            (CELL.format(OPERATIONS[0]), None, "abacus", "abacus"),
            (self.net, "1x3x32x32", self.target, "has no entry"),
            ("net.txt", None, self.target, "net.txt: is not a model file"),
            (Source(self.net, "Net(24)"), "1x3xW", self.target, "'1x3xW': is not a shape"),
            (3.5, None, self.target, "3.5: is not a model"),
            (CELL.format(OPERATIONS[0]), None, [], "is empty"),
        ):
            with self.subTest(message), self.assertRaises(UsageError) as raised:
                self.client.predict(model, inputs, target)
            self.assertIn(message, str(raised.exception))
            self.assertTrue(raised.exception.hint)

    def test_no_server(self):
        with self.assertRaises(cobra_latency.ServerUnavailable) as raised:
            cobra_latency.predict(
                CELL.format(OPERATIONS[0]), None, self.target, server="unix:" + support.path("nobody")
            )
        self.assertIn("local()", raised.exception.hint)


class LocalTest(unittest.TestCase):
    def test_found_again_and_private(self):
        first = support.start()
        with cobra_latency.local(support.SERVER, support.MODEL) as second:
            self.assertFalse(second.was_started)
            self.assertEqual(second.address, first.address)
            self.assertGreater(len(second.targets()), 0)
        folder = os.path.dirname(first.address[len("unix:") :])
        self.assertEqual(stat.S_IMODE(os.stat(folder).st_mode), 0o700)
        self.assertTrue(os.path.exists(os.path.join(support.path("state"), "cobra", "cobra.sqlite")))

    def test_a_folder_that_others_may_enter_is_refused(self):
        open_folder = support.path("open")
        os.makedirs(os.path.join(open_folder, "cobra"))
        os.chmod(os.path.join(open_folder, "cobra"), 0o755)
        before = os.environ.get("XDG_RUNTIME_DIR")
        os.environ["XDG_RUNTIME_DIR"] = open_folder
        try:
            with self.assertRaisesRegex(cobra_latency.ServerUnavailable, "not private to this user"):
                cobra_latency.local(support.SERVER, support.MODEL)
        finally:
            if before is None:
                del os.environ["XDG_RUNTIME_DIR"]
            else:
                os.environ["XDG_RUNTIME_DIR"] = before

    def test_a_server_that_lacks_the_folders_is_not_shared(self):
        packages = support.path("packages")
        for name, width in (("one", 8), ("two", 16)):
            os.makedirs(os.path.join(packages, name, "shop"))
            support.write(os.path.join(packages, name, "shop", "__init__.py"), "")
            support.write(os.path.join(packages, name, "shop", "net.py"), SHOP.format(width))
        environment = {**os.environ, "XDG_RUNTIME_DIR": support.path("run"), "XDG_STATE_HOME": support.path("state")}
        environment.pop("COBRA_SERVER", None)
        with socket.socket() as probe:
            others = probe.connect_ex(("127.0.0.1", 50051)) == 0
        client = [os.path.join(support.BIN, "cobra-client"), "targets"]
        if not others:  # cobra-client starts the one that knows no folders
            subprocess.run(client, env=environment, check=True, capture_output=True)
        question = Source("shop/net.py", "Net()"), "1x3x8x8", "cpu-epyc-turin-1t"
        with cobra_latency.local(support.SERVER, support.MODEL, []) as plain:
            self.assertEqual(plain.was_started, others)
            process = plain.server_process()
            with self.assertRaisesRegex(cobra_latency.CobraError, "shop/net.py"):
                plain.predict(*question)
            parameters = []
            for name in ("one", "two", "one"):
                with cobra_latency.local(
                    support.SERVER, support.MODEL, [os.path.join(packages, name)]
                ) as with_packages:
                    self.assertEqual(with_packages.was_started, len(parameters) < 2)
                    parameters.append(with_packages.predict(*question).parameters)
                    other = pickle.loads(pickle.dumps(with_packages))
                    self.assertEqual(other.server_process(), with_packages.server_process())
                    self.addCleanup(with_packages.stop_server)
            self.assertEqual(parameters, [8 * 28, 16 * 28, 8 * 28])
            # They have one store: a target that one has made is known to the others soon.
            plain.adapt("board", {"device": "a board", "kind": "cpu", "runtime": "ncnn", "threads": 4})
            with cobra_latency.local(support.SERVER, support.MODEL, [os.path.join(packages, "one")]) as other:
                end = time.monotonic() + 60
                while "board" not in other.targets().names() and time.monotonic() < end:
                    time.sleep(0.1)
                self.assertIn("board", other.targets().names())
            self.assertEqual(plain.server_process(), process)  # nobody ended it
            if not others:
                subprocess.run(client, env=environment, check=True, capture_output=True)
                self.assertEqual(plain.server_process(), process)
            plain.stop_server()

    def test_what_the_system_refuses_is_an_error_of_ours(self):
        not_a_program = support.write("no-program", "hello")
        os.chmod(not_a_program, 0o755)
        for arguments in ((not_a_program, support.MODEL), (support.SERVER, "a\0b")):
            with self.subTest(arguments), self.assertRaisesRegex(
                cobra_latency.ServerUnavailable, "the server of this user: "
            ):
                cobra_latency.local(*arguments)
        with unittest.mock.patch.dict(os.environ, XDG_STATE_HOME=support.write("file", "")):
            with self.assertRaisesRegex(cobra_latency.ServerUnavailable, "the server of this user: .*/file"):
                cobra_latency.local(support.SERVER, support.MODEL)

    def test_no_program(self):
        with self.assertRaisesRegex(
            cobra_latency.ServerUnavailable, "no-such-server: is not a program on PATH.*\n.*where it is"
        ):
            cobra_latency.local("no-such-server")


if __name__ == "__main__":
    support.main()
