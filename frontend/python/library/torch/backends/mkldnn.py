import contextlib


def is_available():
    return True


def flags(*args, **kwargs):
    return contextlib.nullcontext()
