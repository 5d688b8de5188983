"""Tensor methods and operators: views, indexing, in-place changes, index tables, einsum, reductions."""
import math

import torch
from torch import Tensor, nn


class Tensors(nn.Module):
    def __init__(self, channels: int):
        super().__init__()
        self.qkv = nn.Linear(16, 48, bias=False)
        self.table = nn.Parameter(torch.zeros(2 * channels - 1, 2))
        coordinates = torch.arange(channels)
        relative = coordinates[:, None] - coordinates[None, :] + channels - 1
        self.register_buffer("index", relative.view(-1))
        self.norm = nn.LayerNorm(16)
        self.scale = 8 ** -0.5
        mask = torch.zeros(1, channels, channels)
        for i, s in enumerate((slice(0, 3), slice(3, None))):
            mask[:, s, s] = i
        self.blocked = mask.sum().item()

    def attend(self, x: Tensor) -> Tensor:
        b, n, c = x.shape
        q, k, v = self.qkv(x).reshape(b, n, 3, 2, c // 2).permute(2, 0, 3, 1, 4).unbind(0)
        a = (q * self.scale) @ k.transpose(-2, -1)
        a = a + self.table[self.index].view(n, n, -1).permute(2, 0, 1).contiguous().unsqueeze(0)
        a = a.masked_fill(torch.ones(n, n).tril() == 0, float("-inf"))
        return (a.softmax(dim=-1) @ v).transpose(1, 2).reshape(b, n, c)

    def forward(self, x):
        x = x + self.attend(self.norm(x))
        first, *rest = x.chunk(4, dim=1)
        y = torch.stack(rest, dim=-1).mean(-1, keepdim=True).squeeze(-1)
        z = torch.einsum("bnc,bmc->bnm", first, y)
        z[:, 0] = 0
        z.mul_(2).clamp_(min=-1.0)
        w = 1 - x[..., ::2] / math.sqrt(x.size(-1)) ** 2
        w = torch.where(w > 0, w, w.exp() - 1)
        v, i = w.max(dim=-1)
        u = x.roll((1, -1), dims=(1, 2)).flip(1).expand(3, *x.shape)[0, :, [0, 2]]
        return z, v.unsqueeze(-1), torch.cat((u, -x[:, -2:].abs().pow(0.5)), 1).float(), i
