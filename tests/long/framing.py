#!/usr/bin/env python3
"""Random framing, by hand, against a real server: what arrives before anybody is asked who they
are. The server must live within 3 GB of address space and below its limits of memory, and another
caller's calls must all be answered meanwhile.

    framing.py compressed|half-open [--seconds 60] [--seed N]      COBRA_BIN: where the programs are

`compressed`: messages with every coding, true or pretended, whole, cut or damaged, in one frame or
many. `half-open`: calls that begin and do not go on: headers in parts, prefixes and messages
without an end, resets, junk after a message, on many connections.
"""
import argparse
import os
import random
import struct
import sys
import tempfile
import threading
import time
import zlib

import grpc

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "e2e"))
import programs  # noqa: E402
import raw_http2  # noqa: E402

PATHS = [
    "/grpc.health.v1.Health/Check",
    "/grpc.health.v1.Health/Watch",
    "/cobra.v1.Cobra/Predict",
    "/cobra.v1.Cobra/PredictStream",
    "/cobra.v1.Measurements/Watch",
    "/cobra.v1.Admin/Drain",
    "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
    "/none/None",
    "/",
]
CODINGS = ["gzip", "deflate", "identity", "snappy", "zstd", "br", "", "gzip,gzip", "GZIP", "stream"]
ADDRESS_SPACE = 3 << 30
LIMIT_MB = 900  # 256 MiB of messages without an end, what comes between two looks, 8,192 calls, and the server itself
CONNECTIONS = 60


def body(random_):
    """A message of any kind, compressed or not, and whether it says so."""
    kind = random_.randrange(6)
    if kind == 0:
        plain = bytes(random_.randrange(1 << 20))
    elif kind == 1:
        plain = random_.randbytes(random_.randrange(2000))
    elif kind == 2:
        plain = b"\x0a" + bytes([random_.randrange(256)]) * random_.randrange(300)
    else:
        return random_.choice(BOMBS)
    return zlib.compress(plain) if random_.random() < 0.5 else plain


def compressed_call(connection, random_):
    headers = [("grpc-encoding", random_.choice(CODINGS))] if random_.random() < 0.9 else []
    if random_.random() < 0.3:
        headers.append(("grpc-accept-encoding", random_.choice(CODINGS)))
    stream = connection.open(random_.choice(PATHS), *headers)
    payload = body(random_)
    if random_.random() < 0.2:
        payload = payload[: random_.randrange(len(payload) + 1)]
    if random_.random() < 0.2 and payload:
        at = random_.randrange(len(payload))
        payload = payload[:at] + bytes([random_.randrange(256)]) + payload[at + 1 :]
    length = None if random_.random() < 0.8 else random_.randrange(1 << 32)
    flag = random_.choice([0, 1, 1, 1, 2, 255])
    whole = struct.pack(">BI", flag, len(payload) if length is None else length) + payload
    connection.data(stream, whole, end=random_.random() < 0.7, seconds=0.3)
    if random_.random() < 0.3:
        connection.data(stream, whole[:1000], end=True, seconds=0.1)  # junk after the end, too
    return stream


def half_open_call(connection, random_):
    kind = random_.randrange(8)
    path = random_.choice(PATHS)
    if kind == 0:  # headers in parts, of which the last may be missing
        connection.stream += 2
        stream = connection.stream
        block = raw_http2.call_headers(path)
        at = random_.randrange(len(block))
        connection.socket.sendall(raw_http2.frame(raw_http2.HEADERS, 0, stream, block[:at]))
        if random_.random() < 0.8:
            rest = raw_http2.frame(raw_http2.CONTINUATION, raw_http2.END_HEADERS, stream, block[at:])
            connection.socket.sendall(rest)
        connection.windows[stream] = connection.initial
        return stream
    stream = connection.open(path, end=kind == 1)
    if kind == 2:
        connection.data(
            stream, raw_http2.message(b"", length=random_.randrange(1 << 32))[: random_.randrange(6)], seconds=0.1
        )
    elif kind == 3:
        part = bytes(random_.randrange(4 << 20))
        connection.data(stream, raw_http2.message(part, length=random_.randrange(1 << 32)), seconds=0.3)
    elif kind == 4:
        connection.socket.sendall(
            raw_http2.frame(raw_http2.RST_STREAM, 0, stream, struct.pack(">I", random_.randrange(14)))
        )
    elif kind == 5:
        connection.data(stream, raw_http2.message(b"") + bytes(random_.randrange(60000)), seconds=0.2)
    elif kind == 6:
        for _ in range(random_.randrange(300)):
            connection.open(path)
    return stream


def attack(address, call, seed, until, counts):
    random_, connections = random.Random(seed), []
    while time.monotonic() < until:
        try:
            if len(connections) < CONNECTIONS and random_.random() < 0.2:
                connections.append(raw_http2.Connection(address))
                connections[-1].pump(0.02)
            if not connections:
                continue
            connection = random_.choice(connections)
            counts["calls"] += 1
            call(connection, random_)
            if not connection.pump(0.001) or random_.random() < 0.01:
                connection.close()
                connections.remove(connection)
                counts["connections"] += 1
        except OSError:
            connection.close()
            connections.remove(connection)
            counts["connections"] += 1


def honest(address, stop, answers):
    channel = grpc.insecure_channel(address, [("honest", 1)])
    check = channel.unary_unary("/grpc.health.v1.Health/Check")
    while not stop.is_set():
        begin = time.monotonic()
        try:
            answers.append((check(b"", timeout=10) == b"\x08\x01" and "OK" or "wrong", time.monotonic() - begin))
        except grpc.RpcError as error:
            answers.append((error.code().name, time.monotonic() - begin))
        time.sleep(0.02)


def peak_mb(process, stop, peak):
    while not stop.is_set() and process.poll() is None:
        peak[0] = max(peak[0], programs.resident_mb(process))
        time.sleep(0.01)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("kind", choices=("compressed", "half-open"))
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 30))
    options = parser.parse_args()
    call = compressed_call if options.kind == "compressed" else half_open_call
    print(f"seed {options.seed}")
    stop, answers, peak, counts = threading.Event(), [], [0.0], {"calls": 0, "connections": 0}
    with tempfile.TemporaryDirectory() as folder:
        limit = ("prlimit", f"--as={ADDRESS_SPACE}") if os.environ.get("COBRA_ADDRESS_SPACE", "1") == "1" else ()
        programs.add_token(folder, "ci")
        access = os.path.join(folder, "access")
        with programs.Server(os.path.join(folder, "store.sqlite"), "--access", access, wrapper=limit) as server:
            helpers = [
                threading.Thread(target=honest, args=(server.address, stop, answers)),
                threading.Thread(target=peak_mb, args=(server.process, stop, peak)),
            ]
            for each in helpers:
                each.start()
            attack(server.address, call, options.seed, time.monotonic() + options.seconds, counts)
            stop.set()
            for each in helpers:
                each.join()
            lives = server.process.poll() is None
            ended = server.stop() if lives else server.process.returncode
            log = server.log()
    failed = sorted({code for code, _ in answers if code != "OK"})
    slowest = max((seconds for _, seconds in answers), default=0)
    print(f"{counts['calls']} calls on {counts['connections']} connections; resident memory at most {peak[0]:.0f} MB")
    print(f"another caller: {len(answers)} answers, the slowest after {slowest * 1e3:.0f} ms, failed {failed}")
    problems = []
    if not lives or ended != 0:
        problems.append(f"the server ended with {ended}:\n{log[-2000:]}")
    if failed or not answers:
        problems.append(f"another caller failed: {failed}")
    if peak[0] > LIMIT_MB and limit:
        problems.append(f"{peak[0]:.0f} MB, more than {LIMIT_MB}")
    print("passed" if not problems else "FAILED: " + "; ".join(problems))
    return 0 if not problems else 1


BOMBS = [raw_http2.zeros(megabytes, wbits) for megabytes in (1, 100, 700) for wbits in (31, 15)]
sys.exit(main())
