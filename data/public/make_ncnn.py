#!/usr/bin/env python3
"""The timings that users of ncnn's benchmark published, as records: 35 networks on boards, phones,
desktops and servers.

    make_ncnn.py --from DATA [--client build/release/bin/cobra-client]

DATA has ncnn_boards/ (README.md says where it comes from). A target is a device, a number of
threads, the cores that were chosen (powersave), and the CPU or a Vulkan GPU. The latency is the
shortest of a row (min_ms). A second series of the same setting is a repetition of the first where
the two agree, else a target of its own.
"""
import collections, csv, gzip, os, statistics

import devices
import public_rows

SPACE = "ncnn-boards"
POWERSAVE = {0: "", 1: "-little", 2: "-big"}
# Two series of one setting agree if the median of their ratios is below this.
AGREE = 1.15
# A GPU that ran out of memory returns at once: its rows show more operations a second than it can
# do.
TIMES_PEAK = 1.5
MOST_GFLOPS = 1500.0  # of a GPU of a phone or a board of which no sheet states it


def read_networks(folder, client):
    """Of each network: the text of its graph, and its multiply-accumulates."""
    networks = {}
    with open(os.path.join(folder, "models.csv")) as file:
        for row in csv.DictReader(file):
            path = os.path.join(folder, row["file"])
            size = "1x%s" % "x".join(row[key] for key in ("channels", "height", "width"))
            for options in ((), *(("--input", "%s=%s" % (name, size)) for name in ("data", "input", "in0"))):
                graph, why = public_rows.read_graph(path, *options, client=client)
                if graph:
                    break
            if not graph:
                raise SystemExit("%s: %s" % (path, why))
            if graph["inputs"][0]["shape"] != [int(n) for n in size.split("x")]:
                raise SystemExit("%s: its input is not %s" % (path, size))
            networks[row["model"]] = {"text": public_rows.graph_text(graph), "macs": graph["macs"]}
    return networks


def read_settings(path):
    """(device, threads, powersave, gpu) -> series, each {network: ms}."""
    settings = collections.defaultdict(list)
    with gzip.open(path, "rt") as file:
        for row in csv.DictReader(file):
            key = (row["device"], int(row["num_threads"]), int(row["powersave"]), int(row["gpu_device"]))
            for series in settings[key]:
                if row["model"] not in series:
                    break
            else:
                series = {}
                settings[key].append(series)
            series[row["model"]] = float(row["min_ms"])
    return settings


def not_computed(target, series, networks):
    """Networks of a series for which a GPU shows more operations a second than it can do."""
    most = 1e6 * (TIMES_PEAK * target.get("peak_gflops", 0) or MOST_GFLOPS)  # operations a millisecond
    if target["kind"] != "gpu":
        return set()
    return {n for n, ms in series.items() if "int8" not in n and 2 * networks[n]["macs"] / ms > most}


def gpu_of(device, index):
    """The GPU's name; none where ncnn was built without Vulkan and the index means nothing."""
    gpus = [name for name in devices.PROCESSORS[device]["gpus"].split(";") if name]
    if index < 0 or not gpus:
        return None
    return gpus[0] if len(gpus) == 1 else gpus[index]


def target_of(key, names, ending):
    device, threads, powersave, gpu_index = key
    slug, gpu = devices.PROCESSORS[device]["name"], gpu_of(device, gpu_index)
    if gpu is None:
        name = "cpu-%s-%dt%s-ncnn%s" % (slug, threads, POWERSAVE[powersave], ending)
        target = devices.cpu_target(name, device, "ncnn", threads=threads, powersave=powersave)
    else:
        several = len(devices.PROCESSORS[device]["gpus"].split(";")) > 1
        name = "gpu-%s%s-ncnn%s" % (slug, "-%d" % gpu_index if several else "", ending)
        if name in names:
            name = name.replace("-ncnn", "-%dt-ncnn" % threads)
        target = devices.vulkan_target(name, gpu, "ncnn")
        target["gpu_device"] = gpu_index
    target["powersave"] = powersave
    if target["name"] in names:
        raise SystemExit("two settings are called " + target["name"])
    names.add(target["name"])
    return target


def agree(first, second):
    ratios = [max(first[n] / second[n], second[n] / first[n]) for n in first if n in second]
    return statistics.median(ratios) < AGREE


def main():
    arguments = public_rows.parser("client").parse_args()
    folder = os.path.join(arguments.data, "ncnn_boards")
    networks = read_networks(folder, arguments.client)
    data, names = public_rows.DataSet(SPACE, arguments.out), set()
    for key, all_series in sorted(read_settings(os.path.join(folder, "timings.csv.gz")).items()):
        for i, series in enumerate(all_series):
            repeat = int(i > 0 and agree(all_series[0], series))
            if not repeat:
                target = target_of(key, names, "" if i == 0 else "-series-%d" % (i + 1))
            bad = not_computed(target, series, networks)
            if bad:  # what came after the first of them is not to be trusted either
                print(
                    "left out: %s: %s" % (target["name"], ", ".join("%s %g ms" % (n, series[n]) for n in sorted(bad)))
                )
                continue
            add(data, target, series, networks, repeat)
    data.write()


def add(data, target, series, networks, repeat):
    for name, ms in series.items():
        label = "%s/%s" % (SPACE, name)
        graph = data.graph(networks[name]["text"], label, order=(name,))
        data.row(target, graph, label, ms, sorted(networks).index(name), repeat=repeat)


if __name__ == "__main__":
    main()
