# Arrays from bytes.
import builtins
import math

import torch
from numpy import _SIZES
from numpy import dtype as _dtype
from numpy import array, float64, inf, nan


def _float_of(word, bits, digits):
    # IEEE 754; `digits` of the fraction.
    sign, exponent, fraction = (
        word >> (bits - 1),
        word >> digits & (1 << (bits - 1 - digits)) - 1,
        word & (1 << digits) - 1,
    )
    bias = (1 << (bits - 2 - digits)) - 1
    if exponent == 2 * bias + 1:
        value = nan if fraction else inf
    else:
        value = math.ldexp(fraction + (1 << digits if exponent else 0), builtins.max(exponent, 1) - bias - digits)
    return -value if sign else value


def frombuffer(buffer, dtype=float64, count=-1, offset=0):
    if not isinstance(buffer, (bytes, bytearray)):
        raise TypeError("a bytes-like object is required, not '%s'" % type(buffer).__name__)
    if not 0 <= offset <= len(buffer):
        raise ValueError("offset must be non-negative and no greater than buffer length (%d)" % len(buffer))
    if isinstance(dtype, str) and dtype[:1] in "<=|":
        dtype = dtype[1:]
    name = _dtype(dtype).name
    size, buffer = _SIZES[name], bytes(buffer)[offset:]
    if count >= 0:
        if len(buffer) < count * size:
            raise ValueError("buffer is smaller than requested size")
        buffer = buffer[: count * size]
    if len(buffer) % size:
        raise ValueError("buffer size must be a multiple of element size")
    words = [buffer[i : i + size] for i in builtins.range(0, len(buffer), size)]
    if name[0] == "f":
        digits = {2: 10, 4: 23, 8: 52}[size]
        return array([_float_of(int.from_bytes(w, "little"), 8 * size, digits) for w in words], dtype)
    if name[0] == "c":
        torch._unsupported("numpy.frombuffer() of complex numbers")
    return array([int.from_bytes(w, "little", signed=name[0] == "i") for w in words], dtype)
