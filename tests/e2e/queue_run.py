"""What the tests of the measurement queue share: tiny layers as tasks, a worker, the queue's
contents, and a run in which both are killed."""
import importlib
import os
import random
import shutil
import signal
import socket
import sqlite3
import subprocess
import tempfile
import time
import unittest

import grpc

import programs

TARGET = "cpu-test-1t"


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def layer(graph_pb2, width):
    """relu on 1 x width: some microseconds."""
    tensor = graph_pb2.TensorType(shape=[1, width], dtype=graph_pb2.DTYPE_FLOAT32)
    graph = graph_pb2.Graph(inputs=[graph_pb2.NamedTensor(name="x", type=tensor)])
    graph.nodes.add(op="relu", inputs=[graph_pb2.ValueRef(kind=graph_pb2.ValueRef.KIND_INPUT)])
    graph.outputs.add(kind=graph_pb2.ValueRef.KIND_NODE)
    return graph


def tasks(pb, graph_pb2, count, target=TARGET, **fields):
    return [
        pb.MeasurementTask(target=target, origin="test", graph=layer(graph_pb2, 8 + i), **fields) for i in range(count)
    ]


class Worker:
    """A `cobra-worker work` with a spool of its own."""

    def __init__(self, address, spool, *flags, log=None, target=TARGET):
        self.log_path = log or spool + ".log"
        with open(self.log_path, "ab") as output:
            self.process = subprocess.Popen(
                [
                    os.path.join(programs.BIN, "cobra-worker"),
                    "work",
                    "--server",
                    address,
                    "--target",
                    target,
                    "--spool",
                    spool,
                    "--core",
                    "0",
                    "--share-device",
                    *flags,
                ],
                stderr=output,
                stdout=output,
            )

    def stop(self, seconds=120):
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(seconds)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def log(self):
        with open(self.log_path) as file:
            return file.read()


class Rows:
    """What the store says, on either database."""

    def __init__(self, store, postgres=None):
        self.store, self.postgres = store, postgres

    def query(self, sql):
        if self.postgres:
            text = self.postgres.query(sql)
            return [line.split("|") for line in text.splitlines()]
        with sqlite3.connect(self.store, timeout=30) as db:
            return [[str(value) for value in row] for row in db.execute(sql)]

    def states(self):
        return {state: int(count) for state, count in self.query("SELECT state, COUNT(*) FROM tasks GROUP BY state")}

    def measurements(self):
        count, different = self.query(
            "SELECT COUNT(*), COUNT(DISTINCT task_id) FROM measurements WHERE task_id IS NOT NULL"
        )[0]
        return int(count), int(different)


class QueueTest(unittest.TestCase):
    """A server with a store of its own, tasks for it, workers on it."""

    WORKER_FLAGS = ()

    @classmethod
    def setUpClass(cls):
        cls.pb, cls.services = programs.measurement_stubs()
        cls.graph_pb2 = importlib.import_module("cobra.v1.graph_pb2")

    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.use_store(os.path.join(self.folder, "store.sqlite"))
        self.spool = os.path.join(self.folder, "spool")

    def use_store(self, store, postgres=None):
        self.store, self.rows = store, Rows(store, postgres)

    def start(self, *flags, location=None, **options):
        """`location`: of the store, if it is not a file."""
        self.server = programs.Server(location or self.store, *flags, **options)
        self.addCleanup(self.server.__exit__)
        self.stub = self.services.MeasurementsStub(grpc.insecure_channel(self.server.address))

    def tasks(self, count, **fields):
        return tasks(self.pb, self.graph_pb2, count, **fields)

    def enqueue(self, wanted):
        return self.stub.Enqueue(self.pb.EnqueueRequest(tasks=wanted), timeout=30)

    def worker(self, *flags, address=None, log=None):
        worker = Worker(address or self.server.address, self.spool, *self.WORKER_FLAGS, *flags, log=log)
        self.addCleanup(worker.kill)
        return worker

    def wait_until(self, condition, seconds, what):
        """`what`: says what did not happen; called where it is a function."""
        until = time.time() + seconds
        while not condition():
            self.assertLess(time.time(), until, what() if callable(what) else what)
            time.sleep(0.05)

    def done(self):
        return self.rows.states().get("done", 0)

    def all_done(self, count):
        return lambda: self.rows.states() == {"done": count}


def retry(call, seconds=60):
    """While the server is being killed and started."""
    until = time.time() + seconds
    while True:
        try:
            return call()
        except grpc.RpcError as error:
            if (
                error.code() not in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED)
                or time.time() > until
            ):
                raise
            time.sleep(0.1)


def run_with_kills(folder, count, kills, postgres=None, seed=1, say=lambda text: None, seconds=3600):
    """`count` short tasks while server and worker are killed (SIGKILL) `kills` times at random
    moments. Returns (states, measurements, different tasks measured, kills of the server, kills of
    the worker)."""
    pb, services = programs.measurement_stubs()
    graph_pb2 = importlib.import_module("cobra.v1.graph_pb2")
    rng = random.Random(seed)
    store = os.path.join(folder, "store.sqlite")
    rows = Rows(store, postgres)
    address = f"127.0.0.1:{free_port()}"
    location = postgres.url if postgres else store

    def start_server():
        return programs.Server(location, "--listen", address, files=store)

    def start_worker():
        return Worker(
            address,
            os.path.join(folder, "spool"),
            "--lease-seconds",
            "5",
            "--lease-tasks",
            "40",
            "--group",
            "5",
            "--keep-disturbed",
        )

    server, worker = start_server(), start_worker()
    stub = services.MeasurementsStub(grpc.insecure_channel(address, options=[("grpc.max_reconnect_backoff_ms", 500)]))
    wanted = tasks(pb, graph_pb2, count, max_attempts=100)
    for i in range(0, count, 500):
        retry(lambda part=wanted[i : i + 500]: stub.Enqueue(pb.EnqueueRequest(tasks=part), timeout=30))
    killed = {"server": 0, "worker": 0}
    until = time.time() + seconds
    while time.time() < until:
        done = rows.states().get("done", 0)
        if done == count:
            break
        total = killed["server"] + killed["worker"]
        if total < kills:
            # Spread over the whole run: so many kills as tasks are done.
            if done * kills >= 0.9 * total * count:
                time.sleep(rng.uniform(0, 0.4))
                if rng.random() < 0.5:
                    server.process.kill()
                    server.process.wait()
                    killed["server"] += 1
                    time.sleep(rng.uniform(0, 0.3))
                    server = start_server()
                else:
                    worker.kill()
                    killed["worker"] += 1
                    worker = start_worker()
                say(f"kill {total + 1}: {done} of {count} done")
                continue
        time.sleep(0.02)
    worker.stop()
    server.stop()
    measurements, different = rows.measurements()
    return rows.states(), measurements, different, killed["server"], killed["worker"]
