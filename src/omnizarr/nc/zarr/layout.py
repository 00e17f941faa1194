"""From a variable to the array that holds its values."""

from __future__ import annotations

from math import prod
from typing import Any, Final

import numpy as np

from omnizarr.errors import OmnizarrError, UnsupportedError
from omnizarr.format import v3
from omnizarr.format.fill_json import render_v2
from omnizarr.format.flow import Flow
from omnizarr.format.v2_codecs import parse_codecs
from omnizarr.format.v2_dtype import render_dtype
from omnizarr.limits import DEFAULT_LIMITS
from omnizarr.model.array import ArrayMeta
from omnizarr.model.dtype import BYTES, DType
from omnizarr.model.dtype import STRING as STRINGS
from omnizarr.model.fill import Fill
from omnizarr.model.grid import RegularGrid
from omnizarr.model.jsonvalue import JSON
from omnizarr.model.keys import default_keys, v2_keys
from omnizarr.nc.chunking import default_chunks
from omnizarr.nc.tree import Var
from omnizarr.nc.types import CHAR, INT, STRING, Compound, Enum, Opaque, Type
from omnizarr.nc.zarr.attributes import number_json
from omnizarr.nc.zarr.elements import DEFAULT_LENGTH, is_packed, stored_fill
from omnizarr.nc.zarr.filters import split, to_codecs
from omnizarr.nc.zarr.packed import little_endian
from omnizarr.nc.zarr.style import Style

MAX_LENGTH: Final = "_nczarr_maxstrlen"
DEFAULT_MAX_LENGTH: Final = "_nczarr_default_maxstrlen"

_ONE_CHUNK: Final = 256 << 20
"""A variable without chunks of its own is one chunk up to so many bytes; a larger one could not be written in parts."""


def array_of(var: Var, style: Style, length: int = 0) -> ArrayMeta:
    """Return the array for a variable, as long as its dimensions are now.

    Args:
        var: The variable.
        style: How it is to be written.
        length: Bytes of a string of fixed length, if more than what attributes and defaults say are needed.

    Raises:
        UnsupportedError: If Zarr cannot hold it.
    """
    try:
        return _array_of(var, style, length)
    except OmnizarrError as error:
        error.path = error.path or var.path
        raise


def _array_of(var: Var, style: Style, length: int) -> ArrayMeta:
    if style.is_pure and is_packed(var.type):
        raise UnsupportedError(
            f"plain Zarr has no elements of the type {var.type.name}",
            hint='The kinds "nczarr" and "nczarr3" have them.',
        )
    dtype = _element(var, style, length)
    shape = var.shape if var.dims or style.is_v3 or style.is_pure else (1,)
    chunks = chunks_of(var, dtype.itemsize) if var.dims else (1,) * len(shape)
    codecs: list[JSON] = list(to_codecs(var.storage, dtype.itemsize, numbers=dtype.family in ("int", "uint", "float")))
    if any(isinstance(one, dict) and one.get("id") == "szip" for one in codecs):
        raise UnsupportedError("the filter szip can be read but not written", hint="Take another, such as zstd.")
    if dtype.vlen:
        codecs.insert(0, {"id": "vlen-utf8" if dtype.vlen == "string" else "vlen-bytes"})
    flow = Flow(chunks, dtype, var.path, DEFAULT_LIMITS)
    chain = parse_codecs(codecs or None, None, "C", flow)
    if style.is_v3 and dtype.family != "struct":
        dtype = dtype.with_byteorder("native")
    keys = default_keys(style.separator or "/") if style.is_v3 else v2_keys(style.separator or ".")
    return ArrayMeta(
        shape,
        dtype,
        RegularGrid(chunks),
        keys,
        fill_of(var, dtype, style),
        chain,
        format="zarr3" if style.is_v3 else "zarr2",
    )


def array_document(var: Var, meta: ArrayMeta, style: Style) -> dict[str, Any]:
    """Return the document of an array without attributes: a `.zarray` as netcdf-c wants it, or a `zarr.json`."""
    if style.is_v3:
        document = v3.render_array(meta)
        del document["attributes"]
        if var.dims:
            document["dimension_names"] = [dim.name for dim in var.dims]
        return document
    dtype = meta.dtype
    numbers = dtype.family in ("int", "uint", "float")
    codecs = to_codecs(var.storage, dtype.itemsize, numbers=numbers)
    if dtype.vlen:
        filters, compressor = split(codecs)
        filters = [{"id": "vlen-bytes"}, *(filters or [])]
    else:
        filters, compressor = split(codecs)
    document = {
        "zarr_format": 2,
        "shape": list(meta.shape),
        "dtype": spelled(var.type, dtype, style),
        "chunks": list(meta.grid.longest),
        "fill_value": _fill_json(meta, style),
        "order": "C",
        "compressor": compressor,
        "filters": filters,
    }
    if meta.keys.separator != ".":
        document["dimension_separator"] = meta.keys.separator
    return document


def chunks_of(var: Var, itemsize: int) -> tuple[int, ...]:
    """Return the lengths of a chunk: those asked for, one chunk for what is contiguous, else netcdf-c's defaults."""
    storage = var.storage
    lengths = [None if dim.unlimited else dim.size for dim in var.dims]
    if storage.chunks is not None and storage.kind == "chunked" and len(storage.chunks) == len(lengths):
        return tuple(max(1, length) for length in storage.chunks)
    one = tuple(max(1, dim.size) for dim in var.dims)
    if storage.kind != "chunked" and None not in lengths and prod(one) * itemsize <= _ONE_CHUNK:
        return one
    return default_chunks(lengths, itemsize)


def string_length(var: Var) -> tuple[int, bool]:
    """Return the bytes that a string of a variable may have, and whether an attribute says so."""
    for attrs, name in ((var.attrs, MAX_LENGTH), (var.group.root.attrs if var.group else {}, DEFAULT_MAX_LENGTH)):
        attr = attrs.get(name)
        if attr is not None and attr.type == INT and len(attr.value) == 1 and attr.value[0] > 0:
            return int(attr.value[0]), True
    return DEFAULT_LENGTH, False


def fill_of(var: Var, dtype: DType, style: Style) -> Fill:
    """Return the fill value of an array: that of the variable; undefined for one without, if Zarr can say that."""
    if var.storage.no_fill:
        return Fill.zero(dtype) if style.is_v3 else Fill(None)
    fill = stored_fill(var.fill, var.type)
    if dtype.vlen:
        return Fill(fill)
    if dtype.family == "fixed":
        return Fill(bytes(fill)[: dtype.itemsize].ljust(dtype.itemsize, b"\0"))
    if dtype.family in ("raw", "struct"):
        bits = np.asarray(fill, little_endian(var.type)).tobytes()
        # Undefined reads as zeros, too, and xarray refuses a whole dataset over a fill value that is no number.
        return Fill(bits) if style.is_v3 or any(bits) else Fill(None)
    return Fill.of(fill, dtype)


def _element(var: Var, style: Style, length: int) -> DType:
    kind = var.type.base if isinstance(var.type, Enum) else var.type
    if kind == CHAR:
        return DType.of("S1")
    if kind == STRING:
        return STRINGS if style.is_v3 else DType.of(f"S{max(length, string_length(var)[0], _fill_length(var))}")
    if is_packed(kind):
        return BYTES
    if isinstance(kind, (Opaque, Compound)):
        return _bytes_or_struct(kind, style)
    return DType.of(kind.numpy.newbyteorder(">" if var.storage.endian == "big" else "<"))


def _bytes_or_struct(kind: Opaque | Compound, style: Style) -> DType:
    stored = little_endian(kind)
    if isinstance(kind, Opaque) or not _is_flat(kind):
        return DType.of(f"V{stored.itemsize}")
    # The name that zarr-python 3.1 knows; the registry has since come to another.
    return DType.of(stored)._replace(name="structured") if style.is_v3 else DType.of(stored)


def _is_flat(kind: Compound) -> bool:
    """Whether no member is an array or a compound, for which zarr-python has no words: elements are bytes then."""
    return not any(field.shape or isinstance(field.type, Compound) for field in kind.fields)


def _fill_length(var: Var) -> int:
    return len(stored_fill(var.fill, STRING))


def spelled(kind: Type, dtype: DType, style: Style) -> JSON:
    """Return how a `.zarray` spells the type of elements."""
    # netcdf-c tells characters from strings by a byte order that neither has.
    if kind == CHAR and not style.is_pure:
        return ">S1"
    return render_dtype(dtype, "")


def _fill_json(meta: ArrayMeta, style: Style) -> JSON:
    """Return the fill value; in NCZarr text is spelled as it is, where Zarr has base64."""
    if meta.fill.bits is None:
        return None
    family = meta.dtype.family
    if family == "fixed" and (not style.is_pure or not any(meta.fill.bits)):
        return meta.fill.bits.rstrip(b"\0").decode("utf-8", "surrogateescape")
    if family in ("int", "uint", "float"):
        return number_json(
            np.frombuffer(meta.fill.bits, meta.dtype.numpy)[0].astype(meta.dtype.numpy.newbyteorder("="))
        )
    return render_v2(meta.fill, meta.dtype)
