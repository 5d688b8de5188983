#!/usr/bin/python3
"""Names of SciPy that the reader has, and the filters of PyWavelets, against what SciPy 1.17 and
PyWavelets 1.9 say: every line of scipy_cases.txt is an expression and what they made of it. Whether
a wavelet has a table only is exit 4 and named.

  scipy_test.py             --record: asks them anew (with a Python that has them)
"""
import json
import math
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
BIN = os.environ.get("COBRA_BIN", "build/release/bin")
CASES = HERE + "/scipy_cases.txt"
HEAD = """import numpy as np
import scipy
import scipy.fft
import scipy.fftpack
import scipy.optimize
from scipy import signal
from scipy.signal import get_window, windows
import pywt


def plain(v):
    if isinstance(v, (list, tuple)):
        return [plain(e) for e in v]
    if isinstance(v, np.ndarray):
        return [str(v.dtype), plain(v.tolist())]
    if isinstance(v, complex):
        return [v.real, v.imag]
    return v if isinstance(v, (str, bool, type(None))) else float(v)


def raised(f):
    try:
        f()
    except Exception as e:
        return type(e).__name__


def show(f):
    try:
        text = repr(plain(f()))
    except Exception as e:
        text = type(e).__name__ + ": " + str(e)
    raise KeyboardInterrupt(text)
"""
REFUSED = {
    "windows.dpss(8, 2)": "scipy.signal.windows.dpss() is not supported",
    "signal.butter(2, 0.5)": "scipy.signal.butter() is not supported",
    "scipy.ndimage.zoom(np.ones(3), 2)": "scipy.ndimage.zoom() is not supported",
    "pywt.Wavelet('coif2')": "pywt.Wavelet('coif2') is not supported",
    "pywt.dwt([1.0, 2.0], 'db1')": "pywt.dwt() is not supported",
}


def same(a, b, near):
    """near: relative; the tables of PyWavelets have fewer right digits than their formulas."""
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(same(x, y, near) for x, y in zip(a, b))
    if all(isinstance(v, (int, float)) and not isinstance(v, bool) for v in (a, b)):
        return a == b or math.isclose(a, b, rel_tol=near, abs_tol=1e-14) or (math.isnan(a) and math.isnan(b))
    return type(a) is type(b) and a == b


def lines():
    with open(CASES) as file:
        return [line.rstrip("\n").partition("\t")[::2] for line in file if line.strip()]


def record():
    space = {}
    exec(HEAD, space)
    with open(CASES + ".new", "w") as file:
        for expression, _ in lines():
            try:
                exec(f"show(lambda: {expression})", space)
            except KeyboardInterrupt as e:
                rounded = re.sub(
                    r"-?\d+\.\d+(e-?\d+)?", lambda n: "%.14g" % float(n[0]) if float(n[0]) % 1 else n[0], str(e)
                )
                file.write(f"{expression}\t{rounded}\n")
    os.replace(CASES + ".new", CASES)


def library(folder):
    """A package that looks like PyWavelets: Python around extensions that cannot run here."""
    os.makedirs(folder + "/pywt/_extensions")
    for name in ("_pywt", "_dwt", "_swt"):
        open(f"{folder}/pywt/_extensions/{name}.cpython-311-x86_64-linux-gnu.so", "w").close()
    open(folder + "/pywt/_extensions/__init__.py", "w").close()
    with open(folder + "/pywt/__init__.py", "w") as file:
        file.write(
            "from ._extensions._pywt import *\n"
            "from ._extensions import _dwt\n"
            "from ._extensions._swt import swt_max_level\n"
            "dwt_coeff_len = lambda n, f, mode: _dwt.dwt_coeff_len(n, f, Modes.from_object(mode))\n"
            "dwt_max_level = _dwt.dwt_max_level\n"
            "dwt = lambda data, wavelet: _dwt.dwt_single(data, Wavelet(wavelet), 0)\n"
        )


def answers(expressions):
    """The text that each expression makes, or the error that it is refused with."""
    with tempfile.TemporaryDirectory() as folder:
        library(folder + "/library")
        path = folder + "/cases.py"
        with open(path, "w") as file:
            file.write(HEAD)
        requests = "".join(f"{path}\tshow(lambda: {expression})\t1\n" for expression in expressions)
        command = [BIN + "/read_model", "--batch", "--library", folder + "/library"]
        done = subprocess.run(command, input=requests, capture_output=True, text=True)
    errors = [json.loads(line).get("error", "no error") for line in done.stdout.splitlines()]
    if len(errors) != len(expressions):
        sys.exit(done.stderr[:500])
    return errors


def main():
    if "--record" in sys.argv:
        return record()
    wrong, cases = 0, lines()
    for (expression, want), error in zip(cases, answers([expression for expression, _ in cases])):
        raised = re.search("(?s)KeyboardInterrupt: (.*?)(\nhint: .*)?$", error)
        have = raised.group(1) if raised else error
        try:
            values = [eval(text, {"nan": math.nan}) for text in (want, have)]
            equal = same(*values, 1e-11 if "pywt" in expression else 1e-12)
        except (SyntaxError, NameError):
            equal = want == have
        if not equal:
            wrong += 1
            print(f"DIFFERS  {expression}\n   SciPy {want[:300]}\n   ours  {have[:300]}")
    for (expression, words), error in zip(REFUSED.items(), answers(list(REFUSED))):
        if words not in error:
            wrong += 1
            print(f"NOT REFUSED  {expression}\n   {error[:300]}")
    print(f"{len(cases)} expressions, {len(REFUSED)} refusals, {wrong} wrong")
    return 1 if wrong or not cases else 0


if __name__ == "__main__":
    sys.exit(main())
