#!/usr/bin/env python3
"""`cobra-client report` beside a real server, and its page in Chromium: what it shows, clicks,
keys, colours, and that it asks for nothing. The parts in Chromium are skipped where it is not
installed."""
import json
import os
import re
import unittest
import xml.etree.ElementTree

import browser
import programs

NET = """import torch.nn as nn

class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.up, self.down = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)

    def forward(self, x):
        return x + self.down(self.up(self.norm(x)).relu())

class Net(nn.Module):
    def __init__(self, blocks):
        super().__init__()
        self.stem = nn.Linear(8, 64)
        self.blocks = nn.ModuleList(Block(64) for _ in range(blocks))

    def forward(self, x):
        x = self.stem(x)
        for block in self.blocks:
            x = block(x)
        return x

class Odd(nn.Module):
    def __init__(self):
        super().__init__()
        self.add_module('<img src=x onerror=alert(1)>', nn.Linear(8, 8))
        self.add_module('</script><script>alert(2)</script>', nn.Sequential(nn.Linear(8, 8), nn.ReLU()))
        self.add_module('<!-- "quoted" & more', nn.Conv1d(8, 8, 1))

    def forward(self, x):
        for child in self.children():
            x = child(x)
        return x

class Fixed(nn.Module):
    def forward(self, x):
        if x.shape[0] != 2:
            raise ValueError("two at a time")
        return x.relu()

class Nothing(nn.Module):
    def forward(self, x):
        return x
"""
CONTRAST = r"""
// Colours as sRGB from 0 to 1, what is behind an element being that of the first one around it with a colour.
const parse = (text) => {
  const canvas = new OffscreenCanvas(1, 1).getContext('2d');
  canvas.fillStyle = text;
  canvas.fillRect(0, 0, 1, 1);
  const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
  return {rgb: [r, g, b].map((c) => c / 255), alpha: a / 255};
};
const known = new Map();
const colour = (text) => known.get(text) || known.set(text, parse(text)).get(text);
const light = ({rgb}) => {
  const [r, g, b] = rgb.map((c) => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const behind = (element) => {
  for (let e = element; e; e = e.parentElement) {
    const found = colour(getComputedStyle(e).backgroundColor);
    if (found.alpha > 0.99) return found;
  }
  return colour('canvas');
};
const low = [];
let count = 0;
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walker.nextNode()) {
  const element = walker.currentNode.parentElement;
  if (!walker.currentNode.textContent.trim() || element.closest('script, style, noscript') || !element.checkVisibility()) continue;
  const style = getComputedStyle(element);
  const ink = colour(element instanceof SVGElement ? style.fill : style.color), paper = behind(element);
  const [a, b] = [light(ink), light(paper)].sort((x, y) => y - x);
  const ratio = (a + 0.05) / (b + 0.05);
  ++count;
  if (ratio < 4.5) low.push(`${ratio.toFixed(2)} ${element.className.baseVal ?? element.className} ${walker.currentNode.textContent.slice(0, 30)}`);
}
return [count, low];
"""


class Reports(programs.ServedTest):
    """A server, and pages of its answers."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.net = cls.path("net.py", NET)
        answer = programs.client("targets", "--server", cls.server.address, "--format", "names")
        cls.targets = answer.out.split()[:2]

    def reported(self, *flags, name="page.html", entry="Net(6)", inputs="1x16x8", code=0):
        out = self.path(name)
        answer = programs.client(
            *("report", self.net, "--entry", entry, "--input", inputs, "--server", self.server.address),
            *("--target", ",".join(self.targets), "--out", out, *flags),
        )
        self.assertEqual(answer.code, code, answer.err)
        return out

    def document(self, page):
        with open(page, encoding="utf-8") as file:
            return json.loads(re.search(r'id="report-data">(.*?)</script>', file.read(), re.S)[1])


class ReportTest(Reports):
    def test_the_numbers_are_those_of_predict_and_sweep(self):
        document = self.document(self.reported("--batch", "1,2"))
        model = (self.net, "--entry", "Net(6)", "--input", "1x16x8", "--target", ",".join(self.targets), "--breakdown")
        predicted = programs.predict(self.server, *model).json()
        for shown, prediction in zip(document["targets"], predicted["predictions"]):
            for key in ("target", "latency_us", "low_us", "high_us", "confidence", "extrapolating"):
                self.assertEqual(shown[key], prediction[key], key)
            for time, row in zip(shown["calls"]["latency_us"], prediction["breakdown"]):
                self.assertAlmostEqual(time, row["latency_us"], delta=1e-5 * abs(row["latency_us"]))
            self.assertGreater(shown["spec"]["peak_gflops"], 0)
        network = document["networks"][0]
        self.assertEqual(max(network["memory"]["during_call_bytes"]), predicted["peak_memory_bytes"])
        self.assertEqual([point["batch"] for point in document["sweep"]["targets"][0]["points"]], [1, 2])
        self.assertIn("--entry 'Net(6)'", document["question"]["command"])

    def test_the_same_question_has_the_same_page(self):
        pages = []
        for name in ("a.html", "b.html"):
            with open(self.reported("--no-sweep", name=name), "rb") as file:
                pages.append(file.read())
        self.assertEqual(*pages)

    def test_the_document_alone_and_on_standard_output(self):
        answer = programs.client(
            *("report", self.net, "--entry", "Net(1)", "--input", "1x16x8", "--server", self.server.address),
            *("--target", self.targets[0], "--no-sweep", "--out", "-", "--format", "json"),
        )
        self.assertEqual(answer.code, 0, answer.err)
        self.assertEqual(answer.json()["version"], 1)
        self.assertIsNone(answer.json()["sweep"])

    def test_errors_say_what_to_do(self):
        many = ",".join(
            programs.client("targets", "--server", self.server.address, "--format", "names").out.split()[:9]
        )
        for flags, words in (
            (["--target", many], "9 targets; a page shows at most 8"),
            (["--target", "no-such-target"], "no-such-target: no such target"),
            (["--send", "source"], "--send"),
            (["--out", ""], "--out: is empty"),
            (["--out", self.net], "is a file that this command reads"),
            (["--out", self.path("no/such/folder.html")], "--out "),
            (["--batch", "0"], "--batch"),
            (["--entry", "Nothing()"], "calls no operator"),
        ):
            given = {
                "--target": self.targets[0],
                "--entry": "Net(1)",
                "--out": self.path("never.html"),
                **{flags[0]: flags[1]},
            }
            arguments = [part for pair in given.items() for part in pair]
            answer = programs.client(
                "report", self.net, "--input", "1x16x8", "--no-start", "--server", self.server.address, *arguments
            )
            self.assertEqual(answer.code, 2, answer.err)
            self.assertIn(words, answer.err)
        gone = ("--server", "127.0.0.1:1", "--deadline-s", "1", "--target", self.targets[0], "--no-sweep")
        answer = programs.client("report", self.net, "--entry", "Net(1)", "--input", "1x16x8", *gone)
        self.assertEqual(answer.code, 3, answer.err)

    def test_without_a_target_the_fastest_are_shown(self):
        answer = programs.client(
            "report", self.net, "--entry", "Net(1)", "--input", "1x16x8", "--server", self.server.address, "--no-sweep", "--format", "json", "--out", "-"
        )  # fmt: skip
        self.assertEqual(answer.code, 0, answer.err)
        shown = [target["target"] for target in json.loads(answer.out)["targets"]]
        all_targets = programs.client(
            "predict", self.net, "--entry", "Net(1)", "--input", "1x16x8", "--server", self.server.address, "--format", "json"
        ).json()["predictions"]  # fmt: skip
        known = sorted((p["coverage"] <= 0, p["latency_us"], p["target"]) for p in all_targets)
        self.assertEqual(shown, [name for *_, name in known[:8]])

    def test_a_page_without_a_sweep_says_why(self):
        graph = self.path("graph.json")
        with open(graph, "w") as file:
            file.write(
                programs.client("graph", self.net, "--entry", "Net(1)", "--input", "1x16x8", "--format", "json").out
            )
        out = self.path("graph.html")
        answer = programs.client(
            "report", graph, "--target", self.targets[0], "--server", self.server.address, "--out", out
        )
        self.assertEqual(answer.code, 0, answer.err)
        self.assertIn("sizes are fixed", self.document(out)["sweep"]["error"])

    def test_the_picture_alone(self):
        for entry, inputs in (("Net(30)", "1x16x8"), ("Odd()", "1x8x8")):
            out = self.path(entry[:3] + ".svg")
            command = ("graph", self.net, "--entry", entry, "--input", inputs, "--format", "svg")
            answer = programs.client(*command, "--out", out)
            self.assertEqual(answer.code, 0, answer.err)
            with open(out, encoding="utf-8") as file:
                text = file.read()
            self.assertEqual(text, programs.client(*command).out)
            root = xml.etree.ElementTree.fromstring(text)
            names = {
                "{http://www.w3.org/2000/svg}" + name for name in ("svg", "title", "style", "rect", "g", "text", "path")
            }
            self.assertLessEqual({element.tag for element in root.iter()}, names)
            if entry == "Odd()":
                self.assertIn("<img src=x onerror=alert(1)>", [element.text for element in root.iter()])
        self.assertEqual(programs.client(*command, "--out", out).code, 2, "it exists")
        self.assertEqual(programs.client(*command, "--out", self.path("x.png")).code, 2)


@unittest.skipUnless(browser.installed(), "chromium and chromedriver are not installed")
class PageTest(browser.Shared, Reports):
    def opened(self, *flags, **options):
        page = self.reported(*flags, **options)
        self.browser.open("file://" + page)
        self.addCleanup(self.check_quiet, page)
        return self.browser

    def check_quiet(self, page):
        """No error, and no request but that of the page."""
        self.assertEqual(self.browser.console(), [])
        own = {"file://" + page, "data:,"}
        self.assertEqual([url for url in self.browser.requests() if url not in own], [])

    def test_boxes_open_and_close(self):
        b = self.opened("--no-sweep")
        self.assertIn("6 × blocks.*", b.run("return document.querySelector('.picture').textContent"))
        b.run(
            "[...document.querySelectorAll('#picture .choice button')].find((x) => x.textContent === 'Fold all').click()"
        )
        count = "return document.querySelectorAll('.picture .box').length"
        self.assertEqual(b.run(count), 2, "the stem and the blocks")
        b.click(".picture .box.stack")
        self.assertGreater(b.run(count), 4)
        self.assertEqual(b.run("return document.activeElement.getAttribute('aria-expanded')"), "true")
        b.press("Enter")  # on the title of the frame, which has the focus
        self.assertEqual(b.run(count), 2)
        b.press("Enter")
        b.run("[...document.querySelectorAll('.picture .small')].find((x) => x.textContent === 'one by one').click()")
        self.assertEqual(b.run("return document.querySelectorAll('.picture .frame .frame .box').length"), 6)
        b.click(".picture .box:not([aria-expanded])")
        self.assertIn("linear", b.run("return document.querySelector('#picture .detail').textContent"))
        self.assertGreater(b.run("return document.querySelectorAll('.picture .wire').length"), 0)

    def test_the_icicle_zooms_by_click_and_by_keys(self):
        b = self.opened("--no-sweep")
        first = "return document.querySelector('.icicle .cell').title"
        self.assertTrue(b.run(first).startswith("network"))
        b.run("document.querySelector('.icicle .cell').focus()")
        b.press("Down", "Right", "Enter")
        self.assertTrue(b.run(first).startswith("blocks"), b.run(first))
        b.press("Down", "Right", "Right", "Left", "Up", "Escape")
        self.assertTrue(b.run(first).startswith("network"))
        self.assertTrue(b.run("return document.activeElement.title").startswith("blocks"))
        b.click(".icicle .cell:nth-child(3)")
        self.assertFalse(b.run(first).startswith("network"))
        b.click(".crumbs button")
        self.assertTrue(b.run(first).startswith("network"))
        b.click("#icicle .choice button:last-child")
        self.assertIn("net.py", b.run("return document.querySelectorAll('.icicle .cell')[1].title"))

    def test_calls_are_searched_filtered_and_sorted(self):
        b = self.opened("--no-sweep")
        shown = (
            "return [...document.querySelectorAll('.calls tbody tr:not(.gap)')].map((row) => row.cells[%d].textContent)"
        )
        b.type("#calls input[type=search]", "blocks.3 linear")
        self.assertEqual(b.run(shown % 1), ["blocks.3.up", "blocks.3.down"])
        self.assertIn("2 calls of", b.run("return document.querySelector('#calls output').textContent"))
        b.run(
            "const s = document.querySelector('#calls input[type=search]'); s.value = ''; s.dispatchEvent(new Event('input'))"
        )
        b.run(
            "const s = document.querySelector('#calls select'); s.value = 'layer_norm'; s.dispatchEvent(new Event('change'))"
        )
        self.assertEqual(set(b.run(shown % 2)), {"layer_norm"})
        b.run("const s = document.querySelector('#calls select'); s.value = ''; s.dispatchEvent(new Event('change'))")
        b.click(".calls [data-column=time]")
        document = self.document(self.path("page.html"))
        first = min(document["targets"], key=lambda target: (target["extrapolating"], target["latency_us"]))
        times = first["calls"]["latency_us"]  # of the one that the page has in front
        slowest = sorted(range(len(times)), key=lambda i: -times[i])
        self.assertEqual([int(text) for text in b.run(shown % 0)], slowest[: len(b.run(shown % 0))])
        self.assertEqual(
            b.run("return document.querySelector('.calls th[aria-sort]').getAttribute('aria-sort')"), "descending"
        )

    def test_another_target_and_the_other_colours(self):
        b = self.opened("--batch", "1,2,4")
        before = b.run("return document.querySelector('.picture .head').textContent")
        b.run("const s = document.getElementById('target'); s.value = 1; s.dispatchEvent(new Event('change'))")
        self.assertNotEqual(b.run("return document.querySelector('.picture .head').textContent"), before)
        paper = "return getComputedStyle(document.body).backgroundColor"
        light = b.run(paper)
        b.click(".theme")
        self.assertNotEqual(b.run(paper), light)
        self.assertEqual(
            b.run("return document.querySelectorAll('#sweep .curve').length"), 4, "two targets, two figures"
        )

    def test_every_text_stands_out(self):
        b = self.opened("--batch", "1,2,4")
        for scheme in ("light", "dark"):
            b.media(scheme)
            count, low = b.run(CONTRAST)
            self.assertEqual(low, [], scheme)
            self.assertGreater(count, 200)
        b.media("light")

    def test_everything_has_a_name_and_takes_the_focus(self):
        b = self.opened("--batch", "1,2")
        nameless = b.run(
            "return [...document.querySelectorAll('button, select, input, [role=img], [role=region], [role=group]')].filter((e) =>"
            " !(e.textContent.trim() || e.getAttribute('aria-label') || e.labels?.length)).map((e) => e.outerHTML.slice(0, 80))"
        )
        self.assertEqual(nameless, [])
        b.run("document.activeElement.blur()")
        seen = set()
        for _ in range(12):
            b.press("Tab")
            seen.add(
                b.run(
                    "const e = document.activeElement; return e.tagName + (getComputedStyle(e).outlineStyle === 'none' ? ' unseen' : '')"
                )
            )
        self.assertTrue({"SELECT", "A", "BUTTON"} <= seen, seen)
        self.assertFalse([name for name in seen if "unseen" in name])

    def test_no_size_is_wider_than_the_window(self):
        b = self.opened("--batch", "1,2")
        for width in (380, 800, 1600):
            b.size(width, 900)
            self.assertLessEqual(b.run("return document.documentElement.scrollWidth"), width)
        b.size(1280, 900)

    def test_print_shows_more_and_no_controls(self):
        b = self.opened("--batch", "1,2")
        boxes = "return document.querySelectorAll('.picture .box').length"
        before = b.run(boxes)
        b.media("dark", "print")
        b.run("dispatchEvent(new Event('beforeprint'))")
        self.assertGreaterEqual(b.run(boxes), before)
        self.assertEqual(b.run("return document.querySelectorAll('details:not([open])').length"), 0)
        self.assertEqual(b.run("return getComputedStyle(document.querySelector('.toolbar')).display"), "none")
        self.assertEqual(b.run("return getComputedStyle(document.body).backgroundColor"), "rgb(255, 255, 255)")
        b.run("dispatchEvent(new Event('afterprint'))")
        b.media("light")
        b.pdf(self.path("page.pdf"))
        with open(self.path("page.pdf"), "rb") as file:
            self.assertEqual(file.read(5), b"%PDF-")

    def test_names_of_the_model_are_text(self):
        b = self.opened("--no-sweep", entry="Odd()", inputs="1x8x8")
        self.assertEqual(b.run("return document.images.length + document.querySelectorAll('main script').length"), 0)
        text = b.run("return document.getElementById('report').textContent")
        for name in ("<img src=x onerror=alert(1)>", "</script><script>alert(2)</script>", '<!-- "quoted" & more'):
            self.assertIn(name, text)

    def test_batches_that_were_not_answered_say_why(self):
        page = self.path("fixed.html")
        fixed = ("report", self.net, "--entry", "Fixed()", "--input", "2x4", "--batch", "1,2,4", "--out", page)
        answer = programs.client(*fixed, "--target", self.targets[0], "--server", self.server.address)
        self.assertEqual(answer.code, 0, answer.err)
        self.browser.open("file://" + page)
        self.addCleanup(self.check_quiet, page)
        text = self.browser.run("return document.getElementById('sweep').textContent")
        self.assertIn("nothing to draw", text)
        self.assertIn("batch 1, 4: ValueError: two at a time", text)

    def test_another_version_is_refused_in_words(self):
        b = self.opened("--no-sweep")
        b.run("renderReport({version: 99}, document.getElementById('report'))")
        self.assertIn("version 99", b.run("return document.getElementById('report').textContent"))

    def test_ten_thousand_calls(self):
        """The time is printed; docs/report.md has it."""
        page = self.reported("--no-sweep", name="large.html", entry="Net(2000)")
        document = self.document(page)
        self.assertGreater(len(document["networks"][0]["calls"]["op"]), 10000)
        self.browser.cpu_seconds()  # counted from here on
        seconds = min(self.browser.open("file://" + page) for _ in range(3))
        self.addCleanup(self.check_quiet, page)
        calls, cpu = len(document["networks"][0]["calls"]["op"]), self.browser.cpu_seconds()
        print(f"a page of {calls} calls opens in {seconds:.2f} s, {cpu:.2f} s of its processor time")
        self.assertIn("2000 × blocks.*", self.browser.run("return document.querySelector('.picture').textContent"))
        self.assertLess(self.browser.run("return document.getElementsByTagName('*').length"), 3000)
        self.browser.run("const c = document.querySelector('.calls'); c.scrollTop = c.scrollHeight")
        self.browser.wait_for_frame()
        last = "const rows = document.querySelectorAll('.calls tbody tr:not(.gap)'); return rows[rows.length - 1].cells[0].textContent"
        self.assertEqual(int(self.browser.run(last)), len(document["networks"][0]["calls"]["op"]) - 1)


if __name__ == "__main__":
    programs.main()
