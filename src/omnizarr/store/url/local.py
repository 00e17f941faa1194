"""The path that a `file:` URL of netcdf-c, or a plain path with a fragment, stands for on this system."""

from __future__ import annotations

import os
import re
from typing import Final, NamedTuple

from omnizarr.errors import UnsafeError
from omnizarr.store.uri import NATIVE, Flavour, path_to_uri, uri_to_path
from omnizarr.store.url.grammar import Url
from omnizarr.store.url.modes import Note

_DRIVE: Final = r"(?://)?[A-Za-z]:[/\\]"


class LocalPlace(NamedTuple):
    """An absolute path, and how it was found."""

    path: str
    notes: tuple[Note, ...]


def local_of(url: Url, flavour: Flavour = NATIVE) -> LocalPlace:
    """Return the path of a URL of the scheme `file`, or of none.

    `file:///abs`, `file:/abs` and `file://rel` are netcdf-c's; `file:rel` and `file://localhost/abs` are taken, too.

    Raises:
        UnsafeError: If the URL is not well formed.
    """
    if url.query:
        raise UnsafeError(f"{url.shown!r} has a query, which names no file", hint="Write %3F for ? in a name.")
    if not url.scheme:
        return LocalPlace(_absolute(url, url.path), (Note("path", "a path with a fragment; netcdf-c wants file://"),))
    rest = url.path
    if flavour == "windows" and re.match(_DRIVE, rest):
        rest = "///" + rest.removeprefix("//").replace("\\", "/")
    if rest.startswith("///") or (rest.startswith("/") and not rest.startswith("//")):
        return LocalPlace(uri_to_path(f"file:{rest}", flavour), ())
    if rest.lower().startswith("//localhost/"):
        return LocalPlace(uri_to_path(f"file:{rest}", flavour), (Note("path", "localhost is this machine"),))
    relative = rest.removeprefix("//")
    here = path_to_uri(_absolute(url, "." if relative else ""), flavour)
    return LocalPlace(uri_to_path(f"{here}/{relative}", flavour), (Note("path", "relative to the working folder"),))


def _absolute(url: Url, path: str) -> str:
    if not path:
        raise UnsafeError(f"{url.shown!r} names no file", hint="Write file:///path#mode=nczarr,file.")
    return os.path.abspath(path)  # noqa: PTH100 - pathlib takes longer to import than all stores together
