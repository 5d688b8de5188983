"""Programs with tensors of their own classes. Each is a function of a tensor of 4x8; `calls` of
tensor_subclass_test.py are compared with PyTorch's for those that return a tensor of the network."""
import functools

import torch
import torch.nn as nn
import torch.nn.functional as F
from subclass_classes import Child, LOG, Loud, Net, Other, Outcome, Plain, Quiet, Seen, Sub, Table
from subclass_classes import Tagged, Unwrapping, Weight, Wrapper, note, outcome, sub
from torch.overrides import handle_torch_function, has_torch_function


# ---- what the network runs


def net_as_subclass(x):
    return torch.relu(sub(x)) + 1


def net_make_subclass(x):
    return torch.Tensor._make_subclass(Sub, x).exp()


def net_constructor(x):
    return Plain(x).exp() * 2


def net_tagged(x):
    y = (Tagged(x, "in") * 2).relu()
    LOG.append(y.tag)
    return y


class net_layers(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(8, 8), nn.ReLU(), nn.LayerNorm(8), nn.GELU(), nn.Linear(8, 4), nn.Softmax(-1)
        )

    def forward(self, x):
        return self.layers(sub(x))


def net_keeps_class(x):
    y = torch.cat([x, Plain(x)]) @ torch.ones(8, 2)
    LOG.extend([type(y).__name__, type(y.t()[0]).__name__, type(y.shape).__name__, type(y.split(2)).__name__])
    return y


def net_unwrapping(x):
    return F.relu(x.as_subclass(Unwrapping) + x).sum(0)


def net_handled(x):
    x = x.as_subclass(Table)
    return F.relu(x) + 1


class net_handled_layers(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(8, 3)
        self.relu = nn.ReLU()

    def forward(self, x):
        return self.relu(self.linear(x.as_subclass(Table)))


def net_not_handled(x):
    return torch.sigmoid(x.as_subclass(Table)) * 3


def net_wrapper(x):
    return torch.cat([torch.add(Wrapper(x), 1).tensor, torch.stack([x, Wrapper(x)]).tensor[0]])


def net_inplace(x):
    y = sub(x * 1)
    y += 1
    y.mul_(2)
    y[0] = 3
    return y.relu_()


def net_inplace_shared(x):
    y = x * 1
    z = sub(y)
    z.add_(1)
    return y + z


def net_plain_inplace(x):
    y = x * 1
    y.add_(sub(x))
    y += sub(x)
    LOG.append(type(y).__name__)
    return y


def net_nested(x):
    return torch.cat([x, sub(x), torch.stack((sub(x), x)).sum(0)])


def net_two_classes(x):
    return torch.add(x.as_subclass(Sub), x.as_subclass(Child)) + x


def net_two_outputs(x):
    values, indices = sub(x).max(dim=1)
    LOG.append((type(values).__name__, type(indices).__name__, type(sub(x).sort().values).__name__))
    return values, sub(x).topk(2).values


def net_iterated(x):
    return sum(row * 2 for row in sub(x))


def net_unpacked(x):
    a, b, c, d = sub(x)
    return a + d


def net_indexed(x):
    y = sub(x)
    return y[0] + x[torch.tensor([1, 2]).as_subclass(Sub)][1] + y[:, None, :4].sum() + y[..., 0].sum()


def net_operators(x):
    y = sub(x)
    z = (1 - y) / (2 + y) * y**2 + 2**y - y // 2 + y % 3 + (-y) + abs(y) + (+y)
    return z + (x - y) * (x / y) + (y @ x.t()).sum() + (x @ y.t()).sum() + x**y + x // y + 3 / y


def net_compared(x):
    y = sub(x)
    return ((y > 0) & (y < 1) | (y == 2) ^ (y != 3)) & ~(y >= 4) & (x <= y) & (x == y)


def net_properties(x):
    y = sub(x)
    return y.T.reshape(y.shape) + y.mT.reshape(y.size()) + y.data * y.ndim + y.dim() + len(y) + y.numel()


def net_disabled(x):
    y = sub(x)
    with torch._C.DisableTorchFunction():
        z = y * 2
    LOG.append((type(z).__name__, type(y).__name__))
    return z


def net_quiet(x):
    y = x.as_subclass(Quiet) * 2
    LOG.append(type(y).__name__)
    return y


def net_functions(x):
    y = sub(x)
    z = F.softmax(y, -1) + F.log_softmax(y, dim=1) + F.dropout(y, 0.5, False) + F.elu(y) + F.leaky_relu(y, 0.2)
    z = (
        z
        + F.normalize(y)
        + F.layer_norm(y, (8,))
        + F.hardtanh(y, -2, 2)
        + F.silu(y)
        + F.mish(y)
        + F.glu(torch.cat([y, y], 1))
    )
    return (
        z + F.pad(y, (1, 1))[:, :8] + F.gelu(y) + F.softplus(y) + F.logsigmoid(y) + F.sigmoid(y) + F.tanh(y) + F.celu(y)
    )


def net_images(x):
    y = sub(x)[None, None]
    z = F.max_pool2d(y, 2) + F.avg_pool2d(y, 2) + F.adaptive_avg_pool2d(y, (2, 4)) + F.interpolate(y, scale_factor=0.5)
    w = torch.ones(1, 1, 3, 3)
    z = z + F.conv2d(y, w, stride=2, padding=1) + F.unfold(y, 2).sum() + F.max_pool2d(y, 2, return_indices=True)[0]
    return z + F.group_norm(y, 1)[..., :2, :4] + F.instance_norm(y)[..., :2, :4] + F.pixel_unshuffle(y, 2)[:, :1]


def net_losses(x):
    y = sub(x)
    return F.mse_loss(y, x) + F.l1_loss(y, x) + F.cross_entropy(y, torch.tensor([0, 1, 2, 3])) + F.smooth_l1_loss(x, y)


def net_attention(x):
    y = sub(x)[None]
    return F.multi_head_attention_forward(
        y,
        y,
        y,
        8,
        2,
        torch.ones(24, 8),
        torch.ones(24),
        None,
        None,
        False,
        0.0,
        torch.ones(8, 8),
        None,
        need_weights=False,
    )[0]


def net_torch_functions(x):
    y = sub(x)
    z = (
        torch.einsum("ij,kj->ik", y, x).sum()
        + torch.tensordot(y, x.t(), 1).sum()
        + torch.norm(y)
        + torch.cdist(y, x).sum()
    )
    z = (
        z
        + torch.where(y > 0, y, x)
        + torch.clamp(y, 0, 1)
        + torch.roll(y, 1)
        + torch.flip(y, (0,))
        + torch.zeros_like(y)
    )
    z = (
        z
        + torch.broadcast_tensors(y, x)[0]
        + torch.split(y, 2)[0][:1]
        + torch.meshgrid(y[0], x[0], indexing="ij")[0].sum()
    )
    return z + torch.fft.fft(y).real + torch.linalg.norm(y) + torch.special.expit(y) + torch.block_diag(y, x)[:4, :8]


def net_methods(x):
    y = sub(x)
    z = y.norm() + y.split(2)[0].sum() + y.unflatten(1, (2, 4)).sum() + y.chunk(2)[1].sum() + y.permute(1, 0).sum()
    z = z + y.masked_fill(x > 1, 0) + y.to(torch.float64).to(x) + y.float() + y.type_as(x) + y.clone()
    return z + y.expand(4, 8) + y.expand_as(x) + x.view_as(y) + y.new_zeros(8) + y.repeat(1, 1) + y.detach() + x.to(y)


def eager_out(x):
    out = sub(torch.empty(4, 8))
    torch.add(x, 1, out=out)
    return out * 2


class net_parameter(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = Weight(torch.ones(3, 8), scale=5)

    def forward(self, x):
        LOG.append((type(self.weight).__name__, type(self.weight * 2).__name__, self.weight.requires_grad))
        return F.linear(x, self.weight) * self.weight.scale


class net_seen_parameter(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = Seen(torch.ones(3, 8))

    def forward(self, x):
        return F.linear(x, self.weight)


class net_buffers(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(8, 2)
        self.register_buffer("table", sub(torch.ones(4, 8)))

    def forward(self, x):
        return self.linear(x * self.table)


class net_norms(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(
            [nn.BatchNorm1d(8), nn.Dropout(), nn.Identity(), nn.Sigmoid(), nn.Tanh(), nn.PReLU()]
        )
        self.layers.extend([nn.Hardswish(), nn.SiLU(), nn.Softplus(), nn.ELU(), nn.LeakyReLU()])
        self.embedding, self.similarity = nn.Embedding(5, 8), nn.CosineSimilarity()

    def forward(self, x):
        y = sub(x)
        for layer in self.layers:
            y = layer(y)
        return y + self.similarity(y, x).sum() + self.embedding(torch.arange(4).as_subclass(Sub))


class net_recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm, self.gru, self.cell = nn.LSTM(8, 8), nn.GRU(8, 3, batch_first=True), nn.GRUCell(8, 8)

    def forward(self, x):
        y, _ = self.lstm(sub(x)[None])
        y = self.gru(y)[0].sum() + self.cell(y[0])
        # Our text of these layers asks for sizes more often.
        LOG[:] = [seen for seen in LOG if seen[1] not in ("__get__", "dim", "size")]
        return y


class net_image_layers(nn.Module):
    def __init__(self):
        super().__init__()
        self.same = nn.Sequential(nn.Conv2d(1, 1, 3, padding=1), nn.ZeroPad2d(0), nn.BatchNorm2d(1), nn.GroupNorm(1, 1))
        self.halves = nn.ModuleList(
            [nn.MaxPool2d(2), nn.AvgPool2d(2), nn.AdaptiveAvgPool2d((2, 4)), nn.Upsample(scale_factor=0.5)]
        )

    def forward(self, x):
        y = self.same(sub(x)[None, None])
        return sum(layer(y) for layer in self.halves)


def eager_wrapped(x):
    def of(function):
        @functools.wraps(function)
        def call(*args):
            if has_torch_function(args):
                return handle_torch_function(call, args, *args)
            return function(*args)

        return call

    @of
    def ours(a, b):
        return a * b + 1

    return ours(x, sub(x))


def net_alias_of_alias(x):
    y = sub(x).as_subclass(Child).as_subclass(torch.Tensor)
    LOG.append(type(y).__name__)
    return y + sub(sub(x))


def net_static_handler(x):
    class Static(torch.Tensor):
        @staticmethod
        def __torch_function__(func, types, args=(), kwargs=None):
            LOG.append(func.__name__)
            with torch._C.DisableTorchFunction():
                return func(*args, **(kwargs or {}))

    return x.as_subclass(Static) * 2 + 1


# ---- what only a program sees


def eager_identity(x):
    seen = []

    class Asks(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            known = {
                "Tensor.add": torch.Tensor.add,
                "torch.add": torch.add,
                "F.relu": F.relu,
                "torch.conv2d": torch.conv2d,
                "F.conv2d": F.conv2d,
                "shape": torch.Tensor.shape.__get__,
                "requires_grad": torch.Tensor.requires_grad.__set__,
                "getitem": torch.Tensor.__getitem__,
                "rsub": torch.Tensor.__rsub__,
                "F.max_pool1d": F.max_pool1d,
                "fft": torch.fft.fft,
                "F.linear": F.linear,
                "gelu": F.gelu,
            }
            seen.append([(name, func is f, f in {func: 1}) for name, f in known.items() if func == f])
            return super().__torch_function__(func, types, args, kwargs)

    y = x.as_subclass(Asks)
    y + 1, 1 + y, torch.add(y, 1), y.add(1), F.relu(y), y.shape, y[0], 1 - y, F.max_pool1d(y, 2), torch.fft.fft(y)
    F.conv2d(y[None, None], torch.ones(1, 1, 1, 1)), F.linear(y, torch.ones(1, 8)), F.gelu(y)
    y.requires_grad = False
    return seen


def eager_names(x):
    names = []

    class Names(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            names.append(func.__name__)
            return super().__torch_function__(func, types, args, kwargs)

    y = x.as_subclass(Names)
    y**2, y.pow(2), 2**y, 1 / y, torch.linalg.norm(y), torch.special.expit(y), F.threshold(y, 0, 0), F.logsigmoid(
        y
    ), y.nelement()
    y.ndimension(), y.item if y.numel() == 1 else None, y.is_floating_point(), torch.is_floating_point(y), torch.numel(
        y
    ), y.T, y.grad
    return names


def eager_not_implemented(x):
    found = []
    a, b = x.as_subclass(Other), x.as_subclass(Sub)
    for call in (lambda: a + 1, lambda: torch.add(a, b), lambda: F.relu(a), lambda: 1 - a, lambda: torch.cat([b, a])):
        try:
            found.append(type(call()).__name__)
        except TypeError as e:
            found.append(type(e).__name__)
    return found


def eager_order(x):
    class A(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            note(cls, func, types, args, kwargs)
            return NotImplemented if cls is not A else 5

    class B(A):
        pass

    class C(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            note(cls, func, types, args, kwargs)
            return 7 if func is torch.add else NotImplemented

    a, b, c = x.as_subclass(A), x.as_subclass(B), x.as_subclass(C)
    return (
        torch.add(a, b),
        torch.mul(b, c) if False else None,
        torch.add(b, c),
        torch.cat([a, c, b]),
        torch.stack([x, b, a]),
    )


def eager_reads(x):
    y = sub(x)
    values = y.sum().item(), float(y[0, 0]), int(y[0, 0]), bool(y[0, 0] > 0), y[0].tolist(), len(y), 1.0 in y
    return values + (y.dtype == torch.float32, str(y.device), y.is_leaf, y.requires_grad, y.stride(), y.is_contiguous())


def eager_plain_results(x):
    y = Plain(x)
    results = (
        y + 1,
        y.sum(),
        y.shape,
        y.size(0),
        y.tolist(),
        y.max(0)[1],
        y.unbind(),
        y.numpy(),
        y[0],
        y.to(torch.int64),
        -y,
    )
    return [type(r).__name__ for r in results], type(y.max(0)[0]).__name__, type(y.unbind()[0]).__name__


def eager_made(x):
    made = (
        Plain(2, 3),
        Plain([1.0, 2.0]),
        Plain(x),
        torch.tensor([1.0]).as_subclass(Plain),
        torch.Tensor._make_subclass(Plain, x),
    )
    return (
        [(type(m).__name__, tuple(m.shape)) for m in made],
        type(torch.tensor(Plain(x))).__name__,
        type(torch.as_tensor(Plain(x))).__name__,
    )


def eager_errors(x):
    found = []
    for call in (
        lambda: x.as_subclass(int),
        lambda: torch.Tensor._make_subclass(str, x),
        lambda: torch.Tensor._make_subclass(Sub, 3),
        lambda: sub(x) + None,
        lambda: sub(x) + "a",
        lambda: "a" - sub(x),
        lambda: sub(x).missing,
        lambda: F.relu(sub(x), nothing=1),
    ):
        try:
            found.append(type(call()).__name__)
        except Exception as e:
            found.append(type(e).__name__)
    return found


def eager_attributes(x):
    y = Tagged(x, tag="t")
    return (
        y.tag,
        hasattr(y + 1, "tag"),
        (y + 1).tag,
        hasattr(y[0], "tag"),
        isinstance(y, torch.Tensor),
        torch.is_tensor(y),
    )


def eager_set(x):
    y = sub(torch.ones(4, 8))
    y[0] = 5
    x = torch.ones(4, 8)
    x[1] = sub(torch.zeros(8))
    y[:, 1] = x[:, 0]
    return y.as_subclass(torch.Tensor).sum().item(), x.sum().item()


def eager_shared(x):
    x = torch.zeros(3)
    y = x.as_subclass(Plain)
    z = torch.Tensor._make_subclass(Plain, x)
    y.add_(1)
    x[0] = 5
    z[1:].mul_(3)
    return x.tolist(), y.tolist(), z.tolist()


def eager_init(x):
    y = sub(torch.empty(4, 4))
    nn.init.constant_(y, 2.0)
    nn.init.ones_(y)
    nn.init.zeros_(y)
    return y.sum().item()


def eager_mode(x):
    with Loud():
        y = x + 1
        y = F.relu(y) * torch.ones(8) + torch.zeros(8)
        torch.arange(3), y.sum(), y.reshape(-1), torch.cat([y, y]), F.softmax(y, -1), y.shape
        sub(y) + 1
    y + 1
    return type(y).__name__


def eager_modes(x):
    class Second(Loud):
        pass

    with Loud(), Second():
        x * 2
        with torch._C.DisableTorchFunction():
            x * 3
    return None


def eager_overrides(x):
    from torch.overrides import is_tensor_like

    asked = x, sub(x), x.as_subclass(Quiet), nn.Parameter(x), Wrapper(x), 3, Seen(x)
    return (
        [is_tensor_like(v) for v in asked],
        [has_torch_function((v,)) for v in asked],
        torch.Tensor.__torch_function__ is not None,
    )


def eager_handler_on_instance(x):
    class Bound(torch.Tensor):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            LOG.append((func.__name__, self.who))
            return self.who

    y = x.as_subclass(Bound)
    y.__dict__["who"] = "me"
    return y + 1, torch.add(x, y), y.exp()


def eager_raises(x):
    class Raises(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            if func.__name__ in ("exp", "__rsub__"):
                raise (TypeError if func.__name__ == "__rsub__" else KeyError)(func.__name__)
            return super().__torch_function__(func, types, args, kwargs)

    found = []
    for call in (torch.exp, lambda v: 1 - v, lambda v: v + 1):
        try:
            found.append(type(call(x.as_subclass(Raises))).__name__)
        except Exception as e:
            found.append(type(e).__name__)
    return found, has_torch_function((sub(x),))
