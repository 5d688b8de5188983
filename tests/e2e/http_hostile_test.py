#!/usr/bin/env python3
"""Hostile HTTP: other sites' pages, requests that are none, what is too large, too
slow or too much.
After each of them the server answers others."""
import base64
import json
import os
import resource
import socket
import tempfile
import threading
import time
import unittest

import programs
import raw_http
from raw_http import Connection, request

MIB = 1 << 20
PREDICT = "/v1/predict"


class Hostile(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        flags = ("--http", "127.0.0.1:0", "--http-host", "cobra.test")
        cls.server = programs.Server(os.path.join(cls.folder.name, "store.sqlite"), *flags)
        cls.addClassCleanup(cls.server.__exit__)
        cls.address = cls.server.http_address

    def tearDown(self):
        self.assertEqual(self.ask("GET", "/v1/model-info").status, 200)
        self.assertIsNone(self.server.process.poll())

    def ask(self, *arguments, **options):
        return raw_http.ask(self.address, *arguments, **options)

    def raw(self, data):
        """The reply to these bytes, after which the server must end the connection."""
        with Connection(self.address) as connection:
            connection.send(data)
            reply = connection.reply()
            self.assertTrue(connection.closed())
            return reply

    def post(self, body, **headers):
        return self.ask("POST", PREDICT, body, headers=headers)

    def test_only_its_own_names_are_its_host(self):
        port = self.address.rsplit(":", 1)[1]
        for host in ("localhost", "127.0.0.1:" + port, "[::1]", "cobra.test"):
            self.assertEqual(self.ask("GET", "/v1/model-info", host=host).status, 200, host)
        for host in ("evil.example", "evil.example:" + port, "10.0.0.1", "localhost@evil.example", ""):
            reply = self.ask("GET", "/v1/model-info", host=host)
            self.assertEqual((reply.status, reply.error()["code"]), (403, "PERMISSION_DENIED"), host)
        self.assertEqual(self.ask("GET", "/ui", host="evil.example").status, 403)
        self.assertEqual(self.ask("GET", "/v1/model-info", host=None).status, 400)
        two = b"GET /v1/model-info HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n"
        with Connection(self.address) as connection:
            connection.send(two)
            self.assertEqual(connection.reply().status, 400)

    def test_pages_of_other_sites_get_nothing(self):
        own = {"Origin": "http://localhost", "Sec-Fetch-Site": "same-origin"}
        self.assertEqual(self.ask("GET", "/v1/targets", headers=own).status, 200)
        for headers in (
            {"Origin": "http://evil.example"},
            {"Origin": "null"},
            {"Origin": "http://localhost:1"},
            {"Sec-Fetch-Site": "cross-site"},
            {"Sec-Fetch-Site": "same-site"},
        ):
            for method, path, body in (("GET", "/v1/targets", ""), ("POST", PREDICT, "{}"), ("POST", "/v1/drain", "")):
                reply = self.ask(method, path, body, headers=headers)
                self.assertEqual(reply.status, 403, headers)
                self.assertNotIn("access-control-allow-origin", reply.headers)
        preflight = {"Origin": "http://evil.example", "Access-Control-Request-Method": "POST"}
        self.assertEqual(self.ask("OPTIONS", PREDICT, headers=preflight).status, 403)
        self.assertEqual(self.ask("OPTIONS", PREDICT).status, 405)

    def test_methods_paths_and_types(self):
        for method in ("GET", "PUT", "DELETE", "PATCH", "TRACE", "CONNECT", "PROPFIND", "get", "X" * 100):
            reply = self.ask(method, PREDICT)
            self.assertIn(reply.status, (400, 405), method)
        self.assertEqual(self.ask("GET", PREDICT).headers["allow"], "POST")
        self.assertEqual(self.ask("POST", "/v1/targets", "{}").headers["allow"], "GET, HEAD")
        for path in (
            "/v1",
            "/v1/predict/",
            "/v1/../v1/predict",
            "/v1/%70redict",
            "/ui/../../etc/passwd",
            "/ui/..%2f..%2fetc/passwd",
            "//etc/passwd",
            "/ui/app.js%00.html",
            "/V1/predict",
            "/metrics",
            "/" + "a" * 8000,
        ):
            reply = self.ask("GET", path)
            self.assertEqual(reply.status, 404, path)
            self.assertLess(len(reply.body), 1000)
        for target in ("http://localhost/v1/model-info", "*", "v1/model-info"):
            self.assertEqual(self.raw(request("GET", target)).status, 400, target)
        for kind in ("text/plain", "application/x-www-form-urlencoded", "application/json-patch+json", ""):
            self.assertEqual(self.post("{}", **{"Content-Type": kind}).status, 415, kind)
        self.assertEqual(self.post("{}", **{"Content-Encoding": "gzip"}).status, 415)
        self.assertEqual(
            self.ask("POST", "/v1/lease", "--x--", headers={"Content-Type": "multipart/form-data; boundary=x"}).status,
            415,
        )
        self.assertEqual(self.ask("GET", "/v1/model-info", "{}").status, 400)
        self.assertEqual(self.ask("POST", PREDICT + "?a=b", "{}").status, 400)

    def test_what_is_not_json(self):
        for body in (
            "[" * 100_000,
            '{"source":' * 50_000,
            '{"targets":' + "[" * 31 + "]" * 31 + "}",
            "{",
            "nonsense",
            '"text"',
            "[]",
            b'{"targets": ["\xff\xfe"]}',
            b'{"targets": ["\xed\xa0\x80"]}',
            '{"targets": ["\\ud800"]}',
            '{"targets": [1e999, {"a": []}]}',
            '{"onnx": {"file": "' + "*" * 1000 + '"}}',
            b"\x00" * 1000,
            '{"a\nb": 1}',
        ):
            reply = self.post(body)
            self.assertEqual(reply.status, 400, body[:60])
            self.assertLess(len(reply.body), 2000)
            self.assertTrue(reply.error()["message"])

    def test_a_huge_file_in_base64_is_refused_in_little_memory(self):
        before = self.peak_mib()
        # 32 MiB are the limit of a message, and this is one byte more.
        big = base64.b64encode(b"\0" * (32 * MIB + 1)).decode()
        reply = self.post('{"onnx": {"file": "' + big + '"}, "targets": ["x"]}')
        self.assertEqual(reply.status, 422)
        self.assertIn("more than the limit of", reply.error()["message"])
        self.assertLess(self.peak_mib() - before, 400)
        many = "[" + "{}," * (10 * MIB) + "{}]"
        self.assertIn(self.post('{"onnx": {"arguments": ' + many + "}}").status, (400, 422))
        self.assertLess(self.peak_mib() - before, 800)

    def peak_mib(self):
        with open(f"/proc/{self.server.process.pid}/status") as file:
            return next(int(line.split()[1]) for line in file if line.startswith("VmHWM")) / 1024

    def test_a_body_that_is_too_large_is_refused_before_it_is_sent(self):
        for length, status in ((97 * MIB, 413), (1 << 62, 413), ((1 << 64) - 1, 413)):
            with Connection(self.address) as connection:
                connection.send(
                    request("POST", PREDICT, headers={"Content-Length": length, "Content-Type": "application/json"})
                )
                self.assertEqual(connection.reply().status, status)
                self.assertTrue(connection.closed())
        # And while it is sent: the reply still arrives.
        with Connection(self.address) as connection:
            connection.send(
                request("POST", PREDICT, headers={"Content-Length": 97 * MIB, "Content-Type": "application/json"})
            )
            connection.send(b" " * MIB)
            self.assertEqual(connection.reply().status, 413)

    def test_expect_is_answered_before_the_body(self):
        headers = {"Content-Length": 2, "Content-Type": "application/json", "Expect": "100-continue"}
        with Connection(self.address) as connection:
            connection.send(request("POST", PREDICT, headers=headers))
            while b"100 Continue" not in connection.buffer:
                self.assertTrue(connection.more())
            connection.send("{}")
            self.assertEqual(connection.reply().status, 400)
        with Connection(self.address) as connection:
            connection.send(request("POST", PREDICT, headers={**headers, "Content-Length": 97 * MIB}))
            self.assertEqual(connection.reply().status, 413)

    def test_heads_that_are_too_large(self):
        self.assertEqual(self.raw(request("GET", "/v1/targets", headers={"X": "a" * 20_000})).status, 431)
        self.assertEqual(self.raw(request("GET", "/" + "a" * 20_000)).status, 431)
        many = {f"X-{i}": "a" for i in range(5000)}
        self.assertEqual(self.raw(request("GET", "/v1/targets", headers=many)).status, 431)

    def test_headers_that_go_on_to_the_call_hurt_nobody_else(self):
        """All calls share a connection within the server, which gRPC ends over 8 KiB of
        metadata."""
        large = "a" * 15_000
        trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
        value = "\u00e9" * 128
        labels = {f"cobra-label-{i}{'n' * 63}": value for i in range(8)}
        refused = {
            "authorization, which nobody looks at": ({"Authorization": large}, 200),
            "a trace that is none": ({"traceparent": large}, 200),
            "a trace of a later version": ({"traceparent": "cc" + trace[2:] + "-" + large}, 200),
            "a large label": ({"cobra-label-a": large}, 400),
            "a label with a large name": ({"cobra-label-" + large: "x"}, 400),
            "many labels": ({f"cobra-label-{i}": "x" * 256 for i in range(30)}, 400),
            "all of it at its limit": ({"traceparent": trace, **labels}, 200),
        }
        stop, statuses = threading.Event(), []

        def somebody_else():
            with Connection(self.address) as connection:
                while not stop.is_set():
                    connection.send(request("GET", "/v1/model-info"))
                    statuses.append(connection.reply().status)

        thread = threading.Thread(target=somebody_else)
        thread.start()
        try:
            for _ in range(20):
                for name, (headers, status) in refused.items():
                    self.assertEqual(self.ask("GET", "/v1/model-info", headers=headers).status, status, name)
        finally:
            stop.set()
            thread.join()
        self.assertEqual(set(statuses), {200})

    def test_one_caller_has_its_share_of_calls(self):
        waiting = []
        head = request("POST", PREDICT, headers={"Content-Length": 10, "Content-Type": "application/json"})
        for _ in range(512):  # heads without a body
            waiting.append(Connection(self.address))
            waiting[-1].send(head)
        refused = None
        deadline = time.time() + 20
        while refused is None and time.time() < deadline:
            with Connection(self.address) as connection:
                connection.send(request("GET", "/v1/model-info"))
                reply = connection.reply()
                refused = reply if reply.status == 429 else None
        self.assertIsNotNone(refused)
        self.assertIn("more than the limit of 512 calls", refused.error()["message"])
        for connection in waiting:
            connection.close()
        while self.ask("GET", "/v1/model-info").status != 200:
            self.assertLess(time.time(), deadline)

    def test_large_errors_hurt_nobody_else(self):
        """What an error repeats of the request goes back through the same connection."""
        for name in ("x" * 60_000, "\u00e9" * 30_000, "\u4e2d" * 20_000, "%" * 60_000):
            replies = [
                self.post(json.dumps({"architecture": {"text": name}, "targets": ["x"]})),
                self.post(json.dumps({"architecture": {"text": "nasbench201:|"}, "targets": [name]})),
                self.post(json.dumps({name: 1})),
            ]
            file = {"path": name[:900] + ".py", "text": base64.b64encode(("raise " + name).encode()).decode()}
            source = {"files": [file], "file": file["path"], "entry": name[:2000], "inputs": [name[:2000]]}
            replies.append(self.post(json.dumps({"source": source, "targets": ["x"]})))
            for reply in replies:
                self.assertIn(reply.status, (400, 404, 422), reply.body[:300])
                self.assertTrue(reply.error()["message"])

    def test_no_request_hides_inside_another_ones_body(self):
        hidden = b"GET /v1/model-info HTTP/1.1\r\nHost: localhost\r\n\r\n"
        start = b"POST /v1/predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        length = b"Content-Length: %d\r\n" % len(hidden)
        for head, statuses in (
            (length + b"Transfer-Encoding: chunked\r\n", (400, 411)),
            (b"Transfer-Encoding: chunked\r\n" + length, (400, 411)),
            (b"Transfer-Encoding: chunked\r\n", (411,)),
            (b"Transfer-Encoding: xchunked\r\n", (411,)),
            (b"Transfer-Encoding : chunked\r\n", (400,)),
            (b"Content-Length: 0\r\n" + length, (400,)),
            (b"Content-Length: -1\r\n", (400,)),
            (b"Content-Length: +5\r\n", (400,)),
            (b"Content-Length: 0x10\r\n", (400,)),
            (b"Content-Length: 99999999999999999999999\r\n", (400,)),
            (b"Content-Length: 1 2\r\n", (400,)),
        ):
            with Connection(self.address) as connection:
                connection.send(start + head + b"\r\n" + hidden)
                self.assertIn(connection.reply().status, statuses, head)
                self.assertTrue(connection.closed(), head)  # and nothing more is answered
        for data in (
            b"GET /v1/model-info HTTP/1.1\nHost: localhost\n\n",
            b"GET  /v1/model-info HTTP/1.1\r\nHost: localhost\r\n\r\n",
            b"GET /v1/model-info HTTP/2.0\r\nHost: localhost\r\n\r\n",
            b"GET /v1/model-info\r\n\r\n",
            b"GET /v1/\x00 HTTP/1.1\r\nHost: localhost\r\n\r\n",
            b"GET / HTTP/1.1\r\nHost: localhost\r\nX\x00: a\r\n\r\n",
            b"GET / HTTP/1.1\r\nHost: localhost\r\nX: a\x00b\r\n\r\n",
            b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"a" * 100,
            b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
            b"\xff" * 100,
        ):
            self.assertEqual(self.raw(data).status, 400, data[:40])

    def test_requests_in_a_row_are_answered_in_their_order(self):
        with Connection(self.address) as connection:
            connection.send(b"".join(request("GET", path) for path in ["/v1/model-info", "/nothing"] * 50))
            self.assertEqual([connection.reply().status for _ in range(100)], [200, 404] * 50)

    def test_forms_that_are_none(self):
        part = b'--x\r\nContent-Disposition: form-data; name="model"; filename="%s"\r\n\r\n%s\r\n'
        kind = {"Content-Type": "multipart/form-data; boundary=x"}
        for body in (
            b"",
            b"--x",
            b"--x--",
            part % (b"net.py", b"x"),
            part % (b"../../etc/passwd", b"x") + b"--x--",
            part % (b"/etc/passwd.py", b"x") + b"--x--",
            part % (b"..\\..\\net.py", b"import os") + b"--x--",
            part % (b"a\x00.py", b"x") + b"--x--",
            part % (b"\xff.py", b"x") + b"--x--",
            part % (b"net.onnx", b"\x00" * 1000) + b"--x--",
            b"--x\r\n" * 10_000,
            b"--x\r\n" + b"A: " + b"b" * 20_000 + b"\r\n\r\n1\r\n--x--",
        ):
            reply = self.ask("POST", PREDICT, body or b"\r\n", headers=kind)
            self.assertIn(reply.status, (400, 422), body[:60])
            self.assertTrue(reply.error()["message"])

    def test_slow_clients_hold_no_thread_and_are_ended(self):
        slow = []
        for _ in range(50):
            connection = Connection(self.address, timeout=30)
            connection.send("GET /v1/model-info HTTP/1.1\r\nHost: local")
            slow.append(connection)
        half = Connection(self.address, timeout=30)
        half.send(request("POST", PREDICT, headers={"Content-Length": 1000, "Content-Type": "application/json"}) + b"{")
        deadline = time.time() + 25
        while slow and time.time() < deadline:  # a byte from time to time does not help
            self.assertEqual(self.ask("GET", "/v1/model-info").status, 200)
            for connection in list(slow):
                try:
                    connection.send("x")
                except OSError:
                    slow.remove(connection)
                    connection.close()
            time.sleep(1)
        self.assertEqual(slow, [])
        half.close()

    def test_whoever_goes_away_is_not_worked_for(self):
        for _ in range(20):
            connection = Connection(self.address)
            body = json.dumps({"architecture": {"text": "nasbench201:|"}, "targets": ["x"]})
            connection.send(request("POST", PREDICT, body))
            connection.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            connection.close()  # with a reset

    def test_many_connections_make_room_for_new_ones(self):
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        wanted = 1200
        if hard != resource.RLIM_INFINITY and hard < wanted + 100:
            self.skipTest("this process may not open so many connections")
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, wanted + 100), hard))
        connections = [Connection(self.address) for _ in range(wanted)]
        self.assertEqual(self.ask("GET", "/v1/model-info").status, 200)
        for connection in connections:
            connection.close()


if __name__ == "__main__":
    programs.main()
