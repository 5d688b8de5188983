#!/usr/bin/env python3
"""cobra-worker's series from the outside: what it writes states how a measurement was run. No time
is asserted."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

from worker_run import CORE, CORES, lines, records, run


class MeasureTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.out = os.path.join(folder.name, "records.jsonl")

    def series(self, *flags, **more):
        """A short one: its session and its records."""
        words = ("--space", "real-layers", "--count", 3, "--out", self.out, "--tolerance", 1000)
        done = run("measure", *words, *flags, **more)
        self.assertEqual(done.returncode, 0, done.stderr)
        session = next(line for line in lines(self.out) if line["kind"] == "session")
        found = records(self.out)
        self.assertGreaterEqual(len(found), 3)
        for record in found:
            self.assertEqual(record["target"], session["machine"]["name"])
            self.assertEqual(record["session"], session["session"])
        return session, found

    def check_ok(self, found):
        for record in found:
            self.assertEqual(record["outcome"], "ok", record.get("message"))
            self.assertGreater(record["latency_us"], 0)
            for absent in ("device_us", "energy_j", "power_w"):  # 0 never stands for what nobody measured
                self.assertNotEqual(record.get(absent), 0)

    def test_plain(self):
        session, found = self.series("--core", CORE)
        self.check_ok(found)
        machine = session["machine"]
        self.assertRegex(machine["name"], "^cpu-.*-1t$")
        self.assertEqual((machine["precision"], machine["layout"], machine["threads"]), ("float32", "nchw", 1))
        self.assertEqual(found[0]["cache"], "warm")
        for name in ("governor", "clock_mhz", "temperature", "energy", "load", "torch", "blas_core_type", "cache"):
            self.assertIn(name, session["environment"])
        self.assertIn("energy_region_ms", session["rules"]["networks"])

    def test_the_runtime_has_the_kernels_that_ran(self):
        """OpenBLAS's are those of this processor, whatever the shell says."""
        runtimes = set()
        for core_type in ("Prescott", "nonsense"):
            self.setUp()
            session, found = self.series("--core", CORE, env=dict(os.environ, OPENBLAS_CORETYPE=core_type))
            self.check_ok(found)
            runtimes.add(session["machine"]["runtime"])
            self.assertNotIn(core_type, session["machine"]["runtime"])
        self.assertEqual(len(runtimes), 1)

    def test_layout_and_cold_caches(self):
        session, found = self.series("--core", CORE, "--layout", "channels-last", "--cache", "cold")
        self.check_ok(found)
        self.assertEqual(session["machine"]["layout"], "nhwc")
        self.assertRegex(session["machine"]["name"], "-nhwc$")
        self.assertEqual({record["cache"] for record in found}, {"cold"})

    def test_two_threads(self):
        if CORES[:2] != [0, 1]:
            self.skipTest("needs processors 0 and 1")
        session, found = self.series("--threads", 2)
        self.check_ok(found)
        self.assertEqual(session["machine"]["threads"], 2)
        self.assertRegex(session["machine"]["name"], "-2t$")

    def test_bfloat16_where_the_processor_has_it(self):
        with open("/proc/cpuinfo") as file:
            has = any(flag in file.read().split() for flag in ("avx512_bf16", "amx_bf16"))
        if not has:
            done = run("measure", "--space", "real-layers", "--count", 1, "--out", self.out, "--precision", "bfloat16")
            self.assertEqual(done.returncode, 2)
            self.assertIn("--precision bfloat16: this processor has no", done.stderr)
            return
        session, found = self.series("--core", CORE, "--precision", "bfloat16")
        self.assertEqual(session["machine"]["precision"], "bfloat16")
        self.assertRegex(session["machine"]["name"], "-bfloat16$")
        for record in found:
            self.assertIn(record["outcome"], ("ok", "unsupported"), record.get("message"))

    def test_impossible_requests_name_the_reason(self):
        for flags, words in (
            (("--device", "tpu"), "--device tpu"),
            (("--precision", "tf32"), "--device cuda"),
            (("--layout", "diagonal"), "--layout diagonal"),
            (("--threads", os.cpu_count() + 1), "--threads"),
        ):
            done = run("measure", "--space", "real-layers", "--count", 1, "--out", self.out, *flags)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(words, done.stderr)
            self.assertFalse(os.path.exists(self.out) and records(self.out))

    def test_describe_says_that_others_were_busy(self):
        spinning = "import os\nos.sched_setaffinity(0, {%s})\nwhile True:\n    pass" % CORE
        with subprocess.Popen([sys.executable, "-c", spinning]) as neighbour:
            done = run("describe", "--core", CORE)
            neighbour.kill()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(json.loads(done.stdout)["disturbed"])
        self.assertIn("warning: other programs ran on these processors in each of six attempts", done.stderr)

    def test_describe(self):
        done = run("describe", "--core", CORE)
        self.assertEqual(done.returncode, 0, done.stderr)
        machine = json.loads(done.stdout)
        for name in (
            "name",
            "device",
            "cores",
            "clock_mhz",
            "peak_gflops",
            "memory_gb_per_s",
            "memory_gb",
            "last_level_cache_mb",
            "vector_bits",
            "convolution_gflops",
            "pointwise_gflops",
            "depthwise_gflops",
            "l2_gb_per_s",
            "l3_gb_per_s",
            "page_fault_us",
        ):
            self.assertTrue(machine[name], name)
        self.assertGreater(machine["convolution_gflops"], machine["depthwise_gflops"])
        self.assertIn("float32", machine["precisions"])
        self.assertIn("libtorch", machine["versions"])
        self.assertEqual(
            set(machine["sensors"]), {"clock_mhz", "memory_clock_mhz", "temperature_c", "power_w", "energy"}
        )
        table = json.loads(run("describe", "--table", "NVIDIA L4").stdout)
        self.assertEqual((table["name"], table["cores"], table["memory_gb_per_s"]), ("gpu-nvidia-l4", 60, 300))
        unknown = run("describe", "--table", "Abacus")
        self.assertNotEqual(unknown.returncode, 0)
        self.assertIn("NVIDIA L4", unknown.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
