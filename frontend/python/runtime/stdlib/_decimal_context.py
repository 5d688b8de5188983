# Contexts and signals of decimal.
import contextvars

MAX_PREC = MAX_EMAX = 999999999999999999
MIN_EMIN = -MAX_EMAX
MIN_ETINY = MIN_EMIN - (MAX_PREC - 1)
ROUNDINGS = (
    "ROUND_UP",
    "ROUND_DOWN",
    "ROUND_CEILING",
    "ROUND_FLOOR",
    "ROUND_HALF_UP",
    "ROUND_HALF_DOWN",
    "ROUND_HALF_EVEN",
    "ROUND_05UP",
)


class DecimalException(ArithmeticError):
    pass


class Clamped(DecimalException):
    pass


class Rounded(DecimalException):
    pass


class Inexact(DecimalException):
    pass


class Subnormal(DecimalException):
    pass


class InvalidOperation(DecimalException):
    pass


class DivisionByZero(DecimalException, ZeroDivisionError):
    pass


class Overflow(Inexact, Rounded):
    pass


class Underflow(Inexact, Rounded, Subnormal):
    pass


class FloatOperation(DecimalException, TypeError):
    pass


# Ways in which an operation is invalid. They are what the exception carries; the signal is
# InvalidOperation.
class ConversionSyntax(InvalidOperation):
    pass


class DivisionImpossible(InvalidOperation):
    pass


class DivisionUndefined(InvalidOperation, ZeroDivisionError):
    pass


class InvalidContext(InvalidOperation):
    pass


SIGNALS = (
    InvalidOperation,
    FloatOperation,
    DivisionByZero,
    Overflow,
    Underflow,
    Subnormal,
    Inexact,
    Rounded,
    Clamped,
)
# In the order of a context's text.
_SHOWN = (
    Clamped,
    InvalidOperation,
    DivisionByZero,
    Inexact,
    FloatOperation,
    Overflow,
    Rounded,
    Subnormal,
    Underflow,
)
_INVALID = (DivisionUndefined, DivisionImpossible, ConversionSyntax, InvalidContext)
for _class in (DecimalException,) + SIGNALS + _INVALID:
    _class.__module__ = "decimal"


def signal_of(condition):
    return InvalidOperation if condition in _INVALID else condition


def _switches(given):
    if isinstance(given, dict):
        if len(given) != len(SIGNALS) or any(signal not in given for signal in SIGNALS):
            raise TypeError("invalid signal dict")
        return {signal: bool(given[signal]) for signal in SIGNALS}
    on = list(given)
    if any(signal not in SIGNALS for signal in on):
        raise KeyError("invalid error flag")
    return {signal: signal in on for signal in SIGNALS}


_RANGES = {
    "prec": (1, MAX_PREC, "valid range for prec is [1, MAX_PREC]"),
    "Emin": (MIN_EMIN, 0, "valid range for Emin is [MIN_EMIN, 0]"),
    "Emax": (0, MAX_EMAX, "valid range for Emax is [0, MAX_EMAX]"),
    "capitals": (0, 1, "valid values for capitals are [0, 1]"),
    "clamp": (0, 1, "valid values for clamp are [0, 1]"),
}


class ContextBase:
    """What a context has beside the operations, which decimal.Context adds."""

    def __init__(
        self, prec=None, rounding=None, Emin=None, Emax=None, capitals=None, clamp=None, flags=None, traps=None
    ):
        base = DEFAULTS
        self.prec = base["prec"] if prec is None else prec
        self.rounding = base["rounding"] if rounding is None else rounding
        self.Emin = base["Emin"] if Emin is None else Emin
        self.Emax = base["Emax"] if Emax is None else Emax
        self.capitals = base["capitals"] if capitals is None else capitals
        self.clamp = base["clamp"] if clamp is None else clamp
        self.flags = () if flags is None else flags
        self.traps = base["traps"] if traps is None else traps

    def __setattr__(self, name, value):
        if name in _RANGES:
            low, high, message = _RANGES[name]
            if not isinstance(value, int):
                raise TypeError(f"'{type(value).__name__}' object cannot be interpreted as an integer")
            if not low <= value <= high:
                raise ValueError(message)
        elif name == "rounding":
            if value not in ROUNDINGS:
                raise TypeError(
                    "valid values for rounding are:\n  [ROUND_CEILING, ROUND_FLOOR, ROUND_UP, ROUND_DOWN,\n"
                    "   ROUND_HALF_UP, ROUND_HALF_DOWN, ROUND_HALF_EVEN,\n   ROUND_05UP]"
                )
        elif name in ("flags", "traps"):
            value = _switches(value)
        elif not name.startswith("_"):
            raise AttributeError(f"'decimal.Context' object has no attribute '{name}'")
        object.__setattr__(self, name, value)

    def __delattr__(self, name):
        raise AttributeError("context attributes cannot be deleted")

    def __repr__(self):
        def names(switches):
            return ", ".join(signal.__name__ for signal in _SHOWN if switches[signal])

        return (
            f"Context(prec={self.prec}, rounding={self.rounding}, Emin={self.Emin}, Emax={self.Emax}, "
            f"capitals={self.capitals}, clamp={self.clamp}, flags=[{names(self.flags)}], traps=[{names(self.traps)}])"
        )

    def copy(self):
        return type(self)(
            self.prec, self.rounding, self.Emin, self.Emax, self.capitals, self.clamp, self.flags, self.traps
        )

    __copy__ = copy

    def __reduce__(self):
        on = [[signal for signal in SIGNALS if switches[signal]] for switches in (self.flags, self.traps)]
        return type(self), (self.prec, self.rounding, self.Emin, self.Emax, self.capitals, self.clamp, *on)

    def clear_flags(self):
        self.flags = ()

    def clear_traps(self):
        self.traps = ()

    def Etiny(self):
        return self.Emin - self.prec + 1

    def Etop(self):
        return self.Emax - self.prec + 1

    def _signal(self, conditions):
        """Sets the flags of conditions that an operation met, and raises the first that is
        trapped."""
        if not conditions:
            return
        for condition in conditions:
            self.flags[signal_of(condition)] = True
        trapped = [c for c in _INVALID + SIGNALS if c in conditions and self.traps[signal_of(c)]]
        if trapped:
            first = min((signal_of(c) for c in trapped), key=SIGNALS.index)
            raise first(trapped)


DEFAULTS = {
    "prec": 28,
    "rounding": "ROUND_HALF_EVEN",
    "Emin": -999999,
    "Emax": 999999,
    "capitals": 1,
    "clamp": 0,
    "traps": [InvalidOperation, DivisionByZero, Overflow],
}
CURRENT = contextvars.ContextVar("decimal_context")
