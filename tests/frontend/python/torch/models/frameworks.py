"""What the frameworks that models are written in do behind the model: registries that ask who calls them, configs as text, outputs that are dictionaries
and tuples at once, packages that load when touched, activations from tables, layers found by listing torch.nn."""
import ast
import contextlib
import inspect
import sys
import types
from collections import OrderedDict
from dataclasses import dataclass, fields
from enum import IntEnum
from typing import Optional
from urllib.parse import urlsplit

import numpy as np
import torch
import torch.nn as nn


class Registry:
    def __init__(self, name):
        self.name, self.found = name, {}
        self.scope = inspect.getmodule(inspect.currentframe().f_back).__name__.split(".")[0]

    def register(self, name=None, module=None):
        def add(cls):
            self.found[name or cls.__name__] = cls
            return cls

        return add if module is None else add(module)

    def build(self, config, **defaults):
        config = {**defaults, **config}
        scope, _, kind = config.pop("type").rpartition("/")
        assert scope in ("", self.scope)
        return self.found[kind](**config)


LAYERS = Registry("layers")
for cls in (nn.Conv2d, nn.GroupNorm, nn.BatchNorm2d):
    LAYERS.register(module=cls)
NORMS = tuple(v for k, v in nn.__dict__.items() if "Norm" in k and isinstance(v, type))
assert nn.LayerNorm in NORMS and "silu" in dir(nn.functional) and "Conv2d" in dir(nn) and "gone" not in vars(nn)


class ByName(OrderedDict):
    def __getitem__(self, key):
        cls, options = (lambda c: c if isinstance(c, tuple) else (c, {}))(super().__getitem__(key))
        return cls(**options)


ACTIVATIONS = ByName({"relu6": (nn.Hardtanh, {"min_val": 0.0, "max_val": 6.0}), "gelu": nn.GELU})


class LazyPackage(types.ModuleType):
    def __init__(self, name, makers, extra=None):
        super().__init__(name)
        self._makers, self.__path__ = makers, []

    def __getattr__(self, name):
        if name not in self._makers:
            raise AttributeError(f"module {self.__name__} has no attribute {name}")
        setattr(self, name, self._makers[name]())
        return getattr(self, name)


sys.modules["lazy_layers"] = LazyPackage("lazy_layers", {"make_norm": lambda: lambda width: LAYERS.build(dict(type="GroupNorm", num_groups=2), num_channels=width)})
from lazy_layers import make_norm  # noqa: E402

try:
    from lazy_layers import gone
except ImportError:
    gone = None


class Output(OrderedDict):
    def __post_init__(self):
        for f in fields(self):
            if getattr(self, f.name) is not None:
                self[f.name] = getattr(self, f.name)

    def __getitem__(self, key):
        return dict(self.items())[key] if isinstance(key, str) else tuple(self.values())[key]


@dataclass
class Features(Output):
    last: torch.Tensor = None
    pooled: Optional[torch.Tensor] = None
    hidden: Optional[tuple] = None


class Level(IntEnum):
    LOW = 2
    HIGH = 3


LAYOUT = [["Conv2d", "[3, 8, 3]", "{'padding': 1}"], ["norm", "8", "None"], ["act", "gelu", "None"], ["Conv2d", "(8, 8, 1)", "dict()"]]


class Frameworks(nn.Module):
    def __init__(self, source="hub://team/model.tag@main?width=8"):
        super().__init__()
        _, model, width = *urlsplit(source)[:2], urlsplit(source).query.partition("=")[2]
        assert model == "team" and int(width) == 8 and gone is None
        layers = []
        for kind, *arguments in LAYOUT:
            for i, text in enumerate(arguments):
                with contextlib.suppress(ValueError):
                    arguments[i] = ast.literal_eval(text)
            args, options = arguments
            if kind == "norm":
                layers.append(make_norm(args))
            elif kind == "act":
                layers.append(ACTIVATIONS[args])
            else:
                layers.append(LAYERS.build(dict(zip(("in_channels", "out_channels", "kernel_size"), args), type=f"{LAYERS.scope}/{kind}", **(options if isinstance(options, dict) else {}))))
        self.layers = nn.Sequential(*layers)
        self.norms = sum(isinstance(m, NORMS) for m in self.modules())
        blur = (np.poly1d((0.5, 0.5)) ** 2).coeffs.astype(np.float32)
        self.register_buffer("blur", torch.tensor(blur[:, None] * blur[None, :]).repeat(8, 1, 1, 1), persistent=False)
        self.clip = ACTIVATIONS["relu6"]

    def forward(self, x):
        hidden = ()
        for layer in self.layers:
            x = layer(x)
            hidden += (x,)
        x = nn.functional.conv2d(x, self.blur, stride=int(Level.LOW), groups=8) * Level.HIGH + np.int64(self.norms)
        out = Features(last=self.clip(x), pooled=x.mean((2, 3)) / np.array([2, 4])[1])
        out["hidden"] = hidden[-1]
        return out["last"], out[1], out.hidden if out.hidden is not None else out[-1]
