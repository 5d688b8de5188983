"""What can go wrong. Each message begins with what the user wrote; `hint` says what to do."""
from __future__ import annotations

import re
from typing import Any, NamedTuple, Optional, Sequence

# What a terminal obeys instead of showing it (base/text/without_escapes.h has the same list), and
# what no terminal can write: halves of pairs of UTF-16.
_OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def shown(text: str) -> str:
    r"""Text of a server or a file as it is printed: with ? for control characters, except line ends and tabs.

    >>> shown("\x1b[2J a\tb")
    '?[2J a\tb'
    """
    return _OBEYED.sub("?", text)


def one_line(text: str) -> str:
    r"""A name, which has no line ends either.

    >>> one_line("net\n.py")
    'net?.py'
    """
    return re.sub("[\n\t\u2028\u2029]", "?", shown(text))


def carried(value: Any, what: str) -> str:
    """`value`, if a message can carry it; otherwise an error that begins with `what`."""
    if not isinstance(value, str):
        raise UsageError(f"{what}={value!r}: is not text", "write it as text")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise UsageError(f"{what}={value!r}: has characters that are not Unicode", "leave them out") from None
    return value


def carriable(name: str) -> str:
    """The name of a file, with ? for bytes that are not Unicode, which file systems allow."""
    return name.encode(errors="replace").decode()


class Place(NamedTuple):
    """A position in a source file; line 0 is the whole file."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{one_line(self.file)}:{self.line}" if self.line else one_line(self.file)


class CobraError(Exception):
    """The base of all errors of this package."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.status = ""  # gRPC's name of the status, of an error that a server has sent

    def __str__(self) -> str:
        return shown(self.message + ("\nhint: " + self.hint if self.hint else ""))


class UsageError(CobraError, ValueError):
    """An argument is wrong: an input that is not a shape, an unknown target."""


class UnknownName(UsageError, KeyError):
    """An answer has nothing of that name; what it has is in the message."""


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
            text += f"\nin module {one_line(self.module_path)}"
        return shown(text + ("\nhint: " + self.hint if self.hint else ""))


class LimitReached(CobraError):
    """The model or the request is larger than the server takes."""


class ServerUnavailable(CobraError, ConnectionError):
    """No server answers at the address, or it is shutting down."""


class ServerError(CobraError):
    """The server failed, or does not allow the call; `code` is gRPC's name of the status."""

    def __init__(self, message: str, hint: str = "", code: str = "") -> None:
        super().__init__(message, hint)
        self.code = code
