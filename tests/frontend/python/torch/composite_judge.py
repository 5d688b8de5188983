"""What real PyTorch makes of expressions: reads one a line and answers one line of JSON each, for
composites_test.py, which starts this with the Python that has the PyTorch in question. Exits 77
without torch."""
import json
import math
import os
import resource
import signal
import sys
import warnings

os.environ.setdefault("OMP_NUM_THREADS", "1")
try:
    import torch
    import torch.nn as nn
    import torch.nn.functional as F
except ImportError:
    sys.exit(77)
warnings.simplefilter("ignore")
MOST_VALUES = 400
SECONDS = 20  # then the call counts as one that PyTorch does not survive
MEMORY = 6 << 30


class Indices:
    """I[1:, None] is the index itself, for x.__setitem__(I[1:, None], 0)."""

    def __getitem__(self, index):
        return index


def T(shape, dtype, values=None):
    dtype = getattr(torch, dtype)
    if values == "pos":
        return (torch.rand(shape) * 0.9 + 0.05).to(dtype)
    if isinstance(values, int):
        return torch.randint(0, max(values, 1), shape).to(dtype)
    if dtype.is_floating_point or dtype.is_complex:
        return torch.randn(shape).to(dtype)
    return torch.randint(0, 2 if dtype == torch.bool else 3, shape).to(dtype)


def C(data, dtype):
    return torch.tensor(data, dtype=getattr(torch, dtype))


def number(v):
    return v if math.isfinite(v) else "nan" if math.isnan(v) else "inf" if v > 0 else "-inf"


def described(value):
    if isinstance(value, torch.Tensor):
        out = {"type": ("x".join(map(str, value.shape)) or "scalar") + ":" + str(value.dtype)[6:]}
        if value.numel() <= MOST_VALUES and value.layout == torch.strided:
            value = value.detach()
            value = torch.view_as_real(value.resolve_conj().to(torch.complex128)) if value.is_complex() else value
            out["values"] = [number(float(v)) for v in value.reshape(-1).tolist()]
        return out
    if isinstance(value, (tuple, list)) and not isinstance(value, torch.Size):
        return [described(v) for v in value]
    return repr(value)


def answer(line):
    try:
        with torch.no_grad():
            names = {"torch": torch, "nn": nn, "F": F, "T": T, "C": C, "I": Indices()}
            return {"out": described(eval(line, names))}
    except Exception as e:
        return {"error": "%s: %s" % (type(e).__name__, str(e)[:600])}


def main():
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    torch.set_num_threads(1)
    torch.manual_seed(1)
    print(json.dumps({"version": torch.__version__}), flush=True)
    for line in sys.stdin:
        signal.alarm(SECONDS)
        print(json.dumps(answer(line.strip())), flush=True)
        signal.alarm(0)


if __name__ == "__main__":
    main()
