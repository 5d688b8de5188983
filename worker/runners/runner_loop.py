"""What runners have in common (docs/runners.md): lines of JSON on standard input and output, files
of safetensors, the clock. A runner is a class with the methods that serve() calls."""

import json
import os
import struct
import sys
import time

import numpy

DTYPES = {
    "F32": numpy.float32,
    "F16": numpy.float16,
    "BF16": numpy.uint16,  # read_tensors makes float32 of it
    "F64": numpy.float64,
    "I64": numpy.int64,
    "I32": numpy.int32,
    "I16": numpy.int16,
    "I8": numpy.int8,
    "U8": numpy.uint8,
    "BOOL": numpy.bool_,
}
NAMES = {numpy.dtype(value): name for name, value in DTYPES.items() if name != "BF16"}


class Unsupported(Exception):
    """The runtime cannot run this network. The message begins with the operator, if the runtime
    names it."""


def read_tensors(path):
    """{name: array} of a safetensors file, mapped and not copied, but for bfloat16, which numpy
    does not have."""
    with open(path, "rb") as file:
        (size,) = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(size))
    header.pop("__metadata__", None)
    data = numpy.memmap(path, dtype=numpy.uint8, mode="c", offset=8 + size) if header else b""
    tensors = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        array = numpy.frombuffer(data[begin:end], DTYPES[entry["dtype"]])
        if entry["dtype"] == "BF16":
            array = (array.astype(numpy.uint32) << 16).view(numpy.float32)
        tensors[name] = array.reshape(entry["shape"])
    return tensors


def write_tensors(path, tensors):
    header, offset = {}, 0
    arrays = {name: numpy.ascontiguousarray(array) for name, array in tensors.items()}
    for name, array in arrays.items():
        header[name] = {
            "dtype": NAMES[array.dtype],
            "shape": list(array.shape),
            "data_offsets": [offset, offset + array.nbytes],
        }
        offset += array.nbytes
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for array in arrays.values():
            file.write(array.tobytes())


def memory_bytes(what):
    """VmRSS: what this process has in memory now; VmHWM: the most since reset_peak_memory()."""
    with open("/proc/self/status") as file:
        for line in file:
            if line.startswith(what + ":"):
                return int(line.split()[1]) * 1024
    return 0


def reset_peak_memory():
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")


def time_calls(call, calls, batch):
    """Nanoseconds of each of `calls` regions of `batch` calls."""
    clock, times = time.perf_counter_ns, []
    if batch == 1:
        for _ in range(calls):
            start = clock()
            call()
            times.append(clock() - start)
        return times
    steps = range(batch)
    for _ in range(calls):
        start = clock()
        for _ in steps:
            call()
        times.append(clock() - start)
    return times


def answer(runner, request):
    what = request["do"]
    if what == "describe":
        return runner.describe()
    if what == "load":
        runner.bytes_before = memory_bytes("VmRSS")
        reset_peak_memory()
        runner.load(request)
        return {}
    if what == "verify":
        write_tensors(request["outputs"], runner.verify(read_tensors(request["inputs"])))
        return {}
    if what == "run":
        return {"ns": time_calls(runner.call, request["calls"], request.get("batch", 1))}
    if what == "profile":
        return {"entries": runner.profile(request["calls"])}
    if what == "memory":
        return {"peak_bytes": max(0, memory_bytes("VmHWM") - runner.bytes_before)}
    if what == "unload":
        runner.unload()
        return {}
    raise ValueError("unknown request: %s" % what)


def serve(runner):
    # Whatever a library prints goes to standard error; the answers have standard output to
    # themselves.
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    for line in sys.stdin:
        request = json.loads(line)
        try:
            reply = answer(runner, request)
        except Unsupported as error:
            reply = {"unsupported": str(error)}
        except MemoryError as error:
            reply = {"out_of_memory": str(error) or "no memory"}
        except Exception as error:
            reply = {"error": "%s: %s" % (type(error).__name__, error)}
        out.write(json.dumps(dict(reply, id=request.get("id"))) + "\n")
        out.flush()
