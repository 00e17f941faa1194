"""What the formats before v2 share: documents as Python's `json` wrote them, and fill values as plain text."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Final

from omnizarr.errors import MetadataError, UnsupportedError
from omnizarr.format import fill_json
from omnizarr.format.document import describe
from omnizarr.model.array import ArrayMeta
from omnizarr.model.dtype import DType
from omnizarr.model.fill import Fill, pad
from omnizarr.model.group import GroupMeta
from omnizarr.model.jsonvalue import JSON
from omnizarr.model.keys import Keys

_BARE: Final = {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf")}


def dump(document: Mapping[str, JSON]) -> bytes:
    """Write a document byte for byte as these formats have it: four spaces of indent, names sorted, nothing at the end.

    Raises:
        MetadataError: A value is not JSON.
    """
    try:
        # Imported here: only who writes a format of 2016 needs it.
        text: str = import_module("json").dumps(dict(document), indent=4, sort_keys=True, ensure_ascii=True)
    except (TypeError, ValueError) as error:
        raise MetadataError(f"the document cannot be written: {error}") from error
    return text.encode("ascii")


def parse_fill(value: JSON, dtype: DType, key: str) -> Fill:
    """Read a fill value: as v2 has it, but byte strings are plain text and never base64.

    Raises:
        MetadataError: It is of the wrong type or out of range.
    """
    if dtype.family == "fixed" and isinstance(value, str):
        try:
            return Fill(pad(value.encode("utf-8"), dtype.itemsize))
        except ValueError as error:
            message = f"the fill value of an array of {dtype.name} cannot be {describe(value)}: {error}"
            raise MetadataError(message, pointer="/fill_value", key=key) from None
    return fill_json.parse_v2(value, dtype, key)


def render_fill(fill: Fill, dtype: DType, format_name: str) -> JSON:
    """Write a fill value; NaN and the infinities are the bare words that these formats use.

    Raises:
        UnsupportedError: The format has no word for it.
    """
    family = dtype.family
    if fill.bits is None:
        return None
    if family == "fixed":
        text = fill.bits.rstrip(b"\0")
        if text.isascii():
            return text.decode("ascii")
    elif family in ("bool", "int", "uint", "float", "text", "time"):
        value = fill_json.render_v2(fill, dtype)
        return _BARE.get(value, value) if family == "float" and isinstance(value, str) else value
    elif not any(fill.bits):
        return 0  # what these versions wrote for every type, unless told otherwise
    hint = "Pass fill_value=None, which leaves it undefined, or take another format."
    message = f"{format_name} cannot say the fill value {fill.value(dtype)!r} of the type {dtype.name}"
    raise UnsupportedError(message, pointer="/fill_value", hint=hint)


def only_array(meta: ArrayMeta | GroupMeta, format_name: str) -> ArrayMeta:
    """Return the node if it is an array, of elements of one size and without shards: these formats have nothing else.

    Raises:
        UnsupportedError: It is not.
    """
    if not isinstance(meta, ArrayMeta):
        raise UnsupportedError(f"{format_name} has no groups", hint='Take format="zarr2" or "zarr3".')
    if meta.is_sharded:
        raise UnsupportedError(f"{format_name} has no shards", hint='Take format="zarr3".')
    if meta.dtype.vlen:
        hint = 'Take a type of one length, such as "U10", or format="zarr2" or "zarr3".'
        raise UnsupportedError(f"{format_name} has no elements of any length, such as {meta.dtype.label}", hint=hint)
    return meta


def old_dtype(value: JSON, format_name: str) -> JSON:
    """Return a type as v2 spells it, if these formats had it: those of NumPy, and nothing else.

    Raises:
        UnsupportedError: They had not.
    """
    for one in value if isinstance(value, list) else (value,):
        kind = one[1] if isinstance(one, list) else one
        if isinstance(kind, list):
            old_dtype(kind, format_name)
        elif not isinstance(kind, str) or kind[:1] not in ("<", ">", "|"):
            hint = "These formats have NumPy's own types alone; Zarr v3 has more."
            raise UnsupportedError(f"{describe(kind)} is no type of {format_name}", pointer="/dtype", hint=hint)
    return value


def fixed_keys(keys: Keys, separator: str | None, format_name: str) -> Keys:
    """Return the only keys that chunks can have.

    Raises:
        UnsupportedError: Another separator is asked for.
    """
    if separator in (None, keys.separator):
        return keys
    raise UnsupportedError(f"{format_name} has no other separator than {keys.separator!r}")
