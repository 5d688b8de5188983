#!/usr/bin/env python3
"""What keeps a real server from answering everybody else: a database that is locked or away, idle
connections, watches, long lists of ids, work that goes on after its deadline. Another client's
prediction must be answered meanwhile."""
import importlib
import json
import os
import re
import socket
import sqlite3
import tempfile
import time
import unittest

import grpc
from google.protobuf.duration_pb2 import Duration

import programs
import queue_run

# A search in bytes that takes minutes, in one step of the interpreter each.
LONG_SEARCH = """import torch
from torch import nn
class Net(nn.Module):
    def forward(self, x):
        a = b'a' * 4000000
        c = b'a' * 2000000 + b'c'
        for i in range(1000): c in a
        return x
"""


class LanesTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.pb, cls.services = programs.stubs()
        cls.mb = importlib.import_module("cobra.v1.measurements_pb2")
        cls.measurement_services = importlib.import_module("cobra.v1.measurements_pb2_grpc")
        cls.graph_pb2 = importlib.import_module("cobra.v1.graph_pb2")

    def start(self, *flags, location=None, **options):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.store = os.path.join(folder.name, "store.sqlite")
        self.server = programs.Server(location or self.store, *flags, files=self.store, **options)
        self.addCleanup(self.server.__exit__)
        self.channel = self.connect()
        self.cobra = self.services.CobraStub(self.channel)
        self.queue = self.measurement_services.MeasurementsStub(self.channel)
        self.target = self.cobra.ListTargets(self.pb.ListTargetsRequest(), timeout=60).targets[0].spec.name
        self.width = 100

    def connect(self):
        """A channel with a connection of its own."""
        self.channels = getattr(self, "channels", 0) + 1
        channel = grpc.insecure_channel(self.server.address, [("number", self.channels)])
        self.addCleanup(channel.close)
        return channel

    def predict(self, channel=None, timeout=20, **fields):
        """One relu, of another width each time."""
        self.width += 1
        request = self.pb.PredictRequest(targets=[self.target], keep_private=True, **fields)
        if not fields:
            request.graph.CopyFrom(queue_run.layer(self.graph_pb2, self.width))
        return self.services.CobraStub(channel or self.connect()).Predict(request, timeout=timeout)

    def enqueue(self, count=1, timeout=60):
        tasks = queue_run.tasks(self.mb, self.graph_pb2, count)
        return list(self.queue.Enqueue(self.mb.EnqueueRequest(tasks=tasks), timeout=timeout).task_ids)

    def code_of(self, call):
        with self.assertRaises(grpc.RpcError) as raised:
            call()
        return raised.exception.code()

    def in_flight(self, lane):
        return programs.metric(self.server, 'cobra_requests_in_flight{lane="%s"}' % lane)

    def test_a_locked_database_touches_no_prediction(self):
        self.start()
        ids = self.enqueue()
        other = sqlite3.connect(self.store, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        renew = self.mb.RenewRequest(worker="w", task_ids=ids, duration=Duration(seconds=60))
        waiting = [self.queue.Renew.future(renew, timeout=60) for _ in range(8)]
        watching = [self.queue.Watch(self.mb.WatchRequest(task_ids=ids), timeout=60) for _ in range(50)]
        time.sleep(1)
        for _ in range(3):
            self.predict(timeout=10)
        # A call ends at its deadline, whatever the others wait for.
        self.assertEqual(self.code_of(lambda: self.enqueue(2, timeout=2)), grpc.StatusCode.DEADLINE_EXCEEDED)
        for call in waiting:
            self.assertEqual(call.code(), grpc.StatusCode.UNAVAILABLE)
        other.execute("ROLLBACK")
        for call in watching:
            self.assertEqual(next(call).events[0].task_id, ids[0])
            call.cancel()
        self.enqueue(2)

    def test_idle_connections_keep_nobody_out(self):
        self.start(wrapper=("prlimit", "--nofile=1024:1024"))
        host, port = self.server.address.rsplit(":", 1)
        idle = []
        for _ in range(1100):
            idle.append(socket.create_connection((host, int(port)), timeout=30))
        for _ in range(3):
            self.predict()
        self.assertLess(programs.metric(self.server, "cobra_connections"), 800)
        self.assertGreater(programs.metric(self.server, "cobra_connections_closed_total"), 0)
        source = self.pb.SourceModel(
            files=[self.pb.SourceFile(path="net.py", text=b"import torch.nn as nn\nnet = nn.ReLU()\n")],
            file="net.py",
            entry="net",
            inputs=["1x3"],
        )
        self.predict(source=source)  # a reader needs descriptors, too
        for connection in idle:
            connection.close()
        self.predict()
        self.predict(self.channel)  # the connection that was there before
        self.assertIn("768 connections are open", self.server.log())
        self.assertLess(self.server.log().count("connections are open"), 50)

    def test_many_watches_keep_nobody_out(self):
        self.start()
        ids = self.enqueue()
        greedy = [self.queue.Watch(self.mb.WatchRequest(task_ids=ids)) for _ in range(300)]
        late = self.measurement_services.MeasurementsStub(self.connect())

        def gets_in():  # not while the greedy ones still arrive
            try:
                watch = late.Watch(self.mb.WatchRequest(task_ids=ids), timeout=60)
                return next(watch).events[0].task_id == ids[0]
            except grpc.RpcError as error:
                self.assertEqual(error.code(), grpc.StatusCode.RESOURCE_EXHAUSTED)
                return False

        programs.wait_until(gets_in, seconds=30)
        self.assertEqual(self.code_of(lambda: list(greedy[0])), grpc.StatusCode.RESOURCE_EXHAUSTED)
        self.predict()

    def test_lists_of_ids_are_bounded(self):
        self.start()
        ids = ["%032x" % i for i in range(1000)]
        duration = Duration(seconds=60)
        for fields in (
            {"task_ids": ids, "started_task_ids": ids * 100},
            {"task_ids": ids, "started_task_ids": [""]},
            {"task_ids": ids, "released_task_ids": ids + ids[:1]},
            {"task_ids": ids * 2},
        ):
            request = self.mb.RenewRequest(worker="w", duration=duration, **fields)
            code = self.code_of(lambda: self.queue.Renew(request, timeout=60))
            self.assertIn(code, (grpc.StatusCode.RESOURCE_EXHAUSTED, grpc.StatusCode.INVALID_ARGUMENT))
        request = self.mb.WatchRequest(task_ids=ids * 100)
        code = self.code_of(lambda: list(self.queue.Watch(request, timeout=60)))
        self.assertEqual(code, grpc.StatusCode.RESOURCE_EXHAUSTED)
        request = self.mb.RenewRequest(worker="w", task_ids=ids, started_task_ids=ids, duration=duration)
        self.assertEqual(len(self.queue.Renew(request, timeout=60).held), 1000)

    def test_a_report_stops_at_its_deadline(self):
        self.start()
        samples = [
            self.mb.MeasurementTask(target=self.target, sample=self.mb.SpaceSample(space="resnet", index=index, seed=1))
            for index in range(1000)
        ]
        ids = self.queue.Enqueue(self.mb.EnqueueRequest(tasks=samples), timeout=60).task_ids
        ops = [{"op": "relu", "inputs": ["in:0"]}] + [{"op": "relu", "inputs": [[i, 0]]} for i in range(500)]
        graph = {"inputs": [{"name": "x", "shape": [1, 3, 8, 8], "dtype": "float32"}], "ops": ops, "output": [[500, 0]]}
        record = {"kind": "record", "outcome": "ok", "session": "s", "latency_us": 1.0, "graph": graph}
        lease = self.mb.LeaseRequest(worker="w", target=self.target, max_tasks=1000, duration=Duration(seconds=600))
        while self.queue.Lease(lease, timeout=60).tasks:
            pass
        records = [self.mb.TaskRecord(task_id=task, record_json=json.dumps(record)) for task in ids]
        request = self.mb.ReportRequest(worker="w", records=records)
        self.assertEqual(self.code_of(lambda: self.queue.Report(request, timeout=1)), grpc.StatusCode.DEADLINE_EXCEEDED)
        programs.wait_until(lambda: self.in_flight("queue") == 0, seconds=5)

    def test_a_prediction_stops_at_its_deadline(self):
        self.start()
        graph = self.graph_pb2.Graph()
        for i in range(15000):
            tensor = self.graph_pb2.TensorType(shape=[1, i + 1], dtype=self.graph_pb2.DTYPE_FLOAT32)
            graph.inputs.add(name="x", type=tensor)
            node = graph.nodes.add(op="relu")
            node.inputs.add(kind=self.graph_pb2.ValueRef.KIND_INPUT, index=i)
        graph.outputs.add(kind=self.graph_pb2.ValueRef.KIND_NODE)
        # Different layers are bounded, so that one target takes less than a second; all of them
        # take longer.
        targets = [t.spec.name for t in self.cobra.ListTargets(self.pb.ListTargetsRequest(), timeout=60).targets]
        request = self.pb.PredictRequest(graph=graph, targets=targets, keep_private=True)
        self.assertEqual(
            self.code_of(lambda: self.cobra.Predict(request, timeout=1)), grpc.StatusCode.DEADLINE_EXCEEDED
        )
        programs.wait_until(lambda: self.in_flight("predictions") == 0, seconds=5)

    def test_memory_of_large_requests_is_returned(self):
        self.start()

        def resident_mb():
            with open(f"/proc/{self.server.process.pid}/status") as file:
                return int(re.search(r"VmRSS:\s+(\d+)", file.read())[1]) // 1024

        graph = self.graph_pb2.Graph()
        tensor = self.graph_pb2.TensorType(shape=[1, 3, 8, 8], dtype=self.graph_pb2.DTYPE_FLOAT32)
        for i in range(60000):
            graph.inputs.add(name="x", type=tensor)
            graph.nodes.add(op="relu").inputs.add(kind=self.graph_pb2.ValueRef.KIND_INPUT, index=i)
        graph.outputs.add(kind=self.graph_pb2.ValueRef.KIND_NODE)
        self.predict()
        before = resident_mb()
        request = self.pb.PredictRequest(graph=graph, targets=[self.target], breakdown=True, keep_private=True)
        for _ in range(3):
            self.cobra.Predict(request, timeout=60)
        programs.wait_until(lambda: resident_mb() < before + 100, seconds=10)

    def test_long_steps_of_source_end_at_the_deadline(self):
        self.start()
        source = self.pb.SourceModel(
            files=[self.pb.SourceFile(path="net.py", text=LONG_SEARCH.encode())],
            file="net.py",
            entry="Net()",
            inputs=["1x3x8x8"],
        )
        request = self.pb.PredictRequest(source=source, targets=[self.target])
        hostile = [self.cobra.Predict.future(request, timeout=1) for _ in range(2)]
        for call in hostile:
            self.assertIn(
                call.code(), (grpc.StatusCode.DEADLINE_EXCEEDED, grpc.StatusCode.RESOURCE_EXHAUSTED), call.details()
            )
        self.predict()
        programs.wait_until(lambda: self.in_flight("predictions") == 0, seconds=5)
        self.assertEqual(programs.health(self.channel), 1)
        self.assertEqual(self.server.stop(), 0)

    @unittest.skipUnless(programs.Postgres.installed(), "no PostgreSQL 15 here")
    def test_a_database_that_hangs_touches_no_prediction(self):
        with programs.Postgres() as postgres:
            self.start("--drain-seconds", "4", location=postgres.url)
            self.enqueue()
            postgres.freeze()
            self.addCleanup(postgres.thaw)
            self.assertEqual(self.code_of(lambda: self.enqueue(2, timeout=2)), grpc.StatusCode.DEADLINE_EXCEEDED)
            for _ in range(3):
                self.predict(timeout=10)
            postgres.thaw()
            programs.wait_until(lambda: self.in_flight("queue") == 0)
            self.enqueue(2, timeout=30)
            # And SIGTERM ends the process while it waits for the database.
            postgres.freeze()
            waiting = self.queue.Enqueue.future(
                self.mb.EnqueueRequest(tasks=queue_run.tasks(self.mb, self.graph_pb2, 3)), timeout=60
            )
            programs.wait_until(lambda: self.in_flight("queue") == 1)
            self.assertEqual(self.server.stop(seconds=20), 3, self.server.log())
            self.assertEqual(waiting.code(), grpc.StatusCode.UNAVAILABLE)
            postgres.thaw()


if __name__ == "__main__":
    programs.main()
