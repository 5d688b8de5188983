# Dates and times, as CPython computes them. There is no clock and no zone but UTC: what now() and
# today() give may be kept, computed with and written into a text (that of 1970-01-01); what it is
# must not be asked. `_told` is set for what comes of it.
from operator import index as _index

import _date_text
from _timedelta import asked as _asked, comparisons as _comparisons, computed as _computed, DAY as _DAY, delta as _delta
from _timedelta import noted as _noted, number_told as _number_told, offset_text as _offset_text
from _timedelta import timedelta, timezone, type_name as _type_name, tzinfo
from time import struct_time as _struct_time

__all__ = ("date", "datetime", "time", "timedelta", "timezone", "tzinfo", "MINYEAR", "MAXYEAR", "UTC")
MINYEAR, MAXYEAR, UTC = 1, 9999, timezone.utc
_EPOCH = 719163  # the ordinal of 1970-01-01
_LAST = 3652059  # that of 9999-12-31


def _fields(names, owner):
    """A property for each."""

    def field(name):
        slot = "_" + name

        def get(self):
            value = getattr(self, slot)
            return _number_told(value) if self._told and isinstance(value, int) else value

        def refuse(self, value=None):
            raise AttributeError(f"attribute '{name}' of 'datetime.{owner}' objects is not writable")

        return property(get, refuse, refuse)

    return [field(name) for name in names]


def _whole(*values):
    """The integers, and whether one of them comes from the clock."""
    told = any(hasattr(type(value), "_cobra_in_text") for value in values)
    return [value._value if hasattr(type(value), "_cobra_in_text") else _index(value) for value in values], told


def _made(cls, told, **slots):
    made = object.__new__(cls)
    made._told = told
    for name, value in slots.items():
        setattr(made, "_" + name, value)
    return made


def _required(**given):
    for position, (name, value) in enumerate(given.items(), 1):
        if value is None:
            raise TypeError(f"function missing required argument '{name}' (pos {position})")


def _check_zone(zone):
    if not (zone is None or isinstance(zone, tzinfo)):
        raise TypeError(f"tzinfo argument must be None or of a tzinfo subclass, not type '{type(zone).__name__}'")


def _check_text(text):
    if not isinstance(text, str):
        raise TypeError("fromisoformat: argument must be str")


def _moment(timestamp):
    """The microseconds since 1970 of a timestamp in seconds, and whether it comes from the clock."""
    told = hasattr(type(timestamp), "_cobra_in_text")
    if told:
        timestamp = timestamp._value
    if isinstance(timestamp, float):
        whole = int(timestamp // 1)
        us = whole * 1_000_000 + round((timestamp - whole) * 1e6)
    else:
        us = _index(timestamp) * 1_000_000
    if abs(us) >= 1 << 83:
        raise OverflowError("timestamp out of range for platform time_t")
    if not 1 <= us // _DAY + _EPOCH <= _LAST:
        raise ValueError(f"year {1970 + us // _DAY * 400 // 146097} is out of range")
    return us, told


class date:
    __slots__ = ("_year", "_month", "_day", "_told")
    year, month, day = _fields(("year", "month", "day"), "date")

    def __new__(cls, year=None, month=None, day=None):
        _required(year=year, month=month, day=day)
        (year, month, day), told = _whole(year, month, day)
        _date_text.check_date(year, month, day)
        return _made(cls, told, year=year, month=month, day=day)

    @classmethod
    def today(cls):
        return cls.fromtimestamp(_number_told(0))

    @classmethod
    def fromtimestamp(cls, timestamp):
        us, told = _moment(timestamp)
        return cls._of(us // _DAY + _EPOCH, told)

    @classmethod
    def _of(cls, ordinal, told):
        if not 1 <= ordinal <= _LAST:
            raise OverflowError("date value out of range")
        year, month, day = _date_text.date_of(ordinal)
        return cls(_number_told(year) if told else year, month, day)

    @classmethod
    def fromordinal(cls, ordinal):
        (ordinal,), told = _whole(ordinal)
        if ordinal < 1:
            raise ValueError("ordinal must be >= 1")
        if ordinal > _LAST:
            raise ValueError(f"year {_date_text.date_of(ordinal)[0]} is out of range")
        return cls._of(ordinal, told)

    @classmethod
    def fromisoformat(cls, text):
        _check_text(text)
        found = _date_text.iso_date(text, whole=True)
        if found is None:
            raise ValueError(f"Invalid isoformat string: {text!r}")
        return cls._of_week(*found[1:]) if found[0] == "week" else cls(*found[1:])

    @classmethod
    def fromisocalendar(cls, year, week, day):
        return cls._of_week(year, week, day)

    @classmethod
    def _of_week(cls, year, week, day):
        if not MINYEAR <= year <= MAXYEAR:
            raise ValueError(f"Year is out of range: {year}")
        first = _date_text.first_iso_monday(year)
        weeks = (_date_text.first_iso_monday(year + 1) - first) // 7
        if not 1 <= week <= weeks:
            raise ValueError(f"Invalid week: {week}")
        if not 1 <= day <= 7:
            raise ValueError(f"Invalid day: {day} (range is [1, 7])")
        return cls._of(first + (week - 1) * 7 + day - 1, False)

    def _ordinal(self):
        return _date_text.ordinal_of(self._year, self._month, self._day)

    def _tuple(self, hour=0, minute=0, second=0, saving=-1):
        date = self._year, self._month, self._day
        weekday = (self._ordinal() + 6) % 7
        return (*date, hour, minute, second, weekday, _date_text.day_of_year(*date), saving)

    toordinal = _computed(_ordinal)
    weekday = _computed(lambda self: (self._ordinal() + 6) % 7)
    isoweekday = _computed(lambda self: (self._ordinal() + 6) % 7 + 1)

    def isocalendar(self):
        parts = _date_text.iso_calendar(self._ordinal())
        return IsoCalendarDate(*(map(_number_told, parts) if self._told else parts))

    def timetuple(self):
        parts = self._tuple()
        return _struct_time(map(_number_told, parts) if self._told else parts)

    def ctime(self):
        _noted(self)
        return _date_text.strftime("%a %b %e %H:%M:%S ", self._tuple()) + "%04d" % self._year

    def strftime(self, format):
        _noted(self)
        return _date_text.strftime(format, self._tuple(), {"f": "000000", "z": "", "Z": ""})

    def __format__(self, spec):
        if not isinstance(spec, str):
            raise TypeError(f"must be str, not {type(spec).__name__}")
        return self.strftime(spec) if spec else str(self)

    def isoformat(self):
        _noted(self)
        return "%04d-%02d-%02d" % (self._year, self._month, self._day)

    def __str__(self):
        return self.isoformat()

    def __repr__(self):
        _noted(self)
        return f"{_type_name(self)}({self._year}, {self._month}, {self._day})"

    def replace(self, year=None, month=None, day=None):
        given = zip((year, month, day), (self.year, self.month, self.day))
        return type(self)(*(own if value is None else value for value, own in given))

    def __add__(self, other):
        if not isinstance(other, timedelta):
            return NotImplemented
        return type(self)._of(self._ordinal() + other._us // _DAY, self._told or other._told)

    __radd__ = __add__

    def __sub__(self, other):
        if isinstance(other, timedelta):
            return type(self)._of(self._ordinal() - other._us // _DAY, self._told or other._told)
        if isinstance(other, date) and not isinstance(other, datetime):
            return _delta((self._ordinal() - other._ordinal()) * _DAY, self._told or other._told)
        return NotImplemented

    def _operands(self, other, is_equality):
        if isinstance(other, datetime):
            if is_equality:
                return False, True
            raise TypeError("can't compare datetime.datetime to datetime.date")
        if not isinstance(other, date):
            return None
        _asked(self, other)
        return self._ordinal(), other._ordinal()

    __eq__, __ne__, __lt__, __le__, __gt__, __ge__ = _comparisons(_operands)

    def __hash__(self):
        _asked(self)
        return hash((self._year, self._month, self._day))

    def __reduce__(self):
        return type(self), (self.year, self.month, self.day)


class IsoCalendarDate(tuple):
    def __new__(cls, year, week, weekday):
        return tuple.__new__(cls, (year, week, weekday))

    year = property(lambda self: self[0])
    week = property(lambda self: self[1])
    weekday = property(lambda self: self[2])

    def __repr__(self):
        return "datetime.IsoCalendarDate(year=%s, week=%s, weekday=%s)" % tuple(self)


_CLOCK = ("hour", "minute", "second", "microsecond")
_UNITS = {"hours": 1, "minutes": 2, "seconds": 3, "milliseconds": 4, "microseconds": 5}


class _OfZone:
    """What time and datetime have of a zone."""

    __slots__ = ()

    def _zone_says(self, name):
        if self._tzinfo is None:
            return None
        answer = getattr(self._tzinfo, name)(self if isinstance(self, datetime) else None)
        if name == "tzname":
            if not (answer is None or isinstance(answer, str)):
                raise TypeError(f"tzinfo.tzname() must return None or a string, not '{type(answer).__name__}'")
        elif not (answer is None or isinstance(answer, timedelta)):
            raise TypeError(f"tzinfo.{name}() must return None or a timedelta, not '{type(answer).__name__}'")
        return answer

    def utcoffset(self):
        return self._zone_says("utcoffset")

    def dst(self):
        return self._zone_says("dst")

    def tzname(self):
        return self._zone_says("tzname")

    def _of_datetime(self):
        """What strftime() writes for %f, %z, %Z."""
        offset = self.utcoffset()
        zone = "" if offset is None else _offset_text(offset, "")
        return {"f": "%06d" % self._microsecond, "z": zone, "Z": self.tzname() or ""}

    def _clock_text(self, timespec):
        if timespec == "auto":
            timespec = "microseconds" if self._microsecond else "seconds"
        if timespec not in _UNITS:
            raise ValueError("Unknown timespec value")
        units = _UNITS[timespec]
        text = ":".join("%02d" % part for part in (self._hour, self._minute, self._second)[:units])
        if units == 4:
            text += ".%03d" % (self._microsecond // 1000)
        elif units == 5:
            text += ".%06d" % self._microsecond
        offset = self.utcoffset()
        return text if offset is None else text + _offset_text(offset)

    def _since_midnight(self):
        """In microseconds."""
        return ((self._hour * 60 + self._minute) * 60 + self._second) * 1_000_000 + self._microsecond

    def _more(self):
        """Of repr()."""
        zone = "" if self._tzinfo is None else f", tzinfo={self._tzinfo!r}"
        return zone + (", fold=1" if self._fold else "")

    def _clock_of(self):
        return {name: getattr(self, "_" + name) for name in (*_CLOCK, "tzinfo", "fold")}


class time(_OfZone):
    __slots__ = ("_hour", "_minute", "_second", "_microsecond", "_tzinfo", "_fold", "_told")
    hour, minute, second, microsecond, tzinfo, fold = _fields((*_CLOCK, "tzinfo", "fold"), "time")

    def __new__(cls, hour=0, minute=0, second=0, microsecond=0, tzinfo=None, *, fold=0):
        (hour, minute, second, microsecond), told = _whole(hour, minute, second, microsecond)
        _date_text.check_time(hour, minute, second, microsecond, fold)
        _check_zone(tzinfo)
        clock = {"hour": hour, "minute": minute, "second": second, "microsecond": microsecond}
        return _made(cls, told, **clock, tzinfo=tzinfo, fold=fold)

    @classmethod
    def fromisoformat(cls, text):
        _check_text(text)
        found = _date_text.iso_time(text.removeprefix("T"))
        if found is None:
            raise ValueError(f"Invalid isoformat string: {text!r}")
        return cls(*found[:4], _zone_of(found[4]))

    def isoformat(self, timespec="auto"):
        _noted(self)
        return self._clock_text(timespec)

    def strftime(self, format):
        _noted(self)
        numbers = (1900, 1, 1, self._hour, self._minute, self._second, 0, 1, -1)
        return _date_text.strftime(format, numbers, self._of_datetime())

    __format__ = date.__format__

    def __str__(self):
        return self.isoformat()

    def __repr__(self):
        _noted(self)
        shown = [self._hour, self._minute, self._second, self._microsecond]
        while len(shown) > 2 and not shown[-1]:
            shown.pop()
        return f"{_type_name(self)}({', '.join(map(str, shown))}{self._more()})"

    def replace(self, hour=None, minute=None, second=None, microsecond=None, tzinfo=True, *, fold=None):
        given = zip((hour, minute, second, microsecond), (self.hour, self.minute, self.second, self.microsecond))
        clock = [own if value is None else value for value, own in given]
        return type(self)(*clock, self._tzinfo if tzinfo is True else tzinfo, fold=self._fold if fold is None else fold)

    def _operands(self, other, is_equality):
        if not isinstance(other, time):
            return None
        _asked(self, other)
        offsets = self.utcoffset(), other.utcoffset()
        if (offsets[0] is None) != (offsets[1] is None):
            if is_equality:
                return False, True
            raise TypeError("can't compare offset-naive and offset-aware times")
        shifts = [0 if offset is None else offset._us for offset in offsets]
        return self._since_midnight() - shifts[0], other._since_midnight() - shifts[1]

    __eq__, __ne__, __lt__, __le__, __gt__, __ge__ = _comparisons(_operands)

    def __hash__(self):
        _asked(self)
        offset = self.utcoffset()
        return hash(self._since_midnight() - (0 if offset is None else offset._us))

    def __reduce__(self):
        return type(self), (self.hour, self.minute, self.second, self.microsecond, self._tzinfo)


def _zone_of(offset):
    """The zone of a text's offset in microseconds."""
    return None if offset is None else timezone(_delta(offset, False))


class datetime(_OfZone, date):
    __slots__ = ("_hour", "_minute", "_second", "_microsecond", "_tzinfo", "_fold")
    hour, minute, second, microsecond, tzinfo, fold = _fields((*_CLOCK, "tzinfo", "fold"), "datetime")

    def __new__(
        cls, year=None, month=None, day=None, hour=0, minute=0, second=0, microsecond=0, tzinfo=None, *, fold=0
    ):
        _required(year=year, month=month, day=day)
        numbers, told = _whole(year, month, day, hour, minute, second, microsecond)
        _date_text.check_date(*numbers[:3])
        _date_text.check_time(*numbers[3:], fold)
        _check_zone(tzinfo)
        slots = dict(zip(("year", "month", "day", *_CLOCK), numbers))
        return _made(cls, told, **slots, tzinfo=tzinfo, fold=fold)

    @classmethod
    def _at(cls, us, told, tzinfo=None):
        """So many microseconds after the start of the year 1."""
        days, us = divmod(us, _DAY)
        if not 1 <= days + 1 <= _LAST:
            raise OverflowError("date value out of range")
        year, month, day = _date_text.date_of(days + 1)
        seconds, us = divmod(us, 1_000_000)
        minutes, second = divmod(seconds, 60)
        if told:
            year = _number_told(year)
        return cls(year, month, day, *divmod(minutes, 60), second, us, tzinfo)

    def _since_first(self):
        return (self._ordinal() - 1) * _DAY + self._since_midnight()

    @classmethod
    def now(cls, tz=None):
        return cls.fromtimestamp(_number_told(0), tz)

    @classmethod
    def utcnow(cls):
        return cls.utcfromtimestamp(_number_told(0))

    @classmethod
    def fromtimestamp(cls, timestamp, tz=None):
        _check_zone(tz)
        us, told = _moment(timestamp)
        made = cls._at(us + (_EPOCH - 1) * _DAY, told, tz)
        return made if tz is None else tz.fromutc(made)

    @classmethod
    def utcfromtimestamp(cls, timestamp):
        return cls.fromtimestamp(timestamp)

    @classmethod
    def combine(cls, date, time, tzinfo=True):
        for index, (value, kind) in enumerate(((date, _date), (time, _time)), 1):
            if not isinstance(value, kind):
                name = f"datetime.{kind.__name__}"
                raise TypeError(f"combine() argument {index} must be {name}, not {type(value).__name__}")
        year = _number_told(date._year) if date._told or time._told else date._year
        clock = time._clock_of()
        if tzinfo is not True:
            clock["tzinfo"] = tzinfo
        return cls(year, date._month, date._day, **clock)

    @classmethod
    def fromisoformat(cls, text):
        _check_text(text)
        found = _date_text.iso_datetime(text)
        if found is None:
            raise ValueError(f"Invalid isoformat string: {text!r}")
        (kind, *day), clock = found
        if kind == "week":
            first = _date._of_week(*day)
            day = first._year, first._month, first._day
        return cls(*day, *clock[:4], _zone_of(clock[4]))

    @classmethod
    def strptime(cls, date_string, format):
        numbers, us, (seconds, more), name = _date_text.strptime(date_string, format)
        zone = None
        if seconds is not None:
            offset = _delta(seconds * 1_000_000 + more, False)
            zone = timezone(offset) if name is None else timezone(offset, name)
        return cls(*numbers[:6], us, zone)

    def date(self):
        return _date._of(self._ordinal(), self._told)

    def time(self):
        return self.timetz().replace(tzinfo=None)

    def timetz(self):
        clock = self._clock_of()
        if self._told:
            clock["hour"] = _number_told(self._hour)
        return _time(**clock)

    def timestamp(self):
        offset = self.utcoffset()
        us = self._since_first() - (_EPOCH - 1) * _DAY - (0 if offset is None else offset._us)
        return _number_told(us / 10**6) if self._told else us / 10**6

    def timetuple(self):
        saving = self.dst()
        parts = self._tuple(self._hour, self._minute, self._second, -1 if saving is None else int(bool(saving)))
        return _struct_time(map(_number_told, parts) if self._told else parts)

    def utctimetuple(self):
        offset = self.utcoffset()
        moment = self if offset is None else self - offset
        parts = moment._tuple(moment._hour, moment._minute, moment._second, 0)
        return _struct_time(map(_number_told, parts) if self._told else parts)

    def astimezone(self, tz=None):
        _check_zone(tz)
        offset = self.utcoffset()
        if tz is None:
            tz = timezone(timedelta(0), "UTC")
        if tz is self._tzinfo:
            return self
        universal = (self.replace(tzinfo=None) - (offset or timedelta(0))).replace(tzinfo=tz)
        return tz.fromutc(universal)

    def ctime(self):
        _noted(self)
        parts = self._tuple(self._hour, self._minute, self._second)
        return _date_text.strftime("%a %b %e %H:%M:%S ", parts) + "%04d" % self._year

    def strftime(self, format):
        _noted(self)
        parts = self._tuple(self._hour, self._minute, self._second)
        return _date_text.strftime(format, parts, self._of_datetime())

    def isoformat(self, sep="T", timespec="auto"):
        return date.isoformat(self) + sep + self._clock_text(timespec)

    def __str__(self):
        return self.isoformat(" ")

    def __repr__(self):
        _noted(self)
        shown = [self._year, self._month, self._day, self._hour, self._minute, self._second, self._microsecond]
        while len(shown) > 5 and not shown[-1]:
            shown.pop()
        return f"{_type_name(self)}({', '.join(map(str, shown))}{self._more()})"

    def replace(
        self,
        year=None,
        month=None,
        day=None,
        hour=None,
        minute=None,
        second=None,
        microsecond=None,
        tzinfo=True,
        *,
        fold=None,
    ):
        given = year, month, day, hour, minute, second, microsecond
        own = [getattr(self, name) for name in ("year", "month", "day", *_CLOCK)]
        numbers = [mine if value is None else value for value, mine in zip(given, own)]
        zone = self._tzinfo if tzinfo is True else tzinfo
        return type(self)(*numbers, zone, fold=self._fold if fold is None else fold)

    def __add__(self, other):
        if not isinstance(other, timedelta):
            return NotImplemented
        return type(self)._at(self._since_first() + other._us, self._told or other._told, self._tzinfo)

    __radd__ = __add__

    def __sub__(self, other):
        if isinstance(other, timedelta):
            return type(self)._at(self._since_first() - other._us, self._told or other._told, self._tzinfo)
        if not isinstance(other, datetime):
            return NotImplemented
        a, b = self._both(other, "subtract")
        return _delta(a - b, self._told or other._told)

    def _both(self, other, what):
        offsets = [None, None] if self._tzinfo is other._tzinfo else [self.utcoffset(), other.utcoffset()]
        if (offsets[0] is None) != (offsets[1] is None):
            raise TypeError(f"can't {what} offset-naive and offset-aware datetimes")
        shifts = [0 if offset is None else offset._us for offset in offsets]
        return self._since_first() - shifts[0], other._since_first() - shifts[1]

    def _operands(self, other, is_equality):
        if not isinstance(other, datetime):
            if not isinstance(other, date):
                return None
            if is_equality:
                return False, True
            raise TypeError("can't compare datetime.datetime to datetime.date")
        _asked(self, other)
        try:
            return self._both(other, "compare")
        except TypeError:
            if is_equality:
                return False, True
            raise

    __eq__, __ne__, __lt__, __le__, __gt__, __ge__ = _comparisons(_operands)

    def __hash__(self):
        _asked(self)
        offset = self.utcoffset()
        return hash(self._since_first() - (0 if offset is None else offset._us))

    def __reduce__(self):
        numbers = [getattr(self, name) for name in ("year", "month", "day", *_CLOCK)]
        return type(self), (*numbers, self._tzinfo)


_date, _time = date, time
date.min, date.max, date.resolution = date(1, 1, 1), date(9999, 12, 31), timedelta(1)
time.min, time.max, time.resolution = time(), time(23, 59, 59, 999999), timedelta(microseconds=1)
datetime.min, datetime.max = datetime(1, 1, 1), datetime(9999, 12, 31, 23, 59, 59, 999999)
datetime.resolution = timedelta(microseconds=1)
