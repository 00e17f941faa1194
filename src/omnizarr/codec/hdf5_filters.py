"""The codec of each filter of HDF5, as a Zarr v2 document names it.

The numbers are those of the registry: https://github.com/HDFGroup/hdf5_plugins/blob/master/docs/RegisteredFilterPlugins.md
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any, Final, TypeAlias

import numpy as np

from omnizarr.errors import UnsupportedError
from omnizarr.model.codec import BLOSC_NAMES
from omnizarr.model.jsonvalue import JSON

Document: TypeAlias = dict[str, JSON]
Words: TypeAlias = tuple[int, ...]


def _word(words: Words, at: int, default: int) -> int:
    return words[at] if len(words) > at else default


def _shuffle(words: Words, dtype: np.dtype[Any]) -> Document | None:
    size = _word(words, 0, dtype.itemsize)
    return {"id": "shuffle", "elementsize": size} if size > 1 else None


def _szip(words: Words, dtype: np.dtype[Any]) -> Document:
    return {
        "id": "imagecodecs_szip",
        "options_mask": words[0],
        "pixels_per_block": words[1],
        "bits_per_pixel": _word(words, 2, 8 * dtype.itemsize),
        "pixels_per_scanline": _word(words, 3, 0),
    }


def _scale_offset(words: Words, dtype: np.dtype[Any]) -> Document | None:
    del dtype
    # A whole number that keeps all its bits is left as it is.
    if words[3] == 0 and words[1] == 8 * words[4]:
        return None
    return {"id": "omnizarr.hdf5_scaleoffset", "parameters": list(words)}


def _nbit(words: Words, dtype: np.dtype[Any]) -> Document | None:
    del dtype
    return None if words[1] else {"id": "omnizarr.hdf5_nbit", "parameters": list(words)}


def _blosc(words: Words, dtype: np.dtype[Any]) -> Document:
    del dtype
    code = _word(words, 6, 0)
    name = BLOSC_NAMES[code] if code < len(BLOSC_NAMES) else "blosclz"
    level, shuffle = min(_word(words, 4, 5), 9), _word(words, 5, 1)
    return {"id": "blosc", "cname": name, "clevel": level, "shuffle": min(shuffle, 2), "blocksize": 0}


def _bitshuffle(words: Words, dtype: np.dtype[Any]) -> Document:
    if _word(words, 4, 0):
        return {"id": "omnizarr.hdf5_bitshuffle", "parameters": list(words)}
    size = _word(words, 2, dtype.itemsize)
    return {"id": "imagecodecs_bitshuffle", "itemsize": size, "blocksize": _word(words, 3, 0)}


def _level(name: str, default: int, most: int) -> Callable[[Words, np.dtype[Any]], Document]:
    return lambda words, _: {"id": name, "level": min(_word(words, 0, default), most)}


def _nothing(words: Words, dtype: np.dtype[Any]) -> None:
    """Rounds when it writes, and has nothing to do when it reads."""
    del words, dtype


_KNOWN: Final[dict[int, tuple[str, int, Callable[[Words, np.dtype[Any]], Document | None]]]] = {
    1: ("deflate", 0, _level("zlib", 6, 9)),
    2: ("shuffle", 0, _shuffle),
    3: ("fletcher32", 0, lambda _, __: {"id": "fletcher32"}),
    4: ("szip", 4, _szip),
    5: ("nbit", 5, _nbit),
    6: ("scaleoffset", 20, _scale_offset),
    307: ("bzip2", 0, _level("bz2", 9, 9)),
    32000: ("lzf", 0, lambda _, __: {"id": "imagecodecs_lzf", "header": False}),
    32001: ("blosc", 0, _blosc),
    32004: ("lz4", 0, lambda _, __: {"id": "imagecodecs_lz4h5"}),
    32008: ("bitshuffle", 0, _bitshuffle),
    32013: ("zfp", 4, lambda words, _: {"id": "omnizarr.hdf5_zfp", "parameters": list(words)}),
    32015: ("zstd", 0, _level("zstd", 3, 22)),
    32022: ("BitGroom", 0, _nothing),
    32023: ("Granular BitRound", 0, _nothing),
}

_NAMES: Final = {
    305: "LZO", 32002: "MAFISC", 32003: "Snappy", 32005: "APAX", 32006: "CBF", 32007: "JPEG XR", 32009: "SPDP",
    32010: "LPC-Rice", 32011: "CCSDS-123", 32012: "JPEG-LS", 32014: "fpzip", 32016: "B³D", 32017: "SZ",
    32018: "FCIDECOMP", 32019: "JPEG", 32020: "VBZ", 32021: "FAPEC", 32024: "SZ3", 32025: "Delta-Rice",
    32026: "blosc2", 32027: "FLAC", 32028: "SPERR", 32029: "TERSE/PROLIX", 32030: "FFMPEG", 32031: "JPEG 2000",
}  # fmt: skip


def codec_of(
    filter_id: int, parameters: Sequence[int], dtype: np.dtype[Any], chunk: tuple[int, ...]
) -> Document | None:
    """Return the codec of a filter, or `None` for one that changes nothing.

    Args:
        filter_id: The filter's number.
        parameters: The numbers that the file keeps for it, of all chunks of the dataset.
        dtype: The type of the dataset's elements.
        chunk: The shape of a chunk.

    Raises:
        UnsupportedError: There is no codec for the filter, or not with these parameters.

    >>> codec_of(1, (4,), np.dtype("f4"), (10, 10))
    {'id': 'zlib', 'level': 4}
    """
    known = _KNOWN.get(filter_id)
    if known is None:
        name = _NAMES.get(filter_id)
        shown = f"the filter {name} (number {filter_id}) of HDF5" if name else f"filter {filter_id} of HDF5"
        hint = "rewrite the dataset with another filter, for example zstd"
        raise UnsupportedError(f"there is no codec for {shown}", codec=name or str(filter_id), hint=hint)
    name, least, make = known
    words = tuple(int(word) & 0xFFFFFFFF for word in parameters)
    if len(words) < least:
        message = f"the filter has {len(words)} parameters in the file where {least} are needed"
        raise UnsupportedError(message, codec=name)
    _check(filter_id, words, dtype, prod(chunk))
    return make(words, dtype)


def codecs_of(
    filters: Sequence[tuple[int, Sequence[int]]], dtype: np.dtype[Any], chunk: tuple[int, ...]
) -> list[Document]:
    """Return the codecs of a whole chain of filters, in the order in which they are applied when writing.

    Raises:
        UnsupportedError: There is no codec for one of them.

    >>> codecs_of([(3, ()), (2, (4,))], np.dtype("f4"), (10,))
    [{'id': 'fletcher32'}, {'id': 'omnizarr.hdf5_shuffle', 'elementsize': 4}]
    """
    found: list[Document] = []
    for filter_id, parameters in filters:
        document = codec_of(filter_id, parameters, dtype, chunk)
        if document is None:
            continue
        if document["id"] == "shuffle" and found:
            # What reaches it may be no whole number of elements, which HDF5 allows and numcodecs does not.
            document["id"] = "omnizarr.hdf5_shuffle"
        found.append(document)
    return found


def _check(filter_id: int, words: Words, dtype: np.dtype[Any], count: int) -> None:
    """Compare what a filter keeps of the dataset with the dataset."""
    if filter_id in (5, 6) and words[2] != count:
        message = f"the filter is set up for chunks of {words[2]} elements, and these have {count}"
        raise UnsupportedError(message, codec=_KNOWN[filter_id][0])
    if filter_id == 5 and not words[1] and words[4] != dtype.itemsize:
        message = f"the filter is set up for elements of {words[4]} bytes, and these have {dtype.itemsize}"
        raise UnsupportedError(message, codec="nbit")
    if filter_id == 6 and words[3] and words[0]:
        raise UnsupportedError("the scaling by powers of two was never defined", codec="scaleoffset")
