#!/usr/bin/env python3
"""What looks at the values of tensors and only guards or shows: an assertion, `if ...: raise`, a
print. And what has a tensor of unknown size that no call of the graph ever sees: y[mask] = x[mask],
a sparse buffer. Each function is read, and gives the shapes that PyTorch gives; what does more with
the values is refused as before."""
import json
import os
import subprocess
import sys
import tempfile

BIN = os.environ.get("COBRA_BIN", "build/release/bin")
SOURCE = """
import logging
import random
import torch
from torch import nn
log = logging.getLogger(__name__)

def assertion(x):
    y = x + 1
    assert (y > x).all() and y.min() > 0, "small"
    assert not torch.isnan(y).any()
    return y * 2

def raising(x):
    if x.max() > 9 or torch.isnan(x).any():
        raise ValueError("large")
    return x.relu()

def printing(x):
    print("mean", x.mean().item())
    return x.relu()

def logging_it(x):
    log.info(f"mean {x.mean().item():.3f}")
    return x.relu()

def masked_copy(x):
    first = x[:, :1].repeat(1, x.shape[1])
    m = x > 0.5
    x = x.clone()
    x[m] = first[m]
    return x

def masked_rows(x):
    m = x[:, 0] > 0
    x = x + 0.5
    x[m] = 0.0
    x[m] += torch.ones(1, x.shape[1])
    x[m] = x[m] * 2 - x[m]
    return x

def mask_computed_twice(x):
    y = x.clone()
    y[(x > 0) & ~torch.isnan(x)] = y[(x > 0) & ~torch.isnan(x)] * 2
    return y

class Sparse(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("heads", torch.eye(4).to_sparse(), persistent=False)

    def forward(self, x):
        return x @ self.heads.to_dense()

def caught(x):
    try:
        assert x.sum() > 0
    except AssertionError:
        return x[:1]
    return x

def known(x):
    assert x.shape[0] == 3, "three rows"
    return x

def branching(x):
    if x.sum() > 0:
        x = x + 1
    return x

def raising_and_more(x):
    if x.sum() > 0:
        x = x + 1
        raise ValueError(x)
    return x

def other_mask(x):
    y = x.clone()
    y[x > 0] = x[x > 1]
    return y

def mask_changed_between(x):
    y = x.clone()
    rows = y[0]
    chosen = x[y > 0]
    rows += 1
    y[y > 0] = chosen
    return y

def random_masks(x):
    y = x.clone()
    y[torch.rand_like(x) > 0.5] = x[torch.rand_like(x) > 0.5]
    return y

def counted(x):
    return x[x > 0].sum()

def size(x):
    return torch.zeros(x[x > 0].shape[0])

class UsedSparse(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("heads", torch.eye(4).to_sparse())

    def forward(self, x):
        return torch.sparse.mm(self.heads, x)

class Drawn(nn.Module):
    def __init__(self, asked=False):
        super().__init__()
        first = torch.zeros(4, 3)
        first[random.randrange(4), :] = 1.0
        first[1, random.randrange(9) % 3] = 2.0
        if asked:
            assert first[0, 0].item() < 2
        self.first = nn.Parameter(first)

    def forward(self, x):
        return x @ self.first

def drawn_row(x):
    return x[random.randrange(4)]

def drawn_addend(x):
    return random.randrange(4) + x

def drawn_factor(x):
    return x * random.random()
"""
# The calls of the graph; None: any. Their results are compared with PyTorch's in
# expressions_test.py.
READ = {
    "assertion": ["add", "gt", "all", "min", "gt", "isnan", "any", "mul"],
    "raising": ["max", "gt", "isnan", "any", "relu"],
    "printing": ["mean", "relu"],
    "logging_it": ["mean", "relu"],
    "masked_copy": None,
    "masked_rows": None,
    "mask_computed_twice": None,
    "Sparse()": ["matmul"],
    "Drawn()": ["matmul"],
}
REFUSED = {
    "caught": "depends on tensor values",
    "known": "AssertionError: three rows",
    "branching": "depends on tensor values",
    "raising_and_more": "depends on tensor values",
    "other_mask": "indexing by a mask depends on tensor values",
    "mask_changed_between": "indexing by a mask depends on tensor values",
    "random_masks": "indexing by a mask depends on tensor values",
    "counted": "indexing by a mask depends on tensor values",
    "size": "indexing by a mask depends on tensor values",
    "UsedSparse()": "is not supported",
    "Drawn(asked=True)": "",
    "drawn_row": "without random.seed() is not supported",
    "drawn_addend": "without random.seed() is not supported",
    "drawn_factor": "without random.seed() is not supported",
}


def main():
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        path = folder + "/model.py"
        with open(path, "w") as file:
            file.write(SOURCE)
        entries = list(READ) + list(REFUSED)
        requests = [json.dumps({"file": path, "entry": entry, "inputs": ["4x4"]}) for entry in entries]
        done = subprocess.run(
            [BIN + "/read_model", "--batch"],
            input="".join(request + "\n" for request in requests),
            capture_output=True,
            text=True,
        )
    answers = dict(zip(entries, map(json.loads, done.stdout.splitlines())))
    for entry, calls in READ.items():
        answer = answers.get(entry, {})
        made = [op["op"] for op in answer.get("ops", ())]
        if "error" in answer or (calls is not None and made != calls) or not made:
            wrong.append(f"{entry}: {made} {answer.get('error')}")
    for entry, text in REFUSED.items():
        error = answers.get(entry, {}).get("error", "")
        if text not in error:
            wrong.append(f"{entry}: {error or 'read'}")
    print(f"{len(answers)} of {len(entries)} answered, {len(wrong)} wrong")
    print("\n".join(wrong))
    return 1 if wrong or len(answers) != len(entries) else 0


if __name__ == "__main__":
    sys.exit(main())
