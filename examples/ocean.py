"""An ocean that does not exist: temperature by day, depth, latitude and longitude, the same on every machine."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

LAT: Final[Floats] = np.arange(0.25, 60, 0.75)
LON: Final[Floats] = np.arange(-79.75, 0, 0.75)
DEPTH: Final[Floats] = np.array(
    [0, 10, 20, 35, 50, 75, 100, 150, 200, 300, 400, 600, 800, 1000, 1500, 2000, 3000, 4000]
)
FIRST: Final = np.datetime64("2025-01-01", "s")


def is_land() -> NDArray[np.bool_]:
    """Where there is land: a continent on either side, and an island."""
    lat, lon = LAT[:, None], LON[None, :]
    west = -76 + 0.28 * lat + 5 * np.sin(lat / 7) + 3 * np.sin(lat / 3.1)
    east = -11 - 6 * np.sin(lat / 9 + 0.6) - 2.5 * np.sin(lat / 2.7)
    island = ((lon + 47) / 6) ** 2 + ((lat - 57) / 5) ** 2 < 1
    land: NDArray[np.bool_] = (lon < west) | (lon > east) | island
    return land


def surface(days: Floats) -> Floats:
    """Temperature of the surface in °C on days of a year, (days, LAT, LON); NaN on land.

    Rounded, so that the last digit of a sine, which machines do not agree on, does not show.
    """
    day, lat, lon = days[:, None, None], LAT[None, :, None], LON[None, None, :]
    along = (lon + 80) / 80
    # Warm water leaves the western coast and bends to the north-east, in waves that travel.
    front = 33 + 16 * along + 2.2 * np.sin(lon / 3.2 - day / 24) * np.exp(-((along - 0.45) ** 2) / 0.12)
    mean = 28.5 - 0.24 * lat - 6.5 * (1 + np.tanh((lat - front) / 2.8))
    season = (0.8 + 0.085 * lat) * np.sin(2 * np.pi * (day - 135) / 365)
    eddies = (
        np.sin(lon / 2.1 + lat / 3.7 - day / 31) * np.cos(lat / 2.3 - lon / 5.1) * np.exp(-(((lat - front) / 12) ** 2))
    )
    values = np.round(mean + season + 2.6 * eddies, 2)
    return np.where(is_land(), np.nan, values)


def floor() -> Floats:
    """Depth of the sea floor in m, (LAT, LON): shelves along the coasts, and a ridge in the middle; 0 on land."""
    lat, lon = LAT[:, None], LON[None, :]
    land = is_land()
    columns = np.broadcast_to(np.arange(LON.size)[None, :], land.shape)
    to_west = columns - np.maximum.accumulate(np.where(land, columns, -25), axis=1)
    to_east = np.minimum.accumulate(np.where(land, columns, LON.size + 25)[:, ::-1], axis=1)[:, ::-1] - columns
    shore = np.minimum(to_west, to_east)
    ridge = 2300 * np.exp(-(((lon + 34 + 4 * np.sin(lat / 8)) / 5) ** 2))
    depth = 4800 * (1 - np.exp(-((shore / 7.0) ** 2))) - ridge - 250 * np.sin(lon / 1.9) * np.cos(lat / 2.4)
    return np.where(land, 0, np.round(np.clip(depth, 40, None), 0))


def inside(days: Floats) -> Floats:
    """Temperature at every depth, (days, DEPTH, LAT, LON); NaN on land and below the sea floor."""
    top = surface(days)[:, None]
    yearly = surface(np.arange(15.0, 365, 30)).mean(axis=0)[None, None]
    z = DEPTH[None, :, None, None]
    lat = LAT[None, None, :, None]
    deep = 2.4 + 1.2 * np.exp(-z / 1800)
    mixed = np.exp(-((z / 70) ** 2))
    thermocline = np.exp(-z / (260 + 420 * np.exp(-(((lat - 32) / 14) ** 2))))
    values = np.round(deep + (yearly - deep) * thermocline + (top - yearly) * mixed, 2)
    return np.where(z > floor()[None, None], np.nan, values)
