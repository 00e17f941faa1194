"""The szip filter of HDF5, as netcdf-c writes it into Zarr v2: for reading only."""

from __future__ import annotations

from math import prod
from typing import Final

from omnizarr.codec.lowered import Lower, Lowered
from omnizarr.codec.options import Options
from omnizarr.codec.stage import Stage
from omnizarr.errors import UnsupportedError
from omnizarr.model.jsonvalue import JSON

_MSB: Final = 16
_MOST_BLOCKS: Final = 128
_MOST_PIXELS: Final = 4096


def _szip(options: Options, stage: Stage) -> Lowered:
    mask = options.integer("mask", 32, 0, 255)
    block = options.integer("pixels-per-block", 8, 2, 32)
    length = options.integer("pixels-per-scanline", 0, 0, (1 << 63) - 1)
    pixels = prod(stage.shape)
    bits = 8 * stage.itemsize
    if not stage.typed or bits not in (8, 16, 32, 64):
        raise UnsupportedError("the codec is for numbers that no other codec has changed", codec="szip")
    line = line_length(length or (stage.shape[-1] if stage.shape else 1), block, pixels)
    config: dict[str, JSON] = {"mask": mask, "pixels-per-block": block}
    if length:
        config["pixels-per-scanline"] = length
    big = stage.dtype.byteorder == ">"
    step = {"mask": mask | _MSB if big else mask, "block": block, "line": line, "bits": bits}
    return Lowered(config, ("szip", step), stage.to_bytes(None, typed=False))


def line_length(length: int, block: int, pixels: int) -> int:
    """Return how many pixels make a line, as HDF5 has it.

    Args:
        length: The length of the last dimension: of the chunk for HDF5, of the variable for netcdf-c.
        block: Pixels in a block.
        pixels: Pixels in a chunk.

    >>> line_length(1000, 8, 1000), line_length(4000, 8, 1000), line_length(4, 8, 100), line_length(5000, 8, 5000)
    (1000, 1024, 100, 1024)
    """
    most = block * _MOST_BLOCKS
    if length < block:
        return min(most, pixels)
    return min(most, length) if length <= _MOST_PIXELS else most


def _of_imagecodecs(options: Options, stage: Stage) -> Lowered:
    """Lower szip as imagecodecs names it: all that HDF5 keeps in the file, so that the array does not matter."""
    if not options.boolean("header", default=True):
        raise UnsupportedError("the codec is for chunks that begin with their size", codec="imagecodecs_szip")
    step = {
        "mask": options.integer("options_mask", 32, 0, 255),
        "block": options.integer("pixels_per_block", 8, 2, 64),
        "line": options.integer("pixels_per_scanline", 0, 1, 64 * _MOST_BLOCKS),
        "bits": options.integer("bits_per_pixel", 0, 1, 64),
    }
    names = ("options_mask", "pixels_per_block", "pixels_per_scanline", "bits_per_pixel")
    config: dict[str, JSON] = dict(zip(names, step.values(), strict=True))
    return Lowered(config, ("szip", step), stage.to_bytes(None, typed=False))


CODECS: Final[dict[str, Lower]] = {"numcodecs.szip": _szip, "numcodecs.imagecodecs_szip": _of_imagecodecs}
