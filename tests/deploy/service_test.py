#!/usr/bin/env python3
"""The hardening of cobra-server.service: the server reads, predicts and reloads where no memory may
become code."""
import ctypes
import os
import signal
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
import programs  # noqa: E402

# systemd's MemoryDenyWriteExecute= sets it where the kernel has it (6.3 and later); children
# inherit it.
PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN = 65, 1
WRAPPER = (
    sys.executable,
    "-c",
    "import ctypes, os, sys; "
    f"assert ctypes.CDLL(None).prctl({PR_SET_MDWE}, {PR_MDWE_REFUSE_EXEC_GAIN}, 0, 0, 0) == 0; "
    "os.execv(sys.argv[1], sys.argv[1:])",
)
NET = "import torch.nn as nn\n\n\ndef net():\n    return nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU())\n"


def kernel_has_it():
    child = os.fork()
    if child == 0:
        os._exit(ctypes.CDLL(None).prctl(PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN, 0, 0, 0) != 0)
    return os.waitpid(child, 0)[1] == 0


class ServiceTest(unittest.TestCase):
    def test_no_memory_becomes_code(self):
        with open(os.path.join(programs.SOURCE, "deploy", "cobra-server.service.in")) as file:
            self.assertIn("MemoryDenyWriteExecute=yes", file.read())
        if not kernel_has_it():
            self.skipTest("this kernel cannot refuse it")
        with tempfile.TemporaryDirectory() as folder:
            net = os.path.join(folder, "net.py")
            with open(net, "w") as file:
                file.write(NET)
            with programs.Server(os.path.join(folder, "store.sqlite"), wrapper=WRAPPER) as server:
                question = ("predict", net, "--entry", "net()", "--input", "1x3x32x32", "--server", server.address)
                question += ("--target", "cpu-epyc-genoa-1t", "--send", "source", "--format", "json")
                first = programs.client(*question)
                self.assertEqual(first.code, 0, first.err)
                server.process.send_signal(signal.SIGHUP)
                time.sleep(1)
                again = programs.client(*question)
                self.assertEqual(again.json()["predictions"], first.json()["predictions"])
                self.assertEqual(server.stop(), 0, server.log())


if __name__ == "__main__":
    unittest.main()
