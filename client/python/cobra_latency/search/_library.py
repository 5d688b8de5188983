"""The error where the library of an adapter is not installed."""
from __future__ import annotations

import importlib
from typing import Any


def library(name: str, extra: str) -> Any:
    """The module `name`; an ImportError that says what to install."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise ImportError(
            f"cobra_latency.search.{extra} needs {name}: pip install 'cobra-latency[{extra}]' ({error})",
            name=error.name,
        ) from error
