"""Zarr v3: `zarr.json` to the model and back.

https://zarr-specs.readthedocs.io/en/latest/v3/core/index.html#array-metadata
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, cast

from omnizarr.errors import MetadataError, NodeTypeError, UnsupportedError
from omnizarr.format import fill_json
from omnizarr.format.check import mapping, missing, part, shape
from omnizarr.format.document import describe
from omnizarr.format.flow import Flow
from omnizarr.format.v3_codecs import parse_named, render_chain
from omnizarr.format.v3_dtype import in_codec_order, parse_dtype, render_dtype
from omnizarr.format.v3_grid import parse_codecs, parse_grid, render_grid
from omnizarr.format.v3_keys import parse_keys, render_keys
from omnizarr.limits import DEFAULT_LIMITS, Limits
from omnizarr.model.array import ArrayMeta
from omnizarr.model.codec import Codec
from omnizarr.model.grid import RegularGrid
from omnizarr.model.group import GroupMeta
from omnizarr.model.jsonvalue import JSON

FORMAT: Final = "zarr3"

_REQUIRED: Final = ("shape", "data_type", "chunk_grid", "chunk_key_encoding", "fill_value", "codecs")
_ARRAY_FIELDS: Final = frozenset(
    ("zarr_format", "node_type", *_REQUIRED, "attributes", "dimension_names", "storage_transformers")
)
_GROUP_FIELDS: Final = frozenset(("zarr_format", "node_type", "attributes"))


def parse_array(document: JSON, key: str, limits: Limits = DEFAULT_LIMITS) -> ArrayMeta:
    """Read the document of an array.

    Args:
        document: The JSON value of `zarr.json`.
        key: The store's key, for messages.
        limits: Bounds on what the document may claim.

    Raises:
        MetadataError: The document breaks the specification; `pointer` says where.
        UnsupportedError: It needs an extension that Omnizarr does not have.
        NodeTypeError: It describes a group.
        LimitError: It claims more than the limits allow.
        UnsafeError: It names a codec that would run code from data.
    """
    doc = _node(document, "array", key)
    for field in _REQUIRED:
        if field not in doc:
            missing(field, key)
    array_shape = shape(doc["shape"], key, limits)
    dtype = parse_dtype(doc["data_type"], key)
    grid = parse_grid(_understood(doc["chunk_grid"], "/chunk_grid", key), array_shape, key)
    codecs = parse_codecs(doc["codecs"], grid, array_shape, Flow(grid.longest, dtype, key, limits))
    if dtype.family == "struct":
        dtype = in_codec_order(dtype, codecs)
    fill = fill_json.parse_v3(doc["fill_value"], dtype, key)
    return ArrayMeta(
        shape=array_shape,
        dtype=dtype,
        grid=grid,
        keys=parse_keys(_understood(doc["chunk_key_encoding"], "/chunk_key_encoding", key), key),
        fill=fill,
        codecs=codecs,
        dims=_parse_dims(doc.get("dimension_names"), len(array_shape), key),
        attributes=_attributes(doc, key),
        format=FORMAT,
        extra={**_transformers(doc.get("storage_transformers"), key), **_extra(doc, _ARRAY_FIELDS, key)},
    )


VARYING: Final[tuple[str, ...]] = ("shape", "attributes", "dimension_names")
"""Fields in which the arrays of one dataset differ; all others are mostly the same in each of them."""


def parse_sibling(known: ArrayMeta, fields: Mapping[str, JSON], key: str, limits: Limits) -> ArrayMeta | None:
    """Read the document of an array that differs from a known one in the varying fields alone.

    Args:
        known: What the other document means.
        fields: The varying fields that the document has.
        key: The store's key, for messages.
        limits: Bounds on what the document may claim.

    Returns:
        The array, or `None` where what the known one was checked for depends on its shape: read the whole then.

    Raises:
        MetadataError: A varying field breaks the specification.
    """
    array_shape = shape(fields.get("shape"), key, limits)
    if len(array_shape) != len(known.shape) or 0 in array_shape or 0 in known.shape:
        return None
    if not isinstance(known.grid, RegularGrid):
        return None
    return ArrayMeta(
        array_shape,
        known.dtype,
        known.grid,
        known.keys,
        known.fill,
        known.codecs,
        _parse_dims(fields.get("dimension_names"), len(array_shape), key),
        _attributes(fields, key),
        FORMAT,
        known.extra,
    )


def parse_group(document: JSON, key: str) -> GroupMeta:
    """Read the document of a group; its `consolidated_metadata` is kept in `extra` as it stands.

    Raises:
        MetadataError: The document breaks the specification.
        NodeTypeError: It describes an array.
    """
    doc = _node(document, "group", key)
    return GroupMeta(_attributes(doc, key), FORMAT, _extra(doc, _GROUP_FIELDS, key))


def node_type(document: JSON, key: str) -> str:
    """Say whether a `zarr.json` describes an "array" or a "group".

    Raises:
        MetadataError: It says neither, or is not Zarr v3.
    """
    doc = mapping(document, "/", key)
    version = doc.get("zarr_format")
    if version != 3 or isinstance(version, bool):
        message = f"zarr_format is {describe(version)}, not 3"
        raise MetadataError(message, pointer="/zarr_format", key=key)
    found = doc.get("node_type")
    if isinstance(found, str) and found in ("array", "group"):
        return found
    raise MetadataError(f"node_type is {describe(found)}, not 'array' or 'group'", pointer="/node_type", key=key)


def render_array(meta: ArrayMeta) -> dict[str, JSON]:
    """Write the document of an array.

    Raises:
        UnsupportedError: The array has something that v3 cannot express.
    """
    document: dict[str, JSON] = {
        "zarr_format": 3,
        "node_type": "array",
        "shape": list(meta.shape),
        "data_type": render_dtype(meta.dtype),
        "chunk_grid": render_grid(meta.grid),
        "chunk_key_encoding": render_keys(meta.keys),
        "fill_value": fill_json.render_v3(meta.fill, meta.dtype),
        "codecs": render_chain(meta.codecs, meta.dtype),
        "attributes": dict(meta.attributes),
    }
    if meta.dims is not None:
        document["dimension_names"] = list(meta.dims)
    return {**document, **meta.extra}


def render_group(meta: GroupMeta) -> dict[str, JSON]:
    """Write the document of a group."""
    return {"zarr_format": 3, "node_type": "group", "attributes": dict(meta.attributes), **meta.extra}


def _node(document: JSON, wanted: str, key: str) -> dict[str, JSON]:
    if node_type(document, key) != wanted:
        message = "this is a group, not an array" if wanted == "array" else "this is an array, not a group"
        raise NodeTypeError(message, key=key)
    return mapping(document, "/", key)


def _understood(value: JSON, pointer: str, key: str) -> Codec:
    named = parse_named(value, pointer, key)
    if named.required:
        return named
    message = "this cannot be left unread, so must_understand cannot be false"
    raise MetadataError(message, pointer=f"{pointer}/must_understand", key=key)


def _parse_dims(value: JSON, ndim: int, key: str) -> tuple[str | None, ...] | None:
    if value is None:  # zarr-python takes null for no names
        return None
    pointer = "/dimension_names"
    if not isinstance(value, list):
        raise MetadataError(f"a list of names is needed, not {describe(value)}", pointer=pointer, key=key)
    for at, name in enumerate(value):
        if name is not None and not isinstance(name, str):
            raise MetadataError(f"a name or null is needed, not {describe(name)}", pointer=f"{pointer}/{at}", key=key)
    if len(value) != ndim:
        raise MetadataError(f"there are {len(value)} names for {ndim} dimensions", pointer=pointer, key=key)
    return tuple(cast("list[str | None]", value))


def _attributes(doc: Mapping[str, JSON], key: str) -> dict[str, JSON]:
    value = doc.get("attributes")
    return {} if value is None else mapping(value, "/attributes", key)


def _transformers(value: JSON, key: str) -> dict[str, JSON]:
    """Keep storage transformers that readers may leave out; there are no others that Omnizarr knows."""
    if value is None or value == []:
        return {}
    pointer = "/storage_transformers"
    if not isinstance(value, list):
        raise MetadataError(f"a list is needed, not {describe(value)}", pointer=pointer, key=key)
    for at, item in enumerate(value):
        named = parse_named(item, f"{pointer}/{at}", key)
        if named.required:
            message = f"the storage transformer {named.name!r} is not supported"
            raise UnsupportedError(message, pointer=f"{pointer}/{at}", key=key)
    return {"storage_transformers": value}


def _extra(doc: dict[str, JSON], known: frozenset[str], key: str) -> dict[str, JSON]:
    unknown = doc.keys() - known
    if not unknown:
        return {}
    kept: dict[str, JSON] = {}
    for field, value in doc.items():
        if field not in unknown:
            continue
        if isinstance(value, dict) and (value.get("must_understand") is False or field == "consolidated_metadata"):
            kept[field] = value
        elif field != "consolidated_metadata" or value is not None:  # zarr-python 3.0 writes null for none
            message = f"the field {field!r} is not known, and the document does not say that it may be ignored"
            raise UnsupportedError(message, pointer=f"/{part(field)}", key=key)
    return kept
