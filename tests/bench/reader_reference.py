"""The other side of `cobra-bench reader`: PyTorch builds the model, traces it with torch.fx and
propagates shapes. With the PyTorch of `scripts/setup.sh --pypi`: a model of timm and one of
transformers, whose code torch.fx cannot trace; torch.export can, and gives shapes.

--warm REPEATS: one process, libraries imported, each model REPEATS times; prints {"model":
{"wall_ms", "cpu_ms"}} (medians).
--cold MODEL:   does it once and ends; the caller times the process, imports included.
"""
import dis
import inspect
import json
import os
import sys
import time

import torch
import torch.fx
from torch.fx.passes.shape_prop import ShapeProp

IS_PYPI = torch.__version__ >= "2"
MODELS = ("timm", "transformers") if IS_PYPI else ("resnet50", "efficientnet_b0", "vit_b_16", "densenet201")


def unpack(self):
    # torch 1.13's fx reads from the caller's bytecode how many values an unpacking wants, and
    # counts instructions as if each took two bytes, which on Python 3.11 they do not: the same,
    # found by its offset.
    frame = inspect.currentframe().f_back
    for instruction in dis.get_instructions(frame.f_code):
        if instruction.offset == frame.f_lasti and instruction.opname == "UNPACK_SEQUENCE":
            return (self[i] for i in range(instruction.argval))
    return self.tracer.iter(self)


def exported(name):
    sys.path.append(os.path.join(os.path.dirname(__file__), "../frontend/python/libraries"))
    import torchvision_operators  # noqa: F401  that torchvision's Python can be imported

    with torch.no_grad():
        if name == "timm":
            import timm

            model, inputs = timm.create_model("resnet50").eval(), (torch.zeros(1, 3, 224, 224),)
        else:
            from transformers import BertConfig, BertModel

            model, inputs = BertModel(BertConfig()).eval(), (torch.zeros(1, 128, dtype=torch.int64),)
        return torch.export.export(model, inputs, strict=False)


def once(name):
    if IS_PYPI:
        return exported(name)
    import torchvision

    torch.fx.Proxy.__iter__ = unpack
    with torch.no_grad():
        model = getattr(torchvision.models, name)().eval()
        traced = torch.fx.symbolic_trace(model)
        ShapeProp(traced).propagate(torch.zeros(1, 3, 224, 224))
    return traced


def main():
    torch.set_num_threads(1)
    if sys.argv[1] == "--cold":
        once(sys.argv[2])
        return
    result = {}
    for name in MODELS:
        walls, cpus = [], []
        once(name)
        for _ in range(int(sys.argv[2])):
            wall, cpu = time.perf_counter(), time.process_time()
            once(name)
            walls.append(time.perf_counter() - wall)
            cpus.append(time.process_time() - cpu)
        middle = len(walls) // 2
        result[name] = {"wall_ms": sorted(walls)[middle] * 1e3, "cpu_ms": sorted(cpus)[middle] * 1e3}
    print(json.dumps(result))


main()
