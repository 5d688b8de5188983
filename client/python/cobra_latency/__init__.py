"""How long a neural network takes on a device, before it is run there.

    import cobra_latency

    with cobra_latency.local() as client:
        print(client.predict(net, "1x3x224x224", ["cpu-epyc-turin-1t", "gpu-h100"]))

A live torch.nn.Module is taken into a graph on this machine; its weights are neither copied nor
sent. All answers print as tables and render in notebooks. The functions here ask the server at
127.0.0.1:50051, or at `server`.
"""
from __future__ import annotations

import importlib
import importlib.util
from typing import TYPE_CHECKING

from ._version import __version__ as __version__

if TYPE_CHECKING:
    from .api import *
    from .api import DEFAULT_SERVER as DEFAULT_SERVER
else:

    def __getattr__(name):
        """A name of api.py, which is imported when the first one is used, or a module. gRPC and
        protobuf take a quarter of a second; programs.py and comment.py do without, even if they are
        not installed."""
        if name.startswith("_") and name != "__all__":
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        if importlib.util.find_spec(f"{__name__}.{name}"):
            return importlib.import_module(f"{__name__}.{name}")
        try:
            value = getattr(importlib.import_module(f"{__name__}.api"), name)
        except AttributeError:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None
        globals()[name] = value
        return value

    def __dir__():
        return sorted({*globals(), *__getattr__("__all__")})
