"""The codecs of TIFF and of compressed FITS images, under the names that imagecodecs gives them in reference sets.

https://github.com/cgohlke/imagecodecs has them as codecs of numcodecs; tifffile, kerchunk and VirtualiZarr write their
names. Compression of images proper (JPEG and its like) is left to imagecodecs itself.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from omnizarr.codec.lowered import Lower, Lowered, Step
from omnizarr.codec.options import Options
from omnizarr.codec.stage import Stage, byte_order
from omnizarr.errors import MetadataError
from omnizarr.model.jsonvalue import JSON

PREFIX: Final = "numcodecs.imagecodecs_"
_MOST: Final = (1 << 31) - 1


def _plain(step: Step, *known: str) -> Lower:
    """Make the rule for a codec of bytes whose settings do not matter to a reader."""

    def lowered(options: Options, stage: Stage) -> Lowered:
        config: dict[str, JSON] = {name: options.raw(name) for name in known if name in options}
        return Lowered(config, step, stage.to_bytes(None, typed=False))

    return lowered


def _delta(options: Options, stage: Stage) -> Lowered:
    name = PREFIX + "delta"
    config, step = _neighbours(name, options, stage)
    if stage.dtype.kind not in "iuf" or stage.dtype.itemsize > 8:
        raise MetadataError(f"the codec does not take the type {stage.label}", codec=name)
    return Lowered(config, ("tiff_delta", step), stage)


def _floats(options: Options, stage: Stage) -> Lowered:
    name = PREFIX + "floatpred"
    config, step = _neighbours(name, options, stage)
    if stage.dtype.kind != "f" or stage.dtype.itemsize > 8:
        raise MetadataError(f"the codec does not take the type {stage.label}", codec=name)
    return Lowered(config, ("tiff_floats", step), stage.to_bytes(stage.size, typed=False))


def _neighbours(name: str, options: Options, stage: Stage) -> tuple[dict[str, JSON], dict[str, object]]:
    """Read the settings that both predictors have."""
    ndim = len(stage.shape)
    axis = options.integer("axis", -1, -max(ndim, 1), max(ndim - 1, 0))
    distance = options.integer("dist", 1, 1, 4)
    config: dict[str, JSON] = {"axis": axis, "dist": distance}
    if options.raw("shape") is not None:
        shape = options.integers("shape")
        if shape != stage.shape:
            raise options.wrong("shape", list(shape), f"{list(stage.shape)}, the shape of the chunks")
        config["shape"] = list(shape)
    dtype = _made_for(name, options, stage)
    config["dtype"] = dtype.str
    from_last = ndim - 1 - axis if axis >= 0 else -1 - axis
    return config, {**_numbers(stage), "from_last": max(from_last, 0), "distance": distance}


def _numbers(stage: Stage) -> dict[str, object]:
    return {"size": stage.dtype.itemsize, "big": stage.dtype.itemsize > 1 and byte_order(stage.dtype) == "big"}


def _made_for(name: str, options: Options, stage: Stage) -> np.dtype[np.generic]:
    dtype = options.dtype("dtype", stage.dtype)
    if stage.vlen or dtype.itemsize != stage.dtype.itemsize:
        raise MetadataError(f"the codec is for {dtype}, and not for {stage.label}", codec=name)
    return dtype


def _bits(options: Options, stage: Stage) -> Lowered:
    name = PREFIX + "packints"
    dtype = _made_for(name, options, stage)
    if stage.dtype.kind not in "ub" or stage.dtype.itemsize > 8:
        raise MetadataError(f"the codec does not take the type {stage.label}", codec=name)
    bits = options.integer("bitspersample", 8, 1, 8 * stage.dtype.itemsize)
    run = options.integer("runlen", 0, 0, _MOST)
    if options.raw("bitorder") not in (None, ">"):
        raise options.wrong("bitorder", options.raw("bitorder"), "null, or '>' for the highest bit first")
    count = (stage.size or 0) // stage.dtype.itemsize
    rows = -(-count // run) if run else 1
    config: dict[str, JSON] = {"dtype": dtype.str, "bitspersample": bits, "runlen": run}
    after = stage.to_bytes(rows * (((run or count) * bits + 7) // 8), typed=False)
    return Lowered(config, ("tiff_bits", {**_numbers(stage), "bits": bits, "run": run}), after)


def _rice(options: Options, stage: Stage) -> Lowered:
    name = PREFIX + "rcomp"
    dtype = _made_for(name, options, stage)
    if not stage.typed or stage.dtype.kind not in "iu" or stage.dtype.itemsize not in (1, 2, 4):
        raise MetadataError(f"the codec does not take the type {stage.label}", codec=name)
    block = 32 if options.raw("nblock") is None else options.integer("nblock", 32, 1, 4096)
    config: dict[str, JSON] = {"dtype": dtype.str, "nblock": block}
    if "shape" in options:
        config["shape"] = list(options.integers("shape"))
    return Lowered(config, ("rice", {**_numbers(stage), "block": block}), stage.to_bytes(None, typed=False))


CODECS: Final[dict[str, Lower]] = {
    PREFIX + "lzw": _plain(("tiff_lzw", {})),
    PREFIX + "packbits": _plain(("tiff_packbits", {}), "axis"),
    PREFIX + "bitorder": _plain(("bit_order", {})),
    PREFIX + "zlib": _plain(("zlib", {"level": 6}), "level"),
    PREFIX + "zstd": _plain(("zstd", {"level": 3, "checksum": False}), "level"),
    PREFIX + "delta": _delta,
    PREFIX + "floatpred": _floats,
    PREFIX + "packints": _bits,
    PREFIX + "rcomp": _rice,
}
