# Arrays of numbers are lists here that know the size of their items.
from struct import calcsize

typecodes = "bBuhHiIlLqQfd"


class array(list):
    def __init__(self, typecode, initializer=()):
        if typecode not in typecodes:
            raise ValueError("bad typecode (must be b, B, u, h, H, i, I, l, L, q, Q, f or d)")
        if isinstance(initializer, (bytes, bytearray)):
            size = calcsize(typecode)
            initializer = [
                int.from_bytes(initializer[i : i + size], "little", signed=typecode.islower())
                for i in range(0, len(initializer), size)
            ]
        super().__init__(initializer)
        self.typecode, self.itemsize = typecode, calcsize(typecode) if typecode != "u" else 4

    def __getitem__(self, index):
        found = super().__getitem__(index)
        return array(self.typecode, found) if isinstance(index, slice) else found

    def __add__(self, other):
        return array(self.typecode, super().__add__(other))

    def __mul__(self, times):
        return array(self.typecode, super().__mul__(times))

    def tolist(self):
        return list(self)

    def fromlist(self, items):
        self.extend(items)

    def __repr__(self):
        return f"array({self.typecode!r}, {list(self)!r})" if self else f"array({self.typecode!r})"


ArrayType = array
