#!/usr/bin/env python3
"""What cobra-worker measures against an outside reference: the same layers and networks built by
python3-torch from their own source and timed by torch.utils.benchmark (Timer, blocked_autorange).

    agreement.py [--rounds 15] [--core 0] [--minutes 20] [--fresh]        COBRA_BIN: where the
                                                                          programs are; leave the
                                                                          machine alone meanwhile

Both sides read the same source: 40 layers of data/layers written out as torch modules, and
torchvision's own files. Each subject lives in two processes at once, which are measured in turns, a
quarter of a second each, the first alternating, fifteen times (cobra-worker measure --in-turns);
the median of the fifteen ratios counts. What a shared machine does to both cancels out.

The same for both sides: one core, to which both are pinned; one thread; OPENBLAS_CORETYPE;
inference mode; random inputs; processes forked from one that has LibTorch loaded (ours: started
anew); and the heap retained (mallopt as worker/execute/executor.cc does it, docs/targets.md says why).

Not the same: our calls come from C++, theirs from Python, whose interpreter takes several
microseconds a call. Nothing is subtracted. For single layers it does not matter (they take 100 us
and more). A small network has some 150 calls in 10 ms, and there it does, so that networks have a
second reference: the same module's calls recorded once by torch.jit.trace, as a function whose
weights are constants, and run without optimisation, timed by the same Timer: the same calls without
an interpreter of Python between them. (Traced as a module, TorchScript walks from submodule to
submodule for each weight at each call, which takes 7 to 9 us a call: in one process, alternating
with ours, MobileNetV2 was 8 % slower so at 224 x 224 and 20 % at 32 x 32, and as a function 0 % and
1 to 4 %.) A record says what LibTorch takes (worker/execute/executor.h), so that the second is what it must
agree with; the first is printed beside it.

Passed: layers against the module, median of |difference| under 3 %; networks against the recorded
calls, median under 3 %, none over 8 %. Every figure goes into build/agreement.jsonl at once; a
second run goes on from there (--fresh: anew)."""
import argparse
import contextlib
import ctypes
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import warnings

from agreement_subjects import LIBRARY, SOURCE, all_subjects
from in_turns import TimedGraph

BIN = os.path.abspath(os.environ.get("COBRA_BIN", os.path.join(SOURCE, "build", "release", "bin")))
STATE = os.path.join(SOURCE, "build", "agreement.jsonl")
SECONDS = 0.2  # blocked_autorange runs at least so long


def read_graph(subject):
    """The graph that our reader makes of the source."""
    inputs = [part for shape in subject.inputs for part in ("--input", "x".join(map(str, shape)))]
    library = ["--library", LIBRARY] if subject.is_network else []
    answer = subprocess.run(
        [
            os.path.join(BIN, "cobra-client"),
            "graph",
            subject.file,
            "--entry",
            subject.entry,
            *library,
            *inputs,
            "--format",
            "json",
        ],
        check=True,
        capture_output=True,
    )
    return json.loads(answer.stdout)


def our_side(subject, folder, core):
    return TimedGraph(BIN, json.dumps(read_graph(subject)), os.path.join(folder, "graph.json"), core)


# ---- theirs ----
def build_module(subject):
    if subject.is_network:
        import torchvision

        return eval("torchvision.models." + subject.entry)  # ours reads the same expression in the file that defines it
    namespace = {}
    with open(subject.file) as file:
        exec(compile(file.read(), subject.file, "exec"), namespace)
    return eval(subject.entry, namespace)


def median_us(module, inputs, seconds):
    from torch.utils.benchmark import Timer

    until, calls = time.perf_counter() + 0.05, 0
    while time.perf_counter() < until or calls < 3:
        module(*inputs)
        calls += 1
    return (
        Timer("module(*inputs)", globals={"module": module, "inputs": inputs}, num_threads=1)
        .blocked_autorange(min_run_time=seconds)
        .median
        * 1e6
    )


@contextlib.contextmanager
def shapes_as_numbers():
    """Sizes asked for while a trace goes on are numbers, as they are in an eager run, and no
    tensors to reckon with."""
    import torch

    of_tensor, size = torch.Tensor.shape, torch.Tensor.size
    torch.Tensor.shape = property(lambda self: torch.Size(int(n) for n in of_tensor.__get__(self)))
    torch.Tensor.size = lambda self, dim=None: self.shape if dim is None else self.shape[dim]
    try:
        yield
    finally:
        torch.Tensor.shape, torch.Tensor.size = of_tensor, size


def record(module, inputs):
    """The module's calls, its weights as constants."""
    import torch

    module.requires_grad_(False)
    with torch.no_grad(), shapes_as_numbers():
        return torch.jit.trace(lambda *x: module(*x), tuple(inputs), check_trace=False)


def prepare_theirs(subject, core):
    """In a forked child: a function that times once, {"module": us, "recorded": us for a
    network}."""
    import torch

    warnings.filterwarnings("ignore", category=torch.jit.TracerWarning)
    os.sched_setaffinity(0, {core})
    libc = ctypes.CDLL(None)
    for parameter, value in ((-3, 32 << 20), (-1, 2**31 - 1)):  # M_MMAP_THRESHOLD, M_TRIM_THRESHOLD
        if libc.mallopt(parameter, value) != 1:
            raise RuntimeError("mallopt refused")
    torch.set_num_threads(1)
    module = build_module(subject).eval()
    inputs = [torch.randn(*shape) for shape in subject.inputs]
    recorded = record(module, inputs) if subject.is_network else None

    def once():
        times = {}
        with torch.inference_mode():
            times["module"] = median_us(module, inputs, SECONDS)
        if recorded is not None:
            with torch.inference_mode(), torch.jit.optimized_execution(False):
                times["recorded"] = median_us(recorded, inputs, SECONDS)
        return times

    return once


def serve_theirs(subject, core, asked, answers):
    once = prepare_theirs(subject, core)
    answers.write("ready\n")
    answers.flush()
    for _ in asked:
        answers.write(json.dumps(once()) + "\n")
        answers.flush()


class Theirs:
    """A forked child with the module, timed whenever it is asked."""

    def __init__(self, subject, core):
        asked, answers = os.pipe(), os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            os.close(asked[1])
            code = 1
            try:
                with os.fdopen(asked[0]) as read, os.fdopen(answers[1], "w") as write:
                    serve_theirs(subject, core, read, write)
                code = 0
            except BaseException as error:  # pylint: disable=broad-except
                print(f"{subject.name}: {type(error).__name__}: {error}", file=sys.stderr, flush=True)
            finally:
                os._exit(code)
        os.close(asked[0])
        os.close(answers[1])
        self.asked, self.answers = os.fdopen(asked[1], "w"), os.fdopen(answers[0])

    def __enter__(self):
        if self.answers.readline() != "ready\n":
            self.__exit__()
            raise RuntimeError("python3-torch could not measure it")
        return self

    def __exit__(self, *_):
        for end in (self.asked, self.answers):
            try:
                end.close()
            except BrokenPipeError:
                pass
        os.waitpid(self.pid, 0)

    def measure(self):
        self.asked.write("\n")
        self.asked.flush()
        answer = self.answers.readline()
        if not answer:
            raise RuntimeError("python3-torch could not measure it")
        return json.loads(answer)


# ---- the series ----
def read_state(fresh):
    """What an interrupted run of the same cobra-worker has measured: {(name, round): {"ours",
    "module", "recorded"}}."""
    worker = os.stat(os.path.join(BIN, "cobra-worker"))
    head = {"worker": [worker.st_size, int(worker.st_mtime)]}
    done = {}
    if not fresh and os.path.exists(STATE):
        with open(STATE) as file:
            lines = [json.loads(line) for line in file if line.endswith("\n")]
        if lines and lines[0] == head:
            done = {(line["name"], line["round"]): line["us"] for line in lines[1:]}
    if not done:
        os.makedirs(os.path.dirname(STATE), exist_ok=True)
        with open(STATE, "w") as file:
            file.write(json.dumps(head) + "\n")
    return done


def measure_rounds(subject, rounds, folder, core):
    """Yields (round, {"ours", "module", "recorded"})."""
    with Theirs(subject, core) as theirs, our_side(subject, folder, core) as ours:
        for number in rounds:
            first = ours.measure() if number % 2 == 0 else None
            us = theirs.measure()
            yield number, {"ours": ours.measure() if first is None else first, **us}


def run(options, subjects, folder, done):
    """{name: why it could not be measured}."""
    until = time.time() + 60 * options.minutes
    failed = {}
    for subject in subjects:
        missing = [number for number in range(options.rounds) if (subject.name, number) not in done]
        if not missing or time.time() > until:
            continue
        if sys.stderr.isatty():
            print(f"\r{subject.name[:70]:70}", end="", file=sys.stderr, flush=True)
        try:
            for number, us in measure_rounds(subject, missing, folder, options.core):
                done[subject.name, number] = us
                with open(STATE, "a") as file:
                    file.write(json.dumps({"name": subject.name, "round": number, "us": us}) + "\n")
        except RuntimeError as error:
            failed[subject.name] = str(error)
    return failed


def rounds_of(done, name):
    return [us for (subject, _), us in sorted(done.items()) if subject == name]


def median_us_of(rounds, side):
    return statistics.median(us[side] for us in rounds)


def difference(rounds, side):
    """Median over the rounds, percent."""
    return statistics.median(percent(us["ours"], us[side]) for us in rounds)


def percent(ours, theirs):
    return 100 * (ours / theirs - 1)


def print_table(subjects, done):
    """Prints one line per subject; {"layers": [...], "networks": [...], "networks, from Python":
    [...]}: differences in percent."""
    differences = {"layers": {}, "networks": {}, "networks, from Python": {}}
    print(
        f"{'':52} {'ours':>11} {'python':>11} {'':>7} {'recorded':>11} {'':>7} rounds   microseconds; difference of ours in percent"
    )
    for subject in subjects:
        rounds = rounds_of(done, subject.name)
        if not rounds:
            continue
        to_module = difference(rounds, "module")
        line = f"{subject.name[:52]:52} {median_us_of(rounds, 'ours'):11.1f} {median_us_of(rounds, 'module'):11.1f} {to_module:+7.1f}"
        if subject.is_network:
            to_recorded = difference(rounds, "recorded")
            line += f" {median_us_of(rounds, 'recorded'):11.1f} {to_recorded:+7.1f}"
            differences["networks"][subject.name] = to_recorded
            differences["networks, from Python"][subject.name] = to_module
        else:
            line += " " * 20
            differences["layers"][subject.name] = to_module
        print(f"{line} {len(rounds):6}")
    return differences


def print_verdict(differences, missing):
    passed = not missing
    for what, of_subject in differences.items():
        if not of_subject:
            passed = False
            continue
        sizes = [abs(difference) for difference in of_subject.values()]
        worst = max(of_subject, key=lambda name: abs(of_subject[name]))
        print(
            f"{what}: {len(sizes)}, median |difference| {statistics.median(sizes):.2f} %, median difference {statistics.median(of_subject.values()):+.2f} %, "
            f"worst {of_subject[worst]:+.1f} % ({worst})"
        )
        if what != "networks, from Python":
            passed = passed and statistics.median(sizes) < 3
        if what == "networks":
            passed = passed and max(sizes) <= 8
    print("passed" if passed else "FAILED")
    return passed


def with_environment():
    """BLAS kernels and threads as cobra-worker chooses them; before LibTorch is loaded, so this
    program starts again."""
    if (
        os.environ.get("OPENBLAS_NUM_THREADS") == "1"
        and os.environ.get("OMP_NUM_THREADS") == "1"
        and "AGREEMENT" in os.environ
    ):
        return
    with open("/proc/cpuinfo") as file:
        flags = next((line for line in file if line.startswith("flags")), "").split()
    core_type = "SkylakeX" if "avx512f" in flags else "Haswell" if "avx2" in flags else ""
    if core_type:
        os.environ.setdefault("OPENBLAS_CORETYPE", core_type)
    os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1", AGREEMENT="1")
    os.execv(sys.executable, [sys.executable, *sys.argv])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--core", type=int, default=0)
    parser.add_argument("--minutes", type=float, default=20)
    parser.add_argument("--fresh", action="store_true")
    options = parser.parse_args()
    with_environment()
    import torch  # once, here: the children that measure are forked
    import torchvision
    import torch.utils.benchmark  # noqa: F401

    with tempfile.TemporaryDirectory() as folder:
        subjects = all_subjects(folder)
        done = read_state(options.fresh)
        print(
            f"PyTorch {torch.__version__}, torchvision {torchvision.__version__}, OPENBLAS_CORETYPE {os.environ.get('OPENBLAS_CORETYPE', 'default')}, "
            f"core {options.core}, heap retained on both sides, load before {os.getloadavg()[0]:.2f}"
        )
        failed = run(options, subjects, folder, done)
        if sys.stderr.isatty():
            print("\r" + " " * 80, end="\r", file=sys.stderr)
        differences = print_table(subjects, done)
        missing = {
            subject.name: failed.get(subject.name, "no time left: run again")
            for subject in subjects
            if (subject.name, options.rounds - 1) not in done
        }
        for name, why in missing.items():
            print(f"{name}: not measured: {why}")
        sys.exit(0 if print_verdict(differences, missing) else 1)


main()
