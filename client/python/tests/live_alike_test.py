#!/usr/bin/env python3
"""Modules that are alike: the graph of one must not be that of another, nor that of the same one
before a change. Each change is made to a module that has been taken before, and the graph is that
of a module which was never taken."""
import copy
import unittest

import support

support.require("torch")
support.stage()
import torch  # noqa: E402
import torch.nn.functional as F  # noqa: E402
from torch import nn  # noqa: E402

import cobra_latency  # noqa: E402


class Block(nn.Module):
    scale = 1

    def __init__(self, width=8):
        super().__init__()
        self.conv = nn.Conv2d(width, width, 3, padding=1)
        self.norm = nn.BatchNorm2d(width)
        self.drop = nn.Dropout(0.5)
        self.act = F.relu
        self.times = [1, 2]
        self.register_buffer("table", torch.arange(4))

    def forward(self, x):
        x = self.drop(self.act(self.norm(self.conv(x)))) * self.scale
        for _ in self.times:
            x = x + 1
        return x.flatten(2)[:, :, : int(self.table[-1])]


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = Block(), Block()

    def forward(self, x):
        return self.first(x) + self.second(x)


def made():
    return Net().eval()


def graph(module, inputs="1x8x6x6"):
    return cobra_latency.graph_of(module, inputs).SerializeToString(deterministic=True)


def hook(module, inputs, output):
    return output.tanh()


def patched(x):
    return x.sigmoid()


# What happens to a network: each is to change its graph.
CHANGES = {
    "training": lambda net: net.train(),
    "training, one layer": lambda net: net.second.drop.train(),
    "an attribute of a layer": lambda net: setattr(net.first.conv, "padding", (0, 0)),
    "a number": lambda net: setattr(net.first, "scale", 2),
    "a list": lambda net: net.first.times.append(3),
    "another layer": lambda net: setattr(net.second, "norm", nn.Identity()),
    "a layer with another configuration": lambda net: setattr(net.second, "conv", nn.Conv2d(8, 8, 1)),
    "a function": lambda net: setattr(net.first, "act", F.gelu),
    "a method of one object": lambda net: setattr(net.first.norm, "forward", patched),
    "a hook": lambda net: net.first.conv.register_forward_hook(hook),
    "a hook before": lambda net: net.first.conv.register_forward_pre_hook(lambda module, given: (given[0] * 2,)),
    "numbers of a buffer": lambda net: [block.table.fill_(2) for block in (net.first, net.second)],
    "type of a buffer": lambda net: setattr(net.first, "table", net.first.table.to(torch.int32)),
    "no bias": lambda net: setattr(net.first.conv, "bias", None),
    "parameters shared": lambda net: setattr(net.second.conv, "weight", net.first.conv.weight),
    "layers shared": lambda net: setattr(net, "second", net.first),
    "one more parameter": lambda net: net.register_parameter("more", nn.Parameter(torch.ones(3))),
    "type of all": lambda net: net.double(),
}


class AlikeTest(unittest.TestCase):
    maxDiff = None

    def test_each_change_is_noticed(self):
        for name, change in CHANGES.items():
            with self.subTest(name):
                inputs = "1x8x6x6:float64" if name == "type of all" else "1x8x6x6"
                net, fresh = made(), made()
                before = graph(net)
                change(net)
                change(fresh)
                self.assertEqual(graph(net, inputs), graph(fresh, inputs))
                self.assertNotEqual(graph(net, inputs), before)

    def test_changes_of_a_class_are_noticed(self):
        for owner, name, value in (
            (Block, "scale", 3),
            (Block, "forward", lambda self, x: self.conv(x)),
            (nn.Conv2d, "forward", lambda self, x: x.sigmoid()),
            (nn.Module, "__call__", lambda self, *given: self.forward(*given).tanh()),
        ):
            with self.subTest(f"{owner.__name__}.{name}"):
                net = made()
                before, kept = graph(net), vars(owner)[name]
                setattr(owner, name, value)
                try:
                    changed = graph(net)
                finally:
                    setattr(owner, name, kept)
                self.assertNotEqual(changed, before)
                self.assertEqual(graph(net), before)

    def test_changes_of_torch_are_noticed(self):
        net = made()
        before, kept = graph(net), F.batch_norm
        F.batch_norm = lambda x, *others, **named: x.sigmoid()
        try:
            changed = graph(net)
        finally:
            F.batch_norm = kept
        self.assertNotEqual(changed, before)
        self.assertEqual(graph(net), before)

    def test_copies_that_a_class_makes_itself(self):
        class Own(nn.Linear):
            def __deepcopy__(self, memo):
                made = nn.Linear(8, 2)
                memo[id(self)] = made
                return made

        class Restored(nn.Linear):
            def __setstate__(self, state):
                super().__setstate__({**state, "bias": None, "_parameters": {**state["_parameters"], "bias": None}})

        class Packed(nn.Linear):
            def __getstate__(self):
                return {**self.__dict__, "packed": True}

            def forward(self, x):
                return super().forward(x).tanh() if hasattr(self, "packed") else super().forward(x)

        class Reduced(nn.Linear):
            def __reduce_ex__(self, protocol):
                return Reduced, (8, 3)

        for kind in (Own, Restored, Packed, Reduced):
            with self.subTest(kind.__name__):
                net = nn.Sequential(kind(8, 4)).eval()
                self.assertEqual(graph(net, "2x8"), graph(copy.deepcopy(net), "2x8"))
        operators = [node.op for node in cobra_latency.graph_of(nn.Sequential(Packed(8, 4)), "2x8").nodes]
        self.assertEqual(operators, ["linear", "tanh"])

    def test_shared_things_stay_shared_in_the_copy(self):
        class Sharing(nn.Module):
            def __init__(self):
                super().__init__()
                self.names = {"a": ["x"]}
                self.same = (self.names, self.names["a"])
                self.layer = nn.Linear(8, 8)
                self.again = {"layer": self.layer, "me": self}

            def forward(self, x):
                self.names["a"].append("y")
                return x * len(self.same[1]) if self.again["me"] is self and self.again["layer"] is self.layer else x

        net = Sharing()
        self.assertEqual([node.op for node in cobra_latency.graph_of(net, "2x8").nodes], ["mul"])
        self.assertEqual(net.names, {"a": ["x"]})

    def test_inputs_of_another_kind(self):
        net = made()
        seen = {graph(net, inputs) for inputs in ("1x8x6x6", "2x8x6x6", "1x8x6x7")}
        self.assertEqual(len(seen), 3)
        with self.assertRaises(cobra_latency.ModelError):
            graph(net, "1x7x6x6")
        self.assertIn(graph(net), seen)

    def test_defaults_of_torch(self):
        net = nn.Sequential(nn.Linear(8, 8)).eval()
        before = graph(net, "2x8")
        with torch.autocast("cpu"):
            self.assertNotEqual(graph(net, "2x8"), before)
        self.assertEqual(graph(net, "2x8"), before)


if __name__ == "__main__":
    support.main()
