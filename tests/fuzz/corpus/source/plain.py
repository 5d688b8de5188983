"""The everyday features of model files: containers, constants, loops, keyword arguments, subclasses of layers."""
from collections import OrderedDict

import torch
import torch.nn as nn
import torch.nn.functional as F


class SamePad(nn.Conv2d):
    def forward(self, x):
        need = max((x.shape[-1] + self.stride[0] - 1) // self.stride[0] * self.stride[0] - x.shape[-1] + self.kernel_size[0] - self.stride[0], 0)
        x = F.pad(x, [need // 2, need - need // 2, need // 2, need - need // 2])
        return super().forward(x)


class Block(nn.Module):
    expansion: int = 2

    def __init__(self, channels, stride=1, *, norm=nn.BatchNorm2d, drop=0.0):
        super(Block, self).__init__()
        self.body = nn.Sequential(OrderedDict([
            ("conv", SamePad(channels, channels * self.expansion, 3, stride, bias=False)),
            ("norm", norm(channels * self.expansion, eps=1e-3)),
            ("act", nn.ReLU6(inplace=True)),
        ]))
        self.project = nn.Conv2d(channels * self.expansion, channels, kernel_size=1, padding="same")
        self.drop = nn.Dropout2d(drop) if drop else nn.Identity()
        self.stride = stride

    def forward(self, x):
        y = self.drop(self.project(self.body(x)))
        if self.stride == 1:
            y += x
        return F.leaky_relu(y, 0.1)


class Plain(nn.Module):
    def __init__(self, widths=(8, 16), num_classes=5, **options):
        super().__init__()
        self.stem = nn.Conv2d(3, widths[0], 3, stride=2, padding=1, padding_mode="reflect")
        rates = [x.item() for x in torch.linspace(0, 0.3, 3)]
        self.blocks = nn.ModuleList([Block(widths[0], 1 + i % 2, drop=rate) for i, rate in enumerate(rates)])
        self.branches = nn.ModuleDict({"avg": nn.AvgPool2d(2), "max": nn.MaxPool2d(2, ceil_mode=True)})
        self.gate = nn.Parameter(torch.zeros(1))
        self.register_buffer("scale", torch.arange(1, 5, dtype=torch.float32).mean())
        self.head = nn.Linear(widths[0] * len(self.branches), num_classes)
        for m in self.modules():
            if isinstance(m, nn.Conv2d):
                nn.init.kaiming_normal_(m.weight, mode="fan_out")
        self.apply(self._init)

    @staticmethod
    def _init(m):
        if isinstance(m, nn.Linear):
            nn.init.zeros_(m.bias)

    def forward(self, x):
        x = torch.tanh(self.stem(x)) * (1 + self.gate)
        for block in self.blocks:
            x = block(x)
        x = torch.cat([branch(x) for name, branch in sorted(self.branches.items())], dim=1)
        x = x * self.scale if self.scale.dim() == 0 else x
        x = F.adaptive_avg_pool2d(x, 1).flatten(1)
        return {"logits": self.head(x), "features": x}
