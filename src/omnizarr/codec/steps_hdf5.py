"""Codecs of HDF5's filters: by the names of imagecodecs where it has the same bytes, by names of our own elsewhere.

Our own carry the parameters that the filter keeps in the file, as a list.
https://support.hdfgroup.org/documentation/hdf5/latest/_f_i_l_t_e_r.html
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from omnizarr.codec.lowered import Lower, Lowered
from omnizarr.codec.options import Options
from omnizarr.codec.stage import Stage
from omnizarr.model.jsonvalue import JSON

_MOST: Final = (1 << 31) - 1
_WORD: Final = (1 << 32) - 1
_LEVEL: Final = 3
_HIGHEST: Final = 22
_COMPRESSORS: Final = {0: "none", 2: "lz4", 3: "zstd"}


def _lzf(options: Options, stage: Stage) -> Lowered | None:
    if options.boolean("header", default=True):
        return None  # chunks with the header of the program `lzf` are left to imagecodecs
    return Lowered({"header": False}, ("lzf", {}), stage.to_bytes(None, typed=False))


def _lz4h5(options: Options, stage: Stage) -> Lowered:
    config: dict[str, JSON] = {}
    for name in ("level", "blocksize"):
        value = options.raw(name)
        if value is not None:
            config[name] = options.integer(name, 0, 0, _MOST)
    step = {"block": config.get("blocksize", 0)}
    return Lowered(config, ("lz4h5", step), stage.to_bytes(None, typed=False))


def _bitshuffle(options: Options, stage: Stage) -> Lowered:
    size = options.integer("itemsize", 1, 1, _MOST)
    block = options.integer("blocksize", 0, 0, _MOST)
    step = {"elementsize": size, "block": block, "compressor": "none"}
    config: dict[str, JSON] = {"itemsize": size, "blocksize": block}
    return Lowered(config, ("bitshuffle", step), stage.to_bytes(stage.size, typed=False))


def _words(options: Options, least: int) -> tuple[int, ...]:
    words = options.integers("parameters")
    if len(words) < least or any(word > _WORD for word in words):
        raise options.wrong("parameters", list(words), f"{least} or more numbers of 32 bits")
    return words


def _hdf5_bitshuffle(options: Options, stage: Stage) -> Lowered:
    words = _words(options, 3)
    # Two versions, the size of an element, the elements of a block, the compressor and its level; zeros are left out.
    size, block, code, level = (*words, 0, 0, 0)[2:6]
    if code not in _COMPRESSORS or not size:
        raise options.wrong("parameters", list(words), "those of bitshuffle, with LZ4, Zstandard or nothing behind it")
    step = {
        "elementsize": size,
        "block": block,
        "compressor": _COMPRESSORS[code],
        "level": level if 1 <= level <= _HIGHEST else _LEVEL,
    }
    return Lowered({"parameters": list(words)}, ("bitshuffle", step), stage.to_bytes(None, typed=False))


def _shuffle(options: Options, stage: Stage) -> Lowered:
    size = options.integer("elementsize", 4, 1, _MOST)
    config: dict[str, JSON] = {"elementsize": size}
    return Lowered(config, ("shuffle_rest", dict(config)), stage.to_bytes(stage.size, typed=False))


def _with_words(step: str, least: int) -> Lower:
    def lower(options: Options, stage: Stage) -> Lowered:
        words = _words(options, least)
        return Lowered({"parameters": list(words)}, (step, {"parameters": words}), stage.to_bytes(None, typed=False))

    return lower


def _nbit(options: Options, stage: Stage) -> Lowered:
    words = _words(options, 5)
    # Only numbers that no codec has changed can be brought to whole bytes.
    numbers = whole_numbers(stage.dtype) if stage.typed and not stage.vlen else None
    step = {"parameters": words, "numbers": numbers}
    return Lowered({"parameters": list(words)}, ("nbit", step), stage.to_bytes(None, typed=False))


def whole_numbers(dtype: np.dtype[Any], offset: int = 0) -> list[tuple[int, bool]]:
    """List the whole numbers of an element, of arrays the first: the offset of each, and whether it has a sign.

    >>> whole_numbers(np.dtype([("a", "<i2"), ("b", "f4"), ("c", "u1", (3,))]))
    [(0, True), (6, False)]
    """
    if dtype.subdtype is not None:
        return whole_numbers(dtype.subdtype[0], offset)
    if dtype.fields is not None:
        fields = sorted((field[1], field[0]) for field in dtype.fields.values())
        return [number for start, inner in fields for number in whole_numbers(inner, offset + start)]
    return [(offset, dtype.kind == "i")] if dtype.kind in "iu" else []


CODECS: Final[dict[str, Lower]] = {
    "numcodecs.imagecodecs_lzf": _lzf,
    "numcodecs.imagecodecs_lz4h5": _lz4h5,
    "numcodecs.imagecodecs_bitshuffle": _bitshuffle,
    "omnizarr.hdf5_bitshuffle": _hdf5_bitshuffle,
    "omnizarr.hdf5_shuffle": _shuffle,
    "omnizarr.hdf5_scaleoffset": _with_words("scaleoffset", 10),
    "omnizarr.hdf5_nbit": _nbit,
    "omnizarr.hdf5_zfp": _with_words("hdf5_zfp", 4),
}
