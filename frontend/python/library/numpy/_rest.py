# The rest of numpy's functions: those that call functions, and settings.
import builtins

import torch
from numpy._arrays import _array, array, asarray
from numpy._dtypes import _NoValue, _functions, _type_name, dtype
from numpy._promotion import _promote
from numpy._types import generic
from numpy._order import ndindex
from numpy._shaping import broadcast_arrays


def interp(x, xp, fp, left=None, right=None, period=None):
    if period is not None or asarray(fp).dtype.kind == "c":
        torch._unsupported("numpy.interp() with a period or complex numbers")
    shape = asarray(x).shape
    xs, ps, fs = (asarray(v).astype(float).reshape(-1).tolist() for v in (x, xp, fp))
    if len(ps) != len(fs):
        raise ValueError("fp and xp are not of the same length.")
    if not ps:
        raise ValueError("array of sample points is empty")
    made = []
    for v in xs:
        if v != v:
            made.append(v)
        elif v > ps[-1]:
            made.append(fs[-1] if right is None else right)
        elif v < ps[0]:
            made.append(fs[0] if left is None else left)
        else:
            k = builtins.sum(1 for p in ps if p <= v) - 1
            if k == len(ps) - 1 or v == ps[k]:
                made.append(fs[k])
            else:
                made.append((fs[k + 1] - fs[k]) / (ps[k + 1] - ps[k]) * (v - ps[k]) + fs[k])
    return _array(torch.tensor(made, dtype=torch.float64).reshape(shape))[()]


class vectorize:
    __module__ = "numpy"

    def __init__(self, pyfunc, otypes=None, doc=None, excluded=None, cache=False, signature=None):
        if signature is not None or excluded:
            torch._unsupported("numpy.vectorize() with signature or excluded")
        self.pyfunc, self.otypes, self.cache = pyfunc, otypes, cache
        self.__doc__ = doc or pyfunc.__doc__

    def __call__(self, *args, **kwargs):
        if kwargs:
            torch._unsupported("numpy.vectorize() with keywords")
        arrays = broadcast_arrays(*args)
        shape = arrays[0].shape
        if not arrays[0].size:
            if self.otypes is None:
                raise ValueError("cannot call `vectorize` on size 0 inputs unless `otypes` is set")
        # Of numbers of numpy's, as NumPy calls it.
        rows = [a.reshape(-1) for a in arrays]
        found = [self.pyfunc(*values) for values in zip(*rows)]
        types = [self.otypes] if isinstance(self.otypes, str) else self.otypes
        if found and isinstance(found[0], tuple) or types is not None and len(types) > 1:
            columns = [list(c) for c in zip(*found)]
            types = types or [asarray(c[0]).dtype for c in columns]
            return tuple(asarray(array(c, t).reshape(shape))[()] for c, t in zip(columns, types))
        return array(found, types[0] if types else asarray(found[0]).dtype).reshape(shape)


class _FromPython:
    def __init__(self, function, nin, nout):
        self.nin, self.nout = nin, nout

    def __call__(self, *args, **kwargs):
        torch._unsupported("numpy.frompyfunc(): arrays of objects", "numpy.vectorize() makes arrays of numbers")


def frompyfunc(func, /, nin, nout, *, identity=None):
    return _FromPython(func, nin, nout)


def apply_along_axis(func1d, axis, arr, *args, **kwargs):
    a = asarray(arr)
    d = axis % a.ndim
    rest = [n for n in range(a.ndim) if n != d]
    rows = a.transpose(rest + [d])
    made = [asarray(func1d(rows[at], *args, **kwargs)) for at in ndindex(rows.shape[:-1])]
    if not made:
        raise ValueError("Cannot apply_along_axis when any iteration dimensions are 0")
    shape = rows.shape[:-1] + made[0].shape
    made = array([m.tolist() for m in made], made[0].dtype).reshape(shape)
    n = made.ndim - len(rest)
    order = list(range(d)) + list(range(len(rest), len(rest) + n)) + list(range(d, len(rest)))
    return made.transpose(order) if made.ndim > 1 else made


def apply_over_axes(func, a, axes):
    made = asarray(a)
    for axis in [axes] if isinstance(axes, int) else axes:
        found = asarray(func(made, axis))
        made = found if found.ndim == made.ndim else _functions["expand_dims"](found, axis)
    return made


def piecewise(x, condlist, funclist, *args, **kw):
    x = asarray(x)
    conditions = [asarray(c).astype(bool) for c in (condlist if isinstance(condlist, (list, tuple)) else [condlist])]
    if len(funclist) == len(conditions) + 1:
        other = conditions[0]
        for c in conditions[1:]:
            other = other | c
        conditions.append(~asarray(other))
    if len(funclist) != len(conditions):
        raise ValueError(
            "with %d condition(s), either %d or %d functions are expected"
            % (len(conditions), len(conditions), len(conditions) + 1)
        )
    if x.ndim == 0:
        torch._unsupported("numpy.piecewise() of a number")
    made = _functions["zeros_like"](x)
    for condition, function in zip(conditions, funclist):
        made[condition] = function(x[condition], *args, **kw) if callable(function) else function
    return made


def iterable(y):
    try:
        iter(y)
    except TypeError:
        return False
    return True


def isscalar(element):
    return isinstance(element, (int, float, complex, str, bytes, generic))


def isfortran(a):
    return a.flags.fnc


def common_type(*arrays):
    name = "float16"
    for a in arrays:
        a = asarray(a)
        name = _promote(name, a.dtype.name if a.dtype.kind in "fc" else "float64")
    return dtype(name).type


def find_common_type(array_types, scalar_types):
    names = [_type_name(t) for t in array_types]
    if scalar_types or not names:
        torch._unsupported("numpy.find_common_type() of types of numbers")
    made = names[0]
    for name in names[1:]:
        made = _promote(made, name)
    return dtype(made)


def shares_memory(a, b, /, max_work=None):
    torch._unsupported("numpy.shares_memory()")


may_share_memory = shares_memory


def get_include():
    torch._unsupported("numpy.get_include()")


# ---- settings
_errors = {"divide": "warn", "over": "warn", "under": "ignore", "invalid": "warn"}


def geterr():
    return dict(_errors)


def seterr(all=None, divide=None, over=None, under=None, invalid=None):
    before = geterr()
    for name, value in (("divide", divide), ("over", over), ("under", under), ("invalid", invalid)):
        value = value or all
        if value not in (None, "ignore", "warn", "print", "log"):
            torch._unsupported("numpy.seterr(%s=%r)" % (name, value), "nothing is raised here")
        _errors[name] = value or _errors[name]
    return before


class errstate:
    def __init__(self, *, call=_NoValue, **kwargs):
        self.kwargs = kwargs

    def __enter__(self):
        self.before = seterr(**self.kwargs)

    def __exit__(self, *raised):
        seterr(**self.before)

    def __call__(self, function):
        def inner(*args, **kwargs):
            with errstate(**self.kwargs):
                return function(*args, **kwargs)

        return inner


_print = {
    "edgeitems": 3,
    "threshold": 1000,
    "floatmode": "maxprec",
    "precision": 8,
    "suppress": False,
    "linewidth": 75,
    "nanstr": "nan",
    "infstr": "inf",
    "sign": "-",
    "formatter": None,
    "legacy": False,
}


def get_printoptions():
    return dict(_print)


def set_printoptions(
    precision=None,
    threshold=None,
    edgeitems=None,
    linewidth=None,
    suppress=None,
    nanstr=None,
    infstr=None,
    formatter=None,
    sign=None,
    floatmode=None,
    *,
    legacy=None,
):
    # What is printed is not part of a network.
    given = dict(locals())
    _print.update({k: v for k, v in given.items() if v is not None})


class printoptions:
    def __init__(self, *args, **kwargs):
        self.args, self.kwargs = args, kwargs

    def __enter__(self):
        self.before = get_printoptions()
        set_printoptions(*self.args, **self.kwargs)
        return get_printoptions()

    def __exit__(self, *raised):
        _print.update(self.before)


def show_config():
    pass


def setbufsize(size):
    return 8192


def getbufsize():
    return 8192


class RankWarning(UserWarning):
    pass


class ComplexWarning(RuntimeWarning):
    pass


class VisibleDeprecationWarning(UserWarning):
    pass


class ModuleDeprecationWarning(DeprecationWarning):
    pass


class TooHardError(RuntimeError):
    pass
