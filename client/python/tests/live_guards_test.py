#!/usr/bin/env python3
"""Live modules: what only stops or shows a program is passed where it asks for values, with a
warning, and nothing else is; constants that are given. No server is asked. Run with each PyTorch
that is there."""
import logging
import unittest
import warnings

import support

support.require("torch")
support.stage()
import torch  # noqa: E402
from torch import nn  # noqa: E402

import cobra_latency  # noqa: E402
from cobra_latency import Constant, ModelError, UsageError  # noqa: E402

logger = logging.getLogger("quiet")
logger.addHandler(logging.NullHandler())
logger.propagate = False


class Net(nn.Module):
    def __init__(self, body):
        super().__init__()
        self.body = body

    def forward(self, *args, **kwargs):
        return self.body(*args, **kwargs)


def asserts(x):
    assert x.min() >= 0, "negative"
    assert not (x > 5).any() and not torch.isnan(x).all()
    return x * 2


def raises(x):
    if (x > 5).any() or bool((x < 0).all()):
        raise ValueError("out of range")
    if not (x == x).all():
        raise ValueError("nan")
    assert (x < 9).all() and not (x > 9).any() and (x.sum() != 4 or (x < 0).any())
    return x * 2


def prints(x):
    print("mean", x.mean().item(), f"{float(x.max()):.3f}")
    logger.debug("first %s", int(x[0, 0]))
    return x * 2


def decides(x):
    if (x > 0).all():
        return x * 2
    return x


def raises_or_adds(x):
    if (x > 5).any():
        raise ValueError("out of range")
    else:
        x = x + 1
    return x


def tries(x):
    try:
        assert (x > 0).all()
        return x * 2
    except AssertionError:
        return x


def checks(x):
    assert positive(x)
    return x * 2


def positive(x):
    return bool((x > 0).all())


def counts(x):
    assert x.sum().item() > 3
    return x * 2


class Masked(nn.Module):
    """Skips a mask that hides nothing, as models of transformers do."""

    def __init__(self):
        super().__init__()
        self.proj = nn.Linear(8, 8)

    def forward(self, x, mask=None):
        x = self.proj(x)
        if mask is not None and not mask.all():
            x = x.masked_fill(mask[..., None] == 0, 0.0)
        return x


def read(body, inputs="2x8"):
    """The operators of a function's graph, and what was warned of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        graph = cobra_latency.graph_of(Net(body).eval(), inputs)
    return [node.op for node in graph.nodes], [str(warning.message) for warning in caught]


class GuardsTest(unittest.TestCase):
    def test_guards_let_the_program_go_on(self):
        for body, what in (
            (asserts, "whether it raises"),
            (raises, "whether it raises"),
            (prints, "what it prints"),
        ):
            ops, said = read(body)
            self.assertEqual(ops[-1], "mul", body.__name__)
            said = [text for text in said if what in text]
            self.assertGreaterEqual(len(said), 2, body.__name__)
            self.assertIn("live_guards_test.py:", said[0])

    def test_nothing_else_is_guessed(self):
        for body in (decides, raises_or_adds, tries, checks, counts):
            with self.assertRaises(ModelError, msg=body.__name__) as caught:
                read(body)
            self.assertEqual(caught.exception.kind, "data_dependent")
            self.assertIn("Constant(", caught.exception.hint)

    def test_a_known_value_is_looked_at(self):
        def body(x):
            if torch.zeros(2).all():
                raise ValueError("never")
            assert torch.ones(2).all()
            return x * 2

        self.assertEqual(read(body)[1], [])

    def test_a_constant_is_no_input(self):
        ops = {}
        for name, mask in (
            ("all", torch.ones(2, 4)),
            ("some", torch.tensor([[1.0, 1, 1, 0], [1, 1, 1, 1]])),
            ("none", None),
        ):
            inputs = {"x": (2, 4, 8)} if mask is None else {"x": (2, 4, 8), "mask": Constant(mask)}
            graph = cobra_latency.graph_of(Masked().eval(), inputs)
            ops[name] = [node.op for node in graph.nodes]
            self.assertEqual([given.name for given in graph.inputs], ["x"])
        self.assertIn("masked_fill", ops["some"])
        self.assertNotIn("masked_fill", ops["all"])
        self.assertEqual(ops["none"], ["linear"])
        with self.assertRaises(ModelError) as caught:
            cobra_latency.graph_of(Masked().eval(), {"x": (2, 4, 8), "mask": torch.ones(2, 4)})
        self.assertEqual(caught.exception.kind, "data_dependent")

    def test_a_constant_is_a_tensor(self):
        for wrong in (3, "2x3", (2, 3), None, [torch.ones(1)]):
            with self.assertRaises(UsageError):
                Constant(wrong)


if __name__ == "__main__":
    unittest.main()
