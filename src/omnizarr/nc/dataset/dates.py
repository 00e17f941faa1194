"""Numbers to dates and back, by the package cftime."""

from __future__ import annotations

from importlib import import_module  # an extra, loaded when dates are asked for
from typing import Any

from omnizarr.errors import MissingDependencyError


def num2date(times: Any, units: str, calendar: str | None = None, **options: Any) -> Any:  # noqa: ANN401 - cftime's
    """Return the dates that numbers mean, as `cftime.num2date` does.

    Args:
        times: Numbers.
        units: As "hours since 2000-01-01".
        calendar: By default "standard".
        options: `only_use_cftime_datetimes`, `only_use_python_datetimes`, `has_year_zero`.
    """
    return _cftime().num2date(times, units, calendar or "standard", **options)


def date2num(dates: Any, units: str, calendar: str | None = None, **options: Any) -> Any:  # noqa: ANN401 - cftime's
    """Return the numbers that stand for dates, as `cftime.date2num` does."""
    return _cftime().date2num(dates, units, calendar=calendar, **options)


def date2index(dates: Any, nctime: Any, calendar: str | None = None, select: str = "exact", **options: Any) -> Any:  # noqa: ANN401 - cftime's
    """Return where dates are in a time variable, as `cftime.date2index` does."""
    return _cftime().date2index(dates, nctime, calendar, select, **options)


def _cftime() -> Any:  # noqa: ANN401 - a module
    try:
        return import_module("cftime")
    except ImportError:
        raise MissingDependencyError("dates need the package cftime", hint="pip install 'omnizarr[dates]'") from None
