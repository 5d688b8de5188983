# bytearray and memoryview: model code hardly touches them, so they are Python around bytes.


def _plain(v):
    return v._b if isinstance(v, bytearray) else v


class bytearray:
    __slots__ = ("_b",)
    __module__ = "builtins"
    __hash__ = None

    def __init__(self, source=b"", encoding=None, errors="strict"):
        if isinstance(source, str):
            if encoding is None:
                raise TypeError("string argument without an encoding")
            source = source.encode(encoding, errors)
        self._b = bytes(_plain(source))

    @classmethod
    def fromhex(cls, text):
        return cls(bytes.fromhex(text))

    def __bytes__(self):
        return self._b

    def __repr__(self):
        return f"bytearray({self._b!r})"

    def __len__(self):
        return len(self._b)

    def __iter__(self):
        i = 0
        while i < len(self._b):
            yield self._b[i]
            i += 1

    def __contains__(self, v):
        return _plain(v) in self._b

    def __getitem__(self, key):
        v = self._b[key]
        return bytearray(v) if isinstance(key, slice) else v

    def _set(self, items):
        for v in items:
            if not hasattr(v, "__index__"):
                raise TypeError(f"'{type(v).__name__}' object cannot be interpreted as an integer")
            if not 0 <= v < 256:
                raise ValueError("byte must be in range(0, 256)")
        self._b = bytes(items)

    def __setitem__(self, key, value):
        items = list(self._b)
        try:
            items[key] = list(_plain(value)) if isinstance(key, slice) else value
        except IndexError:
            raise IndexError("bytearray index out of range") from None
        self._set(items)

    def __delitem__(self, key):
        items = list(self._b)
        del items[key]
        self._b = bytes(items)

    def append(self, value):
        self._set([*self._b, value])

    def extend(self, values):
        self._set([*self._b, *values])

    def insert(self, index, value):
        items = list(self._b)
        items.insert(index, value)
        self._set(items)

    def pop(self, index=-1):
        items = list(self._b)
        if not items:
            raise IndexError("pop from empty bytearray")
        v = items.pop(index)
        self._b = bytes(items)
        return v

    def remove(self, value):
        items = list(self._b)
        if value not in items:
            raise ValueError("value not found in bytearray")
        items.remove(value)
        self._b = bytes(items)

    def reverse(self):
        self._b = self._b[::-1]

    def clear(self):
        self._b = b""

    def copy(self):
        return bytearray(self._b)

    def __add__(self, other):
        return bytearray(self._b + _plain(other))

    def __radd__(self, other):
        return other + self._b

    def __iadd__(self, other):
        self._b += bytes(_plain(other))
        return self

    def __mul__(self, n):
        return bytearray(self._b * n)

    __rmul__ = __mul__

    def __imul__(self, n):
        self._b *= n
        return self

    def __mod__(self, values):
        return bytearray(self._b % values)

    def __eq__(self, other):
        other = _plain(other)
        return self._b == other if isinstance(other, bytes) else NotImplemented

    def __lt__(self, other):
        return self._b < _plain(other)

    def __le__(self, other):
        return self._b <= _plain(other)

    def __gt__(self, other):
        return self._b > _plain(other)

    def __ge__(self, other):
        return self._b >= _plain(other)

    def join(self, items):
        return bytearray(self._b.join([_plain(i) for i in items]))


def _delegate(name):
    method = getattr(bytes, name)

    def call(self, *args):
        r = method(self._b, *[_plain(a) for a in args])
        if isinstance(r, bytes):
            return bytearray(r)
        if isinstance(r, (list, tuple)):
            return type(r)([bytearray(v) for v in r])
        return r

    call.__name__ = name
    setattr(bytearray, name, call)


for _name in (
    "capitalize",
    "center",
    "count",
    "decode",
    "endswith",
    "expandtabs",
    "find",
    "hex",
    "index",
    "isalnum",
    "isalpha",
    "isascii",
    "isdigit",
    "islower",
    "isspace",
    "istitle",
    "isupper",
    "ljust",
    "lower",
    "lstrip",
    "partition",
    "removeprefix",
    "removesuffix",
    "replace",
    "rfind",
    "rindex",
    "rjust",
    "rpartition",
    "rsplit",
    "rstrip",
    "split",
    "splitlines",
    "startswith",
    "strip",
    "swapcase",
    "title",
    "translate",
    "upper",
    "zfill",
):
    _delegate(_name)


class memoryview:
    __module__ = "builtins"
    format = "B"
    itemsize = 1
    ndim = 1

    def __init__(self, obj):
        if not isinstance(obj, (bytes, bytearray, memoryview)):
            raise TypeError(f"memoryview: a bytes-like object is required, not '{type(obj).__name__}'")
        self.obj = obj
        self._b = obj if isinstance(obj, bytes) else obj._b
        self.readonly = isinstance(obj, bytes)
        self.nbytes = len(self._b)
        self.shape = (self.nbytes,)

    def __len__(self):
        return len(self._b)

    def __getitem__(self, key):
        v = self._b[key]
        return memoryview(v) if isinstance(key, slice) else v

    def __iter__(self):
        return iter(self._b)

    def __bytes__(self):
        return self._b

    def __eq__(self, other):
        return self._b == bytes(other)

    def __hash__(self):
        return hash(self._b)

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        pass

    def tobytes(self):
        return self._b

    def tolist(self):
        return list(self._b)

    def hex(self):
        return self._b.hex()

    def release(self):
        pass

    def __repr__(self):
        return f"<memory at {hex(id(self))}>"
