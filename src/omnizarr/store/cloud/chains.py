"""URLs that fsspec opens: chains of file systems, and schemes that nothing else here knows."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

from omnizarr.errors import MissingDependencyError, UnsupportedError
from omnizarr.late import LateModule
from omnizarr.store.protocol import Store
from omnizarr.store.uri import scheme
from omnizarr.store.url.grammar import CLOUDS, SCHEMES

if TYPE_CHECKING:
    from omnizarr.store.cloud import adapters, foreign
else:
    adapters = LateModule("omnizarr.store.cloud.adapters")
    foreign = LateModule("omnizarr.store.cloud.foreign")


def is_chain(where: str) -> bool:
    """Whether a text is a URL for fsspec: a chain of file systems, or one that nothing else here reads.

    >>> is_chain("simplecache::s3://b/k"), is_chain("memory://x"), is_chain("s3://b/k"), is_chain("x.zarr")
    (True, True, False, False)
    """
    name = scheme(where)
    if name is None or name in ("reference", *SCHEMES, *CLOUDS):
        return False
    return "::" in where or "://" in where


def open_chain(where: str, storage_options: Mapping[str, Any] | None = None) -> Store:
    """Open a URL by fsspec.

    Raises:
        MissingDependencyError: If fsspec is not installed.
        UnsupportedError: If it does not know such URLs.
        StoreError: If the file system cannot be made.
    """
    try:
        core = import_module("fsspec.core")
        known = import_module("fsspec.registry")
    except ImportError:
        raise MissingDependencyError(f"{scheme(where)}: URLs are opened by fsspec", hint="pip install fsspec") from None
    first = str(where).partition("::")[0].partition("://")[0]
    if first not in known.known_implementations and first not in known.registry:
        raise UnsupportedError(f"there is no store for {first}: URLs, and fsspec knows none either")
    try:
        with foreign.failures(None, place=foreign.shown(where)):
            fs, path = core.url_to_fs(where, **(storage_options or {}))
    except OSError as error:
        if isinstance(error.__cause__, ImportError):
            raise MissingDependencyError(str(error.__cause__), path=foreign.shown(where)) from None
        raise
    return adapters.file_system(fs, str(path))
