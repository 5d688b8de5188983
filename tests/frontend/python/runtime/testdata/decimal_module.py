import copy, math, numbers, sys
import decimal
from decimal import *
from fractions import Fraction as F

D = Decimal


def said(f):
    try:
        return repr(f())
    except Exception as e:
        conditions = e.args[0] if e.args and isinstance(e.args[0], list) else []
        return type(e).__name__ + str([c.__name__ for c in conditions])


# every operation on drawn numbers, in drawn contexts: results and flags
state = 12345


def draw(n):
    global state
    state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
    return (state >> 33) % n


def pick(values):
    return values[draw(len(values))]


def number():
    if draw(12) == 0:
        return pick(["NaN", "-NaN12", "sNaN", "Infinity", "-Infinity", "0", "-0", "0E+7", "-0.000", "1", "-1.00", "1E+3", "0.5"])
    digits = pick([1, 2, 3, 7, 15, 28, 40])
    value = 0
    for _ in range(digits):
        value = value * 10 + draw(10)
    return "-" * draw(2) + str(value) + "E%d" % pick([0, 0, -1, -2, -digits, 4, -35, 35, draw(120) - 60])


TWO = """__add__ __sub__ __mul__ __truediv__ __floordiv__ __mod__ __divmod__ __lt__ __le__ __gt__ __ge__ __eq__ compare
compare_total compare_total_mag compare_signal max min max_mag min_mag remainder_near quantize same_quantum copy_sign
next_toward scaleb shift rotate logical_and logical_or logical_xor""".split()
ONE = """__neg__ __pos__ __abs__ __str__ __repr__ __bool__ __int__ __float__ as_tuple adjusted normalize sqrt exp ln log10
to_integral_value to_integral_exact to_eng_string next_plus next_minus number_class logb logical_invert is_normal is_subnormal
is_zero is_nan is_qnan is_snan is_signed is_finite is_infinite is_canonical __floor__ __ceil__ __trunc__ __round__
as_integer_ratio copy_abs copy_negate conjugate canonical radix __complex__""".split()
FORMATS = ["", ".2f", "10.3e", "<12", "^15.4g", "=+20", "08.2f", ",", ".3%", " .1f", "+,.2f", "020,.3f", "z.1f", "E", "G", "*>10", "n", ".0e", "012,"]
total = {}
for _ in range(800):
    context = Context(
        prec=pick([1, 3, 9, 28, 50]),
        rounding=pick([ROUND_UP, ROUND_DOWN, ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_UP, ROUND_HALF_DOWN, ROUND_HALF_EVEN, ROUND_05UP]),
        Emin=pick([-999999, -99, -10]),
        Emax=pick([999999, 99, 30]),
        capitals=draw(2),
        clamp=0,
        traps=[InvalidOperation, DivisionByZero, Overflow] if draw(2) else [],
    )
    setcontext(context)
    kind = draw(10)
    if kind < 5:
        name, operands = pick(TWO), [number(), number()]
        if name in ("scaleb", "shift", "rotate"):
            operands[1] = str(draw(19) - 9)
        if name.startswith("logical"):
            operands = [pick(["1", "0", "10", "1101", "111000111000", "2"]) for _ in operands]
    elif kind < 8:
        name, operands = pick(ONE), [number()]
    elif kind < 9:
        name, operands = "fma", [number(), number(), number()]
    else:
        name, operands = "__format__", [number()]
    spec = pick(FORMATS)

    def run():
        values = [D(v) for v in operands]
        return format(values[0], spec) if name == "__format__" else getattr(values[0], name)(*values[1:])

    print(name, operands, said(run), sorted(s.__name__ for s, on in getcontext().flags.items() if on))
# ---
import copy, math, numbers, sys
import decimal
from decimal import *
from fractions import Fraction as F

D = Decimal


def said(f):
    try:
        return repr(f())
    except Exception as e:
        conditions = e.args[0] if e.args and isinstance(e.args[0], list) else []
        return type(e).__name__ + str([c.__name__ for c in conditions])


# powers, in the usual context
setcontext(Context())
for a, b in (("2", "10"), ("1.10", "2"), ("2", "0.5"), ("10", "-3"), ("3", "2.5"), ("1.00", "7"), ("0", "3"), ("-2", "3"), ("-8", "0.5"), ("0", "0"), ("1E+100", "9"), ("0.999", "1000"), ("7", "-30"), ("Infinity", "-1"), ("1", "Infinity"), ("2", "1E+30"), ("123.456", "-1.7")):
    print(a, b, said(lambda: D(a) ** D(b)))
print(said(lambda: pow(D(3), 4, 5)), said(lambda: pow(D(-7), 3, 10)), said(lambda: pow(D(3), -1, 5)), 2 ** D("0.5"), getcontext().power(D(2), 3))
# ---
import copy, math, numbers, sys
import decimal
from decimal import *
from fractions import Fraction as F

D = Decimal


def said(f):
    try:
        return repr(f())
    except Exception as e:
        conditions = e.args[0] if e.args and isinstance(e.args[0], list) else []
        return type(e).__name__ + str([c.__name__ for c in conditions])


# how it is made and what it is
for text in ("1_000.5", " 7 ", "\u0663", "1e5", ".5", "5.", "+inf", "-nan", "sNaN123", "", "x", "1e", "--1", "1 2"):
    print(repr(text), said(lambda: D(text)))
for value in (0.1, -0.0, 1e300, 5e-324, float("inf"), True, -3, (1, (1, 2, 3), -2), [0, [0], "F"], (0, (1,), "n"), (0, (11,), 0), (2, (1,), 0), (0, (1,)), None, 1j, b"1", F(1, 2)):
    print(value, said(lambda: D(value)))
print(D.from_float(0.25), D.from_float(3), said(lambda: D.from_float("1")), isinstance(D(1), numbers.Number), isinstance(D(1), numbers.Real))
print(hash(D("1.0")) == hash(1), hash(D("0.5")) == hash(0.5), hash(D("-1")) == hash(-1), hash(D("1E+400")) == hash(10**400), hash(D("-Infinity")), {D("2.0"): 1}[2], said(lambda: hash(D("sNaN"))))
print(copy.copy(D("1.5")), copy.deepcopy(D("1.5")), D("1.5").__reduce__()[1], complex(D(2)), D(2).real, D(2).imag, D("2.7").__class__.__module__)
print("%s %d %.2f %r" % (D(1), D("2.7"), D("2.345"), D("0.1")), math.floor(D("-1.5")), math.ceil(D("1.2")), math.trunc(D("-1.9")), round(D("2.5")), round(D("2.675"), 2), math.sqrt(D(2)), math.isnan(D("NaN")))
print(sum([D("0.1")] * 10), max(D(1), 2.5), sorted([D(3), 0.5, 2]), D("1.5") == 1.5, D("1.1") < 1.1, D("0.5") == F(1, 2), D(1) < F(3, 2), F(1, 2) >= D("0.25"), D(1) == 1 + 0j, D(1) == "1", D(2) != 2)
print(F(D("0.25")), F.from_decimal(D("-1.5")), said(lambda: F.from_decimal(0.5)), said(lambda: D(1) + 1.5), said(lambda: D(1) + "1"), said(lambda: D(1) < "1"), 3 - D("1.5"), divmod(7, D(2)), 7 // D(2), 7 % D("2.5"), said(lambda: 1 / D(0)))


class Price(Decimal):
    def __str__(self):
        return "$" + Decimal.__str__(self)


print(Price("1.5"), repr(Price("2")), Price("1.5") + 1, type(Price(1) + 1).__name__, isinstance(Price(1), Decimal))
# ---
import copy, math, numbers, sys
import decimal
from decimal import *
from fractions import Fraction as F

D = Decimal


def said(f):
    try:
        return repr(f())
    except Exception as e:
        conditions = e.args[0] if e.args and isinstance(e.args[0], list) else []
        return type(e).__name__ + str([c.__name__ for c in conditions])


# contexts and signals
setcontext(Context())
print(getcontext(), DefaultContext, BasicContext, ExtendedContext)
print(MAX_PREC, MAX_EMAX, MIN_EMIN, MIN_ETINY, HAVE_THREADS, ROUND_HALF_EVEN, DecimalTuple(0, (1,), 2), decimal.Context is Context)
with localcontext() as local:
    local.prec = 5
    print(D(1) / 3, local is getcontext(), local.flags[Inexact])
with localcontext(ExtendedContext, prec=3) as local:
    print(D(2) / 3, D(1) / 0, local.Etiny(), local.Etop())
print(getcontext().prec, said(lambda: localcontext(speed=1)), said(lambda: Context(prec=0)), said(lambda: Context(rounding="up")), said(lambda: Context(Emax=-1)), said(lambda: Context(traps=[ValueError])), said(lambda: setattr(getcontext(), "speed", 1)), said(lambda: Context(prec=1.5)))
context = Context(prec=4, traps=[FloatOperation])
setcontext(context)
print(said(lambda: D(0.5)), said(lambda: D(1) < 0.5), said(lambda: D("0.5") == 0.5), context.create_decimal("1.23456"), context.create_decimal_from_float(0.1), context.add(D("1.2345"), 1), context.sqrt(2), context.plus("1") if False else context.plus(D("1.23456")), context.to_eng_string(D("1E+5")), context.divmod(7, 2), context.copy().prec)
context.clear_flags()
print(context.flags[Inexact], context.is_zero(0), context.max(1, D(2)), context.quantize(D("1.25"), D("0.1")), context.compare(1, 2), context.number_class(-3), context.radix(), context.logb(250), context.fma(2, 3, 4), context.minus(3), context.abs(-3), said(lambda: context.add("1", 2)))
print([c.__mro__[1:-4] for c in (Overflow, Underflow, DivisionByZero, FloatOperation)], issubclass(DivisionByZero, ZeroDivisionError), issubclass(InvalidOperation, ArithmeticError))
print(sorted(name for name in dir(decimal) if not name.startswith("_") and name[0].isupper()))
