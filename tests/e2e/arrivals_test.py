#!/usr/bin/env python3
"""What callers without a credential send before anybody asks who they are: compressed messages,
calls without a message, messages without an end.
The server's memory stays within its limits, and another caller's calls are answered."""
import os
import socket
import subprocess
import tempfile
import threading
import time
import unittest

import grpc

import programs
import raw_http2

CHECK, WATCH = "/grpc.health.v1.Health/Check", "/grpc.health.v1.Health/Watch"
PREDICT, STREAM = "/cobra.v1.Cobra/Predict", "/cobra.v1.Cobra/PredictStream"
REFLECTION = "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo"
UNIMPLEMENTED, RESOURCE_EXHAUSTED = 12, 8
# Of one connection: gRPC closes one with more than 128 (ServerLimits::max_streams_per_connection).
STREAMS = 120


class Peak:
    """The largest resident memory of a process while it is open, in MB."""

    def __init__(self, process):
        self.process, self.most, self.stop = process, programs.resident_mb(process), False
        self.before = self.most
        self.thread = threading.Thread(target=self.watch)

    def watch(self):
        while not self.stop:
            self.most = max(self.most, programs.resident_mb(self.process))
            time.sleep(0.005)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.stop = True
        self.thread.join()

    @property
    def growth(self):
        return self.most - self.before


class ArrivalsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def start(self, *flags):
        self.server = programs.Server(os.path.join(self.folder, "store.sqlite"), *flags)
        self.addCleanup(self.server.__exit__)
        self.honest = grpc.insecure_channel(self.server.address, [("honest", 1)])
        self.addCleanup(self.honest.close)
        self.assertEqual(self.health(), b"\x08\x01")

    def start_with_access(self):
        """Only whoever has a token may do more than ask for health."""
        programs.add_token(self.folder, "ci")
        self.start("--access", os.path.join(self.folder, "access"))

    def health(self):
        return self.honest.unary_unary(CHECK)(b"", timeout=10)

    def connect(self):
        connection = raw_http2.Connection(self.server.address)
        self.addCleanup(connection.close)
        connection.pump(0.1)
        return connection

    def test_a_compressed_message_is_refused_and_not_inflated(self):
        self.start()
        for encoding, wbits in (("gzip", 31), ("deflate", 15)):
            bomb = raw_http2.message(raw_http2.zeros(1000, wbits), compressed=True)
            for path in (CHECK, WATCH, PREDICT, STREAM, REFLECTION, "/cobra.v1.Cobra/None"):
                with self.subTest(encoding=encoding, path=path), Peak(self.server.process) as peak:
                    connection = self.connect()
                    stream = connection.open(path, ("grpc-encoding", encoding))
                    connection.data(stream, bomb, end=True)
                    self.assertEqual(raw_http2.status_of(connection.await_end(stream)), UNIMPLEMENTED)
                self.assertLess(peak.growth, 100)
        self.assertEqual(self.health(), b"\x08\x01")

    def test_a_client_that_compresses_is_told(self):
        self.start()
        call = self.honest.unary_unary(CHECK)
        with self.assertRaises(grpc.RpcError) as raised:
            call(b"\x0a\x40" + b"n" * 64, compression=grpc.Compression.Gzip, timeout=10)
        self.assertEqual(raised.exception.code(), grpc.StatusCode.UNIMPLEMENTED)
        self.assertIn("gzip", raised.exception.details())

    def test_calls_without_a_message_are_bounded(self):
        self.start_with_access()
        connections = []
        with Peak(self.server.process) as peak:
            for _ in range(200):
                connection = self.connect()
                connections.append(connection)
                for _ in range(STREAMS):
                    connection.open(CHECK)
                connection.pump(0.001)
            self.assertEqual(self.health(), b"\x08\x01")
        self.assertLess(peak.growth, 300)
        refused = lambda: programs.metric(self.server, "cobra_calls_without_message_total") > 15000  # noqa: E731
        programs.wait_until(refused, seconds=60)
        connections[0].pump(0.1)
        statuses = {raw_http2.status_of(p) for k, flags, _, p in connections[0].frames if k == raw_http2.HEADERS}
        self.assertIn(RESOURCE_EXHAUSTED, statuses)  # later ones are references to this one
        # A call that was there before, or comes meanwhile, is not refused for the others.
        own = self.connect()
        stream = own.open(CHECK)
        time.sleep(0.3)
        own.data(stream, raw_http2.message(b""), end=True)
        self.assertEqual(raw_http2.status_of(own.await_end(stream)), 0)

    def test_calls_whose_replies_nobody_takes_are_bounded(self):
        self.start_with_access()
        connections = []
        with Peak(self.server.process) as peak:
            for _ in range(200):
                connection = raw_http2.Connection(self.server.address, window=0)
                self.addCleanup(connection.close)
                connection.pump(0.02)
                connections.append(connection)
                for _ in range(STREAMS):
                    connection.data(connection.open(CHECK), raw_http2.message(b""), end=True)
                    if not connection.is_open:
                        break
                connection.pump(0.01)
            closed = lambda: sum(not each.pump(0.001) for each in connections) > 10  # noqa: E731
            programs.wait_until(closed, seconds=60)
            self.assertEqual(self.health(), b"\x08\x01")
        self.assertLess(peak.growth, 500)

    def test_watches_of_health_are_bounded(self):
        self.start_with_access()
        first = self.connect()
        streams = []
        for _ in range(100):
            streams.append(first.open(WATCH))
            first.data(streams[-1], raw_http2.message(b""), end=True)
        over = lambda: [stream for stream in streams if first.pump(0.001) and first.is_over(stream)]  # noqa: E731
        programs.wait_until(lambda: len(over()) == 100 - 64, seconds=30)
        self.assertLess(max(over()), streams[60])  # the oldest ones

    def test_messages_without_an_end_take_bounded_memory_and_harm_nobody(self):
        self.start_with_access()
        failed, stop = [], threading.Event()

        def ask():
            while not stop.is_set():
                try:
                    self.health()
                except grpc.RpcError as error:
                    failed.append(error)
                time.sleep(0.01)

        asking = threading.Thread(target=ask)
        asking.start()
        connections, part = [], raw_http2.message(bytes(3 << 20), length=30 << 20)
        with Peak(self.server.process) as peak:
            for _ in range(30):
                connection = self.connect()
                connections.append(connection)
                for _ in range(8):
                    connection.data(connection.open(CHECK), part, seconds=0.5)
                    if not connection.is_open:
                        break
            time.sleep(1)
        stop.set()
        asking.join()
        self.assertEqual(failed, [])
        self.assertLess(peak.growth, 350)
        self.assertGreater(programs.metric(self.server, "cobra_connections_closed_total"), 0)
        self.assertTrue(connections[-1].is_open or not connections[0].pump(0.1))

    def test_calls_that_are_reset_at_once_take_bounded_memory(self):
        self.start()
        reset = b"\0\0\0\x08"  # CANCEL
        for path in (CHECK, WATCH, PREDICT, STREAM, REFLECTION, "/cobra.v1.Cobra/None"):
            with self.subTest(path=path), Peak(self.server.process) as peak:
                block, connection = raw_http2.call_headers(path), self.connect()
                for _ in range(250):
                    frames = b""
                    for _ in range(200):
                        connection.stream += 2
                        frames += raw_http2.frame(raw_http2.HEADERS, raw_http2.END_HEADERS, connection.stream, block)
                        frames += raw_http2.frame(raw_http2.RST_STREAM, 0, connection.stream, reset)
                    try:
                        connection.socket.sendall(frames)
                    except OSError:
                        connection.is_open = False
                    if not connection.is_open or not connection.pump(0):
                        connection = self.connect()
                    connection.frames.clear()
            # 50,000 of 12 KB, of which 16,384 may be open, and some more where the server has
            # little of the processor.
            self.assertLess(peak.growth, 400, path)
            self.assertEqual(self.health(), b"\x08\x01")

    def test_a_method_that_is_not_there_is_named(self):
        self.start()
        for method, said in (
            ("/cobra.v2.Cobra/Predict", "/cobra.v2.Cobra/Predict: "),
            ("/" + "x" * 300, "the method: "),
        ):
            with self.assertRaises(grpc.RpcError) as raised:
                self.honest.unary_unary(method)(b"", timeout=10)
            self.assertEqual(raised.exception.code(), grpc.StatusCode.UNIMPLEMENTED)
            self.assertTrue(raised.exception.details().startswith(said), raised.exception.details())

    def test_reflection_says_what_there_is(self):
        self.start()
        for version in ("v1", "v1alpha"):
            call = self.honest.stream_stream(f"/grpc.reflection.{version}.ServerReflection/ServerReflectionInfo")
            symbol, file = b"cobra.v1.Cobra", b"cobra/v1/graph.proto"
            asked = [
                b"\x3a\x01*",
                b"\x22" + bytes([len(symbol)]) + symbol,
                b"\x1a" + bytes([len(file)]) + file,
                b"\x22\x01x",
            ]
            services, of_symbol, of_file, unknown = list(call(iter(asked), timeout=20))
            self.assertIn(b"cobra.v1.Measurements", services)
            self.assertIn(b"grpc.health.v1.Health", services)
            self.assertIn(b"PredictStream", of_symbol)
            self.assertIn(b"cobra/v1/graph.proto", of_symbol)  # what it imports comes along
            self.assertNotIn(b"PredictStream", of_file)
            self.assertIn(b"x: is not part of this API", unknown)

    def test_a_whole_message_in_many_parts_is_taken(self):
        self.start()
        connection = self.connect()
        stream = connection.open(CHECK)
        for byte in raw_http2.message(b""):
            connection.data(stream, bytes([byte]))
            time.sleep(0.05)
        self.assertEqual(raw_http2.status_of(connection.await_end(stream)), 0)

    def test_a_call_that_ends_without_a_message_is_refused(self):
        self.start()
        connection = self.connect()
        stream = connection.open(PREDICT, end=True)
        trailers = connection.await_end(stream)
        self.assertEqual(raw_http2.status_of(trailers), 3)
        self.assertIn(b"message is missing", trailers)


class HostileServer:
    """Answers every call with a compressed message of a gigabyte."""

    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = "127.0.0.1:%d" % self.listener.getsockname()[1]
        self.message = raw_http2.message(raw_http2.zeros(1000), compressed=True)
        threading.Thread(target=self.accept, daemon=True).start()

    def close(self):
        self.listener.close()

    def accept(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        try:
            peer = raw_http2.Connection.__new__(raw_http2.Connection)
            peer.socket, peer.window, peer.windows, peer.initial = connection, 65535, {}, 65535
            peer.unread, peer.frames, peer.is_open = b"", [], True
            connection.settimeout(10)
            greeting = b""
            while len(greeting) < len(raw_http2.PREFACE):
                greeting += connection.recv(len(raw_http2.PREFACE) - len(greeting))
            connection.sendall(raw_http2.frame(raw_http2.SETTINGS, 0, 0))
            answered = set()
            while peer.pump(0.1):
                for kind, _, stream, _ in list(peer.frames):
                    if kind != raw_http2.HEADERS or stream in answered:
                        continue
                    answered.add(stream)
                    peer.windows.setdefault(stream, peer.initial)
                    head = [(":status", "200"), ("content-type", "application/grpc"), ("grpc-encoding", "gzip")]
                    block = b"".join(raw_http2.literal(*each) for each in head)
                    connection.sendall(raw_http2.frame(raw_http2.HEADERS, raw_http2.END_HEADERS, stream, block))
                    peer.data(stream, self.message)
                    end = raw_http2.END_HEADERS | raw_http2.END_STREAM
                    status = raw_http2.literal("grpc-status", "0")
                    connection.sendall(raw_http2.frame(raw_http2.HEADERS, end, stream, status))
        except OSError:
            pass


class HostileServerTest(unittest.TestCase):
    def setUp(self):
        self.server = HostileServer()
        self.addCleanup(self.server.close)

    def largest_mb(self, *command, seconds=60):
        """Resident memory of the program, which is ended after a while; its own report."""
        timed = ["/usr/bin/time", "-f", "resident %M", "timeout", str(seconds), *command]
        run = subprocess.run(timed, capture_output=True, text=True, check=False)
        line = next(line for line in run.stderr.splitlines() if line.startswith("resident "))
        return int(line.split()[1]) / 1024, run

    def test_the_client_does_not_inflate_replies(self):
        most, run = self.largest_mb(
            os.path.join(programs.BIN, "cobra-client"), "targets", "--server", self.server.address
        )
        self.assertLess(most, 200)
        self.assertNotEqual(run.returncode, 0)
        self.assertIn("gzip", run.stderr)

    def test_the_worker_does_not_inflate_replies(self):
        with tempfile.TemporaryDirectory() as folder:
            command = [os.path.join(programs.BIN, "cobra-worker"), "work", "--server", self.server.address]
            most, _ = self.largest_mb(*command, "--spool", folder, "--share-device", "--target", "t", seconds=15)
        self.assertLess(most, 700)

    def test_the_python_package_does_not_inflate_replies(self):
        text = (
            "import cobra_latency, resource\n"
            f"client = cobra_latency.Client('{self.server.address}')\n"
            "try:\n    client.targets()\n    print('answered')\nexcept Exception as error:\n    print(error)\n"
        )
        environment = dict(os.environ, PYTHONPATH=os.path.join(programs.SOURCE, "client", "python"))
        timed = ["/usr/bin/time", "-f", "resident %M", "timeout", "60", "/usr/bin/python3", "-c", text]
        run = subprocess.run(timed, capture_output=True, text=True, check=False, env=environment)
        most = int(next(line for line in run.stderr.splitlines() if line.startswith("resident ")).split()[1]) / 1024
        self.assertLess(most, 300)
        self.assertNotIn("answered", run.stdout)


if __name__ == "__main__":
    unittest.main()
