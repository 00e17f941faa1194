"""What a scanner is given: a file, wherever it is, and what the caller wants of it."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import BinaryIO, Final, Literal, NamedTuple, cast

from omnizarr.errors import NotFoundError
from omnizarr.refset.model import Stamp
from omnizarr.store.cloud.at import At
from omnizarr.store.file import local_path
from omnizarr.store.remote import Remote, url_of


class Options(NamedTuple):
    """What a caller wants of a scan."""

    inline: int = 500
    """Chunks of fewer bytes are taken into the set itself."""

    group: str = ""
    """Only what is below this path of the file, which becomes the root."""

    only: tuple[str, ...] = ()
    """Only the variables of these names; empty: all."""

    skip: tuple[str, ...] = ()
    """All but the variables of these names."""

    on_error: Literal["raise", "drop"] = "raise"
    """Whether variables that references cannot describe are an error, or are left out with a warning."""

    format: Literal["zarr3"] | None = None
    """Zarr v3 for the documents of the set; else v2, which more readers know, where that has words for all."""


DEFAULTS: Final = Options()


def names_of(given: str | Iterable[str]) -> tuple[str, ...]:
    """Return names that a caller gives: one alone is one name, and not its letters.

    >>> names_of("time"), names_of(["u", "v"])
    (('time',), ('u', 'v'))
    """
    return (given,) if isinstance(given, str) else tuple(given)


class SourceFile:
    """A file that is scanned.

    Args:
        where: A path, a `file:` URI, or a URL of a server or object store, which may have options (`At`).
    """

    def __init__(self, where: str | os.PathLike[str] | At) -> None:
        given = where
        self.options = given.options if isinstance(given, At) else {}
        where = given.where if isinstance(given, At) else given
        url = where if isinstance(given, At) and isinstance(where, str) else url_of(where)
        self.remote = None if url is None else Remote(url, options=self.options)
        url = None if self.remote is None else self.remote.url
        """The file on its server, if it is on one: what was fetched of it stays as long as this."""
        self.url = url or os.path.abspath(local_path(where))  # noqa: PTH100 - links stay as they are
        """What references call it: for a file of this machine, its path."""

    def open(self) -> BinaryIO:
        """Open it for reading; whoever does closes it.

        Raises:
            NotFoundError: If it is not there.
            StoreError: If its server does not give it.
        """
        if self.remote is not None:
            return cast("BinaryIO", self.remote.open())
        try:
            return open(self.url, "rb")  # noqa: PTH123 - the path is text already
        except FileNotFoundError:
            raise NotFoundError("there is no such file", path=self.url) from None

    def stamp(self) -> Stamp:
        """Return what it is like now."""
        if self.remote is not None:
            return Stamp(*self.remote.stamp())
        state = os.stat(self.url)  # noqa: PTH116 - the path is text already
        return Stamp(state.st_size, state.st_mtime_ns)
