# Exponents and digits of decimal's numbers.
from _decimal_context import Clamped, DivisionByZero, Inexact, Overflow, Rounded, Subnormal, Underflow
from _decimal_numbers import number_of, ten_to, text_of
from _decimal_operations import fixed, invalid, made, not_numbers, order, sum


def exponent_of(a, context):
    found = not_numbers(context, a)
    if found is not None:
        return found
    if a._kind:
        return a.copy_abs()
    if not a._int:
        context._signal([DivisionByZero])
        return made(1, 0, 0, "F")
    return fixed(int(a.adjusted() < 0), abs(a.adjusted()), 0, context)


def scaled_by(a, b, context):
    found = not_numbers(context, a, b)
    if found is not None:
        return found
    if b._kind or b._exp != 0 or b._int > 2 * (context.Emax + context.prec):
        return invalid(context)
    if a._kind:
        return a
    return fixed(a._sign, a._int, a._exp + (-b._int if b._sign else b._int), context)


def moved(a, b, context, around):
    """shift and rotate: the digits by b places to the left."""
    found = not_numbers(context, a, b)
    if found is not None:
        return found
    if b._kind or b._exp != 0 or b._int > context.prec:
        return invalid(context)
    if a._kind:
        return a
    places, n, whole = int(b), a._int % ten_to(context.prec), ten_to(context.prec)
    if around:
        places %= context.prec
        n = n * ten_to(places)
        n = n % whole + n // whole
    else:
        n = n * ten_to(places) % whole if places >= 0 else n // ten_to(-places)
    return made(a._sign, n, a._exp)


def logical(a, b, context, operate):
    operands = []
    for v in (a, b):
        digits = text_of(v._int)
        if v._kind or v._sign or v._exp or any(d not in "01" for d in digits):
            return invalid(context)
        operands.append(digits[-context.prec :].zfill(context.prec))
    digits = "".join("01"[bool(operate(x == "1", y == "1"))] for x, y in zip(*operands))
    return made(0, number_of(digits), 0)


def neighbour(a, context, mode):
    """The next number that the context has, below (ROUND_FLOOR) or above (ROUND_CEILING)."""
    found = not_numbers(context, a)
    if found is not None:
        return found
    below = mode == "ROUND_FLOOR"
    if a._kind:
        if a._sign == below:
            return a
        return made(a._sign, ten_to(context.prec) - 1, context.Etop())
    plain = context.copy()
    plain.rounding = mode
    plain.clear_traps()
    nearest = fixed(a._sign, a._int, a._exp, plain)
    if nearest != a:
        return nearest
    return sum(a, made(int(below), 1, context.Etiny() - 1), plain)


def neighbour_toward(a, b, context):
    found = not_numbers(context, a, b)
    if found is not None:
        return found
    ranked = order(a, b)
    if ranked == 0:
        return a.copy_sign(b)
    result = neighbour(a, context, "ROUND_CEILING" if ranked < 0 else "ROUND_FLOOR")
    if result._kind:
        context._signal([Overflow, Inexact, Rounded])
    elif result.adjusted() < context.Emin:
        context._signal([Underflow, Subnormal, Inexact, Rounded] + [Clamped] * (not result._int))
    return result
