# A network of kinds that the shipped model has never measured: one-dimensional convolutions over sound, gated, with instance norms.
import torch
from torch import nn


class Gated(nn.Module):
    def __init__(self, channels, kernel_size, dilation):
        super().__init__()
        padding = dilation * (kernel_size - 1) // 2
        self.conv = nn.Conv1d(channels, 2 * channels, kernel_size, padding=padding, dilation=dilation)
        self.norm = nn.InstanceNorm1d(2 * channels, affine=True)
        self.out = nn.Conv1d(channels, channels, 1)

    def forward(self, x):
        return x + self.out(nn.functional.glu(self.norm(self.conv(x)), dim=1))


class Speech(nn.Module):
    def __init__(self, channels=96, blocks=8, classes=35):
        super().__init__()
        self.stem = nn.Conv1d(1, channels, 80, stride=16, padding=40)
        self.blocks = nn.Sequential(*[Gated(channels, 5, 2 ** (i % 4)) for i in range(blocks)])
        self.head = nn.Linear(channels, classes)

    def forward(self, wave):
        return self.head(self.blocks(self.stem(wave)).mean(2))
