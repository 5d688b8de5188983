#!/usr/bin/env python3
"""Draws the folds of data/splits for the rows of data/public, once: tables leave them out one after
the other.

    make_folds.py [--out data/splits]

What is there keeps its fold; only keys that are new are drawn, so that no row that was a test row
becomes a training row because others were added.
"""
import argparse, collections, csv, glob, json, lzma, os, random, re

import devices
import public_rows

SEED = 20261124
FOLDS = 5
DEVICE_FOLDS = 10
GPU_FOLDS = 6  # silicon of KernelBench: one in each


def labels_of(data_set):
    """Of each label, how many rows have it."""
    labels = collections.Counter()
    for path in glob.glob(os.path.join(public_rows.HERE, data_set, "*", "networks.jsonl.xz")):
        if os.path.basename(os.path.dirname(path)) == "graphs":
            continue
        with lzma.open(path, "rt") as file:
            labels.update(re.findall('"label":"([^"]+)"', file.read()))
    return labels


def targets_of(data_set):
    for path in sorted(glob.glob(os.path.join(public_rows.HERE, data_set, "*", "target.json"))):
        with open(path) as file:
            yield json.load(file)


def draw(path, groups, folds, column="", weights=collections.defaultdict(lambda: 1)):
    """`groups`: key -> what it is left out with. Folds have about the same sum of `weights`, of the
    keys. Writes key, fold, and `column` where the group is not the key itself."""
    known = {}
    if os.path.exists(path):
        with open(path, newline="") as file:
            known = {row["key"]: int(row["fold"]) for row in csv.DictReader(file)}
    fold_of = {groups[key]: fold for key, fold in known.items() if key in groups}
    new = sorted(set(groups.values()) - set(fold_of))
    random.Random("%d/%s" % (SEED, os.path.basename(path))).shuffle(new)
    sizes = [sum(weights[k] for k, group in groups.items() if fold_of.get(group) == fold) for fold in range(folds)]
    for group in new:
        fold = sizes.index(min(sizes))
        fold_of[group] = fold
        sizes[fold] += sum(weights[k] for k, g in groups.items() if g == group)
    with open(path, "w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(["key", "fold"] + ([column] if column else []))
        for key in sorted(groups):
            out.writerow([key, fold_of[groups[key]]] + ([groups[key]] if column else []))
    print("%s: %d keys, %s" % (path, len(groups), sizes))


def silicon_of_board(target):
    """Of a board or phone; a GPU on a card is silicon of its own."""
    if target["kind"] == "gpu" and target["device"] in devices.GPUS and "Jetson" not in target["device"]:
        return public_rows.slug(target["device"].replace("NVIDIA ", ""))
    slugs = {row["name"]: row["silicon"] for row in devices.PROCESSORS.values()}
    name = target["name"].split("-", 1)[1]
    return slugs[max((slug for slug in slugs if name.startswith(slug + "-")), key=len)]


def silicon_of_gpu(target):
    """All A100 are one, so are A10 and A10G, MI210 and MI250, RTX 5090 and RTX PRO 6000."""
    name = re.sub("^gpu-(amd-)?", "", target["name"])
    name = "-".join(name.split("-")[: 3 if name.startswith("rtx-pro") else 2 if name.startswith("rtx") else 1])
    alike = {"a10g": "a10", "mi210": "mi200", "mi250": "mi200", "rtx-5090": "gb202", "rtx-pro-6000": "gb202"}
    return alike.get(name, name)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", default=os.path.join(public_rows.HERE, "../splits"))
    out = os.path.relpath(parser.parse_args().out)
    path = lambda name: os.path.join(out, name)
    draw(path("kernelbench-problems.csv"), {label: label for label in labels_of("kernelbench")}, FOLDS)
    families = labels_of("timm")
    draw(path("timm-families.csv"), {label: label for label in families}, FOLDS, weights=families)
    networks = {label: label.replace("_int8", "") for label in labels_of("ncnn-boards")}
    draw(path("boards-networks.csv"), networks, FOLDS, "network")
    boards = {target["name"]: silicon_of_board(target) for target in targets_of("ncnn-boards")}
    draw(path("boards-devices.csv"), boards, DEVICE_FOLDS, "silicon")
    gpus = {
        target["name"]: silicon_of_gpu(target)
        for data_set in ("kernelbench", "neusight", "timm")
        for target in targets_of(data_set)
        if target["kind"] == "gpu"
    }
    draw(path("gpus.csv"), gpus, GPU_FOLDS, "silicon")


if __name__ == "__main__":
    main()
