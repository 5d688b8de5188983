"""The other side of `cobra-bench cold`: PyTorch builds ResNet-50, traces it with torch.fx,
propagates shapes, and runs an encoder and a graph network of the sizes of COBRA's, all on one
thread, with libraries imported.

    cold_reference.py SIZES ROUNDS     SIZES: the object `net` of a model version's manifest.json
Prints the median of the rounds and their stages in milliseconds as JSON. The weights are random:
only the time counts.
"""
import json
import sys
import time

import torch
import torch.fx
import torchvision
from torch import nn
from torch.fx.passes.shape_prop import ShapeProp

STAGES = ("build", "trace", "shapes", "texts", "encoder", "graph_network")


class Block(nn.Module):
    """A layer of a transformer with norms before attention and before the feed-forward part."""

    def __init__(self, sizes):
        super().__init__()
        width = sizes["width"]
        self.heads = sizes["heads"]
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, sizes["feed_forward"]), nn.Linear(sizes["feed_forward"], width)

    def forward(self, x, hidden):
        texts, tokens, width = x.shape
        qkv = self.qkv(self.norm1(x)).view(texts, tokens, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
        scores = (qkv[0] @ qkv[1].transpose(-2, -1) / (width // self.heads) ** 0.5).masked_fill(hidden, -1e9)
        mixed = (scores.softmax(-1) @ qkv[2]).transpose(1, 2).reshape(texts, tokens, width)
        x = x + self.out(mixed)
        return x + self.down(nn.functional.gelu(self.up(self.norm2(x))))


class Encoder(nn.Module):
    """Token lists to one embedding each."""

    def __init__(self, sizes):
        super().__init__()
        self.token = nn.Embedding(sizes["vocabulary_size"], sizes["width"])
        self.gate = nn.Embedding(sizes["vocabulary_size"], sizes["width"])
        self.value = nn.Linear(sizes["value_features"], sizes["width"])
        self.blocks = nn.ModuleList(Block(sizes) for _ in range(sizes["encoder_layers"]))
        self.norm = nn.LayerNorm(sizes["width"])

    def forward(self, ids, values, there):
        x = self.token(ids) + self.value(values) * (1 + self.gate(ids))
        for block in self.blocks:
            x = block(x, ~there[:, None, None, :])
        weight = there.unsqueeze(-1).float()
        return self.norm((x * weight).sum(1) / weight.sum(1))


class Convolution(nn.Module):
    """Messages along the edges, against them, and from the mean of all calls."""

    def __init__(self, width):
        super().__init__()
        self.norm, self.out = nn.LayerNorm(width), nn.Linear(width, width)
        self.own, self.along, self.against, self.mean = (nn.Linear(width, width) for _ in range(4))

    def forward(self, h, source, destination):
        x = self.norm(h)
        y = self.own(x) + self.mean(x.mean(0, keepdim=True))
        y = y.index_add(0, destination, self.along(x)[source]).index_add(0, source, self.against(x)[destination])
        return h + self.out(nn.functional.gelu(y))


class GraphNet(nn.Module):
    """Embeddings of the calls to the contribution of each."""

    def __init__(self, sizes):
        super().__init__()
        width, graph_width = sizes["width"], sizes["graph_width"]
        self.head = nn.Sequential(
            nn.Linear(width, width),
            nn.GELU(),
            nn.Linear(width, width),
            nn.GELU(),
            nn.Linear(width, sizes["work_terms"]),
        )
        self.input = nn.Linear(width, graph_width)
        self.convolutions = nn.ModuleList(Convolution(graph_width) for _ in range(sizes["graph_layers"]))
        self.out = nn.Sequential(nn.LayerNorm(graph_width), nn.Linear(graph_width, 1))

    def forward(self, embeddings, source, destination):
        alone = self.head(embeddings).logsumexp(-1)
        h = self.input(embeddings)
        for convolution in self.convolutions:
            h = convolution(h, source, destination)
        return (alone + self.out(h).squeeze(-1)).exp().sum()


def shape_of(node):
    return tuple(node.meta["tensor_meta"].shape) if "tensor_meta" in node.meta else ()


def texts_of(traced):
    """The calls as texts (a word and the numbers that stand behind it), the position of each, and
    the edges."""
    modules = dict(traced.named_modules())
    calls = [node for node in traced.graph.nodes if node.op.startswith("call")]
    place = {node: i for i, node in enumerate(calls)}
    texts, positions = {}, []
    source, destination = [], []
    for node in calls:
        module = modules.get(node.target) if node.op == "call_module" else None
        word = type(module).__name__ if module is not None else str(node.target)
        numbers = [*shape_of(node)]
        for argument in node.all_input_nodes:
            numbers += shape_of(argument)
            if argument in place:
                source.append(place[argument])
                destination.append(place[node])
        for attribute in ("kernel_size", "stride", "padding"):
            value = getattr(module, attribute, ())
            numbers += value if isinstance(value, tuple) else (value,)
        numbers += [parameter.numel() for parameter in module.parameters(recurse=False)] if module is not None else []
        positions.append(texts.setdefault((word, *numbers), len(texts)))
    return list(texts), positions, source, destination


def tokens_of(texts, sizes):
    length = max(len(text) for text in texts)
    ids = torch.zeros(len(texts), length, dtype=torch.long)
    numbers = torch.zeros(len(texts), length)
    there = torch.zeros(len(texts), length, dtype=torch.bool)
    words = {}
    for i, text in enumerate(texts):
        word = words.setdefault(text[0], len(words))
        ids[i, : len(text)] = torch.tensor([word] + [16 + k for k in range(len(text) - 1)]) % sizes["vocabulary_size"]
        numbers[i, 1 : len(text)] = torch.tensor([float(number) for number in text[1:]])
        there[i, : len(text)] = True
    return ids, numbers.log1p().unsqueeze(-1).expand(-1, -1, sizes["value_features"]), there


def once(sizes, encoder, graph_net):
    times = [time.perf_counter()]

    def stage_is_over():
        times.append(time.perf_counter())

    with torch.no_grad():
        model = torchvision.models.resnet50().eval()
        stage_is_over()
        traced = torch.fx.symbolic_trace(model)
        stage_is_over()
        ShapeProp(traced).propagate(torch.zeros(1, 3, 224, 224))
        stage_is_over()
        texts, positions, source, destination = texts_of(traced)
        tokens = tokens_of(texts, sizes)
        stage_is_over()
        embeddings = encoder(*tokens)
        stage_is_over()
        graph_net(embeddings[positions], torch.tensor(source), torch.tensor(destination)).item()
        stage_is_over()
    return [(end - begin) * 1e3 for begin, end in zip(times, times[1:])]


def median(values):
    return sorted(values)[len(values) // 2]


def main():
    torch.set_num_threads(1)
    sizes, rounds = json.loads(sys.argv[1]), int(sys.argv[2])
    encoder, graph_net = Encoder(sizes).eval(), GraphNet(sizes).eval()
    once(sizes, encoder, graph_net)
    runs = [once(sizes, encoder, graph_net) for _ in range(rounds)]
    result = {"milliseconds": median([sum(run) for run in runs])}
    result.update({f"{stage}_ms": median([run[i] for run in runs]) for i, stage in enumerate(STAGES)})
    print(json.dumps(result))


main()
