# Of the module datetime: spans of time, and zones.
from math import isinf, isnan, modf

from time import _told as number_told

DAY = 86_400_000_000  # in microseconds


def asked(*values):
    # Before what the values are has an effect.
    if any(value._told for value in values):
        bool(number_told(0))


def noted(value):
    # Before a text is made of it.
    if value._told:
        repr(number_told(0))


def type_name(value):
    """As types written in C have it."""
    cls = type(value)
    return f"datetime.{cls.__name__}" if cls.__module__ == "datetime" else cls.__name__


def computed(compute):
    def get(self):
        value = compute(self)
        return number_told(value) if self._told else value

    return get


def comparisons(operands):
    """The six methods. operands(a, b, is_equality): two values to compare, or None."""

    def method(name):
        def compare(self, other):
            both = operands(self, other, name in ("__eq__", "__ne__"))
            return NotImplemented if both is None else getattr(both[0], name)(both[1])

        return compare

    return [method(f"__{name}__") for name in ("eq", "ne", "lt", "le", "gt", "ge")]


def _nearest(a, b):
    """a / b as a whole number, halves to the even one."""
    whole, rest = divmod(a, b)
    twice = 2 * rest
    above = twice > b if b > 0 else twice < b
    return whole + 1 if above or (twice == b and whole % 2 == 1) else whole


def _rounded(value):
    """Halves away from zero, as C's round()."""
    return int(value + (0.5 if value > 0 else -0.5))


class timedelta:
    __module__ = "datetime"
    __slots__ = ("_us", "_told")

    def __new__(cls, days=0, seconds=0, microseconds=0, milliseconds=0, minutes=0, hours=0, weeks=0):
        us, rest = 0, 0.0
        for name, value, unit in (
            ("microseconds", microseconds, 1),
            ("milliseconds", milliseconds, 1000),
            ("seconds", seconds, 1_000_000),
            ("minutes", minutes, 60_000_000),
            ("hours", hours, 3_600_000_000),
            ("days", days, DAY),
            ("weeks", weeks, 7 * DAY),
        ):
            if isinstance(value, int):
                us += value * unit
            elif isinstance(value, float):
                if isnan(value):
                    raise ValueError("cannot convert float NaN to integer")
                if isinf(value):
                    raise OverflowError("cannot convert float infinity to integer")
                part, whole = modf(value)
                us += int(whole) * unit
                part, whole = modf(part * unit)
                us += int(whole)
                rest += part
            else:
                raise TypeError(f"unsupported type for timedelta {name} component: {type(value).__name__}")
        if rest:
            whole = _rounded(rest)
            if abs(whole - rest) == 0.5:
                odd = us & 1
                whole = 2 * _rounded((rest + odd) * 0.5) - odd
            us += whole
        return delta(us, False, cls)

    days = property(computed(lambda self: self._us // DAY))
    seconds = property(computed(lambda self: self._us % DAY // 1_000_000))
    microseconds = property(computed(lambda self: self._us % 1_000_000))
    total_seconds = computed(lambda self: self._us / 10**6)

    def _parts(self):
        return self._us // DAY, self._us % DAY // 1_000_000, self._us % 1_000_000

    def __repr__(self):
        noted(self)
        named = zip(("days", "seconds", "microseconds"), self._parts())
        parts = [f"{name}={value}" for name, value in named if value]
        return f"{type_name(self)}({', '.join(parts) or 0})"

    def __str__(self):
        noted(self)
        days, seconds, us = self._parts()
        minutes, seconds = divmod(seconds, 60)
        text = "%d:%02d:%02d" % (*divmod(minutes, 60), seconds)
        if us:
            text += ".%06d" % us
        return f"{days} day{'' if abs(days) == 1 else 's'}, {text}" if days else text

    def __add__(self, other):
        return (
            delta(self._us + other._us, self._told or other._told) if isinstance(other, timedelta) else NotImplemented
        )

    __radd__ = __add__

    def __sub__(self, other):
        return self + -other if isinstance(other, timedelta) else NotImplemented

    def __rsub__(self, other):
        return -self + other if isinstance(other, timedelta) else NotImplemented

    def __neg__(self):
        return delta(-self._us, self._told)

    def __pos__(self):
        return delta(self._us, self._told)

    def __abs__(self):
        return delta(abs(self._us), self._told)

    def __mul__(self, other):
        if isinstance(other, int):
            return delta(self._us * other, self._told)
        if isinstance(other, float):
            above, below = other.as_integer_ratio()
            return delta(_nearest(self._us * above, below), self._told)
        return NotImplemented

    __rmul__ = __mul__

    def __floordiv__(self, other):
        if isinstance(other, timedelta):
            asked(self, other)
            return self._us // _divisor(other._us)
        return delta(self._us // _divisor(other), self._told) if isinstance(other, int) else NotImplemented

    def __truediv__(self, other):
        if isinstance(other, timedelta):
            asked(self, other)
            return self._us / _divisor(other._us, "division by zero")
        if isinstance(other, int):
            return delta(_nearest(self._us, _divisor(other)), self._told)
        if isinstance(other, float):
            above, below = other.as_integer_ratio()
            return delta(_nearest(self._us * below, _divisor(above)), self._told)
        return NotImplemented

    def __mod__(self, other):
        return self.__divmod__(other)[1] if isinstance(other, timedelta) else NotImplemented

    def __divmod__(self, other):
        if not isinstance(other, timedelta):
            return NotImplemented
        return self // other, delta(self._us % other._us, False)

    def _operands(self, other, is_equality):
        if not isinstance(other, timedelta):
            return None
        asked(self, other)
        return self._us, other._us

    __eq__, __ne__, __lt__, __le__, __gt__, __ge__ = comparisons(_operands)

    def __hash__(self):
        asked(self)
        return hash(self._parts())

    def __bool__(self):
        asked(self)
        return self._us != 0

    def __reduce__(self):
        return type(self), (self.days, self.seconds, self.microseconds)


def _divisor(value, message="integer division or modulo by zero"):
    if not value:
        raise ZeroDivisionError(message)
    return value


def delta(us, told, cls=timedelta):
    days = us // DAY
    if abs(days) > 999999999:
        raise OverflowError(f"days={days}; must have magnitude <= 999999999")
    made = object.__new__(cls)
    object.__setattr__(made, "_us", us)
    object.__setattr__(made, "_told", told)
    return made


def _is_datetime(value):
    from datetime import datetime

    return isinstance(value, datetime)


class tzinfo:
    __module__ = "datetime"

    def _missing(name):
        def method(self, dt):
            raise NotImplementedError(f"a tzinfo subclass must implement {name}()")

        return method

    tzname, utcoffset, dst = _missing("tzname"), _missing("utcoffset"), _missing("dst")
    del _missing

    def fromutc(self, dt):
        if not _is_datetime(dt):
            raise TypeError("fromutc: argument must be a datetime instance")
        if dt.tzinfo is not self:
            raise ValueError("fromutc: dt.tzinfo is not self")
        offset, saving = dt.utcoffset(), dt.dst()
        if offset is None or saving is None:
            raise ValueError(f"fromutc: non-None {'utcoffset' if offset is None else 'dst'}() result required")
        standard = offset - saving
        if standard:
            dt += standard
            saving = dt.dst()
        return dt + saving

    def __reduce__(self):
        arguments = getattr(self, "__getinitargs__", tuple)()
        return type(self), arguments, self.__dict__ or None


class timezone(tzinfo):
    __module__ = "datetime"

    def __new__(cls, offset, *name):
        if not isinstance(offset, timedelta):
            raise TypeError(f"timezone() argument 1 must be datetime.timedelta, not {type(offset).__name__}")
        for text in name:
            if not isinstance(text, str):
                raise TypeError(f"timezone() argument 2 must be str, not {type(text).__name__}")
        if not name and not offset and "utc" in timezone.__dict__:
            return timezone.utc
        if not -DAY < offset._us < DAY:
            raise ValueError(
                "offset must be a timedelta strictly between -timedelta(hours=24) and timedelta(hours=24), "
                f"not {offset!r}."
            )
        made = object.__new__(cls)
        made._offset, made._name = offset, name[0] if name else None
        return made

    def _checked(self, dt, what):
        if not (dt is None or _is_datetime(dt)):
            raise TypeError(f"{what}(dt) argument must be a datetime instance or None, not {type(dt).__name__}")

    def utcoffset(self, dt):
        self._checked(dt, "utcoffset")
        return self._offset

    def tzname(self, dt):
        self._checked(dt, "tzname")
        return str(self)

    def dst(self, dt):
        self._checked(dt, "dst")

    def fromutc(self, dt):
        if not _is_datetime(dt):
            raise TypeError("fromutc: argument must be a datetime instance")
        if dt.tzinfo is not self:
            raise ValueError("fromutc: dt.tzinfo is not self")
        return dt + self._offset

    def __eq__(self, other):
        return self._offset == other._offset if isinstance(other, timezone) else NotImplemented

    def __hash__(self):
        return hash(self._offset)

    def __repr__(self):
        if self is timezone.utc:
            return "datetime.timezone.utc"
        name = "" if self._name is None else f", {self._name!r}"
        return f"datetime.timezone({self._offset!r}{name})"

    def __str__(self):
        return self._name if self._name is not None else "UTC" + (offset_text(self._offset) if self._offset else "")

    def __getinitargs__(self):
        return (self._offset,) if self._name is None else (self._offset, self._name)

    def __reduce__(self):
        return timezone, self.__getinitargs__(), None


def offset_text(offset, colon=":"):
    """+01:30, with seconds and microseconds where they are."""
    us = offset._us
    seconds, micro = divmod(abs(us), 1_000_000)
    minutes, seconds = divmod(seconds, 60)
    text = "%s%02d%s%02d" % ("-" if us < 0 else "+", minutes // 60, colon, minutes % 60)
    if seconds or micro:
        text += "%s%02d" % (colon, seconds)
    return text + ".%06d" % micro if micro else text


timezone.utc = timezone(timedelta(0))
timezone.min = timezone(timedelta(minutes=-1439))
timezone.max = timezone(timedelta(minutes=1439))
timedelta.min = timedelta(-999999999)
timedelta.max = delta(1_000_000_000 * DAY - 1, False)
timedelta.resolution = timedelta(microseconds=1)
