#!/usr/bin/env python3
"""onnx_runtime.py: ONNX Runtime on the CPU, with the options that InferenceSession has by itself
beside the threads."""

import json
import os
import re

import numpy
import onnxruntime

import runner_loop

TYPES = {
    "tensor(float)": numpy.float32,
    "tensor(float16)": numpy.float16,
    "tensor(double)": numpy.float64,
    "tensor(int64)": numpy.int64,
    "tensor(int32)": numpy.int32,
    "tensor(int16)": numpy.int16,
    "tensor(int8)": numpy.int8,
    "tensor(uint8)": numpy.uint8,
    "tensor(bool)": numpy.bool_,
}


class OnnxRuntime:
    def __init__(self):
        self.session = self.inputs = None

    def describe(self):
        return {
            "runtime": "onnxruntime",
            "version": onnxruntime.__version__,
            "format": "onnx",
            "allocator": "onnxruntime's arena",
            "precisions": ["float32"],
            "profile": True,
        }

    def options(self, request):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = request["threads"]
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        return options

    def load(self, request):
        self.request = request
        try:
            self.session = onnxruntime.InferenceSession(
                request["model"], self.options(request), providers=["CPUExecutionProvider"]
            )
        except Exception as error:
            if "NOT_IMPLEMENTED" in str(error) or "Could not find an implementation" in str(error):
                raise runner_loop.Unsupported(str(error))
            raise
        random = numpy.random.default_rng(request["seed"])
        self.inputs = {}
        for entry in self.session.get_inputs() + self.session.get_outputs():
            if entry.type not in TYPES:
                raise runner_loop.Unsupported("numpy, through which tensors come and go, has no %s" % entry.type)
        for entry in self.session.get_inputs():
            type_ = TYPES[entry.type]
            floats = numpy.issubdtype(type_, numpy.floating)
            self.inputs[entry.name] = (
                random.standard_normal(entry.shape).astype(type_) if floats else numpy.zeros(entry.shape, type_)
            )
        self.call()

    def call(self):
        return self.session.run(None, self.inputs)

    def verify(self, tensors):
        names = [entry.name for entry in self.session.get_inputs()]
        self.inputs = {name: tensors[str(i)] for i, name in enumerate(names)}
        return {str(i): numpy.asarray(output) for i, output in enumerate(self.call())}

    def profile(self, calls):
        options = self.options(self.request)
        options.enable_profiling = True
        options.profile_file_prefix = os.path.join(os.path.dirname(self.request["model"]), "profile")
        session = onnxruntime.InferenceSession(self.request["model"], options, providers=["CPUExecutionProvider"])
        for _ in range(calls + 1):
            session.run(None, self.inputs)
        path = session.end_profiling()
        with open(path) as file:
            events = [e for e in json.load(file) if e.get("cat") == "Node" and e["name"].endswith("_kernel_time")]
        os.remove(path)
        # The first call prepares memory.
        count = len(events) // (calls + 1)
        times = {}
        for event in events[count:]:
            name = event["name"][: -len("_kernel_time")]
            times.setdefault(name, [event["args"].get("op_name", ""), 0.0])[1] += event["dur"] / calls
        # A kernel that stands for several calls has the name of the last one: "call2/Relu:0_nchwc".
        return [
            {"name": "%s %s" % (kind, name), "us": us, "calls": [int(call) for call in re.findall(r"call(\d+)/", name)]}
            for name, (kind, us) in times.items()
        ]

    def unload(self):
        self.session = self.inputs = None


if __name__ == "__main__":
    runner_loop.serve(OnnxRuntime())
