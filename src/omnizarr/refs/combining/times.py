"""Times of several files in one unit: numbers since different dates become numbers since one of them, exactly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from math import gcd
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from omnizarr.errors import MetadataError
from omnizarr.model.jsonvalue import JSON
from omnizarr.refs.combining.calendars import UNITS, Since, is_time, since

Values: TypeAlias = npt.NDArray[Any]

_EXACT = 1 << 53
"""Floats of eight bytes hold all whole numbers up to here."""


class Times(NamedTuple):
    """Times in one unit."""

    values: list[Values]
    attributes: dict[str, JSON]
    """The units and the calendar."""


def unified(values: Sequence[Values], attributes: Sequence[Mapping[str, JSON]], names: Sequence[str]) -> Times | None:
    """Bring times into one unit: that of the first, or the longest that counts all of them exactly.

    Args:
        values: The numbers of each file.
        attributes: What the file says of them.
        names: The files, for messages.

    Returns:
        The times, or None where all have one unit already.

    Raises:
        MetadataError: If the calendars differ, or no unit holds all times exactly.
    """
    texts = [(one.get("units"), one.get("calendar")) for one in attributes]
    if len(set(map(repr, texts))) == 1 or not any(is_time(units) for units, _ in texts):
        return None
    read: dict[str, Since] = {}
    kinds: list[Since] = []
    for (units, calendar), name in zip(texts, names, strict=True):
        key = repr((units, calendar))
        if key not in read:
            if not is_time(units):
                raise MetadataError(f"{name}: the units are {units!r}, where other files count time since a date")
            try:
                read[key] = since(str(units), calendar)
            except MetadataError as error:
                error.message = f"{name}: {error.message}"
                raise
        kinds.append(read[key])
    _one_calendar(values, kinds, names)
    first = kinds[0]
    for unit in _candidates(kinds):
        step = UNITS[unit]
        moved = [_moved(one, kind, first.origin, step) for one, kind in zip(values, kinds, strict=True)]
        found = [one for one in moved if one is not None]
        if len(found) == len(moved):
            return Times(_one_type(found, values), _described(attributes[0], unit, first))
    raise MetadataError("no unit of time counts the times of all files exactly")


def moved_to(values: Values, attributes: Mapping[str, JSON], target: Mapping[str, JSON], name: str) -> Values:
    """Count times in given units.

    Raises:
        MetadataError: If that is not exact.
    """
    kind = since(str(attributes.get("units")), attributes.get("calendar"))
    wanted = since(str(target.get("units")), target.get("calendar", attributes.get("calendar")))
    moved = _moved(values, kind, wanted.origin, wanted.step)
    if moved is None or kind.calendar != wanted.calendar:
        raise MetadataError(f"{name}: the times cannot be counted exactly in {target.get('units')!r}")
    return moved


def _candidates(kinds: Sequence[Since]) -> list[str]:
    first = kinds[0]
    shared = gcd(*(kind.step for kind in kinds), *(kind.origin - first.origin for kind in kinds))
    fitting = [unit for unit, step in UNITS.items() if shared % step == 0 and step <= first.step]
    return [unit for unit in UNITS if unit in fitting] or ["nanoseconds"]


def _described(attributes: Mapping[str, JSON], unit: str, first: Since) -> dict[str, JSON]:
    text = str(attributes.get("units"))
    date = text.partition(" since ")[2].strip()
    found: dict[str, JSON] = {"units": text if unit == first.unit else f"{unit} since {date}"}
    if "calendar" in attributes:
        found["calendar"] = attributes["calendar"]
    return found


def _one_calendar(values: Sequence[Values], kinds: Sequence[Since], names: Sequence[str]) -> None:
    for one, kind, name in zip(values, kinds, names, strict=True):
        if kind.calendar == kinds[0].calendar:
            continue
        both = {kind.calendar, kinds[0].calendar}
        modern = kind.gregorian and kinds[0].gregorian and not bool((one < 0).any()) and not bool((values[0] < 0).any())
        if both != {"standard", "proleptic_gregorian"} or not modern:
            message = f"the calendar of {names[0]} is {kinds[0].calendar!r}, that of {name} {kind.calendar!r}"
            raise MetadataError(message)


def _moved(values: Values, kind: Since, origin: int, step: int) -> Values | None:
    """Count since another date in another unit, or return None where that is not exact."""
    ratio, rest = divmod(kind.step, step)
    shift, left = divmod(kind.origin - origin, step)
    if rest or left:
        return None
    if values.dtype.kind in "iu":
        top = max((abs(int(values.min())), abs(int(values.max()))), default=0) if values.size else 0
        if top * ratio + abs(shift) >= 1 << 63:
            return None
        return values.astype(np.int64) * np.int64(ratio) + np.int64(shift)
    wide = values.astype(np.float64)
    moved = wide * ratio + shift
    if ratio == 1 and shift == 0:
        return moved
    known = moved[~np.isnan(moved)]
    if known.size and (abs(shift) > _EXACT or float(np.abs(known).max()) > _EXACT):
        return None
    # Whole numbers below 2**53 lose nothing; others must come back as they were.
    back = (moved - shift) / ratio
    return moved if bool(((back == wide) | np.isnan(wide)).all()) else None


def _one_type(moved: list[Values], before: Sequence[Values]) -> list[Values]:
    """Keep the type of the first file where it holds all numbers, else take the wide one."""
    kept = before[0].dtype
    if kept.kind in "iu":
        if any(one.dtype.kind == "f" for one in moved):
            return [one.astype(np.float64) for one in moved]
        info = np.iinfo(kept)
        fits = all(not one.size or (int(one.min()) >= info.min and int(one.max()) <= info.max) for one in moved)
        return [one.astype(kept if fits else np.int64) for one in moved]
    same = all(bool(((one.astype(kept).astype(np.float64) == one) | np.isnan(one)).all()) for one in moved)
    return [one.astype(kept if same else np.float64) for one in moved]


def encoded(moments: Sequence[datetime]) -> tuple[Values, dict[str, JSON]]:
    """Write dates as numbers with the longest unit that holds them exactly.

    >>> values, attributes = encoded([datetime(2000, 1, 2), datetime(2000, 1, 3)])
    >>> values.tolist(), attributes["units"]
    ([10958, 10959], 'days since 1970-01-01')
    """
    epoch = datetime(1970, 1, 1, tzinfo=UTC)
    counted: list[int] = []
    for moment in moments:
        aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        delta = aware - epoch
        counted.append((delta.days * 86400 + delta.seconds) * 10**9 + delta.microseconds * 1000)
    shared = gcd(*counted)
    unit = next(unit for unit, step in UNITS.items() if shared % step == 0)
    values = np.array([one // UNITS[unit] for one in counted], np.int64)
    return values, {"units": f"{unit} since 1970-01-01", "calendar": "proleptic_gregorian"}
