"""Calls that the table of functions does not have: casts, x[index], recurrent layers, packed
sequences. Each is a function of the recorder."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Dict, List, Sequence, Tuple

import torch

from . import autocast, binder, creation, indexing, origins
from .builder import KnownValue
from .functions import Function

if TYPE_CHECKING:
    from .recorder import Recorder

_CASTS = {
    "float": torch.float32,
    "half": torch.float16,
    "bfloat16": torch.bfloat16,
    "double": torch.float64,
    "long": torch.int64,
    "int": torch.int32,
    "bool": torch.bool,
    "byte": torch.uint8,
    "char": torch.int8,
    "short": torch.int16,
    "cfloat": torch.complex64,
    "cdouble": torch.complex128,
}
_MOVES = frozenset("cpu cuda xpu pin_memory share_memory_".split())
_RECURRENT = frozenset("lstm gru rnn_tanh rnn_relu".split())


def cast(recorder: Recorder, function: Function, args: Sequence[Any], kwargs: Dict[str, Any]) -> Any:
    """x.to(...), x.type(...), x.float(): without effect the tensor itself, as in PyTorch."""
    tensor = args[0]
    bound = recorder.bound(function.name, [tensor], {})
    dtype = _CASTS.get(function.name)
    if dtype is None:
        for given in (*args[1:], kwargs.get("dtype"), kwargs.get("other")):
            if isinstance(given, torch.Tensor):
                bound.inputs.append(given)
                dtype = given.dtype
            elif isinstance(given, (torch.dtype, type)) or (isinstance(given, str) and function.name == "type"):
                dtype = _dtype_of(given)
        if function.name == "type" and dtype is None:
            return function.callable(*args, **kwargs)
        if dtype is not None and len(bound.inputs) == 1:
            bound.attributes["dtype"] = binder.dtype_name(dtype)
    if dtype is None or dtype == tensor.dtype:
        if not recorder.value(tensor).is_constant:
            recorder.run(lambda t, *_: t, bound, (tensor, *bound.inputs[1:]), {}, True)
        return tensor
    return recorder.run(lambda t, *_: t.to(dtype), bound, (tensor, *bound.inputs[1:]), {})


def move(recorder: Recorder, function: Function, args: Sequence[Any], kwargs: Dict[str, Any]) -> Any:
    return args[0]


def contiguous(recorder: Recorder, function: Function, args: Sequence[Any], kwargs: Dict[str, Any]) -> Any:
    tensor = args[0]
    value = recorder.value(tensor)
    alias = value.on_meta().is_contiguous()
    if value.is_constant:
        return tensor if alias else recorder.run(_contiguous, recorder.bound("contiguous", [tensor], {}), (tensor,), {})
    return recorder.run(_contiguous, recorder.bound("contiguous", [tensor], {}), (tensor,), {}, alias)


def get_item(recorder: Recorder, function: Function, args: Sequence[Any], kwargs: Dict[str, Any]) -> Any:
    tensor = args[0]
    if isinstance(recorder.value(tensor), KnownValue) and origins.is_called_by("nn/modules/rnn.py"):
        return recorder.read(function, args, kwargs)  # how many sequences a packed batch has
    index = _index_of(recorder, tensor, args[1], writes=False)
    bound = recorder.bound("getitem", [tensor, *index.tensors], {"index": ", ".join(index.text)})
    return recorder.run(_get_item, bound, (tensor, tuple(index.items)), {})


def set_item(recorder: Recorder, function: Function, args: Sequence[Any], kwargs: Dict[str, Any]) -> None:
    tensor, given, value = args
    index = _index_of(recorder, tensor, given, writes=True)
    bound = recorder.bound("setitem", [tensor, *index.tensors], {"index": ", ".join(index.text)})
    bound.inplace = True
    if isinstance(value, complex):
        value = torch.tensor(value)
    if isinstance(value, torch.Tensor):
        if index.by_mask and value.numel() == 1 and value.dtype != tensor.dtype:
            to = recorder.bound("to", [value], {"dtype": binder.dtype_name(tensor.dtype)})
            value = recorder.run(torch.Tensor.to, to, (value, tensor.dtype), {})
        bound.inputs.append(value)
    else:
        number = binder.as_number(value)
        bound.attributes["value"] = int(number) if isinstance(number, bool) else number
    items = tuple(index.items)
    if any(isinstance(item, torch.Tensor) and item.dtype in (torch.bool, torch.uint8) for item in items):
        items = (Ellipsis,)  # `meta` has no masks; the shape of what is written to stays
        value = value if not isinstance(value, torch.Tensor) or value.numel() == 1 else 0
    recorder.run(_set_item, bound, (tensor, items, value), {})


def iterate(recorder: Recorder, function: Function, args: Sequence[Any], kwargs: Dict[str, Any]) -> Any:
    bound = recorder.bound("unbind", [args[0]], {"dim": 0})
    return iter(recorder.run(lambda t: t.unbind(0), bound, (args[0],), {}))


def reverse(recorder: Recorder, function: Function, args: Sequence[Any], kwargs: Dict[str, Any]) -> Any:
    if args[0].dim() == 0:
        return args[0]
    return recorder.run(lambda t: t.flip(0), recorder.bound("flip", [args[0]], {"dims": [0]}), (args[0],), {})


def where(recorder: Recorder, function: Function, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> Any:
    if not is_method(function):
        return recorder.known(function, "t", args, kwargs)
    arguments = [*args[1:], *kwargs.values()]
    return recorder.known(Function("t", "where", torch.where), "t", (arguments[0], args[0], *arguments[1:]), {})


def recurrent(recorder: Recorder, function: Function, args: Sequence[Any], kwargs: Dict[str, Any]) -> Any:
    """torch.lstm and its like; with batch_sizes for a packed batch."""
    packed = isinstance(args[1], torch.Tensor) and isinstance(args[3], (list, tuple))
    batch_sizes: Any = None
    batch_first = False
    if packed:
        data, batch_sizes, states, weights, has_biases, layers, dropout, train, bidirectional = args
    else:
        data, states, weights, has_biases, layers, dropout, train, bidirectional, batch_first = args
    states = list(states) if isinstance(states, (list, tuple)) else [states]
    attributes: Dict[str, Any] = {
        "has_biases": has_biases,
        "num_layers": layers,
        "dropout": float(dropout),
        "bidirectional": bidirectional,
    }
    inputs = [data, *states, *weights]
    _refuse_other_types(inputs)
    if packed:
        attributes["batch_sizes"] = [int(n) for n in recorder.values_of(batch_sizes, "the shape of a packed sequence")]
        inputs.append(batch_sizes)
    else:
        attributes["batch_first"] = batch_first
    if train and dropout > 0 and layers > 1:
        attributes["training"] = True
    call: Callable[..., Any] = lambda *_: _recurrent_outputs(data, states, attributes)
    return recorder.run(call, recorder.bound(function.name, inputs, attributes), tuple(inputs), {})


def lstm_cell(recorder: Recorder, function: Function, args: Sequence[Any], kwargs: Dict[str, Any]) -> Any:
    data, hx, *rest = args
    inputs = [data, *hx, *rest, *(kwargs.get(name) for name in ("b_ih", "b_hh") if name in kwargs)]
    _refuse_other_types(inputs)
    shape: Callable[..., Any] = lambda x, h, c, *_: (torch.empty_like(h), torch.empty_like(c))
    return recorder.run(shape, recorder.bound("lstm_cell", inputs, {}), tuple(inputs), {})


def tensordot(recorder: Recorder, function: Function, args: Sequence[Any], kwargs: Dict[str, Any]) -> Any:
    a, b, *rest = args
    dims: Any = rest[0] if rest else kwargs.get("dims", 2)
    if isinstance(dims, torch.Tensor):
        dims = recorder.values_of(dims, "tensordot() by a tensor")
    if isinstance(dims, int):
        attributes: Dict[str, Any] = {"dims": dims}
    else:
        lists = [[d] if isinstance(d, int) else list(d) for d in dims]
        attributes = {"axes": lists[0] + lists[1]}
    bound = recorder.bound("tensordot", [a, b], attributes)
    return recorder.run(lambda x, y: torch.tensordot(x, y, dims=dims), bound, (a, b), {})


def pad_sequence(recorder: Recorder, function: Function, args: Sequence[Any], kwargs: Dict[str, Any]) -> Any:
    names = dict(zip(("sequences", "batch_first", "padding_value"), args), **kwargs)
    attributes = {
        "batch_first": names.get("batch_first", False),
        "padding_value": float(names.get("padding_value", 0.0)),
    }
    bound = recorder.bound("pad_sequence", list(names["sequences"]), attributes)
    return recorder.run(function.callable, bound, args, kwargs)


def pack(recorder: Recorder, function: Function, args: Sequence[Any], kwargs: Dict[str, Any]) -> Any:
    data, lengths, batch_first = args
    numbers = [int(n) for n in recorder.values_of(lengths, "the shape of a packed sequence")]
    sizes = [sum(n > step for n in numbers) for step in range(numbers[0])]
    attributes = {"batch_sizes": sizes, "batch_first": bool(batch_first)}
    tail = data.shape[2:]
    packed: Callable[..., Any] = lambda x, _: (_empty((sum(sizes), *tail), x.dtype), _empty((len(sizes),)))
    rows, steps = recorder.run(
        packed, recorder.bound("_pack_padded_sequence", [data, lengths], attributes), (data, lengths), {}
    )
    return rows, _known_output(recorder, steps, torch.tensor(sizes, dtype=torch.int64))


def pad_packed(recorder: Recorder, function: Function, args: Sequence[Any], kwargs: Dict[str, Any]) -> Any:
    data, batch_sizes, batch_first, padding, total = args
    sizes = [int(n) for n in recorder.values_of(batch_sizes, "the shape of a packed sequence")]
    lengths = [sum(size > i for size in sizes) for i in range(sizes[0])]
    attributes = {
        "batch_sizes": sizes,
        "batch_first": batch_first,
        "padding_value": float(padding),
        "total_length": total,
    }
    longest = total if total > 0 else len(sizes)
    shape = (sizes[0], longest) if batch_first else (longest, sizes[0])
    padded: Callable[..., Any] = lambda x, _: (_empty((*shape, *x.shape[1:]), x.dtype), _empty((sizes[0],)))
    rows, ends = recorder.run(
        padded, recorder.bound("_pad_packed_sequence", [data, batch_sizes], attributes), (data, batch_sizes), {}
    )
    return rows, _known_output(recorder, ends, torch.tensor(lengths, dtype=torch.int64))


def _known_output(recorder: Recorder, tensor: torch.Tensor, numbers: torch.Tensor) -> torch.Tensor:
    """An output of a recorded call whose numbers are the same in every run."""
    known = numbers.clone()
    value = recorder.values[id(known)] = KnownValue(known)
    value.take(recorder.value(tensor))
    value.twin = tensor
    return known


def new(recorder: Recorder, function: Function, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> Any:
    """x.new(2, 3), of which torch 1.13 knows what the device is, and x.new([2, 3])."""
    tensor, *sizes = args
    constant = recorder.value(tensor).is_constant
    if sizes and not isinstance(sizes[0], (int, torch.Size)):
        data = creation.of_data(recorder, sizes[0], tensor.dtype)
        if constant or not recorder.value(data).is_constant:
            return data
        return _known_output(recorder, _new_empty(recorder, tensor, list(data.shape)), data)
    size = [int(n) for n in (sizes[0] if sizes and isinstance(sizes[0], torch.Size) else sizes or [0])]
    if constant:
        return creation.created(recorder, "empty", torch.empty(size, dtype=tensor.dtype), {})
    return _new_empty(recorder, tensor, size)


def _new_empty(recorder: Recorder, tensor: torch.Tensor, size: List[int]) -> torch.Tensor:
    bound = recorder.bound("new", [tensor], {"size": size})
    made: torch.Tensor = recorder.run(lambda t: t.new_empty(size), bound, (tensor,), {})
    return made


def _index_of(recorder: Recorder, tensor: torch.Tensor, index: Any, writes: bool) -> indexing.Index:
    is_known: Callable[[torch.Tensor], bool] = lambda t: recorder.value(t).is_known
    is_constant: Callable[[torch.Tensor], bool] = lambda t: recorder.value(t).is_constant
    of_constant = recorder.value(tensor).is_constant
    return indexing.read(index, is_known, is_constant, recorder.values_of, writes, of_constant)


def _get_item(tensor: torch.Tensor, index: Any) -> Any:
    return torch.Tensor.__getitem__(tensor, index)


def _set_item(tensor: torch.Tensor, index: Any, value: Any) -> None:
    torch.Tensor.__setitem__(tensor, index, value)


def _contiguous(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.contiguous()


def _dtype_of(given: Any) -> torch.dtype:
    """torch.float64, Python's float, torch.FloatTensor or its name."""
    if isinstance(given, torch.dtype):
        return given
    own: Dict[Any, torch.dtype] = {float: torch.get_default_dtype(), int: torch.int64, bool: torch.bool}
    if given in own:
        return own[given]
    name = given if isinstance(given, str) else f"torch.{given.__name__}"
    dtype: torch.dtype = torch.empty(0).type(name.replace("torch.cuda.", "torch.")).dtype
    return dtype


def _refuse_other_types(inputs: Sequence[Any]) -> None:
    """PyTorch's own layers are not called for their shapes, so nothing else refuses weights of
    another type."""
    other = next(
        (t for t in inputs if isinstance(t, torch.Tensor) and t.dtype != inputs[0].dtype),
        None,
    )
    if other is not None and not autocast.is_on():
        raise RuntimeError(f"Input and parameter tensors are not the same dtype: {inputs[0].dtype} and {other.dtype}")


def _recurrent_outputs(
    data: torch.Tensor, states: List[torch.Tensor], attributes: Dict[str, Any]
) -> Tuple[torch.Tensor, ...]:
    """The shapes of what a recurrent layer returns: `meta` has no such kernels."""
    directions = 2 if attributes["bidirectional"] else 1
    width = states[0].shape[-1] * directions
    output = _empty((*data.shape[:-1], width), data.dtype)
    return (output, *(_empty(state.shape, data.dtype) for state in states))


def _empty(shape: Sequence[int], dtype: torch.dtype = torch.int64) -> torch.Tensor:
    return torch.empty(tuple(shape), dtype=dtype, device="meta")


def is_method(function: Function) -> bool:
    qualname = getattr(function.callable, "__qualname__", "")
    return "Tensor" in qualname.split(".")[0]


Special = Callable[["Recorder", Function, Tuple[Any, ...], Dict[str, Any]], Any]
SPECIAL: Dict[str, Special] = {
    **{name: cast for name in (*_CASTS, "to", "type", "type_as")},
    **{name: move for name in _MOVES},
    **{name: recurrent for name in _RECURRENT},
    "contiguous": contiguous,
    "__getitem__": get_item,
    "__setitem__": set_item,
    "__iter__": iterate,
    "__reversed__": reverse,
    "new": new,
    "where": where,
    "lstm_cell": lstm_cell,
    "tensordot": tensordot,
    "pad_sequence": pad_sequence,
    "_pack_padded_sequence": pack,
    "_pad_packed_sequence": pad_packed,
}
