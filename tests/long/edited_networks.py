"""Small networks of five kinds, each made from a dictionary: what small_edits.py edits. Plain
PyTorch, read by our reader as users' files are."""
import torch
from torch import nn

ACTIVATIONS = {"relu": nn.ReLU, "gelu": nn.GELU, "silu": nn.SiLU, "hardswish": nn.Hardswish}


def normed(kind, width):
    return {"batch": lambda: nn.BatchNorm2d(width), "group": lambda: nn.GroupNorm(4, width), "none": nn.Identity}[
        kind
    ]()


class ConvBlock(nn.Module):
    """A residual block: two convolutions, or an inverted bottleneck."""

    def __init__(self, before, width, c):
        super().__init__()
        kernel, activation = c["kernel"], ACTIVATIONS[c["activation"]]
        if c["kind"] == "mobile":
            inner = before * c["expansion"]
            self.body = nn.Sequential(
                nn.Conv2d(before, inner, 1, bias=False),
                normed(c["norm"], inner),
                activation(),
                nn.Conv2d(inner, inner, kernel, padding=kernel // 2, groups=inner, bias=False),
                normed(c["norm"], inner),
                activation(),
                nn.Conv2d(inner, width, 1, bias=False),
                normed(c["norm"], width),
            )
        else:
            self.body = nn.Sequential(
                nn.Conv2d(before, width, kernel, padding=kernel // 2, bias=False),
                normed(c["norm"], width),
                activation(),
                nn.Conv2d(width, width, 3, padding=1, groups=c["groups"], bias=False),
                normed(c["norm"], width),
            )
        self.skip = nn.Identity() if before == width else nn.Conv2d(before, width, 1, bias=False)
        self.last = activation() if c["kind"] == "residual" else nn.Identity()
        self.gate = None
        if c["gate"]:
            self.gate = nn.Sequential(
                nn.AdaptiveAvgPool2d(1), nn.Conv2d(width, 8, 1), nn.ReLU(), nn.Conv2d(8, width, 1), nn.Sigmoid()
            )

    def forward(self, x):
        y = self.body(x)
        if self.gate is not None:
            y = y * self.gate(y)
        return self.last(y + self.skip(x))


class ConvNet(nn.Module):
    def __init__(self, c):
        super().__init__()
        layers, before = [nn.Conv2d(3, c["width"], 3, stride=2, padding=1)], c["width"]
        for stage, depth in enumerate(c["depths"]):
            width = c["width"] * 2**stage
            if stage > 0:
                layers.append(nn.MaxPool2d(2) if c["pool"] == "max" else nn.AvgPool2d(2))
            for _ in range(depth):
                layers.append(ConvBlock(before, width, c))
                before = width
        self.body = nn.Sequential(*layers)
        self.head = nn.Linear(before, c["classes"])

    def forward(self, x):
        return self.head(self.body(x).mean((2, 3)))


class UNet(nn.Module):
    def __init__(self, c):
        super().__init__()
        widths = [c["width"] * 2**i for i in range(len(c["depths"]))]
        plain = dict(c, kind="residual")
        self.stem = nn.Conv2d(3, widths[0], 3, padding=1)
        self.down = nn.ModuleList(ConvBlock(a, b, plain) for a, b in zip(widths, widths[1:]))
        self.up = nn.ModuleList(ConvBlock(b + a, a, plain) for a, b in zip(widths, widths[1:]))
        self.out = nn.Conv2d(widths[0], c["classes"] // 10, 1)
        self.mode = "nearest" if c["pool"] == "max" else "bilinear"

    def forward(self, x):
        x = self.stem(x)
        kept = []
        for block in self.down:
            kept.append(x)
            x = block(nn.functional.max_pool2d(x, 2))
        for block, other in zip(reversed(self.up), reversed(kept)):
            x = block(torch.cat([nn.functional.interpolate(x, scale_factor=2, mode=self.mode), other], 1))
        return self.out(x)


class Attention(nn.Module):
    def __init__(self, width, c):
        super().__init__()
        self.heads = c["heads"]
        self.norm = nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width, bias=c["bias"])
        self.out = nn.Linear(width, width, bias=c["bias"])
        self.mlp = nn.Sequential(
            nn.LayerNorm(width),
            nn.Linear(width, int(c["ratio"] * width), bias=c["bias"]),
            ACTIVATIONS[c["activation"]](),
            nn.Linear(int(c["ratio"] * width), width, bias=c["bias"]),
        )

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = self.qkv(self.norm(x)).reshape(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        weights = (q @ k.transpose(-2, -1) * (width / self.heads) ** -0.5).softmax(-1)
        x = x + self.out((weights @ v).transpose(1, 2).reshape(batch, length, width))
        return x + self.mlp(x)


class Transformer(nn.Module):
    """Of patches of an image."""

    def __init__(self, c):
        super().__init__()
        width = c["width"] * c["heads"]
        self.patches = nn.Conv2d(3, width, c["patch"], stride=c["patch"])
        self.layers = nn.Sequential(*[Attention(width, c) for _ in range(sum(c["depths"]))])
        self.head = nn.Linear(width, c["classes"])

    def forward(self, x):
        return self.head(self.layers(self.patches(x).flatten(2).transpose(1, 2)).mean(1))


def make(c):
    kind = {"unet": UNet, "transformer": Transformer}.get(c["kind"], ConvNet)
    return kind(c).eval()
