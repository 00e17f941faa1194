"""Codecs that hold codecs of bytes: `conditional` and `n5_default` of the registry.

https://github.com/zarr-developers/zarr-extensions/tree/main/codecs/conditional and its neighbour `n5_default`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias

from omnizarr.codec.lowered import Lowered, Step
from omnizarr.codec.options import Options
from omnizarr.codec.stage import Stage, byte_order, swap_unit
from omnizarr.errors import MetadataError
from omnizarr.model.codec import Codec, canonical, inner_codecs
from omnizarr.model.jsonvalue import JSON

Inner: TypeAlias = Callable[[tuple[Codec, ...], Stage], tuple[list[Step], list[Codec]]]
"""Lowers a list of codecs of bytes, given what reaches the first: their steps, and the codecs with every option."""


def _conditional(codec: Codec, stage: Stage, inner: Inner) -> Lowered:
    options = Options(codec.name, codec.configuration)
    if stage.is_array:
        raise MetadataError("a codec must come first that turns the array into bytes", codec=codec.name)
    steps, codecs = inner(_held(options, codec), stage)
    default = (len(codecs) + 7) // 8 * 8
    bits = options.integer("header_bits", default, len(codecs), 1 << 16)
    if bits % 8:
        raise options.wrong("header_bits", bits, "a multiple of 8")
    options.done()
    config: dict[str, JSON] = {"codecs": [one.to_json() for one in codecs]}
    if "header_bits" in codec.configuration:
        config["header_bits"] = bits
    step = {"codecs": steps, "header_bits": bits}
    return Lowered(config, ("conditional", step), stage.to_bytes(None, typed=False))


def _n5_default(codec: Codec, stage: Stage, inner: Inner) -> Lowered:
    options = Options(codec.name, codec.configuration)
    if not stage.is_array or stage.vlen:
        raise MetadataError("it makes bytes of an array of numbers", codec=codec.name)
    chain = _held(options, codec)
    options.done()
    turned = bool(chain) and canonical(chain[0].name) == "transpose"
    order = list(range(len(stage.shape)))[::-1]
    if turned and chain[0].configuration.get("order") not in (order, "F"):
        raise options.wrong("codecs", [one.name for one in chain], f"transpose with the order {order} first")
    rest = chain[1:] if turned else chain
    _check_n5(options, rest, stage)
    # Without a transpose the array is in C order, and its dimensions are those of N5 from the last to the first.
    shape = stage.shape[::-1] if turned else stage.shape
    unit = swap_unit(stage.dtype)
    swap = 0 if unit == 1 or byte_order(stage.dtype) == "big" else unit
    stored = stage.dtype.newbyteorder("S") if swap else stage.dtype
    packed = stage._replace(dtype=stored, is_array=False)
    steps, codecs = inner(rest[1:], packed)
    step = {"item": stage.dtype.itemsize, "swap": swap, "shape": list(shape), "codecs": steps}
    head = ([Codec("transpose", {"order": list(order)})] if turned else []) + [rest[0]]
    config: dict[str, JSON] = {"codecs": [one.to_json() for one in (*head, *codecs)]}
    before: tuple[Step, ...] = (("transpose", {"order": order}),) if turned and len(order) > 1 else ()
    return Lowered(config, ("n5", step), stage.to_bytes(None, typed=False), before)


def _held(options: Options, codec: Codec) -> tuple[Codec, ...]:
    given = options.raw("codecs")
    if not isinstance(given, list) or not all(isinstance(one, dict) and "name" in one for one in given):
        raise options.wrong("codecs", given, "a list of codecs")
    return inner_codecs(codec)


def _check_n5(options: Options, chain: tuple[Codec, ...], stage: Stage) -> None:
    names = [canonical(one.name) for one in chain]
    if names[:1] != ["bytes"] or len(names) > 2:
        raise options.wrong("codecs", names, "transpose, bytes and at most one compressor")
    endian = chain[0].configuration.get("endian")
    if endian != "big" and not (endian is None and swap_unit(stage.dtype) == 1):
        raise options.wrong("codecs", endian, "bytes with big-endian elements, as all of N5")


COMPOSITES: Final[dict[str, Callable[[Codec, Stage, Inner], Lowered]]] = {
    "conditional": _conditional,
    "n5_default": _n5_default,
}
