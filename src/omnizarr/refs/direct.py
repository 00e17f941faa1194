"""Files of other formats as hierarchies to read, without a set in between: they are scanned when they are opened.

What a file says may lead to that very file only, whatever is in it.
"""

from __future__ import annotations

import errno
import re
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final, Literal

from omnizarr.errors import NotFoundError, OmnizarrError, StoreError, UnsupportedError
from omnizarr.limits import DEFAULT_LIMITS, Limits
from omnizarr.refs.scanners.dispatch import scan_file, what_is
from omnizarr.refs.scanners.source import Options, SourceFile
from omnizarr.refset.model import References
from omnizarr.refset.opening import open_set
from omnizarr.refset.parquet_reading import open_parquet
from omnizarr.refset.store import ReferenceStore, store_of
from omnizarr.store.cloud.at import At
from omnizarr.store.cloud.store import CloudStore
from omnizarr.store.http import HttpStore
from omnizarr.store.protocol import Store
from omnizarr.store.remote import PUBLIC
from omnizarr.store.sniff import SCANNED, SET, sniff, with_article
from omnizarr.store.uri import path_to_uri
from omnizarr.store.zip_find import archive_in

_ENDING: Final = r"(?i)\.(?:nc[34]?|cdf|h5|hdf5?|he5|tiff?|grib2?|grb2?|fits?)(?=/)"
"""Where the name of a file ends, if a URL goes on behind it."""

_DOCUMENTS: Final = ("zarr.json", ".zarray", ".zgroup", ".zmetadata")

_SCAN: Final = (
    'omnizarr.refs.scan(…, on_error="drop") makes a set of the rest, which opens; omnizarr.Dataset reads netCDF'
    " and HDF5 as they are."
)


def open_path(path: str, limits: Limits = DEFAULT_LIMITS) -> ReferenceStore:
    """Open a file of this machine.

    Args:
        path: Its path.
        limits: Bounds on what its definitions may claim.

    Raises:
        UnsupportedError: If references cannot describe what is in it.
        CorruptError: If it is damaged.
    """
    return store_for(SourceFile(path), limits)


def open_url(url: str, limits: Limits = DEFAULT_LIMITS, options: Mapping[str, Any] | None = None) -> tuple[Store, str]:
    """Open what is on a server: a file, a reference set, or Zarr; and say where in it the URL leads.

    Args:
        url: Its URL, without a fragment. What follows the name of a file is a path within it.
        limits: Bounds on what its definitions may claim.
        options: Headers and settings for the server.

    Raises:
        NotFoundError: If the server has nothing there.
        StoreError: If the server does not give it, or does not give parts of it.
        UnsupportedError: If it is of no format that can be read so.
    """
    source = SourceFile(At(url, options))
    try:
        what = what_is(source)
    except (NotFoundError, StoreError) as error:  # folders have no bytes of their own, or a page for people to look at
        return _folder_or_inside(url, limits, options, error)
    if what in SCANNED:
        return store_for(source, limits), ""
    if what in (SET, "gzip file", "zstd file"):  # nothing else that is packed opens
        return open_set(url, limits=limits, storage_options=options), ""
    with suppress(StoreError):  # what it is has been seen
        if (folder := _folder(url, limits, options)) is not None:
            return folder
    with source.open() as file:
        cure = sniff(file.read(64)).cure
    raise UnsupportedError(f"{url} is {with_article(what)}, which does not open from a server", hint=cure or None)


def open_object(where: At, store: CloudStore, limits: Limits = DEFAULT_LIMITS) -> tuple[Store, str] | None:
    """Open what is one object of an object store: a file, an archive or a reference set; `None` if there is no such.

    Args:
        where: The object.
        store: The store of what lies below it, should it be a folder.
        limits: Bounds on what its definitions may claim.
    """
    source = SourceFile(where)
    try:
        what = what_is(source)
    except NotFoundError:
        copy = store.get(".zmetadata")
        if copy is not None and b'"record_size"' in copy:
            return open_parquet(store, limits=limits, options=where.options), ""
        return None
    if what in SCANNED:
        return store_for(source, limits), ""
    if what in (SET, "gzip file", "zstd file"):
        return open_set(where.where, limits=limits, storage_options=where.options), ""
    if what == "zip file":
        return archive_in(source.open(), read_only=True, limits=limits)
    return None


def _folder_or_inside(
    url: str, limits: Limits, options: Mapping[str, Any] | None, error: NotFoundError | StoreError
) -> tuple[Store, str]:
    """Return the store of a folder, or of the file that a URL leads into; else raise what says most."""
    found = None
    try:
        found = _folder(url, limits, options)
    except StoreError as refused:
        error = refused if isinstance(error, NotFoundError) else error
    found = found or _file_above(url, limits, options)
    if found is None:
        raise error
    return found


def _folder(url: str, limits: Limits, options: Mapping[str, Any] | None) -> tuple[Store, str] | None:
    """Return the store of a folder on a server, if there are documents in it.

    Raises:
        StoreError: If the server refuses to say so.
    """
    store = HttpStore(url, options=options)
    try:
        texts = dict(zip(_DOCUMENTS, store.get_many(_DOCUMENTS), strict=True))
    except StoreError as error:
        if error.errno == errno.EACCES:
            raise
        return None  # a page for whatever is not there
    copy = texts.pop(".zmetadata")
    if copy is not None and b'"record_size"' in copy and not any(texts.values()):
        return open_parquet(store, limits=limits, options=options), ""
    return (store, "") if copy is not None or any(texts.values()) else None


def _file_above(url: str, limits: Limits, options: Mapping[str, Any] | None) -> tuple[Store, str] | None:
    """Return the store of the file that a URL leads into, and the path within it."""
    cut = re.search(_ENDING, url.partition("?")[0])
    if cut is None:
        return None
    return store_for(SourceFile(At(url[: cut.end()], options)), limits), url[cut.end() + 1 :].strip("/")


def store_for(
    source: SourceFile, limits: Limits = DEFAULT_LIMITS, on_error: Literal["raise", "drop"] = "raise"
) -> ReferenceStore:
    """Scan a file, and return the store that its references are.

    Args:
        source: The file.
        limits: Bounds on what its definitions may claim.
        on_error: Whether variables that references cannot describe are an error, or are left out with a warning.
    """
    try:
        found = scan_file(source, Options(inline=0, on_error=on_error))
    except OmnizarrError as error:
        if error.path is None:
            error.path = source.url
        if error.hint and 'on_error="drop"' in error.hint:  # which who opens a file cannot say
            error.hint = _SCAN
        raise
    uri = source.url if source.remote is not None else path_to_uri(source.url)
    allow, what = _reach(source, found), what_is(source)
    return store_of(found, uri=uri, allow=allow, limits=limits, options=source.options, what=what)


def _reach(source: SourceFile, found: References) -> list[str]:
    """Return what may be reached: the file, and for one on a server the public places that it is redirected to."""
    alone = set(found.urls) <= {source.url}
    return [source.url, *(PUBLIC if alone and source.remote is not None else ())]
