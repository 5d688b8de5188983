#!/usr/bin/env python3
"""`cobra-client sweep` beside a real server: each batch has the numbers of `predict`, in a table,
as JSON and as a picture."""
import json
import os
import xml.etree.ElementTree

import programs

NET = """import torch.nn as nn

class Net(nn.Module):
    def __init__(self, most=1000):
        super().__init__()
        self.conv = nn.Conv2d(3, 16, 3)
        self.most = most

    def forward(self, x, mask=None):
        if x.shape[0] > self.most:
            raise ValueError(f"a batch of {x.shape[0]} is too large")
        x = self.conv(x)
        return x if mask is None else x * mask

class Sequences(nn.Module):
    def forward(self, x):
        length, batch, width = x.shape
        return x.reshape(length, batch * width).relu()
"""
WIDE = """import torch.nn as nn

class Wide(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layers = nn.Sequential(*[m for _ in range(4) for m in (nn.Linear(width, width), nn.ReLU())])

    def forward(self, x):
        return self.layers(x)
"""
CELL = "nasbench201:|nor_conv_3x3~0|+|none~0|skip_connect~1|+|nor_conv_1x1~0|avg_pool_3x3~1|none~2|"
PARAM = """7767517
3 3
Input            data             0 1 data 0=32 1=32 2=3
Convolution      conv             1 1 data conv 0=8 1=3 6=216
ReLU             relu             1 1 conv relu
"""


class SweepTest(programs.ServedTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.net = cls.path("net.py", NET)

    def swept(self, *flags, code=0, target=None):
        answer = programs.client("sweep", *flags, "--target", target or self.target, "--server", self.server.address)
        self.assertEqual(answer.code, code, answer.err)
        return answer

    def points(self, *flags, **options):
        return self.swept(*flags, "--format", "json", **options).json()["targets"][0]["points"]

    def test_each_batch_has_the_numbers_of_predict(self):
        model = (self.net, "--entry", "Net()")
        points = self.points(*model, "--input", "1x3x16x16", "--input", "mask=1x1x1x1", "--batch", "1,2,4,...,16")
        self.assertEqual([point["batch"] for point in points], [1, 2, 4, 8, 16])
        for point in points:
            n = point["batch"]
            alone = programs.predict(
                self.server, *model, "--input", f"{n}x3x16x16", "--input", f"mask={n}x1x1x1", "--target", self.target
            ).json()
            for key, value in alone["predictions"][0].items():
                if key in point:
                    self.assertEqual(point[key], value, key)
            self.assertEqual(point["peak_memory_bytes"], alone["peak_memory_bytes"])
            self.assertAlmostEqual(point["items_per_s"], 1e6 * n / point["latency_us"], places=6)

    def test_a_larger_batch_and_a_wider_network_take_longer(self):
        """On every trained target that was measured with several batches and threads of its own,
        for networks of every kind: less by no more than two measurements differ there, or 5 % (8 %
        where a network is compiled, at each batch into another program). On the others the largest
        batch takes at least four fifths of the smallest. By LibTorch with two threads two small
        images can take half of what one takes: that one is a matrix product, which has no more of
        two threads than of one, two are oneDNN's.
        """
        targets = programs.client("targets", "--server", self.server.address, "--trained", "--format", "json").json()
        floors = {
            t["spec"]["name"]: t["errors"]["repeatability_floor"] if t["spec"]["threads"] == 1 else 0.35
            for t in targets["targets"]
            if t["errors"]["repeatability_floor"] > 0 and t["spec"]["kind"] == "cpu"
        }
        self.assertGreater(len(floors), 20)
        compiled = {t["spec"]["name"] for t in targets["targets"] if t["spec"]["compile"] != "eager"}
        least = {name: 1 - max(0.08 if name in compiled else 0.05, floor) for name, floor in floors.items()}
        products = {
            t["spec"]["name"]
            for t in targets["targets"]
            if t["spec"]["threads"] > 1 and t["spec"]["runtime"].startswith("libtorch-")
        }
        self.assertGreaterEqual(len(products), 3)
        names = ",".join(t["spec"]["name"] for t in targets["targets"])
        folder = "/usr/lib/python3/dist-packages/torchvision/models/"
        for file, entry, side in (
            ("resnet.py", "resnet18()", 64),
            ("mobilenetv2.py", "mobilenet_v2()", 96),
            ("shufflenetv2.py", "shufflenet_v2_x1_0()", 64),
            ("convnext.py", "convnext_tiny()", 64),
        ):
            model = (folder + file, "--entry", entry, "--library", "/usr/lib/python3/dist-packages")
            answer = self.swept(*model, "--input", f"1x3x{side}x{side}", "--format", "json", target=names).json()
            for target in answer["targets"]:
                us = [point["latency_us"] for point in target["points"]]
                name = target["target"]
                self.assertGreater(us[-1], 0.8 * us[0], (entry, name, us))
                if name not in floors:
                    continue
                for step, (before, after) in enumerate(zip(us, us[1:])):
                    limit = 0.4 if step == 0 and name in products else least[name]
                    self.assertGreater(after, before * limit, (entry, name, us))
        wide = self.path("wide.py", WIDE)
        earlier = None
        for width in (64, 256, 1024):
            answer = programs.predict(
                self.server, wide, "--entry", f"Wide({width})", "--input", f"4x{width}", "--target", names
            ).json()
            now = [p["latency_us"] for p in answer["predictions"]]
            if earlier is not None:
                for name, before, after in zip(names.split(","), earlier, now):
                    if name in floors:
                        self.assertGreater(after, before * least[name], (width, name))
            earlier = now

    def test_a_batch_that_fails_says_why_and_the_others_are_there(self):
        points = self.points(self.net, "--entry", "Net(4)", "--input", "1x3x16x16", "--batch", "1..16")
        self.assertEqual(
            [("error" in point, point["batch"]) for point in points],
            [(False, 1), (False, 2), (False, 4), (True, 8), (True, 16)],
        )
        self.assertIn("a batch of 8 is too large", points[3]["error"]["message"])
        text = self.swept(self.net, "--entry", "Net(4)", "--input", "1x3x16x16", "--batch", "1..16").out
        self.assertRegex(text, r"\n +8 +- .*ValueError: a batch of 8 is too large")

    def test_if_all_fail_the_first_error_is_that_of_the_command(self):
        answer = self.swept(self.net, "--entry", "Net(0)", "--input", "1x3x16x16", code=6)
        self.assertIn("ValueError: a batch of 1 is too large", answer.err)

    def test_the_knee_and_the_end_of_memory(self):
        target = self.swept(
            self.net,
            "--entry",
            "Net()",
            "--input",
            "1x3x64x64",
            "--batch",
            "1..64",
            "--memory-gb",
            "0.01",
            "--format",
            "json",
        ).json()["targets"][0]
        fitting = [point for point in target["points"] if point["peak_memory_bytes"] <= 1e7]
        self.assertTrue(0 < len(fitting) < len(target["points"]))
        self.assertEqual(
            [point["fits"] for point in target["points"]],
            [point["peak_memory_bytes"] <= 1e7 for point in target["points"]],
        )
        best = max(point["items_per_s"] for point in fitting)
        knee = next(point for point in fitting if point["items_per_s"] >= 0.9 * best)
        self.assertEqual(target["knee"]["batch"], knee["batch"])
        end = target["memory"]
        self.assertEqual(end["largest_batch_that_fits"], fitting[-1]["batch"])
        self.assertTrue(fitting[-1]["batch"] <= end["ends_at_batch"] < 2 * fitting[-1]["batch"])
        text = self.swept(
            self.net, "--entry", "Net()", "--input", "1x3x64x64", "--batch", "1..64", "--memory-gb", "0.01"
        ).out
        self.assertRegex(text, r"\nknee at batch \d+: ")
        self.assertIn(f"\nmemory of 0.01 GB: batch {fitting[-1]['batch']} fits, and it ends at about batch ", text)

    def test_in_half_precision_a_network_needs_half_the_memory(self):
        flags = (self.net, "--entry", "Net()", "--input", "1x3x64x64", "--batch", "1,2")
        full = [point["peak_memory_bytes"] for point in self.points(*flags)]
        for _ in range(2):  # computed, then remembered
            half = self.points(*flags, target="gpu-nvidia-h200-float16")
            self.assertEqual([point["peak_memory_bytes"] for point in half], [size // 2 for size in full])

    def test_memory_is_what_the_target_says(self):
        with open(os.path.join(programs.SOURCE, "tests", "e2e", "probe_of_few_networks.json")) as file:
            probe = json.load(file)
        probe["machine"].update(memory_gb=0.01, last_level_cache_mb=8)
        path = os.path.join(self.folder.name, "probe.json")
        with open(path, "w") as file:
            json.dump(probe, file)
        answer = programs.client("calibrate", "--probe", path, "--name", "small", "--server", self.server.address)
        self.assertEqual(answer.code, 0, answer.err)
        flags = (self.net, "--entry", "Net()", "--input", "1x3x64x64", "--batch", "1..64")
        self.assertIn("\nmemory of 0.01 GB: batch ", self.swept(*flags, target="small").out)
        self.assertIn("\nmemory of 3 GB: batch 64 fits", self.swept(*flags, "--memory-gb", "3", target="small").out)
        self.assertIn("\nthe memory of the target is unknown: give --memory-gb", self.swept(*flags).out)

    def test_the_batch_may_stand_elsewhere(self):
        answer = self.swept(
            self.net, "--entry", "Sequences()", "--input", "128xBx32", "--batch", "1,2", "--format", "json"
        )
        alone = programs.predict(
            self.server, self.net, "--entry", "Sequences()", "--input", "128x2x32", "--target", self.target
        ).json()
        point = answer.json()["targets"][0]["points"][1]
        self.assertEqual(point["latency_us"], alone["predictions"][0]["latency_us"])

    def test_forms_of_a_model_that_have_inputs_of_their_own(self):
        param = os.path.join(self.folder.name, "small.param")
        with open(param, "w") as file:
            file.write(PARAM)
        onnx = os.path.join(self.folder.name, "net.onnx")
        programs.client(
            "graph", self.net, "--entry", "Net()", "--input", "1x3x16x16", "--format", "onnx", "--out", onnx
        )
        for model in ([param], ["--arch", CELL], [onnx]):
            with self.subTest(model):
                points = self.points(*model, "--batch", "1,4")
                self.assertNotIn("error", points[0])
        self.assertEqual(points[1].get("error", {}).get("exit_code", 2), 2)  # the file says 1
        points = self.points("--arch", CELL, "--batch", "1,4")
        self.assertGreater(points[1]["latency_us"], points[0]["latency_us"])

    def test_several_targets_are_one_table_and_one_picture(self):
        answer = programs.client("targets", "--server", self.server.address, "--format", "json")
        names = [t["spec"]["name"] for t in answer.json()["targets"]][:8]
        flags = (self.net, "--entry", "Net()", "--input", "1x3x16x16", "--batch", "1..4")
        text = self.swept(*flags, target=",".join(names)).out
        for name in names:
            self.assertRegex(text, rf"\n +4  {name} +\d")
            self.assertRegex(text, rf"\n{name}: knee at batch ")
        out = os.path.join(self.folder.name, "sweep.svg")
        self.swept(*flags, "--format", "svg", "--out", out, target=",".join(names))
        root = xml.etree.ElementTree.parse(out).getroot()
        self.assertEqual(root.tag, "{http://www.w3.org/2000/svg}svg")
        texts = " ".join("".join(element.itertext()) for element in root.iter())
        for name in names:
            self.assertIn(name, texts)
        with open(out) as file:
            svg = file.read()
        self.assertEqual(svg.count("http"), 1)  # its own name: nothing is loaded from elsewhere
        self.assertEqual(svg.count('class="band '), 2 * len(names))

    def test_the_picture_does_not_replace_the_model(self):
        with open(self.net) as file:
            before = file.read()
        refused = self.swept(self.net, "--entry", "Net()", "--input", "1x3x16x16", "--out", self.net, code=2)
        self.assertIn("is a file that this command reads", refused.err)
        with open(self.net) as file:
            self.assertEqual(file.read(), before)

    def test_usage_errors(self):
        model = (self.net, "--entry", "Net()", "--input", "1x3x16x16")
        for flags, words in (
            ((*model, "--batch", "0"), "--batch 0: 0 is not between 1 and 1048576\nhint: sizes as in 1,2,4,8"),
            ((*model, "--batch", "1,2,x"), '--batch 1,2,x: "x" is not a size'),
            ((*model, "--memory-gb", "nan"), "--memory-gb"),
            ((*model, "--memory-gb", "-1"), "--memory-gb"),
            ((*model, "--out", os.path.join(self.folder.name, "no", "x")), "--out "),
            ((self.net, "--entry", "Net()"), "input"),
            ((self.net, "--entry", "Net()", "--input", "[3x8x8]"), "write B for the batch"),
            (("none.py", "--input", "1x3"), "none.py: no such file"),
            (("none.json",), "none.json: no such file"),
        ):
            with self.subTest(flags):
                answer = programs.client("sweep", *flags, "--target", self.target, "--server", self.server.address)
                self.assertIn(answer.code, (2, 6), answer.err)
                self.assertIn(words, answer.err)
        answer = self.swept(*model, "--format", "svg", code=2, target=",".join("abcdefghi"))
        self.assertIn("--format svg: 9 targets; a picture shows at most 8", answer.err)
        answer = self.swept(*model, code=2, target="nope")
        self.assertIn("nope: no such target\nhint: targets: ", answer.err)
        answer = programs.client("sweep", *model, "--target", "x", "--server", "127.0.0.1:1")
        self.assertEqual(answer.code, 3, answer.err)


if __name__ == "__main__":
    programs.main()
