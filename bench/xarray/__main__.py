"""`python -m bench.xarray` opens and loads by both engines, with Dask and without, each time in a fresh process.

Runs alternate between the engines, so that a machine that slows down slows both. Two lines for each: the first time in
a process, when all memory is new to it, and the times after that. The median of all runs counts. What both give must be
the same. A third engine, which reads nothing, shows what xarray and Dask take by themselves.
zarr-python uses the pipeline of `zarrs` where that is installed.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

from bench.xarray.workloads import WORKLOADS, Taken, make

_TOP = Path(__file__).parents[2]
_ENGINES = ("omnizarr", "zarr")
_ALL = (*_ENGINES, "nothing")


def main() -> None:
    """Run the race, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, help="where the data are made and kept; a temporary folder by default")
    parser.add_argument("--scale", type=float, default=1.0, help="of the sizes of (a), (b) and (c)")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--only", default="abcd")
    parser.add_argument("--how", choices=("plain", "dask"), help="both by default")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as spare:
        folder = given.folder or Path(spare)
        folder.mkdir(parents=True, exist_ok=True)
        make(folder, given.scale)
        print(f"{'':36}{'':12}{'omnizarr':>10}{'zarr':>10}{'nothing':>10}{'ratio':>8}{'goal':>6}")
        for name in given.only:
            for how in (given.how,) if given.how else ("plain", "dask"):
                _show(name, how, _race(name, how, folder, given.runs))


def _show(name: str, how: str, taken: dict[str, list[Taken]]) -> None:
    what = f"({name}) {WORKLOADS[name].what}"
    for when in Taken._fields:
        middle = {engine: median(getattr(one, when) for one in times) for engine, times in taken.items()}
        ratio = middle["zarr"] / middle["omnizarr"]
        times = "".join(f"{middle[engine] * 1000:8.1f}ms" for engine in _ALL)
        print(f"{what:36}{how:6}{when:6}{times}{ratio:7.1f}×{WORKLOADS[name].goal:6}", flush=True)


def _race(name: str, how: str, folder: Path, runs: int) -> dict[str, list[Taken]]:
    taken: dict[str, list[Taken]] = {engine: [] for engine in _ALL}
    sums: dict[str, str] = {}
    for _ in range(runs):
        for engine in _ALL:
            seconds, sums[engine] = _once(engine, name, how, folder)
            taken[engine].append(seconds)
    if sums["omnizarr"] != sums["zarr"]:
        raise SystemExit(f"({name}) {how}: the engines do not give the same")
    return taken


def _once(engine: str, name: str, how: str, folder: Path) -> tuple[Taken, str]:
    paths = os.pathsep.join((str(_TOP), *filter(None, [os.environ.get("PYTHONPATH")])))
    command = [sys.executable, "-m", "bench.xarray.workloads", engine, name, how, str(folder)]
    done = subprocess.run(
        command, capture_output=True, text=True, check=True, cwd=_TOP, env={**os.environ, "PYTHONPATH": paths}
    )
    first, again, found = done.stdout.split()[-3:]
    return Taken(float(first), float(again)), found


if __name__ == "__main__":
    main()
