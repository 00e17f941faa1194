"""What is opened and loaded, and how it is made; each run is one process, whose clock starts after the imports."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any, Final

_BLOSC: Final = {"name": "blosc", "configuration": {"cname": "lz4", "clevel": 5, "shuffle": "shuffle", "typesize": 4}}
_PLANE: Final = 1024
_POINTS: Final = 1000
_VARIABLES: Final = 500

WORKLOADS: Final = {
    "a": ("1 GB in 1 MB chunks, loaded", 1.5),
    "b": ("256 MB in 64 KB chunks, loaded", 3.0),
    "c": ("1,000 random points", 5.0),
    "d": ("500 variables, opened and closed", 3.0),
}
"""What each is, and how many times faster than the engine `zarr` it should be."""


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
    if not (folder / "d.zarr").exists():
        group = oz.create_group(folder / "d.zarr")
        for i in range(_VARIABLES):
            attrs = {"units": "K", "long_name": f"variable {i}", "cell_methods": "time: mean"}
            values = rng.random((4, 5, 6)).astype("f4")
            group.create_array(f"v{i}", data=values, dims=("t", "y", "x"), attrs=attrs)
        group.consolidate()


def run(engine: str, workload: str, chunks: Any, folder: Path) -> float:  # what xarray takes for chunks
    """Return the seconds that one workload takes."""
    import numpy as np
    import xarray as xr

    warnings.simplefilter("ignore")
    chosen: Any = engine
    if engine == "omnizarr":
        from omnizarr.interop.xarray import OmnizarrBackend

        chosen = OmnizarrBackend
    else:
        _fastest()
    import dask.array  # noqa: F401 - so that the clock does not wait for it: xarray imports it when it meets an array

    at = _places(xr, np, folder)
    steps: dict[str, Callable[[], object]] = {
        "a": lambda: xr.open_dataset(folder / "a.zarr", engine=chosen, chunks=chunks).load(),
        "b": lambda: xr.open_dataset(folder / "b.zarr", engine=chosen, chunks=chunks).load(),
        "c": lambda: xr.open_dataset(folder / "a.zarr", engine=chosen, chunks=chunks)["v"].isel(at).load(),
        "d": lambda: xr.open_dataset(folder / "d.zarr", engine=chosen, chunks=chunks).close(),
    }
    # Both have loaded all their code when the clock starts.
    xr.open_dataset(folder / "d.zarr", engine=chosen, chunks=chunks)["v0"].load()
    start = perf_counter()
    steps[workload]()
    return perf_counter() - start


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
    print(run(sys.argv[1], sys.argv[2], {} if sys.argv[3] == "dask" else None, Path(sys.argv[4])))
