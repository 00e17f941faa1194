"""The points of a GRIB field: how they are arranged, and the coordinates of rows and columns."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from omnizarr.errors import CorruptError, UnsupportedError
from omnizarr.refs.scan.grib_keys import Reader

_MISSING: Final = 2147483647
_TOLERANCE: Final = 1e-9


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
        UnsupportedError: If rows run to and fro.
    """
    count = int(message.get("numberOfPoints") or message.get("numberOfValues") or 0)
    if count <= 0:
        raise CorruptError(f"{where} has no points")
    if message.get("alternativeRowScanning"):
        raise UnsupportedError(f"{where} has rows that run to and fro, which is not supported")
    across, down = (_size(message, *names) for names in (("Ni", "Nx"), ("Nj", "Ny")))
    if not across or not down or across * down != count:
        return Points((count,), ("values",), None, message.places() is not None)
    columns_first = bool(message.get("jPointsAreConsecutive"))
    shape = (across, down) if columns_first else (down, across)
    places = message.places()
    axes = None if places is None else _axes(places, shape, columns_first=columns_first)
    names = ("latitude", "longitude") if axes is not None else ("y", "x")
    return Points(shape, names[::-1] if columns_first else names, axes, places is not None)


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
