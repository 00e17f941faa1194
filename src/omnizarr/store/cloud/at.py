"""A place together with the options that open it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any


class Hidden(dict[str, Any]):
    """Options of which only the names show.

    >>> Hidden({"key": "me", "secret": "hush"})
    {'key': …, 'secret': …}
    """

    def __repr__(self) -> str:
        return f"{{{', '.join(f'{name!r}: …' for name in self)}}}"

    __str__ = __repr__

    def __reduce__(self) -> tuple[object, ...]:
        return Hidden, (dict(self),)


class At:
    """A place in an object store or on a server, and the credentials and settings that lead there; secrets do not show.

    Args:
        where: The URL.
        storage_options: Options as fsspec or obstore have them.
    """

    __slots__ = ("options", "where")

    def __init__(self, where: str, storage_options: Mapping[str, Any] | None = None) -> None:
        if not isinstance(storage_options, (Mapping, type(None))):
            raise TypeError(
                f"storage_options are names with values, as in a dict, not {type(storage_options).__name__}"
            )
        self.where = where
        self.options = Hidden(storage_options or {})

    def __repr__(self) -> str:
        return f"At({self.where.partition('?')[0]!r}, {self.options!r})"

    def __reduce__(self) -> tuple[object, ...]:
        return At, (self.where, self.options)


def at(where: str, **storage_options: Any) -> At:  # noqa: ANN401 - options of many kinds
    """Name a place together with what opens it; every function that takes a place takes this.

    Args:
        where: The URL: `s3://…`, `gs://…`, `az://…`, `https://…`, or any that netcdf-c knows.
        **storage_options: Credentials and settings by the names of fsspec or obstore: `key`, `secret`, `token`,
            `anon`, `profile`, `region`, `endpoint_url`, `requester_pays` and others; `headers` for a server.

    >>> import omnizarr as oz
    >>> oz.at("s3://data/ocean", key="me", secret="hush")
    At('s3://data/ocean', {'key': …, 'secret': …})
    """
    return At(where, storage_options)


def located(where: object, storage_options: Mapping[str, Any] | None) -> object:
    """Return a place with its options, if there are any.

    Raises:
        TypeError: If it is a store, which has its own.
    """
    if not storage_options:
        return where
    if not isinstance(where, (str, os.PathLike)):
        raise TypeError("storage_options are for a URL or path; a store has its own")
    return At(os.fspath(where), storage_options)
