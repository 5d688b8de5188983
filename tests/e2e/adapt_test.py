#!/usr/bin/env python3
"""A new device is one call: adapt, observe, export, import, suggest, with the real programs and the
shipped weights; in SQLite and in PostgreSQL."""
import csv
import gzip
import json
import math
import os
import re
import subprocess
import sys
import unittest

from adapt_case import NETWORKS, SPEC, AdaptCase, write_list
from programs import BIN, RESNET, SOURCE, Postgres, Server, client


class Adapt(AdaptCase):
    def error_of(self, target, rows=slice(5, 8), server=None):
        predictions = self.predicted(target, NETWORKS[rows], server=server)
        return sum(abs(p / t - 1) for p, t in zip(predictions, self.truth[rows])) / len(predictions)

    def test_a_data_sheet_makes_a_target_and_samples_make_it_better(self):
        sheet = self.adapt("sheet")
        self.assertEqual(sheet.code, 0, sheet.err)
        self.assertIn("ignored: mode", sheet.err)
        target = sheet.json()["target"]
        self.assertEqual(target["samples"], 0)
        self.assertTrue(target["calibrated"])
        self.assertAlmostEqual(sum(part["weight"] for part in target["parts"]), 1, places=6)
        five = self.adapt("five", 5)
        self.assertEqual(five.code, 0, five.err)
        target = five.json()["target"]
        self.assertEqual(target["samples"], 5)
        self.assertLess(target["sample_mape_after"], target["sample_mape_before"])
        self.assertLess(self.error_of("five"), 0.12)
        self.assertLess(self.error_of("five"), self.error_of("sheet"))
        text = self.ask("adapt", "--name", "sheet", "--spec", self.file("spec.json")).out
        self.assertIn("based only on the data sheet", text)
        self.assertIn("explained by", text)

    def test_numbers_that_nobody_knows_are_named(self):
        def text_of(sheet):
            path = self.write("named.json", json.dumps(dict(sheet, kind="gpu", runtime="torch-2.4")))
            return self.ask("adapt", "--name", "named", "--spec", path).out

        self.assertIn('not known of "Voodoo 3": peak_gflops, memory_gb_per_s', text_of({"device": "Voodoo 3"}))
        self.assertIn(": memory_gb_per_s;", text_of({"device": "Voodoo 3", "peak_gflops": 90000}))
        for name in ("NVIDIA GeForce RTX 4090", "rtx 4090"):
            self.assertNotIn("not known", text_of({"device": name}))

    def test_a_precision_that_is_taken_is_said(self):
        def text_of(**sheet):
            path = self.write("assumed.json", json.dumps(dict(sheet, threads=1)))
            made = self.ask("adapt", "--name", "assumed", "--spec", path)
            self.assertEqual(made.code, 0, made.err)
            return made.out

        gpu = {"device": "RTX 4090", "kind": "gpu", "runtime": "torch-2.5"}
        self.assertIn("precision is not given, so it is float32; PyTorch's default", text_of(**gpu))
        self.assertNotIn("not given", text_of(**gpu, precision="tf32-convolutions"))

    def of_gpu(self, device, **more):
        sheet = {"device": device, "kind": "gpu", "runtime": "torch-2.4", "precision": "amp-float16", **more}
        return self.write("gpu.json", json.dumps(sheet))

    def batch_on(self, target):
        question = [RESNET, "--entry", "resnet50()", "--input", "64x3x224x224", "--target", target, "--format", "json"]
        return self.ask("predict", *question).json()["predictions"][0]

    def test_an_unknown_gpu_is_a_guess_and_an_ambiguous_name_a_question(self):
        self.assertEqual(self.ask("adapt", "--name", "voodoo", "--spec", self.of_gpu("Voodoo 3")).code, 0)
        guess = self.batch_on("voodoo")
        self.assertTrue(guess["extrapolating"])
        self.assertIn(
            'peak_gflops of "Voodoo 3" is not known', json.dumps(guess, ensure_ascii=False).replace('\\"', '"')
        )
        self.assertLessEqual(guess["high_us"] / guess["latency_us"], 1000.001)
        answer = self.ask("adapt", "--name", "a100", "--spec", self.of_gpu("A100"))
        self.assertEqual(answer.code, 2)
        self.assertIn('device "A100": may be NVIDIA A100-PCIE-40GB, ', answer.err)

    def test_intervals_of_neighbours_are_alike(self):
        """They are made of the errors of devices like it: an unlike one must not widen them a
        hundredfold."""
        wide = {}
        for device in ("RTX 3060", "RTX 3070", "RTX 3080", "RTX 4070", "RTX 4090"):
            name = device.replace(" ", "-").lower()
            self.assertEqual(self.ask("adapt", "--name", name, "--spec", self.of_gpu(device)).code, 0)
            answer = self.batch_on(name)
            wide[device] = math.log(answer["high_us"] / answer["low_us"])
        self.assertLess(max(wide.values()), 2 * min(wide.values()), wide)

    def test_timings_stay_with_their_device_and_its_arithmetic(self):
        row = [RESNET, "--entry", "resnet50()", "--input", "64x3x224x224"]
        self.assertEqual(self.ask("adapt", "--name", "mine", "--spec", self.of_gpu("RTX 4090")).code, 0)
        of_image = self.ask("observe", "--target", "mine", "--latency-ms", "0.3", *row)
        self.assertEqual(of_image.code, 2, of_image.out)
        self.assertIn("cannot take that", of_image.err)
        self.assertEqual(self.ask("observe", "--target", "mine", "--latency-ms", "16", *row).code, 0)
        for other in (self.of_gpu("RTX 4080"), self.of_gpu("RTX 4090", precision="float32")):
            answer = self.ask("adapt", "--name", "mine", "--spec", other)
            self.assertEqual(answer.code, 2)
            self.assertIn("has timings of RTX 4090 (amp-float16, eager, nchw)", answer.err)
            self.assertIn("--undo --name mine", answer.err)

        with_threads = self.write("threads.json", json.dumps(dict(SPEC, threads=4)))
        self.assertEqual(self.adapt("threads", 2).code, 0)
        answer = self.ask("adapt", "--name", "threads", "--spec", with_threads)
        self.assertEqual(answer.code, 2)
        self.assertIn("has timings of Test CPU 9000 (float32, eager, nchw, 1 thread)", answer.err)

    def reasons_of(self, sheet, *samples):
        """Why an answer on the device of this sheet is a guess."""
        name = f"reasons-{sheet['kind']}-{sheet['runtime']}"
        spec = self.write("reasons.json", json.dumps(sheet))
        made = self.ask("adapt", "--name", name, "--spec", spec, *samples)
        self.assertEqual(made.code, 0, made.err)
        images = "64x3x224x224" if sheet["kind"] == "gpu" else "1x3x224x224"
        question = [RESNET, "--entry", "resnet18()", "--input", images, "--target", name]
        answer = self.ask("predict", *question, "--format", "json")
        self.assertEqual(answer.code, 0, answer.err)
        prediction = answer.json()["predictions"][0]
        return json.dumps(prediction, ensure_ascii=False).replace('\\"', '"') if prediction["extrapolating"] else ""

    def test_a_device_unlike_those_that_explain_it_is_a_guess(self):
        gpu = {"kind": "gpu", "runtime": "torch-2.9", "precision": "amp-float16", "compile": "inductor"}
        of_gpu = dict(gpu, peak_gflops=122000, memory_gb_per_s=960, cores=96)
        self.assertIn(
            "is a GPU of the same vendor (AMD", self.reasons_of(dict(of_gpu, device="AMD Radeon RX 7900 XTX"))
        )
        self.assertIn("is a GPU of the same vendor (Arc", self.reasons_of(dict(of_gpu, device="Arc B580")))
        self.assertEqual("", self.reasons_of(dict(of_gpu, device="NVIDIA GeForce RTX 9999")))
        server = dict(SPEC, runtime="torch-2.4", threads=18, cores=18, peak_gflops=1500)
        self.assertIn("of its 18 threads", self.reasons_of(server))
        self.assertNotIn("threads", self.reasons_of(dict(server, threads=2, peak_gflops=200)))
        without_peak = {"device": "Board", "kind": "cpu", "runtime": "ncnn", "threads": 4, "clock_mhz": 2400}
        self.assertIn('peak_gflops of "Board" is not known', self.reasons_of(without_peak))
        self.assertEqual("", self.reasons_of(dict(without_peak, vector_bits=128)))

    def test_programs_are_read_for_an_older_pytorch_too(self):
        spec = self.write("old.json", json.dumps(dict(SPEC, runtime="torch-1.12.1")))
        self.assertEqual(self.ask("adapt", "--name", "old", "--spec", spec).code, 0)
        question = [RESNET, "--entry", "resnet18()", "--input", "1x3x224x224"]
        answer = self.ask("predict", *question, "--target", "old", "--format", "json")
        self.assertEqual(answer.code, 0, answer.err)
        self.assertEqual(answer.json()["predictions"][0]["torch_version"], "1.13.1")
        answer = self.ask("predict", *question, "--torch-version", "1.12.1")
        self.assertEqual(answer.code, 2)
        self.assertIn("--torch-version 1.12.1: is older", answer.err)
        self.assertIn("the oldest is 1.13.1", answer.err)

    def test_cobra_train_adapts_alike(self):
        """Architectures, without a server: the same numbers as of a target that the server made."""
        cells = ["nor_conv_3x3", "nor_conv_1x1", "avg_pool_3x3", "skip_connect", "nor_conv_3x3", "nor_conv_1x1", "none"]
        archs = [
            f"nasbench201:|{a}~0|+|{b}~0|nor_conv_3x3~1|+|skip_connect~0|{c}~1|{a}~2|"
            for a, b, c in zip(cells, cells[1:] + cells, cells[2:] + cells)
        ]
        times = [1.3 * ms for ms in (6.1, 3.2, 4.4, 5.2, 5.0)]
        test = self.write("archs.csv", "row,arch\n" + "".join(f"{i},{a}\n" for i, a in enumerate(archs)))
        few = [f"{i},{archs[i]},{ms}\n" for i, ms in enumerate(times)]
        self.write("few.csv", "row,arch,latency_ms\n" + "".join(few))
        model = os.path.join(SOURCE, "model", "pretrained")

        def adapted(*samples, code=0):
            command = ["adapt", "--model", model, "--rows", test, "--out", self.file("pred.csv"), *samples]
            done = subprocess.run([os.path.join(BIN, "cobra-train"), *command], capture_output=True, text=True)
            self.assertEqual(done.returncode, code, done.stderr)
            return done.stderr

        adapted("--spec", self.file("spec.json"), "--samples", self.file("few.csv"))
        with open(self.file("pred.csv"), newline="") as file:
            ours = [[float(row[c]) for c in ("latency_ms", "low_ms", "high_ms")] for row in csv.DictReader(file)]
        rows = [f"{i},{archs[i]},,,,{ms}\n" for i, ms in enumerate(times)]
        listed = self.write("cells.csv", "row,model,entry,inputs,arguments,latency_ms\n" + "".join(rows))
        made = self.ask("adapt", "--name", "cells", "--spec", self.file("spec.json"), "--samples", listed)
        self.assertEqual(made.code, 0, made.err)
        for arch, (ms, low_ms, high_ms) in zip(archs, ours):
            answer = client(
                "predict", "--arch", arch, "--target", "cells", "--format", "json", "--server", self.server.address
            )
            server = answer.json()["predictions"][0]
            self.assertAlmostEqual(server["latency_us"] / 1000 / ms, 1, delta=1e-4)
            self.assertAlmostEqual(server["low_us"] / 1000 / low_ms, 1, delta=1e-4)
            self.assertAlmostEqual(server["high_us"] / 1000 / high_ms, 1, delta=1e-4)
        adapted("--spec", self.file("spec.json"))
        self.assertIn("--spec: is missing", adapted(code=2))
        self.write("few.csv", "row,arch,latency_ms\n" + few[0] + few[1].replace(f",{times[1]}", ",7200000"))
        samples = ("--samples", self.file("few.csv"))
        self.assertIn("few.csv: row 1: ", adapted("--spec", self.file("spec.json"), *samples, code=2))
        self.write("few.csv", "row,arch,latency_ms\n1,nasbench201:|conv|,3\n")
        self.assertIn("few.csv: line 2: ", adapted("--spec", self.file("spec.json"), *samples, code=2))
        self.write("bad.json", json.dumps({**SPEC, "kind": "toaster"}))
        self.assertIn("bad.json: ", adapted("--spec", self.file("bad.json"), code=2))

    def test_breakdown_adds_up_and_the_interval_narrows(self):
        widths = {}
        for samples in (0, 8):
            name = f"width-{samples}"
            self.assertEqual(self.adapt(name, samples).code, 0)
            answer = self.ask(
                "predict",
                RESNET,
                "--entry",
                "resnet34()",
                "--input",
                "1x3x224x224",
                "--target",
                name,
                "--breakdown",
                "--format",
                "json",
            )
            prediction = answer.json()["predictions"][0]
            total = sum(row["latency_us"] for row in prediction["breakdown"])
            self.assertAlmostEqual(total / prediction["latency_us"], 1, places=6)
            widths[samples] = prediction["high_us"] / prediction["low_us"]
        self.assertLess(widths[8], widths[0])

    def test_observe_improves_a_target_and_undo_takes_it_back(self):
        self.assertEqual(self.adapt("seen").code, 0)
        before = self.error_of("seen")
        # A log: several timings of each network, one of them disturbed.
        rows, latencies = [], []
        for network, ms in list(zip(NETWORKS, self.truth))[:4]:
            rows += [network] * 3
            latencies += [ms, 1.02 * ms, 1.8 * ms]
        log = write_list(self.file("log.csv"), rows, latencies)
        observed = self.ask("observe", "--target", "seen", "--samples", log, "--format", "json")
        self.assertEqual(observed.code, 0, observed.err)
        self.assertEqual(observed.json()["target"]["samples"], 4)
        self.assertLess(self.error_of("seen"), before)
        after = self.predicted("seen", NETWORKS[5:6])
        model = (RESNET, "--entry", "resnet50()", "--input", "1x3x224x224")
        one = self.ask("observe", "--target", "seen", "--latency-ms", str(self.truth[5]), *model)
        self.assertEqual(one.code, 0, one.err)
        self.assertIn("5 networks were timed", one.out)
        self.assertNotEqual(self.predicted("seen", NETWORKS[5:6]), after)
        unlike = self.ask("observe", "--target", "seen", "--latency-ms", str(3 * self.truth[5]), *model)
        self.assertEqual(unlike.code, 2)
        self.assertIn(f"error: row {RESNET}: latency_ms ", unlike.err)
        undone = client("calibrate", "--undo", "--name", "seen", "--server", self.server.address)
        self.assertEqual(undone.code, 0, undone.err)
        self.assertEqual(self.predicted("seen", NETWORKS[5:6]), after)

    def test_a_long_name_of_a_row_is_shortened_by_whole_letters(self):
        path = self.file("long.csv")
        write_list(path, NETWORKS[:1], self.truth)
        with open(path, encoding="utf-8") as file:
            text = file.read().replace("\n1,", "\nx" + "\u00e9" * 150 + ",")
        self.write("long.csv", text)
        made = self.ask("adapt", "--name", "long", "--spec", self.file("spec.json"), "--samples", path)
        self.assertEqual(made.code, 0, made.err)
        self.assertEqual(self.adapt("long").code, 0)  # it still serves

    def test_a_corrected_sheet_keeps_what_was_timed(self):
        self.assertEqual(self.adapt("corrected", 4).code, 0)
        timed = self.error_of("corrected")
        self.assertEqual(self.adapt("corrected").code, 0)
        self.assertAlmostEqual(self.error_of("corrected"), timed)
        self.assertEqual(self.adapt("of-the-sheet").code, 0)
        self.assertNotAlmostEqual(self.error_of("of-the-sheet"), timed)

    def test_exported_and_imported_it_is_the_same(self):
        self.assertEqual(self.adapt("exported", 4).code, 0)
        path = self.file("exported.json.gz")
        out = self.ask("adapt", "--name", "exported", "--export", path)
        self.assertEqual(out.code, 0, out.err)
        self.assertLess(os.path.getsize(path), 100_000)
        with Server(self.file("other.sqlite")) as other:
            imported = self.ask("adapt", "--name", "copy", "--import", path, server=other)
            self.assertEqual(imported.code, 0, imported.err)
            self.assertEqual(self.predicted("copy", NETWORKS, server=other), self.predicted("exported", NETWORKS))
            # Rows of one network are one, in whatever file they come.
            with gzip.open(path, "rt") as file:
                exported = json.load(file)
            (records,) = [value for value in exported.values() if isinstance(value, list)]
            self.write(
                "twice.json", json.dumps(dict(exported, **{k: v + v for k, v in exported.items() if v is records}))
            )
            twice = self.ask(
                "adapt", "--name", "twice", "--import", self.file("twice.json"), "--format", "json", server=other
            )
            self.assertEqual(twice.code, 0, twice.err)
            self.assertEqual(twice.json()["target"]["samples"], 4)
            self.assertEqual(self.predicted("twice", NETWORKS, server=other), self.predicted("exported", NETWORKS))
            other.stop()
        bad = self.ask("adapt", "--name", "copy", "--import", self.write("bad.json", '{"machine": 3}'))
        self.assertEqual(bad.code, 2)
        # What takes no time was not measured.
        zero = dict(exported, records=[dict(record, latency_us=0) for record in exported["records"]])
        bad = self.ask("adapt", "--name", "copy", "--import", self.write("zero.json", json.dumps(zero)))
        self.assertEqual(bad.code, 2)
        self.assertRegex(bad.err, r"error: --import .*zero\.json: .*latency_us 0: a time is positive")
        self.assertIn("--export", bad.err)
        # What is left out of a sheet has its default, whoever wrote the file.
        bare = dict(exported, machine=dict(exported["machine"], threads=0, precision="", layout="", compile=""))
        made = self.ask("adapt", "--name", "bare", "--import", self.write("bare.json", json.dumps(bare)))
        self.assertEqual(made.code, 0, made.err)
        self.assertTrue(all(0 < ms < 1e6 for ms in self.predicted("bare", NETWORKS)))
        with open(self.file("random.bin"), "wb") as file:
            file.write(bytes(range(255, 0, -1)))
        bad = self.ask("adapt", "--name", "copy", "--import", self.file("random.bin"))
        self.assertEqual(bad.code, 2)
        self.assertRegex(
            bad.err, r"\Acobra-client: error: --import .*random\.bin: was not written by --export: it is not text\n\Z"
        )

    def test_it_survives_a_restart_and_a_reload(self):
        store = self.file("restart.sqlite")
        with Server(store) as server:
            self.assertEqual(self.adapt("kept", 3, server=server).code, 0)
            log = write_list(self.file("kept-log.csv"), NETWORKS[3:5], self.truth[3:5])
            self.assertEqual(self.ask("observe", "--target", "kept", "--samples", log, server=server).code, 0)
            before = self.predicted("kept", NETWORKS, server=server)
            self.assertEqual(server.stop(), 0)
        with Server(store) as server:
            self.assertEqual(self.predicted("kept", NETWORKS, server=server), before)

    def test_suggests_different_networks(self):
        path = write_list(
            self.file("list.csv"), NETWORKS + [("resnet.py", f"resnet18(num_classes={n})") for n in (9, 8)]
        )
        for flags in ((), ("--format", "json")):
            asked = self.ask("adapt", "--spec", self.file("spec.json"), "--suggest", "5", "--list", path, *flags)
            self.assertEqual(asked.code, 0, asked.err)
            rows = asked.json()["rows"] if flags else asked.out.split()
            self.assertEqual(len(set(rows)), 5)
            self.assertLessEqual(len(set(rows) & {"1", "9", "10"}), 1)

    def test_fields_that_are_nearly_known_are_refused(self):
        spec = self.write("typo.json", '{"device": "Board", "kind": "cpu", "runtime": "ncnn", "clok_mhz": 1800}')
        answer = self.ask("adapt", "--name", "typo", "--spec", spec)
        self.assertEqual(answer.code, 2)
        self.assertIn("typo.json: clok_mhz: no such field\nhint: did you mean clock_mhz?\n", answer.err)
        spec = self.write("gpu.json", '{"device": "NVIDIA L4", "kind": "gpu", "runtime": "torch", "cores": 5}')
        answer = self.ask("adapt", "--name", "gpu", "--spec", spec)
        self.assertEqual(answer.code, 2)
        self.assertIn("cores 5: NVIDIA L4 in float32 has 60", answer.err)

    def refused(self, latencies, *parts, code=2, rows=None):
        before = client("targets", "--server", self.server.address, "--format", "json").out
        path = write_list(self.file("refused.csv"), rows or NETWORKS[: len(latencies)], latencies)
        answer = self.ask("adapt", "--name", "refused", "--spec", self.file("spec.json"), "--samples", path)
        self.assertEqual(answer.code, code, answer.err)
        for part in parts:
            self.assertIn(part, answer.err)
        self.assertEqual(client("targets", "--server", self.server.address, "--format", "json").out, before)

    def test_bad_samples_are_refused_with_row_and_reason(self):
        t = self.truth
        for bad in ("0", "-3", "0x10", "nan", "inf", "three", "3600000", "0.000001", ""):
            self.refused([t[0], bad, t[2], t[3]], "row 2: latency_ms")
        self.refused([t[0], t[1] * 1000, t[2], t[3]], "refused.csv: row 2", "milliseconds")
        self.refused([ms * 1000 for ms in t[:4]], "refused.csv: row 1", "milliseconds")
        self.refused([ms / 1000 for ms in t[:4]], "milliseconds")
        self.refused([t[0], t[1], 2.5 * t[0]], "row 3", "more than a factor of two", rows=[*NETWORKS[:2], NETWORKS[0]])
        self.refused([t[0], t[1]], "row 2", "no_such_model", rows=[NETWORKS[0], ("resnet.py", "no_such_model()")])
        wrong = self.write("wrong.py", "def net():\n    return 1 +\n")
        self.refused([t[0], t[1]], "row 2", "wrong.py:2", code=6, rows=[NETWORKS[0], (wrong, "net()")])
        self.refused([t[0], t[1]], "row 2", code=2, rows=[NETWORKS[0], ("no_such_file.py", "net()")])
        self.refused([t[0]] * 51, "51", "50", code=7, rows=[NETWORKS[0]] * 51)
        # Left out, the others count.
        path = write_list(self.file("skip.csv"), NETWORKS[:4], [t[0], "0", t[2], t[3]])
        skipped = self.ask(
            "adapt", "--name", "skipped", "--spec", self.file("spec.json"), "--samples", path, "--skip-refused"
        )
        self.assertEqual(skipped.code, 0, skipped.err)
        self.assertIn("left out: row 2", skipped.out)
        self.assertIn("3 networks were timed", skipped.out)

    def test_one_bad_timing_of_five_is_named_and_a_mistaken_unit_is_skipped(self):
        good = self.truth[:5]
        spec = ["--spec", self.file("spec.json"), "--format", "json"]
        write_list(self.file("bad.csv"), NETWORKS[:5], good[:4] + [3 * good[4]])
        bad = self.ask("adapt", "--name", "bad", *spec, "--samples", self.file("bad.csv"))
        self.assertEqual(bad.code, 0, bad.err)
        (doubted,) = bad.json()["target"]["doubted"]
        self.assertRegex(doubted, r"^row 5: .* times what the others make the model expect$")
        self.assertLess(self.error_of("bad"), 0.2)
        write_list(self.file("unit.csv"), NETWORKS[:5], good[:4] + [100 * good[4]])
        unit = ["adapt", "--name", "unit", *spec, "--samples", self.file("unit.csv")]
        refused = self.ask(*unit)
        self.assertEqual(refused.code, 2, refused.err)
        self.assertIn("times too long", refused.err)
        skipped = self.ask(*unit, "--skip-refused")
        self.assertEqual(skipped.code, 0, skipped.err)
        self.assertEqual(skipped.json()["target"]["samples"], 4)
        self.assertRegex(skipped.json()["refused"][0], r"^row 5: .*too long")

    def test_what_no_trained_target_has_is_a_guess(self):
        question = ["predict", RESNET, "--entry", "resnet18()", "--input", "1x3x224x224", "--format", "json"]
        for name, change in (("tensorrt", {"runtime": "tensorrt-10"}), ("vendor", {"compile": "vendor-optimizer"})):
            made = self.ask("adapt", "--name", name, "--spec", self.write("guess.json", json.dumps(SPEC | change)))
            self.assertEqual(made.code, 0, made.err)
            answer = self.ask(*question, "--target", name).json()["predictions"][0]
            self.assertEqual(answer["confidence"], 0, name)
        # A name stays with its runtime.
        other = self.ask("adapt", "--name", "tensorrt", "--spec", self.file("spec.json"))
        self.assertEqual(other.code, 2, other.err)
        self.assertIn("give another name", other.err)
        listed = client("targets", "--name", "tensorrt", "--server", self.server.address).out
        self.assertIn("data sheet alone", listed)

    def test_contradicting_data_sheets_are_refused(self):
        for change, part in (
            ({"threads": 160}, "threads 16"),
            ({"vector_bits": 96}, "vector_bits 96"),
            ({"memory_gb_per_s": 1e7}, "memory_gb_per_s 1e+07"),
            ({"peak_gflops": 1e9}, "peak_gflops 1e+09"),
            ({"peak_gflops": 90000}, "peak_gflops 90000"),
            ({"peak_gflops": -1}, "peak_gflops -1"),
            ({"l2_cache_mb": 64, "last_level_cache_mb": 32}, "l2_cache_mb 64"),
            ({"kind": "toaster"}, "kind"),
            ({"threads": "two"}, "threads"),
            ({"threads": 1.5}, "threads 1.5"),
        ):
            path = self.write("bad.json", json.dumps({**SPEC, **change}))
            answer = self.ask("adapt", "--name", "sheetless", "--spec", path)
            self.assertEqual(answer.code, 2, change)
            self.assertIn(part, answer.err)
        twice = '{"device": "x", "kind": "cpu", "runtime": "ncnn", "cores": 4, "cores": 8}'
        for text in ("", "[]", "{", '{"device": "x"}', twice):
            self.assertEqual(self.ask("adapt", "--name", "x", "--spec", self.write("bad.json", text)).code, 2)
        self.assertNotIn("sheetless", client("targets", "--server", self.server.address).out)

    def test_observe_refuses_what_it_cannot_use(self):
        self.assertEqual(self.adapt("observed", 4).code, 0)
        t = self.truth

        def observe(latency, target="observed", entry="resnet18()"):
            return self.ask(
                "observe",
                "--target",
                target,
                "--latency-ms",
                str(latency),
                RESNET,
                "--entry",
                entry,
                "--input",
                "1x3x224x224",
            )

        self.assertRegex(observe(2.5 * t[0]).err, "more than a factor of two.*adapt again")
        self.assertIn("milliseconds", observe(1000 * t[5], entry="resnet50()").err)
        for answer in (
            observe(0),
            observe("0x10"),
            observe(t[0], target="nobody"),
            observe(t[0], target="cpu-epyc-genoa-1t"),
        ):
            self.assertEqual(answer.code, 2, answer.err)
        self.assertEqual(self.ask("observe", "--target", "observed").code, 2)

    def test_a_trained_target_is_not_replaced(self):
        answer = self.adapt("cpu-epyc-genoa-1t")
        self.assertEqual(answer.code, 2)
        self.assertIn("trained", answer.err)

    @unittest.skipUnless(Postgres.installed(), "no PostgreSQL 15 here")
    def test_other_replicas_serve_it(self):
        with Postgres() as database:
            files = [self.file(name) for name in ("first", "second")]
            with Server(database.url, files=files[0]) as first, Server(database.url, files=files[1]) as second:
                self.assertEqual(self.adapt("shared", 3, server=first).code, 0)
                log = write_list(self.file("shared-log.csv"), NETWORKS[3:6], self.truth[3:6])
                self.assertEqual(self.ask("observe", "--target", "shared", "--samples", log, server=second).code, 0)
                answers = []
                for server in (first, second):
                    for _ in range(100):
                        listed = client("targets", "--name", "shared", "--server", server.address, "--format", "json")
                        if re.search(r'"samples": 6', listed.out):
                            break
                    answers.append(self.predicted("shared", NETWORKS, server=server))
                self.assertEqual(answers[0], answers[1])
                for server in (first, second):
                    server.stop()


if __name__ == "__main__":
    sys.exit(unittest.main(verbosity=2))
