"""Tensors, constants and calls, as the messages of graph.proto."""
from __future__ import annotations

from typing import Any, Dict, Iterable, List, Optional, Sequence

import torch

from .._proto import graph_pb2 as pb
from ..errors import ModelError, Place

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


class Value:
    """What is known of one tensor of the run.

    A tensor is a constant until it depends on an input, a parameter or a random number. Constants
    are computed on the CPU, so that a program may read them; of all others there is a tensor on
    `meta`, which has a shape and no numbers. PyTorch runs calls on constants too, so both are
    outputs of calls of the graph.
    """

    __slots__ = ("tensor", "twin", "ref", "computed", "drawn", "random", "base", "hides_base")

    def __init__(self, tensor: torch.Tensor, ref: Optional[pb.ValueRef] = None) -> None:
        self.tensor = tensor  # the program's own object
        self.twin: Optional[torch.Tensor] = tensor if tensor.is_meta else None
        self.ref = ref
        self.computed: Optional[pb.ValueRef] = None  # of a constant that a call makes: its output
        self.drawn = False  # a random number that was drawn while the network ran
        self.random = False  # its numbers differ from run to run
        self.base: Optional[Value] = None  # of a view: whose storage it shares
        self.hides_base = False  # views of it share a tensor that Python never sees

    @property
    def is_constant(self) -> bool:
        """Whether it depends on no input and no parameter."""
        constant = self.ref is None or self.ref.kind in (pb.ValueRef.KIND_BUFFER, pb.ValueRef.KIND_CONSTANT)
        return constant and not self.drawn

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
    tensor = tensor.detach()
    if tensor.layout != torch.strided:
        return torch.empty(tensor.shape, dtype=tensor.dtype, device="meta")
    return torch.empty_strided(tuple(tensor.shape), tensor.stride(), dtype=tensor.dtype, device="meta")


class GraphBuilder:
    """Collects a graph."""

    def __init__(self) -> None:
        self.graph = pb.Graph()
        self._files: Dict[str, int] = {}

    def type_of(self, tensor: torch.Tensor, place: Optional[Place] = None) -> pb.TensorType:
        """Raises ModelError for an element type that the graph does not have."""
        dtype = DTYPES.get(tensor.dtype)
        if dtype is None:
            raise ModelError(
                f"{tensor.dtype} of a tensor of shape {tuple(tensor.shape)} is not an element type that COBRA knows",
                "use one of " + ", ".join(str(known)[6:] for known in DTYPES),
                place,
            )
        return pb.TensorType(shape=tensor.shape, dtype=dtype)

    def add(self, kind: "pb.ValueRef.Kind", name: str, tensor: torch.Tensor) -> pb.ValueRef:
        """An input, a parameter, a buffer or a constant."""
        tensors = {
            pb.ValueRef.KIND_INPUT: self.graph.inputs,
            pb.ValueRef.KIND_PARAMETER: self.graph.parameters,
            pb.ValueRef.KIND_BUFFER: self.graph.buffers,
            pb.ValueRef.KIND_CONSTANT: self.graph.constants,
        }[kind]
        tensors.append(pb.NamedTensor(name=name, type=self.type_of(tensor)))
        return pb.ValueRef(kind=kind, index=len(tensors) - 1)

    def ref_of(self, value: Value) -> pb.ValueRef:
        """Its place in the graph; a constant that no call makes gets one when it is first used."""
        if value.computed is not None:
            return value.computed
        if value.ref is None:
            name = f"constant.{len(self.graph.constants)}"
            value.ref = self.add(pb.ValueRef.KIND_CONSTANT, name, value.tensor)
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
        node = self.graph.nodes.add(op=op, inplace=inplace)
        node.origin.module_path = module_path
        if place is not None:
            node.origin.file = self._file(place.file)
            node.origin.line = place.line
        for value in inputs:
            node.inputs.append(pb.ValueRef() if value is None else self.ref_of(value))
        for name, attribute in attributes.items():
            _set_attribute(node.attributes.add(name=name), attribute)
        node.outputs.extend(self.type_of(output, place) for output in outputs)
        return len(self.graph.nodes) - 1

    def _file(self, name: str) -> int:
        if name not in self._files:
            self.graph.source_files.append(name)
            self._files[name] = len(self._files) + 1
        return self._files[name]


def node_ref(index: int, output: int = 0) -> pb.ValueRef:
    """Output `output` of a call."""
    return pb.ValueRef(kind=pb.ValueRef.KIND_NODE, index=index, output=output)


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
