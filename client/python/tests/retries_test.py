#!/usr/bin/env python3
"""What the client asks again, and what it does not ask at all, with a server that answers by a
plan."""
import asyncio
import sys
import types
import unittest
import unittest.mock

import support

support.stage()
import grpc  # noqa: E402

import cobra_latency  # noqa: E402
from cobra_latency import Question, ServerError, ServerUnavailable, UsageError, retries  # noqa: E402
from cobra_latency._proto import cobra_pb2 as pb  # noqa: E402

CELL = "nasbench201:|nor_conv_3x3~0|+|none~0|skip_connect~1|+|none~0|none~1|nor_conv_3x3~2|"
LATE, GONE = grpc.StatusCode.DEADLINE_EXCEEDED, grpc.StatusCode.UNAVAILABLE


def answer_to(request):
    """The text of the architecture is its latency."""
    prediction = pb.TargetPrediction(target=request.targets[0], latency_us=1000 * float(request.architecture.text[7:]))
    return pb.PredictResponse(predictions=[prediction])


class Server(grpc.GenericRpcHandler):
    """`plan`: for each call how many questions are answered, and with which status the others
    end."""

    def __init__(self):
        self.plan = []
        self.asked = []
        self.ids = []

    def service(self, details):
        method = details.method.split("/")[-1]
        if method in ("Adapt", "Observe"):
            request = getattr(pb, method + "Request")
            self.ids += [value for key, value in details.invocation_metadata if key == "cobra-request-id"]
            return grpc.unary_unary_rpc_method_handler(
                self.adapt, request.FromString, pb.AdaptResponse.SerializeToString
            )
        if method == "PredictStream":
            return grpc.stream_stream_rpc_method_handler(
                self.stream, pb.PredictStreamRequest.FromString, pb.PredictStreamResponse.SerializeToString
            )
        request, reply = getattr(pb, method + "Request"), getattr(pb, method + "Response")
        handler = self.batch if method == "PredictBatch" else self.predict
        return grpc.unary_unary_rpc_method_handler(handler, request.FromString, reply.SerializeToString)

    def next(self):
        return self.plan.pop(0) if self.plan else (10**9, None)

    def adapt(self, request, context):
        answered, status = self.next()
        if not answered:
            context.abort(status, "the reply is lost")
        return pb.AdaptResponse()

    def predict(self, request, context):
        self.asked.append(list(request.targets))
        answered, status = self.next()
        if not answered:
            context.abort(status, "not now")
        return answer_to(request) if request.WhichOneof("model") else pb.PredictResponse()

    def batch(self, request, context):
        self.asked.append(len(request.requests))
        answered, status = self.next()
        if answered < 0:
            context.abort(status, "not now")
        reply = pb.PredictBatchResponse()
        for number, one in enumerate(request.requests):
            result = reply.results.add()
            if number < answered:
                result.response.CopyFrom(answer_to(one))
            else:
                result.error.code, result.error.message = status.value[0], "not now"
        return reply

    def stream(self, requests, context):
        answered, status = self.next()
        self.asked.append(answered)
        for number, message in enumerate(requests):
            if number == answered:
                context.abort(status, "not now")
            yield pb.PredictStreamResponse(request_id=message.request_id, response=answer_to(message.request))


def questions(count):
    return [Question(f"space: {number + 1}", None, "board") for number in range(count)]


class RetriesTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.planned = Server()
        cls.client = cobra_latency.Client(support.serve(cls, cls.planned, "planned"), timeout_s=20)

    def setUp(self):
        self.planned.plan, self.planned.asked, self.planned.ids = [], [], []
        waiting = unittest.mock.patch.object(retries, "backoff_s", lambda attempt: 0.001)
        waiting.start()
        self.addCleanup(waiting.stop)

    def answers(self, *plan, count=5):
        self.planned.plan = list(plan)
        return [
            answer.prediction.ms if answer.prediction else None for answer in self.client.predict_many(questions(count))
        ]

    def test_a_server_that_is_unavailable_for_a_moment(self):
        self.planned.plan = [(0, GONE)] * (retries.MOST_ATTEMPTS - 1)
        self.assertEqual(self.client.predict("space: 3", None, "board").ms, 3)
        self.planned.plan = [(0, GONE)] * retries.MOST_ATTEMPTS
        with self.assertRaises(ServerUnavailable):
            self.client.predict("space: 3", None, "board")

    def test_every_attempt_to_make_a_version_has_the_id_of_the_first(self):
        sheet = {"device": "Board", "kind": "cpu", "runtime": "torch-2.5", "threads": 1}
        timed = [cobra_latency.Timed(cobra_latency.Architecture(CELL), None, 1.0)]
        calls = (
            lambda: self.client.adapt("board", sheet),
            lambda: self.client.observe_many("board", timed),
            lambda: self.client.adapt("board", sheet),
        )
        for call in calls:
            self.planned.plan = [(0, GONE), (0, GONE)]
            call()
        self.assertEqual(len(self.planned.ids), 9)
        for first in (0, 3, 6):
            self.assertEqual(len(set(self.planned.ids[first : first + 3])), 1)
        self.assertEqual(len(set(self.planned.ids)), 3)
        for request_id in self.planned.ids:
            self.assertRegex(request_id, "^[0-9a-f]{32}$")

    def test_what_was_not_answered_in_time_is_asked_again(self):
        self.assertEqual(self.answers((2, LATE), (1, LATE), (2, LATE)), [1, 2, 3, 4, 5])
        self.assertEqual(self.planned.asked, [5, 3, 2])

    def test_it_ends_where_a_message_brings_nothing(self):
        self.assertEqual(self.answers((2, LATE), (0, LATE)), [1, 2, None, None, None])
        self.assertEqual(self.planned.asked, [5, 3])
        self.assertEqual(self.answers((2, LATE), (-1, LATE)), [1, 2, None, None, None])

    def test_a_server_that_ends_meanwhile(self):
        self.assertEqual(self.answers((2, GONE), (0, GONE), (0, GONE)), [1, 2, 3, 4, 5])
        self.assertEqual(self.answers(*[(0, GONE)] * 20), [None] * 5)
        with self.assertRaises(ServerError):
            self.answers((-1, grpc.StatusCode.INTERNAL))

    def test_many_are_several_messages(self):
        with unittest.mock.patch("cobra_latency.client._MOST_QUESTIONS", 3):
            self.assertEqual(self.answers(count=7), [1, 2, 3, 4, 5, 6, 7])
        self.assertEqual(self.planned.asked, [3, 3, 1])

    def test_an_answer_that_is_too_large_is_asked_for_in_parts(self):
        self.assertEqual(self.answers((-1, grpc.StatusCode.RESOURCE_EXHAUSTED)), [1, 2, 3, 4, 5])
        self.assertEqual(self.planned.asked, [5, 2, 3])

    def test_a_stream_that_ends(self):
        async def streamed(*plan):
            self.planned.plan = list(plan)
            return sorted([a.number async for a in self.client.stream(q for q in questions(6))])

        self.assertEqual(asyncio.run(streamed((2, GONE), (0, GONE), (3, GONE))), [0, 1, 2, 3, 4, 5])
        self.assertEqual(self.planned.asked[:3], [2, 0, 3])
        with self.assertRaises((ServerUnavailable, ServerError)):
            asyncio.run(streamed(*[(0, GONE)] * 20))

    def test_an_unknown_target_is_said_before_a_graph_is_made(self):
        class Module:
            """Stands for a network that takes its time."""

        torch = types.SimpleNamespace(nn=types.SimpleNamespace(Module=Module))
        self.planned.plan = [(0, grpc.StatusCode.NOT_FOUND)] * 3
        with unittest.mock.patch.dict(sys.modules, torch=torch):
            with self.assertRaisesRegex(UsageError, "not now"):
                self.client.predict(Module(), "1x3", ["abacus", "slide rule"])
            answers = self.client.predict_many([Question(Module(), "1x3", "abacus"), *questions(1)])
        self.assertEqual(self.planned.asked, [["abacus", "slide rule"], ["abacus"], 1])
        self.assertIsInstance(answers[0].error, UsageError)
        self.planned.plan.clear()
        self.assertIsNone(self.client.predict_many(questions(1))[0].error)


if __name__ == "__main__":
    support.main()
