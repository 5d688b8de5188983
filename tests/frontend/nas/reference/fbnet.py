"""FBNet's network as HW-NAS-Bench defines it (FBNet_Infer), written down in PyTorch for comparison
with frontend/nas."""
import torch.nn as nn


class ConvNorm(nn.Module):
    def __init__(self, c_in, c_out, kernel=3, stride=1, padding=0):
        super().__init__()
        self.conv = nn.Conv2d(c_in, c_out, kernel, stride, padding, bias=False)
        self.bn = nn.BatchNorm2d(c_out)
        self.relu = nn.ReLU(inplace=True)

    def forward(self, x):
        return self.relu(self.bn(self.conv(x)))


class Shuffle(nn.Module):
    def __init__(self, groups):
        super().__init__()
        self.groups = groups

    def forward(self, x):
        n, c, h, w = x.size()
        g = self.groups
        return x.view(n, g, int(c / g), h, w).permute(0, 2, 1, 3, 4).contiguous().view(n, c, h, w)


class Block(nn.Module):
    def __init__(self, c_in, c_out, expansion, kernel, stride, groups):
        super().__init__()
        if groups > 1:
            self.shuffle = Shuffle(groups)
        mid = c_in * expansion
        self.conv1 = nn.Conv2d(c_in, mid, 1, groups=groups, bias=False)
        self.bn1 = nn.BatchNorm2d(mid)
        self.conv2 = nn.Conv2d(mid, mid, kernel, stride, kernel // 2, groups=mid, bias=False)
        self.bn2 = nn.BatchNorm2d(mid)
        self.conv3 = nn.Conv2d(mid, c_out, 1, groups=groups, bias=False)
        self.bn3 = nn.BatchNorm2d(c_out)
        self.nl = nn.ReLU(inplace=True)
        self.groups, self.residual = groups, c_in == c_out and stride == 1

    def forward(self, x):
        identity = x
        x = self.nl(self.bn1(self.conv1(x)))
        if self.groups > 1:
            x = self.shuffle(x)
        x = self.nl(self.bn2(self.conv2(x)))
        x = self.bn3(self.conv3(x))
        if self.residual:
            x += identity
        return x


def make_block(name, c_in, c_out, stride):
    if name == "skip":
        return nn.Identity() if stride == 1 and c_in == c_out else ConvNorm(c_in, c_out, 1, stride)
    parts = name.split("_")
    return Block(c_in, c_out, int(parts[1][1:]), int(parts[0][1:]), stride, 2 if len(parts) == 3 else 1)


class FBNet(nn.Module):
    def __init__(self, arch, imagenet=True, num_classes=1000):
        super().__init__()
        names = arch.split()
        strides = [1, 2, 2, 2, 1, 2, 1] if imagenet else [1, 1, 2, 2, 1, 2, 1]
        self.stem = ConvNorm(3, 16, 3, 2 if imagenet else 1, 1)
        self.cells = nn.ModuleList()
        c = 16
        for layers, width, stride in zip([1, 4, 4, 4, 4, 4, 1], [16, 24, 32, 64, 112, 184, 352], strides):
            for i in range(layers):
                self.cells.append(make_block(names[len(self.cells)], c, width, stride if i == 0 else 1))
                c = width
        self.header = ConvNorm(c, 1984 if imagenet else 1504, 1)
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.fc = nn.Linear(1984 if imagenet else 1504, num_classes)

    def forward(self, x):
        x = self.stem(x)
        for cell in self.cells:
            x = cell(x)
        return self.fc(self.avgpool(self.header(x)).view(x.size(0), -1))
