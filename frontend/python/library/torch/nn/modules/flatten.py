from torch.nn.modules.module import Module, _forward, _init


class Flatten(Module):
    _format = "start_dim={start_dim}, end_dim={end_dim}"
    __constants__ = ["start_dim", "end_dim"]

    @_init("start_dim end_dim")
    def __init__(self, start_dim=1, end_dim=-1):
        ...

    @_forward("input", "flatten", "self.start_dim self.end_dim")
    def forward(self, input):
        ...


class Unflatten(Module):
    _format = "dim={dim}, unflattened_size={unflattened_size}"

    @_init("dim unflattened_size")
    def __init__(self, dim, unflattened_size):
        if not isinstance(unflattened_size, (tuple, list)):
            raise TypeError(
                "unflattened_size must be a tuple of ints, but found type " + type(unflattened_size).__name__
            )

    @_forward("input", "unflatten", "self.dim self.unflattened_size")
    def forward(self, input):
        ...
