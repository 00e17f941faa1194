"""h5py on files of its own, with the same chunks and codecs."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

# A plugin path of the system would win over the plugins that hdf5plugin brings.
os.environ.pop("HDF5_PLUGIN_PATH", None)
import h5py
import hdf5plugin

from bench.data import Floats
from bench.engines.base import Engine, Handle, Unsupported, fresh
from bench.layout import Layout


class H5py(Engine):
    """One thread under one lock, but one file and no directory per chunk."""

    own_format = True

    def version(self) -> str:
        return f"{h5py.__version__} (HDF5 {h5py.version.hdf5_version})"

    def cold(self, base: Path, layout: Layout) -> str:
        _filters(layout)
        return f"import hdf5plugin, h5py; h5py.File({str(_file(base))!r}, 'r', locking=False)['v'][0, 0, 0]"

    def create(self, base: Path, layout: Layout) -> Handle:
        file = h5py.File(_file(fresh(base)), "w", locking=False)
        return _dataset(file, layout, maxshape=(None, *layout.shape[1:]))

    def finish(self, array: Handle) -> None:
        array.file.flush()

    def close(self, array: Handle) -> None:
        array.file.close()

    def open(self, base: Path, layout: Layout) -> Handle:
        _filters(layout)
        return h5py.File(_file(base), "r", locking=False)["v"]

    def get(self, array: Handle, selection: Any) -> Floats:
        return array[selection]  # type: ignore[no-any-return]

    def set(self, array: Handle, selection: Any, values: Floats) -> None:
        array[selection] = values

    def oindex(self, array: Handle, selection: Any) -> Floats:
        rows, *rest = selection
        if rows.dtype == bool:
            return array[(rows, *rest)]  # type: ignore[no-any-return]
        # Indices must rise here, so repeat and reorder what was read.
        unique, inverse = np.unique(rows, return_inverse=True)
        return array[(unique, *rest)][inverse]  # type: ignore[no-any-return]

    def mask(self, array: Handle, mask: Any) -> Floats:
        return array[mask]  # type: ignore[no-any-return]

    def append(self, array: Handle, block: Floats) -> Handle:
        n = array.shape[0]
        array.resize(n + block.shape[0], axis=0)
        array[n:] = block
        array.file.flush()
        return array

    def memory(self, layout: Layout, values: Floats) -> Handle:
        file = h5py.File(f"memory-{layout.name}", "w", driver="core", backing_store=False)
        array = _dataset(file, layout)
        array[...] = values
        return array

    def group_create(self, base: Path, count: int, version: int) -> None:
        if version == 2:
            raise Unsupported("one format, raced once")
        values = np.arange(10, dtype=np.float32)
        with h5py.File(_file(fresh(base)), "w", locking=False) as file:
            for i in range(count):
                file.create_dataset(f"a{i:04d}", data=values, chunks=(10,))

    def group_list(self, base: Path, version: int, *, consolidated: bool) -> dict[str, tuple[int, ...]]:
        if consolidated or version == 2:
            raise Unsupported("no consolidated metadata")
        with h5py.File(_file(base), "r", locking=False) as file:
            return {name: dataset.shape for name, dataset in file.items()}


def _file(base: Path) -> Path:
    return base / "v.h5"


def _filters(layout: Layout) -> dict[str, Any]:
    if layout.shards or layout.order == "F" or layout.version == 2:
        raise Unsupported("no such layout in HDF5")
    return {
        "none": {},
        "gzip": {"compression": "gzip", "compression_opts": 5},
        "zstd": {"compression": hdf5plugin.Zstd(clevel=3)},
        "blosc": {"compression": hdf5plugin.Blosc(cname="lz4", clevel=5, shuffle=1)},
    }[layout.codec]


def _dataset(file: Any, layout: Layout, maxshape: tuple[int | None, ...] | None = None) -> Any:
    return file.create_dataset(
        "v",
        shape=layout.shape,
        maxshape=maxshape,
        chunks=layout.chunks,
        dtype=layout.dtype,
        fillvalue=0.0,
        **_filters(layout),
    )
