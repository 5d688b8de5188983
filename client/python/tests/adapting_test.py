#!/usr/bin/env python3
"""Targets made from Python: from a data sheet, with timings, later ones, and which to time; what is
refused. With the real server; needs no torch."""
import json
import math
import unittest
import warnings

import support

support.stage()
import cobra_latency  # noqa: E402
from cobra_latency import Timed, UsageError  # noqa: E402

# A processor between those that the weights know.
SPEC = {
    "device": "Test CPU 9000",
    "kind": "cpu",
    "runtime": "libtorch-1.13.0",
    "threads": 1,
    "cores": 8,
    "peak_gflops": 120,
    "memory_gb_per_s": 15,
    "vector_bits": 512,
    "clock_mhz": 2800,
}
CELLS = ("nor_conv_3x3", "nor_conv_1x1", "avg_pool_3x3", "skip_connect")
NETWORKS = [
    (f"nasbench201,channels={channels}:|{a}~0|+|{b}~0|{a}~1|+|{b}~0|nor_conv_1x1~1|{a}~2|", None)
    for channels in (16, 32)
    for a in CELLS[:2]
    for b in CELLS
]


class AdaptingTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.client = support.start()
        # "Measured": what a trained target takes, half as long again.
        answers = cls.client.predict_many(
            cobra_latency.Question(model, inputs, "cpu-xeon-cascadelake-1t") for model, inputs in NETWORKS
        )
        cls.truth = [1.5 * answer.get().ms for answer in answers]
        cls.timed = [Timed(model, inputs, ms) for (model, inputs), ms in zip(NETWORKS, cls.truth)]

    def error_of(self, target):
        """The mean error on networks that no test has timed."""
        rest = list(zip(NETWORKS, self.truth))[10:]
        return sum(abs(self.client.predict(*network, target).ms / ms - 1) for network, ms in rest) / len(rest)

    def names(self):
        return self.client.targets().names()

    def test_a_data_sheet_makes_a_target_and_timings_make_it_better(self):
        sheet = self.client.adapt("sheet", SPEC)
        self.assertEqual((sheet.target, sheet.samples, sheet.refused), ("sheet", 0, []))
        self.assertAlmostEqual(sum(part.weight for part in sheet.parts), 1, places=6)
        self.assertIn("based only on the data sheet", str(sheet))
        self.assertIn("sheet", self.names())
        five = self.client.adapt("five", SPEC, self.timed[:5])
        self.assertEqual(five.samples, 5)
        self.assertLess(five.mape_after, five.mape_before)
        self.assertIn("5 networks timed", str(five))
        self.assertIn("<table>", five._repr_html_())
        self.assertLess(self.error_of("five"), self.error_of("sheet"))
        errors = {target.name: target.network_mape for target in self.client.targets()}
        self.assertEqual(errors["sheet"], 0)  # nothing says how far it is off
        self.assertEqual(errors["five"], five.mape_after)

    def test_another_level_is_a_warning(self):
        self.assertEqual(self.client.adapt("level", SPEC, self.timed[:5]).warnings, [])
        slow = [timed._replace(latency_ms=3 * timed.latency_ms) for timed in self.timed[:3]]
        changed = self.client.observe_many("level", slow)
        self.assertEqual(changed.samples, 3)
        (warning,) = changed.warnings
        self.assertIn("3 times as long as before", warning)
        self.assertIn("warning: 3 networks that the target has", str(changed))
        self.assertFalse([row for row in changed.doubted if "warning" in row])

    def test_a_data_sheet_in_a_file_as_the_worker_prints_it(self):
        described = {**SPEC, "governor": "performance", "sensors": ["none"], "mode": "eval", "l2_cache_mb": None}
        path = support.write("sheet.json", json.dumps(described))
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            self.client.adapt("file", path)
        self.assertEqual([str(warning.message) for warning in caught], [f"{path}: ignored: mode"])
        self.assertEqual(caught[0].filename, __file__)
        self.client.adapt("dictionary", SPEC)
        for network in NETWORKS[:3]:
            self.assertEqual(self.client.predict(*network, "file").ms, self.client.predict(*network, "dictionary").ms)

    def test_what_is_observed_counts(self):
        self.client.adapt("seen", SPEC)
        before = self.error_of("seen")
        # A log: several timings of each network, one of them disturbed; of one network the median
        # counts.
        log = [t._replace(latency_ms=t.latency_ms * factor) for t in self.timed[:4] for factor in (1, 1.02, 1.8)]
        observed = self.client.observe_many("seen", log)
        self.assertEqual(observed.samples, 4)
        self.assertLess(self.error_of("seen"), before)
        model, inputs = NETWORKS[7]
        one = self.client.observe("seen", model, self.truth[7], inputs, row="the eighth", timings=20)
        self.assertEqual((one.target, one.samples), ("seen", 5))
        self.assertGreater(one.version, observed.version)

    def test_suggestions_are_different_networks(self):
        asked = NETWORKS + [NETWORKS[0]] * 3 + [("nasbench201:nonsense", None)]
        suggestions = self.client.suggest(SPEC, asked, 4)
        self.assertEqual(len(suggestions), 4)
        self.assertEqual(list(suggestions), [asked[number] for number in suggestions.numbers])
        self.assertEqual(len(set(suggestions)), 4)
        self.assertEqual([number for number, _ in suggestions.refused], [len(asked) - 1])
        self.assertIn("nasbench201", str(suggestions))
        self.client.adapt("suggested", SPEC, [self.timed[n % len(NETWORKS)] for n in suggestions.numbers])

    def test_a_refused_timing_names_its_row_and_changes_nothing(self):
        before = self.names()
        good = self.timed[:4]
        cases = (
            (good[1]._replace(latency_ms=-3), "row 2: latency_ms=-3: is not a time"),
            (good[1]._replace(latency_ms=0), "row 2: latency_ms=0"),
            (good[1]._replace(latency_ms=math.nan), "row 2: latency_ms=nan"),
            (good[1]._replace(latency_ms=math.inf), "row 2: latency_ms"),
            (good[1]._replace(latency_ms="12"), "row 2: latency_ms='12'"),
            (good[1]._replace(latency_ms=1000 * good[1].latency_ms), "row 2: .*milliseconds"),
            (good[1]._replace(row="pixel, kitchen", latency_ms=1e9), "row pixel, kitchen: "),
            (good[1]._replace(timings=0), "row 2: timings=0"),
            (good[1]._replace(timings=2**31), "row 2: timings=2147483648"),
            (good[1]._replace(model="nasbench201:nonsense"), "row 2: .*nonsense"),
            (good[0]._replace(latency_ms=2.5 * good[0].latency_ms), "row 2: .*more than a factor of two"),
            (NETWORKS[1], "is not Timed"),
        )
        for bad, message in cases:
            with self.subTest(message), self.assertRaisesRegex(cobra_latency.CobraError, message):
                self.client.adapt("refused", SPEC, [good[0], bad, *good[2:]])
        with self.assertRaisesRegex(cobra_latency.LimitReached, "51"):
            self.client.adapt("refused", SPEC, [good[0]] * 51)
        self.assertEqual(self.names(), before)
        kept = self.client.adapt(
            "kept", SPEC, [good[0], good[1]._replace(latency_ms=1e9), *good[2:]], skip_refused=True
        )
        self.assertEqual(kept.samples, 3)
        self.assertEqual([row for row, _ in kept.refused], ["2"])
        self.assertIn("left out: row 2", str(kept))

    def test_wrong_data_sheets(self):
        missing = support.path("missing.json")
        cases = (
            ({**SPEC, "threads": "two"}, "threads='two': is not a whole number"),
            ({**SPEC, "threads": 1.5}, "threads=1.5: is not a whole number"),
            ({**SPEC, "threads": math.inf}, "threads=inf: is not a whole number"),
            ({**SPEC, "threads": 2**40}, "threads=1099511627776: is not a whole number"),
            ({**SPEC, "threads": True}, "threads=True: is not a whole number"),
            ({**SPEC, "clock_mhz": "fast"}, "clock_mhz='fast': is not a number"),
            ({**SPEC, "device": 3}, "device=3: is not text"),
            ({"device": "x"}, "has no kind"),
            ({**SPEC, "clok_mhz": 3}, "clok_mhz: no such field"),
            ({**SPEC, "kind": "toaster"}, "toaster"),
            ({**SPEC, "peak_gflops": 1e9}, "peak_gflops 1e"),
            (missing, "missing.json: No such file"),
            (support.write("list.json", "[]"), "list.json: is not a JSON object"),
            (support.write("half.json", "{"), "half.json: is not JSON"),
            (3, "spec=3: is not a data sheet"),
        )
        for spec, message in cases:
            with self.subTest(message), self.assertRaisesRegex(UsageError, message):
                self.client.adapt("sheetless", spec)
        self.assertNotIn("sheetless", self.names())

    def test_what_cannot_be_asked(self):
        with self.assertRaisesRegex(UsageError, "cpu-epyc-turin-1t"):
            self.client.adapt("cpu-epyc-turin-1t", SPEC)
        with self.assertRaisesRegex(UsageError, "no-such-target"):
            self.client.observe("no-such-target", NETWORKS[0][0], 12.5)
        with self.assertRaisesRegex(UsageError, "nothing was timed"):
            self.client.observe_many("five", [])
        for networks, count in (([], 5), (NETWORKS, 0)):
            with self.assertRaisesRegex(UsageError, "nothing to choose"):
                self.client.suggest(SPEC, networks, count)


if __name__ == "__main__":
    support.main()
