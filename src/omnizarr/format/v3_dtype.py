"""Element types in v3 documents.

The core types are in https://zarr-specs.readthedocs.io/en/latest/v3/data-types/index.html, all others in the registry
https://github.com/zarr-developers/zarr-extensions/tree/main/data-types, and a few only in zarr-python.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final

import numpy as np

from omnizarr.errors import MetadataError, UnsupportedError
from omnizarr.format.check import choice, integer, mapping, unknown_type
from omnizarr.format.document import describe
from omnizarr.model.dtype import BYTES, STRING, DType, optional_of
from omnizarr.model.jsonvalue import JSON

_RAW_BITS: Final = r"r([1-9][0-9]{0,9})"
_MAX_ITEM: Final = 2**31 - 1  # what a NumPy dtype can say
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
    "complex_float32": DType(np.dtype("complex64"), "complex64"),
    "complex_float64": DType(np.dtype("complex128"), "complex128"),
}
"""Types that are their name alone, with the aliases that zarrs writes."""


def parse_dtype(value: JSON, key: str) -> DType:
    """Read the field `data_type`: a name, or an object with a name and a configuration.

    Raises:
        MetadataError: It is neither, or the configuration is wrong.
        UnsupportedError: The type is not one that Omnizarr has.
    """
    if isinstance(value, str):
        dtype = _PLAIN.get(value)
        return dtype if dtype is not None else _parse_named(value, {}, key)
    if not isinstance(value, dict):
        message = f"a name or an object is needed, not {describe(value)}"
        raise MetadataError(message, pointer="/data_type", key=key)
    name = value.get("name")
    if not isinstance(name, str):
        raise MetadataError(f"a name is needed, not {describe(name)}", pointer="/data_type/name", key=key)
    if value.keys() - {"name", "configuration", "must_understand"}:
        raise MetadataError("a data type has only name and configuration", pointer="/data_type", key=key)
    if value.get("must_understand") is False:
        message = "a data type cannot be left unread, so must_understand cannot be false"
        raise MetadataError(message, pointer="/data_type/must_understand", key=key)
    return _parse_named(name, mapping(value.get("configuration", {}), "/data_type/configuration", key), key)


def render_dtype(dtype: DType) -> JSON:
    """Write the field `data_type`; byte order is the business of the `bytes` codec."""
    if dtype is BYTES or dtype.name == "bytes":
        return "variable_length_bytes"  # the only name that zarr-python 3.1.0 knows
    if dtype.name in _PLAIN or re.fullmatch(_RAW_BITS, dtype.name):
        return dtype.name
    configuration: Mapping[str, JSON]
    if dtype.item == "optional" and dtype.inner is not None:
        inner = render_dtype(dtype.inner)
        named = inner if isinstance(inner, dict) else {"name": inner}
        return {"name": dtype.name, "configuration": {"name": named["name"], "configuration": {}, **named}}
    if dtype.vlen == "object":
        raise UnsupportedError("Zarr v3 has no arrays of Python objects", pointer="/data_type")
    if dtype.numpy.kind in "Mm":
        unit, scale = np.datetime_data(dtype.numpy)
        configuration = {"unit": unit, "scale_factor": scale}
    else:
        configuration = {"length_bytes": dtype.itemsize}
    return {"name": dtype.name, "configuration": configuration}


def _parse_named(name: str, configuration: dict[str, JSON], key: str) -> DType:
    if name in _PARAMETRIC:
        return _PARAMETRIC[name](name, configuration, key)
    if name in _PLAIN:
        if configuration:
            message = f"the data type {name!r} takes no configuration"
            raise MetadataError(message, pointer="/data_type/configuration", key=key)
        return _PLAIN[name]
    bits = re.fullmatch(_RAW_BITS, name)
    if bits is None:
        unknown_type(name, "/data_type", key)
    size, rest = divmod(int(bits[1]), 8)
    if rest or size > _MAX_ITEM:
        message = f"the data type {name!r} does not have a whole or fitting number of bytes"
        raise MetadataError(message, pointer="/data_type", key=key)
    return DType(np.dtype(f"V{size}"), name)


def _length(configuration: dict[str, JSON], key: str) -> int:
    return integer(configuration.get("length_bytes"), "/data_type/configuration/length_bytes", key, 1, _MAX_ITEM)


def _bytes_of_length(name: str, configuration: dict[str, JSON], key: str) -> DType:
    letter = "S" if name == "null_terminated_bytes" else "V"
    return DType(np.dtype(f"{letter}{_length(configuration, key)}"), name)


def _utf32_of_length(name: str, configuration: dict[str, JSON], key: str) -> DType:
    length = _length(configuration, key)
    if length % 4:
        pointer = "/data_type/configuration/length_bytes"
        raise MetadataError(f"{length} is not a multiple of 4, the bytes of a code point", pointer=pointer, key=key)
    return DType(np.dtype(f"U{length // 4}"), name)


def _time(name: str, configuration: dict[str, JSON], key: str) -> DType:
    pointer = "/data_type/configuration"
    unit = choice(configuration.get("unit"), f"{pointer}/unit", key, (*_UNITS, "μs", "\u00b5s"))
    scale = integer(configuration.get("scale_factor", 1), f"{pointer}/scale_factor", key, 1, _MAX_ITEM)
    letter = "M" if name == "numpy.datetime64" else "m"
    if unit == "generic":
        return DType(np.dtype(f"{letter}8"), name)
    unit = "us" if unit not in _UNITS else unit
    return DType(np.dtype(f"{letter}8[{scale}{unit}]"), name)


def _optional(name: str, configuration: dict[str, JSON], key: str) -> DType:
    pointer = "/data_type/configuration"
    inner = configuration.get("name")
    if not isinstance(inner, str) or configuration.keys() - {"name", "configuration"}:
        raise MetadataError("an optional type has the name and the configuration of another", pointer=pointer, key=key)
    settings = mapping(configuration.get("configuration", {}), f"{pointer}/configuration", key)
    return optional_of(_parse_named(inner, settings, key))._replace(name=name)


# By name; a new type with a configuration is one more row.
_PARAMETRIC: Final[dict[str, Callable[[str, dict[str, JSON], str], DType]]] = {
    "null_terminated_bytes": _bytes_of_length,
    "raw_bytes": _bytes_of_length,
    "fixed_length_utf32": _utf32_of_length,
    "numpy.datetime64": _time,
    "numpy.timedelta64": _time,
    "zarrs.optional": _optional,
    "optional": _optional,
}
