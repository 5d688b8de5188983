"""The outputs of the calls that most networks are made of, by rules of our own.

A call's shapes come from torch: it runs on `meta` tensors (running.py). Those kernels of torch are
written in Python. They take some 100 us a call, and in torch 2 the first of them imports sympy and
torch._dynamo, which takes a second. A rule here answers only where nothing can be wrong with the
call: its tensors have one floating type, and all sizes fit. In every other case it answers None,
and torch is asked, which raises its own errors.
client/python/tests/live_outputs_test.py compares each rule with torch.
"""
from __future__ import annotations

import math
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

import torch

from . import layout
from .binder import Bound

Sizes = Tuple[int, ...]
Tensors = Sequence[Optional[torch.Tensor]]
Attributes = Dict[str, Any]
Rule = Callable[[Attributes, Tensors], Optional[Sizes]]

_FLOATS = frozenset((torch.float32, torch.float16, torch.bfloat16, torch.float64))
_PLAIN = frozenset((torch.Tensor, torch.nn.Parameter))
_EMPTY = torch.empty_strided


def of(bound: Bound, tensors: Tensors) -> Any:
    """The outputs of a call, on `meta`, in the memory order that they have. `tensors` are the
    inputs on `meta`. None: torch knows.

    Of a call in place it is the input itself."""
    name = bound.operator.name
    if name not in _RULES and name not in _OWN or torch.is_grad_enabled():
        return None
    first = tensors[0] if tensors else None
    if first is None or not {type(tensor) for tensor in tensors if tensor is not None} <= _PLAIN:
        return None
    if name in _OWN:
        return _OWN[name](bound.attributes, tensors)
    dtype = _type(bound, tensors)
    sizes = _RULES[name](bound.attributes, tensors) if dtype is not None else None
    if sizes is None:
        return None
    if bound.inplace:
        fits = sizes == tuple(first.shape) and dtype is first.dtype and 0 not in first.stride()  # as of expand()
        return first if fits else None
    strides = _strides(bound, tensors, sizes)
    return None if strides is None else _EMPTY(sizes, strides, dtype=dtype, device="meta")


def _type(bound: Bound, tensors: Tensors) -> Optional[torch.dtype]:
    of_inputs = _OTHER_TYPES.get(bound.operator.name)
    if of_inputs is not None:
        return of_inputs(bound.attributes, tensors)
    return _dtype_of(bound.attributes, tensors[0].dtype) if _have_one_type(tensors) else None  # type: ignore[union-attr]


def _have_one_type(tensors: Tensors) -> bool:
    dtype = tensors[0].dtype  # type: ignore[union-attr]
    return dtype in _FLOATS and all(tensor is None or tensor.dtype is dtype for tensor in tensors)


def _dtype_of(attributes: Attributes, dtype: torch.dtype) -> Optional[torch.dtype]:
    given = attributes.get("dtype")
    if given is None:
        return dtype
    found = getattr(torch, given, None)
    return found if found in _FLOATS else None


def _strides(bound: Bound, tensors: Tensors, sizes: Sizes) -> Optional[Sizes]:
    rule = bound.operator.strides
    if len(sizes) < 2:
        return (1,) * len(sizes)
    if rule == "Elementwise":
        return _elementwise_strides(tensors, sizes)
    if rule == "Suggested":  # torch.channels_last: as this version's kernel has it
        return layout.contiguous(sizes) if all(map(_is_in_rows, tensors)) else None
    if rule == "MadeContiguous":
        return layout.contiguous(sizes)
    return layout.strides(bound, tensors, sizes)


def _elementwise_strides(tensors: Tensors, sizes: Sizes) -> Optional[Sizes]:
    """As TensorIterator of PyTorch orders the dimensions: by the strides of the first tensor that
    distinguishes two of them (ElementwiseStrides in graph/shape/stride_rules.cc)."""
    given = [tensor for tensor in tensors if tensor is not None]
    if all(map(_is_in_rows, given)):
        return layout.contiguous(sizes)
    strides = [_expanded(tensor, sizes) for tensor in given]
    first = next((place for place, size in enumerate(sizes) if size != 1), 0)
    outside = all(step == 0 or step >= max(of[first:]) for of in strides for step in of[:first])
    if 1 in sizes[first:] or not outside:  # versions of torch differ in where such a dimension goes
        return None
    order = list(range(len(sizes) - 1, -1, -1))  # innermost first
    for place in range(1, len(order)):
        for before in range(place - 1, -1, -1):
            compared = _is_outside(strides, sizes, order[before], order[place])
            if compared is None:
                continue
            if not compared:
                break
            order[before], order[place] = order[place], order[before]
            place = before
    return layout.in_steps(sizes, order)


def _is_outside(strides: Sequence[Sequence[int]], sizes: Sizes, dim: int, other: int) -> Optional[bool]:
    """Whether a dimension lies outside of another one; None where nothing says so."""
    for of_tensor in strides:
        step, other_step = of_tensor[dim], of_tensor[other]
        if step == 0 or other_step == 0:
            continue
        if step != other_step:
            return step > other_step
        if sizes[dim] > sizes[other]:
            return True
    return None


def _expanded(tensor: torch.Tensor, sizes: Sizes) -> List[int]:
    """The strides with 0 for each dimension that is broadcast."""
    missing = len(sizes) - tensor.dim()
    own = [0 if n == 1 and size != 1 else step for n, step, size in zip(tensor.shape, tensor.stride(), sizes[missing:])]
    return [0] * missing + own


def _is_in_rows(tensor: Optional[torch.Tensor]) -> bool:
    return tensor is None or tensor.stride() == layout.contiguous(tensor.shape)


# ---- the rules: the sizes of the output, or None


def _same(attributes: Attributes, tensors: Tensors) -> Optional[Sizes]:
    """One tensor, and numbers that can have any value."""
    return tuple(tensors[0].shape) if len(tensors) == 1 else None  # type: ignore[union-attr]


def _gelu(attributes: Attributes, tensors: Tensors) -> Optional[Sizes]:
    return _same(attributes, tensors) if attributes.get("approximate", "none") in ("none", "tanh") else None


def _dropout(attributes: Attributes, tensors: Tensors) -> Optional[Sizes]:
    p = attributes.get("p", 0.5)
    return _same(attributes, tensors) if isinstance(p, (int, float)) and 0 <= p <= 1 else None


def _hardtanh(attributes: Attributes, tensors: Tensors) -> Optional[Sizes]:
    least, most = attributes.get("min_val", -1.0), attributes.get("max_val", 1.0)
    return _same(attributes, tensors) if least < most else None


def _clamp(attributes: Attributes, tensors: Tensors) -> Optional[Sizes]:
    """With numbers as bounds."""
    if any(tensor is not None for tensor in tensors[1:]) or not ("min" in attributes or "max" in attributes):
        return None
    if any(type(attributes.get(name, 0.0)) not in (int, float) for name in ("min", "max")):
        return None
    return tuple(tensors[0].shape)  # type: ignore[union-attr]


def _softmax(attributes: Attributes, tensors: Tensors) -> Optional[Sizes]:
    sizes = _same(attributes, tensors)
    return sizes if sizes and _is_dimension(attributes.get("dim"), len(sizes)) else None


def _is_dimension(dim: Any, rank: int) -> bool:
    return type(dim) is int and -rank <= dim < rank


def _binary(attributes: Attributes, tensors: Tensors) -> Optional[Sizes]:
    first, other = tensors[0], tensors[1] if len(tensors) > 1 else None
    assert first is not None
    if len(tensors) > 2 or "rounding_mode" in attributes or type(attributes.get("alpha", 1)) not in (int, float):
        return None
    if other is None:
        number = attributes.get("exponent", attributes.get("other"))
        return tuple(first.shape) if type(number) in (int, float) else None
    return _broadcast(first.shape, other.shape)


def _broadcast(a: Sequence[int], b: Sequence[int]) -> Optional[Sizes]:
    """
    >>> _broadcast((4, 1), (3,)), _broadcast((2,), (3,))
    ((4, 3), None)
    """
    if a == b:
        return tuple(a)
    if len(a) < len(b):
        a, b = b, a
    sizes = list(a)
    for place, size in enumerate(b, len(a) - len(b)):
        if sizes[place] == 1:
            sizes[place] = size
        elif size not in (1, sizes[place]):
            return None
    return tuple(sizes)


def _masked_fill(attributes: Attributes, tensors: Tensors) -> Optional[Sizes]:
    """With a number."""
    if type(attributes.get("value")) not in (int, float):
        return None
    return _broadcast(tensors[0].shape, tensors[1].shape)  # type: ignore[union-attr]


def _conv(attributes: Attributes, tensors: Tensors) -> Optional[Sizes]:
    image, weight, bias = (tensor if tensor is None else tuple(tensor.shape) for tensor in tensors)
    found = _windows_of(attributes, image, weight, ("stride", "padding", "dilation"))
    if found is None or image is None or weight is None:
        return None
    groups = attributes.get("groups", 1)
    if groups < 1 or weight[1] * groups != image[1] or weight[0] % groups or bias not in (None, (weight[0],)):
        return None
    sizes = []
    for size, kernel, stride, padding, dilation in zip(image[2:], weight[2:], *found):
        if stride < 1 or padding < 0 or dilation < 1:
            return None
        sizes.append((size + 2 * padding - dilation * (kernel - 1) - 1) // stride + 1)
    return (image[0], weight[0], *sizes) if min(*sizes, *image, *weight) > 0 else None


def _conv_transpose(attributes: Attributes, tensors: Tensors) -> Optional[Sizes]:
    image, weight, bias = (tensor if tensor is None else tuple(tensor.shape) for tensor in tensors)
    found = _windows_of(attributes, image, weight, ("stride", "padding", "dilation", "output_padding"))
    if found is None or image is None or weight is None:
        return None
    groups = attributes.get("groups", 1)
    if groups < 1 or weight[0] != image[1] or image[1] % groups or bias not in (None, (weight[1] * groups,)):
        return None
    sizes = []
    for size, kernel, stride, padding, dilation, more in zip(image[2:], weight[2:], *found):
        if stride < 1 or padding < 0 or dilation < 1 or not 0 <= more < max(stride, dilation):
            return None
        sizes.append((size - 1) * stride - 2 * padding + dilation * (kernel - 1) + more + 1)
    return (image[0], weight[1] * groups, *sizes) if min(*sizes, *image, *weight) > 0 else None


def _windows_of(
    attributes: Attributes, image: Optional[Sizes], weight: Optional[Sizes], names: Sequence[str]
) -> Optional[List[List[int]]]:
    """The numbers of a convolution's windows for each dimension; None if there are not as many."""
    if image is None or weight is None or len(image) < 3 or len(image) != len(weight):
        return None
    found = [attributes.get(name) for name in names]
    fit = all(type(numbers) is list and len(numbers) == len(image) - 2 for numbers in found)
    return found if fit else None  # type: ignore[return-value]


def _linear(attributes: Attributes, tensors: Tensors) -> Optional[Sizes]:
    x, weight, bias = (tensor if tensor is None else tuple(tensor.shape) for tensor in tensors)
    if not x or weight is None or len(weight) != 2 or x[-1] != weight[1] or bias not in (None, (weight[0],)):
        return None
    return (*x[:-1], weight[0])


def _shapes(tensors: Tensors) -> List[Sizes]:
    return [() if tensor is None else tuple(tensor.shape) for tensor in tensors]


def _matmul(attributes: Attributes, tensors: Tensors) -> Optional[Sizes]:
    a, b = _shapes(tensors)
    if len(a) < 2 or len(b) < 2 or a[-1] != b[-2]:
        return None
    batch = _broadcast(a[:-2], b[:-2])
    return None if batch is None else (*batch, a[-2], b[-1])


def _mm(rank: int) -> Rule:
    """mm and bmm: nothing is broadcast."""

    def rule(attributes: Attributes, tensors: Tensors) -> Optional[Sizes]:
        a, b = _shapes(tensors)
        fit = len(a) == len(b) == rank and a[:-2] == b[:-2] and a[-1] == b[-2]
        return (*a[:-1], b[-1]) if fit else None

    return rule


def _addmm(attributes: Attributes, tensors: Tensors) -> Optional[Sizes]:
    sizes = _mm(2)(attributes, tensors[1:])
    start = tuple(tensors[0].shape)  # type: ignore[union-attr]
    numbers = all(type(attributes.get(name, 1)) in (int, float) for name in ("beta", "alpha"))
    return sizes if sizes and numbers and start in (sizes, sizes[1:]) else None


def _embedding(attributes: Attributes, tensors: Tensors) -> Optional[Sizes]:
    indices, weight = (tuple(tensor.shape) for tensor in tensors if tensor is not None)
    padding = attributes.get("padding_idx", -1)
    if len(weight) != 2 or "max_norm" in attributes or not -weight[0] <= padding < weight[0]:
        return None
    return (*indices, weight[1])


def _attention(attributes: Attributes, tensors: Tensors) -> Optional[Sizes]:
    q, k, v, mask = (tensor if tensor is None else tuple(tensor.shape) for tensor in tensors)
    if q is None or k is None or v is None or not len(q) == len(k) == len(v) == 4:
        return None
    if q[:2] != k[:2] or k[:3] != v[:3] or q[3] != k[3] or attributes.get("enable_gqa") or min(*q, *k, *v) == 0:
        return None
    scores = (*q[:3], k[2])
    if mask is not None and (attributes.get("is_causal") or _broadcast(mask, scores) != scores):
        return None
    return (*q[:3], v[3]) if 0 <= attributes.get("dropout_p", 0.0) <= 1 else None


def _repeat_interleave(attributes: Attributes, tensors: Tensors) -> Optional[Sizes]:
    """By a number."""
    sizes, repeats, dim = _same(attributes, tensors[:1]), attributes.get("repeats"), attributes.get("dim")
    if not sizes or tensors[1:] not in ([], [None]) or not _is_dimension(dim, len(sizes)):
        return None
    if "output_size" in attributes or type(repeats) is not int or repeats < 1 or type(dim) is not int:
        return None
    dim %= len(sizes)
    return (*sizes[:dim], sizes[dim] * repeats, *sizes[dim + 1 :])


def _layer_norm(attributes: Attributes, tensors: Tensors) -> Optional[Sizes]:
    x, *others = (tensor if tensor is None else tuple(tensor.shape) for tensor in tensors)
    normalized = tuple(attributes.get("normalized_shape", ()))
    fit = x and normalized and x[-len(normalized) :] == normalized and all(t in (None, normalized) for t in others)
    return x if fit else None


def _batch_norm(attributes: Attributes, tensors: Tensors) -> Optional[Sizes]:
    x, *others = (tensor if tensor is None else tuple(tensor.shape) for tensor in tensors)
    if x is None or len(x) < 2 or 0 in x or not all(sizes in (None, x[1:2]) for sizes in others):
        return None
    if attributes.get("training"):
        return x if math.prod(x) > x[1] else None
    return x if None not in others[:2] else None  # without running statistics it must train


def _group_norm(attributes: Attributes, tensors: Tensors) -> Optional[Sizes]:
    x, *others = (tensor if tensor is None else tuple(tensor.shape) for tensor in tensors)
    groups = attributes.get("num_groups", 0)
    if x is None or len(x) < 2 or 0 in x or groups < 1 or x[1] % groups:
        return None
    return x if math.prod(x) > groups and all(sizes in (None, x[1:2]) for sizes in others) else None


def _pool(attributes: Attributes, tensors: Tensors) -> Optional[Sizes]:
    """max_pool2d and avg_pool2d."""
    sizes = _same(attributes, tensors)
    if not sizes or len(sizes) != 4 or 0 in sizes or attributes.get("return_indices"):
        return None
    kernels, strides = attributes.get("kernel_size"), attributes.get("stride")
    paddings, dilations = attributes.get("padding", [0, 0]), attributes.get("dilation", [1, 1])
    numbers: Any = (kernels, strides, paddings, dilations)
    if not all(type(of) is list and len(of) == 2 for of in numbers) or attributes.get("divisor_override") == 0:
        return None
    made, rounds_up = [], bool(attributes.get("ceil_mode"))
    for size, kernel, stride, padding, dilation in zip(sizes[2:], *numbers):
        if kernel < 1 or stride < 1 or dilation < 1 or not 0 <= padding <= kernel // 2:
            return None
        room = size + 2 * padding - dilation * (kernel - 1) - 1
        count = (room + (stride - 1 if rounds_up else 0)) // stride + 1
        if rounds_up and (count - 1) * stride >= size + padding:  # a window that begins in the padding
            count -= 1
        if room < 0 or count < 1:
            return None
        made.append(count)
    return (*sizes[:2], *made)


def _adaptive_pool(attributes: Attributes, tensors: Tensors) -> Optional[Sizes]:
    sizes, wanted = _same(attributes, tensors), attributes.get("output_size")
    if not sizes or len(sizes) != 4 or 0 in sizes or type(wanted) is not list or len(wanted) != 2:
        return None
    return (*sizes[:2], *wanted) if all(type(size) is int and size > 0 for size in wanted) else None


def _reduce(attributes: Attributes, tensors: Tensors) -> Optional[Sizes]:
    """sum, mean, amax, amin."""
    sizes = _same(attributes, tensors)
    if sizes is None or 0 in sizes:
        return None
    rank, dims, keeps = len(sizes), attributes.get("dim") or range(len(sizes)), attributes.get("keepdim")
    if not all(_is_dimension(dim, rank) for dim in dims):
        return None
    reduced = {dim % rank for dim in dims}
    if len(reduced) != len(dims):
        return None
    return tuple(1 if dim in reduced else n for dim, n in enumerate(sizes) if keeps or dim not in reduced)


def _cat(attributes: Attributes, tensors: Tensors) -> Optional[Sizes]:
    shapes = _shapes(tensors)
    rank, dim = len(shapes[0]), attributes.get("dim", 0)
    if not rank or not _is_dimension(dim, rank) or any(len(sizes) != rank or 0 in sizes for sizes in shapes):
        return None
    dim %= rank
    if any(sizes[:dim] != shapes[0][:dim] or sizes[dim + 1 :] != shapes[0][dim + 1 :] for sizes in shapes):
        return None
    return (*shapes[0][:dim], sum(sizes[dim] for sizes in shapes), *shapes[0][dim + 1 :])


def _pad(attributes: Attributes, tensors: Tensors) -> Optional[Sizes]:
    sizes, pad = _same(attributes, tensors), attributes.get("pad")
    if attributes.get("mode") != "constant" or not sizes or not pad or len(pad) % 2 or len(pad) > 2 * len(sizes):
        return None
    made = list(sizes)
    for number in range(0, len(pad), 2):
        made[-1 - number // 2] += pad[number] + pad[number + 1]
    return tuple(made) if min(*made, *sizes, *pad, 1) >= 0 and 0 not in made and 0 not in sizes else None


# ---- outputs of their own


def _reshape(attributes: Attributes, tensors: Tensors) -> Optional[torch.Tensor]:
    """A view, if there is one; otherwise a copy."""
    first, given = tensors[0], attributes.get("shape")
    assert first is not None
    if not given or len(tensors) != 1 or min(given) < -1 or given.count(-1) > 1 or 0 in first.shape or 0 in given:
        return None
    rest = math.prod(size for size in given if size != -1)
    sizes = tuple(first.numel() // rest if size == -1 else size for size in given)
    if math.prod(sizes) != first.numel():
        return None
    if layout.is_view(first, sizes):
        return first.view(sizes)
    return _EMPTY(sizes, layout.contiguous(sizes), dtype=first.dtype, device="meta")


_OF_ATTENTION = ("in_proj_weight", "in_proj_bias", "bias_k", "bias_v", "out_proj_weight", "out_proj_bias")


def _multi_head_attention(attributes: Attributes, tensors: Tensors) -> Any:
    """That of nn.MultiheadAttention with one width and without masks."""
    q, k, v, *others = (tensor if tensor is None else tuple(tensor.shape) for tensor in tensors)
    if not _have_one_type(tensors) or q is None or len(q) != 3 or k is None or k != v or any(others[6:]):
        return None
    length, batch, width = q
    heads, weights = attributes.get("num_heads", 0), dict(zip(_OF_ATTENTION, others))
    if 0 in (*q, *k) or k[1:] != q[1:] or width != attributes.get("embed_dim_to_check") or heads < 1 or width % heads:
        return None
    if weights["bias_k"] or weights["bias_v"] or attributes.get("add_zero_attn") or attributes.get("is_causal"):
        return None
    if weights["in_proj_weight"] != (3 * width, width) or weights["out_proj_weight"] != (width, width):
        return None
    if weights["in_proj_bias"] not in (None, (3 * width,)) or weights["out_proj_bias"] not in (None, (width,)):
        return None
    if attributes.get("use_separate_proj_weight") or not 0 <= attributes.get("dropout_p", 0.0) <= 1:
        return None
    made = [(length, batch, width)]
    if attributes.get("need_weights", True):
        each = () if attributes.get("average_attn_weights", True) else (heads,)
        made.append((batch, *each, length, k[0]))
    dtype = tensors[0].dtype  # type: ignore[union-attr]
    found = [_EMPTY(sizes, layout.contiguous(sizes), dtype=dtype, device="meta") for sizes in made]
    return (*found, None)[:2]


_OWN: Dict[str, Callable[[Attributes, Tensors], Any]] = {
    "multi_head_attention_forward": _multi_head_attention,
    "reshape": _reshape,
}

# ---- operators whose tensors, or whose output, are not of one floating type


def _bools(attributes: Attributes, tensors: Tensors) -> Optional[torch.dtype]:
    return torch.bool if _have_one_type(tensors) else None


def _of_weight(attributes: Attributes, tensors: Tensors) -> Optional[torch.dtype]:
    indices, weight = tensors
    fit = indices is not None and weight is not None and indices.dtype in (torch.int64, torch.int32)
    return weight.dtype if fit and weight.dtype in _FLOATS else None  # type: ignore[union-attr]


def _of_masked(attributes: Attributes, tensors: Tensors) -> Optional[torch.dtype]:
    first, mask, *value = tensors
    fit = first is not None and mask is not None and value in ([], [None]) and mask.dtype is torch.bool
    return first.dtype if fit and first.dtype in _FLOATS else None  # type: ignore[union-attr]


def _of_attention(attributes: Attributes, tensors: Tensors) -> Optional[torch.dtype]:
    dtype = tensors[0].dtype  # type: ignore[union-attr]
    fit = dtype in _FLOATS and all(tensor is not None and tensor.dtype is dtype for tensor in tensors[:3])
    return dtype if fit and (tensors[3] is None or tensors[3].dtype in (torch.bool, dtype)) else None


_OTHER_TYPES: Dict[str, Callable[[Attributes, Tensors], Optional[torch.dtype]]] = {
    **{name: _bools for name in ("eq", "ne", "lt", "le", "gt", "ge")},
    "embedding": _of_weight,
    "masked_fill": _of_masked,
    "scaled_dot_product_attention": _of_attention,
}

_SAME = """abs atan celu clone contiguous cos elu erf exp hardsigmoid hardswish leaky_relu log log1p log_sigmoid mish neg
    reciprocal relu relu6 rsqrt selu sigmoid sign silu sin softplus sqrt square tanh"""
_RULES: Dict[str, Rule] = {
    **{name: _same for name in _SAME.split()},
    **{name: _binary for name in "add sub mul div pow maximum minimum eq ne lt le gt ge".split()},
    **{name: _conv for name in ("conv1d", "conv2d", "conv3d")},
    **{f"conv_transpose{rank}d": _conv_transpose for rank in (1, 2, 3)},
    **{name: _reduce for name in ("sum", "mean", "amax", "amin")},
    **{name: _softmax for name in ("softmax", "log_softmax")},
    **{name: _pool for name in ("max_pool2d", "avg_pool2d")},
    "adaptive_avg_pool2d": _adaptive_pool,
    "addmm": _addmm,
    "batch_norm": _batch_norm,
    "bmm": _mm(3),
    "cat": _cat,
    "clamp": _clamp,
    "dropout": _dropout,
    "embedding": _embedding,
    "gelu": _gelu,
    "group_norm": _group_norm,
    "hardtanh": _hardtanh,
    "layer_norm": _layer_norm,
    "linear": _linear,
    "masked_fill": _masked_fill,
    "matmul": _matmul,
    "mm": _mm(2),
    "pad": _pad,
    "rms_norm": _layer_norm,
    "repeat_interleave": _repeat_interleave,
    "scaled_dot_product_attention": _attention,
}
