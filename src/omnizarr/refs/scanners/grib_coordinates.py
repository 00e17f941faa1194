"""Coordinates of GRIB fields: of times, steps and levels, and of the points; fields that agree share them."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from omnizarr.refs.scanners.building import Builder
from omnizarr.refs.scanners.grib_grid import Points
from omnizarr.refs.scanners.grib_messages import Message
from omnizarr.refset.model import Chunks

_EPOCH: Final = {"units": "seconds since 1970-01-01T00:00:00", "calendar": "proleptic_gregorian"}
_ATTRIBUTES: Final[dict[str, dict[str, str]]] = {
    "number": {"long_name": "ensemble member numerical id", "units": "1", "standard_name": "realization"},
    "time": {**_EPOCH, "long_name": "initial time of forecast", "standard_name": "forecast_reference_time"},
    "step": {"units": "hours", "long_name": "time since forecast_reference_time", "standard_name": "forecast_period"},
    "valid_time": {**_EPOCH, "long_name": "time", "standard_name": "time"},
    "latitude": {"units": "degrees_north", "long_name": "latitude", "standard_name": "latitude"},
    "longitude": {"units": "degrees_east", "long_name": "longitude", "standard_name": "longitude"},
    "isobaricInhPa": {"units": "hPa", "long_name": "pressure", "standard_name": "air_pressure", "positive": "down"},
    "isobaricInPa": {"units": "Pa", "long_name": "pressure", "standard_name": "air_pressure", "positive": "down"},
    "heightAboveGround": {"units": "m", "long_name": "height above the surface", "standard_name": "height"},
    "hybrid": {"units": "1", "long_name": "hybrid level", "positive": "down"},
}
_HOUR: Final = 3600


class Coordinates:
    """Adds coordinates to a set, each once."""

    def __init__(self, made: Builder) -> None:
        self._made = made
        self._known: dict[tuple[str, bytes], str] = {}
        self._names: set[str] = set()

    def leading(self, axes: list[npt.NDArray[Any]], level: str) -> tuple[list[str], list[str]]:
        """Add the coordinates of the leading dimensions: numbers, times, steps and levels.

        Returns:
            The names of those that have more than one value, and of the others.
        """
        named = dict(zip(("number", "time", "step", level), axes, strict=True))
        dims: list[str] = []
        others: list[str] = []
        of: dict[str, str] = {}
        for name, values in named.items():
            many = len(values) > 1
            dtype = "<i8" if name in ("number", "time") else "<f8"
            made = self._add(name, values.astype(dtype) if many else values.astype(dtype)[0], None)
            (dims if many else others).append(made)
            if many:
                of[name] = made
        seconds = np.rint(named["step"] * _HOUR).astype(np.int64)
        valid = named["time"].astype(np.int64)[:, None] + seconds[None, :]
        shape = [len(named[name]) for name in ("time", "step") if name in of]
        others.append(
            self._add("valid_time", valid.reshape(shape), [of[name] for name in ("time", "step") if name in of])
        )
        return dims, others

    def of_points(self, grid: str, points: Points, first: Message) -> tuple[list[str], list[str]]:
        """Add the coordinates of points.

        Returns:
            The names of their dimensions, and of coordinates that are no dimensions.
        """
        if points.axes is not None:
            pairs = zip(points.dims, points.axes, strict=True)
            return [self._add(name, values, None) for name, values in pairs], []
        dims = [self._dim(name, size) for name, size in zip(points.dims, points.shape, strict=True)]
        if not points.has_places:
            return dims, []
        return dims, [self._by_message(name, grid, dims, points, first) for name in ("latitude", "longitude")]

    def _dim(self, name: str, size: int) -> str:
        """Return a name for a dimension without coordinates."""
        key = name, b"%d" % size
        if key not in self._known:
            self._known[key] = self._free(name)
        return self._known[key]

    def _free(self, name: str) -> str:
        made, i = name, 0
        while made in self._names:
            i += 1
            made = f"{name}_{i}"
        self._names.add(made)
        return made

    def _add(self, name: str, values: Any, dims: list[str] | None) -> str:  # noqa: ANN401 - an array or a scalar
        values = np.asarray(values)
        key = name, repr((values.shape, dims)).encode() + values.tobytes()
        if key in self._known:
            return self._known[key]
        made = self._known[key] = self._free(name)
        names = [made] * values.ndim if dims is None else dims
        self._made.array(
            made,
            Chunks.of_bytes((1,) * values.ndim, {0: values.tobytes()}),
            shape=values.shape,
            chunks=values.shape or None,
            dtype=values.dtype,
            codecs=None,
            fill_value=None,
            dims=names,
            attrs=_ATTRIBUTES.get(name, {"long_name": name}),
        )
        return made

    def _by_message(self, name: str, grid: str, dims: list[str], points: Points, first: Message) -> str:
        """Add the places of all points, which are decoded from a message when they are wanted."""
        key = name, f"{grid} {dims}".encode()
        if key in self._known:
            return self._known[key]
        made = self._known[key] = self._free(name)
        self._made.array(
            made,
            Chunks.ranges((1,) * len(points.shape), 0, [first.offset], [first.length]),
            shape=points.shape,
            chunks=points.shape,
            dtype="<f8",
            codecs=[{"id": "grib", "var": name, "dtype": "float64"}],
            fill_value=np.nan,
            dims=dims,
            attrs=_ATTRIBUTES[name],
        )
        return made
