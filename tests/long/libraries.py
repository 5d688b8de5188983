#!/usr/bin/env python3
"""Libraries from PyPI that nobody here had tried before libraries.txt was written: is what
cobra-client reads what real PyTorch runs?

    libraries.py [--only REGEX] [--install] [--write FILE]      COBRA_BIN: where cobra-client is

libraries.txt has paragraphs: the library with its version and what else is installed for it, lines
of a program, and after them lines ENTRY | INPUTS. Each model is exact (parameters, calls,
attributes, shapes, module paths, data flow and multiply-accumulates are the same), different, not
read (exit code and error), or not run by PyTorch. Needs `scripts/setup.sh --pypi`; --install: puts
the libraries into build/libraries. What PyTorch runs is recorded once, in build/truth/libraries.
--write: a row for each model. Exit 1 if one is different, or if the model is blamed (exit code 6)
for what PyTorch runs."""
import argparse
import collections
import csv
import gzip
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.normpath(os.path.join(HERE, "..", ".."))
sys.path.insert(0, os.path.join(ROOT, "tests", "frontend", "python", "torch"))
import graph_equality_test  # noqa: E402

BIN = os.environ.get("COBRA_BIN", os.path.join(ROOT, "build/release/bin"))
PYTHON = os.path.join(ROOT, "build/pypi/bin/python3")
LIBRARIES = os.path.join(ROOT, "build", "libraries")
TRUTH = os.path.join(ROOT, "build", "truth", "libraries")
READ_SECONDS = 120


def listed():
    """(requirements, cases) of each library; a case has name, source, entry, inputs."""
    with open(os.path.join(HERE, "libraries.txt")) as file:
        paragraphs = re.split(r"\n\n+", file.read().strip())
    for paragraph in paragraphs:
        requirements, *lines = paragraph.splitlines()
        questions = [line for line in lines if " | " in line]
        source = "\n".join(line for line in lines if line not in questions) + "\n"
        library = requirements.split()[0].partition("==")[0]
        cases = []
        for number, question in enumerate(questions, 1):
            entry, _, inputs = question.strip().rpartition(" | ")
            name = f"{library}-{number}"
            cases.append({"name": name, "source": source, "entry": entry, "inputs": inputs.split()})
        yield requirements.split(), cases


def install():
    command = [PYTHON, "-m", "pip", "install", "--quiet", "--no-deps", "--upgrade", "--target", LIBRARIES]
    for requirements, _ in listed():
        if subprocess.run([*command, *requirements]).returncode != 0:
            sys.exit(f"libraries.py: {' '.join(requirements)} cannot be installed")


def record(cases):
    """Asks PyTorch about those that it was not asked about before."""
    os.makedirs(TRUTH, exist_ok=True)
    for case in cases:
        path = os.path.join(TRUTH, case["name"] + ".json.gz")
        if os.path.exists(path) and not case.items() <= truth_of(case).items():
            os.remove(path)  # the list says something else now
    missing = [case for case in cases if not os.path.exists(os.path.join(TRUTH, case["name"] + ".json.gz"))]
    if missing:
        subprocess.run(
            [PYTHON, os.path.join(HERE, "libraries_truth.py"), TRUTH],
            input="".join(json.dumps(case) + "\n" for case in missing),
            stderr=subprocess.DEVNULL,
            text=True,
            env={**os.environ, "PYTHONPATH": LIBRARIES},
        )


def truth_of(case):
    path = os.path.join(TRUTH, case["name"] + ".json.gz")
    if not os.path.exists(path):
        return {"unbuildable": "PyTorch ended, or took too much time or memory"}
    with gzip.open(path) as file:
        return json.loads(file.read())


def read(case, site):
    """cobra-client's exit code, standard output and error."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "net.py")
        with open(path, "w") as file:
            file.write(case["source"])
        command = [BIN + "/cobra-client", "graph", path, "--entry", case["entry"], "--torch-version", "2.13.0"]
        command += ["--library", LIBRARIES, "--library", site, "--format", "json"]
        for text in case["inputs"]:
            command += ["--input", text]
        try:
            ran = subprocess.run(command, capture_output=True, text=True, timeout=READ_SECONDS)
        except subprocess.TimeoutExpired:
            return 124, "", "took too long"
    return ran.returncode, ran.stdout, ran.stderr


def verdict(case, site):
    """(result, reason)"""
    truth = truth_of(case)
    if "unbuildable" in truth:
        return "not run by PyTorch", truth["unbuildable"]
    code, output, errors = read(case, site)
    if code != 0:
        found = re.search(
            r"(?m)^(?:.*/(?:site-packages|libraries)/)?(\S+?):(\d+)(?::\d+)?: error: (.*)$", errors + output
        )
        text = f"{found.group(3)} ({found.group(1)}:{found.group(2)})" if found else (errors + output)[:300]
        return "not read", f"exit {code}: " + " ".join(text.split())[:300]
    graph = json.loads(output)
    for record in graph["ops"]:
        if record["op"] == "setitem" and record.get("kind") == "alias":
            # A call that PyTorch 1.13 shows to no tracer (graph/form/json.cc), but 2.13 does.
            del record["kind"]
    why = graph_equality_test.difference(truth, graph, in_order=False)
    if why is None and truth["counted"] != graph["macs"]:
        return "exact", f"{graph['macs']} multiply-accumulates, torch.utils.flop_counter {truth['counted']}"
    return ("different", why[:300]) if why else ("exact", "")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default="")
    parser.add_argument("--install", action="store_true")
    parser.add_argument("--write")
    options = parser.parse_args()
    if not os.path.exists(PYTHON):
        print("build/pypi is not there: scripts/setup.sh --pypi")
        return 77
    if options.install:
        install()
    command = [PYTHON, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
    site = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    rows, counts = [], collections.Counter()
    cases = [case for _, cases in listed() for case in cases if re.search(options.only, case["name"])]
    record(cases)
    for case in cases:
        what, why = verdict(case, site)
        counts[what] += 1
        rows.append((case["name"], what, why))
        if why:
            print(f"{what}\t{case['name']}\t{why}", flush=True)
    ran = len(rows) - counts["not run by PyTorch"]
    print(f"{len(rows)} models: " + ", ".join(f"{n} {what}" for what, n in counts.most_common()))
    print(f"exact: {counts['exact']} of {ran} that PyTorch runs")
    if options.write:
        with open(options.write, "w") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(("model", "result", "reason"))
            writer.writerows(rows)
    blamed = [name for name, what, why in rows if what == "not read" and why.startswith("exit 6")]
    return 1 if counts["different"] or blamed else 0


if __name__ == "__main__":
    sys.exit(main())
