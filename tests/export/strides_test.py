"""The strides that graph/shape/layout.h computes are PyTorch's: a call of each operator on a
transposed tensor, on one that is channels last, on every second element of one, and with a
transposed second operand. In 1.13 and, where it is installed, in 2.13. Strides of dimensions of one
element, and of tensors without elements, do not matter.

Exit 77 without python3-torch.
"""
import json, os, re, sys, tempfile

from debian_python import PYTHON
from exported import BIN, NEWER, answers, compute, run, run_test

# What is not computed, as OPERATOR-VARIANT: transforms, whose order depends on the library that
# computes them; LAPACK's rarer results; copies that keep gaps; weights in another order; a tensor
# of one index that is a number.
LEFT = """fft_.* unsafe_.* gradient-.* linalg_lstsq-.* linalg_tensorinv-.* (linalg_)?svd-.* stft-.* (linalg_)?matrix_exp-.*
    (select|slice|diagonal)_scatter-2 conj_physical-2 dequantize-2 getitem-[23] conv1d-3 conv_transpose1d-3 gru_cell-3
    _grouped_mm-3""".split()
# What 1.13 does otherwise.
LEFT_OF_OLDER = "rpow-.* pad-1 prelu-.* interpolate-1 max_pool3d-1 conv_transpose2d-1".split()


def plain(shape, strides):
    return [stride for size, stride in zip(shape, strides) if size > 1] if 0 not in shape else []


def strides_of(folder, case):
    """Of each output; or why it cannot run."""
    try:
        return [plain(x.shape, x.stride()) for x in compute(folder, case)]
    except Exception as error:
        return "%s: %s" % (type(error).__name__, " ".join(str(error).split())[:200])


def main():
    faults = []
    with tempfile.TemporaryDirectory() as folder:
        cases = [
            json.loads(line) for line in run(os.path.join(BIN, "export_network"), "--strides", folder).splitlines()
        ]
        for python in [PYTHON, NEWER]:
            if python is None:
                print("build/runtimes is missing (scripts/setup.sh --runtimes): PyTorch 2 is not tried")
                continue
            found = answers(__file__, folder, cases, python)
            same = 0
            left = re.compile("|".join(LEFT + (LEFT_OF_OLDER if python == PYTHON else [])))
            for case in cases:
                if isinstance(found.get(case["name"]), str):
                    if "--errors" in sys.argv:
                        print(python, case["name"], found[case["name"]])
                    continue
                ours = [plain(shape, strides) for shape, strides in zip(case["outputs"], case["strides"])]
                same += found.get(case["name"]) == ours
                variant = case["name"].split("-", 1)[1]
                if found.get(case["name"]) != ours and not left.fullmatch(variant):
                    faults.append("%s %s: %s, ours %s" % (python, case["name"], found.get(case["name"]), ours))
            ran = sum(not isinstance(value, str) for value in found.values())
            print("%s: strides of %d of %d calls are the same; %d do not run" % (python, same, ran, len(cases) - ran))
            if ran < len(cases) * 0.9:
                faults.append("%s ran too few calls" % python)
    return faults


if __name__ == "__main__":
    run_test(main, strides_of)
