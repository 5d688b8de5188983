"""An image classifier from a config: inverted residual and fused stages, squeeze-and-excitation, stochastic depth; blocks come from a registry.

    cobra-client graph convnet.py --entry 'ConvNet(ConvNetConfig.named("s").scaled(depth=1.2))' --input 1x3x192x192
    cobra-client predict convnet.py --entry 'ConvNet(ConvNetConfig.named("s").scaled(depth=1.2))' --input 1x3x192x192 --target this-machine
"""
import math
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Callable, Dict, List, Optional, Tuple, Type

import torch
from torch import Tensor, nn

BLOCKS: Dict[str, Type[nn.Module]] = {}


def register(name: str) -> Callable:
    def add(cls):
        assert name not in BLOCKS, name
        BLOCKS[name] = cls
        return cls

    return add


class Activation(Enum):
    RELU = "relu"
    SILU = "silu"
    HARD = "hardswish"

    def build(self) -> nn.Module:
        return {Activation.RELU: nn.ReLU, Activation.SILU: nn.SiLU, Activation.HARD: nn.Hardswish}[self](inplace=True)


def divisible(value: float, by: int = 8) -> int:
    rounded = max(by, int(value + by / 2) // by * by)
    return rounded + by if rounded < 0.9 * value else rounded


@dataclass(frozen=True)
class Stage:
    block: str
    channels: int
    depth: int
    stride: int = 2
    expand: float = 4.0
    kernel: int = 3
    squeeze: float = 0.0


@dataclass
class ConvNetConfig:
    stages: List[Stage] = field(default_factory=list)
    stem: int = 24
    head: int = 1280
    classes: int = 1000
    activation: Activation = Activation.SILU
    drop_path: float = 0.1
    dropout: float = 0.2

    @classmethod
    def named(cls, name: str, **overrides) -> "ConvNetConfig":
        stages = {
            "s": [("fused", 24, 2, 1, 1), ("fused", 48, 3), ("fused", 64, 3), ("inverted", 128, 4, 2, 4, 3, 0.25),
                  ("inverted", 160, 5, 1, 6, 3, 0.25), ("inverted", 208, 6, 2, 6, 5, 0.25)],
            "m": [("fused", 32, 3, 1, 1), ("fused", 56, 4), ("inverted", 112, 6, 2, 4, 3, 0.25), ("inverted", 224, 8, 2, 6, 5, 0.25)],
        }[name]
        return cls(stages=[Stage(*s) for s in stages], **overrides)

    def scaled(self, width: float = 1.0, depth: float = 1.0) -> "ConvNetConfig":
        stages = [replace(s, channels=divisible(s.channels * width), depth=math.ceil(s.depth * depth)) for s in self.stages]
        return replace(self, stages=stages, stem=divisible(self.stem * width))


class ConvNorm(nn.Sequential):
    def __init__(self, inputs: int, outputs: int, kernel: int = 1, stride: int = 1, groups: int = 1, activation: Optional[Activation] = None):
        super().__init__()
        self.add_module("conv", nn.Conv2d(inputs, outputs, kernel, stride, padding=kernel // 2, groups=groups, bias=False))
        self.add_module("norm", nn.BatchNorm2d(outputs, eps=1e-3))
        if activation is not None:
            self.add_module("act", activation.build())


class SqueezeExcite(nn.Module):
    def __init__(self, channels: int, squeezed: int):
        super().__init__()
        self.reduce = nn.Conv2d(channels, squeezed, 1)
        self.expand = nn.Conv2d(squeezed, channels, 1)

    def forward(self, x: Tensor) -> Tensor:
        gate = x.mean((2, 3), keepdim=True)
        return x * self.expand(nn.functional.silu(self.reduce(gate))).sigmoid()


class DropPath(nn.Module):
    def __init__(self, p: float):
        super().__init__()
        self.p = p

    def forward(self, x: Tensor) -> Tensor:
        if not self.training or self.p == 0.0:
            return x
        keep = torch.rand(x.shape[0], *[1] * (x.dim() - 1), device=x.device) >= self.p
        return x * keep / (1 - self.p)

    def extra_repr(self) -> str:
        return f"p={self.p:.3f}"


class Block(nn.Module):
    """Residual where shapes allow. Subclasses say what is in between."""

    def __init__(self, inputs: int, stage: Stage, stride: int, config: ConvNetConfig, drop_path: float):
        super().__init__()
        hidden = divisible(inputs * stage.expand)
        self.body = nn.Sequential(*self.layers(inputs, hidden, stage, stride, config))
        self.drop_path = DropPath(drop_path)
        self.residual = stride == 1 and inputs == stage.channels

    def layers(self, inputs, hidden, stage, stride, config):
        raise NotImplementedError

    def forward(self, x: Tensor) -> Tensor:
        y = self.body(x)
        if self.residual:
            y = self.drop_path(y) + x
        return y


@register("fused")
class Fused(Block):
    def layers(self, inputs, hidden, stage, stride, config):
        if hidden == inputs:
            yield ConvNorm(inputs, stage.channels, stage.kernel, stride, activation=config.activation)
            return
        yield ConvNorm(inputs, hidden, stage.kernel, stride, activation=config.activation)
        yield ConvNorm(hidden, stage.channels)


@register("inverted")
class Inverted(Block):
    def layers(self, inputs, hidden, stage, stride, config):
        yield ConvNorm(inputs, hidden, activation=config.activation)
        yield ConvNorm(hidden, hidden, stage.kernel, stride, groups=hidden, activation=config.activation)
        if stage.squeeze:
            yield SqueezeExcite(hidden, max(1, int(inputs * stage.squeeze)))
        yield ConvNorm(hidden, stage.channels)


class ConvNet(nn.Module):
    def __init__(self, config: ConvNetConfig):
        super().__init__()
        self.config = config
        self.stem = ConvNorm(3, config.stem, 3, stride=2, activation=config.activation)
        rates = [r.item() for r in torch.linspace(0, config.drop_path, sum(s.depth for s in config.stages))]
        channels, features = config.stem, []
        for stage in config.stages:
            blocks = []
            for i in range(stage.depth):
                blocks.append(BLOCKS[stage.block](channels, stage, stage.stride if i == 0 else 1, config, rates.pop(0)))
                channels = stage.channels
            features.append(nn.Sequential(*blocks))
        self.features = nn.Sequential(*features)
        self.head = ConvNorm(channels, config.head, activation=config.activation)
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.classifier = nn.Sequential(nn.Flatten(1), nn.Dropout(config.dropout), nn.Linear(config.head, config.classes))
        for m in self.modules():
            if isinstance(m, nn.Conv2d):
                nn.init.kaiming_normal_(m.weight, mode="fan_out")
            elif isinstance(m, (nn.BatchNorm2d, nn.GroupNorm)):
                nn.init.ones_(m.weight)

    def forward(self, x: Tensor) -> Tensor:
        return self.classifier(self.pool(self.head(self.features(self.stem(x)))))
