#!/usr/bin/env python3
"""Several servers on one PostgreSQL: behind haproxy (deploy/haproxy.cfg), which spreads connections
or requests, and behind gRPC's own round robin. All give the same answers; a calibration made on one
is served by all; they are reloaded and restarted one after the other while clients ask. `--long`:
four servers instead of two."""
import importlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.request

import grpc

import programs
import queue_run

SERVERS = 4 if "--long" in sys.argv else 2
HAPROXY = shutil.which("haproxy", path=os.environ["PATH"] + ":/usr/sbin")
PROBE = os.path.join(programs.SOURCE, "tests", "e2e", "probe_of_few_networks.json")
CELLS = [
    "nasbench201:|%s~0|+|none~0|skip_connect~1|+|nor_conv_1x1~0|avg_pool_3x3~1|%s~2|" % pair
    for pair in (("nor_conv_3x3", "nor_conv_1x1"), ("skip_connect", "none"), ("nor_conv_1x1", "nor_conv_3x3"))
]
# What a client needs so that a server that stops or restarts does not concern it.
SERVICE_CONFIG = """{"loadBalancingConfig": [{"round_robin": {}}], "methodConfig": [{"name": [{}], "retryPolicy": {
  "maxAttempts": 5, "initialBackoff": "0.2s", "maxBackoff": "2s", "backoffMultiplier": 2,
  "retryableStatusCodes": ["UNAVAILABLE"]}}]}"""
LISTENING = "cobra_calibrations_listening"
LOADED = 'cobra_model_loads_total{result="ok"}'


class Balancer:
    """haproxy with deploy/haproxy.cfg and other addresses."""

    def __init__(self, folder, servers):
        with open(os.path.join(programs.SOURCE, "deploy", "haproxy.cfg")) as file:
            text = file.read()
        self.connections, self.requests, self.state = (f"127.0.0.1:{queue_run.free_port()}" for _ in range(3))
        for before, after in ((":50051", self.connections), (":50052", self.requests), ("127.0.0.1:8404", self.state)):
            text = text.replace(f"bind {before}", f"bind {after}")
        text, found = re.subn(
            r"  server cobra-1 cobra-1:50051(.*)\n  server cobra-2 .*\n",
            lambda match: "".join(f"  server cobra-{i} {s}{match[1]}\n" for i, s in enumerate(servers, 1)),
            text,
        )
        assert found == 2, text
        path = os.path.join(folder, "haproxy.cfg")
        with open(path, "w") as file:
            file.write(text)
        self.log_path = os.path.join(folder, "haproxy.log")
        with open(self.log_path, "wb") as log:
            self.process = subprocess.Popen([HAPROXY, "-db", "-f", path], stdout=log, stderr=log)

    def up(self):
        """How many servers it takes for healthy, in both sections together."""
        try:
            csv = urllib.request.urlopen(f"http://{self.state}/;csv", timeout=10).read().decode()
        except OSError:
            return 0
        lines = [line.split(",") for line in csv.splitlines()]
        status = lines[0].index("status")
        return sum(line[1].startswith("cobra-") and line[status] == "UP" for line in lines[1:] if len(line) > status)

    def stop(self):
        self.process.terminate()
        self.process.wait()


class Load:
    """Clients that ask, each on a connection of its own, until it ends. Problems are calls that
    have failed in the end."""

    def __init__(self, test, channels):
        self.stopping, self.problems, self.answered = threading.Event(), [], [0] * len(channels)
        self.threads = [
            threading.Thread(target=self.ask, args=(test, i, channel)) for i, channel in enumerate(channels)
        ]

    def ask(self, test, place, channel):
        stub, width = test.services.CobraStub(channel), 1000 * (place + 1)
        while not self.stopping.is_set():
            width += 1
            request = test.layer(width) if width % 2 else test.cell(CELLS[width % len(CELLS)])
            try:
                stub.Predict(request, timeout=30)
                self.answered[place] += 1
            except grpc.RpcError as error:
                self.problems.append(f"client {place}: {error.code().name}: {error.details()}")
            time.sleep(0.01)

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.stopping.set()
        for thread in self.threads:
            thread.join()

    def more(self):
        """Until each client has got five more answers."""
        before = list(self.answered)
        programs.wait_until(lambda: all(now >= was + 5 for now, was in zip(self.answered, before)))


class ReplicasTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.pb, cls.services = programs.stubs()
        cls.graph_pb2 = importlib.import_module("cobra.v1.graph_pb2")
        cls.folder = tempfile.mkdtemp()
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        cls.postgres = cls.enterClassContext(programs.Postgres())
        cls.addresses = [f"127.0.0.1:{queue_run.free_port()}" for _ in range(SERVERS)]
        cls.servers = [None] * SERVERS
        cls.addClassCleanup(lambda: [server.__exit__() for server in cls.servers if server])
        for i in range(SERVERS):
            cls.start(i)
        cls.balancer = Balancer(cls.folder, cls.addresses)
        cls.addClassCleanup(cls.balancer.stop)
        cls.all_up()
        cls.targets = {
            "connections": cls.balancer.connections,
            "requests": cls.balancer.requests,
            "round robin": "ipv4:" + ",".join(cls.addresses),
        }
        cls.direct = [cls.services.CobraStub(cls.connect(address)) for address in cls.addresses]
        cls.target = cls.direct[0].ListTargets(cls.pb.ListTargetsRequest(), timeout=60).targets[0].spec.name
        with open(PROBE) as file:
            cls.probe = file.read()

    @classmethod
    def start(cls, i):
        files = os.path.join(cls.folder, f"server-{i}")
        cls.servers[i] = programs.Server(cls.postgres.url, "--listen", cls.addresses[i], files=files)

    @classmethod
    def all_up(cls):
        programs.wait_until(lambda: cls.balancer.up() == 2 * SERVERS)

    @classmethod
    def connect(cls, target):
        """A channel with connections of its own."""
        options = [
            ("grpc.use_local_subchannel_pool", 1),
            ("grpc.service_config", SERVICE_CONFIG),
            ("grpc.max_reconnect_backoff_ms", 1000),
        ]
        channel = grpc.insecure_channel(target, options)
        cls.addClassCleanup(channel.close)
        return channel

    def request(self, target=None, **model):
        return self.pb.PredictRequest(targets=[target or self.target], keep_private=True, **model)

    def layer(self, width, target=None):
        return self.request(target, graph=queue_run.layer(self.graph_pb2, width))

    def cell(self, text):
        return self.request(architecture=self.pb.Architecture(text=text))

    def answer(self, stub, request):
        """What must be equal on each server: all but the times that it took."""
        reply = stub.Predict(request, timeout=60)
        reply.ClearField("read_us")
        reply.ClearField("predict_us")
        return reply

    def calibrate(self, stub, name, factor=1):
        scaled = re.sub(r'("latency_us": *)([0-9.e+-]+)', lambda m: f"{m[1]}{float(m[2]) * factor}", self.probe)
        self.changed = time.monotonic()
        return stub.Calibrate(self.pb.CalibrateRequest(probe_json=scaled, target=name), timeout=60).target

    def latency(self, stub, name):
        """None: it does not know the target."""
        try:
            return self.answer(stub, self.layer(4096, name)).predictions[0].latency_us
        except grpc.RpcError as error:
            self.assertEqual(error.code(), grpc.StatusCode.NOT_FOUND, error.details())
            return None

    def versions(self, stub, name):
        """Whether each serves, newest first."""
        targets = stub.ListTargets(self.pb.ListTargetsRequest(), timeout=60).targets
        return [version.serving for target in targets if target.spec.name == name for version in target.calibrations]

    def wait_for_all(self, what, name, latency, versions):
        """Until all servers answer so; prints how long after the request that changed it."""
        for stub in self.direct:
            programs.wait_until(lambda: self.latency(stub, name) == latency)
            programs.wait_until(lambda: self.versions(stub, name) == versions)
        print(f"{what}: served by all {time.monotonic() - self.changed:.3f} s after the request")

    def clients(self):
        """Three clients of each kind."""
        return [self.connect(target) for target in self.targets.values() for _ in range(3)]

    def test_each_gives_the_same_answers(self):
        requests = [self.cell(text) for text in CELLS] + [self.layer(width) for width in range(8, 12)]
        expected = [self.answer(self.direct[0], request) for request in requests]
        through = {kind: self.services.CobraStub(self.connect(target)) for kind, target in self.targets.items()}
        through.update(enumerate(self.direct))
        for kind, stub in through.items():
            for _ in range(SERVERS):
                self.assertEqual([self.answer(stub, request) for request in requests], expected, kind)
        for kind in ("connections", "requests"):
            listed = programs.client("targets", "--server", self.targets[kind])
            self.assertEqual(listed.code, 0, listed.err)
            self.assertIn(self.target, listed.out)

    def test_a_stream_passes_the_balancer(self):
        for kind, target in self.targets.items():
            stub, asked = self.services.CobraStub(self.connect(target)), threading.Semaphore(1)

            def requests():
                for i in range(20):
                    asked.acquire()
                    yield self.pb.PredictStreamRequest(request_id=i, request=self.layer(8 + i))

            begin = time.monotonic()
            for i, reply in enumerate(stub.PredictStream(requests(), timeout=60)):
                self.assertEqual((reply.request_id, reply.WhichOneof("result")), (i, "response"), kind)
                asked.release()
            print(f"{kind}: {(time.monotonic() - begin) / 20 * 1e3:.1f} ms for an answer of a stream")

    def test_a_calibration_is_served_by_all(self):
        first, last = self.direct[0], self.direct[-1]
        self.assertIsNone(self.latency(last, "pi"))
        self.calibrate(first, "pi")
        once = self.latency(first, "pi")
        self.wait_for_all("calibration", "pi", once, [True])
        target = self.calibrate(last, "pi", 1.3)
        more = self.latency(last, "pi")
        self.assertGreater(more, 1.2 * once)
        self.wait_for_all("second calibration", "pi", more, [True, False])
        undo = self.pb.UndoCalibrationRequest(target="pi", version=target.calibrations[0].version)
        self.changed = time.monotonic()
        first.UndoCalibration(undo, timeout=60)
        self.wait_for_all("undone calibration", "pi", once, [False, True])

    def test_a_calibration_of_its_own_is_no_news(self):
        """Another snapshot would empty the caches."""
        news = lambda server: server.log().count("calibrations changed")
        before = [news(server) for server in self.servers]
        self.calibrate(self.direct[0], "own")
        self.wait_for_all("calibration", "own", self.latency(self.direct[0], "own"), [True])
        time.sleep(0.5)
        self.assertEqual([news(server) - was for server, was in zip(self.servers, before)], [0] + [1] * (SERVERS - 1))

    def test_they_are_reloaded_one_after_the_other(self):
        with Load(self, self.clients()) as load:
            for server in self.servers:
                load.more()
                before = programs.metric(server, LOADED)
                server.process.send_signal(signal.SIGHUP)
                programs.wait_until(lambda: programs.metric(server, LOADED) == before + 1)
            load.more()
        self.assertEqual(load.problems, [])

    def test_they_are_restarted_one_after_the_other(self):
        with Load(self, self.clients()) as load:
            for i in range(SERVERS):
                load.more()
                self.assertEqual(self.servers[i].stop(), 0, self.servers[i].log())
                load.more()
                self.start(i)
                self.all_up()
            load.more()
        self.assertEqual(load.problems, [])
        print(f"{sum(load.answered)} answers while {SERVERS} servers were restarted")

    def listening(self):
        return [programs.metric(server, LISTENING) for server in self.servers]

    def test_the_database_restarts(self):
        self.calibrate(self.direct[0], "before")
        known = self.latency(self.direct[0], "before")
        with Load(self, self.clients()) as load:
            self.postgres.stop("fast")
            programs.wait_until(lambda: self.listening() == [0] * SERVERS)
            load.more()
            self.assertEqual(self.latency(self.direct[0], "before"), known)
            self.postgres.start()
            begin = time.monotonic()
            programs.wait_until(lambda: self.listening() == [1] * SERVERS)
            print(f"all listen {time.monotonic() - begin:.3f} s after the database is back")
            load.more()
        self.assertEqual(load.problems, [])
        self.calibrate(self.direct[-1], "after")
        self.wait_for_all("calibration after a restart", "after", self.latency(self.direct[-1], "after"), [True])

    def test_what_was_not_heard_is_read(self):
        """The last server sleeps while the database restarts and another one is calibrated: nobody
        tells it."""
        process = self.servers[-1].process
        os.kill(process.pid, signal.SIGSTOP)
        self.addCleanup(os.kill, process.pid, signal.SIGCONT)
        self.postgres.stop("fast")
        self.postgres.start()
        self.calibrate(self.direct[0], "slept")
        self.changed = time.monotonic()
        os.kill(process.pid, signal.SIGCONT)
        self.wait_for_all("calibration not heard of", "slept", self.latency(self.direct[0], "slept"), [True])
        self.all_up()


if __name__ == "__main__":
    sys.argv = [argument for argument in sys.argv if argument != "--long"]
    if not HAPROXY or not programs.Postgres.installed():
        print("not tested: haproxy or postgresql-15 is not installed (scripts/setup.sh --tests)")
        sys.exit(77)
    programs.main()
