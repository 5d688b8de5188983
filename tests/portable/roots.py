"""What the tests of this folder share: the archive, file systems of other distributions, and running
commands inside them."""
import contextlib
import errno
import glob
import json
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.environ.get("COBRA_SOURCE", os.path.dirname(os.path.dirname(HERE)))
BIN = os.path.abspath(os.environ.get("COBRA_BIN", os.path.join(SOURCE, "build", "release", "bin")))
BUILT = os.path.abspath(os.environ.get("COBRA_PORTABLE", os.path.join(SOURCE, "build", "portable")))
ROOTS = os.path.join(BUILT, "roots")
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
TARGET = "cpu-epyc-genoa-1t"
CALL_TIMEOUT_S = 120

# The README's.
QUESTION = (
    "explain",
    "examples/gpt.py",
    "--entry",
    "GPT(GPTConfig(layers=6))",
    "--input",
    "1x256:int64",
    "--target",
    TARGET,
)
NCNN = """7767517
5 5
Input            in      0 1 in 0=32 1=32 2=3
Convolution      conv    1 1 in conv 0=16 1=3 4=1 5=1 6=432
ReLU             relu    1 1 conv relu
Pooling          pool    1 1 relu pool 0=1 4=1
InnerProduct     fc      1 1 pool fc 0=10 1=1 2=160
"""


def skip(reason):
    print(reason + ": skipped", file=sys.stderr)
    sys.exit(77)


def archive():
    """The one that everybody can unpack, if it was built."""
    found = glob.glob(os.path.join(BUILT, "cobra-*-linux-x86_64.tar.gz"))
    if not found:
        skip(f"no portable archive in {BUILT} (scripts/build-portable.sh makes it)")
    return max(found, key=os.path.getmtime)


def wheel():
    """The platform wheel, or nothing."""
    found = sorted(glob.glob(os.path.join(BUILT, "cobra_latency-*linux*x86_64.whl")), key=os.path.getmtime)
    return found[-1] if found else None


def need_root():
    if os.geteuid() != 0:
        skip("only root can enter another root file system")
    with open("/proc/filesystems") as file:
        if "overlay" not in file.read():
            skip("this kernel has no overlay file system")
    probe = subprocess.run(
        ["unshare", "--mount", "--pid", "--net", "--ipc", "--fork", "true"], capture_output=True, text=True
    )
    if probe.returncode != 0:
        skip("namespaces cannot be made here: " + probe.stderr.strip())


class Refused(Exception):
    """What the root's process 1 could not do."""


class Answer:
    def __init__(self, reply):
        self.code, self.seconds, self.processor_s = reply["code"], reply["seconds"], reply["processor_s"]
        self.out_bytes, self.err_bytes = bytes.fromhex(reply["out"]), bytes.fromhex(reply["err"])
        self.out, self.err = self.out_bytes.decode(errors="replace"), self.err_bytes.decode(errors="replace")


class Inside:
    """A root file system, entered. Nothing that is written there stays. Use it in a `with`: all that
    was started there ends with it.

    `layers`: folders that lie over each other, the first on top; none: an empty root. `proc`, `dev`:
    whether /proc and /dev are there. `tmp`: "noexec" for one from which nothing can be executed, None
    for that of the root. `cgroup`: the folder of a group that what runs there belongs to."""

    def __init__(self, *layers, proc=True, dev=True, tmp="plain", cgroup=None):
        self.folder = tempfile.mkdtemp()
        for name in ("work", "empty"):
            os.mkdir(os.path.join(self.folder, name))
        layers = ":".join([*layers, os.path.join(self.folder, "empty")])
        namespaces = ["--mount", "--propagation", "private", "--pid", "--net", "--ipc", "--fork", "--kill-child"]
        self.process = subprocess.Popen(
            ["unshare", *namespaces, sys.executable, "-B", os.path.join(HERE, "enter.py")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._send(layers=layers, work=os.path.join(self.folder, "work"), proc=proc, dev=dev, tmp=tmp, cgroup=cgroup)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()
        shutil.rmtree(self.folder)

    def _send(self, **message):
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()

    def _ask(self, kind, **request):
        self._send(kind=kind, **request)
        line = self.process.stdout.readline()
        if not line:
            raise Refused(f"process 1 of the root has ended before {kind}")
        reply = json.loads(line)
        if "error" in reply:
            raise Refused(reply["error"])
        return reply["reply"]

    def _command(self, argv, options):
        environment = {"PATH": PATH, "HOME": "/root"}
        environment.update(options.pop("environment", {}))
        command = {"user": 0, "cwd": "/", "memory": 0, "refused": "", "timeout": CALL_TIMEOUT_S, "log": ""}
        command.update(options)
        argv = list(argv)
        return self._ask(
            "run", argv=argv, environment={k: v for k, v in environment.items() if v is not None}, **command
        )

    def run(self, *argv, **options):
        """An Answer. `user`: its number; `cwd`, `timeout`; `environment`: beside PATH and HOME, None
        removes one; `memory`: bytes of address space; `refused`: of refusals()."""
        return Answer(self._command(argv, options))

    def start(self, *argv, log="/tmp/started.log", **options):
        """In the background; what it says goes into the file `log`."""
        return self._command(argv, dict(options, log=log))["pid"]

    def write(self, path, content, mode=0o644, owner=0):
        content = content.encode() if isinstance(content, str) else content
        self._ask("write", path=path, text=content.hex(), mode=mode, owner=owner)

    def folder_at(self, path, mode=0o755, owner=0):
        self._ask("folder", path=path, mode=mode, owner=owner)

    def read(self, path):
        return bytes.fromhex(self._ask("read", path=path))

    def exists(self, path):
        return self._ask("exists", path=path)

    def end(self, pid, timeout=30):
        """SIGTERM to what was started: its exit code, or None if it has not ended in time."""
        return self._ask("end", pid=pid, timeout=timeout)

    def volume_at(self, path, owner=0):
        """In the place of a folder; make_read_only() leaves it as it is."""
        self._ask("volume", path=path, owner=owner)

    def make_read_only(self):
        self._ask("read-only")

    def copy(self, source, path, mode=0o644):
        with open(source, "rb") as file:
            self.write(path, file.read(), mode)


def wait_for(condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


# ---- filters of system calls

SYS_PRCTL, SYS_CLONE, SYS_UNSHARE, SYS_SECCOMP, SYS_MADVISE, SYS_CLONE3 = 157, 56, 272, 317, 28, 435
PR_GET_SECCOMP, PR_SET_SECCOMP, CLONE_NEWUSER, MADV_PAGEOUT = 21, 22, 0x10000000, 21
FIRST_AFTER_4_18 = 424  # pidfd_send_signal, of Linux 5.1
LOAD, JUMP_EQUAL, JUMP_FROM, JUMP_BITS, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
ALLOW, ERROR = 0x7FFF0000, 0x00050000
NUMBER, FIRST_ARGUMENT, THIRD_ARGUMENT = 0, 16, 32


def _instruction(code, value, yes=0, no=0):
    return struct.pack("<HBBI", code, yes, no, value)


def refusals(*rules):
    """Instructions of a filter for x86-64. A rule is (comparison, number of the system call, error),
    and where an argument matters (..., its offset, comparison, value)."""
    code = b""
    for comparison, number, error, *argument in rules:
        body = _instruction(RETURN, ERROR | error)
        if argument:
            offset, how, value = argument
            body = _instruction(LOAD, offset) + _instruction(how, value, 0, 1) + body
        code += _instruction(LOAD, NUMBER) + _instruction(comparison, number, 0, len(body) // 8) + body
    return (code + _instruction(RETURN, ALLOW)).hex()


def without_seccomp():
    return refusals(
        (JUMP_EQUAL, SYS_SECCOMP, errno.ENOSYS),
        (JUMP_EQUAL, SYS_PRCTL, errno.EINVAL, FIRST_ARGUMENT, JUMP_EQUAL, PR_SET_SECCOMP),
        (JUMP_EQUAL, SYS_PRCTL, errno.EINVAL, FIRST_ARGUMENT, JUMP_EQUAL, PR_GET_SECCOMP),
    )


def without_user_namespaces():
    return refusals(
        (JUMP_EQUAL, SYS_UNSHARE, errno.EPERM, FIRST_ARGUMENT, JUMP_BITS, CLONE_NEWUSER),
        (JUMP_EQUAL, SYS_CLONE, errno.EPERM, FIRST_ARGUMENT, JUMP_BITS, CLONE_NEWUSER),
        (JUMP_EQUAL, SYS_CLONE3, errno.ENOSYS),
    )


def as_linux_4_18():
    """What came after Linux 4.18 is unknown: system calls, and the advice of populating pages."""
    return refusals(
        (JUMP_FROM, FIRST_AFTER_4_18, errno.ENOSYS),
        (JUMP_EQUAL, SYS_MADVISE, errno.EINVAL, THIRD_ARGUMENT, JUMP_FROM, MADV_PAGEOUT),
    )


# ---- questions


def unpack(folder):
    """The archive as FOLDER/opt/cobra."""
    os.makedirs(os.path.join(folder, "opt", "cobra"))
    subprocess.run(
        ["tar", "-xzf", archive(), "--strip-components=1", "-C", os.path.join(folder, "opt", "cobra")], check=True
    )


@contextlib.contextmanager
def ordinary(environment=()):
    """Runs cobra-client of the ordinary build for a user of its own."""
    with tempfile.TemporaryDirectory() as home:
        run = os.path.join(home, "run")
        os.mkdir(run, 0o700)
        chosen = {"PATH": PATH, "HOME": home, "XDG_RUNTIME_DIR": run, **dict(environment)}

        def ask(*arguments, cwd=SOURCE):
            client = os.path.join(BIN, "cobra-client")
            return subprocess.run(
                [client, *arguments], env=chosen, cwd=cwd, capture_output=True, timeout=CALL_TIMEOUT_S
            )

        try:
            yield ask
        finally:
            end_servers(run)


def servers_of(runtime_folder):
    """The process ids of the servers, and their readers, of a user with that folder."""
    commands, parents = {}, {}
    for pid in map(int, filter(str.isdigit, os.listdir("/proc"))):
        with contextlib.suppress(OSError), open(f"/proc/{pid}/cmdline", "rb") as file:
            commands[pid] = file.read()
            with open(f"/proc/{pid}/stat") as stat:
                parents[pid] = int(stat.read().rsplit(")", 1)[1].split()[1])
    found = {
        pid
        for pid, command in commands.items()
        if b"cobra-server" in command.split(b"\0")[0] and runtime_folder.encode() in command
    }
    while True:
        more = {pid for pid, parent in parents.items() if parent in found} - found
        if not more:
            return found
        found |= more


def peak_kb(pid):
    with contextlib.suppress(OSError), open(f"/proc/{pid}/status") as file:
        return int(re.search(r"VmHWM:\s*(\d+)", file.read())[1])
    return 0


def processor_s(pid):
    """What a process has used so far."""
    with contextlib.suppress(OSError), open(f"/proc/{pid}/stat") as file:
        fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return 0.0


def end_servers(runtime_folder):
    for pid in servers_of(runtime_folder):
        with contextlib.suppress(OSError):
            os.kill(pid, signal.SIGTERM)


def make_models(folder):
    """Models of each kind that cobra-client reads; the questions about them, for somebody in FOLDER."""
    sys.path.insert(0, os.path.join(SOURCE, "tests", "hostile"))
    import flat_files

    shutil.copytree(
        os.path.join(SOURCE, "examples"), os.path.join(folder, "examples"), ignore=shutil.ignore_patterns("*.pyc")
    )
    with open(os.path.join(folder, "net.tflite"), "wb") as file:
        file.write(
            flat_files.model(
                [flat_files.tensor((1, 8, 8, 3)), flat_files.tensor((1, 8, 8, 3))], [flat_files.operator((0,), (1,))]
            )
        )
    with open(os.path.join(folder, "net.param"), "w") as file:
        file.write(NCNN)
    convnet = ("graph", "examples/convnet.py", "--entry", "ConvNet(ConvNetConfig.named('s'))", "--input", "1x3x64x64")
    with ordinary() as ask:
        made = ask(*convnet, "--format", "onnx", "--out", "net.onnx", cwd=folder)
    if made.returncode != 0:
        raise RuntimeError(made.stderr.decode())
    return [QUESTION, *(("predict", f"net.{ending}", "--target", TARGET) for ending in ("onnx", "tflite", "param"))]


# ---- installing


def has(root, program):
    return os.path.exists(os.path.join(ROOTS, root, program))


def has_python(root):
    return has(root, "usr/bin/python3")


def done(answer):
    """The answer, if it has succeeded."""
    if answer.code != 0:
        raise Refused(answer.out + answer.err)
    return answer


def install(inside):
    """Unpacks the archive: the folder of the programs, and tar's answer."""
    name = os.path.basename(archive())
    inside.copy(archive(), "/tmp/" + name)
    inside.folder_at("/srv")
    return f"/srv/{name.split('.tar')[0]}/bin", done(inside.run("tar", "xzf", "/tmp/" + name, cwd="/srv"))


def serve(inside, address, *flags, program=("/opt/cobra/bin/cobra-server",), seconds=60):
    """Starts a server there, and waits until it serves."""
    store = ("--metrics", "", "--store", "/tmp/served.sqlite", "--ready-file", "/tmp/ready")
    inside.start(*program, "--listen", address, *store, *flags)
    if not wait_for(lambda: inside.exists("/tmp/ready"), seconds):
        raise Refused(inside.read("/tmp/started.log").decode())


def install_wheel(inside, root):
    """What comes before python3 and cobra-client, if they are not on PATH; the answer of `venv`, or
    None where no environment is needed, and that of pip."""
    inside.copy(wheel(), "/tmp/wheels/" + os.path.basename(wheel()))
    packages = os.path.join(ROOTS, "wheels", root)
    for name in os.listdir(packages):
        inside.copy(os.path.join(packages, name), "/tmp/wheels/" + name)
    folder, made = "", None
    if has(root, "usr/lib/python3/dist-packages"):  # Debian wants an environment
        made = done(inside.run("python3", "-m", "venv", "/tmp/env"))
        folder = "/tmp/env/bin/"
    offline = ("--no-index", "--find-links", "/tmp/wheels")
    return (
        folder,
        made,
        done(inside.run(folder + "python3", "-m", "pip", "install", *offline, "cobra-latency", timeout=600)),
    )


def ordinary_answers(questions, folder):
    """What the ordinary build prints, asked by somebody in the folder."""
    answers = []
    with ordinary() as ask:
        for question in questions:
            answer = ask(*question, cwd=folder)
            if answer.returncode != 0:
                raise RuntimeError(answer.stderr.decode())
            answers.append(answer.stdout)
    return answers


def check(test, answer, expected):
    """It succeeded, and printed these bytes."""
    if answer.code != 0:
        test.fail(f"exit code {answer.code}: {answer.err}")
    test.assertEqual(answer.out_bytes.decode(), expected.decode(), answer.err)


def names_of_roots():
    """Those that scripts/portable-roots.sh has made."""
    known = ("debian-11", "debian-12", "debian-13", "alpine", "fedora", "busybox", "empty")
    found = [name for name in known if os.path.isdir(os.path.join(ROOTS, name))]
    if not found:
        skip("no root file systems (scripts/portable-roots.sh makes them)")
    return found


def version_of(name):
    """A row of a table: "Alpine Linux 3.23.6"."""
    with contextlib.suppress(OSError):
        with open(os.path.join(ROOTS, name, "etc", "os-release")) as file:
            return re.search(r'^PRETTY_NAME="?([^"\n]*)', file.read(), re.M)[1]
    return {"fedora": "Fedora's places, laid out by hand", "busybox": "busybox alone"}.get(name, name)
