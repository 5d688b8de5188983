# Operations of decimal on numbers that have _sign, _int, _exp and _kind.
import math
import re

from _decimal_context import (
    Clamped,
    ConversionSyntax as _ConversionSyntax,
    DivisionByZero,
    DivisionImpossible as _DivisionImpossible,
    DivisionUndefined as _DivisionUndefined,
    Inexact,
    InvalidOperation,
    MAX_EMAX,
    MIN_ETINY,
    Overflow,
    Rounded,
    Subnormal,
    Underflow,
)
from _decimal_numbers import cut, digits_of, exp_of, ln_of, number_of, power_of, sticky, ten_to

Decimal = None  # decimal sets it
_FORM = re.compile(
    r"([-+])?(?:(\d+)(?:\.(\d*))?(?:e([-+]?\d+))?|\.(\d+)(?:e([-+]?\d+))?|(inf(?:inity)?)|(s)?nan(\d*))", re.I
)


def made(sign, n, exponent, kind=""):
    # kind: "" of a number, "F" of an infinity, "n" and "N" (signalling) of what is none; n is then
    # its payload.
    self = object.__new__(Decimal)
    self._sign, self._int, self._exp, self._kind = sign, n, exponent, kind
    return self


def invalid(context, condition=InvalidOperation):
    context._signal([condition])
    return made(0, 0, 0, "n")


def overflow(sign, context, more=(), rounding=None):
    mode = rounding or context.rounding
    largest = mode in ("ROUND_DOWN", "ROUND_05UP", "ROUND_FLOOR" if not sign else "ROUND_CEILING")
    context._signal([Overflow, Inexact, Rounded, *more])
    return made(sign, ten_to(context.prec) - 1, context.Etop()) if largest else made(sign, 0, 0, "F")


def fixed(sign, n, exponent, context, rounding=None, met=()):
    """The number as the context has it. met: conditions that were met before."""
    met, tiny, top = list(met), context.Etiny(), context.Etop()
    if n == 0:
        fitting = min(max(exponent, tiny), top if context.clamp else context.Emax)
        context._signal(met + [Clamped] * (fitting != exponent))
        return made(sign, 0, fitting)
    least = digits_of(n) + exponent - context.prec
    if least > top:
        return overflow(sign, context, met, rounding)
    subnormal = least < tiny
    if subnormal:
        least = tiny
        met.append(Subnormal)
    if exponent < least:
        n, changed = cut(rounding or context.rounding, sign, n, least - exponent)
        if digits_of(n) > context.prec:
            n, least = n // 10, least + 1
        if least > top:
            return overflow(sign, context, met, rounding)
        exponent = least
        met += [Rounded] + [Inexact] * changed + [Underflow] * (changed and subnormal) + [Clamped] * (n == 0)
    elif context.clamp and exponent > top:
        n, exponent = n * ten_to(exponent - top), top
        met.append(Clamped)
    context._signal(met)
    return made(sign, n, exponent)


def quiet(a, context):
    # What is not a number, as a result: its payload is cut to fit.
    payload, places = a._int, context.prec - context.clamp
    if digits_of(payload) > places:
        payload %= ten_to(places)
    return made(a._sign, payload, 0, "n")


def not_numbers(context, *operands):
    """The result if an operand is not a number; None if all are."""
    for kind in "Nn":
        for a in operands:
            if a._kind == kind:
                if kind == "N":
                    context._signal([InvalidOperation])
                return quiet(a, context)
    return None


def order(a, b):
    """-1, 0 or 1 of two numbers or infinities."""
    if a._kind or b._kind:
        x, y = ((-1 if v._sign else 1) if v._kind else 0 for v in (a, b))
        return (x > y) - (x < y)
    if not a._int or not b._int or a._sign != b._sign:
        x, y = ((-1 if v._sign else 1) if v._int else 0 for v in (a, b))
        return (x > y) - (x < y)
    x, y = a.adjusted(), b.adjusted()
    if x == y:
        shift = a._exp - b._exp
        x, y = a._int * ten_to(max(0, shift)), b._int * ten_to(max(0, -shift))
    greater = (x > y) - (x < y)
    return -greater if a._sign else greater


def sum(a, b, context):
    found = not_numbers(context, a, b)
    if found is not None:
        return found
    if a._kind or b._kind:
        if a._kind and b._kind and a._sign != b._sign:
            return invalid(context)
        return made((a if a._kind else b)._sign, 0, 0, "F")
    exponent = min(a._exp, b._exp)
    if not a._int and not b._int:
        sign = a._sign if a._sign == b._sign else int(context.rounding == "ROUND_FLOOR")
        return fixed(sign, 0, exponent, context)
    if not a._int or not b._int:
        value = a if a._int else b
        places = max(0, min(value._exp - exponent, context.prec + 1 - digits_of(value._int)))
        places = max(places, 0)
        return fixed(value._sign, value._int * ten_to(places), value._exp - places, context)
    high, low = (a, b) if a._exp >= b._exp else (b, a)
    low_int, low_exp = low._int, low._exp
    # Of a number far below the last digit, no more is needed than that it is there.
    floor = high._exp + min(-1, digits_of(high._int) - context.prec - 2)
    if low.adjusted() < floor:
        low_int, low_exp = 1, floor
    n = high._int * ten_to(high._exp - low_exp)
    n = (-n if high._sign else n) + (-low_int if low._sign else low_int)
    if n == 0:
        return fixed(int(context.rounding == "ROUND_FLOOR"), 0, exponent, context)
    return fixed(int(n < 0), abs(n), low_exp, context)


def product(a, b, context):
    found = not_numbers(context, a, b)
    if found is not None:
        return found
    sign = a._sign ^ b._sign
    if a._kind or b._kind:
        if any(not v._kind and not v._int for v in (a, b)):
            return invalid(context)
        return made(sign, 0, 0, "F")
    return fixed(sign, a._int * b._int, a._exp + b._exp, context)


def by_zero(a, sign, context):
    if not a._int:
        return invalid(context, _DivisionUndefined)
    context._signal([DivisionByZero])
    return made(sign, 0, 0, "F")


def quotient(a, b, context):
    found = not_numbers(context, a, b)
    if found is not None:
        return found
    sign = a._sign ^ b._sign
    if a._kind:
        return invalid(context) if b._kind else made(sign, 0, 0, "F")
    if b._kind:
        context._signal([Clamped])
        return made(sign, 0, context.Etiny())
    if not b._int:
        return by_zero(a, sign, context)
    ideal = a._exp - b._exp
    if not a._int:
        return fixed(sign, 0, ideal, context)
    shift = digits_of(b._int) - digits_of(a._int) + context.prec + 1
    exponent = ideal - shift
    n, rest = divmod(a._int * ten_to(max(0, shift)), b._int * ten_to(max(0, -shift)))
    if rest:
        n = sticky(n, True)
    else:
        n, exponent = stripped(n, exponent, ideal)
    return fixed(sign, n, exponent, context)


def stripped(n, exponent, most):
    # Without zeros at the end, as long as the exponent is below `most`.
    while exponent < most and n % 10 == 0:
        n, exponent = n // 10, exponent + 1
    return n, exponent


def divided(a, b, context):
    """(quotient as a whole number, remainder), or None where there are too many digits for it."""
    sign, exponent = a._sign ^ b._sign, a._exp if b._kind else min(a._exp, b._exp)
    if not a._int or b._kind or a.adjusted() - b.adjusted() <= -2:
        rest = a._int if b._kind else a._int * ten_to(min(a._exp - exponent, context.prec + 1))
        if a._int and not b._kind and a._exp - exponent > context.prec + 1:
            exponent = a._exp - context.prec - 1
        return (sign, 0), (a._sign, rest, exponent)
    if a.adjusted() - b.adjusted() > context.prec:
        return None
    q, rest = divmod(a._int * ten_to(a._exp - exponent), b._int * ten_to(b._exp - exponent))
    return None if q >= ten_to(context.prec) else ((sign, q), (a._sign, rest, exponent))


def whole_quotient(a, b, context):
    found = not_numbers(context, a, b)
    if found is not None:
        return found
    sign = a._sign ^ b._sign
    if a._kind:
        return invalid(context) if b._kind else made(sign, 0, 0, "F")
    if not b._kind and not b._int:
        return by_zero(a, sign, context)
    parts = divided(a, b, context)
    return invalid(context, _DivisionImpossible) if parts is None else fixed(*parts[0], 0, context)


def remainder(a, b, context):
    found = not_numbers(context, a, b)
    if found is not None:
        return found
    if a._kind:
        return invalid(context)
    if not b._kind and not b._int:
        return invalid(context, InvalidOperation if a._int else _DivisionUndefined)
    parts = divided(a, b, context)
    return invalid(context, _DivisionImpossible) if parts is None else fixed(*parts[1], context)


def both(a, b, context):
    found = not_numbers(context, a, b)
    if found is not None:
        return found, found
    if a._kind:
        first = invalid(context) if b._kind else made(a._sign ^ b._sign, 0, 0, "F")
        return first, first if b._kind else invalid(context)
    if not b._kind and not b._int:
        if not a._int:
            return (invalid(context, _DivisionUndefined),) * 2
        context._signal([DivisionByZero, InvalidOperation])
        return made(a._sign ^ b._sign, 0, 0, "F"), made(0, 0, 0, "n")
    parts = divided(a, b, context)
    if parts is None:
        return (invalid(context, _DivisionImpossible),) * 2
    return fixed(*parts[0], 0, context), fixed(*parts[1], context)


def modular(a, b, modulo, context):
    found = not_numbers(context, a, b, modulo)
    if found is not None:
        return found
    whole = all(v._is_whole() for v in (a, b, modulo))
    if (
        not whole
        or b._sign
        and b._int
        or not modulo._int
        or modulo.adjusted() >= context.prec
        or not (a._int or b._int)
    ):
        return invalid(context)
    rest = pow(int(a.copy_abs()), int(b), abs(int(modulo)))
    return made(int(bool(a._sign and int(b) % 2)), rest, 0)


def power(a, b, context):
    found = not_numbers(context, a, b)
    if found is not None:
        return found
    if not b._kind and not b._int:
        return made(0, 1, 0) if a._kind or a._int else invalid(context)
    whole = b._is_whole()
    sign = a._sign if whole and b._exp <= 0 and int(b) % 2 else 0
    if a._sign and not whole and (a._kind or a._int):
        if not b._kind or not a._kind:
            return invalid(context)
    if a._kind or not a._int:
        infinite = bool(a._kind) != bool(b._sign)
        return made(sign, 0, 0, "F" if infinite else "")
    ranked = order(a.copy_abs(), made(0, 1, 0))
    if b._kind:
        if ranked == 0:
            context._signal([Inexact, Rounded])
            return made(0, ten_to(context.prec - 1), 1 - context.prec)
        return made(0, 0, 0, "F" if (ranked > 0) != bool(b._sign) else "")
    if ranked == 0 and not whole:
        context._signal([Inexact, Rounded])
        return made(0, ten_to(context.prec - 1), 1 - context.prec)
    if ranked == 0:
        places = min(-a._exp * int(b.copy_abs()) if b.adjusted() < 20 else context.prec, context.prec - 1)
        return fixed(sign, ten_to(max(0, places)), -max(0, places), context)
    times = int(b.copy_abs()) if whole and b.adjusted() < 10 else None
    if times is not None and digits_of(a._int) * times <= 4 * context.prec + 1000:
        n, exponent = a._int**times, a._exp * times
        if not b._sign:
            return fixed(sign, n, exponent, context)
        return quotient(made(0, 1, 0), made(sign, n, exponent), context)
    # Far from 1, a large exponent leaves the range. How near a number is to 1 tells its first digit
    # that is not that of 1.
    near = digits_of(abs(a._int - ten_to(-a._exp))) + a._exp if a._exp < 0 else 1
    if b.adjusted() + min(near, 1) > digits_of(max(context.Emax, -context.Emin)) + 3:
        if (ranked > 0) != bool(b._sign):
            return overflow(sign, context)
        return fixed(sign, 1, context.Etiny() - 2, context, met=[Inexact, Rounded])
    _, n, exponent = power_of(a._int, a._exp, b._sign, b._int, b._exp, context.prec)
    return fixed(sign, n, exponent, context, met=[Inexact, Rounded])


def square_root(a, context):
    found = not_numbers(context, a)
    if found is not None:
        return found
    if a._kind:
        return invalid(context) if a._sign else a
    if not a._int:
        return fixed(a._sign, 0, a._exp // 2, context)
    if a._sign:
        return invalid(context)
    n, ideal = (a._int * 10, a._exp // 2) if a._exp % 2 else (a._int, a._exp // 2)
    shift = context.prec + 1 - (digits_of(n) + 1) // 2
    scaled = n * ten_to(2 * shift) if shift >= 0 else n // ten_to(-2 * shift)
    exact = shift >= 0 or scaled * ten_to(-2 * shift) == n
    root = math.isqrt(scaled)
    exact = exact and root * root == scaled
    if exact and shift >= 0:
        root, exponent = stripped(root, ideal - shift, ideal)
    else:
        root, exponent = sticky(root, not exact), ideal - shift
    return fixed(0, root, exponent, context, "ROUND_HALF_EVEN")


def exponential(a, context):
    found = not_numbers(context, a)
    if found is not None:
        return found
    if a._kind:
        return made(0, 0, 0) if a._sign else a
    if not a._int:
        return made(0, 1, 0)
    adjusted = a.adjusted()
    if adjusted > digits_of(max(context.Emax, -context.Emin)) + 1:
        if not a._sign:
            return overflow(0, context, rounding="ROUND_HALF_EVEN")
        return fixed(0, 1, context.Etiny() - 2, context, "ROUND_HALF_EVEN", [Inexact, Rounded])
    if adjusted < -context.prec - 1:
        unit = ten_to(context.prec + 1)
        return fixed(0, unit + (-1 if a._sign else 1), -context.prec - 1, context, "ROUND_HALF_EVEN")
    _, n, exponent = exp_of(a._sign, a._int, a._exp, context.prec)
    return fixed(0, n, exponent, context, "ROUND_HALF_EVEN", [Inexact, Rounded])


def logarithm(a, context, base_ten):
    found = not_numbers(context, a)
    if found is not None:
        return found
    if not a._kind and not a._int:
        return made(1, 0, 0, "F")
    if a._sign:
        return invalid(context)
    if a._kind:
        return a
    if base_ten:
        n, exponent = stripped(a._int, a._exp, a.adjusted() + 1)
        if n == 1:
            return fixed(int(exponent < 0), abs(exponent), 0, context, "ROUND_HALF_EVEN")
    elif order(a, made(0, 1, 0)) == 0:
        return made(0, 0, 0)
    sign, n, exponent = ln_of(a._int, a._exp, context.prec, base_ten)
    return fixed(sign, n, exponent, context, "ROUND_HALF_EVEN")


def total(a, b):
    """The order of compare_total: numbers below what is none, and of equal ones the larger exponent
    above."""
    if a._sign != b._sign:
        return -1 if a._sign else 1
    ranks = [{"": 0, "F": 1, "N": 2, "n": 3}[v._kind] for v in (a, b)]
    if ranks[0] != ranks[1]:
        ranked = (ranks[0] > ranks[1]) - (ranks[0] < ranks[1])
    elif ranks[0] >= 2:
        ranked = (a._int > b._int) - (a._int < b._int)
    elif ranks[0] == 1:
        ranked = 0
    else:
        ranked = order(a.copy_abs(), b.copy_abs()) or (a._exp > b._exp) - (a._exp < b._exp)
    return -ranked if a._sign else ranked


def from_text(text, context):
    found = _FORM.fullmatch(text.strip().replace("_", ""))
    if found is None:
        return invalid(context, _ConversionSyntax)
    minus = int(found[1] == "-")
    if found[7]:
        return made(minus, 0, 0, "F")
    if found[2] is None and found[5] is None:
        return made(minus, number_of(found[9]), 0, "N" if found[8] else "n")
    whole, part = found[2] or "", found[3] or found[5] or ""
    exponent = int(found[4] or found[6] or "0") - len(part)
    n = number_of(whole + part)
    if not MIN_ETINY <= exponent or (n and digits_of(n) + exponent - 1 > MAX_EMAX):
        return invalid(context)
    return made(minus, n, exponent)


def from_tuple(value):
    if len(value) != 3:
        raise ValueError("argument must be a sequence of length 3")
    sign, digits, exponent = value
    if sign not in (0, 1):
        raise ValueError("sign must be an integer with the value 0 or 1")
    if exponent == "F":
        return made(sign, 0, 0, "F")
    if any(not isinstance(d, int) or not 0 <= d <= 9 for d in digits):
        raise ValueError("coefficient must be a tuple of digits")
    n = number_of("".join(map(str, digits)))
    if exponent in ("n", "N"):
        return made(sign, n, 0, exponent)
    if isinstance(exponent, str):
        raise ValueError("string argument in the third position must be 'F', 'n' or 'N'")
    if not isinstance(exponent, int):
        raise ValueError("exponent must be an integer")
    return made(sign, n, exponent)


def from_float(value):
    if math.isnan(value):
        return made(int(math.copysign(1, value) < 0), 0, 0, "n")
    if math.isinf(value):
        return made(int(value < 0), 0, 0, "F")
    n, below = abs(value).as_integer_ratio()
    halvings = below.bit_length() - 1
    return made(int(math.copysign(1, value) < 0), n * 5**halvings, -halvings)


def converted(value, raises=False):
    """A number of another type as an operand; NotImplemented, or a TypeError, if it is none."""
    if isinstance(value, Decimal):
        return value
    if isinstance(value, int):
        return made(int(value < 0), abs(int(value)), 0)
    if raises:
        raise TypeError("conversion from %s to Decimal is not supported" % type(value).__name__)
    return NotImplemented


# ---- of Decimal's methods
def small(value):
    return made(int(value < 0), abs(value), 0)


def signed(a, context, sign, keep_sign=False):
    """a with that sign, as the context has it. A zero is positive, unless numbers are rounded
    down."""
    found = not_numbers(context, a)
    if found is not None:
        return found
    if a._kind:
        return made(sign, 0, 0, "F")
    if not a._int and not keep_sign:
        sign = sign if context.rounding == "ROUND_FLOOR" else 0
    return fixed(sign, a._int, a._exp, context)


def difference(a, b, context):
    return sum(a, b if b._kind in ("n", "N") else b.copy_negate(), context)


def fused(a, b, c, context):
    found = not_numbers(context, a, b) if "N" in (a._kind, b._kind) else None
    if found is None and (a._kind or b._kind or c._kind):
        if a._kind in ("", "F") and b._kind in ("", "F"):
            if (a._kind and not b._kind and not b._int) or (b._kind and not a._kind and not a._int):
                return invalid(context)
            infinite = a._kind or b._kind
            whole = made(
                a._sign ^ b._sign, 0 if infinite else a._int * b._int, 0 if infinite else a._exp + b._exp, infinite
            )
            return sum(whole, c, context)
        found = not_numbers(context, a, b, c)
    if found is not None:
        return found
    return sum(made(a._sign ^ b._sign, a._int * b._int, a._exp + b._exp), c, context)


def remainder_near(a, b, context):
    found = not_numbers(context, a, b)
    if found is not None:
        return found
    if a._kind or (not b._kind and not b._int):
        return invalid(context, InvalidOperation if a._kind or a._int else _DivisionUndefined)
    parts = divided(a, b, context)
    if parts is None:
        return invalid(context, _DivisionImpossible)
    (_, q), (sign, rest, exponent) = parts
    if b._kind or a.adjusted() - b.adjusted() <= -2:
        return fixed(sign, rest, exponent, context)
    step = b._int * ten_to(b._exp - exponent)
    if 2 * rest > step or (2 * rest == step and q % 2):
        sign, rest, q = 1 - sign, step - rest, q + 1
    if q >= ten_to(context.prec):
        return invalid(context, _DivisionImpossible)
    return fixed(sign, rest, exponent, context)


def chosen(a, b, context, wanted, by_magnitude):
    """max and min: one that is not a number gives way to a number."""
    if a._kind in ("n", "N") or b._kind in ("n", "N"):
        quiet_only = "N" not in (a._kind, b._kind)
        if quiet_only and a._kind != b._kind:
            number = b if a._kind == "n" else a
            return number if number._kind else fixed(number._sign, number._int, number._exp, context)
        return not_numbers(context, a, b)
    ranked = order(a.copy_abs(), b.copy_abs()) if by_magnitude else order(a, b)
    ranked = ranked or total(a, b)
    taken = a if ranked == wanted or ranked == 0 else b
    return taken if taken._kind else fixed(taken._sign, taken._int, taken._exp, context)


def quantized(a, like, rounding, context):
    found = not_numbers(context, a, like)
    if found is not None:
        return found
    if a._kind or like._kind:
        return a if a._kind and like._kind else invalid(context)
    exponent = like._exp
    if not context.Etiny() <= exponent <= context.Emax:
        return invalid(context)
    if not a._int:
        return fixed(a._sign, 0, exponent, context)
    if a.adjusted() > context.Emax or a.adjusted() - exponent + 1 > context.prec:
        return invalid(context)
    result, changed = a._rescaled(exponent, rounding)
    if digits_of(result._int) > context.prec or (result._int and result.adjusted() > context.Emax):
        return invalid(context)
    met = [Rounded] * (exponent > a._exp) + [Inexact] * changed
    return fixed(result._sign, result._int, result._exp, context, met=met)
