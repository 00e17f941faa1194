"""Calendars: hours since 1970 to years, months, days and hours, and back."""

from __future__ import annotations

from math import floor
from typing import Final, NamedTuple

_DAYS: Final = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_LEAP_DAYS: Final = (31, 29, *_DAYS[2:])
_EVEN: Final = (30,) * 12
_CENTURIES: Final = 400
_TINY: Final = 0.5e-6
"""Half of the smallest part of a second that is told."""


class Moment(NamedTuple):
    """A date and an hour with its fraction."""

    year: int
    month: int
    day: int
    hour: float

    def text(self, separator: str, *, with_year: bool = True) -> str:
        """Return the date, and as much of the time as is not zero.

        >>> Moment(2000, 1, 2, 12.0).text("T"), Moment(2000, 1, 2, 0.0).text("T"), Moment(2000, 1, 2, 1.51).text(" ")
        ('2000-01-02T12', '2000-01-02', '2000-01-02 01:30:36')
        """
        hour = int(self.hour + _TINY / 3600)
        rest = 60.0 * (self.hour - hour)
        minute = int(rest + _TINY / 60)
        second = 60.0 * (rest - minute)
        whole = int(second + _TINY)
        # C's %4.4ld: the sign does not count.
        year = f"{'-' if self.year < 0 else ''}{abs(self.year):04d}-" if with_year else ""
        date = f"{year}{self.month:02d}-{self.day:02d}"
        if second - whole >= _TINY:
            return f"{date}{separator}{hour:02d}:{minute:02d}:{second:f}"
        if whole:
            return f"{date}{separator}{hour:02d}:{minute:02d}:{whole:02d}"
        if minute:
            return f"{date}{separator}{hour:02d}:{minute:02d}"
        return f"{date}{separator}{hour:02d}" if hour else date


class Calendar(NamedTuple):
    """Which years are leap years, and how long months are then and otherwise.

    Attributes:
        every: After how many years a leap year comes; 0 for never.
        centuries: Whether only every fourth century is one.
        years: Whether there are years at all.
    """

    name: str
    every: int
    centuries: bool
    days: tuple[int, ...]
    leap_days: tuple[int, ...]
    years: bool = True

    def is_leap(self, year: int) -> bool:
        """Whether a year is a leap year."""
        if not self.every or year % self.every:
            return False
        return not self.centuries or year % 100 != 0 or year % _CENTURIES == 0

    def _until(self, year: int) -> int:
        """Return the days from the beginning of year 0 to that of another."""
        if not self.every:
            return year * sum(self.days)
        leaps = -(-year // self.every)
        if self.centuries:
            leaps += -(-year // _CENTURIES) - -(-year // 100)
        return year * sum(self.days) + leaps * (sum(self.leap_days) - sum(self.days))

    def hours(self, moment: Moment) -> float:
        """Return the hours since the beginning of 1970."""
        month = moment.month if 1 <= moment.month <= 12 else 1
        months = self.leap_days if self.years and self.is_leap(moment.year) else self.days
        days = sum(months[: month - 1]) + moment.day - 1
        if self.years:
            days += self._until(moment.year) - self._until(1970)
        return days * 24.0 + moment.hour

    def moment(self, hours: float) -> Moment:
        """Return what is so many hours after the beginning of 1970."""
        day = floor(hours / 24.0)
        hour = hours - day * 24.0
        if hour >= 24.0:
            day, hour = day + 1, hour - 24.0
        year = 0
        if self.years:
            day += self._until(1970)
            year = floor(day / (self._until(_CENTURIES) / _CENTURIES))
            while self._until(year) > day:
                year -= 1
            while self._until(year + 1) <= day:
                year += 1
            day -= self._until(year)
        else:
            day %= sum(self.days)
        months = self.leap_days if self.years and self.is_leap(year) else self.days
        month = 0
        while day >= months[month]:
            day -= months[month]
            month += 1
        return Moment(year, month + 1, day + 1, hour)


STANDARD: Final = Calendar("proleptic_gregorian", 4, centuries=True, days=_DAYS, leap_days=_LEAP_DAYS)
JULIAN: Final = Calendar("julian", 4, centuries=False, days=_DAYS, leap_days=_LEAP_DAYS)
NO_LEAP: Final = Calendar("noleap", 0, centuries=False, days=_DAYS, leap_days=_DAYS)
ALL_LEAP: Final = Calendar("all_leap", 0, centuries=False, days=_LEAP_DAYS, leap_days=_LEAP_DAYS)
EVEN: Final = Calendar("360_day", 0, centuries=False, days=_EVEN, leap_days=_EVEN)
CLIMATE: Final = Calendar("none", 0, centuries=False, days=_DAYS, leap_days=_DAYS, years=False)
MIXED: Final = Calendar("standard", 4, centuries=True, days=_DAYS, leap_days=_LEAP_DAYS)
"""Julian up to October 4 of 1582, Gregorian from October 15 on."""

_NAMES: Final = {
    "gregorian": MIXED, "standard": MIXED, "proleptic_gregorian": STANDARD, "noleap": NO_LEAP, "no_leap": NO_LEAP,
    "365_day": NO_LEAP, "allleap": ALL_LEAP, "all_leap": ALL_LEAP, "366_day": ALL_LEAP, "360_day": EVEN,
    "julian": JULIAN, "none": CLIMATE,
}  # fmt: skip


def calendar_of(name: str) -> Calendar:
    """Return the calendar of a name or of the beginning of one; the mixed one if there is none.

    >>> calendar_of("360_day").name, calendar_of("").name
    ('360_day', 'standard')
    """
    if not name:
        return MIXED
    return next((calendar for full, calendar in _NAMES.items() if full.startswith(name.lower())), MIXED)
