#!/usr/bin/python3
"""The portable programs of aarch64 on a Debian kernel for aarch64, in an emulated machine.

aarch64_boot.py KERNEL BUSYBOX COBRA HERE: COBRA is the static program, HERE the same one for this
machine. The emulated machine has two cores, 512 MB and nothing but busybox and COBRA. A server
starts, confines its readers (seccomp) and answers; so does one that the client starts itself; the
answers are those of this machine, byte for byte. Prints what was found, exits 1 if anything differs.
"""

import difflib
import os
import re
import shutil
import subprocess
import sys
import tempfile

SOURCE = os.environ.get("COBRA_SOURCE", os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
PROGRAMS = ("client", "server", "reader", "worker")
DATA = ("model/pretrained", "data/devices", "data/layers", "data/lists", "data/networks", "worker/runners")
TARGETS = "cpu-epyc-genoa-1t,cpu-epyc-turin-1t"
QUESTIONS = (
    "predict gpt.py --entry GPT(GPTConfig(layers=6)) --input 1x256:int64 --format json",
    "explain gpt.py --entry GPT(GPTConfig(layers=2)) --input 1x64:int64 --format json",
)
MINUTES = 20

# What the machine does. Lines between "<<< NAME" and ">>>" are what a check looks at.
INIT = """#!/bin/busybox sh
/bin/busybox --install -s /bin
export PATH=/bin:/cobra/bin HOME=/home
mount -t proc proc /proc; mount -t sysfs sys /sys; mount -t devtmpfs dev /dev; mount -t tmpfs tmp /tmp
ifconfig lo 127.0.0.1
cd /home
part() { echo "<<< $1"; shift; "$@" 2>/tmp/errors; s=$?; [ $s = 0 ] || cat /tmp/errors; echo "status $s"; echo ">>>"; }
part kernel uname -rm
part page sh -c "grep -m 1 KernelPageSize /proc/self/smaps | tr -s ' ' | cut -d ' ' -f 2-"
cobra-server --listen unix:/tmp/server --metrics "" --store /tmp/store.sqlite --ready-file /tmp/ready >/tmp/log 2>&1 &
for i in $(seq 600); do [ -e /tmp/ready ] && break; sleep 1; done
part log cat /tmp/log
%s
# While it reads: the process that forks readers is not confined, they are.
confined() { for id in $(pidof cobra-reader); do grep Seccomp: /proc/$id/status; done | grep 2; }
cobra-client predict gpt.py --entry 'GPT(GPTConfig(layers=9))' --input 1x64:int64 --target cpu-epyc-genoa-1t \\
  --server unix:/tmp/server >/dev/null 2>&1 &
for i in $(seq 600); do readers=$(confined) && break; sleep 0.1; done
part readers echo "$readers"
wait $!
part own cobra-client predict gpt.py --entry 'GPT(GPTConfig(layers=2))' --input 1x64:int64 --target cpu-epyc-genoa-1t
part doctor cobra-client doctor
part memory cat /proc/meminfo
poweroff -f
"""


def command(question):
    words = question.split(" ")
    return words + ["--target", TARGETS]


def quoted(words):
    return " ".join("'%s'" % word for word in words)


def without_seconds(answer):
    """An answer without how long it took the server."""
    return re.sub(r'^ *"(predict|read)_us": .*\n', "", answer, flags=re.MULTILINE)


def initramfs(folder, busybox, cobra):
    """A compressed archive of the machine's only files."""
    root = os.path.join(folder, "root")
    for name in ("bin", "proc", "sys", "dev", "tmp", "home", "cobra/bin", "cobra/share/cobra"):
        os.makedirs(os.path.join(root, name))
    shutil.copy(busybox, os.path.join(root, "bin", "busybox"))
    shutil.copy(cobra, os.path.join(root, "cobra", "bin", "cobra"))
    for name in PROGRAMS:
        os.symlink("cobra", os.path.join(root, "cobra", "bin", "cobra-" + name))
    for name in DATA:
        shutil.copytree(os.path.join(SOURCE, name), os.path.join(root, "cobra", "share", "cobra", name))
    shutil.copy(os.path.join(SOURCE, "examples", "gpt.py"), os.path.join(root, "home"))
    asked = [
        "part question%d cobra-client %s --server unix:/tmp/server" % (i, quoted(command(question)))
        for i, question in enumerate(QUESTIONS)
    ]
    with open(os.path.join(root, "init"), "w") as file:
        file.write(INIT % "\n".join(asked))
    os.chmod(os.path.join(root, "init"), 0o755)
    image = os.path.join(folder, "initramfs.gz")
    pack = "find . | cpio --quiet -o -H newc -R 0:0 | gzip -1 >%s" % image
    subprocess.run(["sh", "-ec", pack], cwd=root, check=True)
    return image


def boot(kernel, image):
    """The parts that the machine printed: name to (lines, status)."""
    machine = "qemu-system-aarch64 -M virt,gic-version=3 -cpu max,pauth-impdef=on -smp 2 -m 512 -nographic -no-reboot"
    machine += " -nic none -accel tcg,thread=multi"
    start = [*machine.split(), "-kernel", kernel, "-initrd", image, "-append", "console=ttyAMA0 quiet panic=-1"]
    run = subprocess.run(start, stdin=subprocess.DEVNULL, capture_output=True, timeout=60 * MINUTES)
    text = run.stdout.decode(errors="replace").replace("\r", "")
    parts = re.findall(r"^<<< (\w+)\n(.*?)^status (\d+)\n>>>$", text, re.MULTILINE | re.DOTALL)
    if not parts:
        print(text[-4000:], run.stderr.decode(errors="replace")[-2000:], file=sys.stderr)
    return {name: (lines, int(status)) for name, lines, status in parts}


def answers_here(program, folder):
    """What this machine's program says to the same questions."""
    home = os.path.join(folder, "home")
    os.makedirs(home)
    shutil.copy(os.path.join(SOURCE, "examples", "gpt.py"), home)
    for name in PROGRAMS:
        os.symlink(program, os.path.join(folder, "cobra-" + name))
    address, ready = "unix:" + os.path.join(folder, "server"), os.path.join(folder, "ready")
    flags = ["--metrics", "", "--store", os.path.join(folder, "store.sqlite"), "--ready-file", ready]
    client = os.path.join(folder, "cobra-client")
    with subprocess.Popen(
        [os.path.join(folder, "cobra-server"), "--listen", address, *flags], stderr=subprocess.DEVNULL
    ) as server:
        try:
            subprocess.run(["sh", "-c", 'until [ -e "$0" ]; do sleep 0.1; done', ready], check=True, timeout=120)
            return [
                subprocess.run(
                    [client, *command(question), "--server", address], cwd=home, capture_output=True, check=True
                ).stdout.decode()
                for question in QUESTIONS
            ]
        finally:
            server.terminate()


def main():
    kernel, busybox, cobra, here = map(os.path.abspath, sys.argv[1:])
    with tempfile.TemporaryDirectory() as folder:
        expected = answers_here(here, folder)
        parts = boot(kernel, initramfs(folder, busybox, cobra))
    wrong = []

    def check(name, right, expects=""):
        lines, status = parts.get(name, ("the machine did not come so far\n", -1))
        if status != 0 or not right(lines):
            wrong.append(name)
            found = difflib.unified_diff(expects.split("\n"), lines.split("\n"), "expected", "found", lineterm="", n=0)
            print("%s: wrong (status %d)\n%s" % (name, status, "\n".join(list(found)[:100])))

    check("kernel", lambda text: "aarch64" in text)
    check("log", lambda text: "listening on" in text)
    check("readers", lambda text: "Seccomp:\t2" in text)
    for i, answer in enumerate(expected):
        check("question%d" % i, lambda text, answer=answer: without_seconds(text) == without_seconds(answer), answer)
    check("own", lambda text: "cpu-epyc-genoa-1t" in text)
    check("doctor", lambda text: "confines the processes" in text)
    kernel_name, page = (parts.get(name, ("unknown",))[0].strip() for name in ("kernel", "page"))
    print("%s, pages of %s: %s" % (kernel_name, page, "%d wrong" % len(wrong) if wrong else "all as expected"))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
