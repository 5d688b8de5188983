#!/usr/bin/env python3
"""ncnn_runner.py: ncnn on the CPU in float32: its options for 16-bit numbers are off, which would
compute in another precision; all others (packed layouts, Winograd, sgemm) are as ncnn has them by
itself."""

import os
import re
import statistics
import time

import ncnn
import numpy

import runner_loop


def blobs_of(path):
    """{name: sizes} of the inputs, the outermost first, the names of the outputs, and (type, name,
    first output) of each layer, all in their order."""
    inputs, outputs, layers = {}, set(), []
    with open(path, encoding="utf-8") as file:
        for line in file.read().splitlines()[2:]:
            words = line.split()
            first = 4 + int(words[2])
            names = words[first : first + int(words[3])]
            outputs.update(name for name in names if name.startswith("out") and name[3:].isdigit())
            layers.append((words[0], words[1], names[0]))
            if words[0] == "Input":
                keys = dict(word.split("=") for word in words[first + len(names) :])
                inputs[names[0]] = [int(keys[key]) for key in ("2", "11", "1", "0") if key in keys]
    return inputs, ["out%d" % number for number in range(len(outputs))], layers


class Ncnn:
    def __init__(self):
        self.net = self.mats = None

    def describe(self):
        return {
            "runtime": "ncnn",
            "version": ncnn.__version__,
            "format": "ncnn",
            "allocator": "ncnn's of each extractor: malloc",
            "precisions": ["float32"],
            "profile": True,
        }

    def load(self, request):
        self.inputs, self.outputs, self.layers = blobs_of(request["model"])
        self.net = ncnn.Net()
        options = self.net.opt
        options.num_threads = request["threads"]
        options.use_fp16_packed = options.use_fp16_storage = options.use_fp16_arithmetic = False
        options.use_bf16_storage = False
        weights = os.path.splitext(request["model"])[0] + ".bin"
        if self.net.load_param(request["model"]) != 0:
            raise runner_loop.Unsupported("a layer of this network is not in ncnn %s" % ncnn.__version__)
        if self.net.load_model(weights) != 0:
            raise RuntimeError("%s: ncnn cannot load it" % weights)
        random = numpy.random.default_rng(request["seed"])
        self.take([random.standard_normal(sizes).astype(numpy.float32) for sizes in self.inputs.values()])
        self.call()

    def take(self, arrays):
        self.mats = []
        for (name, sizes), array in zip(self.inputs.items(), arrays):
            # Integers are indices, which ncnn reads from 32 bits.
            type_ = numpy.float32 if numpy.issubdtype(array.dtype, numpy.floating) else numpy.int32
            # ncnn's Mat is a view, which does not keep the array.
            converted = numpy.ascontiguousarray(array.reshape(sizes), type_)
            self.mats.append((name, ncnn.Mat(converted).clone()))

    def call(self):
        extractor = self.net.create_extractor()
        for name, mat in self.mats:
            extractor.input(name, mat)
        results = []
        for name in self.outputs:
            status, mat = extractor.extract(name)
            if status != 0:
                raise RuntimeError("%s: ncnn answers %d" % (name, status))
            results.append(mat)
        return results

    def profile(self, calls):
        """An extractor runs the layers that a blob still needs: asked for one after the other, one
        layer each. What an input or a Split takes, which do nothing, is the price of asking."""
        as_it_is = 1  # without the copy into plain order and float32
        times = [[] for _ in self.layers]
        for _ in range(calls):
            extractor = self.net.create_extractor()
            for name, mat in self.mats:
                extractor.input(name, mat)
            for (kind, _, blob), of in zip(self.layers, times):
                for _ in range(9 if kind == "Input" else 1):
                    start = time.perf_counter_ns()
                    extractor.extract(blob, ncnn.Mat(), as_it_is)
                    of.append((time.perf_counter_ns() - start) / 1e3)
        nothing = [min(of) for (kind, _, _), of in zip(self.layers, times) if kind in ("Input", "Split")]
        asking = statistics.median(nothing) if nothing else 0
        return [
            {
                "name": kind,
                "us": max(statistics.median(of) - asking, 0.1),
                "calls": [int(n) for n in re.findall(r"^call(\d+)/", name)],
            }
            for (kind, name, _), of in zip(self.layers, times)
            if kind != "Input"
        ]

    def verify(self, tensors):
        self.take([tensors[str(i)] for i in range(len(self.inputs))])
        return {str(i): numpy.array(mat) for i, mat in enumerate(self.call())}

    def unload(self):
        self.net = self.mats = None


if __name__ == "__main__":
    runner_loop.serve(Ncnn())
