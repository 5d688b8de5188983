"""Where the server of one user is. cobra-client keeps the same convention (client/local_server.h), so both find one server.

In a folder that only the user may enter, $XDG_RUNTIME_DIR/cobra or cobra-UID in the folder for temporary files:

    socket      the API
    lock        held (flock) while a client looks for the server or starts it, so that two get one
    version     of which program and weights it was started from; the server of others is replaced
    ready.json  written by the server when it is ready

The store (cobra.sqlite) and the log (server.log) are in $XDG_STATE_HOME/cobra, by default ~/.local/state/cobra.
"""
from __future__ import annotations

import os
import stat
from typing import Optional

from .errors import ServerUnavailable

IDLE_MINUTES = 10


def _absolute(name: str) -> Optional[str]:
    """Only absolute paths count, as the XDG Base Directory Specification wants it."""
    folder = os.environ.get(name, "")
    return folder if folder.startswith("/") else None


def runtime_folder() -> str:
    """The folder of the socket; it need not exist yet."""
    xdg = _absolute("XDG_RUNTIME_DIR")
    return os.path.join(xdg, "cobra") if xdg and os.path.isdir(xdg) else f"/tmp/cobra-{os.geteuid()}"


def state_folder() -> str:
    """The folder of the store and the log; it need not exist yet."""
    home = _absolute("HOME") or "/tmp"
    return os.path.join(_absolute("XDG_STATE_HOME") or os.path.join(home, ".local", "state"), "cobra")


def make_private_folder(path: str) -> None:
    """Raises ServerUnavailable for a folder that others may enter: what they made there could be a server of theirs."""
    try:
        os.mkdir(path, 0o700)
    except FileExistsError:
        pass
    status = os.lstat(path)
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid() or status.st_mode & 0o077:
        raise ServerUnavailable(
            f"{path}: is not a folder of this user alone (mode 0700), so no server is looked for there",
            "remove it, or name a server: Client('HOST:PORT')",
        )
