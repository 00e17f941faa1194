"""From the options of `createVariable` to how a variable is stored."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any, Final, TypedDict

import numpy as np

from omnizarr.errors import warn
from omnizarr.nc.dataset.errors import BadOptionError, BadTypeError, DefinitionError
from omnizarr.nc.dataset.given import as_int
from omnizarr.nc.dataset.info import BLOSC, QUANTIZED, SZIP
from omnizarr.nc.tree import Dim, Endian, Filter, Storage

_COMPRESSIONS: Final = ("zlib", "szip", "zstd", "bzip2", *(name for name in BLOSC if name != "blosc_snappy"))


class Options(TypedDict, total=False):
    """The options of `createVariable` that say how values are stored."""

    compression: str | None
    complevel: int
    shuffle: bool
    szip_coding: str
    szip_pixels_per_block: int
    blosc_shuffle: int
    fletcher32: bool
    contiguous: bool
    chunksizes: Sequence[int] | None
    endian: Endian
    significant_digits: int | None
    quantize_mode: str


def storage_of(dims: tuple[Dim, ...], dtype: object, options: Options, where: str) -> Storage:
    """Return how a variable is to be stored.

    Raises:
        BadOptionError: If an option is out of its range or contradicts another.
        DefinitionError: If the dimensions do not allow what is asked for.
    """
    storage = Storage()
    _set_endian(storage, dtype, options, where)
    _set_filters(storage, bool(dims), options, where)
    storage.fletcher32 = bool(dims) and options.get("fletcher32", False)
    chunks = options.get("chunksizes")
    if dims and options.get("contiguous"):
        if chunks is not None:
            raise BadOptionError("cannot specify chunksizes for a contiguous dataset", path=where)
        if any(dim.unlimited for dim in dims) or storage.deflate or storage.filters or storage.fletcher32:
            raise DefinitionError("contiguous needs dimensions that cannot grow, and no filters", path=where)
        storage.kind = "contiguous"
    elif dims and chunks is not None:
        if isinstance(chunks, (str, bytes)) or not hasattr(chunks, "__len__"):
            hint = f"Give a list of {len(dims)}."
            raise BadTypeError(f"chunksizes={chunks!r} is no list of lengths", path=where, hint=hint)
        chunks = [as_int(n, "a length in chunksizes", where) for n in chunks]
        if len(chunks) != len(dims):
            raise BadOptionError("chunksizes must be a sequence with the same length as dimensions", path=where)
        if any(not dim.unlimited and n > dim.size for dim, n in zip(dims, chunks, strict=True)):
            raise BadOptionError("chunksize cannot exceed dimension size", path=where)
        if any(n < 1 for n in chunks):
            raise BadOptionError("chunksizes must be positive", path=where)
        storage.chunks = tuple(chunks)
    digits = options.get("significant_digits")
    if digits is not None:
        storage.quantize = _quantize(
            as_int(digits, "significant_digits", where), options.get("quantize_mode", "BitGroom"), dtype, where
        )
    return storage


def _set_endian(storage: Storage, dtype: object, options: Options, where: str) -> None:
    endian = options.get("endian", "native")
    if endian not in ("little", "big", "native"):
        raise BadOptionError(f"'endian' must be 'little', 'big' or 'native', not {endian!r}", path=where)
    if isinstance(dtype, np.dtype) and dtype.byteorder in "<>=":
        own = {"<": "little", ">": "big", "=": "native"}[dtype.byteorder]
        if own != endian and not (own == "native" and endian == sys.byteorder):
            warn("endian-ness of dtype and endian kwarg do not match, using endian kwarg")
    storage.endian = endian


def _set_filters(storage: Storage, chunked: bool, options: Options, where: str) -> None:
    compression = options.get("compression")
    level = as_int(options.get("complevel", 4), "complevel", where)
    if compression and compression not in _COMPRESSIONS:
        raise BadOptionError(
            f"Unsupported value for compression kwarg: {compression!r}", path=where, hint=f"One of: {_COMPRESSIONS}."
        )
    if not compression or not level or not chunked:
        return
    if compression == "zlib":
        if not 0 < level <= 9:
            raise DefinitionError(f"complevel must be between 0 and 9, not {level}", path=where)
        storage.deflate, storage.shuffle = level, options.get("shuffle", True)
    elif compression == "szip":
        coding = options.get("szip_coding", "nn")
        if coding not in SZIP:
            raise BadOptionError("unknown szip coding ('ec' or 'nn' supported)", path=where)
        storage.filters = (
            Filter(4, (SZIP[coding], as_int(options.get("szip_pixels_per_block", 8), "szip_pixels_per_block", where))),
        )
    elif compression in BLOSC:
        shuffle = as_int(options.get("blosc_shuffle", 1), "blosc_shuffle", where)
        numbers: tuple[int, ...] = (0, 0, 0, 0, level, shuffle, BLOSC[compression])
        storage.filters = (Filter(32001, numbers),)
    else:
        storage.filters = (Filter({"zstd": 32015, "bzip2": 307}[compression], (level,)),)


def _quantize(digits: int, mode: str, dtype: Any, where: str) -> tuple[str, int]:  # noqa: ANN401 - a NumPy type or not
    if mode not in QUANTIZED:
        raise BadOptionError(
            f"'quantize_mode' keyword argument must be 'BitGroom','GranularBitRound' or 'BitRound', got {mode!r}",
            path=where,
        )
    if not isinstance(dtype, np.dtype) or dtype.kind != "f":
        raise DefinitionError("only variables of type float and double can be quantized", path=where)
    most = (23 if dtype.itemsize == 4 else 52) if mode == "BitRound" else (7 if dtype.itemsize == 4 else 15)
    if not 0 < digits <= most:
        raise DefinitionError(f"significant_digits must be between 1 and {most}, not {digits}", path=where)
    return QUANTIZED[mode], digits
