# Making numpy's arrays: of a shape, of numbers in a row, grids.
import builtins
import math
import operator

import torch
from numpy._arrays import _array, array, asarray, ndarray
from numpy._dtypes import _functions, _lacks, _torch_type, _type_name, nan
from numpy._indexing import _in_order, _one_axis, _shape
from numpy._promotion import _promoted, _result_name
from numpy._types import _number_name, float64


def copy(a, order="K", subok=False):
    return array(a, order=order)


def ascontiguousarray(a, dtype=None, *, like=None):
    a = asarray(a, dtype, like=like)
    a = a if a._t.is_contiguous() else _array(a._t.contiguous())
    return a.reshape(1) if a.ndim == 0 else a


def asfortranarray(a, dtype=None, *, like=None):
    a = asarray(a, dtype, like=like)
    return a.reshape(1) if a.ndim == 0 else a if a.flags.f_contiguous else _array(_in_order(a._t, "F"))


def asarray_chkfinite(a, dtype=None, order=None):
    a = asarray(a, dtype, order)
    if a.dtype.kind in "fc" and not builtins.bool(_functions["isfinite"](a).all()):
        raise ValueError("array must not contain infs or NaNs")
    return a


def asfarray(a, dtype=float64):
    name = _type_name(dtype)
    return asarray(a, name if name[0] in "fc" else "float64")


def require(a, dtype=None, requirements=None, *, like=None):
    _lacks("require", requirements=requirements, like=like)
    return asarray(a, dtype)


def zeros(shape, dtype=float, order="C", *, like=None):
    _lacks("zeros", like=like)
    return _array(_in_order(torch.zeros(_shape(shape), dtype=_torch_type(dtype)), order))


def ones(shape, dtype=None, order="C", *, like=None):
    _lacks("ones", like=like)
    return _array(_in_order(torch.ones(_shape(shape), dtype=_torch_type(dtype or float)), order))


def empty(shape, dtype=float, order="C", *, like=None):
    _lacks("empty", like=like)
    return _array(_in_order(torch.empty(_shape(shape), dtype=_torch_type(dtype)), order))


def full(shape, fill_value, dtype=None, order="C", *, like=None):
    _lacks("full", like=like)
    value = asarray(fill_value)
    if value.ndim == 0 and torch._has_values(value._t):
        of = value.dtype if dtype is None else dtype
        return _array(_in_order(torch.full(_shape(shape), value.item(), dtype=_torch_type(of)), order))
    made = empty(shape, value.dtype if dtype is None else dtype, order)
    made[...] = value
    return made


def _like(make):
    def function(a, dtype, order, shape):
        a = asarray(a)
        fortran = order in ("K", "A") and a.flags.fnc and shape is None
        return make(
            a.shape if shape is None else shape,
            a.dtype if dtype is None else dtype,
            "F" if fortran or order == "F" else "C",
        )

    return function


_zeros_like, _ones_like, _empty_like = _like(zeros), _like(ones), _like(empty)


def zeros_like(a, dtype=None, order="K", subok=True, shape=None):
    return _zeros_like(a, dtype, order, shape)


def ones_like(a, dtype=None, order="K", subok=True, shape=None):
    return _ones_like(a, dtype, order, shape)


def empty_like(prototype, dtype=None, order="K", subok=True, shape=None):
    return _empty_like(prototype, dtype, order, shape)


def full_like(a, fill_value, dtype=None, order="K", subok=True, shape=None):
    made = _empty_like(a, dtype, order, shape)
    made[...] = asarray(fill_value)
    return made


def eye(N, M=None, k=0, dtype=float, order="C", *, like=None):
    _lacks("eye", like=like)
    rows, columns = torch.arange(operator.index(N)).reshape(-1, 1), torch.arange(operator.index(N if M is None else M))
    return _array(_in_order((columns - rows == operator.index(k)).to(_torch_type(dtype or float)), order))


def identity(n, dtype=None, *, like=None):
    return eye(n, dtype=dtype, like=like)


def arange(*args, start=None, stop=None, step=None, dtype=None, like=None):
    _lacks("arange", like=like)
    if len(args) > 4 or not args and start is None and stop is None:
        raise TypeError("arange() requires stop to be specified.")
    if len(args) == 4:
        args, dtype = args[:3], args[3]
    if len(args) == 1 and stop is None:
        begin, end = (0, args[0]) if start is None else (start, args[0])
    elif args:
        begin, end = args[0], args[1] if len(args) > 1 else stop
    else:
        begin, end = (start or 0, stop) if stop is not None else (0, start)
    by = args[2] if len(args) > 2 else step
    numbers = [n.item() if isinstance(n, ndarray) else n for n in (begin, end, 1 if by is None else by)]
    name = _promoted([_number_name(n) for n in numbers])
    begin, end, by = [n.item() if hasattr(n, "item") else n for n in numbers]
    if by == 0:
        raise ZeroDivisionError("division by zero") if name[0] != "f" else ValueError("Maximum allowed size exceeded")
    wanted = None if dtype is None else _type_name(dtype)
    if name[0] in "iub":
        name = "int64" if name == "bool" else name
        made = torch.arange(begin, builtins.max(begin, end) if by > 0 else builtins.min(begin, end), by)
        return _array(made.to(_torch_type(wanted or name)))
    count = math.ceil((end - begin) / by) if (end - begin) / by > 0 else 0
    if wanted and wanted[0] in "iub":
        # NumPy takes the step from the first two, which are whole.
        first, second = int(begin), int(begin + by)
        return _array((torch.arange(count) * (second - first) + first).to(_torch_type(wanted)))
    # numpy's numbers: the first one and the difference of the first two, in the type of the result.
    by = (begin + by) - begin
    made = torch.arange(count).to(torch.float64) * by + begin
    return _array(made.to(_torch_type(wanted or name)))


def linspace(start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0):
    num = operator.index(num)
    if num < 0:
        raise ValueError("Number of samples, %s, must be non-negative." % num)
    start, stop = asarray(start) * 1.0, asarray(stop) * 1.0
    of = _result_name([start, stop, float(num)])
    of = "float64" if of[0] not in "fc" else of
    delta = stop - start
    parts = num - 1 if endpoint else num
    shape = (-1,) + (1,) * asarray(delta).ndim
    made = arange(num).astype("float64").reshape(shape)
    if parts > 0:
        step = delta / parts
        if builtins.bool(asarray(step == 0).any()):
            made = made / parts * delta
        else:
            made = made * step
    else:
        step = nan
        made = made * delta
    made = made + start
    if endpoint and num > 1:
        made[num - 1] = stop
    if axis != 0:
        made = _functions["moveaxis"](made, 0, axis)
    if dtype is not None and _type_name(dtype)[0] in "iu":
        made = _functions["floor"](made)
    made = made.astype(of if dtype is None else dtype, copy=False)
    return (made, step) if retstep else made


def logspace(start, stop, num=50, endpoint=True, base=10.0, dtype=None, axis=0):
    made = _functions["power"](base, linspace(start, stop, num, endpoint, axis=axis))
    return made if dtype is None else made.astype(dtype, copy=False)


def geomspace(start, stop, num=50, endpoint=True, dtype=None, axis=0):
    if asarray(start).ndim or asarray(stop).ndim or axis != 0:
        torch._unsupported("numpy.geomspace() of arrays")
    if start == 0 or stop == 0:
        raise ValueError("Geometric sequence cannot include zero")
    if isinstance(start, complex) or isinstance(stop, complex) or (start < 0) != (stop < 0):
        torch._unsupported("numpy.geomspace() of complex numbers")
    sign = -1 if start < 0 else 1
    made = logspace(math.log10(sign * start), math.log10(sign * stop), num, endpoint)
    if num > 0:
        made[0] = sign * start
        if num > 1 and endpoint:
            made[-1] = sign * stop
    made = made * sign
    return made if dtype is None else made.astype(dtype, copy=False)


def fromiter(iter, dtype, count=-1, *, like=None):
    _lacks("fromiter", like=like)
    values = []
    for value in iter:
        if len(values) == count:
            break
        values.append(value)
    if len(values) < count:
        raise ValueError("iterator too short: Expected %d but iterator had only %d items." % (count, len(values)))
    return array(values, dtype)


def fromfunction(function, shape, *, dtype=float, like=None, **kwargs):
    _lacks("fromfunction", like=like)
    return function(*indices(shape, dtype), **kwargs)


def meshgrid(*xi, copy=True, sparse=False, indexing="xy"):
    if indexing not in ("xy", "ij"):
        raise ValueError("Valid values for `indexing` are 'xy' and 'ij'.")
    n = len(xi)
    made = [asarray(x).reshape((1,) * i + (-1,) + (1,) * (n - i - 1)) for i, x in enumerate(xi)]
    if indexing == "xy" and n > 1:
        made = [m.swapaxes(0, 1) for m in made]
    if not sparse and made:
        shape = torch.broadcast_shapes(*[m.shape for m in made])
        made = [_array(m._t.expand(shape)) for m in made]
        if not copy:
            for m in made:
                m._lock = "writing to what numpy.meshgrid(copy=False) made"
    return [m.copy() for m in made] if copy else made


def indices(dimensions, dtype=int, sparse=False):
    dimensions = _shape(dimensions)
    n, of = len(dimensions), _torch_type(dtype)
    rows = [torch.arange(d).to(of).reshape([d if i == k else 1 for k in range(n)]) for i, d in enumerate(dimensions)]
    if sparse:
        return tuple(_array(r) for r in rows)
    return _array(torch.stack([r.expand(dimensions) for r in rows]) if rows else torch.zeros(0, dtype=of))


class _Grid:
    def __init__(self, open):
        self._open = open

    def __getitem__(self, key):
        one = not isinstance(key, tuple)
        axes = [_row(k) for k in ((key,) if one else key)]
        if one:
            return axes[0]
        name = _promoted([a.dtype.name for a in axes])
        axes = [a.astype(name) for a in axes]
        n = len(axes)
        made = [a.reshape([-1 if i == j else 1 for j in range(n)]) for i, a in enumerate(axes)]
        if self._open:
            return made
        shape = [a.size for a in axes]
        return _array(torch.stack([m._t.expand(shape) for m in made]))


def _row(part):
    start, step = part.start or 0, 1 if part.step is None else part.step
    if isinstance(step, complex):
        return linspace(start, part.stop, int(builtins.abs(step)))
    return arange(start, part.stop, step)


mgrid, ogrid = _Grid(False), _Grid(True)


def tri(N, M=None, k=0, dtype=float, *, like=None):
    _lacks("tri", like=like)
    rows, columns = torch.arange(N).reshape(-1, 1), torch.arange(N if M is None else M)
    return _array((columns - rows <= k).to(_torch_type(dtype)))


def tril(m, k=0):
    return _array(_square(m).tril(k))


def triu(m, k=0):
    return _array(_square(m).triu(k))


def _square(m):
    t = asarray(m)._t
    return t.expand(t.shape[0], t.shape[0]) if t.dim() == 1 else t


def diag(v, k=0):
    v = asarray(v)
    if v.ndim == 2:
        return diagonal(v, k)
    if v.ndim != 1:
        raise ValueError("Input must be 1- or 2-d.")
    n = v.size + builtins.abs(k)
    return _array(torch.diag_embed(v._t, k)) if v.size else zeros((n, n), v.dtype)


def diagflat(v, k=0):
    return diag(asarray(v).ravel(), k)


def diagonal(a, offset=0, axis1=0, axis2=1):
    a = asarray(a)
    if a.ndim < 2:
        raise ValueError("diag requires an array of at least two dimensions")
    made = a._view(a._t.diagonal(offset, _one_axis(axis1, a.ndim), _one_axis(axis2, a.ndim)))
    made._lock = a._READ_ONLY
    return made


def vander(x, N=None, increasing=False):
    x = asarray(x)
    if x.ndim != 1:
        raise ValueError("x must be a one-dimensional array or sequence.")
    powers = arange(x.size if N is None else N)
    made = x.reshape(-1, 1) ** powers
    return made if increasing else _functions["flip"](made, 1)


_functions.update(diagonal=diagonal, tri=tri)
