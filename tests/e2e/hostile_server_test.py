#!/usr/bin/env python3
"""cobra-client at a terminal, asking a server whose every text moves cursors, sets titles, hides
and turns what follows: nothing of it reaches the terminal but as question marks. Every command,
every RPC: the texts are put into all fields of the replies by reflection."""
import concurrent.futures
import importlib
import json
import os
import re
import subprocess
import tempfile
import unittest

import grpc

import programs
import terminal

EVIL = "\x1b[2J\x1b]0;owned\x07\x1b[8m\x1b[1;31m\u009b5m\r\u202egnp\u200f\u0085\u2028\u061c\x7f\x08\n::error::forged"
OURS = re.compile(r"\x1b\[(?:0|1|2|31|32|33)m")
# What draws and erases the line of progress.
PROGRESS = re.compile(r"\r\x1b\[K")
OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
TARGET, OTHER = "board", "board-2"
NET = """import torch.nn as nn

class Net(nn.Module):
    def __init__(self, width=4):
        super().__init__()
        self.conv = nn.Conv2d(3, width, 3)

    def forward(self, x):
        return self.conv(x).relu()
"""
SHEET = {"device": "Some Board", "kind": "cpu", "runtime": "ncnn", "threads": 4, "clock_mhz": 1800}


class Texts:
    """What fields of a name have: `plausible` for those that the client looks at before it shows
    anything."""

    def __init__(self, plausible):
        self.plausible = (
            {
                "target": TARGET,
                "name": TARGET,
                "fingerprint": "0" * 32,
                "time": "2026-11-20T08:00:00Z",
                "created_at": "2026-11-20T08:00:00Z",
            }
            if plausible
            else {}
        )

    def of(self, field):
        return self.plausible.get(field.name, EVIL)


def fill(message, texts, depth=0):
    for field in message.DESCRIPTOR.fields:
        if field.containing_oneof is not None and field.containing_oneof.fields[0] != field:
            continue
        is_map = field.message_type is not None and field.message_type.GetOptions().map_entry
        if is_map:
            getattr(message, field.name).update({EVIL: EVIL, "commit": EVIL, "model": EVIL, "branch": EVIL})
        elif field.type == field.TYPE_MESSAGE:
            if depth > 6:
                continue
            inner = getattr(message, field.name)
            fill(inner.add() if field.label == field.LABEL_REPEATED else inner, texts, depth + 1)
        else:
            value = {
                field.TYPE_STRING: texts.of(field),
                field.TYPE_BYTES: EVIL.encode(),
                field.TYPE_BOOL: True,
                field.TYPE_DOUBLE: 0.5,
                field.TYPE_FLOAT: 0.5,
                field.TYPE_ENUM: 1,
            }.get(field.type, 3)
            if field.label == field.LABEL_REPEATED:
                getattr(message, field.name).append(value)
            else:
                setattr(message, field.name, value)


class HostileServer(grpc.GenericRpcHandler):
    """`mode`: "evil", all texts; "plausible", all that the client does not check; "errors", each
    call fails."""

    def __init__(self, files):
        self.mode = "plausible"
        self.methods = {
            f"/{service.full_name}/{method.name}": method
            for file in files
            for service in file.DESCRIPTOR.services_by_name.values()
            for method in service.methods
        }
        self.called = set()

    def service(self, call):
        method = self.methods.get(call.method)
        if method is None:
            return None
        self.called.add(method.name)
        takes = method.input_type._concrete_class.FromString
        gives = method.output_type._concrete_class.SerializeToString
        if method.name == "PredictStream":
            return grpc.stream_stream_rpc_method_handler(self.stream, takes, gives)
        answer = lambda request, context: self.answer(method, request, context)  # noqa: E731
        return grpc.unary_unary_rpc_method_handler(answer, takes, gives)

    def fail(self, context):
        error_pb2 = importlib.import_module("cobra.v1.error_pb2")
        status, detail = error_pb2.RpcStatus(code=3, message=EVIL), error_pb2.ErrorDetail()
        fill(detail, Texts(plausible=False))
        status.details.add().Pack(detail)
        context.set_trailing_metadata((("grpc-status-details-bin", status.SerializeToString()),))
        context.abort(grpc.StatusCode.INVALID_ARGUMENT, EVIL)

    def answer(self, method, request, context):
        if self.mode == "errors":
            self.fail(context)
        reply = method.output_type._concrete_class()
        texts = Texts(self.mode == "plausible")
        fill(reply, texts)
        if method.name == "Predict" and self.mode == "plausible":
            self.predict(request, reply, texts)
        if method.name == "ListTargets" and self.mode == "plausible":
            fill(reply.targets.add(), Texts(plausible=False))
            reply.targets.add().CopyFrom(reply.targets[0])
            reply.targets[2].spec.name = OTHER
        return reply

    def predict(self, request, reply, texts):
        del reply.predictions[:]
        for target in request.targets:
            prediction = reply.predictions.add()
            fill(prediction, texts)
            prediction.target = target
            (row,) = prediction.breakdown
            for index in range(1, len(request.graph.nodes)):
                prediction.breakdown.add().CopyFrom(row)
                prediction.breakdown[index].node = index
            prediction.breakdown[0].node = 0

    def stream(self, requests, context):
        if self.mode == "errors":
            self.fail(context)
        for request in requests:
            cobra_pb2 = importlib.import_module("cobra.v1.cobra_pb2")
            answer = cobra_pb2.PredictStreamResponse(request_id=request.request_id)
            texts = Texts(self.mode == "plausible")
            fill(answer.response, texts)
            if self.mode == "plausible":
                self.predict(request.request, answer.response, texts)
            yield answer


class HostileServerTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        programs.stubs()
        cls.hostile = HostileServer(
            [importlib.import_module(f"cobra.v1.{name}_pb2") for name in ("admin", "cobra", "measurements")]
        )
        cls.server = grpc.server(concurrent.futures.ThreadPoolExecutor(4))
        cls.server.add_generic_rpc_handlers([cls.hostile])
        cls.address = "127.0.0.1:%d" % cls.server.add_insecure_port("127.0.0.1:0")
        cls.server.start()
        cls.addClassCleanup(cls.server.stop, None)
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.write("net.py", NET)
        cls.write("sheet.json", json.dumps(SHEET))
        cls.write("timed.csv", "row,model,entry,inputs,latency_ms\nr1,net.py,Net(),1x3x8x8,2.5\n")
        cls.write("list.csv", "row,model,entry,inputs\nr1,net.py,Net(),1x3x8x8\n")
        cls.write("probe.json", "{}")
        cls.write("exported.json", "{}")
        cls.write("cobra.toml", f'[models.net]\nmodel = "net.py"\ninputs = ["1x3x8x8"]\ntargets = ["{TARGET}"]\n')
        git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org", "-C", cls.folder.name]
        for command in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "first"]):
            subprocess.run([*git, *command], check=True)

    @classmethod
    def write(cls, name, text):
        with open(os.path.join(cls.folder.name, name), "w") as file:
            file.write(text)

    def commands(self):
        """All that ask a server."""
        net = ["net.py", "--input", "1x3x8x8"]
        asked = [*net, "--target", TARGET]
        return [
            ["predict", *asked],
            ["predict", *asked, "--breakdown"],
            ["predict", *asked, "-q"],
            ["predict", *net],
            ["predict", *net, "--all"],
            *(["predict", *asked, "--format", f] for f in ("json", "markdown", "junit", "sarif", "bencher")),
            ["predict", *asked, "--budget-ms", "0.0001"],
            ["predict", *asked, "--send", "source"],
            ["predict", "--list", "list.csv", "--target", TARGET, "--out", "-"],
            *(["explain", *asked, "--by", by] for by in ("layer", "module", "op", "line")),
            ["explain", *asked],
            ["explain", *asked, "--format", "json"],
            ["explain", *net, "--target", f"{TARGET},{OTHER}"],
            ["explain", *net, "--target", f"{TARGET},{OTHER}", "--format", "json"],
            ["targets"],
            *(["targets", "--format", f] for f in ("json", "markdown", "names")),
            ["history", "--label", "branch=x"],
            *(["history", "--label", "branch=x", "--format", f] for f in ("json", "svg")),
            ["sweep", *asked, "--batch", "1..2"],
            *(["sweep", *asked, "--batch", "1..2", "--format", f] for f in ("json", "svg")),
            ["report", *asked, "--out", "-"],
            ["report", *asked, "--out", "-", "--format", "json"],
            ["check"],
            *(["check", "--format", f] for f in ("json", "markdown", "junit", "sarif")),
            ["check", "--against", "HEAD"],
            ["diff", "HEAD", *asked],
            ["adapt", "--name", "b", "--spec", "sheet.json", "--samples", "timed.csv"],
            ["adapt", "--name", "b", "--spec", "sheet.json", "--format", "json"],
            ["adapt", "--suggest", "1", "--spec", "sheet.json", "--list", "list.csv"],
            ["adapt", "--name", TARGET, "--export", "out.json"],
            ["adapt", "--name", "b", "--import", "exported.json"],
            ["observe", *net, "--target", TARGET, "--latency-ms", "2.5"],
            ["calibrate", "--probe", "probe.json"],
            ["calibrate", "--undo", "--name", TARGET],
            ["model"],
            ["model", "--format", "json"],
            *(["admin", action] for action in ("reload", "versions", "caches", "flush", "drain")),
            ["admin", "versions", "--format", "json"],
            ["doctor"],
        ]

    def expect_clean(self, text, ours=True):
        """Nothing that a terminal obeys but what cobra-client draws itself."""
        text = PROGRESS.sub("", text.replace("\r\n", "\n"))
        found = OBEYED.search(OURS.sub("", text) if ours else text)
        if found:
            around = text[max(0, found.start() - 200) : found.start() + 200]
            self.fail(f"{found[0]!r} in {around!r}")

    def run_at_terminal(self, command, **options):
        with terminal.client(*command, "--server", self.address, cwd=self.folder.name, **options) as client:
            code = client.end()
            return code, client.text

    def test_every_command_at_a_terminal(self):
        for mode in ("plausible", "evil", "errors"):
            self.hostile.mode = mode
            for command in self.commands():
                with self.subTest(mode=mode, command=" ".join(command)):
                    code, text = self.run_at_terminal(command)
                    self.expect_clean(text)
                    self.assertIn(code, range(8), text)
        self.assertLessEqual(
            {"Predict", "PredictStream", "ListTargets", "GetModelInfo", "ListPredictions", "Adapt", "Observe"},
            self.hostile.called,
        )

    def test_what_is_shown_is_the_servers_text(self):
        self.hostile.mode = "plausible"
        for command in (
            ["predict", "net.py", "--input", "1x3x8x8", "--target", TARGET],
            ["explain", "net.py", "--input", "1x3x8x8", "--target", TARGET],
            ["targets"],
            ["model"],
            ["admin", "versions"],
        ):
            with self.subTest(command=command[0]):
                code, text = self.run_at_terminal(command)
                self.assertEqual(code, 0, text)
                self.assertIn("?", text)
                self.assertRegex(text, "owned|forged|gnp")

    def test_without_colours_there_is_no_escape_at_all(self):
        self.hostile.mode = "plausible"
        for command in self.commands():
            if command[0] in ("predict", "explain", "targets", "sweep", "doctor"):
                with self.subTest(command=" ".join(command)):
                    _, text = self.run_at_terminal(command, NO_COLOR="1")
                    self.expect_clean(text, ours=False)

    def test_text_for_people_is_clean_in_a_pipe_and_data_are_whole(self):
        self.hostile.mode = "plausible"
        for command in self.commands():
            with self.subTest(command=" ".join(command)):
                answer = programs.client(*command, "--server", self.address, cwd=self.folder.name)
                if "json" in command[-1:]:
                    json.loads(answer.out)
                elif "--format" not in command and command[0] != "report":
                    self.expect_clean(answer.out, ours=False)
                    self.assertNotRegex(answer.out, r"(?m)^\s*::")
                self.expect_clean(answer.err, ours=False)

    def test_watch(self):
        self.hostile.mode = "plausible"
        command = ["predict", "net.py", "--input", "1x3x8x8", "--target", TARGET, "--watch", "--server", self.address]
        with terminal.client(*command, cwd=self.folder.name) as client:
            client.wait_for("Ctrl-C ends")
            self.hostile.mode = "errors"
            self.write("net.py", NET.replace("width=4", "width=5"))
            client.wait_for("error:.*forged", start=len(client.text))
            client.type("\x03")
            client.end()
            self.expect_clean(client.text.replace("^C", ""))
        self.write("net.py", NET)


if __name__ == "__main__":
    programs.main()
