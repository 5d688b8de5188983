#!/usr/bin/env python3
"""Every model of a library from PyPI: is our graph what real PyTorch runs?

    suite.py LIBRARY [--only REGEX] [--recorded | --digests FILE] [--eager] [--write FILE]

LIBRARY: as for truth.py, or sample: a few of each, both ways; COBRA_BIN: where read_model is;
--eager: no import is put off until its name is used.

Needs `scripts/setup.sh --pypi`. What PyTorch runs is recorded once, in build/truth/LIBRARY; a run
that was cut goes on where it ended. Each model is exact (parameters, calls, attributes, shapes,
module paths, data flow, multiply-accumulates are the same), refused (with our reason), different,
or unbuildable: PyTorch itself cannot build or run it. --write: a row of all for each, with a digest
of what PyTorch ran. --digests: a file of --write, of the same releases: a graph that has the digest
of what PyTorch ran is exact, and PyTorch is asked about the others only (timm: minutes, not
hours)."""
import argparse
import collections
import csv
import gzip
import hashlib
import json
import lzma
import os
import re
import resource
import select
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.normpath(os.path.join(HERE, "..", "..", "..", ".."))
sys.path.insert(0, os.path.join(HERE, "..", "torch"))
import graph_equality_test  # noqa: E402

BIN = os.environ.get("COBRA_BIN", os.path.join(ROOT, "build/release/bin"))
PYTHON = os.path.join(ROOT, "build/pypi/bin/python3")
TORCH_VERSION = "2.13.0"
TRUTH_SECONDS, READ_SECONDS = 600, 120
# What ctest tries.
SAMPLE = {
    "timm": ["resnet18@1", "vit_tiny_patch16_224@3", "swin_tiny_patch4_window7_224@1", "mobilenetv4_conv_small@1"],
    "transformers": ["bert", "gpt2@cached", "llama", "t5@cached", "clip", "whisper@eager"],
}
TRUTH_BYTES = 20 << 30  # of address space


class Lines:
    """A program that answers each line with a line; started again after it died or took too
    long."""

    def __init__(self, command, seconds, limit_bytes=None):
        self.command, self.seconds, self.limit_bytes, self.process = command, seconds, limit_bytes, None

    def ask(self, line):
        """The answer, or None."""
        if self.process is None:
            limit = lambda: resource.setrlimit(resource.RLIMIT_AS, (self.limit_bytes, self.limit_bytes))  # noqa: E731
            self.process = subprocess.Popen(
                self.command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                preexec_fn=limit if self.limit_bytes else None,
            )
        self.process.stdin.write(line.encode() + b"\n")
        self.process.stdin.flush()
        ready = select.select([self.process.stdout], [], [], self.seconds)[0]
        answer = self.process.stdout.readline().decode() if ready else ""
        if not answer.endswith("\n"):
            self.end()
            return None
        return answer[:-1]

    def end(self):
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None


def site_packages():
    command = [PYTHON, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


class Truths:
    """`packages`: a folder whose packages come before those of build/pypi, as another release of
    the library."""

    def __init__(self, library, packages=""):
        self.folder = os.path.join(
            ROOT, "build", "truth", "-".join(filter(None, (library, os.path.basename(packages))))
        )
        os.makedirs(self.folder, exist_ok=True)
        first = ["env", "PYTHONPATH=" + packages] if packages else []
        self.script = [*first, PYTHON, os.path.join(HERE, "truth.py"), library]
        self.lines = Lines([*self.script, "--out", self.folder], TRUTH_SECONDS, TRUTH_BYTES)

    def names(self):
        path = os.path.join(self.folder, "names")
        if not os.path.exists(path):
            listed = subprocess.run([*self.script, "--list"], capture_output=True, text=True, check=True).stdout
            with open(path, "w") as file:
                file.writelines(json.loads(line)["name"] + "\n" for line in listed.splitlines())
        with open(path) as file:
            return file.read().split()

    def requests(self):
        """What our reader is asked about each model, as far as that is known before it is built."""
        listed = subprocess.run([*self.script, "--list"], capture_output=True, text=True, check=True).stdout
        cases = (json.loads(line) for line in listed.splitlines())
        return {case["name"]: case for case in cases if "file" in case}

    def has(self, name):
        return os.path.exists(os.path.join(self.folder, name + ".json.gz"))

    def of(self, name):
        path = os.path.join(self.folder, name + ".json.gz")
        if not self.has(name) and self.lines.ask(name) is None:
            return {"name": name, "unbuildable": "PyTorch ended, or took too much time or memory"}
        with gzip.open(path) as file:
            return json.loads(file.read())


def open_rows(path, mode):
    """A file of --write; timm's is compressed."""
    return (lzma.open if path.endswith(".xz") else open)(path, mode + "t", newline="")


def digest(truth):
    calls, outputs = graph_equality_test.reduced(truth)
    text = json.dumps([truth["param_shapes"], calls, outputs, truth["macs"]], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def reason(error):
    """The sentence of a refusal and the file that it names, without what belongs to one model."""
    found = re.search(r"(?m)^(?:.*/site-packages/)?(\S+?):\d+(?::\d+)?: error: (.*)$", error)
    text = f"{found.group(2)} ({found.group(1)})" if found else error.splitlines()[0]
    return text[:200]


def read(case, reader, site):
    """Our graph of it, or its error; None if our reader has ended, or took too long."""
    request = {
        "file": os.path.join(site, case["file"]),
        "entry": case["entry"],
        "inputs": case["inputs"],
        "arguments": case.get("arguments", []),
        "cached_tokens": case.get("cached_tokens", 0),
    }
    answer = reader.ask(json.dumps(request))
    if answer is None:
        return None
    graph = json.loads(answer)
    for record in graph.get("ops", ()):
        if record["op"] == "setitem" and record.get("kind") == "alias":
            # A call that PyTorch 1.13 shows to no tracer (graph/form/json.cc), but 2.13 does.
            del record["kind"]
    return graph


def verdict(truth, reader, site):
    if "unbuildable" in truth:
        return "unbuildable", truth["unbuildable"]
    graph = read(truth, reader, site)
    if graph is None:
        return "different", "our reader ended, or took too long"
    if "error" in graph:
        return "refused", reason(graph["error"])
    # In which order an object has its tensors is no matter of the network.
    why = graph_equality_test.difference(truth, graph, in_order=False)
    return ("different", why[:300]) if why else ("exact", "")


class Suite:
    def __init__(self, library, eager=False, packages="", digests=None):
        """`digests`: of what PyTorch ran, by model."""
        site = site_packages()
        self.library, self.site = library, packages or site
        self.truths = Truths(library, packages)
        options = ["--torch-version", TORCH_VERSION, "--steps-times", "10"]
        for folder in filter(None, (packages, site)):
            options += ["--library", folder]
        if eager:
            options.append("--eager")
        self.reader = Lines([BIN + "/read_model", "--batch", *options], READ_SECONDS)
        self.digests = digests or {}
        self.requests = self.truths.requests() if digests else {}

    def as_before(self, name):
        """Whether our graph is what PyTorch ran when the digests were written."""
        if name not in self.requests or not self.digests.get(name):
            return False
        graph = read(self.requests[name], self.reader, self.site)
        return graph is not None and "error" not in graph and digest(graph) == self.digests[name]

    def run(self, names):
        """(name, result, digest, reason) of each; prints what is not exact, and the sums."""
        rows, counts, reasons = [], collections.Counter(), collections.Counter()
        for name in names:
            if self.as_before(name):
                counts["exact"] += 1
                rows.append((name, "exact", self.digests[name], ""))
                continue
            truth = self.truths.of(name)
            what, why = verdict(truth, self.reader, self.site)
            counts[what] += 1
            if what != "exact":
                reasons[what, re.sub(r"\d+", "N", why)] += 1
                print(f"{what}\t{name}\t{why}", flush=True)
            rows.append((name, what, "" if what == "unbuildable" else digest(truth), why))
        for (what, why), count in reasons.most_common(40):
            print(f"{count:5d} {what}: {why[:200]}")
        print(f"{self.library}: {len(rows)} tried, " + ", ".join(f"{n} {what}" for what, n in counts.most_common()))
        self.truths.lines.end()
        self.reader.end()
        return rows


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("library", choices=["sample", "timm", "transformers", "diffusers"])
    parser.add_argument("--only", default="")
    parser.add_argument("--recorded", action="store_true", help="only what PyTorch has been asked about before")
    parser.add_argument("--digests")
    parser.add_argument(
        "--eager", action="store_true", help="no import waits until its name is used; sample: both ways"
    )
    parser.add_argument("--write")
    options = parser.parse_args()
    if not os.path.exists(PYTHON):
        print("build/pypi is not there: scripts/setup.sh --pypi")
        return 77
    if options.library == "sample":
        rows = [row for eager in (False, True) for name in SAMPLE for row in Suite(name, eager).run(SAMPLE[name])]
        return 0 if all(row[1] == "exact" for row in rows) else 1
    digests = None
    if options.digests:
        with open_rows(options.digests, "r") as file:
            digests = {row["model"]: row["digest"] for row in csv.DictReader(file) if row["result"] == "exact"}
    suite = Suite(options.library, options.eager, digests=digests)
    names = [name for name in suite.truths.names() if re.search(options.only, name)]
    rows = suite.run([name for name in names if suite.truths.has(name)] if options.recorded else names)
    if options.write:
        with open_rows(options.write, "w") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(("model", "result", "digest", "reason"))
            writer.writerows(rows)
    return 1 if any(row[1] == "different" for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
