"""All that the package exports, under the name of the package (__init__.py)."""
from __future__ import annotations

from typing import Any, AsyncIterator, Iterable, List, Mapping, Sequence, Union

from .adapting import Adapted, Part, Suggestions, Timed
from .client import Answer, Client, Names, Question
from .constraint import FeasibleUnder, Verdict
from .errors import CobraError, LimitReached, ModelError, Place, ServerError, ServerUnavailable, UnknownName, UsageError
from .models import Architecture, Source, graph_of
from .own_server import LocalClient, local
from .results import Call, Comparison, Estimate, Explanation, Prediction, Table, TargetInfo, Targets
from .shapes import Constant, Shape

DEFAULT_SERVER = "127.0.0.1:50051"


def predict(
    model: Any,
    inputs: Any = None,
    targets: Names = "this-machine",
    *,
    server: str = DEFAULT_SERVER,
    breakdown: bool = False,
    latency_only: bool = False,
) -> Prediction:
    """Client.predict() of the server."""
    with Client(server) as client:
        return client.predict(model, inputs, targets, breakdown=breakdown, latency_only=latency_only)


def predict_many(questions: Iterable[Question], *, server: str = DEFAULT_SERVER) -> List[Answer]:
    """Client.predict_many() of the server."""
    with Client(server) as client:
        return client.predict_many(questions)


async def stream(questions: Iterable[Question], *, server: str = DEFAULT_SERVER) -> AsyncIterator[Answer]:
    """Client.stream() of the server."""
    with Client(server) as client:
        async for answer in client.stream(questions):
            yield answer


def compare(
    networks: Union[Mapping[str, Any], Sequence[Any]],
    inputs: Any = None,
    targets: Names = "this-machine",
    *,
    server: str = DEFAULT_SERVER,
) -> Comparison:
    """Client.compare() of the server."""
    with Client(server) as client:
        return client.compare(networks, inputs, targets)


def explain(
    model: Any, inputs: Any = None, target: Names = "this-machine", *, server: str = DEFAULT_SERVER, top: int = 10
) -> Explanation:
    """Client.explain() of the server."""
    with Client(server) as client:
        return client.explain(model, inputs, target, top=top)


__all__ = [
    "Adapted",
    "Answer",
    "Architecture",
    "Call",
    "Client",
    "CobraError",
    "Comparison",
    "Constant",
    "Estimate",
    "Explanation",
    "FeasibleUnder",
    "LimitReached",
    "LocalClient",
    "ModelError",
    "Part",
    "Place",
    "Prediction",
    "Question",
    "ServerError",
    "ServerUnavailable",
    "Shape",
    "Source",
    "Suggestions",
    "Table",
    "TargetInfo",
    "Targets",
    "Timed",
    "UnknownName",
    "UsageError",
    "Verdict",
    "compare",
    "explain",
    "graph_of",
    "local",
    "predict",
    "predict_many",
    "stream",
]
