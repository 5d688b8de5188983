# Decimal numbers of the General Decimal Arithmetic Specification.
import math
import numbers
import sys
from collections import namedtuple

import _decimal_digits as _digits
import _decimal_numbers as _n
import _decimal_operations as _ops
from _decimal_context import (
    CURRENT as _CURRENT,
    Clamped,
    ContextBase as _ContextBase,
    ConversionSyntax,
    DEFAULTS as _DEFAULTS,
    DecimalException,
    DivisionByZero,
    DivisionImpossible,
    DivisionUndefined,
    FloatOperation,
    Inexact,
    InvalidContext,
    InvalidOperation,
    MAX_EMAX,
    MAX_PREC,
    MIN_EMIN,
    MIN_ETINY,
    Overflow,
    ROUNDINGS as _ROUNDINGS,
    Rounded,
    Subnormal,
    Underflow,
)

(
    ROUND_UP,
    ROUND_DOWN,
    ROUND_CEILING,
    ROUND_FLOOR,
    ROUND_HALF_UP,
    ROUND_HALF_DOWN,
    ROUND_HALF_EVEN,
    ROUND_05UP,
) = _ROUNDINGS
HAVE_THREADS = HAVE_CONTEXTVAR = True
__version__ = "1.70"
__libmpdec_version__ = "2.5.1"
DecimalTuple = namedtuple("DecimalTuple", "sign digits exponent", module="decimal")


def _context(given):
    if given is None:
        return getcontext()
    if not isinstance(given, Context):
        raise TypeError("optional argument must be a context")
    return given


def _comparable(self, other, equality):
    """The other operand of a comparison as numbers to compare self and it by, or NotImplemented."""
    if isinstance(other, (Decimal, int)):
        return self, _ops.converted(other)
    if equality and isinstance(other, complex) and other.imag == 0:
        other = other.real
    if isinstance(other, float):
        context = getcontext()
        if equality:
            context.flags[FloatOperation] = True
        else:
            context._signal([FloatOperation])
        return self, _ops.from_float(other)
    if isinstance(other, numbers.Rational):
        if self._kind:
            return self, _ops.converted(int(other.numerator))
        return _ops.made(self._sign, self._int * other.denominator, self._exp), _ops.converted(int(other.numerator))
    return NotImplemented


def _comparison(holds):
    def method(self, other):
        pair = _comparable(self, other, False)
        if pair is NotImplemented:
            return pair
        if any(v._kind in ("n", "N") for v in pair):
            getcontext()._signal([InvalidOperation])
            return False
        return holds(_ops.order(*pair))

    return method


def _binary(operate):
    def forward(self, other, /):
        other = _ops.converted(other)
        return other if other is NotImplemented else operate(self, other, getcontext())

    def reverse(self, other, /):
        other = _ops.converted(other)
        return other if other is NotImplemented else operate(other, self, getcontext())

    return forward, reverse


def _unary(operate):
    return lambda self, context=None: operate(self, _context(context))


def _pair(operate):
    return lambda self, other, context=None: operate(self, _ops.converted(other, True), _context(context))


class Decimal:
    __slots__ = ("_sign", "_int", "_exp", "_kind", "__weakref__")

    def __new__(cls, value="0", context=None):
        context = _context(context)
        if isinstance(value, str):
            made = _ops.from_text(value, context)
        elif isinstance(value, (list, tuple)):
            made = _ops.from_tuple(value)
        elif isinstance(value, float):
            context._signal([FloatOperation])
            made = _ops.from_float(value)
        else:
            made = _ops.converted(value, True)
        return cls._copied(made)

    @classmethod
    def _copied(cls, made):
        if type(made) is cls:
            return made
        self = object.__new__(cls)
        self._sign, self._int, self._exp, self._kind = made._sign, made._int, made._exp, made._kind
        return self

    @classmethod
    def from_float(cls, f):
        if isinstance(f, int):
            return cls._copied(_ops.converted(f))
        if not isinstance(f, float):
            raise TypeError("argument must be int or float")
        return cls._copied(_ops.from_float(f))

    # ---- what it is
    is_canonical = lambda self: True
    is_finite = lambda self: not self._kind
    is_infinite = lambda self: self._kind == "F"
    is_nan = lambda self: self._kind in ("n", "N")
    is_qnan = lambda self: self._kind == "n"
    is_snan = lambda self: self._kind == "N"
    is_signed = lambda self: self._sign == 1
    is_zero = lambda self: not self._kind and not self._int

    def is_normal(self, context=None):
        return not self._kind and self._int != 0 and self.adjusted() >= _context(context).Emin

    def is_subnormal(self, context=None):
        return not self._kind and self._int != 0 and self.adjusted() < _context(context).Emin

    def _is_whole(self):
        if self._kind:
            return False
        return self._exp >= 0 or not self._int or _ops.stripped(self._int, self._exp, 0)[1] >= 0

    def adjusted(self):
        return 0 if self._kind else self._exp + _n.digits_of(self._int) - 1

    def as_tuple(self):
        digits = (0,) if self._kind == "F" else tuple(map(int, _n.text_of(self._int)))
        if self._kind in ("n", "N") and not self._int:
            digits = ()
        return DecimalTuple(self._sign, digits, self._kind or self._exp)

    def as_integer_ratio(self):
        if self._kind == "F":
            raise OverflowError("cannot convert Infinity to integer ratio")
        if self._kind:
            raise ValueError("cannot convert NaN to integer ratio")
        n, below = self._int * _n.ten_to(max(0, self._exp)), _n.ten_to(max(0, -self._exp))
        common = math.gcd(n, below)
        return (-n if self._sign else n) // common, below // common

    def number_class(self, context=None):
        if self._kind in ("n", "N"):
            return "NaN" if self._kind == "n" else "sNaN"
        what = "Infinity" if self._kind else "Zero" if not self._int else "Normal"
        if what == "Normal" and self.is_subnormal(context):
            what = "Subnormal"
        return ("-" if self._sign else "+") + what

    def radix(self):
        return Decimal(10)

    real = property(lambda self: self)
    imag = property(lambda self: Decimal(0))

    def conjugate(self):
        return self

    def canonical(self):
        return self

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self

    def __reduce__(self):
        return type(self), (str(self),)

    # ---- as text and as other numbers
    def _text(self, engineering=False, capitals=None):
        minus = "-" if self._sign else ""
        if self._kind == "F":
            return minus + "Infinity"
        if self._kind:
            return minus + ("NaN" if self._kind == "n" else "sNaN") + (str(self._int) if self._int else "")
        digits = _n.text_of(self._int)
        left = self._exp + len(digits)
        point = left if self._exp <= 0 and left > -6 else 1
        if point != left and engineering:
            point = (left - 1) % 3 + 1 if self._int else (left + 1) % 3 - 1
        if capitals is None:
            capitals = getcontext().capitals
        exponent = "" if point == left else ("E" if capitals else "e") + "%+d" % (left - point)
        whole, part = _split(digits, point)
        return minus + whole + ("." + part if part else "") + exponent

    def __str__(self):
        return self._text()

    def __repr__(self):
        return f"Decimal('{self}')"

    def to_eng_string(self, context=None):
        return self._text(True, _context(context).capitals)

    def __format__(self, spec, /):
        import _decimal_format

        return _decimal_format.formatted(self, spec, getcontext())

    def __bool__(self):
        return bool(self._kind) or self._int != 0

    def __int__(self):
        if self._kind == "F":
            raise OverflowError("cannot convert Infinity to integer")
        if self._kind:
            raise ValueError("cannot convert NaN to integer")
        n = _n.scaled(self._int, self._exp)
        return -n if self._sign else n

    __trunc__ = __int__

    def __float__(self):
        if self._kind == "N":
            raise ValueError("cannot convert signaling NaN to float")
        if self._kind == "n":
            return math.copysign(math.nan, -1 if self._sign else 1)
        return float(self._text())

    def __complex__(self):
        return complex(float(self))

    def _whole(self, mode):
        if self._kind:
            error = OverflowError if self._kind == "F" else ValueError
            raise error("cannot convert Infinity to integer" if self._kind == "F" else "cannot convert NaN to integer")
        return int(self._rescaled(0, mode)[0])

    def __floor__(self):
        return self._whole(ROUND_FLOOR)

    def __ceil__(self):
        return self._whole(ROUND_CEILING)

    def __round__(self, ndigits=None, /):
        if ndigits is None:
            return self._whole(ROUND_HALF_EVEN)
        if not isinstance(ndigits, int):
            raise TypeError("optional arg must be an integer")
        return self.quantize(_ops.made(0, 1, -ndigits), ROUND_HALF_EVEN)

    def __hash__(self):
        if self._kind == "N":
            raise TypeError("Cannot hash a signaling NaN value")
        if self._kind == "n":
            return object.__hash__(self)
        if self._kind:
            return -sys.hash_info.inf if self._sign else sys.hash_info.inf
        modulus = sys.hash_info.modulus
        scale = (
            pow(10, self._exp, modulus) if self._exp >= 0 else pow(pow(10, modulus - 2, modulus), -self._exp, modulus)
        )
        value = self._int * scale % modulus
        return -2 if self._sign and value == 1 else -value if self._sign else value

    # ---- comparisons
    __lt__ = _comparison(lambda order: order < 0)
    __le__ = _comparison(lambda order: order <= 0)
    __gt__ = _comparison(lambda order: order > 0)
    __ge__ = _comparison(lambda order: order >= 0)

    def __eq__(self, other):
        pair = _comparable(self, other, True)
        if pair is NotImplemented:
            return pair
        if any(v._kind in ("n", "N") for v in pair):
            if any(v._kind == "N" for v in pair):
                getcontext()._signal([InvalidOperation])
            return False
        return _ops.order(*pair) == 0

    compare = _pair(lambda a, b, c: _ops.not_numbers(c, a, b) or _ops.small(_ops.order(a, b)))
    compare_total = _pair(lambda a, b, c: _ops.small(_ops.total(a, b)))
    compare_total_mag = _pair(lambda a, b, c: _ops.small(_ops.total(a.copy_abs(), b.copy_abs())))

    def compare_signal(self, other, context=None):
        context, other = _context(context), _ops.converted(other, True)
        if self.is_nan() or other.is_nan():
            context._signal([InvalidOperation])
        return self.compare(other, context)

    max = _pair(lambda a, b, c: _ops.chosen(a, b, c, 1, False))
    min = _pair(lambda a, b, c: _ops.chosen(a, b, c, -1, False))
    max_mag = _pair(lambda a, b, c: _ops.chosen(a, b, c, 1, True))
    min_mag = _pair(lambda a, b, c: _ops.chosen(a, b, c, -1, True))

    def same_quantum(self, other, context=None):
        other = _ops.converted(other, True)
        if self._kind or other._kind:
            return self._kind.lower() == other._kind.lower()
        return self._exp == other._exp

    # ---- arithmetic
    __add__, __radd__ = _binary(_ops.sum)
    __sub__, __rsub__ = _binary(_ops.difference)
    __mul__, __rmul__ = _binary(_ops.product)
    __truediv__, __rtruediv__ = _binary(_ops.quotient)
    __floordiv__, __rfloordiv__ = _binary(_ops.whole_quotient)
    __mod__, __rmod__ = _binary(_ops.remainder)
    __divmod__, __rdivmod__ = _binary(_ops.both)
    __rpow__ = _binary(_ops.power)[1]

    def __pow__(self, other, modulo=None, /):
        other = _ops.converted(other)
        if other is NotImplemented or modulo is None:
            return other if other is NotImplemented else _ops.power(self, other, getcontext())
        modulo = _ops.converted(modulo)
        return modulo if modulo is NotImplemented else _ops.modular(self, other, modulo, getcontext())

    def __neg__(self):
        return _ops.signed(self, getcontext(), 1 - self._sign)

    def __pos__(self):
        return _ops.signed(self, getcontext(), self._sign)

    def __abs__(self):
        return _ops.signed(self, getcontext(), 0)

    def fma(self, other, third, context=None):
        return _ops.fused(self, _ops.converted(other, True), _ops.converted(third, True), _context(context))

    remainder_near = _pair(_ops.remainder_near)
    sqrt = _unary(_ops.square_root)
    exp = _unary(_ops.exponential)
    ln = _unary(lambda a, c: _ops.logarithm(a, c, False))
    log10 = _unary(lambda a, c: _ops.logarithm(a, c, True))

    def copy_abs(self):
        return _ops.made(0, self._int, self._exp, self._kind)

    def copy_negate(self):
        return _ops.made(1 - self._sign, self._int, self._exp, self._kind)

    def copy_sign(self, other, context=None):
        return _ops.made(_ops.converted(other, True)._sign, self._int, self._exp, self._kind)

    # ---- exponents and digits
    def _rescaled(self, exponent, mode):
        """The number with that exponent, and whether that changed its value."""
        if not self._int or self._exp >= exponent:
            return (
                _ops.made(
                    self._sign, self._int * _n.ten_to(max(0, self._exp - exponent)) if self._int else 0, exponent
                ),
                False,
            )
        n, changed = _n.cut(mode, self._sign, self._int, exponent - self._exp)
        return _ops.made(self._sign, n, exponent), changed

    def quantize(self, exp, rounding=None, context=None):
        context, exp = _context(context), _ops.converted(exp, True)
        if rounding is not None and rounding not in _ROUNDINGS:
            raise TypeError(
                "valid values for rounding are:\n  [ROUND_CEILING, ROUND_FLOOR, ROUND_UP, ROUND_DOWN,\n"
                "   ROUND_HALF_UP, ROUND_HALF_DOWN, ROUND_HALF_EVEN,\n   ROUND_05UP]"
            )
        return _ops.quantized(self, exp, rounding or context.rounding, context)

    def to_integral_value(self, rounding=None, context=None):
        context = _context(context)
        found = _ops.not_numbers(context, self)
        if found is not None or self._kind or self._exp >= 0:
            return self if found is None else found
        return self._rescaled(0, rounding or context.rounding)[0]

    to_integral = to_integral_value

    def to_integral_exact(self, rounding=None, context=None):
        context = _context(context)
        made = self.to_integral_value(rounding, context)
        if not self._kind and self._int and self._exp < 0:
            context._signal([Rounded] + [Inexact] * (made != self))
        return made

    def normalize(self, context=None):
        context = _context(context)
        made = _ops.signed(self, context, self._sign, keep_sign=True)
        if made._kind:
            return made
        if not made._int:
            return _ops.made(made._sign, 0, 0)
        return _ops.made(
            made._sign, *_ops.stripped(made._int, made._exp, context.Etop() if context.clamp else context.Emax)
        )

    logb = _unary(_digits.exponent_of)
    scaleb = _pair(_digits.scaled_by)
    shift = _pair(lambda a, b, c: _digits.moved(a, b, c, False))
    rotate = _pair(lambda a, b, c: _digits.moved(a, b, c, True))
    logical_invert = _unary(
        lambda a, c: _digits.logical(a, _ops.made(0, (_n.ten_to(c.prec) - 1) // 9, 0), c, lambda x, y: x != y)
    )
    logical_and = _pair(lambda a, b, c: _digits.logical(a, b, c, lambda x, y: x and y))
    logical_or = _pair(lambda a, b, c: _digits.logical(a, b, c, lambda x, y: x or y))
    logical_xor = _pair(lambda a, b, c: _digits.logical(a, b, c, lambda x, y: x != y))
    next_minus = _unary(lambda a, c: _digits.neighbour(a, c, ROUND_FLOOR))
    next_plus = _unary(lambda a, c: _digits.neighbour(a, c, ROUND_CEILING))
    next_toward = _pair(_digits.neighbour_toward)


def _split(digits, point):
    if point <= 0:
        return "0", "0" * -point + digits
    return digits[:point].ljust(point, "0"), digits[point:]


_ops.Decimal = Decimal
numbers.Number.register(Decimal)


class Context(_ContextBase):
    __hash__ = None

    def create_decimal(self, num="0", /):
        made = Decimal(num, self)
        if made._kind in ("n", "N"):
            if made._int and _n.digits_of(made._int) > self.prec - self.clamp:
                return _ops.invalid(self, ConversionSyntax)
            return made
        return made if made._kind else _ops.fixed(made._sign, made._int, made._exp, self)

    def create_decimal_from_float(self, f, /):
        made = Decimal.from_float(f)
        return made if made._kind else _ops.fixed(made._sign, made._int, made._exp, self)

    def power(self, a, b, modulo=None):
        a, b = _ops.converted(a, True), _ops.converted(b, True)
        return _ops.power(a, b, self) if modulo is None else _ops.modular(a, b, _ops.converted(modulo, True), self)

    def plus(self, a, /):
        a = _ops.converted(a, True)
        return _ops.signed(a, self, a._sign)

    def minus(self, a, /):
        a = _ops.converted(a, True)
        return _ops.signed(a, self, 1 - a._sign)

    def abs(self, a, /):
        return _ops.signed(_ops.converted(a, True), self, 0)

    def fma(self, a, b, c, /):
        return _ops.converted(a, True).fma(b, c, self)

    def radix(self):
        return Decimal(10)

    def to_sci_string(self, a, /):
        return _ops.converted(a, True)._text(False, self.capitals)

    def to_eng_string(self, a, /):
        return _ops.converted(a, True)._text(True, self.capitals)


def _of_two(operate):
    return lambda self, a, b: operate(_ops.converted(a, True), _ops.converted(b, True), self)


def _of_method(name, takes_context):
    method = getattr(Decimal, name)
    if takes_context:
        return lambda self, a, *others: method(_ops.converted(a, True), *others, context=self)
    return lambda self, a, *others: method(_ops.converted(a, True), *others)


for _name, _operate in (
    ("add", _ops.sum),
    ("subtract", _ops.difference),
    ("multiply", _ops.product),
    ("divide", _ops.quotient),
    ("divide_int", _ops.whole_quotient),
    ("divmod", _ops.both),
    ("remainder", _ops.remainder),
):
    setattr(Context, _name, _of_two(_operate))
for _name in (
    "compare compare_signal compare_total compare_total_mag copy_sign exp is_normal is_subnormal ln log10 logb logical_and "
    "logical_invert logical_or logical_xor max max_mag min min_mag next_minus next_plus next_toward normalize "
    "number_class quantize remainder_near rotate same_quantum scaleb shift sqrt to_integral_exact to_integral_value"
).split():
    setattr(Context, _name, _of_method(_name, True))
for (
    _name
) in (
    "canonical copy_abs copy_negate is_canonical is_finite is_infinite is_nan is_qnan is_signed is_snan is_zero".split()
):
    setattr(Context, _name, _of_method(_name, False))
Context.copy_decimal = lambda self, a: _ops.converted(a, True)
del _name, _operate


def getcontext():
    context = _CURRENT.get(None)
    if context is None:
        context = Context()
        _CURRENT.set(context)
    return context


def setcontext(context, /):
    if not isinstance(context, Context):
        raise TypeError("argument must be a context")
    if context in (DefaultContext, BasicContext, ExtendedContext):
        context = context.copy()
        context.clear_flags()
    _CURRENT.set(context)


class _Local:
    def __init__(self, context):
        self._new = context

    def __enter__(self):
        self._saved = getcontext()
        setcontext(self._new)
        return self._new

    def __exit__(self, *raised):
        setcontext(self._saved)


def localcontext(ctx=None, **kwargs):
    made = _context(ctx).copy()
    for name, value in kwargs.items():
        if name not in ("prec", "rounding", "Emin", "Emax", "capitals", "clamp", "flags", "traps"):
            raise TypeError(f"'{name}' is an invalid keyword argument for this function")
        if value is not None:
            setattr(made, name, value)
    return _Local(made)


DefaultContext = Context()
BasicContext = Context(
    prec=9,
    rounding=ROUND_HALF_UP,
    traps=[DivisionByZero, Overflow, InvalidOperation, Clamped, Underflow],
)
ExtendedContext = Context(prec=9, rounding=ROUND_HALF_EVEN, traps=[])
