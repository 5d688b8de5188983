"""Blocks that the models of this repository share."""
from torch import nn
from torch.nn import functional as F


def conv5x5(inputs, outputs, stride):
    return nn.Conv2d(inputs, outputs, kernel_size=5, stride=stride, padding=2, bias=False)


class ConvBlock(nn.Module):
    """Convolution, normalisation, activation."""

    def __init__(self, inputs, outputs, stride=1):
        super().__init__()
        self.convolution = conv5x5(inputs, outputs, stride)
        self.normalisation = nn.BatchNorm2d(outputs)

    def forward(self, x):
        y = self.convolution(x)
        y = self.normalisation(y)
        return F.relu(y)
