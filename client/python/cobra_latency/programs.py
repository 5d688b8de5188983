"""The programs of COBRA, which the wheels for Linux carry: one executable, called cobra-client,
that is all of them. The last component of argv[0] chooses, cobra-server for example.

Python finds it by the list of files that the installer has written, else on PATH. It is started in
place of the process, so signals, standard streams and the exit code are its own."""
from __future__ import annotations

import importlib.metadata
import os
import platform
import shutil
import signal
import sys
from typing import Iterator, NamedTuple, NoReturn, Optional, Sequence

from ._version import __version__
from .errors import one_line

_HOLDERS = ("cobra", "cobra-client")  # names of the executable that is all programs
_NOT_FOUND, _NOT_STARTED = 127, 126  # a shell's exit codes; those of cobra-client are below 8


class Program(NamedTuple):
    """`name` is its argv[0], a path that need not exist; `file` is what the kernel runs."""

    name: str
    file: str


def find(name: str) -> Optional[Program]:
    """`cobra-client`, say: of this package's wheel, else on PATH."""
    file = carried()
    return of_file(file, name) if file else on_path(name, name)


def on_path(given: str, name: str) -> Optional[Program]:
    """The program `name` that a user calls `given`."""
    file = shutil.which(given)
    return of_file(file, name) if file else None


def of_file(file: str, name: str) -> Program:
    """The program `name`, which `file` is or holds.

    >>> of_file("/opt/cobra/bin/cobra", "cobra-server").name
    '/opt/cobra/bin/cobra-server'
    >>> of_file("/opt/mine", "cobra-server").name
    '/opt/mine'
    """
    file = os.path.realpath(file)
    folder, base = os.path.split(file)
    return Program(os.path.join(folder, name) if base in _HOLDERS else file, file)


def carried() -> Optional[str]:
    """The executable that came with this package; None if it came without."""
    try:
        return next((path for path in _installed() if os.path.isfile(path)), None)
    except ValueError:  # a list of files that somebody has changed
        return None


def _installed() -> Iterator[str]:
    folder = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    for distribution in importlib.metadata.distributions(name="cobra-latency", path=[folder]):
        for file in distribution.files or ():
            if file.name == "cobra-client" and file.parent.name == "bin":
                # `pip install --target` moves programs after it has written the list.
                for path in (str(file.locate()), os.path.join(folder, "bin", "cobra-client")):
                    if file.size is None or (os.path.isfile(path) and os.path.getsize(path) == file.size):
                        yield path


def why_not_found(name: str) -> str:
    """The error if neither this package nor PATH has the program."""
    return f"{name}: is not on PATH, and this installation of cobra-latency {__version__} carries no programs"


def where_to_get_them(system: str = platform.system(), machine: str = platform.machine()) -> str:
    """The hint of that error.

    >>> where_to_get_them("Darwin", "arm64")
    'programs are for Linux on x86_64 and aarch64; of a server that runs there: Client("HOST:PORT")'
    """
    if system == "Linux" and machine in ("x86_64", "aarch64"):
        wheel = f"cobra_latency-{__version__}-py3-none-*linux*_{machine}.whl"
        return (
            f"install the wheel that has them, pip install --force-reinstall --no-deps {wheel}, "
            "or unpack the portable programs and put their bin on PATH"
        )
    return 'programs are for Linux on x86_64 and aarch64; of a server that runs there: Client("HOST:PORT")'


def run(name: str, arguments: Sequence[str]) -> NoReturn:
    """Becomes the program `name`."""
    program = find(name)
    if program is None:
        print(f"{why_not_found(name)}\nhint: {where_to_get_them()}", file=sys.stderr)
        sys.exit(_NOT_FOUND)
    _become(program, arguments)


def client() -> NoReturn:
    """python -m cobra_latency"""
    run("cobra-client", sys.argv[1:])


def server() -> NoReturn:
    """cobra-server, of the wheels that carry it."""
    _run_carried("cobra-server")


def worker() -> NoReturn:
    """cobra-worker, of the wheels that carry it."""
    _run_carried("cobra-worker")


def _run_carried(name: str) -> NoReturn:
    """Never what is on PATH: that may be the script that calls this."""
    file = carried()
    if file is None:
        print(f"{name}: the program cobra-client of this installation is gone", file=sys.stderr)
        print("hint: pip install --force-reinstall --no-deps cobra-latency", file=sys.stderr)
        sys.exit(_NOT_FOUND)
    _become(of_file(file, name), sys.argv[1:])


def _become(program: Program, arguments: Sequence[str]) -> NoReturn:
    for ignored in ("SIGPIPE", "SIGXFSZ"):  # by Python; the program would inherit that
        if hasattr(signal, ignored):
            signal.signal(getattr(signal, ignored), signal.SIG_DFL)
    try:
        os.execv(program.file, [program.name, *arguments])
    except OSError as error:
        print(f"{one_line(program.file)}: cannot be started: {error.strerror}", file=sys.stderr)
        print("hint: is it for this processor, and on a file system that may run programs?", file=sys.stderr)
    sys.exit(_NOT_STARTED)
