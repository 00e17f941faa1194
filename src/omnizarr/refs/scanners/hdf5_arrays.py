"""One variable of an HDF5 file: its documents and its references."""

from __future__ import annotations

from typing import Any

import numpy as np

from omnizarr.codec.compile import compile_chain
from omnizarr.errors import ShapeError, UnsupportedError
from omnizarr.format.fill_attribute import without_nan
from omnizarr.format.fill_json import render_v2
from omnizarr.format.v2 import DIMENSIONS, parse_array
from omnizarr.format.v2_dtype import render_dtype
from omnizarr.hierarchy.nodes import documents
from omnizarr.model.dtype import STRING, DType, arrays_of
from omnizarr.model.fill import Fill
from omnizarr.model.jsonvalue import JSON
from omnizarr.nc.tree import Var
from omnizarr.refs.scanners.hdf5_attributes import attributes_json
from omnizarr.refs.scanners.hdf5_elements import Element, element_of
from omnizarr.refs.scanners.hdf5_layout import lay
from omnizarr.refs.scanners.hdf5_site import Site
from omnizarr.refs.scanners.hdf5_values import Laid
from omnizarr.refs.scanners.small import with_inline
from omnizarr.refs.scanners.source import Options
from omnizarr.refs.translating import as_v3
from omnizarr.refset.grids import grid_of
from omnizarr.refset.model import Chunks

_FILL = "_FillValue"


def add_array(site: Site, var: Var, path: str, options: Options) -> None:
    """Add a variable to the set.

    Raises:
        UnsupportedError: If references cannot describe it.
    """
    h5py, dataset = site.h5py, var.handle.id
    element = element_of(h5py, var.handle.tid)
    dims = [dim.name for dim in var.dims] + [f"{var.name}_element_{axis}" for axis in range(len(element.tail))]
    if dataset.get_space().get_simple_extent_type() == h5py.h5s.NULL:
        shape, dims = (0,), [f"{var.name}_nothing"]
        if element.kind == "records":
            raise UnsupportedError("it has no values, and its elements have parts of variable length")
        laid = Laid((1, *element.tail), _codecs(element), None, complete=True)
    else:
        # As long as netCDF says: other variables may have made an unlimited dimension longer.
        shape = tuple(max(d.size, n) if d.unlimited else n for d, n in zip(var.dims, dataset.shape, strict=True))
        laid = lay(site, dataset, element, shape)
    dtype = _model(element) if laid.dtype is None else DType.of(laid.dtype)
    is_new = options.format == "zarr3"
    fill = _fill(site, var, element, dtype, laid, is_new=is_new)
    attrs: dict[str, JSON] = {DIMENSIONS: list(dims), **_flags(element, var), **attributes_json(var.attrs)}
    if not is_new:
        attrs = without_nan(attrs, None if fill.bits is None else fill.value(dtype))
    zarray: dict[str, JSON] = {
        "zarr_format": 2,
        "shape": [*shape, *element.tail],
        "chunks": list(laid.chunks),
        "dtype": render_dtype(dtype, dtype.byteorder),
        "fill_value": render_v2(fill, dtype),
        "order": "C",
        "filters": list(laid.codecs) or None,
        "compressor": None,
    }
    meta = parse_array(zarray, attrs, f"{path}/.zarray")
    compile_chain(meta.codecs, meta.dtype, laid.chunks)  # complains of what could be written down but not be read
    if is_new:
        meta = as_v3(meta, masks=False)
    references = site.builder.references
    references.documents.update({f"{path}/{name}": text for name, text in documents(meta).items()})
    rows = laid.rows if laid.rows is not None else Chunks.ranges(grid_of(meta).counts, 0, [], [], numbers=[])
    references.arrays[path] = with_inline(rows, options.inline, site.read)


def _codecs(element: Element) -> list[dict[str, JSON]]:
    if element.kind == "text":
        return [{"id": "vlen-utf8"}]
    return [{"id": "vlen-array", "dtype": element.dtype.str}] if element.kind == "ragged" else []


def _model(element: Element) -> DType:
    if element.kind == "text":
        return STRING
    inner = DType.of(element.dtype)
    return inner if element.kind == "plain" else arrays_of(inner)


def _flags(element: Element, var: Var) -> dict[str, JSON]:
    return {} if {"flag_values", "flag_meanings"} & var.attrs.keys() else element.attrs


def _fill(site: Site, var: Var, element: Element, dtype: DType, laid: Laid, *, is_new: bool) -> Fill:
    """Return the fill value of an array.

    Zarr v2 has one value for two things: what elements hold that were never written, and, to xarray, what stands for
    "missing". The first must be right where such elements are; where there are none, the attribute `_FillValue` says
    the second. Where there is neither, or zero is meant, there is none: readers take zero, and nobody masks it.
    In v3, which is new, an attribute says the second, so that the value is always the first.
    """
    if element.kind == "records":
        return Fill(None)
    if element.kind != "plain":
        return Fill.of("" if element.kind == "text" and not laid.complete else None, dtype)
    stored = _stored_fill(site, var.handle.id, element)
    given = _given_fill(var, element)
    if is_new and (given is None or not laid.complete or element.dtype.kind != "S"):
        chosen = stored
    elif laid.complete:  # and for text in v3: of that, xarray reads no attribute, but does without one like this
        chosen = given
    else:
        chosen = (
            stored if any(stored.tobytes()) or (given is not None and given.tobytes() == stored.tobytes()) else None
        )
    if chosen is None:
        return Fill(None)
    return Fill(np.asarray(chosen, element.dtype).tobytes())


def _stored_fill(site: Site, dataset: Any, element: Element) -> Any:  # noqa: ANN401 - a value of any type
    h5d, plist = site.h5py.h5d, dataset.get_create_plist()
    value = np.zeros(element.tail, element.memory)
    if plist.fill_value_defined() == h5d.FILL_VALUE_USER_DEFINED:
        plist.get_fill_value(value)
    value = value.astype(element.dtype)
    if not element.tail:
        return value
    first = value.reshape(-1)[:1]
    if (value != first).any():
        raise ShapeError("its fill value is an array, of which Zarr has none")
    return first.reshape(())


def _given_fill(var: Var, element: Element) -> Any:  # noqa: ANN401 - as above
    attr = var.attrs.get(_FILL)
    if attr is None or not len(attr.value):
        return None
    try:
        if isinstance(attr.value, bytes):
            return np.array(attr.value[: element.dtype.itemsize], element.dtype) if element.dtype.kind == "S" else None
        return np.asarray(attr.value[0]).astype(element.dtype)
    except (TypeError, ValueError, OverflowError):
        return None
