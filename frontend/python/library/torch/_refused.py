# Values that PyTorch has as tensors and that no graph has: they may be made, kept and handed on,
# and whoever computes with one gets the error that making it would have been. torch/refused.h knows
# them by their base.
import torch


class _Refused:
    def _refuse(self, *args, **kwargs):
        raise NotImplementedError

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return self._refuse()

    @property
    def dtype(self):
        return self._tensor.dtype

    @property
    def device(self):
        return self._tensor.device


for _name in (
    "add radd iadd sub rsub isub mul rmul imul truediv rtruediv itruediv floordiv rfloordiv mod rmod pow rpow matmul "
    "rmatmul and rand or ror xor rxor neg pos abs invert eq ne lt le gt ge bool len iter getitem setitem int float index "
    "complex contains repr str format"
).split():
    setattr(_Refused, f"__{_name}__", lambda self, *args: self._refuse())


class _Sparse(_Refused):
    """tensor.to_sparse(): no call of a sparse tensor is known."""

    is_sparse = True

    def __init__(self, tensor, is_known=True):
        self._tensor, self._is_known = tensor, is_known

    def _refuse(self, *args, **kwargs):
        torch._unsupported("computing with a sparse tensor", "use the dense one: .to_dense()")

    @property
    def shape(self):
        return self._tensor.shape

    def size(self, dim=None):
        return self._tensor.size() if dim is None else self._tensor.size(dim)

    def dim(self):
        return self._tensor.dim()

    def to_dense(self):
        return self._tensor if self._is_known else self._refuse()

    def _same(self, *args, **kwargs):
        return self

    coalesce = detach = requires_grad_ = cpu = cuda = _same

    def to(self, *args, **kwargs):
        return _Sparse(self._tensor.to(*args, **kwargs), self._is_known)


def _shown(dtype):
    name = str(dtype)[6:]
    shown = {"float16": "Half", "float32": "Float", "float64": "Double", "bfloat16": "BFloat16", "int64": "Long"}
    shown.update({"int32": "Int", "int16": "Short", "int8": "Char", "uint8": "Byte", "bool": "Bool"})
    return shown.get(name, name)


class _Selection(_Refused):
    """x[mask], of which nobody knows how many rows it has. It may be computed with row by row, and
    written to where the same mask is true: y[mask] = x[mask] + 1."""

    def __init__(self, tensor, mask):
        self._tensor, self._mask = tensor, mask

    def _refuse(self, *args, **kwargs):
        torch._data_dependent(
            "indexing by a mask",
            "a latency cannot depend on the values of a tensor: compute this from shapes, configuration or constants; an "
            "input can be a constant: --arg 'mask=torch.ones(1, 16)'",
        )

    def _row(self, other):
        """`other` as it is combined with the whole tensor instead of its rows."""
        if isinstance(other, _Selection):
            return other._tensor if torch._is_same_value(other._mask, self._mask) else self._refuse()
        if isinstance(other, (int, float)):
            return other
        rest = self._tensor.dim() - self._mask.dim()
        if not torch.is_tensor(other) or other.dim() > rest + 1 or other.dim() == rest + 1 and other.shape[0] != 1:
            return self._refuse()
        return other.reshape(other.shape[1:]) if other.dim() == rest + 1 else other

    def __add__(self, other):
        return _Selection(self._tensor + self._row(other), self._mask)

    def __radd__(self, other):
        return _Selection(self._row(other) + self._tensor, self._mask)

    def __sub__(self, other):
        return _Selection(self._tensor - self._row(other), self._mask)

    def __rsub__(self, other):
        return _Selection(self._row(other) - self._tensor, self._mask)

    def __mul__(self, other):
        return _Selection(self._tensor * self._row(other), self._mask)

    def __rmul__(self, other):
        return _Selection(self._row(other) * self._tensor, self._mask)

    def __truediv__(self, other):
        return _Selection(self._tensor / self._row(other), self._mask)

    def __rtruediv__(self, other):
        return _Selection(self._row(other) / self._tensor, self._mask)

    def __neg__(self):
        return _Selection(-self._tensor, self._mask)

    __iadd__, __isub__, __imul__, __itruediv__ = __add__, __sub__, __mul__, __truediv__

    def to(self, *args, **kwargs):
        return _Selection(self._tensor.to(*args, **kwargs), self._mask)

    def _write(self, target, mask):
        """target[mask] = self"""
        if not torch._is_same_value(mask, self._mask):
            return self._refuse()
        if self._tensor.shape != target.shape:  # of another tensor, with other rows
            if self._tensor.shape[self._mask.dim() :] != target.shape[self._mask.dim() :]:
                return self._refuse()
        if self._tensor.dtype != target.dtype:
            raise RuntimeError(
                "Index put requires the source and destination dtypes match, got "
                f"{_shown(target.dtype)} for the destination and {_shown(self._tensor.dtype)} for the source."
            )
        more = target.dim() - mask.dim()
        chosen = mask.reshape(mask.shape + (1,) * more) if more else mask
        target.copy_(torch.where(chosen, self._tensor, target))
