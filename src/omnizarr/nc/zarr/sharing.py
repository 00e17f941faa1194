"""Changing a dataset that others may change at the same time: nothing that they did is undone without a word.

What an array is like is looked up under the lock of its folder before it grows, before its last chunks are written and
before its document is, and what a dataset does not know of stays in documents. In folders, an array that grows says so
at once: others erase what lies beyond an end, as it may come from a crash, and must know where the end is.
"""

from __future__ import annotations

import json
from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from omnizarr.format.dialects import ZARR2, ZARR3
from omnizarr.format.lenient import load_object
from omnizarr.format.names import ZARR_JSON, ZARRAY, ZATTRS, join
from omnizarr.hierarchy.changing import array_lock, documents_lock
from omnizarr.native import FileStore
from omnizarr.nc.source import Key, reach
from omnizarr.nc.tree import Dim, Group, Var
from omnizarr.nc.types import STRING
from omnizarr.nc.zarr.merging import merged, removed, same_layout
from omnizarr.nc.zarr.texts import dump
from omnizarr.store.protocol import kernel_target

if TYPE_CHECKING:
    from omnizarr.nc.zarr.writer import ZarrSource
    from omnizarr.nc.zarr.written import Written


def as_it_is(node: Group | Var) -> Group | Var:
    """Return a copy of what documents say of a node, to tell later what was changed of it."""
    if isinstance(node, Var):
        dims = tuple(Dim(dim.name, dim.size, dim.unlimited, _stub(dim.group)) for dim in node.dims)
        return Var(node.name, node.type, dims, dict(node.attrs), node.storage, node.group)
    made = Group(node.name, node.parent, types=dict(node.types), groups=dict(node.groups), attrs=dict(node.attrs))
    made.dims = {name: Dim(dim.name, dim.size, dim.unlimited, made) for name, dim in node.dims.items()}
    made.vars = {name: Var(name, var.type, var.dims, {}, var.storage) for name, var in node.vars.items()}
    return made


def _stub(group: Group | None) -> Group | None:
    """Return a group that keeps its path, whatever becomes of the names on the way."""
    return group if group is None or group.parent is None else Group(group.path.strip("/"), Group())


def is_folder(source: ZarrSource) -> bool:
    """Whether the store is one of files, which programs on this machine and others may share."""
    return isinstance(kernel_target(source.context.store)[0], FileStore)


@contextmanager
def array_held(source: ZarrSource, path: str) -> Generator[None]:
    """Keep others from changing an array, as far as the store lets us."""
    with array_lock(source.context, path, form_of(source)), source.context.lock:
        yield


@contextmanager
def group_held(source: ZarrSource, path: str) -> Generator[None]:
    """Keep others from changing the documents of a group."""
    with source.context.lock, documents_lock(source.context, path, form_of(source)):
        yield


def at_the_edge(source: ZarrSource, var: Var, stored: Written, key: Key) -> bool:
    """Whether a write may meet others: it grows the array, or changes a chunk that has room for more."""
    if stored.is_new or source.all_anew or var not in source.places or not is_folder(source):
        return False
    if var.type == STRING and not stored.meta.dtype.vlen:
        return True  # the array may be made wider
    shape, chunks = stored.meta.shape, stored.meta.grid.longest
    if var.dims and shape != var.shape:
        return True  # somebody made it longer since the dataset was opened, or it is to become so
    return len(shape) == len(var.dims) and any(
        (dim.unlimited or source.style.is_pure) and end > length // chunk * chunk
        for dim, end, length, chunk in zip(var.dims, reach(key), shape, chunks, strict=True)
    )


def main_key(source: ZarrSource, path: str) -> str:
    """Return the key of the document that says what an array is like."""
    return join(path, ZARR_JSON if source.style.is_v3 else ZARRAY)


def catch_up(source: ZarrSource, var: Var, stored: Written) -> None:
    """Learn how long others made an array meanwhile. To be called with the array held.

    Raises:
        ConflictError: If it is gone, or another one.
    """
    if stored.is_new or source.all_anew:
        return
    key = main_key(source, stored.path)
    text = source.context.store.get(key)
    if text is None:
        raise removed(var.path)
    if text != source.seen.get(key):
        found: dict[str, Any] = dict(load_object(text, key))
        same_layout(_plain(source.document(var, stored), source), _plain(found, source), var.path)
        stored.grown_to(tuple(map(max, stored.meta.shape, found["shape"])))
        source.seen[key] = text
    if len(stored.meta.shape) == len(var.dims):
        for dim, length in zip(var.dims, stored.meta.shape, strict=True):
            if dim.unlimited and length > dim.size:
                dim.size = length
                source.grown = True


def _plain(document: dict[str, Any], source: ZarrSource) -> dict[str, Any]:
    """Return what a document says of an array's layout, spelled in one way."""
    names = (
        ("shape", "data_type", "chunk_grid", "chunk_key_encoding", "codecs", "storage_transformers")
        if source.style.is_v3
        else ("shape", "dtype", "chunks", "order", "compressor", "filters", "dimension_separator")
    )
    made = {name: document[name] for name in names if document.get(name)}
    if made.get("dimension_separator") == ".":
        del made["dimension_separator"]
    return made


def publish(source: ZarrSource, var: Var, stored: Written) -> None:
    """Say in its document how long an array is by now. To be called with the array held."""
    if not var.dims or stored.meta.shape == var.shape:
        return
    shape = tuple(map(max, stored.meta.shape, var.shape))
    key = main_key(source, stored.path)
    # Not as it was when we caught up: it may have been made wider since.
    document = {**load_object(source.context.store.get(key) or b"{}", key), "shape": list(shape)}
    source.drop_copy()
    text = dump(document)
    with source.context.placing(stored.path):
        source.context.store.put(key, text)
    source.seen[key] = text
    stored.grown_to(shape)


def put_merged(source: ZarrSource, node: Group | Var, ours: dict[str, bytes], before: dict[str, bytes]) -> None:
    """Put documents that have what we changed of them and what others did. To be called with the node held.

    Args:
        source: The dataset.
        node: The group or variable, whose path says where they go.
        ours: The documents as we want them.
        before: As they would be, had we changed nothing; empty if the node is new.
    """
    store, path = source.context.store, node.path.strip("/")
    known = source.places.get(node)
    for name, text in ours.items():
        key = join(path, name)
        if source.texts.get(key) == text:
            continue
        current = store.get(key if known is None else join(known, name))
        new = text
        if current is None and known is not None and not source.all_anew and name != ZATTRS:
            raise removed(node.path)
        ours_alone = current == source.put.get(key) == source.texts.get(key)  # then a put need not be merged
        if current is not None and not ours_alone and not source.all_anew:
            new = _merged(before.get(name, b"{}"), text, current, key, node.path, attributes=name == ZATTRS)
        if new != current or known not in (None, path):
            with source.context.placing(path):
                store.put(key, new)
        source.texts[key] = text
        source.put[key] = new
        if new == text or known is not None:  # else somebody else made it too, and it is to be looked at again
            source.seen[key] = new


def _merged(before: bytes, ours: bytes, theirs: bytes, key: str, path: str, *, attributes: bool) -> bytes:
    if not theirs.strip():
        return ours
    there, wanted = load_object(theirs, key), json.loads(ours)
    if there == wanted:
        return theirs
    made = merged(json.loads(before), wanted, there, path, attributes=attributes)
    if made == there:
        return theirs
    return ours if made == wanted else dump(made)


def form_of(source: ZarrSource) -> str:
    """Return the format of the nodes."""
    return (ZARR3 if source.style.is_v3 else ZARR2).name
