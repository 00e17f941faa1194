"""FITS files as references: images, compressed images, and tables.

Values are as they are stored, but for those that are unsigned by convention; scales go into attributes, as CF has them.
"""

from __future__ import annotations

import math
from typing import Any, BinaryIO, Final

import numpy as np

from omnizarr.errors import CorruptError, OmnizarrError, UnsupportedError, warn
from omnizarr.format.fill_attribute import fill_attribute
from omnizarr.hierarchy.create import ZERO
from omnizarr.model.grid import RectilinearGrid
from omnizarr.refs.scanners.building import Builder
from omnizarr.refs.scanners.fits_header import Unit, units
from omnizarr.refs.scanners.fits_heap import Heap, refusal
from omnizarr.refs.scanners.fits_table import Column, binary_type, columns, notes, text_type
from omnizarr.refs.scanners.fits_tiles import tiles
from omnizarr.refs.scanners.picking import Picked
from omnizarr.refs.scanners.source import DEFAULTS, Options, SourceFile
from omnizarr.refs.scanners.splitting import divided
from omnizarr.refset.model import Chunks, References

_TYPES: Final = {8: "|u1", 16: ">i2", 32: ">i4", 64: ">i8", -32: ">f4", -64: ">f8"}
_UNSIGNED: Final = {(8, -128): "|i1", (16, 1 << 15): ">u2", (32, 1 << 31): ">u4", (64, 1 << 63): ">u8"}
_TABLES: Final = ("BINTABLE", "A3DTABLE")


def scan(source: SourceFile, options: Options = DEFAULTS) -> References:
    """Find the images and tables of a FITS file.

    Raises:
        CorruptError: If the file is damaged.
        UnsupportedError: If a unit cannot be read through references.
    """
    with source.open() as file:
        return _Scan(source, options, file).run()


class _Scan:
    def __init__(self, source: SourceFile, options: Options, file: BinaryIO) -> None:
        self._source, self._options, self._file = source, options, file
        self._arrays: dict[str, tuple[Chunks | None, dict[str, Any]]] = {}
        self._sizes: dict[str, int] = {}

    def run(self) -> References:
        found: dict[str, Unit] = {}
        for unit in units(self._file, self._source.url):
            found[_name(unit, found)] = unit
        full = {name: unit for name, unit in found.items() if unit.size or unit.number == 0}
        picked = Picked(self._options, list(full))
        for name, unit in full.items():
            if picked(name) and (unit.size or _is_compressed(unit)):
                self._add(name, unit)
        uneven = any(isinstance(options["chunks"], RectilinearGrid) for _, options in self._arrays.values())
        made = Builder(self._source, "zarr3" if uneven else "zarr2", self._options.inline)
        made.group("", _attributes(found[next(iter(found))]))
        for name, (rows, options) in self._arrays.items():
            fill = options["fill_value"]
            if fill is not None:
                options["attrs"] |= fill_attribute(fill, options["dtype"], made.dialect)
            if uneven:
                options["fill_value"] = ZERO if fill is None else fill
                options["codecs"] = _native(options["codecs"])
            made.array(name, rows, **options)
        return made.references

    def _add(self, name: str, unit: Unit) -> None:
        try:
            if unit.kind in _TABLES and _is_compressed(unit):
                self._arrays[name] = self._compressed(unit)
            elif unit.kind in ("IMAGE", "IUEIMAGE"):
                self._arrays[name] = self._image(unit)
            elif unit.kind in (*_TABLES, "TABLE"):
                self._arrays[name] = self._table(name, unit)
            else:
                raise UnsupportedError(f"unit {unit.number} is of the unknown kind {unit.kind!r}")
        except OmnizarrError as error:
            if isinstance(error, CorruptError) or self._options.on_error == "raise":
                raise type(error)(f"{self._source.url}: {error.message}", path=name, hint=error.hint) from None
            warn(f"left out: {self._source.url}: {name}: {error.message}")

    def _image(self, unit: Unit) -> tuple[Chunks, dict[str, Any]]:
        shape = unit.shape()
        dtype = np.dtype(_TYPES[unit.number_of("BITPIX")])
        chunk = divided(shape, dtype.itemsize)
        counts = tuple(n // c for n, c in zip(shape, chunk, strict=True))
        length = math.prod(chunk) * dtype.itemsize
        starts = unit.start + length * np.arange(math.prod(counts), dtype=np.uint64)
        options = self._values(unit, shape, unit.number_of("BITPIX"), [])
        return Chunks.ranges(counts, 0, starts, length), {**options, "chunks": chunk}

    def _compressed(self, unit: Unit) -> tuple[Chunks, dict[str, Any]]:
        bits = unit.number_of("ZBITPIX")
        if bits not in _TYPES:
            raise CorruptError(f"unit {unit.number} has values of {bits} bits")
        found = tiles(unit, self._file, self._file.seek(0, 2), np.dtype(_TYPES[bits]))
        return found.rows, {**self._values(unit, found.shape, bits, found.codecs), "chunks": found.chunks}

    def _values(self, unit: Unit, shape: tuple[int, ...], bits: int, codecs: list[dict[str, Any]]) -> dict[str, Any]:
        """Return what the array of an image is, but for its chunks."""
        stored, attrs = np.dtype(_TYPES[bits]), _attributes(unit)
        scale, zero = unit.real_of("BSCALE", 1), unit.real_of("BZERO", 0)
        blank = unit.cards.get("BLANK", unit.cards.get("ZBLANK"))
        fill = blank if bits > 0 and isinstance(blank, int) and _fits(blank, stored) else None
        dtype = np.dtype(_UNSIGNED.get((bits, int(zero)), stored.str)) if scale == 1 and zero == int(zero) else stored
        if dtype != stored:
            if dtype.itemsize == 8:
                raise UnsupportedError(f"unit {unit.number} has unsigned values of 64 bits, which is not supported")
            shift = {
                "id": "fixedscaleoffset",
                "offset": int(zero),
                "scale": 1,
                "dtype": dtype.str,
                "astype": stored.str,
            }
            codecs = [shift, *codecs]
            fill = None if fill is None else fill + int(zero)
        elif scale != 1 or zero != 0:
            attrs |= {"scale_factor": scale, "add_offset": zero}
        names = [("x", "y", "z")[i] if i < 3 else f"axis{i + 1}" for i in reversed(range(len(shape)))]
        dims = [self._dim(name, size, unit) for name, size in zip(names, shape, strict=True)]
        return {
            "shape": shape,
            "dtype": dtype,
            "codecs": codecs or None,
            "fill_value": fill,
            "dims": dims,
            "attrs": attrs,
        }

    def _table(self, name: str, unit: Unit) -> tuple[Chunks, dict[str, Any]]:
        found = [] if unit.kind == "TABLE" else columns(unit)
        dtype = text_type(unit) if unit.kind == "TABLE" else binary_type(unit, found)
        width, many = unit.shape()[-1], unit.shape()[0]
        if dtype.itemsize != width or not width or not many:
            raise CorruptError(f"unit {unit.number} has rows of {width} bytes, but columns of {dtype.itemsize}")
        rows = divided((many,), width)[0]
        starts = unit.start + rows * width * np.arange(many // rows, dtype=np.uint64)
        # As others call it; but a table shares it with nothing that happens to be as long.
        dims = [self._dim("x" if not self._sizes.get("x") else f"x_{name}", many, unit)]
        self._add_heap(name, unit, [one for one in found if one.varies], dims)
        options = {"shape": (many,), "chunks": (rows,), "dtype": dtype, "codecs": None, "fill_value": None}
        return Chunks.ranges((many // rows,), 0, starts, rows * width), {
            **options,
            "dims": dims,
            "attrs": _attributes(unit),
        }

    def _add_heap(self, name: str, unit: Unit, varying: list[Column], dims: list[str]) -> None:
        """Add an array of arrays for each column whose arrays differ in length."""
        against = refusal(unit, varying) if varying else None
        if against is not None and self._options.on_error == "raise":
            raise against
        if not varying or against is not None:
            return
        heap, told, many = Heap(unit, self._file), notes(unit), unit.shape()[0]
        for column in varying:
            data, options = heap.values(column)
            attrs = {**told.get(column.name, {})}
            rows = Chunks.of_bytes((1,), {0: data})
            own = {"shape": (many,), "chunks": (many,), "dims": list(dims), "attrs": attrs}
            self._arrays[f"{name}_{column.name}"] = rows, {**options, **own}

    def _dim(self, name: str, size: int, unit: Unit) -> str:
        if self._sizes.setdefault(name, size) == size:
            return name
        other = f"{name}_{unit.number}"
        self._sizes[other] = size
        return other


def _native(codecs: list[dict[str, Any]] | None) -> list[dict[str, Any]] | None:
    """Return codecs for values in the byte order of memory, which is what Zarr v3 hands to the first of them."""
    if not codecs or codecs[0]["id"] != "fixedscaleoffset":
        return codecs
    return [{**codecs[0], "dtype": np.dtype(codecs[0]["dtype"]).newbyteorder("<").str}, *codecs[1:]]


def _is_compressed(unit: Unit) -> bool:
    return unit.cards.get("ZIMAGE") is True


def _fits(value: int, dtype: np.dtype[Any]) -> bool:
    return int(np.iinfo(dtype).min) <= value <= int(np.iinfo(dtype).max)


def _name(unit: Unit, taken: dict[str, Unit]) -> str:
    """Return the name of a unit's array: what the header calls it, made unique."""
    given = str(unit.cards.get("EXTNAME") or "").strip().replace("/", "_")
    name = given or ("PRIMARY" if unit.number == 0 else str(unit.number))
    if name in taken or name.startswith("."):
        name = f"{name}_{unit.number}".lstrip(".")
    return name


def _attributes(unit: Unit) -> dict[str, Any]:
    """Return the cards of a header as attributes, comments as one text."""
    made = {
        name: value for name, value in unit.cards.items() if not (isinstance(value, float) and not math.isfinite(value))
    }
    return {**made, **{name: "\n".join(lines) for name, lines in unit.notes.items()}}
