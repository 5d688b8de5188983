"""A sub-network of Once-for-all's MobileNetV3 on its own (mit-han-lab/once-for-all,
get_active_subnet), written down in PyTorch for comparison with frontend/nas."""
from collections import OrderedDict

import torch.nn as nn
import torch.nn.functional as F


def make_divisible(v, divisor=8):
    new = max(divisor, int(v + divisor / 2) // divisor * divisor)
    return new + divisor if new < 0.9 * v else new


class Hswish(nn.Module):
    def __init__(self, inplace=True):
        super().__init__()
        self.inplace = inplace

    def forward(self, x):
        return x * F.relu6(x + 3.0, inplace=self.inplace) / 6.0


class Hsigmoid(nn.Module):
    def forward(self, x):
        return F.relu6(x + 3.0, inplace=True) / 6.0


class SE(nn.Module):
    def __init__(self, c):
        super().__init__()
        mid = make_divisible(c // 4)
        self.fc = nn.Sequential(
            OrderedDict(
                [
                    ("reduce", nn.Conv2d(c, mid, 1)),
                    ("relu", nn.ReLU(inplace=True)),
                    ("expand", nn.Conv2d(mid, c, 1)),
                    ("h_sigmoid", Hsigmoid()),
                ]
            )
        )

    def forward(self, x):
        return x * self.fc(x.mean(3, keepdim=True).mean(2, keepdim=True))


def act(h_swish):
    return Hswish() if h_swish else nn.ReLU(inplace=True)


def conv_bn_act(c_in, c_out, kernel, stride, h_swish, groups=1, with_act=True):
    layers = [
        ("conv", nn.Conv2d(c_in, c_out, kernel, stride, kernel // 2, groups=groups, bias=False)),
        ("bn", nn.BatchNorm2d(c_out)),
    ]
    if with_act:
        layers.append(("act", act(h_swish)))
    return nn.Sequential(OrderedDict(layers))


class MBConv(nn.Module):
    def __init__(self, c_in, c_out, kernel, stride, expand, h_swish, se):
        super().__init__()
        mid = round(c_in * expand)
        self.inverted_bottleneck = conv_bn_act(c_in, mid, 1, 1, h_swish) if expand != 1 else None
        self.depth_conv = conv_bn_act(mid, mid, kernel, stride, h_swish, groups=mid)
        if se:
            self.depth_conv.add_module("se", SE(mid))
        self.point_linear = conv_bn_act(mid, c_out, 1, 1, h_swish, with_act=False)

    def forward(self, x):
        if self.inverted_bottleneck:
            x = self.inverted_bottleneck(x)
        return self.point_linear(self.depth_conv(x))


class Residual(nn.Module):
    def __init__(self, conv, shortcut):
        super().__init__()
        self.conv, self.with_shortcut = conv, shortcut

    def forward(self, x):
        return self.conv(x) + x if self.with_shortcut else self.conv(x)


class GlobalMean(nn.Module):
    def forward(self, x):
        return x.mean(3, keepdim=True).mean(2, keepdim=True)


class MobileNetV3(nn.Module):
    def __init__(self, ks, e, d, num_classes=1000):
        super().__init__()
        self.first_conv = conv_bn_act(3, 16, 3, 2, True)
        blocks = [Residual(MBConv(16, 16, 3, 1, 1, False, False), True)]
        c = 16
        for s, (width, stride, h_swish, se) in enumerate(
            [
                (24, 2, False, False),
                (40, 2, False, True),
                (80, 2, True, False),
                (112, 1, True, True),
                (160, 2, True, True),
            ]
        ):
            for i in range(d[s]):
                step = stride if i == 0 else 1
                conv = MBConv(c, width, ks[4 * s + i], step, e[4 * s + i], h_swish, se)
                blocks.append(Residual(conv, step == 1 and c == width))
                c = width
        self.blocks = nn.ModuleList(blocks)
        self.final_expand_layer = conv_bn_act(c, 960, 1, 1, True)
        self.global_avg_pool = GlobalMean()
        self.feature_mix_layer = nn.Sequential(
            OrderedDict([("conv", nn.Conv2d(960, 1280, 1, bias=False)), ("act", Hswish(inplace=False))])
        )
        self.classifier = nn.Sequential(
            OrderedDict([("dropout", nn.Dropout(0.1, inplace=True)), ("linear", nn.Linear(1280, num_classes))])
        )

    def forward(self, x):
        x = self.first_conv(x)
        for block in self.blocks:
            x = block(x)
        x = self.global_avg_pool(self.final_expand_layer(x))
        x = self.feature_mix_layer(x)
        return self.classifier(x.view(x.size(0), -1))
