"""Consolidated metadata as texts: v2's `.zmetadata`, and the member of a v3 group that zarr-python writes.

Neither is in a specification. v2: a map from keys such as `a/.zarray` to documents. v3: `consolidated_metadata` of kind
"inline" with a map from paths below the group to documents; the documents of groups in it carry an empty member of the
same name, which does not mean that they have no children.

There may be thousands of documents of which a program wants a few. So they are cut out and put together as they stand,
by their keys below the group, and only whoever wants one parses it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from json.encoder import encode_basestring_ascii
from typing import Final

from omnizarr.errors import LimitError, MetadataError, UnsupportedError
from omnizarr.format.check import part
from omnizarr.format.document import describe, load
from omnizarr.format.names import ZARR_JSON, ZARRAY, ZATTRS, ZGROUP, join, normal_path
from omnizarr.limits import DEFAULT_LIMITS, Limits
from omnizarr.native import split_inside, split_object
from omnizarr.store.keys import is_text

FIELD: Final = "consolidated_metadata"
MARK: Final = b'"consolidated_metadata"'
"""What a document that has the field must hold; a quick look that spares taking the others apart."""

_DOCUMENTS: Final = frozenset((ZARR_JSON, ZARRAY, ZGROUP, ZATTRS))
_NULL: Final = b"null"
_BOM: Final = b"\xef\xbb\xbf"
_LEVELS_OF_A_BLOCK: Final = 3  # of braces: the block, its map, and a document in it
_HINT: Final = "Pass consolidated=False to read the documents of the nodes instead."


def is_document(key: str) -> bool:
    """Whether a key is that of a document which consolidated metadata holds."""
    return key.rpartition("/")[2] in _DOCUMENTS


def split_v2(data: bytes, key: str, limits: Limits = DEFAULT_LIMITS) -> dict[str, bytes]:
    """Return the texts in a `.zmetadata` by their keys.

    What is not a document of Zarr, such as netCDF's `.nczarray`, is among them as it stands.

    Raises:
        MetadataError: It is malformed.
        UnsupportedError: It is of another format than 1.
        UnsafeError: A key leads out of the group, or is none that a store can have.
    """
    members, entries = _parts(data, ("metadata",), key)
    if "record_size" in members:
        # Chunks are named in parquet files beside it; read as plain v2, the arrays would seem to be empty.
        message = "this is the metadata of a reference set in parquet, and no set itself"
        raise UnsupportedError(message, key=key, hint="Open the folder of the set, with mode='r'.")
    version = members.get("zarr_consolidated_format", b"1")
    if version != b"1":
        value = load(version, key, limits)
        if value != 1:
            message = f"zarr_consolidated_format is {describe(value)}, not 1"
            raise UnsupportedError(message, pointer="/zarr_consolidated_format", key=key, hint=_HINT)
    texts: dict[str, bytes] = {}
    if entries is None:
        entries = _entries(members, "", key)
    plain = _are_normal(entries)
    for name, raw in entries.items():
        inner = name if plain else normal_path(name)
        leaf = inner.rpartition("/")[2]
        text = raw
        if leaf in _DOCUMENTS and not raw.startswith(b"{"):
            text = _document(raw, "/metadata", name, key, limits)
        if leaf in (ZARRAY, ZGROUP) and MARK in text:
            text, _ = _parted(text, "/metadata", name, key)
        texts[inner] = text
    return texts


def split_v3(data: bytes, key: str, limits: Limits = DEFAULT_LIMITS) -> dict[str, bytes] | None:
    """Return the texts of the documents in a group's `zarr.json` by their keys; `None` if it has no such member.

    Documents in it that have consolidated metadata lose them; what they alone say is found under its own key.

    Raises:
        MetadataError: It is malformed.
        UnsupportedError: It is of another kind than "inline".
        UnsafeError: A path leads out of the group, or is none that a store can have.
        LimitError: Consolidated metadata in consolidated metadata are nested too deep.
    """
    members, entries = _parts(data, (FIELD, "metadata"), key)
    if entries is None:
        block = members.get(FIELD)
        if block is None or block == _NULL:  # zarr-python 3.0 writes null for none
            return None
        members = _split(block, f"/{FIELD}", key)
    texts: dict[str, bytes] = {}
    level = [("", f"/{FIELD}", _inline(members, entries, f"/{FIELD}", key, limits))]
    depth = 0
    while level:
        if depth > limits.max_document_depth:
            message = f"consolidated metadata are nested deeper than {limits.max_document_depth} levels"
            raise LimitError(message, key=key)
        nested: list[tuple[str, str, dict[str, bytes]]] = []
        empty: set[bytes] = set()  # nearly all that are nested, and these are alike
        for above, pointer, found in level:
            place = f"{pointer}/metadata"
            plain = not above and _are_normal(found)
            for name, raw in found.items():
                path = name if plain else normal_path(join(above, name))
                text = raw if raw.startswith(b"{") else _document(raw, place, name, key, limits)
                if MARK in text:
                    text, deeper = _parted(text, place, name, key)
                    if deeper is not None and deeper not in empty:
                        inner = f"{place}/{part(name)}/{FIELD}"
                        inside = _inline(_split(deeper, inner, key), None, inner, key, limits)
                        if inside:
                            nested.append((path, inner, inside))
                        else:
                            empty.add(deeper)
                texts.setdefault(join(path, ZARR_JSON), text)  # the map further up is what writers keep in step
        level = nested
        depth += _LEVELS_OF_A_BLOCK
    return texts


def _parts(data: bytes, path: tuple[str, ...], key: str) -> tuple[dict[str, bytes], dict[str, bytes] | None]:
    """Return the members around the map of documents and the entries of that; or all members, and `None` for those."""
    try:
        found = split_inside(data.removeprefix(_BOM), path)
    except ValueError:  # taking it apart step by step tells what is wrong
        found = None
    if found is None:
        return _split(data, "/", key), None
    entries, members = found
    return members, {name: text for name, text in entries.items() if text != _NULL}


def _inline(
    members: Mapping[str, bytes], entries: dict[str, bytes] | None, pointer: str, key: str, limits: Limits
) -> dict[str, bytes]:
    kind = members.get("kind", b'"inline"')
    if kind != b'"inline"':
        value = load(kind, key, limits)
        if value != "inline":
            message = f"consolidated metadata of kind {describe(value)} are not supported"
            raise UnsupportedError(message, pointer=f"{pointer}/kind", key=key, hint=_HINT)
    return _entries(members, pointer, key) if entries is None else entries


def without_block(data: bytes) -> bytes:
    """Return a document without its consolidated metadata, which may be a thousand times its size."""
    try:
        members = split_object(data.removeprefix(_BOM))
    except ValueError:  # whoever parses the whole says better what is wrong
        return data
    if FIELD not in members:
        return data
    del members[FIELD]
    return _object(members)


def render_v2(texts: Mapping[str, bytes]) -> bytes:
    """Return a `.zmetadata` that holds these documents."""
    return b'{\n  "metadata": ' + _lines(texts, b"\n    ") + b',\n  "zarr_consolidated_format": 1\n}\n'


def render_v3(data: bytes, texts: Mapping[str, bytes] | None) -> bytes:
    """Return a group's `zarr.json` with these documents in place of the consolidated metadata that it has, if any.

    The documents go in without consolidated metadata of their own, which would not be kept in step.

    Raises:
        MetadataError: The group's document is malformed.
    """
    members = _split(data, "/", ZARR_JSON)
    members.pop(FIELD, None)
    if texts is not None:
        inner = {
            key.removesuffix("/" + ZARR_JSON): without_block(text) if MARK in text else text
            for key, text in texts.items()
            if key != ZARR_JSON
        }
        metadata = _lines(inner, b"\n      ")
        members[FIELD] = (
            b'{\n    "kind": "inline",\n    "must_understand": false,\n    "metadata": ' + metadata + b"\n  }"
        )
    return _lines(members, b"\n  ") + b"\n"


def _split(data: bytes, pointer: str, key: str) -> dict[str, bytes]:
    try:
        return split_object(data.removeprefix(_BOM))
    except ValueError as error:
        raise MetadataError(f"consolidated metadata are malformed: {error}", pointer=pointer, key=key) from error


def _entries(members: Mapping[str, bytes], pointer: str, key: str) -> dict[str, bytes]:
    entries = members.get("metadata")
    if entries is None:
        raise MetadataError("consolidated metadata without the member 'metadata'", pointer=pointer or "/", key=key)
    return {name: text for name, text in _split(entries, f"{pointer}/metadata", key).items() if text != _NULL}


def _are_normal(names: Iterable[str]) -> bool:
    """Whether `normal_path` would change none of the names: one look at all of them, as there may be thousands."""
    joined = "/" + "/\n/".join(names) + "/"
    return is_text(joined) and not any(odd in joined for odd in ("//", "/./", "/../", "\\", "\0"))


def _document(text: bytes, place: str, name: str, key: str, limits: Limits) -> bytes:
    """Return the text of an object that stands in a string; refuse what is neither."""
    pointer = f"{place}/{part(name)}"
    value = load(text, key, limits)
    if not isinstance(value, str):
        raise MetadataError(f"an object is needed, not {describe(value)}", pointer=pointer, key=key)
    # Reference files of kerchunk hold each document as a string.
    try:
        text = value.strip("\ufeff \t\n\r").encode("utf-8")
    except UnicodeEncodeError as error:
        raise MetadataError(f"the document is not UTF-8: {error.reason}", pointer=pointer, key=key) from error
    _split(text, pointer, key)  # or it would break what it is written into
    return text


def _parted(text: bytes, place: str, name: str, key: str) -> tuple[bytes, bytes | None]:
    """Part a document into the rest and its consolidated metadata, if any."""
    members = _split(text, f"{place}/{part(name)}", key)
    block = members.pop(FIELD, None)
    if block is None:  # the mark is somewhere else, as in attributes
        return text, None
    return _object(members), None if block == _NULL else block


def _object(members: Mapping[str, bytes]) -> bytes:
    return b"{" + b",".join(encode_basestring_ascii(name).encode() + b":" + raw for name, raw in members.items()) + b"}"


def _lines(texts: Mapping[str, bytes], newline: bytes) -> bytes:
    if not texts:
        return b"{}"
    lines = (encode_basestring_ascii(name).encode() + b": " + text.strip() for name, text in texts.items())
    return b"{" + newline + (b"," + newline).join(lines) + newline[:-2] + b"}"
