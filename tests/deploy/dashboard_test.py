#!/usr/bin/env python3
"""A real Prometheus scrapes a real cobra-server with deploy/prometheus.yml; every query of the Grafana dashboard must return something."""
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
import programs

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
        path = os.path.join(folder, "prometheus.yml")
        with open(path, "w") as file:
            file.write(config)
        self.address = f"127.0.0.1:{free_port()}"
        self.log = open(os.path.join(folder, "prometheus.log"), "wb")
        self.process = subprocess.Popen(["prometheus", f"--config.file={path}", f"--storage.tsdb.path={folder}/data",
                                         f"--web.listen-address={self.address}"], stdout=self.log, stderr=self.log)

    def query(self, expression):
        url = f"http://{self.address}/api/v1/query?" + urllib.parse.urlencode({"query": expression})
        try:
            reply = json.load(urllib.request.urlopen(url, timeout=10))
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{expression}: {error.read().decode()}")
        except OSError:
            return []  # not up yet
        assert reply["status"] == "success", reply
        return reply["data"]["result"]

    def stop(self):
        self.process.terminate()
        self.process.wait(30)
        self.log.close()


class DashboardTest(unittest.TestCase):
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

    def test_every_query_returns_something(self):
        with open(os.path.join(programs.SOURCE, "deploy", "grafana", "dashboard.json")) as file:
            panels = json.load(file)["panels"]
        queries = {target["expr"]: panel["title"] for panel in panels for target in panel["targets"]}
        self.assertGreater(len(queries), 20)
        with tempfile.TemporaryDirectory() as folder, programs.Server(os.path.join(folder, "store.sqlite")) as server:
            target = programs.first_target(server)
            prometheus = Prometheus(folder, server)
            try:
                missing, width, deadline = dict(queries), 8, time.time() + 120
                # Rates need two scrapes with something between them.
                while missing and time.time() < deadline:
                    self.ask(server, target, folder, width)
                    width += 1
                    time.sleep(1)
                    missing = {query: title for query, title in missing.items() if not usable(prometheus.query(query))}
                self.assertEqual(missing, {})
            finally:
                prometheus.stop()


def usable(result):
    """Some series, none of them NaN in all."""
    return any(series["value"][1] != "NaN" for series in result)


if __name__ == "__main__":
    if shutil.which("prometheus") is None:
        print("no prometheus here")
        sys.exit(77)
    programs.main()
