# Digests in Python: of short texts, by which libraries tell configurations apart.
_MASK = 0xFFFFFFFF


def _roots(power, bits):
    # The first bits of the fractions of the square or cube roots of the first 64 primes.
    primes, n = [], 2
    while len(primes) < 64:
        if all(n % p for p in primes):
            primes.append(n)
        n += 1
    out = []
    for p in primes:
        scaled, low, high = p << (bits * power), 0, p << bits
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if middle ** power <= scaled else (low, middle - 1)
        out.append(low & ((1 << bits) - 1))
    return out


def _right(x, n):
    return (x >> n | x << (32 - n)) & _MASK


def _left(x, n):
    return (x << n | x >> (32 - n)) & _MASK


def _words(block, order):
    return [int.from_bytes(block[i : i + 4], order) for i in range(0, 64, 4)]


def _sha256(state, block):
    w = _words(block, "big")
    for i in range(16, 64):
        x, y = w[i - 15], w[i - 2]
        s0 = _right(x, 7) ^ _right(x, 18) ^ x >> 3
        s1 = _right(y, 17) ^ _right(y, 19) ^ y >> 10
        w.append((w[i - 16] + s0 + w[i - 7] + s1) & _MASK)
    a, b, c, d, e, f, g, h = state
    for k, x in zip(_sha256_constants, w):
        t = h + (_right(e, 6) ^ _right(e, 11) ^ _right(e, 25)) + (e & f ^ ~e & g) + k + x
        u = (_right(a, 2) ^ _right(a, 13) ^ _right(a, 22)) + (a & b ^ a & c ^ b & c)
        a, b, c, d, e, f, g, h = (t + u) & _MASK, a, b, c, (d + t) & _MASK, e, f, g
    return [(s + n) & _MASK for s, n in zip(state, (a, b, c, d, e, f, g, h))]


def _sha1(state, block):
    w = _words(block, "big")
    for i in range(16, 80):
        w.append(_left(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1))
    a, b, c, d, e = state
    for i, x in enumerate(w):
        if i < 20:
            f, k = b & c | ~b & d, 0x5A827999
        elif i < 40:
            f, k = b ^ c ^ d, 0x6ED9EBA1
        elif i < 60:
            f, k = b & c | b & d | c & d, 0x8F1BBCDC
        else:
            f, k = b ^ c ^ d, 0xCA62C1D6
        a, b, c, d, e = (_left(a, 5) + (f & _MASK) + e + k + x) & _MASK, a, _left(b, 30), c, d
    return [(s + n) & _MASK for s, n in zip(state, (a, b, c, d, e))]


_MD5_TURNS = ((7, 12, 17, 22), (5, 9, 14, 20), (4, 11, 16, 23), (6, 10, 15, 21))


def _md5(state, block):
    w = _words(block, "little")
    a, b, c, d = state
    for i in range(64):
        if i < 16:
            f, g = b & c | ~b & d, i
        elif i < 32:
            f, g = d & b | ~d & c, (5 * i + 1) % 16
        elif i < 48:
            f, g = b ^ c ^ d, (3 * i + 5) % 16
        else:
            f, g = c ^ (b | ~d & _MASK), 7 * i % 16
        f = ((f & _MASK) + a + _md5_constants[i] + w[g]) & _MASK
        a, b, c, d = d, (b + _left(f, _MD5_TURNS[i // 16][i % 4])) & _MASK, b, c
    return [(s + n) & _MASK for s, n in zip(state, (a, b, c, d))]


_sha256_constants = _md5_constants = None


class _Hash:
    block_size = 64

    def __init__(self, name, data=b""):
        global _sha256_constants, _md5_constants
        self.name = name
        if name == "sha256":
            if _sha256_constants is None:
                _sha256_constants = _roots(3, 32)
            self._state, self._turn, self._order = _roots(2, 32)[:8], _sha256, "big"
        elif name == "sha1":
            self._state = [0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476, 0xC3D2E1F0]
            self._turn, self._order = _sha1, "big"
        else:
            if _md5_constants is None:
                import math

                _md5_constants = [int(abs(math.sin(i + 1)) * 2**32) for i in range(64)]
            self._state = [0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476]
            self._turn, self._order = _md5, "little"
        self._rest, self._size = b"", 0
        self.digest_size = 4 * len(self._state)
        self.update(data)

    def update(self, data):
        if isinstance(data, str):
            raise TypeError("Strings must be encoded before hashing")
        data = bytes(data)
        self._size += len(data)
        data = self._rest + data
        whole = len(data) // 64 * 64
        for i in range(0, whole, 64):
            self._state = self._turn(self._state, data[i : i + 64])
        self._rest = data[whole:]

    def copy(self):
        made = object.__new__(_Hash)
        made.__dict__.update(self.__dict__)
        return made

    def digest(self):
        end = self.copy()
        size = end._size
        end.update(b"\x80" + b"\0" * ((55 - size) % 64) + (8 * size).to_bytes(8, self._order))
        return b"".join(word.to_bytes(4, self._order) for word in end._state)

    def hexdigest(self):
        return self.digest().hex()


def sha256(string=b"", *, usedforsecurity=True):
    return _Hash("sha256", string)


def sha1(string=b"", *, usedforsecurity=True):
    return _Hash("sha1", string)


def md5(string=b"", *, usedforsecurity=True):
    return _Hash("md5", string)


def new(name, data=b"", *, usedforsecurity=True):
    name = name.lower().replace("-", "")
    if name not in ("md5", "sha1", "sha256"):
        import _cobra

        _cobra.unsupported("hashlib.new(%r)" % name)
    return _Hash(name, data)


algorithms_available = algorithms_guaranteed = {"md5", "sha1", "sha256"}
