"""Importing this goes on in Debian's Python, which has python3-torch; exit 77 where it has not. A
script that answer() of exported.py runs in another Python (--answer) stays there."""
import os, subprocess, sys

PYTHON = "/usr/bin/python3"
if sys.executable != PYTHON and "--answer" not in sys.argv:
    if subprocess.run([PYTHON, "-c", "import torch, numpy"], capture_output=True).returncode != 0:
        print("python3-torch is missing")
        sys.exit(77)
    os.execv(PYTHON, [PYTHON] + sys.argv)
