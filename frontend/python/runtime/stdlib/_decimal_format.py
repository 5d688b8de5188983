# Format specifications of Decimal.
import re

import _decimal_numbers as _n

_SPEC = re.compile(
    r"(?:(?P<fill>.)?(?P<align>[<>=^]))?(?P<sign>[-+ ])?(?P<positive>z)?(?P<zero>0)?(?P<width>\d+)?"
    r"(?P<thousands>,)?(?:\.(?P<precision>\d+))?(?P<type>[eEfFgGn%])?",
    re.S,
)


def _parsed(spec):
    found = _SPEC.fullmatch(spec)
    if found is None or (found["thousands"] and found["type"] == "n") or (found["zero"] and found["align"]):
        raise ValueError("invalid format string")
    return found


def _grouped(digits, least):
    # In threes, with zeros in front until there are `least` characters; a comma is never the first
    # of them.
    while len(digits) + (len(digits) - 1) // 3 < least:
        digits = "0" + digits
    first = (len(digits) - 1) % 3 + 1
    return ",".join([digits[:first]] + [digits[at : at + 3] for at in range(first, len(digits), 3)])


def _padded(sign, body, fill, align, width):
    gap = fill * (width - len(sign) - len(body))
    if align == "=":
        return sign + gap + body
    if align == "<":
        return sign + body + gap
    if align == "^":
        return gap[: len(gap) // 2] + sign + body + gap[len(gap) // 2 :]
    return gap + sign + body


def _rounded(number, kind, precision, mode):
    """(digits as a number, exponent) of what is shown."""
    n, exponent = number._int, number._exp
    if kind == "%":
        exponent += 2
    if precision is not None and kind in "fF%":
        places = -precision - exponent
        if places > 0:
            return _n.cut(mode, number._sign, n, places)[0], -precision
        return n * _n.ten_to(-places) if n else 0, -precision
    if precision is not None and n:
        wanted = precision + 1 if kind in "eE" else max(1, precision)
        digits = _n.digits_of(n)
        if digits > wanted:
            n = _n.cut(mode, number._sign, n, digits - wanted)[0]
            exponent += digits - wanted
            if _n.digits_of(n) > wanted:
                n, exponent = n // 10, exponent + 1
        elif kind in "eE":
            n, exponent = n * _n.ten_to(wanted - digits), exponent - wanted + digits
    if kind in "fF%" and exponent > 0:
        return n * _n.ten_to(exponent), 0
    return n, exponent


def formatted(number, spec, context):
    asked = _parsed(spec)
    kind = asked["type"] or "gG"[context.capitals]
    precision = None if asked["precision"] is None else int(asked["precision"])
    width = int(asked["width"] or 0)
    fill, align = asked["fill"] or " ", asked["align"] or ">"
    if asked["zero"]:
        fill, align = "0", "="
    if number._kind:
        text = number.copy_abs()._text()
        sign = "-" if number._sign else asked["sign"].replace("-", "") if asked["sign"] else ""
        if asked["zero"]:
            fill, align = " ", ">"
        return _padded(sign, text + "%" * (kind == "%"), fill, align, width)
    kind = "g" if kind == "n" else kind
    n, exponent = _rounded(number, kind, precision, context.rounding)
    digits = _n.text_of(n)
    left = exponent + len(digits)
    if kind in "eE":
        point = 1 - precision if not n and precision is not None else 1
    elif kind in "fF%":
        point = left
    else:
        point = left if exponent <= 0 and left > -6 else 1
    if point <= 0:
        whole, part = "0", "0" * -point + digits
    else:
        whole, part = digits[:point].ljust(point, "0"), digits[point:]
    negative = number._sign and not (asked["positive"] and not n)
    sign = "-" if negative else asked["sign"].replace("-", "") if asked["sign"] else ""
    rest = "." + part if part else ""
    if left != point or kind in "eE":
        rest += ("e" if kind in "eg" else "E") + "%+d" % (left - point)
    rest += "%" * (kind == "%")
    zeros = width - len(sign) - len(rest) if fill == "0" and align == "=" else 0
    if asked["thousands"]:
        whole = _grouped(whole, zeros)
    else:
        whole = whole.zfill(max(0, zeros))
    return _padded(sign, whole + rest, fill, align, width)
