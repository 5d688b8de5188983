# numpy as model sources use it while they build themselves: tables, grids, schedules. An array
# holds a constant tensor of torch (so its values are known where they are small) and has numpy's
# own types, those of NumPy 1: float64 by default, and what comes of an array and a number depends
# on the number.
from numpy._dtypes import *
from numpy._types import *
from numpy._dtypes import _NoValue, _TYPES
from numpy import _dtypes
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
from numpy._names import _lacking

__version__ = "1.24.2"
Inf = Infinity = PINF = infty = inf
NINF = -inf
NaN = NAN = nan
PZERO, NZERO = 0.0, -0.0
newaxis = None
euler_gamma = 0.5772156649015329
little_endian = True
# Chapters that are read when one of their names is asked for.
_CHAPTERS = {
    "_index_tricks": "s_ index_exp ix_ r_ c_",
    "_files": "load loadtxt genfromtxt fromfile fromstring fromregex save savez savez_compressed savetxt",
    "_statistics": (
        "quantile percentile median nanmedian nanquantile nanpercentile bincount histogram_bin_edges "
        "histogram cov corrcoef"
    ),
    "_sets": "unique unique_values in1d isin union1d intersect1d setdiff1d setxor1d",
    "_text": (
        "array_str array_repr array2string format_float_positional format_float_scientific " "binary_repr base_repr"
    ),
    "_rest": (
        "interp vectorize frompyfunc apply_along_axis apply_over_axes piecewise iterable isscalar isfortran "
        "common_type find_common_type shares_memory may_share_memory get_include geterr seterr errstate "
        "get_printoptions set_printoptions printoptions show_config setbufsize getbufsize RankWarning "
        "ComplexWarning VisibleDeprecationWarning ModuleDeprecationWarning TooHardError"
    ),
    "_bytes": "frombuffer",
}
_ELSEWHERE = {name: chapter for chapter, names in _CHAPTERS.items() for name in names.split()}
_MODULES = "random linalg fft typing testing core exceptions lib".split()
_lacking_name = _lacking("numpy")


def __getattr__(name):
    if name == "bool":  # of numpy 2; in this module the name is Python's
        return bool_
    if name not in _ELSEWHERE and name not in _MODULES:
        return _lacking_name(name)
    import importlib

    if name in _MODULES:
        return importlib.import_module("numpy." + name)
    found = globals()[name] = getattr(importlib.import_module("numpy." + _ELSEWHERE[name]), name)
    return found


def __dir__():
    return sorted({*globals(), *_ELSEWHERE, *_MODULES})


_dtypes._functions.update({name: value for name, value in list(globals().items()) if callable(value)})
for _name in ("builtins", "torch", "operator", "bisect", "cmath", "UFuncTypeError"):
    globals().pop(_name, None)
# What would take the place of Python's own is not imported by a star.
_PYTHONS = ("abs", "max", "min", "round", "pow")
__all__ = [name for name in list(globals()) if name[0] != "_" and name not in _PYTHONS] + list(_ELSEWHERE)
