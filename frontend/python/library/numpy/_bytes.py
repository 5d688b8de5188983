# Arrays from bytes.
import builtins
import math

import torch
from numpy._arrays import array
from numpy._dtypes import _SIZES, _lacks, _type_name, inf, nan
from numpy._types import float64


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


def frombuffer(buffer, dtype=float64, count=-1, offset=0, *, like=None):
    _lacks("frombuffer", like=like)
    if not isinstance(buffer, (bytes, bytearray)):
        raise TypeError("a bytes-like object is required, not '%s'" % type(buffer).__name__)
    if not 0 <= offset <= len(buffer):
        raise ValueError("offset must be non-negative and no greater than buffer length (%d)" % len(buffer))
    name = _type_name(dtype)
    is_bytearray = isinstance(buffer, bytearray)
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
        made = array([_float_of(int.from_bytes(w, "little"), 8 * size, digits) for w in words], dtype)
    elif name[0] == "c":
        torch._unsupported("numpy.frombuffer() of complex numbers")
    else:
        made = array([int.from_bytes(w, "little", signed=name[0] == "i") for w in words], dtype)
    if is_bytearray:
        made._lock = "writing to what numpy.frombuffer() made of a bytearray"
    else:
        made._lock = made._READ_ONLY
    return made
