# Nothing runs after a model was read.
def register(func, *args, **kwargs):
    return func


def unregister(func):
    pass
