"""From whatever a user calls a dataset to a view of it for xarray."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping
from pathlib import PurePath
from typing import Any, Final, NamedTuple, Protocol, Self

from xarray import Variable

from omnizarr.errors import MetadataError, OmnizarrError
from omnizarr.format.names import join
from omnizarr.hierarchy.array import Array
from omnizarr.hierarchy.group import Group
from omnizarr.hierarchy.opening import Place, open_node
from omnizarr.interop.xarray.netcdf_view import NetcdfView
from omnizarr.interop.xarray.source import SharedSource, shared_source
from omnizarr.interop.xarray.zarr_view import ZarrView
from omnizarr.limits import DEFAULT_LIMITS, Limits
from omnizarr.nc.dataset.dataset import Dataset
from omnizarr.nc.opening import open_source
from omnizarr.nc.url import opened
from omnizarr.nc.zarr.generations import generation_of
from omnizarr.store.cloud.at import located
from omnizarr.store.remote import url_of
from omnizarr.store.sniff import sniff_file

_FILES = ("netCDF classic file", "HDF5 file")
_FORMATS = {2: "zarr2", 3: "zarr3"}


class View(Protocol):
    """A group, as far as xarray needs to know it."""

    @property
    def attrs(self) -> dict[str, Any]:
        """Its attributes."""
        ...

    @property
    def encoding(self) -> dict[str, Any]:
        """What is not data but should not be lost."""
        ...

    def variables(self, dropped: Collection[str] = ()) -> dict[str, Variable]:
        """Return the variables, but for those that are dropped later and cannot be read."""
        ...

    def groups(self) -> Mapping[str, View]:
        """Return the groups right below."""
        ...

    def find(self, path: str) -> Self:
        """Return the group at a path."""
        ...


class Asked(NamedTuple):
    """What the caller wants of the place."""

    group: str | None = None
    format: str | None = None
    consolidated: bool | None = None
    storage_options: Mapping[str, Any] | None = None
    allow: tuple[str, ...] = ()
    fill_is_missing: bool | None = None
    cache_bytes: int = 0


def asked(
    *,
    group: str | None = None,
    format: str | None = None,  # noqa: A002 - the word of the documents
    consolidated: bool | None = None,
    storage_options: Mapping[str, Any] | None = None,
    allow: Iterable[str] = (),
    cache_bytes: int = 0,
    zarr_format: int | None = None,
    use_zarr_fill_value_as_mask: bool | None = None,
) -> Asked:
    """Say what a caller wants of the place, in the words of the engine.

    Raises:
        MetadataError: If they contradict each other.
    """
    word = format_word(format, zarr_format)
    return Asked(group, word, consolidated, storage_options, tuple(allow), use_zarr_fill_value_as_mask, cache_bytes)


PLACE: Final = frozenset(asked.__kwdefaults__ or ())
"""The words that are about the place; all others of the engine are about decoding."""


class Closing:
    """What closes a dataset; a copy of it that was sent elsewhere closes nothing."""

    def __init__(self, *handles: Any) -> None:  # noqa: ANN401 - whatever can be closed
        self._handles = handles

    def __call__(self) -> None:
        """Close what was opened."""
        for handle in self._handles:
            handle.close()

    def __reduce__(self) -> tuple[object, ...]:
        return Closing, ()


def open_view(where: object, asked: Asked) -> tuple[View, Closing]:
    """Open a group, and say what closes it.

    Raises:
        NotFoundError: If nothing is there.
        MetadataError: If a document breaks its specification.
        ValueError: If the group is no path.
    """
    if asked.group is not None and not isinstance(asked.group, str):
        raise ValueError(f"group must be a string, a path within the place, not {asked.group!r}")
    group = (asked.group or "").strip("/")
    if isinstance(where, Dataset):
        source = where._handle.live()  # noqa: SLF001 - the dataset's own
        found: View = NetcdfView(shared_source(source), where._node)  # noqa: SLF001
        return (found.find(group) if group else found), Closing()
    if isinstance(where, (Group, Array)):
        view = ZarrView(where, asked.fill_is_missing)
        return (view.find(group) if group else view), Closing()
    if asked.storage_options is None and asked.format is None and _is_netcdf_file(where):
        return _netcdf(where, {"limits": _limits(asked)}, group)
    return _zarr(where, asked, group)


def _is_netcdf_file(where: object) -> bool:
    """Whether a place is a file with a model of its own; what is far is only looked at if its name says so."""
    if isinstance(where, os.PathLike):
        where = os.fspath(where)
    if not isinstance(where, str):
        return False
    if (url := url_of(where)) is not None:
        return url.partition("?")[0].lower().endswith((".nc", ".nc3", ".nc4", ".cdf", ".h5", ".hdf5"))
    if "://" in where and not where.startswith("file:"):
        return False
    try:
        place, _ = opened(where)
    except OmnizarrError:
        return False
    found = sniff_file(os.fspath(place))
    return found is not None and found.what in _FILES


def _netcdf(where: object, options: Mapping[str, Any], group: str) -> tuple[View, Closing]:
    source = open_source(where, "r", **options)
    shared = SharedSource(where, options, source)
    closing = Closing(shared)
    try:
        view = NetcdfView(shared)
        return (view.find(group) if group else view), closing
    except BaseException:
        closing()
        raise


def _zarr(where: object, asked: Asked, group: str) -> tuple[View, Closing]:
    node = _node(where, asked, "")
    closing = Closing(node) if isinstance(where, (str, os.PathLike)) else Closing()
    if asked.fill_is_missing is None and isinstance(node, Group) and _is_nczarr(node):
        closing()
        options = {
            "limits": _limits(asked),
            "cache_bytes": asked.cache_bytes,
            "consolidated": asked.consolidated,
            **(opened(where)[1] if asked.storage_options and isinstance(where, str) else {}),
        }
        return _netcdf(located(where, asked.storage_options), options, group)
    view = ZarrView(node, asked.fill_is_missing, _stem(where))
    return (view.find(group) if group else view), closing


def _node(where: object, asked: Asked, path: str) -> Group | Array:
    at = located(where, asked.storage_options)
    place = Place(at, "r", path, limits=_limits(asked), cache_bytes=asked.cache_bytes)
    return open_node(place, "r", asked.format, asked.consolidated)


def _limits(asked: Asked) -> Limits:
    # The very object where nothing else is asked for: what documents mean is remembered for it alone.
    return DEFAULT_LIMITS._replace(allow=(*DEFAULT_LIMITS.allow, *asked.allow)) if asked.allow else DEFAULT_LIMITS


def _is_nczarr(group: Group) -> bool:
    meta = group.metadata
    if generation_of(meta.attributes, meta.extra, meta.format):
        return True
    # The first generation has documents of its own, which only old stores have.
    return meta.format == "zarr2" and not meta.attributes and group.store.exists(join(group.path, ".nczarr"))


def _stem(where: object) -> str:
    if not isinstance(where, (str, os.PathLike)):
        return "data"
    return PurePath(os.fspath(where)).name.partition(".")[0] or "data"


def format_word(format: str | None, zarr_format: int | None) -> str | None:  # noqa: A002 - the word of the documents
    """Return the format that was asked for in either word.

    Raises:
        MetadataError: If they contradict each other.
    """
    word = None if zarr_format is None else _FORMATS.get(zarr_format, f"zarr{zarr_format}")
    if word is not None and format not in (None, word):
        raise MetadataError(f"format is {format!r}, but zarr_format is {zarr_format}")
    return word or format
