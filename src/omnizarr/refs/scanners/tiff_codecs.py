"""How the pieces of a TIFF image are decoded: the type of its elements, and a chain of codecs by their ids."""

from __future__ import annotations

import base64
from typing import Any, Final, NamedTuple

import numpy as np

from omnizarr.errors import UnsupportedError
from omnizarr.refs.scanners.tiff_page import Layout

_NAMES: Final = {
    1: "none",
    2: "CCITT RLE",
    3: "CCITT fax 3",
    4: "CCITT fax 4",
    5: "LZW",
    6: "old-style JPEG",
    7: "JPEG",
    8: "deflate",
    32771: "CCITT RLEW",
    32766: "NeXT",
    32773: "PackBits",
    32809: "ThunderScan",
    32946: "deflate",
    34661: "JBIG",
    34676: "SGI LogL",
    34677: "SGI LogL 24",
    34712: "JPEG 2000",
    34887: "LERC",
    34892: "lossy JPEG",
    34925: "LZMA",
    34933: "PNG",
    34934: "JPEG XR",
    50000: "Zstandard",
    50001: "WebP",
    50002: "JPEG XL",
    52546: "JPEG XL",
    33003: "JPEG 2000",
    33004: "JPEG 2000",
    33005: "JPEG 2000",
    22610: "JPEG XR",
}
_STREAMS: Final[dict[int, dict[str, Any] | None]] = {
    1: None,
    5: {"id": "imagecodecs_lzw"},
    8: {"id": "zlib", "level": 6},
    32946: {"id": "zlib", "level": 6},
    32773: {"id": "imagecodecs_packbits"},
    34925: {"id": "lzma", "format": 1, "check": -1, "preset": None, "filters": None},
    50000: {"id": "zstd", "level": 9},
}
_IMAGES: Final = {
    7: "jpeg",
    34892: "jpeg",
    34712: "jpeg2k",
    33003: "jpeg2k",
    33004: "jpeg2k",
    33005: "jpeg2k",
    34887: "lerc",
    34933: "png",
    34934: "jpegxr",
    22610: "jpegxr",
    50001: "webp",
    50002: "jpegxl",
    52546: "jpegxl",
}
_KINDS: Final = {1: "u", 2: "i", 3: "f", 4: "u", 6: "c"}
_YCBCR: Final = 6


class Encoding(NamedTuple):
    """How pieces become elements."""

    dtype: np.dtype[np.generic]
    codecs: list[dict[str, Any]]
    rewritable: bool
    """Whether elements become pieces again without a loss."""


def compression_name(number: int) -> str:
    """Return what a compression is called, and its number."""
    return f"{_NAMES.get(number, 'unknown')} ({number})"


def encoding(layout: Layout, order: str, chunk: tuple[int, ...] | None, where: str) -> Encoding:
    """Return how the pieces of an image are decoded.

    Args:
        layout: The image.
        order: The byte order of the file, "<" or ">".
        chunk: The shape of chunks, where they have but one.
        where: Words for the image, for messages.

    Raises:
        UnsupportedError: If they cannot be.
    """
    image = _IMAGES.get(layout.compression)
    if image is not None:
        return Encoding(_dtype(layout, "<", where), [_image_codec(layout, image, where)], rewritable=False)
    if layout.compression not in _STREAMS:
        raise UnsupportedError(
            f"{where} is compressed by {compression_name(layout.compression)}, which is not supported",
            hint="Rewrite it, for example: gdal_translate -co COMPRESS=ZSTD in.tif out.tif",
        )
    if layout.photometric == _YCBCR and layout.subsampling not in ((), (1, 1)):
        raise UnsupportedError(f"{where} has colours of fewer pixels than brightness, which no array has")
    dtype = _dtype(layout, order, where)
    codecs: list[dict[str, Any]] = []
    if layout.bits not in (8, 16, 32, 64, 128):
        run = layout.columns * layout.together
        codecs.append({"id": "imagecodecs_packints", "dtype": dtype.str, "bitspersample": layout.bits, "runlen": run})
    if layout.predictor != 1:
        codecs.append(_predictor(layout, dtype, chunk, where))
    stream = _STREAMS[layout.compression]
    if stream is not None:
        codecs.append(dict(stream))
    if layout.fill_order == 2:
        codecs.append({"id": "imagecodecs_bitorder"})
    return Encoding(dtype, codecs, rewritable=True)


def _dtype(layout: Layout, order: str, where: str) -> np.dtype[np.generic]:
    kind = _KINDS.get(layout.format, "")
    sizes = {"u": (8, 16, 32, 64), "i": (8, 16, 32, 64), "f": (16, 32, 64), "c": (64, 128)}.get(kind, ())
    bits = layout.bits
    if kind == "u" and bits not in sizes and bits < 32 and layout.compression in _STREAMS:
        bits = 8 if bits < 8 else 16 if bits < 16 else 32
    if kind == "u" and layout.compression in _IMAGES and bits == 12:
        bits = 16
    if bits not in sizes:
        formats = {1: "unsigned", 2: "signed", 3: "float", 5: "complex integer", 6: "complex"}
        name = formats.get(layout.format, f"format {layout.format}")
        hint = "Rewrite it with samples of 8, 16, 32 or 64 bits."
        raise UnsupportedError(f"{where} has {name} samples of {layout.bits} bits, which no array has", hint=hint)
    return np.dtype(f"{order}{kind}{bits // 8}")


def _predictor(
    layout: Layout, dtype: np.dtype[np.generic], chunk: tuple[int, ...] | None, where: str
) -> dict[str, Any]:
    number = layout.predictor
    known = {2: ("iuf", "delta"), 3: ("f", "floatpred")}.get(number)
    if known is None or dtype.kind not in known[0] or layout.bits not in (8, 16, 32, 64):
        what = f"the predictor {number} for {dtype.name} samples of {layout.bits} bits"
        raise UnsupportedError(f"{where} has {what}, which is not supported", hint="Rewrite it without a predictor.")
    axis = -2 if layout.together > 1 else -1
    config: dict[str, Any] = {"id": f"imagecodecs_{known[1]}", "axis": axis, "dist": 1, "dtype": dtype.str}
    if chunk is not None:
        config["shape"] = list(chunk)
    return config


def _image_codec(layout: Layout, name: str, where: str) -> dict[str, Any]:
    if layout.predictor != 1:
        raise UnsupportedError(f"{where} has a predictor before {compression_name(layout.compression)}")
    if name == "jpeg":
        colours = _jpeg_colours(layout)
        tables = base64.b64encode(layout.tables).decode() if layout.tables else None
        return {
            "id": "imagecodecs_jpeg",
            "tables": tables,
            "header": None,
            "bitspersample": layout.bits,
            "colorspace_jpeg": colours[0],
            "colorspace_data": colours[1],
        }
    if name == "webp" and layout.samples == 4:
        return {"id": "imagecodecs_webp", "hasalpha": True}
    if name == "lerc" and len(layout.lerc) > 1 and layout.lerc[1] != 0:
        raise UnsupportedError(f"{where} is compressed by LERC and then once more, which is not supported")
    return {"id": f"imagecodecs_{name}"}


def _jpeg_colours(layout: Layout) -> tuple[str | None, str | None]:
    """Return the colours in which JPEG stores pixels, and those wanted."""
    if layout.planar or layout.extra or layout.samples == 1:
        return None, None
    return {2: ("RGB", "RGB"), _YCBCR: ("YCBCR", "RGB"), 5: ("CMYK", "CMYK")}.get(layout.photometric, (None, None))
