#!/usr/bin/env python3
"""Ten releases of transformers, from 4.40 to the newest: is our graph of thirty models what PyTorch
2.13 runs for that release?

    transformers_releases.py [--releases 10] [--release REGEX] [--only REGEX] [--plain] [--recorded] [--write FILE]
    transformers_releases.py --sample

Each release is installed from PyPI in build/transformers/VERSION, with the packages that it wants
in other versions than build/pypi has. The models are those that transformers_inputs.py names, at
their default configuration, also with attention as it is written out and with cached tokens (not
with --plain). What PyTorch runs is recorded once, in build/truth/transformers-VERSION. --sample
installs nothing and asks PyTorch nothing: of each release that is there three models, others of the
next one, so that ten releases try all thirty. --write: a row of all for each. Needs
`scripts/setup.sh --pypi`; ends with 77 where that is missing."""
import argparse
import collections
import csv
import glob
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.normpath(os.path.join(HERE, "..", ".."))
sys.path.insert(0, os.path.join(ROOT, "tests", "frontend", "python", "libraries"))
import suite  # noqa: E402
import transformers_inputs  # noqa: E402

FOLDER = os.path.join(ROOT, "build", "transformers")
PIP = [suite.PYTHON, "-m", "pip", "--disable-pip-version-check"]
FIRST = (4, 40)
# Why one of the thirty is refused: a length that is counted in the values of a cache (whisper in
# 4.45); masks made by vmap (falcon in 5.5 to 5.10).
KNOWN_REASONS = ("depends on tensor values", "TransformGetItemToIndex")
# What a release asks for and this Python has not, or not in that version: those of the folder that
# is given first count.
WANTED = """
import importlib.metadata, sys
from packaging.requirements import Requirement
for text in importlib.metadata.distribution("transformers").requires:
    requirement = Requirement(text)
    if requirement.marker and not requirement.marker.evaluate({"extra": ""}):
        continue
    try:
        has = importlib.metadata.version(requirement.name)
    except importlib.metadata.PackageNotFoundError:
        continue  # most are of its command line, and what is imported is found out below
    if not requirement.specifier.contains(has):
        print(str(requirement).partition(";")[0])
"""


def number(version):
    return tuple(int(part) for part in version.split("."))


def spread(versions, count):
    """So many, evenly, the first and the last among them; of one minor release the last patch."""
    newest = {}
    for version in sorted((v for v in versions if re.fullmatch(r"\d+\.\d+\.\d+", v)), key=number):
        newest[number(version)[:2]] = version
    found = [version for minor, version in newest.items() if minor >= FIRST]
    count = min(count, len(found))
    return [found[round(i * (len(found) - 1) / max(1, count - 1))] for i in range(count)]


def released():
    listed = subprocess.run([*PIP, "index", "versions", "transformers"], capture_output=True, text=True, check=True)
    return re.search(r"Available versions: (.*)", listed.stdout)[1].split(", ")


def install(version):
    """The folder of a release; a second call does nothing."""
    folder = os.path.join(FOLDER, version)
    done = os.path.join(folder, "complete")
    if os.path.exists(done):
        return folder
    target = [*PIP, "install", "--quiet", "--no-deps", "--target", folder]
    subprocess.run([*target, f"transformers=={version}"], check=True)
    script = [suite.PYTHON, "-c", WANTED]
    search = {**os.environ, "PYTHONPATH": folder}
    wanted = subprocess.run(script, env=search, capture_output=True, text=True, check=True).stdout.splitlines()
    if wanted:
        subprocess.run([*target, *wanted], check=True)
    for _ in range(9):
        script = [suite.PYTHON, "-c", "import transformers.models.auto.modeling_auto"]
        tried = subprocess.run(script, env=search, capture_output=True, text=True)
        missing = re.search(r"ModuleNotFoundError: No module named '(\w+)'", tried.stderr)
        if not missing:
            break
        subprocess.run([*target, missing[1]], check=True)
    open(done, "w").close()
    return folder


def named(names):
    return [name for name in names if name.partition("@")[0] in transformers_inputs.NAMED]


def sample():
    """Three of thirty for each release that is installed."""
    failed = 0
    releases = sorted((os.path.basename(os.path.dirname(p)) for p in glob.glob(FOLDER + "/*/complete")), key=number)
    for position, version in enumerate(releases):
        tried = suite.Suite("transformers", packages=os.path.join(FOLDER, version))
        plain = [name for name in named(tried.truths.names()) if "@" not in name]
        print(version)
        drawn = [name for name in plain[position % 10 :: 10] if tried.truths.has(name)]
        for _, what, _, why in tried.run(drawn):
            is_known = what == "refused" and any(reason in why for reason in KNOWN_REASONS)
            failed += not is_known and what not in ("exact", "unbuildable")
    return len(releases), failed


def run(options):
    rows, sums = [], collections.Counter()
    for version in spread(released(), options.releases):
        if not re.search(options.release, version):
            continue
        print(f"== {version}", flush=True)
        tried = suite.Suite("transformers", packages=install(version))
        names = [name for name in named(tried.truths.names()) if re.search(options.only, name)]
        names = [name for name in names if not (options.plain and "@" in name)]
        names = [name for name in names if not options.recorded or tried.truths.has(name)]
        for row in tried.run(names):
            rows.append((version, *row))
            sums[row[1]] += 1
    print(f"all releases: {len(rows)} tried, " + ", ".join(f"{n} {what}" for what, n in sums.most_common()))
    if options.write:
        with open(options.write, "w") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(("release", "model", "result", "digest", "reason"))
            writer.writerows(rows)
    return 1 if sums["different"] or not rows else 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--releases", type=int, default=10)
    parser.add_argument("--release", default="", help="only versions that this matches")
    parser.add_argument("--only", default="", help="only models that this matches")
    parser.add_argument("--plain", action="store_true", help="each model only as it is by default")
    parser.add_argument("--recorded", action="store_true", help="only what PyTorch has been asked about before")
    parser.add_argument("--sample", action="store_true")
    parser.add_argument("--write")
    options = parser.parse_args()
    if not os.path.exists(suite.PYTHON):
        print("build/pypi is not there: scripts/setup.sh --pypi")
        return 77
    if not options.sample:
        return run(options)
    releases, failed = sample()
    if not releases:
        print("no release is in build/transformers: scripts/test-long.sh transformers-releases")
        return 77
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
