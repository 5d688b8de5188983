#!/usr/bin/env python3
"""Timings of another level, unlike a data sheet, earlier timings or published ones of the same
device, are taken with a warning, with the real programs and the shipped weights."""
import json
import sys
import unittest

from adapt_case import NETWORKS, AdaptCase, write_list
from programs import client


class AdaptLevel(AdaptCase):
    def test_timings_unlike_the_data_sheet_are_taken_with_a_warning(self):
        path = write_list(self.file("slow.csv"), NETWORKS[:4], [30 * ms for ms in self.truth[:4]])
        made = self.ask("adapt", "--name", "slow", "--spec", self.file("spec.json"), "--samples", path)
        self.assertEqual(made.code, 0, made.err)
        self.assertIn("warning: the timings do not match the data sheet", made.out)

    def test_another_level_is_taken_with_a_warning(self):
        """Another host, driver or power mode: the same networks take longer, all of them."""
        self.assertEqual(self.adapt("levels", 4).code, 0)
        slow = [2.6 * ms for ms in self.truth]

        def observed(rows, latencies, *more):
            path = write_list(self.file("levels-log.csv"), rows, latencies)
            return self.ask("observe", "--target", "levels", "--samples", path, *more)

        one = observed(NETWORKS[:1], slow)
        self.assertEqual(one.code, 2, one.out)
        self.assertRegex(one.err, "more than a factor of two.*power mode.*observe them together")
        two = observed(NETWORKS[:2], slow)
        self.assertEqual(two.code, 0, two.err)
        self.assertRegex(
            two.out, r"(?m)^warning: 2 networks .* take 2\.6 times as long.* 2 networks .* no longer count"
        )
        self.assertIn("2 networks were timed", two.out)
        # It is the level of all networks now, and further timings of it are none.
        ratios = [now / then for now, then in zip(self.predicted("levels", NETWORKS[5:]), self.truth[5:])]
        for ratio in ratios:
            self.assertTrue(1.7 < ratio < 4, ratios)
        more = observed(NETWORKS[2:5], slow[2:5], "--format", "json").json()
        self.assertEqual((more["warnings"], more["target"]["samples"]), ([], 5))
        # Networks that the target did not have say it too, and join the others.
        joined = observed(NETWORKS[5:8], [2.6 * ms for ms in slow[5:8]], "--format", "json").json()
        self.assertEqual(joined["target"]["samples"], 8)
        (warning,) = joined["warnings"]
        self.assertIn("times as long as the earlier timings make the target expect", warning)
        self.assertFalse([row for row in joined["target"]["doubted"] if row.startswith("warning")])
        undone = client("calibrate", "--undo", "--name", "levels", "--server", self.server.address)
        self.assertEqual(undone.code, 0, undone.err)

    def test_adapting_again_may_change_the_level(self):
        self.assertEqual(self.adapt("changed", 4).code, 0)
        path = write_list(self.file("changed-again.csv"), NETWORKS[:4], [3 * ms for ms in self.truth])
        again = self.ask("adapt", "--name", "changed", "--spec", self.file("spec.json"), "--samples", path)
        self.assertEqual(again.code, 0, again.err)
        self.assertRegex(again.out, r"(?m)^warning: by these timings networks take (2\.[5-9]|3(\.\d)?) times as long")
        ratios = [now / then for now, then in zip(self.predicted("changed", NETWORKS[5:]), self.truth[5:])]
        for ratio in ratios:
            self.assertTrue(2 < ratio < 4.5, ratios)
        same = self.ask("adapt", "--name", "changed", "--spec", self.file("spec.json"), "--samples", path)
        self.assertNotIn("warning: by these", same.out)

    def test_timings_that_contradict_published_ones_are_taken(self):
        """A trained target has the same device, software and threads; it says something else."""
        asked = client(
            "targets", "--name", "cpu-xeon-cascadelake-1t", "--server", self.server.address, "--format", "json"
        )
        listed = asked.json()["targets"]
        (known,) = [t["spec"] for t in listed if t["spec"]["name"] == "cpu-xeon-cascadelake-1t"]
        names = ("device", "kind", "runtime", "precision", "threads", "compile", "layout")
        spec = self.write("published.json", json.dumps({name: known[name] for name in names}))
        published = [ms / 1.5 for ms in self.truth[:5]]
        for name, factor in (("published-slow", 3), ("published-fast", 0.4), ("published", 1.2)):
            path = write_list(self.file(name + ".csv"), NETWORKS[:5], [factor * ms for ms in published])
            made = self.ask("adapt", "--name", name, "--spec", spec, "--samples", path, "--format", "json")
            self.assertEqual(made.code, 0, made.err)
            warnings = made.json()["warnings"]
            if factor == 1.2:
                self.assertEqual(warnings, [])
                continue
            self.assertRegex(warnings[0], rf"^these timings are {factor} times those that cpu-xeon-cascadelake-1t has")
            ratio = self.predicted(name, NETWORKS[5:6])[0] / (self.truth[5] / 1.5)
            self.assertTrue(0.6 * factor < ratio < 1.6 * factor, ratio)


if __name__ == "__main__":
    sys.exit(unittest.main(verbosity=2))
