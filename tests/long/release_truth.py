#!/usr/bin/env python3
"""What real PyTorch runs for the models of one version of a library: for each ENTRY=SIZES a line
with a hash of the operators that it dispatches, with the shapes of their tensors, in their order;
or why it cannot.

    release_truth.py FOLDER MODULE ENTRY=1x3x224x224 ...     FOLDER: is put before all others on the
                                                             import path
"""
import hashlib
import importlib
import json
import sys
import warnings

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten

# They have no work of their own, and versions of a library differ in how they write the same views.
# Another view that matters shows in the shapes of what follows.
SILENT = tuple(
    f"aten.{name}."
    for name in "detach alias view _unsafe_view t slice split split_with_sizes select unbind permute transpose expand squeeze unsqueeze".split()
)


class Record(TorchDispatchMode):
    """Of what depends on `tensors`, which are the input and the weights: constants are computed
    while a model is read."""

    def __init__(self, tensors):
        super().__init__()
        self.calls = []
        self.depends = {id(t): t for t in tensors}  # held, so that no other tensor gets its id

    def __torch_dispatch__(self, function, types, arguments=(), named=None):
        result = function(*arguments, **(named or {}))
        flat = tree_flatten((arguments, named or {}))[0]
        if not any(id(t) in self.depends for t in flat):
            return result
        self.depends.update((id(t), t) for t in tree_flatten(result)[0] if isinstance(t, torch.Tensor))
        if not str(function).startswith(SILENT):
            shapes = [list(t.shape) if isinstance(t, torch.Tensor) else repr(t) for t in tree_flatten(arguments)[0]]
            self.calls.append((str(function), shapes))
        return result


def main():
    folder, module, *questions = sys.argv[1:]
    sys.path.insert(0, folder)
    warnings.simplefilter("ignore")
    torch.set_grad_enabled(False)
    for question in questions:
        entry, sizes = question.rsplit("=", 1)
        try:
            names = vars(importlib.import_module(module))
            model = eval(entry, dict(names)).eval()  # an entry of our own list
            image = torch.zeros([int(size) for size in sizes.split("x")])
            record = Record([image, *model.parameters(), *model.buffers()])
            with record:
                model(image)
            answer = hashlib.sha256(json.dumps(record.calls).encode()).hexdigest()[:16]
        except Exception as error:  # whatever the library raises
            answer = f"cannot: {type(error).__name__}: {error}".replace("\n", " ")[:150]
        print(f"{question}\t{answer}", flush=True)


main()
