"""Chunk key encodings in v3 documents.

`default` and `v2` are those of the specification, `zarrs.default_suffix` is one of zarrs, and `omnizarr.affix` writes
down the rule of the first draft of v3, for which there never was a name: prefix, indices and suffix are joined by the
separator, where an empty prefix or suffix adds no separator:

    {"name": "omnizarr.affix", "configuration": {"prefix": "", "separator": ".", "suffix": ""}}

https://zarr-specs.readthedocs.io/en/latest/v3/chunk-key-encodings/index.html
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from omnizarr.errors import MetadataError, UnsupportedError
from omnizarr.format.check import choice, part
from omnizarr.format.document import describe
from omnizarr.format.names import ZARR_JSON, ZARRAY, ZATTRS, ZGROUP, ZMETADATA
from omnizarr.model.codec import Codec
from omnizarr.model.jsonvalue import JSON
from omnizarr.model.keys import Keys, affix_keys, default_keys, suffix_keys, v2_keys
from omnizarr.store.keys import is_key

DEFAULT: Final = "default"
V2: Final = "v2"
SUFFIX: Final = "zarrs.default_suffix"
AFFIX: Final = "omnizarr.affix"

_POINTER: Final = "/chunk_key_encoding"
_SEPARATORS: Final = ("/", ".")
_SETTINGS: Final[dict[str, frozenset[str]]] = {
    DEFAULT: frozenset(("separator",)),
    V2: frozenset(("separator",)),
    SUFFIX: frozenset(("separator", "suffix")),
    AFFIX: frozenset(("prefix", "separator", "suffix")),
}
_KEYS: Final = {
    (DEFAULT, "/"): default_keys("/"),
    (DEFAULT, "."): default_keys("."),
    (V2, "/"): v2_keys("/"),
    (V2, "."): v2_keys("."),
}
_DOCUMENTS: Final = frozenset((ZARR_JSON, ZARRAY, ZATTRS, ZGROUP, ZMETADATA))


def parse_keys(named: Codec, key: str) -> Keys:
    """Read how the chunks of an array are named.

    Args:
        named: Name and configuration, as they stand in the document.
        key: The store's key, for messages.

    Raises:
        MetadataError: A setting is not one, or chunks would be stored where they must not.
        UnsupportedError: The encoding is of another kind.
    """
    name, given = named.name, named.configuration
    settings = _SETTINGS.get(name)
    if settings is None:
        message = f"the chunk key encoding {name!r} is not supported"
        raise UnsupportedError(message, pointer=_POINTER, key=key)
    for field in given:
        if field not in settings:
            message = f"the chunk key encoding {name!r} has no setting {field!r}"
            raise MetadataError(message, pointer=f"{_POINTER}/configuration/{part(field)}", key=key)
    if name == AFFIX:
        prefix, suffix = _text(given, "prefix", "", key), _text(given, "suffix", "", key)
        return _checked(affix_keys(prefix, _text(given, "separator", ".", key), suffix), key)
    pointer = f"{_POINTER}/configuration/separator"
    separator = choice(given.get("separator", "." if name == V2 else "/"), pointer, key, _SEPARATORS)
    if name != SUFFIX:
        return _KEYS[name, separator]
    return _checked(suffix_keys(separator, _text(given, "suffix", None, key)), key)


def render_keys(keys: Keys) -> JSON:
    """Write how the chunks of an array are named, by the encoding that most readers know.

    Raises:
        UnsupportedError: No encoding says that.
    """
    for (name, separator), known in _KEYS.items():
        if keys == known:
            return {"name": name, "configuration": {"separator": separator}}
    separator = keys.separator
    if separator in _SEPARATORS and keys == suffix_keys(separator, keys.suffix):
        return {"name": SUFFIX, "configuration": {"separator": separator, "suffix": keys.suffix}}
    prefix, suffix = keys.prefix.removesuffix(separator), keys.suffix.removeprefix(separator)
    if separator and keys == affix_keys(prefix, separator, suffix):
        return {"name": AFFIX, "configuration": {"prefix": prefix, "separator": separator, "suffix": suffix}}
    raise UnsupportedError(f"Zarr v3 has no encoding for chunk keys such as {keys.key((1, 2))!r}")


def _text(given: Mapping[str, JSON], field: str, default: str | None, key: str) -> str:
    value = given.get(field, default)
    if isinstance(value, str):
        return value
    raise MetadataError(f"text is needed, not {describe(value)}", pointer=f"{_POINTER}/configuration/{field}", key=key)


def _checked(keys: Keys, key: str) -> Keys:
    """Refuse names that two chunks could share, that lie outside the array, or in place of its documents."""
    pointer = f"{_POINTER}/configuration"
    separator = keys.separator
    if not separator or any(letter.isdigit() for letter in separator):
        message = f"the separator {separator!r} does not keep indices apart: it needs letters or signs, and no digits"
        raise MetadataError(message, pointer=f"{pointer}/separator", key=key)
    for sample in (keys.key((0,)), keys.key((1, 0)), keys.scalar):
        if not is_key(sample):
            raise MetadataError(f"a chunk cannot be stored under the key {sample!r}", pointer=pointer, key=key)
        # Some file systems do not tell capitals from small letters.
        if not _DOCUMENTS.isdisjoint(sample.lower().split("/")):
            message = f"a chunk cannot be stored under {sample!r}, which is a name of documents"
            raise MetadataError(message, pointer=pointer, key=key)
    return keys
