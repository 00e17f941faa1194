"""Twelve netCDF files of a year as one dataset, by reference: where its chunks lie, and what a read takes of them.

Run it as `python examples/coming_from_kerchunk.py [--pictures FOLDER]`; it needs `omnizarr[xarray]`.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import numpy as np
import ocean
import xarray as xr
from picture import COLOURS, Panel, Picture

import omnizarr as oz

MONTHS, STEPS = 12, 6
DAYS = np.arange(2.0, 360, 5)
SUMMER = slice(33, 45)
"""The steps that are read: from the middle of one file to the middle of the next but one."""


def make(folder: Path) -> list[str]:
    """One file a month, as archives have them."""
    values, deep = ocean.surface(DAYS).astype("f4"), ocean.floor().astype("f4")
    places = []
    for month in range(MONTHS):
        part = slice(month * STEPS, (month + 1) * STEPS)
        place = str(folder / f"sst-{month + 1:02}.nc")
        with oz.Dataset(place, "w", format="NETCDF3_64BIT_OFFSET") as ds:
            for name, size in (("time", None), ("lat", ocean.LAT.size), ("lon", ocean.LON.size)):
                ds.createDimension(name, size)
            for name, coordinate in (("lat", ocean.LAT), ("lon", ocean.LON), ("time", DAYS[part])):
                ds.createVariable(name, "f4", (name,))[:] = coordinate
            ds["time"].units = "days since 2025-01-01"
            ds.createVariable("floor", "f4", ("lat", "lon"))[:] = deep
            sst = ds.createVariable("sst", "f4", ("time", "lat", "lon"), fill_value=np.float32(1e20))
            sst.units = "degree_Celsius"
            sst[:] = np.ma.masked_invalid(values[part])
        places.append(place)
    return places


def mean_of(ds: xr.Dataset, steps: slice) -> xr.DataArray:
    """The mean of a square of the sea."""
    return ds.sst.isel(time=steps).sel(lat=slice(25, 35), lon=slice(-50, -35)).mean(("lat", "lon"))


def draw(found: oz.refs.References, ends: list[int], year: list[float]) -> Picture:
    """The files with what lies in them, and the year that they give together."""
    picture = Picture(
        900,
        440,
        "Twelve files, one dataset, nothing copied",
        'oz.refs.combine(files, concat="time"): where each chunk lies, and what one read takes',
    )
    left = Panel((80, 104, 380, 264), (0, 250), (12, 0))
    for month, end in enumerate(ends):
        x, y = left.at(0, month + 0.18)
        picture.rect((x, y, left.at(end / 1000, 0)[0] - x, 14), "band")
    steps = range(*SUMMER.indices(MONTHS * STEPS))
    for name, plain in (("floor", COLOURS[2]), ("sst", COLOURS[0])):
        rows = found.arrays[name]
        for number, (url, offset, length) in enumerate(zip(rows.urls, rows.offsets, rows.lengths, strict=True)):
            x, y = left.at(int(offset) / 1000, int(url) + 0.18)
            width = left.at((int(offset) + int(length)) / 1000, 0)[0] - x
            picture.rect((x + 0.6, y, width - 1.2, 14), COLOURS[1] if name == "sst" and number in steps else plain)
    names = [(month + 0.5, f"sst-{month + 1:02}.nc") for month in range(MONTHS)]
    picture.axes(
        left,
        "Bytes of the files",
        ("offset in the file, kB", [(v, str(v)) for v in (0, 50, 100, 150, 200, 250)]),
        ("", names),
        grid=False,
    )
    legend = (("not needed", "band"), ("floor, once", COLOURS[2]), ("sst", COLOURS[0]), ("sst, read", COLOURS[1]))
    x = 80.0
    for words, look in legend:
        picture.rect((x, 415, 11, 11), look)
        picture.text(x + 16, 425, words, "soft small")
        x += 42 + 6.2 * len(words)

    right = Panel((560, 104, 310, 264), (0, 365), (16, 26))
    months = [(0.0, "Jan"), (90.0, "Apr"), (181.0, "Jul"), (273.0, "Oct")]
    picture.axes(
        right,
        "Mean of 25–35° N, 50–35° W",
        ("2025", months),
        ("temperature, °C", [(v, str(v)) for v in range(16, 27, 2)]),
    )
    points = [right.at(day, value) for day, value in zip(DAYS.tolist(), year, strict=True)]
    picture.line(points, COLOURS[0], 2.2)
    picture.line(points[SUMMER], COLOURS[1], 4)
    picture.text(
        points[39][0] - 4, points[39][1] - 12, f"isel(time=slice({SUMMER.start}, {SUMMER.stop}))", COLOURS[1], "end"
    )
    return picture


def main() -> None:
    """Scan, combine, read, draw."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pictures", type=Path, default=Path(__file__).parents[1] / "docs" / "pictures")
    target: Path = parser.parse_args().pictures.resolve() / "coming-from-kerchunk.svg"
    with tempfile.TemporaryDirectory() as folder:
        places = make(Path(folder))
        found = oz.refs.combine(places, concat="time")
        oz.refs.write(found, f"{folder}/year.parq")
        with xr.open_dataset(f"{folder}/year.parq", engine="omnizarr") as ds:
            year = mean_of(ds, slice(None)).load()
            xr.testing.assert_equal(mean_of(ds, SUMMER).load(), year.isel(time=SUMMER))
        ends = [Path(place).stat().st_size for place in places]
    draw(found, ends, year.values.round(3).tolist()).save(target)
    print(f"{sum(ends) / 1e6:.1f} MB in {len(places)} files, {len(found.arrays['sst'])} chunks of sst, {target}")


if __name__ == "__main__":
    main()
