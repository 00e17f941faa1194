"""Making room for longer strings in an array whose strings have a fixed number of bytes.

Chunks cannot change their form one by one under readers. So a wide copy is made in a folder below the array; one write
of its attributes then sends readers there; the array itself is written anew, and a last write sends readers back.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import product
from typing import TYPE_CHECKING, Final

from omnizarr.array.selection import Selection
from omnizarr.format.names import ZARRAY, ZATTRS, join
from omnizarr.model.array import ArrayMeta
from omnizarr.model.dtype import DType
from omnizarr.model.fill import Fill
from omnizarr.nc.tree import Var
from omnizarr.nc.zarr.saving import drop_copy
from omnizarr.nc.zarr.style import ARRAY_KEY, STORED_IN
from omnizarr.nc.zarr.texts import array_texts, dump

if TYPE_CHECKING:
    from omnizarr.array.io import Access
    from omnizarr.nc.zarr.writer import ZarrSource
    from omnizarr.nc.zarr.written import Written

FOLDER: Final = ".wide"


def widen(source: ZarrSource, var: Var, stored: Written, length: int) -> None:
    """Let an array hold strings of so many bytes, and as much more as makes the next time unlikely."""
    size = 1 << (length - 1).bit_length()
    meta = stored.meta
    fill = meta.fill if meta.fill.bits is None else Fill(meta.fill.bits.ljust(size, b"\0"))
    wide = meta._replace(dtype=DType.of(f"S{size}"), fill=fill)
    shape = var.shape if var.dims else meta.shape
    if not stored.has_data:
        stored.replaced(stored.path, wide)
    elif var not in source.places:  # nobody knows of the array yet
        before = stored.access(shape)
        stored.replaced(stored.path, wide)
        _copy(before, stored.access(shape), meta.grid.longest, shape)
    else:
        _publish(source, var, stored, shape, wide)
    if stored.document is not None:
        stored.document = {**stored.document, "dtype": f"|S{size}"}
    source.marked.setdefault(var)


def _publish(source: ZarrSource, var: Var, stored: Written, shape: tuple[int, ...], wide: ArrayMeta) -> None:
    store, path = source.context.store, stored.path
    folder = join(path, FOLDER)
    drop_copy(source)
    narrow, before = stored.meta, stored.access(shape)
    store.erase_prefix(f"{folder}/")
    stored.replaced(folder, wide)
    _copy(before, stored.access(shape), narrow.grid.longest, shape)
    size = stored.meta.dtype.itemsize
    document = {**source.document(var, stored), "dtype": f"|S{size}"}
    store.put(join(folder, ZARRAY), dump(document))
    texts = array_texts(var, document, source.style, stored.kept)
    store.put(join(path, ZATTRS), _marked(var, source, stored))
    settle(source, path, texts)
    stored.replaced(path, stored.meta)


def settle(source: ZarrSource, path: str, texts: Mapping[str, bytes]) -> None:
    """Put the wide copy in the place of the array, to which readers are then sent back."""
    store = source.context.store
    drop_copy(source)
    start = f"{join(path, FOLDER)}/"
    for key in sorted(store.list_prefix(start)):
        data = store.get(key)
        if data is not None and not key.endswith(ZARRAY):
            store.put(join(path, key[len(start) :]), data)
    for name in (ZARRAY, ZATTRS):
        store.put(join(path, name), texts[name])
        source.texts[join(path, name)] = texts[name]
    store.erase_prefix(start)


def _marked(var: Var, source: ZarrSource, stored: Written) -> bytes:
    texts = array_texts(var, {}, source.style, stored.kept)
    values = json.loads(texts[ZATTRS])
    values[ARRAY_KEY] = {**values.get(ARRAY_KEY, {}), STORED_IN: FOLDER}
    return dump(values)


def _copy(before: Access, after: Access, chunks: tuple[int, ...], shape: tuple[int, ...]) -> None:
    for starts in product(*(range(0, length, step) for length, step in zip(shape, chunks, strict=True))):
        sizes = tuple(min(step, length - at) for at, step, length in zip(starts, chunks, shape, strict=True))
        box = Selection([(at, 1, size) for at, size in zip(starts, sizes, strict=True)], sizes, sizes)
        after.write(box, before.boxed(before.read(box)) if not sizes else before.read(box))
