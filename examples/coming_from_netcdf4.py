"""A year of ocean temperature by the classes of netCDF4, kept as Zarr: a section through the sea, and its seasons.

Run it as `python examples/coming_from_netcdf4.py [--pictures FOLDER]`.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import numpy as np
import ocean
from numpy.typing import NDArray
from picture import COLOURS, Panel, Picture

import omnizarr.netcdf4 as netCDF4  # noqa: N812 - the name that programs have

DAYS = np.arange(15.0, 365, 30.4)
LOW, HIGH = 4.0, 28.0
NORTH = 30.0

Masked = np.ma.MaskedArray[tuple[int, ...], np.dtype[np.float64]]


def write(place: str) -> None:
    """Write as one writes with netCDF4: packed into 16 bits, with a fill value, compressed."""
    values = ocean.inside(DAYS)
    with netCDF4.Dataset(place, "w") as ds:
        ds.title = "A year in an ocean that does not exist"
        for name, units, coordinate in (
            ("depth", "m", ocean.DEPTH),
            ("lat", "degrees_north", ocean.LAT),
            ("lon", "degrees_east", ocean.LON),
        ):
            ds.createDimension(name, coordinate.size)
            variable = ds.createVariable(name, "f8", (name,))
            variable.units = units
            variable[:] = coordinate
        ds.createDimension("time", None)
        time = ds.createVariable("time", "f8", ("time",))
        time.units = "days since 2025-01-01"
        dims = ("time", "depth", "lat", "lon")
        temp = ds.createVariable("temp", "i2", dims, zlib=True, fill_value=-32768, chunksizes=(1, 18, 40, 107))
        temp.units, temp.scale_factor, temp.add_offset = "degree_Celsius", 0.01, 10.0
        for month, day in enumerate(DAYS):
            time[month] = day
            temp[month] = np.ma.masked_invalid(values[month])


def read(place: str) -> tuple[Masked, NDArray[np.float64]]:
    """Read a section along a parallel in one month, and the year at one place of it."""
    with netCDF4.Dataset(place) as ds:
        row = int(np.abs(ds["lat"][:] - NORTH).argmin())
        column = int(np.abs(ds["lon"][:] + 50).argmin())
        temp = ds["temp"]
        return temp[7, :, row], np.asarray(temp[:, [0, 4, 6, 8], row, column])


def draw(section: Masked, seasons: NDArray[np.float64]) -> Picture:
    """The section down to 1,000 m, and lines for some depths."""
    picture = Picture(
        900, 400, "A section through the sea at 30° N", 'ds["temp"][7, :, row], unpacked and masked as by netCDF4'
    )
    left = Panel((80, 96, 370, 240), (-80, 0), (1000, 0))
    deep = np.arange(995.0, 0, -10)
    # Colours between the levels; what is masked stays so.
    filled = section.filled(np.nan)
    lines = [np.interp(deep, ocean.DEPTH, column, right=np.nan) for column in filled.T]
    picture.field(left, np.round(np.array(lines).T, 2), LOW, HIGH)
    x = [(-60.0, "60° W"), (-40.0, "40° W"), (-20.0, "20° W")]
    picture.axes(left, "August", ("", x), ("depth, m", [(float(v), str(v)) for v in range(0, 1001, 200)]))
    picture.scale((462, 96, 12, 240), [(v, f"{v} °C") for v in (5, 10, 15, 20, 25)], LOW, HIGH)

    right = Panel((580, 96, 240, 240), (0, 11), (14, 29))
    months = [(0.0, "Jan"), (3.0, "Apr"), (6.0, "Jul"), (9.0, "Oct")]
    picture.axes(right, "The year at 50° W", ("", months), ("temperature, °C", [(v, str(v)) for v in range(14, 30, 3)]))
    below = 0.0
    for number, (name, line) in enumerate(zip(("surface", "50 m", "100 m", "200 m"), seasons.T.tolist(), strict=True)):
        points = [right.at(month, value) for month, value in enumerate(line)]
        picture.line(points, COLOURS[number], 2.2)
        below = max(below + 16, points[-1][1])
        picture.text(points[-1][0] + 8, below + 4, name, COLOURS[number])
    return picture


def main() -> None:
    """Write, read, draw."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pictures", type=Path, default=Path(__file__).parents[1] / "docs" / "pictures")
    target: Path = parser.parse_args().pictures.resolve() / "coming-from-netcdf4.svg"
    with tempfile.TemporaryDirectory() as folder:
        place = f"{folder}/year.zarr"
        write(place)
        section, seasons = read(place)
        stored = sum(path.stat().st_size for path in Path(place).rglob("*") if path.is_file())
    draw(section, seasons).save(target)
    print(f"{stored / 1e6:.1f} MB stored, {target}")


if __name__ == "__main__":
    main()
