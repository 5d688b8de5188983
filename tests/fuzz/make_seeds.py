#!/usr/bin/env python3
"""Writes what the fuzzers `file` and `message` begin with, from the tree's own data.

    make_seeds.py FOLDER     FOLDER/file/ and FOLDER/message/ (tests/fuzz/corpus)
"""
import json
import os
import struct
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "data", "measurements"))
import record_files  # noqa: E402


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


def compact(value):
    return json.dumps(value, separators=(",", ":"))


def shortened(value):
    """Without most of what long lists and tables hold, for a fuzzer cuts what is longer than 4096
    bytes."""
    if isinstance(value, dict):
        return {key: shortened(value[key]) for key in list(value)[: 3 if len(value) > 30 else None]}
    if isinstance(value, list):
        return [shortened(item) for item in value[: 3 if len(value) > 30 else None]]
    return value


def records(count, most_bytes):
    """Short lines of kind "record"."""
    found = []
    for target in ("cpu-epyc-turin-1t", "cpu-epyc-genoa-1t"):
        for record in record_files.Reader().records(
            os.path.join(ROOT, "data/measurements", target, "networks.jsonl.xz")
        ):
            if len(compact(record)) <= most_bytes:
                found.append(compact(record))
            if len(found) % count == 0 and found:
                break
    return found


def tensor_file():
    header = compact({"a": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}})
    header += " " * (-len(header) % 8)
    return struct.pack("<Q", len(header)) + header.encode() + struct.pack("<6f", *range(6))


def files():
    for i, line in enumerate(records(4, 30000)):
        yield f"record-{i}", b"r" + line.encode()
        graph = json.loads(line).get("graph")
        yield f"subject-{i}", b"s" + compact({"graph": graph}).encode()
    probe = json.loads(read("data/measurements/cpu-epyc-turin-1t/probe.json"))
    probe["records"] = probe.get("records", [])[:2]
    yield "probe", b"p" + compact(probe).encode()
    manifest = shortened(json.loads(read("model/pretrained/manifest.json")))
    manifest["net"]["vocabulary_size"] = len(manifest["vocabulary"])
    yield "manifest", b"m" + compact(manifest).encode()
    yield "target", b"t" + read("data/measurements/cpu-epyc-turin-1t/target.json").encode()
    yield "devices", b"d" + read("data/devices/gpus.csv").encode()
    yield "weights", b"w" + tensor_file()
    calibration = {
        "machine": json.loads(read("data/measurements/cpu-epyc-turin-1t/target.json")),
        "base_target": "cpu-epyc-genoa-1t",
        "model_sha256": "00",
        "coefficients": [0.1, -0.2],
        "log_network_scale": 0.1,
        "interval_log": 0.1,
        "probe_layer_mape_before": 0.1,
        "probe_layer_mape_after": 0.1,
        "probe_network_mape_after": 0.1,
    }
    yield "calibration", b"c" + compact(calibration).encode()


def messages():
    with tempfile.TemporaryDirectory() as folder:
        protos = [f"cobra/v1/{name}.proto" for name in ("cobra", "error", "graph", "measurements", "target")]
        command = ["-m", "grpc_tools.protoc", "-I", os.path.join(ROOT, "proto"), "--python_out=" + folder, *protos]
        subprocess.run([sys.executable, *command], check=True)
        sys.path.insert(0, folder)
        from cobra.v1 import cobra_pb2, graph_pb2, measurements_pb2

        source = cobra_pb2.PredictRequest(targets=["cpu-epyc-genoa-1t"], breakdown=True)
        source.source.files.add(path="net.py", text=b"from torch import nn\nNet = nn.Identity\n")
        source.source.file, source.source.entry = "net.py", "Net()"
        source.source.inputs.append("1x3")
        source.source.arguments.add(name="flag", expression="1")
        yield "source", b"p" + source.SerializeToString()
        graph = cobra_pb2.PredictRequest(targets=["a", "b"])
        graph.graph.inputs.add(name="x").type.CopyFrom(graph_pb2.TensorType(shape=[1, 4], dtype=1))
        node = graph.graph.nodes.add(op="relu")
        node.inputs.add(kind=graph_pb2.ValueRef.KIND_INPUT)
        graph.graph.outputs.add(kind=graph_pb2.ValueRef.KIND_NODE)
        yield "graph", b"p" + graph.SerializeToString()
        batch = cobra_pb2.PredictBatchRequest(requests=[source, graph])
        yield "batch", b"b" + batch.SerializeToString()
        stream = cobra_pb2.PredictStreamRequest(request_id=300, request=graph)
        yield "stream", b"s" + stream.SerializeToString()
        yield "stream-parts", b"s" + stream.SerializeToString() + stream.SerializeToString()
        arch = cobra_pb2.PredictRequest(targets=["a"])
        arch.architecture.text = "nasbench201:x"
        yield "architecture", b"p" + arch.SerializeToString()
        onnx = cobra_pb2.PredictRequest(targets=["a"])
        onnx.onnx.SetInParent()
        yield "onnx", b"p" + onnx.SerializeToString()
        tflite = cobra_pb2.PredictRequest(targets=["a"])
        tflite.tflite.SetInParent()
        yield "tflite", b"p" + tflite.SerializeToString()
        ncnn = cobra_pb2.PredictRequest(targets=["a"])
        ncnn.ncnn.SetInParent()
        yield "ncnn", b"p" + ncnn.SerializeToString()
        ids = ["0123456789abcdef" * 2] * 3
        yield "calibrate", b"c" + cobra_pb2.CalibrateRequest(target="t", probe_json="{}").SerializeToString()
        enqueue = measurements_pb2.EnqueueRequest()
        enqueue.tasks.add(target="t").graph.CopyFrom(graph.graph)
        enqueue.tasks.add(target="t", repeat=2).sample.space = "real-layers"
        yield "enqueue", b"e" + enqueue.SerializeToString()
        yield "undo", b"u" + cobra_pb2.UndoCalibrationRequest(target="t", version=1).SerializeToString()
        yield "lease", b"l" + measurements_pb2.LeaseRequest(worker="w", target="t", max_tasks=3).SerializeToString()
        yield "renew", b"n" + measurements_pb2.RenewRequest(worker="w", task_ids=ids).SerializeToString()
        report = measurements_pb2.ReportRequest(worker="w")
        report.records.add(task_id=ids[0], record_json="{}", session_json="{}")
        yield "report", b"r" + report.SerializeToString()
        yield "cancel", b"x" + measurements_pb2.CancelRequest(task_ids=ids).SerializeToString()
        yield "watch", b"w" + measurements_pb2.WatchRequest(task_ids=ids).SerializeToString()


def main():
    for name, seeds in (("file", files), ("message", messages)):
        folder = os.path.join(sys.argv[1], name)
        os.makedirs(folder, exist_ok=True)
        for seed, data in seeds():
            with open(os.path.join(folder, seed), "wb") as file:
                file.write(data)


main()
