from collections import UserDict


class ref:
    """Nothing is ever collected here, so a weak reference is one that always answers."""

    def __init__(self, obj, callback=None):
        self._obj = obj

    def __call__(self):
        return self._obj

    def __eq__(self, other):
        return isinstance(other, ref) and self._obj == other._obj

    def __hash__(self):
        return hash(self._obj)


ReferenceType = WeakMethod = ref


def proxy(obj, callback=None):
    return obj


class WeakValueDictionary(dict):
    pass


class WeakKeyDictionary(dict):
    pass


class WeakSet(set):
    pass


def finalize(obj, func, /, *args, **kwargs):
    return None
