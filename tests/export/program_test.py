"""PyTorch programs that are written compute what LibTorch's executor computes: calls of every
operator, programs that write through views, networks of torchvision. In the PyTorch of Debian's
Python, and in 2.13 where it is installed.

    program_test.py            as ctest runs it
    program_test.py --long     many more networks (scripts/test-long.sh python-out)

Exit 77 without python3-torch.
"""
import sys, tempfile

from debian_python import PYTHON
from exported import NEWER, answers, compute, fault_in, networks, programs, run_test, write_cases, write_network

# Other numbers in each run.
RANDOM = (
    "new empty rand randn randint randperm normal uniform bernoulli gumbel_softmax exponential log_normal cauchy geometric random empty_like"
).split()
# Eigenvectors have either sign; a variance of random numbers is negative; LibTorch has defaults
# that Python has not; the CPU's grouped product wants rows of 16 bytes.
NOT_COMPARED = ["linalg_eigh", "linalg_eig", "gaussian_nll_loss", "_threshold", "_grouped_mm"]
# torch.nn.functional has them from 2.0, 2.4.
LATER = ["scaled_dot_product_attention", "rms_norm"]
# build/runtimes has no torchvision.
OF_TORCHVISION = ["roi_align", "deform_conv2d"]


def fault_of(folder, case):
    import torch

    try:
        outputs = [x.contiguous().to(torch.float64).numpy() for x in compute(folder, case)]
        return fault_in(folder, case, outputs)
    except Exception as error:
        return "%s: %s" % (type(error).__name__, " ".join(str(error).split())[:300])


def compare(folder, cases, python):
    left_out = RANDOM + NOT_COMPARED + (LATER if python == PYTHON else OF_TORCHVISION)
    compared = [c for c in cases if "refused" not in c and "not_run" not in c and c["op"] not in left_out]
    return answers(__file__, folder, compared, python)


def main():
    faults = []
    pythons = [PYTHON] + ([NEWER] if NEWER else [])
    if len(pythons) == 1:
        print("build/runtimes is missing (scripts/setup.sh --runtimes): PyTorch 2 is not tried")

    def note(folder, name, cases):
        for python in pythons:
            found = compare(folder, cases, python)
            wrong = ["%s %s: %s" % (name, which, fault) for which, fault in found.items() if fault]
            print("%s %s: %d as LibTorch computes them" % (python, name, len(found) - len(wrong)), flush=True)
            faults.extend("%s %s" % (python, line) for line in wrong)

    with tempfile.TemporaryDirectory() as folder:
        cases = write_cases("py", folder)
        for case in cases:
            if "refused" in case or "not_run" in case:
                print(case["name"], case.get("refused") or case["not_run"])
        note(folder, "calls", cases)
    with tempfile.TemporaryDirectory() as folder:
        for entry, arguments in list(programs(folder)) + list(networks("--long" in sys.argv)):
            note(folder, entry, [write_network("py", folder, arguments)])
    return faults


if __name__ == "__main__":
    run_test(main, fault_of)
