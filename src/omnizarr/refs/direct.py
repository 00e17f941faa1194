"""Files of other formats as hierarchies to read, without a set in between: they are scanned when they are opened.

What a file says may lead to that very file only, whatever is in it.
"""

from __future__ import annotations

from typing import Literal

from omnizarr.errors import OmnizarrError, UnsupportedError
from omnizarr.limits import DEFAULT_LIMITS, Limits
from omnizarr.refs.scan.dispatch import scan_file, what_is
from omnizarr.refs.scan.source import Options, SourceFile
from omnizarr.refset.model import References
from omnizarr.refset.opening import open_set
from omnizarr.refset.store import ReferenceStore, store_of
from omnizarr.store.remote import PUBLIC
from omnizarr.store.sniff import SCANNED, SET, sniff, with_article
from omnizarr.store.uri import path_to_uri


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


def open_url(url: str, limits: Limits = DEFAULT_LIMITS) -> ReferenceStore:
    """Open a file on a server.

    Args:
        url: Its URL, without a fragment.
        limits: Bounds on what its definitions may claim.

    Raises:
        NotFoundError: If the server has no such file.
        StoreError: If the server does not give it, or does not give parts of it.
        UnsupportedError: If it is of no format that can be read so.
    """
    source = SourceFile(url)
    what = what_is(source)
    if what == SET:
        return open_set(url, limits=limits)
    if what not in SCANNED:
        with source.open() as file:
            cure = sniff(file.read(64)).cure
        raise UnsupportedError(f"{url} is {with_article(what)}, which does not open from a server", hint=cure or None)
    return store_for(source, limits)


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
        raise
    uri = source.url if source.remote is not None else path_to_uri(source.url)
    return store_of(found, uri=uri, allow=_reach(source, found), limits=limits)


def _reach(source: SourceFile, found: References) -> list[str]:
    """Return what may be reached: the file, and for one on a server the public places that it is redirected to."""
    alone = set(found.urls) <= {source.url}
    return [source.url, *(PUBLIC if alone and source.remote is not None else ())]
