#!/usr/bin/python3
"""Files beside the code, through the real programs: whatever lies there, a program reads regular
files below its own folder or a library's, and the reading ends with an answer or a message. Each
kind of file is tried through `open` and one more way to read it; --all tries every way, and --send
source and the server's --library too (as CI does with a few kinds).

    data_files_test.py [--all] [--only TEXT]
"""
import argparse
import os
import re
import socket
import stat
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "e2e")]
import hostile_test  # noqa: E402
import programs  # noqa: E402

SECRET = "SECRET"
MEMORY_KB = 256 << 10
ENDS = (0, 2, 4, 6, 7)
NET = """
import glob
import importlib.resources
import json
import os
import pathlib
import pkgutil

import pkg
import torch
from torch import nn

HERE = os.path.dirname(os.path.abspath(__file__))


def by_open(name):
    with open(os.path.join(HERE, name)) as file:
        return file.read()


def by_working_folder(name):
    return open(os.path.join("pkg", name), "rb").read().decode("latin-1")


def by_lines(name):
    return "".join(line for line in open(os.path.join(HERE, name)))


def by_path(name):
    return (pathlib.Path(__file__).resolve().parent / name).read_text()


def by_json(name):
    return str(json.load(open(os.path.join(HERE, name))))


def by_yaml(name):
    import yaml

    return str(yaml.safe_load(open(os.path.join(HERE, name))))


def by_resource(name):
    return importlib.resources.files("pkg").joinpath(name).read_text()


def by_data(name):
    return pkgutil.get_data("pkg", name).decode("latin-1")


def by_size(name):
    path = os.path.join(HERE, name)
    return f"{os.path.exists(path)} {os.path.isfile(path)} {os.path.getsize(path)}"


def by_list(name):
    return " ".join(sorted(os.listdir(os.path.join(HERE, name))))


def by_walk(name):
    return " ".join(sorted(one for _, folders, files in os.walk(os.path.join(HERE, name)) for one in folders + files))


def by_glob(name):
    return " ".join(sorted(map(os.path.basename, glob.glob(os.path.join(HERE, name, "**"), recursive=True))))


class Net(nn.Module):
    def __init__(self, way, name):
        super().__init__()
        text = globals()["by_" + way](name)
        self.layers = nn.Linear(8, 8)
        raise ValueError("GOT " + text[-300:])

    def forward(self, x):
        return self.layers(x)
"""
WAYS = "open working_folder lines path json yaml resource data size".split()
FOLDER_WAYS = "list walk glob".split()


def make(folder):
    """The package library/pkg with files of every kind. Outside of the library lies what must not
    be seen."""
    package = os.path.join(folder, "library", "pkg")
    os.makedirs(os.path.join(package, "sub"))
    outside = os.path.join(folder, "outside.json")

    def write(name, text):
        with open(os.path.join(package, name), "w") as file:
            file.write(text)

    write("../../outside.json", f'"{SECRET}"')
    write("__init__.py", "")
    write("net.py", NET)
    for name in ("good.json", "sub/good.json", "new\nline.json", "tab\t'\"\\.json", "\u00fc\u4e2d.json"):
        write(name, '"HELLO"')
    for name in (".env", "id.pem", ".hidden.json"):
        write(name, f'"{SECRET}"')
    write("large.json", "x" * (64 << 20))
    with open(os.path.join(package, "sparse.json"), "wb") as file:
        try:
            file.truncate(1 << 40)
        except OSError:  # no such files on this file system
            file.truncate(1 << 33)
    for name, target in (
        ("relative.json", "../../outside.json"),
        ("absolute.json", outside),
        ("up", "../.."),
        ("chain.json", "chain2.json"),
        ("chain2.json", "relative.json"),
        ("loop.json", "loop.json"),
        ("ring.json", "ring2.json"),
        ("ring2.json", "ring.json"),
        ("dangling.json", "nothing"),
        ("inside.json", "good.json"),
        ("passwd.json", "/etc/passwd"),
        ("environ.json", "/proc/self/environ"),
        ("root", "/proc/self/root"),
        ("descriptor.json", "/dev/fd/0"),
        ("stdin.json", "/dev/stdin"),
        ("zero.json", "/dev/zero"),
        ("tty.json", "/dev/tty"),
        ("down", "sub/../../pkg/sub"),
    ):
        os.symlink(target, os.path.join(package, name))
    os.mkfifo(os.path.join(package, "pipe.json"))
    bound = socket.socket(socket.AF_UNIX)
    working = os.getcwd()
    os.chdir(package)  # the path of a socket has 107 characters at most
    bound.bind("socket.json")
    os.chdir(working)
    made = {"bound": bound}
    try:
        os.mknod(os.path.join(package, "device.json"), stat.S_IFCHR | 0o600, os.makedev(1, 5))
    except OSError as error:
        print(f"no devices are made here: {error}")
    if os.geteuid() != 0:
        write("denied.json", f'"{SECRET}"')
        os.chmod(os.path.join(package, "denied.json"), 0)
    deep = os.open(package, os.O_RDONLY | os.O_DIRECTORY)
    for _ in range(3000):
        os.mkdir("d", dir_fd=deep)
        below = os.open("d", os.O_RDONLY | os.O_DIRECTORY, dir_fd=deep)
        os.close(deep)
        deep = below
    os.close(os.open("end.json", os.O_CREAT | os.O_WRONLY, dir_fd=deep))
    os.close(deep)
    os.makedirs(os.path.join(package, "many"))
    for number in range(3000):
        os.symlink("../good.json", os.path.join(package, "many", f"{number}.json"))
    return made


# What may be read, and what is in it; everything else is absent or refused.
READABLE = {
    "good.json",
    "sub/good.json",
    "new\nline.json",
    "tab\t'\"\\.json",
    "\u00fc\u4e2d.json",
    "inside.json",
    "sub/../good.json",
    "./good.json",
}
READABLE.add("sub//good.json")
UNREADABLE = """relative.json absolute.json up/outside.json up/library/pkg/../../outside.json chain.json loop.json ring.json dangling.json passwd.json environ.json
root/etc/passwd descriptor.json stdin.json zero.json tty.json pipe.json socket.json device.json denied.json .env id.pem .hidden.json ../../outside.json
sub/../../../outside.json up good.json/x sub /etc/passwd //etc/passwd /proc/self/environ /proc/self/cwd/pkg/good.json /dev/zero ~/.bashrc .. . large.json
sparse.json""".split()
UNREADABLE += [
    "",
    "good.json\0",
    "\0",
    "relative.json\0good.json",
    "\udc80.json",
    "x\n/../../outside.json",
    "d/" * 3000 + "end.json",
]
UNREADABLE += ["../" * 2000 + "etc/passwd", "a" * 300 + ".json", "a" * 60_000, "sub/../" * 9000 + "good.json/.."]


def entry(way, name):
    return f"Net({way!r}, {name!a})"


def faults_of(name, code, text, memory=0):
    faults = []
    if SECRET in text or "root:x:" in text:
        faults.append("the file was read")
    if code not in ENDS:
        faults.append(f"exit {code}")
    if memory > MEMORY_KB:
        faults.append(f"{memory >> 10} MB")
    got = re.search(r"ValueError: GOT (.*)", text)
    if name in READABLE and (got is None or "HELLO" not in got[1] and not re.search("True True 7", got[1])):
        faults.append("was not read")
    if name in UNREADABLE and got is not None and re.sub(r"\s|False|True False \d+", "", got[1]):
        faults.append("was read: " + got[1][:80])
    return faults


class Local:
    """cobra-client graph."""

    name = "graph"

    def __init__(self, folder):
        self.model = os.path.join(folder, "library", "pkg", "net.py")

    def ask(self, way, name):
        arguments = [self.model, "--entry", entry(way, name), "--input", "1x8", "--library", programs.LIBRARY]
        code, text, _, _, memory = hostile_test.run(arguments)
        return code, text, memory


class Sent:
    """cobra-client predict --send source: a server reads what was sent."""

    name = "--send source"

    def __init__(self, folder, server, target):
        self.model, self.server, self.target = os.path.join(folder, "library", "pkg", "net.py"), server, target

    def ask(self, way, name):
        command = ["predict", self.model, "--entry", entry(way, name), "--input", "1x8", "--send", "source"]
        answer = programs.client(*command, "--target", self.target, "--server", self.server.address, timeout=120)
        return answer.code, answer.out + answer.err, 0


class Library:
    """The server reads a package of its own --library, as an untrusted request asks for it."""

    name = "--library"
    codes = {"usage": 2, "unsupported": 4, "data_dependent": 4, "model_error": 6, "syntax_error": 6, "limit": 7}

    def __init__(self, server, target):
        import grpc

        self.grpc = grpc
        self.target = target
        self.messages, services = programs.stubs()
        self.stub = services.CobraStub(grpc.insecure_channel(server.address))

    def ask(self, way, name):
        source = self.messages.SourceModel(file="pkg/net.py", entry=entry(way, name), inputs=["1x8"])
        try:
            self.stub.Predict(self.messages.PredictRequest(targets=[self.target], source=source), timeout=120)
        except self.grpc.RpcError as error:
            text = f"{error.details()} {error.trailing_metadata()}"
            kinds = (
                self.grpc.StatusCode.INVALID_ARGUMENT,
                self.grpc.StatusCode.UNIMPLEMENTED,
                self.grpc.StatusCode.FAILED_PRECONDITION,
            )
            kinds += (self.grpc.StatusCode.RESOURCE_EXHAUSTED, self.grpc.StatusCode.OUT_OF_RANGE)
            return (6 if error.code() in kinds else -1), f"{error.code()} {text}", 0
        return 0, "", 0


def try_kinds(asker, names, ways, wrong):
    count = 0
    for number, name in enumerate(names):
        for way in ways(number):
            # A resource has no name with "..", and the folder above a package is not the working
            # one.
            if name in READABLE and way == "working_folder":
                continue
            if (
                name in READABLE
                and way in ("resource", "data")
                and (".." in name or name.startswith("./") or "//" in name)
            ):
                continue
            code, text, memory = asker.ask(way, name)
            count += 1
            for fault in faults_of(name, code, text, memory):
                wrong.append(f"{asker.name}: {way}({name[:60]!r}): {fault}: {text.strip()[-300:]}")
    return count


def try_folders(asker, wrong):
    """Folders are listed without what lies outside."""
    count = 0
    for way in FOLDER_WAYS:
        for name in ("sub", ".", "up", "root", "d", "many", "good.json", "..", "/etc"):
            code, text, memory = asker.ask(way, name)
            count += 1
            faults = [fault for fault in faults_of(None, code, text, memory)]
            if "outside.json" in text.split("GOT")[-1] or "passwd" in text.split("GOT")[-1].replace("passwd.json", ""):
                faults.append("lists what is outside")
            wrong.extend(f"{asker.name}: {way}({name!r}): {fault}: {text.strip()[-300:]}" for fault in faults)
    return count


class Changing:
    """Changes something in the package over and over."""

    def __init__(self, step):
        self.step, self.stop = step, threading.Event()
        self.thread = threading.Thread(target=self.run)

    def run(self):
        number = 0
        while not self.stop.is_set():
            self.step(number)
            number += 1

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.stop.set()
        self.thread.join()


def changes(folder):
    """(what, name, step): a file that is a link from time to time, a folder that is one, a folder
    that moves, a file that grows."""
    package = os.path.join(folder, "library", "pkg")
    at = lambda *parts: os.path.join(package, *parts)  # noqa: E731

    def replaced(number):
        temporary = at("swap.new")
        if number % 2:
            os.symlink("../../outside.json", temporary)
        else:
            with open(temporary, "w") as file:
                file.write('"HELLO"')
        os.replace(temporary, at("swap.json"))

    def folder_replaced(number):
        if os.path.islink(at("turn")):
            os.unlink(at("turn"))
            os.rename(at("turn.away"), at("turn"))
        else:
            os.rename(at("turn"), at("turn.away"))
            os.symlink("../../away", at("turn"))

    def moved(number):
        names = [at("moving"), os.path.join(folder, "moved")]
        os.rename(*(names if os.path.isdir(names[0]) else names[::-1]))

    def grows(number):
        with open(at("growing.json"), "a") as file:
            file.write("x" * 65536)
        if number % 200 == 199:
            os.truncate(at("growing.json"), 0)
        time.sleep(0.0005)

    for name in ("turn", "moving", "../../away"):
        os.makedirs(at(name))
        with open(at(name, "file.json"), "w") as file:
            file.write(f'"{SECRET}"' if name == "../../away" else '"HELLO"')
    # What is moved away with the program's descriptor on it is its own file still; what lies above
    # it is not.
    return [
        ("a file that becomes a link", "swap.json", replaced),
        ("a folder that becomes a link", "turn/file.json", folder_replaced),
        ("a folder that moves away", "moving/../good.json", moved),
        ("a folder that moves away", "moving/file.json", moved),
        ("a file that grows", "growing.json", grows),
    ]


def try_changes(asker, folder, runs, wrong):
    count = 0
    for what, name, step in changes(folder):
        step(0)
        with Changing(step):
            for number in range(runs):
                code, text, memory = asker.ask(WAYS[number % 4], name)
                count += 1
                for fault in faults_of(None, code, text, memory):
                    wrong.append(f"{asker.name}: {what}: {fault}: {text.strip()[-300:]}")
    return count


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    os.environ["COBRA_OF_THIS_TEST"] = SECRET  # in /proc/self/environ
    with tempfile.TemporaryDirectory() as folder:
        made = make(folder)
        try:
            return run_all(options, folder)
        finally:
            made["bound"].close()
            subprocess.run(["rm", "-rf", os.path.join(folder, "library", "pkg", "d")], check=False)


def run_all(options, folder):
    names = [name for name in [*sorted(READABLE), *UNREADABLE] if options.only in name]
    if os.geteuid() == 0:
        names = [name for name in names if name != "denied.json"]
    wrong, count = [], 0
    local = Local(folder)
    both = (lambda _: WAYS) if options.all else (lambda number: ("open", WAYS[1 + number % (len(WAYS) - 1)]))
    count += try_kinds(local, names, both, wrong)
    if not options.only:
        count += try_folders(local, wrong) + try_changes(local, folder, 20 if options.all else 4, wrong)
    with programs.Server(os.path.join(folder, "store.sqlite"), "--library", os.path.join(folder, "library")) as server:
        target = programs.first_target(server)
        some = names if options.all else names[::4]
        one = lambda number: (WAYS[number % len(WAYS)],)  # noqa: E731
        for asker in (Sent(folder, server, target), Library(server, target)):
            count += try_kinds(asker, some, one, wrong)
        if server.process.poll() is not None:
            wrong.append("the server ended:\n" + server.log()[-2000:])
    for line in wrong[:40]:
        print(line)
    print(f"{count} readings, {len(wrong)} wrong")
    return 1 if wrong or count < 10 else 0


if __name__ == "__main__":
    sys.exit(main())
