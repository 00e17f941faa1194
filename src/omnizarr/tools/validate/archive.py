"""Rules about zip archives as stores.

https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT
"""

from __future__ import annotations

from collections import Counter
from importlib import import_module  # for archives alone
from typing import Any, Final

from omnizarr.store.protocol import Store
from omnizarr.store.zip import ZipStore
from omnizarr.tools.validate.report import Cure, Sink

_MOST: Final = 20


def check_archive(store: Store, sink: Sink) -> None:
    """Check the entries of an archive, if that is what a store is."""
    archive, prefix = _archive(store)
    if archive is None:
        return
    if prefix:
        message = f"all entries lie in the folder {prefix!r}, which not all readers look into"
        sink.add("OZ903", ("", None), message)
    for name, reason in list(archive.ignored.items())[:_MOST]:
        sink.add("OZ902", ("", name), f"the entry {name!r} cannot be a key: {reason}")
    names = Counter(_names(archive))
    for name, count in names.items():
        if count > 1:
            cures = (Cure("pack", name.removeprefix(prefix)),) if name.startswith(prefix) else ()
            sink.add("OZ901", ("", name), f"there are {count} entries {name!r}; the last counts", cures=cures)


def _archive(store: Store) -> tuple[ZipStore | None, str]:
    prefix = ""
    while not isinstance(store, ZipStore):
        inner: Store | None = getattr(store, "inner", None)
        if inner is None:
            return None, ""
        prefix = f"{getattr(store, 'prefix', '')}{prefix}"
        store = inner
    return store, prefix


def _names(archive: ZipStore) -> list[str]:
    """Return the names of all entries, those that others replace included."""
    zipfile: Any = import_module("zipfile")
    if archive.path is None:  # a file object, whose position is the store's business
        return []
    try:
        with zipfile.ZipFile(archive.path) as file:
            names: list[str] = [name for name in file.namelist() if not name.endswith("/")]
    except (OSError, zipfile.BadZipFile, NotImplementedError):
        return []
    return names
