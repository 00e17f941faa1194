"""What lies under the keys of a zmap, object by object: how large it is, and what it holds."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from omnizarr.nc.zmap import Zmap

DOCUMENTS: Final = frozenset({
    ".zgroup", ".zarray", ".zattrs", ".zmetadata", "zarr.json",
    ".nczarr", ".nczgroup", ".nczvar", ".nczarray", ".nczattr", ".nczattrs",
    "meta", "attrs", "__zmeta__", "__zattr__", "attributes.json",
})  # fmt: skip
"""Names of objects that hold JSON."""

_NETCDF: Final = {
    "i1": "byte", "u1": "ubyte", "i2": "short", "u2": "ushort", "i4": "int", "u4": "uint", "i8": "int64",
    "u8": "uint64", "f4": "float", "f8": "double", "S1": "char",
    "int8": "byte", "uint8": "ubyte", "int16": "short", "uint16": "ushort", "int32": "int", "uint32": "uint",
    "int64": "int64", "uint64": "uint64", "float32": "float", "float64": "double", "string": "string",
}  # fmt: skip
_MOST_CONTENT: Final = 16 << 20


class Entry(NamedTuple):
    """An object."""

    key: str
    size: int
    kind: str
    """document, chunk, or other."""
    type: str
    """Of chunks: the type of the elements, as netCDF calls it where it has a name for it; empty if unknown."""
    content: str | None = None
    """Of documents, if asked for: the text."""


def entries(zmap: Zmap, prefix: str = "/", *, content: bool = False) -> Iterator[Entry]:
    """Go through all objects below a key, depth first and sorted.

    Raises:
        EmptyKeyError: If there is none.
    """
    found = False
    for entry in _below(zmap, prefix.rstrip("/") or "/", _type_above(zmap, prefix), content=content):
        found = True
        yield entry
    if not found:
        zmap.read(prefix)  # raises


def _below(zmap: Zmap, key: str, inherited: str | None, *, content: bool) -> Iterator[Entry]:
    if zmap.exists(key):
        yield _entry(zmap, key, inherited, content=content)
        return
    own = _type_at(zmap, key)
    for name in zmap.search(key):
        yield from _below(zmap, f"{key.rstrip('/')}/{name}", inherited if own is None else own, content=content)


def _entry(zmap: Zmap, key: str, inherited: str | None, *, content: bool) -> Entry:
    size = zmap.len(key)
    if key.rpartition("/")[2] in DOCUMENTS:
        text = None
        if content:
            text = zmap.read(key, 0, min(size, _MOST_CONTENT)).decode("utf-8", "backslashreplace")
        return Entry(key, size, "document", "", text)
    return Entry(key, size, "other", "") if inherited is None else Entry(key, size, "chunk", inherited)


def _type_above(zmap: Zmap, key: str) -> str | None:
    parts = key.rstrip("/").split("/")
    for end in range(len(parts) - 1, 0, -1):
        found = _type_at(zmap, "/".join(parts[:end]) or "/")
        if found is not None:
            return found
    return None


def _type_at(zmap: Zmap, key: str) -> str | None:
    """Return the type of elements of the array at a key, `None` if there is no array."""
    for name, field in ((".zarray", "dtype"), ("zarr.json", "data_type")):
        inner = f"{key.rstrip('/')}/{name}"
        if not zmap.exists(inner):
            continue
        try:
            document: Any = json.loads(zmap.read(inner, 0, min(zmap.len(inner), _MOST_CONTENT)))
        except (ValueError, RecursionError):
            return ""
        if isinstance(document, dict) and field in document:
            return _type_text(document[field])
    return None


def _type_text(value: object) -> str:
    if isinstance(value, str):
        bare = value[1:] if value[:1] in ("<", ">", "|", "=") else value
        if bare == "S1" and not value.startswith(">"):
            return "string"
        is_text = value.startswith("|S") and bare[1:].isdigit()
        return "string" if is_text else _NETCDF.get(bare, value)
    return json.dumps(value)
