"""NAS-Bench-201's network written down in PyTorch from its definition, for comparison with
frontend/nas: same modules, same calls, same order as the published TinyNetwork
(D-X-Y/AutoDL-Projects, inference cells)."""
import torch.nn as nn


class ReLUConvBN(nn.Module):
    def __init__(self, c_in, c_out, kernel, stride, padding):
        super().__init__()
        self.op = nn.Sequential(
            nn.ReLU(inplace=False),
            nn.Conv2d(c_in, c_out, kernel, stride=stride, padding=padding, bias=False),
            nn.BatchNorm2d(c_out),
        )

    def forward(self, x):
        return self.op(x)


class Pool(nn.Module):
    def __init__(self):
        super().__init__()
        self.op = nn.AvgPool2d(3, stride=1, padding=1, count_include_pad=False)

    def forward(self, x):
        return self.op(x)


class Identity(nn.Module):
    def forward(self, x):
        return x


class Zero(nn.Module):
    def forward(self, x):
        return x.mul(0.0)


def make_op(name, c):
    if name == "none":
        return Zero()
    if name == "skip_connect":
        return Identity()
    if name == "avg_pool_3x3":
        return Pool()
    kernel = {"nor_conv_1x1": 1, "nor_conv_3x3": 3}[name]
    return ReLUConvBN(c, c, kernel, 1, kernel // 2)


class Block(nn.Module):
    def __init__(self, c_in, c_out):
        super().__init__()
        self.conv_a = ReLUConvBN(c_in, c_out, 3, 2, 1)
        self.conv_b = ReLUConvBN(c_out, c_out, 3, 1, 1)
        self.downsample = nn.Sequential(nn.AvgPool2d(2, stride=2, padding=0), nn.Conv2d(c_in, c_out, 1, bias=False))

    def forward(self, x):
        y = self.conv_b(self.conv_a(x))
        return self.downsample(x) + y


class Cell(nn.Module):
    """Whole: node = sum() of its edges. Pruned: an edge that is on no path from input to output
    over edges other than `none` does not run, and nothing is added to the number 0."""

    def __init__(self, edges, c, pruned):
        super().__init__()
        self.layers = nn.ModuleList([make_op(name, c) for node in edges for name, _ in node])
        self.pruned = pruned
        self.nodes, k = [], 0
        live = self.on_paths(edges) if pruned else None
        for j, node in enumerate(edges, 1):
            terms = []
            for name, i in node:
                if not pruned or (i, j) in live:
                    terms.append((k, i))
                elif pruned:
                    self.layers[k] = Identity()  # it has no parameters either
                k += 1
            self.nodes.append(terms)

    @staticmethod
    def on_paths(edges):
        real = [(i, j) for j, node in enumerate(edges, 1) for name, i in node if name != "none"]
        front, back = {0}, {len(edges)}
        for i, j in sorted(real, key=lambda e: e[1]):
            if i in front:
                front.add(j)
        for i, j in sorted(real, key=lambda e: -e[0]):
            if j in back:
                back.add(i)
        return {(i, j) for i, j in real if i in front and j in back}

    def forward(self, x):
        values = [x]
        for terms in self.nodes:
            if not self.pruned:
                values.append(sum(self.layers[k](values[i]) for k, i in terms))
                continue
            total = None
            for k, i in terms:
                y = self.layers[k](values[i])
                total = y if total is None else total + y
            values.append(total)
        return values[-1]


class TinyNetwork(nn.Module):
    def __init__(self, arch, C=16, N=5, num_classes=10, pruned=False):
        super().__init__()
        edges = [[(e.split("~")[0], int(e.split("~")[1])) for e in node.split("|") if e] for node in arch.split("+")]
        self.stem = nn.Sequential(nn.Conv2d(3, C, 3, padding=1, bias=False), nn.BatchNorm2d(C))
        cells, c = [], C
        for stage in range(3):
            if stage:
                cells.append(Block(c, 2 * c))
                c *= 2
            cells += [Cell(edges, c, pruned) for _ in range(N)]
        self.cells = nn.ModuleList(cells)
        self.lastact = nn.Sequential(nn.BatchNorm2d(c), nn.ReLU(inplace=True))
        self.global_pooling = nn.AdaptiveAvgPool2d(1)
        self.classifier = nn.Linear(c, num_classes)

    def forward(self, x):
        x = self.stem(x)
        for cell in self.cells:
            x = cell(x)
        x = self.global_pooling(self.lastact(x))
        x = x.view(x.size(0), -1)
        return x, self.classifier(x)
