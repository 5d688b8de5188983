#!/usr/bin/env python3
"""What others may send or be called: a server that answers with nonsense and escape sequences,
files and arguments with odd names. Whatever happens is a CobraError, and nothing that is printed
moves a terminal's cursor."""
import asyncio
import os
import re
import unittest
import warnings

import support

support.stage()
import grpc  # noqa: E402

import cobra_latency  # noqa: E402
from cobra_latency import CobraError, Question, ServerError, Source, Timed, UsageError  # noqa: E402
from cobra_latency._proto import cobra_pb2 as pb  # noqa: E402
from cobra_latency._proto import error_pb2  # noqa: E402

EVIL = '\x1b[2J\x1b]0;owned\x07\r\u202egnp\x9b5m\nFile "forged.py", line 1'
OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]")
CELL = "nasbench201:|nor_conv_3x3~0|+|none~0|skip_connect~1|+|none~0|none~1|nor_conv_3x3~2|"
SHEET = {"device": "board", "kind": "cpu"}


def evil_prediction():
    message = pb.TargetPrediction(target=EVIL, latency_us=0, confidence=float("nan"), extrapolating=True)
    message.unknown.add(why=EVIL, share=float("inf"))
    message.breakdown.add(op=EVIL, module_path=EVIL, file=EVIL, line=1, latency_us=5)
    return message


def evil_status():
    detail = error_pb2.ErrorDetail(
        kind=error_pb2.ErrorDetail.KIND_MODEL_ERROR, message=EVIL, hint=EVIL, module_path=EVIL
    )
    detail.position.file = EVIL
    frame = detail.frames.add(function=EVIL)
    frame.position.file = EVIL
    status = error_pb2.RpcStatus(code=3, message=EVIL)
    status.details.add(type_url="x/cobra.v1.ErrorDetail", value=detail.SerializeToString())
    return status


class HostileServer(grpc.GenericRpcHandler):
    """Says what a test has put into `answers`, by method: bytes, or a function of the call."""

    def __init__(self):
        self.answers = {}
        self.calls = 0

    def service(self, call):
        method = call.method.rpartition("/")[2]
        if method == "PredictStream":
            return grpc.stream_stream_rpc_method_handler(self._stream)
        return grpc.unary_unary_rpc_method_handler(lambda request, context: self._one(method, context))

    def _one(self, method, context):
        self.calls += 1
        answer = self.answers[method]
        return answer(context) if callable(answer) else answer

    def _stream(self, requests, context):
        for _ in requests:
            pass
        yield from self.answers["PredictStream"]


class ServerTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.hostile = HostileServer()
        cls.client = cobra_latency.Client(support.serve(cls, cls.hostile, "hostile"), timeout_s=5)

    def harmless(self, *shown, lines=None):
        for text in shown:
            self.assertIsNone(OBEYED.search(text), text)
            if lines is not None:
                self.assertEqual(len(text.splitlines()), lines, text)

    def refuse(self, code, details="", trailers=()):
        def answer(context):
            context.set_trailing_metadata(trailers)
            context.abort(code, details)

        return answer

    def test_tables(self):
        reply = pb.PredictResponse(predictions=[evil_prediction()], fingerprint=EVIL)
        self.hostile.answers["Predict"] = reply.SerializeToString()
        prediction = self.client.predict(CELL, targets=EVIL)
        explanation = self.client.explain(CELL, target=EVIL)
        for answer, lines in ((prediction, 3), (explanation, 6)):
            self.harmless(str(answer), lines=lines)
            self.harmless(repr(answer))
            self.harmless(answer._repr_html_())
        self.harmless(prediction.estimates[0].calls[0].where, prediction.summary(), lines=1)
        with self.assertRaises(CobraError) as raised:
            prediction["other"]
        self.assertIsInstance(raised.exception, KeyError)
        self.harmless(str(raised.exception), lines=2)
        with self.assertRaises(CobraError):
            explanation.by("colour")

    def test_targets_and_adapted(self):
        reply = pb.ListTargetsResponse()
        reply.targets.add().spec.name = EVIL
        self.hostile.answers["ListTargets"] = reply.SerializeToString()
        self.harmless(str(self.client.targets()), lines=2)
        made = pb.AdaptResponse()
        made.target.spec.name = EVIL
        made.target.doubted.append(EVIL)
        made.target.parts.add(base_target=EVIL)
        made.refused.add(row=EVIL).error.message = EVIL
        self.hostile.answers["Adapt"] = made.SerializeToString()
        self.harmless(str(self.client.adapt("board", SHEET)), lines=5)
        for row in ("7", "-1", "first", "\u0660"):
            self.hostile.answers["SuggestSamples"] = pb.SuggestSamplesResponse(rows=[row]).SerializeToString()
            with self.subTest(row), self.assertRaisesRegex(ServerError, "not in the question"):
                self.client.suggest(SHEET, [(CELL, None)])

    def test_errors(self):
        status = evil_status().SerializeToString()
        trailers = (("grpc-status-details-bin", status),)
        self.hostile.answers["Predict"] = self.refuse(grpc.StatusCode.INVALID_ARGUMENT, EVIL, trailers)
        with self.assertRaises(cobra_latency.ModelError) as raised:
            self.client.predict(CELL)
        self.harmless(str(raised.exception), str(raised.exception.place), *raised.exception.frames)
        self.harmless(str(raised.exception.place), *raised.exception.frames, lines=1)
        self.assertEqual(raised.exception.message, EVIL)  # as it came, for programs

    def test_every_status_is_an_error_of_ours(self):
        for code in grpc.StatusCode:
            if code == grpc.StatusCode.OK:
                continue
            for details in ((), (("grpc-status-details-bin", b"\xff" * 40),)):
                self.hostile.answers["Predict"] = self.refuse(code, EVIL, details)
                with self.subTest(code), self.assertRaises(CobraError) as raised:
                    self.client.predict(CELL)
                self.harmless(str(raised.exception))

    def test_a_detail_that_is_none(self):
        for kind in ("cobra.v1.ErrorDetail", "google.rpc.RetryInfo"):
            status = error_pb2.RpcStatus(code=14)
            status.details.add(type_url="x/" + kind, value=b"\xff\xff")
            trailers = (("grpc-status-details-bin", status.SerializeToString()),)
            self.hostile.answers["Predict"] = self.refuse(grpc.StatusCode.UNAVAILABLE, "", trailers)
            with self.subTest(kind), self.assertRaises(cobra_latency.ServerUnavailable):
                self.client.predict(CELL)

    def test_come_back_at_once_is_not_obeyed_in_a_loop(self):
        status = error_pb2.RpcStatus(code=14)
        delay = error_pb2.RetryInfo()
        delay.retry_delay.seconds = -5
        status.details.add(type_url="x/google.rpc.RetryInfo", value=delay.SerializeToString())
        trailers = (("grpc-status-details-bin", status.SerializeToString()),)
        self.hostile.answers["Predict"] = self.refuse(grpc.StatusCode.UNAVAILABLE, "", trailers)
        self.hostile.calls = 0
        with cobra_latency.Client(self.client.address, timeout_s=0.3) as client, self.assertRaises(CobraError):
            client.predict(CELL)
        self.assertTrue(1 < self.hostile.calls <= 31, self.hostile.calls)

    def test_replies_that_do_not_fit(self):
        for reply in (b"\xff\xff\xff", pb.PredictResponse().SerializeToString()):
            self.hostile.answers["Predict"] = reply
            with self.subTest(reply), self.assertRaises(ServerError):
                self.client.predict(CELL)
            with self.assertRaises(ServerError):
                cobra_latency.FeasibleUnder(1, "board", self.client)(CELL)
        nan, reply = float("nan"), pb.PredictResponse()
        reply.predictions.add(target="board", latency_us=nan, high_us=nan, confidence=1)
        self.hostile.answers["Predict"] = reply.SerializeToString()
        for by in ("expected", "high"):
            self.assertFalse(cobra_latency.FeasibleUnder(1, "board", self.client, by=by)(CELL), by)
        reply.predictions[0].MergeFrom(pb.TargetPrediction(latency_us=1, high_us=1, confidence=nan))
        self.hostile.answers["Predict"] = reply.SerializeToString()
        self.assertFalse(cobra_latency.FeasibleUnder(1, "board", self.client, min_confidence=0.5)(CELL))
        reply.predictions[0].MergeFrom(pb.TargetPrediction(target="other", confidence=1))
        self.hostile.answers["Predict"] = reply.SerializeToString()
        with self.assertRaisesRegex(ServerError, "an answer for other, not for board"):
            self.client.predict(CELL, targets="board")
        batch = pb.PredictBatchResponse()
        batch.results.add().response.fingerprint = "x"
        self.hostile.answers["PredictBatch"] = batch.SerializeToString()
        with self.assertRaisesRegex(ServerError, "1 answers to 2 questions"):
            self.client.predict_many([Question(CELL, None, "board")] * 2)
        self.assertIsInstance(self.client.predict_many([Question(CELL, None, "board")])[0].error, ServerError)

    def test_streams_that_do_not_fit(self):
        async def ask(questions):
            return [answer async for answer in self.client.stream(questions)]

        one = pb.PredictStreamResponse(request_id=5)
        one.response.fingerprint = "x"
        for answers, what in (
            ([one.SerializeToString()], "an answer to an unknown question"),
            ([], "no answer to 1 questions"),
        ):
            self.hostile.answers["PredictStream"] = answers
            with self.subTest(what), self.assertRaisesRegex(ServerError, what):
                asyncio.run(ask([Question(CELL, None, "board")]))

        def questions():
            yield Question(CELL, None, "board")
            raise ZeroDivisionError("of the caller")

        self.hostile.answers["PredictStream"] = []
        with self.assertRaisesRegex(ZeroDivisionError, "of the caller"):
            asyncio.run(ask(questions()))

    def test_a_closed_client(self):
        client = cobra_latency.Client(self.client.address)
        client.close()
        with self.assertRaisesRegex(UsageError, "is closed"):
            client.predict(CELL)


class ArgumentTest(unittest.TestCase):
    """No server is needed: nothing is sent."""

    def refused(self, ask, *arguments, message=None, **named):
        with self.subTest(arguments=arguments, named=named), self.assertRaises(CobraError) as raised:
            ask(*arguments, **named)
        self.assertIsNone(OBEYED.search(str(raised.exception)))
        str(raised.exception).encode()
        self.assertNotIn("\nFile", str(raised.exception))
        if message:
            self.assertIn(message, str(raised.exception))

    def test_clients(self):
        for options in (
            {"address": "a\ud800b"},
            {"address": 50051},
            {"labels": {"Team": "a"}},
            {"labels": {"team": "a\nb"}},
            {"labels": {"team": 1}},
            {"labels": {"x-bin": "a"}},
            {"token": "a\nb"},
            {"token": b"ab"},
            {"authority": "-----BEGIN"},
        ):
            self.refused(cobra_latency.Client, **options)

    def test_questions(self):
        client = cobra_latency.Client("unix:" + support.path("nobody"))
        bad = support.write("bad\nFile.py", "x")
        for model in ("no\0such.onnx", EVIL + ".onnx", EVIL, bad, CELL + "\ud800", b"net.onnx", 5, Source(5, "Net()")):
            self.refused(client.predict, model, "1x3", "board")
        for target in ("\ud800", 5, ["a", None]):
            self.refused(client.predict, CELL, None, target if isinstance(target, list) else [target])
        net = support.write("net.py", "x = 1\0")
        for fields in (
            {"entry": "\ud800"},
            {"entry": None},
            {"arguments": {"scale": 2.0}},
            {"arguments": {"\ud800": "2"}},
            {"torch_version": 1.13},
            {"mode": None},
        ):
            self.refused(client.predict, Source(**{"path": net, "entry": "Net()", **fields}), "1x3", "board")
        for inputs in (
            "[" * 5000,
            "1x" + "9" * 5000,
            "9" * 30,
            {"\ud800": (1, 2)},
            (1, 10**30),
            object(),
            "\u0661x3",
        ):
            self.refused(client.predict, Source(net, "Net()"), inputs, "board")
        circle = []
        circle.append(circle)
        self.refused(client.predict, CELL, circle, "board", message="nested too deeply")

    def test_a_file_that_python_cannot_parse_is_sent(self):
        """The server says what is wrong with it, and where."""
        from cobra_latency import models

        for text in ("x = '\0'", "(" * 10000, "def f(:", "\xff"):
            path = support.write("broken.py", text)
            request = models.request_of(Source(path, "Net()"), "1x3")
            self.assertEqual([file.path for file in request.source.files], ["broken.py"])

    def test_devices(self):
        client = cobra_latency.Client("unix:" + support.path("nobody"))
        deep = support.write("deep.json", "[" * 100000)
        surrogate = support.write("surrogate.json", '{"kind": "cpu", "device": "\\ud800"}')
        latin = support.path("latin.json")
        with open(latin, "wb") as file:
            file.write(b'{"kind": "caf\xe9"}')
        for sheet in (deep, surrogate, latin, "no\0such.json", EVIL, {"kind": "cpu", "memory_gb": 10**400}, 5):
            self.refused(client.adapt, "board", sheet)
        for sample in (
            Timed(CELL, None, 10**400),
            Timed(CELL, None, 5, row="\ud800"),
            Timed(CELL, None, 5, row=7),
            Timed(CELL, None, float("nan")),
        ):
            self.refused(client.adapt, "board", SHEET, [sample])
        self.refused(client.adapt, "\ud800", SHEET)
        self.refused(client.suggest, SHEET, [CELL, CELL], message="is not a pair")
        self.refused(client.suggest, SHEET, [(CELL, None)], 2**40)
        self.refused(cobra_latency.FeasibleUnder, float("nan"), "board")
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            self.refused(client.adapt, "board", {EVIL: 1})
        self.assertIsNone(OBEYED.search(str(said[0].message)))


class LiveTest(unittest.TestCase):
    def setUp(self):
        try:
            import torch
        except ImportError:
            self.skipTest("torch is not installed")
        self.torch = torch

    def test_a_file_with_a_newline_in_its_name(self):
        text = "from torch import nn\nclass Net(nn.Module):\n    def forward(self, x):\n        return x + 1\nclass Bad(nn.Module):\n    def forward(self, x):\n        return x @ x\n"
        module = support.load('net\n  File "forged', text)
        with self.assertRaises(cobra_latency.ModelError) as raised:
            cobra_latency.graph_of(module.Bad().eval(), (2, 3))
        (frame,) = raised.exception.frames
        self.assertNotIn("\n", frame)
        self.assertIn('net?  File "forged.py:7: ', str(raised.exception))
        self.assertTrue(cobra_latency.graph_of(module.Net().eval(), (2, 3)).source_files[0].endswith("forged.py"))

    def test_a_file_whose_name_is_no_unicode(self):
        module = support.load(
            os.fsdecode(b"caf\xe9"),
            "from torch import nn\nNet = type('Net', (nn.Module,), {'forward': lambda self, x: x + 1})\n",
        )
        self.assertEqual(cobra_latency.graph_of(module.Net().eval(), (2, 3)).source_files[0][-7:], "caf?.py")

    def test_sizes_that_no_tensor_has(self):
        for shape in ((10**17, 10**17), "999999999999999999x999999999999999999"):
            with self.assertRaisesRegex(UsageError, "is not a shape that PyTorch has"):
                cobra_latency.graph_of(self.torch.nn.Linear(3, 3).eval(), shape)


if __name__ == "__main__":
    support.main()
