"""Arguments that get a value before a call, and when a call returns its argument (ArgumentRule and
ItselfRule in torch_rules.h)."""
from __future__ import annotations

from typing import Any, Callable, Dict, List

import torch

from . import origins
from .binder import Bound
from .version import VERSION

ValuesOf = Callable[[torch.Tensor, str], List[Any]]


def complete(bound: Bound, values_of: ValuesOf) -> None:
    """Arguments that get a value before the call (ArgumentRule in torch_rules.h)."""
    rule, attributes = bound.operator.arguments, bound.attributes
    if rule in ("Window", "MaxWindow") and attributes.get("kernel_size") and not attributes.get("stride"):
        attributes["stride"] = attributes["kernel_size"]
    if rule == "MaxWindow":
        _drop_unless_true(attributes, "return_indices")
    elif rule == "Training":
        _drop_unless_true(attributes, "training")
    elif rule == "Statistics":
        name = "training" if bound.operator.name == "batch_norm" else "use_input_stats"
        if bound.inputs[1] is None:
            attributes.pop(name, None)
        _drop_unless_true(attributes, name)
    elif rule == "SoftmaxDim" and "dim" not in attributes:
        rank = bound.inputs[0].dim() if bound.inputs[0] is not None else 0
        attributes["dim"] = 0 if rank in (0, 1, 3) else 1
    elif rule == "Repeats":
        _complete_repeats(bound, values_of)
    elif rule == "Classes" and attributes.get("num_classes", -1) == -1 and bound.inputs[0] is not None:
        attributes["num_classes"] = int(max(values_of(bound.inputs[0], "the shape of one_hot()"))) + 1
    elif rule == "Bags":
        _arrange_bags(bound)
    if bound.operator.name.startswith(("adaptive_max_pool", "fractional_max_pool")) and not origins.is_called_by(
        "nn/modules/pooling.py"
    ):
        _drop_unless_true(attributes, "return_indices")  # torch says it where the program does not
    if bound.operator.name == "multi_head_attention_forward":
        _drop_unless_true(attributes, "is_causal")  # likewise
    if attributes.get("compute_mode") == "use_mm_for_euclid_dist_if_necessary":
        del attributes["compute_mode"]  # likewise
    if bound.operator.name == "stft" and VERSION < (2, 0) and "return_complex" not in attributes:
        attributes["return_complex"] = False


def _complete_repeats(bound: Bound, values_of: ValuesOf) -> None:
    repeats = bound.inputs[1] if len(bound.inputs) > 1 else None
    tensor = bound.inputs[0]
    if repeats is None or tensor is None or "output_size" in bound.attributes:
        return
    numbers = values_of(repeats, "the shape of repeat_interleave() by a tensor")
    total = sum(numbers)
    if len(numbers) == 1:
        dim = bound.attributes.get("dim")
        total *= tensor.numel() if dim is None or tensor.dim() == 0 else tensor.shape[dim]
    bound.attributes["output_size"] = int(total)


def is_itself(bound: Bound) -> bool:
    """When a call returns its argument, the same object (ItselfRule in torch_rules.h)."""
    rule = bound.operator.itself
    tensor = bound.inputs[0] if len(bound.inputs) == 1 else None
    if tensor is None or rule not in _ITSELF:
        return False
    return _ITSELF[rule](tensor, bound.attributes)


def _flattens_nothing(tensor: torch.Tensor, attributes: Dict[str, Any]) -> bool:
    rank = max(tensor.dim(), 1)
    return tensor.dim() > 0 and attributes["start_dim"] % rank == attributes["end_dim"] % rank


_ITSELF: Dict[str, Callable[[torch.Tensor, Dict[str, Any]], bool]] = {
    "Always": lambda tensor, attributes: True,
    "NotBool": lambda tensor, attributes: tensor.dtype != torch.bool,
    "Real": lambda tensor, attributes: not tensor.is_complex(),
    "Scalar": lambda tensor, attributes: tensor.dim() == 0,
    "RealScalar": lambda tensor, attributes: not tensor.is_complex() and tensor.dim() == 0,
    "Vector": lambda tensor, attributes: tensor.dim() == 1,
    "OfThatSize": lambda tensor, attributes: list(tensor.shape) == attributes.get("size"),
    "OneDim": _flattens_nothing,
    "UnlessTraining": lambda tensor, attributes: not attributes.get("training") or attributes.get("p") == 0,
}


def _drop_unless_true(attributes: Dict[str, Any], name: str) -> None:
    if not attributes.get(name):
        attributes.pop(name, None)


def _arrange_bags(bound: Bound) -> None:
    """F.embedding_bag takes its first two arguments in either order; each row of a matrix is a
    bag."""
    indices, weight = bound.inputs[0], bound.inputs[1]
    if indices is None or weight is None:
        return
    if weight.dtype == torch.int64 and indices.is_floating_point():
        bound.inputs[0], bound.inputs[1] = weight, indices
        indices = weight
    if VERSION >= (2, 0) and indices.dim() == 2:
        bound.attributes.pop("include_last_offset", None)
