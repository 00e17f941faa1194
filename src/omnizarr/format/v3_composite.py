"""The codecs of zarrs that hold chains: their settings read, checked and written.

https://docs.rs/zarrs/latest/zarrs/array/codec/array_to_bytes/vlen/ and …/optional/
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Literal

from omnizarr.format.check import choice, part, product
from omnizarr.format.flow import Flow
from omnizarr.model.codec import Codec, inner_codecs
from omnizarr.model.dtype import DType
from omnizarr.model.jsonvalue import JSON

ParseChain = Callable[[JSON, str, Flow], tuple[Codec, ...]]
RenderChain = Callable[[tuple[Codec, ...], DType], list[JSON]]

_BOOL: Final = DType.of("bool")
_BYTE: Final = DType.of("uint8")
_VLEN: Final = ("index_codecs", "data_codecs", "index_data_type", "index_location")
_FIELDS: Final[tuple[Literal["index_codecs", "data_codecs", "mask_codecs"], ...]] = (
    *("index_codecs", "data_codecs", "mask_codecs"),
)


def parse_vlen(codec: Codec, pointer: str, flow: Flow, parse: ParseChain) -> Codec:
    """Read `zarrs.vlen`: an index of where elements start, and the elements.

    Raises:
        MetadataError: A setting is wrong, or the elements have a fixed size.
    """
    given = _checked(codec, pointer, flow, _VLEN)
    if flow.dtype is not None and flow.dtype.vlen not in ("string", "bytes"):
        flow.fail(codec, pointer, f"cannot store {flow.dtype.name}")
    place = f"{pointer}/index_data_type"
    width = choice(given.get("index_data_type"), place, flow.key, ("uint32", "uint64"))
    place = f"{pointer}/index_location"
    location = choice(given.get("index_location", "start"), place, flow.key, ("start", "end"))
    count = None if flow.shape is None else product(flow.shape) + 1
    index = _inside(flow, DType.of(width), count)
    configuration: dict[str, JSON] = {
        "index_codecs": _chain(given, "index_codecs", pointer, index, parse),
        "data_codecs": _chain(given, "data_codecs", pointer, _inside(flow, _BYTE, None), parse),
        "index_data_type": width,
        "index_location": location,
    }
    flow.nbytes = flow.dtype = None
    return codec._replace(configuration=configuration)


def parse_optional(codec: Codec, pointer: str, flow: Flow, parse: ParseChain) -> Codec:
    """Read `zarrs.optional`: a mask of the elements that are there, and those elements.

    Raises:
        MetadataError: A setting is wrong, or the elements are not optional.
    """
    given = _checked(codec, pointer, flow, ("mask_codecs", "data_codecs"))
    inner = None if flow.dtype is None else flow.dtype.inner
    if flow.dtype is not None and (flow.dtype.item != "optional" or inner is None):
        flow.fail(codec, pointer, f"cannot store {flow.dtype.name}")
    count = None if flow.shape is None else product(flow.shape)
    configuration: dict[str, JSON] = {
        "mask_codecs": _chain(given, "mask_codecs", pointer, _inside(flow, _BOOL, count), parse),
        "data_codecs": _chain(given, "data_codecs", pointer, _inside(flow, inner, None), parse),
    }
    flow.nbytes = flow.dtype = None
    return codec._replace(configuration=configuration)


def render_composite(codec: Codec, dtype: DType, render: RenderChain) -> dict[str, JSON]:
    """Write the settings of either."""
    configuration = dict(codec.configuration)
    types = {
        "index_codecs": DType.of(str(configuration.get("index_data_type", "uint64"))),
        "mask_codecs": _BOOL,
        "data_codecs": dtype.inner or _BYTE,
    }
    for field in _FIELDS:
        if field in configuration:
            configuration[field] = render(inner_codecs(codec, field), types[field])
    return configuration


def _checked(codec: Codec, pointer: str, flow: Flow, allowed: tuple[str, ...]) -> dict[str, JSON]:
    given = dict(codec.configuration)
    for field in given:
        if field not in allowed:
            flow.fail(codec, f"{pointer}/{part(field)}", f"has no setting {field!r}")
    return given


def _inside(flow: Flow, dtype: DType | None, count: int | None) -> Flow:
    inside = Flow((count or 0,), dtype or _BYTE, flow.key, flow.limits, flow.depth)
    if count is None:
        inside.shape = None
    inside.dtype = dtype
    return inside


def _chain(given: dict[str, JSON], field: str, pointer: str, flow: Flow, parse: ParseChain) -> list[JSON]:
    return [step.to_json() for step in parse(given.get(field), f"{pointer}/{field}", flow)]
