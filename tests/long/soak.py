#!/usr/bin/env python3
"""An hour of what a server meets: requests at 70 % of what it can answer, one of a hundred damaged,
clients that die, a reload every 5 s, a PostgreSQL that goes away every minute. No wrong answer, no
failed request, and resident memory stays.

    soak.py [--minutes 60] [--seed 1]        COBRA_BIN: where the programs are
"""
import argparse
import hashlib
import importlib
import json
import os
import random
import re
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time

import grpc

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
import programs  # noqa: E402

PREDICT = "/cobra.v1.Cobra/Predict"
RPCS = [PREDICT, "/cobra.v1.Cobra/Calibrate", "/cobra.v1.Cobra/ListTargets"] + [
    "/cobra.v1.Measurements/" + name for name in ("Enqueue", "Lease", "Renew", "Report", "Cancel")
]
SOURCES = [
    ("resnet", "resnet18()"),
    ("resnet", "resnet50()"),
    ("vgg", "vgg11()"),
    ("densenet", "densenet121()"),
    ("mobilenetv2", "mobilenet_v2()"),
]
ENDLESS = "import torch\nclass Net(torch.nn.Module):\n    def forward(self, x):\n        while True: x = x + 1\n"
LOAD_PROCESSES = 2
MOST_IN_FLIGHT = 256  # of one process: beyond that, Python itself is what is late
KEPT_LATENCIES = 1_000_000
MEMORY_GROWTH = 1.02


class Questions:
    """Requests and, once they were asked, their answers."""

    def __init__(self, target, seed):
        self.pb, _ = programs.stubs()
        self.graph_pb = importlib.import_module("cobra.v1.graph_pb2")
        self.target, self.chance = target, random.Random(seed)
        self.known = [self.source(*source) for source in SOURCES]
        self.known += [self.cell() for _ in range(20)]
        self.known += [self.layer(width) for width in range(8, 28)]
        self.width = 1000 * (seed + 1)

    def request(self, **model):
        return self.pb.PredictRequest(targets=[self.target], keep_private=True, **model)

    def source(self, module, entry):
        request = self.request()
        request.source.file = f"torchvision/models/{module}.py"
        request.source.entry = entry
        request.source.inputs.append("1x3x64x64")
        return request.SerializeToString()

    def cell(self):
        ops = [self.chance.choice(("nor_conv_3x3", "nor_conv_1x1", "skip_connect", "avg_pool_3x3")) for _ in range(6)]
        text = "nasbench201:|%s~0|+|%s~0|%s~1|+|%s~0|%s~1|%s~2|" % tuple(ops)
        return self.request(architecture=self.pb.Architecture(text=text)).SerializeToString()

    def layer(self, width):
        request = self.request()
        graph, kind = request.graph, self.graph_pb.ValueRef
        graph.inputs.add(
            name="x", type=self.graph_pb.TensorType(shape=[1, 3, 8, width], dtype=self.graph_pb.DTYPE_FLOAT32)
        )
        for i in range(4):
            node = graph.nodes.add(op=("relu", "sigmoid", "tanh", "relu")[i])
            node.inputs.add(kind=kind.KIND_NODE if i else kind.KIND_INPUT, index=max(0, i - 1))
        graph.outputs.add(kind=kind.KIND_NODE, index=3)
        return request.SerializeToString()

    def new(self):
        self.width += 1
        return self.layer(self.width)

    def damaged(self):
        """A method and bytes that are no request, or none that can be answered."""
        data = bytearray(self.chance.choice(self.known))
        kind = self.chance.randrange(4)
        if kind == 0:
            return self.chance.choice(RPCS[:1] + RPCS[3:]), bytes(
                self.chance.randrange(256) for _ in range(self.chance.randrange(1, 200))
            )
        if kind == 1:
            return PREDICT, bytes(data[: self.chance.randrange(1, len(data))])
        if kind == 2:
            for _ in range(4):
                data[self.chance.randrange(len(data))] ^= 1 << self.chance.randrange(8)
            return PREDICT, bytes(data)
        return (
            PREDICT,
            self.request(architecture=self.pb.Architecture(text="nasbench201:" + "|" * 2000)).SerializeToString(),
        )

    def answer(self, reply):
        """What must be equal each time: all but the times that it took."""
        message = self.pb.PredictResponse.FromString(reply)
        message.ClearField("model_version")  # two versions with the same weights take turns
        message.ClearField("read_us")
        message.ClearField("predict_us")
        return message.SerializeToString(deterministic=True)


class Load:
    """Requests at a rate (a second), or as many as are answered where it is 0."""

    def __init__(self, address, target, seed):
        self.questions = Questions(target, seed)
        self.chance = random.Random(seed)
        self.channel = grpc.insecure_channel(address, [("load", seed), ("grpc.enable_retries", 0)])
        self.calls = {method: self.channel.unary_unary(method) for method in RPCS}
        self.lock = threading.Condition()
        self.in_flight, self.counts, self.latencies, self.problems = 0, {}, [], []
        self.answers = {q: self.questions.answer(self.calls[PREDICT](q, timeout=60)) for q in self.questions.known}

    def count(self, what):
        self.counts[what] = self.counts.get(what, 0) + 1

    def send(self, due):
        dice = self.chance.random()
        kind, method, request = "known", PREDICT, None
        if dice < 0.01:
            kind = "damaged"
            method, request = self.questions.damaged()
        elif dice < 0.03:
            kind, request = "new", self.questions.new()
        else:
            request = self.chance.choice(self.questions.known)
        with self.lock:
            self.in_flight += 1
        future = self.calls[method].future(request, timeout=20)
        future.add_done_callback(lambda f: self.done(f, kind, request, due))

    def done(self, future, kind, request, due):
        code = future.code()
        with self.lock:
            self.in_flight -= 1
            self.lock.notify()
            self.count(f"{kind} {code.name}")
            if kind == "damaged":
                away = (
                    code.name == "UNAVAILABLE" and "postgresql" not in future.details()
                )  # which is restarted meanwhile
                if away or code.name == "CANCELLED":
                    self.problems.append(f"damaged: {code.name}: {future.details()}")
                return
            if len(self.latencies) < KEPT_LATENCIES:
                self.latencies.append(time.monotonic() - due)
            else:
                self.latencies[self.chance.randrange(KEPT_LATENCIES)] = time.monotonic() - due
            if code != grpc.StatusCode.OK:
                self.problems.append(f"{kind}: {code.name}: {future.details()}")
                return
            expected = self.answers.get(request)
        if expected is not None and self.questions.answer(future.result()) != expected:
            with self.lock:
                self.problems.append(f"another answer to {request[:80]!r}")

    def closed(self, seconds, together=16):
        until, sent = time.monotonic() + seconds, 0
        while time.monotonic() < until:
            with self.lock:
                while self.in_flight >= together:
                    self.lock.wait()
            self.send(time.monotonic())
            sent += 1
        return sent / seconds

    def open(self, rate, seconds):
        """Each request is due at a time of its own, however late the ones before it are, unless too
        many of them wait."""
        start = time.monotonic()
        due = start
        while due < start + seconds:
            if due > time.monotonic():
                time.sleep(max(0.002, due - time.monotonic()))  # what is due meanwhile follows at once
            with self.lock:
                self.lock.wait_for(lambda: self.in_flight < MOST_IN_FLIGHT)
            self.send(due)
            due += self.chance.expovariate(rate)
        with self.lock:
            self.lock.wait_for(lambda: self.in_flight == 0, 60)

    def report(self):
        self.latencies.sort()
        quantile = lambda q: self.latencies[int(q * (len(self.latencies) - 1))] * 1e3  # noqa: E731
        return {
            "counts": self.counts,
            "p50_ms": quantile(0.5),
            "p99_ms": quantile(0.99),
            "problems": self.problems[:20],
            "number_of_problems": len(self.problems),
        }


def load_main(address, target, seed, seconds):
    """A process of its own: measures what it gets, reads the rate that it shall keep, prints what
    came of it."""
    load = Load(address, target, seed)
    print(load.closed(60), flush=True)
    load.latencies, load.counts, load.problems = [], {}, []
    load.open(float(sys.stdin.readline()), seconds)
    print(json.dumps(load.report()), flush=True)


class Versions:
    """A link to one of two versions of the model that answer the same."""

    def __init__(self, folder):
        self.link = os.path.join(folder, "model")
        self.directories = [os.path.join(folder, "version" + name) for name in "ab"]
        for year, directory in enumerate(self.directories):
            shutil.copytree(os.path.join(programs.SOURCE, "model", "pretrained"), directory)
            path = os.path.join(directory, "manifest.json")
            with open(path) as file:
                text = re.sub(r'(?<="trained_at":")\d{4}', str(2024 + year), file.read())
            text = re.sub(r'(?<="manifest_sha256":")[0-9a-f]{64}', "", text)
            digest = hashlib.sha256(text.encode()).hexdigest()
            with open(path, "w") as file:
                file.write(text.replace('"manifest_sha256":"', '"manifest_sha256":"' + digest))
        os.symlink(self.directories[0], self.link)

    def change(self):
        self.directories.reverse()
        os.symlink(self.directories[0], self.link + ".next")
        os.rename(self.link + ".next", self.link)


class Trouble:
    """What happens to the server meanwhile, each on a thread of its own until `stop`."""

    def __init__(self, server, versions, postgres, target, seed):
        self.server, self.versions, self.postgres = server, versions, postgres
        self.target, self.chance = target, random.Random(seed)
        self.stop = threading.Event()
        self.counts = {"reloads": 0, "database restarts": 0, "dead clients": 0, "endless models": 0}
        self.threads = [threading.Thread(target=f) for f in (self.reload, self.restart, self.die, self.endless)]
        for thread in self.threads:
            thread.start()

    def each(self, seconds, what):
        while not self.stop.wait(seconds):
            self.counts[what] += 1
            yield

    def reload(self):
        for _ in self.each(5, "reloads"):
            self.versions.change()
            self.server.process.send_signal(signal.SIGHUP)

    def restart(self):
        for _ in self.each(60, "database restarts"):
            self.postgres.stop()
            self.stop.wait(5)
            self.postgres.start()

    def die(self):
        question = (
            programs.RESNET,
            "--library",
            programs.LIBRARY,
            "--entry",
            "resnet18()",
            "--input",
            "1x3x64x64",
            "--send",
            "source",
        )
        command = [
            os.path.join(programs.BIN, "cobra-client"),
            "predict",
            *question,
            "--target",
            self.target,
            "--server",
            self.server.address,
        ]
        for _ in self.each(2, "dead clients"):
            process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            half = socket.create_connection(self.server.address.rsplit(":", 1))
            half.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + os.urandom(self.chance.randrange(40)))
            time.sleep(self.chance.uniform(0.005, 0.05))
            process.kill()
            process.wait()
            half.close()

    def endless(self):
        pb, services = programs.stubs()
        request = pb.PredictRequest(targets=[self.target])
        request.source.files.add(path="net.py", text=ENDLESS.encode())
        request.source.file, request.source.entry = "net.py", "Net()"
        request.source.inputs.append("1x3")
        stub = services.CobraStub(grpc.insecure_channel(self.server.address))
        for _ in self.each(10, "endless models"):
            try:
                stub.Predict(request, timeout=0.5)
            except grpc.RpcError:
                pass

    def end(self):
        self.stop.set()
        for thread in self.threads:
            thread.join()


def run(folder, postgres, options):
    seconds = options.minutes * 60
    versions = Versions(folder)
    # The caches are full long before the memory is looked at.
    flags = [part for cache in ("embedding", "prediction", "reply") for part in (f"--{cache}-cache-mb", "4")]
    with programs.Server(
        postgres.url, "--model", versions.link, *flags, files=os.path.join(folder, "server")
    ) as server:
        target = programs.first_target(server)
        loads = [
            subprocess.Popen(
                [
                    sys.executable,
                    os.path.abspath(__file__),
                    "--load",
                    server.address,
                    target,
                    str(options.seed * 100 + i),
                    str(seconds),
                ],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            for i in range(LOAD_PROCESSES)
        ]
        trouble = Trouble(server, versions, postgres, target, options.seed)
        capacity = sum(float(load.stdout.readline()) for load in loads)
        rate = 0.7 * capacity
        print(f"{capacity:.0f} requests a second in a closed loop, {rate:.0f} from now on", flush=True)
        for load in loads:
            load.stdin.write(f"{rate / len(loads)}\n")
            load.stdin.flush()
        memory = []
        until = time.monotonic() + seconds
        while time.monotonic() < until and server.process.poll() is None:
            time.sleep(min(2, seconds / 300))
            memory.append(programs.resident_mb(server.process))
        trouble.end()
        reports = [json.loads(load.stdout.readline()) for load in loads]
        alive = server.process.poll() is None
        code = server.stop() if alive else server.process.returncode
    return reports, trouble.counts, memory, alive, code


def main():
    if sys.argv[1:2] == ["--load"]:
        address, target, seed, seconds = sys.argv[2:]
        return load_main(address, target, int(seed), float(seconds))
    parser = argparse.ArgumentParser()
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    folder = tempfile.mkdtemp()
    try:
        with programs.Postgres() as postgres:
            reports, counts, memory, alive, code = run(folder, postgres, options)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    for report in reports:
        print(json.dumps(report))
    print(counts)
    # Caches fill and the allocator finds its size in the first sixth. A version that is loaded, and
    # what malloc keeps for the next one, come and go between two samples: the lowest ones of five
    # minutes say what stays.
    twelfth = max(1, len(memory) // 12)
    windows = [sorted(memory[begin : begin + twelfth]) for begin in range(0, len(memory), twelfth)][:12]
    lows, medians = ([window[len(window) * part // 100] for window in windows] for part in (5, 50))
    print(
        "resident memory by twelfths, MB: the lowest",
        [round(m, 1) for m in lows],
        "medians",
        [round(m, 1) for m in medians],
    )
    before, after = statistics.median(lows[2:5]), statistics.median(lows[-3:])
    print(
        f"resident memory that stays: {before:.1f} MB after a sixth of the time, {after:.1f} MB at the end ({after / before - 1:+.1%}); {max(memory):.1f} MB at most"
    )
    problems = sum(report["number_of_problems"] for report in reports)
    passed = problems == 0 and alive and code == 0 and after <= MEMORY_GROWTH * before
    print(
        f"{options.minutes:g} minutes, {problems} wrong or failed, exit code {code}: {'passed' if passed else 'FAILED'}"
    )
    return 0 if passed else 1


sys.exit(main())
