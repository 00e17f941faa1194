"""Zarr v2: `.zarray`, `.zgroup` and `.zattrs` to the model and back.

https://zarr-specs.readthedocs.io/en/latest/v2/v2.0.html
"""

from __future__ import annotations

from typing import Final, cast

from omnizarr.errors import MetadataError, UnsupportedError, warn
from omnizarr.format import fill_json
from omnizarr.format.check import choice, chunk_bytes, chunk_shape, even_chunks, mapping, missing, shape
from omnizarr.format.document import describe
from omnizarr.format.flow import Flow
from omnizarr.format.v2_codecs import parse_codecs, render_codecs
from omnizarr.format.v2_dtype import OBJECTS, parse_dtype, render_dtype
from omnizarr.format.v2_netcdf import as_meant, writer_of
from omnizarr.format.v2_objects import objects_of
from omnizarr.limits import DEFAULT_LIMITS, Limits
from omnizarr.model.array import ArrayMeta
from omnizarr.model.grid import RegularGrid
from omnizarr.model.group import GroupMeta
from omnizarr.model.jsonvalue import JSON
from omnizarr.model.keys import Keys, v2_keys

FORMAT: Final = "zarr2"

DIMENSIONS: Final = "_ARRAY_DIMENSIONS"
"""The attribute in which xarray and netCDF keep the names of dimensions, for which v2 itself has no field."""

_DEFAULTS: Final[dict[str, JSON]] = {"compressor": None, "fill_value": None, "filters": None, "order": "C"}
_ARRAY_FIELDS: Final = frozenset(("zarr_format", "shape", "chunks", "dtype", "dimension_separator", *_DEFAULTS))
_SEPARATORS: Final = (".", "/")


def parse_array(zarray: JSON, zattrs: JSON, key: str, limits: Limits = DEFAULT_LIMITS) -> ArrayMeta:
    """Read the documents of an array.

    Args:
        zarray: The JSON value of `.zarray`.
        zattrs: The JSON value of `.zattrs`, or None if there is none.
        key: The store's key of the `.zarray`, for messages.
        limits: Bounds on what the documents may claim.

    Raises:
        MetadataError: A document breaks the specification; `pointer` says where.
        UnsupportedError: It has a type that Omnizarr does not have.
        LimitError: It claims more than the limits allow.
        UnsafeError: It names a codec that would run code from data.
    """
    doc = _versioned(zarray, key)
    attributes = _attributes(zattrs, key)
    doc = as_meant(doc, attributes, writer_of(doc, attributes))
    for field in ("shape", "chunks", "dtype"):
        if field not in doc:
            missing(field, key)
    filters, compressor = _field(doc, "filters", key), _field(doc, "compressor", key)
    array_shape = shape(doc["shape"], key, limits)
    objects = objects_of(filters, key) if doc["dtype"] in OBJECTS else None
    dtype = parse_dtype(doc["dtype"], "/dtype", key, objects)
    chunks = chunk_shape(doc["chunks"], array_shape, "/chunks", key)
    chunk_bytes(chunks, dtype, "/chunks", key, limits)
    order = choice(_field(doc, "order", key), "/order", key, ("C", "F"))
    codecs = parse_codecs(filters, compressor, order, Flow(chunks, dtype, key, limits))
    return ArrayMeta(
        shape=array_shape,
        dtype=dtype,
        grid=RegularGrid(chunks),
        keys=_parse_keys(doc.get("dimension_separator", "."), key),
        fill=fill_json.parse_v2(_field(doc, "fill_value", key), dtype, key),
        codecs=codecs,
        dims=parse_dims(attributes.get(DIMENSIONS), len(array_shape)),
        attributes=attributes,
        format=FORMAT,
        extra={field: value for field, value in doc.items() if field not in _ARRAY_FIELDS},
    )


def parse_group(zgroup: JSON, zattrs: JSON, key: str) -> GroupMeta:
    """Read the documents of a group.

    Args:
        zgroup: The JSON value of `.zgroup`.
        zattrs: The JSON value of `.zattrs`, or None if there is none.
        key: The store's key of the `.zgroup`, for messages.

    Raises:
        MetadataError: A document breaks the specification.
    """
    doc = _versioned(zgroup, key)
    extra = {field: value for field, value in doc.items() if field != "zarr_format"}
    return GroupMeta(_attributes(zattrs, key), FORMAT, extra)


def render_array(meta: ArrayMeta) -> tuple[dict[str, JSON], dict[str, JSON]]:
    """Write the documents of an array: `.zarray` and `.zattrs`.

    Raises:
        UnsupportedError: The array has something that v2 cannot express.
    """
    pipeline = render_codecs(meta.codecs, meta.ndim, meta.dtype)
    zarray: dict[str, JSON] = {
        "zarr_format": 2,
        "shape": list(meta.shape),
        "chunks": even_chunks(meta.grid, "Zarr v2"),
        "dtype": render_dtype(meta.dtype, pipeline.dtype_order),
        "fill_value": fill_json.render_v2(meta.fill, meta.dtype),
        "order": pipeline.order,
        "filters": pipeline.filters,
        "compressor": pipeline.compressor,
        "dimension_separator": _render_keys(meta.keys),
    }
    return {**zarray, **meta.extra}, render_attributes(meta)


def render_group(meta: GroupMeta) -> tuple[dict[str, JSON], dict[str, JSON]]:
    """Write the documents of a group: `.zgroup` and `.zattrs`."""
    return {"zarr_format": 2, **meta.extra}, dict(meta.attributes)


def _versioned(document: JSON, key: str) -> dict[str, JSON]:
    doc = mapping(document, "/", key)
    version = doc.get("zarr_format")
    if version != 2 or isinstance(version, bool):
        raise MetadataError(f"zarr_format is {describe(version)}, not 2", pointer="/zarr_format", key=key)
    return doc


def _field(doc: dict[str, JSON], field: str, key: str) -> JSON:
    if field in doc:
        return doc[field]
    message = f"{key}: the field {field!r} is missing; {describe(_DEFAULTS[field])} is assumed"
    warn(message)
    return _DEFAULTS[field]


def _parse_keys(separator: JSON, key: str) -> Keys:
    if separator is None:  # as some writers put it for the default
        separator = "."
    return v2_keys(choice(separator, "/dimension_separator", key, _SEPARATORS))


def _render_keys(keys: Keys) -> str:
    if keys.separator in _SEPARATORS and keys == v2_keys(keys.separator):
        return keys.separator
    raise UnsupportedError(f"Zarr v2 has no chunk keys such as {keys.key((1, 2))!r}")


def _attributes(zattrs: JSON, key: str) -> dict[str, JSON]:
    if zattrs is None:
        return {}
    if isinstance(zattrs, dict):
        return zattrs
    key = key.rpartition("/")[0]
    raise MetadataError(f"the attributes are {describe(zattrs)}, not an object", key=f"{key}/.zattrs".lstrip("/"))


def parse_dims(value: JSON, ndim: int) -> tuple[str | None, ...] | None:
    """Read the names of dimensions among attributes: a convention, so what does not follow it is like any other."""
    if not isinstance(value, list) or len(value) != ndim or not all(isinstance(name, str) for name in value):
        return None
    return tuple(cast("list[str]", value))


def render_attributes(meta: ArrayMeta) -> dict[str, JSON]:
    """Write the attributes of an array, with the names of dimensions among them.

    Raises:
        UnsupportedError: Some dimensions have names and others not.
    """
    attributes = dict(meta.attributes)
    # Without dimensions the list is empty, and xarray insists on it.
    if meta.dims is None or DIMENSIONS in attributes or (meta.dims and all(name is None for name in meta.dims)):
        return attributes
    if None in meta.dims:
        raise UnsupportedError("Zarr v2 names all dimensions or none", hint="Give every dimension a name.")
    return {DIMENSIONS: list(meta.dims), **attributes}
