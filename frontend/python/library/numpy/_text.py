# How numpy writes arrays.
import builtins
import math

import torch
from numpy._arrays import asarray
from numpy._types import _shortest

_WIDTH, _MANY, _EDGE, _DIGITS = 75, 1000, 3, 8


def _shortest_digits(value, name):
    # (digits before and behind the point of the shortest text, with at most 8 behind it)
    value = builtins.abs(value if name == "float64" else _shortest(name, value))
    mantissa, _, exponent = repr(value).partition("e")
    behind = len(mantissa.partition(".")[2].rstrip("0")) - int(exponent or 0)
    text = "%.*f" % (builtins.min(builtins.max(behind, 0), _DIGITS), value)
    whole, _, fraction = text.partition(".")
    return whole, fraction.rstrip("0")


def _places_of_mantissa(value, name):
    value = builtins.abs(value if name == "float64" else _shortest(name, value))
    digits = repr(value).partition("e")[0].replace(".", "").strip("0")
    return builtins.min(builtins.max(len(digits) - 1, 0), _DIGITS)


def _float_texts(values, name):
    finite = [v for v in values if math.isfinite(v)]
    sizes = [builtins.abs(v) for v in finite if v]
    large, small = builtins.max(sizes, default=1), builtins.min(sizes, default=1)
    if large >= 1e8 or small < 0.0001 or large / small > 1000.0:
        places = builtins.max(_places_of_mantissa(v, name) for v in finite)
        text = ["%.*e" % (places, v if name == "float64" else _shortest(name, v)) for v in values]
        text = [t if places else t.replace("e", ".e") for t in text]
    else:
        parts = [_shortest_digits(v, name) if math.isfinite(v) else ("", "") for v in values]
        places = builtins.max((len(fraction) for _, fraction in parts), default=0)
        sign = ["-" if math.copysign(1, v) < 0 else "" for v in values]
        text = [s + whole + "." + fraction.ljust(places) for s, (whole, fraction) in zip(sign, parts)]
    return [t if math.isfinite(v) else "nan" if v != v else "inf" if v > 0 else "-inf" for t, v in zip(text, values)]


def _texts(values, a):
    kind = a.dtype.kind
    if kind == "f":
        made = _float_texts(values, a.dtype.name)
    elif kind == "c":
        torch._unsupported("the text of a numpy array of complex numbers")
    else:
        made = [str(v) for v in values]
    width = builtins.max(map(len, made), default=0)
    width = builtins.max(width, 5) if kind == "b" else width
    return [m.rjust(width) for m in made]


def _shown(items, shape, depth, indent, separator):
    # The lines of a nested list of texts.
    between = separator.rstrip()
    if len(shape) > 1:
        parts = [i if i == "..." else _shown(i, shape[1:], depth + 1, indent + " ", separator) for i in items]
        return "[" + (between + "\n" * (len(shape) - 1) + indent).join(parts) + "]"
    lines, line = [], ""
    for k, part in enumerate(items):
        is_last = k + 1 == len(items)
        room = _WIDTH - len(indent) - (depth + 1 if is_last else len(between))
        if line and len(line) + len(part) > room:
            lines.append(line.rstrip())
            line = ""
        line += part if is_last else part + separator
    return "[" + ("\n" + indent).join(lines + [line]) + "]"


def _edges(items, shape):
    # Of many only the first and the last ones.
    if not shape:
        return items
    items = [_edges(i, shape[1:]) for i in items]
    return items[:_EDGE] + ["..."] + items[-_EDGE:] if shape[0] > 2 * _EDGE else items


def _nested(texts, values):
    if not isinstance(values, list):
        return next(texts) if values != "..." else "..."
    return [_nested(texts, v) for v in values]


def _flat(values):
    if not isinstance(values, list):
        return [] if values == "..." else [values]
    return [v for part in values for v in _flat(part)]


def _written(a, prefix, separator):
    if not torch._has_values(a._t):
        return "..."
    values = a.tolist()
    if a.size > _MANY:
        values = _edges(values, a.shape)
    if not a.size:
        return "[]"
    items = _nested(iter(_texts(_flat(values), a)), values)
    return _shown(items, a.shape, 0, " " * (len(prefix) + 1), separator)


def array_str(a, max_line_width=None, precision=None, suppress_small=None):
    a = asarray(a)
    _plain_only("array_str", max_line_width, precision, suppress_small)
    if a.ndim == 0:
        return str(a[()]) if torch._has_values(a._t) else "..."
    return _written(a, "", " ")


def array_repr(arr, max_line_width=None, precision=None, suppress_small=None):
    a = asarray(arr)
    _plain_only("array_repr", max_line_width, precision, suppress_small)
    if a.ndim == 0:
        text = str(a[()]) if torch._has_values(a._t) else "..."
    else:
        text = _written(a, "array(", ", ")
    if not a.size:
        text = "[]" if a.shape == (0,) else "[], shape=%s" % (a.shape,)
    plain = a.dtype.name in ("int64", "float64", "bool", "complex128") and a.size
    if plain:
        return "array(%s)" % text
    last = text.rpartition("\n")[2]
    if len(last) + (6 if last == text else 0) + len(", dtype=%s)" % a.dtype) > _WIDTH:
        return "array(%s,\n      dtype=%s)" % (text, a.dtype)
    return "array(%s, dtype=%s)" % (text, a.dtype)


def _plain_only(name, *given):
    for value in given:
        if value is not None:
            torch._unsupported("numpy.%s() with a format" % name)


def array2string(a, *args, **kwargs):
    if args or kwargs:
        torch._unsupported("numpy.array2string() with a format")
    return array_str(a)


def format_float_positional(x, *args, **kwargs):
    torch._unsupported("numpy.format_float_positional()")


format_float_scientific = format_float_positional


def binary_repr(num, width=None):
    num = int(num)
    if num < 0:
        if width is None:
            return "-" + bin(num)[3:]
        if -num > 1 << (width - 1):
            width = len(bin(num)) - 2
        return bin((1 << width) + num)[2:].rjust(width, "1")
    return bin(num)[2:].rjust(width or 1, "0")


def base_repr(number, base=2, padding=0):
    if not 2 <= base <= 36:
        raise ValueError(
            "Bases greater than 36 not handled in base_repr."
            if base > 36
            else "Bases less than 2 not handled in base_repr."
        )
    digits, value, made = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ", builtins.abs(int(number)), ""
    while value:
        made, value = digits[value % base] + made, value // base
    made = "0" * padding + made if value or made else "0" * (padding - 1) + "0" if padding else "0"
    return "-" + made if number < 0 else made
