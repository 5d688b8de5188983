"""Where the server of one user is. cobra-client keeps the same convention (client/local_server.h),
so both find one server.

In a folder that only the user may enter, $XDG_RUNTIME_DIR/cobra or /tmp/cobra-UID, or, if nothing
may be written to /tmp, that of the store:

    socket      the API
    lock        held (flock) while a client looks for the server or starts it, so that two get one
    version     of which program and weights it was started from; the server of others is replaced
    ready.json  written by the server when it is ready

cobra-client's server reads no installed packages: the client reads them on its own. Python's does,
and which version of torchvision it reads depends on the folders that it was started with. So each
list of folders has a server of its own, at socket-DIGEST, with version-DIGEST and
ready-DIGEST.json. The lock is one.

The store (cobra.sqlite), which all of them share, and the logs (server.log, server-DIGEST.log) are
in $XDG_STATE_HOME/cobra, by default ~/.local/state/cobra; if nothing may be written there, beside
the socket.
"""
from __future__ import annotations

import hashlib
import os
import stat
from typing import Optional, Sequence

from .errors import ServerUnavailable, one_line

IDLE_MINUTES = 10


def _absolute(name: str) -> Optional[str]:
    """Only absolute paths count, as the XDG Base Directory Specification wants it."""
    folder = os.environ.get(name, "")
    return folder if folder.startswith("/") else None


def runtime_folder() -> str:
    """The folder of the socket; it need not exist yet."""
    xdg, temporary = _absolute("XDG_RUNTIME_DIR"), f"/tmp/cobra-{os.geteuid()}"
    if xdg and os.path.isdir(xdg) and _is_of_this_user(xdg):
        return os.path.join(xdg, "cobra")
    home = _folder_of_home()
    return home if home and _is_read_only(temporary) else temporary


def suffix_of(libraries: Sequence[str]) -> str:
    """Of the files of a server with these folders; the order counts, for the first folder that has
    a module wins.

    >>> suffix_of([]), suffix_of(["/usr/lib/python3/dist-packages"])
    ('', '-97164540')
    """
    if not libraries:
        return ""
    return "-" + hashlib.sha256(b"\0".join(os.fsencode(folder) for folder in libraries)).hexdigest()[:8]


def state_folder() -> str:
    """The folder of the store and the log; it need not exist yet."""
    return _folder_of_home() or runtime_folder()


def _folder_of_home() -> Optional[str]:
    """None if there is no home, or nothing may be written there."""
    home = _absolute("HOME")
    state = _absolute("XDG_STATE_HOME") or (os.path.join(home, ".local", "state") if home else None)
    if state is None:
        return None
    folder = os.path.join(state, "cobra")
    return folder if _is_of_this_user(folder) and not _is_read_only(folder) else None


def _is_of_this_user(folder: str) -> bool:
    """Or of nobody yet: su keeps the environment of another user."""
    return not os.path.exists(folder) or os.stat(folder).st_uid == os.geteuid()


def _is_read_only(folder: str) -> bool:
    """Whether a folder cannot be made or written to, for a read-only file system or want of
    rights."""
    while not os.path.lexists(folder):
        folder = os.path.dirname(folder)
    return os.path.isdir(folder) and not os.access(folder, os.W_OK | os.X_OK)


def make_private_folder(path: str) -> None:
    """Raises ServerUnavailable for a folder that others may enter: what they made there could be a
    server of theirs."""
    os.makedirs(os.path.dirname(path), exist_ok=True)  # ~/.local/state of a new home
    try:
        os.mkdir(path, 0o700)
    except FileExistsError:
        pass
    status = os.lstat(path)
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid() or status.st_mode & 0o077:
        raise ServerUnavailable(
            f"{one_line(path)}: is not private to this user (mode 0700), so no server is searched for there",
            "remove it, or name a server: Client('HOST:PORT')",
        )
