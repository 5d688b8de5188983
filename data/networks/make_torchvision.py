#!/usr/bin/python3
"""Graphs of every classification model of an installed torchvision, each at batch 1 and 4 and two
image sizes.

    make_torchvision.py torchvision.jsonl.xz [--client build/release/bin/cobra-client]

Needs python3-torchvision (its list of models and their sources; nothing is run) and cobra-client,
which reads each source. One JSON object a line, sorted by model, size, batch: {"name", "family",
"batch", "size", "graph"}. `family` is the module of torchvision.models that the model is written
in. The graph is that of `cobra-client graph --format json` without what the reader of a graph
computes anew (shapes of results, kinds, counts) and without origins; parameters and buffers have
short names.
"""
import argparse, json, os, subprocess, sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../measurements"))
import record_files  # noqa: E402

BATCHES = (1, 4)
SIZES = (224, 160)
# Models whose constructor or architecture ties them to certain sizes.
OTHER_SIZES = {
    "inception_v3": (299, 224),  # its published size, and ImageNet's usual one
    # every stage must be a multiple of 7 pixels wide: 224, 448, ...; 448 is above the worker's caps
    "maxvit_t": (224,),
    "vit_h_14": (224, 168),  # patches of 14 pixels
}
ARGUMENTS = {"inception_v3": "init_weights=False", "googlenet": "init_weights=False"}


def entry(name, builder, family, size):
    arguments = ARGUMENTS.get(name, "")
    if family == "vision_transformer" and size != 224:
        arguments = "image_size=%d" % size  # its positions are parameters, one per patch
    return "%s(%s)" % (builder.__name__, arguments)


def shortened(graph):
    """The graph without what a reader computes anew and without names."""
    new_name = {}
    for kind, table in (("p", "param_shapes"), ("b", "buffer_shapes")):
        for i, name in enumerate(graph.get(table, {})):
            new_name[kind + ":" + name] = "%s%d" % (kind, i)

    def renamed(kind, table):
        return {new_name[kind + ":" + name]: value for name, value in table.items()}

    short = {"inputs": graph["inputs"], "ops": []}
    for op in graph["ops"]:
        kept = {key: op[key] for key in ("op", "inputs", "slots", "consts", "attrs", "inplace") if key in op}
        kept["inputs"] = [s[:2] + new_name[s] if isinstance(s, str) and s in new_name else s for s in op["inputs"]]
        if not kept["attrs"]:
            del kept["attrs"]
        short["ops"].append(kept)
    for key, kind in (("param_shapes", "p"), ("param_dtypes", "p"), ("buffer_shapes", "b"), ("buffer_dtypes", "b")):
        if graph.get(key):
            short[key] = renamed(kind, graph[key])
    for key in ("constants", "output", "output_consts"):
        if key in graph:
            short[key] = graph[key]
    if graph.get("param_aliases"):
        raise ValueError("shared parameters: not expected in torchvision")
    return short


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("out")
    parser.add_argument("--client", default="build/release/bin/cobra-client")
    arguments = parser.parse_args()
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    import torchvision
    from torchvision import models

    folder = os.path.dirname(models.__file__)
    lines = []
    for name in sorted(models.list_models(module=models)):
        builder = models.get_model_builder(name)
        family = builder.__module__.rsplit(".", 1)[1]
        for size in OTHER_SIZES.get(name, SIZES):
            for batch in BATCHES:
                command = [
                    arguments.client,
                    "graph",
                    "%s/%s.py" % (folder, family),
                    "--library",
                    os.path.dirname(os.path.dirname(folder)),
                    "--entry",
                    entry(name, builder, family, size),
                    "--input",
                    "%dx3x%dx%d" % (batch, size, size),
                    "--format",
                    "json",
                ]
                done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
                if done.returncode != 0:
                    sys.exit("%s at %d: %s" % (name, size, done.stderr))
                graph = json.loads(done.stdout)
                row = {"name": name, "family": family, "batch": batch, "size": size, "graph": shortened(graph)}
                lines.append(json.dumps(row, separators=(",", ":")))
                print(
                    "%-20s %2d x 3 x %d x %d  %5d calls %8.2f G multiply-accumulates"
                    % (name, batch, size, size, len(graph["ops"]), graph["macs"] / 1e9)
                )
    record_files.write_xz(arguments.out, lines)
    print("torchvision %s: %d graphs, %d bytes" % (torchvision.__version__, len(lines), os.path.getsize(arguments.out)))


if __name__ == "__main__":
    main()
