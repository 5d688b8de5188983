import numpy as np


def assert_allclose(actual, desired, rtol=1e-07, atol=0, equal_nan=True, err_msg="", verbose=True):
    if not np.allclose(actual, desired, rtol, atol, equal_nan):
        raise AssertionError("Not equal to tolerance rtol=%s, atol=%s\n%s" % (rtol, atol, err_msg))


def assert_array_equal(x, y, err_msg="", verbose=True, *, strict=False):
    x, y = np.asarray(x), np.asarray(y)
    if strict and (x.shape, x.dtype) != (y.shape, y.dtype):
        raise AssertionError("Arrays are not equal\n%s" % err_msg)
    same = x == y
    if x.dtype.kind == "f" and y.dtype.kind == "f":
        same = same | (np.isnan(x) & np.isnan(y))
    if not np.all(same):
        raise AssertionError("Arrays are not equal\n%s" % err_msg)


def assert_(val, msg=""):
    if not val:
        raise AssertionError(msg() if callable(msg) else msg)
