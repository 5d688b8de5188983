# Documentation of classes and functions, put together when they are defined: no part of a model.
__all__ = ["auto_docstring"]


def auto_docstring(obj=None, **_):
    return obj if obj is not None else lambda decorated: decorated
