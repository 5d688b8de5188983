"""A diffusion transformer with two streams: image patches and text tokens attend to each other, the time and the text's summary scale and gate
every layer (adaptive layer norm). Positions of the patches are a fixed table.

    cobra-client graph diffusion_transformer.py --entry "build('small')" --input 1x4x32x32 --input 1 --input 1x32x512 --input 1x512
    cobra-client predict diffusion_transformer.py --entry "build('small')" --input 1x4x32x32 --input 1 --input 1x32x512 --input 1x512 --target this-machine
"""
import math
from functools import partial
from typing import NamedTuple

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from einops import pack, rearrange, unpack
from einops.layers.torch import Rearrange


class Size(NamedTuple):
    width: int
    depth: int
    heads: int
    patch: int = 2


SIZES = {
    "small": Size(width=384, depth=6, heads=6),
    "base": Size(width=768, depth=12, heads=12),
    "large": Size(1024, 24, 16),
}


def build(size, **overrides):
    return DiffusionTransformer(**{**SIZES[size]._asdict(), **overrides})


def sincos_table(width, side):
    """[side * side, width]: half of the channels tell the row, half the column."""
    rows, columns = np.meshgrid(np.arange(side, dtype=np.float32), np.arange(side, dtype=np.float32), indexing="ij")
    omega = 1.0 / 10000 ** (np.arange(width // 4, dtype=np.float64) / (width / 4.0))
    parts = []
    for grid in (rows, columns):
        angles = grid.reshape(-1)[:, None] * omega[None, :]
        parts += [np.sin(angles), np.cos(angles)]
    return np.concatenate(parts, axis=1)


def timestep_features(t, width, period=10000):
    frequencies = torch.exp(-math.log(period) * torch.arange(width // 2, dtype=torch.float32) / (width // 2))
    angles = t.float()[:, None] * frequencies[None]
    return torch.cat((angles.cos(), angles.sin()), dim=-1)


def modulate(x, shift, scale):
    return x * (1 + scale[:, None]) + shift[:, None]


PlainNorm = partial(nn.LayerNorm, elementwise_affine=False, eps=1e-6)


class Stream(nn.Module):
    """One side of a layer: its norms, projections and MLP; attention is done for both together."""

    def __init__(self, width, heads, mlp_ratio=4.0, last=False):
        super().__init__()
        self.last = last
        self.norm = PlainNorm(width)
        self.modulation = nn.Sequential(nn.SiLU(), nn.Linear(width, (2 if last else 6) * width))
        self.to_qkv = nn.Sequential(nn.Linear(width, 3 * width), Rearrange("b n (three h d) -> three b h n d", three=3, h=heads))
        self.scale_q = nn.Parameter(torch.ones(heads, 1, width // heads))
        self.scale_k = nn.Parameter(torch.ones(heads, 1, width // heads))
        if not last:
            hidden = int(width * mlp_ratio)
            self.out = nn.Sequential(Rearrange("b h n d -> b n (h d)"), nn.Linear(width, width))
            self.norm_mlp = PlainNorm(width)
            self.mlp = nn.Sequential(nn.Linear(width, hidden), nn.GELU(approximate="tanh"), nn.Linear(hidden, width))

    def enter(self, x, condition):
        shift, scale, *gates = self.modulation(condition).chunk(2 if self.last else 6, dim=-1)
        q, k, v = self.to_qkv(modulate(self.norm(x), shift, scale))
        q, k = (F.normalize(t, dim=-1) * s for t, s in ((q, self.scale_q), (k, self.scale_k)))
        return (q, k, v), gates

    def leave(self, x, attended, gates):
        if self.last:
            return x
        gate, shift, scale, gate_mlp = gates
        x = x + gate[:, None] * self.out(attended)
        return x + gate_mlp[:, None] * self.mlp(modulate(self.norm_mlp(x), shift, scale))


class JointLayer(nn.Module):
    def __init__(self, width, heads, last=False):
        super().__init__()
        self.temperature = math.sqrt(width // heads)
        self.image, self.text = Stream(width, heads), Stream(width, heads, last=last)

    def forward(self, image, text, condition):
        sides = {"image": image, "text": text}
        entered = {name: getattr(self, name).enter(x, condition) for name, x in sides.items()}
        joined = [pack(parts, "b h * d") for parts in zip(*(qkv for qkv, _ in entered.values()))]
        (q, shapes), (k, _), (v, _) = joined
        attended = ((q @ k.transpose(-2, -1)) * self.temperature).softmax(dim=-1) @ v
        attended = dict(zip(sides, unpack(attended, shapes, "b h * d")))
        return tuple(getattr(self, name).leave(x, attended[name], entered[name][1]) for name, x in sides.items())


class DiffusionTransformer(nn.Module):
    def __init__(self, width, depth, heads, patch, channels=4, side=32, text_width=512):
        super().__init__()
        self.patch, self.channels, self.grid = patch, channels, side // patch
        self.embed = nn.Conv2d(channels, width, patch, stride=patch)
        table = torch.from_numpy(sincos_table(width, self.grid)).float().unsqueeze(0)
        self.register_buffer("positions", table)
        self.time = nn.Sequential(nn.Linear(256, width), nn.SiLU(), nn.Linear(width, width))
        self.summary = nn.Linear(text_width, width)
        self.text = nn.Linear(text_width, width)
        self.layers = nn.ModuleList([JointLayer(width, heads, last=i == depth - 1) for i in range(depth)])
        self.norm = PlainNorm(width)
        self.modulation = nn.Sequential(nn.SiLU(), nn.Linear(width, 2 * width))
        self.head = nn.Linear(width, patch * patch * channels)
        self.apply(self._init)

    @staticmethod
    def _init(module):
        if isinstance(module, nn.Linear):
            nn.init.xavier_uniform_(module.weight)
            nn.init.zeros_(module.bias)

    def forward(self, noisy, t, text, summary):
        image = rearrange(self.embed(noisy), "b c h w -> b (h w) c") + self.positions
        condition = self.time(timestep_features(t, 256)) + self.summary(summary)
        text = self.text(text)
        for layer in self.layers:
            image, text = layer(image, text, condition)
        image = self.head(modulate(self.norm(image), *self.modulation(condition).chunk(2, dim=-1)))
        return rearrange(image, "b (h w) (p q c) -> b c (h p) (w q)", h=self.grid, p=self.patch, q=self.patch)
