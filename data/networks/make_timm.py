#!/usr/bin/env python3
"""Graphs of timm's models, read from its source: up to ten of each module, at batch 1 and the image
size of their own configuration.

    build/pypi/bin/python3 data/networks/make_timm.py timm.jsonl.xz [--client
    build/release/bin/cobra-client] [--each 10]

Needs timm in the Python that runs this (scripts/setup.sh --pypi): for its list of models and their
sources; nothing is run. Lines are those of make_torchvision.py, `family` is the module. A model
with more than 8 G multiply-accumulates, or one that cannot be read, is left out for another of its
module.
"""
import argparse, json, os, random, subprocess, sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path += [HERE, os.path.join(HERE, "../../tests/frontend/python/libraries")]
import torchvision_operators  # noqa: E402,F401  before timm, which imports torchvision
import timm  # noqa: E402

from make_torchvision import record_files, shortened  # noqa: E402

MOST_MACS = 8e9
SEED = 20261123


def graph_of(client, folder, name, size):
    command = [client, "graph", os.path.join(folder, "models", "__init__.py"), "--library", os.path.dirname(folder)]
    command += ["--entry", "create_model('%s')" % name, "--input", "1x%dx%dx%d" % size, "--format", "json"]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return json.loads(done.stdout) if done.returncode == 0 else None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("out")
    parser.add_argument("--client", default="build/release/bin/cobra-client")
    parser.add_argument("--each", type=int, default=10)
    arguments = parser.parse_args()
    folder = os.path.dirname(timm.__file__)
    modules = sorted({timm.models.model_entrypoint(n).__module__.rsplit(".", 1)[1] for n in timm.list_models()})
    lines = []
    for module in modules:
        names = sorted(timm.list_models(module=module))
        random.Random("%d/%s" % (SEED, module)).shuffle(names)
        kept = 0
        for name in names[: 4 * arguments.each]:
            if kept == arguments.each:
                break
            config = timm.get_pretrained_cfg(name)
            size = tuple(config.input_size) if config else (3, 224, 224)
            graph = graph_of(arguments.client, folder, name, size)
            if graph is None or graph["macs"] > MOST_MACS:
                continue
            try:
                row = {"name": name, "family": module, "batch": 1, "size": size[1], "graph": shortened(graph)}
            except ValueError:
                continue
            lines.append(json.dumps(row, separators=(",", ":")))
            kept += 1
        print("%-28s %d of %d" % (module, kept, len(names)), flush=True)
    record_files.write_xz(arguments.out, lines)
    print("timm %s: %d graphs" % (timm.__version__, len(lines)))


if __name__ == "__main__":
    main()
