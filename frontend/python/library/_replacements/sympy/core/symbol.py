# Dummy symbols are numbered from a random number on, so that those of two processes differ; there
# is one here.
from sympy.core.symbol import Dummy

__all__ = []

Dummy._base_dummy_index = 1000000
