"""Codecs that look at single bits: `packbits` and `bitround`, of the registry and of numcodecs.

https://github.com/zarr-developers/zarr-extensions/tree/main/codecs/packbits and its neighbour `bitround`.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from omnizarr.codec.elements import Element, element_of, sign_bits
from omnizarr.codec.lowered import Lower, Lowered
from omnizarr.codec.options import Options
from omnizarr.codec.stage import Stage
from omnizarr.errors import MetadataError
from omnizarr.model.jsonvalue import JSON

_PADDINGS: Final = ("none", "first_byte", "last_byte")


def _element(name: str, stage: Stage) -> Element:
    element = element_of(stage)
    if element is None:
        raise MetadataError(f"the codec does not take the type {stage.label}", codec=name)
    return element


def _packbits(options: Options, stage: Stage) -> Lowered:
    element = _element("packbits", stage)
    padding = options.choice("padding_encoding", "none", _PADDINGS)
    last = element.bits - 1
    given = {name: options.raw(name) for name in ("first_bit", "last_bit")}
    first_bit = 0 if given["first_bit"] is None else options.integer("first_bit", 0, 0, last)
    last_bit = last if given["last_bit"] is None else options.integer("last_bit", last, first_bit, last)
    config: dict[str, JSON] = {"padding_encoding": padding}
    config.update((name, value) for name, value in given.items() if value is not None)
    step = {
        "size": element.size,
        "big": element.big,
        "components": element.components,
        "first": first_bit,
        "last": last_bit,
        "extend": sign_bits(stage, element),
        "padding": padding,
    }
    count = None if stage.size is None else stage.size // element.size
    size = None if count is None else (count * (last_bit - first_bit + 1) + 7) // 8 + (padding != "none")
    return Lowered(config, ("packbits", step), stage.to_bytes(size, typed=False))


def _bool_bits(options: Options, stage: Stage) -> Lowered:
    del options  # it has none
    if stage.vlen or stage.dtype.kind != "b":
        message = f"the codec is made for elements of type '|b1', but those of type {stage.dtype.str!r} reach it"
        raise MetadataError(message, codec="numcodecs.packbits")
    size = 1 + (_count(stage) + 7) // 8
    return Lowered({}, ("bool_bits", {}), stage.to_array(np.dtype(np.uint8), (size,)))


def _count(stage: Stage) -> int:
    return (stage.size or 0) // max(stage.dtype.itemsize, 1)


def _bitround(options: Options, stage: Stage) -> Lowered:
    element = _element("bitround", stage)
    if element.bits < 8 or (element.fraction is None and stage.dtype.kind not in "iumM"):
        raise MetadataError(f"the codec does not take the type {stage.label}", codec="bitround")
    keepbits = options.integer("keepbits", -1, 1, 64)
    return Lowered({"keepbits": keepbits}, _rounding(element, keepbits), stage)


def _float_round(options: Options, stage: Stage) -> Lowered:
    if stage.vlen or stage.dtype.kind != "f" or stage.dtype.itemsize > 8:
        raise MetadataError(f"only floats can be rounded, not {stage.label}", codec="numcodecs.bitround")
    element = _element("numcodecs.bitround", stage)
    keepbits = options.integer("keepbits", -1, 0, element.fraction or 0)
    after = stage
    if keepbits != element.fraction:
        # What numcodecs hands on are integers of the same bits, and some codecs look at that.
        after = stage.to_array(np.dtype(stage.dtype.str.replace("f", "i")), stage.shape)
    return Lowered({"keepbits": keepbits}, _rounding(element, keepbits), after)


def _rounding(element: Element, keepbits: int) -> tuple[str, dict[str, object]]:
    numbers = {"size": element.size, "big": element.big, "fraction": element.fraction, "signed": element.signed}
    return "bitround", {**numbers, "keepbits": keepbits}


CODECS: Final[dict[str, Lower]] = {
    "packbits": _packbits,
    "numcodecs.packbits": _bool_bits,
    "bitround": _bitround,
    "numcodecs.bitround": _float_round,
}
