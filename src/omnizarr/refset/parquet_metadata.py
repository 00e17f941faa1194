"""The `.zmetadata` of a reference set in parquet: every document of the hierarchy, and how long records are."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping
from typing import Final, NamedTuple

from omnizarr import native
from omnizarr.errors import LimitError, MetadataError, UnsafeError
from omnizarr.limits import DEFAULT_LIMITS, Limits
from omnizarr.store.keys import is_key

NAME: Final = ".zmetadata"
"""The document that makes a folder a set."""

_BASE64: Final = "base64:"
_BOM: Final = b"\xef\xbb\xbf"
_MOST_ROWS: Final = 1 << 53  # of a record: as far as every reader of JSON is exact
_DOCUMENTS: Final = (".zarray", ".zgroup", ".zattrs", "zarr.json")


class Metadata(NamedTuple):
    """What a `.zmetadata` says."""

    documents: dict[str, bytes]
    """The text of each document by its key, and inline bytes of whatever else is there."""

    record_size: int
    """How many rows each record file has."""


def parse_metadata(data: bytes, limits: Limits = DEFAULT_LIMITS) -> Metadata:
    """Take a `.zmetadata` apart; values are objects, as fsspec writes them, or text.

    Raises:
        MetadataError: If it is not that of a reference set.
        LimitError: If it is larger than the limits allow.
        UnsafeError: If a key leads out of the set.

    >>> parse_metadata(b'{"metadata": {".zgroup": {"zarr_format":2}}, "record_size": 10}')
    Metadata(documents={'.zgroup': b'{"zarr_format":2}'}, record_size=10)
    """
    if len(data) > limits.max_document_bytes:
        raise LimitError(f"a document of {len(data)} bytes", key=NAME)
    try:
        found = native.split_inside(data.removeprefix(_BOM), ["metadata"])
    except ValueError as error:
        raise MetadataError(str(error), key=NAME) from None
    if found is None or "record_size" not in found[1]:
        raise MetadataError(
            'this is no reference set in parquet: there must be an object "metadata" and a "record_size"', key=NAME
        )
    entries, around = found
    documents: dict[str, bytes] = {}
    for key, raw in entries.items():
        if not is_key(key):
            raise UnsafeError("a reference set has a key that leads out of it", key=key)
        if raw != b"null":
            documents[key] = raw if raw.startswith(b"{") else _text(key, raw)
    return Metadata(documents, _record_size(around["record_size"]))


def _record_size(raw: bytes) -> int:
    text = raw.decode("utf-8", "replace")
    if text.isascii() and text.isdigit() and len(text) < 20 and 0 < int(text) <= _MOST_ROWS:
        return int(text)
    raise MetadataError(f"record_size is {text[:50]}, not a whole number from 1 on", key=NAME)


def _text(key: str, raw: bytes) -> bytes:
    """Return the bytes of a value that is text: a document in quotes, or inline data."""
    try:
        value: object = json.loads(raw)
    except ValueError:
        value = None
    if not isinstance(value, str):
        raise MetadataError(f"the value of {key!r} is neither an object nor text", key=NAME)
    if not value.startswith(_BASE64):
        return value.encode("utf-8", "surrogatepass")
    try:
        return base64.b64decode(value[len(_BASE64) :], validate=True)
    except binascii.Error as error:
        raise MetadataError(f"the value of {key!r} is no base64: {error}", key=NAME) from None


def make_metadata(documents: Mapping[str, bytes], record_size: int) -> bytes:
    """Make a `.zmetadata`: documents as objects, which is what others read, and other bytes as text.

    >>> make_metadata({".zgroup": b'{"zarr_format":2}', "x/0": bytes([255])}, 10)
    b'{"metadata":{".zgroup":{"zarr_format":2},"x/0":"base64:/w=="},"record_size":10}'
    """
    entries = [json.dumps(key).encode() + b":" + _value(key, data) for key, data in documents.items() if key != NAME]
    return b'{"metadata":{' + b",".join(entries) + b'},"record_size":' + str(record_size).encode() + b"}"


def _value(key: str, data: bytes) -> bytes:
    if key.rpartition("/")[2] in _DOCUMENTS:
        try:
            if isinstance(json.loads(data), dict):
                return data.strip()
        except ValueError:
            pass
        raise MetadataError("the document is no JSON object", key=key)
    try:
        text = data.decode()
    except UnicodeDecodeError:
        text = _BASE64
    if text.startswith(_BASE64):
        text = _BASE64 + base64.b64encode(data).decode()
    return json.dumps(text).encode()
