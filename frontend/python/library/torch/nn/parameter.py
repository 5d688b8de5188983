import torch


class UninitializedTensorMixin:
    cls_to_become = None
    __torch_function__ = torch._disabled_torch_function_impl

    def materialize(self, shape, device=None, dtype=None):
        return _materialize(self, tuple(shape), self.cls_to_become, dtype)

    @property
    def shape(self):
        raise RuntimeError(
            "Can't access the shape of an uninitialized parameter or buffer. This error usually happens in `load_state_dict` when trying "
            "to load an uninitialized parameter into an initialized one. Call `forward` to initialize the parameters before accessing "
            "their attributes."
        )

    def __deepcopy__(self, memo):
        return type(self)(dtype=self.dtype)

    def __repr__(self):
        return "<" + self.__class__.__name__ + ">"


class UninitializedParameter(UninitializedTensorMixin, Parameter):
    cls_to_become = Parameter

    def __new__(cls, requires_grad=True, device=None, dtype=None):
        return _new_uninitialized(cls, dtype, requires_grad)


class UninitializedBuffer(UninitializedTensorMixin, torch.Tensor):
    cls_to_become = torch.Tensor

    def __new__(cls, requires_grad=False, device=None, dtype=None, persistent=True):
        return _new_uninitialized(cls, dtype, False)


class Buffer(torch.Tensor):
    # PyTorch 2.5: a tensor that becomes a buffer of the module that it is assigned to.
    __torch_function__ = torch._disabled_torch_function_impl

    def __new__(cls, data=None, *, persistent=True):
        out = torch.empty(0) if data is None else data.detach()
        out.__class__ = cls
        return out


_set_buffer_class(Buffer)
_disabled_torch_function_impl = torch._disabled_torch_function_impl
