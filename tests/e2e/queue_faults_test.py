#!/usr/bin/env python3
"""What happens around the measurement queue and must lose nothing: the network is cut, the disk is
full (the worker's, the server's), the database restarts or is away, the machine is busy. `--long`
makes the cuts as long as they are in life (a minute). (A clock that is set back:
tests/store/task_queue_test.cc, which has the clock in its hand.)"""
import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import grpc

import programs
import queue_run

CUT_SECONDS = 60 if "--long" in sys.argv else 4


class Proxy:
    """A cable between worker and server that can be cut: what is connected hangs, nothing new gets
    through."""

    def __init__(self, address):
        host, port = address.rsplit(":", 1)
        self.to = (host, int(port))
        self.cut = threading.Event()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = "127.0.0.1:%d" % self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                near, _ = self.listener.accept()
            except OSError:
                return
            if self.cut.is_set():
                near.close()
                continue
            far = socket.create_connection(self.to)
            for a, b in ((near, far), (far, near)):
                threading.Thread(target=self.pump, args=(a, b), daemon=True).start()

    def pump(self, a, b):
        try:
            while data := a.recv(65536):
                while self.cut.is_set():
                    time.sleep(0.05)
                b.sendall(data)
        except OSError:
            pass
        for end in (a, b):
            end.close()


class SmallDisk:
    """A file system of its own with hardly any room (root only)."""

    def __init__(self, folder, kilobytes):
        self.folder = folder
        os.makedirs(folder, exist_ok=True)
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "tmpfs", folder], check=True)

    def grow(self):
        subprocess.run(["mount", "-o", "remount,size=64m", self.folder], check=True)

    def close(self):
        subprocess.run(["umount", "-l", self.folder], check=False)


def can_mount():
    if os.geteuid() != 0:
        return False
    with tempfile.TemporaryDirectory() as folder:
        if (
            subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", folder], capture_output=True).returncode
            != 0
        ):
            return False
        subprocess.run(["umount", folder], check=True)
    return True


class QueueFaultsTest(queue_run.QueueTest):
    WORKER_FLAGS = ("--keep-disturbed", "--group", "5", "--lease-seconds", "5")

    def enqueue_many(self, count):
        self.enqueue(self.tasks(count, max_attempts=100))

    def test_the_network_is_cut(self):
        self.start()
        self.enqueue_many(60)
        proxy = Proxy(self.server.address)
        worker = self.worker("--lease-tasks", "20", address=proxy.address)
        self.wait_until(lambda: self.done() > 0, 60, worker.log)
        proxy.cut.set()
        time.sleep(CUT_SECONDS)
        proxy.cut.clear()
        self.wait_until(self.all_done(60), 120, worker.log)
        self.assertEqual(self.rows.measurements(), (60, 60))
        self.assertEqual(worker.stop(), 0)

    @unittest.skipUnless(can_mount(), "file systems cannot be mounted here")
    def test_the_workers_disk_is_full(self):
        self.start()
        self.enqueue_many(120)
        disk = SmallDisk(self.spool, 64)  # some ten records
        self.addCleanup(disk.close)
        log = os.path.join(self.folder, "worker.log")
        worker = self.worker(log=log)
        self.wait_until(lambda: "No space left" in worker.log() or self.all_done(120)(), 120, "neither full nor done")
        self.assertIn("No space left", worker.log())
        disk.grow()
        if worker.process.poll() is not None:  # it may stop, if it says why; nothing is lost
            worker = self.worker(log=log)
        self.wait_until(self.all_done(120), 120, worker.log)
        self.assertEqual(self.rows.measurements(), (120, 120))

    @unittest.skipUnless(can_mount(), "file systems cannot be mounted here")
    def test_the_servers_disk_is_full(self):
        disk = SmallDisk(os.path.join(self.folder, "disk"), 400)
        self.addCleanup(disk.close)
        self.use_store(os.path.join(disk.folder, "store.sqlite"))
        self.start(files=os.path.join(self.folder, "server"))
        wanted, refused = self.tasks(2000), False
        for i in range(0, 2000, 50):
            try:
                self.enqueue(wanted[i : i + 50])
            except grpc.RpcError as error:
                self.assertEqual(error.code(), grpc.StatusCode.UNAVAILABLE)
                self.assertIn("full", error.details())
                refused = True
                break
        self.assertTrue(refused, "the disk did not fill up")
        before = sum(self.rows.states().values())
        self.assertEqual(before % 50, 0)  # a message is taken whole or not at all
        disk.grow()
        self.enqueue(wanted[:2])  # enqueued before: nothing new
        worker = self.worker()
        self.wait_until(lambda: self.done() > 20, 120, worker.log)
        self.assertEqual(sum(self.rows.states().values()), before)
        worker.stop()

    @unittest.skipUnless(programs.Postgres.installed(), "no PostgreSQL 15 here")
    def test_the_database_restarts(self):
        with programs.Postgres() as postgres:
            self.use_store(self.store, postgres)
            self.start(location=postgres.url, files=self.store)
            self.enqueue_many(60)
            worker = self.worker("--lease-tasks", "10")
            for mode, seconds in (("fast", 1), ("immediate", CUT_SECONDS)):
                before = self.done()
                self.wait_until(lambda: self.done() > before, 60, worker.log)
                postgres.stop(mode)
                time.sleep(seconds)
                postgres.start()
            self.wait_until(self.all_done(60), 120, worker.log)
            self.assertEqual(self.rows.measurements(), (60, 60))
            self.assertEqual(worker.stop(), 0)

    def test_a_busy_neighbour_is_noticed(self):
        self.start()
        self.enqueue_many(60)
        worker = queue_run.Worker(self.server.address, self.spool, "--group", "5")  # without --keep-disturbed
        self.addCleanup(worker.kill)
        self.wait_until(lambda: self.done() >= 10, 120, worker.log)
        neighbour = subprocess.Popen(
            [sys.executable, "-c", "import os\nos.sched_setaffinity(0, {0})\nwhile True: pass"]
        )
        self.addCleanup(neighbour.wait)
        self.addCleanup(neighbour.kill)
        time.sleep(3)
        neighbour.kill()
        self.wait_until(self.all_done(60), 180, worker.log)
        self.assertEqual(worker.stop(), 0)
        measured, again = map(
            int, re.search(r"(\d+) tasks measured, (\d+) of them more than once", worker.log()).groups()
        )
        self.assertEqual(measured, 60)
        # Either a group was measured again, or all that was measured in it had quiet runs between
        # the neighbour's turns.
        noticed = again > 0
        # What stayed disturbed through three tries is reported, and marked so, unless its quiet
        # runs are known.
        for (record_json,) in self.rows.query("SELECT record_json FROM measurements"):
            record = json.loads(record_json)
            # written with three decimals
            compute, copy = abs(record["canary_ratio"] - 1), abs(record["canary_copy_ratio"] - 1)
            self.assertGreater(record["quiet_us"], 0)
            noticed = noticed or compute > 0.049 or copy > 0.249
            if record.get("suspect", False):
                self.assertTrue(compute > 0.049 or copy > 0.249, record)
                self.assertNotIn("quiet_runs", record)
            elif "quiet_runs" not in record:
                self.assertTrue(compute < 0.051 and copy < 0.251, record)
        self.assertTrue(noticed, worker.log())


if __name__ == "__main__":
    sys.argv = [argument for argument in sys.argv if argument != "--long"]
    programs.main()
