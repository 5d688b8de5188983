"""The evaluation networks of DARTS (quark0/darts: NetworkCIFAR, NetworkImageNet) written down in
PyTorch for comparison with frontend/nas; no auxiliary head, no drop path."""
from collections import namedtuple

import torch
import torch.nn as nn

Genotype = namedtuple("Genotype", "normal normal_concat reduce reduce_concat")


class ReLUConvBN(nn.Module):
    def __init__(self, c_in, c_out):
        super().__init__()
        self.op = nn.Sequential(nn.ReLU(inplace=False), nn.Conv2d(c_in, c_out, 1, bias=False), nn.BatchNorm2d(c_out))

    def forward(self, x):
        return self.op(x)


class FactorizedReduce(nn.Module):
    def __init__(self, c_in, c_out):
        super().__init__()
        self.relu = nn.ReLU(inplace=False)
        self.conv_1 = nn.Conv2d(c_in, c_out // 2, 1, stride=2, bias=False)
        self.conv_2 = nn.Conv2d(c_in, c_out // 2, 1, stride=2, bias=False)
        self.bn = nn.BatchNorm2d(c_out)

    def forward(self, x):
        x = self.relu(x)
        return self.bn(torch.cat([self.conv_1(x), self.conv_2(x[:, :, 1:, 1:])], dim=1))


def separable(c, kernel, stride, dilation=1):
    return [
        nn.ReLU(inplace=False),
        nn.Conv2d(c, c, kernel, stride, dilation * (kernel // 2), dilation=dilation, groups=c, bias=False),
        nn.Conv2d(c, c, 1, bias=False),
        nn.BatchNorm2d(c),
    ]


class Separable(nn.Module):
    def __init__(self, *layers):
        super().__init__()
        self.op = nn.Sequential(*layers)

    def forward(self, x):
        return self.op(x)


class Identity(nn.Module):
    def forward(self, x):
        return x


class Zero(nn.Module):
    def __init__(self, stride):
        super().__init__()
        self.stride = stride

    def forward(self, x):
        if self.stride == 1:
            return x.mul(0.0)
        return x[:, :, :: self.stride, :: self.stride].mul(0.0)


def make_op(name, c, stride):
    if name == "none":
        return Zero(stride)
    if name == "avg_pool_3x3":
        return nn.AvgPool2d(3, stride=stride, padding=1, count_include_pad=False)
    if name == "max_pool_3x3":
        return nn.MaxPool2d(3, stride=stride, padding=1)
    if name == "skip_connect":
        return Identity() if stride == 1 else FactorizedReduce(c, c)
    if name == "conv_7x1_1x7":
        return nn.Sequential(
            nn.ReLU(inplace=False),
            nn.Conv2d(c, c, (1, 7), stride=(1, stride), padding=(0, 3), bias=False),
            nn.Conv2d(c, c, (7, 1), stride=(stride, 1), padding=(3, 0), bias=False),
            nn.BatchNorm2d(c),
        )
    kernel = int(name[-1])
    if name.startswith("dil"):
        return Separable(*separable(c, kernel, stride, 2))
    return Separable(*separable(c, kernel, stride), *separable(c, kernel, 1))


class Cell(nn.Module):
    def __init__(self, edges, concat, c_prev_prev, c_prev, c, reduction, reduction_prev):
        super().__init__()
        self.preprocess0 = FactorizedReduce(c_prev_prev, c) if reduction_prev else ReLUConvBN(c_prev_prev, c)
        self.preprocess1 = ReLUConvBN(c_prev, c)
        self._ops = nn.ModuleList([make_op(name, c, 2 if reduction and i < 2 else 1) for name, i in edges])
        self.sources, self.concat = [i for _, i in edges], concat

    def forward(self, s0, s1):
        states = [self.preprocess0(s0), self.preprocess1(s1)]
        for k in range(0, len(self._ops), 2):
            h1 = self._ops[k](states[self.sources[k]])
            h2 = self._ops[k + 1](states[self.sources[k + 1]])
            states.append(h1 + h2)
        return torch.cat([states[i] for i in self.concat], dim=1)


class Network(nn.Module):
    def __init__(self, genotype, imagenet=False, C=36, layers=20, num_classes=10):
        super().__init__()
        self.imagenet = imagenet
        if imagenet:
            self.stem0 = nn.Sequential(
                nn.Conv2d(3, C // 2, 3, stride=2, padding=1, bias=False),
                nn.BatchNorm2d(C // 2),
                nn.ReLU(inplace=True),
                nn.Conv2d(C // 2, C, 3, stride=2, padding=1, bias=False),
                nn.BatchNorm2d(C),
            )
            self.stem1 = nn.Sequential(
                nn.ReLU(inplace=True), nn.Conv2d(C, C, 3, stride=2, padding=1, bias=False), nn.BatchNorm2d(C)
            )
            c_prev_prev, c_prev, c = C, C, C
        else:
            self.stem = nn.Sequential(nn.Conv2d(3, 3 * C, 3, padding=1, bias=False), nn.BatchNorm2d(3 * C))
            c_prev_prev, c_prev, c = 3 * C, 3 * C, C
        self.cells = nn.ModuleList()
        reduction_prev = imagenet
        for i in range(layers):
            reduction = i in (layers // 3, 2 * layers // 3)
            if reduction:
                c *= 2
            edges = genotype.reduce if reduction else genotype.normal
            concat = genotype.reduce_concat if reduction else genotype.normal_concat
            self.cells.append(Cell(edges, concat, c_prev_prev, c_prev, c, reduction, reduction_prev))
            reduction_prev = reduction
            c_prev_prev, c_prev = c_prev, len(concat) * c
        self.global_pooling = nn.AvgPool2d(7) if imagenet else nn.AdaptiveAvgPool2d(1)
        self.classifier = nn.Linear(c_prev, num_classes)

    def forward(self, x):
        if self.imagenet:
            s0 = self.stem0(x)
            s1 = self.stem1(s0)
        else:
            s0 = s1 = self.stem(x)
        for cell in self.cells:
            s0, s1 = s1, cell(s0, s1)
        x = self.global_pooling(s1)
        return self.classifier(x.view(x.size(0), -1))
