#!/usr/bin/env python3
"""What a server costs, for docs/capacity.md: processor time of a request of each kind, of its start
and of a stored prediction; memory of a cached layer, prediction and reply.

    capacity.py [--requests 2000] [--layers 50000]        COBRA_BIN: where the programs are; needs
                                                          PostgreSQL 15, haproxy

Processor time is that of the server with its readers, user and system together. It counts what the
server did, not what it waited for, so that another load on the machine changes it little: through
caches and clocks only. The client is a process of its own and does not count."""
import argparse
import importlib
import os
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time

import grpc

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
import programs  # noqa: E402
import replicas_test  # noqa: E402

PREDICT = "/cobra.v1.Cobra/Predict"
TICK = os.sysconf("SC_CLK_TCK")
OPERATIONS = ("nor_conv_3x3", "nor_conv_1x1", "skip_connect", "avg_pool_3x3")
STORED = 'cobra_store_rows_total{table="predictions"}'
DROPPED = 'cobra_store_dropped_rows_total{table="predictions"}'


def family(pid):
    children = subprocess.run(["pgrep", "-P", str(pid)], capture_output=True, text=True).stdout.split()
    return [pid] + [member for child in children for member in family(int(child))]


def processor_seconds(pids):
    """Of these processes and their children that have ended."""
    total = 0
    for pid in pids:
        try:
            with open(f"/proc/{pid}/stat") as file:
                total += sum(map(int, file.read().rsplit(")", 1)[1].split()[11:15]))
        except FileNotFoundError:
            pass  # a reader that has ended meanwhile: its parent counts it
    return total / TICK


def resident_bytes(pid):
    with open(f"/proc/{pid}/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class Questions:
    def __init__(self):
        self.pb, _ = programs.stubs()
        self.graph_pb = importlib.import_module("cobra.v1.graph_pb2")
        self.chance = random.Random(1)
        self.target = ""

    def request(self, **model):
        return self.pb.PredictRequest(targets=[self.target], keep_private=True, **model)

    def source(self, size, entry="resnet50()"):
        source = self.pb.SourceModel(file="torchvision/models/resnet.py", entry=entry, inputs=[f"1x3x{size}x{size}"])
        return self.request(source=source).SerializeToString()

    def cells(self, count):
        """Different architectures of NAS-Bench-201, each once."""
        texts = set()
        while len(texts) < count:
            texts.add("|%s~0|+|%s~0|%s~1|+|%s~0|%s~1|%s~2|" % tuple(self.chance.choice(OPERATIONS) for _ in range(6)))
        return [
            self.request(architecture=self.pb.Architecture(text="nasbench201:" + text)).SerializeToString()
            for text in sorted(texts)
        ]

    def layers(self, first, count):
        """One network of that many layers, no two alike: a relu on each of its inputs."""
        request = self.request()
        graph, kind = request.graph, self.graph_pb.ValueRef
        for i in range(count):
            shape = [1, 3, 8 + (first + i) % 1000, 8 + (first + i) // 1000]
            tensor = self.graph_pb.TensorType(shape=shape, dtype=self.graph_pb.DTYPE_FLOAT32)
            graph.inputs.add(name=f"x{i}", type=tensor)
            graph.nodes.add(op="relu").inputs.add(kind=kind.KIND_INPUT, index=i)
            graph.outputs.add(kind=kind.KIND_NODE, index=i)
        return request.SerializeToString()


def ask_all(address, requests, together=32):
    """Sends them, so many in flight; an error ends the run."""
    with grpc.insecure_channel(address) as channel:
        call, room = channel.unary_unary(PREDICT), threading.Semaphore(together)
        futures = []
        for request in requests:
            room.acquire()
            futures.append(call.future(request, timeout=120))
            futures[-1].add_done_callback(lambda _: room.release())
        for future in futures:
            future.result()


class Report:
    def __init__(self, server):
        self.server = server

    def requests(self, what, requests):
        """Processor time of each."""
        self.settle()
        before = processor_seconds(family(self.server.process.pid))
        ask_all(self.server.address, requests)
        time.sleep(0.3)  # readers that end
        used = processor_seconds(family(self.server.process.pid)) - before
        print(
            f"{what}: {used / len(requests) * 1e6:.0f} us of processor time each ({len(requests)} requests)", flush=True
        )

    def settle(self):
        """Until readers have prepared what they learnt from the requests before."""
        used = -1
        while used != (now := processor_seconds(family(self.server.process.pid))):
            used = now
            time.sleep(1)

    def cache(self, name):
        entries, size = (
            programs.metric(self.server, f'cobra_cache_{what}{{cache="{name}"}}') for what in ("entries", "bytes")
        )
        print(
            f"{name} cache: {entries:.0f} entries, {size / max(1, entries):.0f} bytes each as it counts them",
            flush=True,
        )
        return entries

    def layers(self, questions, count):
        """What the process grows by. Predictions of these networks are few."""
        size, pid = 500, self.server.process.pid
        requests = [questions.layers(first, size) for first in range(0, count, size)]
        before, entries = resident_bytes(pid), programs.metric(self.server, 'cobra_cache_entries{cache="embedding"}')
        self.requests(f"{size} layers that are new", requests)
        time.sleep(2.5)  # what requests took goes back to the system
        added = self.cache("embedding") - entries
        print(
            f"resident memory of a cached layer: {(resident_bytes(pid) - before) / added:.0f} bytes ({added:.0f} layers)"
        )


def measure_database(postgres, report, questions, count):
    """Processor time of PostgreSQL for each prediction that is stored."""
    with open(os.path.join(postgres.data, "postmaster.pid")) as file:
        parent = int(file.readline())
    rows, before = programs.metric(report.server, STORED), processor_seconds(family(parent))
    ask_all(report.server.address, [questions.layers(10**6 + i, 1) for i in range(count)])
    programs.wait_until(
        lambda: programs.metric(report.server, STORED) + programs.metric(report.server, DROPPED) >= rows + count
    )
    stored = programs.metric(report.server, STORED) - rows
    used = processor_seconds(family(parent)) - before
    print(f"PostgreSQL: {used / stored * 1e6:.0f} us of processor time for a stored prediction ({stored:.0f} rows)")
    print(
        "PostgreSQL: %s connections of one server"
        % postgres.query("SELECT COUNT(*) FROM pg_stat_activity WHERE application_name LIKE 'cobra%'").strip()
    )


def measure_balancer(folder, server, request, count):
    """Processor time of haproxy for a request that the server has answered before."""
    balancer = replicas_test.Balancer(folder, [server.address])
    programs.wait_until(lambda: balancer.up() == 2)
    for mode, address in (("tcp", balancer.connections), ("http", balancer.requests)):
        before = processor_seconds([balancer.process.pid])
        ask_all(address, [request] * count)
        used = processor_seconds([balancer.process.pid]) - before
        print(f"haproxy, mode {mode}: {used / count * 1e6:.0f} us of processor time for a request ({count} requests)")
    balancer.stop()


def measure_start(postgres, folder):
    begin = time.monotonic()
    flags = ("--embedding-cache-mb", "1024", "--learn", "0")
    server = programs.Server(postgres.url, *flags, files=os.path.join(folder, "server"))
    ready = time.monotonic() - begin
    used = processor_seconds(family(server.process.pid))
    print(f"start: ready after {ready:.2f} s, {used:.2f} s of processor time")
    print(f"after the start: {resident_bytes(server.process.pid) / 1e6:.1f} MB resident", flush=True)
    return server


def measure_requests(report, questions, count):
    known, some = questions.source(224), count // 10
    report.requests("ResNet-50 as source, the first one", [known])
    ask_all(report.server.address, [known] * 64)  # a reply is kept from the second time on
    report.requests("ResNet-50 as source, answered before", [known] * 5 * count)
    report.requests("ResNet-50 as source, other sizes", [questions.source(32 + i) for i in range(some)])
    cells = questions.cells(count)
    report.requests("cells of NAS-Bench-201, the first ones", cells[:some])
    report.requests("cells of NAS-Bench-201, new but of known layers", cells[some:])
    report.requests("the same cells again", cells * 5)
    for name in ("prediction", "network", "reply"):
        report.cache(name)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--requests", type=int, default=2000)
    parser.add_argument("--layers", type=int, default=50000)
    options = parser.parse_args()
    folder, questions = tempfile.mkdtemp(), Questions()
    try:
        with programs.Postgres() as postgres, measure_start(postgres, folder) as server:
            questions.target, report = programs.first_target(server), Report(server)
            measure_requests(report, questions, options.requests)
            report.layers(questions, options.layers)
            measure_balancer(folder, server, questions.source(224), 5 * options.requests)
            measure_database(postgres, report, questions, options.requests)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
