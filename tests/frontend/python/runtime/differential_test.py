"""Random programs in CPython and in python_run: equal output or equal exception type.

  differential_test.py [--programs N] [--seed S] [--keep DIR]     exits 1 at the first differences,
                                                                  printing their seeds
  differential_test.py --only SEED                                one program, as a difference names
                                                                  it
  differential_test.py --cpython SEED                             what CPython prints for it
  differential_test.py --programs 100000 --state FILE             goes on where the run that wrote
                                                                  FILE stopped
"""
import argparse
import contextlib
import gc
import io
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import types

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from program_generator import generate  # noqa: E402


OUTPUT_LIMIT = 1 << 20  # what python_run keeps of a program's output


class TooLong(BaseException):
    pass


def stop(signum, frame):
    raise TooLong


def run_cpython(source):
    module = types.ModuleType("main")
    sys.modules["main"] = module
    out = io.StringIO()
    end = ""
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
        try:
            signal.setitimer(signal.ITIMER_REAL, 5)
            exec(compile(source, "main.py", "exec", dont_inherit=True), module.__dict__)
        except TooLong:
            return None  # such a program says nothing: skip it
        except BaseException as e:
            end = f"!!! {type(e).__name__}\n"
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    text = out.getvalue() + end
    # what suspended generators print when they are collected
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        module.__dict__.clear()
        gc.collect()
    return text


def run_cpython_alone(seed):
    """In a separate process, where no program before has filled a cache; None if the answer is
    not always the same: an address or the hash of a string shows."""
    command = [sys.executable, "-W", "ignore", os.path.abspath(__file__), "--cpython", str(seed)]
    texts = {subprocess.run(command, capture_output=True).stdout for _ in range(3)}
    return texts.pop().decode("utf-8", "replace") if len(texts) == 1 else None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--programs", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep")
    parser.add_argument("--only", type=int)
    parser.add_argument("--cpython", type=int)
    parser.add_argument("--state")
    args = parser.parse_args()
    if sys.version_info[:2] != (3, 11):
        print("CPython 3.11 is not here")
        return 77
    binary = os.path.join(os.environ.get("COBRA_BIN", "build/bin"), "python_run")
    signal.signal(signal.SIGALRM, stop)
    gc.freeze()  # the collection after each program looks at that program only
    # Of CPython, which runs the programs in this process. python_run has limits of its own, and
    # under a sanitizer it needs terabytes of addresses.
    resource.setrlimit(resource.RLIMIT_AS, (4 << 30, resource.RLIM_INFINITY))
    if args.cpython is not None:
        sys.stdout.buffer.write((run_cpython(generate(args.cpython)) or "").encode("utf-8", "replace"))
        return 0
    different = compared = skipped = begin = 0
    if args.state and os.path.exists(args.state):
        with open(args.state) as f:
            begin, compared, skipped, different = json.load(f)[str(args.seed)]
    print(f"seed {args.seed}, {args.programs} programs" + (f", from number {begin}" if begin else ""))
    batch = 200
    if args.only is not None:
        begin, args.programs, args.seed = 0, 1, None
    for start in range(begin, args.programs, batch):
        seeds = (
            [args.only]
            if args.only is not None
            else [args.seed * 1_000_003 + i for i in range(start, min(start + batch, args.programs))]
        )
        with tempfile.TemporaryDirectory() as folder:
            sources = {}
            for s in seeds:
                sources[s] = generate(s)
                with open(os.path.join(folder, f"{s}.py"), "w", encoding="utf-8") as f:
                    f.write(sources[s])
            done = subprocess.run(
                [binary, "--batch"] + [os.path.join(folder, f"{s}.py") for s in seeds],
                capture_output=True,
                timeout=600,
                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY,) * 2),
            )
            outputs = done.stdout.decode("utf-8", "replace").split("\x1e\n")
            if done.returncode < 0:
                print(f"python_run died of signal {-done.returncode} in the program of seed {seeds[len(outputs) - 1]}")
                return 1
            for s, got in zip(seeds, outputs):
                want = run_cpython(sources[s])
                compared += 1
                # What took CPython too long, and what needs more than our limits allow, is not
                # compared.
                limit = "!!! <limit>" in got
                if want is not None and want != got and not limit:
                    want = run_cpython_alone(s)
                if want is None or limit or len(want.encode("utf-8", "replace")) > OUTPUT_LIMIT:
                    skipped += 1
                    continue
                if want == got:
                    continue
                different += 1
                w, g = want.splitlines(), got.splitlines()
                for i in range(max(len(w), len(g))):
                    a, b = w[i] if i < len(w) else "<nothing>", g[i] if i < len(g) else "<nothing>"
                    if a != b:
                        print(f"seed {s}: output line {i + 1}\n    CPython: {a[:300]}\n    ours:    {b[:300]}")
                        break
                if args.keep:
                    with open(os.path.join(args.keep, f"{s}.py"), "w") as f:
                        f.write(sources[s])
                if different >= 20:
                    return 1
        if args.state:
            with open(args.state + ".new", "w") as f:
                json.dump({args.seed: [start + len(seeds), compared, skipped, different]}, f)
            os.replace(args.state + ".new", args.state)
    print(
        f"{compared} programs, {different} differ"
        + (f" ({skipped} ran into a limit or print addresses, and were not compared)" if skipped else "")
    )
    return 1 if different else 0


sys.exit(main())
