import _cobra
from abc import ABCMeta, abstractmethod


def _has(*methods):
    @classmethod
    def __subclasshook__(cls, C):
        if cls.__dict__.get("_protocol") != methods:
            return NotImplemented
        for method in methods:
            for B in C.__mro__:
                if method in B.__dict__:
                    if B.__dict__[method] is None:
                        return NotImplemented
                    break
            else:
                return NotImplemented
        return True

    return __subclasshook__


class Hashable(metaclass=ABCMeta):
    _protocol = ("__hash__",)
    __subclasshook__ = _has("__hash__")

    @abstractmethod
    def __hash__(self):
        return 0


class Iterable(metaclass=ABCMeta):
    _protocol = ("__iter__",)
    __subclasshook__ = _has("__iter__")

    @abstractmethod
    def __iter__(self):
        return iter(())

    def __class_getitem__(cls, item):
        return _cobra.generic_alias(cls, item)


class Iterator(Iterable):
    _protocol = ("__iter__", "__next__")
    __subclasshook__ = _has("__iter__", "__next__")

    @abstractmethod
    def __next__(self):
        raise StopIteration

    def __iter__(self):
        return self


class Reversible(Iterable):
    _protocol = ("__reversed__", "__iter__")
    __subclasshook__ = _has("__reversed__", "__iter__")


class Generator(Iterator):
    _protocol = ("__iter__", "__next__", "send", "throw", "close")
    __subclasshook__ = _has("__iter__", "__next__", "send", "throw", "close")


class Sized(metaclass=ABCMeta):
    _protocol = ("__len__",)
    __subclasshook__ = _has("__len__")

    @abstractmethod
    def __len__(self):
        return 0


class Container(metaclass=ABCMeta):
    _protocol = ("__contains__",)
    __subclasshook__ = _has("__contains__")

    @abstractmethod
    def __contains__(self, x):
        return False

    def __class_getitem__(cls, item):
        return _cobra.generic_alias(cls, item)


class Collection(Sized, Iterable, Container):
    _protocol = ("__len__", "__iter__", "__contains__")
    __subclasshook__ = _has("__len__", "__iter__", "__contains__")


class Callable(metaclass=ABCMeta):
    _protocol = ("__call__",)
    __subclasshook__ = _has("__call__")

    @abstractmethod
    def __call__(self, *args, **kwds):
        return False

    def __class_getitem__(cls, item):
        return _cobra.generic_alias(cls, item)


class Awaitable(metaclass=ABCMeta):
    _protocol = ("__await__",)
    __subclasshook__ = _has("__await__")

    def __class_getitem__(cls, item):
        return _cobra.generic_alias(cls, item)


class Coroutine(Awaitable):
    _protocol = ("__await__", "send", "throw", "close")
    __subclasshook__ = _has("__await__", "send", "throw", "close")


class AsyncIterable(metaclass=ABCMeta):
    _protocol = ("__aiter__",)
    __subclasshook__ = _has("__aiter__")

    def __class_getitem__(cls, item):
        return _cobra.generic_alias(cls, item)


class AsyncIterator(AsyncIterable):
    _protocol = ("__anext__", "__aiter__")
    __subclasshook__ = _has("__anext__", "__aiter__")


class AsyncGenerator(AsyncIterator):
    _protocol = ("__aiter__", "__anext__", "asend", "athrow", "aclose")
    __subclasshook__ = _has("__aiter__", "__anext__", "asend", "athrow", "aclose")


class Set(Collection):
    def __le__(self, other):
        return len(self) <= len(other) and all(e in other for e in self)

    def __lt__(self, other):
        return len(self) < len(other) and self.__le__(other)

    def __ge__(self, other):
        return len(self) >= len(other) and all(e in self for e in other)

    def __gt__(self, other):
        return len(self) > len(other) and self.__ge__(other)

    def __eq__(self, other):
        return isinstance(other, Set) and len(self) == len(other) and self.__le__(other)

    @classmethod
    def _from_iterable(cls, it):
        return cls(it)

    def __and__(self, other):
        return self._from_iterable(v for v in other if v in self)

    def __or__(self, other):
        return self._from_iterable(e for s in (self, other) for e in s)

    def __sub__(self, other):
        return self._from_iterable(v for v in self if v not in other)

    def __xor__(self, other):
        return (self - other) | (other - self)

    def isdisjoint(self, other):
        return not any(v in self for v in other)


class MutableSet(Set):
    @abstractmethod
    def add(self, value):
        raise NotImplementedError

    @abstractmethod
    def discard(self, value):
        raise NotImplementedError

    def remove(self, value):
        if value not in self:
            raise KeyError(value)
        self.discard(value)

    def pop(self):
        for value in self:
            self.discard(value)
            return value
        raise KeyError

    def clear(self):
        for value in list(self):
            self.discard(value)

    def __ior__(self, it):
        for value in it:
            self.add(value)
        return self


class Mapping(Collection):
    @abstractmethod
    def __getitem__(self, key):
        raise KeyError

    def get(self, key, default=None):
        try:
            return self[key]
        except KeyError:
            return default

    def __contains__(self, key):
        try:
            self[key]
        except KeyError:
            return False
        return True

    def keys(self):
        return {k: None for k in self}.keys()

    def items(self):
        return {k: self[k] for k in self}.items()

    def values(self):
        return {k: self[k] for k in self}.values()

    def __eq__(self, other):
        if not isinstance(other, Mapping):
            return NotImplemented
        return dict(self.items()) == dict(other.items())

    __hash__ = None


class MutableMapping(Mapping):
    _marker = object()

    @abstractmethod
    def __setitem__(self, key, value):
        raise KeyError

    @abstractmethod
    def __delitem__(self, key):
        raise KeyError

    def pop(self, key, default=_marker):
        try:
            value = self[key]
        except KeyError:
            if default is self._marker:
                raise
            return default
        del self[key]
        return value

    def popitem(self):
        for key in self:
            value = self[key]
            del self[key]
            return key, value
        raise KeyError

    def clear(self):
        for key in list(self):
            del self[key]

    def update(self, other=(), /, **kwds):
        if isinstance(other, Mapping) or hasattr(other, "keys"):
            for key in other.keys():
                self[key] = other[key]
        else:
            for key, value in other:
                self[key] = value
        for key, value in kwds.items():
            self[key] = value

    def setdefault(self, key, default=None):
        try:
            return self[key]
        except KeyError:
            self[key] = default
        return default


class MappingView(Sized):
    pass


class KeysView(MappingView, Set):
    pass


class ItemsView(MappingView, Set):
    pass


class ValuesView(MappingView, Collection):
    pass


class Sequence(Reversible, Collection):
    @abstractmethod
    def __getitem__(self, index):
        raise IndexError

    def __iter__(self):
        i = 0
        try:
            while True:
                yield self[i]
                i += 1
        except IndexError:
            return

    def __contains__(self, value):
        for v in self:
            if v is value or v == value:
                return True
        return False

    def __reversed__(self):
        for i in reversed(range(len(self))):
            yield self[i]

    def index(self, value, start=0, stop=None):
        for i in range(start, len(self) if stop is None else stop):
            if self[i] is value or self[i] == value:
                return i
        raise ValueError

    def count(self, value):
        return sum(1 for v in self if v is value or v == value)


class MutableSequence(Sequence):
    @abstractmethod
    def __setitem__(self, index, value):
        raise IndexError

    @abstractmethod
    def __delitem__(self, index):
        raise IndexError

    @abstractmethod
    def insert(self, index, value):
        raise IndexError

    def append(self, value):
        self.insert(len(self), value)

    def clear(self):
        while len(self):
            self.pop()

    def reverse(self):
        values = list(self)
        for i, v in enumerate(reversed(values)):
            self[i] = v

    def extend(self, values):
        for v in list(values):
            self.append(v)

    def pop(self, index=-1):
        v = self[index]
        del self[index]
        return v

    def remove(self, value):
        del self[self.index(value)]

    def __iadd__(self, values):
        self.extend(values)
        return self


class ByteString(Sequence):
    pass


class Buffer(metaclass=ABCMeta):  # since Python 3.12
    @abstractmethod
    def __buffer__(self, flags, /):
        raise NotImplementedError


Iterator.register(_cobra.iterator)
Generator.register(_cobra.generator)
for _c in (tuple, str, range):
    Sequence.register(_c)
Sequence.register(bytes)
ByteString.register(bytes)
for _c in (bytes, bytearray, memoryview):
    Buffer.register(_c)
MutableSequence.register(list)
Set.register(frozenset)
Set.register(_cobra.dict_keys)
Set.register(_cobra.dict_items)
KeysView.register(_cobra.dict_keys)
ItemsView.register(_cobra.dict_items)
ValuesView.register(_cobra.dict_values)
MutableSet.register(set)
MutableMapping.register(dict)
