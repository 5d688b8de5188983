# numpy as model sources use it while they build themselves: tables, grids, schedules. An array holds a constant tensor
# of torch (so its values are known where they are small) and has numpy's own types, those of NumPy 1: float64 by
# default, and what comes of an array and a number depends on the number.
import builtins as _builtins

import torch as _torch
from numpy._dtypes import *
from numpy._types import *
from numpy._dtypes import _NoValue, _TYPES
from numpy import _indexing
from numpy._promotion import *
from numpy._indexing import *
from numpy._arrays import *
from numpy._arrays import _array, _wrap
from numpy._ufuncs import ufunc
from numpy._elementwise import *
from numpy._making import *
from numpy._shaping import *
from numpy._order import *
from numpy._reductions import *
from numpy._products import *
from numpy._bytes import *
from numpy._sets import *
from numpy._statistics import *
from numpy._text import *
from numpy._rest import *
from numpy._names import _lacking

__version__ = "1.24.2"
Inf = Infinity = PINF = infty = inf
NINF = -inf
NaN = NAN = nan
PZERO, NZERO = 0.0, -0.0
newaxis = None
euler_gamma = 0.5772156649015329
little_endian = True
_ELSEWHERE = {
    **dict.fromkeys("random linalg fft typing testing core lib".split()),
    **dict.fromkeys("s_ index_exp ix_ r_ c_".split(), "_index_tricks"),
    **dict.fromkeys(
        "load loadtxt genfromtxt fromfile fromstring fromregex save savez savez_compressed savetxt".split(), "_files"
    ),
}
_lacking_name = _lacking("numpy")


def __getattr__(name):
    if name == "bool":  # of numpy 2; in this module the name is Python's
        return bool_
    if name in _ELSEWHERE:
        import importlib

        module = importlib.import_module("numpy." + (_ELSEWHERE[name] or name))
        return getattr(module, name) if _ELSEWHERE[name] else module
    return _lacking_name(name)


def __dir__():
    return sorted(_builtins.set(globals()) | _builtins.set(_ELSEWHERE))


_indexing._functions.update({name: value for name, value in list(globals().items()) if callable(value)})
for _name in ("builtins", "torch", "operator", "bisect", "cmath"):
    globals().pop(_name, None)
