"""What is opened and loaded, and how it is made.

Each run is one process, whose clock starts after the imports: for the first time that the work is done there, and for
each of some more, after the result of the one before has gone.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any, Final, NamedTuple
from zlib import crc32

from bench.touching import touch

_BLOSC: Final = {"name": "blosc", "configuration": {"cname": "lz4", "clevel": 5, "shuffle": "shuffle", "typesize": 4}}
_PLANE: Final = 1024
_POINTS: Final = 1000
_VARIABLES: Final = 500
_AGAIN: Final = 5


class Taken(NamedTuple):
    """Seconds of one process."""

    first: float
    again: float
    """Median of those after the first."""


class Workload(NamedTuple):
    """One line of the table."""

    what: str
    goal: float
    """How many times faster than the engine `zarr` it should be."""
    memory: int
    """As many bytes as a run with Dask needs: all chunks, and the array that they become. One without needs half."""


WORKLOADS: Final = {
    "a": Workload("1 GB in 1 MB chunks, loaded", 1.5, 2_600_000_000),
    "b": Workload("256 MB in 64 KB chunks, loaded", 3.0, 700_000_000),
    "c": Workload("1,000 random points", 5.0, 300_000_000),
    "d": Workload("500 variables, opened and closed", 3.0, 100_000_000),
}


def make(folder: Path, scale: float) -> None:
    """Write the data, unless they are there."""
    import numpy as np

    import omnizarr as oz

    rng = np.random.default_rng(0)
    for name, planes, side in (("a", int(256 * scale), 512), ("b", int(64 * scale), 128)):
        if (folder / f"{name}.zarr").exists():
            continue
        group = oz.create_group(folder / f"{name}.zarr")
        shape = (max(1, planes), _PLANE, _PLANE)
        array = group.create_array(
            "v", shape=shape, dtype="f4", chunks=(1, side, side), codecs=[_BLOSC], dims=("t", "y", "x"), fill_value=0
        )
        for i in range(shape[0]):
            array[i] = np.cumsum(rng.integers(-3, 4, (_PLANE, _PLANE)), 1).astype("f4")
        group.consolidate()
    for name, count in (("d", _VARIABLES), ("first", 2)):
        if (folder / f"{name}.zarr").exists():
            continue
        group = oz.create_group(folder / f"{name}.zarr")
        for i in range(count):
            attrs = {"units": "K", "long_name": f"variable {i} of {name}", "cell_methods": "time: mean"}
            values = rng.random((4, 5, 6)).astype("f4")
            group.create_array(f"v{i}", data=values, dims=("t", "y", "x"), attrs=attrs)
        group.consolidate()


def run(engine: str, workload: str, chunks: Any, folder: Path) -> tuple[Taken, int]:  # what xarray takes for chunks
    """Return what one workload takes, and a checksum of what it gives."""
    import numpy as np
    import xarray as xr

    warnings.simplefilter("ignore")
    chosen = _engine(engine, folder)
    import dask.array  # noqa: F401 - so that the clock does not wait for it: xarray imports it when it meets an array

    at = _places(xr, np, folder)
    steps: dict[str, Callable[[], Any]] = {
        "a": lambda: xr.open_dataset(folder / "a.zarr", engine=chosen, chunks=chunks).load(),
        "b": lambda: xr.open_dataset(folder / "b.zarr", engine=chosen, chunks=chunks).load(),
        "c": lambda: xr.open_dataset(folder / "a.zarr", engine=chosen, chunks=chunks)["v"].isel(at).load(),
        "d": lambda: _closed(xr.open_dataset(folder / "d.zarr", engine=chosen, chunks=chunks)),
    }
    # Both have loaded all their code when the clock starts, and seen nothing of the data.
    xr.open_dataset(folder / "first.zarr", engine=chosen, chunks=chunks)["v0"].load()
    _warm(folder / f"{'a' if workload == 'c' else workload}.zarr")
    touch(WORKLOADS[workload].memory // (2 if chunks is None else 1))
    first, found = _clocked(steps[workload])
    check = _checksum(workload, found)
    del found  # its memory is used again, by who can do that
    return Taken(first, median(_clocked(steps[workload])[0] for _ in range(_AGAIN))), check


def _clocked(step: Callable[[], Any]) -> tuple[float, Any]:
    start = perf_counter()
    found = step()
    return perf_counter() - start, found


def _checksum(workload: str, found: Any) -> int:  # xarray has no types
    import numpy as np

    if workload == "d":
        told = {name: (var.dims, var.shape, str(var.dtype), var.attrs) for name, var in sorted(found.variables.items())}
        return crc32(repr(told).encode())
    values = found.values if workload == "c" else found["v"].values
    return crc32(np.ascontiguousarray(values).view("u1").data)


def _warm(place: Path) -> None:
    """Have the system read all files, so that none of the contenders waits for the disk."""
    for file in place.rglob("*"):
        if file.is_file():
            file.read_bytes()


def _closed(dataset: Any) -> Any:  # xarray has no types
    dataset.close()
    return dataset


def _engine(name: str, folder: Path) -> Any:  # whatever xarray takes for an engine
    if name == "omnizarr":
        from omnizarr.interop.xarray import OmnizarrBackend

        return OmnizarrBackend
    if name == "nothing":
        from bench.xarray.nothing import NothingBackend, learn

        for one in ("a", "b", "d", "first"):
            learn(folder / f"{one}.zarr")
        return NothingBackend
    _fastest()
    return name


def _places(xr: Any, np: Any, folder: Path) -> dict[str, Any]:
    """Return random places in the array of (a)."""
    import omnizarr as oz

    rng = np.random.default_rng(1)
    sizes = zip("tyx", oz.open_array(folder / "a.zarr/v").shape, strict=True)
    return {dim: xr.DataArray(rng.integers(0, size, _POINTS), dims="n") for dim, size in sizes}


def _fastest() -> None:
    """Let zarr-python use the quickest pipeline that is installed."""
    import zarr

    try:
        import zarrs  # noqa: F401 - it registers itself
    except ImportError:
        return
    zarr.config.set({"codec_pipeline.path": "zarrs.ZarrsCodecPipeline"})


if __name__ == "__main__":
    seconds, check = run(sys.argv[1], sys.argv[2], {} if sys.argv[3] == "dask" else None, Path(sys.argv[4]))
    print(*seconds, check)
