# numpy.load of small files beside the code (.npy, .npz).
import ast
import math

import numpy as np
import torch

_MOST = 1 << 15  # bytes of an array whose numbers are read; those of larger ones stay unknown
_HEADER = 1 << 12  # bytes in which the shape and type of an array are
_LENGTHS = [
    3,
    4,
    5,
    6,
    7,
    8,
    9,
    10,
    11,
    13,
    15,
    17,
    19,
    23,
    27,
    31,
    35,
    43,
    51,
    59,
    67,
    83,
    99,
    115,
    131,
    163,
    195,
    227,
    258,
]
_ORDER = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15]


class _Bits:
    def __init__(self, data):
        self.data, self.at, self.held, self.count = data, 0, 0, 0

    def take(self, n):
        while self.count < n:
            self.held |= self.data[self.at] << self.count
            self.at += 1
            self.count += 8
        bits = self.held & ((1 << n) - 1)
        self.held >>= n
        self.count -= n
        return bits

    def symbol(self, codes):
        code = length = 0
        while True:
            code, length = code << 1 | self.take(1), length + 1
            if (length, code) in codes:
                return codes[length, code]


def _codes(lengths):
    # The canonical Huffman code: {(bits, code): symbol}
    codes, code = {}, 0
    for bits in range(1, 16):
        for symbol, length in enumerate(lengths):
            if length == bits:
                codes[bits, code] = symbol
                code += 1
        code <<= 1
    return codes


def _tables(bits):
    literals, distances, given = bits.take(5) + 257, bits.take(5) + 1, bits.take(4) + 4
    lengths = [0] * 19
    for k in _ORDER[:given]:
        lengths[k] = bits.take(3)
    codes, lengths = _codes(lengths), []
    while len(lengths) < literals + distances:
        symbol = bits.symbol(codes)
        if symbol < 16:
            lengths.append(symbol)
        elif symbol == 16:
            lengths += lengths[-1:] * (3 + bits.take(2))
        else:
            lengths += [0] * (3 + bits.take(3) if symbol == 17 else 11 + bits.take(7))
    return _codes(lengths[:literals]), _codes(lengths[literals:])


def _inflated(data, most):
    """What a deflated stream (RFC 1951) holds, or its beginning if that is more than `most` bytes."""
    bits, out, last = _Bits(data), [], 0
    while not last and len(out) < most:
        last, kind = bits.take(1), bits.take(2)
        if kind == 0:
            bits.take(bits.count % 8)
            count = bits.take(16)
            bits.take(16)
            out += [bits.take(8) for _ in range(count)]
            continue
        if kind == 1:
            codes = _codes([8] * 144 + [9] * 112 + [7] * 24 + [8] * 8), _codes([5] * 30)
        else:
            codes = _tables(bits)
        while len(out) < most and (symbol := bits.symbol(codes[0])) != 256:
            if symbol < 256:
                out.append(symbol)
                continue
            symbol -= 257
            length = _LENGTHS[symbol] + bits.take(0 if symbol < 8 or symbol == 28 else symbol // 4 - 1)
            symbol = bits.symbol(codes[1])
            more = 0 if symbol < 4 else symbol // 2 - 1
            distance = (symbol if symbol < 4 else (2 + symbol % 2) << more) + bits.take(more) + 1
            for _ in range(length):
                out.append(out[-distance])
    return bytes(out)


def _float(bits, exponent_bits, fraction_bits):
    sign = -1.0 if bits >> (exponent_bits + fraction_bits) else 1.0
    exponent, fraction = bits >> fraction_bits & ((1 << exponent_bits) - 1), bits & ((1 << fraction_bits) - 1)
    bias = (1 << (exponent_bits - 1)) - 1
    if exponent == (1 << exponent_bits) - 1:
        return sign * (np.nan if fraction else np.inf)
    if exponent:
        fraction |= 1 << fraction_bits
    return sign * fraction * 2.0 ** (max(exponent, 1) - bias - fraction_bits)


_FLOATS = {2: (5, 10), 4: (8, 23), 8: (11, 52)}


class _Unread:
    # An array beside others that is of text or of records. It may be there; nothing can be asked of it.
    def __init__(self, kind):
        self._kind = kind

    def __getattr__(self, name):
        torch._unsupported("numpy.load of arrays of %r" % (self._kind,))


def _array(data):
    """The array of a .npy file."""
    if data[:6] != b"\x93NUMPY":
        torch._unsupported("numpy.load of a file that is not .npy or .npz", "arrays of Python objects are not read")
    wide = 2 if data[6] == 1 else 4
    end = 8 + wide + int.from_bytes(data[8 : 8 + wide], "little")
    header = ast.literal_eval(data[8 + wide : end].decode("latin-1").strip())
    kind, shape = header["descr"], header["shape"]
    if not isinstance(kind, str) or kind[1] not in "biuf":
        return _Unread(kind)
    size, order = int(kind[2:]), "big" if kind[0] == ">" else "little"
    made = np.dtype("bool" if kind[1] == "b" else kind[1:])
    if size * math.prod(shape) > _MOST:
        return np.empty(shape, dtype=made)
    values = []
    for at in range(end, len(data), size):
        bits = int.from_bytes(data[at : at + size], order, signed=kind[1] == "i")
        values.append(bool(bits) if kind[1] == "b" else _float(bits, *_FLOATS[size]) if kind[1] == "f" else bits)
    made = np.array(values, dtype=made)
    if not header["fortran_order"]:
        return made.reshape(shape)
    return made.reshape(tuple(reversed(shape))).transpose()


class _Archive(dict):
    files = property(lambda self: list(self))
    f = None

    def close(self):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *raised):
        pass


def _members(data):
    # By the list at the end of the ZIP file.
    def number(at, size):
        return int.from_bytes(data[at : at + size], "little")

    end = data.rfind(b"PK\x05\x06")
    if end < 0:
        raise ValueError("File is not a zip file")
    at = number(end + 16, 4)
    for _ in range(number(end + 10, 2)):
        method, packed, size, name_size = number(at + 10, 2), number(at + 20, 4), number(at + 24, 4), number(at + 28, 2)
        local = number(at + 42, 4)
        name = data[at + 46 : at + 46 + name_size].decode()
        at += 46 + name_size + number(at + 30, 2) + number(at + 32, 2)
        start = local + 30 + number(local + 26, 2) + number(local + 28, 2)
        content = data[start : start + packed]
        if method not in (0, 8):
            torch._unsupported("numpy.load of a ZIP file with compression %d" % method)
        yield name.removesuffix(".npy"), (
            content if method == 0 else _inflated(content, size if size < _MOST + _HEADER else _HEADER)
        )


def load(file, mmap_mode=None, allow_pickle=False, fix_imports=True, encoding="ASCII", **kwargs):
    if hasattr(file, "read"):
        data = file.read()
    else:
        with open(file, "rb") as opened:
            data = opened.read()
    if data[:4] == b"PK\x03\x04":
        return _Archive((name, _array(content)) for name, content in _members(data))
    return _array(data)
