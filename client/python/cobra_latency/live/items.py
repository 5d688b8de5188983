"""What a TorchFunctionMode of torch 1.13 does not show."""
from __future__ import annotations

import contextlib
import threading
from typing import Any, Iterator

import torch

from .recorder import Recorder
from .version import VERSION


@contextlib.contextmanager
def are_seen(recorder: Recorder) -> Iterator[None]:
    """torch 1.13 shows x[0, 1] to a TorchFunctionMode, but neither x[0] nor x[a:b] nor an
    assignment to them."""
    if VERSION >= (2, 0):
        yield
        return
    get, put = torch.Tensor.__getitem__, torch.Tensor.__setitem__
    tensor_class: Any = torch.Tensor
    thread = threading.get_ident()

    def seen(function: Any, *arguments: Any) -> Any:
        if threading.get_ident() != thread:
            return function(*arguments)
        return recorder.__torch_function__(function, (), arguments)

    tensor_class.__getitem__ = lambda self, index: seen(get, self, index)
    tensor_class.__setitem__ = lambda self, index, value: seen(put, self, index, value)
    try:
        yield
    finally:
        del tensor_class.__getitem__, tensor_class.__setitem__
