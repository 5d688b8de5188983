# There is no clock: what it says may be kept, computed with and shown, and no network may depend on
# it (_unknown_number). The zone is UTC.
import _date_text
from _unknown_number import Unknown as _Unknown

_NOTE = "there is no clock: a text of the date or time is that of 1970-01-01 00:00:00"


def _told(value, note=_NOTE):
    """A number that the clock says."""
    return _Unknown(
        value,
        "asking what the clock says",
        "a latency cannot depend on the clock: keep it out of the way of the model",
        note,
    )


def time():
    return _told(0.0, note=None)


perf_counter = monotonic = process_time = thread_time = time


def time_ns():
    return _told(0, note=None)


perf_counter_ns = monotonic_ns = process_time_ns = thread_time_ns = time_ns


def sleep(secs):
    pass


def tzset():
    pass


timezone, altzone, daylight, tzname = 0, 0, 0, ("UTC", "UTC")

_FIELDS = ("tm_year", "tm_mon", "tm_mday", "tm_hour", "tm_min", "tm_sec", "tm_wday", "tm_yday", "tm_isdst")


class struct_time(tuple):
    n_fields, n_sequence_fields, n_unnamed_fields = 11, 9, 0

    def __new__(cls, sequence):
        values = tuple(sequence)
        if not 9 <= len(values) <= 11:
            bound = "at least 9" if len(values) < 9 else "at most 11"
            raise TypeError(f"time.struct_time() takes an {bound}-sequence ({len(values)}-sequence given)")
        made = tuple.__new__(cls, values[:9])
        made.__dict__.update(zip(("tm_zone", "tm_gmtoff"), (*values[9:], None, None)))
        return made

    def __repr__(self):
        return "time.struct_time(" + ", ".join(f"{name}={value!r}" for name, value in zip(_FIELDS, self)) + ")"

    def __reduce__(self):
        return struct_time, (tuple(self),)


for _index, _name in enumerate(_FIELDS):
    setattr(struct_time, _name, property(lambda self, index=_index: self[index]))


def _numbers(t, illegal):
    """The nine numbers, and whether one of them comes from the clock."""
    if not isinstance(t, tuple):
        raise TypeError("Tuple or struct_time argument required")
    if len(t) != 9:
        raise TypeError(illegal)
    values = [value._value if isinstance(value, _Unknown) else value for value in t]
    return values, any(isinstance(value, _Unknown) for value in t)


def gmtime(secs=None, zone="GMT"):
    told = secs is None or isinstance(secs, _Unknown)
    seconds = 0 if secs is None else secs._value if told else secs
    if not isinstance(seconds, (int, float)):
        raise TypeError(f"'{type(seconds).__name__}' object cannot be interpreted as an integer")
    if not -(1 << 55) < seconds < 1 << 55:  # years that a C int has
        raise OverflowError("timestamp out of range for platform time_t")
    days, rest = divmod(int(seconds // 1), 86400)
    date = _date_text.date_of(days + 719163)
    minutes, second = divmod(rest, 60)
    parts = [*date, *divmod(minutes, 60), second, (days + 3) % 7, _date_text.day_of_year(*date), 0]
    return struct_time([*(map(_told, parts) if told else parts), zone, 0])


def localtime(secs=None):
    return gmtime(secs, "UTC")


def mktime(t):
    values, told = _numbers(t, "mktime(): illegal time tuple argument")
    months = values[0] * 12 + values[1] - 1
    days = _date_text.ordinal_of(months // 12, months % 12 + 1, 1) + values[2] - 1 - 719163
    seconds = float(days * 86400 + values[3] * 3600 + values[4] * 60 + values[5])
    return _told(seconds) if told else seconds


def _text(form, t, name="strftime"):
    t = localtime() if t is None else t
    values, told = _numbers(t, name + "(): illegal time tuple argument")
    if told:
        repr(_told(0))  # for the note
    for name, value, least, most in (
        ("month", values[1], 0, 12),
        ("day of month", values[2], 0, 31),
        ("hour", values[3], 0, 23),
        ("minute", values[4], 0, 59),
        ("seconds", values[5], 0, 61),
        ("day of year", values[7], 0, 366),
    ):
        if not least <= value <= most:
            raise ValueError(f"{name} out of range")
    zone = {"Z": getattr(t, "tm_zone", None) or "UTC"}
    year, month, day, *clock, weekday, of_year, saving = values
    return _date_text.strftime(form, (year, month or 1, day or 1, *clock, weekday % 7, of_year or 1, saving), zone)


def strftime(format, t=None):
    return _text(format, t)


def asctime(t=None):
    return _text("%a %b %e %H:%M:%S %Y", t, "asctime")


def ctime(secs=None):
    return asctime(localtime(secs))


def strptime(data_string, format="%a %b %d %H:%M:%S %Y"):
    return struct_time(_date_text.strptime(data_string, format)[0])
