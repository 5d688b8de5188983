#!/usr/bin/env python3
"""Who may do what: every RPC with every role and every kind of credential, TLS, files that change,
and addresses that a server does not listen on without them."""
import hashlib
import importlib
import json
import os
import queue
import shutil
import socket
import stat
import subprocess
import tempfile
import threading
import time
import unittest
import urllib.request

import grpc

import certificates
import programs
import queue_run

OK, INVALID, NOT_FOUND = grpc.StatusCode.OK, grpc.StatusCode.INVALID_ARGUMENT, grpc.StatusCode.NOT_FOUND
UNAUTHENTICATED, DENIED = grpc.StatusCode.UNAUTHENTICATED, grpc.StatusCode.PERMISSION_DENIED
UNAVAILABLE = grpc.StatusCode.UNAVAILABLE

# RPC: who may call it, and what the call of `requests()` then ends with.
ANY = {"ask", "measure", "admin"}
TABLE = {
    "Predict": ({"ask", "admin"}, OK),
    "PredictBatch": ({"ask", "admin"}, OK),
    "PredictStream": ({"ask", "admin"}, OK),
    "ListTargets": (ANY, OK),
    "GetModelInfo": (ANY, OK),
    "Calibrate": ({"measure", "admin"}, INVALID),  # its probe is empty
    "UndoCalibration": ({"measure", "admin"}, INVALID),  # there is no such version
    "Adapt": ({"measure", "admin"}, INVALID),  # its data sheet is empty
    "Observe": ({"measure", "admin"}, NOT_FOUND),
    "ExportTarget": ({"measure", "admin"}, NOT_FOUND),
    "SuggestSamples": ({"ask", "admin"}, INVALID),  # likewise
    "ListPredictions": ({"ask", "admin"}, OK),
    "Enqueue": ({"ask", "admin"}, OK),
    "Lease": ({"measure", "admin"}, OK),
    "Renew": ({"measure", "admin"}, OK),
    "Report": ({"measure", "admin"}, OK),
    "Cancel": ({"ask", "admin"}, OK),
    "Watch": ({"ask", "admin"}, OK),
    "ReloadModel": ({"admin"}, OK),
    "ListModelVersions": ({"admin"}, OK),
    "GetCaches": ({"admin"}, OK),
    "FlushCaches": ({"admin"}, OK),
    "Drain": ({"admin"}, OK),  # ends the server: allowed callers come last
}
ARCHITECTURE = "nasbench201:|nor_conv_3x3~0|+|none~0|skip_connect~1|+|nor_conv_1x1~0|avg_pool_3x3~1|none~2|"
LIST_SERVICES = b"\x3a\x01*"  # ServerReflectionRequest with list_services "*"


def token_line(folder, name, role, *flags):
    """`cobra-server token`: (token, line of the access file)."""
    path = os.path.join(folder, f"{name}-{len(os.listdir(folder))}.token")
    program = [os.path.join(programs.BIN, "cobra-server"), "token", "--name", name, "--role", role, "--out", path]
    line = subprocess.run([*program, *flags], check=True, capture_output=True, text=True).stdout
    with open(path) as file:
        return file.read().strip(), line


def write(path, text):
    with open(path + ".new", "w") as file:
        file.write(text)
    os.rename(path + ".new", path)


def bearer(token):
    return [("authorization", "Bearer " + token)]


class Caller:
    """A way to call: a channel and the metadata of its calls."""

    def __init__(self, channel, metadata=()):
        self.channel, self.metadata = channel, metadata

    def code(self, path, request, stream=False):
        """The status of one call with the bytes of `request`."""
        kind = self.channel.unary_stream if stream else self.channel.unary_unary
        method = kind(path, request_serializer=bytes, response_deserializer=bytes)
        try:
            answer = method(request, metadata=self.metadata, timeout=30)
            if stream:
                list(answer)
            return OK
        except grpc.RpcError as error:
            self.details = error.details()
            return error.code()


class Access(unittest.TestCase):
    SERVER_FLAGS = ()

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp()
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        cls.pb, _ = programs.stubs()
        cls.queue, _ = programs.measurement_stubs()
        cls.graph_pb2 = importlib.import_module("cobra.v1.graph_pb2")
        cls.admin_pb2 = importlib.import_module("cobra.v1.admin_pb2")
        cls.authority = certificates.Authority(cls.folder)
        cls.pair = cls.authority.issue("server", "cobra", "DNS:localhost,IP:127.0.0.1")
        cls.tokens, lines = {}, []
        for name, role, *flags in (
            ("alice", "ask"),
            ("pi-4", "measure", "--worker", "pi-4", "--targets", "pi-4,pi-4-int8"),
            ("ops", "admin"),
        ):
            cls.tokens[role], line = token_line(cls.folder, name, role, *flags)
            lines.append(line)
        lines.append("name=carol role=ask certificate=carol\n")
        lines.append("name=pi-5 role=measure worker=pi-5 targets=pi-5 certificate=pi-5.example.org\n")
        cls.lines = "# a comment\n\n" + "".join(lines)
        cls.access = os.path.join(cls.folder, "access")
        write(cls.access, cls.lines)

    def start(self, *flags, tls=True):
        store = os.path.join(tempfile.mkdtemp(dir=self.folder), "store.sqlite")
        tls_flags = ("--tls-cert", self.pair.cert, "--tls-key", self.pair.key, "--tls-ca", self.authority.cert)
        self.server = programs.Server(store, *(tls_flags if tls else ()), *flags)
        self.addCleanup(self.server.__exit__)
        return self.server

    def channel(self, pair=None, authority=None, address=None):
        with open((authority or self.authority).cert, "rb") as file:
            roots = file.read()
        cert, key = pair.read() if pair else (None, None)
        credentials = grpc.ssl_channel_credentials(roots, key, cert)
        # Of its own: channels with equal arguments share their connection.
        options = [("grpc.use_local_subchannel_pool", 1)]
        channel = grpc.secure_channel(address or self.server.address, credentials, options)
        self.addCleanup(channel.close)
        return channel

    def caller(self, role, **options):
        return Caller(self.channel(**options), bearer(self.tokens[role]) if role else ())

    def requests(self, worker="pi-4", target="pi-4"):
        """RPC: its path, a request of it, and whether it streams."""
        pb, queue, admin = self.pb, self.queue, self.admin_pb2
        second = queue.LeaseRequest().duration
        second.seconds = 1
        trained = trained_target()
        predict = pb.PredictRequest(architecture=pb.Architecture(text=ARCHITECTURE), targets=[trained])
        messages = {
            "Predict": predict,
            "PredictBatch": pb.PredictBatchRequest(requests=[predict]),
            "PredictStream": pb.PredictStreamRequest(request=predict),
            "ListTargets": pb.ListTargetsRequest(),
            "GetModelInfo": pb.GetModelInfoRequest(),
            "Calibrate": pb.CalibrateRequest(target=target),
            "UndoCalibration": pb.UndoCalibrationRequest(target=target, version=1),
            "Adapt": pb.AdaptRequest(name=target or "nameless"),
            "Observe": pb.ObserveRequest(target=target or "nameless"),
            "ExportTarget": pb.ExportTargetRequest(target=target or "nameless"),
            "SuggestSamples": pb.SuggestSamplesRequest(),
            "ListPredictions": pb.ListPredictionsRequest(),
            "Enqueue": queue.EnqueueRequest(),
            "Lease": queue.LeaseRequest(worker=worker, target=target, max_tasks=1, duration=second),
            "Renew": queue.RenewRequest(worker=worker),
            "Report": queue.ReportRequest(worker=worker),
            "Cancel": queue.CancelRequest(),
            "Watch": queue.WatchRequest(),
            "ReloadModel": admin.ReloadModelRequest(),
            "ListModelVersions": admin.ListModelVersionsRequest(),
            "GetCaches": admin.GetCachesRequest(),
            "FlushCaches": admin.FlushCachesRequest(),
            "Drain": admin.DrainRequest(),
        }
        paths = {
            method.name: (f"/{service.full_name}/{method.name}", method.name in ("PredictStream", "Watch"))
            for proto in (pb.DESCRIPTOR, queue.DESCRIPTOR, admin.DESCRIPTOR)
            for service in proto.services_by_name.values()
            for method in service.methods
        }
        self.assertEqual(set(paths), set(TABLE), "an RPC without a row in this table")
        return {name: (path, messages[name].SerializeToString(), stream) for name, (path, stream) in paths.items()}

    def until(self, condition, what, seconds=20):
        until = time.time() + seconds
        while not condition():
            self.assertLess(time.time(), until, f"{what}\n{self.server.log()}")
            time.sleep(0.2)


def trained_target():
    """The trained target of the shipped model."""
    with open(os.path.join(programs.SOURCE, "model", "pretrained", "manifest.json")) as file:
        return json.load(file)["targets"][0]["spec"]["name"]


class RolesTest(Access):
    def test_every_rpc_with_every_credential(self):
        self.start("--access", self.access)
        other = certificates.Authority(self.folder, "other-authority")
        issue = self.authority.issue
        no_role = {name: UNAUTHENTICATED for name in TABLE}
        no_connection = {name: UNAVAILABLE for name in TABLE}
        plain = grpc.insecure_channel(self.server.address)
        self.addCleanup(plain.close)

        def of(role):
            return {name: code if role in roles else DENIED for name, (roles, code) in TABLE.items()}

        rows = [
            ("no credential", self.caller(None), no_role),
            ("wrong token", Caller(self.channel(), bearer("cobra_" + "A" * 43)), no_role),
            ("no Bearer", Caller(self.channel(), [("authorization", self.tokens["admin"])]), no_role),
            ("empty token", Caller(self.channel(), bearer("")), no_role),
            ("two tokens", Caller(self.channel(), bearer(self.tokens["admin"]) * 2), no_role),
            (
                "the hash instead of the token",
                Caller(self.channel(), bearer(hashlib.sha256(self.tokens["admin"].encode()).hexdigest())),
                no_role,
            ),
            ("plain text", Caller(plain, bearer(self.tokens["admin"])), no_connection),
            *((role, self.caller(role), of(role)) for role in self.tokens),
            ("certificate, common name", self.caller(None, pair=issue("carol", "carol")), of("ask")),
            ("certificate, not in the file", self.caller(None, pair=issue("dave", "dave")), no_role),
            ("certificate and token", self.caller("admin", pair=issue("dave", "dave")), of("admin")),
            ("expired certificate", self.caller(None, pair=issue("old", "carol", days=-1)), no_connection),
            (
                "certificate of another authority",
                self.caller(None, pair=other.issue("false", "carol")),
                no_connection,
            ),
        ]
        for what, caller, wanted in rows:
            for name, (path, request, stream) in self.requests().items():
                if name == "Drain" and wanted[name] == OK:
                    continue
                with self.subTest(f"{name}, {what}"):
                    self.assertEqual(caller.code(path, request, stream), wanted[name])
        # A certificate that is bound to a worker: by its alternative name.
        caller = self.caller(None, pair=issue("pi-5", "whatever", "DNS:pi-5.example.org"))
        for name, (path, request, stream) in self.requests("pi-5", "pi-5").items():
            with self.subTest(f"{name}, certificate, alternative name"):
                self.assertEqual(caller.code(path, request, stream), of("measure")[name])
        for token in self.tokens.values():
            self.assertNotIn(token, self.server.log())
        with urllib.request.urlopen(f"http://{self.server.metrics_address}/metrics", timeout=10) as answer:
            metrics = answer.read().decode()
        self.assertRegex(metrics, r'cobra_requests_total\{method="Predict",status="UNAUTHENTICATED"\} [1-9]')
        self.assertRegex(metrics, r'cobra_requests_total\{method="Predict",status="PERMISSION_DENIED"\} [1-9]')
        path, request, stream = self.requests()["Drain"]
        self.assertEqual(self.caller("admin").code(path, request, stream), OK)
        self.assertEqual(self.server.process.wait(timeout=30), 0)

    def test_failed_handshakes_do_not_fill_the_log(self):
        self.start("--access", self.access)
        host, port = self.server.address.rsplit(":", 1)
        for _ in range(30):
            with socket.create_connection((host, int(port)), timeout=10) as connection:
                connection.sendall(b"GET / HTTP/1.1\r\n\r\n")
                try:
                    connection.recv(100)
                except ConnectionError:
                    pass
        path, request, stream = self.requests()["GetModelInfo"]
        self.assertEqual(self.caller("ask").code(path, request, stream), OK)
        lines = [line for line in self.server.log().splitlines() if "ssl" in line.lower()]
        self.assertLessEqual(len(lines), 2, lines)

    def test_what_is_beside_our_rpcs(self):
        self.start("--access", self.access)

        def reflect(caller):
            method = caller.channel.stream_stream("/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo")
            try:
                return next(method(iter([LIST_SERVICES]), metadata=caller.metadata, timeout=30))
            except grpc.RpcError as error:
                return error.code()

        stranger = self.caller(None)
        self.assertEqual(reflect(stranger), UNAUTHENTICATED)
        for role in self.tokens:
            self.assertIn(b"cobra.v1.Cobra", reflect(self.caller(role)))
        self.assertEqual(stranger.code("/grpc.health.v1.Health/Check", b""), OK)
        self.assertEqual(stranger.code("/cobra.v1.Cobra/Nothing", b""), UNAUTHENTICATED)
        self.assertEqual(self.caller("ask").code("/cobra.v1.Cobra/Nothing", b""), grpc.StatusCode.UNIMPLEMENTED)
        # A stranger is refused before a message is received: this one never sends one.
        never = threading.Event()
        self.addCleanup(never.set)
        method = stranger.channel.stream_unary("/cobra.v1.Cobra/Predict")
        with self.assertRaises(grpc.RpcError) as raised:
            method(iter(lambda: never.wait() and b"", b""), timeout=30)
        self.assertEqual(raised.exception.code(), UNAUTHENTICATED)

    def test_a_worker_stays_within_its_name_and_targets(self):
        self.start("--access", self.access)
        caller, admin = self.caller("measure"), self.caller("admin")
        bound = ("Lease", "Renew", "Report", "Calibrate", "Adapt", "Observe", "ExportTarget")
        for worker, target, denied in (
            ("pi-4", "pi-4", ()),
            ("pi-4", "pi-4-int8", ()),
            ("pi-4", "gpu", ("Lease", "Calibrate", "Adapt", "Observe", "ExportTarget")),
            ("pi-4", "", ("Calibrate", "Adapt", "Observe", "ExportTarget")),  # this-machine
            ("pi-5", "pi-4", ("Lease", "Renew", "Report")),
        ):
            requests = self.requests(worker, target)
            for name in bound:
                path, request, _ = requests[name]
                with self.subTest(f"{name} as {worker} for {target}"):
                    wanted = DENIED if name in denied else INVALID if name == "Lease" and not target else TABLE[name][1]
                    self.assertEqual(caller.code(path, request), wanted)
                    if wanted == DENIED:
                        self.assertRegex(caller.details, "pi-4 may (be|touch)")
                        self.assertEqual(admin.code(path, request), TABLE[name][1])
        # A record for another target's task is refused, and those beside it are not stored.
        mine, other = (queue_run.tasks(self.queue, self.graph_pb2, 1, target=name)[0] for name in ("pi-4", "gpu"))
        stub_of = importlib.import_module("cobra.v1.measurements_pb2_grpc").MeasurementsStub
        ids = stub_of(admin.channel).Enqueue(
            self.queue.EnqueueRequest(tasks=[mine, other]), metadata=admin.metadata, timeout=30
        )
        records = [self.queue.TaskRecord(task_id=task_id, record_json="{}") for task_id in ids.task_ids]
        path, _, _ = self.requests()["Report"]
        for count, wanted in ((2, DENIED), (1, OK)):
            report = self.queue.ReportRequest(worker="pi-4", records=records[:count])
            self.assertEqual(caller.code(path, report.SerializeToString()), wanted)

    def test_tokens_without_tls(self):
        access = os.path.join(self.folder, "tokens-only")
        write(access, "".join(line for line in self.lines.splitlines(True) if "certificate=" not in line))
        self.start("--access", access, tls=False)
        channel = grpc.insecure_channel(self.server.address)
        self.addCleanup(channel.close)
        path, request, _ = self.requests()["Predict"]
        for role, wanted in ((None, UNAUTHENTICATED), ("ask", OK), ("measure", DENIED), ("admin", OK)):
            caller = Caller(channel, bearer(self.tokens[role]) if role else ())
            self.assertEqual(caller.code(path, request), wanted)
        method = channel.stream_stream("/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo")
        with self.assertRaises(grpc.RpcError) as raised:
            next(method(iter([LIST_SERVICES]), timeout=30))
        self.assertEqual(raised.exception.code(), UNAUTHENTICATED)

    def test_without_an_access_file_everybody_may_do_everything(self):
        self.start(tls=False)
        channel = grpc.insecure_channel(self.server.address)
        self.addCleanup(channel.close)
        for name, (path, request, stream) in self.requests().items():
            with self.subTest(name):
                self.assertEqual(Caller(channel).code(path, request, stream), TABLE[name][1])


class ReloadTest(Access):
    def test_the_access_file(self):
        access = os.path.join(self.folder, "changing")
        write(access, self.lines)
        self.start("--access", access)
        path, request, _ = self.requests()["ListTargets"]
        token, line = token_line(self.folder, "bob", "ask")
        bob, alice = Caller(self.channel(), bearer(token)), self.caller("ask")
        self.assertEqual((bob.code(path, request), alice.code(path, request)), (UNAUTHENTICATED, OK))
        write(access, line)
        self.until(lambda: bob.code(path, request) == OK, "the new line does not count")
        self.assertEqual(alice.code(path, request), UNAUTHENTICATED)
        for broken, words in (
            (line + f"name=eve role=king token_sha256={'0' * 64}\n", "2: role= is ask, measure or admin"),
            (f"name=eve role=ask token_sha256={self.tokens['ask']}\n", "1: token_sha256= is not a SHA-256"),
            ("", "has no credential"),
            (None, "cannot be opened"),
        ):
            os.remove(access) if broken is None else write(access, broken)
            self.until(lambda: bob.code(path, request) != OK or words in self.server.log(), words)
            self.assertEqual(bob.code(path, request), OK)
            self.assertIn("the previous contents still apply", self.server.log())
        self.assertNotIn(self.tokens["ask"], self.server.log())
        write(access, self.lines)
        self.until(lambda: alice.code(path, request) == OK, "the repaired file does not count")

    def test_an_open_stream_ends_with_its_credential(self):
        access = os.path.join(self.folder, "withdrawn")
        write(access, self.lines)
        self.start("--access", access)
        _, services = programs.stubs()
        message = self.pb.PredictStreamRequest(request_id=7)
        message.request.ParseFromString(self.requests()["Predict"][1])
        sent = queue.Queue()
        stream = services.CobraStub(self.channel()).PredictStream(
            iter(sent.get, None), metadata=bearer(self.tokens["ask"]), timeout=60
        )
        sent.put(message)
        self.assertEqual(next(stream).request_id, 7)
        write(access, token_line(self.folder, "bob", "ask")[1])
        path, request, _ = self.requests()["ListTargets"]
        self.until(lambda: self.caller("ask").code(path, request) == UNAUTHENTICATED, "the token still counts")
        time.sleep(1.1)  # so long the stream trusts it
        sent.put(message)
        with self.assertRaises(grpc.RpcError) as ended:
            next(stream)
        self.assertEqual(ended.exception.code(), UNAUTHENTICATED)
        sent.put(None)

    def test_certificates(self):
        pair = certificates.Pair(self.folder, "changing")
        shutil.copy(self.pair.cert, pair.cert), shutil.copy(self.pair.key, pair.key)
        flags = ("--tls-cert", pair.cert, "--tls-key", pair.key, "--tls-ca", self.authority.cert)
        self.start(*flags, "--access", self.access, tls=False)
        path, request, _ = self.requests()["ListTargets"]
        other = certificates.Authority(self.folder, "next-authority")
        following = other.issue("next", "cobra", "IP:127.0.0.1")

        def code(authority):
            return self.caller("ask", authority=authority).code(path, request)

        open_before = self.caller("ask")
        self.assertEqual((open_before.code(path, request), code(other)), (OK, UNAVAILABLE))
        write(pair.cert, following.read()[0].decode())  # its key follows
        self.until(lambda: code(self.authority) != OK or "is not the private key" in self.server.log(), "not looked at")
        self.assertEqual(code(self.authority), OK)
        self.assertIn("the certificates read before continue to serve", self.server.log())
        write(pair.key, following.read()[1].decode())
        self.until(lambda: code(other) == OK, "the new certificate does not serve")
        self.assertEqual(code(self.authority), UNAVAILABLE)
        self.assertEqual(open_before.code(path, request), OK)  # a connection goes on

    def test_tokens_need_no_authority_of_clients(self):
        access = os.path.join(self.folder, "only-tokens")
        write(access, "".join(line for line in self.lines.splitlines(True) if "certificate=" not in line))
        flags = ("--tls-cert", self.pair.cert, "--tls-key", self.pair.key, "--access", access)
        self.start(*flags, tls=False)
        path, request, _ = self.requests()["ListTargets"]
        self.assertEqual(self.caller("ask").code(path, request), OK)
        self.assertEqual(self.caller(None).code(path, request), UNAUTHENTICATED)
        self.assertEqual(self.caller(None, pair=self.pair).code(path, request), UNAUTHENTICATED)


class StartTest(Access):
    def refused(self, *flags):
        flags = [*flags, "--store", os.path.join(self.folder, "never.sqlite")]
        answer = subprocess.run(
            [os.path.join(programs.BIN, "cobra-server"), *flags], capture_output=True, text=True, timeout=60
        )
        self.assertIn(answer.returncode, (1, 2), answer.stderr)
        return answer

    def test_an_open_address_needs_protection(self):
        answer = self.refused("--listen", "0.0.0.0:0")
        self.assertEqual(answer.returncode, 2)
        self.assertIn("--listen 0.0.0.0:0: other machines can reach it\nhint: give --tls-cert and", answer.stderr)
        self.assertIn("--insecure-metrics", self.refused("--metrics", "0.0.0.0:0", "--insecure").stderr)

    def test_files_that_cannot_be_used(self):
        other = self.authority.issue("unrelated", "cobra")
        broken = os.path.join(self.folder, "broken")
        write(broken, "name=eve\n")
        cert = ("--tls-cert", self.pair.cert)
        for flags, words in (
            ((*cert, "--tls-key", other.key), f"{other.key}: is not the private key of the certificate in"),
            (("--access", broken), f"{broken}:1: role= is ask, measure or admin"),
            (("--access", self.access), "has certificate=, which needs --tls-ca"),
        ):
            with self.subTest(words):
                self.assertIn(words, self.refused(*flags).stderr)

    def test_open_addresses_with_protection_or_by_intention(self):
        self.start("--listen", "0.0.0.0:0", "--access", self.access)
        port = self.server.address.rsplit(":", 1)[1]
        path, request, _ = self.requests()["ListTargets"]
        self.assertEqual(self.caller("ask", address=f"127.0.0.1:{port}").code(path, request), OK)
        insecure = ("--insecure", "--insecure-metrics")
        self.start("--listen", "0.0.0.0:0", "--metrics", "0.0.0.0:0", *insecure, tls=False)
        self.assertIn("anyone who reaches this address may do anything", self.server.log())

    def test_tokens_are_made_for_their_owner_alone(self):
        token, line = token_line(self.folder, "zoe", "measure", "--worker", "z", "--targets", "a,b")
        digest = hashlib.sha256(token.encode()).hexdigest()
        self.assertEqual(line, f"name=zoe role=measure worker=z targets=a,b token_sha256={digest}\n")
        self.assertRegex(token, r"^cobra_[A-Za-z0-9_-]{43}$")
        path = os.path.join(self.folder, "out.token")
        make = [os.path.join(programs.BIN, "cobra-server"), "token", "--name", "zoe", "--role"]
        subprocess.run([*make, "ask", "--out", path], check=True, capture_output=True)
        self.assertEqual(stat.S_IMODE(os.stat(path).st_mode), 0o600)
        for flags, words in (
            (["ask", "--out", path], "File exists"),
            (["measure", "--out", path + "2"], "needs worker"),
        ):
            answer = subprocess.run([*make, *flags], capture_output=True, text=True)
            self.assertEqual(answer.returncode, 2)
            self.assertIn(words, answer.stderr)
        self.assertFalse(os.path.exists(path + "2"))


class ClientsTest(Access):
    def token_file(self, role):
        path = os.path.join(self.folder, role + ".secret")
        write(path, self.tokens[role] + "\n")
        return path

    def test_cobra_client(self):
        self.start("--access", self.access)
        ca, token = ("--tls-ca", self.authority.cert), ("--token-file", self.token_file("ask"))
        carol = self.authority.issue("carol", "carol")
        other = certificates.Authority(self.folder, "unknown-authority")
        localhost = "localhost:" + self.server.address.rsplit(":", 1)[1]
        empty = os.path.join(self.folder, "empty")
        write(empty, "\n")
        for flags, code, words in (
            ((*ca, *token), 0, ""),
            ((*ca, *token, "--server", localhost), 0, ""),
            ((*ca, "--tls-cert", carol.cert, "--tls-key", carol.key), 0, ""),
            (ca, 2, "neither a token nor a client certificate\nhint: give the token"),
            ((*ca, "--token-file", self.token_file("measure")), 0, ""),
            ((*ca, "--token-file", empty), 2, "does not hold one token"),
            ((*ca, "--token-file", "/no/such/file"), 2, "--token-file /no/such/file: cannot be opened"),
            (("--tls-ca", other.cert, *token), 3, "certificate verify failed"),
            (token, 3, "--tls-ca"),
            ((*token, "--server", "192.0.2.1:50051"), 2, "could read the token"),
            (("--tls-cert", carol.cert, "--tls-key", carol.key), 2, "need --tls-ca"),
            ((*ca, "--tls-cert", carol.cert), 2, "one was given without the other"),
            (("--tls-ca", carol.key), 2, "--tls-ca"),
        ):
            with self.subTest(" ".join(flags)):
                server = () if "--server" in flags else ("--server", self.server.address)
                answer = programs.client("targets", *server, *flags)
                self.assertEqual(answer.code, code, answer.err)
                self.assertIn(words, answer.err)
        answer = programs.client("calibrate", "--server", self.server.address, *ca, *token, "--probe", "/dev/null")
        self.assertEqual(answer.code, 2)

    def test_lists_and_sweeps(self):
        self.start("--access", self.access)
        ca, token = ("--tls-ca", self.authority.cert), ("--token-file", self.token_file("ask"))
        cell = "nasbench201:|none~0|+|none~0|none~1|+|none~0|none~1|nor_conv_3x3~2|"
        path = os.path.join(self.folder, "list.csv")
        write(path, f"row,model\n1,{cell}\n")
        asked = ("--target", trained_target(), "--server", self.server.address, *ca)
        for command in (("predict", "--list", path), ("sweep", "--arch", cell, "--batch", "1,2")):
            with self.subTest(command[0]):
                answer = programs.client(*command, *asked, *token)
                self.assertEqual(answer.code, 0, answer.err)
                self.assertEqual(programs.client(*command, *asked).code, 2)

    def test_a_server_with_another_name_is_not_trusted(self):
        pair = self.authority.issue("elsewhere", "127.0.0.1", "DNS:elsewhere.example.org")
        self.start("--access", self.access, "--tls-cert", pair.cert, "--tls-key", pair.key, tls=False, *self.ca())
        answer = programs.client(
            "targets", "--server", self.server.address, "--tls-ca", self.authority.cert, "--deadline-s", "5"
        )
        self.assertEqual(answer.code, 3, answer.err)

    def ca(self):
        return ("--tls-ca", self.authority.cert)

    @unittest.skipUnless(programs.measures_itself(), "this cobra-worker carries no LibTorch")
    def test_cobra_worker(self):
        self.start("--access", self.access)
        admin = self.caller("admin")
        wanted = queue_run.tasks(self.queue, self.graph_pb2, 2, target="pi-4")
        request = self.queue.EnqueueRequest(tasks=wanted).SerializeToString()
        self.assertEqual(admin.code(self.requests()["Enqueue"][0], request), OK)
        work = [os.path.join(programs.BIN, "cobra-worker"), "work", "--server", self.server.address, "--until-idle"]
        work += ["--target", "pi-4", "--spool", os.path.join(self.folder, "spool"), "--keep-disturbed", *self.ca()]
        work += ["--token-file", self.token_file("measure"), "--worker", "pi-4", "--share-device"]
        answer = subprocess.run(work, capture_output=True, text=True, timeout=300, cwd=programs.SOURCE)
        self.assertEqual(answer.returncode, 0, answer.stderr)
        self.assertEqual(queue_run.Rows(self.server.store, None).states(), {"done": 2}, answer.stderr)


if __name__ == "__main__":
    programs.main()
