#!/usr/bin/env python3
"""Streams of one client and of many: who gives way when too many are open, what SIGTERM waits for,
and that the log of predictions leaves room for others."""
import os
import queue
import signal
import socket
import sqlite3
import tempfile
import threading
import time
import unittest

import grpc

import programs

SLOW = """import torch
class Net(torch.nn.Module):
    def forward(self, x):
        i = 0
        while i < 980000:
            i += 1
        return torch.relu(x)
"""


def cell(number):
    """A cell of NAS-Bench-201."""
    names = ["none", "skip_connect", "nor_conv_1x1", "nor_conv_3x3", "avg_pool_3x3"]
    ops = [names[number // 5**i % 5] for i in range(6)]
    return f"nasbench201:|{ops[0]}~0|+|{ops[1]}~0|{ops[2]}~1|+|{ops[3]}~0|{ops[4]}~1|{ops[5]}~2|"


def proxy(address, to):
    """A port whose connections reach `to` from `address`, as another machine's would."""
    listener = socket.create_server(("127.0.0.1", 0))

    def pump(source, sink):
        try:
            while data := source.recv(65536):
                sink.sendall(data)
        except OSError:
            pass
        for end in (source, sink):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def accept():
        while True:
            client, _ = listener.accept()
            host, port = to.split(":")
            server = socket.create_connection((host, int(port)), source_address=(address, 0))
            for ends in ((client, server), (server, client)):
                threading.Thread(target=pump, args=ends, daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    return f"127.0.0.1:{listener.getsockname()[1]}"


class StreamsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.pb, cls.services = programs.stubs()

    def start(self, *flags):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.store = os.path.join(folder.name, "store.sqlite")
        self.server = programs.Server(self.store, *flags)
        self.addCleanup(self.server.__exit__)
        self.cobra = self.connect(self.server.address)
        self.target = self.cobra.ListTargets(self.pb.ListTargetsRequest(), timeout=60).targets[0].spec.name

    def connect(self, address):
        channel = grpc.insecure_channel(address, [("grpc.use_local_subchannel_pool", 1)])
        self.addCleanup(channel.close)
        return self.services.CobraStub(channel)

    def request(self, number):
        return self.pb.PredictRequest(architecture=self.pb.Architecture(text=cell(number)), targets=[self.target])

    def message(self, number):
        return self.pb.PredictStreamRequest(request_id=number, request=self.request(number))

    def test_idle_streams_of_others_give_way(self):
        self.start()
        ended = threading.Event()
        self.addCleanup(ended.set)

        def idle():
            ended.wait()
            return
            yield

        calls = []
        for last in range(2, 10):
            stub = self.connect(proxy(f"127.0.0.{last}", self.server.address))
            calls += [stub.PredictStream(idle()) for _ in range(128)]

        def one_more_is_answered(number):
            answers = list(self.cobra.PredictStream(iter([self.message(number)]), timeout=30))
            self.assertEqual([a.request_id for a in answers], [number])
            self.assertFalse(answers[0].HasField("error"), answers[0])

        for number in range(20):
            one_more_is_answered(number)
        # On a busy machine the idle ones may still be on their way: only when all are open must one
        # give way.
        deadline = time.time() + 60
        while not any(call.done() for call in calls) and time.time() < deadline:
            one_more_is_answered(20)
        gone = {call.code() for call in calls if call.done()}
        # Those that came late found no room; others gave way.
        self.assertLessEqual(gone, {grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.RESOURCE_EXHAUSTED})
        self.assertTrue(gone, "1,024 streams and one more are within the limit of 1,024?")
        for call in calls:
            call.cancel()

    @unittest.skipIf(programs.EMULATED, "looks at seconds")
    def test_a_batch_that_outlives_a_drain_keeps_its_answers(self):
        self.start("--drain-seconds", "4")
        batch = self.pb.PredictBatchRequest()
        for number in range(1, 5000):  # all layers of each are new
            batch.requests.add(
                architecture=self.pb.Architecture(text=cell(15624), inputs=[f"{number}x3x32x32"]), targets=[self.target]
            )
        call = self.cobra.PredictBatch.future(batch, timeout=60)
        time.sleep(1)
        self.server.process.send_signal(signal.SIGTERM)
        results = call.result().results
        errors = {result.error.code for result in results if result.HasField("error")}
        self.assertEqual(errors, {grpc.StatusCode.UNAVAILABLE.value[0]})
        self.assertGreater(sum(result.HasField("response") for result in results), 10)

    def test_open_batches_count_what_they_hold(self):
        """Answers that a cache has are not copied until a batch is complete, and small ones count
        together."""
        self.start()
        many = [self.request(number) for number in range(3000)]
        warm = self.pb.PredictBatchRequest(requests=many)
        self.assertEqual(len(self.cobra.PredictBatch(warm, timeout=120).results), 3000)
        before = programs.resident_mb(self.server.process)
        source = self.pb.SourceModel(file="slow.py", entry="Net()", inputs=["1"])
        source.files.add(path="slow.py", text=SLOW.encode())
        calls = []
        for number in range(40):
            batch = self.pb.PredictBatchRequest(requests=many)
            source.entry = f"Net() if {number} == {number} else 0"
            batch.requests.add(source=source, targets=[self.target])
            calls.append(self.cobra.PredictBatch.future(batch, timeout=120))
        time.sleep(1)
        self.assertLess(programs.resident_mb(self.server.process) - before, 150)
        for call in calls:
            call.cancel()

    def test_large_requests_that_find_no_room_are_refused_by_their_number(self):
        self.start("--threads", "1")

        def stream(number, text):
            source = self.pb.SourceModel(file="net.py", entry="Net()", inputs=["1"])
            source.files.add(path="net.py", text=text)
            request = self.pb.PredictRequest(source=source, targets=[self.target])
            message = self.pb.PredictStreamRequest(request_id=number, request=request)
            return self.cobra.PredictStream(iter([message]), timeout=60)

        slow = [stream(number, (SLOW + f"# {number}").encode()) for number in range(1, 4)]
        large = {number: stream(number, SLOW.encode() + b"#" * (14 << 20)) for number in range(4, 20)}
        refused = set()
        for number, call in large.items():
            answers = list(call)
            self.assertEqual([answer.request_id for answer in answers], [number])
            refused.add(answers[0].error.code)
        self.assertIn(grpc.StatusCode.RESOURCE_EXHAUSTED.value[0], refused)
        self.assertEqual([answer.request_id for call in slow for answer in call], [1, 2, 3])

    def test_labels_do_not_fill_the_store(self):
        self.start()
        batch = self.pb.PredictBatchRequest(requests=[self.request(number) for number in range(2000)])
        self.cobra.PredictBatch(batch, timeout=120)
        for turn in range(40):  # 80,000 predictions that a cache has
            self.cobra.PredictBatch(batch, timeout=120, metadata=[("cobra-label-turn", str(turn))])
        self.server.stop()
        with sqlite3.connect(self.store) as store:
            (rows,) = store.execute("SELECT count(*) FROM predictions").fetchone()
        self.assertLess(rows, 2000 + 10_000 + 200 * 60)

    def test_a_stop_does_not_wait_for_a_reload(self):
        self.start("--drain-seconds", "8")
        source = self.pb.SourceModel(file="net.py", entry="Net()", inputs=["1x3x8x8"])
        source.files.add(path="net.py", text=SLOW.encode())
        requests = []
        for number in range(40):
            request = self.pb.PredictRequest(source=source, targets=[self.target])
            request.source.files[0].text += b"# %d" % number
            requests.append(request)
        for _ in range(3):
            for pending in [self.cobra.Predict.future(request, timeout=60) for request in requests]:
                pending.result()
        self.server.process.send_signal(signal.SIGHUP)  # which answers them all ahead
        time.sleep(0.3)
        self.server.process.send_signal(signal.SIGTERM)
        self.assertEqual(self.server.process.wait(timeout=30), 0, self.server.log())
        self.assertIn("stopped", self.server.log())

    def test_labels_of_one_call_leave_room_for_others(self):
        self.start()
        batch = self.pb.PredictBatchRequest()
        for number in range(3000):
            request = batch.requests.add()
            request.CopyFrom(self.request(number % 10))
            request.model_version = ""
            # Other bytes, the same question: a field that no version of the API has.
            request.MergeFromString(b"\xc0\x3e" + bytes([0x80 | number & 0x7F, number >> 7]))
        self.cobra.PredictBatch(batch, timeout=120)
        labels = [(f"cobra-label-{letter}", letter * 256) for letter in "abcdefgh"]
        other = self.connect(proxy("127.0.0.2", self.server.address))
        for _ in range(5):
            self.cobra.PredictBatch(batch, metadata=labels, timeout=120)
            for number in range(4):
                other.Predict(self.request(number), metadata=[("cobra-label-team", "other")], timeout=60)
        self.server.process.send_signal(signal.SIGTERM)
        self.server.process.wait(timeout=60)
        with sqlite3.connect(self.store) as database:
            rows = database.execute("""SELECT COUNT(*) FROM predictions WHERE labels_json = '{"team":"other"}'""")
            self.assertEqual(rows.fetchone()[0], 20)
        database.close()

    def test_labels_have_names_and_values_that_can_be_printed(self):
        self.start()
        for name, value in (("cobra-label-", "x"), ("cobra-label-a", "x" * 257)):
            with self.assertRaises(grpc.RpcError) as refused:
                self.cobra.Predict(self.request(0), metadata=[(name, value)], timeout=20)
            self.assertEqual(refused.exception.code(), grpc.StatusCode.INVALID_ARGUMENT)


if __name__ == "__main__":
    unittest.main()
