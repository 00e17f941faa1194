"""Numbers that mean times, as dates: units as `days since 1970-01-01`, calendars of CF, computed as ncdump does."""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import isfinite, isnan
from typing import TYPE_CHECKING, Any, Final

from omnizarr.nc.dump.calendars import CLIMATE, JULIAN, MIXED, STANDARD, Calendar, Moment, calendar_of
from omnizarr.nc.types import CHAR

if TYPE_CHECKING:
    from omnizarr.nc.dump.options import Options
    from omnizarr.nc.dump.output import Output
    from omnizarr.nc.tree import Var

_HOURS: Final = {"second": 1 / 3600, "minute": 1 / 60, "hour": 1.0, "day": 24.0, "week": 168.0}
_MONTHS: Final = {"month": 1, "season": 3, "year": 12}
_UNITS: Final = (
    ("sec", "s", "second"), ("min", "mn", "minute"), ("hour", "hr", "hour"), ("day", "dy", "day"),
    ("week", "wk", "week"), ("month", "mo", "month"), ("season", "", "season"), ("year", "yr", "year"),
)  # fmt: skip
_SINCE: Final = re.compile(r"\s*(\S++)\s*since\s*(\S++)(?:\s*(\S++))?")
_SINCE_ISO: Final = re.compile(r"\s*(\S++)\s*since\s*([^T]++)(?:T\s*(\S++))?")
_EPOCH: Final = Moment(1979, 1, 1, 0.0)
_LAST_JULIAN, _FIRST_GREGORIAN = Moment(1582, 10, 5, 0.0), Moment(1582, 10, 15, 0.0)
_COMMENT: Final = "\t\t  "
_BEFORE: Final = 18
"""Characters that the beginning of such a line counts for."""


class Bounds:
    """Variables that are the bounds of others, which tell the units."""

    def __init__(self) -> None:
        self._owners: dict[str, Var] = {}

    def add(self, name: bytes, owner: Var) -> None:
        """Take note of an attribute `bounds`."""
        self._owners[name.split(b"\0")[0].decode("utf-8", "surrogateescape")] = owner

    def owner(self, var: Var) -> Var:
        """Return the variable whose units tell what values of a variable mean."""
        return self._owners.get(var.name, var)


@dataclass(frozen=True, slots=True)
class TimeAxis:
    """Units of time, a moment to count from, and a calendar."""

    unit: str
    origin: Moment
    calendar: Calendar

    def quoted(self, value: float, separator: str) -> bytes:
        """Return a number as the time that it means, between quotes."""
        if not isfinite(value):
            return b"NaN" if isnan(value) else b"-Infinity" if value < 0 else b"Infinity"
        return f'"{self.moment(value).text(separator, with_year=self.calendar is not CLIMATE)}"'.encode()

    def moment(self, value: float) -> Moment:
        """Return the time that a number means."""
        calendar = self.calendar
        if self.unit in _MONTHS:
            return self._months_later(value, STANDARD if calendar is MIXED else calendar)
        # Divisions and products in the order in which ncdump has them: the last bits show in fractions of seconds.
        hours = value / (1 / _HOURS[self.unit]) if self.unit in ("second", "minute") else value * _HOURS[self.unit]
        if calendar is not MIXED:
            return calendar.moment(calendar.hours(self.origin) + hours)
        if self.origin < _FIRST_GREGORIAN:
            left = _since(JULIAN, _LAST_JULIAN) - _since(JULIAN, self.origin)
            if hours <= left:
                return _later(JULIAN, self.origin, hours)
            return _later(STANDARD, _FIRST_GREGORIAN, hours - left)
        left = _since(STANDARD, _FIRST_GREGORIAN) - _since(STANDARD, self.origin)
        if hours > left:
            return _later(STANDARD, self.origin, hours)
        return _later(JULIAN, _LAST_JULIAN, hours - left)

    def _months_later(self, value: float, calendar: Calendar) -> Moment:
        if value == 0:
            return self.origin
        months = int(_MONTHS[self.unit] * value + (-1e-10 if value < 0 else 1e-10))
        begin = calendar.moment(calendar.hours(self.origin))
        years, month = divmod(months + begin.month - 1, 12)
        return calendar.moment(calendar.hours(Moment(begin.year + years, month + 1, 1, 0.0)))


def _since(calendar: Calendar, moment: Moment) -> float:
    return calendar.hours(moment) - calendar.hours(_EPOCH)


def _later(calendar: Calendar, moment: Moment, hours: float) -> Moment:
    return calendar.moment(calendar.hours(_EPOCH) + (_since(calendar, moment) + hours))


def time_axis(var: Var, bounds: Bounds | None = None) -> TimeAxis | None:
    """Return what the values of a variable mean if they are times, by its attributes `units` and `calendar`."""
    owner = bounds.owner(var) if bounds is not None else var
    units = owner.attrs.get("units")
    if units is None or units.type != CHAR:
        return None
    calendar = owner.attrs.get("calendar")
    name = calendar.value if calendar is not None and calendar.type == CHAR else b""
    return parse_units(_text(units.value), calendar_of(_text(name)))


def _text(value: bytes) -> str:
    return value.split(b"\0")[0].decode("utf-8", "replace")


def parse_units(text: str, calendar: Calendar) -> TimeAxis | None:
    """Return what a text as `hours since 2000-01-01 12:00` means, or `None` if it tells no time.

    >>> parse_units("hours since 2000-01-01 12:00", STANDARD).quoted(36, "T")
    b'"2000-01-03"'
    """
    found, iso = _SINCE.match(text), _SINCE_ISO.match(text)
    if found is None and iso is None:
        return None
    if found is None or "T" in found[2]:
        found = iso
    parts = (text.split()[:1] or [""]) if found is None else [found[1], found[2].split()[0], found[3] or ""]
    unit = _unit(parts[0])
    if unit is None or (unit == "year" and calendar is CLIMATE):
        return None
    if found is None:
        return TimeAxis(unit, _EPOCH if calendar is not CLIMATE else Moment(0, 1, 1, 0.0), calendar)
    return TimeAxis(unit, _moment(" ".join(filter(None, parts[1:])), calendar), calendar)


def _unit(word: str) -> str | None:
    word = word.lower()
    return next((unit for long, short, unit in _UNITS if word.startswith(long) or (short and word == short)), None)


def _moment(text: str, calendar: Calendar) -> Moment:
    """Read a date, as far as it can be read: `%ld-%hd-%hd %d:%d:%lf` is what ncdump goes by."""
    patterns = [r"\s*([-+]?\d+)", r"-\s*([-+]?\d+)", r"-\s*([-+]?\d+)", r"\s*([-+]?\d+)", r":\s*([-+]?\d+)"]
    patterns.append(r":\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)")
    numbers: list[Any] = []
    at = 0
    for pattern in patterns[1 if calendar is CLIMATE else 0 :]:
        pattern = pattern.removeprefix("-") if calendar is CLIMATE and not numbers else pattern  # noqa: PLW2901 - the month
        found = re.compile(pattern).match(text, at)
        if found is None:
            break
        numbers.append(float(found[1]) if len(numbers) + (calendar is CLIMATE) == len(patterns) - 1 else int(found[1]))
        at = found.end()
    if calendar is CLIMATE:
        numbers.insert(0, 0)
    numbers += (0, 1, 1)[len(numbers) :]
    (year, month, day), clock = numbers[:3], numbers[3:]
    hour = 0.0
    for value, most, parts in zip(clock, (23, 59, 60.0), (1, 60.0, 3600.0), strict=False):
        if not 0 <= value <= most:
            break
        hour += value / parts
    return Moment(year, month, day, hour)


def print_times(axis: TimeAxis, values: Any, options: Options, out: Output) -> None:  # noqa: ANN401 - an array of numbers
    """Print what the numbers of an attribute mean, as a comment behind them; more than two on lines of their own."""
    texts = [axis.quoted(float(value), options.times).decode() for value in values]
    line = 0
    for number, text in enumerate(texts):
        item = text if number == len(texts) - 1 else f"{text},"
        line += 1 + len(item)
        if len(texts) > 2 and (number == 0 or line > out.width + 2):
            out.text("\n")
            out.margin(f"{_COMMENT}// {item}")
            line = _BEFORE + len(item) + 3
        else:
            out.text(f" // {item}" if number == 0 else f" {item}")
