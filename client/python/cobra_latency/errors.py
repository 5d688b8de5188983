"""What can go wrong. Each message begins with what the user wrote; `hint` says what to do."""
from __future__ import annotations

from typing import NamedTuple, Optional, Sequence


class Place(NamedTuple):
    """A position in a source file; line 0 is the whole file."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" if self.line else self.file


class CobraError(Exception):
    """The base of all errors of this package."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return self.message + ("\nhint: " + self.hint if self.hint else "")


class UsageError(CobraError, ValueError):
    """An argument is wrong: an input that is no shape, an unknown target."""


class ModelError(CobraError):
    """The model cannot be read, or is wrong. `file` and `line` say where.

    >>> print(ModelError("torch.bincount() of what the network computes", place=Place("net.py", 12)))
    net.py:12: torch.bincount() of what the network computes
    """

    def __init__(
        self,
        message: str,
        hint: str = "",
        place: Optional[Place] = None,
        module_path: str = "",
        frames: Sequence[str] = (),
        kind: str = "unsupported",
    ) -> None:
        super().__init__(message, hint)
        self.place = place
        self.module_path = module_path
        self.frames = list(frames)
        self.kind = kind

    @property
    def file(self) -> str:
        """The file of the error; empty if unknown."""
        return self.place.file if self.place else ""

    @property
    def line(self) -> int:
        """The line of the error, from 1; 0 if unknown."""
        return self.place.line if self.place else 0

    def __str__(self) -> str:
        text = f"{self.place}: {self.message}" if self.place else self.message
        if self.module_path:
            text += f"\nin module {self.module_path}"
        return text + ("\nhint: " + self.hint if self.hint else "")


class LimitReached(CobraError):
    """The model or the request is larger than the server takes."""


class ServerUnavailable(CobraError, ConnectionError):
    """No server answers at the address, or it is shutting down."""


class ServerError(CobraError):
    """The server failed, or does not allow the call; `code` is gRPC's name of the status."""

    def __init__(self, message: str, hint: str = "", code: str = "") -> None:
        super().__init__(message, hint)
        self.code = code
