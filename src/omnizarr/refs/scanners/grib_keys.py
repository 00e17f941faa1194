"""What eccodes says of a GRIB message, as far as arrays are made of it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from omnizarr.errors import CorruptError, UnsupportedError

_ATTRIBUTES: Final = (
    *("paramId", "dataType", "numberOfPoints", "typeOfLevel", "stepUnits", "stepType", "gridType", "uvRelativeToGrid"),
    *("NV", "Nx", "Ny", "Ni", "Nj", "N", "iDirectionIncrementInDegrees", "jDirectionIncrementInDegrees"),
    *("iScansNegatively", "jScansPositively", "jPointsAreConsecutive", "latitudeOfFirstGridPointInDegrees"),
    *("longitudeOfFirstGridPointInDegrees", "latitudeOfLastGridPointInDegrees", "longitudeOfLastGridPointInDegrees"),
    *("LaDInDegrees", "LoVInDegrees", "DxInMetres", "DyInMetres", "Latin1InDegrees", "Latin2InDegrees"),
    *("J", "K", "M", "cfName", "cfVarName", "gridDefinitionDescription", "missingValue", "name", "shortName"),
    *("totalNumber", "units"),
)
_FILE: Final = ("edition", "centre", "centreDescription", "subCentre")
_HOURS: Final = {"s": 1 / 3600, "m": 1 / 60, "h": 1, "3h": 3, "6h": 6, "12h": 12, "D": 24}
_UNDEFINED: Final = ("", "unknown", "~", "not_found")


class Place(NamedTuple):
    """Where in its array a field belongs."""

    number: int
    time: int
    """Seconds since 1970."""
    step: float
    """Hours."""
    level: float


class Kind(NamedTuple):
    """What fields of one array have in common."""

    name: str
    level_type: str
    step_type: str
    grid: str
    parameter: str = ""
    """For what eccodes has no name for: its numbers, which tell it from others without a name."""


class Field(NamedTuple):
    """A message, as far as its place among others is concerned."""

    kind: Kind
    place: Place


class Reader:
    """Asks eccodes about one message after the other.

    Args:
        api: The package eccodes.
        where: Words for the message, for messages.
        head: The message.
    """

    def __init__(self, api: Any, where: str, head: bytes) -> None:  # noqa: ANN401 - a package without types
        self._api, self._where = api, where
        try:
            self._handle = api.codes_new_from_message(head)
        except api.CodesInternalError as error:
            raise CorruptError(f"{where}: eccodes cannot read it: {error}") from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._api.codes_release(self._handle)

    def get(self, key: str, default: Any = None, kind: type | None = None) -> Any:  # noqa: ANN401 - text or number
        """Return the value of a key; the default if the message has none."""
        try:
            return self._api.codes_get(self._handle, key, kind)
        except self._api.CodesInternalError:
            return default

    def attributes(self, keys: Sequence[str] = _ATTRIBUTES) -> dict[str, Any]:
        """Return keys as attributes, in the words of cfgrib."""
        found = {key: self.get(key) for key in keys}
        return {f"GRIB_{key}": value for key, value in found.items() if value is not None and value != "unknown"}

    def file_attributes(self) -> dict[str, Any]:
        """Return what is said of a whole file."""
        return self.attributes(_FILE)

    def field(self) -> Field:
        """Return which array the field belongs to, and where in it.

        Raises:
            CorruptError: If the message has no time.
        """
        name = next(
            (str(one) for one in map(self.get, ("cfVarName", "shortName")) if one not in (None, *_UNDEFINED)), ""
        )
        parameter = "" if name else self._parameter()
        name = name or "unknown"  # as others call it
        grid = str(self.get("md5GridSection") or self.get("gridType"))
        kind = Kind(
            name, str(self.get("typeOfLevel", "unknown")), str(self.get("stepType", "instant")), grid, parameter
        )
        level = self.get("level", 0, float)
        return Field(kind, Place(int(self.get("number") or 0), self._time(), self._step(), float(level or 0)))

    def _parameter(self) -> str:
        keys = ("discipline", "parameterCategory", "parameterNumber", "table2Version", "indicatorOfParameter")
        return "_".join(str(one) for one in map(self.get, keys) if one is not None)

    def _time(self) -> int:
        date, clock = self.get("dataDate"), self.get("dataTime")
        try:
            day = datetime(date // 10000, date // 100 % 100, date % 100, tzinfo=UTC)
            return int(day.timestamp() + clock // 100 * 3600 + clock % 100 * 60 + self.get("second", 0))
        except (TypeError, ValueError):
            raise CorruptError(f"{self._where}: its date is {date} and its time {clock}") from None

    def _step(self) -> float:
        text = str(self.get("endStep", 0))
        number = text.rstrip("smhDMYC")
        unit = text[len(number) :] or {1: "h", 0: "m", 2: "D", 13: "s", 254: "s"}.get(
            self.get("stepUnits", 1, int), "h"
        )
        try:
            return float(number) * _HOURS[unit]
        except (ValueError, KeyError):
            raise UnsupportedError(f"{self._where}: its step is {text!r}, which has no length") from None

    def places(self) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]] | None:
        """Return the latitudes and longitudes of all points; `None` where eccodes has none."""
        try:
            found = [np.asarray(self._api.codes_get_array(self._handle, key)) for key in ("latitudes", "longitudes")]
        except self._api.CodesInternalError:
            return None
        return found[0], found[1]
