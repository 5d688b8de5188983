#!/usr/bin/env python3
"""Live modules: hooks leave nothing in the user's program, arguments of all kinds are taken, and
what PyTorch refuses is refused. No server is asked. Run with each PyTorch that is there."""
import collections
import functools
import threading
import types
import unittest
import warnings
import weakref

import support

support.require("torch")
support.stage()
import torch  # noqa: E402
import torch.nn.functional as F  # noqa: E402
from torch import nn  # noqa: E402

import cobra_latency  # noqa: E402
from cobra_latency import ModelError, UsageError  # noqa: E402

warnings.simplefilter("ignore")
SEEN = {}
LISTED = []
LAST = None


def calls_of(model, inputs):
    return [node.op for node in cobra_latency.graph_of(model.eval(), inputs).nodes]


class Store:
    """Cannot be copied."""

    def __init__(self):
        self.kept = {}
        self.lock = threading.Lock()

    def hook(self, module, args, out):
        self.kept["low"] = out


class Tapped(nn.Module):
    """Uses what a hook has kept of an inner layer."""

    shared = {}

    def __init__(self, hook):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(8, 8), nn.ReLU())
        self.kept, self.listed = {}, []
        self.read = HOOKS[hook](self)

    def forward(self, x):
        return self.body(x), self.read() * 2


def tapped(function):
    HOOKS[function.__name__] = function
    return function


HOOKS = {}


@tapped
def closure(net):
    net.body[0].register_forward_hook(lambda m, i, o: net.kept.__setitem__("low", o))
    return lambda: net.kept["low"]


@tapped
def default(net):
    net.body[0].register_forward_hook(lambda m, i, o, kept=net.kept: kept.update(low=o))
    return lambda: net.kept["low"]


@tapped
def bound_builtin(net):
    net.body[0].register_forward_hook(lambda m, i, o, put=net.listed.append: put(o))
    return lambda: net.listed[-1]


@tapped
def weak(net):
    reference = weakref.ref(net)
    net.body[0].register_forward_hook(lambda m, i, o: reference().kept.__setitem__("low", o))
    return lambda: net.kept["low"]


@tapped
def outside_of_the_module(net):
    kept = {}
    net.body[0].register_forward_hook(lambda m, i, o: kept.__setitem__("low", o))
    return lambda: kept["low"]


@tapped
def nonlocal_name(net):
    last = None

    def hook(m, i, o):
        nonlocal last
        last = o

    net.body[0].register_forward_hook(hook)
    return lambda: last


@tapped
def partial(net):
    net.body[0].register_forward_hook(functools.partial(lambda kept, m, i, o: kept.update(low=o), net.kept))
    return lambda: net.kept["low"]


@tapped
def beside_a_lock(net):
    net.lock = threading.Lock()
    net.body[0].register_forward_hook(types.MethodType(lambda self, m, i, o: self.kept.update(low=o), net))
    return lambda: net.kept["low"]


@tapped
def object_with_a_lock(net):
    net.store = Store()
    net.body[0].register_forward_hook(net.store.hook)
    return lambda: net.store.kept["low"]


@tapped
def global_dictionary(net):
    net.body[0].register_forward_hook(lambda m, i, o: SEEN.__setitem__("low", o))
    return lambda: SEEN["low"]


@tapped
def global_list(net):
    net.body[0].register_forward_hook(lambda m, i, o: LISTED.append(o))
    return lambda: LISTED[-1]


@tapped
def global_name(net):
    def hook(m, i, o):
        global LAST
        LAST = o

    net.body[0].register_forward_hook(hook)
    return lambda: LAST


@tapped
def of_the_class(net):
    net.body[0].register_forward_hook(lambda m, i, o: type(net).shared.__setitem__("low", o))
    return lambda: net.shared["low"]


@tapped
def class_attribute(net):
    net.body[0].register_forward_hook(lambda m, i, o: setattr(Tapped, "last", o))
    return lambda: net.last


@tapped
def another_forward(net):
    inner = net.body[0].forward

    @functools.wraps(inner)
    def forward(x):
        net.listed.append(inner(x))
        return net.listed[-1]

    net.body[0].forward = forward
    return lambda: net.listed[-1]


def is_dirty(value, entered):
    """Whether a tensor without numbers can be reached."""
    if id(value) in entered or isinstance(value, (str, int, type, types.ModuleType)):
        return False
    entered[id(value)] = value
    if isinstance(value, torch.Tensor):
        return value.is_meta
    if isinstance(value, dict):
        return any(is_dirty(item, entered) for item in list(value.values()))
    if isinstance(value, (list, tuple)):
        return any(is_dirty(item, entered) for item in value)
    if isinstance(value, types.FunctionType):
        cells = [cell.cell_contents for cell in value.__closure__ or ()]
        return is_dirty([*cells, value.__defaults__], entered)
    if isinstance(value, types.MethodType):
        return is_dirty([value.__self__, value.__func__], entered)
    return hasattr(value, "__dict__") and is_dirty(vars(value), entered)


class HooksTest(unittest.TestCase):
    def test_they_act_on_the_copy(self):
        for hook in HOOKS:
            with self.subTest(hook):
                model = Tapped(hook).eval()
                graph = cobra_latency.graph_of(model, "2x8")
                self.assertEqual([node.op for node in graph.nodes], ["linear", "relu", "mul"])
                self.assertEqual(graph.nodes[2].inputs[0].index, 0)
                globals_and_class = [SEEN, LISTED, LAST, dict(vars(Tapped))]
                self.assertFalse(is_dirty([model, globals_and_class], {}))
                self.assertEqual([out.device.type for out in model(torch.zeros(2, 8))], ["cpu", "cpu"])
                self.assertFalse(any(map(len, (SEEN, LISTED, Tapped.shared))) and hook not in GLOBAL)
                SEEN.clear(), LISTED.clear(), Tapped.shared.clear()

    def test_another_network_that_a_hook_uses_is_not_copied(self):
        teacher = nn.Linear(8, 8)
        teacher.weight = nn.Parameter(torch.empty(1).expand(1 << 20, 1 << 16), requires_grad=False)  # 256 GiB if copied
        student = nn.Sequential(nn.Linear(8, 8))
        student[0].register_forward_hook(lambda m, i, o: o * teacher.weight.shape[0])
        self.assertEqual(calls_of(student, "2x8"), ["linear", "mul"])

    def test_what_the_program_has_changed_meanwhile_stays(self):
        SEEN["count"] = 1
        model = nn.Sequential(nn.Linear(8, 8))
        model[0].register_forward_hook(lambda m, i, o: SEEN.update(count=SEEN["count"] + 1, low=o))
        cobra_latency.graph_of(model.eval(), "2x8")
        self.assertEqual(sorted(SEEN), ["count"])
        self.assertGreater(SEEN["count"], 1)
        SEEN.clear()


GLOBAL = ("global_dictionary", "global_list", "of_the_class")
Pair = collections.namedtuple("Pair", "left right")


class Cache:
    """Keys and values of earlier tokens, as the caches of decoders have them."""

    def __init__(self, layers, length):
        self.layers = [{"keys": torch.zeros(1, length, 8), "values": torch.zeros(1, length, 8)} for _ in range(layers)]
        self.length = length

    def update(self, layer, keys, values):
        kept = self.layers[layer]
        kept["keys"] = torch.cat([kept["keys"], keys], 1)
        kept["values"] = torch.cat([kept["values"], values], 1)
        return kept["keys"], kept["values"]


class Steps(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 8)

    def forward(self, x, steps=1, mode="sum", pair=None, cache=None, dtype=None):
        for _ in range(steps):
            x = self.fc(x)
        if cache is not None:
            keys, values = cache.update(0, x, x)
            x = F.relu(keys) * values
        if pair is not None:
            x = x + pair.left + pair.right
        x = x.mean(-1) if mode == "mean" else x.sum(-1)
        return x if dtype is None else x.to(dtype)


class Packed(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(8, 4)

    def forward(self, packed):
        return self.lstm(packed)[0].data


class ArgumentsTest(unittest.TestCase):
    def test_a_tuple_has_an_argument_for_each_item(self):
        x = torch.zeros(2, 8)
        self.assertEqual(calls_of(Steps(), (x,)), ["linear", "sum"])
        self.assertEqual(calls_of(Steps(), (x, 2)), ["linear", "linear", "sum"])
        self.assertEqual(calls_of(Steps(), x.shape), ["linear", "sum"])

    def test_what_is_no_tensor(self):
        self.assertEqual(calls_of(Steps(), ["2x8", 2, "mean"]), ["linear", "linear", "mean"])
        self.assertEqual(calls_of(Steps(), ["2x8", "mode=mean"]), ["linear", "mean"])
        named = {"x": (2, 8), "steps": 0, "mode": "mean", "dtype": torch.float16}
        self.assertEqual(calls_of(Steps(), named), ["mean", "to"])
        self.assertEqual(calls_of(Steps(), collections.UserDict(named)), ["mean", "to"])

    def test_objects_with_tensors_in_them(self):
        cache = Cache(1, 5)
        graph = cobra_latency.graph_of(Steps().eval(), {"x": "1x1x8", "cache": cache})
        names = ["x", "cache.layers.0.keys", "cache.layers.0.values"]
        self.assertEqual([tensor.name for tensor in graph.inputs], names)
        self.assertEqual([node.op for node in graph.nodes], ["linear", "cat", "cat", "relu", "mul", "sum"])
        self.assertEqual(list(graph.nodes[1].outputs[0].shape), [1, 6, 8])
        self.assertEqual(cache.layers[0]["keys"].shape, (1, 5, 8))
        pair = Pair(torch.zeros(8), torch.zeros(8))
        self.assertEqual(calls_of(Steps(), {"x": (2, 8), "pair": pair}), ["linear", "add", "add", "sum"])

    def test_packed_sequences(self):
        packed = nn.utils.rnn.pack_sequence([torch.zeros(3, 8), torch.zeros(2, 8)])
        graph = cobra_latency.graph_of(Packed().eval(), [packed])
        self.assertEqual(graph.nodes[-1].op, "lstm")
        self.assertEqual(list(graph.nodes[-1].outputs[0].shape), [5, 4])

    def test_what_is_no_input_is_said(self):
        for inputs in ([2, 8], 5, "mean", object(), nn.Linear(2, 2), ["2x8", "1x3xW"], ["2x8", object()]):
            with self.subTest(str(inputs)), self.assertRaises(UsageError):
                cobra_latency.graph_of(Steps().eval(), inputs)
        with self.assertRaisesRegex(UsageError, r"a shape is a tuple: \(2, 8\)"):
            cobra_latency.graph_of(Steps().eval(), [2, 8])


class Of(nn.Module):
    """A function of layers and an input."""

    def __init__(self, function, *layers):
        super().__init__()
        self.function = function
        self.layers = nn.ModuleList(layers)

    def forward(self, x):
        return self.function(x, *self.layers)


REFUSED = {
    "half linear": (lambda x, m: m(x), nn.Linear(8, 8).half()),
    "half attention": (lambda x, m: m(x, x, x), nn.MultiheadAttention(8, 2).half()),
    "double convolution": (lambda x, m: m(x[None]), nn.Conv1d(2, 3, 1).double()),
    "layer norm in bfloat16": (lambda x, m: m(x), nn.LayerNorm(8).bfloat16()),
    "half LSTM": (lambda x, m: m(x), nn.LSTM(8, 8).half()),
    "half cell": (lambda x, m: m(x), nn.LSTMCell(8, 8).half()),
    "product of float and half": (lambda x: x @ x.half().t(),),
    "batches of float and int": (lambda x: torch.bmm(x[None], x[None].transpose(1, 2).long()),),
    "softmax of integers": (lambda x: x.long().softmax(-1),),
    "gelu of integers": (lambda x: F.gelu(x.long()),),
    "view that would copy": (lambda x: x.t().view(-1),),
    "view of a slice": (lambda x: x[:, :4].view(-1),),
    "row beyond the table": (lambda x, m: m(torch.tensor([7])) + x.sum(), nn.Embedding(4, 4)),
    "column beyond the end": (lambda x: x.index_select(1, torch.tensor([8])),),
    "gathered beyond the end": (lambda x: x.gather(1, torch.full((2, 1), 8)),),
    "written beyond the end": (lambda x: x.index_add(0, torch.tensor([2]), x[:1]),),
    "item of a list beyond the end": (lambda x: x[[0, 2]],),
    "item of a tensor beyond the end": (lambda x: x[..., None, torch.tensor([8])],),
    "item before the beginning": (lambda x: x[:, [0, -9]],),
    "set beyond the end": (lambda x: x.clone().__setitem__(([0], [8]), 1.0),),
    "softmax of no dimension": (lambda x: x.softmax(2),),
    "kernel larger than its input": (lambda x: F.conv1d(x[None], torch.ones(1, 2, 9)),),
    "relu of booleans": (lambda x: (x > 0).relu(),),
    "bits of floats": (lambda x: x & x,),
    "integers to a negative power": (lambda x: (x.long() + 2) ** -1,),
    "classes in int32": (lambda x: F.cross_entropy(x, torch.tensor([7, 0], dtype=torch.int32)),),
    "one hot of int32": (lambda x: F.one_hot(torch.tensor([1, 0], dtype=torch.int32), 2) + x.sum(),),
    "added to an expanded row": (lambda x: x[:1].clone().expand(4, 8).add_(1),),
    "rows of an expanded row": (lambda x: x[:1].clone().expand(4, 8).__setitem__(slice(2), x),),
    "multiplied where it is expanded": (lambda x: x[:1].clone().expand(4, 8).__imul__(2),),
    "copied over an expanded row": (lambda x: x[:1].clone().expand(2, 8).copy_(x),),
    "added in another type": (lambda x: x.index_add(0, torch.tensor([0]), x[:1].half()),),
}
TAKEN = {
    "sum of float and half": (lambda x: x + x.half(),),
    "float times integers": (lambda x: x * x.long(),),
    "mask": (lambda x: x.masked_fill(x.long() > 0, 0.0),),
    "batch norm of floats in double": (lambda x: x.double().pow(2).mean(),),
    "view of rows": (lambda x: x[:1].view(-1),),
    "last row": (lambda x, m: m(torch.tensor([3])) + x.sum(), nn.Embedding(4, 4)),
    "items of a list": (lambda x: x[[-2, 1]][..., [7, -8]],),
    "items by tensors": (lambda x: x[None, torch.tensor([1, -2]), torch.tensor([[7], [-8]])],),
    "items after a mask": (lambda x: x[torch.tensor([True, False]), [0]] + x[True, [1]],),
    "set by lists": (lambda x: x.clone().__setitem__(([1], [7]), 1.0) or x + 1,),
    "bits of integers": (lambda x: x.long() & x.int(),),
    "bits of booleans": (lambda x: (x > 0) | ~(x < 1),),
    "power of integers": (lambda x: x.long() ** 2,),
    "scattered": (lambda x: x.scatter_add(0, torch.zeros(1, 8, dtype=torch.long), x[:1]),),
    "count of integers": (lambda x: x.long().sum(),),
    "zeros in an expanded row": (lambda x: x[:1].clone().expand(4, 8).zero_(),),
    "added to an expanded row of one": (lambda x: x[:1].clone().expand(1, 8).add_(1),),
    "sum of an expanded row": (lambda x: x[:1].clone().expand(2, 8) + x,),
    "rows by int32": (lambda x, m: m(torch.tensor([3], dtype=torch.int32)) + x.sum(), nn.Embedding(4, 4)),
    "cross entropy": (lambda x: F.cross_entropy(x, torch.tensor([7, 0])),),
}


class OwnOperatorsTest(unittest.TestCase):
    def setUp(self):
        if not hasattr(torch.library, "custom_op"):
            self.skipTest("torch.library.custom_op came with torch 2.4")

    def test_one_that_is_written_in_python_is_looked_into(self):
        def softly(x: torch.Tensor, by: float) -> torch.Tensor:
            return x * by + 1

        softly = torch.library.custom_op("cobra_test::relu", softly, mutates_args=())
        softly.register_fake(lambda x, by: torch.empty_like(x))
        layer = nn.Linear(8, 8)
        model = Of(lambda x, m: torch.ops.cobra_test.relu(softly(m(x), 2.0), 3.0), layer)
        self.assertEqual(calls_of(model, "2x8"), ["linear", "mul", "add", "mul", "add"])

    def test_any_other_is_refused_by_its_name(self):
        library = torch.library.Library("cobra_test_too", "DEF")
        library.define("softmax(Tensor x) -> Tensor")
        library.impl("softmax", lambda x: x.clone(), "CompositeExplicitAutograd")
        with self.assertRaisesRegex(ModelError, r"torch.ops.cobra_test_too.softmax\(\) is not an operator"):
            cobra_latency.graph_of(Of(lambda x: torch.ops.cobra_test_too.softmax(x)).eval(), "2x8")


class RefusalsTest(unittest.TestCase):
    def test_what_pytorch_refuses(self):
        for name, (function, *layers) in REFUSED.items():
            model = Of(function, *layers).eval()
            with self.subTest(name), torch.no_grad():
                self.assertRaises((RuntimeError, IndexError, ValueError), model, torch.zeros(2, 8))
                with self.assertRaises(ModelError) as raised:
                    cobra_latency.graph_of(model, "2x8")
                self.assertEqual(raised.exception.kind, "model_error")

    def test_what_it_takes(self):
        for name, (function, *layers) in TAKEN.items():
            model = Of(function, *layers).eval()
            with self.subTest(name), torch.no_grad():
                model(torch.zeros(2, 8))
                self.assertTrue(cobra_latency.graph_of(model, "2x8").nodes)


if __name__ == "__main__":
    support.main()
