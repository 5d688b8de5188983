"""A server for this user, started where none answers (places.py says where it is)."""
from __future__ import annotations

import contextlib
import os
import signal
import socket
import struct
import subprocess
import sys
import time
from typing import IO, Any, AsyncIterator, Iterable, Iterator, List, Optional, Sequence, Tuple

from . import places, programs
from .client import Answer, Client, Question
from .errors import CobraError, ServerUnavailable, one_line

_START_S = 60.0
_END_S = 30.0
_LOCK_S = 90.0
_POLL_S = 0.02
_SERVER = "cobra-server"


def local(
    server: Optional[str] = None,
    model: Optional[str] = None,
    libraries: Optional[Sequence[str]] = None,
    timeout_s: float = 60.0,
) -> "LocalClient":
    """The client of this user's own server, which is started if it does not run. It ends by itself
    after ten idle minutes.

    `server`: the program; default: the one that came with this package, else cobra-server on PATH.
    `model`: the folder of the weights; default: those that are installed or built beside the
    program; it counts where a server is started. `libraries`: folders that source may import from;
    default: the folders from which this Python imports installed packages. Each list of folders has
    its own server: what is imported is what this Python has. With `[]` it is cobra-client's.

        with cobra_latency.local() as client:
            print(client.predict(net, "1x3x224x224", "cpu-epyc-turin-1t"))
    """
    with _said():
        starter = _Starter(_program(server), model, libraries)
    started = starter.find_or_start()
    return LocalClient(f"unix:{starter.path('socket')}", timeout_s, starter, started)


class LocalClient(Client):
    """A Client of this user's server. Where that has ended, for nobody asked for ten minutes (a
    search trained), it is started again."""

    def __init__(self, address: str, timeout_s: float, starter: "_Starter", was_started: bool) -> None:
        super().__init__(address, timeout_s=timeout_s)
        self.was_started = was_started
        """Whether this call started the server."""
        self._starter = starter

    def server_process(self) -> int:
        """The process id of the server; 0 if it has ended."""
        return self._starter.listener() or 0

    def __reduce__(self) -> Tuple[Any, ...]:
        """Workers of a search start the server again as well, and find one server together."""
        return local, (self._starter.program.file, self._starter.model, self._starter.libraries, self.timeout_s)

    def _may_come_back(self) -> bool:
        return bool(self.server_process())  # otherwise it is started

    def _call(self, method: str, request: Any, reply: Any) -> Any:
        try:
            return super()._call(method, request, reply)
        except ServerUnavailable:
            if self.server_process():
                raise
        self._starter.find_or_start()
        end = time.monotonic() + _START_S
        while True:  # the channel does not try to connect at once
            try:
                return super()._call(method, request, reply)
            except ServerUnavailable:
                if time.monotonic() > end or not self.server_process():
                    raise
                time.sleep(_POLL_S)

    async def stream(self, questions: Iterable[Question]) -> AsyncIterator[Answer]:
        """Client.stream()."""
        if not self.server_process():
            self._starter.find_or_start()
        async for answer in super().stream(questions):
            yield answer

    def stop_server(self) -> None:
        """Ends the server. What others asked it is answered first."""
        with _said():
            self._starter.end()

    def __exit__(self, *error: Any) -> None:
        super().__exit__(*error)
        if self.was_started and not self._starter.ends_by_itself:
            self.stop_server()


@contextlib.contextmanager
def _said() -> Iterator[None]:
    """What the operating system refuses is an error of ours: a folder that cannot be written, a
    program that does not start."""
    try:
        yield
    except CobraError:
        raise
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        raise ServerUnavailable(
            f"the server of this user: {one_line(str(error))}",
            "fix that, or name a running server: Client('HOST:PORT')",
        ) from error


def _program(given: Optional[str]) -> programs.Program:
    found = programs.on_path(given, _SERVER) if given else programs.find(_SERVER)
    if found is None and given:
        raise ServerUnavailable(
            f"{one_line(given)}: is not a program on PATH, so no server was started",
            "say where it is: local(server='PATH'); a server that runs elsewhere: Client('HOST:PORT')",
        )
    if found is None:
        raise ServerUnavailable(programs.why_not_found(_SERVER), programs.where_to_get_them())
    return found


class _Starter:
    """Long because starting a program and waiting for it has as many steps."""

    def __init__(self, program: programs.Program, model: Optional[str], libraries: Optional[Sequence[str]]) -> None:
        self.program = program
        self.model = os.path.abspath(model) if model else _weights_beside(program.file)
        self.libraries = [os.path.abspath(f) for f in (_installed() if libraries is None else libraries)]
        self.folder = places.runtime_folder()
        self.state = places.state_folder()
        self.suffix = places.suffix_of(self.libraries)
        self.ends_by_itself = True

    def path(self, name: str) -> str:
        """In the folder of the socket; each server has files of its own, and cobra-client's have no
        suffix."""
        return os.path.join(self.folder, name + self.suffix)

    def find_or_start(self) -> bool:
        """True if it was started."""
        with _said():
            self._make_folders()
            identity = self._identity()
            if self.listener() is not None and self._known() == identity:
                return False
            with self._locked():
                if self.listener() is not None:
                    if self._known() == identity:
                        return False
                    self.end()
                self._start()
                with open(self.path("version"), "w", encoding="utf-8", errors="surrogateescape") as file:
                    file.write(identity)
        return True

    def _make_folders(self) -> None:
        places.make_private_folder(self.folder)
        os.makedirs(self.state, exist_ok=True)
        os.chmod(self.state, 0o700)  # the store has labels and names of models
        places.make_private_folder(self.state)

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        """The one lock of all servers of this user."""
        import fcntl  # Windows, where no server is started, does not have it

        deadline = time.monotonic() + _LOCK_S
        with open(os.path.join(self.folder, "lock"), "a") as lock:
            while True:
                with contextlib.suppress(BlockingIOError):
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                if time.monotonic() > deadline:
                    raise ServerUnavailable(
                        f"{lock.name}: another process has held it for {_LOCK_S} s",
                        f"end that process (fuser {lock.name} names it), or name a server: Client('HOST:PORT')",
                    )
                time.sleep(_POLL_S)
            yield

    def _known(self) -> str:
        try:
            with open(self.path("version"), encoding="utf-8", errors="surrogateescape") as file:
                return file.read()
        except OSError:
            return ""

    def _identity(self) -> str:
        version = self._answer_to("--version").split()
        manifest = os.path.join(self.model, "manifest.json")
        folders = "".join(f"{library}\n" for library in self.libraries)
        return f"{version[-1] if version else ''}\n{_stamp(*self.program)}\n{_stamp(manifest, manifest)}\n{folders}"

    def _answer_to(self, option: str) -> str:
        command = [self.program.name, option]
        return subprocess.run(
            command, executable=self.program.file, capture_output=True, text=True, timeout=_START_S
        ).stdout

    def listener(self) -> Optional[int]:
        """The process that listens at the socket, if one does: 0 in another container that has the
        same folder, whose processes have no numbers here."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as to:
            try:
                to.connect(self.path("socket"))
                credentials = to.getsockopt(
                    socket.SOL_SOCKET, getattr(socket, "SO_PEERCRED", 17), struct.calcsize("3i")
                )
            except OSError:
                return None
        pid, user, _ = struct.unpack("3i", credentials)
        return int(pid) if user == os.geteuid() else None

    def end(self) -> None:
        """SIGTERM: the server finishes what it is doing."""
        listener = self.listener()
        if listener == 0:
            raise ServerUnavailable(
                f"{self.folder}: the server there is of another container",
                "end it there, or set XDG_RUNTIME_DIR to a folder of this container only",
            )
        if listener is not None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(listener, signal.SIGTERM)
        deadline = time.monotonic() + _END_S
        while self.listener() is not None:
            if time.monotonic() > deadline:
                raise ServerUnavailable(
                    f"process {listener}: a server of another version does not exit", f"stop it: kill {listener}"
                )
            time.sleep(_POLL_S)

    def _start(self) -> None:
        ready = self.path("ready") + ".json"
        if os.path.exists(ready):
            os.remove(ready)
        log = os.path.join(self.state, f"server{self.suffix}.log")
        open(log, "wb").close()
        with open(log, "ab") as file:  # the server before this one may still write its last line: none is written over
            process = self._spawn(self._command(ready), file)
        deadline = time.monotonic() + _START_S
        while not os.path.exists(ready):
            status = process.poll()
            if status is not None or time.monotonic() > deadline:
                raise ServerUnavailable(
                    f"{self.program.name}: {_how_it_ended(status)}: {_last_line(log)}",
                    f"its log is {log}",
                )
            time.sleep(_POLL_S)

    def _command(self, ready: str) -> List[str]:
        command = [self.program.name, "--listen", f"unix:{self.path('socket')}", "--metrics", "", "--model", self.model]
        command += ["--store", os.path.join(self.state, "cobra.sqlite"), "--ready-file", ready]
        for library in self.libraries:
            command += ["--library", library]
        self.ends_by_itself = "--idle-exit-minutes" in self._answer_to("--help")
        return command + (["--idle-exit-minutes", str(places.IDLE_MINUTES)] if self.ends_by_itself else [])

    def _spawn(self, command: List[str], log: IO[bytes]) -> "subprocess.Popen[bytes]":
        return subprocess.Popen(
            command,
            executable=self.program.file,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd="/",
            start_new_session=True,
        )


def _stamp(name: str, file: str) -> str:
    """What a file was when a server was started from it."""
    try:
        status = os.stat(file)
    except OSError:
        return f"{name} is not there"
    return f"{name} {status.st_size} {status.st_mtime_ns // 10**9}.{status.st_mtime_ns % 10**9}"


def _weights_beside(program: str) -> str:
    """Beside an installed PREFIX/bin, or in the source tree in which the program was built
    (build/PRESET/bin)."""
    prefix = os.path.dirname(os.path.dirname(program))
    roots = [os.path.join(prefix, "share", "cobra"), os.path.dirname(os.path.dirname(prefix))]
    found = [path for path in (os.path.join(root, "model", "pretrained") for root in roots) if os.path.exists(path)]
    if not found:
        raise ServerUnavailable(f"{program}: no weights are next to it", "say where they are: local(model='FOLDER')")
    return found[0]


def _installed() -> List[str]:
    return [
        path
        for path in sys.path
        if os.path.basename(path) in ("site-packages", "dist-packages") and os.path.isdir(path)
    ]


def _how_it_ended(status: Optional[int]) -> str:
    """A signal leaves no last line in the log."""
    if status is None:
        return "is not ready"
    return f"was ended by {signal.Signals(-status).name}" if status < 0 else "ended"


def _last_line(log: str) -> str:
    with open(log, "rb") as file:
        lines = file.read().decode(errors="replace").split("\n")
    return next((line for line in reversed(lines) if line.strip()), "its log is empty")
