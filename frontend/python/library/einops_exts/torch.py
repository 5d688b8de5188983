from einops import rearrange
from torch.nn import Module


class EinopsToAndFrom(Module):
    def __init__(self, from_einops, to_einops, fn):
        super().__init__()
        self.from_einops = from_einops
        self.to_einops = to_einops
        self.fn = fn
        before, _, after = from_einops.partition("...")
        before, after = before.split(), after.split()
        self.keys = tuple(enumerate(before)) + tuple((i - len(after), name) for i, name in enumerate(after))

    def forward(self, x, **kwargs):
        shape = x.shape
        sizes = {name: shape[i] for i, name in self.keys}
        x = self.fn(rearrange(x, "{} -> {}".format(self.from_einops, self.to_einops)), **kwargs)
        return rearrange(x, "{} -> {}".format(self.to_einops, self.from_einops), **sizes)
