#!/usr/bin/env python3
"""Lookups of one to 2,048 rows in tables of a thousand to ten million rows: their graphs, for
`cobra-worker measure --graphs`, or with --runtime their times in that runtime, without a copy of
the tables on disk (they have up to 4 GB).

data/measurements/lookups.py > lookups.jsonl
cobra-worker measure --graphs lookups.jsonl --core 0 --out OUT.jsonl
taskset -c 0 build/runtimes/bin/python data/measurements/lookups.py --runtime torch        # or
                                                                                           onnxruntime,
                                                                                           openvino

A time is the fastest of many short repeats, in microseconds: what the machine's neighbours do to
the others is not asked.
"""
import argparse
import json
import sys
import time

TABLES = (
    [(1_000, width) for width in (64, 256, 1024, 4096)]
    + [(32_000, width) for width in (64, 256, 1024, 4096)]
    + [(128_256, width) for width in (64, 1024, 4096)]
    + [(1_000_000, width) for width in (64, 256, 1024)]
    + [(10_000_000, 64)]
)
COUNTS = (1, 16, 2048)


def print_graphs():
    for rows, width in TABLES:
        for count in COUNTS:
            graph = {
                "inputs": [{"dtype": "int64", "name": "x0", "shape": [1, count]}],
                "ops": [{"attrs": {}, "inputs": ["in:0", "p:p0"], "op": "embedding", "out": [[1, count, width]]}],
                "output": [0],
                "param_shapes": {"p0": [rows, width]},
            }
            json.dump({"label": "embedding", "graph": graph}, sys.stdout)
            print()


def table_of(rows, width):
    """Written throughout: of memory that nobody wrote to, all pages are one page of zeros."""
    import numpy

    block = numpy.random.default_rng(1).standard_normal((1024, width), dtype=numpy.float32)
    table = numpy.empty((rows, width), numpy.float32)
    for at in range(0, rows, 1024):
        table[at : at + 1024] = block[: min(1024, rows - at)]
    return table


def indices_of(rows, count):
    import numpy

    return numpy.random.default_rng(2).integers(0, rows, (1, count))


def torch_lookups(table):
    import torch

    torch.set_num_threads(1)
    weight = torch.from_numpy(table)

    def prepare(indices):
        places = torch.from_numpy(indices)
        return lambda: torch.nn.functional.embedding(places, weight)

    return prepare, torch.inference_mode()


def varint(number):
    bytes_ = bytearray()
    while number > 127:
        bytes_.append(number & 127 | 128)
        number >>= 7
    return bytes(bytes_ + bytes([number]))


def field(number, value):
    """One of a protobuf message: an integer, or the bytes of a text or a message."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def gather_model(rows, width):
    """An ONNX model (onnx.proto) that looks rows up in a table that is not in the file."""

    def tensor(name, type_, *dims):
        shape = b"".join(field(1, field(1, dim) if isinstance(dim, int) else field(2, dim)) for dim in dims)
        return field(1, name) + field(2, field(1, field(1, type_) + field(2, shape)))

    elsewhere = field(13, field(1, "location") + field(2, "table")) + field(14, 1)
    table = field(1, rows) + field(1, width) + field(2, 1) + field(8, "table") + elsewhere
    node = field(1, "table") + field(1, "indices") + field(2, "found") + field(4, "Gather")
    graph = field(1, node) + field(2, "lookup") + field(5, table)
    graph += field(11, tensor("indices", 7, 1, "count")) + field(12, tensor("found", 1, 1, "count", width))
    return field(1, 8) + field(8, field(2, 17)) + field(7, graph)


def onnxruntime_lookups(table):
    import contextlib

    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    value = onnxruntime.OrtValue.ortvalue_from_numpy(table)
    options.add_external_initializers(["table"], [value])
    session = onnxruntime.InferenceSession(gather_model(*table.shape), options, providers=["CPUExecutionProvider"])

    def prepare(indices):
        return lambda: session.run(None, {"indices": indices})

    return prepare, contextlib.nullcontext(value)


def openvino_lookups(table):
    import contextlib

    import openvino
    from openvino import opset13

    indices = opset13.parameter([1, -1], openvino.Type.i64)
    constant = opset13.constant(table, shared_memory=True)
    model = openvino.Model([opset13.gather(constant, indices, opset13.constant(0))], [indices])
    settings = {"INFERENCE_NUM_THREADS": 1, "NUM_STREAMS": 1, "INFERENCE_PRECISION_HINT": "f32"}
    compiled = openvino.compile_model(model, "CPU", settings)

    def prepare(places):
        request = compiled.create_infer_request()
        request.set_input_tensor(openvino.Tensor(places, shared_memory=True))
        return request.infer

    return prepare, contextlib.nullcontext(table)


LOOKUPS = {"torch": torch_lookups, "onnxruntime": onnxruntime_lookups, "openvino": openvino_lookups}


def fastest_us(call, seconds):
    """Of batches of at least 20 us each."""
    clock = time.perf_counter_ns
    call()
    batch = 1
    while True:
        begin = clock()
        for _ in range(batch):
            call()
        if clock() - begin >= 20_000:
            break
        batch *= 2
    fastest, end = float("inf"), clock() + int(seconds * 1e9)
    while clock() < end:
        begin = clock()
        for _ in range(batch):
            call()
        fastest = min(fastest, (clock() - begin) / batch)
    return fastest / 1e3


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runtime", choices=sorted(LOOKUPS))
    parser.add_argument("--seconds", type=float, default=0.5, help="that each lookup is repeated")
    parser.add_argument("--largest-gb", type=float, default=5, help="leaves larger tables out")
    arguments = parser.parse_args()
    if arguments.runtime is None:
        return print_graphs()
    for rows, width in TABLES:
        if rows * width * 4 > arguments.largest_gb * 1e9:
            continue
        prepare, context = LOOKUPS[arguments.runtime](table_of(rows, width))
        with context:
            for count in COUNTS:
                us = fastest_us(prepare(indices_of(rows, count)), arguments.seconds)
                print(json.dumps({"rows": rows, "width": width, "count": count, "us": round(us, 3)}), flush=True)


if __name__ == "__main__":
    main()
