"""Five-day means of a year, written and read by xarray with Omnizarr: a map, and what a ship saw on its way.

Run it as `python examples/coming_from_xarray.py [--pictures FOLDER]`; it needs `omnizarr[xarray]`.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import numpy as np
import ocean
import xarray as xr
from picture import COLOURS, Panel, Picture

import omnizarr.interop.xarray  # noqa: F401 - so that datasets have `.oz` before the engine is used

DAYS = np.arange(2.0, 365, 5)
LOW, HIGH = -2.0, 30.0


def make() -> xr.Dataset:
    """A dataset as xarray users have it."""
    time = ocean.FIRST + (DAYS * 86400).astype("m8[s]")
    attrs = {"units": "degree_Celsius", "long_name": "sea-surface temperature"}
    sst = ocean.surface(DAYS).astype("f4")
    return xr.Dataset(
        {"sst": (("time", "lat", "lon"), sst, attrs)}, coords={"time": time, "lat": ocean.LAT, "lon": ocean.LON}
    )


def voyage() -> dict[str, xr.DataArray]:
    """Where a ship was, and when: 300 fixes between May and August."""
    along = np.linspace(0, 1, 300)
    return {
        "lon": xr.DataArray(-58 + 38 * along, dims="fix"),
        "lat": xr.DataArray(14 + 33 * along + 4.5 * np.sin(2.2 * np.pi * along), dims="fix"),
        "time": xr.DataArray(np.datetime64("2025-05-01", "s") + (along * 110 * 86400).astype("m8[s]"), dims="fix"),
    }


def draw(field: xr.DataArray, track: xr.DataArray) -> Picture:
    """A map with the track on it, and the temperature along it."""
    picture = Picture(
        900,
        400,
        "300 fixes of a ship, one read",
        'ds.sst.sel(voyage, method="nearest") in an ocean that does not exist',
    )
    left = Panel((70, 96, 380, 240), (-80, 0), (0, 60))
    picture.field(left, field.values.astype("f8"), LOW, HIGH)
    x = [(-60.0, "60° W"), (-40.0, "40° W"), (-20.0, "20° W")]
    y = [(0.0, "0°"), (20.0, "20° N"), (40.0, "40° N"), (60.0, "60° N")]
    picture.axes(left, "Surface, 25 June 2025", ("", x), ("", y))
    picture.scale((462, 96, 12, 240), [(v, f"{v} °C") for v in (0, 10, 20, 30)], LOW, HIGH)
    fixes = [left.at(lon, lat) for lon, lat in zip(track.lon.values, track.lat.values, strict=True)]
    picture.line(fixes, COLOURS[0], 2.5, halo=True)
    picture.dot(fixes[0], COLOURS[0])
    picture.dot(fixes[-1], COLOURS[1])

    right = Panel((580, 96, 290, 240), (0, 110), (8, 30))
    months = [(0.0, "1 May"), (31.0, "1 June"), (61.0, "1 July"), (92.0, "1 Aug")]
    picture.axes(
        right, "On the way", ("date", months), ("temperature, °C", [(v, str(v)) for v in (10, 15, 20, 25, 30)])
    )
    day = np.linspace(0, 110, track.size)
    along = [right.at(a, b) for a, b in zip(day.tolist(), track.values.tolist(), strict=True)]
    picture.line(along, COLOURS[0], 2)
    picture.dot(along[0], COLOURS[0])
    picture.dot(along[-1], COLOURS[1])
    return picture


def main() -> None:
    """Write, read, check, draw."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pictures", type=Path, default=Path(__file__).parents[1] / "docs" / "pictures")
    target: Path = parser.parse_args().pictures.resolve()
    ds = make()
    with tempfile.TemporaryDirectory() as folder:
        place = f"{folder}/sst.zarr"
        # Dask's chunks of 9 days do not fit shards of 73 by 40 by 107; nothing is lost.
        layout = {"sst": {"chunks": (1, 40, 107), "shards": (73, 40, 107)}}
        ds.chunk(time=9, lat=33).oz.to_omnizarr(place, encoding=layout)
        found = xr.open_dataset(place, engine="omnizarr")
        track = found.sst.sel(voyage(), method="nearest").load()
        xr.testing.assert_identical(found.load(), ds)
        xr.testing.assert_identical(xr.open_dataset(place, engine="zarr").load(), ds)
    picture = draw(found.sst.sel(time="2025-06-25", method="nearest"), track)
    picture.save(target / "coming-from-xarray.svg")
    print(f"{found.sst.nbytes / 1e6:.1f} MB written, {track.size} values picked, {target / 'coming-from-xarray.svg'}")


if __name__ == "__main__":
    main()
