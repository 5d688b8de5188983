#!/usr/bin/env python3
"""A real Prometheus scrapes a real cobra-server with deploy/prometheus.yml; every query of the
Grafana dashboard must return something, and every rule of deploy/alerts.yml be evaluated. Questions
are asked and a real worker measures meanwhile."""
import importlib
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.parse
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "e2e"))
import grpc

import programs
import queue_run

NET = "import torch.nn as nn\nnet = nn.Sequential(nn.Conv2d(3, {width}, 3), nn.ReLU(), nn.Flatten())\n"


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Prometheus:
    def __init__(self, folder, server):
        with open(os.path.join(programs.SOURCE, "deploy", "prometheus.yml")) as file:
            config = file.read()
        config = re.sub(r'targets: \["[^"]*"\]', f'targets: ["{server.metrics_address}"]', config)
        config = re.sub(r"(scrape|evaluation)_interval: \S+", r"\1_interval: 1s", config)
        shutil.copy(os.path.join(programs.SOURCE, "deploy", "alerts.yml"), folder)
        path = os.path.join(folder, "prometheus.yml")
        with open(path, "w") as file:
            file.write(config)
        self.address = f"127.0.0.1:{free_port()}"
        self.log = open(os.path.join(folder, "prometheus.log"), "wb")
        self.process = subprocess.Popen(
            [
                "prometheus",
                f"--config.file={path}",
                f"--storage.tsdb.path={folder}/data",
                f"--web.listen-address={self.address}",
            ],
            stdout=self.log,
            stderr=self.log,
        )

    def get(self, what):
        """None while it is not up yet."""
        try:
            reply = json.load(urllib.request.urlopen(f"http://{self.address}/api/v1/{what}", timeout=10))
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{what}: {error.read().decode()}")
        except OSError:
            return None
        assert reply["status"] == "success", reply
        return reply["data"]

    def query(self, expression):
        data = self.get("query?" + urllib.parse.urlencode({"query": expression}))
        return data["result"] if data else []

    def rules(self):
        data = self.get("rules")
        return [rule for group in data["groups"] for rule in group["rules"]] if data else []

    def stop(self):
        self.process.terminate()
        self.process.wait(30)
        self.log.close()


class DashboardTest(unittest.TestCase):
    def enqueue(self, server, target, width):
        """A layer that the model knows."""
        pb, services = self.stubs
        tensor = self.graph_pb2.TensorType(shape=[1, 32 + width, 28, 28], dtype=self.graph_pb2.DTYPE_FLOAT32)
        graph = self.graph_pb2.Graph(inputs=[self.graph_pb2.NamedTensor(name="x", type=tensor)])
        graph.nodes.add(op="relu", inputs=[self.graph_pb2.ValueRef(kind=self.graph_pb2.ValueRef.KIND_INPUT)])
        graph.outputs.add(kind=self.graph_pb2.ValueRef.KIND_NODE)
        with grpc.insecure_channel(server.address) as channel:
            task = pb.MeasurementTask(target=target, origin="test", graph=graph)
            services.MeasurementsStub(channel).Enqueue(pb.EnqueueRequest(tasks=[task]), timeout=30)

    def ask(self, server, target, folder, width):
        path = os.path.join(folder, "net.py")
        with open(path, "w") as file:
            file.write(NET.format(width=width))
        question = (path, "--entry", "net", "--input", "1x3x16x16", "--target", target)
        self.assertEqual(programs.predict(server, *question).code, 0)
        self.assertEqual(programs.predict(server, *question, "--send", "source").code, 0)
        with open(path, "w") as file:
            file.write("import nowhere\n")
        self.assertNotEqual(programs.predict(server, *question, "--send", "source").code, 0)

    def send_bad_batch(self, server):
        pb, services = (importlib.import_module("cobra.v1." + name) for name in ("cobra_pb2", "cobra_pb2_grpc"))
        with grpc.insecure_channel(server.address) as channel:
            batch = pb.PredictBatchRequest(requests=[pb.PredictRequest()])
            services.CobraStub(channel).PredictBatch(batch, timeout=30)

    def test_every_query_returns_something(self):
        with open(os.path.join(programs.SOURCE, "deploy", "grafana", "dashboard.json")) as file:
            panels = json.load(file)["panels"]
        queries = {target["expr"]: panel["title"] for panel in panels for target in panel["targets"]}
        self.assertGreater(len(queries), 20)
        self.stubs = programs.measurement_stubs()
        self.graph_pb2 = importlib.import_module("cobra.v1.graph_pb2")
        with tempfile.TemporaryDirectory() as folder, programs.Server(os.path.join(folder, "store.sqlite")) as server:
            target = programs.first_target(server)
            prometheus = Prometheus(folder, server)
            worker = queue_run.Worker(
                server.address, os.path.join(folder, "spool"), "--keep-disturbed", "--group", "1", target=target
            )
            try:
                # A recorded series is there only from its rule's next evaluation on; rates need two
                # scrapes with something between them.
                queries["cobra:measured_over_predicted:median1h"] = "recording rule of deploy/alerts.yml"
                missing, width, deadline = dict(queries), 8, time.time() + 120
                while missing and time.time() < deadline:
                    self.ask(server, target, folder, width)
                    self.enqueue(server, target, width)
                    self.send_bad_batch(server)
                    width += 1
                    time.sleep(1)
                    missing = {query: title for query, title in missing.items() if not usable(prometheus.query(query))}
                self.assertEqual(missing, {}, worker.log())
                rules = prometheus.rules()
                # not evaluated yet
                while any(rule["health"] == "unknown" for rule in rules) and time.time() < deadline:
                    time.sleep(1)
                    rules = prometheus.rules()
                self.assertGreater(len(rules), 5)
                self.assertEqual({rule["name"]: rule.get("lastError") for rule in rules if rule["health"] != "ok"}, {})
            finally:
                worker.kill()
                prometheus.stop()


def usable(result):
    """Some series, none of them NaN in all."""
    return any(series["value"][1] != "NaN" for series in result)


if __name__ == "__main__":
    if shutil.which("prometheus") is None:
        print("no prometheus here")
        sys.exit(77)
    programs.main()
