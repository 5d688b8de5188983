from numpy import allclose


def assert_allclose(actual, desired, rtol=1e-07, atol=0, **kwargs):
    assert allclose(actual, desired, rtol, atol)
