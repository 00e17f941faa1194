"""Zarr v1, of 2016: `meta` and `attrs` beside the chunks `0.0`; one array in one store.

https://zarr-specs.readthedocs.io/en/latest/v1/v1.0.html, and what the only writer, zarr 1.0 and 1.1, did otherwise:
"order": "F" was kept to by Blosc alone, and what is called "gzip" by users is stored and named as zlib.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from omnizarr.errors import MetadataError, UnsupportedError
from omnizarr.format import v2
from omnizarr.format.check import choice, even_chunks, missing
from omnizarr.format.document import describe, load_object
from omnizarr.format.names import ATTRS, META
from omnizarr.format.old import dump, fixed_keys, old_dtype, only_array, parse_fill, render_fill
from omnizarr.format.v2_codecs import render_codecs
from omnizarr.format.v2_dtype import render_dtype
from omnizarr.limits import DEFAULT_LIMITS, Limits
from omnizarr.model.array import ArrayMeta
from omnizarr.model.group import GroupMeta
from omnizarr.model.jsonvalue import JSON
from omnizarr.model.keys import Keys, v2_keys

FORMAT: Final = "zarr1"
KEYS: Final = v2_keys(".")

_FIELDS: Final = (
    *("zarr_format", "shape", "chunks", "dtype"),
    *("compression", "compression_opts", "fill_value", "order"),
)
_NAMES: Final = {"blosc": "blosc", "zlib": "zlib", "gzip": "zlib", "bz2": "bz2", "lzma": "lzma"}
_ORDER: Final = "order"


def is_meta(data: bytes) -> bool:
    """Whether a file called `meta` looks like that of an array: any name is also one that a user may give.

    Names are sorted in it, so that one that is cut off has the chunks alone.
    """
    text = data.strip()
    return text[:1] == b"{" and (b'"zarr_format"' in text or (b'"chunks"' in text and text[-1:] != b"}"))


def parse(start: str, texts: Mapping[str, bytes], limits: Limits = DEFAULT_LIMITS) -> ArrayMeta | None:
    """Read the documents of an array; `None` if the file called `meta` is none.

    Args:
        start: What the documents' keys begin with.
        texts: The documents by name.
        limits: Bounds on what they may claim.

    Raises:
        MetadataError: A document is malformed.
    """
    key, data = start + META, texts[META]
    if not is_meta(data):
        return None
    doc = load_object(data, key, limits)
    if doc.get("zarr_format") != 1 or isinstance(doc["zarr_format"], bool):
        message = f"zarr_format is {describe(doc.get('zarr_format'))}, not 1"
        raise MetadataError(message, pointer="/zarr_format", key=key)
    for field in _FIELDS:
        if field not in doc:
            missing(field, key)
    compressor = _compressor(doc["compression"], doc["compression_opts"], key)
    order = choice(doc[_ORDER], "/order", key, ("C", "F"))
    # Only Blosc was handed the elements in the order asked for; all others were handed, and gave back, C order.
    ignored = order == "F" and (compressor is None or compressor["id"] != "blosc")
    like_v2: dict[str, JSON] = {
        "zarr_format": 2,
        **{field: doc[field] for field in ("shape", "chunks", "dtype")},
        "fill_value": None,
        "order": "C" if ignored else order,
        "filters": None,
        "compressor": compressor,
    }
    attrs = texts.get(ATTRS)
    attributes = None if attrs is None else load_object(attrs, start + ATTRS, limits)
    meta = v2.parse_array(like_v2, attributes, key, limits)
    extra = {field: value for field, value in doc.items() if field not in _FIELDS}
    if ignored:
        extra[_ORDER] = "F"
    return meta._replace(format=FORMAT, keys=KEYS, fill=parse_fill(doc["fill_value"], meta.dtype, key), extra=extra)


def render(meta: ArrayMeta | GroupMeta) -> dict[str, bytes]:
    """Write the documents of an array, as zarr 1.1 did.

    Raises:
        UnsupportedError: The format cannot express the array, or it is a group.
    """
    meta = only_array(meta, "Zarr v1")
    if not meta.shape:
        raise UnsupportedError("Zarr v1 cannot store arrays without dimensions")
    if meta.keys != KEYS:
        raise UnsupportedError(f"Zarr v1 has no chunk keys such as {meta.keys.key((1, 2))!r}")
    pipeline = render_codecs(meta.codecs, meta.ndim, meta.dtype)
    if pipeline.filters:
        raise UnsupportedError("Zarr v1 has one compressor and no filters")
    name, options = _render_compressor(pipeline.compressor)
    if pipeline.order == "F" and name != "blosc":
        hint = 'Take order="C", or Blosc.'
        raise UnsupportedError("in Zarr v1 only Blosc keeps to the order F", hint=hint)
    document: dict[str, JSON] = {
        "zarr_format": 1,
        "shape": list(meta.shape),
        "chunks": even_chunks(meta.grid, "Zarr v1"),
        "dtype": old_dtype(render_dtype(meta.dtype, pipeline.dtype_order), "Zarr v1"),
        "compression": name,
        "compression_opts": options,
        "fill_value": render_fill(meta.fill, meta.dtype, "Zarr v1"),
        "order": pipeline.order,
        **meta.extra,
    }
    return {ATTRS: dump(v2.render_attributes(meta)), META: dump(document)}


def _compressor(name: JSON, options: JSON, key: str) -> dict[str, JSON] | None:
    if name is None or name == "none":
        return None
    known = _NAMES.get(name) if isinstance(name, str) else None
    if known is None:
        message = f"the compression {describe(name)} is not one of {', '.join(_NAMES)} and none"
        raise UnsupportedError(message, pointer="/compression", key=key)
    if isinstance(options, dict):
        given = dict(options)
    elif known in ("zlib", "bz2") and type(options) is int:
        given = {"level": options}
    elif options is None:
        given = {}
    else:
        message = f"the options of {known} cannot be {describe(options)}"
        raise MetadataError(message, pointer="/compression_opts", key=key)
    return {"id": known, **given}


def _render_compressor(compressor: JSON) -> tuple[str, JSON]:
    if compressor is None:
        return "none", None
    options = dict(compressor) if isinstance(compressor, dict) else {}
    name = options.pop("id", None)
    if not isinstance(name, str) or name not in ("blosc", "zlib", "bz2", "lzma"):
        message = f"Zarr v1 has blosc, zlib, bz2 and lzma, but not {name}"
        raise UnsupportedError(message, codec=str(name))
    if name in ("zlib", "bz2"):
        return name, options.get("level", 1)
    if name == "blosc" and options.pop("blocksize", 0):
        raise UnsupportedError("Zarr v1 cannot say Blosc's block size", codec="blosc")
    return name, options


def keys(separator: str | None) -> Keys:
    """Return the keys of chunks, which are always the same.

    Raises:
        UnsupportedError: Another separator is asked for.
    """
    return fixed_keys(KEYS, separator, "Zarr v1")
