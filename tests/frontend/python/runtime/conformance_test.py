"""Runs every chunk of testdata/*.py (chunks are separated by lines of '# ---') in CPython and in
python_run; what they print, and the type of the exception that ends them, must be the same.

  conformance_test.py [FILE...]      only these files, and every difference in full
"""
import contextlib
import io
import os
import subprocess
import sys
import tempfile
import types

HERE = os.path.dirname(os.path.abspath(__file__))


def chunks(path):
    line, start, out = 1, 1, []
    for text in open(path, encoding="utf-8"):
        if text.startswith("# ---"):
            yield start, "".join(out)
            out, start = [], line + 1
        else:
            out.append(text)
        line += 1
    yield start, "".join(out)


def run_cpython(source):
    module = types.ModuleType("main")
    module.__file__ = "main.py"
    sys.modules["main"] = module
    out = io.StringIO()
    end = ""
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
        try:
            exec(compile(source, "main.py", "exec", dont_inherit=True), module.__dict__)
        except BaseException as e:
            end = f"!!! {type(e).__name__}\n"
    return out.getvalue() + end


def run_ours(binary, source):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "main.py")
        with open(path, "w", encoding="utf-8") as f:
            f.write(source)
        done = subprocess.run([binary, path], capture_output=True, timeout=60)
        out = done.stdout.decode("utf-8", "replace")
        if done.returncode < 0:
            out += f"!!! signal {-done.returncode}\n"
        return out


def main():
    if sys.version_info[:2] != (3, 11):
        print("CPython 3.11 is not here")
        return 77
    binary = os.path.join(os.environ.get("COBRA_BIN", "build/bin"), "python_run")
    files = sys.argv[1:] or sorted(
        os.path.join(HERE, "testdata", f) for f in os.listdir(os.path.join(HERE, "testdata")) if f.endswith(".py")
    )
    total = different = 0
    for path in files:
        for line, source in chunks(path):
            total += 1
            want, got = run_cpython(source), run_ours(binary, source)
            if want == got:
                continue
            different += 1
            print(f"{os.path.basename(path)}:{line}: differs")
            want_lines, got_lines = want.splitlines(), got.splitlines()
            for i in range(max(len(want_lines), len(got_lines))):
                w = want_lines[i] if i < len(want_lines) else "<nothing>"
                g = got_lines[i] if i < len(got_lines) else "<nothing>"
                if w != g:
                    print(f"    CPython: {w}\n    ours:    {g}")
                    if not sys.argv[1:]:
                        break
    print(f"{total} chunks, {different} differ")
    return 1 if different else 0


sys.exit(main())
