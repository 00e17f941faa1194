"""All that can be said of a node without reading its values: what it is, how it is stored, and what is odd about it."""

from __future__ import annotations

import warnings
from math import prod
from typing import Final

from omnizarr.errors import LimitError, OmnizarrError, OmnizarrWarning, UnsupportedError
from omnizarr.hierarchy.array import Array
from omnizarr.hierarchy.detect import of_node
from omnizarr.hierarchy.group import Group
from omnizarr.hierarchy.opening import Format, Place, open_node
from omnizarr.limits import DEFAULT_LIMITS, Limits
from omnizarr.model.codec import Codec
from omnizarr.store.wrap import listing_view
from omnizarr.tools.census import Census, count
from omnizarr.tools.info.group import conventions_of, few_names, group_info, remarks_of
from omnizarr.tools.info.remarks import Remark, of_chunks, of_layout
from omnizarr.tools.info.result import ArrayInfo, GroupInfo, Info
from omnizarr.tools.info.scan import scan
from omnizarr.tools.nodes import context_of, nodes_of
from omnizarr.tools.progress import Progress, silent

__all__ = ["ArrayInfo", "GroupInfo", "Info", "codec_text", "info"]

_FEW_SHARDS: Final = 256
"""So many shards are looked into without being asked, if the store is near."""


def info(
    where: object,
    *,
    path: str | None = None,
    format: Format | None = None,  # noqa: A002 - the word of the documents
    stored: bool | None = None,
    cells: bool | None = None,
    decode: bool = False,
    progress: Progress | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> Info:
    """Say what is at a place, how it is stored, and what is odd about it.

    Args:
        where: As for `omnizarr.open`, or a handle.
        path: Path of the node in the store.
        format: Look for this format alone.
        stored: Whether to count stored chunks and bytes. That lists all keys of an array, so by default it is done for
            an array but not for those below a group, nor on a web server, which is asked for the size of each.
        cells: Whether to count the inner chunks of shards, too. By default it is done if there are few shards, in a
            store that is near.
        decode: Whether to decode every chunk, to count those that hold the fill value alone.
        progress: What is told how far the counting has come.
        limits: Bounds on what documents may claim.

    Raises:
        NotFoundError: If nothing is there.
        MetadataError: If the documents cannot be read.

    >>> import omnizarr as oz
    >>> a = oz.create_array({}, shape=(100, 100), dtype="f4", chunks=(50, 50))
    >>> found = oz.info(a)
    >>> found.what, found.array.chunk_nbytes, found.remarks[0].id
    ('Zarr v3 array', 10000, 'uninitialised')
    """
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        if isinstance(where, (Array, Group)):
            place = Place(where.store, "r", path or where.path, limits=limits)
        else:
            place = Place(where, "r", path, limits=limits)
        node = open_node(place, "r", format, None)
        found = of_node(place, node.metadata)
        array, group, seen = None, None, tuple[str, ...]()
        if isinstance(node, Array):
            counted = _lists_fast(node) if stored is None else stored
            array, remarks = _array(node, stored=counted, cells=cells, decode=decode, progress=progress)
        else:
            group, remarks, seen = _group(node, stored=bool(stored or cells or decode), progress=progress)
    remarks = [*(Remark("odd-document", str(one.message)) for one in told if _is_ours(one)), *remarks]
    return Info(
        name=node.name,
        uri=node.store.uri,
        store=found.store,
        kind="array" if array else "group",
        format=node.format,
        what=found.what,
        reason=found.reason,
        attributes=node.metadata.attributes,
        conventions=conventions_of(node.metadata.attributes, seen),
        array=array,
        group=group,
        remarks=tuple(dict.fromkeys(remarks)),
    )


def _lists_fast(array: Array) -> bool:
    """Whether the sizes of chunks come with their names; a server has to be asked for each."""
    return listing_view(array.store) is array.store


def _is_ours(told: warnings.WarningMessage) -> bool:
    return issubclass(told.category, OmnizarrWarning)


def _array(
    array: Array, *, stored: bool, cells: bool | None, decode: bool, progress: Progress | None
) -> tuple[ArrayInfo, list[Remark]]:
    number: Census | None = None
    remarks: list[Remark] = []
    try:
        if stored or cells or decode:
            few = _FEW_SHARDS if context_of(array).is_near and cells is None else 0
            number = count(array, cells=None if cells else few, decode=decode, progress=progress)
    except (UnsupportedError, LimitError) as error:  # a codec that is not to be had, say; all else can be told
        remarks.append(Remark("unreadable-data", str(error).partition("\n")[0]))
    meta = array.metadata
    item = meta.dtype.numpy.itemsize
    remarks += of_layout(meta)
    if number is not None:
        remarks += of_chunks(array, number)
    known = ArrayInfo(
        shape=meta.shape,
        dims=meta.dims,
        dtype=meta.dtype.label,
        chunks=meta.chunks,
        shards=meta.shards,
        codecs=" → ".join(codec_text(codec) for codec in array.codecs),
        codecs_json=tuple(codec.to_json() for codec in meta.codecs),
        fill_value=array.fill_value,
        order=meta.order,
        first_key=meta.keys.key((0,) * meta.ndim),
        nbytes=array.nbytes,
        chunk_nbytes=prod(meta.cells.longest) * item,
        shard_nbytes=prod(meta.grid.longest) * item if meta.is_sharded else None,
        nchunks=array.nchunks,
        census=number,
        ratio=_ratio(array, number),
    )
    return known, remarks


def _ratio(array: Array, number: Census | None) -> float | None:
    """Return how much smaller stored chunks are than in memory, as if all were of one size."""
    if number is None or not number.nbytes or not number.chunks or array.metadata.dtype.vlen:
        return None
    present, total = number.present, number.chunks
    if number.cells and number.cells_present is not None:
        present, total = number.cells_present, number.cells
    return array.nbytes * present / total / number.nbytes


def codec_text(codec: Codec) -> str:
    """Return a codec in a few words: its name, and its settings where they are short.

    >>> codec_text(Codec("zstd", {"level": 3, "checksum": False}))
    'zstd(level=3, checksum=false)'
    """
    parts = []
    for name, value in codec.configuration.items():
        if isinstance(value, (dict, list)):
            parts.append(f"{name}=…")
        elif value is not None:
            parts.append(f"{name}={str(value).lower() if isinstance(value, bool) else value}")
    return f"{codec.name}({', '.join(parts)})" if parts else codec.name


def _group(group: Group, *, stored: bool, progress: Progress | None) -> tuple[GroupInfo, list[Remark], tuple[str, ...]]:
    found = scan(context_of(group), group.path, group.metadata)
    chunks = present = nbytes = None
    remarks = list(remarks_of(found))
    if stored:
        chunks, present, nbytes, more = _stored(group, found.arrays, progress or silent)
        remarks += more
    known = group_info(found)._replace(chunks=chunks, present=present, nbytes_stored=nbytes)
    return known, remarks, found.conventions


def _stored(group: Group, total: int, progress: Progress) -> tuple[int, int, int, list[Remark]]:
    """Sum up what is stored of all arrays below a group."""
    chunks = present = nbytes = done = 0
    odd: dict[str, list[str]] = {}
    for path, node in nodes_of(group):
        if not isinstance(node, Array):
            continue
        try:
            number = count(node, cells=0)
        except OmnizarrError as error:
            odd.setdefault("unreadable-nodes", []).append(f"{path} ({str(error).partition(chr(10))[0]})")
            continue
        chunks, present, nbytes = chunks + number.chunks, present + number.present, nbytes + number.nbytes
        for one in of_chunks(node, number):
            odd.setdefault(one.id, []).append(path)
        done += 1
        progress(done, total, nbytes)
    return chunks, present, nbytes, [Remark(name, f"in {few_names(paths)}") for name, paths in odd.items()]
