"""Rules about `zarr.json`: all that is wrong with one, not only the first thing that keeps it from being read.

https://zarr-specs.readthedocs.io/en/latest/v3/core/index.html#array-metadata
"""

from __future__ import annotations

import re
from typing import Final

from omnizarr.errors import OmnizarrError
from omnizarr.format import check, fill_json
from omnizarr.format.check import part
from omnizarr.format.consolidated import FIELD, MARK, without_block
from omnizarr.format.document import describe
from omnizarr.format.parsed import Meta, parse_v3
from omnizarr.format.v3_codecs import parse_named
from omnizarr.format.v3_dtype import parse_dtype
from omnizarr.format.v3_grid import parse_grid
from omnizarr.format.v3_keys import parse_keys
from omnizarr.model.codec import Codec
from omnizarr.model.dtype import DType
from omnizarr.model.grid import Grid
from omnizarr.model.jsonvalue import JSON
from omnizarr.tools.validate.document import Document
from omnizarr.tools.validate.fills import is_plain
from omnizarr.tools.validate.report import Codes
from omnizarr.tools.validate.v3_chain import check_chain

_REQUIRED: Final = ("shape", "data_type", "chunk_grid", "chunk_key_encoding", "fill_value", "codecs")
_OPTIONAL: Final = ("attributes", "dimension_names", "storage_transformers")
_NULLS: Final = (*_OPTIONAL, FIELD)
_NAME: Final = r"[a-z][a-z0-9\-_.]+|[a-z][a-z0-9+.\-]*:.*"
_REFUSED: Final = Codes("OZ299", "OZ299", "OZ299")


def check_v3(doc: Document, data: bytes) -> Meta | None:
    """Check a `zarr.json`, and return what it says if it can be used; consolidated metadata in it are left out.

    A document of February 2023, whose `zarr_format` is a URL, is only checked as far as it is parsed.
    """
    own = without_block(data) if MARK in data and len(data) <= doc.limits.max_document_bytes else data
    value = doc.object(own)
    if value is None:
        return None
    if not isinstance(value.get("zarr_format"), str):
        _node(doc, value)
    before = doc.errors
    try:
        return parse_v3(data, doc.key, doc.limits)
    except OmnizarrError as error:
        if not before:
            doc.fail(Codes("OZ434", "OZ436", "OZ439") if isinstance(value.get("zarr_format"), str) else _REFUSED, error)
        return None


def _node(doc: Document, value: dict[str, JSON]) -> None:
    version = value.get("zarr_format")
    if version != 3 or isinstance(version, bool):
        doc.add("OZ201", f"zarr_format is {describe(version)}, not 3", "/zarr_format")
        return
    if not isinstance(version, int):
        cures = doc.edit("/zarr_format", 3)
        doc.add("OZ202", f"zarr_format is {describe(version)}, not an integer", "/zarr_format", cures=cures)
    kind = value.get("node_type")
    if kind not in ("array", "group"):
        doc.add("OZ203", f"node_type is {describe(kind)}, not 'array' or 'group'", "/node_type")
        return
    for name in _NULLS:
        if name in value and value[name] is None:
            doc.add("OZ217", f"{name} is null", f"/{name}", cures=doc.edit(f"/{name}", drop=True))
    attributes = value.get("attributes")
    if attributes is not None and not isinstance(attributes, dict):
        doc.add("OZ216", f"the attributes are {describe(attributes)}, not an object", "/attributes")
    known = {"zarr_format", "node_type", "attributes", FIELD}
    if kind == "array":
        known = {*known, *_REQUIRED, *_OPTIONAL} - {FIELD}
        _array(doc, value)
    for name, member in value.items():
        if name not in known and not (isinstance(member, dict) and member.get("must_understand") is False):
            if name == FIELD and member is None:
                continue
            message = f"the member {name!r} is not known, and does not say that it may be ignored"
            doc.add("OZ205", message, f"/{part(name)}")


def _array(doc: Document, value: dict[str, JSON]) -> None:
    for name in _REQUIRED:
        if name not in value:
            doc.add("OZ204", f"the member {name!r} is missing", "/")
    shape = doc.attempt("OZ206", check.shape, value["shape"], doc.key, doc.limits) if "shape" in value else None
    dtype = None
    if "data_type" in value and _may_be_read(doc, value["data_type"], "/data_type"):
        dtype = doc.attempt(Codes("OZ207", "OZ208", "OZ207"), parse_dtype, value["data_type"], doc.key)
    grid = _grid(doc, value["chunk_grid"], shape) if "chunk_grid" in value else None
    if "chunk_key_encoding" in value:
        named = extension(doc, value["chunk_key_encoding"], "/chunk_key_encoding", "OZ214")
        if named is not None:
            doc.attempt(Codes("OZ214", "OZ215", "OZ214"), parse_keys, named, doc.key)
    if "codecs" in value:
        check_chain(doc, value["codecs"], "/codecs", None if grid is None else grid.longest, dtype)
    if "fill_value" in value and dtype is not None:
        _fill(doc, value["fill_value"], dtype)
    _dims(doc, value.get("dimension_names"), shape)
    _transformers(doc, value.get("storage_transformers"))


def extension(doc: Document, value: JSON, pointer: str, rule: str) -> Codec | None:
    """Check an extension that must be understood, and return it if it is one."""
    if not _may_be_read(doc, value, pointer):
        return None
    named = doc.attempt(rule, parse_named, value, pointer, doc.key)
    if named is not None and isinstance(value, str):
        cures = doc.edit(pointer, {"name": value})
        doc.add("OZ233", f"{value!r} is given by its name alone", pointer, cures=cures)
    if named is not None and not re.fullmatch(_NAME, named.name):
        doc.add("OZ239", f"{named.name!r} is no name of an extension", pointer)
    return named


def _may_be_read(doc: Document, value: JSON, pointer: str) -> bool:
    """Whether an extension does not say that it could be left unread, for nothing could be read without it."""
    if not isinstance(value, dict) or value.get("must_understand", True) is True:
        return True
    if value["must_understand"] is False:
        message = "this cannot be left unread, so must_understand cannot be false"
    else:
        message = f"must_understand is {describe(value['must_understand'])}, not true or false"
    doc.add("OZ223", message, f"{pointer}/must_understand")
    return False


def _grid(doc: Document, value: JSON, shape: tuple[int, ...] | None) -> Grid | None:
    named = extension(doc, value, "/chunk_grid", "OZ211")
    if named is None or shape is None:
        return None
    grid = doc.attempt(Codes("OZ211", "OZ213", "OZ211"), parse_grid, named, shape, doc.key)
    lengths = named.configuration.get("chunk_shape")
    if grid is not None and isinstance(lengths, list):
        for at, length in enumerate(lengths):
            if length == 0:
                pointer = f"/chunk_grid/configuration/chunk_shape/{at}"
                doc.add("OZ212", "a chunk of length 0", pointer, cures=doc.edit(pointer, 1))
    return grid


def _fill(doc: Document, value: JSON, dtype: DType) -> None:
    fill = doc.attempt("OZ209", fill_json.parse_v3, value, dtype, doc.key)
    if fill is not None and not is_plain(value, dtype, v3=True):
        plain = fill_json.render_v3(fill, dtype)
        message = f"the fill value of {dtype.name} is {describe(value)}, which should be {plain!r}"
        doc.add("OZ210", message, "/fill_value", cures=doc.edit("/fill_value", plain))


def _dims(doc: Document, value: JSON, shape: tuple[int, ...] | None) -> None:
    if value is None:
        return
    pointer = "/dimension_names"
    if not isinstance(value, list):
        doc.add("OZ218", f"the dimension names are {describe(value)}, not a list", pointer)
        return
    for at, name in enumerate(value):
        if name is not None and not isinstance(name, str):
            doc.add("OZ218", f"the name of a dimension is {describe(name)}", f"{pointer}/{at}")
    names = [name for name in value if isinstance(name, str) and name]
    if shape is not None and len(value) != len(shape):
        doc.add("OZ219", f"dimensions: {len(shape)}, names: {len(value)}", pointer)
    elif len(set(names)) != len(names):
        twice = next(name for name in names if names.count(name) > 1)
        doc.add("OZ220", f"two dimensions have the name {twice!r}", pointer)


def _transformers(doc: Document, value: JSON) -> None:
    if value is None:
        return
    pointer = "/storage_transformers"
    if not isinstance(value, list):
        doc.add("OZ221", f"the storage transformers are {describe(value)}, not a list", pointer)
        return
    for at, item in enumerate(value):
        named = doc.attempt("OZ221", parse_named, item, f"{pointer}/{at}", doc.key)
        if named is not None and named.required:
            doc.add("OZ222", f"the storage transformer {named.name!r} is not known", f"{pointer}/{at}")
