# Networks that torch.fx takes apart: traced, cut, edited.
import operator
from collections import OrderedDict

import torch
import torch.fx
import torch.nn.functional as F
import torchvision.models as models
from torch import nn
from torchvision.models.feature_extraction import create_feature_extractor, get_graph_node_names


def halves(x, n):
    return x[:, :n] + x[:, n:2 * n]


torch.fx.wrap('halves')


class Small(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3, padding=1)
        self.body = nn.Sequential(OrderedDict(a=nn.ReLU(), b=nn.Sequential(nn.BatchNorm2d(8))))
        self.scale = nn.Parameter(torch.ones(8, 1, 1))
        self.register_buffer('shift', torch.ones(1, 8, 1, 1))
        self.unused = nn.Linear(8, 8)
        self.fc = nn.Linear(8, 4)

    def forward(self, x, times=2):
        b, c, h, w = x.shape
        torch._assert(c == 3, 'three channels')
        x = torch.relu(self.body(self.conv(x)) * self.scale) + self.shift
        x = torch.cat([x, x + times, F.gelu(x)], dim=1).view(b, -1, h * w)
        x = halves(x, 8).transpose(1, 2).contiguous()
        q, k = x.chunk(2, dim=-1)
        y = (q @ k.transpose(-2, -1)).softmax(-1).mean(-1, keepdim=True)
        return self.fc((2 - y)[..., 0][:, :8])


def traced():
    return torch.fx.symbolic_trace(Small())


def edited():
    module = torch.fx.symbolic_trace(Small())
    for node in module.graph.nodes:
        if node.op == 'call_function' and node.target is torch.relu:
            with module.graph.inserting_after(node):
                new = module.graph.call_function(torch.sigmoid, node.args, node.kwargs)
            node.replace_all_uses_with(new)
            module.graph.erase_node(node)
        if node.op == 'call_function' and node.target == operator.add:
            node.target = operator.sub
    module.graph.lint()
    module.recompile()
    return module


def features(name, *nodes, **kwargs):
    return create_feature_extractor(getattr(models, name)(**kwargs), {n: 'f%d' % i for i, n in enumerate(nodes)})


def at(name, *numbers):
    # nodes by their place in the trace: their names must be PyTorch's
    model = getattr(models, name)()
    names = get_graph_node_names(model)[1]
    return create_feature_extractor(model, [names[int(len(names) * n)] for n in numbers])


def by_hand():
    # no trace: a graph is written with proxies
    graph = torch.fx.Graph()
    tracer = torch.fx.proxy.GraphAppendingTracer(graph)
    x, weight = (torch.fx.Proxy(graph.placeholder(name), tracer) for name in ('x', 'weight'))
    y = torch.einsum('bchw,co->bohw', x, weight)
    both = torch.broadcast_tensors(torch.relu(y), weight.sum())
    graph.output(torch.cat([y, both[0] * both[1]], dim=1).node)
    body = torch.fx.GraphModule({}, graph)

    class ByHand(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight, self.body = nn.Parameter(torch.ones(3, 5)), body

        def forward(self, x):
            return self.body(x, self.weight)

    return ByHand()


class Contracted(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight, self.other = nn.Parameter(torch.ones(3, 5)), nn.Parameter(torch.ones(5, 7))

    def forward(self, x):
        y = torch.tensordot(x, self.weight, dims=([1], [0]))
        return torch.einsum('bhwo,od->bdhw', (y, self.other)) * 0.5


def contracted():
    # an edit that looks for the functions: each is one node, a list of operands is taken apart
    traced = torch.fx.symbolic_trace(Contracted())
    for node in list(traced.graph.nodes):
        if node.target == torch.tensordot:
            assert len(node.args) == 2 and node.kwargs['dims'] == ([1], [0])
            with traced.graph.inserting_before(node):
                scaled = traced.graph.call_function(operator.mul, (node.args[0], 2.0))
            node.args = (scaled, node.args[1])
        elif node.target == torch.einsum:
            assert [type(a).__name__ for a in node.args] == ['str', 'Node', 'Node']
            with traced.graph.inserting_before(node):
                scaled = traced.graph.call_function(operator.neg, (node.args[2],))
            node.args = (*node.args[:2], scaled)
    traced.graph.lint()
    traced.recompile()
    return traced
