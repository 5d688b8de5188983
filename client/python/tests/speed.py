#!/usr/bin/env python3
"""How long the Python client takes: live modules, and many questions about source.

    speed.py live [--rounds N] [--beside TREE] [NAME...]    live modules: milliseconds of the first
                                                            question, and of the next alike
    speed.py many [--count N] [--beside TREE]               predict_many() of so many different files

`first`: in a process that has imported PyTorch and the package, and has built the module, the first
question, to a server that has just started. `next`: one more module of the same class and
configuration, with other weights; the least of ten. Each from call to answer, and in processor time
of the client, which other programs of the machine disturb less. Medians of the rounds, of which each
has a new process and a new server; with `--beside` the client of another tree takes turns with this
one, and asks the same server programs.

`many` writes files of small networks, no two of them alike. `a second and core` divides by the
processor time of the client, the server and its readers together; `client` is its share of it.

Exit 77: something is not installed."""
import argparse
import json
import os
import random
import resource
import statistics
import subprocess
import sys
import time

import support

NETWORKS = {  # name: (how to make it, its inputs)
    "resnet34": ("torchvision.models.resnet34()", "1x3x224x224"),
    "resnet50": ("torchvision.models.resnet50()", "1x3x224x224"),
    "efficientnet_b0": ("torchvision.models.efficientnet_b0()", "1x3x224x224"),
    "densenet121": ("torchvision.models.densenet121()", "1x3x224x224"),
    "encoder": (
        "torch.nn.TransformerEncoder(torch.nn.TransformerEncoderLayer(256, 4, 512, batch_first=True), 8)",
        "1x128x256",
    ),
    "gpt": ("gpt.GPT(gpt.GPTConfig(layers=2))", "1x256:int64"),
}
TARGET = "cpu-epyc-genoa-1t"
NEXT = 10  # modules after the first


# ---- in a separate process, with the package that is on PYTHONPATH


def ask_live(name):
    """The times of one network, as JSON."""
    support.require("torch", "grpc", "google.protobuf")
    import torch

    import cobra_latency
    import cobra_latency.client  # noqa: F401

    try:
        import torchvision
    except (ImportError, RuntimeError):
        torchvision = None

    sys.path.insert(0, os.path.join(support.ROOT, "examples"))
    import gpt

    make, inputs = NETWORKS[name]
    if torchvision is None and "torchvision" in make:
        support.skip(f"{name}: torchvision is not installed for {sys.executable}")
    known = {"torch": torch, "torchvision": torchvision, "gpt": gpt}
    networks = [eval(make, known).eval() for _ in range(1 + NEXT)]
    with cobra_latency.local(support.SERVER, support.MODEL, []) as client:
        walls, used = [], []
        for network in networks:
            start, before = time.perf_counter(), time.process_time()
            prediction = client.predict(network, inputs, TARGET)
            walls.append(1e3 * (time.perf_counter() - start))
            used.append(1e3 * (time.process_time() - before))
        client.stop_server()
    times = {"first": walls[0], "first_used": used[0], "next": min(walls[1:]), "next_used": min(used[1:])}
    print(json.dumps({"calls": prediction.calls, **times}))


def processor_s(process):
    """Of a process and its children."""
    found = [process]
    for folder in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{folder}/stat") as file:
                fields = file.read().rpartition(")")[2].split()
        except OSError:  # it has ended
            continue
        if int(fields[1]) == process:
            found.append(int(folder))
    total = 0
    for one in found:
        with open(f"/proc/{one}/stat") as file:
            total += sum(map(int, file.read().rpartition(")")[2].split()[11:15]))
    return total / os.sysconf("SC_CLK_TCK")


def ask_many(folder):
    """predict_many() of all files of a folder, as JSON."""
    support.require("grpc", "google.protobuf")
    from cobra_latency import Question, Source, local

    files = sorted(os.path.join(folder, name) for name in os.listdir(folder))
    with local(support.SERVER, support.MODEL, []) as client:
        first = client.predict(Source(files.pop(), "Net()"), "1x3x32x32", TARGET)
        assert first.ms > 0
        server, used = processor_s(client.server_process()), time.process_time()
        start = time.perf_counter()
        answers = client.predict_many(Question(Source(file, "Net()"), "1x3x32x32", TARGET) for file in files)
        seconds = time.perf_counter() - start
        client_s = time.process_time() - used
        server_s = processor_s(client.server_process()) - server
        client.stop_server()
    failed = [answer.error for answer in answers if answer.error]
    if failed:
        raise AssertionError(f"{len(failed)} of {len(files)} failed, the first: {failed[0]}")
    memory_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"seconds": seconds, "client_s": client_s, "server_s": server_s, "memory_mb": round(memory_mb)}))


# ---- the rounds


def files_of_networks(folder, count):
    """So many files, each a network of three to eight calls that no other one is."""
    numbers, written = random.Random(1), set()
    os.makedirs(folder)
    while len(written) < count + 1:
        widths = tuple(numbers.randrange(8, 129, 4) for _ in range(numbers.randint(2, 4)))
        kernel, pools = numbers.choice((1, 3, 5)), numbers.random() < 0.5
        if (widths, kernel, pools) in written:
            continue
        layers, before = [], 3
        for number, width in enumerate(widths):
            layers.append(
                f"        self.conv{number} = nn.Conv2d({before}, {width}, {kernel}, padding={kernel // 2})\n"
            )
            before = width
        steps = [f"        x = F.relu(self.conv{number}(x))\n" for number in range(len(widths))]
        if pools:
            steps.insert(1, "        x = F.max_pool2d(x, 2)\n")
        with open(os.path.join(folder, f"net{len(written):06}.py"), "w") as file:
            file.write("import torch.nn as nn\nimport torch.nn.functional as F\n\n\nclass Net(nn.Module):\n")
            file.write(f"    def __init__(self):\n        super().__init__()\n{''.join(layers)}")
            file.write(f"        self.head = nn.Linear({before}, 10)\n\n    def forward(self, x):\n{''.join(steps)}")
            file.write("        return self.head(x.mean((2, 3)))\n")
        written.add((widths, kernel, pools))


def packages(beside):
    """The folders of the packages to compare, by what they are called."""
    trees = {"this": support.ROOT, **({"beside": beside} if beside else {})}
    for name, tree in trees.items():
        backend = os.path.join(tree, "client", "python", "build_backend.py")
        subprocess.run([sys.executable, backend, "--stage", support.path(name)], check=True)
        subprocess.run([sys.executable, "-m", "compileall", "-q", support.path(name)], check=True)  # as pip does
    return {name: support.path(name) for name in trees}


def measure(package, number, *arguments):
    """What a process prints that imports the package from a folder and has a server of its own."""
    environment = support.environment(package)
    for variable, name in (("XDG_RUNTIME_DIR", "run"), ("XDG_STATE_HOME", "state")):
        environment[variable] = support.path(f"{name}{number}")
        os.makedirs(environment[variable], mode=0o700, exist_ok=True)
    command = [sys.executable, os.path.abspath(__file__), "--child", *arguments]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True)
    if done.returncode == 77:
        support.skip(done.stdout.strip())
    done.check_returncode()
    return json.loads(done.stdout.splitlines()[-1])


def live(options):
    heads = " ".join(f"{head:>13}" for head in ("first ms", "its processor", "next ms", "its processor"))
    print(f"{'network':16} {'calls':>5}  {'client':7} {heads}")
    compared = packages(options.beside)
    number = 0
    for name in options.names or NETWORKS:
        rows = {client: [] for client in compared}
        for _ in range(options.rounds):
            for client, package in compared.items():
                number += 1
                rows[client].append(measure(package, number, "live", name))
        for client, found in rows.items():
            keys = ("first", "first_used", "next", "next_used")
            figures = " ".join(f"{statistics.median(row[key] for row in found):13.1f}" for key in keys)
            print(f"{name:16} {found[0]['calls']:5}  {client:7} {figures}", flush=True)


def many(options):
    folder = support.path("networks")
    files_of_networks(folder, options.count)
    for number, (client, package) in enumerate(packages(options.beside).items()):
        found = measure(package, number, "many", folder)
        used = found["client_s"] + found["server_s"]
        each = {side: 1e3 * found[f"{side}_s"] / options.count for side in ("client", "server")}
        print(
            f"{client}: {options.count} in {found['seconds']:.2f} s, {options.count / used:.0f} a second and core: "
            f"client {each['client']:.3f} ms each ({options.count / found['client_s']:.0f} a second), "
            f"server {each['server']:.3f} ms; the client's memory {found['memory_mb']} MB"
        )


def main():
    if sys.argv[1:2] == ["--child"]:
        return {"live": ask_live, "many": ask_many}[sys.argv[2]](*sys.argv[3:])
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("live", "many"))
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"default: {' '.join(NETWORKS)}")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--beside", metavar="TREE")
    options = parser.parse_intermixed_args()
    unknown = [name for name in options.names if name not in NETWORKS]
    if unknown:
        parser.error(f"{unknown[0]}: unknown; known are {' '.join(NETWORKS)}")
    {"live": live, "many": many}[options.what](options)
    return 0


if __name__ == "__main__":
    sys.exit(main())
