"""Reference sets that exist already, so that they can be combined with others and written in another form."""

from __future__ import annotations

import os
from typing import Final

from omnizarr.errors import MetadataError, OmnizarrError
from omnizarr.refs.rewriting import absolute
from omnizarr.refs.scanners.source import DEFAULTS, Options, SourceFile
from omnizarr.refset.guard import base_of
from omnizarr.refset.json_reading import read_json
from omnizarr.refset.model import References
from omnizarr.refset.parquet_reading import read_parquet
from omnizarr.store.cloud.at import At
from omnizarr.store.sniff import SCANNED, SET, sniff, with_article

_HEAD: Final = 1 << 16
_SETS: Final = (SET, "gzip file", "zstd file", "JSON document")


def scan(source: SourceFile, options: Options = DEFAULTS) -> References:  # noqa: ARG001 - what is wanted is chosen later
    """Read a set; its relative URLs become absolute, since the set that it joins lies elsewhere.

    Raises:
        MetadataError: If it is no reference set.
    """
    try:
        where = At(source.url, source.options) if source.remote is not None else source.url
        found = read_parquet(where) if is_folder(source.url) else read_json(read_text(source))
    except OmnizarrError as error:
        if error.path != source.url:
            error.message = f"{source.url}: {error.message}"
        raise
    return absolute(found, base_of(source.url))


def is_folder(place: str) -> bool:
    """Whether a set is a folder of parquet: of one that is far away, the name tells."""
    return place.rstrip("/").endswith((".parq", ".parquet")) if "://" in place else os.path.isdir(place)  # noqa: PTH112 - text


def read_text(source: SourceFile) -> bytes:
    """Return the bytes of a set in JSON, packed or not.

    Raises:
        MetadataError: If the file is something else; what it is, the error says.
    """
    with source.open() as file:
        head = file.read(_HEAD)
        what = sniff(head).what
        if what not in _SETS:
            cure = "omnizarr.refs.scan makes a set of it." if what in SCANNED else None
            raise MetadataError(f"this is {with_article(what)}, not a reference set", hint=cure)
        return head + file.read()
