"""einops in all its forms. The golden is made by running this project's einops in PyTorch (it needs none but tensors)."""
import torch
import torch.nn as nn
from einops import EinopsError, einsum, pack, parse_shape, rearrange, reduce, repeat, unpack
from einops.layers.torch import EinMix, Rearrange, Reduce


class Rearranging(nn.Module):
    def __init__(self, dim=32, heads=4):
        super().__init__()
        self.heads = heads
        self.to_patch = nn.Sequential(Rearrange("b c (h p1) (w p2) -> b (h w) (p1 p2 c)", p1=4, p2=4), nn.LayerNorm(48), nn.Linear(48, dim))
        self.qkv = nn.Linear(dim, dim * 3, bias=False)
        self.cls = nn.Parameter(torch.randn(dim))
        self.registers = nn.Parameter(torch.randn(3, dim))
        self.mix = EinMix("b n (h d) -> b n (h e)", weight_shape="h d e", bias_shape="h e", h=heads, d=dim // heads, e=dim // heads)
        self.narrow = EinMix("b n c -> b n k", weight_shape="c k", c=dim, k=16)
        self.mean = Reduce("b n d -> b d", "mean")
        self.halve = Reduce("b (n two) d -> b n d", "max", two=2)
        for pattern in ("b c -> b", "b (c d) -> b c d e", "b ... c -> c", "b (c (d)) -> b c d"):
            try:
                rearrange(torch.zeros(2, 6), pattern)
            except EinopsError as e:
                assert pattern in str(e)
            else:
                raise AssertionError(pattern)

    def forward(self, image):
        x = self.to_patch(image)
        b, n, d = x.shape
        x, sizes = pack([repeat(self.cls, "d -> b d", b=b), x], "b * d")
        x, more_sizes = pack((repeat(self.registers, "n d -> b n d", b=b), x), "b * d")
        q, k, v = map(lambda t: rearrange(t, "b n (h d) -> b h n d", h=self.heads), self.qkv(x).chunk(3, dim=-1))
        q, k, v = rearrange([q, k, v], "s b h n d -> s b h n d").unbind(0)
        weights = einsum(q, k, "b h i d, b h j d -> b h i j").softmax(-1)
        x = self.mix(x) + rearrange(torch.einsum("b h i j, b h j d -> b h i d", weights, v), "b h n d -> b n (h d)")
        _, x = unpack(x, more_sizes, "b * d")
        cls, x = unpack(x, sizes, "b * d")
        rows = reduce(x, "b (h w) d -> b d", "sum", h=8)
        product = reduce(x, "b n d -> () n ()", "prod")
        largest = reduce(x, "b (h w) c -> b h c", "max", h=8)
        x = rearrange(x, "b (h w) d -> b d h w", h=8)
        up = repeat(x, "b c h w -> b c (h h2) (w w2)", h2=2, w2=2)
        spread = reduce(x, "b c ... -> b c", torch.amax)
        lengths = parse_shape(x, "_ _ h w")
        x = self.halve(rearrange(x, "b d h w -> b (h w) d", **lengths))
        table = rearrange(torch.arange(10), "(a b) -> b a", a=2)
        return (self.mean(x) + rows + cls + spread, up, product, largest, self.narrow(x), table, rearrange(rows, "... -> 1 ..."),
                rearrange(rows, "b d -> b 1 1 d"), repeat(rows, "b d -> b 5 d"))
