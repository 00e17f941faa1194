"""Omnizarr itself, with the settings it has when nobody sets any."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import omnizarr as oz
from bench.data import Floats
from bench.engines.base import Engine, Handle, array_path, fresh
from bench.layout import V2_COMPRESSOR, Layout, small_array


class Omnizarr(Engine):
    """The engine that the race is about."""

    def version(self) -> str:
        return oz.__version__

    def cold(self, base: Path, layout: Layout) -> str:
        return f"import omnizarr as oz; oz.open_array({str(array_path(base))!r})[0, 0, 0]"

    def create(self, base: Path, layout: Layout) -> Handle:
        return oz.create_array(array_path(fresh(base)), **_arguments(layout))

    def open(self, base: Path, layout: Layout) -> Handle:
        return oz.open_array(array_path(base))

    def get(self, array: Handle, selection: Any) -> Floats:
        return array[selection]  # type: ignore[no-any-return]

    def set(self, array: Handle, selection: Any, values: Floats) -> None:
        array[selection] = values

    def oindex(self, array: Handle, selection: Any) -> Floats:
        return array.oindex[selection]  # type: ignore[no-any-return]

    def vindex(self, array: Handle, points: Any) -> Floats:
        return array.vindex[points]  # type: ignore[no-any-return]

    def mask(self, array: Handle, mask: Any) -> Floats:
        return array[mask]  # type: ignore[no-any-return]

    def append(self, array: Handle, block: Floats) -> Handle:
        array.append(block, axis=0)
        return array

    def memory(self, layout: Layout, values: Floats) -> Handle:
        array = oz.create_array(oz.MemoryStore(), **_arguments(layout))
        array[...] = values
        return array

    def group_create(self, base: Path, count: int, version: int) -> None:
        group = oz.create_group(fresh(base), format="zarr3" if version == 3 else "zarr2")
        values = np.arange(10, dtype=np.float32)
        arguments = _arguments(small_array(3 if version == 3 else 2))
        del arguments["format"]
        for i in range(count):
            group.create_array(f"a{i:04d}", **arguments)[...] = values

    def group_consolidate(self, base: Path, version: int) -> None:
        oz.consolidate(base)

    def group_list(self, base: Path, version: int, *, consolidated: bool) -> dict[str, tuple[int, ...]]:
        return {name: array.shape for name, array in oz.open_group(base).arrays()}


def _arguments(layout: Layout) -> dict[str, Any]:
    common = {
        "shape": layout.shape,
        "chunks": layout.chunks,
        "fill_value": 0.0,
        "format": f"zarr{layout.version}",
    }
    if layout.version == 2:
        compressor = V2_COMPRESSOR[layout.codec]
        return {
            **common,
            "dtype": layout.dtype,
            "order": layout.order,
            "codecs": [compressor] if compressor else [],
        }
    return {**common, "dtype": "float32", "shards": layout.shards, "codecs": layout.inner_codecs()}
