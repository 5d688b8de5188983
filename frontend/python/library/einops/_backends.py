import torch


class TorchBackend:
    framework_name = "torch"

    @staticmethod
    def is_appropriate_type(tensor):
        return isinstance(tensor, torch.Tensor)

    @staticmethod
    def shape(x):
        return x.shape

    @staticmethod
    def reshape(x, shape):
        return x.reshape(shape)

    @staticmethod
    def transpose(x, axes):
        return x.permute(axes)

    @staticmethod
    def reduce(x, operation, axes):
        if operation in ("min", "max"):
            return (x.amin if operation == "min" else x.amax)(dim=axes)
        if operation in ("sum", "mean"):
            return (x.sum if operation == "sum" else x.mean)(dim=axes)
        if operation in ("any", "all", "prod"):
            for axis in sorted(axes, reverse=True):  # torch takes one axis at a time here
                x = getattr(x, operation)(dim=axis)
            return x
        raise NotImplementedError("Unknown reduction ", operation)

    @staticmethod
    def add_axes(x, n_axes, pos2len):
        sizes = [-1] * n_axes
        for position, length in pos2len.items():
            x = torch.unsqueeze(x, position)
            sizes[position] = length
        return x.expand(sizes)

    @staticmethod
    def stack_on_zeroth_dimension(tensors):
        return torch.stack(tensors)

    @staticmethod
    def concat(tensors, axis):
        return torch.cat(tensors, dim=axis)

    @staticmethod
    def is_float_type(x):
        return x.dtype in [torch.float16, torch.float32, torch.float64, torch.bfloat16]

    @staticmethod
    def einsum(pattern, *x):
        return torch.einsum(pattern, *x)

    @staticmethod
    def to_numpy(x):
        return x.detach().cpu().numpy()

    @staticmethod
    def from_numpy(x):
        return torch.from_numpy(x)


def get_backend(tensor):
    if isinstance(tensor, torch.Tensor):
        return TorchBackend
    raise RuntimeError("Tensor type unknown to einops {}".format(type(tensor)))
