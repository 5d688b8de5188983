#!/usr/bin/env python3
"""The HTTP API as people use it: curl with files, JSON, roles, TLS, the OpenAPI document, the page,
metrics and a drain."""
import base64
import json
import os
import ssl
import subprocess
import tempfile
import threading
import time
import unittest

import grpc
import jsonschema
from google.protobuf import json_format

import certificates
import programs
import raw_http

NET = """from torch import nn


class Net(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.conv = nn.Conv2d(3, width, 3)
        self.fc = nn.Linear(width, 10)

    def forward(self, x):
        return self.fc(self.conv(x).mean((2, 3)))
"""
ARCHITECTURE = "nasbench201:|nor_conv_3x3~0|+|none~0|skip_connect~1|+|nor_conv_1x1~0|avg_pool_3x3~1|none~2|"
TWO = NET + "\n\nclass Other(Net):\n    pass\n\n\nclass Third(nn.Linear):\n    pass\n"


def curl(*arguments):
    """(HTTP status, body)"""
    run = subprocess.run(
        ["curl", "-sS", "-w", "\n%{http_code}", *arguments], capture_output=True, text=True, timeout=120
    )
    assert run.returncode == 0, run.stderr
    body, status = run.stdout.rsplit("\n", 1)
    return int(status), body


class Http(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.server = programs.Server(os.path.join(cls.folder.name, "store.sqlite"), "--http", "127.0.0.1:0")
        cls.addClassCleanup(cls.server.__exit__)
        cls.target = programs.first_target(cls.server)
        cls.url = f"http://{cls.server.http_address}"

    def path(self, name, text):
        path = os.path.join(self.folder.name, name)
        with open(path, "w") as file:
            file.write(text)
        return path

    def post(self, path, message, **headers):
        return raw_http.ask(self.server.http_address, "POST", path, json.dumps(message), headers=headers)

    def get(self, path):
        return raw_http.ask(self.server.http_address, "GET", path)

    def test_curl_sends_a_file_and_the_answer_is_that_of_grpc(self):
        net = self.path("net.py", NET)
        form = ["-F", f"model=@{net}", "-F", "input=1x3x32x32", "-F", f"target={self.target}"]
        status, body = curl(*form, "-F", "breakdown=true", self.url + "/v1/predict")
        self.assertEqual(status, 200, body)
        reply = json.loads(body)
        arguments = [net, "--entry", "Net()", "--input", "1x3x32x32", "--target", self.target]
        expected = programs.predict(self.server, *arguments).json()
        self.assertEqual(reply["predictions"][0]["latency_us"], expected["predictions"][0]["latency_us"])
        self.assertEqual(reply["fingerprint"], expected["fingerprint"])
        self.assertEqual(len(reply["predictions"][0]["breakdown"]), reply["node_count"])
        self.assertEqual(reply["predictions"][0]["breakdown"][0]["file"], "net.py")

    def test_without_a_target_all_trained_ones_answer(self):
        status, body = curl("-F", "arch=" + ARCHITECTURE, self.url + "/v1/predict")
        self.assertEqual(status, 200, body)
        targets = self.get("/v1/targets?origin=ORIGIN_TRAINED").json()["targets"]
        self.assertEqual(len(json.loads(body)["predictions"]), len(targets))

    def test_without_a_target_source_is_read_once(self):
        net = self.path("net.py", NET)
        status, body = curl("-F", f"model=@{net}", "-F", "input=1x3x32x32", self.url + "/v1/predict")
        self.assertEqual(status, 200, body)
        self.assertEqual(len({answer["torch_version"] for answer in json.loads(body)["predictions"]}), 1)

    def test_an_entry_is_chosen_only_where_there_is_one(self):
        net = self.path("two.py", TWO)
        status, body = curl("-F", f"model=@{net}", "-F", "input=1x3x32x32", self.url + "/v1/predict")
        error = json.loads(body)["error"]
        self.assertEqual((status, error["message"], error["kind"]), (400, "entry: is empty", "usage"))
        self.assertIn("two.py has Other(), Third(in_features, out_features), Net()", error["hint"])

    def test_several_files_are_one_model(self):
        blocks = self.path("blocks.py", NET)
        main = self.path("main.py", "from pkg.blocks import Net\n\n\ndef build():\n    return Net(16)\n")
        files = ["-F", f"model=@{main}", "-F", f"file=@{blocks};filename=pkg/blocks.py"]
        options = ["-F", "entry=build()", "-F", "input=1x3x32x32", "-F", f"target={self.target}"]
        status, body = curl(*files, *options, self.url + "/v1/predict")
        self.assertEqual(status, 200, body)
        outside = ["-F", f"model=@{main}", "-F", f"file=@{blocks};filename=../blocks.py"]
        status, body = curl(*outside, *options, self.url + "/v1/predict")
        self.assertEqual(status, 400)
        self.assertIn("not a path inside the bundle", body)

    def test_json_is_the_message(self):
        source = {
            "files": [{"path": "net.py", "text": base64.b64encode(NET.encode()).decode()}],
            "file": "net.py",
            "entry": "Net(4)",
            "inputs": ["2x3x16x16"],
        }
        reply = self.post("/v1/predict", {"source": source, "targets": [self.target]})
        self.assertEqual(reply.status, 200, reply.body)
        self.assertEqual(reply.headers["content-type"], "application/json")
        self.assertEqual(reply.json()["parameter_count"], str(4 * 3 * 9 + 4 + 4 * 10 + 10))
        batch = {"requests": [{"source": source, "targets": [self.target]}, {"targets": ["none"]}]}
        results = self.post("/v1/predict-batch", batch).json()["results"]
        self.assertEqual(results[0]["response"]["predictions"], reply.json()["predictions"])
        self.assertEqual(results[1]["error"]["details"][0]["@type"], "type.googleapis.com/cobra.v1.ErrorDetail")

    def test_errors_have_their_place_in_the_source(self):
        net = self.path("bad.py", NET.replace("nn.Linear(width, 10)", "nn.Linear(width + 1, 10)"))
        status, body = curl("-F", f"model=@{net}", "-F", "input=1x3x32x32", self.url + "/v1/predict")
        error = json.loads(body)["error"]
        self.assertEqual(status, 400, body)
        self.assertEqual((error["kind"], error["where"]["file"], error["where"]["line"]), ("model_error", "bad.py", 11))
        self.assertIn("self.fc", error["source_line"])
        self.assertEqual(
            self.post("/v1/predict", {"targets": ["x"], "architecture": {"text": ARCHITECTURE}}).status, 404
        )
        error = self.post("/v1/predict", {"target": ["x"]}).error()
        self.assertEqual(error["message"], "target: is not a field of PredictRequest")
        error = self.post("/v1/undo-calibration", {"target": "none", "version": 3})
        self.assertIn(error.status, (400, 404))

    def test_every_unary_rpc_is_there(self):
        api = self.get("/v1/openapi.json").json()
        self.assertEqual(api["openapi"], "3.1.0")
        with open(os.path.join(programs.SOURCE, "server", "lanes", "rpcs.h")) as file:
            unary = sum("kUnary," in line and "RPC(" in line for line in file)
        self.assertEqual(len(api["paths"]), unary)
        for path, methods in api["paths"].items():
            for method in methods:
                if path == "/v1/drain":
                    continue
                reply = raw_http.ask(self.server.http_address, method.upper(), path, "{}" if method == "post" else "")
                # Some have nothing to do, others want more than an empty message; none is missing
                # or broken.
                self.assertIn(reply.status, (200, 400, 404, 422), (path, reply.body))

    def test_replies_are_as_the_document_says(self):
        api = self.get("/v1/openapi.json").json()
        for schema in api["components"]["schemas"].values():
            jsonschema.Draft202012Validator.check_schema(schema)
        request = {"architecture": {"text": ARCHITECTURE}, "targets": [self.target], "breakdown": True}
        for name, reply in (
            ("ListTargetsResponse", self.get("/v1/targets")),
            ("GetModelInfoResponse", self.get("/v1/model-info")),
            ("PredictResponse", self.post("/v1/predict", request)),
            ("Error", self.post("/v1/predict", {"x": 1})),
        ):
            schema = {"$ref": "#/components/schemas/" + name, "components": api["components"]}
            jsonschema.Draft202012Validator(schema).validate(reply.json())

    def test_labels_are_stored(self):
        request = {"architecture": {"text": ARCHITECTURE}, "targets": [self.target]}
        headers = {"cobra-label-team": "search"}
        self.assertEqual(self.post("/v1/predict", request, **headers).status, 200)
        self.assertEqual(self.post("/v1/predict", request, **{"cobra-label-Team!": "x"}).status, 400)
        self.assertEqual(self.post("/v1/predict", request, **{"cobra-label-a": "\u00e9"}).status, 200)  # in UTF-8
        self.assertEqual(self.post("/v1/predict", request, **{"cobra-label-a": "\u0085"}).status, 400)
        self.assertEqual(self.post("/v1/predict", request, traceparent="\u00e9").status, 400)

    def test_requests_count_in_the_metrics(self):
        def handled(rpc, code):
            labels = f'grpc_method="{rpc}",grpc_service="cobra.v1.Cobra",grpc_type="unary",grpc_code="{code}"'
            found = programs.metric(self.server, f"grpc_server_handled_total{{{labels}}}")
            return max(found, 0)

        before = handled("GetModelInfo", "OK"), handled("GetModelInfo", "InvalidArgument")
        self.get("/v1/model-info")
        self.get("/v1/model-info?x=1")
        deadline = time.time() + 10  # they count once the answers are sent
        while True:
            after = handled("GetModelInfo", "OK"), handled("GetModelInfo", "InvalidArgument")
            if after != before and after[1] != before[1] or time.time() > deadline:
                break
            time.sleep(0.05)
        self.assertEqual((after[0] - before[0], after[1] - before[1]), (1, 1))

    def test_the_page_and_what_it_is_allowed(self):
        script, style = "text/javascript", "text/css"
        files = {"/ui/app.js": script, "/ui/app.css": style, "/ui/report.js": script, "/ui/report.css": style}
        if programs.DESCRIBED:
            files["/ui/target_cards.md"] = "text/markdown"
        for path, kind in {"/ui": "text/html", **files}.items():
            reply = self.get(path)
            self.assertEqual(reply.status, 200)
            self.assertTrue(reply.headers["content-type"].startswith(kind))
            self.assertIn("default-src 'none'", reply.headers["content-security-policy"])
            self.assertNotIn("unsafe", reply.headers["content-security-policy"])
            self.assertIn("frame-ancestors 'none'", reply.headers["content-security-policy"])
            self.assertEqual(reply.headers["x-content-type-options"], "nosniff")
            self.assertEqual(reply.headers["referrer-policy"], "no-referrer")
        self.assertEqual(self.get("/").headers["location"], "/ui")
        if programs.DESCRIBED:
            self.assertIn(b"\n## cpu-epyc-genoa-1t\n", self.get("/ui/target_cards.md").body)

    def test_head_has_the_headers_of_get(self):
        with raw_http.Connection(self.server.http_address) as connection:
            connection.send(raw_http.request("HEAD", "/v1/model-info") + raw_http.request("GET", "/v1/model-info"))
            head = connection.reply(of_head=True)
            get = connection.reply()
        self.assertEqual((head.status, head.headers["content-length"]), (200, str(len(get.body))))


class Secured(unittest.TestCase):
    """TLS and roles: the same files and the same rules as gRPC's."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        authority = certificates.Authority(cls.folder.name)
        cls.authority = authority
        cls.pair = authority.issue("server", "cobra", "DNS:localhost,IP:127.0.0.1")
        cls.carol = authority.issue("carol", "carol")
        cls.mallory = authority.issue("mallory", "mallory")
        cls.access = os.path.join(cls.folder.name, "access")
        cls.tokens = {}
        lines = ["name=carol role=ask certificate=carol\n"]
        for name, role, *flags in (
            ("alice", "ask"),
            ("pi", "measure", "--worker", "pi", "--targets", "pi"),
            ("ops", "admin"),
        ):
            path = os.path.join(cls.folder.name, name + ".token")
            command = [os.path.join(programs.BIN, "cobra-server"), "token", "--name", name, "--role", role]
            run = subprocess.run([*command, "--out", path, *flags], check=True, capture_output=True, text=True)
            lines.append(run.stdout)
            with open(path) as file:
                cls.tokens[role] = file.read().strip()
        with open(cls.access, "w") as file:
            file.writelines(lines)
        cls.flags = ["--tls-cert", cls.pair.cert, "--tls-key", cls.pair.key, "--tls-ca", authority.cert]
        store = os.path.join(cls.folder.name, "store.sqlite")
        cls.server = programs.Server(store, "--http", "127.0.0.1:0", "--access", cls.access, *cls.flags)
        cls.addClassCleanup(cls.server.__exit__)
        cls.url = f"https://{cls.server.http_address}"
        cls.curl = ["--cacert", authority.cert]

    def status(self, path, *arguments):
        return curl(*self.curl, *arguments, self.url + path)[0]

    def bearer(self, role):
        return ["-H", "Authorization: Bearer " + self.tokens[role]]

    def test_curl_takes_the_certificate_and_the_token(self):
        self.assertEqual(self.status("/v1/targets", *self.bearer("ask")), 200)
        run = subprocess.run(["curl", "-sS", self.url + "/v1/targets"], capture_output=True, text=True)
        self.assertNotEqual(run.returncode, 0)  # an authority that it does not know

    def test_roles_are_those_of_grpc(self):
        post = ["-X", "POST", "-H", "Content-Type: application/json", "-d"]
        ask, measure, admin = (self.bearer(role) for role in ("ask", "measure", "admin"))
        for path, arguments, allowed in (
            ("/v1/predict", [*post, "{}"], "ask admin"),
            ("/ui/report", [*post, "{}"], "ask admin"),
            ("/v1/targets", [], "ask measure admin"),
            ("/v1/openapi.json", [], "ask measure admin"),
            ("/v1/calibrate", [*post, '{"target": "pi"}'], "measure admin"),
            ("/v1/report", [*post, "{}"], "measure admin"),
            ("/v1/enqueue", [*post, "{}"], "ask admin"),
            ("/v1/caches", [], "admin"),
            ("/v1/model-versions", [], "admin"),
        ):
            for role, token in (("ask", ask), ("measure", measure), ("admin", admin)):
                status = self.status(path, *arguments, *token)
                self.assertEqual(status != 403, role in allowed.split(), (path, role, status))
            self.assertEqual(self.status(path, *arguments), 401, path)
            self.assertEqual(self.status(path, *arguments, "-H", "Authorization: Bearer wrong"), 401, path)
            self.assertEqual(self.status(path, *arguments, "-H", "Authorization: Basic YTpi"), 401, path)
            self.assertEqual(self.status(path, *arguments, *ask, *admin), 401, path)  # two credentials are none
        self.assertEqual(self.status("/ui"), 200)  # the page itself knows nothing

    def test_the_role_of_a_certificate(self):
        carol = ["--cert", self.carol.cert, "--key", self.carol.key]
        mallory = ["--cert", self.mallory.cert, "--key", self.mallory.key]
        self.assertEqual(self.status("/v1/targets", *carol), 200)
        self.assertEqual(self.status("/v1/caches", *carol), 403)
        self.assertEqual(self.status("/v1/targets", *mallory), 401)

    def test_a_workers_binding_holds(self):
        post = ["-X", "POST", "-H", "Content-Type: application/json", *self.bearer("measure")]
        lease = json.dumps({"worker": "other", "target": "pi", "duration": "60s"})
        status, body = curl(*self.curl, *post, "-d", lease, self.url + "/v1/lease")
        self.assertEqual(status, 403, body)
        self.assertIn("worker other", body)

    def test_nobody_forges_who_they_are(self):
        forged = ["-H", "cobra-http-peer: ipv4:1.2.3.4:5", "-H", "cobra-http-certificate-bin: Y2Fyb2w="]
        self.assertEqual(self.status("/v1/targets", *forged), 401)

    def test_old_versions_of_tls_are_refused(self):
        context = ssl.create_default_context(cafile=self.authority.cert)
        context.minimum_version = ssl.TLSVersion.TLSv1
        context.maximum_version = ssl.TLSVersion.TLSv1_1
        context.set_ciphers("ALL:@SECLEVEL=0")
        with self.assertRaises((ssl.SSLError, ConnectionResetError)):
            raw_http.Connection(self.server.http_address, lambda s: context.wrap_socket(s, server_hostname="localhost"))

    def test_a_public_address_needs_both(self):
        program = os.path.join(programs.BIN, "cobra-server")
        for flags, missing in (([], "--tls-cert"), (self.flags[:4], "--access"), (["--access", self.access], "TLS")):
            store = os.path.join(self.folder.name, "other.sqlite")
            local = ["--listen", "127.0.0.1:0", "--metrics", "", "--store", store]
            run = subprocess.run(
                [program, *local, "--http", "0.0.0.0:0", *flags], capture_output=True, text=True, timeout=60
            )
            self.assertEqual(run.returncode, 2, run.stderr)
            self.assertIn("--http 0.0.0.0:0: other machines can reach it", run.stderr)
            self.assertIn(missing, run.stderr)
        run = subprocess.run([program, "--http-host", "a"], capture_output=True, text=True, timeout=60)
        self.assertEqual((run.returncode, "without --http" in run.stderr), (2, True))
        run = subprocess.run([program, "--http", "unix:/tmp/x"], capture_output=True, text=True, timeout=60)
        self.assertEqual((run.returncode, "is not HOST:PORT" in run.stderr), (2, True))


class Callers(unittest.TestCase):
    def test_a_request_counts_for_the_address_that_sent_it(self):
        """The log names the caller of a slow request."""
        pb, _ = programs.stubs()
        with tempfile.TemporaryDirectory() as folder:
            flags = ("--http", "127.0.0.1:0", "--slow-ms", "1", "--log-format", "json")
            with programs.Server(os.path.join(folder, "store.sqlite"), *flags) as server:

                def callers():
                    lines = [json.loads(line) for line in server.log().splitlines()]
                    return [line.get("caller") for line in lines if line.get("rpc") == "Predict"]

                source = pb.SourceModel(files=[pb.SourceFile(path="net.py", text=NET.encode())], file="net.py")
                source.inputs.append("1x3x32x32")
                request = pb.PredictRequest(source=source, targets=[programs.first_target(server)])
                body = json_format.MessageToJson(request, preserving_proto_field_name=True)
                pause = 0.5  # the log has at most a line of this kind in 200 ms
                time.sleep(pause)
                headers = {"cobra-http-peer": "ipv4:192.0.2.9:1", "X-Forwarded-For": "192.0.2.9"}
                reply = raw_http.ask(server.http_address, "POST", "/v1/predict", body, headers=headers)
                self.assertEqual(reply.status, 200, reply.body)
                programs.wait_until(lambda: callers() == ["127.0.0.1"])
                time.sleep(pause)
                request.source.entry = "Net(9)"
                with grpc.insecure_channel(server.address) as channel:
                    predict = channel.unary_unary("/cobra.v1.Cobra/Predict", request_serializer=bytes)
                    forged = [("cobra-http-key", "0" * 64), ("cobra-http-peer", "ipv4:192.0.2.9:1")]
                    predict(request.SerializeToString(), metadata=forged, timeout=60)
                programs.wait_until(lambda: callers() == ["127.0.0.1", "127.0.0.1"])


class Drains(unittest.TestCase):
    def test_requests_in_flight_are_answered_and_new_ones_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            flags = ("--http", "127.0.0.1:0", "--http-host", "cobra.test")
            with programs.Server(os.path.join(folder, "store.sqlite"), *flags) as server:
                idle = raw_http.Connection(server.http_address)
                idle.send(raw_http.request("GET", "/v1/model-info", host="cobra.test"))
                self.assertEqual(idle.reply().status, 200)
                statuses = []

                def load():
                    body = json.dumps({"architecture": {"text": ARCHITECTURE}, "targets": targets})
                    try:
                        while True:
                            reply = raw_http.ask(server.http_address, "POST", "/v1/predict", body)
                            statuses.append(reply.status if reply else 0)
                            if not reply or reply.status != 200:
                                return
                    except OSError:
                        return

                reply = raw_http.ask(server.http_address, "GET", "/v1/targets?origin=ORIGIN_TRAINED").json()
                targets = [target["spec"]["name"] for target in reply["targets"]][:64]
                threads = [threading.Thread(target=load) for _ in range(8)]
                for thread in threads:
                    thread.start()
                programs.wait_until(lambda: len(statuses) > 20)
                self.assertEqual(server.stop(), 0)
                for thread in threads:
                    thread.join(60)
                self.assertTrue(set(statuses) <= {200, 503, 0}, set(statuses))
                self.assertTrue(idle.closed())
                idle.close()


if __name__ == "__main__":
    programs.main()
