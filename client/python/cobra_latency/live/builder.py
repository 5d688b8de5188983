"""Tensors, constants and calls, as the messages of graph.proto."""
from __future__ import annotations

from typing import Any, Dict, Iterable, List, NamedTuple, Optional, Sequence

import torch

from .._proto import graph_pb2 as pb
from ..errors import ModelError, Place
from . import wire

DTYPES = {
    torch.float32: pb.DTYPE_FLOAT32,
    torch.float16: pb.DTYPE_FLOAT16,
    torch.bfloat16: pb.DTYPE_BFLOAT16,
    torch.float64: pb.DTYPE_FLOAT64,
    torch.int64: pb.DTYPE_INT64,
    torch.int32: pb.DTYPE_INT32,
    torch.int16: pb.DTYPE_INT16,
    torch.int8: pb.DTYPE_INT8,
    torch.uint8: pb.DTYPE_UINT8,
    torch.bool: pb.DTYPE_BOOL,
    torch.complex64: pb.DTYPE_COMPLEX64,
    torch.complex128: pb.DTYPE_COMPLEX128,
}


KIND_NODE: int = pb.ValueRef.KIND_NODE
KIND_INPUT: int = pb.ValueRef.KIND_INPUT
KIND_PARAMETER: int = pb.ValueRef.KIND_PARAMETER
KIND_BUFFER: int = pb.ValueRef.KIND_BUFFER
KIND_CONSTANT: int = pb.ValueRef.KIND_CONSTANT


class Ref(NamedTuple):
    """A place in the graph: ValueRef of graph.proto."""

    kind: int
    place: int
    output: int = 0


class Value:
    """What is known of one tensor of the run.

    A tensor is a constant until it depends on an input, a parameter or a random number. Constants
    are computed on the CPU, so that a program may read them; of all others there is a tensor on
    `meta`, which has a shape and no numbers. PyTorch runs calls on constants too, so both are
    outputs of calls of the graph.
    """

    __slots__ = ("tensor", "twin", "ref", "computed", "drawn", "random", "base", "hides_base")

    def __init__(self, tensor: torch.Tensor, ref: Optional[Ref] = None) -> None:
        self.tensor = tensor  # the program's own object
        self.twin: Optional[torch.Tensor] = tensor if tensor.is_meta else None
        self.ref = ref
        self.computed: Optional[Ref] = None  # of a constant that a call makes: its output
        self.drawn = False  # a random number that was drawn while the network ran
        self.random = False  # its numbers differ from run to run
        self.base: Optional[Value] = None  # of a view: whose storage it shares
        self.hides_base = False  # views of it share a tensor that Python never sees

    @property
    def is_constant(self) -> bool:
        """Whether it depends on no input and no parameter."""
        return (self.ref is None or self.ref.kind in (KIND_BUFFER, KIND_CONSTANT)) and not self.drawn

    @property
    def is_known(self) -> bool:
        """Whether its numbers can be read."""
        return self.is_constant and not self.random and not self.tensor.is_meta

    def take(self, other: "Value") -> None:
        """It is now what another tensor is."""
        self.ref, self.computed, self.drawn, self.random = other.ref, other.computed, other.drawn, other.random

    def set_node(self, index: int, output: int = 0) -> None:
        """It is now an output of a call, and no constant."""
        self.ref, self.drawn = node_ref(index, output), False
        if self.computed is not None:
            self.computed = self.ref

    def on_meta(self) -> torch.Tensor:
        """A tensor of the same shape without numbers."""
        if self.twin is None:
            self.twin = meta_like(self.tensor)
        return self.twin


class KnownValue(Value):
    """An output of a recorded call that the program may read."""

    __slots__ = ()

    @property
    def is_known(self) -> bool:
        """Always."""
        return True


def meta_like(tensor: torch.Tensor) -> torch.Tensor:
    """A tensor on `meta` with the same shape, type and strides; no number is read."""
    if tensor.layout != torch.strided:
        return torch.empty(tensor.shape, dtype=tensor.dtype, device="meta")
    return torch.empty_strided(tuple(tensor.shape), tensor.stride(), dtype=tensor.dtype, device="meta")


_NODES = wire.Field(pb.Graph, "nodes")
_FILES = wire.Field(pb.Graph, "source_files")
_OUTPUTS = wire.Field(pb.Graph, "outputs")
_TENSORS: Dict[int, wire.Field] = {
    KIND_INPUT: wire.Field(pb.Graph, "inputs"),
    KIND_PARAMETER: wire.Field(pb.Graph, "parameters"),
    KIND_BUFFER: wire.Field(pb.Graph, "buffers"),
    KIND_CONSTANT: wire.Field(pb.Graph, "constants"),
}
_NAME, _TYPE = (wire.Field(pb.NamedTensor, name) for name in ("name", "type"))
_INPUTS, _NODE_OUTPUTS, _ORIGIN = (wire.Field(pb.Node, name) for name in ("inputs", "outputs", "origin"))
_KIND, _INDEX, _OUTPUT = (wire.Field(pb.ValueRef, name) for name in ("kind", "index", "output"))
_FILE, _LINE, _PATH = (wire.Field(pb.Origin, name) for name in ("file", "line", "module_path"))


class GraphBuilder:
    """Collects a graph, as parts of its message."""

    def __init__(self) -> None:
        self._parts: List[bytes] = []
        self._calls = 0
        self._counts: Dict[int, int] = dict.fromkeys(_TENSORS, 0)
        self._files: Dict[str, int] = {}
        self._encoded: Dict[Any, bytes] = {}
        self._aliases: List[pb.ParameterAlias] = []

    def finished(self, outputs: Iterable[Value]) -> pb.Graph:
        """The graph."""
        self._parts += [_OUTPUTS.message(_encoded_ref(self.ref_of(value))) for value in outputs]
        graph = pb.Graph.FromString(b"".join(self._parts))
        graph.parameter_aliases.extend(self._aliases)
        return graph

    def _type(self, tensor: torch.Tensor, place: Optional[Place] = None) -> bytes:
        """Raises ModelError for an element type that the graph does not have."""
        key = (tensor.dtype, tensor.shape)
        found = self._encoded.get(key)
        if found is None:
            dtype = DTYPES.get(tensor.dtype)
            if dtype is None:
                raise ModelError(
                    f"{tensor.dtype} of a tensor of shape {tuple(tensor.shape)} is not an element type that COBRA knows",
                    "use one of " + ", ".join(str(known)[6:] for known in DTYPES),
                    place,
                )
            found = self._encoded[key] = pb.TensorType(shape=tensor.shape, dtype=dtype).SerializeToString()
        return found

    def add(self, kind: int, name: str, tensor: torch.Tensor) -> Ref:
        """An input, a parameter, a buffer or a constant."""
        self._parts.append(_TENSORS[kind].message(_NAME.text(name) + _TYPE.message(self._type(tensor))))
        self._counts[kind] += 1
        return Ref(kind, self._counts[kind] - 1)

    def add_alias(self, name: str, parameter: int) -> None:
        """A second name of a parameter."""
        self._aliases.append(pb.ParameterAlias(name=name, parameter=parameter))

    def ref_of(self, value: Value) -> Ref:
        """Its place in the graph; a constant that no call makes gets one when it is first used."""
        if value.computed is not None:
            return value.computed
        if value.ref is None:
            value.ref = self.add(KIND_CONSTANT, f"constant.{self._counts[KIND_CONSTANT]}", value.tensor)
        return value.ref

    def call(
        self,
        op: str,
        attributes: Dict[str, Any],
        inputs: Iterable[Optional[Value]],
        outputs: Sequence[torch.Tensor],
        inplace: bool,
        module_path: str,
        place: Optional[Place],
    ) -> int:
        """Appends a call and returns its position."""
        encoded = [self._common(op, attributes, inplace)]
        encoded += [_INPUTS.message(b"" if value is None else _encoded_ref(self.ref_of(value))) for value in inputs]
        encoded += [_NODE_OUTPUTS.message(self._type(output, place)) for output in outputs]
        where = b"" if place is None else _FILE.number(self._file(place.file)) + _LINE.number(place.line)
        encoded.append(_ORIGIN.message(where + _PATH.text(module_path)))
        self._parts.append(_NODES.message(b"".join(encoded)))
        self._calls += 1
        return self._calls - 1

    def _common(self, op: str, attributes: Dict[str, Any], inplace: bool) -> bytes:
        """What calls of one kind have in common."""
        key = (op, inplace, repr(attributes))
        found = self._encoded.get(key)
        if found is None:
            node = pb.Node(op=op, inplace=inplace)
            for name, attribute in attributes.items():
                _set_attribute(node.attributes.add(name=name), attribute)
            found = self._encoded[key] = node.SerializeToString()
        return found

    def _file(self, name: str) -> int:
        if name not in self._files:
            self._parts.append(_FILES.message(name.encode()))
            self._files[name] = len(self._files) + 1
        return self._files[name]


def node_ref(index: int, output: int = 0) -> Ref:
    """Output `output` of a call."""
    return Ref(KIND_NODE, index, output)


def _encoded_ref(ref: Ref) -> bytes:
    kind, place, output = ref
    return _KIND.number(kind) + _INDEX.number(place) + _OUTPUT.number(output)


def _set_attribute(message: pb.Attribute, value: Any) -> None:
    if isinstance(value, bool):
        message.bool_value = value
    elif isinstance(value, int):
        message.int_value = value
    elif isinstance(value, float):
        message.double_value = value
    elif isinstance(value, str):
        message.string_value = value
    elif any(isinstance(item, float) for item in value):
        message.doubles.values.extend(float(item) for item in value)
    else:
        message.ints.SetInParent()
        message.ints.values.extend(int(item) for item in value)


def tensors_in(value: Any, found: Optional[List[torch.Tensor]] = None) -> List[torch.Tensor]:
    """The tensors of nested lists, tuples and dictionaries, in order."""
    found = [] if found is None else found
    if isinstance(value, torch.Tensor):
        found.append(value)
    elif isinstance(value, (list, tuple)):
        for item in value:
            tensors_in(item, found)
    elif isinstance(value, dict):
        for item in value.values():
            tensors_in(item, found)
    return found
