"""Documents of v3 and v2 to the model; those that were parsed before are not parsed again.

What documents mean is kept by their bytes: a dataset has many arrays, most of which differ in little, and a program
opens the same ones again and again.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from importlib import import_module  # for what few documents need
from typing import Final, TypeAlias, TypeVar, cast

from omnizarr.errors import LimitError, MetadataError, warn
from omnizarr.format import v2, v3
from omnizarr.format.consolidated import MARK, without_block
from omnizarr.format.document import load, load_object
from omnizarr.format.names import ZARR_JSON, ZARRAY, ZATTRS, ZGROUP
from omnizarr.limits import DEFAULT_LIMITS, Limits
from omnizarr.model.array import ArrayMeta
from omnizarr.model.group import GroupMeta
from omnizarr.model.jsonvalue import JSON
from omnizarr.native import split_object

Meta: TypeAlias = ArrayMeta | GroupMeta

_MOST_CACHED: Final = 4096
_LARGEST_CACHED: Final = 1 << 12

_NETCDF: Final = (b'"_nczarr_', b'"_NCZARR_', b'"_NCProperties"')
"""What documents of netcdf-c hold."""

_OLD_NETCDF: Final = (b"netcdf=4.8.", b'"_NCZARR_ATTR"')
"""What those hold in which an escaped single quote stands for a double one."""

_Key = TypeVar("_Key", bound=Hashable)
_Known = TypeVar("_Known", ArrayMeta, Meta)

_parsed_v3: dict[bytes, Meta] = {}
_siblings_v3: dict[tuple[tuple[str, bytes], ...], ArrayMeta] = {}
_parsed_v2: dict[tuple[bytes, bytes | None, bool], Meta] = {}


def known(
    new: bytes | None, array: bytes | None = None, group: bytes | None = None, attrs: bytes | None = None
) -> Meta | None:
    """Return what the documents of a v3 or v2 node mean, if they were parsed before and are those of one of them."""
    if new is not None:
        return _parsed_v3.get(new) if array is None and group is None else None
    main = group if array is None else array
    return None if main is None else _parsed_v2.get((main, attrs, array is not None))


def parse_v3(data: bytes, key: str, limits: Limits = DEFAULT_LIMITS) -> Meta | None:
    """Parse a `zarr.json`; consolidated metadata in it is left out. `None` for a draft's entry point, which is no node.

    Raises:
        MetadataError: If the document breaks its specification.
    """
    meta = _parsed_v3.get(data)
    if meta is not None and limits is DEFAULT_LIMITS:
        return meta
    own = without_block(data) if MARK in data and len(data) <= limits.max_document_bytes else data
    encoding = _encoding(own) if limits is DEFAULT_LIMITS and len(own) <= _LARGEST_CACHED else None
    meta = None if encoding is None else _sibling(*encoding, key)
    if meta is not None:
        _remember(_parsed_v3, data, len(data), meta)
        return meta
    document = load_object(own, key, limits)
    if isinstance(document.get("zarr_format"), str):
        found: Meta | None = import_module("omnizarr.format.draft").parse_node(document, key, limits)
        return found
    if v3.node_type(document, key) == "group":
        meta = v3.parse_group(document, key)
    else:
        meta = v3.parse_array(document, key, limits)
    if limits is DEFAULT_LIMITS:
        _remember(_parsed_v3, data, len(data), meta)
        if encoding is not None and isinstance(meta, ArrayMeta):
            _remember(_siblings_v3, encoding[0], len(data), meta)
    return meta


def _encoding(data: bytes) -> tuple[tuple[tuple[str, bytes], ...], dict[str, bytes]] | None:
    """Part a document's members into those that the arrays of a dataset share, and the varying ones."""
    try:
        members = split_object(data)
    except ValueError:  # whoever parses the whole says better what is wrong
        return None
    varying = {name: members.pop(name) for name in v3.VARYING if name in members}
    return tuple(members.items()), varying


def _sibling(rest: tuple[tuple[str, bytes], ...], varying: Mapping[str, bytes], key: str) -> ArrayMeta | None:
    known = _siblings_v3.get(rest)
    if known is None:
        return None
    try:
        # In one go: to begin and to end costs more than what is in between.
        values = cast("list[JSON]", load(b"[" + b",".join(varying.values()) + b"]", key))
        return v3.parse_sibling(known, dict(zip(varying, values, strict=True)), key, DEFAULT_LIMITS)
    except ValueError:  # as above
        return None


def parse_v2(start: str, texts: Mapping[str, bytes | None], limits: Limits = DEFAULT_LIMITS) -> Meta | None:
    """Parse the documents of a v2 node, `.zarray`, `.zgroup` and `.zattrs`, by name; `None` if there is no node.

    Args:
        start: What the keys of the documents begin with.
        texts: The documents.
        limits: Bounds on them.

    Raises:
        MetadataError: If a document breaks its specification.
    """
    array, attrs = texts.get(ZARRAY), texts.get(ZATTRS)
    main = texts.get(ZGROUP) if array is None else array
    if main is None:
        return None
    cached = (main, attrs, array is not None)
    meta = _parsed_v2.get(cached)
    if meta is not None and limits is DEFAULT_LIMITS:
        return meta
    attributes = None if attrs is None else _loaded(attrs, start + ZATTRS, limits)
    if array is not None:
        meta = v2.parse_array(_loaded(array, start + ZARRAY, limits), attributes, start + ZARRAY, limits)
    else:
        meta = v2.parse_group(_loaded(main, start + ZGROUP, limits), attributes, start + ZGROUP)
    if limits is DEFAULT_LIMITS:
        _remember(_parsed_v2, cached, len(main) + len(attrs or b""), meta)
    return meta


def _loaded(text: bytes, key: str, limits: Limits) -> dict[str, JSON]:
    """Parse a document; one of netcdf-c, which has not always written JSON, as that reads it."""
    try:
        return load_object(text, key, limits)
    except LimitError:
        raise
    except MetadataError as error:
        if not any(mark in text for mark in _NETCDF):
            raise
        quote = '"' if _OLD_NETCDF[0] in text or _OLD_NETCDF[1] in text else "'"
        made: dict[str, JSON] = import_module("omnizarr.format.lenient").load_object(text, key, limits, quote=quote)
        warn(f"{key}: {error.message}; it is read as netcdf-c has written it")
        return made


def parse_v3_of(start: str, texts: Mapping[str, bytes | None], limits: Limits = DEFAULT_LIMITS) -> Meta | None:
    """Parse the document of a v3 node, by name; `None` if there is no node."""
    data = texts.get(ZARR_JSON)
    return None if data is None else parse_v3(data, start + ZARR_JSON, limits)


def remember(texts: Mapping[str, bytes], meta: ArrayMeta) -> None:
    """Keep what the documents of an array in v3 or v2 mean, which whoever wrote them knows without parsing them."""
    new, array, attrs = texts.get(ZARR_JSON), texts.get(ZARRAY), texts.get(ZATTRS)
    if new is not None:
        _remember(_parsed_v3, new, len(new), meta)
    elif array is not None:
        _remember(_parsed_v2, (array, attrs, True), len(array) + len(attrs or b""), meta)


def _remember(cache: dict[_Key, _Known], texts: _Key, size: int, meta: _Known) -> None:
    """Keep what documents mean; all is forgotten when there is too much of it."""
    if size <= _LARGEST_CACHED:
        if len(cache) >= _MOST_CACHED:
            cache.clear()
        cache[texts] = meta
