from collections import UserDict
from types import GenericAlias


class ref:
    """Nothing is ever collected here, so a weak reference is one that always answers."""

    def __init__(self, obj, callback=None):
        self._obj = obj

    def __class_getitem__(cls, item):
        return GenericAlias(cls, item)

    def __call__(self):
        return self._obj

    def __eq__(self, other):
        return isinstance(other, ref) and self._obj == other._obj

    def __hash__(self):
        return hash(self._obj)


ReferenceType = WeakMethod = ref


class KeyedRef(ref):
    def __init__(self, ob, callback, key):
        super().__init__(ob, callback)
        self.key = key


# A proxy is what it stands for, so nothing is of these types.
class ProxyType:
    def __new__(cls, *args):
        raise TypeError("cannot create 'weakref.ProxyType' instances")


class CallableProxyType:
    def __new__(cls, *args):
        raise TypeError("cannot create 'weakref.CallableProxyType' instances")


ProxyTypes = (ProxyType, CallableProxyType)


def proxy(obj, callback=None):
    return obj


def getweakrefcount(object):
    return 0


def getweakrefs(object):
    return []


class WeakValueDictionary(dict):
    def itervaluerefs(self):
        return (ref(value) for value in self.values())

    def valuerefs(self):
        return list(self.itervaluerefs())


class WeakKeyDictionary(dict):
    def keyrefs(self):
        return [ref(key) for key in self]


class WeakSet(set):
    pass


class finalize:
    """Never calls the function by itself: nothing is collected before the model is read."""

    atexit = True

    def __init__(self, obj, func, /, *args, **kwargs):
        self._info = obj, func, args, kwargs

    @property
    def alive(self):
        return self._info is not None

    def peek(self):
        return self._info

    def detach(self):
        info, self._info = self._info, None
        return info

    def __call__(self, _=None):
        info = self.detach()
        return None if info is None else info[1](*info[2], **info[3])
