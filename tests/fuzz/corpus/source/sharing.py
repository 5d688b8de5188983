"""Shared weights, a module called twice, hooks, deep copies, super().forward, torch.nn.MultiheadAttention."""
import copy
from functools import partial

import torch.nn as nn


class Scaled(nn.LayerNorm):
    def forward(self, x):
        return super().forward(x) * 0.5


class Sharing(nn.Module):
    def __init__(self, width):
        super().__init__()
        norm = partial(Scaled, eps=1e-6)
        self.a = nn.Linear(width, width)
        self.b = nn.Linear(width, width)
        self.b.weight = self.a.weight
        self.norm = norm(width)
        self.attention = nn.MultiheadAttention(width, 4, batch_first=True)
        self.copies = nn.ModuleList(copy.deepcopy(self.a) for _ in range(2))
        self.encoder = nn.TransformerEncoderLayer(width, 2, 32, batch_first=True, activation="gelu")
        self.a.register_forward_hook(lambda module, args, out: out.relu())
        del self.copies[0].bias
        self.copies[0].register_parameter("bias", None)

    def forward(self, x):
        x = self.norm(self.b(self.a(x)))
        x = self.a(x)
        for layer in self.copies:
            x = layer(x)
        y, weights = self.attention(x, x, x, average_attn_weights=False)
        return self.encoder(x + y), weights
