#!/usr/bin/env python3
"""KernelBench's timings as records: PyTorch programs on GPUs, eager and compiled.

    make_kernelbench.py --from DATA [--client build/release/bin/cobra-client]

DATA has kernelbench/ (README.md says where it comes from). A target is a host, the GPU that it
named for the row, and eager or inductor. The graphs are those of models in training mode, without
gradients, as they were timed. The latency is the mean of a hundred runs between two events of CUDA.
"""
import csv, gzip, json, os

import devices
import public_rows

SPACE = "kernelbench"
RUNTIME = "torch-2.5.0"
MODES = ("eager", "inductor")
GPUS = {
    "Tesla T4": "Tesla T4",
    "NVIDIA A100-SXM4-40GB": "NVIDIA A100-SXM4-40GB",
    "NVIDIA A100-SXM4-80GB": "NVIDIA A100-SXM4-80GB",
    "NVIDIA A10": "NVIDIA A10",
    "NVIDIA A10G": "NVIDIA A10G",
    "NVIDIA B200": "NVIDIA B200",
    "NVIDIA L4": "NVIDIA L4",
    "NVIDIA L40S": "NVIDIA L40S",
}


def read_problems(folder, client):
    """Of each problem the text of its graph; why others have none."""
    with open(os.path.join(folder, "inputs.json")) as file:
        inputs = json.load(file)
    texts, refused = {}, {}
    for problem, asked in sorted(inputs.items()):
        options = ["--entry", "Model(*get_init_inputs())", "--mode", "train", "--torch-version", "2.5.0"]
        for shape in asked["inputs"]:
            options += ["--input", shape]
        for name, value in asked["arguments"].items():
            options += ["--arg", "%s=%s" % (name, value)]
        graph, why = public_rows.read_graph(os.path.join(folder, "problems", problem), *options, client=client)
        if graph:
            texts[problem] = public_rows.graph_text(graph)
        else:
            refused[problem] = why
    return texts, refused


def target_of(row):
    provider = row["host"].split("_")[1]
    gpu = GPUS[row["hardware"]]
    # PyTorch allows TF32 in cuDNN's convolutions; a T4 has none.
    precision = "tf32-convolutions" if devices.GPUS[gpu]["tf32_gflops"] else "float32"
    short = public_rows.slug(row["hardware"]).replace("nvidia-", "").replace("tesla-", "")
    name = "gpu-%s-%s-torch-2.5-%s-train" % (short, provider, row["mode"])
    return {**devices.gpu_target(name, gpu, RUNTIME, precision, compile=row["mode"]), "mode": "train"}


def main():
    arguments = public_rows.parser("client").parse_args()
    folder = os.path.join(arguments.data, "kernelbench")
    texts, refused = read_problems(folder, arguments.client)
    data, numbers = public_rows.DataSet(SPACE, arguments.out), {name: i for i, name in enumerate(sorted(texts))}
    seen = set()
    with gzip.open(os.path.join(folder, "timings.csv.gz"), "rt") as file:
        for row in csv.DictReader(file):
            problem = row["problem"]
            if row["mode"] not in MODES or problem not in texts:
                continue
            label = "%s/%s" % (SPACE, problem[: -len(".py")])
            graph = data.graph(texts[problem], label, order=(problem,))
            target = target_of(row)
            # Two hosts of one provider may name the same GPU.
            repeat = int((target["name"], problem) in seen)
            seen.add((target["name"], problem))
            data.row(target, graph, label, row["mean_ms"], numbers[problem], repeat=repeat)
    data.write()
    for problem, why in refused.items():
        print("left out: %s: %s" % (problem, why))


if __name__ == "__main__":
    main()
