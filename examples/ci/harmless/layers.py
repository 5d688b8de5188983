"""Blocks that the models of this repository share. (Comments and names changed; the network is the same.)"""
from torch import nn
from torch.nn import functional as F


def conv3x3(inputs, outputs, stride):
    return nn.Conv2d(inputs, outputs, kernel_size=3, stride=stride, padding=1, bias=False)


class ConvBlock(nn.Module):
    """Convolution, normalisation, activation."""

    def __init__(self, inputs, outputs, stride=1):
        super().__init__()
        self.convolution = conv3x3(inputs, outputs, stride)
        self.normalisation = nn.BatchNorm2d(outputs)

    def forward(self, x):
        y = self.convolution(x)
        y = self.normalisation(y)
        return F.relu(y)
