"""The first Zarr format, of 2015 and 2016: `__zmeta__`, `__zattr__` and chunks in `__zdata__`.

One array in one directory: `__zmeta__` says shape, chunks, type, fill value and how Blosc compresses; `__zattr__` holds
the attributes, and is there once an attribute was set; `__zdata__/0.0.blosc` is the first chunk of two dimensions.
zarr 0.3.0 wrote `__zmeta__` as a pickle, and its Blosc set the flag of the bit shuffle on single bytes that it left as
they were.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from omnizarr.errors import MetadataError, UnsupportedError
from omnizarr.format import v2
from omnizarr.format.check import choice, even_chunks, integer, missing
from omnizarr.format.document import load_object
from omnizarr.format.names import ZATTR, ZDATA, ZMETA
from omnizarr.format.old import dump, fixed_keys, old_dtype, only_array, parse_fill, render_fill
from omnizarr.format.v0_pickle import is_pickle, load_pickle
from omnizarr.format.v2_codecs import render_codecs
from omnizarr.format.v2_dtype import render_dtype
from omnizarr.limits import DEFAULT_LIMITS, Limits
from omnizarr.model.array import ArrayMeta
from omnizarr.model.codec import Codec
from omnizarr.model.group import GroupMeta
from omnizarr.model.jsonvalue import JSON
from omnizarr.model.keys import Keys

FORMAT: Final = "zarr0"
KEYS: Final = Keys(f"{ZDATA}/", ".", ".blosc", f"{ZDATA}/.blosc")

CNAMES: Final = ("blosclz", "lz4", "lz4hc", "snappy", "zlib")
"""The compressors that Blosc had then; zstd came later."""

_FIELDS: Final = ("shape", "chunks", "dtype", "fill_value", "cname", "clevel", "shuffle")
_BYTES_IN_ORDER: Final = "bytes_in_order"
_BITS: Final = 2
"""The bit shuffle, in numbers."""


def parse(start: str, texts: Mapping[str, bytes], limits: Limits = DEFAULT_LIMITS) -> ArrayMeta:
    """Read the documents of an array.

    Args:
        start: What the documents' keys begin with.
        texts: The documents by name.
        limits: Bounds on what they may claim.

    Raises:
        MetadataError: A document is malformed.
        UnsafeError: It is a pickle that would do more than hold values.
    """
    key, data = start + ZMETA, texts[ZMETA]
    pickled = is_pickle(data)
    doc = load_pickle(data, key) if pickled else _load(data, key, limits)
    for field in _FIELDS:
        if field not in doc:
            missing(field, key)
    compressor: dict[str, JSON] = {
        "id": "blosc",
        "cname": choice(doc["cname"], "/cname", key, (*CNAMES, "zstd")),
        "clevel": integer(doc["clevel"], "/clevel", key, 0, 9),
        "shuffle": _shuffle(doc["shuffle"], key),
        "blocksize": 0,
    }
    like_v2: dict[str, JSON] = {
        "zarr_format": 2,
        **{field: doc[field] for field in ("shape", "chunks", "dtype")},
        "fill_value": None,
        "order": "C",
        "filters": None,
        "compressor": compressor,
    }
    attrs = texts.get(ZATTR)
    attributes = None if attrs is None else load_object(attrs, start + ZATTR, limits)
    meta = v2.parse_array(like_v2, attributes, key, limits)
    if not meta.shape:
        message = "the array has no dimensions, which this format cannot store: what wrote it failed half-way"
        raise MetadataError(message, pointer="/shape", key=key)
    codecs = meta.codecs
    if doc.get(_BYTES_IN_ORDER) is True or (pickled and meta.dtype.itemsize == 1 and compressor["shuffle"] == _BITS):
        codecs = tuple(_old_blosc(codec) for codec in codecs)
    fill = parse_fill(doc["fill_value"], meta.dtype, key)
    extra = {field: value for field, value in doc.items() if field not in (*_FIELDS, _BYTES_IN_ORDER)}
    return meta._replace(format=FORMAT, keys=KEYS, codecs=codecs, fill=fill, extra=extra)


def render(meta: ArrayMeta | GroupMeta) -> dict[str, bytes]:
    """Write the documents of an array, byte for byte as zarr 0.4.0 did; without attributes there is only `__zmeta__`.

    Raises:
        UnsupportedError: The format cannot express the array, or it is a group.
    """
    meta = only_array(meta, "Zarr v0")
    attributes = v2.render_attributes(meta)
    texts = {ZATTR: dump(attributes)} if attributes else {}
    return {**texts, ZMETA: dump(_document(meta))}


def _document(meta: ArrayMeta) -> dict[str, JSON]:
    if not meta.shape:
        raise UnsupportedError("Zarr v0 has no arrays without dimensions")
    if meta.keys != KEYS:
        raise UnsupportedError(f"Zarr v0 has no chunk keys such as {meta.keys.key((1, 2))!r}")
    # Only a pickle tells that zarr 0.3.0 wrote the chunks; a document that takes its place must say so.
    in_order = any(_BYTES_IN_ORDER in codec.configuration for codec in meta.codecs)
    extra: dict[str, JSON] = {**meta.extra, _BYTES_IN_ORDER: True} if in_order else {**meta.extra}
    pipeline = render_codecs(meta.codecs, meta.ndim, meta.dtype)
    blosc = pipeline.compressor
    if pipeline.order != "C" or pipeline.filters or not isinstance(blosc, dict) or blosc["id"] != "blosc":
        hint = "Give cname=, clevel= and shuffle=, or one Blosc codec."
        raise UnsupportedError("Zarr v0 has C order and Blosc, and nothing else", hint=hint)
    if blosc["cname"] not in CNAMES or blosc["blocksize"]:
        message = f"Zarr v0 has Blosc with {', '.join(CNAMES)}, and no block size"
        raise UnsupportedError(message, codec="blosc")
    return {
        "shape": list(meta.shape),
        "chunks": even_chunks(meta.grid, "Zarr v0"),
        "dtype": old_dtype(render_dtype(meta.dtype, pipeline.dtype_order), "Zarr v0"),
        "fill_value": render_fill(meta.fill, meta.dtype, "Zarr v0"),
        "cname": blosc["cname"],
        "clevel": blosc["clevel"],
        "shuffle": blosc["shuffle"],
        **extra,
    }


def _load(data: bytes, key: str, limits: Limits) -> dict[str, JSON]:
    try:
        return load_object(data, key, limits)
    except MetadataError as error:
        if error.hint is None:
            # zarr wrote the document piece by piece, and stopped where it met a fill value that has no form in JSON.
            error.hint = "A document that is cut off is what zarr 0.4 left behind when it could not create the array."
        raise


def _shuffle(value: JSON, key: str) -> int:
    # 0.3.0 took booleans, too.
    return int(value) if isinstance(value, bool) else integer(value, "/shuffle", key, 0, 2)


def _old_blosc(codec: Codec) -> Codec:
    if codec.name != "blosc":
        return codec
    return codec._replace(configuration={**codec.configuration, _BYTES_IN_ORDER: True})


def keys(separator: str | None) -> Keys:
    """Return the keys of chunks, which are always the same.

    Raises:
        UnsupportedError: Another separator is asked for.
    """
    return fixed_keys(KEYS, separator, "Zarr v0")
