# scipy as far as models use it while they build themselves: windows of filter banks, transforms of small tables, a root
# that a rank is found by. What is not here can be imported, and calling it is refused with its name.
__version__ = "1.17.1"


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(f"Module 'scipy' has no attribute '{name}'")
    import importlib

    return importlib.import_module("scipy." + name)  # scipy loads its modules when they are asked for
