"""Element types in v3 documents.

The core types are in https://zarr-specs.readthedocs.io/en/latest/v3/data-types/index.html, all others in the registry
https://github.com/zarr-developers/zarr-extensions/tree/main/data-types, and a few only in zarr-python.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, Literal

import numpy as np

from omnizarr.errors import MetadataError, UnsupportedError
from omnizarr.format.check import choice, integer, mapping, part, unknown_type
from omnizarr.format.document import describe
from omnizarr.model.codec import Codec, canonical, inner_codecs
from omnizarr.model.dtype import BYTES, MAX_ITEM, STRING, DType, field_type, optional_of, registered
from omnizarr.model.jsonvalue import JSON
from omnizarr.model.structs import fields_of, has_padding, in_order, struct_order

_UNITS: Final = ("Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "ps", "fs", "as", "generic")

_CORE: Final = (
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "float32", "float64", "complex64", "complex128"),
)
_PLAIN: Final[dict[str, DType]] = {
    **{name: DType(np.dtype(name), name) for name in _CORE},
    "string": STRING,
    "bytes": BYTES,
    "variable_length_bytes": BYTES,
    "binary": BYTES,
}
"""Types that are their name alone, with the aliases that zarrs writes."""


def parse_dtype(value: JSON, key: str, pointer: str = "/data_type") -> DType:
    """Read the field `data_type`: a name, or an object with a name and a configuration.

    Raises:
        MetadataError: It is neither, or the configuration is wrong.
        UnsupportedError: The type is not one that Omnizarr has.
    """
    if isinstance(value, str):
        dtype = _PLAIN.get(value)
        return dtype if dtype is not None else _parse_named(value, {}, pointer, key)
    if not isinstance(value, dict):
        message = f"a name or an object is needed, not {describe(value)}"
        raise MetadataError(message, pointer=pointer, key=key)
    name = value.get("name")
    if not isinstance(name, str):
        raise MetadataError(f"a name is needed, not {describe(name)}", pointer=f"{pointer}/name", key=key)
    if value.keys() - {"name", "configuration", "must_understand"}:
        raise MetadataError("a data type has only name and configuration", pointer=pointer, key=key)
    if value.get("must_understand", True) is not True:
        message = "a data type cannot be left unread, so must_understand can only be true"
        raise MetadataError(message, pointer=f"{pointer}/must_understand", key=key)
    configuration = mapping(value.get("configuration", {}), f"{pointer}/configuration", key)
    return _parse_named(name, configuration, pointer, key)


def render_dtype(dtype: DType) -> JSON:
    """Write the field `data_type`; byte order is the business of the `bytes` codec.

    Raises:
        UnsupportedError: v3 has no such type.
    """
    family = dtype.family
    if family == "bytes":
        return "variable_length_bytes"  # the only name that zarr-python 3.1.0 knows
    if family == "struct":
        return _render_struct(dtype)
    configuration: Mapping[str, JSON]
    if dtype.item == "optional" and dtype.inner is not None:
        inner = render_dtype(dtype.inner)
        named = inner if isinstance(inner, dict) else {"name": inner}
        return {"name": dtype.name, "configuration": {"name": named["name"], "configuration": {}, **named}}
    if dtype.vlen == "object":
        raise UnsupportedError("Zarr v3 has no arrays of Python objects", pointer="/data_type")
    if family == "time":
        unit, scale = np.datetime_data(dtype.numpy)
        configuration = {"unit": unit, "scale_factor": scale}
    elif family in ("text", "fixed") or dtype.name == "raw_bytes":
        configuration = {"length_bytes": dtype.itemsize}
    elif family in ("float", "complex") and dtype.name not in _PLAIN:
        hint = "Zarr v2 has it; or take float64 or complex128."
        raise UnsupportedError(f"Zarr v3 has no data type for {dtype.numpy}", pointer="/data_type", hint=hint)
    else:
        return dtype.name
    return {"name": dtype.name, "configuration": configuration}


def in_codec_order(dtype: DType, codecs: tuple[Codec, ...]) -> DType:
    """Give the fields of a structure the byte order that its `bytes` codec says.

    In memory they lie as they are stored: no one step could swap fields of different sizes.
    """
    return dtype if _order(codecs) == "little" else dtype._replace(numpy=in_order(dtype.numpy, "big"))


def _order(codecs: tuple[Codec, ...]) -> Literal["little", "big"]:
    for codec in codecs:
        if canonical(codec.name) == "bytes":
            return "big" if codec.configuration.get("endian") == "big" else "little"
        if codec.name == "sharding_indexed":
            return _order(inner_codecs(codec))
    return "little"


def _parse_named(name: str, configuration: dict[str, JSON], pointer: str, key: str) -> DType:
    parametric = _PARAMETRIC.get(name)
    if parametric is not None:
        return parametric(name, configuration, f"{pointer}/configuration", key)
    if configuration:
        message = f"the data type {name!r} takes no configuration"
        raise MetadataError(message, pointer=f"{pointer}/configuration", key=key)
    if name in _PLAIN:
        return _PLAIN[name]
    try:
        dtype = registered(name)
    except UnsupportedError as error:
        kind = UnsupportedError if error.hint else MetadataError  # a package that is missing, or a wrong size
        raise kind(error.message, pointer=pointer, key=key, hint=error.hint) from None
    if dtype is None:
        unknown_type(name, pointer, key)
    return dtype


def _only(allowed: tuple[str, ...], configuration: dict[str, JSON], pointer: str, key: str) -> None:
    for field in configuration:
        if field not in allowed:
            raise MetadataError(f"the type has no setting {field!r}", pointer=f"{pointer}/{part(field)}", key=key)


def _length(configuration: dict[str, JSON], pointer: str, key: str) -> int:
    _only(("length_bytes",), configuration, pointer, key)
    return integer(configuration.get("length_bytes"), f"{pointer}/length_bytes", key, 1, MAX_ITEM)


def _bytes_of_length(name: str, configuration: dict[str, JSON], pointer: str, key: str) -> DType:
    letter = "S" if name == "null_terminated_bytes" else "V"
    return DType(np.dtype(f"{letter}{_length(configuration, pointer, key)}"), name)


def _utf32_of_length(name: str, configuration: dict[str, JSON], pointer: str, key: str) -> DType:
    length = _length(configuration, pointer, key)
    if length % 4:
        message = f"{length} is not a multiple of 4, the bytes of a code point"
        raise MetadataError(message, pointer=f"{pointer}/length_bytes", key=key)
    return DType(np.dtype(f"U{length // 4}"), name)


def _time(name: str, configuration: dict[str, JSON], pointer: str, key: str) -> DType:
    _only(("unit", "scale_factor"), configuration, pointer, key)
    unit = choice(configuration.get("unit"), f"{pointer}/unit", key, (*_UNITS, "μs", "\u00b5s"))
    scale = integer(configuration.get("scale_factor", 1), f"{pointer}/scale_factor", key, 1, MAX_ITEM)
    letter = "M" if name == "numpy.datetime64" else "m"
    unit = "us" if unit not in _UNITS else unit
    return DType(np.dtype(f"{letter}8[{scale}{unit}]"), name)


def _struct(name: str, configuration: dict[str, JSON], pointer: str, key: str) -> DType:
    """Read a structure; fields are objects, or pairs in the older form `structured`, and each name has taken both."""
    place = f"{pointer}/fields"
    given = configuration.get("fields")
    if not isinstance(given, list) or not given or len(configuration) != 1:
        message = "a structure needs the setting 'fields', a list of at least one, and no other"
        raise MetadataError(message, pointer=place, key=key)
    formats: dict[str, np.dtype[Any]] = {}
    for at, item in enumerate(given):
        field, dtype = _field(item, f"{place}/{at}", key)
        if field in formats:
            raise MetadataError(f"the field {field!r} is there twice", pointer=f"{place}/{at}", key=key)
        formats[field] = in_order(dtype.numpy, "little")
    if sum(one.itemsize for one in formats.values()) > MAX_ITEM:
        raise MetadataError("the structure is too large", pointer=place, key=key)
    return DType(np.dtype({"names": list(formats), "formats": list(formats.values())}), name)


def _field(item: JSON, pointer: str, key: str) -> tuple[str, DType]:
    if isinstance(item, dict) and item.keys() == {"name", "data_type"}:
        name, data_type, place = item["name"], item["data_type"], f"{pointer}/data_type"
    elif isinstance(item, list) and len(item) == 2:
        (name, data_type), place = item, f"{pointer}/1"
    else:
        raise MetadataError(f"a field needs a name and a data_type, not {describe(item)}", pointer=pointer, key=key)
    if not isinstance(name, str):
        raise MetadataError(f"a name is needed, not {describe(name)}", pointer=pointer, key=key)
    if not name:
        raise UnsupportedError("a field without a name cannot be had in NumPy", pointer=pointer, key=key)
    dtype = parse_dtype(data_type, key, place)
    if dtype.vlen or dtype.name == "complex_float16":
        message = f"the field {name!r} cannot be of the type {dtype.name}"
        raise UnsupportedError(message, pointer=place, key=key)
    return name, dtype


def _render_struct(dtype: DType) -> JSON:
    if struct_order(dtype.numpy) == "mixed":
        hint = "Give all fields one: dtype.newbyteorder('<')."
        raise UnsupportedError("Zarr v3 has one byte order for all fields", pointer="/data_type", hint=hint)
    if has_padding(dtype.numpy):
        hint = "Repack it: numpy.lib.recfunctions.repack_fields."
        raise UnsupportedError("Zarr v3 has no padding between fields", pointer="/data_type", hint=hint)
    pairs: list[tuple[str, JSON]] = []
    for field in fields_of(dtype.numpy):
        if field.shape:
            hint = "Zarr v2 has them; or make each element a field, or the array larger by their dimensions."
            message = f"Zarr v3 has no fields that are arrays, such as {field.name!r}"
            raise UnsupportedError(message, pointer="/data_type", hint=hint)
        inner = field_type(field.numpy)
        pairs.append((field.name, render_dtype(inner._replace(name=dtype.name) if inner.name == "struct" else inner)))
    fields: list[JSON]
    if dtype.name == "structured":
        fields = [[name, inner] for name, inner in pairs]
    else:
        fields = [{"name": name, "data_type": inner} for name, inner in pairs]
    return {"name": dtype.name, "configuration": {"fields": fields}}


def _optional(name: str, configuration: dict[str, JSON], pointer: str, key: str) -> DType:
    inner = configuration.get("name")
    if not isinstance(inner, str) or configuration.keys() - {"name", "configuration"}:
        raise MetadataError("an optional type has the name and the configuration of another", pointer=pointer, key=key)
    settings = mapping(configuration.get("configuration", {}), f"{pointer}/configuration", key)
    return optional_of(_parse_named(inner, settings, f"{pointer}/configuration", key))._replace(name=name)


# By name; a new type with a configuration is one more row.
_PARAMETRIC: Final[dict[str, Callable[[str, dict[str, JSON], str, str], DType]]] = {
    "null_terminated_bytes": _bytes_of_length,
    "raw_bytes": _bytes_of_length,
    "fixed_length_utf32": _utf32_of_length,
    "numpy.datetime64": _time,
    "numpy.timedelta64": _time,
    "struct": _struct,
    "structured": _struct,
    "zarrs.optional": _optional,
    "optional": _optional,
}
