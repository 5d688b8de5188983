#!/usr/bin/env python3
"""What cobra-worker measures in each runtime, against the way in which that runtime's own users
measure.

    clocks.py [--runtimes torch,onnxruntime,openvino,ncnn] [--networks 30] [--rounds 7] [--core 0]      needs
                                                                                                        scripts/setup.sh
                                                                                                        --runtimes;
                                                                                                     leave
                                                                                                     the
                                                                                                     machine
                                                                                                     alone
                                                                                                     meanwhile

torch          torch.utils.benchmark.Timer, blocked_autorange, its median
onnxruntime    a loop of session.run for a quarter of a second, its median
openvino       benchmark_app -hint none -nstreams 1 -nthreads 1 -api sync for a second, the median
               that it prints (with -hint latency it
               does not take a number of threads)
ncnn           as benchncnn: an extractor for each run, warm-up runs, then a loop for a quarter of a
               second, its median; on random numbers, because of its own, 0.01 everywhere, deep
               networks make denormal ones, which are six times slower

Torchvision's networks of at most 2e9 multiply-accumulates, every n-th. Both sides run on the same
core in turns, first one, then the other, at the same settings (one thread, float32) on the same
graph, written by the same exporters. Of each side the fastest turn counts: neighbours on the
machine only ever make one slower. Passed: the median over the networks of |ratio - 1| is at most 3
%."""
import argparse
import json
import lzma
import os
import re
import statistics
import subprocess
import sys
import tempfile

SOURCE = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
BIN = os.path.abspath(os.environ.get("COBRA_BIN", os.path.join(SOURCE, "build", "release", "bin")))
RUNTIMES = os.path.join(SOURCE, "build", "runtimes", "bin")
FILES = {"torch": "network.py", "onnxruntime": "network.onnx", "openvino": "network.onnx", "ncnn": "network.param"}
FORMATS = {"torch": "python", "onnxruntime": "onnx", "openvino": "onnx", "ncnn": "ncnn"}
MOST_MACS = 2e9

THEIRS = {
    "torch": """
import importlib.util, sys, torch
import torch.utils.benchmark as benchmark
torch.set_num_threads(1)
spec = importlib.util.spec_from_file_location("network", sys.argv[1])
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
network, inputs = module.Network().eval(), module.example_inputs()
with torch.inference_mode():
    timer = benchmark.Timer("network(*inputs)", globals={"network": network, "inputs": inputs}, num_threads=1)
    for _ in sys.stdin:
        print(timer.blocked_autorange(min_run_time=0.2).median * 1e6, flush=True)
""",
    "onnxruntime": """
import statistics, sys, time
import numpy, onnxruntime
options = onnxruntime.SessionOptions()
options.intra_op_num_threads = 1
options.log_severity_level = 3
session = onnxruntime.InferenceSession(sys.argv[1], options, providers=["CPUExecutionProvider"])
inputs = {i.name: numpy.random.rand(*i.shape).astype(numpy.float32) for i in session.get_inputs()}
for _ in sys.stdin:
    session.run(None, inputs)
    times, end = [], time.perf_counter() + 0.25
    while len(times) < 3 or time.perf_counter() < end:
        start = time.perf_counter()
        session.run(None, inputs)
        times.append(time.perf_counter() - start)
    print(statistics.median(times) * 1e6, flush=True)
""",
    "ncnn": """
import statistics, sys, time
import ncnn, numpy
net = ncnn.Net()
net.opt.num_threads = 1
net.opt.use_fp16_packed = net.opt.use_fp16_storage = net.opt.use_fp16_arithmetic = net.opt.use_bf16_storage = False
net.load_param(sys.argv[1])
net.load_model(sys.argv[1].replace(".param", ".bin"))
image = ncnn.Mat(numpy.random.randn(3, int(sys.argv[2]), int(sys.argv[2])).astype(numpy.float32)).clone()
def run():
    extractor = net.create_extractor()
    extractor.input(net.input_names()[0], image)
    extractor.extract("out0")
for _ in sys.stdin:
    run()
    times, end = [], time.perf_counter() + 0.25
    while len(times) < 3 or time.perf_counter() < end:
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    print(statistics.median(times) * 1e6, flush=True)
""",
}


class Program:
    """Answers each line with one."""

    def __init__(self, command, core):
        self.process = subprocess.Popen(
            ["taskset", "-c", str(core), *command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=SOURCE
        )

    def turn(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            raise RuntimeError("%s: no answer" % self.process.args)
        return answer

    def close(self):
        self.process.stdin.close()
        self.process.wait()


class BenchmarkApp:
    def __init__(self, model, core):
        flags = "-hint none -nstreams 1 -nthreads 1 -api sync -infer_precision f32 -t 1"
        self.command = [
            "taskset",
            "-c",
            str(core),
            os.path.join(RUNTIMES, "benchmark_app"),
            "-m",
            model,
            *flags.split(),
        ]

    def turn(self):
        done = subprocess.run(self.command, capture_output=True, text=True)
        found = re.search(r"Median:\s+([0-9.]+) ms", done.stdout)
        if not found:
            raise RuntimeError("benchmark_app: %s" % (done.stdout + done.stderr)[-500:])
        return float(found.group(1)) * 1e3

    def close(self):
        pass


def macs(graph):
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(graph, file)
        file.flush()
        command = [os.path.join(BIN, "cobra-client"), "graph", file.name, "--format", "json"]
        return json.loads(subprocess.run(command, check=True, capture_output=True).stdout)["macs"]


def networks(count):
    small = []
    with lzma.open(os.path.join(SOURCE, "data/networks/torchvision.jsonl.xz"), "rt") as file:
        for line in file:
            network = json.loads(line)
            if network["batch"] == 1 and len(network["graph"]["inputs"]) == 1 and macs(network["graph"]) <= MOST_MACS:
                small.append(network)
    return small[:: max(1, len(small) // count)][:count]


def ratio(runtime, network, options):
    """Ours over theirs."""
    with tempfile.TemporaryDirectory() as folder:
        graph, model = os.path.join(folder, "graph.json"), os.path.join(folder, FILES[runtime])
        with open(graph, "w") as file:
            json.dump(network["graph"], file)
        command = [os.path.join(BIN, "cobra-client"), "graph", graph, "--format", FORMATS[runtime], "--out", model]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        ours = Program(
            [os.path.join(BIN, "cobra-worker"), "measure", "--graph", graph, "--in-turns", "--share-device"]
            + ["--runner", runtime, "--core", str(options.core)],
            options.core,
        )
        if runtime == "openvino":
            theirs = BenchmarkApp(model, options.core)
        else:
            python = [os.path.join(RUNTIMES, "python3"), "-c", THEIRS[runtime], model, str(network["size"])]
            theirs = Program(python, options.core)
        try:
            sides = [lambda: json.loads(ours.turn())["latency_us"], lambda: float(theirs.turn())]
            times = [[], []]
            for turn in range(options.rounds + 1):
                for side in (turn % 2, 1 - turn % 2):
                    times[side].append(sides[side]())
            return min(times[0][1:]) / min(times[1][1:])  # the first turn warms both up
        finally:
            ours.close()
            theirs.close()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--runtimes", default="torch,onnxruntime,openvino,ncnn")
    parser.add_argument("--networks", type=int, default=30)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--core", type=int, default=0)
    options = parser.parse_args()
    failed, chosen = False, networks(options.networks)
    for runtime in options.runtimes.split(","):
        off = []
        for network in chosen:
            try:
                r = ratio(runtime, network, options)
            except (RuntimeError, OSError, subprocess.CalledProcessError) as error:
                print("%-12s %-28s %s" % (runtime, network["name"], str(error).splitlines()[0][:120]), flush=True)
                continue
            off.append(abs(r - 1))
            print("%-12s %-28s ours / theirs %.3f" % (runtime, network["name"], r), flush=True)
        median = statistics.median(off) if off else float("inf")
        failed = failed or median > 0.03 or len(off) < options.networks * 0.9
        print("%-12s %d networks: median difference %.1f %%\n" % (runtime, len(off), 100 * median), flush=True)
    sys.exit(failed)


main()
