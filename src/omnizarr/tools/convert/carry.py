"""What a format can carry of an array beside its chunks: attributes, names of dimensions, fill value, other members."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import numpy as np

from omnizarr.format.consolidated import FIELD
from omnizarr.format.dialects import ZARR2, ZARR3, dialect
from omnizarr.format.fill_attribute import FILL, as_v2, as_v3, with_mask
from omnizarr.format.v2 import DIMENSIONS
from omnizarr.model.array import ArrayMeta
from omnizarr.model.dtype import DType
from omnizarr.model.fill import Fill
from omnizarr.model.group import GroupMeta
from omnizarr.model.jsonvalue import JSON
from omnizarr.model.structs import struct_order
from omnizarr.tools.convert.masks import Whole, v2_mask

_OWN: Final[dict[str, frozenset[str]]] = {"n5": frozenset(("n5",)), "zarr1": frozenset(("order",))}
"""Members that only say something about the format that is left behind."""

_LOSSY: Final = "Allow it to be left out: lossy=True, or --lossy."


class Loss(NamedTuple):
    """Something that cannot be carried, but can be left out without changing a value."""

    reason: str
    hint: str = _LOSSY


class Carried(NamedTuple):
    """A node as the target shall have it, but for chunks and codecs."""

    meta: Any
    notes: list[str]
    losses: list[Loss]
    written_out: bool = False
    """Whether chunks that are missing have to be written, for they would read as another fill value."""


def carry_group(source: GroupMeta, form: str) -> Carried:
    """Return a group in another format; whether its metadata are consolidated is not its own affair."""
    notes: list[str] = []
    extra, losses = _members(source.extra, source.format, form)
    return Carried(GroupMeta(dict(source.attributes), form, extra), notes, losses)


def carry_array(source: ArrayMeta, form: str, *, in_group: bool, whole: Whole) -> Carried:
    """Return an array in another format, with chunks, codecs and keys as they were.

    Args:
        source: The array.
        form: The format.
        in_group: Whether it is in a group: one without dimensions, which have no names, may be of a dataset there.
        whole: Tells whether all of its chunks are stored.
    """
    if source.format == form:
        return Carried(source, [], [])
    notes: list[str] = []
    extra, losses = _members(source.extra, source.format, form)
    attributes, dims = _names(source, form, notes, losses)
    meta = source._replace(dims=dims, attributes=attributes, extra=extra, format=form)
    if form == ZARR3.name:
        return Carried(_newer(source, meta, notes), notes, losses)
    if source.format != ZARR3.name:
        return Carried(meta, notes, losses)
    meta = meta._replace(attributes=as_v2(attributes, source.dtype.numpy))
    if form != ZARR2.name or dims is None or not (in_group or source.dims is not None):
        return Carried(meta, notes, losses)
    mask = v2_mask(source.attributes, meta.attributes, source.dtype, source.fill, whole)
    notes += [mask.note] if mask.note else []
    return Carried(meta._replace(fill=mask.fill), notes, losses, mask.written_out)


def _newer(source: ArrayMeta, meta: ArrayMeta, notes: list[str]) -> ArrayMeta:
    """Return an array as v3 has it: with a fill value, the mask as an attribute, and one byte order."""
    dtype, fill, attributes = source.dtype, source.fill, as_v3(meta.attributes, source.dtype.numpy, source.fill.bits)
    if len(attributes) < len(meta.attributes):
        notes.append(f"the attribute {FILL} is left to the fill value, which is the same: xarray would not open it")
    is_mask = source.format == ZARR2.name and meta.dims is not None  # as xarray reads it
    if is_mask and len(masked := with_mask(attributes, dtype.numpy, fill.bits)) > len(attributes):
        attributes = masked
        notes.append(f"the fill value, by which xarray masks elements, is also the attribute {FILL}")
    if fill.bits is None:
        fill = Fill.zero(dtype)
        notes.append("the fill value, which was not defined, becomes what such elements read as: zero")
    if dtype.family == "struct" and struct_order(dtype.numpy) == "mixed":
        dtype = dtype.with_byteorder("little")
        fill = Fill.of(source.fill.value(source.dtype) if source.fill.bits is not None else None, dtype)
        fill = Fill.zero(dtype) if fill.bits is None else fill
        notes.append("all fields become little-endian: Zarr v3 has one byte order for all of them")
    if dtype.family == "struct":
        dtype = dtype._replace(name="structured")  # the older of two names, which more versions of zarr-python know
    return meta._replace(dtype=dtype, fill=fill, attributes=attributes)


def _members(extra: Mapping[str, JSON], before: str, form: str) -> tuple[dict[str, JSON], list[Loss]]:
    kept = {name: value for name, value in extra.items() if name != FIELD}
    if before == form:
        return kept, []
    own = _OWN.get(before, frozenset())
    lost = [name for name in kept if name not in own]
    reason = f"{form} has no members {', '.join(map(repr, lost))}, which are not of the specification"
    return {}, [Loss(reason)] if lost else []


def _names(
    source: ArrayMeta, form: str, notes: list[str], losses: list[Loss]
) -> tuple[dict[str, JSON], tuple[str | None, ...] | None]:
    """Return attributes and names of dimensions: of the two, v3 has both, and older formats attributes alone."""
    attributes, dims = dict(source.attributes), source.dims
    listed = attributes.get(DIMENSIONS)
    if not dialect(form).attributes:
        if dims is not None and listed == list(dims):
            del attributes[DIMENSIONS]
            notes.append(f"the attribute {DIMENSIONS} becomes the names of the dimensions")
        return attributes, dims
    if dims is None and not source.shape and DIMENSIONS not in attributes and not dialect(source.format).attributes:
        return attributes, ()  # v3 has no words for it; xarray does not open older formats without the empty list
    if dims is None or listed == list(dims):
        return attributes, dims
    if dims and all(name is None for name in dims):
        return attributes, None
    if DIMENSIONS in attributes:
        losses.append(
            Loss(f"the attribute {DIMENSIONS} contradicts the names of the dimensions, and {form} has no other")
        )
        del attributes[DIMENSIONS]
    if None in dims:
        losses.append(Loss(f"{form} names all dimensions or none, and some have no name"))
        return attributes, None
    notes.append(f"the names of the dimensions become the attribute {DIMENSIONS}")
    return attributes, dims


def difference(wanted: ArrayMeta, seen: ArrayMeta) -> str:
    """Say what documents that were made for an array fail to say; the empty string if nothing."""
    if wanted.shape != seen.shape:
        return "shape"
    if not _same_type(wanted.dtype, seen.dtype):
        return "data type"
    if fill_bits(wanted) != fill_bits(seen):
        return "fill value"
    if wanted.dims is not None and wanted.dims != seen.dims and any(wanted.dims):
        return "names of the dimensions"
    return "" if _text(wanted.attributes) == _text(seen.attributes) else "attributes"


def _same_type(one: DType, other: DType) -> bool:
    if (one.vlen, one.item) != (other.vlen, other.item):
        return False
    return bool(one.vlen) or one.numpy.newbyteorder("=") == other.numpy.newbyteorder("=")


def fill_bits(meta: ArrayMeta) -> bytes | None:
    """Return the bits of a fill value in the machine's byte order."""
    bits, dtype = meta.fill.bits, meta.dtype
    if bits is None or dtype.vlen or dtype.byteorder == sys.byteorder:
        return bits
    if dtype.family == "struct":
        return np.frombuffer(bits, dtype.numpy).astype(dtype.numpy.newbyteorder("=")).tobytes()
    unit = dtype.swap_unit
    if not dtype.byteorder or unit < 2:
        return bits
    return b"".join(bits[at : at + unit][::-1] for at in range(0, len(bits), unit))


def _text(attributes: Mapping[str, JSON]) -> str:
    # As text, in which a NaN equals a NaN; the names of dimensions are compared on their own.
    return json.dumps({name: value for name, value in attributes.items() if name != DIMENSIONS}, sort_keys=True)
