"""Finding archives: at a path, above a path, and the folder in them that holds everything."""

from __future__ import annotations

import os
import stat

from omnizarr.errors import OmnizarrError
from omnizarr.limits import DEFAULT_LIMITS, Limits
from omnizarr.store.keys import node_path
from omnizarr.store.protocol import Store
from omnizarr.store.wrap import PrefixStore
from omnizarr.store.zip import ZipStore
from omnizarr.store.zip_archive import is_waiting

_MAGIC = (b"PK\x03\x04", b"PK\x05\x06")

# A document right in a folder says that the folder is a node; which dialect it is of does not matter here.
_DOCUMENTS = frozenset({
    "zarr.json", ".zarray", ".zgroup", ".zattrs", ".zmetadata", ".nczarr",
    "meta", "__zmeta__", "attributes.json",
})  # fmt: skip

# The drafts of Zarr v3 had no document but in here.
_FOLDERS = frozenset({"meta/"})

# What one operating system packs beside the data.
_CLUTTER = "__MACOSX/"


def archive_at(
    path: str, *, read_only: bool, limits: Limits = DEFAULT_LIMITS, storage: str = ""
) -> tuple[Store, str] | None:
    """Return the store of the archive that a path names or leads into, and the path within; None if there is none.

    A file is an archive by its first bytes, whatever its name; a new one by the name `.zip`, for writing, unless
    `storage` says "file"; with "zip" it is one by any name.
    """
    try:
        mode = os.stat(path).st_mode  # noqa: PTH116 - pathlib takes longer to import than all stores together
    except OSError:
        file, inside = _above(path, read_only=read_only)
        if storage == "file" and file and not os.path.exists(file):  # noqa: PTH110 - as above
            return None
        if storage == "zip" and not file and not read_only:
            file = path
    else:
        file, inside = ("" if stat.S_ISDIR(mode) or not _is_archive(path, mode) else path), ""
    return _in(ZipStore(file, read_only=read_only, limits=limits), inside) if file else None


def archive_in(file: object, *, read_only: bool, limits: Limits = DEFAULT_LIMITS) -> tuple[Store, str]:
    """Return the store of the archive in a file object."""
    archive = ZipStore(file, read_only=read_only or None, limits=limits)  # type: ignore[arg-type]  # it checks
    return _in(archive, "")


def _in(store: ZipStore, inside: str) -> tuple[Store, str]:
    path, top = node_path(inside.replace(os.sep, "/")), _top_folder(store)
    # Who names the folder means the archive as it is.
    if not top or f"{path}/".startswith(top):
        return store, path
    return PrefixStore(store, top), path


def _top_folder(store: ZipStore) -> str:
    """Return the prefix of the one folder that an archive holds, if documents lie there and none at the top."""
    try:
        keys, prefixes = store.list_dir("")
    except OmnizarrError as error:
        error.path = error.path or store.uri  # which of several, if one is cut short
        raise
    folders = [prefix for prefix in prefixes if prefix != _CLUTTER]
    if len(folders) != 1 or not _DOCUMENTS.isdisjoint(keys):
        return ""
    keys, prefixes = store.list_dir(folders[0])
    names = {key[len(folders[0]) :] for key in (*keys, *prefixes)}
    return folders[0] if not names.isdisjoint(_DOCUMENTS | _FOLDERS) else ""


def _is_archive(path: str, mode: int) -> bool:
    if not stat.S_ISREG(mode):
        return False
    with open(path, "rb") as file:  # noqa: PTH123 - as above
        start = file.read(4)
    return start in _MAGIC or path.lower().endswith(".zip")


def _above(path: str, *, read_only: bool) -> tuple[str, str]:
    """Find the file that a path which does not exist leads into, or the archive that it would make."""
    inside, new = "", ""
    while True:
        try:
            mode = os.stat(path).st_mode  # noqa: PTH116 - as above
        except OSError:
            if path.lower().endswith(".zip"):
                new = path
            folder, name = os.path.split(path)
            if folder == path:
                return "", ""
            path, inside = folder, f"{name}/{inside}"
            continue
        if not stat.S_ISDIR(mode):
            return (path, inside) if _is_archive(path, mode) else ("", "")
        # The uppermost of the new names is the archive; the others are in it.
        if not new or (read_only and not is_waiting(os.path.realpath(new))):
            return "", ""
        return new, f"{path.rstrip(os.sep)}/{inside}"[len(new) + 1 :]
