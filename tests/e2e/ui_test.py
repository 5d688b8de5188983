#!/usr/bin/env python3
"""/ui: the report that the server makes is that of `cobra-client report`, within the limits and
roles of Predict; and the page in Chromium: paste, drop, click, errors, names that are text. The
parts in Chromium are skipped without it."""
import base64
import json
import os
import subprocess
import unittest

import browser
import programs
import raw_http
import report_test

NET, CONTRAST = report_test.NET, report_test.CONTRAST
ARCHITECTURE = "nasbench201:|nor_conv_3x3~0|+|none~0|skip_connect~1|+|nor_conv_1x1~0|avg_pool_3x3~1|none~2|"
ODD = """import torch.nn as nn

class Odd(nn.Module):
    def __init__(self):
        super().__init__()
        self.add_module('<img src=x onerror=alert(1)>', nn.Linear(8, 8))
        self.add_module('</script><script>alert(2)</script>', nn.ReLU())

    def forward(self, x):
        for child in self.children():  # <b>
            x = child(x)
        return x
"""
BAD = """from torch import nn

class Bad(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x):
        return self.fc(x)
"""
DROP = """
const transfer = new DataTransfer();
for (const [name, content] of Object.entries(arguments[0]))
  transfer.items.add(new File([Uint8Array.from(atob(content), (c) => c.charCodeAt(0))], name));
const event = {dataTransfer: transfer, bubbles: true, cancelable: true};
document.getElementById('ask-drop').dispatchEvent(new DragEvent('dragover', event));
document.getElementById('ask-drop').dispatchEvent(new DragEvent('drop', event));
"""


class Served(programs.ServedTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.server.__exit__()
        cls.server = programs.Server(cls.path("http.sqlite"), "--http", "127.0.0.1:0")
        cls.url = f"http://{cls.server.http_address}"
        names = programs.client("targets", "--server", cls.server.address, "--format", "names").out.split()
        cls.targets = [names[0], next(name for name in names if "onnxruntime" in name)]
        cls.all_targets = names
        cls.path("net.py", NET)

    @classmethod
    def onnx(cls):
        file = cls.path("net.onnx")
        if not os.path.exists(file):
            model = (cls.path("net.py"), "--entry", "Net(2)", "--input", "1x16x8")
            answer = programs.client("graph", *model, "--format", "onnx", "--out", file)
            assert answer.code == 0, answer.err
        return file


class DocumentTest(Served):
    def asked(self, *fields, path="/ui/report", status=200):
        """The reply to a form of "name=value" and "name=@file"."""
        command = ["curl", "-sS", "-w", "\n%{http_code}", self.url + path]
        run = subprocess.run(
            command + [part for field in fields for part in ("-F", field)],
            capture_output=True,
            text=True,
            timeout=120,
            cwd=self.folder.name,
        )
        body, code = run.stdout.rsplit("\n", 1)
        self.assertEqual(int(code), status, body[:1000] + run.stderr)
        return json.loads(body)

    def reported(self, *arguments):
        answer = programs.client(
            *("report", *arguments, "--target", ",".join(self.targets), "--no-sweep", "--format", "json"),
            *("--out", "-", "--server", self.server.address),
            cwd=self.folder.name,
        )
        self.assertEqual(answer.code, 0, answer.err)
        return answer.json()

    def test_the_document_is_that_of_the_command(self):
        target = "target=" + ",".join(self.targets)
        self.onnx()
        for fields, arguments in (
            (["model=@net.py", "entry=Net(2)", "input=1x16x8"], ["net.py", "--entry", "Net(2)", "--input", "1x16x8"]),
            (
                ["model=@net.py", "entry=Net(1)", "input=1x16x8", "mode=train", "torch_version=1.13.0"],
                "net.py --entry Net(1) --input 1x16x8 --mode train --torch-version 1.13.0".split(),
            ),
            (["model=@net.onnx"], ["net.onnx"]),
            (["arch=" + ARCHITECTURE], ["--arch", ARCHITECTURE]),
        ):
            self.assertEqual(self.asked(*fields, target), self.reported(*arguments))

    def test_a_program_may_be_another_network_for_another_pytorch(self):
        self.path(
            "versions.py",
            "import torch\n\n\nclass Net(torch.nn.Module):\n    def forward(self, x):\n"
            "        return x.relu() if torch.__version__ < '2' else x.relu().exp()\n",
        )
        fields = ["model=@versions.py", "entry=Net()", "input=1x8", "target=" + ",".join(self.targets)]
        document = self.asked(*fields)
        self.assertEqual(document, self.reported("versions.py", "--entry", "Net()", "--input", "1x8"))
        versions = {target["torch_version"] for target in document["targets"]}
        self.assertEqual(len(document["networks"]), len(versions))

    def test_files_beside_the_model_have_their_lines(self):
        self.path("main.py", "from pkg.blocks import Net\n\n\ndef build():\n    return Net(1)\n")
        document = self.asked(
            *("model=@main.py", "file=@net.py;filename=pkg/blocks.py", "entry=build()", "input=1x16x8"),
            "target=" + self.target,
        )
        places = document["networks"][0]["calls"]["places"]
        self.assertIn({"file": "pkg/blocks.py", "line": 10, "text": NET.split("\n")[9].strip()}, places)

    def test_json_is_taken_as_well(self):
        message = json.dumps({"architecture": {"text": ARCHITECTURE}, "targets": [self.target]})
        reply = raw_http.ask(self.server.http_address, "POST", "/ui/report", message)
        self.assertEqual((reply.status, reply.headers["content-type"]), (200, "application/json"))
        self.assertEqual(reply.json()["title"], ARCHITECTURE)

    def test_refusals_are_in_words_of_the_page(self):
        net = ["model=@net.py", "entry=Net(1)", "input=1x16x8"]
        error = self.asked(*net, "target=" + ",".join(self.all_targets[:9]), status=400)["error"]
        self.assertEqual(error["message"], "target: 9 targets; a page shows at most 8")
        error = self.asked(*net, status=400)["error"]
        self.assertEqual(error["message"], "target: is missing, and this machine is not calibrated")
        self.assertIn("up to 8", error["hint"])
        error = self.asked("target=" + self.target, status=400)["error"]
        self.assertEqual(error["hint"], "paste PyTorch source, drop a file, or write an architecture")
        both = self.asked("model=@net.py", "arch=" + ARCHITECTURE, "target=" + self.target, status=400)["error"]
        self.assertNotIn("-F", both["hint"])
        self.assertEqual(self.asked(*net, "target=no-such", status=404)["error"]["message"], "no-such: no such target")
        nothing = self.asked(*("model=@net.py", "entry=Nothing()", "input=1x8", "target=" + self.target), status=400)[
            "error"
        ]
        self.assertIn("has no calls of an operator", nothing["message"])
        self.path("raises.py", BAD.replace("nn.Linear(4, 4)", "None[0]"))
        raises = self.asked("model=@raises.py", "input=1x8", "target=" + self.target, status=400)["error"]
        self.assertIn("when it builds the model; ", raises["hint"])

    def test_what_is_too_large_is_refused_as_for_predict(self):
        """60,000 calls on eight targets: neither is a breakdown of it made."""
        self.path(
            "long.py",
            "import torch\n\n\nclass Net(torch.nn.Module):\n    def forward(self, x):\n"
            "        for _ in range(59000):\n            x = x.relu()\n        return x\n",
        )
        fields = ["model=@long.py", "entry=Net()", "input=1x8", "torch_version=2.13.0"]
        eight = "target=" + ",".join(self.all_targets[:8])
        for extra, path in (([], "/ui/report"), (["breakdown=true"], "/v1/predict")):
            error = self.asked(*fields, eight, *extra, path=path, status=422)["error"]
            self.assertEqual(error["kind"], "limit")

    def test_without_a_target_the_calibrated_machine_answers(self):
        probe = os.path.join(programs.SOURCE, "tests", "e2e", "probe_of_few_networks.json")
        with programs.Server(self.path("calibrated.sqlite"), "--http", "127.0.0.1:0") as server:
            answer = programs.client("calibrate", "--probe", probe, "--server", server.address)
            self.assertEqual(answer.code, 0, answer.err)
            command = ["curl", "-sS", "-F", "arch=" + ARCHITECTURE, f"http://{server.http_address}/ui/report"]
            run = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
            arguments = ("--arch", ARCHITECTURE, "--no-sweep", "--format", "json", "--out", "-")
            reported = programs.client("report", *arguments, "--server", server.address)
        self.assertEqual(json.loads(run.stdout), reported.json())
        target = reported.json()["targets"][0]
        self.assertEqual((target["target"], target["calibrated"]), ("this-machine", True))

    def test_only_the_page_may_ask_and_only_by_post(self):
        address = self.server.http_address
        self.assertEqual(raw_http.ask(address, "GET", "/ui/report").status, 405)
        for header in (
            {"origin": "http://evil.example"},
            {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"},
        ):
            self.assertEqual(raw_http.ask(address, "POST", "/ui/report", "{}", headers=header).status, 403, header)

    def test_it_counts_as_predict(self):
        name = 'grpc_server_handled_total{grpc_method="Predict",grpc_service="cobra.v1.Cobra",grpc_type="unary",grpc_code="OK"}'
        before = max(0, programs.metric(self.server, name))
        self.asked("arch=" + ARCHITECTURE, "target=" + self.target)
        programs.wait_until(lambda: programs.metric(self.server, name) == before + 1)

    def test_nobody_else_gets_one(self):
        """Over gRPC and without the key of the HTTP listener, Predict answers as always."""
        import grpc

        messages, services = programs.stubs()
        request = messages.PredictRequest(targets=[self.target])
        request.architecture.text = ARCHITECTURE
        with grpc.insecure_channel(self.server.address) as channel:
            reply = services.CobraStub(channel).Predict(request, timeout=60, metadata=[("cobra-http-report", "1")])
        self.assertEqual(reply.node_count, 250)


@unittest.skipUnless(browser.installed(), "chromium and chromedriver are not installed")
class UiTest(browser.Shared, Served):
    def setUp(self):
        self.browser.console()
        self.browser.open(self.url + "/ui")
        self.addCleanup(self.check_quiet)
        programs.wait_until(lambda: self.value("return document.getElementById('ask-targets').options.length"))

    def check_quiet(self):
        """No error but the status of a reply, and no request but to the server."""
        entries = [entry for entry in self.browser.console() if entry["source"] != "network"]
        self.assertEqual(entries, [])
        others = [url for url in self.browser.requests() if not url.startswith((self.url + "/", "data:,"))]
        self.assertEqual(others, [])

    def value(self, script, *arguments):
        return self.browser.run(script, *arguments)

    def fill(self, **fields):
        for name, text in fields.items():
            self.value("document.getElementById('ask-' + arguments[0]).value = arguments[1]", name, text)

    def choose(self, *targets):
        script = "for (const o of document.getElementById('ask-targets').options) o.selected = arguments[0].includes(o.value)"
        self.value(script, list(targets))

    def drop(self, files):
        self.value(DROP, {name: base64.b64encode(content).decode() for name, content in files.items()})

    def ask(self):
        if not self.value("return document.getElementById('ask-box').open"):
            self.browser.click("#ask-summary")
        self.browser.click("#ask-send")
        done = "return !document.getElementById('ask-send').disabled"
        programs.wait_until(lambda: self.value(done))

    def pasted(self, source=NET, entry="Net(6)", inputs="1x16x8", targets=None):
        self.fill(source=source, entry=entry, inputs=inputs)
        self.choose(*(targets or self.targets))
        self.ask()

    def error(self):
        return self.value("const e = document.getElementById('ask-error'); return e.hidden ? '' : e.innerText")

    def test_pasted_source_is_answered_with_the_report(self):
        b = self.browser
        b.type("#ask-source", NET.split("class Odd")[0].rstrip())
        b.type("#ask-inputs", "1x16x8")
        b.type("#ask-entry", "Net(6)")
        self.choose(*self.targets)
        self.ask()
        self.assertEqual(self.error(), "")
        self.assertIn("6 × blocks.*", self.value("return document.querySelector('.picture').textContent"))
        self.assertEqual(self.value("return document.querySelector('#report h1').textContent"), "Net(6) from model.py")
        self.assertFalse(self.value("return document.getElementById('ask-box').open"), "the form makes room")
        sections = "targets uncertain picture icicle roofline memory calls question".split()
        self.assertEqual(
            self.value("return [...document.querySelectorAll('#report section')].map((s) => s.id)"), sections
        )
        # Open and fold.
        self.value(
            "[...document.querySelectorAll('#picture .choice button')].find((x) => x.textContent === 'Fold all').click()"
        )
        count = "return document.querySelectorAll('.picture .box').length"
        self.assertEqual(self.value(count), 2, "the stem and the blocks")
        b.click(".picture .box.stack")
        self.assertGreater(self.value(count), 4)
        b.press("Enter")  # on the title of the frame, which has the focus
        self.assertEqual(self.value(count), 2)
        # Search.
        b.type("#calls input[type=search]", "blocks.3 linear")
        shown = (
            "return [...document.querySelectorAll('.calls tbody tr:not(.gap)')].map((row) => row.cells[1].textContent)"
        )
        self.assertEqual(self.value(shown), ["blocks.3.up", "blocks.3.down"])
        # Another target.
        before = self.value("return document.querySelector('.picture .head, .picture').textContent")
        self.value("const s = document.getElementById('target'); s.value = 1; s.dispatchEvent(new Event('change'))")
        self.assertNotEqual(self.value("return document.querySelector('.picture .head, .picture').textContent"), before)

    def test_the_page_is_that_of_the_command(self):
        """The same text, section by section."""
        self.pasted(source=NET)
        answered = self.value("return document.getElementById('report').innerText")
        self.path("model.py", NET)
        out = self.path("model.html")
        model = ("model.py", "--entry", "Net(6)", "--input", "1x16x8", "--target", ",".join(self.targets))
        answer = programs.client(
            *("report", *model, "--no-sweep", "--out", out, "--server", self.server.address), cwd=self.folder.name
        )
        self.assertEqual(answer.code, 0, answer.err)
        self.browser.open("file://" + out)
        self.assertEqual(self.value("return document.getElementById('report').innerText"), answered)
        self.browser.requests()

    def test_a_dropped_file(self):
        with open(self.onnx(), "rb") as file:
            self.drop({"net.onnx": file.read()})
        self.assertIn("net.onnx", self.value("return document.getElementById('ask-chosen').textContent"))
        self.choose(self.target)
        self.ask()
        self.assertEqual(self.error(), "")
        self.assertEqual(self.value("return document.querySelector('#report h1').textContent"), "net.onnx")
        # Another one replaces it; then none, and the source counts again.
        self.drop({"odd.py": ODD.encode()})
        self.fill(inputs="1x8")
        self.ask()
        self.assertEqual(self.value("return document.querySelector('#report h1').textContent"), "odd.py")
        self.value("document.getElementById('ask-box').open = true")
        self.browser.click("#ask-clear")
        self.pasted()
        self.assertEqual(self.value("return document.querySelector('#report h1').textContent"), "Net(6) from model.py")

    def test_several_files(self):
        self.drop(
            {"blocks.py": NET.encode(), "main.py": b"from blocks import Net\n\ndef build():\n    return Net(4)\n"}
        )
        self.assertIn("2 files", self.value("return document.getElementById('ask-chosen').textContent"))
        self.value("document.getElementById('ask-main').value = 'main.py'")
        self.fill(entry="build()", inputs="1x16x8")
        self.choose(self.target)
        self.ask()
        self.assertEqual(self.error(), "")
        self.assertEqual(self.value("return document.querySelector('#report h1').textContent"), "build() from main.py")
        self.browser.click("#icicle .choice button:last-child")
        self.assertIn("blocks.py", self.value("return document.querySelectorAll('.icicle .cell')[1].title"))

    def test_errors_have_their_place_and_words_of_the_page(self):
        self.pasted(source=BAD, entry="", inputs="1x8")
        error = self.error()
        self.assertIn("model.py:9: RuntimeError", error)
        self.assertIn("return self.fc(x)\n               ^^^^^^^^^^", error)
        self.assertIn("check Inputs", error)
        self.assertFalse(self.value("return document.getElementById('report').checkVisibility()"))
        self.pasted(source="", entry="")
        self.assertIn("Model: is missing\n", self.error())
        self.assertNotIn("-F", self.error())
        self.pasted(targets=self.all_targets[:9])
        self.assertIn("Targets: 9 targets; a page shows at most 8", self.error())
        self.pasted(source=NET, entry="")
        self.assertIn("Entry: is empty", self.error())
        self.pasted(inputs="")
        self.assertIn("give one line of Inputs for each tensor argument", self.error())
        self.drop({"net.onnx": b"..."})
        self.pasted(entry="Net()")
        self.assertIn("Entry: says nothing about net.onnx, which holds one network", self.error())
        self.assertIn("leave Entry empty", self.error())
        self.browser.click("#ask-clear")
        self.pasted()
        self.assertEqual(self.error(), "")
        self.assertTrue(self.value("return document.getElementById('report').checkVisibility()"))

    def test_without_a_target_the_first_eight_listed_answer(self):
        self.value(
            "const f = document.getElementById('ask-filter'); f.value = 'epyc'; f.dispatchEvent(new Event('input'))"
        )
        listed = self.value("return [...document.getElementById('ask-targets').options].map((o) => o.value)")
        self.assertGreater(len(listed), 8)
        self.fill(source=NET, entry="Net(1)", inputs="1x16x8")
        self.ask()
        self.assertEqual(self.error(), "")
        answered = "return [...document.querySelectorAll('.whisker .name b')].map((b) => b.textContent)"
        self.assertEqual(sorted(self.value(answered)), sorted(listed[:8]))  # the page has the fastest first

    def test_names_of_the_model_are_text(self):
        self.pasted(source=ODD, entry="Odd()", inputs="1x8")
        self.assertEqual(self.error(), "")
        self.assertEqual(
            self.value(
                "return document.images.length + document.querySelectorAll('#report script, #report b > b').length"
            ),
            0,
        )
        text = self.value("return document.getElementById('report').textContent")
        for name in ("<img src=x onerror=alert(1)>", "</script><script>alert(2)</script>"):
            self.assertIn(name, text)
        self.pasted(
            source=ODD.replace("x = child(x)", "raise ValueError('<img src=x onerror=alert(3)>')"), entry="Odd()"
        )
        self.assertIn("<img src=x onerror=alert(3)>", self.error())
        self.assertEqual(self.value("return document.images.length"), 0)

    def test_one_answer_after_the_other(self):
        for entry, blocks in (("Net(3)", "3"), ("Net(5)", "5")):
            self.pasted(entry=entry)
            self.assertIn(blocks + " × blocks.*", self.value("return document.querySelector('.picture').textContent"))
        self.assertEqual(self.value("return document.querySelectorAll('#report .toolbar').length"), 1)
        # A question that is stopped leaves the answer before it.
        self.fill(entry="Net(7)")
        self.value("for (const name of ['send', 'stop']) document.getElementById('ask-' + name).click()")
        programs.wait_until(lambda: self.value("return !document.getElementById('ask-send').disabled"))
        self.assertEqual(self.error(), "")
        self.assertIn("5 × blocks.*", self.value("return document.getElementById('report').innerText"))
        doubled = "const ids = [...document.querySelectorAll('[id]')].map((e) => e.id); return ids.filter((id, i) => ids.indexOf(id) !== i)"
        self.assertEqual(self.value(doubled), [])

    def test_every_size_colour_and_key(self):
        self.pasted(source="", entry="")  # an error, and the form open
        self.value("for (const d of document.querySelectorAll('details')) d.open = true")
        for answered in (False, True):
            if answered:
                self.pasted()
            for width in (360, 800, 1600):
                self.browser.size(width, 900)
                self.assertLessEqual(self.value("return document.documentElement.scrollWidth"), width)
            self.browser.size(1280, 900)
            for scheme in ("light", "dark"):
                self.browser.media(scheme)
                count, low = self.value(CONTRAST)
                self.assertEqual(low, [], scheme)
                self.assertGreater(count, 20)
        self.browser.media("light")
        nameless = self.value(
            "return [...document.querySelectorAll('button, select, input, textarea')].filter((e) =>"
            " !(e.textContent.trim() || e.getAttribute('aria-label') || e.labels?.length)).map((e) => e.outerHTML)"
        )
        self.assertEqual(nameless, [])
        self.value("document.getElementById('ask-box').open = true; document.getElementById('ask-source').focus()")
        self.browser.press("Tab", "Tab", "Tab")
        self.assertEqual(self.value("return document.activeElement.id"), "ask-inputs")
        self.assertNotEqual(self.value("return getComputedStyle(document.activeElement).outlineStyle"), "none")

    def test_a_server_that_wants_a_token(self):
        token, access = self.path("alice.token"), self.path("access")
        program = os.path.join(programs.BIN, "cobra-server")
        run = subprocess.run(
            [program, "token", "--name", "alice", "--role", "ask", "--out", token],
            check=True,
            capture_output=True,
            text=True,
        )
        self.path("access", run.stdout)
        with programs.Server(self.path("access.sqlite"), "--http", "127.0.0.1:0", "--access", access) as server:
            self.browser.open(f"http://{server.http_address}/ui")
            programs.wait_until(self.error)
            self.assertTrue(self.value("return document.getElementById('ask-access').open"))
            with open(token) as file:
                self.browser.type("#ask-token", file.read().strip())
            self.browser.press("Tab")
            programs.wait_until(lambda: self.value("return document.getElementById('ask-targets').options.length"))
            self.assertEqual(self.error(), "")
            self.pasted()
            self.assertEqual(self.error(), "")
            self.assertIn("6 × blocks.*", self.value("return document.querySelector('.picture').textContent"))
            self.browser.requests()


if __name__ == "__main__":
    programs.main()
