#!/usr/bin/env python3
"""The portable programs on an old machine, emulated by qemu: a kernel of Debian 11 (5.10), a
processor without AVX, a file system with nothing but busybox and the archive.
    tests/portable/old_machine.py [--processor Nehalem] [--memory 1024]
scripts/portable-roots.sh gets the kernel. Exit code 1: an answer differs from the ordinary build's."""
import argparse
import base64
import glob
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time

import roots

INIT = """#!/bin/busybox sh
/bin/busybox --install -s /bin
export PATH=/bin HOME=/root
mount -t proc proc /proc
mount -t devtmpfs dev /dev
mount -t tmpfs tmp /tmp
ip link set lo up
uname -sr
grep -m1 'model name' /proc/cpuinfo
cd /work
{questions}
poweroff -f
"""
ASK = """start=$(cut -d' ' -f1 /proc/uptime)
/opt/cobra/bin/cobra-client {words} >/tmp/out 2>/tmp/err
code=$?
echo "answer {number} $code $start $(cut -d' ' -f1 /proc/uptime)"
base64 /tmp/out
echo "errors {number}"
tail -n 5 /tmp/err
echo "end {number}"
"""


def make_image(folder, questions):
    """The first file system of the kernel, as a file."""
    tree = os.path.join(folder, "tree")
    for name in ("bin", "proc", "dev", "tmp", "root"):
        os.makedirs(os.path.join(tree, name))
    roots.unpack(tree)
    shutil.copytree(os.path.join(folder, "work"), os.path.join(tree, "work"))
    shutil.copy(os.path.join(roots.ROOTS, "busybox", "bin", "busybox"), os.path.join(tree, "bin"))
    asked = "".join(ASK.format(words=shlex.join(question), number=i) for i, question in enumerate(questions))
    with open(os.path.join(tree, "init"), "w") as file:
        file.write(INIT.format(questions=asked))
    os.chmod(os.path.join(tree, "init"), 0o755)
    image = os.path.join(folder, "image")
    busybox = os.path.join(tree, "bin", "busybox")
    command = (
        f"cd {shlex.quote(tree)} && find . | {busybox} cpio -o -H newc 2>/dev/null | gzip -1 >{shlex.quote(image)}"
    )
    subprocess.run(["sh", "-c", command], check=True)
    return image


def boot(kernel, image, arguments):
    command = ["qemu-system-x86_64", "-accel", "tcg", "-cpu", arguments.processor, "-m", arguments.memory]
    command += [
        "-smp",
        "2",
        "-kernel",
        kernel,
        "-initrd",
        image,
        "-append",
        "console=ttyS0 quiet panic=-1",
        "-no-reboot",
    ]
    return subprocess.run(
        [*command, "-display", "none", "-serial", "stdio", "-monitor", "none"], capture_output=True, timeout=1800
    )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--processor", default="Nehalem", help="of qemu's (qemu-system-x86_64 -cpu help)")
    parser.add_argument("--memory", default="1024", help="MB; the file system takes a part of it")
    arguments = parser.parse_args()
    roots.archive()
    kernels = glob.glob(os.path.join(roots.ROOTS, "kernel", "vmlinuz-*"))
    if not kernels or not shutil.which("qemu-system-x86_64"):
        roots.skip(
            "no kernel (scripts/portable-roots.sh gets one) or no qemu-system-x86_64 (apt install qemu-system-x86)"
        )
    with tempfile.TemporaryDirectory() as folder:
        questions = roots.make_models(os.path.join(folder, "work"))
        expected = roots.ordinary_answers(questions, os.path.join(folder, "work"))
        began = time.monotonic()
        booted = boot(kernels[-1], make_image(folder, questions), arguments)
    printed = booted.stdout.decode(errors="replace").replace("\r", "")
    print("".join(re.findall(r"^(?:Linux .*|model name.*)\n", printed, re.M)), end="")
    right = 0
    for i, (question, answer) in enumerate(zip(questions, expected)):
        found = re.search(rf"^answer {i} (\d+) (\S+) (\S+)\n(.*?)^errors {i}\n(.*?)^end {i}$", printed, re.M | re.S)
        if found is None:
            print(f"{question[1]}: no answer; the machine printed at last:\n{printed[-2000:]}{booted.stderr.decode()}")
            break
        same = base64.b64decode(found[4]) == answer
        right += same
        print(
            f"{question[1]}: exit {found[1]} after {float(found[3]) - float(found[2]):.1f} s, {'the same bytes' if same else 'OTHER BYTES'}"
        )
        if not same:
            print(base64.b64decode(found[4]).decode(errors="replace")[:2000], found[5])
    print(
        f"old machine: {right} of {len(questions)} answers have the same bytes, {time.monotonic() - began:.0f} s with its start"
    )
    return right != len(questions)


if __name__ == "__main__":
    sys.exit(main())
