"""NAS-Bench-101's network (google-research/nasbench, model_builder) written down in PyTorch, for
comparison with frontend/nas."""
import torch
import torch.nn as nn


class ConvBnRelu(nn.Module):
    def __init__(self, c_in, c_out, kernel):
        super().__init__()
        self.conv = nn.Conv2d(c_in, c_out, kernel, padding=kernel // 2, bias=False)
        self.bn = nn.BatchNorm2d(c_out)
        self.relu = nn.ReLU()

    def forward(self, x):
        return self.relu(self.bn(self.conv(x)))


def make_op(name, c):
    if name == "maxpool3x3":
        return nn.MaxPool2d(3, 1, 1)
    return ConvBnRelu(c, c, {"conv3x3-bn-relu": 3, "conv1x1-bn-relu": 1}[name])


def prune(matrix, ops):
    n = len(matrix)
    front, back = {0}, {n - 1}
    for v in range(n):
        if v in front:
            front |= {w for w in range(n) if matrix[v][w]}
    for v in reversed(range(n)):
        if v in back:
            back |= {w for w in range(n) if matrix[w][v]}
    keep = sorted(front & back)
    return [[matrix[v][w] for w in keep] for v in keep], [ops[v] for v in keep]


def vertex_channels(matrix, c_in, c_out):
    n = len(matrix)
    channels = [0] * n
    channels[0], channels[-1] = c_in, c_out
    if n == 2:
        return channels
    last = [v for v in range(1, n - 1) if matrix[v][n - 1]]
    share, extra = divmod(c_out, len(last))
    for rank, v in enumerate(last):
        channels[v] = share + (rank < extra)
    for v in range(n - 3, 0, -1):
        if v not in last:
            channels[v] = max(channels[w] for w in range(v + 1, n - 1) if matrix[v][w])
    return channels


class Vertex(nn.Module):
    def __init__(self, projected_from, name, c):
        super().__init__()
        if projected_from:
            self.projection = ConvBnRelu(projected_from, c, 1)
        self.op = make_op(name, c)


class Output(nn.Module):
    def __init__(self, c_in, c_out):
        super().__init__()
        self.projection = ConvBnRelu(c_in, c_out, 1)


class Module(nn.Module):
    def __init__(self, matrix, ops, c_in, c_out):
        super().__init__()
        self.matrix, self.n = matrix, len(matrix)
        self.channels = vertex_channels(matrix, c_in, c_out)
        for v in range(1, self.n - 1):
            self.add_module("vertex_%d" % v, Vertex(c_in if matrix[0][v] else 0, ops[v], self.channels[v]))
        if matrix[0][self.n - 1]:
            self.output = Output(c_in, c_out)

    def forward(self, x):
        values, last = [x], []
        for v in range(1, self.n - 1):
            vertex = getattr(self, "vertex_%d" % v)
            c = self.channels[v]
            terms = []
            for w in range(1, v):
                if self.matrix[w][v]:
                    terms.append(values[w] if values[w].size(1) == c else values[w][:, :c])
            if self.matrix[0][v]:
                terms.append(vertex.projection(x))
            total = terms[0]
            for term in terms[1:]:
                total = total + term
            values.append(vertex.op(total))
            if self.matrix[v][self.n - 1]:
                last.append(values[v])
        if not last:
            return self.output.projection(x)
        out = last[0] if len(last) == 1 else torch.cat(last, dim=1)
        if self.matrix[0][self.n - 1]:
            out = out + self.output.projection(x)
        return out


class Stack(nn.Module):
    def __init__(self, matrix, ops, c_in, c_out, modules):
        super().__init__()
        for i in range(modules):
            self.add_module("module%d" % i, Module(matrix, ops, c_in if i == 0 else c_out, c_out))

    def forward(self, x):
        for module in self.children():
            x = module(x)
        return x


class Network(nn.Module):
    def __init__(self, matrix, ops, channels=128, stacks=3, modules=3, classes=10):
        super().__init__()
        matrix, ops = prune(matrix, ops)
        self.stem = ConvBnRelu(3, channels, 3)
        c = channels
        for s in range(stacks):
            if s:
                self.add_module("pool%d" % s, nn.MaxPool2d(2, 2))
            self.add_module("stack%d" % s, Stack(matrix, ops, c, c * 2 if s else c, modules))
            c = c * 2 if s else c
        self.stages = stacks
        self.dense = nn.Linear(c, classes)

    def forward(self, x):
        x = self.stem(x)
        for s in range(self.stages):
            if s:
                x = getattr(self, "pool%d" % s)(x)
            x = getattr(self, "stack%d" % s)(x)
        return self.dense(x.mean((2, 3)))
