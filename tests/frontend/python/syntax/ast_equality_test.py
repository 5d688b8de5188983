"""Our tree equals CPython 3.11's `ast`, positions included, on every file of the standard library,
torch and torchvision.

Files that CPython's compile() rejects must be rejected by us with the same line.
"""
import ast
import hashlib
import os
import subprocess
import sys
import warnings

from ast_text import tree_text

ROOTS = ["/usr/lib/python3.11", "/usr/lib/python3/dist-packages/torch", "/usr/lib/python3/dist-packages/torchvision"]
MAX_SHOWN = 10


def files():
    for root in sys.argv[1:] or ROOTS:
        for folder, subfolders, names in os.walk(root):
            subfolders.sort()
            for name in sorted(names):
                if name.endswith(".py"):
                    yield os.path.join(folder, name)


def expected(path):
    """("ok", text) or ("error", line)."""
    with open(path, "rb") as f:
        source = f.read()
    try:
        tree = ast.parse(source, path)
        compile(source, path, "exec", dont_inherit=True)
    except SyntaxError as e:
        return "error", e.lineno or 0
    except ValueError:  # null bytes: no line
        return "error", None
    return "ok", tree_text(tree)


def first_difference(dumper, path, want):
    got = subprocess.run([dumper, "--full"], input=path.encode() + b"\n", stdout=subprocess.PIPE, check=True).stdout[
        :-1
    ]
    at = next((i for i, (a, b) in enumerate(zip(want, got)) if a != b), min(len(want), len(got)))
    return "  CPython: ...%r\n  ours:    ...%r" % (want[max(0, at - 100) : at + 100], got[max(0, at - 100) : at + 100])


def main():
    if sys.version_info[:2] != (3, 11):
        print("needs CPython 3.11, this is", sys.version)
        return 77
    warnings.simplefilter("ignore")
    sys.setrecursionlimit(20000)
    dumper = os.path.join(os.environ["COBRA_BIN"], "python_ast_dump")
    process = subprocess.Popen([dumper], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    count = different = rejected = 0
    for path in files():
        process.stdin.write(path.encode() + b"\n")
        process.stdin.flush()
        verdict, want = expected(path)
        answer = process.stdout.readline().decode("utf-8", "replace").split(" ", 2)
        count += 1
        if verdict == "error":
            rejected += 1
            same = answer[0] == "error" and want in (None, int(answer[1]))
            detail = "  CPython: error in line %s" % want
        else:
            same = answer[:2] == ["ok", hashlib.sha256(want).hexdigest()]
            detail = ""
        if same:
            continue
        different += 1
        if different > MAX_SHOWN:
            continue
        print("DIFFERENT", " ".join(answer).strip(), detail)
        if verdict == "ok" and answer[0] == "ok":
            print(first_difference(dumper, path, want))
    process.stdin.close()
    process.wait()
    print("%d files, %d of them rejected by CPython, %d different" % (count, rejected, different))
    return 1 if different or count < 500 or process.returncode else 0


if __name__ == "__main__":
    sys.exit(main())
