"""From what a user calls a place to the store there."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from omnizarr.errors import NodeTypeError, ReadOnlyError, UnsafeError, UnsupportedError
from omnizarr.late import LateModule
from omnizarr.limits import DEFAULT_LIMITS, Limits
from omnizarr.native import split_object
from omnizarr.store.cloud.at import At
from omnizarr.store.file import FileStore
from omnizarr.store.keys import is_text
from omnizarr.store.left import sweep
from omnizarr.store.mapping import DictStore
from omnizarr.store.protocol import Store
from omnizarr.store.uri import scheme
from omnizarr.store.wrap import ReadOnlyStore

if TYPE_CHECKING:
    from omnizarr.store import http, remote, sniff, zip_find
    from omnizarr.store.cloud import adapters, chains
    from omnizarr.store.cloud import opening as cloud
    from omnizarr.store.url import places as url_places
else:
    adapters = LateModule("omnizarr.store.cloud.adapters")
    chains = LateModule("omnizarr.store.cloud.chains")
    url_places = LateModule("omnizarr.store.url.places")
    zip_find = LateModule("omnizarr.store.zip_find")
    http = LateModule("omnizarr.store.http")
    sniff = LateModule("omnizarr.store.sniff")
    remote = LateModule("omnizarr.store.remote")
    cloud = LateModule("omnizarr.store.cloud.opening")

direct: Any = LateModule("omnizarr.refs.direct")  # which stands on much more than stores

reference_sets: Any = LateModule("omnizarr.refset.opening")  # which stands on much more than stores

_MEMBERS = (
    "uri", "read_only", "native", "get", "get_range", "get_many", "put",
    "erase", "erase_prefix", "list_prefix", "list_dir", "size", "exists",
)  # fmt: skip


_DOCUMENTS = (".zgroup", ".zarray", "zarr.json")
_MOST_METADATA = 1 << 28


def resolve(
    where: object, *, read_only: bool = False, limits: Limits = DEFAULT_LIMITS, look: bool = True
) -> tuple[Store, str]:
    """Find the store that a place stands for, and the path of the node within it.

    Args:
        where: A path, a `file:` URI, such a URI with the modes of netcdf-c (`file:///x#mode=nczarr,zip`), a URL of an
            object store, with options (`At`) or without, a binary file object with a zip archive, a mapping of keys to
            bytes, a reference set, or a store. A file of netCDF, HDF5, TIFF, GRIB or FITS is scanned, wherever it is.
        read_only: Whether the store shall refuse changes.
        limits: Bounds on what an archive may claim.
        look: Whether to look at what is there. Otherwise the place is a path or URL, and a path is taken for that of a
            folder, which saves time if it is one.

    Returns:
        The store, and the path of the node within it (empty: the root).

    Raises:
        UnsupportedError: The place is of a kind that cannot be opened.
        ReadOnlyError: The place is on a server, and is to be changed.
        UnsafeError: The path or URI is not well formed.
        NodeTypeError: The object is none of these.

    >>> resolve({}, read_only=True)
    (ReadOnlyStore(DictStore(<dict>)), '')
    """
    if isinstance(where, At) or (isinstance(where, str) and ":" in where):
        if (found := _named(where, read_only, limits, look)) is not None:
            return found
        where = where.where if isinstance(where, At) else where  # of files, which need no options
    if not look:
        return _as_asked(FileStore(cast("str", where)), read_only), ""
    store, path = _store(where, read_only, limits)
    return _as_asked(store, read_only), path


def _named(where: str | At, read_only: bool, limits: Limits, look: bool) -> tuple[Store, str] | None:
    """Open what a URL names, or a text like one; `None` for the path of a file."""
    text = where.where if isinstance(where, At) else where
    if not is_text(text) and scheme(text) not in (None, "file", "reference"):  # names of files may be any bytes
        raise UnsafeError(f"{text!r} is not a URL: it is not valid Unicode")
    if (isinstance(where, At) or ":/" in text or "::" in text) and (
        far := _far(where, read_only, limits, look)
    ) is not None:
        found, inside_it = far
        return (ReadOnlyStore(found) if read_only and not found.read_only else found), inside_it
    if "://" in text and (url := remote.url_of(text)) is not None:
        if not read_only:
            raise ReadOnlyError("what lies on a server can only be read", path=url, hint='open it with mode="r"')
        inside: tuple[Store, str] = direct.open_url(url, limits)
        return inside
    return (reference_sets.open_set(text, limits=limits), "") if text.startswith("reference:") else None


def _as_asked(store: Store, read_only: bool) -> Store:
    if read_only:
        return store if store.read_only else ReadOnlyStore(store)
    if not store.read_only:
        sweep(store)
    return store


def _far(where: str | At, read_only: bool, limits: Limits, look: bool) -> tuple[Store, str] | None:
    """Open what lies in an object store, or what only fsspec knows; `None` for anything else."""
    text, options = (where.where, where.options) if isinstance(where, At) else (where, {})
    if chains.is_chain(text):
        return chains.open_chain(text, options), ""
    if cloud.is_cloud(text):
        return cloud.open_cloud(where, read_only=read_only, limits=limits, look=look)
    if "://" in text and cloud.is_web(text) and (isinstance(where, At) or remote.url_of(text) is None):
        return _on_server(text, options, read_only, limits)
    if isinstance(where, At) and (text.startswith("reference:") or sniff.is_set_name(text) or _is_local_set(text)):
        return reference_sets.open_set(text, limits=limits, storage_options=options), ""
    return None


def _is_local_set(text: str) -> bool:
    root = FileStore(text).root
    if os.path.isdir(root):  # noqa: PTH112 - as below
        return is_parquet_set(root)
    found = sniff.sniff_file(root) if os.path.isfile(root) else None  # noqa: PTH113 - as below
    return found is not None and found.what == sniff.SET


def _on_server(text: str, options: Mapping[str, Any], read_only: bool, limits: Limits) -> tuple[Store, str]:
    """Open what is on a server, with options for it, or for the references of a set there."""
    address = text[text.rindex("]") + 1 :] if text.lstrip().startswith("[") else text
    address = address.partition("#")[0]
    if not read_only:
        raise ReadOnlyError("what lies on a server can only be read", path=address, hint='open it with mode="r"')
    if options and sniff.is_set_name(address):
        return reference_sets.open_set(address, limits=limits, storage_options=options), ""
    store = http.HttpStore(address, limits=limits, options=options)  # whose options are checked by that
    if (url := remote.url_of(text)) is None:
        return store, ""
    found: tuple[Store, str] = direct.open_url(url, limits, options)
    return found


def _store(where: object, read_only: bool, limits: Limits) -> tuple[Store, str]:
    if isinstance(where, (str, os.PathLike)):
        return _file(where, read_only, limits)
    missing = [name for name in _MEMBERS if not hasattr(where, name)]
    if not missing:
        return cast("Store", where), ""
    if type(where) is not dict and (foreign := adapters.adapted(where, read_only=read_only, limits=limits)) is not None:
        return foreign
    if isinstance(where, Mapping):
        if type(where) is dict and _like_a_set(where):
            return reference_sets.open_set(where, limits=limits), ""
        return DictStore(where), ""
    if callable(getattr(where, "read", None)) and callable(getattr(where, "seek", None)):
        return zip_find.archive_in(where, read_only=read_only, limits=limits)
    kind = f"{type(where).__module__}.{type(where).__qualname__}"
    if len(missing) < len(_MEMBERS) // 2:
        raise NodeTypeError(f"the {kind} is not a store: it lacks {', '.join(missing)}")
    raise NodeTypeError(
        f"cannot tell where to look from an object of type {kind}",
        hint="Give a path, a URL, a binary file object, a mapping of keys to bytes, or a store of any kind.",
    )


def is_parquet_set(folder: str) -> bool:
    """Whether a folder is a reference set in parquet, which has no documents but those in its `.zmetadata`."""
    if any(os.path.lexists(f"{folder}/{name}") for name in _DOCUMENTS):
        return False
    try:
        with open(f"{folder}/.zmetadata", "rb") as file:  # noqa: PTH123 - as below
            return "record_size" in split_object(file.read(_MOST_METADATA).removeprefix(b"\xef\xbb\xbf"))
    except (OSError, ValueError):  # ValueError: it is no JSON, which whoever reads it says
        return False


def _parquet_above(folder: str) -> tuple[str, str] | None:
    """Return the reference set in parquet that a folder is or lies in, and the path within it."""
    inside = ""
    while not is_parquet_set(folder):
        above, name = os.path.split(folder)
        if not name or any(os.path.lexists(f"{folder}/{one}") for one in (*_DOCUMENTS, ".zmetadata")):
            return None
        folder, inside = above, f"{name}/{inside}".rstrip("/")
    return folder, inside


def _like_a_set(where: Mapping[object, object]) -> bool:
    """Whether it is worth a closer look whether a mapping is a reference set: most are not."""
    return any(isinstance(value, (list, tuple, Mapping)) for value in list(where.values())) and bool(
        reference_sets.is_set(where)
    )


def _file(where: str | os.PathLike[str], read_only: bool, limits: Limits) -> tuple[Store, str]:
    store = FileStore(where)
    if os.path.isdir(store.root):  # noqa: PTH112 - as below
        above = _parquet_above(store.root)
        return (reference_sets.open_set(above[0], limits=limits), above[1]) if above is not None else (store, "")
    storage = url_places.storage_of(where) if isinstance(where, str) and ("#" in where or where[:1] == "[") else ""
    archive = zip_find.archive_at(store.root, read_only=read_only, limits=limits, storage=storage)
    if archive is not None:
        return archive
    if os.path.isfile(store.root):  # noqa: PTH113 - pathlib takes longer to import than all stores together
        found = sniff.sniff_file(store.root)
        what = found.what if found is not None else "file"
        if read_only and what in sniff.SCANNED:
            return direct.open_path(store.root, limits), ""
        if what == sniff.SET:
            return reference_sets.open_set(store.root, limits=limits), ""
        raise UnsupportedError(
            f"this is {sniff.with_article(what)}, not an array or group",
            path=store.root,
            hint=(found and found.cure) or None,
        )
    return _above(store, limits) if read_only else (store, "")


def _above(store: FileStore, limits: Limits) -> tuple[Store, str]:
    """Return the file or the set that a path which does not exist leads into, and the path within it."""
    file, inside, what = sniff.above(store.root)
    if what in sniff.SCANNED:
        return direct.open_path(file, limits), inside
    if what == sniff.SET:
        return reference_sets.open_set(file, limits=limits), inside
    if what == "folder" and (found := _parquet_above(file)) is not None:
        return reference_sets.open_set(found[0], limits=limits), f"{found[1]}/{inside}".strip("/")
    return store, ""
