"""Where a reference set in parquet lies: any store will do."""

from __future__ import annotations

import os
from typing import Final, NamedTuple

from omnizarr.errors import MetadataError, NotFoundError
from omnizarr.limits import DEFAULT_LIMITS, Limits
from omnizarr.refset.parquet_metadata import NAME, Metadata, parse_metadata
from omnizarr.store.cloud.at import At
from omnizarr.store.cloud.headers import server_part
from omnizarr.store.cloud.opening import is_cloud, is_web
from omnizarr.store.cloud.store import CloudStore
from omnizarr.store.file import FileStore
from omnizarr.store.http import HttpStore
from omnizarr.store.left import sweep
from omnizarr.store.protocol import Store, kernel_target, place_name
from omnizarr.store.resolve import resolve
from omnizarr.store.zip_find import archive_at

Where = str | os.PathLike[str] | Store | At

RECORDS: Final = ("refs.", ".parq")
"""How the names of record files begin and end."""


class Place(NamedTuple):
    """A store and the path in it below which the set lies."""

    store: Store
    path: str

    @property
    def prefix(self) -> str:
        """What the keys of the set begin with."""
        return self.path + "/" if self.path else ""

    @property
    def uri(self) -> str:
        """Where that is, for messages and as what relative URLs are relative to."""
        return place_name(self.store, self.path)

    def target(self) -> tuple[object, str]:
        """Return what the kernel works on, and the prefix of the set's keys there."""
        return kernel_target(self.store, self.prefix)

    def metadata(self, limits: Limits = DEFAULT_LIMITS) -> Metadata:
        """Read the metadata of the set.

        Raises:
            NotFoundError: If there is none.
            MetadataError: If it is none of a reference set.
        """
        data = self.store.get(self.prefix + NAME)
        if data is None:
            raise NotFoundError("there is no reference set in parquet", path=self.uri)
        try:
            return parse_metadata(data, limits)
        except MetadataError as error:
            error.path = self.uri
            raise


def place_of(where: Where, *, read_only: bool = False, limits: Limits = DEFAULT_LIMITS) -> Place:
    """Return the store of a set: a folder, an archive, or whatever store is given.

    Nobody looks at what is there, so that a folder is found even if it is to be made.
    """
    if isinstance(where, At) and is_web(where.where):
        return Place(HttpStore(where.where, limits=limits, options=server_part(where.options)), "")
    if isinstance(where, At):
        return Place(CloudStore(where.where, where.options), "")
    if isinstance(where, str) and "://" in where and is_cloud(where):
        return Place(CloudStore(where), "")
    if not isinstance(where, (str, os.PathLike)):
        return Place(*resolve(where, read_only=read_only, limits=limits))
    folder = FileStore(where)
    if not os.path.isdir(folder.root):  # noqa: PTH112 - pathlib takes longer to import than all stores together
        found = archive_at(folder.root, read_only=read_only, limits=limits)
        if found is not None:
            return Place(*found)
    if not read_only:
        sweep(folder)
    return Place(folder, "")


def is_record(key: str) -> bool:
    """Whether a key is that of a record file.

    >>> is_record("a/refs.0.parq"), is_record("a/refs.x.parq")
    (True, False)
    """
    name = key.rpartition("/")[2]
    start, end = RECORDS
    return name.startswith(start) and name.endswith(end) and name[len(start) : -len(end)].isdigit()
