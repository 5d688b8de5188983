#!/usr/bin/env python3
"""eager_torch.py [--compile]: PyTorch as its users call it: eager, or torch.compile in its default
mode."""

import argparse
import ast
import importlib.util
import os
import statistics
import time

import torch

import runner_loop


def obeys():
    """Whether all its libraries can be limited to fewer instructions: MKL can on Intel's
    processors."""
    with open("/proc/cpuinfo") as file:
        return "GenuineIntel" in file.read() or not torch.backends.mkl.is_available()


class EagerTorch:
    def __init__(self, compiled):
        self.compiled = compiled
        self.network = self.inputs = None

    def describe(self):
        precisions = ["float32", "bfloat16", "float16"] if torch.__version__ >= "2" else ["float32", "bfloat16"]
        return {
            "runtime": "torch",
            "version": torch.__version__,
            "format": "python",
            "compile": "inductor" if self.compiled else "eager",
            "allocator": "c10, glibc malloc" if not os.environ.get("LD_PRELOAD") else os.environ["LD_PRELOAD"],
            "precisions": precisions,
            "isas": ["native"] if self.compiled or not obeys() else ["native", "avx2", "sse41"],
            "profile": True,
        }

    def load(self, request):
        self.program = request["model"]
        torch.set_num_threads(request["threads"])
        torch.manual_seed(request["seed"])
        spec = importlib.util.spec_from_file_location("network", request["model"])
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        network = module.Network()
        own = dict(network.named_parameters())
        own.update(network.named_buffers())
        numbers = runner_loop.read_tensors(request["weights"])
        with torch.no_grad():
            for name, tensor in own.items():
                tensor.copy_(torch.from_numpy(numbers[module.ORIGINAL_NAMES.get(name, name)]))
        self.dtype = getattr(torch, request["precision"])
        self.network = network.eval().to(self.dtype)
        self.inputs = [self.cast(x) for x in module.example_inputs()]
        if self.compiled:
            self.network = torch.compile(self.network)
        self.call()

    def cast(self, tensor):
        return tensor.to(self.dtype) if tensor.dtype == torch.float32 else tensor

    def call(self):
        with torch.inference_mode():
            return self.network(*self.inputs)

    def verify(self, tensors):
        of_load = self.inputs
        self.inputs = [torch.from_numpy(tensors[str(i)].copy()).to(x.dtype) for i, x in enumerate(of_load)]
        outputs = self.call()
        outputs = outputs if isinstance(outputs, tuple) else (outputs,)
        return {str(i): self.plain(output) for i, output in enumerate(outputs)}

    @staticmethod
    def plain(tensor):
        tensor = tensor.float() if tensor.dtype == torch.bfloat16 else tensor
        return (torch.view_as_real(tensor) if tensor.is_complex() else tensor).contiguous().numpy()

    def profile(self, calls):
        return self.profile_by_kernel(calls) if self.compiled else self.profile_by_call(calls)

    def profile_by_call(self, calls):
        """Eager runs one call after the other: the clock is read before each statement of
        forward()."""
        with open(self.program, encoding="utf-8") as file:
            tree = ast.parse(file.read())
        network = next(n for n in tree.body if isinstance(n, ast.ClassDef) and n.name == "Network")
        forward = next(n for n in network.body if isinstance(n, ast.FunctionDef) and n.name == "forward")
        marks, body, names = [], [], []
        for statement in forward.body:
            if not isinstance(statement, ast.Delete):
                body.append(ast.parse("mark()").body[0])
            if not isinstance(statement, (ast.Delete, ast.Return)):
                names.append(ast.unparse(getattr(statement, "value", statement)).split("(")[0])
            body.append(statement)
        forward.body = body
        space = {"mark": lambda: marks.append(time.perf_counter_ns())}
        exec(compile(tree, self.program, "exec"), space)
        rows = []
        with torch.inference_mode():
            for _ in range(calls):
                marks.clear()
                space["Network"].forward(self.network, *self.inputs)
                rows.append([(end - start) / 1e3 for start, end in zip(marks, marks[1:])])
        known = space["CALLS"] == len(names)
        return [
            {"name": name, "us": statistics.median(row[i] for row in rows), "calls": [i] if known else []}
            for i, name in enumerate(names)
        ]

    def profile_by_kernel(self, calls):
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profiler:
            for _ in range(calls):
                self.call()
        return [
            {"name": event.key, "us": event.self_cpu_time_total / calls, "calls": []}
            for event in profiler.key_averages()
            if event.self_cpu_time_total > 0
        ]

    def unload(self):
        self.network = self.inputs = None
        if self.compiled:
            torch._dynamo.reset()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--compile", action="store_true")
    runner_loop.serve(EagerTorch(parser.parse_args().compile))
