"""How long a neural network takes on a device, before it is run there.

    import cobra_latency

    with cobra_latency.local() as client:
        print(client.predict(net, "1x3x224x224", ["cpu-epyc-turin-1t", "gpu-h100"]))

A live torch.nn.Module is taken into a graph on this machine; its weights are neither copied nor
sent. All answers print as tables and render in notebooks. The functions here ask the server at
127.0.0.1:50051, or at `server`.
"""
from __future__ import annotations

from typing import Any, AsyncIterator, Iterable, List, Mapping, Sequence, Union

from ._version import __version__
from .adapting import Adapted, Part, Suggestions, Timed
from .client import Answer, Client, Names, Question
from .constraint import FeasibleUnder, Verdict
from .errors import CobraError, LimitReached, ModelError, Place, ServerError, ServerUnavailable, UnknownName, UsageError
from .local import LocalClient, local
from .models import Architecture, Source, graph_of
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
) -> Prediction:
    """Client.predict() of the server."""
    with Client(server) as client:
        return client.predict(model, inputs, targets, breakdown=breakdown)


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
    "__version__",
    "compare",
    "explain",
    "graph_of",
    "local",
    "predict",
    "predict_many",
    "stream",
]
