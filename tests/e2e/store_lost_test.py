#!/usr/bin/env python3
"""The file of the store is removed or replaced under a running server: nothing is acknowledged that
is gone after a restart, and the operator learns of it."""
import json
import os
import shutil
import sqlite3
import tempfile
import unittest

import grpc

import programs

SHEET = {"device": "Some Board", "kind": "cpu", "runtime": "ncnn", "threads": 4, "clock_mhz": 1800}
CELL = "nasbench201:|nor_conv_3x3~0|+|none~0|skip_connect~1|+|none~0|none~1|{}~2|"


class StoreLostTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.pb, cls.services = programs.stubs()
        cls.queue_pb, cls.queue_services = programs.measurement_stubs()

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.store = os.path.join(self.folder.name, "store.sqlite")
        self.sheet = os.path.join(self.folder.name, "sheet.json")
        with open(self.sheet, "w") as file:
            json.dump(SHEET, file)
        self.start()
        self.assertEqual(self.adapt("before").code, 0)

    def start(self):
        self.server = programs.Server(self.store)
        self.addCleanup(self.server.__exit__)
        self.channel = grpc.insecure_channel(self.server.address)
        self.addCleanup(self.channel.close)

    def restart(self):
        self.assertEqual(self.server.stop(), 0)
        self.start()

    def adapt(self, name):
        return programs.client("adapt", "--name", name, "--spec", self.sheet, "--server", self.server.address)

    def calibrated(self):
        answer = programs.client("targets", "--calibrated", "--format", "json", "--server", self.server.address)
        return [target["spec"]["name"] for target in answer.json()["targets"]]

    def enqueue(self):
        task = self.queue_pb.MeasurementTask(target="pi")
        node = task.graph.nodes.add(op="relu")
        task.graph.inputs.add(name="x").type.CopyFrom(self.tensor())
        node.inputs.add(kind=2)
        node.outputs.add().CopyFrom(self.tensor())
        task.graph.outputs.add(kind=1)
        request = self.queue_pb.EnqueueRequest(tasks=[task])
        return self.queue_services.MeasurementsStub(self.channel).Enqueue(request, timeout=30)

    def tensor(self):
        graph_pb = programs.importlib.import_module("cobra.v1.graph_pb2")
        return graph_pb.TensorType(shape=[1, 77], dtype=1)

    def predict(self, target, operator):
        request = self.pb.PredictRequest(targets=[target])
        request.architecture.text = CELL.format(operator)
        return self.services.CobraStub(self.channel).Predict(request, timeout=60)

    def expect_lost(self, what):
        answer = self.adapt("lost")
        self.assertEqual(answer.code, 3, answer.err)
        self.assertIn(self.store, answer.err)
        self.assertIn(what, answer.err)
        with self.assertRaises(grpc.RpcError) as refused:
            self.enqueue()
        self.assertEqual(refused.exception.code(), grpc.StatusCode.UNAVAILABLE)
        programs.wait_until(lambda: programs.metric(self.server, "cobra_store_lost") == 1)
        self.assertIn("the store is lost", self.server.log())
        # What needs no store is answered, for calibrated targets too.
        self.assertGreater(self.predict("before", "nor_conv_1x1").predictions[0].latency_us, 0)
        self.assertEqual(programs.health(self.channel), 1)

    def test_removed_and_put_back(self):
        self.enqueue()
        os.rename(self.store, self.store + ".moved")
        self.expect_lost("was removed")
        self.assertFalse(os.path.exists(self.store))
        os.rename(self.store + ".moved", self.store)
        programs.wait_until(lambda: programs.metric(self.server, "cobra_store_lost") == 0)
        self.assertEqual(self.adapt("after").code, 0)
        self.enqueue()
        self.restart()
        self.assertEqual(self.calibrated(), ["after", "before"])

    def test_a_backup_in_its_place_serves_after_a_restart(self):
        backup = self.store + ".backup"
        with sqlite3.connect(self.store) as source, sqlite3.connect(backup) as target:
            source.backup(target)
        self.assertEqual(self.adapt("later").code, 0)
        os.rename(backup, self.store)
        self.expect_lost("was replaced by another file")
        self.restart()
        self.assertEqual(self.calibrated(), ["before"])
        self.assertEqual(self.adapt("after").code, 0)
        with sqlite3.connect(self.store) as database:
            self.assertEqual(database.execute("PRAGMA integrity_check").fetchall(), [("ok",)])

    def test_removed_for_good(self):
        for part in ("", "-wal", "-shm"):
            os.remove(self.store + part)
        self.expect_lost("was removed")
        self.restart()
        self.assertEqual(self.calibrated(), [])

    def test_overwritten_with_an_older_copy(self):
        with sqlite3.connect(self.store) as database:
            database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        copy = self.store + ".copy"
        shutil.copy(self.store, copy)
        for i in range(40):  # until the file is longer
            self.assertEqual(self.adapt(f"more-{i}").code, 0)
        with sqlite3.connect(self.store) as database:
            database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        self.assertGreater(os.path.getsize(self.store), os.path.getsize(copy))
        self.assertEqual(self.adapt("last").code, 0)  # the server has seen that file
        shutil.copyfile(copy, self.store)
        self.expect_lost("older copy")


if __name__ == "__main__":
    programs.main()
