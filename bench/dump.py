"""The race in printing: `oz dump` against `ncdump`, on the same 200 MB variable.

`python -m bench.dump` makes a variable of each type as a netCDF-4 file and as NCZarr, prints it with both programs,
checks that the texts are the same, and prints seconds on the clock, seconds of processors, peak memory and ratios.
It needs h5py, and ncdump and nccopy of netcdf-c on the path.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

_SIDE = 1000
_TYPES = ("f4", "f8", "i2", "i4")


class Result(NamedTuple):
    """What a program took."""

    seconds: float
    work: float
    """Seconds of all processors."""
    peak: float
    """MB."""


def make(path: Path, kind: str, megabytes: int) -> None:
    """Write a netCDF-4 file with one large variable."""
    import h5py
    import numpy as np

    rng = np.random.default_rng(0)
    planes = max(1, megabytes * 10**6 // (_SIDE * _SIDE * np.dtype(kind).itemsize))
    with h5py.File(path, "w", track_order=True) as file:
        for name, size in (("time", planes), ("lat", _SIDE), ("lon", _SIDE)):
            file.create_dataset(name, data=np.arange(size, dtype="i4")).make_scale(name)
        var = file.create_dataset("v", (planes, _SIDE, _SIDE), kind, chunks=(1, _SIDE, _SIDE))
        for axis, name in enumerate(("time", "lat", "lon")):
            var.dims[axis].attach_scale(file[name])
        for plane in range(planes):
            noise = rng.standard_normal((_SIDE, _SIDE))
            var[plane] = (280 + 20 * noise if kind.startswith("f") else 5000 * noise).astype(kind)


def run(words: list[str], out: Path) -> Result:
    """Run a program; its text goes into a file."""
    start = perf_counter()
    with out.open("wb") as file:
        child = subprocess.Popen(words, stdout=file)
        _, status, usage = os.wait4(child.pid, 0)
    if status:
        raise SystemExit(f"{words[0]} failed: {status}")
    return Result(perf_counter() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1000)


def race(place: str, for_ncdump: str, folder: Path) -> tuple[Result, Result]:
    """Print a dataset with both programs, and check that they print the same."""
    ours = run([sys.executable, "-m", "omnizarr", "dump", "-n", "x", "-v", "v", place], folder / "ours")
    theirs = run(["ncdump", "-n", "x", "-v", "v", for_ncdump], folder / "theirs")
    if subprocess.run(["cmp", folder / "ours", folder / "theirs"], check=False).returncode:
        raise SystemExit(f"the texts of {place} differ")
    return ours, theirs


def main() -> None:
    """Race."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=200)
    parser.add_argument("--types", default=",".join(_TYPES))
    parser.add_argument("--make", metavar="FILE", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.make:
        make(Path(arguments.make), arguments.types, arguments.megabytes)
        return
    print(f"{'':14}{'oz dump':>28}{'ncdump':>28}{'ratio':>8}")
    print(f"{'':14}" + f"{'s':>8}{'cpu s':>10}{'MB':>10}" * 2)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for kind in arguments.types.split(","):
            file, zarr = folder / f"{kind}.nc", folder / f"{kind}.zarr"
            # A process begins with the peak of its parent, so that one stays small.
            words = [sys.executable, "-m", "bench.dump", "--make", str(file), "--types", kind]
            subprocess.run([*words, "--megabytes", str(arguments.megabytes)], check=True)
            url = f"file://{zarr}#mode=nczarr,file"
            subprocess.run(["nccopy", file, url], check=True)
            for title, place, other in ((f"{kind} netCDF-4", str(file), str(file)), (f"{kind} NCZarr", str(zarr), url)):
                ours, theirs = race(place, other, folder)
                cells = "".join(f"{one.seconds:8.2f}{one.work:10.2f}{one.peak:10.1f}" for one in (ours, theirs))
                print(f"{title:14}{cells}{theirs.seconds / ours.seconds:7.1f}×")


if __name__ == "__main__":
    main()
