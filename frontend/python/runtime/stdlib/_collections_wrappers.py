# The containers of collections that wrap others.
from collections import abc

__name__ = "collections"  # what a program sees as the module of these classes


class ChainMap:
    def __init__(self, *maps):
        self.maps = list(maps) or [{}]

    def __getitem__(self, key):
        for m in self.maps:
            if key in m:
                return m[key]
        raise KeyError(key)

    def get(self, key, default=None):
        return self[key] if key in self else default

    def __setitem__(self, key, value):
        self.maps[0][key] = value

    def __delitem__(self, key):
        del self.maps[0][key]

    def __contains__(self, key):
        return any(key in m for m in self.maps)

    def __iter__(self):
        d = {}
        for m in reversed(self.maps):
            d.update(dict.fromkeys(m))
        return iter(d)

    def __len__(self):
        return len(set().union(*self.maps))

    def keys(self):
        return list(self)

    def values(self):
        return [self[k] for k in self]

    def items(self):
        return [(k, self[k]) for k in self]

    @property
    def parents(self):
        return self.__class__(*self.maps[1:])

    def new_child(self, m=None):
        return ChainMap({} if m is None else m, *self.maps)


class UserDict(abc.MutableMapping):
    def __init__(self, dict=None, /, **kwargs):
        self.data = {}
        if dict is not None:
            self.update(dict)
        if kwargs:
            self.update(kwargs)

    def __len__(self):
        return len(self.data)

    def __getitem__(self, key):
        if key in self.data:
            return self.data[key]
        if hasattr(self.__class__, "__missing__"):
            return self.__class__.__missing__(self, key)
        raise KeyError(key)

    def __setitem__(self, key, item):
        self.data[key] = item

    def __delitem__(self, key):
        del self.data[key]

    def __iter__(self):
        return iter(self.data)

    def __contains__(self, key):
        return key in self.data

    def __repr__(self):
        return repr(self.data)


class UserList(abc.MutableSequence):
    def __init__(self, initlist=None):
        self.data = list(initlist) if initlist is not None else []

    def __len__(self):
        return len(self.data)

    def __getitem__(self, i):
        return self.__class__(self.data[i]) if isinstance(i, slice) else self.data[i]

    def __setitem__(self, i, item):
        self.data[i] = item

    def __delitem__(self, i):
        del self.data[i]

    def insert(self, i, item):
        self.data.insert(i, item)

    def __repr__(self):
        return repr(self.data)

    def __eq__(self, other):
        return self.data == (other.data if isinstance(other, UserList) else other)

    __hash__ = None

    def __lt__(self, other):
        return self.data < (other.data if isinstance(other, UserList) else other)

    def __add__(self, other):
        return self.__class__(self.data + list(other))

    def __radd__(self, other):
        return self.__class__(list(other) + self.data)

    def __iadd__(self, other):
        self.data += list(other)
        return self

    def __mul__(self, n):
        return self.__class__(self.data * n)

    __rmul__ = __mul__

    def sort(self, /, *args, **kwds):
        self.data.sort(*args, **kwds)

    def copy(self):
        return self.__class__(self)


class UserString(abc.Sequence):
    def __init__(self, seq):
        self.data = seq if isinstance(seq, str) else seq.data if isinstance(seq, UserString) else str(seq)

    def __str__(self):
        return self.data

    def __repr__(self):
        return repr(self.data)

    def __hash__(self):
        return hash(self.data)

    def __len__(self):
        return len(self.data)

    def __getitem__(self, index):
        return self.__class__(self.data[index])

    def __contains__(self, char):
        return (char.data if isinstance(char, UserString) else char) in self.data

    def __eq__(self, other):
        return self.data == (other.data if isinstance(other, UserString) else other)

    def __lt__(self, other):
        return self.data < (other.data if isinstance(other, UserString) else other)

    def __add__(self, other):
        return self.__class__(self.data + str(other))

    def __radd__(self, other):
        return self.__class__(str(other) + self.data)

    def __mul__(self, n):
        return self.__class__(self.data * n)

    __rmul__ = __mul__

    def __mod__(self, args):
        return self.__class__(self.data % args)

    def __getattr__(self, name):
        if name == "data" or not hasattr(str, name):
            raise AttributeError(f"'{type(self).__name__}' object has no attribute {name!r}")
        method = getattr(self.data, name)

        def call(*args, **kwargs):
            r = method(*[a.data if isinstance(a, UserString) else a for a in args], **kwargs)
            return self.__class__(r) if isinstance(r, str) else r

        return call
