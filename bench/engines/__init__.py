"""The engines that take part, by name; each is imported only in the process that runs it."""

from __future__ import annotations

from importlib import import_module
from typing import NamedTuple

from bench.engines.base import Engine

LIMIT = "limit"
"""Not an engine but a C kernel with samples of its own; see `bench.limit`."""

OURS = "omnizarr"

BEFORE = "before"
"""Another build of Omnizarr, in another environment: what became slower shows beside it."""


class Entry(NamedTuple):
    """Where an engine is defined, and whether it counts when the best peer is chosen."""

    module: str
    cls: str
    counts: bool = True


ENGINES = {
    "zarr": Entry("zarr_python", "ZarrPython"),
    "zarr-fused": Entry("zarr_python", "ZarrFused"),
    "zarrs": Entry("zarr_python", "ZarrsPipeline"),
    "zarrista": Entry("zarrista", "Zarrista"),
    "tensorstore": Entry("tensorstore", "Tensorstore"),
    # Files of their own, or a dialect of their own: shown for comparison.
    "h5py": Entry("h5py", "H5py", counts=False),
    "netcdf4": Entry("netcdf4", "NetCDF4", counts=False),
    OURS: Entry("omnizarr", "Omnizarr", counts=False),
    BEFORE: Entry("omnizarr", "Omnizarr", counts=False),
}


PUBLIC = tuple(name for name in ENGINES if name != BEFORE)
"""Those that stand on the page."""

COUNTED = frozenset(name for name, entry in ENGINES.items() if entry.counts)
"""Among these the best peer of a cell is chosen."""


def load(name: str) -> Engine:
    """Import the engine `name` and make one."""
    entry = ENGINES[name]
    cls: type[Engine] = getattr(import_module(f"bench.engines.{entry.module}"), entry.cls)
    return cls()
