"""Which answers are asked for again: those of a server that starts, stops or is out of reach for a
moment (docs/operations.md)."""
from __future__ import annotations

from typing import Any

import grpc

from .errors import CobraError

MOST_ATTEMPTS = 7  # 5.1 s of waiting in all: long enough for a server to start, short enough to report a missing one
_FIRST_S, _LONGEST_S = 0.1, 2.0
_AGAIN = (grpc.StatusCode.UNAVAILABLE.value[0], grpc.StatusCode.DEADLINE_EXCEEDED.value[0])


def backoff_s(attempt: int) -> float:
    """How long to wait after the attempt of that number, from 1.

    >>> [backoff_s(attempt) for attempt in (1, 2, 6)]
    [0.1, 0.2, 2.0]
    """
    return min(_FIRST_S * 2.0 ** (attempt - 1), _LONGEST_S)


def is_unfinished(result: Any) -> bool:
    """Of many questions in one message: whether the time was over, or the server ended, before this
    one was answered."""
    return bool(not result.HasField("response") and result.error.code in _AGAIN)


def is_late(result: Any) -> bool:
    """Whether the time was over before this one was answered."""
    return bool(not result.HasField("response") and result.error.code == grpc.StatusCode.DEADLINE_EXCEEDED.value[0])


def is_of_the_stream(error: CobraError) -> bool:
    """Whether another stream may have what this one has not. New gRPC says INTERNAL where the
    server ends a stream into which it writes."""
    of_grpc = error.status == "INTERNAL" and "from Core" in error.message
    return error.status in ("UNAVAILABLE", "DEADLINE_EXCEEDED") or of_grpc
