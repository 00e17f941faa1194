"""zarrista: direct bindings of the zarrs crate, with basic selections of step 1."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import zarrista

from bench.data import Floats
from bench.engines.base import Engine, Handle, Unsupported, fresh
from bench.layout import Layout, small_array


class Zarrista(Engine):
    """Creates v3 only; opens both."""

    def version(self) -> str:
        return str(zarrista.__version__)

    def cold(self, base: Path, layout: Layout) -> str:
        return (
            f"import zarrista; store = zarrista.store.FilesystemStore({str(base)!r}); "
            "zarrista.Array.open(store, '/v').retrieve_array_subset((0, 0, 0)).to_numpy()"
        )

    def create(self, base: Path, layout: Layout) -> Handle:
        if layout.version != 3:
            raise Unsupported("creates v3 only")
        array = zarrista.Array.from_metadata(layout.v3_document(), _files(fresh(base)), "/v")
        array.store_metadata()
        return array

    def open(self, base: Path, layout: Layout) -> Handle:
        return zarrista.Array.open(_files(base), "/v")

    def get(self, array: Handle, selection: Any) -> Floats:
        _basic(selection)
        values: Floats = array.retrieve_array_subset(selection).to_numpy()
        if isinstance(selection, tuple) and any(isinstance(part, int) for part in selection):
            # Integers keep their axis here; the others drop it.
            parts = [*selection, *[None] * values.ndim]
            kept = [n for n, part in zip(values.shape, parts, strict=False) if not isinstance(part, int)]
            values = values.reshape(kept)
        return values

    def set(self, array: Handle, selection: Any, values: Floats) -> None:
        _basic(selection)
        array.store_array_subset(selection, values)

    def append(self, array: Handle, block: Floats) -> Handle:
        n = array.shape[0]
        array = array.with_shape([n + block.shape[0], *array.shape[1:]])
        array.store_metadata()
        array.store_array_subset(slice(n, n + block.shape[0]), block)
        return array

    def memory(self, layout: Layout, values: Floats) -> Handle:
        array = zarrista.Array.from_metadata(layout.v3_document(), zarrista.store.MemoryStore(), "/v")
        array.store_metadata()
        array.store_array_subset(Ellipsis, values)
        return array

    def group_create(self, base: Path, count: int, version: int) -> None:
        if version != 3:
            raise Unsupported("creates v3 only")
        store = _files(fresh(base))
        document = small_array(3).v3_document()
        values = np.arange(10, dtype=np.float32)
        for i in range(count):
            array = zarrista.Array.from_metadata(document, store, f"/a{i:04d}")
            array.store_metadata()
            array.store_array_subset(Ellipsis, values)

    def group_list(self, base: Path, version: int, *, consolidated: bool) -> dict[str, tuple[int, ...]]:
        if consolidated:
            raise Unsupported("no consolidated metadata")
        group = zarrista.Group.open(_files(base), "/")
        return {array.path[1:]: tuple(array.shape) for array in group.child_arrays()}


def _files(base: Path) -> Any:
    return zarrista.store.FilesystemStore(str(base))


def _basic(selection: Any) -> None:
    for part in selection if isinstance(selection, tuple) else (selection,):
        if isinstance(part, np.ndarray) or (isinstance(part, slice) and part.step not in (None, 1)):
            raise Unsupported("basic selections of step 1 only")
