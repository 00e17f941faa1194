"""What is odd about a node, though not wrong: short words for programs, sentences for people."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import Final

from omnizarr.hierarchy.array import Array
from omnizarr.model.array import ArrayMeta
from omnizarr.model.codec import Codec, canonical, inner_codecs
from omnizarr.tools.census import Census
from omnizarr.tools.info.remark import Remark, of_sizes

__all__ = ["Remark", "of_chunks", "of_layout"]

_OLD: Final = {
    "zarr0": "Zarr v0 is opened by no other living library",
    "zarr1": "Zarr v1 is opened by no other living library",
    "zarr3-draft": "the drafts of Zarr v3 are opened by no other living library",
}
_UNSTABLE: Final = ("numcodecs.", "zarrs.", "https://", "http://")


def of_layout(meta: ArrayMeta) -> Iterator[Remark]:
    """Say what is odd about how an array is laid out, from its metadata alone."""
    each = prod(meta.cells.longest) * meta.dtype.numpy.itemsize
    count, keys = prod(meta.cells.counts(meta.shape)), prod(meta.grid.counts(meta.shape))
    yield from of_sizes(each, count, keys, sharded=meta.is_sharded, vlen=meta.dtype.is_vlen)
    if meta.format in _OLD:
        yield Remark("old-format", _OLD[meta.format])
    names = dict.fromkeys(codec.name for codec in _all_codecs(meta.codecs))
    unstable = [name for name in names if name.startswith(_UNSTABLE)]
    if unstable and meta.format == "zarr3":
        yield Remark(
            "unstable-codec", f"not in the specification, and not read by every library: {', '.join(unstable)}"
        )
    renamed = [f"{name} (now {canonical(name)})" for name in names if name == "endian"]
    if renamed:
        yield Remark("deprecated-name", f"codecs under names that are no longer used: {', '.join(renamed)}")


def of_chunks(array: Array, count: Census) -> Iterator[Remark]:
    """Say what is odd about the keys of an array."""
    if count.chunks and not count.present:
        yield Remark("uninitialised", "no chunk is stored: all elements read as the fill value")
    elif array.metadata.fill.bits is None and (count.missing or count.cells_missing):
        yield Remark("undefined-fill", "chunks are missing, and no fill value says what they hold; they read as zero")
    for kind, what, number, keys in (
        ("outside-keys", "chunks outside the shape", count.noutside, count.outside),
        ("stray-keys", "keys that are neither chunks nor documents", count.nstray, count.stray),
        ("unfinished-writes", "files that are left from writes that were killed", count.ndebris, count.debris),
    ):
        if number:
            yield Remark(kind, f"{what} ({number}): {_few(keys, number)}")
    if count.nfaults:
        first = count.faults[0]
        yield Remark("faults", f"damage in stored chunks ({count.nfaults}), first in {first.key!r}: {first.message}")


def _few(keys: tuple[str, ...], number: int) -> str:
    return ", ".join(keys[:3]) + (", …" if number > 3 else "")


def _all_codecs(codecs: tuple[Codec, ...]) -> Iterator[Codec]:
    for codec in codecs:
        yield codec
        if codec.name == "sharding_indexed":
            yield from _all_codecs(inner_codecs(codec))
            yield from inner_codecs(codec, "index_codecs")
