"""Many netCDF files, scanned and combined."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter


def make(folder: Path, count: int) -> None:
    """Write the files, unless they are there."""
    import netCDF4
    import numpy as np

    files = folder / f"files-{count}"
    if files.exists():
        return
    part = folder / f"files-{count}.part"
    part.mkdir(exist_ok=True)
    values = np.random.default_rng(0).normal(size=(4, 90, 180)).astype("f4")
    for day in range(count):
        with netCDF4.Dataset(part / f"{day:05}.nc", "w") as file:
            for name, size in (("time", None), ("lat", 90), ("lon", 180)):
                file.createDimension(name, size)
            file.createVariable("time", "f8", ("time",))[:] = np.arange(4) / 4 + day
            for name in ("t", "u", "v", "w"):
                one = file.createVariable(name, "f4", ("time", "lat", "lon"), zlib=True, chunksizes=(1, 30, 60))
                one[:] = values
    part.rename(files)


def run(folder: Path, workers: int) -> dict[str, object]:
    """Scan and combine with so many workers."""
    from distributed import Client, LocalCluster

    import omnizarr as oz

    files = sorted(max(folder.glob("files-*"), key=lambda one: one.stat().st_mtime).iterdir())
    with (
        LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=":0", silence_logs=50) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        oz.refs.scan(files[:8], cluster=client)  # workers import what they need
        began = perf_counter()
        sets = oz.refs.scan(files, cluster=client)
        scanned = perf_counter() - began
        found = oz.refs.combine(sets, concat="time")
        both = perf_counter() - began
    return {
        "files": len(files),
        "scan s": round(scanned, 2),
        "with combining s": round(both, 2),
        "arrays": len(found.arrays),
    }
