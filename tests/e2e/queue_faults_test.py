#!/usr/bin/env python3
"""What happens around the measurement queue and must lose nothing: the network is cut, the disk is full (the worker's, the server's), the database restarts, the
machine is busy. `--long` makes the cuts as long as they are in life (a minute)."""
import importlib
import os
import shutil
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
    """A cable between worker and server that can be cut: what is connected hangs, nothing new gets through."""

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
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", folder], capture_output=True).returncode != 0:
            return False
        subprocess.run(["umount", folder], check=True)
    return True


class QueueFaultsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.pb, cls.services = programs.measurement_stubs()
        cls.graph_pb2 = importlib.import_module("cobra.v1.graph_pb2")

    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.store = os.path.join(self.folder, "store.sqlite")
        self.rows = queue_run.Rows(self.store)
        self.spool = os.path.join(self.folder, "spool")

    def start(self, store=None, **options):
        self.server = programs.Server(store or self.store, **options)
        self.addCleanup(self.server.__exit__)
        self.stub = self.services.MeasurementsStub(grpc.insecure_channel(self.server.address))

    def enqueue(self, count):
        tasks = queue_run.tasks(self.pb, self.graph_pb2, count, max_attempts=100)
        self.stub.Enqueue(self.pb.EnqueueRequest(tasks=tasks), timeout=30)

    def worker(self, address, *flags):
        worker = queue_run.Worker(address, self.spool, "--keep-disturbed", "--group", "5", "--lease-seconds", "5", *flags)
        self.addCleanup(worker.kill)
        return worker

    def wait_until(self, condition, seconds, what):
        until = time.time() + seconds
        while not condition():
            self.assertLess(time.time(), until, what)
            time.sleep(0.05)

    def all_done(self, count):
        return lambda: self.rows.states() == {"done": count}

    def test_the_network_is_cut(self):
        self.start()
        self.enqueue(60)
        proxy = Proxy(self.server.address)
        worker = self.worker(proxy.address, "--lease-tasks", "20")
        self.wait_until(lambda: self.rows.states().get("done", 0) > 0, 60, "nothing was measured")
        proxy.cut.set()
        time.sleep(CUT_SECONDS)
        proxy.cut.clear()
        self.wait_until(self.all_done(60), 120, worker.log())
        self.assertEqual(self.rows.measurements(), (60, 60))
        self.assertEqual(worker.stop(), 0)

    @unittest.skipUnless(can_mount(), "file systems cannot be mounted here")
    def test_the_workers_disk_is_full(self):
        self.start()
        self.enqueue(120)
        disk = SmallDisk(self.spool, 64)  # some ten records
        self.addCleanup(disk.close)
        log = os.path.join(self.folder, "worker.log")
        worker = queue_run.Worker(self.server.address, self.spool, "--keep-disturbed", "--group", "5", "--lease-seconds", "5", log=log)
        self.addCleanup(worker.kill)
        self.wait_until(lambda: "No space left" in worker.log() or self.all_done(120)(), 120, "neither full nor done")
        self.assertIn("No space left", worker.log())
        disk.grow()
        if worker.process.poll() is not None:  # it may stop, if it says why; nothing is lost
            worker = queue_run.Worker(self.server.address, self.spool, "--keep-disturbed", "--group", "5", "--lease-seconds", "5", log=log)
            self.addCleanup(worker.kill)
        self.wait_until(self.all_done(120), 120, worker.log())
        self.assertEqual(self.rows.measurements(), (120, 120))

    @unittest.skipUnless(can_mount(), "file systems cannot be mounted here")
    def test_the_servers_disk_is_full(self):
        disk = SmallDisk(os.path.join(self.folder, "disk"), 400)
        self.addCleanup(disk.close)
        self.store = os.path.join(disk.folder, "store.sqlite")
        self.rows = queue_run.Rows(self.store)
        self.start(files=os.path.join(self.folder, "server"))
        refused = False
        for i in range(0, 2000, 50):
            tasks = queue_run.tasks(self.pb, self.graph_pb2, 2000)[i:i + 50]
            try:
                self.stub.Enqueue(self.pb.EnqueueRequest(tasks=tasks), timeout=30)
            except grpc.RpcError as error:
                self.assertEqual(error.code(), grpc.StatusCode.UNAVAILABLE)
                self.assertIn("full", error.details())
                refused = True
                break
        self.assertTrue(refused, "the disk did not fill up")
        before = sum(self.rows.states().values())
        self.assertEqual(before % 50, 0)  # a message is taken whole or not at all
        disk.grow()
        self.enqueue(2)  # enqueued before: nothing new
        worker = self.worker(self.server.address)
        self.wait_until(lambda: self.rows.states().get("done", 0) > 20, 120, worker.log())
        self.assertEqual(sum(self.rows.states().values()), before)
        worker.stop()

    @unittest.skipUnless(programs.Postgres.installed(), "no PostgreSQL 15 here")
    def test_the_database_restarts(self):
        with programs.Postgres() as postgres:
            self.rows = queue_run.Rows(None, postgres)
            self.start(postgres.url, files=self.store)
            self.enqueue(60)
            worker = self.worker(self.server.address, "--lease-tasks", "10")
            for mode in ("fast", "immediate"):
                done = self.rows.states().get("done", 0)
                self.wait_until(lambda: self.rows.states().get("done", 0) > done, 60, worker.log())
                postgres.stop(mode)
                time.sleep(1)
                postgres.start()
            self.wait_until(self.all_done(60), 120, worker.log())
            self.assertEqual(self.rows.measurements(), (60, 60))
            self.assertEqual(worker.stop(), 0)


if __name__ == "__main__":
    sys.argv = [argument for argument in sys.argv if argument != "--long"]
    programs.main()
