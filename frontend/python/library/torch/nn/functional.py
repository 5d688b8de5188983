# The functions that are written in Python in PyTorch too.
import torch
from torch import (
    _VF,
    _handle_torch_function as handle_torch_function,
    _has_torch_function as has_torch_function,
    _has_torch_function_unary as has_torch_function_unary,
    _has_torch_function_variadic as has_torch_function_variadic,
)


def triplet_margin_with_distance_loss(
    anchor, positive, negative, *, distance_function=None, margin=1.0, swap=False, reduction="mean"
):
    if distance_function is None or distance_function.__class__.__name__ == "PairwiseDistance":
        return _triplet_margin_with_distance_loss(
            anchor, positive, negative, margin=margin, swap=swap, reduction=reduction
        )
    if reduction not in ("mean", "sum", "none"):
        raise ValueError("{} is not a valid value for reduction".format(reduction))
    distance = distance_function  # written in Python: its calls are the network's
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = torch.minimum(far, distance(positive, negative))
    loss = torch.clamp_min(margin + near - far, 0)
    return loss.mean() if reduction == "mean" else loss.sum() if reduction == "sum" else loss


def lp_pool3d(input, norm_type, kernel_size, stride=None, ceil_mode=False):
    # PyTorch 2.2. As its Python text has it, which is what runs.
    if norm_type in (float("inf"), -float("inf")):
        pooled = max_pool3d(
            input.abs() if norm_type > 0 else -input.abs(), kernel_size, stride, ceil_mode=bool(ceil_mode)
        )
        return pooled if norm_type > 0 else -pooled
    depth, width, height = kernel_size if isinstance(kernel_size, (tuple, list)) else (kernel_size,) * 3
    out = avg_pool3d(input.pow(norm_type), kernel_size, stride, 0, ceil_mode)
    return (torch.sign(out) * relu(torch.abs(out))).mul(depth * width * height).pow(1.0 / norm_type)


def upsample_nearest(input, size=None, scale_factor=None):
    return interpolate(input, size, scale_factor, mode="nearest")


def upsample_bilinear(input, size=None, scale_factor=None):
    return interpolate(input, size, scale_factor, mode="bilinear", align_corners=True)


# Private, yet imported wherever multi_head_attention_forward was copied to be changed.
def _mha_shape_check(query, key, value, key_padding_mask, attn_mask, num_heads):
    if query.dim() not in (2, 3):
        raise AssertionError(
            f"query should be unbatched 2D or batched 3D tensor but received {query.dim()}-D query tensor"
        )
    batched = query.dim() == 3
    kind = "batched (3-D)" if batched else "unbatched (2-D)"
    assert key.dim() == value.dim() == query.dim(), (
        f"For {kind} `query`, expected `key` and `value` to be {query.dim()}-D but found {key.dim()}-D and "
        f"{value.dim()}-D tensors respectively"
    )
    if key_padding_mask is not None:
        assert (
            key_padding_mask.dim() == query.dim() - 1
        ), f"For {kind} `query`, expected `key_padding_mask` to be `None` or {query.dim() - 1}-D"
    if attn_mask is not None:
        assert attn_mask.dim() in (
            2,
            3,
        ), f"For {kind} `query`, expected `attn_mask` to be `None`, 2-D or 3-D but found {attn_mask.dim()}-D tensor instead"
        if not batched and attn_mask.dim() == 3:
            expected = (num_heads, query.shape[0], key.shape[0])
            assert attn_mask.shape == expected, f"Expected `attn_mask` shape to be {expected} but got {attn_mask.shape}"
    return batched


def _in_projection(q, k, v, w_q, w_k, w_v, b_q=None, b_k=None, b_v=None):
    return linear(q, w_q, b_q), linear(k, w_k, b_k), linear(v, w_v, b_v)


def _in_projection_packed(q, k, v, w, b=None):
    width = q.size(-1)
    if k is not v:
        return tuple(
            linear(x, one, bias)
            for x, one, bias in zip((q, k, v), w.chunk(3), (None,) * 3 if b is None else b.chunk(3))
        )
    packed = int(torch.__version__.split(".")[0]) < 2

    def apart(x, weight, bias, count):
        out = linear(x, weight, bias)
        if packed:
            return out.chunk(count, dim=-1)
        out = out.unflatten(-1, (count, width)).unsqueeze(0).transpose(0, -2).squeeze(-2).contiguous()
        return tuple(out[i] for i in range(count))

    if q is k:
        return apart(q, w, b, 3)
    w_q, w_kv = w.split([width, width * 2])
    b_q, b_kv = (None, None) if b is None else b.split([width, width * 2])
    return (linear(q, w_q, b_q),) + apart(k, w_kv, b_kv, 2)


def _get_softmax_dim(name, ndim, stacklevel):
    return 0 if ndim in (0, 1, 3) else 1


def _fractional(call, input, kernel_size, output_size, output_ratio, return_indices, random_samples):
    if output_size is None and output_ratio is None:
        raise ValueError("fractional_max_pool requires specifying either an output_size or an output_ratio")
    return call(input, kernel_size, output_size, output_ratio, return_indices, random_samples)


def fractional_max_pool2d_with_indices(
    input, kernel_size, output_size=None, output_ratio=None, return_indices=False, _random_samples=None
):
    return _fractional(
        _fractional_max_pool2d_with_indices, input, kernel_size, output_size, output_ratio, True, _random_samples
    )


def fractional_max_pool3d_with_indices(
    input, kernel_size, output_size=None, output_ratio=None, return_indices=False, _random_samples=None
):
    return _fractional(
        _fractional_max_pool3d_with_indices, input, kernel_size, output_size, output_ratio, True, _random_samples
    )


def fractional_max_pool2d(
    input, kernel_size, output_size=None, output_ratio=None, return_indices=False, _random_samples=None
):
    if return_indices:
        return fractional_max_pool2d_with_indices(input, kernel_size, output_size, output_ratio, True, _random_samples)
    return _fractional(_fractional_max_pool2d, input, kernel_size, output_size, output_ratio, None, _random_samples)


def fractional_max_pool3d(
    input, kernel_size, output_size=None, output_ratio=None, return_indices=False, _random_samples=None
):
    if return_indices:
        return fractional_max_pool3d_with_indices(input, kernel_size, output_size, output_ratio, True, _random_samples)
    return _fractional(_fractional_max_pool3d, input, kernel_size, output_size, output_ratio, None, _random_samples)


def _canonical_mask(mask, name, dtype):
    # From PyTorch 2.0 on a mask of attention is made one of numbers before the call; 1.13 does that
    # inside of it.
    if mask is None or int(torch.__version__.split(".")[0]) < 2 or torch.is_floating_point(mask):
        return mask
    if mask.dtype != torch.bool:
        raise AssertionError("only bool and floating types of %s are supported" % name)
    return torch.zeros_like(mask, dtype=dtype).masked_fill_(mask, float("-inf"))
