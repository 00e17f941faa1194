"""Zarr of every dialect as references, so that an archive of Zarr can be part of a set.

Each chunk (or shard) is a file of its own, or an entry of a zip archive that is not compressed. Documents of old
dialects are put into the words of v2 or v3, and chunks get the keys that go with them.
"""

from __future__ import annotations

import struct
import zipfile
from collections.abc import Iterator
from typing import BinaryIO, cast

import numpy as np

from omnizarr import native
from omnizarr.errors import OmnizarrError, UnsupportedError
from omnizarr.hierarchy.array import Array
from omnizarr.hierarchy.group import Group
from omnizarr.hierarchy.listing import walk
from omnizarr.hierarchy.nodes import documents
from omnizarr.hierarchy.opening import Place, open_node
from omnizarr.model.array import ArrayMeta
from omnizarr.model.group import GroupMeta
from omnizarr.model.keys import Keys, default_keys, v2_keys
from omnizarr.refs.scanners.picking import Picked
from omnizarr.refs.scanners.source import DEFAULTS, Options, SourceFile
from omnizarr.refset.grids import grid_of
from omnizarr.refset.model import WHOLE, Chunks, References
from omnizarr.store.protocol import Store, kernel_target
from omnizarr.store.uri import uri_to_path


def scan(where: object, options: Options = DEFAULTS) -> References:
    """Find the chunks of a hierarchy of Zarr on the file system.

    Args:
        where: A folder or zip archive; whatever `omnizarr.open` takes for one.
        options: What is wanted of it; chunks are never taken into the set.

    Raises:
        UnsupportedError: If it is no hierarchy of files, or an entry of the archive is compressed.
    """
    node = open_node(Place(where, "r", options.group or None), "r", None, None)
    context, start = node._context, node.path.strip("/")  # noqa: SLF001 - handles are made of a context and a path
    found = dict(_metas(node))
    picked = Picked(options, [path for path, meta in found.items() if isinstance(meta, ArrayMeta)])
    made = References()
    chunks = _chunks_of(context.store, made)
    for path, meta in found.items():
        if isinstance(meta, GroupMeta):
            _add(made, path, documents(meta._replace(format=_dialect(meta))))
        elif picked(path):
            full = "/".join(filter(None, (start, path)))
            _add(made, path, documents(_translated(meta)))
            made.arrays[path] = chunks.rows(full, meta)
    return made


def _metas(node: Array | Group) -> Iterator[tuple[str, ArrayMeta | GroupMeta]]:
    yield "", node.metadata
    if isinstance(node, Group):
        context, path = node._context, node.path.strip("/")  # noqa: SLF001 - as above
        for name, found, _ in walk(context, path, node.metadata.format, None):
            if isinstance(found, OmnizarrError):
                raise found
            yield name, found


def _translated(meta: ArrayMeta) -> ArrayMeta:
    """Return an array in the dialect of the set; fields that only its own dialect knows stay behind."""
    dialect = _dialect(meta)
    keys = v2_keys() if dialect == "zarr2" else default_keys()
    return meta._replace(format=dialect, keys=keys, extra=meta.extra if dialect == meta.format else {})


def _dialect(meta: ArrayMeta | GroupMeta) -> str:
    """Return the format whose documents say it: v2 for v2 and what came before, v3 for all else."""
    return "zarr2" if meta.format in ("zarr2", "zarr1", "zarr0") else "zarr3"


def _add(made: References, path: str, texts: dict[str, bytes]) -> None:
    prefix = path + "/" if path else ""
    made.documents.update({prefix + name: text for name, text in texts.items()})


def _chunks_of(store: Store, made: References) -> _Files | _Entries:
    target, _ = kernel_target(store)
    if isinstance(target, native.FileStore):
        return _Files(store, made)
    if isinstance(target, native.ZipStore):
        return _Entries(store, made)
    raise UnsupportedError(
        f"chunks of {store.uri} are no files, so there is nothing to refer to",
        hint="References can be made to Zarr in a folder, or in a zip archive.",
    )


class _Files:
    """Chunks that are files."""

    def __init__(self, store: Store, made: References) -> None:
        self._store, self._made = store, made

    def rows(self, path: str, meta: ArrayMeta) -> Chunks:
        target, prefix = kernel_target(self._store, path + "/" if path else "")
        files = cast("native.FileStore", target)
        keys = files.list_prefix(prefix)
        grid = grid_of(meta)
        numbers = native.chunk_numbers(keys, prefix, _template(grid.keys), grid.counts)
        order = np.argsort(numbers, kind="stable")
        order = order[: int(np.count_nonzero(numbers != WHOLE))]
        first = len(self._made.urls)
        self._made.urls.extend(f"{files.root}/{keys[i]}" for i in order.tolist())
        urls = first + np.arange(len(order), dtype=np.uint32)
        return Chunks.ranges(
            grid.counts, urls, np.zeros(len(order), np.uint64), np.uint64(WHOLE), numbers=numbers[order]
        )


class _Entries:
    """Chunks that are entries of an archive, stored without compression."""

    def __init__(self, store: Store, made: References) -> None:
        self._store = store
        while (inner := getattr(store, "inner", None)) is not None:
            store = inner
        path = uri_to_path(store.uri)
        made.urls.append(path)
        made.stamps[path] = SourceFile(path).stamp()
        with zipfile.ZipFile(path) as archive, open(path, "rb") as file:  # noqa: PTH123 - the path is text already
            self._entries = {one.filename: _place(file, one) for one in archive.infolist() if not one.is_dir()}

    def rows(self, path: str, meta: ArrayMeta) -> Chunks:
        _, prefix = kernel_target(self._store, path + "/" if path else "")
        grid = grid_of(meta)
        keys = [key for key in self._entries if key.startswith(prefix)]
        numbers = native.chunk_numbers(keys, prefix, _template(grid.keys), grid.counts)
        order = np.argsort(numbers, kind="stable")[: int(np.count_nonzero(numbers != WHOLE))]
        places = [self._entries[keys[i]] for i in order.tolist()]
        for i, place in zip(order.tolist(), places, strict=True):
            if place is None:
                raise UnsupportedError(
                    "an entry of the archive is compressed, so there are no bytes to refer to",
                    key=keys[i],
                    hint="`oz copy` makes a folder, or an archive whose entries are stored as they are.",
                )
        found = np.array([place for place in places if place is not None], np.uint64).reshape(-1, 2)
        return Chunks.ranges(grid.counts, 0, found[:, 0], found[:, 1], numbers=numbers[order])


def _place(file: BinaryIO, entry: zipfile.ZipInfo) -> tuple[int, int] | None:
    """Return offset and length of an entry's bytes, or `None` if they are compressed or encrypted."""
    if entry.compress_type != zipfile.ZIP_STORED or entry.flag_bits & 1:
        return None
    file.seek(entry.header_offset + 26)
    name, extra = struct.unpack("<HH", file.read(4))
    return entry.header_offset + 30 + name + extra, entry.file_size


def _template(keys: Keys) -> tuple[str, str, str, str, bool]:
    return keys.prefix, keys.separator, keys.suffix, keys.scalar, keys.reversed
