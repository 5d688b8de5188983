"""ONNX models that are written compute what LibTorch's executor computes: calls of every operator,
programs that write through views, networks of torchvision; and the reader gets the network back.

    onnx_runtime_test.py            as ctest runs it
    onnx_runtime_test.py --long     many more networks (scripts/test-long.sh onnx-out)

Exit 77 without ONNX Runtime (build/pypi-onnx, which scripts/setup.sh --pypi installs).
"""
import json, os, subprocess, sys, tempfile

SOURCE = os.environ.get("COBRA_SOURCE", os.getcwd())
PACKAGES = os.path.join(SOURCE, "build/pypi-onnx")
PYTHON = os.path.join(SOURCE, "build/pypi/bin/python3")
if not os.path.isdir(os.path.join(PACKAGES, "onnxruntime")) or not os.path.exists(PYTHON):
    print("ONNX Runtime is missing: scripts/setup.sh --pypi installs it")
    sys.exit(77)
if os.environ.get("PYTHONPATH") != PACKAGES:  # its packages are not Debian's
    os.execve(PYTHON, [PYTHON] + sys.argv, dict(os.environ, PYTHONPATH=PACKAGES))

import numpy
import onnx
import onnxruntime

from exported import BIN, HEAD, PROGRAMS, check_network, fault_in, inputs_of, networks, programs, run, write_cases

# ONNX Runtime's Python has no type for its results.
NOT_COMPARED = ("bfloat16", "empty")
# Networks whose nodes are one for each call: the reader gets the same graph.
SAME = ("resnet18()", "densenet121()")
SAME_LONG = ("alexnet()", "vgg11_bn()", "squeezenet1_1()", "resnet50()", "resnext50_32x4d()", "wide_resnet50_2()")


def session_of(path):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def fault_of(folder, case):
    """What is wrong with a model; None if nothing is."""
    path = os.path.join(folder, case["name"] + ".onnx")
    try:
        onnx.checker.check_model(path, full_check=True)
        session = session_of(path)
        feed = dict(zip((i.name for i in session.get_inputs()), inputs_of(folder, case)))
        got = session.run(None, feed)
    except Exception as error:
        return "%s: %s" % (type(error).__name__, " ".join(str(error).split())[:300])
    return fault_in(folder, case, got)


def check_cases(folder):
    cases = write_cases("onnx", folder)
    faults, compared, refused = [], set(), set()
    for case in cases:
        if "refused" in case:
            refused.add(case["op"])
        elif "not_run" not in case and case["op"] not in NOT_COMPARED:
            fault = fault_of(folder, case)
            compared.add(case["op"])
            if fault:
                faults.append("%s: %s" % (case["name"], fault))
    not_run = sorted({c["op"] for c in cases if "not_run" in c} - compared)
    print(
        "%d calls of %d operators compared; %d operators refused; not run by LibTorch: %s"
        % (len(cases), len(compared), len(refused - compared), ", ".join(not_run) or "none")
    )
    for case in cases:
        if "refused" in case and "--refused" in sys.argv:
            print("refused", case["name"], case["refused"])
    return faults


def check_command_line(folder):
    """cobra-client writes the file itself; the weights' file is one that others can read."""
    out = os.path.join(folder, "net.onnx")
    with open(os.path.join(folder, "net.py"), "w", encoding="utf-8") as file:
        file.write(HEAD + PROGRAMS["known constants"])
    arguments = [os.path.join(folder, "net.py"), "--entry", "Net()", "--input", "4x4", "--format", "onnx"]
    run(os.path.join(BIN, "cobra-client"), "graph", *arguments, "--out", out)
    got = session_of(out).run(None, {"input0": numpy.zeros((4, 4), numpy.float32)})[0]
    table = numpy.arange(12, dtype=numpy.float32).reshape(3, 4)[[2, 0, 1]]
    want = numpy.where(numpy.tril(numpy.ones((3, 4))) > 0, table, -numpy.inf)
    faults = [] if numpy.array_equal(got, want) else ["values of constants: %s" % got]
    with open(os.path.join(folder, "net.safetensors"), "rb") as file:
        data = file.read()
    length = int.from_bytes(data[:8], "little")
    ends = [e["data_offsets"][1] for e in json.loads(data[8 : 8 + length]).values()]
    if max(ends) != len(data) - 8 - length:
        faults.append("net.safetensors: %d bytes of data, its header says %d" % (len(data) - 8 - length, max(ends)))
    done = subprocess.run([os.path.join(BIN, "cobra-client"), "graph", *arguments], capture_output=True, text=True)
    if done.returncode != 2 or "--out" not in done.stderr:
        faults.append("without --out: %d, %s" % (done.returncode, done.stderr))
    return faults


def main():
    faults = []
    with tempfile.TemporaryDirectory() as folder:
        faults += check_cases(folder)
    with tempfile.TemporaryDirectory() as folder:
        for name, arguments in programs(folder):
            faults += check_network("onnx", folder, name, arguments, fault_of)
        faults += check_command_line(folder)
        for entry, arguments in networks("--long" in sys.argv):
            faults += check_network("onnx", folder, entry, arguments, fault_of, entry in SAME + SAME_LONG)
    return faults


if __name__ == "__main__":
    wrong = main()
    print("\n".join(wrong))
    sys.exit(1 if wrong else 0)
