# The package for older versions of Python has what the standard library has.
from importlib.metadata import *  # noqa: F401,F403
