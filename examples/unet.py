"""A U-Net that predicts the noise of an image: residual blocks with a time embedding, attention at the low resolutions, skips by concatenation.

    cobra-client graph unet.py --entry 'UNet(width=64)' --input 1x3x64x64 --input 1
    cobra-client predict unet.py --entry 'UNet(width=64)' --input 1x3x64x64 --input 1 --target this-machine
"""
import math

import torch
from torch import nn


def norm(channels):
    return nn.GroupNorm(num_groups=min(32, channels // 4), num_channels=channels, eps=1e-6)


class TimeEmbedding(nn.Sequential):
    def __init__(self, width):
        super().__init__(nn.Linear(width, 4 * width), nn.SiLU(), nn.Linear(4 * width, 4 * width))
        self.register_buffer("frequencies", torch.exp(torch.linspace(0, -math.log(10000.0), width // 2)), persistent=False)

    def forward(self, t):
        angles = t[:, None].float() * self.frequencies[None]
        return super().forward(torch.cat([angles.sin(), angles.cos()], dim=-1))


class ResidualBlock(nn.Module):
    def __init__(self, inputs, outputs, time_width, dropout=0.1):
        super().__init__()
        self.first = nn.Sequential(norm(inputs), nn.SiLU(), nn.Conv2d(inputs, outputs, 3, padding=1))
        self.time = nn.Sequential(nn.SiLU(), nn.Linear(time_width, 2 * outputs))
        self.norm = norm(outputs)
        self.second = nn.Sequential(nn.SiLU(), nn.Dropout(dropout), nn.Conv2d(outputs, outputs, 3, padding=1))
        self.skip = nn.Conv2d(inputs, outputs, 1) if inputs != outputs else nn.Identity()

    def forward(self, x, t):
        h = self.first(x)
        scale, shift = self.time(t)[:, :, None, None].chunk(2, dim=1)
        h = self.norm(h) * (1 + scale) + shift
        return self.skip(x) + self.second(h)


class AttentionBlock(nn.Module):
    def __init__(self, channels, head_width=32):
        super().__init__()
        self.heads = channels // head_width
        self.norm = norm(channels)
        self.qkv = nn.Conv1d(channels, 3 * channels, 1)
        self.out = nn.Conv1d(channels, channels, 1)

    def forward(self, x):
        n, c, h, w = x.shape
        qkv = self.qkv(self.norm(x).flatten(2)).view(n * self.heads, 3, -1, h * w)
        q, k, v = qkv.unbind(dim=1)
        weight = torch.einsum("ncs,nct->nst", q, k).mul(1 / math.sqrt(q.shape[1])).softmax(dim=-1)
        y = torch.einsum("nst,nct->ncs", weight, v).reshape(n, c, h * w)
        return x + self.out(y).view(n, c, h, w)


class Level(nn.Module):
    """What one resolution does: residual blocks, each with attention or not."""

    def __init__(self, widths, time_width, attention):
        super().__init__()
        self.blocks = nn.ModuleList()
        for inputs, outputs in widths:
            block = nn.ModuleDict({"residual": ResidualBlock(inputs, outputs, time_width)})
            if attention:
                block["attention"] = AttentionBlock(outputs)
            self.blocks.append(block)

    def run(self, index, x, t):
        block = self.blocks[index]
        x = block["residual"](x, t)
        return block["attention"](x) if "attention" in block else x


class UNet(nn.Module):
    def __init__(self, channels=3, width=128, multipliers=(1, 2, 2, 4), depth=2, attention_at=(2, 3)):
        super().__init__()
        time_width = 4 * width
        self.depth = depth
        self.time = TimeEmbedding(width)
        self.stem = nn.Conv2d(channels, width, 3, padding=1)
        widths = [width * m for m in multipliers]
        skips, current = [width], width
        self.down, self.downsample = nn.ModuleList(), nn.ModuleList()
        for i, w in enumerate(widths):
            self.down.append(Level([(current, w)] + [(w, w)] * (depth - 1), time_width, i in attention_at))
            current = w
            skips += [w] * depth
            if i + 1 < len(widths):
                self.downsample.append(nn.Conv2d(w, w, 3, stride=2, padding=1))
                skips.append(w)
        self.middle = Level([(current, current)] * 2, time_width, attention=True)
        self.up, self.upsample = nn.ModuleList(), nn.ModuleList()
        for i, w in reversed(list(enumerate(widths))):
            pairs = []
            for _ in range(depth + 1):
                pairs.append((current + skips.pop(), w))
                current = w
            self.up.append(Level(pairs, time_width, i in attention_at))
            if i:
                self.upsample.append(nn.Sequential(nn.Upsample(scale_factor=2, mode="nearest"), nn.Conv2d(w, w, 3, padding=1)))
        self.head = nn.Sequential(norm(current), nn.SiLU(), nn.Conv2d(current, channels, 3, padding=1))
        nn.init.zeros_(self.head[-1].weight)

    def forward(self, x, t):
        t = self.time(t)
        x = self.stem(x)
        skips = [x]
        for i, level in enumerate(self.down):
            for j in range(self.depth):
                x = level.run(j, x, t)
                skips.append(x)
            if i < len(self.downsample):
                x = self.downsample[i](x)
                skips.append(x)
        for j in range(2):
            x = self.middle.run(j, x, t)
        for i, level in enumerate(self.up):
            for j in range(self.depth + 1):
                x = level.run(j, torch.cat([x, skips.pop()], dim=1), t)
            if i < len(self.upsample):
                x = self.upsample[i](x)
        return self.head(x)
