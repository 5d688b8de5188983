"""From a live module to a graph."""
from __future__ import annotations

import contextlib
import copy
import dataclasses
import threading
from typing import Any, Dict, Iterable, Iterator, List, Optional, Sequence, Set, Tuple

import torch
from torch import nn

from .._proto import graph_pb2 as pb
from ..errors import CobraError, ModelError, UsageError
from ..shapes import Constant, Shape, shape_of, tensors_in
from . import items, kept, origins
from .builder import KIND_BUFFER, KIND_INPUT, KIND_PARAMETER, GraphBuilder, Value
from .copies import Copy, unwrapped
from .recorder import Recorder
from .untouched import untouched

_one_at_a_time = threading.RLock()  # hooks on modules, and in torch 1.13 the items of tensors, are the whole process's


def take(model: nn.Module, positional: Sequence[Any], keywords: Dict[str, Any], method: str = "forward") -> pb.Graph:
    """The graph of one run of `model`. The arguments are nested lists, tuples and dictionaries with
    a Shape in place of each tensor.

    Its calls are recorded one by one. Where one cannot be (torch.func.vmap, an operator of one's
    own), torch.export is asked what it calls.
    Raises ModelError with the program's file and line where there is no graph.
    """
    original = unwrapped(model)
    _refuse_unfit(original)
    with _one_at_a_time, untouched(original):
        return _taken(original, positional, keywords, method)


def _taken(original: nn.Module, positional: Sequence[Any], keywords: Dict[str, Any], method: str) -> pb.Graph:
    try:
        return _recorded(original, positional, keywords, method)
    except ModelError as error:
        exported = (
            _exported(original, positional, keywords) if error.kind == "unsupported" and method == "forward" else None
        )
        if exported is None:
            raise
        try:
            return _recorded(exported, positional, keywords, method)
        except ModelError:
            raise error from None


def _exported(model: nn.Module, positional: Sequence[Any], keywords: Dict[str, Any]) -> Optional[nn.Module]:
    """What torch.export makes of the model: calls of aten operators, with the layers inside
    dissolved. None where it fails, and before torch 2.1."""
    if not hasattr(torch, "export"):
        return None
    make = _Inputs(None).make
    try:
        copied = Copy(model, torch.device("meta")).model
        with torch.no_grad():
            arguments = tuple(make(value, "") for value in positional)
            named = {name: make(value, name) for name, value in keywords.items()}
            module: nn.Module = (
                torch.export.export(copied, arguments, named, strict=False).run_decompositions({}).module()
            )
        return module
    except Exception:  # whatever it cannot trace; the first error is shown
        return None


def _recorded(original: nn.Module, positional: Sequence[Any], keywords: Dict[str, Any], method: str) -> pb.Graph:
    """What is timed is not the first run: what that one made and kept is there now. If the network
    does not run twice, the first run stands."""
    copied = Copy(original)
    before = kept.tensors_of(copied.model)
    graph, values = _run(original, copied, positional, keywords, method, [])
    if not any(map(kept.is_made, values.values())):
        return graph
    alive = kept.survivors(values)
    if not any(map(kept.is_made, alive)) and kept.tensors_of(copied.model) == before:
        return graph
    try:
        return _run(original, copied, positional, keywords, method, alive)[0]
    except ModelError as error:
        if error.kind != "model_error":
            raise
        return graph


def _run(
    original: nn.Module,
    copied: Copy,
    positional: Sequence[Any],
    keywords: Dict[str, Any],
    method: str,
    alive: Sequence[Value],
) -> Tuple[pb.Graph, Dict[int, Value]]:
    """The graph of one run, and its tensors. `alive` are those that the run before has left."""
    parts = list(copied.model.named_modules())
    _skip_warnings(module for _, module in parts)
    modules = _Modules((*original.named_modules(), *parts))
    graph = GraphBuilder()
    recorder = Recorder(graph, modules.path)
    for value in alive:
        kept.forget_run(value)
        recorder.values[id(value.tensor)] = value
    _declare_tensors(recorder, parts, copied)
    inputs = _Inputs(recorder)
    arguments = [inputs.make(value, "") for value in positional]
    named = {name: inputs.make(value, name) for name, value in keywords.items()}
    with torch.no_grad(), modules.watched(), items.are_seen(recorder), recorder:
        try:
            run = copied.model if method == "forward" else getattr(copied.model, method)
            output = run(*arguments, **named)
        except CobraError:
            raise
        except Exception as error:
            raise _raised(error, modules.path()) from error
    outputs = [recorder.value(tensor) for tensor in _outputs(output, set())]
    return graph.finished(outputs), recorder.values


def _refuse_unfit(model: nn.Module) -> None:
    for path, module in model.named_modules():
        for name, tensor in (*module._parameters.items(), *module._buffers.items()):
            if hasattr(tensor, "materialize"):
                raise ModelError(
                    f"{type(module).__name__}.{name}: has no shape before the first call of a lazy module",
                    "run the model once: model(example)",
                    module_path=path,
                )
        if isinstance(module, torch.jit.ScriptModule):
            raise ModelError(
                f"{type(module).__name__}: is compiled by torch.jit, so its calls cannot be recorded",
                "give the module before torch.jit.script() or torch.jit.trace()",
                module_path=path,
            )


def _skip_warnings(modules: Iterable[nn.Module]) -> None:
    """Checks of transformers that look into the inputs and only warn."""
    for module in modules:
        if hasattr(type(module), "warn_if_padding_and_no_attention_mask"):
            module.__dict__["warn_if_padding_and_no_attention_mask"] = lambda *_, **__: None


def _raised(error: Exception, module_path: str) -> ModelError:
    place, frames = origins.of_error(error)
    lines = str(error).splitlines() or [""]
    return ModelError(
        f"{type(error).__name__}: {lines[0]}",
        "the model raises this when it runs on the inputs' shapes: check inputs=",
        place,
        module_path,
        frames,
        "model_error",
    )


def _declare_tensors(recorder: Recorder, parts: Sequence[Tuple[str, nn.Module]], copied: Copy) -> None:
    """Parameters and buffers enter the graph in the order of the modules, each under the first name
    that leads to it."""
    seen: Set[int] = set()
    for prefix, module in parts:
        dot = prefix + "." if prefix else ""
        for kind, tensors in (
            (KIND_PARAMETER, module._parameters),
            (KIND_BUFFER, module._buffers),
        ):
            for name, tensor in tensors.items():
                if tensor is None:
                    continue
                if id(tensor) not in seen:
                    seen.add(id(tensor))
                    recorder.declare(tensor, recorder.graph.add(kind, dot + name, tensor))
                elif kind == KIND_PARAMETER:
                    ref = recorder.value(tensor).ref
                    if ref is not None and ref.kind == KIND_PARAMETER:
                        recorder.graph.add_alias(dot + name, ref.place)
    for original, made in copied.pairs:
        recorder.declare_alias(original, recorder.value(made))


class _Inputs:
    """Makes the arguments: a tensor without numbers for each Shape."""

    def __init__(self, recorder: Optional[Recorder]) -> None:
        self.recorder = recorder
        self.count = 0

    def make(self, value: Any, name: str) -> Any:
        """Tensors are named after their keyword and their keys; those without either are input0,
        input1 ..."""
        if isinstance(value, Shape):
            return self._tensor(value, name)
        if isinstance(value, Constant):
            return value.tensor
        if type(value) is dict:
            return {key: self.make(item, f"{name}.{key}" if name else str(key)) for key, item in value.items()}
        if isinstance(value, (list, tuple)) and not isinstance(value, nn.utils.rnn.PackedSequence):
            items = [self.make(item, f"{name}.{i}" if name else "") for i, item in enumerate(value)]
            return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
        return self._object(value, name)

    def _tensor(self, shape: Shape, name: str) -> torch.Tensor:
        own = name or f"input{self.count}"
        self.count += 1
        try:
            tensor = torch.empty(shape.sizes, dtype=getattr(torch, shape.dtype), device="meta")
        except (RuntimeError, OverflowError):  # more elements than PyTorch counts
            raise UsageError(f"{shape}: is not a shape that PyTorch has", "give smaller sizes") from None
        if self.recorder is not None:
            self.recorder.declare(tensor, self.recorder.graph.add(KIND_INPUT, own, tensor))
        return tensor

    def _object(self, value: Any, name: str) -> Any:
        """An object of the user's (a cache of keys and values): a copy, with inputs in place of its
        tensors. How long the sequences of a packed batch are determines shapes: these numbers
        stay."""
        packed = isinstance(value, nn.utils.rnn.PackedSequence)
        found = [("data", value.data)] if packed else list(tensors_in(value))
        if not found:
            return value
        memo: Dict[int, Any] = {}
        for path, tensor in found:
            shape = shape_of(tensor)
            memo[id(tensor)] = self._tensor(shape, f"{name}.{path}" if name else f"input{self.count}.{path}")
        if packed:
            return type(value)(memo[id(value.data)], *value[1:])
        try:
            return copy.deepcopy(value, memo)
        except Exception as error:  # whatever its own __deepcopy__ raises
            what = f"{type(error).__name__}: {str(error) or 'no reason'}"
            raise UsageError(
                f"an input of type {type(value).__name__}: cannot be copied: {what}",
                "give its tensors",
            ) from None


class _Modules:
    """Which module's forward is running, by hooks on all modules."""

    def __init__(self, named: Iterable[Tuple[str, nn.Module]]) -> None:
        self._paths: Dict[int, str] = {}
        for path, module in named:
            self._paths.setdefault(id(module), path)
        self._stack: List[Tuple[int, str]] = []
        self._thread = threading.get_ident()

    def path(self) -> str:
        """The path of the innermost module; empty for the model itself."""
        return self._stack[-1][1] if self._stack else ""

    @contextlib.contextmanager
    def watched(self) -> Iterator[None]:
        """While the model runs."""
        hooks = nn.modules.module
        before = hooks.register_module_forward_pre_hook(self._enter)
        after = hooks.register_module_forward_hook(self._leave)
        try:
            yield
        finally:
            before.remove()
            after.remove()

    def _enter(self, module: nn.Module, _: Any) -> None:
        if threading.get_ident() != self._thread:  # another one's model
            return
        self._stack.append((id(module), self._paths.get(id(module), self.path())))

    def _leave(self, module: nn.Module, _: Any, __: Any) -> None:
        while (
            threading.get_ident() == self._thread and self._stack and self._stack.pop()[0] != id(module)
        ):  # modules that an exception has left
            pass


def _outputs(value: Any, entered: Set[int]) -> List[torch.Tensor]:
    """The tensors of what a model returns: in lists, tuples, dictionaries, and in the attributes of
    objects."""
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, (list, tuple)):
        return [tensor for item in value for tensor in _outputs(item, entered)]
    if isinstance(value, nn.Module) or id(value) in entered:
        return []
    entered.add(id(value))
    if isinstance(value, dict):
        items: Any = value.values()
    elif dataclasses.is_dataclass(value) or hasattr(value, "__dict__") and not isinstance(value, type):
        items = vars(value).values() if hasattr(value, "__dict__") else ()
    else:
        return []
    return [tensor for item in items for tensor in _outputs(item, entered)]
