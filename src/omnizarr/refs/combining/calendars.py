"""Reference dates of CF time units as whole nanoseconds, in every calendar of the convention, without rounding.

https://cfconventions.org/cf-conventions/cf-conventions.html#time-coordinate
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from omnizarr.errors import MetadataError

_SECOND: Final = 10**9
UNITS: Final[dict[str, int]] = {
    "days": 86400 * _SECOND,
    "hours": 3600 * _SECOND,
    "minutes": 60 * _SECOND,
    "seconds": _SECOND,
    "milliseconds": 10**6,
    "microseconds": 10**3,
    "nanoseconds": 1,
}
"""The units that time is counted in, from the longest on, in nanoseconds."""

_SPELLINGS: Final = {
    "days": ("day", "d"),
    "hours": ("hour", "hr", "hrs", "h"),
    "minutes": ("minute", "min", "mins"),
    "seconds": ("second", "sec", "secs", "s"),
    "milliseconds": ("millisecond", "millisec", "millisecs", "msec", "msecs", "ms"),
    "microseconds": ("microsecond", "microsec", "microsecs", "us"),
    "nanoseconds": ("nanosecond", "nanosec", "nanosecs", "ns"),
}
_KNOWN: Final = {spelling: unit for unit, others in _SPELLINGS.items() for spelling in (unit, *others)}
_ALIASES: Final = {
    "gregorian": "standard",
    "": "standard",
    "365_day": "noleap",
    "366_day": "all_leap",
    "proleptic_gregorian": "proleptic_gregorian",
}
CALENDARS: Final = ("standard", "proleptic_gregorian", "noleap", "all_leap", "360_day", "julian")

_SINCE = re.compile(
    r"""\s*([A-Za-z]+)\s+since\s+
    ([+-]?\d{1,6})-(\d{1,2})(?:-(\d{1,2}))?
    (?:(?:\s+|[Tt])(\d{1,2})(?::(\d{1,2})(?::(\d{1,2})(?:\.(\d{1,9})\d*)?)?)?)?
    \s*(?:(UTC|GMT|Z)|([+-])(\d{1,2}):?(\d{2})?)?\s*""",
    re.VERBOSE,
)
_MONTHS: Final = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
GREGORIAN_START: Final = (1582, 10, 15)


class Since(NamedTuple):
    """What a units attribute says: how long a unit is, and where counting starts."""

    unit: str
    step: int
    """Nanoseconds of one unit."""
    origin: int
    """Nanoseconds since the start of 1970 in the calendar."""
    calendar: str
    gregorian: bool
    """Whether counting starts after 1582, so that the standard and the proleptic calendar agree on it."""


def is_time(units: object) -> bool:
    """Whether units count time since a date.

    >>> is_time("days since 2000-01-01"), is_time("K")
    (True, False)
    """
    return isinstance(units, str) and " since " in units


def since(units: str, calendar: object = None) -> Since:
    """Read the units of a time.

    Raises:
        MetadataError: If they are not those of a time, or the calendar is not known.

    >>> since("hours since 1970-01-02 06:00").origin // 3_600_000_000_000
    30
    >>> since("days since 2001-3-1", "noleap").origin // 86_400_000_000_000 == 31 * 365 + 59
    True
    """
    kind = str(calendar or "").lower()
    kind = _ALIASES.get(kind, kind)
    if kind not in CALENDARS:
        raise MetadataError(f"the calendar {calendar!r} is not known", hint=f"Known ones: {', '.join(CALENDARS)}.")
    match = _SINCE.fullmatch(units)
    unit = _KNOWN.get(match[1].lower()) if match else None
    if match is None or unit is None:
        raise MetadataError(f"the units {units!r} are not those of a time")
    date = int(match[2]), int(match[3]), int(match[4] or 1)
    _check_date(date, kind, units)
    seconds = int(match[5] or 0) * 3600 + int(match[6] or 0) * 60 + int(match[7] or 0)
    if match[10]:
        shift = int(match[11]) * 3600 + int(match[12] or 0) * 60
        seconds += -shift if match[10] == "+" else shift
    fraction = int((match[8] or "0").ljust(9, "0"))
    days = day_number(date, kind) - day_number((1970, 1, 1), kind)
    return Since(unit, UNITS[unit], (days * 86400 + seconds) * _SECOND + fraction, kind, date >= GREGORIAN_START)


def day_number(date: tuple[int, int, int], calendar: str) -> int:
    """Count the days up to a date, from some day of the calendar on.

    >>> day_number((2000, 3, 1), "standard") - day_number((2000, 2, 28), "standard")
    2
    """
    year, month, day = date
    before = sum(_MONTHS[: month - 1])
    if calendar == "360_day":
        return year * 360 + (month - 1) * 30 + day
    if calendar == "noleap":
        return year * 365 + before + day
    if calendar == "all_leap":
        return year * 366 + before + (month > 2) + day
    julian = calendar == "julian" or (calendar == "standard" and date < GREGORIAN_START)
    last = year - 1
    leaps = last // 4 if julian else last // 4 - last // 100 + last // 400
    leap = year % 4 == 0 and (julian or year % 100 != 0 or year % 400 == 0)
    # The two calendars count the same days: 1582-10-04 of one is the day before 1582-10-15 of the other.
    return last * 365 + leaps + before + (leap and month > 2) + day - (2 if julian else 0)


def _check_date(date: tuple[int, int, int], calendar: str, units: str) -> None:
    year, month, day = date
    days = 30 if calendar == "360_day" else _MONTHS[month - 1] + (month == 2) if 1 <= month <= 12 else 0
    if not 1 <= day <= days or (calendar == "standard" and year == 0):
        raise MetadataError(f"the units {units!r} name a day that the calendar {calendar!r} does not have")
