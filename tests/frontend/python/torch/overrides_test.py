#!/usr/bin/python3
"""Programs that put something of their own where a layer of torch.nn has code in C++ (layers.h):
each case gives the same text in PyTorch and in our reader. Exits 77 without python3-torch."""
import json
import os
import subprocess
import sys
import tempfile
import warnings

warnings.simplefilter("ignore")
os.environ.setdefault("OMP_NUM_THREADS", "1")
BIN = os.environ.get("COBRA_BIN", "build/release/bin")
CASES = r"""
import inspect
import torch
import torch.nn as nn
import torch.nn.functional as F

def described(m):
    own = {k: v for k, v in m.__dict__.items() if not k.startswith('_') and k != 'training'}
    shapes = [(n, tuple(p.shape)) for n, p in m.named_parameters()] + [(n, tuple(b.shape)) for n, b in m.named_buffers()]
    return repr((type(m).__name__, own, shapes, sorted(m._parameters.keys() - dict(m.named_parameters()).keys())))

def signatures():
    return [[(p.name, p.default is not p.empty and p.default, str(p.kind)) for p in inspect.signature(c).parameters.values()] for c in (nn.ReLU, nn.Dropout, nn.MaxPool2d, nn.GELU)] + [
        list(inspect.signature(nn.Linear.forward).parameters), list(inspect.signature(nn.Conv2d).parameters), nn.Linear.__init__.__defaults__]

def errors():
    found = []
    for make in (lambda: nn.Linear(3), lambda: nn.Linear(3, 4, True, None, None, 5), lambda: nn.Linear(3, 4, biass=True), lambda: nn.Conv2d(3, 4),
                 lambda: nn.Linear(3, 4, in_features=2), lambda: nn.ReLU(True, False), lambda: nn.Dropout(1.5), lambda: nn.GroupNorm(3, 8),
                 lambda: nn.Conv2d(3, 8, 1, groups=2), lambda: nn.Conv2d(4, 8, 1, groups=3), 
                 lambda: nn.Conv2d(4, 8, 3, 2, padding='same'), lambda: nn.Hardtanh(2., 1.),
                 lambda: nn.Sequential(nn.ReLU(), 3), lambda: nn.ModuleList([nn.ReLU(), 3]),
                 lambda: nn.BatchNorm2d(3)(torch.ones(3)), lambda: nn.Linear(2, 2)(torch.ones(3)), lambda: nn.Sequential(nn.ReLU())[1],
                 lambda: nn.ModuleList([nn.ReLU()])[-2], lambda: nn.Module().add_module('a.b', nn.ReLU()), lambda: nn.Module().add_module('training', nn.ReLU()),
                 lambda: nn.Module().add_module('', nn.ReLU()), lambda: nn.Module().train(1), lambda: nn.init.kaiming_normal_(torch.ones(3)), lambda: nn.ReLU(inplace=True, x=1)):
        try:
            make()
            found.append('fine')
        except Exception as e:
            found.append((type(e).__name__, str(e).split('\n')[0]))
    return found

def resets():
    seen = []
    class Mine(nn.Conv2d):
        def reset_parameters(self):
            seen.append(('conv', tuple(self.weight.shape), self.stride, self.bias is None))
    class Line(nn.Linear):
        def reset_parameters(self):
            seen.append(('linear', self.in_features))
            nn.init.constant_(self.weight, 2.)
    class Norm(nn.BatchNorm2d):
        def reset_parameters(self):
            seen.append(('norm', self.eps))
    Mine(4, 6, 3, 2, bias=False), Norm(5, eps=.1)
    return seen + [Line(2, 3).weight.sum().item()]

def attributes_before():
    class Early(nn.Linear):
        def __init__(self, n):
            self.__dict__['first'] = n
            super().__init__(n, n + 1, bias=False)
            self.last = 3
    e = Early(4)
    return list(k for k in e.__dict__ if not k.startswith('_')), e.weight.shape == (5, 4)

def setattr_of_its_own():
    seen = []
    class Watched(nn.Linear):
        def __setattr__(self, name, value):
            seen.append(name)
            super().__setattr__(name, value)
    w = Watched(2, 3)
    return [n for n in seen if not n.startswith('_') and n not in ('training', 'device', 'dtype')], tuple(w.weight.shape)

def properties():
    class Half(nn.Linear):
        @property
        def in_features(self):
            return self._in // 2
        @in_features.setter
        def in_features(self, value):
            self._in = value
    h = Half(4, 3)
    return h.in_features, h._in, 'in_features' in h.__dict__

def registered_otherwise():
    seen = []
    class Norm(nn.BatchNorm1d):
        def register_buffer(self, name, tensor, persistent=True):
            seen.append(name)
            super().register_buffer(name, tensor, persistent)
    n = Norm(3)
    return seen, list(n._buffers)

def several_bases():
    order = []
    class Mixin(nn.Module):
        def __init__(self):
            order.append('mixin')
            super().__init__()
            self.mixed = 1
    class Both(nn.Linear, Mixin):
        def __init__(self):
            super().__init__(2, 3)
    class Conv(nn.Conv2d, Mixin):
        def __init__(self):
            super().__init__(2, 3, 1)
    class Row(nn.Sequential, Mixin):
        pass
    b, c, r = Both(), Conv(), Row(nn.ReLU())
    return order, b.mixed, c.mixed, r.mixed, tuple(c.weight.shape), len(r)

def modules_as_arguments():
    inner = nn.Linear(2, 2)
    d = nn.Threshold(0.1, inner)
    p = nn.Parameter(torch.ones(2))
    e = nn.LeakyReLU(p)
    return list(d._modules), 'value' in d.__dict__, list(e._parameters)

def patched_functions():
    kept, seen = F.relu, []
    def relu(x, inplace=False):
        seen.append(inplace)
        return kept(x)
    F.relu = relu
    try:
        nn.ReLU(inplace=True)(torch.ones(2))
    finally:
        F.relu = kept
    nn.ReLU()(torch.ones(2))
    return seen

def methods_of_their_own():
    seen = []
    class Padded(nn.Conv2d):
        def _conv_forward(self, input, weight, bias):
            seen.append(tuple(weight.shape))
            return super()._conv_forward(input, weight * 2, bias)
    class Any(nn.BatchNorm2d):
        def _check_input_dim(self, input):
            seen.append(input.dim())
    out = Padded(2, 3, 1)(torch.ones(1, 2, 4, 4))
    Any(3).eval()(torch.ones(2, 3))
    c = nn.Conv2d(2, 3, 1)
    c._conv_forward = lambda input, weight, bias: 'taken'
    s = nn.ReLU()
    s.forward = lambda x: 'forwarded'
    return seen, tuple(out.shape), c(torch.ones(1, 2, 4, 4)), s(1)

def attributes_elsewhere():
    n = nn.LayerNorm(4)
    a = tuple(n(torch.ones(2, 4)).shape)
    del n.weight
    n.__dict__['weight'] = None
    b = tuple(n(torch.ones(2, 4)).shape)
    m = nn.Linear(3, 2)
    w = m.weight
    del m._parameters['weight']
    m.weight = torch.ones(5, 3)
    c = tuple(m(torch.ones(1, 3)).shape) if False else tuple(F.linear(torch.ones(1, 3), m.weight).shape)
    k = nn.Linear(3, 2)
    k.__dict__['weight'] = torch.ones(7, 3)
    k.bias = None
    class Fixed(nn.Linear):
        def __getattr__(self, name):
            return torch.ones(6, 3) if name == 'weight' and 'made' in self.__dict__ else super().__getattr__(name)
    f = Fixed(3, 2, bias=False)
    f.made = True
    return a, b, c, tuple(k(torch.ones(1, 3)).shape), tuple(f(torch.ones(1, 3)).shape)

def modes():
    seen = []
    class Loud(nn.ReLU):
        def train(self, mode=True):
            seen.append(mode)
            return super().train(mode)
    shared = Loud()
    s = nn.Sequential(shared, nn.Sequential(shared), shared, nn.Dropout())
    s.eval()
    return seen, [m.training for m in s.modules()], s.train() is s

def containers():
    s = nn.Sequential(nn.ReLU(), nn.Tanh(), nn.Sequential())
    class Twice(nn.Sequential):
        def __iter__(self):
            return iter(list(super().__iter__()) * 2)
        def __len__(self):
            return 7
    class Named(nn.Sequential):
        def add_module(self, name, module):
            super().add_module('n' + name, module)
    t = Twice(nn.Linear(2, 2, bias=False))
    del s[1]
    l = nn.ModuleList([nn.ReLU()])
    l.extend(iter([nn.Tanh()]))
    l += (nn.GELU(),)
    l.insert(1, nn.SiLU())
    class Shifted(nn.ModuleList):
        def __len__(self):
            return super().__len__() + 10
    k = Shifted([nn.ReLU()])
    return list(s._modules), s[-1], len(t), len(list(t)), list(Named(nn.ReLU())._modules), [type(m).__name__ for m in l], l[-1], list(k._modules)

class Two(int):
    pass

def odd_convolutions():
    return [described(nn.Conv2d(2, 4, [3, 3], stride=(1, 2), padding=[1, 0])), described(nn.Conv1d(2, 4, Two(3), bias=0)), described(nn.Conv2d(0, 0, 1)),
            described(nn.ConvTranspose2d(2, 4, 3, 2, output_padding=1, groups=2)), described(nn.Conv2d(2, 2, 3, padding='same'))]

def odd_norms():
    return [described(nn.LayerNorm([2, 3])), described(nn.LayerNorm(torch.Size([2, 3]), elementwise_affine=False)), described(nn.LayerNorm(Two(3))),
            described(nn.BatchNorm2d(3, affine=False)), described(nn.BatchNorm2d(3, track_running_stats=False))]

def odd_others():
    wide = nn.Linear(2, 2, dtype=torch.float64)
    return [described(nn.AvgPool1d([3])), described(nn.Linear(True, 2)), described(nn.MaxPool2d(3, None)), described(nn.Identity(1, a=2)), described(wide)], wide.weight.dtype

def walks():
    a = nn.ReLU()
    s = nn.Sequential(a, nn.Sequential(a, nn.Tanh()))
    memo = set()
    first = [n for n, m in s.named_modules(memo)]
    class Same(nn.ReLU):
        def __eq__(self, other):
            return isinstance(other, Same)
        def __hash__(self):
            return 1
    return first, len(memo), [n for n, m in s.named_modules(memo)], [n for n, _ in s.named_modules(remove_duplicate=False)], len(list(nn.Sequential(Same(), Same(), a).modules()))

def deep():
    found = []
    for levels in (150, 3000):
        m = nn.ReLU()
        for _ in range(levels):
            m = nn.Sequential(m)
        for use in (lambda: m.eval(), lambda: m(torch.ones(2))):
            try:
                use()
                found.append('fine')
            except RecursionError as e:
                found.append(type(e).__name__)
    return found

CASES = [signatures, errors, resets, attributes_before, setattr_of_its_own, properties, registered_otherwise, several_bases, modules_as_arguments, patched_functions,
         methods_of_their_own, attributes_elsewhere, modes, containers, odd_convolutions, odd_norms, odd_others, walks, deep]
"""
READER = (
    CASES
    + r"""
class Net(nn.Module):
    def __init__(self, case):
        super().__init__()
        raise LookupError(repr(CASES[case]()))
"""
)


def main():
    try:
        import torch  # noqa: F401
    except ImportError:
        print("python3-torch is not installed")
        return 77
    space = {}
    exec(CASES, space)
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        path = folder + "/model.py"
        open(path, "w").write(READER)
        for i, case in enumerate(space["CASES"]):
            theirs = repr(case())
            error = json.loads(
                subprocess.run([BIN + "/read_model", path, "Net(%d)" % i, "1x3"], capture_output=True, text=True).stdout
            )["error"]
            ours = (
                error[error.find("LookupError: ") + len("LookupError: ") :].split("\nhint:")[0].split("\nin module")[0]
            )
            if ours != theirs:
                failed += 1
                print("%s\n  PyTorch: %s\n  ours:    %s" % (case.__name__, theirs, ours))
    print("%d of %d cases differ" % (failed, len(space["CASES"])))
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
