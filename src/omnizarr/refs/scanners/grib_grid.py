"""The points of a GRIB field: how they are arranged, and the coordinates of rows and columns."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from omnizarr.errors import CorruptError, LimitError, UnsupportedError
from omnizarr.refs.scanners.grib_keys import Reader

_MISSING: Final = 2147483647
_TOLERANCE: Final = 1e-9
_MOST_POINTS: Final = 1 << 28
_MOST_LISTED: Final = 1 << 22
"""The places of more points than this are not looked at, for it would take too long."""


class Points(NamedTuple):
    """The points of a field."""

    shape: tuple[int, ...]
    dims: tuple[str, ...]
    axes: tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]] | None
    """The coordinates of each of two dimensions, where there are such."""
    has_places: bool
    """Whether eccodes knows where the points are."""


def points(message: Reader, where: str) -> Points:
    """Find out how the points of a message are arranged.

    Raises:
        CorruptError: If it contradicts itself.
        LimitError: If it claims to have absurdly many points.
        UnsupportedError: If rows run to and fro.
    """
    count = int(message.get("numberOfPoints") or message.get("numberOfValues") or 0)
    if count <= 0:
        raise CorruptError(f"{where} has no points")
    if count > _MOST_POINTS:
        raise LimitError(f"{where} claims to have {count} points")
    if message.get("alternativeRowScanning"):
        raise UnsupportedError(f"{where} has rows that run to and fro, which is not supported")
    across, down = (_size(message, *names) for names in (("Ni", "Nx"), ("Nj", "Ny")))
    if not across or not down or across * down != count:
        known = count > _MOST_LISTED or message.places() is not None
        return Points((count,), ("values",), None, known)
    columns_first = bool(message.get("jPointsAreConsecutive"))
    shape = (across, down) if columns_first else (down, across)
    if count > _MOST_LISTED:
        axes, known = _straight(message, (down, across), columns_first=columns_first), True
    else:
        places = message.places()
        axes, known = None if places is None else _axes(places, shape, columns_first=columns_first), places is not None
    names = ("latitude", "longitude") if axes is not None else ("y", "x")
    return Points(shape, names[::-1] if columns_first else names, axes, known)


def _straight(
    message: Reader, sizes: tuple[int, int], *, columns_first: bool
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]] | None:
    """Return the coordinates of a regular grid by its corners, without a list of all its points."""
    keys = ("latitudeOfFirst", "latitudeOfLast", "longitudeOfFirst", "longitudeOfLast")
    corners = [message.get(f"{key}GridPointInDegrees", None, float) for key in keys]
    if message.get("gridType") != "regular_ll" or None in corners:
        return None
    top, bottom, left, right = corners
    if right < left and not message.get("iScansNegatively"):
        right += 360
    found = np.linspace(top, bottom, sizes[0]), np.linspace(left, right, sizes[1])
    return found[::-1] if columns_first else found


def _size(message: Reader, *names: str) -> int:
    """Return the length of rows or columns, 0 where they differ in length."""
    for name in names:
        value = message.get(name)
        if isinstance(value, int) and 0 < value < _MISSING:
            return value
    return 0


def _axes(
    places: tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]], shape: tuple[int, ...], *, columns_first: bool
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]] | None:
    """Return the coordinates of both dimensions, if rows and columns run along meridians and parallels."""
    if any(one.size != shape[0] * shape[1] for one in places):
        return None
    first, second = (one.reshape(shape) for one in (places[::-1] if columns_first else places))
    along = np.abs(first - first[:, :1]).max() <= _TOLERANCE and np.abs(second - second[:1]).max() <= _TOLERANCE
    return (first[:, 0].copy(), second[0].copy()) if along else None
