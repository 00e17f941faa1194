"""`python -m bench.xarray` opens and loads by both engines, with Dask and without, each time in a fresh process.

Runs alternate between the engines, so that a machine that slows down slows both. The median of each counts, and the
smallest stands beside it.
Memory is touched before each run. zarr-python uses the pipeline of `zarrs` where that is installed.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

from bench.touching import touch
from bench.xarray.workloads import WORKLOADS, make

_TOP = Path(__file__).parents[2]
_ENGINES = ("omnizarr", "zarr")
_MEMORY = 2_600_000_000
"""As many bytes as a run needs: with Dask, all chunks of (a), and the array that they become."""


def main() -> None:
    """Run the race, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, help="where the data are made and kept; a temporary folder by default")
    parser.add_argument("--scale", type=float, default=1.0, help="of the sizes of (a), (b) and (c)")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--only", default="abcd")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as spare:
        folder = given.folder or Path(spare)
        folder.mkdir(parents=True, exist_ok=True)
        make(folder, given.scale)
        print(f"{'':36}{'':6}{'omnizarr':>10}{'zarr':>10}{'ratio':>8}{'goal':>6}")
        for name in given.only:
            what, goal = WORKLOADS[name]
            for how in ("plain", "dask"):
                taken = _race(name, how, folder, given.runs)
                middle = {engine: median(times) for engine, times in taken.items()}
                ratio = middle["zarr"] / middle["omnizarr"]
                times = "".join(f"{middle[engine] * 1000:8.1f}ms" for engine in _ENGINES)
                least = " / ".join(f"{min(taken[engine]) * 1000:.1f}" for engine in _ENGINES)
                print(f"({name}) {what:32}{how:6}{times}{ratio:7.1f}×{goal:6}   least {least}", flush=True)


def _race(name: str, how: str, folder: Path, runs: int) -> dict[str, list[float]]:
    taken: dict[str, list[float]] = {engine: [] for engine in _ENGINES}
    for _ in range(runs):
        for engine in _ENGINES:
            touch(_MEMORY)
            taken[engine].append(_once(engine, name, how, folder))
    return taken


def _once(engine: str, name: str, how: str, folder: Path) -> float:
    paths = os.pathsep.join((str(_TOP), *filter(None, [os.environ.get("PYTHONPATH")])))
    command = [sys.executable, "-m", "bench.xarray.workloads", engine, name, how, str(folder)]
    done = subprocess.run(
        command, capture_output=True, text=True, check=True, cwd=_TOP, env={**os.environ, "PYTHONPATH": paths}
    )
    return float(done.stdout.split()[-1])


if __name__ == "__main__":
    main()
