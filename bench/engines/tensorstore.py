"""tensorstore, without its chunk cache and without fsync, as the others run."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import tensorstore as ts

from bench.data import Floats
from bench.engines.base import Engine, Handle, Unsupported, array_path, fresh
from bench.layout import Layout, small_array

_SETTINGS = {"cache_pool": {"total_bytes_limit": 0}, "file_io_sync": False}


class Tensorstore(Engine):
    """Arrays only: groups are a listing of keys, and there is no consolidated metadata."""

    def __init__(self) -> None:
        self._context = ts.Context(_SETTINGS)

    def version(self) -> str:
        return version("tensorstore")

    def cold(self, base: Path, layout: Layout) -> str:
        spec = _spec(_files(array_path(base)), layout)
        return (
            f"import tensorstore as ts; array = ts.open({spec!r}, context=ts.Context({_SETTINGS!r})).result(); "
            "array[0, 0, 0].read().result()"
        )

    def create(self, base: Path, layout: Layout) -> Handle:
        return self._open(_spec(_files(array_path(fresh(base))), layout, create=True)).result()

    def open(self, base: Path, layout: Layout) -> Handle:
        return self._open(_spec(_files(array_path(base)), layout)).result()

    def get(self, array: Handle, selection: Any) -> Floats:
        return array[selection].read().result()  # type: ignore[no-any-return]

    def set(self, array: Handle, selection: Any, values: Floats) -> None:
        array[selection].write(values).result()

    def oindex(self, array: Handle, selection: Any) -> Floats:
        return array.oindex[selection].read().result()  # type: ignore[no-any-return]

    def vindex(self, array: Handle, points: Any) -> Floats:
        return array.vindex[points].read().result()  # type: ignore[no-any-return]

    def mask(self, array: Handle, mask: Any) -> Floats:
        return array[mask].read().result()  # type: ignore[no-any-return]

    def append(self, array: Handle, block: Floats) -> Handle:
        n = array.shape[0]
        array = array.resize(exclusive_max=[n + block.shape[0], *array.shape[1:]]).result()
        array[n:].write(block).result()
        return array

    def memory(self, layout: Layout, values: Floats) -> Handle:
        array = self._open(_spec({"driver": "memory"}, layout, create=True)).result()
        array.write(values).result()
        return array

    def group_create(self, base: Path, count: int, version: int) -> None:
        fresh(base)
        layout = small_array(3 if version == 3 else 2)
        values = np.arange(10, dtype=np.float32)
        opening = [self._open(_spec(_files(base / f"a{i:04d}"), layout, create=True)) for i in range(count)]
        for written in [array.result().write(values) for array in opening]:
            written.result()

    def group_list(self, base: Path, version: int, *, consolidated: bool) -> dict[str, tuple[int, ...]]:
        if consolidated:
            raise Unsupported("no consolidated metadata")
        keys = ts.KvStore.open(_files(base), context=self._context).result().list().result()
        ending = b"/zarr.json" if version == 3 else b"/.zarray"
        names = [key[: -len(ending)].decode() for key in keys if key.endswith(ending)]
        layout = small_array(3 if version == 3 else 2)
        opening = [self._open(_spec(_files(base / name), layout)) for name in names]
        return {name: array.result().shape for name, array in zip(names, opening, strict=True)}

    def _open(self, spec: dict[str, Any]) -> Any:
        return ts.open(spec, context=self._context)


def _files(path: Path) -> dict[str, str]:
    return {"driver": "file", "path": f"{path}/"}


def _spec(kvstore: dict[str, str], layout: Layout, *, create: bool = False) -> dict[str, Any]:
    spec: dict[str, Any] = {"driver": "zarr3" if layout.version == 3 else "zarr", "kvstore": kvstore}
    if create:
        metadata = layout.v3_document() if layout.version == 3 else layout.v2_document()
        metadata.pop("attributes", None)
        metadata.pop("node_type", None)
        spec |= {"metadata": metadata, "create": True, "delete_existing": True}
    return spec
