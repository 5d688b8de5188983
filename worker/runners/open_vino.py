#!/usr/bin/env python3
"""open_vino.py: OpenVINO on the CPU for latency: one stream, float32 unless another precision is
asked for (by itself it computes in bfloat16 where the processor can)."""

import re

import numpy
import openvino

import runner_loop


class OpenVino:
    def __init__(self):
        self.core = openvino.Core()
        self.compiled = self.request = self.inputs = None

    def describe(self):
        return {
            "runtime": "openvino",
            "version": openvino.__version__.split("-")[0],
            "format": "onnx",
            "allocator": "glibc malloc",
            "precisions": ["float32"] + (["bfloat16"] if self.has_bfloat16() else []),
            "profile": True,
        }

    def has_bfloat16(self):
        return "BF16" in self.core.get_property("CPU", "OPTIMIZATION_CAPABILITIES")

    def load(self, request):
        try:
            model = self.core.read_model(request["model"])
        except Exception as error:
            raise runner_loop.Unsupported(str(error))
        precision = {"float32": "f32", "bfloat16": "bf16"}[request["precision"]]
        self.compiled = self.core.compile_model(
            model,
            "CPU",
            {
                "PERFORMANCE_HINT": "LATENCY",
                "NUM_STREAMS": "1",
                "INFERENCE_NUM_THREADS": str(request["threads"]),
                "INFERENCE_PRECISION_HINT": precision,
                "ENABLE_CPU_PINNING": False,
                "PERF_COUNT": True if request.get("profile") else False,
            },
        )
        self.loaded = request
        self.request = self.compiled.create_infer_request()
        random = numpy.random.default_rng(request["seed"])
        self.inputs = []
        for port in self.compiled.inputs:
            type_ = port.element_type.to_dtype()
            shape = tuple(port.shape)
            floats = numpy.issubdtype(type_, numpy.floating)
            self.inputs.append(random.standard_normal(shape).astype(type_) if floats else numpy.zeros(shape, type_))
        self.bind()
        self.call()

    def bind(self):
        for i, array in enumerate(self.inputs):
            self.request.set_input_tensor(i, openvino.Tensor(numpy.ascontiguousarray(array)))

    def call(self):
        self.request.infer()

    def verify(self, tensors):
        self.inputs = [tensors[str(i)].copy() for i in range(len(tensors))]
        self.bind()
        self.call()
        return {str(i): self.request.get_output_tensor(i).data.copy() for i in range(len(self.compiled.outputs))}

    def profile(self, calls):
        inputs, loaded = self.inputs, self.loaded
        self.load(dict(loaded, profile=True))
        self.inputs = inputs
        self.bind()
        stands_for = self.calls_by_node()
        times = {}
        for _ in range(calls):
            self.call()
            for entry in self.request.profiling_info:
                if entry.real_time.total_seconds() > 0:
                    name = "%s %s" % (entry.exec_type, entry.node_name)
                    times.setdefault(name, [stands_for.get(entry.node_name, []), 0.0])
                    times[name][1] += entry.real_time.total_seconds() * 1e6 / calls
        self.load(loaded)
        return [{"name": name, "us": us, "calls": of} for name, (of, us) in times.items()]

    def calls_by_node(self):
        """Of each node that OpenVINO runs, the calls that it stands for:
        "call0/Conv,call1/Relu"."""
        found = {}
        for node in self.compiled.get_runtime_model().get_ordered_ops():
            info = node.get_rt_info()
            if "originalLayersNames" in info:
                names = str(info["originalLayersNames"].astype(str))
                found[node.get_friendly_name()] = sorted({int(number) for number in re.findall(r"call(\d+)/", names)})
        return found

    def unload(self):
        self.compiled = self.request = self.inputs = None


if __name__ == "__main__":
    runner_loop.serve(OpenVino())
