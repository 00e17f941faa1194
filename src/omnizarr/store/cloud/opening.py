"""What lies at a URL of an object store: a folder of keys, an archive, a file, or a reference set."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from omnizarr.errors import ReadOnlyError
from omnizarr.late import LateModule
from omnizarr.limits import Limits
from omnizarr.store.cloud.at import At
from omnizarr.store.cloud.options import kind_of
from omnizarr.store.cloud.store import CloudStore
from omnizarr.store.protocol import Store
from omnizarr.store.remote import Remote
from omnizarr.store.url.grammar import Url, parse
from omnizarr.store.url.modes import understand_modes

direct: Any = LateModule("omnizarr.refs.direct")  # which stands on much more than stores
zip_find: Any = LateModule("omnizarr.store.zip_find")

_CLOUDS: Final = ("s3", "gcs", "azure")
_FILE: Final = r"(?i)\.(?:nc[34]?|cdf|h5|hdf5?|he5|tiff?|grib2?|grb2?|fits?|json(?:\.(?:gz|zst))?|zip|parq(?:uet)?)$"
_ZIP: Final = r"(?i)\.zip$"


def is_cloud(where: object) -> bool:
    """Whether a place lies in an object store, and not on this machine or a plain server.

    >>> is_cloud("s3://data/x"), is_cloud("https://example.org/x"), is_cloud("x.zarr")
    (True, False, False)
    """
    if isinstance(where, At):
        return True
    return isinstance(where, str) and "://" in where and kind_of(where) in _CLOUDS


def is_web(where: str) -> bool:
    """Whether a URL is one of a plain server.

    >>> is_web("https://example.org/x#mode=zarr"), is_web("s3://data/x")
    (True, False)
    """
    return kind_of(where) == "http"


def names_file(where: str) -> bool:
    """Whether a URL of an object store is one of a file, by its modes or else by its name.

    >>> names_file("s3://data/x.nc"), names_file("s3://data/x#mode=bytes"), names_file("s3://data/x.nc#mode=zarr")
    (True, True, False)
    """
    url = parse(where)
    if url is None:
        return False
    model = _asked(url)[0]
    return model == "bytes" or (not model and re.search(_FILE, url.path) is not None)


def _asked(url: Url) -> tuple[str, str]:
    """Return the model and the storage that modes ask for; empty where only the scheme would suggest one."""
    modes = understand_modes(url)
    return (modes.model, modes.storage) if modes.given else ("", "")


def open_cloud(where: str | At, *, read_only: bool, limits: Limits, look: bool) -> tuple[Store, str]:
    """Open a place in an object store; return the store and the path within it.

    Args:
        where: A URL, with or without options.
        read_only: Whether nothing will be changed.
        limits: Bounds on what archives and sets may claim.
        look: Whether to look at what is there. Otherwise only the name and the modes tell.
    """
    text, options = (where.where, where.options) if isinstance(where, At) else (where, {})
    url = parse(text)
    model, storage = _asked(url) if url is not None else ("", "")
    store = CloudStore(text, options)
    key = store.settled.prefix
    if key and (storage == "zip" or (re.search(_ZIP, key) and storage != "file")):
        return _archive(text, options, read_only, limits)
    if key and read_only and (model == "bytes" or (not model and (look or re.search(_FILE, key)))):
        found: tuple[Store, str] | None = direct.open_object(At(text, options), store, limits)
        if found is not None:
            return found
    return store, ""


def _archive(text: str, options: Mapping[str, Any], read_only: bool, limits: Limits) -> tuple[Store, str]:
    if not read_only:
        raise ReadOnlyError(
            "an archive in an object store is only read",
            path=text.partition("#")[0],
            hint="Make the archive here, and copy it there.",
        )
    found: tuple[Store, str] = zip_find.archive_in(Remote(text, options=options).open(), read_only=True, limits=limits)
    return found
