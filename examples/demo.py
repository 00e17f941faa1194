"""A year of daily sea-surface temperature, made up, written as Zarr v3 and v2, read back, and shown.

Run it with `make demo`, or as `python examples/demo.py [--page PATH]`.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter
from typing import Literal

import heatmap
import numpy as np
from numpy.typing import NDArray

import omnizarr as oz

DAYS, LATITUDES, LONGITUDES = 365, 180, 360
LOW, HIGH = -2.0, 31.0

Floats = NDArray[np.float32]


def make_up() -> Floats:
    """Warm at the equator, cold at the poles, a season, some eddies, and land without values."""
    lat = np.deg2rad(np.arange(-89.5, 90, 1, dtype=np.float32))[:, None]
    lon = np.deg2rad(np.arange(0.5, 360, 1, dtype=np.float32))[None, :]
    mean = 31 * np.cos(lat) ** 1.6 - 3 + 1.5 * np.sin(2 * lon + 3 * lat)
    eddies = np.sin(9 * lon + 4 * np.sin(5 * lat)) * np.cos(14 * lat + 2 * np.sin(3 * lon))
    height = (
        np.sin(2 * lon + 0.8) * np.cos(2.2 * lat - 0.3) + 0.55 * np.sin(3 * lon - 2 * lat) + 0.3 * np.sin(7 * lat + lon)
    )
    day = np.arange(DAYS, dtype=np.float32)[:, None, None]
    season = np.sin(2 * np.pi * (day - 110) / 365)
    noise = np.random.default_rng(1).normal(0, 0.1, (DAYS, LATITUDES, LONGITUDES)).astype(np.float32)
    values = mean + 4 * np.sin(lat) * season + 1.2 * eddies * np.cos(day / 20) + noise
    rounded: Floats = np.maximum(values, -1.8).round(2).astype(np.float32)
    rounded[:, height > 0.75] = np.nan
    return rounded


@contextmanager
def timed(what: str, nbytes: int) -> Iterator[None]:
    """Print how long a block took, and how fast that is."""
    start = perf_counter()
    yield
    taken = perf_counter() - start
    speed = f"{nbytes / taken / 1e9:5.2f} GB/s" if nbytes >= 1 << 20 else " " * 10
    print(f"  {what:<58} {taken * 1e3:8.2f} ms  {speed}")


def write(path: Path, values: Floats, layout: Literal["zarr2", "zarr3"]) -> None:
    """A group with the field, its coordinates and its attributes."""
    shutil.rmtree(path, ignore_errors=True)
    group = oz.create_group(path, format=layout)
    group.attrs.update(title="Sea-surface temperature, made up", Conventions="CF-1.11")
    dims = ("time", "lat", "lon")
    for name, coordinate in (
        ("time", np.arange("2025-01-01", "2026-01-01", dtype="datetime64[D]").astype("datetime64[s]")),
        ("lat", np.arange(-89.5, 90, 1)),
        ("lon", np.arange(0.5, 360, 1)),
    ):
        array = group.create_array(name, shape=coordinate.shape, dtype=coordinate.dtype, dims=(name,))
        array[...] = coordinate
    sst = group.create_array(
        "sst",
        shape=values.shape,
        dtype="float32",
        chunks=(1, 90, 90),
        # Many small chunks, few files: v3 packs chunks into shards, v2 cannot.
        shards=(73, 180, 360) if layout == "zarr3" else None,
        fill_value=np.nan,
        dims=dims,
        attrs={"units": "degree_Celsius", "long_name": "sea-surface temperature"},
    )
    with timed(f"write {values.nbytes / 1e6:.0f} MB as {layout}", values.nbytes):
        sst[...] = values


def read(path: Path, expected: Floats) -> None:
    """The ways to read, each checked against what was written."""
    sst = oz.open_array(path / "sst")
    print(f"  {sst!r}")
    with timed("sst[...]                       everything", expected.nbytes):
        everything = sst[...]
    with timed("sst[200]                       one day", expected[200].nbytes):
        day = sst[200]
    with timed("sst[:, 90, 180]                a year at one place", expected[:, 0, 0].nbytes):
        series = sst[:, 90, 180]
    with timed("sst[::30, ::-1]                every 30th day, north up", expected[::30].nbytes):
        north_up = sst[::30, ::-1]
    with timed("sst.oindex[[0, 364], :, [5]]   first and last day", expected[:2, :, 0].nbytes):
        ends = sst.oindex[[0, 364], :, [5]]
    np.testing.assert_array_equal(everything, expected)
    np.testing.assert_array_equal(day, expected[200])
    np.testing.assert_array_equal(series, expected[:, 90, 180])
    np.testing.assert_array_equal(north_up, expected[::30, ::-1])
    np.testing.assert_array_equal(ends, expected[np.ix_([0, 364], range(LATITUDES), [5])])


def page(group: oz.Group, sst: oz.Array, day: Floats) -> str:
    """One self-contained HTML page: the group, its array with a picture of the chunks, and the data."""
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Omnizarr demo</title><style>
body {{ font: 15px/1.5 system-ui, sans-serif; max-width: 1000px; margin: 2rem auto; padding: 0 1rem }}
svg {{ max-width: 100%; height: auto }}
.legend span {{ display: inline-block; width: 14px; height: 14px; vertical-align: middle }}
</style></head><body>
<h1>Omnizarr demo</h1>
<h2>The group</h2>{group._repr_html_()}
<h2>Its main array</h2>{sst._repr_html_()}
<h2>20 July, read with <code>sst[200, ::-1]</code></h2>{heatmap.svg(day, LOW, HIGH)}{heatmap.legend(LOW, HIGH, "°C")}
</body></html>
"""


def main() -> None:
    """Tell the story."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--page", type=Path, default=Path("build/demo.html"), help="page to write (default: %(default)s)"
    )
    target = parser.parse_args().page.resolve()
    target.parent.mkdir(parents=True, exist_ok=True)
    values = make_up()
    v3, v2 = target.with_suffix(".zarr"), target.with_name(f"{target.stem}-v2.zarr")
    print(f"\n{v3}")
    write(v3, values, "zarr3")
    read(v3, values)
    print(f"\n{v2}")
    write(v2, values, "zarr2")
    read(v2, values)

    group, sst = oz.open_group(v3), oz.open_array(v3 / "sst")
    print(f"\n{group.tree()}\n")
    day = sst[200, ::-1]
    colour = sys.stdout.isatty() or "FORCE_COLOR" in os.environ
    print(heatmap.terminal(day[::5, ::4], LOW, HIGH, colour=colour))
    target.write_text(page(group, sst, day), encoding="utf-8")
    print(f"\nOpen this page in a browser: {target}")


if __name__ == "__main__":
    main()
