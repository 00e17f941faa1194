"""netCDF4-python on Zarr v2 folders, by way of libnetcdf's NCZarr."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import netCDF4
import numpy as np

from bench.data import Floats
from bench.engines.base import Engine, Handle, Unsupported, fresh
from bench.layout import Layout

_COMPRESSION: dict[str, dict[str, Any]] = {
    "none": {},
    "zlib": {"compression": "zlib", "complevel": 5, "shuffle": False},
    "zstd": {"compression": "zstd", "complevel": 3},
    "blosc": {"compression": "blosc_lz4", "complevel": 5, "blosc_shuffle": 1},
}


class NetCDF4(Engine):
    """Zarr v2 in C order and little-endian."""

    def __init__(self) -> None:
        self._dataset: Any = None

    def version(self) -> str:
        return f"{netCDF4.__version__} (libnetcdf {netCDF4.__netcdf4libversion__})"

    def create(self, base: Path, layout: Layout) -> Handle:
        _check(layout)
        dataset = self._dataset = netCDF4.Dataset(_url(fresh(base), "nczarr"), "w")
        names = [f"d{i}" for i in range(len(layout.shape))]
        for name, size in zip(names, layout.shape, strict=True):
            dataset.createDimension(name, size or None)
        variable = dataset.createVariable(
            "v", "f4", names, chunksizes=layout.chunks, fill_value=0.0, **_COMPRESSION[layout.codec]
        )
        variable.set_auto_maskandscale(False)
        return variable

    def finish(self, array: Handle) -> None:
        self._dataset.close()

    def open(self, base: Path, layout: Layout) -> Handle:
        _check(layout)
        self._dataset = netCDF4.Dataset(_url(base, "zarr"), "r")
        variable = self._dataset["v"]
        variable.set_auto_maskandscale(False)
        return variable

    def get(self, array: Handle, selection: Any) -> Floats:
        return array[selection]  # type: ignore[no-any-return]

    def set(self, array: Handle, selection: Any, values: Floats) -> None:
        array[selection] = values

    def oindex(self, array: Handle, selection: Any) -> Floats:
        return array[selection]  # type: ignore[no-any-return]

    def append(self, array: Handle, block: Floats) -> Handle:
        n = array.shape[0]
        array[n : n + block.shape[0]] = block
        self._dataset.sync()
        return array

    def group_create(self, base: Path, count: int, version: int) -> None:
        if version != 2:
            raise Unsupported("v2 only")
        dataset = netCDF4.Dataset(_url(fresh(base), "nczarr"), "w")
        dataset.createDimension("x", 10)
        values = np.arange(10, dtype=np.float32)
        for i in range(count):
            variable = dataset.createVariable(f"a{i:04d}", "f4", ("x",), chunksizes=(10,), fill_value=False)
            variable[:] = values
        dataset.close()

    def group_list(self, base: Path, version: int, *, consolidated: bool) -> dict[str, tuple[int, ...]]:
        if version != 2:
            raise Unsupported("v2 only")
        dataset = netCDF4.Dataset(_url(base, "zarr,consolidated" if consolidated else "zarr"), "r")
        shapes = {name: variable.shape for name, variable in dataset.variables.items()}
        dataset.close()
        return shapes


def _url(base: Path, mode: str) -> str:
    return f"file://{base}#mode={mode},file"


def _check(layout: Layout) -> None:
    if layout.version != 2 or layout.order == "F" or layout.endian == "big" or layout.codec not in _COMPRESSION:
        raise Unsupported("v2 in C order and little-endian only")
