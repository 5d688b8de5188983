#!/usr/bin/python3
"""Every public name of every PyTorch module that a model file might import can be imported; what
PyTorch 1.13 lacks cannot, where a program asks."""
import importlib
import json
import os
import re
import subprocess
import sys
import tempfile

os.environ.setdefault("OMP_NUM_THREADS", "1")
BIN = os.environ.get("COBRA_BIN", "build/release/bin")
MODULES = """torch.nn torch.nn.functional torch.nn.init torch.nn.parameter torch.nn.utils torch.nn.utils.rnn torch.nn.utils.parametrize torch.nn.utils.prune
torch.nn.utils.parametrizations torch.nn.utils.fusion torch.nn.utils.stateless torch.nn.parallel torch.nn.parallel.distributed torch.nn.modules
torch.nn.modules.utils torch.nn.modules.module torch.nn.modules.conv torch.nn.modules.batchnorm torch.nn.modules.linear torch.nn.modules.activation
torch.nn.modules.transformer torch.nn.modules.normalization torch.nn.modules.pooling torch.nn.modules.rnn torch.nn.modules.container torch.nn.modules.loss
torch.nn.intrinsic torch.nn.quantized torch.nn.qat torch.nn.grad torch.nn.common_types torch.jit torch.jit.annotations torch.utils torch.utils.checkpoint
torch.utils.data torch.utils.data.dataset torch.utils.data.dataloader torch.utils.data.distributed torch.utils.data.sampler torch.utils.model_zoo
torch.utils.cpp_extension torch.utils._pytree torch.utils.dlpack torch.utils.mobile_optimizer torch.hub torch.version torch.ao.quantization torch.quantization
torch._six torch._C torch._utils torch._jit_internal torch.testing torch.optim torch.optim.lr_scheduler torch.optim.optimizer torch.optim.swa_utils torch.optim.adam
torch.onnx torch.onnx.symbolic_helper torch.multiprocessing torch.profiler torch.autograd torch.autograd.function torch.autograd.profiler torch.autograd.functional
torch.autograd.variable torch.autograd.grad_mode torch.amp torch.amp.autocast_mode torch.cuda torch.cuda.amp torch.cuda.amp.autocast_mode torch.cuda.nvtx
torch.cpu.amp torch.distributed torch.distributed.nn torch.distributed.distributed_c10d torch.distributed.optim torch.backends torch.backends.cuda
torch.backends.mkldnn torch.backends.mps torch.fx torch.fx.node torch.fx.graph torch.fx.graph_module torch.fx.proxy torch.distributions torch.special torch.sparse
torch.overrides torch.library torch.random torch.serialization torch.storage torch.types torch.package torch.futures torch.linalg torch.fft torch.func""".split()
LATER = """torch._dynamo torch.compiler torch.nn.attention torch.nn.attention.flex_attention torch.distributed.tensor torch.export torch.nn.buffer
torch.utils.flop_counter""".split()
MODEL = """
import torch
class Net(torch.nn.Module):
    def forward(self, x):
        return x + 1
"""


def read(source, entry="Net()"):
    with tempfile.TemporaryDirectory() as folder:
        path = folder + "/model.py"
        open(path, "w").write(source)
        return json.loads(
            subprocess.run([BIN + "/read_model", path, entry, "1x3"], capture_output=True, text=True).stdout
        )


def importable(statements):
    """The statements that fail, found one by one."""
    failed = []
    while True:
        graph = read("\n".join(s for s in statements if s not in failed) + MODEL)
        if "error" not in graph:
            return failed
        line = re.search(r"(?m)^model.py:(\d+):", graph["error"])
        if not line:
            return failed + [graph["error"]]
        failed.append([s for s in statements if s not in failed][int(line.group(1)) - 1])


def main():
    try:
        import torch
    except ImportError:
        print("python3-torch is not installed")
        return 77
    statements = []
    for module in MODULES:
        try:
            names = [n for n in dir(importlib.import_module(module)) if not n.startswith("_") and n.isidentifier()]
        except ImportError:
            continue
        statements.append("import %s" % module)
        statements += ["from %s import %s" % (module, name) for name in names if name not in ("builtins",)]
    failed = importable(statements)
    for module in LATER:
        guarded = (
            "try:\n    import %s\n    there = True\nexcept ImportError:\n    there = False\nassert not there\n" % module
        )
        if "error" in read(guarded + MODEL):
            failed.append("%s is there under try" % module)
    for line in failed:
        print("FAILS", line)
    print("%d imports, %d fail" % (len(statements), len(failed)))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
