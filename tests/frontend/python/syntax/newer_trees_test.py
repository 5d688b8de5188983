"""Our trees of Python 3.12 and 3.13 equal those of a CPython of that version:
newer_syntax_cases.txt, and its own standard library. What it rejects we reject.

    newer_trees_test.py [--messages] [FOLDER...]

Needs Python 3.13.5 or later: $COBRA_NEWER_PYTHON, or python3.13 on the path (Debian 13 has it).
"""
import ast
import hashlib
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import warnings

HERE = os.path.dirname(os.path.abspath(__file__))
MAX_SHOWN = 20


def newer_python():
    """Earlier ones of 3.13, and those of 3.12, have faults of their own in what is compared."""
    for name in (os.environ.get("COBRA_NEWER_PYTHON"), "python3.13"):
        found = name and shutil.which(name)
        asked = found and subprocess.run(
            [found, "-c", "import sys; print(sys.version_info >= (3, 13, 5))"], capture_output=True, text=True
        )
        if asked and asked.stdout.strip() == "True":
            return found
    return None


def expected(source):
    """("ok", text) or ("error", line, message)."""
    try:
        tree = ast.parse(source)
        compile(source, "case.py", "exec", dont_inherit=True)
    except SyntaxError as error:
        return "error", error.lineno or 0, error.msg
    except ValueError as error:  # null bytes
        return "error", 0, str(error)
    return "ok", tree_text(tree), ""


class Dumper:
    def __init__(self):
        version = "3.%d" % sys.version_info[1]
        self.command = [os.path.join(os.environ["COBRA_BIN"], "python_ast_dump"), version]
        self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.count = self.wrong = self.rejected = self.other_message = 0

    def check(self, path, source, want_message=False):
        self.process.stdin.write(path.encode() + b"\n")
        self.process.stdin.flush()
        want = expected(source)
        got = self.process.stdout.readline().decode("utf-8", "replace").rstrip("\n").split(" ", 2)
        self.count += 1
        self.rejected += want[0] == "error"
        if want[0] == "error":
            message = got[2].partition("\t")[2] if got[0] == "error" else ""
            same = got[0] == "error"
            if same and message != want[2]:
                self.other_message += 1
                if want_message:
                    print("MESSAGE %r\n  CPython %d: %s\n  ours    %s: %s" % (source[:80], *want[1:], got[1], message))
        else:
            same = got[:2] == ["ok", hashlib.sha256(want[1]).hexdigest()]
        if same:
            return
        self.wrong += 1
        if self.wrong <= MAX_SHOWN:
            print(
                "DIFFERENT %s\n%s\n  CPython: %s\n  ours:    %s"
                % (path, source[:300].decode("utf-8", "replace"), want[::2], got)
            )
            if want[0] == "ok" and got[0] == "ok":
                print(self.difference(path, want[1]))

    def difference(self, path, want):
        command = [*self.command, "--full"]
        got = subprocess.run(command, input=path.encode() + b"\n", stdout=subprocess.PIPE, check=True).stdout[:-1]
        at = next((i for i, (a, b) in enumerate(zip(want, got)) if a != b), min(len(want), len(got)))
        return "  CPython: ...%r\n  ours:    ...%r" % (
            want[max(0, at - 120) : at + 80],
            got[max(0, at - 120) : at + 80],
        )


def main():
    if sys.version_info < (3, 12):
        python = newer_python()
        if python is None:
            print("skipped: no Python 3.13.5 or later is on the path as python3.13, nor is it COBRA_NEWER_PYTHON")
            return 77
        os.execv(python, [python, os.path.abspath(__file__), *sys.argv[1:]])
    warnings.simplefilter("ignore")
    sys.setrecursionlimit(20000)
    arguments = [a for a in sys.argv[1:] if not a.startswith("--")]
    dumper = Dumper()
    with open(os.path.join(HERE, "newer_syntax_cases.txt"), "rb") as f:
        cases = f.read().split(b"----\n")
    with open(os.path.join(HERE, "syntax_cases.txt"), "rb") as f:
        cases += f.read().split(b"----\n")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "case.py")
        for case in [v for c in cases for v in (c, c[:-1], c.replace(b"\n", b"\r\n"))]:
            if case.endswith(b"\\\r\n"):  # only Python 3.11 reads this, and so do we
                continue
            with open(path, "wb") as f:
                f.write(case)
            dumper.check(path, case, "--messages" in sys.argv)
    of_cases = dumper.count
    for root in arguments or [sysconfig.get_path("stdlib")]:
        for folder, folders, names in os.walk(root):
            folders.sort()
            for name in sorted(names):
                path = os.path.join(folder, name)
                if name.endswith(".py") and os.path.exists(path):
                    with open(path, "rb") as f:
                        dumper.check(path, f.read())
    print(
        "Python %s: %d cases, %d files, %d rejected (%d with another message), %d different"
        % (
            sys.version.split()[0],
            of_cases,
            dumper.count - of_cases,
            dumper.rejected,
            dumper.other_message,
            dumper.wrong,
        )
    )
    return 1 if dumper.wrong or of_cases < 300 or dumper.count - of_cases < 100 else 0


if __name__ == "__main__":
    from ast_text import tree_text

    sys.exit(main())
