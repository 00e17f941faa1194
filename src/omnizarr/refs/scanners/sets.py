"""Reference sets that exist already, so that they can be combined with others and written in another form."""

from __future__ import annotations

import os
from urllib.parse import urljoin

from omnizarr.errors import OmnizarrError
from omnizarr.refs.scanners.source import DEFAULTS, Options, SourceFile
from omnizarr.refset.json_reading import read_json
from omnizarr.refset.model import References
from omnizarr.refset.parquet_reading import read_parquet
from omnizarr.store.uri import scheme


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
    return _absolute(found, source.url)


def _absolute(references: References, where: str) -> References:
    urls = [_joined(where, url) for url in references.urls]
    moved = dict(zip(references.urls, urls, strict=True))
    references.stamps = {moved.get(url, url): stamp for url, stamp in references.stamps.items()}
    references.urls = urls
    return references


def _joined(where: str, url: str) -> str:
    """Return a URL of a set, absolute.

    >>> _joined("/data/set.json", "../a.nc"), _joined("https://host/sets/a.json", "b.nc"), _joined("/a", "s3://b/c")
    ('/a.nc', 'https://host/sets/b.nc', 's3://b/c')
    """
    if scheme(url) is not None or url.startswith("/"):
        return url
    if scheme(where) is not None:
        return urljoin(where, url)
    return os.path.normpath(os.path.join(os.path.dirname(where), url))  # noqa: PTH118, PTH120 - text, not a file
