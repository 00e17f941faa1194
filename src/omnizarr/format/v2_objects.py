"""Arrays of Python objects in v2 documents: the type says `|O` and no more, the first filter says what the objects are.

https://zarr-specs.readthedocs.io/en/latest/v2/v2.0.html#data-type-encoding, and the object codecs of numcodecs.
"""

from __future__ import annotations

from typing import Final

from omnizarr.errors import UnsupportedError
from omnizarr.format.codec_config import check_safe
from omnizarr.format.v2_dtype import parse_dtype
from omnizarr.model.dtype import BYTES, JSON_OBJECTS, MSGPACK_OBJECTS, STRING, DType, arrays_of
from omnizarr.model.jsonvalue import JSON

ARRAYS: Final = "numcodecs.vlen-array"

NESTED: Final = frozenset(("numcodecs.json2", "numcodecs.msgpack2", "numcodecs.json", "numcodecs.msgpack"))
"""Codecs that store an array as nested lists: in these the order of elements in memory does not show."""

ITEMS: Final = {
    "numcodecs.json2": "json",
    "numcodecs.json": "json",
    "numcodecs.msgpack2": "msgpack",
    "numcodecs.msgpack": "msgpack",
    ARRAYS: "array",
}
"""By codec, how its objects travel; see `omnizarr.model.items`."""

_TYPES: Final = {
    "vlen-utf8": STRING,
    "vlen-bytes": BYTES,
    "categorize": STRING,
    "json2": JSON_OBJECTS,
    "json": JSON_OBJECTS,
    "msgpack2": MSGPACK_OBJECTS,
    "msgpack": MSGPACK_OBJECTS,
}


def objects_of(filters: JSON, key: str) -> DType:
    """Say what the elements of dtype `|O` are: the first filter tells.

    Raises:
        UnsafeError: They are pickled.
        UnsupportedError: They are of a kind that Omnizarr does not have, or cannot be read by anyone.
    """
    first = filters[0] if isinstance(filters, list) and filters else None
    name = first.get("id") if isinstance(first, dict) else None
    if not isinstance(first, dict) or not isinstance(name, str):
        message = "Python objects without a codec were stored as addresses in memory, which nobody can read"
        raise UnsupportedError(message, pointer="/filters", key=key)
    check_safe(name, "/filters/0", key)
    if name in _TYPES:
        return _TYPES[name]
    if name == "vlen-array":
        return arrays_of(parse_dtype(first.get("dtype"), "/filters/0/dtype", key))
    message = f"objects encoded by {name!r} are not supported"
    raise UnsupportedError(message, pointer="/filters/0", key=key, codec=name)


def is_nested(codec: JSON) -> bool:
    """Whether the first step of a chain stores nested lists, so that order "F" moves nothing.

    zarr-python 2 forgot that when reading, and gave the elements of such arrays back in another order.
    """
    return isinstance(codec, dict) and f"numcodecs.{codec.get('id')}" in NESTED
