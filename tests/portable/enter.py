"""Process 1 of a root file system: enters it, then runs there what it is asked on standard input, a
JSON object a line (roots.py writes them). Uses nothing of the root: what it needs is imported
before."""
import ctypes
import fcntl
import json
import os
import resource
import selectors  # noqa: F401  subprocess imports it late
import signal
import socket
import struct
import subprocess
import sys
import threading
import time

LIBC = ctypes.CDLL(None, use_errno=True)
MS_RDONLY, MS_NOSUID, MS_NOEXEC, MS_REMOUNT, MS_BIND, MS_REC = 1, 2, 8, 32, 4096, 16384
DEVICES = ("null", "zero", "full", "random", "urandom")
CGROUP = []  # a descriptor, of a group that lies outside of the root
SIOCGIFFLAGS, SIOCSIFFLAGS, IFF_UP = 0x8913, 0x8914, 1


def mount(source, target, kind=None, flags=0, data=None):
    words = [None if word is None else word.encode() for word in (source, target, kind, data)]
    if LIBC.mount(words[0], words[1], words[2], flags, words[3]) != 0:
        raise OSError(ctypes.get_errno(), f"mount {target}: {os.strerror(ctypes.get_errno())}")


def loopback_up():
    with socket.socket() as any_socket:
        request = struct.pack("16sh14x", b"lo", 0)
        flags = struct.unpack("16sh14x", fcntl.ioctl(any_socket, SIOCGIFFLAGS, request))[1]
        fcntl.ioctl(any_socket, SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", flags | IFF_UP))


def enter(place):
    """`place`: what roots.Inside was given. What is written goes into memory, not into the root."""
    memory = place["work"]
    mount("tmpfs", memory, "tmpfs")
    upper, work, merged = (os.path.join(memory, name) for name in ("upper", "work", "merged"))
    for folder in (upper, work, merged):
        os.mkdir(folder)
    mount("overlay", merged, "overlay", 0, f"lowerdir={place['layers']},upperdir={upper},workdir={work}")
    os.chmod(merged, 0o755)
    for name in ("dev", "tmp", "proc"):
        if place[name]:
            os.makedirs(os.path.join(merged, name), exist_ok=True)
    if place["dev"]:
        mount("tmpfs", merged + "/dev", "tmpfs")
        os.chmod(merged + "/dev", 0o755)
        for name in DEVICES:
            open(f"{merged}/dev/{name}", "w").close()
            mount("/dev/" + name, f"{merged}/dev/{name}", None, MS_BIND)
    if place["proc"]:
        mount("proc", merged + "/proc", "proc")
    if place["tmp"]:
        mount("tmpfs", merged + "/tmp", "tmpfs", MS_NOEXEC if place["tmp"] == "noexec" else 0, "mode=1777")
    loopback_up()
    if place["cgroup"]:
        CGROUP.append(os.open(os.path.join(place["cgroup"], "cgroup.procs"), os.O_WRONLY | os.O_CLOEXEC))
    os.chroot(merged)
    os.chdir("/")


def write(path, text, mode, owner):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if os.path.lexists(path):
        os.remove(path)
    with open(path, "wb") as file:
        file.write(bytes.fromhex(text))
    os.chmod(path, mode)
    os.chown(path, owner, owner)


def make_folder(path, mode, owner):
    os.makedirs(path, exist_ok=True)
    os.chmod(path, mode)
    os.chown(path, owner, owner)


def end(pid, timeout):
    """Of what was started: SIGTERM; its exit code, or nothing if it does not end in time."""
    os.kill(pid, signal.SIGTERM)
    until = time.monotonic() + timeout
    while time.monotonic() < until:
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.02)
    return None


class Filter(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p)]


def refuse(rules):
    """A filter of system calls (roots.refusals): it stays for what is executed."""
    code = bytes.fromhex(rules)
    program = Filter(len(code) // 8, code)
    if LIBC.prctl(38, 1, 0, 0, 0) != 0 or LIBC.prctl(22, 2, ctypes.byref(program), 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl")


def prepare(command):
    def before_exec():
        if CGROUP:
            os.write(CGROUP[0], b"0")
        if command["user"]:
            os.setgroups([])
            os.setgid(command["user"])
            os.setuid(command["user"])
        os.umask(0o022)
        if command["memory"]:
            resource.setrlimit(resource.RLIMIT_AS, (command["memory"], command["memory"]))
        if command["refused"]:
            refuse(command["refused"])

    return before_exec


def start(command):
    keep = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "stdin": subprocess.DEVNULL}
    if not os.path.exists("/dev/null"):
        keep["stdin"] = subprocess.PIPE
    if command["log"]:
        log = os.open(command["log"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
        keep["stdout"] = keep["stderr"] = log
    return subprocess.Popen(
        command["argv"],
        env=command["environment"],
        cwd=command["cwd"],
        preexec_fn=prepare(command),
        start_new_session=bool(command["log"]),
        **keep,
    )


def used():
    """Processor time of the processes that have ended."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return ended.ru_utime + ended.ru_stime


def run(command):
    began, before = time.monotonic(), used()
    process = start(command)
    if command["log"]:
        return {"pid": process.pid}
    try:
        out, err = process.communicate(timeout=command["timeout"])
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGKILL)
        out, err = process.communicate()
        err += b"\n(stopped: it took too long)"
    seconds = time.monotonic() - began
    return {
        "code": process.returncode,
        "out": out.hex(),
        "err": err.hex(),
        "seconds": seconds,
        "processor_s": used() - before,
    }


def answer(request):
    kind = request.pop("kind")
    if kind == "run":
        return run(request)
    if kind == "write":
        return write(**request)
    if kind == "folder":
        return make_folder(**request)
    if kind == "read":
        with open(request["path"], "rb") as file:
            return file.read().hex()
    if kind == "exists":
        return os.path.lexists(request["path"])
    if kind == "end":
        return end(**request)
    if kind == "volume":
        return mount("tmpfs", request["path"], "tmpfs", 0, "mode=755,uid={owner},gid={owner}".format(**request))
    if kind == "read-only":
        return mount(None, "/", None, MS_REMOUNT | MS_RDONLY)
    raise ValueError(kind)


def main():
    place = json.loads(sys.stdin.readline())
    enter(place)
    for line in sys.stdin:
        try:
            reply = {"reply": answer(json.loads(line))}
        except (OSError, subprocess.SubprocessError, ValueError) as error:
            reply = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(reply), flush=True)


if __name__ == "__main__":
    assert threading
    main()
