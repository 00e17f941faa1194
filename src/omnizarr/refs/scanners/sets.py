"""Reference sets that exist already, so that they can be combined with others and written in another form."""

from __future__ import annotations

import os

from omnizarr.errors import OmnizarrError
from omnizarr.refs.rewriting import absolute
from omnizarr.refs.scanners.source import DEFAULTS, Options, SourceFile
from omnizarr.refset.guard import base_of
from omnizarr.refset.json_reading import read_json
from omnizarr.refset.model import References
from omnizarr.refset.parquet_reading import read_parquet


def scan(source: SourceFile, options: Options = DEFAULTS) -> References:  # noqa: ARG001 - nothing is left to choose
    """Read a set; its relative URLs become absolute, since the set that it joins lies elsewhere.

    Raises:
        MetadataError: If it is no reference set.
    """
    try:
        if os.path.isdir(source.url):  # noqa: PTH112 - the path is text already
            found = read_parquet(source.url)
        else:
            with source.open() as file:
                found = read_json(file.read())
    except OmnizarrError as error:
        error.message = f"{source.url}: {error.message}"
        raise
    return absolute(found, base_of(source.url))
