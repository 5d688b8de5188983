"""What stands between a detector's backbone and its boxes: a bidirectional feature pyramid with weighted fusion (as in EfficientDet), then a head
shared by all levels, with norms of its own for each, that predicts classes, box distances and their reference points.

    cobra-client graph detection_neck.py --entry 'Detector(inputs=(64, 160, 400))' --input '[1x64x64x64,1x160x32x32,1x400x16x16]'
    cobra-client predict detection_neck.py --entry 'Detector(inputs=(64, 160, 400))' --input '[1x64x64x64,1x160x32x32,1x400x16x16]' --target this-machine
"""
from collections import OrderedDict
from itertools import chain
from typing import Dict, List, Sequence

import torch
import torch.nn.functional as F
from torch import nn


class Separable(nn.Module):
    def __init__(self, inputs, outputs=None, norm=True, act=True):
        super().__init__()
        outputs = outputs or inputs
        self.depthwise = nn.Conv2d(inputs, inputs, 3, padding=1, groups=inputs, bias=False)
        self.pointwise = nn.Conv2d(inputs, outputs, 1, bias=not norm)
        self.norm = nn.BatchNorm2d(outputs, momentum=0.01, eps=1e-3) if norm else None
        self.act = act

    def forward(self, x, norm=None):
        x = self.pointwise(self.depthwise(x))
        norm = norm or self.norm
        if norm is not None:
            x = norm(x)
        return F.silu(x, inplace=True) if self.act else x


class WeightedFusion(nn.Module):
    """Sum with learned weights that are kept positive and add up to about one."""

    def __init__(self, count, channels, eps=1e-4):
        super().__init__()
        self.weights = nn.Parameter(torch.ones(count))
        self.eps = eps
        self.conv = Separable(channels)

    def forward(self, *features):
        w = F.relu(self.weights)
        w = w / (w.sum() + self.eps)
        fused = sum(w[i] * f for i, f in enumerate(features))
        return self.conv(F.silu(fused))


def upsample_like(x, other):
    return F.interpolate(x, size=other.shape[-2:], mode="nearest")


def downsample_like(x, other):
    stride = [a // b for a, b in zip(x.shape[-2:], other.shape[-2:])]
    return F.max_pool2d(x, kernel_size=[s + 1 for s in stride], stride=stride, padding=[s // 2 for s in stride])


class BiFPNLayer(nn.Module):
    def __init__(self, levels: int, channels: int):
        super().__init__()
        self.down = nn.ModuleList(WeightedFusion(2, channels) for _ in range(levels - 1))
        self.up = nn.ModuleList(WeightedFusion(2 if i == levels - 2 else 3, channels) for i in range(levels - 1))

    def forward(self, features: List[torch.Tensor]):
        middle = [features[-1]]
        for fuse, feature in zip(self.down, features[-2::-1]):
            middle.insert(0, fuse(feature, upsample_like(middle[0], feature)))
        out = middle[:1]
        for i, fuse in enumerate(self.up, start=1):
            here = [features[i], downsample_like(out[-1], features[i])]
            if i + 1 < len(features):
                here.insert(1, middle[i])
            out.append(fuse(*here))
        return out


class BiFPN(nn.Module):
    def __init__(self, inputs: Sequence[int], channels: int, extra: int, repeats: int):
        super().__init__()
        self.lateral = nn.ModuleDict(
            (f"p{i + 3}", nn.Sequential(nn.Conv2d(c, channels, 1, bias=False), nn.BatchNorm2d(channels))) for i, c in enumerate(inputs)
        )
        self.extra = nn.ModuleList(nn.Conv2d(inputs[-1] if i == 0 else channels, channels, 3, 2, 1) for i in range(extra))
        self.layers = nn.Sequential(*[BiFPNLayer(len(inputs) + extra, channels) for _ in range(repeats)])

    def forward(self, features: List[torch.Tensor]) -> Dict[str, torch.Tensor]:
        laterals = [lateral(f) for lateral, f in zip(self.lateral.values(), features)]
        top = features[-1]
        for conv in self.extra:
            top = conv(top)
            laterals.append(top)
        return OrderedDict((f"p{i}", f) for i, f in enumerate(self.layers(laterals), start=3))


class Head(nn.Module):
    def __init__(self, levels: int, channels: int, classes: int, depth: int = 3):
        super().__init__()
        self.towers = nn.ModuleDict({
            name: nn.ModuleList(Separable(channels, norm=False) for _ in range(depth)) for name in ("classes", "boxes")
        })
        self.norms = nn.ModuleList([nn.ModuleList([nn.BatchNorm2d(channels) for _ in range(depth)]) for _ in range(levels)])
        self.predict = nn.ModuleDict({
            "classes": Separable(channels, classes, norm=False, act=False),
            "boxes": Separable(channels, 4, norm=False, act=False),
        })
        self.scales = nn.ParameterList([nn.Parameter(torch.tensor(1.0)) for _ in range(levels)])

    def forward(self, features):
        outputs = {name: [] for name in self.towers}
        for level, x in enumerate(features):
            for name, tower in self.towers.items():
                y = x
                for layer, norm in zip(tower, self.norms[level]):
                    y = layer(y, norm)
                y = self.predict[name](y)
                if name == "boxes":
                    y = F.softplus(y * self.scales[level])
                outputs[name].append(y.permute(0, 2, 3, 1).flatten(1, 2))
        return {name: torch.cat(parts, dim=1) for name, parts in outputs.items()}


class Detector(nn.Module):
    def __init__(self, inputs=(40, 112, 320), channels=64, classes=80, extra=2, repeats=3):
        super().__init__()
        self.neck = BiFPN(inputs, channels, extra, repeats)
        self.head = Head(len(inputs) + extra, channels, classes)
        self.first_stride = 8

    def points(self, features):
        """The centre of every cell, in pixels of the image, and its stride: [cells, 3]."""
        for i, f in enumerate(features):
            stride = self.first_stride * 2**i
            y, x = (stride * (torch.arange(n, device=f.device) + 0.5) for n in f.shape[-2:])
            yy, xx = torch.meshgrid(y, x, indexing="ij")
            yield torch.stack((xx, yy, torch.full_like(xx, stride)), dim=-1).view(-1, 3)

    def forward(self, features):
        pyramid = list(self.neck(features).values())
        out = self.head(pyramid)
        points = torch.cat(list(chain(self.points(pyramid))))
        centre, stride = points[:, :2], points[:, 2:]
        left_top, right_bottom = (out["boxes"] * stride).split(2, dim=-1)
        boxes = torch.cat([centre - left_top, centre + right_bottom], dim=-1)
        return boxes, out["classes"].sigmoid()
