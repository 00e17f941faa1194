"""Compressed images of FITS files, which are stored as tables of tiles: each tile is a chunk.

https://fits.gsfc.nasa.gov/fits_standard.html, §10.
"""

from __future__ import annotations

from math import prod
from typing import Any, BinaryIO, NamedTuple

import numpy as np
import numpy.typing as npt

from omnizarr.errors import CorruptError, UnsupportedError
from omnizarr.model.grid import RectilinearGrid
from omnizarr.refs.scanners.fits_header import Unit
from omnizarr.refs.scanners.fits_table import Column, columns
from omnizarr.refset.model import MISSING, Chunks


class Tiles(NamedTuple):
    """A compressed image."""

    shape: tuple[int, ...]
    chunks: tuple[int, ...] | RectilinearGrid
    rows: Chunks
    codecs: list[dict[str, Any]]


def tiles(unit: Unit, file: BinaryIO, size: int, dtype: np.dtype[Any]) -> Tiles:
    """Return the tiles of an image.

    Args:
        unit: The table.
        file: The file.
        size: Its size.
        dtype: The type of values as they are stored.

    Raises:
        CorruptError: If the table contradicts itself.
        UnsupportedError: If the tiles cannot be decoded.
    """
    shape = unit.shape("Z")
    ndim = len(shape)
    tile = tuple(unit.number_of(f"ZTILE{i}", shape[-1] if i == 1 else 1) for i in range(ndim, 0, -1))
    if not ndim or min(tile) <= 0 or min(shape) <= 0:
        raise CorruptError(f"unit {unit.number} has tiles of {tile} in an image of {shape}")
    tile = tuple(min(n, whole) for n, whole in zip(tile, shape, strict=True))
    counts = tuple(-(-whole // n) for whole, n in zip(shape, tile, strict=True))
    width, many = unit.shape()[-1], unit.shape()[0]
    if prod(counts) != many:
        raise CorruptError(f"unit {unit.number} has {many} tiles where {prod(counts)} make up the image")
    file.seek(unit.start)
    table = np.frombuffer(file.read(width * many), np.uint8).reshape(many, width)
    named = {one.name: one for one in columns(unit)}
    lengths, offsets, gzip = _places(unit, named, table)
    there = lengths > 0
    starts = np.where(there, offsets + np.uint64(unit.start + unit.number_of("THEAP", width * many)), np.uint64(0))
    if ((lengths > size) | (starts > size) | (starts + np.minimum(lengths, np.uint64(size)) > size)).any():
        raise CorruptError(f"tiles of unit {unit.number} lie past the end of the file")
    urls = np.where(there, np.uint32(0), np.uint32(MISSING))
    even = all(whole % n == 0 for whole, n in zip(shape, tile, strict=True))
    chunks = tile if even else RectilinearGrid(tuple(_edges(whole, n) for whole, n in zip(shape, tile, strict=True)))
    codecs = _codecs(unit, "GZIP_1" if gzip else "", dtype, tile if even else None)
    return Tiles(shape, chunks, Chunks.ranges(counts, urls, starts, lengths), codecs)


def _edges(whole: int, length: int) -> int | tuple[tuple[int, int], ...]:
    times, left = divmod(whole, length)
    if not left:
        return length
    return ((length, times), (left, 1)) if times else ((left, 1),)


def _places(
    unit: Unit, named: dict[str, Column], table: npt.NDArray[np.uint8]
) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint64], bool]:
    """Return the lengths and offsets of all tiles, and whether they are gzip whatever the header says."""
    filled: dict[str, tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint64]]] = {}
    for name in ("COMPRESSED_DATA", "GZIP_COMPRESSED_DATA", "UNCOMPRESSED_DATA"):
        column = named.get(name)
        if column is None or column.form not in "PQ":
            continue
        width = 2 * column.dtype.itemsize
        part = np.ascontiguousarray(table[:, column.offset : column.offset + width]).view(column.dtype)
        if (part < 0).any():
            raise CorruptError(f"unit {unit.number} has tiles of negative lengths")
        if part[:, 0].any():
            filled[name] = part[:, 0].astype(np.uint64), part[:, 1].astype(np.uint64)
    quantized = [name for name in ("ZSCALE", "ZZERO") if name in named or name in unit.cards]
    if quantized and "COMPRESSED_DATA" in filled:
        raise UnsupportedError(
            f"the image of unit {unit.number} has a scale of its own for each tile ({', '.join(quantized)})",
            hint="Write it with quantize_level=0 (astropy), or uncompressed.",
        )
    if len(filled) > 1 or "UNCOMPRESSED_DATA" in filled:
        raise UnsupportedError(f"the tiles of unit {unit.number} are not all of one encoding: {', '.join(filled)}")
    if not filled:
        raise CorruptError(f"unit {unit.number} has no column COMPRESSED_DATA")
    name, (lengths, offsets) = filled.popitem()
    return lengths, offsets, name.startswith("GZIP")


def _codecs(unit: Unit, name: str, dtype: np.dtype[Any], tile: tuple[int, ...] | None) -> list[dict[str, Any]]:
    name = name or str(unit.cards.get("ZCMPTYPE", "")).strip()
    if name == "NOCOMPRESS":
        return []
    if name == "GZIP_1":
        return [{"id": "gzip", "level": 6}]
    if name == "GZIP_2":
        return [{"id": "shuffle", "elementsize": dtype.itemsize}, {"id": "gzip", "level": 6}]
    settings = {unit.cards[f"ZNAME{i}"]: unit.cards.get(f"ZVAL{i}") for i in range(1, 10) if f"ZNAME{i}" in unit.cards}
    if name in ("RICE_1", "RICE_ONE") and dtype.kind in "iu":
        block, size = settings.get("BLOCKSIZE", 32), settings.get("BYTEPIX", 4)
        if size == dtype.itemsize and isinstance(block, int):
            shape = {} if tile is None else {"shape": list(tile)}
            return [{"id": "imagecodecs_rcomp", **shape, "dtype": dtype.str, "nblock": block}]
    raise UnsupportedError(
        f"the image of unit {unit.number} is compressed by {name or 'an unknown code'} {settings or ''}, which is not "
        "supported",
        hint="Rewrite it with GZIP_1, GZIP_2 or RICE_1: fpack -g2 -q 0 image.fits",
    )
