"""Days become time series on two workers, within less than a megabyte each: the plan of it as a picture, then the work.

Run it as `python examples/scaling_out.py [--pictures FOLDER]`; it needs `omnizarr[dask]`.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import tempfile
from pathlib import Path

import numpy as np
import ocean
from distributed import Client, LocalCluster
from picture import COLOURS, Panel, Picture

import omnizarr as oz

DAYS, ROWS, COLUMNS = 120, 80, 104
TILE = 8
PROCESSORS = 2


def processors() -> int:
    """Let the workers have two processors where the system can: buffers, and so the plan, depend on their number."""
    # mypy knows these functions on Linux only, and calls the rest unreachable elsewhere.
    if sys.platform != "linux":
        return os.cpu_count() or 1
    chosen = sorted(os.sched_getaffinity(0))[:PROCESSORS]
    os.sched_setaffinity(0, chosen)
    return len(chosen)


def shapes(notes: tuple[str, ...]) -> list[tuple[int, ...]]:
    """The shape of the regions of each pass, as the plan tells it."""
    found = [re.search(r"regions of up to \(([\d, ]+)\)", note) for note in notes]
    return [tuple(map(int, match[1].split(","))) for match in found if match]


def words(notes: tuple[str, ...]) -> list[tuple[str, str]]:
    """How many tasks each pass has, and how much memory each of them takes."""
    found = [re.search(r": (\d+) regions .* at most ([\d.]+ \w+)", note) for note in notes]
    return [(f"{match[1]} tasks", f"≤ {match[2]}") for match in found if match]


def grid(picture: Picture, panel: Panel, cell: tuple[int, int], region: tuple[int, int], colour: str) -> None:
    """An array of days by rows, cut into cells; those of one region are filled, the others only drawn."""
    left, top, width, height = panel.box
    picture.rect(panel.box, "band")
    # In the middle of the array, where whole cells are.
    days, rows = (size // 2 // part * part for size, part in zip((DAYS, ROWS), region, strict=True))
    x, y = panel.at(days, rows)
    end = panel.at(min(DAYS, days + region[0]), min(ROWS, rows + region[1]))
    picture.rect((x, y, end[0] - x, end[1] - y), colour)
    lines = [f"M{left + width * at / DAYS:.1f} {top}v{height}" for at in range(cell[0], DAYS, cell[0])]
    lines += [f"M{left} {top + height * at / ROWS:.1f}h{width}" for at in range(cell[1], ROWS, cell[1])]
    picture.add(f'<path d="{"".join(lines)}" class="grid" style="stroke-opacity:.55"/>')


def draw(notes: tuple[str, ...], total: int) -> Picture:
    """The array as it is stored before, between and after the passes, with what one task reads and writes."""
    passes = [(shape[0], shape[1]) for shape in shapes(notes)]
    said = words(notes)
    picture = Picture(
        900,
        400,
        f"{total / 1e6:.1f} MB from days to time series",
        "oz convert days.zarr series.zarr --chunks time=-1,lat=8,lon=8 --memory 700kB --cluster local:2",
    )
    looks = [("Stored: a chunk a day", (1, ROWS), passes[0], COLOURS[0])]
    if len(passes) > 1:
        looks.append(("Scratch, not compressed", (passes[0][0], passes[1][1]), passes[0], COLOURS[0]))
    looks.append(("Wanted: tiles of all days", (DAYS, TILE), passes[-1], COLOURS[1]))
    gap = (900 - 94 - 200 * len(looks)) / max(1, len(looks) - 1)
    for number, (title, cell, region, colour) in enumerate(looks):
        left = 64 + number * (200 + gap)
        panel = Panel((left, 104, 200, 220), (0, DAYS), (ROWS, 0))
        grid(picture, panel, cell, region, colour)
        if 0 < number < len(looks) - 1:
            band = passes[1]
            top = panel.at(0, ROWS // 2 // band[1] * band[1])[1]
            picture.rect((left, top, 200, 220 * band[1] / ROWS), COLOURS[1], extra=' fill-opacity=".75"')
        picture.axes(
            panel,
            title,
            ("days", [(v, str(v)) for v in (0, 60, 120)]),
            ("latitude, rows" if not number else "", [(v, str(v)) for v in (0, 40, 80) if not number]),
            grid=False,
        )
        if number:
            arrow(
                picture,
                (left - gap + 14, left - 14),
                f"pass {number}",
                said[number - 1],
                looks[number if number == len(looks) - 1 else 0][3],
            )
    picture.text(
        24,
        382,
        "In colour: what one task reads and writes; at the arrows, its memory. No two tasks write to the same key.",
        "soft small",
    )
    return picture


def arrow(picture: Picture, ends: tuple[float, float], name: str, said: tuple[str, str], colour: str) -> None:
    """From one panel to the next, with words."""
    start, end = ends
    middle = (start + end) / 2
    picture.text(middle, 178, name, "ink head", "middle")
    picture.line([(start, 196), (end, 196)], colour, 2.5)
    picture.line([(end - 7, 190), (end, 196), (end - 7, 202)], colour, 2.5)
    picture.text(middle, 220, said[0], "soft small", "middle")
    picture.text(middle, 237, said[1], "soft small", "middle")


def main() -> None:
    """Plan, draw, do, check."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pictures", type=Path, default=Path(__file__).parents[1] / "docs" / "pictures")
    target: Path = parser.parse_args().pictures.resolve() / "scaling-out.svg"
    memory = 444_000 + 128_000 * processors()
    values = ocean.surface(np.arange(float(DAYS)))[:, :, :COLUMNS].astype("f4")
    with (
        tempfile.TemporaryDirectory() as folder,
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        days, series = f"{folder}/days.zarr", f"{folder}/series.zarr"
        dims = ("time", "lat", "lon")
        oz.create_array(days, data=values, chunks=(1, ROWS, COLUMNS), dims=dims)
        chunks = {"time": -1, "lat": TILE, "lon": TILE}
        notes = oz.convert(days, series, chunks=chunks, memory=memory, cluster=client, dry_run=True).nodes[0].notes
        oz.convert(days, series, chunks=chunks, memory=memory, cluster=client)
        np.testing.assert_array_equal(oz.open_array(series)[...], values)
    draw(tuple(notes), values.nbytes).save(target)
    print(*notes, target, sep="\n")


if __name__ == "__main__":
    main()
