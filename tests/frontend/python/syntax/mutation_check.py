"""How often we agree with CPython 3.11's compile() on damaged real files: accept or reject, and the
line of the error.

    COBRA_BIN=build/release/bin mutation_check.py [--count 2000] [--seed 1] [--min-percent 99.5]
    [--show 30]
        [--messages]

Each case is one file of the standard library, torch or torchvision with one seeded mutation: a
token deleted, doubled, swapped with its neighbour or replaced by another of the file; a line
deleted, doubled, indented or dedented; a character inserted. Exit status 1 below --min-percent. Run
by CPython 3.12 or 3.13 it damages that one's standard library, reads it as that version, and counts
the verdicts alone: messages and lines are those of 3.11.
"""
import argparse
import collections
import io
import os
import random
import subprocess
import sys
import sysconfig
import tempfile
import tokenize
import warnings

from ast_equality_test import ROOTS

MAX_BYTES = 60000
IS_311 = sys.version_info[:2] == (3, 11)
CHARACTERS = "()[]{}:,.;=+-*/%@&|^~!<>'\"\\#$?` \t\nx0_"


def corpus():
    for root in ROOTS if IS_311 else [sysconfig.get_path("stdlib")]:
        for folder, subfolders, names in os.walk(root):
            subfolders.sort()
            for name in sorted(names):
                path = os.path.join(folder, name)
                if name.endswith(".py") and os.path.exists(path) and 200 < os.path.getsize(path) < MAX_BYTES:
                    yield path


def token_spans(text):
    """(begin, end) offsets of the tokens that have text."""
    starts = [0]
    for line in text.splitlines(True):
        starts.append(starts[-1] + len(line))
    spans = []
    for t in tokenize.generate_tokens(io.StringIO(text).readline):
        if t.string.strip() and t.type != tokenize.COMMENT:
            spans.append((starts[t.start[0] - 1] + t.start[1], starts[t.end[0] - 1] + t.end[1]))
    return spans


def mutate_token(rng, text):
    spans = token_spans(text)
    i = rng.randrange(max(1, len(spans) - 1))
    (b, e), (b2, e2) = spans[i], spans[i + 1 if i + 1 < len(spans) else i]
    kind = rng.choice(["delete", "double", "swap", "replace"])
    if kind == "delete":
        return kind, text[:b] + text[e:]
    if kind == "double":
        return kind, text[:e] + " " + text[b:e] + text[e:]
    if kind == "swap":
        return kind, text[:b] + text[b2:e2] + text[e:b2] + text[b:e] + text[e2:]
    ob, oe = rng.choice(spans)
    return kind, text[:b] + text[ob:oe] + text[e:]


def mutate_line(rng, text):
    lines = text.splitlines(True)
    i = rng.randrange(len(lines))
    kind = rng.choice(["indent", "dedent", "drop line", "double line", "tab"])
    if kind == "indent":
        lines[i] = " " * rng.randint(1, 4) + lines[i]
    elif kind == "dedent":
        lines[i] = lines[i][min(rng.randint(1, 4), len(lines[i]) - len(lines[i].lstrip(" "))) :]
    elif kind == "drop line":
        del lines[i]
    elif kind == "double line":
        lines.insert(i, lines[i])
    else:
        lines[i] = lines[i].replace("    ", "\t", 1)
    return kind, "".join(lines)


def mutate(rng, text):
    choice = rng.random()
    if choice < 0.6:
        return mutate_token(rng, text)
    if choice < 0.85:
        return mutate_line(rng, text)
    at = rng.randrange(len(text))
    return "character", text[:at] + rng.choice(CHARACTERS) + text[at:]


def cpython(source):
    """(line, message); line None: accepted."""
    try:
        compile(source, "mutant.py", "exec", dont_inherit=True)
    except SyntaxError as e:
        return e.lineno or 0, e.msg
    except (ValueError, MemoryError, RecursionError) as e:
        return -1, repr(e)
    return None, ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--min-percent", type=float, default=99.5)
    parser.add_argument("--show", type=int, default=30)
    parser.add_argument("--messages", action="store_true", help="list different messages, too")
    parser.add_argument("--keep", help="keep the mutants in this folder")
    args = parser.parse_args()
    if not (3, 11) <= sys.version_info[:2] <= (3, 13):
        print("needs CPython 3.11 to 3.13, this is", sys.version)
        return 77
    warnings.simplefilter("ignore")
    rng = random.Random(args.seed)
    paths = list(corpus())
    if len(paths) < 100:
        print("no standard library to mutate")
        return 77
    dumper = os.path.join(os.environ["COBRA_BIN"], "python_ast_dump")
    counts = collections.Counter()
    with tempfile.TemporaryDirectory() as temporary:
        folder = args.keep or temporary
        process = subprocess.Popen(
            [dumper, "3.%d" % sys.version_info[1]], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        while counts["cases"] < args.count:
            origin = rng.choice(paths)
            try:
                with open(origin, encoding="utf-8", newline="") as f:
                    kind, text = mutate(rng, f.read())
            except (UnicodeError, tokenize.TokenError, IndentationError, IndexError):
                continue
            name = os.path.join(folder, "%d.py" % counts["cases"])
            with open(name, "w", encoding="utf-8", newline="") as f:
                f.write(text)
            process.stdin.write(name.encode() + b"\n")
            process.stdin.flush()
            want, want_message = cpython(text.encode())
            answer = process.stdout.readline().decode("utf-8", "replace").rstrip("\n").split(" ", 2)
            got = None if answer[0] == "ok" else int(answer[1])
            got_message = answer[2].partition("\t")[2]
            counts["cases"] += 1
            counts["rejected"] += want is not None
            agree = (want is None) == (got is None)
            counts["verdict"] += agree
            counts["line"] += want == got
            counts["message"] += want == got and want_message == got_message
            if not args.keep:
                os.unlink(name)
            if want == got and (want_message == got_message or not args.messages) or agree and not IS_311:
                continue
            counts["shown"] += 1
            if counts["shown"] <= args.show:
                print(
                    "case %d (%s of %s)\n  CPython %s: %s\n  ours    %s: %s"
                    % (counts["cases"] - 1, kind, origin, want, want_message, got, got_message)
                )
        process.stdin.close()
    percent = {k: 100.0 * counts[k] / counts["cases"] for k in ("rejected", "verdict", "line", "message")}
    print(
        "seed %d: %d mutants, %.1f %% rejected by CPython; same verdict %.2f %%, same line %.2f %%, same message %.2f %%"
        % (args.seed, counts["cases"], percent["rejected"], percent["verdict"], percent["line"], percent["message"])
    )
    return 0 if percent["line" if IS_311 else "verdict"] >= args.min_percent else 1


if __name__ == "__main__":
    sys.exit(main())
