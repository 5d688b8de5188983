import math
import re
import sys
from numbers import Rational

_FORM = re.compile(r"\s*([-+]?)(\d*)(?:/(\d+)|(?:\.(\d*))?(?:[eE]([-+]?\d+))?)\s*$")


def _from_text(text):
    found = _FORM.match(text)
    if found is None or not (found[2] or found[4]) or (found[3] and not found[2]):
        raise ValueError("Invalid literal for Fraction: %r" % text)
    numerator, denominator = int(found[2] or "0"), 1
    if found[3]:
        denominator = int(found[3])
    else:
        digits = found[4] or ""
        numerator, denominator = int((found[2] or "0") + digits), 10 ** len(digits)
        exponent = int(found[5] or "0")
        numerator, denominator = (
            (numerator * 10**exponent, denominator) if exponent >= 0 else (numerator, denominator * 10**-exponent)
        )
    return (-numerator if found[1] == "-" else numerator), denominator


def _is_decimal(value):
    # Who has a Decimal has imported its module.
    decimal = sys.modules.get("decimal")
    return decimal is not None and isinstance(value, decimal.Decimal)


def _arithmetic(operate, on_floats):
    # The two methods of an operator; the other operand may be an integer or a float.
    def forward(a, b):
        if isinstance(b, (Fraction, int)):
            return operate(a, b if isinstance(b, Fraction) else Fraction(b))
        return on_floats(float(a), b) if isinstance(b, (float, complex)) else NotImplemented

    def reverse(b, a):
        if isinstance(a, int):
            return operate(Fraction(a), b)
        return on_floats(a, float(b)) if isinstance(a, (float, complex)) else NotImplemented

    return forward, reverse


def _comparison(compare):
    def method(a, b):
        if isinstance(b, (Fraction, int)):
            b = Fraction(b)
            return compare(a.numerator * b.denominator, b.numerator * a.denominator)
        if isinstance(b, float):
            return compare(0.0, b) if math.isnan(b) or math.isinf(b) else method(a, Fraction(b))
        return NotImplemented

    return method


class Fraction(Rational):
    def __new__(cls, numerator=0, denominator=None):
        self = object.__new__(cls)
        if denominator is None and isinstance(numerator, str):
            numerator, denominator = _from_text(numerator)
        elif denominator is None and isinstance(numerator, (int, float, Fraction)):
            numerator, denominator = (numerator, 1) if isinstance(numerator, int) else numerator.as_integer_ratio()
        elif denominator is None and _is_decimal(numerator):
            numerator, denominator = numerator.as_integer_ratio()
        elif denominator is None:
            raise TypeError("argument should be a string or a Rational instance")
        elif isinstance(numerator, (int, Fraction)) and isinstance(denominator, (int, Fraction)):
            a, b = Fraction(numerator), Fraction(denominator)
            numerator, denominator = a.numerator * b.denominator, a.denominator * b.numerator
        else:
            raise TypeError("both arguments should be Rational instances")
        if denominator == 0:
            raise ZeroDivisionError("Fraction(%s, 0)" % numerator)
        common = math.gcd(numerator, denominator) * (-1 if denominator < 0 else 1)
        self._numerator, self._denominator = int(numerator) // common, int(denominator) // common
        return self

    numerator = property(lambda self: self._numerator)
    denominator = property(lambda self: self._denominator)

    @classmethod
    def from_float(cls, f):
        return cls(f)

    @classmethod
    def from_decimal(cls, dec):
        if not isinstance(dec, int) and not _is_decimal(dec):
            raise TypeError(f"{cls.__name__}.from_decimal() only takes Decimals, not {dec!r} ({type(dec).__name__})")
        return cls(dec)

    def as_integer_ratio(self):
        return self._numerator, self._denominator

    def limit_denominator(self, max_denominator=1000000):
        # The last convergent of the continued fraction that fits, or the semiconvergent after it if
        # that is nearer.
        if max_denominator < 1:
            raise ValueError("max_denominator should be at least 1")
        if self._denominator <= max_denominator:
            return Fraction(self)
        p0, q0, p1, q1 = 0, 1, 1, 0
        n, d = self._numerator, self._denominator
        while True:
            a = n // d
            if q0 + a * q1 > max_denominator:
                break
            p0, q0, p1, q1 = p1, q1, p0 + a * p1, q0 + a * q1
            n, d = d, n - a * d
        k = (max_denominator - q0) // q1
        semi, last = Fraction(p0 + k * p1, q0 + k * q1), Fraction(p1, q1)
        return last if abs(last - self) <= abs(semi - self) else semi

    __add__, __radd__ = _arithmetic(
        lambda a, b: Fraction(a.numerator * b.denominator + b.numerator * a.denominator, a.denominator * b.denominator),
        lambda a, b: a + b,
    )
    __sub__, __rsub__ = _arithmetic(
        lambda a, b: Fraction(a.numerator * b.denominator - b.numerator * a.denominator, a.denominator * b.denominator),
        lambda a, b: a - b,
    )
    __mul__, __rmul__ = _arithmetic(
        lambda a, b: Fraction(a.numerator * b.numerator, a.denominator * b.denominator), lambda a, b: a * b
    )
    __truediv__, __rtruediv__ = _arithmetic(
        lambda a, b: Fraction(a.numerator * b.denominator, a.denominator * b.numerator), lambda a, b: a / b
    )
    __floordiv__, __rfloordiv__ = _arithmetic(
        lambda a, b: (a.numerator * b.denominator) // (a.denominator * b.numerator), lambda a, b: a // b
    )
    __mod__, __rmod__ = _arithmetic(lambda a, b: a - b * (a // b), lambda a, b: a % b)
    __divmod__, __rdivmod__ = _arithmetic(lambda a, b: (a // b, a - b * (a // b)), divmod)
    __lt__ = _comparison(lambda a, b: a < b)
    __le__ = _comparison(lambda a, b: a <= b)
    __gt__ = _comparison(lambda a, b: a > b)
    __ge__ = _comparison(lambda a, b: a >= b)
    __eq__ = _comparison(lambda a, b: a == b)

    def __pow__(self, exponent):
        if isinstance(exponent, Fraction) and exponent.denominator == 1:
            exponent = exponent.numerator
        if not isinstance(exponent, int):
            return float(self) ** float(exponent)
        if exponent >= 0:
            return Fraction(self._numerator**exponent, self._denominator**exponent)
        return Fraction(self._denominator**-exponent, self._numerator**-exponent)

    def __rpow__(self, base):
        return base**self._numerator if self._denominator == 1 else base ** float(self)

    def __neg__(self):
        return Fraction(-self._numerator, self._denominator)

    def __pos__(self):
        return Fraction(self)

    def __abs__(self):
        return Fraction(abs(self._numerator), self._denominator)

    def __bool__(self):
        return self._numerator != 0

    def __float__(self):
        return self._numerator / self._denominator

    def __int__(self):
        return math.trunc(self)

    def __trunc__(self):
        return self.__floor__() if self._numerator >= 0 else self.__ceil__()

    def __floor__(self):
        return self._numerator // self._denominator

    def __ceil__(self):
        return -(-self._numerator // self._denominator)

    def __round__(self, ndigits=None):
        if ndigits is not None:
            shift = Fraction(10) ** ndigits
            return Fraction(round(self * shift)) / shift
        floor, rest = divmod(self._numerator, self._denominator)
        return floor + (rest * 2 > self._denominator or (rest * 2 == self._denominator and floor % 2 == 1))

    def __hash__(self):
        # As that of every number of the same value.
        if self._denominator == 1:
            return hash(self._numerator)
        modulus = sys.hash_info.modulus
        if self._denominator % modulus == 0:
            return sys.hash_info.inf
        value = abs(self._numerator) * pow(self._denominator, modulus - 2, modulus) % modulus
        return -2 if self._numerator < 0 and value == 1 else -value if self._numerator < 0 else value

    def __repr__(self):
        return "Fraction(%d, %d)" % (self._numerator, self._denominator)

    def __str__(self):
        if self._denominator == 1:
            return str(self._numerator)
        return "%d/%d" % (self._numerator, self._denominator)
