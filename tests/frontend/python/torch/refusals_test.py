#!/usr/bin/env python3
"""What the reader refuses although PyTorch runs it, and what is too large for it: the error says
so. It neither blames the model nor gives another network."""
import json
import os
import subprocess
import sys
import tempfile

BIN = os.environ.get("COBRA_BIN", "build/release/bin")
HEAD = """import torch
from torch import nn
import torch.nn.functional as F

class Sub(torch.Tensor):
    pass

class Other(torch.Tensor):
    pass

class Below(torch.Tensor):
    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))

def entered(make):
    with torch.overrides.TorchFunctionMode():
        return make()
"""
# What forward(x) returns, of a tensor of four elements: a part of the error.
REFUSED = {
    "torch.cartesian_prod(*[x] * 40)": "the result of cartesian_prod: more than the limit of 1,099,511,627,776 elements",
    "torch.eye(2**33)": "torch.eye makes a tensor of 8589934592x8589934592:float32: more than the limit of 1 TiB",
    "torch.arange(2**50)": "torch.arange: more than the limit of 1,000,000,000,000 elements",
    "F.one_hot(x.long(), 2**50)": "the result of one_hot: more than the limit of",
    "F.one_hot(x.long(), 2**38)": "one_hot makes a tensor of 4x274877906944:int64: more than the limit of 1 TiB",
    "torch.fft.fft(x, 2**50)": "the result of fft_fft: more than the limit of",
    "F.interpolate(x[None, None], scale_factor=1e12)": "the result of interpolate: more than the limit of",
    "F.interpolate(x[None, None], scale_factor=1e20)": "interpolate by 1e+20: more than the limit of",
    "x.repeat(2**50)": "the result of repeat: more than the limit of",
    "x.repeat(2**62)": "the result of repeat: more than the limit of",
    "x.repeat_interleave(2**50)": "the result of repeat_interleave: more than the limit of",
    "x[1:].storage_offset()": "Tensor.storage_offset() of a view is not supported",
    "x.to_sparse() + x": "computing with a sparse tensor is not supported",
    "torch.add(x, x.to_sparse())": "computing with a sparse tensor is not supported",
    "x[x > 0]": "indexing by a mask depends on tensor values",
    "F.relu(x[x > 0])": "indexing by a mask depends on tensor values",
    "torch.cat([x[x > 0], x])": "indexing by a mask depends on tensor values",
    "len(x[x > 0])": "indexing by a mask depends on tensor values",
    "torch.arange(4, out=x)": "out= of a function that makes a tensor is not supported",
    "x.grad_dtype": "Tensor.grad_dtype is not supported",
    "torch.nonzero_static(x, size=2)": "calling torch.nonzero_static() is not supported",
    "torch.ones(2, dtype=torch.uint3)": "is not supported",
    "torch.autograd.grad(x.sum(), x)": "torch.autograd.grad() is not supported",
    "nn.LinearCrossEntropyLoss(3, 4)(x)": "calling torch.nn.LinearCrossEntropyLoss() is not supported",
    "F.scaled_mm(x, x)": "calling torch.nn.functional.scaled_mm() is not supported",
    "torch.ao.quantization.quantize_dynamic(nn.Linear(4, 4), {nn.Linear})(x)": "quantizing a network is not supported",
    # Tensors of a class of the program.
    "torch.Tensor._make_wrapper_subclass(Sub, (4,))": "calling torch.Tensor._make_wrapper_subclass() is not supported",
    "x.as_subclass(Below)": "__torch_dispatch__() of the class Below is not supported",
    "Below(4)": "__torch_dispatch__() of the class Below is not supported",
    "nn.Parameter(Sub(4))": "nn.Parameter of a tensor of class Sub is not supported",
    "nn.init.xavier_normal_(Sub(4, 4))": "torch.nn.init.xavier_normal_() with tensors of class Sub is not supported",
    "torch.tensor([Sub(1), Sub(1)])": "torch.tensor() with tensors of class Sub is not supported",
    "nn.utils.rnn.pad_sequence([x.as_subclass(Sub)])": "torch._pad_sequence() with tensors of class Sub is not supported",
    "F.embedding_bag(torch.ones(1, 4).long(), torch.ones(4, 4), max_norm=Sub(1))": "in that place with tensors of class",
    "torch.add(input=x.as_subclass(Sub), other=x.as_subclass(Other))": "torch.add() by name with tensors of class",
    "entered(lambda: nn.Linear(4, 4))(x)": "making a layer of torch.nn while a TorchFunctionMode is on is not supported",
    "torch.utils.cpp_extension.load('x', ['x.cpp']).run(x)": "calling torch.utils.cpp_extension.load().run() is not",
    # Integers that a double does not hold.
    "x * torch.tensor(2**60 + 1).item()": "a constant whose values are not computed here",
    "x * (torch.tensor(2**53) + 1).item()": "a constant whose values are not computed here",
    "x[: int(torch.full((3,), 2**60 + 1)[0] % 7)]": "a constant whose values are not computed here",
    "torch.ops.others.run(x)": "torch.ops.others.run is not supported",
}


def main():
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        path = folder + "/model.py"
        with open(path, "w") as file:
            file.write(HEAD)
            file.writelines(f"def f{i}(x):\n    return {text}\n" for i, text in enumerate(REFUSED))
        requests = [json.dumps({"file": path, "entry": f"f{i}", "inputs": ["4"]}) for i in range(len(REFUSED))]
        done = subprocess.run(
            [BIN + "/read_model", "--batch", "--torch-version", "2.13.0"],
            input="".join(request + "\n" for request in requests),
            capture_output=True,
            text=True,
        )
    for (text, expected), line in zip(REFUSED.items(), done.stdout.splitlines()):
        error = json.loads(line).get("error", "no error")
        if expected not in error or "PyTorch raises this too" in error:
            wrong += 1
            print(f"{text}: {error}")
    answered = len(done.stdout.splitlines())
    print(f"{answered} of {len(REFUSED)} answered, {wrong} wrong")
    return 1 if wrong or answered != len(REFUSED) else 0


if __name__ == "__main__":
    sys.exit(main())
