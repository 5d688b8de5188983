"""A decoder-only language model: rotary positions, grouped key and value heads, RMSNorm, SwiGLU, tied embeddings.

    cobra-client graph gpt.py --entry 'GPT(GPTConfig(layers=6))' --input 1x256:int64
    cobra-client predict gpt.py --entry 'GPT(GPTConfig(layers=6))' --input 1x256:int64 --target this-machine
"""
import math
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F


@dataclass
class GPTConfig:
    vocabulary: int = 8192
    context: int = 512
    layers: int = 12
    heads: int = 8
    kv_heads: int = 2
    width: int = 256
    mlp_ratio: float = 8 / 3
    dropout: float = 0.0

    @property
    def head_width(self):
        return self.width // self.heads

    def __post_init__(self):
        if self.width % self.heads or self.heads % self.kv_heads:
            raise ValueError(f"{self.width=} must divide by {self.heads=}, and heads by {self.kv_heads=}")


class RMSNorm(nn.Module):
    def __init__(self, width, eps=1e-6):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps) * self.weight


def rotary_table(length, width, base=10000.0):
    """Cosines and sines of every position, each [length, width]."""
    frequencies = base ** (-torch.arange(0, width, 2).float() / width)
    angles = torch.outer(torch.arange(length).float(), frequencies)
    angles = torch.cat((angles, angles), dim=-1)
    return angles.cos(), angles.sin()


def rotate(x, cos, sin):
    left, right = x.chunk(2, dim=-1)
    return x * cos + torch.cat((-right, left), dim=-1) * sin


class Attention(nn.Module):
    def __init__(self, config: GPTConfig):
        super().__init__()
        self.heads, self.kv_heads, self.head_width = config.heads, config.kv_heads, config.head_width
        self.query = nn.Linear(config.width, config.heads * config.head_width, bias=False)
        self.key_value = nn.Linear(config.width, 2 * config.kv_heads * config.head_width, bias=False)
        self.out = nn.Linear(config.width, config.width, bias=False)
        self.dropout = nn.Dropout(config.dropout)
        mask = torch.ones(config.context, config.context, dtype=torch.bool).triu(1)
        self.register_buffer("mask", mask, persistent=False)

    def forward(self, x, cos, sin):
        batch, length, width = x.shape
        q = self.query(x).view(batch, length, self.heads, self.head_width).transpose(1, 2)
        k, v = self.key_value(x).view(batch, length, 2, self.kv_heads, self.head_width).permute(2, 0, 3, 1, 4)
        q, k = rotate(q, cos, sin), rotate(k, cos, sin)
        if self.kv_heads != self.heads:
            k, v = (t.repeat_interleave(self.heads // self.kv_heads, dim=1) for t in (k, v))
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.head_width)
        scores = scores.masked_fill(self.mask[:length, :length], float("-inf"))
        y = self.dropout(scores.softmax(dim=-1)) @ v
        return self.out(y.transpose(1, 2).reshape(batch, length, width))


class SwiGLU(nn.Module):
    def __init__(self, config: GPTConfig):
        super().__init__()
        hidden = 64 * math.ceil(config.width * config.mlp_ratio / 64)
        self.gate, self.up, self.down = (
            nn.Linear(i, o, bias=False) for i, o in ((config.width, hidden), (config.width, hidden), (hidden, config.width))
        )

    def forward(self, x):
        return self.down(F.silu(self.gate(x)) * self.up(x))


class Block(nn.Module):
    def __init__(self, config: GPTConfig):
        super().__init__()
        self.norm1, self.attention = RMSNorm(config.width), Attention(config)
        self.norm2, self.mlp = RMSNorm(config.width), SwiGLU(config)

    def forward(self, x, cos, sin):
        x = x + self.attention(self.norm1(x), cos, sin)
        return x + self.mlp(self.norm2(x))


class GPT(nn.Module):
    def __init__(self, config: GPTConfig):
        super().__init__()
        self.config = config
        self.embedding = nn.Embedding(config.vocabulary, config.width)
        self.blocks = nn.ModuleList(Block(config) for _ in range(config.layers))
        self.norm = RMSNorm(config.width)
        self.head = nn.Linear(config.width, config.vocabulary, bias=False)
        self.head.weight = self.embedding.weight
        cos, sin = rotary_table(config.context, config.head_width)
        self.register_buffer("cos", cos, persistent=False)
        self.register_buffer("sin", sin, persistent=False)
        for name, parameter in self.named_parameters():
            if parameter.dim() > 1:
                scale = 1 / math.sqrt(2 * config.layers) if name.endswith(("out.weight", "down.weight")) else 1.0
                nn.init.normal_(parameter, std=0.02 * scale)

    def forward(self, tokens, targets=None):
        length = tokens.shape[1]
        assert length <= self.config.context, f"{length} tokens, the context holds {self.config.context}"
        x = self.embedding(tokens)
        for block in self.blocks:
            x = block(x, self.cos[:length], self.sin[:length])
        logits = self.head(self.norm(x))
        if targets is None:
            return logits
        return logits, F.cross_entropy(logits.flatten(0, 1), targets.flatten())
