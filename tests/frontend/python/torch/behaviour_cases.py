"""The programs of behaviour_test.py. A case is a list of functions; its outcomes are what they
give, as text, or the class of the exception that they raise, as a program with try and except sees
it."""
import collections

import torch
import torch.nn as nn
from torch.utils.data import default_collate

LATER = int(torch.__version__.split(".")[0]) >= 2


def outcomes(parts):
    found = []
    for part in parts:
        try:
            value = part()
            found.append(repr(tuple(value.shape) if isinstance(value, torch.Tensor) else value))
        except Exception as e:
            found.append(type(e).__name__)
    return found


def show(case, first, last):
    raise LookupError(repr(outcomes(case()[first:last])))


def sizes(values):
    return [(k, tuple(v.shape) if hasattr(v, "shape") else v) for k, v in values.items()]


def types(modules):
    return [(k, type(v).__name__) for k, v in modules._modules.items()]


def case_parameter_dictionaries():
    p = nn.ParameterDict({"b": torch.ones(1), "a": torch.ones(2)})
    q = nn.ParameterDict([("z", torch.ones(1)), ("y", torch.ones(2))])

    def updated(d, other):
        d.update(other)
        return sizes(d)

    return [
        lambda: sizes(p),
        lambda: sizes(q),
        lambda: sizes(nn.ParameterDict(collections.OrderedDict(z=torch.ones(1), a=torch.ones(1)))),
        lambda: sizes(nn.ParameterDict(q)),
        lambda: updated(p, {"d": torch.ones(4), "c": torch.ones(3)}),
        lambda: updated(p, collections.OrderedDict([("f", torch.ones(4)), ("e", torch.ones(3))])),
        lambda: (tuple(p.pop("b").shape), sizes(p)),
        lambda: (p.popitem()[0], p.popitem()[0], sizes(p)),
        lambda: (p.setdefault("n", torch.ones(5)).shape, p.get("zz"), p.get("zz", 3), sizes(p)),
        lambda: sizes(p.copy()),
        lambda: (sizes(p | q), sizes(q | p)),
        lambda: sizes(nn.ParameterDict({"m": 3, "l": torch.ones(1), "k": None})),
        lambda: list(reversed(q)),
        lambda: nn.ParameterDict({"a.b": torch.ones(1)}),
        lambda: nn.ParameterDict({"": torch.ones(1)}),
        lambda: nn.ParameterDict({1: torch.ones(1)}),
        lambda: p[0],
        lambda: nn.ParameterDict({"a": 1, 2: 3}),
        lambda: updated(p, 3),
        lambda: updated(p, [3]),
        lambda: updated(p, ["abc"]),
        lambda: sizes(nn.ParameterDict().fromkeys(["k", "j"], torch.ones(1))),
        lambda: sizes(nn.ParameterDict(collections.Counter({"z": 1, "y": 2}))),
    ]


def case_parameter_lists():
    values = nn.ParameterList([torch.ones(1), torch.ones(2)])

    def assigned(i):
        values[i] = torch.ones(4)
        return [tuple(v.shape) for v in values]

    return [
        lambda: nn.ParameterList(torch.ones(2, 3)),
        lambda: values.extend(torch.ones(2)),
        lambda: values.extend(3),
        lambda: assigned(-1),
        lambda: assigned(2),
        lambda: [tuple(v.shape) for v in values[::-1]],
        lambda: [tuple(v.shape) for v in nn.ParameterList(torch.ones(i) for i in range(3))],
    ]


def case_names_of_parameters():
    class Taken(nn.Module):
        scale = None

        @property
        def half(self):
            return 0.5

    def assigned(name, module=None):
        module = module or nn.Module()
        setattr(module, name, nn.Parameter(torch.ones(2)))
        return list(module._parameters)

    return [
        lambda: assigned("a"),
        lambda: assigned("a.b"),
        lambda: assigned(""),
        lambda: assigned("weight", nn.ReLU()),
    ] + [lambda name=name: assigned(name, Taken()) for name in ("scale", "half", "forward", "other")]


def case_inserting_modules():
    def four(kind=nn.Sequential):
        layers = [nn.Tanh(), nn.ReLU(), nn.ELU(), nn.GELU()]
        return kind(*layers) if kind is nn.Sequential else kind(layers)

    def inserted(modules, index, module=None):
        modules.insert(index, module or nn.SELU())
        return types(modules)

    def times(modules, n):
        modules *= n
        return types(modules)

    named = lambda: nn.Sequential(collections.OrderedDict([("a", nn.Tanh()), ("b", nn.ReLU())]))
    return (
        [lambda i=i: inserted(four(), i) for i in (0, 2, 4, 5, -1, -4, -5)]
        + [lambda i=i: inserted(four(nn.ModuleList), i) for i in (0, 2, 4, 9, -1)]
        + [lambda i=i: inserted(four()[1:], i) for i in (0, 1, 3)]
        + [lambda i=i: inserted(named(), i) for i in (0, 1, 2)]
        + [lambda: inserted(four()[2:], 2), lambda: inserted(four(), 1, 3)]
        + [lambda: times(four()[:2], 2), lambda: times(four()[2:], 2), lambda: times(four(), 0)]
    )


def case_module_dictionaries():
    d = nn.ModuleDict({"b": nn.Tanh(), "a": nn.ReLU()})

    def updated(other):
        d.update(other)
        return types(d)

    return [
        lambda: types(d),
        lambda: hasattr(d, "get"),
        lambda: d.get("a"),
        lambda: updated(nn.ModuleDict({"z": nn.ELU()})),
        lambda: updated([("y", nn.ELU()), ["x", nn.ELU()]]),
        lambda: updated(3),
        lambda: updated([3]),
        lambda: updated(["abc"]),
    ]


def case_names_that_some_versions_have():
    def caught():
        try:
            raise torch.cuda.OutOfMemoryError("x")
        except RuntimeError as e:
            return str(e)

    return [
        lambda: torch.newaxis is None,
        lambda: torch.rms_norm(torch.ones(2, 3), (3,)),
        lambda: torch.get_autocast_dtype("cpu"),
        lambda: issubclass(torch.OutOfMemoryError, RuntimeError),
        caught,
        lambda: nn.CircularPad1d(1)(torch.ones(1, 2, 3)),
        lambda: nn.CircularPad2d((1, 2, 0, 1))(torch.ones(1, 2, 3, 3)),
        lambda: repr(nn.CircularPad3d(1)),
        lambda: nn.LPPool3d(2, 2)(torch.ones(1, 2, 4, 4, 4)),
        lambda: hasattr(torch.ones(2), "to_sparse"),
        lambda: hasattr(torch.Tensor, "to_sparse"),
        lambda: hasattr(torch.Tensor, "untyped_storage"),
        lambda: hasattr(torch.ones(2), "nosuchmethod"),
        lambda: hasattr(nn.Module(), "set_submodule"),
        lambda: hasattr(torch, "uint3"),
        lambda: torch.ones(2).nosuchmethod(),
    ]


def case_norms_without_bias():
    def made(kind, *sizes, **options):
        module = kind(*sizes, **options)
        return sizes_of(module), repr(module)

    def sizes_of(module):
        return (
            [(n, tuple(p.shape)) for n, p in module.named_parameters()],
            module.bias is None,
            list(module._parameters),
        )

    x = torch.ones(2, 4, 5)
    return [
        lambda: made(nn.BatchNorm1d, 4),
        lambda: made(nn.BatchNorm2d, 4, bias=False),
        lambda: made(nn.BatchNorm2d, 4, affine=False, bias=False),
        lambda: made(nn.BatchNorm2d, 4, affine=False),
        lambda: made(nn.GroupNorm, 2, 4, bias=False),
        lambda: made(nn.GroupNorm, 2, 4),
        lambda: made(nn.InstanceNorm2d, 4, affine=True, bias=False),
        lambda: made(nn.InstanceNorm2d, 4),
        lambda: made(nn.SyncBatchNorm, 4, bias=False),
        lambda: made(nn.SyncBatchNorm.convert_sync_batchnorm, nn.BatchNorm2d(4, bias=False)),
        lambda: nn.LazyBatchNorm1d(bias=False).eval()(x),
        lambda: nn.LazyInstanceNorm1d(bias=False).eval()(x),
        lambda: nn.BatchNorm1d(4, bias=False).eval()(x),
        lambda: nn.GroupNorm(2, 4, bias=False)(x),
    ]


def case_conjugates():
    z = torch.ones(2, 3, dtype=torch.complex64)

    def same(a, b):
        return a is b, b.is_conj(), torch.is_conj(b)

    return [
        lambda: same(z, z.resolve_conj()),
        lambda: same(z.conj(), z.conj()),
        lambda: (lambda c: same(c, c.resolve_conj()))(z.conj()),
        lambda: same(z, z.conj().conj()),
        lambda: (lambda c: same(c, c.resolve_conj()))(z.conj()[0]),
        lambda: (lambda c: same(c, c.resolve_conj()))(z.mH.T),
        lambda: (lambda c: same(c, c.resolve_conj()))(z.conj() * 2),
        lambda: (lambda c: same(c, c.resolve_neg()))(z),
        lambda: same(z.conj(), z.conj().clone()),
        lambda: same(z.real, z.real.resolve_conj()),
    ]


def case_tensors_in_reverse():
    x = torch.arange(6).reshape(3, 2)
    return [
        lambda: reversed(x).tolist(),
        lambda: [row.tolist() for row in reversed(x)],
        lambda: reversed(torch.tensor(3)).item(),
        lambda: type(reversed(x)).__name__,
    ]


def case_small_things():
    x = torch.tensor([1.0, 2.5, 4.0])
    return [
        lambda: (2.5 in x, 3 in x, 1 in x, True in torch.tensor([0, 1]), float("nan") in torch.tensor([float("nan")])),
        lambda: x.__contains__(),
        lambda: (x.layout, repr(x.layout), x.layout == torch.strided, str(torch.strided)),
        lambda: torch.add(x, 2, x).tolist(),
        lambda: torch.sub(x, 2, x).tolist(),
        lambda: torch.addcmul(x, 2, x, x).tolist(),
        lambda: x.clone().add_(2, x).tolist(),
        lambda: torch.add(x, 2, 3),
        lambda: torch.add(x, x, 2),
        lambda: default_collate([x, x]).tolist(),
        lambda: [v.tolist() for v in default_collate([(1, 2.5), (3, 4.5)])],
        lambda: default_collate([1.0, 2.0]).dtype,
        lambda: {k: v.tolist() for k, v in default_collate([{"a": 1, "b": x}, {"a": 2, "b": x}]).items()},
        lambda: default_collate(["a", "b"]),
        lambda: default_collate([[1], [1, 2]]),
        lambda: default_collate([None]),
        lambda: x.storage_offset(),
    ]


def case_texts_of_tensors():
    values = [True], [False, True], [], [1], [1, -20], [1.5, 2], [1.0, 2.0], [1e-9, 2.0], [0.5, 10000.0], [0.0], [1e9]
    values += [float("inf"), 1.0], [float("nan")], [100000.0, 1.0], [0.00001], [-1.0, 10.25], list(range(16))
    return [lambda v=v: str(torch.tensor(v)) for v in values] + [
        lambda: str(torch.tensor(2.5)),
        lambda: str(torch.tensor(3)),
        lambda: str(torch.tensor(False)),
        lambda: str(torch.tensor([1, 2], dtype=torch.int32)),
        lambda: str(torch.tensor([1.0], dtype=torch.float64)),
        lambda: str(torch.ones(2, requires_grad=True)),
        lambda: f"{torch.tensor(2.5)} {torch.tensor([2.5])}",
    ]


def case_indices_of_constants():
    x = torch.arange(120).reshape(2, 3, 4, 5)
    return [
        lambda: x[:, [0, 1], 2, [[1]]].tolist(),
        lambda: x[None, [0, -1], -1, [[1]]].tolist(),
        lambda: x[[0, 1], :, 1, [2, 3]].tolist(),
        lambda: x[:, [0, 1], ..., [[1], [2]], :].tolist(),
        lambda: x[[0, 1], None, 2, [1, 0]].tolist(),
    ]


def case_windows():
    def same(name, *args, **options):
        window = getattr(torch.signal.windows, name)(*args, **options)
        return tuple(window.shape), window.dtype, [round(v, 4) + 0.0 for v in window.tolist()]

    if not hasattr(torch, "signal"):
        return [lambda: torch.signal]
    names = "bartlett blackman cosine exponential gaussian hamming hann kaiser nuttall general_hamming".split()
    return (
        [lambda n=n: same(n, 7) for n in names]
        + [lambda n=n: same(n, 6, sym=False, dtype=torch.float64) for n in names]
        + [lambda n=n, m=m: same(n, m) for n in names for m in (0, 1, -1)]
        + [
            lambda: same("general_cosine", 5, a=[0.5, 0.3, 0.2]),
            lambda: same("gaussian", 5, std=0.5),
            lambda: same("gaussian", 5, std=0),
            lambda: same("kaiser", 5, beta=3.0),
            lambda: same("exponential", 5, center=1, sym=False, tau=2.0),
            lambda: same("exponential", 5, center=1),
            lambda: same("hann", 5, dtype=torch.int32),
        ]
    )


def case_devices_that_are_not_there():
    def asked(text):
        return lambda: eval(text) if LATER else text

    names = "xpu.is_available xpu.device_count xpu.is_current_stream_capturing xpu.empty_cache xpu.synchronize"
    names += " xpu.memory_allocated xpu.current_device xpu.is_bf16_supported xpu.get_device_name cuda.is_available"
    names += " mps.is_available mps.device_count mps.empty_cache mps.synchronize mps.current_allocated_memory"
    names += " cpu.is_available cpu.device_count cpu.synchronize cpu.current_device cpu.is_initialized"
    names += " accelerator.is_available accelerator.empty_cache accelerator.memory_allocated accelerator.device_count"
    return [asked("torch." + name + "()") for name in names.split()]
