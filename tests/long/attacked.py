#!/usr/bin/env python3
"""What a caller notices of another one's attacks. One process asks the same warm question at a
fixed rate; another one attacks meanwhile, one attack after the other: some without a credential,
some with the role ask. Every warm request must be answered, the server must live within 4 GB of
address space, and its resident memory must return. Latencies are printed, not asserted. Attackers
and their victims share the machine's cores here: what that does to a caller is seen beside it, when
the same attack goes to another server ("elsewhere").

    attacked.py [--seconds 10] [--rate 100] [--only TEXT]        COBRA_BIN: where the programs are
"""
import argparse
import contextlib
import importlib
import json
import os
import subprocess
import sys
import tempfile
import threading
import time

import grpc

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "e2e"))
sys.path.insert(0, os.path.join(HERE, "..", "hostile"))
import battery  # noqa: E402
import hostile_test  # noqa: E402
import programs  # noqa: E402
import raw_http2  # noqa: E402

PREDICT, BATCH, STREAM, SUGGEST = (
    "/cobra.v1.Cobra/" + name for name in ("Predict", "PredictBatch", "PredictStream", "SuggestSamples")
)
ENQUEUE = "/cobra.v1.Measurements/Enqueue"
CHECK, WATCH = "/grpc.health.v1.Health/Check", "/grpc.health.v1.Health/Watch"
ADDRESS_SPACE = 4 << 30
GROWTH_MB = 16  # caches of what was asked, and the allocator's rest
SETTLE_SECONDS = 6
FREED_MB = 64  # what the allocator keeps of what gRPC had for attackers
BEFORE_ANY_ROLE = ("compressed", "half-open calls", "half-open watch", "health watches", "unfinished")
HOSTILE_EACH = 15  # of so many hostile programs, one is sent


class Messages:
    """Bytes of hostile requests."""

    def __init__(self, target):
        self.pb, _ = programs.stubs()
        self.graph_pb = importlib.import_module("cobra.v1.graph_pb2")
        self.measurements_pb = importlib.import_module("cobra.v1.measurements_pb2")
        self.target_pb = importlib.import_module("cobra.v1.target_pb2")
        self.target = target

    def graph(self, calls, width=8, module=""):
        graph, kind = self.graph_pb.Graph(), self.graph_pb.ValueRef
        tensor = self.graph_pb.TensorType(shape=[1, 3, 8, width], dtype=self.graph_pb.DTYPE_FLOAT32)
        graph.inputs.add(name="x", type=tensor)
        for _ in range(calls):
            node = graph.nodes.add(op="relu")
            node.inputs.add(kind=kind.KIND_INPUT)
            node.origin.module_path = module
        graph.outputs.add(kind=kind.KIND_NODE, index=calls - 1)
        return graph

    def request(self, **fields):
        return self.pb.PredictRequest(targets=[self.target], keep_private=True, **fields)

    def source(self, text):
        request = self.request()
        request.source.files.add(path="net.py", text=text)
        request.source.file, request.source.entry = "net.py", "Net()"
        request.source.inputs.append("1x3x8x8")
        return request

    def programs(self):
        """Hostile programs and natives in loops, as tests/hostile has them."""
        texts = [data for name, _, _, data in hostile_test.cases() if name.endswith(".py")]
        texts += [text.encode() for _, _, text, arguments in battery.cases() if len(arguments) < 10]
        return [(PREDICT, [self.source(text).SerializeToString()]) for text in texts[::HOSTILE_EACH]]

    def malformed(self):
        garbage = b"".join(b"\x0a\x08" + os.urandom(8) for _ in range(10000))
        one = self.request(graph=self.graph(1)).SerializeToString()
        item = self.pb.PredictStreamRequest(request_id=7, request=self.request(graph=self.graph(1)))
        long_name = self.pb.PredictRequest(graph=self.graph(1), targets=["n" * 1000000])
        return [
            (PREDICT, [os.urandom(1000)]),
            (PREDICT, [one[:-3]]),
            (PREDICT, [b"\x12\x80\x84\xaf\x5f" + b"\x32\x00" * 100000]),
            (PREDICT, [long_name.SerializeToString()]),
            (BATCH, [b""]),
            (BATCH, [b"\x0a\x00" * 10000]),
            (BATCH, [b"\x0a\x00" * 1000000]),
            (BATCH, [garbage]),
            (BATCH, [b"\x0a\x7f" + one]),
            (STREAM, [os.urandom(50)] * 10),
            (STREAM, [b""] * 500),
            (STREAM, [b"\x10\x01" * 1000000]),
            (STREAM, [item.SerializeToString()] * 1000),
        ]

    def many_results(self, count):
        """A call with 100,000 results of 62 dimensions, in 200 bytes."""
        text = "import torch\nclass Net(torch.nn.Module):\n  def forward(self, x):\n    return x.reshape([1] * 62 + [%d]).unbind(-1)[0] + 1\n"
        source = self.source((text % count).encode()).source
        source.inputs[0] = f"1x{count}"
        return source

    def suggest(self):
        spec = self.target_pb.TargetSpec(
            device="Some Board",
            kind="cpu",
            runtime="torch-2.5.0",
            threads=4,
            memory_gb_per_s=12,
            clock_mhz=2000,
            vector_bits=128,
        )
        request = self.pb.SuggestSamplesRequest(spec=spec, count=1)
        for i in range(120):
            request.networks.add(source=self.many_results(100000), latency_ms=10 + i, row=f"r{i}")
        return [(SUGGEST, [request.SerializeToString()])]

    def unbind(self):
        return [(PREDICT, [self.request(source=self.many_results(30000 - i)).SerializeToString()]) for i in range(3000)]

    def tasks(self):
        """Tasks of long names, and as many calls as a task may have."""
        long_names = self.graph(1)
        for i in range(2000):
            kind = self.graph_pb.TensorType(shape=[1], dtype=self.graph_pb.DTYPE_FLOAT32)
            long_names.parameters.add(name=f"{i:07}" + "\x01" * 3500, type=kind)
        many_calls = self.graph(9000)
        sets = [[long_names], [many_calls] * 10, [many_calls] * 60]
        requests = []
        for graphs in sets:
            request = self.measurements_pb.EnqueueRequest()
            for i, graph in enumerate(graphs):
                request.tasks.add(target="board", graph=graph, repeat=i)
            requests.append((ENQUEUE, [request.SerializeToString()]))
        return requests

    def large(self):
        comment = self.source(b"#" * 30000000)
        rows = self.request(graph=self.graph(3900, module="m" * 4000), breakdown=True)
        return [
            (PREDICT, [comment.SerializeToString()]),
            (PREDICT, [self.request(graph=self.graph(60000), breakdown=True).SerializeToString()]),
            (PREDICT, [rows.SerializeToString()]),
            (BATCH, [self.pb.PredictBatchRequest(requests=[rows]).SerializeToString()]),
            (STREAM, [self.pb.PredictStreamRequest(request=comment).SerializeToString()] * 3),
        ]


def send_all(address, calls, until, credential=()):
    """In turn until the time is over; the statuses."""
    counts = {}
    with grpc.insecure_channel(address, [("grpc.max_send_message_length", -1), ("attack", len(calls))]) as channel:
        while time.monotonic() < until:
            for method, messages in calls:
                try:
                    for _ in channel.stream_stream(method)(iter(messages), timeout=10, metadata=credential):
                        pass
                    code = "OK"
                except grpc.RpcError as error:
                    code = error.code().name
                counts[code] = counts.get(code, 0) + 1
                if time.monotonic() >= until:
                    break
    return counts


def leave_unread(address, method, message, calls, until, credential=()):
    """Calls whose answers wait: nothing takes them from gRPC."""
    with grpc.insecure_channel(address, [("unread", method)]) as channel:
        kept = [channel.stream_stream(method)(iter([message] * 3), metadata=credential) for _ in range(calls)]
        time.sleep(max(0, until - time.monotonic()))
        for call in kept:
            call.cancel()
    return {"calls": calls}


def compressed(address, until):
    """Half a gigabyte of zeros in each message, from three callers."""
    bomb, counts = raw_http2.message(raw_http2.zeros(500), compressed=True), {}

    def send():
        while time.monotonic() < until:
            connection = raw_http2.Connection(address)
            stream = connection.open(CHECK, ("grpc-encoding", "gzip"))
            connection.data(stream, bomb, end=True)
            status = raw_http2.status_of(connection.await_end(stream))
            counts[status] = counts.get(status, 0) + 1
            connection.close()

    senders = [threading.Thread(target=send) for _ in range(3)]
    for each in senders:
        each.start()
    for each in senders:
        each.join()
    return counts


def half_open(address, until, begin):
    """Connections with a thousand calls each, which `begin` begins and nothing ends."""
    connections = []
    while time.monotonic() < until:
        if len(connections) < 2400:
            try:
                connections.append(raw_http2.Connection(address))
                connections[-1].pump(0.05)
                for _ in range(120):  # gRPC closes a connection with more than 128
                    begin(connections[-1])
                connections[-1].pump(0.01)
            except OSError:
                pass
        else:
            time.sleep(0.1)
    for connection in connections:
        connection.close()
    return {"connections": len(connections)}


def watch(connection):
    connection.data(connection.open(WATCH), raw_http2.message(b""), end=True)


def unfinished(address, until):
    """The beginnings of messages of 30 MB."""
    connections, sent, part = [], 0, raw_http2.message(bytes(3 << 20), length=30 << 20)
    while time.monotonic() < until:
        try:
            connections.append(raw_http2.Connection(address))
            connections[-1].pump(0.05)
            for _ in range(10):
                sent += connections[-1].data(connections[-1].open(CHECK), part, seconds=0.5)
        except OSError:
            pass
    for connection in connections:
        connection.close()
    return {"connections": len(connections), "MB": sent >> 20}


def attacks(messages, address, credential):
    """(name, what it does until a time). Those without the credential come first."""
    yield "compressed", lambda until: compressed(address, until)
    yield "half-open calls", lambda until: half_open(address, until, lambda connection: connection.open(CHECK))
    yield "half-open watch", lambda until: half_open(address, until, lambda connection: connection.open(WATCH))
    yield "health watches", lambda until: half_open(address, until, watch)
    yield "unfinished", lambda until: unfinished(address, until)
    sent = {
        "programs": messages.programs(),
        "malformed": messages.malformed(),
        "large": messages.large(),
        "suggest": messages.suggest(),
        "unbind": messages.unbind(),
        "tasks": messages.tasks(),
    }
    for name, calls in sent.items():
        yield name, lambda until, calls=calls: send_all(address, calls, until, credential)
    rows = messages.request(graph=messages.graph(3900, module="m" * 4000), breakdown=True)
    stream = messages.pb.PredictStreamRequest(request=rows).SerializeToString()
    yield "unread answers", lambda until: leave_unread(address, STREAM, stream, 20, until, credential)
    reflection = "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo"
    yield "open reflection", lambda until: leave_unread(address, reflection, b"", 1000, until, credential)
    yield "open streams", lambda until: leave_unread(address, STREAM, b"", 1000, until, credential)


def warm_main(address, target, rate, token):
    """A process of its own: asks at its times until its input ends, and prints (when, seconds) of
    each answer."""
    messages = Messages(target)
    request = messages.request(graph=messages.graph(20, width=77)).SerializeToString()
    credential = [("authorization", "Bearer " + token)]
    call = grpc.insecure_channel(address, [("warm", 1)]).unary_unary(PREDICT)
    for _ in range(50):
        call(request, timeout=60, metadata=credential)
    print("ready", flush=True)
    stop, lock, left = threading.Event(), threading.Condition(), [0]
    threading.Thread(target=lambda: (sys.stdin.read(), stop.set()), daemon=True).start()
    answers = []

    def done(future, due):
        with lock:
            answers.append((due, time.monotonic() - due, future.code().name))
            left[0] -= 1
            lock.notify()

    due = time.monotonic()
    while not stop.is_set():
        due += 1 / rate
        time.sleep(max(0, due - time.monotonic()))
        with lock:
            left[0] += 1
        call.future(request, timeout=10, metadata=credential).add_done_callback(
            lambda future, due=due: done(future, due)
        )
    with lock:
        lock.wait_for(lambda: left[0] == 0, 20)
    print(json.dumps(answers), flush=True)


def line(name, answers, begin, end):
    """Prints a period's latencies; how many failed."""
    times = sorted(seconds for due, seconds, code in answers if begin <= due < end and code == "OK")
    failed = [code for due, _, code in answers if begin <= due < end and code != "OK"]
    quantile = lambda q: times[int(q * (len(times) - 1))] * 1e3 if times else float("nan")  # noqa: E731
    print(
        f"{name:16} {len(times):6} answers, p50 {quantile(0.5):7.2f} ms, p99 {quantile(0.99):7.2f} ms, failed {len(failed)} {sorted(set(failed))}"
    )
    return len(failed)


def run(server, elsewhere, options, tokens):
    target = "cpu-epyc-genoa-1t"
    command = [
        sys.executable,
        os.path.abspath(__file__),
        "--warm",
        server.address,
        target,
        str(options.rate),
        tokens[0],
    ]
    warm = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert warm.stdout.readline() == "ready\n"
    begin = time.monotonic()
    time.sleep(options.seconds)
    periods, problems = [("no attack", begin, time.monotonic())], 0
    credential = [("authorization", "Bearer " + tokens[1])]
    messages = Messages(target)
    pairs = zip(attacks(messages, server.address, credential), attacks(messages, elsewhere.address, credential))
    for (name, attack), (_, attack_elsewhere) in pairs:
        if options.only not in name:
            continue
        begin = time.monotonic()
        attack_elsewhere(begin + options.seconds)
        periods.append(("  elsewhere", begin, time.monotonic()))
        time.sleep(SETTLE_SECONDS)
        before, begin = programs.resident_mb(server.process), time.monotonic()
        counts = attack(begin + options.seconds)
        periods.append((name, begin, time.monotonic()))
        if server.process.poll() is not None:
            print(f"{name}: the server ended with {server.process.returncode}\n{server.log()[-2000:]}")
            return 1
        time.sleep(SETTLE_SECONDS)
        after = programs.resident_mb(server.process)
        print(f"{name:16} resident memory {before:.1f} MB before, {after:.1f} MB after; {counts}", flush=True)
        problems += after > before + (FREED_MB if name in BEFORE_ANY_ROLE else GROWTH_MB)
    warm.stdin.close()
    answers = json.loads(warm.stdout.readline())
    return problems + sum(line(name, answers, begin, end) for name, begin, end in periods)


def main():
    if sys.argv[1:2] == ["--warm"]:
        return warm_main(sys.argv[2], sys.argv[3], float(sys.argv[4]), sys.argv[5])
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--rate", type=float, default=100)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        tokens = programs.add_token(folder, "warm"), programs.add_token(folder, "attacker")
        store, access = os.path.join(folder, "store.sqlite"), os.path.join(folder, "access")
        limit = ("prlimit", f"--as={ADDRESS_SPACE}")
        with contextlib.ExitStack() as stack:
            server, elsewhere = (
                stack.enter_context(programs.Server(each, "--access", access, wrapper=limit))
                for each in (store, os.path.join(folder, "elsewhere.sqlite"))
            )
            problems = run(server, elsewhere, options, tokens)
            problems += server.process.poll() is None and server.stop() != 0
    print("passed" if problems == 0 else f"FAILED: {problems} problems")
    return 0 if problems == 0 else 1


sys.exit(main())
