#!/usr/bin/python3
"""Random calls of composite functions (composite_cases_*.py) over all their arguments, in real
PyTorch and in our reader: the same shapes, types and structure, and the same values where ours are
known; or an error from both. A call that our reader does not support is counted by its reason.

    composites_test.py [--cases N] [--seed S] [--only NAME] [--torch 1.13|2.13|both] [--show K] [--no-shrink] [--write FILE]

1.13 is Debian's python3-torch, 2.13 the one in build/pypi. What differs is printed as lines that
can be pasted, shrunk first. Exit 1: something differs; 77: no PyTorch."""
import argparse
import collections
import json
import os
import random
import re
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import composite_cases_attention  # noqa: F401  each adds its own to GENERATORS
import composite_cases_losses  # noqa: F401
import composite_cases_spatial  # noqa: F401
import composite_cases_tensors  # noqa: F401
import composite_cases_values  # noqa: F401
from composite_draw import GENERATORS, Draw
from composite_shrink import reductions

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(HERE))))
BIN = os.environ.get("COBRA_BIN", "build/release/bin")
JUDGES = {
    "1.13": ("/usr/bin/python3", "1.13"),
    "2.13": (os.path.join(ROOT, "build/pypi/bin/python"), "2.13.0"),
}
# PyTorch's CPU has no kernel, or its kernel meets the random numbers: the call says nothing about
# shapes.
NOT_JUDGED = (
    "not implemented for '",
    "Could not run",
    "ZeroDivisionError",
    "addmm_impl_cpu_",
    "MemoryError",
    "can't allocate memory",
    "DefaultCPUAllocator",
    "expected scalar type",  # of a kernel, after the shapes were accepted
    "bad_alloc",
    "var has negative entry",  # the random numbers
    "Found an invalid max index",
)
# A parameter that a later PyTorch has: the reader takes it for every version.
LATER = re.compile("unexpected keyword argument '((src_|tgt_|memory_)?is_causal|bias|padding_side|enable_gqa|scale)'")
Outcome = collections.namedtuple("Outcome", "kind detail")


class Judge:
    """Real PyTorch in a separate process, because some calls do not come back from it."""

    def __init__(self, python):
        self.command = [python, os.path.join(HERE, "composite_judge.py")]
        self.process = None

    def start(self):
        self.process = subprocess.Popen(
            self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        return bool(self.process.stdout.readline())

    def answer(self, expression):
        if self.process is None:
            self.start()
        try:
            self.process.stdin.write(expression + "\n")
            self.process.stdin.flush()
            line = self.process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if line:
            return json.loads(line)
        self.process.wait()
        self.process = None
        return {"crash": True}


def ours(expressions, version):
    done = subprocess.run(
        [BIN + "/eval_torch", "--torch-version", version],
        input="".join(e + "\n" for e in expressions),
        capture_output=True,
        text=True,
    )
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    if len(answers) != len(expressions):
        lost = expressions[len(answers) // 50 * 50 :][:50]
        raise SystemExit(
            "eval_torch answered %d of %d, and left at one of\n%s" % (len(answers), len(expressions), "\n".join(lost))
        )
    return answers


def types_of(value):
    if isinstance(value, dict):
        return value["type"]
    if isinstance(value, list):
        return [types_of(v) for v in value]
    return "number" if re.match(r"-?[\d.]|-?inf|nan|True|False", value) else value


def as_number(v):
    return float({"True": 1, "False": 0}.get(v, v))


def values_of(real, have):
    """Pairs of numbers that both sides know."""
    if isinstance(real, list):
        return [pair for a, b in zip(real, have) for pair in values_of(a, b)]
    if isinstance(real, dict):
        if "values" not in real or "values" not in have:
            return []
        if len(real["values"]) != len(have["values"]):
            return [(float(len(real["values"])), float(len(have["values"])), ":int64")]  # of numbers, to be shown
        return [(as_number(a), as_number(b), real["type"]) for a, b in zip(real["values"], have["values"])]
    return []


def close(a, b, kind, largest):
    if a == b or (a != a and b != b):
        return True
    if any(t in kind for t in (":int", ":uint", ":bool")):
        return False
    least = 1e-12 if "float64" in kind or "complex128" in kind else 2e-2 if "float16" in kind else 2e-5
    return abs(a - b) <= least * max(abs(a), abs(b), largest)


def same_words(real, have):
    """Whether our message has the sentence of PyTorch's."""
    said = re.sub(r"^\w+: ", "", real).split("\n")[0].strip()
    return said[:80].rstrip(". ") in have if said else True


def compare(real, answer):
    """One call: Outcome(kind, detail)."""
    if "crash" in real:
        return Outcome("not judged", "PyTorch does not survive it")
    if "error" in real and any(text in real["error"] for text in NOT_JUDGED):
        return Outcome("not judged", "no kernel on the CPU")
    if "error" in real and LATER.search(real["error"]):
        return Outcome("not judged", "a parameter of a later PyTorch")
    if "error" in answer and answer["unsupported"]:
        return Outcome("refused", answer["error"].split("\n")[0])
    if "error" in real and "error" in answer:
        return Outcome(
            "errors" if same_words(real["error"], answer["error"]) else "errors, other words", answer["error"]
        )
    if "error" in real:
        return Outcome("accepted", real["error"].split("\n")[0][:150])
    if "error" in answer:
        return Outcome("raised", answer["error"].split("\n")[0][:150])
    want, have = types_of(real["out"]), types_of(answer["out"])
    if want != have:
        return Outcome("type", "%s, ours %s" % (want, have))
    pairs = values_of(real["out"], answer["out"])
    largest = max([abs(a) for a, _, _ in pairs if abs(a) < float("inf")] + [1])
    wrong = [(a, b) for a, b, kind in pairs if not close(a, b, kind, largest)]
    return Outcome("values", "%r, ours %r" % wrong[0]) if wrong else Outcome("equal", "")


DIFFERENT = ("accepted", "raised", "type", "values")


def plain(text):
    """A reason without its numbers and quotations, to count alike ones together."""
    text = re.sub(r"'[^']*'|\"[^\"]*\"|`[^`]*`", "'..'", text)
    return re.sub(r"\[[^\]]*\]|\([^)]*\)|-?\d+(\.\d+)?", "#", text)[:110]


class Run:
    def __init__(self, judge, version):
        self.judge, self.version = judge, version

    def outcomes(self, expressions):
        have = ours(expressions, self.version) if expressions else []
        return [compare(self.judge.answer(e), answer) for e, answer in zip(expressions, have)]

    def shrunk(self, expression, outcome):
        """A shorter call that differs in the same way."""
        for _ in range(25):
            shorter = reductions(expression)[:80]
            alike = [
                e
                for e, o in zip(shorter, self.outcomes(shorter))
                if o.kind == outcome.kind and (o.kind != "accepted" or plain(o.detail) == plain(outcome.detail))
            ]
            if not alike:
                break
            expression = min(alike, key=len)
        return expression, self.outcomes([expression])[0]


def report(run, name, found, args):
    """Differences of one family, one of each sort."""
    sorts = collections.defaultdict(list)
    for expression, outcome in found:
        sorts[outcome.kind, plain(outcome.detail) if outcome.kind in ("accepted", "raised") else ""].append(
            (expression, outcome)
        )
    for (kind, _), alike in sorted(sorts.items(), key=lambda item: -len(item[1])):
        print("== %s, %s: %d" % (name, kind, len(alike)))
        for expression, outcome in sorted(alike, key=lambda pair: len(pair[0]))[: args.show]:
            if not args.no_shrink:
                expression, outcome = run.shrunk(expression, outcome)
            print(
                "DIFFERS  %s\n   %s: %s"
                % (expression, {"accepted": "PyTorch", "raised": "ours"}.get(kind, "PyTorch"), outcome.detail),
                flush=True,
            )


def judged(args, label, rows):
    python, version = JUDGES[label]
    judge = Judge(python)
    if not os.path.exists(python) or not judge.start():
        print("PyTorch %s is not installed" % label)
        return None
    run, refusals, different, otherwise = Run(judge, version), collections.Counter(), 0, collections.Counter()
    for name, generator in GENERATORS.items():
        if args.only and not re.search(args.only, name):
            continue
        r = random.Random("%s %d" % (name, args.seed))
        expressions = [generator(Draw(r)) for _ in range(args.cases)]
        outcomes = run.outcomes(expressions)
        counts = collections.Counter(o.kind for o in outcomes)
        refusals.update(plain(o.detail) for o in outcomes if o.kind == "refused")
        otherwise.update(plain(o.detail) for o in outcomes if o.kind == "errors, other words")
        if args.refused:
            for e, o in zip(expressions, outcomes):
                if re.search(args.refused, o.detail) and o.kind in ("refused", "errors, other words"):
                    print("%s  %s\n   %s" % (o.kind.upper(), e, o.detail[:300]))
        found = [(e, o) for e, o in zip(expressions, outcomes) if o.kind in DIFFERENT]
        different += len(found)
        report(run, name, found, args)
        rows.append(
            [
                label,
                name,
                len(outcomes),
                counts["equal"],
                counts["errors"],
                counts["errors, other words"],
                counts["refused"],
                counts["not judged"],
                len(found),
            ]
        )
    print("\nPyTorch %s, refused as not supported, by reason:" % version)
    for reason, count in refusals.most_common(args.reasons):
        print("%6d  %s" % (count, reason))
    return different


HEADER = "torch,family,calls,equal,both errors in the same words,both errors in other words,refused,not judged,different".split(
    ","
)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cases", type=int, default=25, help="calls of each family")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="a regular expression of families")
    parser.add_argument("--torch", default="1.13", choices=[*JUDGES, "both"])
    parser.add_argument("--show", type=int, default=2, help="differences to print of each sort")
    parser.add_argument("--reasons", type=int, default=40)
    parser.add_argument("--refused", help="print the calls that were refused for a reason that matches")
    parser.add_argument("--no-shrink", action="store_true")
    parser.add_argument("--write", help="a CSV file of the counts")
    args = parser.parse_args()
    rows, different = [], []
    for label in JUDGES if args.torch == "both" else [args.torch]:
        different.append(judged(args, label, rows))
    if args.write and None not in different:
        with open(args.write, "w") as f:
            f.write("".join(",".join(str(v) for v in row) + "\n" for row in [HEADER] + rows))
    print()
    for row in rows:
        print(
            "%-5s %-44s %5d calls: %5d equal, %4d + %4d errors, %4d refused, %4d not judged, %4d different" % tuple(row)
        )
    if all(d is None for d in different):
        return 77
    totals = [sum(row[k] for row in rows) for k in range(2, 9)]
    print(
        "%d calls: %d equal, %d + %d errors from both (in the same words, in others), %d refused, %d not judged, %d different"
        % tuple(totals)
    )
    return 1 if any(different) else 0


if __name__ == "__main__":
    sys.exit(main())
