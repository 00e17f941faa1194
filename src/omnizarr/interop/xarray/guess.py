"""Whether a place looks like something that opens, without opening it: names, first bytes, never the network."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Final
from zipfile import BadZipFile, ZipFile

from omnizarr.errors import OmnizarrError
from omnizarr.hierarchy.array import Array
from omnizarr.hierarchy.group import Group
from omnizarr.nc.dataset.dataset import Dataset
from omnizarr.store.cloud.at import At
from omnizarr.store.cloud.opening import is_cloud
from omnizarr.store.file import local_path
from omnizarr.store.sniff import SCANNED, SET, sniff_file

_DOCUMENTS: Final = frozenset(
    ("zarr.json", ".zgroup", ".zarray", ".zmetadata", ".nczarr", "attributes.json", "meta", "__zmeta__")
)
_ENDINGS: Final = frozenset(
    (
        *(".zarr", ".zarr2", ".zarr3", ".n5", ".nc", ".nc3", ".nc4", ".cdf", ".netcdf", ".h5", ".hdf5", ".hdf", ".he5"),
        *(".tif", ".tiff", ".grib", ".grib2", ".grb", ".grb2", ".fits", ".fit", ".parq", ".parquet"),
    )
)
_MODES: Final = re.compile(r"#.*\bmode=[^&]*\b(?:nczarr|zarr)\b")
_STORE: Final = ("get", "put", "list_prefix", "list_dir", "erase_prefix")


def looks_openable(where: object) -> bool:
    """Whether a place looks like something that `omnizarr.open` opens."""
    if isinstance(where, (Group, Array, Dataset, At)):
        return True
    if isinstance(where, Mapping):
        return _is_hierarchy(where)
    if isinstance(where, (str, os.PathLike)):
        return _is_place(os.fspath(where))
    if isinstance(where, (bytes, bytearray, memoryview)):
        return False
    return all(hasattr(where, name) for name in _STORE) or _is_foreign_store(where)


def _is_foreign_store(where: object) -> bool:
    names = {f"{one.__module__.partition('.')[0]}.{one.__name__}" for one in type(where).__mro__}
    return bool(names & {"zarr.Store", "fsspec.FSMap", "obstore.ObjectStore"})


def _is_hierarchy(where: Mapping[object, object]) -> bool:
    if "refs" in where or "templates" in where:
        return True
    return any(isinstance(key, str) and key.rpartition("/")[2] in _DOCUMENTS for key in where)


def _is_place(where: str | bytes) -> bool:
    if isinstance(where, bytes):
        return False
    if _MODES.search(where) or where.startswith("reference:"):
        return True
    plain = where.partition("#")[0].partition("?")[0].rstrip("/")
    ending = PurePosixPath(plain).suffix.lower()
    if is_cloud(where):
        return ending in _ENDINGS or not ending or _is_set_name(plain) or ending == ".zip"
    if "://" in where and not where.startswith("file:"):
        return ending in _ENDINGS or _is_set_name(plain) or plain.endswith(".zarr.zip")
    try:
        return _is_local(Path(local_path(where)))
    except (OmnizarrError, OSError, ValueError):
        return False


def _is_set_name(plain: str) -> bool:
    return plain.lower().endswith((".json", ".json.gz", ".json.zst", ".zjson"))


def _is_local(path: Path) -> bool:
    if path.is_dir():
        return path.suffix.lower() == ".zarr" or any((path / name).exists() for name in _DOCUMENTS)
    if not path.exists():
        return path.suffix.lower() == ".zarr"
    found = sniff_file(str(path))
    if found is None:
        return False
    if found.what == "zip file":
        return _is_archive(path)
    return found.what in SCANNED or found.what == SET


def _is_archive(path: Path) -> bool:
    """Whether documents of Zarr are in a zip archive."""
    try:
        with ZipFile(path) as archive:
            return any(name.rpartition("/")[2] in _DOCUMENTS for name in archive.namelist())
    except (BadZipFile, OSError, ValueError):
        return False
