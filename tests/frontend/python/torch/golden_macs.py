"""Multiply-accumulates of one call of a torch function, for make_goldens.py: from shapes, or from
the products that PyTorch runs inside the call."""
import re

import torch
from torch.utils._python_dispatch import TorchDispatchMode

# These are several products, or none, as shapes and order have it.
COMPOSED = frozenset(
    "einsum tensordot inner linalg_multi_dot multi_dot chain_matmul matrix_power linalg_matrix_power cov corrcoef lstm_cell gru_cell rnn_tanh_cell "
    "rnn_relu_cell".split()
)
ROWS = {"mm": 0, "bmm": 0, "mv": 0, "dot": 0, "addmm": 1, "baddbmm": 1, "addmv": 1}  # which argument has them


class Products(TorchDispatchMode):
    """Sums what the products that run in it multiply."""

    def __init__(self):
        super().__init__()
        self.macs = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        first = ROWS.get(func.overloadpacket.__name__)
        if first is not None:
            self.macs += result.numel() * args[first].shape[-1]
        return result


def run(name, func, args, kwargs):
    """What the call returns, and the multiply-accumulates that ran if it is composed of
    products."""
    if name not in COMPOSED:
        return func(*args, **kwargs), None
    with Products() as products:
        result = func(*args, **kwargs)
    return result, products.macs


def of_call(name, rec, given, outs):
    """Of the others: rec is the record of the call, given its tensors in order."""
    n = outs[0].numel()
    if name.startswith("conv_transpose"):
        return given[0].numel() * (given[1].numel() // given[1].shape[0])
    if re.fullmatch("conv.d|deform_conv2d", name):
        return n * (given[1].numel() // given[1].shape[0])
    if name == "conv_tbc":
        return n * (given[1].numel() // given[1].shape[2])
    if name in ("linear", "addmm", "baddbmm"):
        return n * given[1].shape[-1]
    if name in ("matmul", "bmm", "mm", "mv", "dot", "linalg_matmul"):
        return n * given[0].shape[-1]
    if name == "addmv":
        return given[1].numel()
    if name == "addbmm":
        return given[1].numel() * given[2].shape[-1]
    if name == "_grouped_mm":
        return given[0].numel() * given[1].shape[-1] if given[0].dim() == given[1].dim() else n * given[0].shape[-1]
    if name == "multi_head_attention_forward":
        return of_heads(rec, given, outs)
    if name == "scaled_dot_product_attention":
        q, k, v = given[:3]
        heads = [q.shape[-3]] if rec["args"].get("enable_gqa") else k.shape[-3:-2]
        batch = torch.broadcast_shapes(q.shape[:-2], (*k.shape[:-3], *heads))
        return batch.numel() * q.shape[-2] * k.shape[-2] * q.shape[-1] + n * k.shape[-2]
    if name == "bilinear":
        return n * (given[2].numel() // given[2].shape[0])
    if name in ("lstm", "gru", "rnn_tanh", "rnn_relu"):
        return n // outs[0].shape[-1] * sum(t.numel() for t in given[3 if name == "lstm" else 2 :] if t.dim() == 2)
    return 0


def of_heads(rec, given, outs):
    q, k, v = given[:3]
    embed, queries, batch = q.shape[-1], q.shape[0], q.shape[1] if q.dim() == 3 else 1
    keys = given[-1].shape[1] if "static_v" in rec["src"] else k.shape[0]
    keys += ("bias_k" in rec["src"]) + bool(rec["args"].get("add_zero_attn"))
    projections = queries * embed + k.shape[0] * (k.shape[-1] + v.shape[-1]) + queries * outs[0].shape[-1]
    return batch * embed * (projections + 2 * queries * keys)
