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
    name = _dtype(dtype).name
    size, buffer = _SIZES[name], bytes(buffer)[offset:]
    if count >= 0:
        buffer = buffer[: count * size]
    if len(buffer) % size or len(buffer) < count * size:
        raise ValueError("buffer size must be a multiple of element size")
    words = [buffer[i : i + size] for i in builtins.range(0, len(buffer), size)]
    if name[0] == "f":
        digits = {2: 10, 4: 23, 8: 52}[size]
        return array([_float_of(int.from_bytes(w, "little"), 8 * size, digits) for w in words], dtype)
    if name[0] == "c":
        torch._unsupported("numpy.frombuffer() of complex numbers")
    return array([int.from_bytes(w, "little", signed=name[0] == "i") for w in words], dtype)
