"""An image classifier."""
import torch.nn as nn

from layers import ConvBlock


class Classifier(nn.Module):
    def __init__(self, num_classes, width=32, depth=4):
        super().__init__()
        self.stem = ConvBlock(3, width)
        self.blocks = nn.ModuleList([ConvBlock(width * 2**i, width * 2 ** (i + 1), stride=2) for i in range(depth)])
        self.head = nn.Linear(width * 2**depth, num_classes)

    def forward(self, x):
        x = self.stem(x)
        for block in self.blocks:
            x = block(x)
        return self.head(x.mean((2, 3)))
