from collections import abc


class OrderedDict(dict):
    def move_to_end(self, key, last=True):
        self._move_to_end(key, last)

    def __repr__(self):
        if not self:
            return f"{self.__class__.__name__}()"
        return f"{self.__class__.__name__}({list(self.items())!r})"

    def copy(self):
        return self.__class__(self)

    __copy__ = copy

    def __eq__(self, other):
        if isinstance(other, OrderedDict):
            return dict.__eq__(self, other) and list(self) == list(other)
        return dict.__eq__(self, other)

    __hash__ = None


class defaultdict(dict):
    def __init__(self, default_factory=None, /, *args, **kwargs):
        if default_factory is not None and not callable(default_factory):
            raise TypeError("first argument must be callable or None")
        dict.__init__(self, *args, **kwargs)
        self.default_factory = default_factory

    def __missing__(self, key):
        if self.default_factory is None:
            raise KeyError(key)
        value = self[key] = self.default_factory()
        return value

    def __repr__(self):
        return f"defaultdict({self.default_factory!r}, {dict.__repr__(self)})"

    def copy(self):
        return type(self)(self.default_factory, self)

    __copy__ = copy


class Counter(dict):
    def __init__(self, iterable=None, /, **kwds):
        dict.__init__(self)
        self.update(iterable, **kwds)

    def __missing__(self, key):
        return 0

    def update(self, iterable=None, /, **kwds):
        if iterable is not None:
            if isinstance(iterable, abc.Mapping):
                for key, n in iterable.items():
                    self[key] = n + self.get(key, 0)
            else:
                for key in iterable:
                    self[key] = self.get(key, 0) + 1
        if kwds:
            self.update(kwds)

    def subtract(self, iterable=None, /, **kwds):
        if iterable is not None:
            if isinstance(iterable, abc.Mapping):
                for key, n in iterable.items():
                    self[key] = self.get(key, 0) - n
            else:
                for key in iterable:
                    self[key] = self.get(key, 0) - 1
        if kwds:
            self.subtract(kwds)

    def most_common(self, n=None):
        items = sorted(self.items(), key=lambda item: item[1], reverse=True)
        return items if n is None else items[:n]

    def elements(self):
        return (key for key, n in self.items() for _ in range(n))

    def total(self):
        return sum(self.values())

    def copy(self):
        return self.__class__(self)

    def __repr__(self):
        if not self:
            return f"{self.__class__.__name__}()"
        return f"{self.__class__.__name__}({{" + ", ".join("%r: %r" % item for item in self.most_common()) + "})"

    def __eq__(self, other):
        return (
            all(self[e] == other[e] for c in (self, other) for e in c) if isinstance(other, Counter) else NotImplemented
        )

    def __ne__(self, other):
        return not self == other if isinstance(other, Counter) else NotImplemented

    __hash__ = None

    def __le__(self, other):
        return (
            all(self[e] <= other[e] for c in (self, other) for e in c) if isinstance(other, Counter) else NotImplemented
        )

    def __lt__(self, other):
        return self <= other and self != other if isinstance(other, Counter) else NotImplemented

    def __ge__(self, other):
        return (
            all(self[e] >= other[e] for c in (self, other) for e in c) if isinstance(other, Counter) else NotImplemented
        )

    def __gt__(self, other):
        return self >= other and self != other if isinstance(other, Counter) else NotImplemented

    def _combined(self, other, operation):
        if not isinstance(other, Counter):
            return NotImplemented
        result = Counter()
        for key in [*self, *(k for k in other if k not in self)]:
            n = operation(self[key], other[key])
            if n > 0:
                result[key] = n
        return result

    def __add__(self, other):
        return self._combined(other, lambda a, b: a + b)

    def __sub__(self, other):
        return self._combined(other, lambda a, b: a - b)

    def __or__(self, other):
        return self._combined(other, lambda a, b: b if a < b else a)

    def __and__(self, other):
        return self._combined(other, lambda a, b: a if a < b else b)

    def __pos__(self):
        return Counter({k: n for k, n in self.items() if n > 0})

    def __neg__(self):
        return Counter({k: -n for k, n in self.items() if n < 0})

    def _keep_positive(self):
        for key in [k for k, n in self.items() if not n > 0]:
            del self[key]
        return self

    def __iadd__(self, other):
        for key, n in other.items():
            self[key] += n
        return self._keep_positive()

    def __isub__(self, other):
        for key, n in other.items():
            self[key] -= n
        return self._keep_positive()

    def __ior__(self, other):
        for key, n in other.items():
            if n > self[key]:
                self[key] = n
        return self._keep_positive()

    def __iand__(self, other):
        for key, n in self.items():
            if other[key] < n:
                self[key] = other[key]
        return self._keep_positive()

    @classmethod
    def fromkeys(cls, iterable, v=None):
        raise NotImplementedError("Counter.fromkeys() is undefined.  Use Counter(iterable) instead.")

    def __delitem__(self, key):
        if key in self:
            dict.__delitem__(self, key)


class deque:
    def __add__(self, other):
        if not isinstance(other, deque):
            raise TypeError(f'can only concatenate deque (not "{type(other).__name__}") to deque')
        return self.__class__([*self._items, *other._items], self.maxlen)

    def __iadd__(self, other):
        self.extend(other)
        return self

    def __mul__(self, n):
        return self.__class__(self._items * n, self.maxlen)

    __rmul__ = __mul__

    def __lt__(self, other):
        return self._items < other._items if isinstance(other, deque) else NotImplemented

    def __le__(self, other):
        return self._items <= other._items if isinstance(other, deque) else NotImplemented

    def __gt__(self, other):
        return self._items > other._items if isinstance(other, deque) else NotImplemented

    def __ge__(self, other):
        return self._items >= other._items if isinstance(other, deque) else NotImplemented

    def __init__(self, iterable=(), maxlen=None):
        self._items = []
        self.maxlen = maxlen
        self.extend(iterable)

    def append(self, x):
        self._items.append(x)
        if self.maxlen is not None and len(self._items) > self.maxlen:
            del self._items[0]

    def appendleft(self, x):
        self._items.insert(0, x)
        if self.maxlen is not None and len(self._items) > self.maxlen:
            self._items.pop()

    def extend(self, iterable):
        for x in list(iterable):
            self.append(x)

    def extendleft(self, iterable):
        for x in list(iterable):
            self.appendleft(x)

    def pop(self):
        if not self._items:
            raise IndexError("pop from an empty deque")
        return self._items.pop()

    def popleft(self):
        if not self._items:
            raise IndexError("pop from an empty deque")
        return self._items.pop(0)

    def clear(self):
        self._items.clear()

    def copy(self):
        return type(self)(self._items, self.maxlen)

    __copy__ = copy

    def count(self, x):
        return self._items.count(x)

    def index(self, x, *args):
        return self._items.index(x, *args)

    def insert(self, i, x):
        if self.maxlen is not None and len(self._items) >= self.maxlen:
            raise IndexError("deque already at its maximum size")
        self._items.insert(i, x)

    def remove(self, x):
        self._items.remove(x)

    def reverse(self):
        self._items.reverse()

    def rotate(self, n=1):
        if self._items:
            n %= len(self._items)
            self._items[:] = self._items[-n:] + self._items[:-n]

    def __len__(self):
        return len(self._items)

    def __iter__(self):
        return iter(self._items)

    def __reversed__(self):
        return reversed(self._items)

    def __getitem__(self, i):
        try:
            return self._items[i]
        except IndexError:
            raise IndexError("deque index out of range") from None

    def __setitem__(self, i, value):
        self._items[i] = value

    def __delitem__(self, i):
        del self._items[i]

    def __contains__(self, x):
        return x in self._items

    def __eq__(self, other):
        return self._items == other._items if isinstance(other, deque) else NotImplemented

    __hash__ = None

    def __iadd__(self, other):
        self.extend(other)
        return self

    def __add__(self, other):
        result = self.copy()
        result.extend(other)
        return result

    def __repr__(self):
        if self.maxlen is None:
            return f"deque({self._items!r})"
        return f"deque({self._items!r}, maxlen={self.maxlen})"


class _field:
    def __init__(self, index):
        self.index = index

    def __get__(self, instance, owner=None):
        return self if instance is None else tuple.__getitem__(instance, self.index)

    def __set__(self, instance, value):
        raise AttributeError("can't set attribute")


_keywords = {
    "False",
    "None",
    "True",
    "and",
    "as",
    "assert",
    "async",
    "await",
    "break",
    "class",
    "continue",
    "def",
    "del",
    "elif",
    "else",
    "except",
    "finally",
    "for",
    "from",
    "global",
    "if",
    "import",
    "in",
    "is",
    "lambda",
    "nonlocal",
    "not",
    "or",
    "pass",
    "raise",
    "return",
    "try",
    "while",
    "with",
    "yield",
}


def namedtuple(typename, field_names, *, rename=False, defaults=None, module=None):
    if isinstance(field_names, str):
        field_names = field_names.replace(",", " ").split()
    names = [str(n) for n in field_names]
    seen = set()
    for i, name in enumerate(names):
        if rename and (not name.isidentifier() or name in _keywords or name.startswith("_") or name in seen):
            names[i] = f"_{i}"
        seen.add(names[i])
    for name in [typename, *names]:
        if not name.isidentifier():
            raise ValueError(f"Type names and field names must be valid identifiers: {name!r}")
        if name in _keywords:
            raise ValueError(f"Type names and field names cannot be a keyword: {name!r}")
    seen = set()
    for name in names:
        if name.startswith("_") and not rename:
            raise ValueError(f"Field names cannot start with an underscore: {name!r}")
        if name in seen:
            raise ValueError(f"Encountered duplicate field name: {name!r}")
        seen.add(name)
    fields = tuple(names)
    defaults = () if defaults is None else tuple(defaults)
    if len(defaults) > len(fields):
        raise TypeError("Got more default values than field names")
    field_defaults = dict(zip(fields[len(fields) - len(defaults) :], defaults))
    n = len(fields)

    # As in CPython: its parameters are the fields, and a program may give them other __defaults__.
    parameters = "".join(f"{name}, " for name in fields)
    __new__ = eval(
        f"lambda _cls, {parameters}: _new(_cls, ({parameters}))", {"_new": tuple.__new__, "__builtins__": {}}
    )
    __new__.__name__ = "__new__"
    __new__.__qualname__ = f"{typename}.__new__"
    if defaults:
        __new__.__defaults__ = defaults

    @classmethod
    def _make(cls, iterable):
        values = tuple(iterable)
        if len(values) != n:
            raise TypeError(f"Expected {n} arguments, got {len(values)}")
        return tuple.__new__(cls, values)

    def _replace(self, /, **kwds):
        result = self._make(kwds.pop(name, value) for name, value in zip(fields, self))
        if kwds:
            raise ValueError(f"Got unexpected field names: {list(kwds)!r}")
        return result

    def __repr__(self):
        return self.__class__.__name__ + "(" + ", ".join(f"{k}={v!r}" for k, v in zip(fields, self)) + ")"

    def _asdict(self):
        return dict(zip(fields, self))

    def __getnewargs__(self):
        return tuple(self)

    namespace = {
        "__doc__": f'{typename}({", ".join(fields)})',
        "__slots__": (),
        "_fields": fields,
        "_field_defaults": field_defaults,
        "__new__": __new__,
        "_make": _make,
        "_replace": _replace,
        "__repr__": __repr__,
        "_asdict": _asdict,
        "__getnewargs__": __getnewargs__,
        "__match_args__": fields,
    }
    for i, name in enumerate(fields):
        namespace[name] = _field(i)
    if module is None:
        import _cobra

        module = _cobra.caller_module()
    namespace["__module__"] = module
    return type(typename, (tuple,), namespace)


from _collections_wrappers import ChainMap, UserDict, UserList, UserString
