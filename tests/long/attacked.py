#!/usr/bin/env python3
"""What a caller notices of another one's attacks. One process asks the same warm question at a fixed rate; another one attacks meanwhile, one attack
after the other. Every warm request must be answered, the server must live, and its resident memory must return. Latencies are printed, not asserted.

    attacked.py [--seconds 10] [--rate 100] [--only TEXT]        COBRA_BIN: where the programs are
"""
import argparse
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

PREDICT, BATCH, STREAM = ("/cobra.v1.Cobra/" + name for name in ("Predict", "PredictBatch", "PredictStream"))
GROWTH_MB = 16  # caches of what was asked, and the allocator's rest
SETTLE_SECONDS = 6
HOSTILE_EACH = 15  # of so many hostile programs, one is sent


class Messages:
    """Bytes of hostile requests."""

    def __init__(self, target):
        self.pb, _ = programs.stubs()
        self.graph_pb = importlib.import_module("cobra.v1.graph_pb2")
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


def send_all(address, calls, until):
    """In turn until the time is over; the statuses."""
    counts = {}
    with grpc.insecure_channel(address, [("grpc.max_send_message_length", -1), ("attack", len(calls))]) as channel:
        while time.monotonic() < until:
            for method, messages in calls:
                try:
                    for _ in channel.stream_stream(method)(iter(messages), timeout=10):
                        pass
                    code = "OK"
                except grpc.RpcError as error:
                    code = error.code().name
                counts[code] = counts.get(code, 0) + 1
                if time.monotonic() >= until:
                    break
    return counts


def leave_unread(address, method, message, calls, until):
    """Calls whose answers wait: nothing takes them from gRPC."""
    with grpc.insecure_channel(address, [("unread", method)]) as channel:
        kept = [channel.stream_stream(method)(iter([message] * 3)) for _ in range(calls)]
        time.sleep(max(0, until - time.monotonic()))
        for call in kept:
            call.cancel()
    return {"calls": calls}


def attacks(messages, address):
    """(name, what it does until a time)"""
    sent = {"programs": messages.programs(), "malformed": messages.malformed(), "large": messages.large()}
    for name, calls in sent.items():
        yield name, lambda until, calls=calls: send_all(address, calls, until)
    rows = messages.request(graph=messages.graph(3900, module="m" * 4000), breakdown=True)
    stream = messages.pb.PredictStreamRequest(request=rows).SerializeToString()
    yield "unread answers", lambda until: leave_unread(address, STREAM, stream, 20, until)
    reflection = "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo"
    yield "open reflection", lambda until: leave_unread(address, reflection, b"", 1000, until)
    yield "open streams", lambda until: leave_unread(address, STREAM, b"", 1000, until)


def warm_main(address, target, rate):
    """A process of its own: asks at its times until its input ends, and prints (when, seconds) of each answer."""
    messages = Messages(target)
    request = messages.request(graph=messages.graph(20, width=77)).SerializeToString()
    call = grpc.insecure_channel(address, [("warm", 1)]).unary_unary(PREDICT)
    for _ in range(50):
        call(request, timeout=60)
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
        call.future(request, timeout=10).add_done_callback(lambda future, due=due: done(future, due))
    with lock:
        lock.wait_for(lambda: left[0] == 0, 20)
    print(json.dumps(answers), flush=True)


def resident_mb(process):
    with open(f"/proc/{process}/status", encoding="ascii") as file:
        return int(next(line for line in file if line.startswith("VmRSS")).split()[1]) / 1024


def line(name, answers, begin, end):
    """Prints a period's latencies; how many failed."""
    times = sorted(seconds for due, seconds, code in answers if begin <= due < end and code == "OK")
    failed = [code for due, _, code in answers if begin <= due < end and code != "OK"]
    quantile = lambda q: times[int(q * (len(times) - 1))] * 1e3 if times else float("nan")  # noqa: E731
    print(
        f"{name:16} {len(times):6} answers, p50 {quantile(0.5):7.2f} ms, p99 {quantile(0.99):7.2f} ms, failed {len(failed)} {sorted(set(failed))}"
    )
    return len(failed)


def run(server, options):
    target = programs.first_target(server)
    command = [sys.executable, os.path.abspath(__file__), "--warm", server.address, target, str(options.rate)]
    warm = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert warm.stdout.readline() == "ready\n"
    begin = time.monotonic()
    time.sleep(options.seconds)
    periods, problems = [("no attack", begin, time.monotonic())], 0
    for name, attack in attacks(Messages(target), server.address):
        if options.only not in name:
            continue
        before, begin = resident_mb(server.process.pid), time.monotonic()
        counts = attack(begin + options.seconds)
        periods.append((name, begin, time.monotonic()))
        if server.process.poll() is not None:
            print(f"{name}: the server ended with {server.process.returncode}\n{server.log()[-2000:]}")
            return 1
        time.sleep(SETTLE_SECONDS)
        after = resident_mb(server.process.pid)
        print(f"{name:16} resident memory {before:.1f} MB before, {after:.1f} MB after; {counts}", flush=True)
        problems += after > before + GROWTH_MB
    warm.stdin.close()
    answers = json.loads(warm.stdout.readline())
    return problems + sum(line(name, answers, begin, end) for name, begin, end in periods)


def main():
    if sys.argv[1:2] == ["--warm"]:
        return warm_main(sys.argv[2], sys.argv[3], float(sys.argv[4]))
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--rate", type=float, default=100)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        with programs.Server(os.path.join(folder, "store.sqlite")) as server:
            problems = run(server, options)
            problems += server.process.poll() is None and server.stop() != 0
    print("passed" if problems == 0 else f"FAILED: {problems} problems")
    return 0 if problems == 0 else 1


sys.exit(main())
