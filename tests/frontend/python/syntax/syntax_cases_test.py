"""Each case of syntax_cases.txt (separated by lines of ----): the same tree as CPython 3.11, or the
same error at the same line."""
import ast
import os
import subprocess
import sys
import tempfile
import warnings

from ast_text import tree_text

HERE = os.path.dirname(os.path.abspath(__file__))


def expected(source):
    try:
        tree = ast.parse(source)
        compile(source, "case.py", "exec", dont_inherit=True)
    except SyntaxError as e:
        return b"error %d %s" % (e.lineno, e.msg.encode())
    return tree_text(tree)


def main():
    if sys.version_info[:2] != (3, 11):
        print("needs CPython 3.11, this is", sys.version)
        return 77
    warnings.simplefilter("ignore")
    with open(os.path.join(HERE, "syntax_cases.txt"), "rb") as f:
        cases = f.read().split(b"----\n")
    dumper = os.path.join(os.environ["COBRA_BIN"], "python_ast_dump")
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "case.py")
        # Also without the last newline, and with Windows' line ends.
        for case in [v for c in cases for v in (c, c[:-1], c.replace(b"\n", b"\r\n"))]:
            with open(path, "wb") as f:
                f.write(case)
            got = subprocess.run(
                [dumper, "--full"], input=path.encode() + b"\n", stdout=subprocess.PIPE, check=True
            ).stdout[:-1]
            if got.startswith(b"error"):
                head, _, message = got.partition(b"\t")
                got = b" ".join(head.split(b" ")[:2]) + b" " + message
            want = expected(case)
            if got != want:
                failures += 1
                print("CASE %r\n  CPython: %r\n  ours:    %r" % (case, want[:300], got[:300]))
    print("%d cases, %d different" % (len(cases), failures))
    return 1 if failures or len(cases) < 300 else 0


if __name__ == "__main__":
    sys.exit(main())
