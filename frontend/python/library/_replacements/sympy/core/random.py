# In which order facts are derived decides nothing: sympy shuffles them to find handlers that
# contradict each other.
__all__ = ["_assumptions_shuffle"]


def _assumptions_shuffle(items):
    pass
