"""Rules about chains of codecs in `zarr.json`.

https://zarr-specs.readthedocs.io/en/latest/v3/core/index.html#chunk-encoding
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from omnizarr.codec.registry import kind_of
from omnizarr.errors import OmnizarrError
from omnizarr.format.check import part, sizes
from omnizarr.format.codec_config import check_config
from omnizarr.format.document import describe
from omnizarr.format.flow import Flow
from omnizarr.format.v3_codecs import parse_chain, parse_named
from omnizarr.model.codec import INDEX_CODECS, KINDS, Codec, canonical, is_unsafe
from omnizarr.model.dtype import DType
from omnizarr.model.jsonvalue import JSON
from omnizarr.tools.validate.document import Document
from omnizarr.tools.validate.report import Codes, words

_SHARDING: Final = "sharding_indexed"
_SHARD_SETTINGS: Final = ("chunk_shape", "codecs", "index_codecs", "index_location")
_OLD_NAMES: Final = {"endian": "bytes"}


def check_chain(doc: Document, value: JSON, pointer: str, shape: tuple[int, ...] | None, dtype: DType | None) -> None:
    """Check a chain, with those inside it.

    Args:
        doc: Where it stands.
        value: The list.
        pointer: Where the list stands in the document.
        shape: The chunk that enters it, where that is known.
        dtype: Its elements.
    """
    before = doc.errors
    if not isinstance(value, list):
        doc.add("OZ224", f"a list of codecs is needed, not {describe(value)}", pointer)
        return
    _steps(doc, value, pointer, dtype)
    if doc.errors == before and shape is not None and dtype is not None:
        try:
            parse_chain(value, pointer, Flow(shape, dtype, doc.key, doc.limits))
        except OmnizarrError as error:
            doc.fail(_codes(error), error)


def _codes(error: OmnizarrError) -> Codes:
    """Return the rules that what only the whole chain shows falls under."""
    message, pointer = words(error)
    if "fixed length" in message:
        rule = "OZ238"
    elif error.codec == _SHARDING:
        rule = "OZ235" if pointer and "/chunk_shape" in pointer else "OZ236"
    elif error.codec is not None and canonical(error.codec) == "transpose":
        rule = "OZ231"
    else:
        rule = "OZ229"
    return Codes(rule, "OZ226", "OZ230")


def _steps(doc: Document, value: list[JSON], pointer: str, dtype: DType | None) -> None:
    is_bytes = unsure = False
    for at, item in enumerate(value):
        place = f"{pointer}/{at}"
        codec = _codec(doc, item, place)
        kind = None if codec is None else KINDS.get(canonical(codec.name))
        if codec is None or kind is None:
            unsure = True
            if codec is not None:
                _unknown(doc, codec, place)
            continue
        if kind == "bytes" and not is_bytes and not unsure:
            doc.add("OZ227", f"the codec {codec.name!r} comes before any array→bytes codec", place)
        elif kind != "bytes" and is_bytes:
            doc.add("OZ227", f"the codec {codec.name!r} comes after an array→bytes codec", place)
        if kind == "array" and canonical(codec.name) != "transpose":
            dtype = None  # it may give the elements another type
        is_bytes = is_bytes or kind != "array"
        _settings(doc, codec, place, dtype)
    if not is_bytes and not unsure:
        doc.add("OZ228", "no codec turns the array into bytes", pointer)


def _codec(doc: Document, item: JSON, place: str) -> Codec | None:
    if isinstance(item, dict) and not isinstance(item.get("must_understand", True), bool):
        message = f"must_understand is {describe(item['must_understand'])}, not true or false"
        doc.add("OZ223", message, f"{place}/must_understand")
        return None
    codec = doc.attempt("OZ225", parse_named, item, place, doc.key)
    if codec is None:
        return None
    if isinstance(item, str):
        doc.add("OZ233", f"{item!r} is given by its name alone", place, cures=doc.edit(place, {"name": item}))
    new = _OLD_NAMES.get(codec.name)
    if new is not None:
        message = f"the codec {codec.name!r} is called {new!r} since Zarr v3 was finished"
        cures = doc.edit(place, {"name": new}) if isinstance(item, str) else doc.edit(f"{place}/name", new)
        doc.add("OZ234", message, f"{place}/name", cures=cures)
    return codec


def _unknown(doc: Document, codec: Codec, place: str) -> None:
    if is_unsafe(codec.name):
        doc.add("OZ230", f"the codec {codec.name!r} would run code that the stored data hold", place)
        return
    try:
        known = kind_of(codec.name) is not None
    except OmnizarrError:  # two packages claim the name
        known = False
    if not known and codec.required:
        doc.add("OZ226", f"the codec {codec.name!r} is not known", place)


def _settings(doc: Document, codec: Codec, place: str, dtype: DType | None) -> None:
    name, given = canonical(codec.name), codec.configuration
    pointer = f"{place}/configuration"
    if name == _SHARDING:
        _sharding(doc, given, pointer, dtype)
    elif name == "bytes":
        if "endian" not in given and dtype is not None and dtype.has_order:
            message = f"the byte order of {dtype.name} is not given; little-endian is assumed"
            cures = doc.edit(pointer, {**given, "endian": "little"})
            doc.add("OZ232", message, place, cures=cures)
        _only(doc, given, pointer, ("endian",), "OZ229")
        if given.get("endian", "little") not in ("little", "big"):
            doc.add("OZ229", f"endian is {describe(given['endian'])}, not 'little' or 'big'", f"{pointer}/endian")
    elif name == "transpose":
        _only(doc, given, pointer, ("order",), "OZ231")
        if "order" not in given:
            doc.add("OZ231", "a transpose needs the setting 'order'", pointer)
    else:
        known = codec.name if codec.name in KINDS else name
        doc.attempt("OZ229", check_config, known, given, pointer, doc.key)


def _only(doc: Document, given: Mapping[str, JSON], pointer: str, allowed: tuple[str, ...], rule: str) -> None:
    for name in given:
        if name not in allowed:
            doc.add(rule, f"the codec has no setting {name!r}", f"{pointer}/{part(name)}")


def _sharding(doc: Document, given: Mapping[str, JSON], pointer: str, dtype: DType | None) -> None:
    _only(doc, given, pointer, _SHARD_SETTINGS, "OZ236")
    for name in ("chunk_shape", "codecs"):
        if name not in given:
            doc.add("OZ236", f"the setting {name!r} is missing", pointer)
    if "chunk_shape" in given:
        doc.attempt("OZ236", sizes, given["chunk_shape"], f"{pointer}/chunk_shape", doc.key, 1)
    location = given.get("index_location", "end")
    if location not in ("start", "end"):
        doc.add("OZ236", f"the index is at {describe(location)}, not 'start' or 'end'", f"{pointer}/index_location")
    if "codecs" in given:
        check_chain(doc, given["codecs"], f"{pointer}/codecs", None, dtype)
    if "index_codecs" in given:
        check_chain(doc, given["index_codecs"], f"{pointer}/index_codecs", None, None)
    else:
        steps: list[JSON] = [_plain(step) for step in INDEX_CODECS]
        message = "the codecs of the shard index are not given; bytes and crc32c are assumed"
        doc.add("OZ237", message, pointer, cures=doc.edit(f"{pointer}/index_codecs", steps))


def _plain(codec: Codec) -> dict[str, JSON]:
    made: dict[str, JSON] = {"name": codec.name}
    if codec.configuration:
        made["configuration"] = dict(codec.configuration)
    return made
