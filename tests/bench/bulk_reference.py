"""The other side of `cobra-bench bulk`: BRP-NAS's graph convolutional network over cells of
NAS-Bench-201, in PyTorch.

    bulk_reference.py FILE ROUNDS     FILE: one cell a line, as the space writes them
A cell is nine nodes (input, output, the six operations, and a global one that reads all) and passes
four layers of 600. Each pruned cell is computed once, 512 at a time, on two threads; of the last
layer only the global node is computed.
A round is the whole list, from the strings to a latency for each. Prints the rounds' seconds and
how many different cells there were as JSON. The weights are random: only the time counts.
"""
import json
import sys
import time

import torch
from torch import nn

OPERATIONS = ("none", "skip_connect", "nor_conv_1x1", "nor_conv_3x3", "avg_pool_3x3")
NONE = 0
EDGES = tuple((start, end) for end in range(1, 4) for start in range(end))
INPUT, OUTPUT, GLOBAL = 0, 7, 8  # nodes; 1 to 6 are the operations, in the order of EDGES
NODES, KINDS = 9, len(OPERATIONS) + 3  # a kind of its own for each of the three others
LAYERS, WIDTH, BATCH, THREADS = 4, 600, 512, 2


class Gcn(nn.Module):
    def __init__(self):
        super().__init__()
        self.weights = nn.ModuleList(nn.Linear(WIDTH if i else KINDS, WIDTH) for i in range(LAYERS))
        self.norms = nn.ModuleList(nn.LayerNorm(WIDTH) for _ in range(LAYERS))
        self.out = nn.Linear(WIDTH, 1)

    def forward(self, kinds, adjacency):
        h = nn.functional.one_hot(kinds, KINDS).float()
        for i, (weight, norm) in enumerate(zip(self.weights, self.norms)):
            last = i + 1 == LAYERS
            h = torch.relu(norm(weight((adjacency[:, GLOBAL:] if last else adjacency) @ h)))
        return self.out(h[:, 0]).squeeze(-1)


def read(cell):
    return tuple(OPERATIONS.index(part[: part.index("~")]) for part in cell.replace("+", "").split("|") if part)


def pruned(operations):
    """Only what lies on a path from the input to the output; all others are `none`."""
    there = [operation != NONE for operation in operations]
    reached, needed = [True, False, False, False], [False, False, False, True]
    for (start, end), runs in zip(EDGES, there):
        reached[end] |= reached[start] and runs
    for (start, end), runs in reversed(list(zip(EDGES, there))):
        needed[start] |= needed[end] and runs
    return tuple(
        operation if reached[start] and needed[end] else NONE for operation, (start, end) in zip(operations, EDGES)
    )


def graph_of(operations):
    """The kind of each node, and whom each node reads: itself and those that its data flows to."""
    kinds = [len(OPERATIONS), *operations, len(OPERATIONS) + 1, len(OPERATIONS) + 2]
    reads = [[float(i == j) for j in range(NODES)] for i in range(NODES)]
    reads[GLOBAL] = [1.0] * NODES
    for node, (start, end) in enumerate(EDGES, 1):
        if operations[node - 1] == NONE:
            continue
        if start == 0:
            reads[INPUT][node] = 1.0
        if end == 3:
            reads[node][OUTPUT] = 1.0
        for other, (from_node, _) in enumerate(EDGES, 1):
            if from_node == end and operations[other - 1] != NONE:
                reads[node][other] = 1.0
    return kinds, reads


def predict(net, cells):
    different, places = {}, []
    for cell in cells:
        places.append(different.setdefault(pruned(read(cell)), len(different)))
    graphs = [graph_of(operations) for operations in different]
    kinds = torch.tensor([kinds for kinds, _ in graphs])
    adjacency = torch.tensor([reads for _, reads in graphs])
    with torch.no_grad():
        parts = [net(kinds[i : i + BATCH], adjacency[i : i + BATCH]) for i in range(0, len(graphs), BATCH)]
    return torch.cat(parts)[torch.tensor(places)].tolist(), len(graphs)


def main():
    torch.set_num_threads(THREADS)
    with open(sys.argv[1], encoding="utf-8") as file:
        cells = file.read().split()
    net = Gcn().eval()
    predict(net, cells[:BATCH])
    seconds, different = [], 0
    for _ in range(int(sys.argv[2])):
        begin = time.perf_counter()
        _, different = predict(net, cells)
        seconds.append(time.perf_counter() - begin)
    print(json.dumps({"seconds": seconds, "different_cells": different}))


main()
