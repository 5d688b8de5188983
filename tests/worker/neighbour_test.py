#!/usr/bin/env python3
"""A busy neighbour that comes in the middle of a series is noticed; what was measured meanwhile is
marked and measured again. No time is asserted."""
import os
import subprocess
import sys
import tempfile
import time
import unittest

from worker_run import CORE, SOURCE, command, records

# Of the canary, before and after six layers: more than a shared machine drifts by itself, less than
# sharing a core with two makes it.
TOLERANCE = 0.6


def share_of_core():
    """How much of the core one busy process gets: 1.0 where nobody else is there."""
    busy = (
        "import os, time\n"
        "os.sched_setaffinity(0, {%d})\n"
        "wall, cpu = time.perf_counter(), time.process_time()\n"
        "while time.perf_counter() < wall + 0.3: pass\n"
        "print((time.process_time() - cpu) / (time.perf_counter() - wall))" % CORE
    )
    return float(subprocess.run([sys.executable, "-c", busy], capture_output=True, text=True, check=True).stdout)


def noticed(record):
    return record["canary_ratio"] > 1 + TOLERANCE


class NeighbourTest(unittest.TestCase):
    def skip_if_others_are_busy(self):
        """Somebody else's load in all of the series is none that comes and goes."""
        for _ in range(20):
            if share_of_core() > 0.9:
                return
            time.sleep(0.5)
        self.skipTest("this machine is busy with other things")

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.out = os.path.join(folder.name, "records.jsonl")

    def test_a_busy_neighbour_is_noticed_and_what_it_disturbed_is_measured_again(self):
        self.skip_if_others_are_busy()
        worker = subprocess.Popen(
            command(
                "measure",
                "--space",
                "real-layers",
                "--count",
                30,
                "--group",
                6,
                "--tolerance",
                TOLERANCE,
                "--core",
                CORE,
                "--out",
                self.out,
            ),
            cwd=SOURCE,
            stderr=subprocess.DEVNULL,
        )
        self.addCleanup(worker.kill)
        self.wait_for(worker, lambda: records(self.out))
        neighbours = [
            subprocess.Popen(
                [sys.executable, "-c", "while True: pass"], preexec_fn=lambda: os.sched_setaffinity(0, {CORE})
            )
            for _ in range(2)
        ]
        try:
            self.wait_for(worker, lambda: any(noticed(record) for record in records(self.out)))
        finally:
            for neighbour in neighbours:
                neighbour.kill()
                neighbour.wait()
        self.assertEqual(worker.wait(120), 0)
        by_subject = {}
        for record in sorted(records(self.out), key=lambda record: record["repeat"]):
            if record["repeat"] != 1:  # of the floor
                by_subject.setdefault((record["space"], record["index"]), []).append(record)
        self.assertGreater(len(by_subject), 20)
        for found in by_subject.values():
            # Between the slices of the neighbours there were runs enough, or it is measured again.
            if noticed(found[0]) and not found[0].get("quiet_runs"):
                self.assertGreaterEqual(found[-1]["repeat"], 2)
        if any(found[-1].get("suspect") for found in by_subject.values()):
            self.skip_if_others_are_busy()
        for found in by_subject.values():
            self.assertFalse(found[-1].get("suspect", False), found[-1])

    def wait_for(self, worker, condition):
        while not condition():
            self.assertIsNone(worker.poll(), "the series ended before that")
            time.sleep(0.05)


if __name__ == "__main__":
    unittest.main(verbosity=2)
