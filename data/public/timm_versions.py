#!/usr/bin/env python3
"""How far timm's own measurements of one device with two versions of PyTorch are apart.

    timm_versions.py --from DATA [--timm FOLDER]

DATA and FOLDER are make_timm.py's. A row for each pair of versions of one device, precision, layout
and mode: how many models both measured at one size and batch, how far the later version is from the
earlier one times a factor (mean error, the share within 10 %) and, with --timm, from a factor for
each family. No prediction of a family that nobody timed can be expected to come much closer than a
measurement of the same model does.
"""
import argparse, collections, csv, gzip, itertools, os, statistics

import make_timm


def errors(pairs):
    """Of the later latency, from the earlier one times the median factor."""
    factor = statistics.median(later / earlier for earlier, later in pairs)
    return [abs(factor * earlier / later - 1) for earlier, later in pairs]


def described(found):
    within = sum(error <= 0.1 for error in found) / len(found)
    return "%.3f / %.2f" % (statistics.mean(found), within)


def compare(earlier, later, modules):
    both = [model for model in later if model in earlier]
    if len(both) < 2:
        return None
    line = ["%d models" % len(both), described(errors([(earlier[model], later[model]) for model in both]))]
    if modules:
        families = collections.defaultdict(list)
        for model in both:
            families[modules.get(model[0], model[0])].append((earlier[model], later[model]))
        line.append(described([error for pairs in families.values() for error in errors(pairs)]) + " by family")
    return line


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--from", dest="data", required=True)
    parser.add_argument("--timm")
    arguments = parser.parse_args()
    modules = make_timm.modules_of(arguments.timm) if arguments.timm else {}
    runs = collections.defaultdict(lambda: collections.defaultdict(dict))
    with gzip.open(os.path.join(arguments.data, "timm_inference/latency.csv.gz"), "rt") as file:
        for row in csv.DictReader(file):
            of_setting = runs[tuple(row[key] for key in ("device", "precision", "layout", "compiled"))]
            model = (row["model"], row["img_size"], row["batch"])
            of_setting[row["torch"]][model] = float(row["step_time_ms"])
    for setting, versions in sorted(runs.items()):
        for earlier, later in itertools.combinations(sorted(versions), 2):
            line = compare(versions[earlier], versions[later], modules)
            if line:
                print(", ".join([" ".join(setting), "%s to %s" % (earlier, later)] + line))


if __name__ == "__main__":
    main()
