# What decimal needs of integers: digits, rounding, logarithms and exponentials as fixed-point
# numbers.
import math

_POWERS = {}


def ten_to(exponent):
    if exponent > 200:
        return 10**exponent
    power = _POWERS.get(exponent)
    if power is None:
        power = _POWERS[exponent] = 10**exponent
    return power


def digits_of(n):
    """How many digits a number >= 0 has; 1 for 0."""
    if n < 10:
        return 1
    digits = n.bit_length() * 30103 // 100000
    return digits + (n >= ten_to(digits))


def text_of(n):
    # str() refuses numbers of more than 4300 digits.
    parts = []
    while n.bit_length() > 13000:
        n, low = divmod(n, ten_to(3000))
        parts.append(str(low).zfill(3000))
    return str(n) + "".join(reversed(parts))


def number_of(text):
    n = 0
    for start in range(0, len(text), 3000):
        part = text[start : start + 3000]
        n = n * ten_to(len(part)) + int(part)
    return n


def rounds_away(mode, sign, n, half):
    """Whether n is to be made larger by one. half: how what was cut off compares with a half (-1,
    0, 1); None: nothing was."""
    if half is None or mode == "ROUND_DOWN":
        return False
    if mode == "ROUND_HALF_EVEN":
        return half > 0 or (half == 0 and n % 2 == 1)
    if mode == "ROUND_HALF_UP":
        return half >= 0
    if mode == "ROUND_HALF_DOWN":
        return half > 0
    if mode == "ROUND_UP":
        return True
    if mode == "ROUND_CEILING":
        return not sign
    if mode == "ROUND_FLOOR":
        return bool(sign)
    return n % 5 == 0  # ROUND_05UP


def cut(mode, sign, n, places):
    """n without its last `places` digits, rounded, and whether that changed its value."""
    if places > digits_of(n) + 1:
        kept, half = 0, None if n == 0 else -1
    else:
        unit = ten_to(places)
        kept, rest = divmod(n, unit)
        half = None if rest == 0 else (2 * rest > unit) - (2 * rest < unit)
    return kept + rounds_away(mode, sign, kept, half), half is not None


def sticky(n, inexact):
    # One more digit decides how to round: it must tell that there is more behind it.
    return n + 1 if inexact and n % 5 == 0 else n


def exp_fixed(x, places):
    """exp(x / 10**places) * 10**places of |x| below a few units; the last four digits are not
    exact."""
    one = ten_to(places)
    x //= 256
    term = total = one
    k = 1
    while term not in (0, -1):
        term = term * x // (one * k)
        total += term
        k += 1
    for _ in range(8):
        total = total * total // one
    return total


def ln_fixed(numerator, denominator, places):
    """ln(numerator / denominator) * 10**places of a quotient between 1/10 and 10; the last five
    digits are not exact."""
    one = ten_to(places)
    start = int(math.log(numerator / denominator) * 10**15) * one // 10**15
    rest = numerator * exp_fixed(-start, places) // denominator  # near to 1
    t = (rest - one) * one // (rest + one)
    square, power, total, k = t * t // one, t, 0, 1
    while power not in (0, -1):
        total += power // k
        power = power * square // one
        k += 2
    return start + 2 * total


_LN10 = [0, 0]  # places, value


def ln10_fixed(places):
    if _LN10[0] < places:
        more = places + 40
        _LN10[:] = [more, ln_fixed(10, 1, more + 8) // 10**8]
    return _LN10[1] // ten_to(_LN10[0] - places)


def scaled(n, exponent):
    """n * 10**exponent, rounded down."""
    return n * ten_to(exponent) if exponent >= 0 else n // ten_to(-exponent)


def rounded_value(approximation, precision):
    """(n, exponent) with precision + 2 digits that round as the value does, which
    approximation(extra) gives to some precision + extra digits as (sign, n, exponent). A value that
    many digits do not distinguish from a half is one."""
    for extra in (12, 30, 30 + 2 * precision):
        sign, n, exponent = approximation(extra)
        places = digits_of(n) - precision
        if places <= 8:
            continue
        unit = ten_to(places)
        away = abs(2 * (n % unit) - unit)
        if away > 2 * 10**7:
            break
    kept = ten_to(places - 2)
    whole, rest = divmod(n, kept)
    near = min(rest, kept - rest)
    if near < 10**7:  # as good as exact
        return sign, whole + (rest > kept - rest), exponent + places - 2
    return sign, sticky(whole, True), exponent + places - 2


def exp_of(sign, n, exponent, precision):
    def approximation(extra):
        places = precision + extra + max(0, digits_of(n) + exponent)
        x = scaled(n, exponent + places)
        tens, rest = divmod(-x if sign else x, ln10_fixed(places))
        return 0, exp_fixed(rest, places), tens - places

    return rounded_value(approximation, precision)


def _ln(n, exponent, places):
    # Near to 1 the quotient is, so that nothing cancels.
    tens = digits_of(n) - 1
    if n * n > ten_to(2 * tens + 1):
        tens += 1
    return ln_fixed(n, ten_to(tens), places), exponent + tens


def ln_of(n, exponent, precision, base_ten=False):
    def approximation(extra):
        places = precision + extra
        for _ in range(2):
            value, tens = _ln(n, exponent, places)
            if tens:
                value += tens * ln10_fixed(places)
            lacking = precision + extra - digits_of(abs(value))
            if lacking <= 0:
                break
            places += lacking + 2
        if base_ten:
            value = value * ten_to(places) // ln10_fixed(places)
        return int(value < 0), abs(value), -places

    return rounded_value(approximation, precision)


def power_of(n, exponent, sign, by, by_exponent, precision):
    """(n * 10**exponent) ** +-(by * 10**by_exponent)"""

    def approximation(extra):
        size = max(0, digits_of(by) + by_exponent) + digits_of(abs(exponent) + digits_of(n))
        places = precision + extra + size + 5
        value, tens = _ln(n, exponent, places)
        value = scaled((value + tens * ln10_fixed(places)) * by, by_exponent)
        shift, rest = divmod(-value if sign else value, ln10_fixed(places))
        return 0, exp_fixed(rest, places), shift - places

    return rounded_value(approximation, precision)
