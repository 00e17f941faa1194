"""`python -m bench.netcdf`: writing and reading a whole NCZarr variable, against netCDF4-python on the same data.

Each side runs in a process of its own, with its memory bounded, since the C library may take all there is. Both take
turns, and the best of each counts. Chunks are those that netcdf-c chooses. What each side wrote is read by the other.
"""

from __future__ import annotations

import argparse
import json
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter
from typing import Any, Final

import numpy as np

_MEMORY: Final = 8 << 30
_LEVELS: Final = {"uncompressed": 0, "zlib": 1}


def _values(megabytes: int) -> np.ndarray[Any, Any]:
    """Return numbers that compress as measurements do: smooth, with a little noise."""
    rows = max(1, megabytes << 18 >> 20)
    smooth = np.sin(np.arange(rows << 20, dtype="f4") / 1000).astype("f4")
    noise = np.random.default_rng(0).integers(0, 64, rows << 20).astype("f4") / 4096
    return (smooth + noise).reshape(rows, 1024, 1024)


def _netcdf4(task: str, place: str, megabytes: int, level: int) -> float:
    import netCDF4

    return _timed(netCDF4.Dataset, f"file://{place}#mode=nczarr,file", task, megabytes, level)


def _omnizarr(task: str, place: str, megabytes: int, level: int) -> float:
    import omnizarr as oz
    from omnizarr.nc.zarr import reader, writer  # noqa: F401 - loaded on first use, as all of the other side is

    return _timed(oz.Dataset, place, task, megabytes, level)


def _timed(dataset: Any, place: str, task: str, megabytes: int, level: int) -> float:
    """Do the same work with either side's `Dataset`, values as they are stored."""
    if task == "read":
        start = perf_counter()
        with dataset(place) as opened:
            opened.set_auto_maskandscale(False)
            opened["v"][:]
        return perf_counter() - start
    values = _values(megabytes)
    start = perf_counter()
    with dataset(place, "w") as opened:
        for name, length in zip("tyx", values.shape, strict=True):
            opened.createDimension(name, length)
        more: Any = {"compression": "zlib", "complevel": level, "shuffle": True} if level else {}
        opened.createVariable("v", "f4", tuple("tyx"), **more)[:] = values
    return perf_counter() - start


def _run(who: str, task: str, place: Path, megabytes: int, level: int) -> float:
    call = [sys.executable, "-m", "bench.netcdf", "--one", who, task, str(place), str(megabytes), str(level)]
    limit = (_MEMORY, _MEMORY)
    done = subprocess.run(
        call,
        capture_output=True,
        check=True,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, limit),
    )
    return float(json.loads(done.stdout))


def main() -> None:
    """Print seconds and ratios."""
    parser = argparse.ArgumentParser(prog="python -m bench.netcdf", description=__doc__)
    parser.add_argument("--megabytes", type=int, default=256, help="size of the variable (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=3, help="samples of each side (default: %(default)s)")
    parser.add_argument("--root", type=Path, default=None, help="where files go (default: a temporary folder)")
    parser.add_argument("--one", nargs=5, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        who, task, place, megabytes, level = arguments.one
        measure = _netcdf4 if who == "netCDF4" else _omnizarr
        print(json.dumps(measure(task, place, int(megabytes), int(level))))
        return
    root = Path(tempfile.mkdtemp(dir=arguments.root))
    try:
        for name, level in _LEVELS.items():
            for task in ("write", "read"):
                best: dict[str, float] = {}
                for _ in range(arguments.rounds):
                    for who in ("netCDF4", "omnizarr"):
                        place = root / f"{who}.zarr"
                        took = _run(who, task, place, arguments.megabytes, level)
                        best[who] = min(took, best.get(who, took))
                ratio = best["netCDF4"] / best["omnizarr"]
                seconds = ", ".join(f"{who} {best[who]:.2f} s" for who in best)
                print(f"{task:5} {name:12} {seconds}: {ratio:.1f}x")
    finally:
        shutil.rmtree(root, ignore_errors=True)


if __name__ == "__main__":
    main()
