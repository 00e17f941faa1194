"""Stores and file systems of other libraries, as they are: fsspec, obstore and obspec, zarr-python.

None of them is imported here: an object tells by its class where it is from.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from importlib import import_module
from typing import Any, Final

from omnizarr.late import LateModule
from omnizarr.limits import Limits
from omnizarr.store.cloud.foreign import failures, module_of
from omnizarr.store.cloud.fsspec_store import FsspecStore, plain_path
from omnizarr.store.cloud.obstore_store import METHODS, ObstoreStore
from omnizarr.store.cloud.zarr_store import ZarrStore
from omnizarr.store.file import FileStore
from omnizarr.store.keys import node_path
from omnizarr.store.protocol import Store
from omnizarr.store.url.aws import DEFAULT_REGION
from omnizarr.store.wrap import ReadOnlyStore

zip_find: Any = LateModule("omnizarr.store.zip_find")

_KEYS: Final = ("access_key_id", "secret_access_key")
_PREFIXES: Final = ("aws_", "google_", "azure_storage_", "azure_")
_PLAIN: Final = {
    "S3Store": ("s3", (_KEYS,)),
    "GCSStore": ("gs", (("service_account_key",), ("service_account",), ("application_credentials",))),
    "AzureStore": ("az", (("account_key",), ("sas_key",), ("access_key",), ("master_key",), ("sas_token",))),
}
"""Classes of obstore, the scheme of their URLs, and settings any of which are credentials."""


def adapted(where: object, *, read_only: bool, limits: Limits) -> tuple[Store, str] | None:
    """Return the store that an object of another library stands for, and the path within it; `None` if it is none.

    Taken are: what `fsspec.get_mapper` gives, a file system with a path, what `fsspec.open` gives for a folder or an
    archive, a store of obstore or obspec, a store of zarr-python 3, or its `StorePath`.

    Args:
        where: The object.
        read_only: Whether nothing will be changed, which only matters for archives.
        limits: Bounds on what an archive may claim.

    Raises:
        StoreError: If a file system cannot be used.
    """
    if isinstance(where, tuple):
        given: tuple[object, ...] = where
        is_pair = len(given) == 2 and isinstance(given[1], str) and module_of(given[0]) == "fsspec"
        return (file_system(given[0], str(given[1])), "") if is_pair else None
    # An open file has a file system, too, but it is an archive if anything.
    package = "" if callable(getattr(where, "read", None)) else module_of(where)
    if package == "fsspec" and hasattr(where, "fs"):
        return _of_fsspec(where, read_only, limits)
    if package == "zarr":
        return _of_zarr(where)
    if package == "obstore" or all(callable(getattr(where, name, None)) for name in METHODS):
        return of_obstore(where), ""
    return None


def file_system(fs: Any, path: str) -> Store:  # noqa: ANN401 - any file system
    """Return what lies below a path of a file system of fsspec: local files by the kernel, all else by itself."""
    if type(fs).__name__ == "LocalFileSystem" and type(fs).__module__ == "fsspec.implementations.local":
        return FileStore(plain_path(fs, path) or os.sep)  # whose puts are whole or absent
    return FsspecStore(fs, path)


def _of_fsspec(where: Any, read_only: bool, limits: Limits) -> tuple[Store, str]:  # noqa: ANN401 - need not be installed
    path = str(getattr(where, "root", None) or getattr(where, "path", ""))
    if type(where).__name__ == "OpenFile":
        with failures(path):
            file = where.fs.open(path, "rb" if read_only else "r+b") if where.fs.isfile(path) else None
        if file is not None:
            found: tuple[Store, str] = zip_find.archive_in(file, read_only=read_only, limits=limits)
            return found
    return file_system(where.fs, path), ""


def _of_zarr(where: Any) -> tuple[Store, str] | None:  # noqa: ANN401 - zarr-python need not be installed
    kind = type(where).__name__
    if kind == "StorePath":
        found = _of_zarr(where.store)
        if found is None:
            return None
        return found[0], node_path(where.path)
    if not callable(getattr(where, "list_prefix", None)):
        return None
    if not type(where).__module__.startswith("zarr.storage"):
        return ZarrStore(where), ""
    store: Store
    if kind == "LocalStore":
        store = FileStore(where.root)
    elif kind == "FsspecStore":
        store = file_system(where.fs, where.path)
    elif kind == "ObjectStore":
        store = of_obstore(where.store)
    else:
        return ZarrStore(where), ""
    return (ReadOnlyStore(store) if where.read_only and not store.read_only else store), ""


def of_obstore(store: Any) -> Store:  # noqa: ANN401 - obspec is a protocol
    """Return a store of obstore as one of ours: the kernel's own where it can reach the same by itself."""
    kind = type(store).__name__
    if type(store).__module__.startswith("obstore"):
        if kind == "LocalStore":
            return FileStore(store.prefix or os.sep)
        own = plain_place(store)
        if own is not None:
            made: Store = import_module("omnizarr.store.cloud.store").CloudStore(*own)
            return made
    return ObstoreStore(store)


def plain_place(store: Any) -> tuple[str, dict[str, Any]] | None:  # noqa: ANN401 - obspec is a protocol
    """Return URL and options of a store of obstore whose credentials are plain settings; `None` of any other.

    What obstore takes from the environment besides, region and endpoint, is named in the options, so that nothing else
    decides about it.
    """
    scheme_of, ways = _PLAIN.get(type(store).__name__, ("", ()))
    config = getattr(store, "config", None)
    if not scheme_of or not isinstance(config, Mapping) or getattr(store, "credential_provider", None) is not None:
        return None
    options: dict[str, Any] = {_bare(str(name)): value for name, value in config.items()}
    anonymous = str(options.get("skip_signature", "")).lower() in ("1", "true", "on", "yes", "y")
    if not anonymous and not any(all(options.get(name) for name in way) for way in ways):
        return None
    bucket = next((options.pop(name) for name in ("bucket", "bucket_name", "container_name") if name in options), None)
    more = getattr(store, "client_options", None) or {}
    if not bucket or "default_headers" in more or getattr(store, "retry_config", None):
        return None
    if scheme_of == "s3":
        options |= _region_and_endpoint(options)
    prefix = str(getattr(store, "prefix", None) or "").strip("/")
    return f"{scheme_of}://{bucket}/{prefix}".rstrip("/"), {**options, **more}


def _bare(name: str) -> str:
    return next((name.removeprefix(start) for start in _PREFIXES if name.startswith(start)), name)


def _region_and_endpoint(options: Mapping[str, Any]) -> dict[str, str]:
    env = os.environ
    region = options.get("region") or options.get("default_region") or env.get("AWS_REGION")
    region = region or env.get("AWS_DEFAULT_REGION") or DEFAULT_REGION
    names = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT")
    endpoint = options.get("endpoint") or options.get("endpoint_url")
    endpoint = endpoint or next((env[name] for name in names if env.get(name)), "")
    found = {"region": str(region), "endpoint": endpoint or f"https://s3.{region}.amazonaws.com"}
    return {name: value for name, value in found.items() if name not in options and f"{name}_url" not in options}
