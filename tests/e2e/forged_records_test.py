#!/usr/bin/env python3
"""What an untrusted worker tries to teach the server: records without a lease, of another graph, of no
graph, of absurd times; tasks that no worker can read or hold in memory; calibrations of machines
that do not exist. Nothing of it is learned, and everybody else's work goes on."""
import json
import os
import sqlite3
import subprocess
import unittest

import grpc
from google.protobuf.duration_pb2 import Duration

import programs
import queue_run

TRAINED = "cpu-epyc-genoa-1t"
PROBE = os.path.join(programs.SOURCE, "tests", "e2e", "probe_of_few_networks.json")


def graph_json(op, width):
    """The same graph as layer() makes, as a record has it."""
    return {
        "inputs": [{"name": "x", "shape": [1, width], "dtype": "float32"}],
        "ops": [{"op": op, "inputs": ["in:0"]}],
        "output": [0],
    }


EMPTY = {"inputs": [{"name": "x", "shape": [1, 3], "dtype": "float32"}], "ops": [], "output": ["in:0"]}


class ForgedRecordsTest(queue_run.QueueTest):
    def layer(self, op, width):
        graph = queue_run.layer(self.graph_pb2, width)
        graph.nodes[0].op = op
        return graph

    def task(self, op="relu", width=8, **fields):
        return self.pb.MeasurementTask(target=TRAINED, origin="asked", graph=self.layer(op, width), **fields)

    def lease(self, worker, count=100):
        request = self.pb.LeaseRequest(worker=worker, target=TRAINED, max_tasks=count, duration=Duration(seconds=3600))
        return list(self.stub.Lease(request, timeout=30).tasks)

    def report(self, worker, task_id, graph, latency_us, **fields):
        """(name of the outcome, message) of one record."""
        record = {"kind": "record", "outcome": "ok", "session": "s", "latency_us": latency_us, "graph": graph, **fields}
        report = self.pb.TaskRecord(task_id=task_id, record_json=json.dumps(record))
        answer = self.stub.Report(self.pb.ReportRequest(worker=worker, records=[report]), timeout=30)
        return self.pb.ReportResponse.Outcome.Name(answer.outcomes[0])[len("OUTCOME_") :], answer.messages[0]

    def refused(self, code, words, call, request):
        with self.assertRaises(grpc.RpcError) as raised:
            call(request, timeout=60)
        self.assertEqual(raised.exception.code(), code, raised.exception.details())
        self.assertIn(words, raised.exception.details())
        self.assertLess(len(raised.exception.details()), 1000)

    def test_a_record_needs_a_lease_and_the_tasks_own_graph(self):
        self.start()
        sample = self.pb.SpaceSample(space="x", index=1, seed=5)
        answer = self.enqueue([self.task(), self.pb.MeasurementTask(target=TRAINED, sample=sample)])
        layer, drawn = answer.task_ids
        for task_id in (layer, drawn):
            self.assertEqual(self.report("mallory", task_id, graph_json("relu", 8), 5.0)[0], "NOT_LEASED")
        self.assertEqual({task.task_id for task in self.lease("mallory")}, {layer, drawn})
        self.assertEqual(self.report("another", layer, graph_json("relu", 8), 5.0)[0], "NOT_LEASED")
        outcome, why = self.report("mallory", layer, graph_json("relu", 9), 5.0)
        self.assertEqual(outcome, "INVALID")
        self.assertIn("fingerprint", why)
        self.assertEqual(self.rows.measurements(), (0, 0))
        # What it states about its subject does not count: a label or a space could choose the part
        # of the split.
        forged = {"label": "torchvision/vgg", "space": "torchvision", "is_network": True, "repeat": 7}
        self.assertEqual(self.report("mallory", layer, graph_json("relu", 8), 1.0, **forged)[0], "ACCEPTED")
        row = json.loads(self.rows.query("SELECT record_json FROM measurements")[0][0])
        self.assertEqual([row["label"], row["space"], row["is_network"], row["repeat"]], ["relu", "asked", False, 0])
        worker, caller, model = self.rows.query("SELECT worker, caller, model_sha256 FROM measurements")[0]
        self.assertEqual((worker, caller, len(model)), ("mallory", "mallory", 64))

    def test_empty_and_absurd_records_are_refused_with_the_reason(self):
        self.start()
        empty = self.graph_pb2.Graph()
        empty.CopyFrom(queue_run.layer(self.graph_pb2, 8))
        del empty.nodes[:]
        empty.outputs[0].kind = self.graph_pb2.ValueRef.KIND_INPUT
        wanted = self.pb.EnqueueRequest(tasks=[self.pb.MeasurementTask(target=TRAINED, graph=empty)])
        self.refused(grpc.StatusCode.INVALID_ARGUMENT, "no calls", self.stub.Enqueue, wanted)
        sample = self.pb.SpaceSample(space="x", index=1, seed=5)
        self.enqueue([self.pb.MeasurementTask(target=TRAINED, sample=sample)])
        task_id = self.lease("mallory")[0].task_id
        for graph, latency_us, fields, words in (
            (EMPTY, 5.0, {}, "no calls"),
            (graph_json("relu", 8), 1e9, {}, "cannot take that"),
            (graph_json("relu", 8), 1e-320, {}, "latency_us"),
            (graph_json("relu", 8), -1, {}, "latency_us"),
            (graph_json("relu", 8), 1.0, {"label": "n" * 2000000}, '"label"'),
            (graph_json("relu", 8), 1.0, {"session": "a\n2026 E forged line\x1b[31m"}, "control character"),
            (graph_json("relu", 8), 1.0, {"p10_us": 3.0, "p90_us": 2.0}, "order"),
            (graph_json("relu", 8), 1.0, {"node_latency_us": [1, 2]}, "node_latency_us"),
            (graph_json("relu", 8), 1.0, {"node_latency_us": [-1]}, "node_latency_us"),
        ):
            outcome, why = self.report("mallory", task_id, graph, latency_us, **fields)
            self.assertEqual(outcome, "INVALID", words)
            self.assertIn(words, why)
            self.assertLess(len(why), 1000)
        self.assertEqual(self.rows.measurements(), (0, 0))

    def erfinv_us(self):
        """What the server predicts for an operator that the shipped weights have never seen."""
        path = os.path.join(self.folder, "erfinv.json")
        with open(path, "w") as file:
            json.dump({**graph_json("erfinv", 100), "params": 0, "param_shapes": {}}, file)
        answer = programs.predict(self.server, path, "--target", TRAINED, "--keep-private")
        self.assertEqual(answer.code, 0, answer.err)
        return answer.json()["predictions"][0]["latency_us"]

    def test_forged_rows_are_held_and_teach_nothing(self):
        self.start()
        before = self.erfinv_us()
        self.enqueue([self.task("relu", 8)])
        self.assertEqual(len(self.lease("honest", 1)), 1)  # this target has another worker
        self.enqueue([self.task("erfinv", 64 + 8 * k) for k in range(12)])
        forged = self.lease("mallory")
        self.assertEqual(len(forged), 12)
        for k, task in enumerate(forged):
            width = task.graph.inputs[0].type.shape[1]
            outcome, why = self.report("mallory", task.task_id, graph_json("erfinv", width), 60.0 * (1 + k / 50))
            self.assertEqual(outcome, "HELD")
            self.assertIn("predicted", why)
        self.assertEqual(programs.metric(self.server, 'cobra_reports_total{outcome="held"}'), 12)
        self.assertEqual(self.lease("mallory"), [])  # it does not confirm itself
        model = os.path.join(programs.SOURCE, "model", "pretrained")
        refit = subprocess.run(
            [os.path.join(programs.BIN, "cobra-train"), "refit", "--store", self.store, "--model", model]
            + ["--out", os.path.join(self.folder, "new"), "--publish", os.path.join(self.folder, "served")],
            capture_output=True,
            text=True,
            timeout=600,
            cwd=programs.SOURCE,
        )
        self.assertNotEqual(refit.returncode, 0)
        self.assertIn("12 measurements are held", refit.stderr)
        self.assertIn("nothing new was measured", refit.stderr)
        self.assertFalse(os.path.exists(os.path.join(self.folder, "served")))
        # The honest worker measures them again: its rows count, the forged ones never.
        confirmations = self.lease("honest")
        self.assertEqual(len(confirmations), 12)
        for task in confirmations:
            width = task.graph.inputs[0].type.shape[1]
            self.assertEqual(self.report("honest", task.task_id, graph_json("erfinv", width), 0.7)[0], "ACCEPTED")
        rows = self.rows.query("SELECT worker, held <> '', COUNT(*) FROM measurements GROUP BY worker, held <> ''")
        self.assertEqual(sorted(rows), [["honest", "0", "12"], ["mallory", "1", "12"]])
        self.assertEqual(self.erfinv_us(), before)

    def test_a_task_that_nobody_can_read_does_not_stop_the_others(self):
        self.start()
        poison = self.layer("relu", 7)
        for _ in range(210000):
            poison.inputs.add().type.dtype = self.graph_pb2.DTYPE_FLOAT32
        task = self.pb.MeasurementTask(target=TRAINED, priority=2**31 - 1, graph=poison)
        with self.assertRaises(grpc.RpcError) as raised:
            self.stub.Enqueue(self.pb.EnqueueRequest(tasks=[task]), timeout=120)
        self.assertIn(raised.exception.code(), (grpc.StatusCode.INVALID_ARGUMENT, grpc.StatusCode.RESOURCE_EXHAUSTED))
        first, second = self.enqueue([self.task(width=20), self.task(width=21)]).task_ids
        with sqlite3.connect(self.store, timeout=30) as database:  # as an older server stored it
            database.execute("UPDATE tasks SET subject_json = '{\"graph\": [' WHERE id = ?", (first,))
        self.assertEqual([task.task_id for task in self.lease("honest")], [second])
        self.assertEqual(self.rows.states(), {"leased": 1, "poisoned": 1})

    def test_a_task_is_no_larger_than_a_worker_can_bear(self):
        self.start()
        product = self.graph_pb2.Graph()
        for name in ("x", "y"):
            tensor = self.graph_pb2.TensorType(shape=[500000, 500000], dtype=self.graph_pb2.DTYPE_FLOAT32)
            product.inputs.add(name=name, type=tensor)
        node = product.nodes.add(op="matmul")
        for index in (0, 1):
            node.inputs.add(kind=self.graph_pb2.ValueRef.KIND_INPUT, index=index)
        product.outputs.add(kind=self.graph_pb2.ValueRef.KIND_NODE)
        wanted = self.pb.EnqueueRequest(tasks=[self.pb.MeasurementTask(target=TRAINED, graph=product)])
        self.refused(grpc.StatusCode.RESOURCE_EXHAUSTED, "limit", self.stub.Enqueue, wanted)

    def test_ids_are_the_servers_and_cancelling_is_not_for_ever(self):
        self.start()
        wanted = self.pb.EnqueueRequest(tasks=[self.task(task_id="0" * 32)])
        self.refused(grpc.StatusCode.INVALID_ARGUMENT, "task_id", self.stub.Enqueue, wanted)
        answer = self.enqueue([self.task()])
        cancel = self.pb.CancelRequest(task_ids=answer.task_ids)
        self.assertEqual(list(self.stub.Cancel(cancel, timeout=30).cancelled), [True])
        again = self.enqueue([self.task()])
        self.assertEqual((list(again.task_ids), list(again.created)), (list(answer.task_ids), [True]))
        self.assertEqual(len(self.lease("honest")), 1)

    def test_absurd_calibrations_are_refused_and_versions_can_be_withdrawn(self):
        self.start()
        cobra, services = programs.stubs()
        stub = services.CobraStub(grpc.insecure_channel(self.server.address))

        def calibrate(probe, name=""):
            return stub.Calibrate(cobra.CalibrateRequest(probe_json=json.dumps(probe), target=name), timeout=60)

        def refused(words, probe, name=""):
            request = cobra.CalibrateRequest(probe_json=json.dumps(probe), target=name)
            self.refused(grpc.StatusCode.INVALID_ARGUMENT, words, stub.Calibrate, request)

        def scaled(factor):
            with open(PROBE) as file:
                probe = json.load(file)
            for record in probe["records"]:
                record["latency_us"] *= factor
            return probe

        relu = {"graph": graph_json("relu", 8), "latency_us": 1.0}
        machine = {"device": "Some CPU", "kind": "cpu", "runtime": "libtorch"}
        refused("different layers", {"machine": machine, "records": [relu] * 10})
        refused("no calls", {"machine": machine, "records": [{"graph": EMPTY, "latency_us": 1}] * 10})
        refused("threads", {"machine": {**machine, "threads": 1e300}, "records": [relu] * 10})
        refused("peak_gflops", {"machine": {**machine, "peak_gflops": -5}, "records": [relu] * 10})
        refused("cannot take that", {"machine": machine, "records": [{**relu, "latency_us": 1e9}] * 10})
        refused("device is missing", {"machine": {}, "records": [relu] * 10})
        for wrong in ({"kind": "banana"}, {"memory_gb": -5}, {"layout": "zz"}, {"clock_mhz": 1e-300}):
            probe = scaled(1)
            probe["machine"].update(wrong)
            refused(f'probe: "machine": {[*wrong][0]}', probe)
        refused("latency_us", scaled(1e-3))
        refused("latency_us", scaled(1e3))
        # A machine that became busy when the last networks were measured: its layers agree.
        busy = scaled(1)
        for record in [record for record in busy["records"] if record.get("is_network")][1:]:
            record["latency_us"] *= 4
        refused("its networks are off by", busy)
        refused("letters", scaled(1), 'evil\nforged line "\x1b[31m')
        refused("letters", scaled(1), "n" * 2000000)

        def latency_us():
            answer = programs.predict(self.server, self.relu_file(), "--target", "this-machine")
            self.assertEqual(answer.code, 0, answer.err)
            return answer.json()["predictions"][0]["latency_us"]

        self.assertEqual(len(calibrate(scaled(1)).target.calibrations), 1)
        first = latency_us()
        refused("times as long", scaled(3))
        self.assertEqual(latency_us(), first)
        versions = calibrate(scaled(1.3)).target.calibrations
        self.assertEqual([version.serving for version in versions], [True, False])
        self.assertGreater(latency_us(), 1.2 * first)
        table = programs.client("targets", "--server", self.server.address)
        self.assertIn("1 earlier", table.out)
        undone = programs.client("calibrate", "--undo", "--server", self.server.address)
        self.assertEqual(undone.code, 0, undone.err)
        self.assertIn("is withdrawn", undone.out)
        self.assertEqual(latency_us(), first)
        self.assertEqual(programs.client("calibrate", "--undo", "--server", self.server.address).code, 0)
        gone = programs.client("calibrate", "--undo", "--server", self.server.address)
        self.assertEqual(gone.code, 2)
        self.assertIn("is not a calibrated target", gone.err)

    def relu_file(self):
        path = os.path.join(self.folder, "relu.json")
        with open(path, "w") as file:
            json.dump({**graph_json("relu", 4096), "params": 0, "param_shapes": {}}, file)
        return path


if __name__ == "__main__":
    programs.main()
