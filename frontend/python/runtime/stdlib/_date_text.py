# Dates as texts, for `time` and `datetime`: what strftime and strptime do in the C locale.
import re

DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
_BEFORE_MONTH = (0, 0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334)


def is_leap(year):
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


def days_in_month(year, month):
    return 29 if month == 2 and is_leap(year) else (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)[month - 1]


def day_of_year(year, month, day):
    return _BEFORE_MONTH[month] + (month > 2 and is_leap(year)) + day


def ordinal_of(year, month, day):
    """The number of a day; 1 is the first of January of the year 1, a Monday."""
    before = year - 1
    return before * 365 + before // 4 - before // 100 + before // 400 + day_of_year(year, month, day)


def date_of(ordinal):
    """(year, month, day)"""
    year = (ordinal * 400 + 399) // 146097 + 1
    while ordinal_of(year, 1, 1) > ordinal:
        year -= 1
    day = ordinal - ordinal_of(year, 1, 1) + 1
    month = 12
    while day_of_year(year, month, 1) > day:
        month -= 1
    return year, month, day - day_of_year(year, month, 1) + 1


def first_iso_monday(year):
    """The ordinal of the Monday of the week that has the year's first Thursday."""
    first = ordinal_of(year, 1, 1)
    weekday = (first + 6) % 7
    return first - weekday + (7 if weekday > 3 else 0)


def iso_calendar(ordinal):
    """(year, week, weekday)"""
    year = date_of(ordinal)[0]
    if ordinal < first_iso_monday(year):
        year -= 1
    elif ordinal >= first_iso_monday(year + 1):
        year += 1
    weeks, weekday = divmod(ordinal - first_iso_monday(year), 7)
    return year, weeks + 1, weekday + 1


def check_date(year, month, day):
    if not 1 <= year <= 9999:
        raise ValueError(f"year {year} is out of range")
    if not 1 <= month <= 12:
        raise ValueError("month must be in 1..12")
    if not 1 <= day <= days_in_month(year, month):
        raise ValueError("day is out of range for month")


def check_time(hour, minute, second, microsecond, fold):
    for name, value, most in (
        ("hour", hour, 23),
        ("minute", minute, 59),
        ("second", second, 59),
        ("microsecond", microsecond, 999999),
    ):
        if not 0 <= value <= most:
            raise ValueError(f"{name} must be in 0..{most}")
    if fold not in (0, 1):
        raise ValueError("fold must be either 0 or 1")


# ---- strftime

_COMPOSED = {
    "c": "%a %b %e %H:%M:%S %Y",
    "D": "%m/%d/%y",
    "F": "%Y-%m-%d",
    "r": "%I:%M:%S %p",
    "R": "%H:%M",
    "T": "%H:%M:%S",
    "x": "%m/%d/%y",
    "X": "%H:%M:%S",
}
_TEXTS = {
    "a": lambda t: DAYS[t[6]][:3],
    "A": lambda t: DAYS[t[6]],
    "b": lambda t: MONTHS[t[1] - 1][:3],
    "B": lambda t: MONTHS[t[1] - 1],
    "h": lambda t: MONTHS[t[1] - 1][:3],
    "n": lambda t: "\n",
    "p": lambda t: "AM" if t[3] < 12 else "PM",
    "P": lambda t: "am" if t[3] < 12 else "pm",
    "t": lambda t: "\t",
    "%": lambda t: "%",
}
# directive -> (digits, what they are filled up with, the number)
_NUMBERS = {
    "C": (1, "0", lambda t: t[0] // 100),
    "d": (2, "0", lambda t: t[2]),
    "e": (2, " ", lambda t: t[2]),
    "g": (2, "0", lambda t: iso_calendar(ordinal_of(*t[:3]))[0] % 100),
    "G": (1, "0", lambda t: iso_calendar(ordinal_of(*t[:3]))[0]),
    "H": (2, "0", lambda t: t[3]),
    "I": (2, "0", lambda t: t[3] % 12 or 12),
    "j": (3, "0", lambda t: t[7]),
    "k": (2, " ", lambda t: t[3]),
    "l": (2, " ", lambda t: t[3] % 12 or 12),
    "m": (2, "0", lambda t: t[1]),
    "M": (2, "0", lambda t: t[4]),
    "s": (1, "0", lambda t: (ordinal_of(*t[:3]) - 719163) * 86400 + t[3] * 3600 + t[4] * 60 + t[5]),
    "S": (2, "0", lambda t: t[5]),
    "u": (1, "0", lambda t: t[6] + 1),
    "U": (2, "0", lambda t: (t[7] + 6 - (t[6] + 1) % 7) // 7),
    "V": (2, "0", lambda t: iso_calendar(ordinal_of(*t[:3]))[1]),
    "w": (1, "0", lambda t: (t[6] + 1) % 7),
    "W": (2, "0", lambda t: (t[7] + 6 - t[6]) // 7),
    "y": (2, "0", lambda t: t[0] % 100),
    "Y": (1, "0", lambda t: t[0]),
}
_DIRECTIVE = re.compile(r"%([-_0^#]*)(\d*)[EO]?(.?)", re.DOTALL)


def strftime(form, t, of_datetime=None):
    """As glibc writes it; t is a struct_time's nine numbers. `of_datetime` is what %f, %z and %Z are
    of a datetime."""

    def directive(found):
        flags, width, letter = found.groups()
        if of_datetime is not None and letter and letter in of_datetime:
            return of_datetime[letter]
        if letter in _COMPOSED:
            text, fill, digits = strftime(_COMPOSED[letter], t), " ", 0
        elif letter in _TEXTS:
            text, fill, digits = _TEXTS[letter](t), " ", 0
        elif letter in _NUMBERS:
            digits, fill, number = _NUMBERS[letter]
            text = str(number(t))
        elif letter in ("z", "Z"):
            text, fill, digits = "+0000" if letter == "z" else "UTC", " ", 0
        else:
            return found[0]
        for flag in flags:
            if flag == "-":
                digits = 0
            elif flag == "_":
                fill = " "
            elif flag == "0":
                fill = "0"
            elif flag == "^":
                text = text.upper()
            elif flag == "#":
                text = text.lower() if letter in ("p", "Z") else text.upper()
        return text.rjust(int(width) if width else digits, fill)

    return _DIRECTIVE.sub(directive, form)


# ---- strptime

_PATTERNS = {
    "d": r"(?P<d>3[0-1]|[1-2]\d|0[1-9]|[1-9]| [1-9])",
    "f": r"(?P<f>[0-9]{1,6})",
    "H": r"(?P<H>2[0-3]|[0-1]\d|\d)",
    "I": r"(?P<I>1[0-2]|0[1-9]|[1-9])",
    "G": r"(?P<G>\d\d\d\d)",
    "j": r"(?P<j>36[0-6]|3[0-5]\d|[1-2]\d\d|0[1-9]\d|00[1-9]|[1-9]\d|0[1-9]|[1-9])",
    "m": r"(?P<m>1[0-2]|0[1-9]|[1-9])",
    "M": r"(?P<M>[0-5]\d|\d)",
    "S": r"(?P<S>6[0-1]|[0-5]\d|\d)",
    "U": r"(?P<U>5[0-3]|[0-4]\d|\d)",
    "W": r"(?P<W>5[0-3]|[0-4]\d|\d)",
    "w": r"(?P<w>[0-6])",
    "u": r"(?P<u>[1-7])",
    "V": r"(?P<V>5[0-3]|0[1-9]|[1-4]\d|\d)",
    "y": r"(?P<y>\d\d)",
    "Y": r"(?P<Y>\d\d\d\d)",
    "z": r"(?P<z>[+-]\d\d:?[0-5]\d(:?[0-5]\d(\.\d{1,6})?)?|(?-i:Z))",
    "A": "(?P<A>" + "|".join(DAYS) + ")",
    "a": "(?P<a>" + "|".join(day[:3] for day in DAYS) + ")",
    "B": "(?P<B>" + "|".join(MONTHS) + ")",
    "b": "(?P<b>" + "|".join(month[:3] for month in MONTHS) + ")",
    "p": "(?P<p>am|pm)",
    "Z": "(?P<Z>utc|gmt)",
    "%": "%",
}
_PATTERN_OF = {"c": "%a %b %d %H:%M:%S %Y", "x": "%m/%d/%y", "X": "%H:%M:%S"}


def _pattern(form):
    form = re.sub(r"\s+", r"\\s+", re.sub(r"([\\.^$*+?(){}\[\]|])", r"\\\1", form))
    parts, at = [], 0
    while (percent := form.find("%", at)) >= 0:
        parts.append(form[at:percent])
        letter = form[percent + 1 : percent + 2]
        if letter in _PATTERN_OF:
            parts.append(_pattern(_PATTERN_OF[letter]))
        elif letter in _PATTERNS and letter:
            parts.append(_PATTERNS[letter])
        else:
            raise KeyError(letter)
        at = percent + 2
    return "".join(parts) + form[at:]


def _offset(text):
    """(seconds, microseconds) of what stands for %z."""
    if text is None:
        return None, 0
    if text == "Z":
        return 0, 0
    digits = text[1:].replace(":", "")
    if text[3] == ":" and len(text) > 6 and text[6] != ":":
        raise ValueError(f"Inconsistent use of : in {text}")
    seconds = int(digits[:2]) * 3600 + int(digits[2:4]) * 60 + int(digits[4:6] or 0)
    micro = int(digits[7:].ljust(6, "0"))
    return (-seconds, -micro) if text[0] == "-" else (seconds, micro)


def _check_weeks(f):
    year_only = f.get("Y") or f.get("y")
    weekday = any(f.get(key) for key in "Aawu")
    if f.get("G"):
        if f.get("j"):
            raise ValueError(
                "Day of the year directive '%j' is not compatible with ISO year directive '%G'. Use '%Y' instead."
            )
        if not f.get("V") or not weekday:
            raise ValueError(
                "ISO year directive '%G' must be used with the ISO week directive '%V' and a weekday directive "
                "('%A', '%a', '%w', or '%u')."
            )
    elif f.get("V"):
        if year_only and weekday:
            raise ValueError(
                "ISO week directive '%V' is incompatible with the year directive '%Y'. Use the ISO year '%G' instead."
            )
        raise ValueError(
            "ISO week directive '%V' must be used with the ISO year directive '%G' and a weekday directive "
            "('%A', '%a', '%w', or '%u')."
        )


def _weekday(f):
    if f.get("A"):
        return [day.lower() for day in DAYS].index(f["A"].lower())
    if f.get("a"):
        return [day[:3].lower() for day in DAYS].index(f["a"].lower())
    if f.get("w"):
        return (int(f["w"]) + 6) % 7
    return int(f["u"]) - 1 if f.get("u") else None


def _month(f):
    if f.get("m"):
        return int(f["m"])
    if f.get("B"):
        return [month.lower() for month in MONTHS].index(f["B"].lower()) + 1
    return [month[:3].lower() for month in MONTHS].index(f["b"].lower()) + 1 if f.get("b") else None


def _year(f):
    if f.get("y"):
        return int(f["y"]) + (2000 if int(f["y"]) <= 68 else 1900)
    return int(f["Y"]) if f.get("Y") else None


def _hour(f):
    if f.get("I"):
        hour = int(f["I"]) % 12
        return hour + 12 if (f.get("p") or "").lower() == "pm" else hour
    return int(f["H"]) if f.get("H") else 0


def strptime(text, form):
    """(struct_time's nine numbers, microsecond, (offset in seconds, microseconds), zone's name)"""
    for index, value in enumerate((text, form)):
        if not isinstance(value, str):
            raise TypeError(f"strptime() argument {index} must be str, not {type(value)}")
    try:
        pattern = _pattern(form)
    except KeyError as error:
        if not error.args[0]:
            raise ValueError(f"stray % in format '{form}'") from None
        bad = "\\" if error.args[0] == "\\" else error.args[0]
        raise ValueError(f"'{bad}' is a bad directive in format '{form}'") from None
    found = re.compile(pattern, re.IGNORECASE).match(text)
    if not found:
        raise ValueError(f"time data {text!r} does not match format {form!r}")
    if len(text) != found.end():
        raise ValueError(f"unconverted data remains: {text[found.end():]}")
    f = found.groupdict()
    _check_weeks(f)
    year, weekday, day, month = _year(f), _weekday(f), int(f.get("d") or 1), _month(f) or 1
    julian = int(f["j"]) if f.get("j") else None
    # The 29th of February without a year is one of a leap year.
    leap = year is None and month == 2 and day == 29
    known = 1904 if leap else 1900 if year is None else year
    if julian is None and weekday is not None:
        if (f.get("U") or f.get("W")) and year is not None:
            julian = _of_week(year, int(f.get("U") or f.get("W")), weekday, bool(f.get("W")))
        elif f.get("G") and f.get("V"):
            ordinal = first_iso_monday(int(f["G"])) + (int(f["V"]) - 1) * 7 + weekday
            known, month, day = date_of(ordinal)
            if iso_calendar(ordinal)[0] != int(f["G"]):
                raise ValueError(f"Invalid week: {int(f['V'])}")
    if julian is None:
        if day > days_in_month(known, month):
            raise ValueError("day is out of range for month")
        julian = day_of_year(known, month, day)
    else:
        known, month, day = date_of(ordinal_of(known, 1, 1) + julian - 1)
    if weekday is None:
        weekday = (ordinal_of(known, month, day) + 6) % 7
    numbers = (
        1900 if leap else known,
        month,
        day,
        _hour(f),
        int(f.get("M") or 0),
        int(f.get("S") or 0),
        weekday,
        julian,
    )
    zone = (f.get("Z") or "").upper() or None
    return (*numbers, -1 if zone is None else 0), int((f.get("f") or "0").ljust(6, "0")), _offset(f.get("z")), zone


def _of_week(year, week, weekday, starts_monday):
    first = (ordinal_of(year, 1, 1) + 6) % 7
    if not starts_monday:
        first, weekday = (first + 1) % 7, (weekday + 1) % 7
    if week == 0:
        return 1 + weekday - first
    return 1 + (7 - first) % 7 + 7 * (week - 1) + weekday


# ---- ISO 8601

_ISO_DATE = re.compile(r"(\d{4})(?:-(\d\d)-(\d\d)|(\d\d)(\d\d)|-W(\d\d)(?:-(\d))?|W(\d\d)(\d)?)", re.ASCII)
_ISO_CLOCK = r"(\d\d)(?:(:?)(\d\d)(?:\2(\d\d))?)?(?:[.,](\d+))?"
_ISO_TIME = re.compile(_ISO_CLOCK + r"(?:(Z)|([+-])" + _ISO_CLOCK.replace(r"\2", r"\9") + ")?", re.ASCII)


def _iso_parts(found):
    year, *groups = [None if group is None else int(group) for group in found.groups()]
    if groups[0] is not None:
        return "date", year, groups[0], groups[1]
    if groups[2] is not None:
        return "date", year, groups[2], groups[3]
    week, day = groups[4:6] if groups[4] is not None else groups[6:]
    return "week", year, week, 1 if day is None else day


def iso_date(text, whole):
    """("date", year, month, day) or ("week", year, week, day); None if it is no such text."""
    found = _ISO_DATE.fullmatch(text) if whole else _ISO_DATE.match(text)
    return found and _iso_parts(found)


def iso_time(text):
    """[hour, minute, second, microsecond, offset in microseconds or None]; None if it is none."""
    found = _ISO_TIME.fullmatch(text)
    if not found:
        return None
    hour, _, minute, second, fraction, universal, sign, *zone = found.groups()
    clock = [int(hour), int(minute or 0), int(second or 0), int((fraction or "0").ljust(6, "0")[:6])]
    if universal:
        return [*clock, 0]
    if not sign:
        return [*clock, None]
    hour, _, minute, second, fraction = zone
    seconds = int(hour) * 3600 + int(minute or 0) * 60 + int(second or 0)
    offset = seconds * 1_000_000 + int((fraction or "0").ljust(6, "0")[:6])
    return [*clock, -offset if sign == "-" else offset]


def iso_datetime(text):
    """What iso_date() and iso_time() give of it; None if it is no such text."""
    if iso_date(text, whole=True):
        return iso_date(text, whole=True), [0, 0, 0, 0, None]
    found = _ISO_DATE.match(text)
    # Of 2020W0112... the digit after the week is a day if an even number of digits follows it.
    ends = sorted({end for end in (7, 8, 10) if found and end < len(text)}, reverse=True)
    for end in ends:
        day, clock = iso_date(text[:end], whole=True), iso_time(text[end + 1 :])
        if day and clock:
            return day, clock
    return None
