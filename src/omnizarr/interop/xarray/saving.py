"""From datasets and a place to what is stored there."""

from __future__ import annotations

import os
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, TypedDict

from xarray import Dataset

from omnizarr.errors import ExistsError, NodeTypeError, NotFoundError, UnsupportedError
from omnizarr.hierarchy.array import Array
from omnizarr.hierarchy.group import Group
from omnizarr.hierarchy.nodes import as_path
from omnizarr.hierarchy.opening import Mode, Place, open_node
from omnizarr.interop.xarray.netcdf_writing import is_file, netcdf_kind, write_netcdf
from omnizarr.interop.xarray.opening import format_word
from omnizarr.interop.xarray.regions import Region
from omnizarr.interop.xarray.rehearsal import rehearse
from omnizarr.interop.xarray.sources import check_apart
from omnizarr.interop.xarray.writing import (
    OTHER_MODES,
    Wishes,
    Work,
    add_dataset,
    check_format,
    chosen_mode,
    is_place,
    run,
)
from omnizarr.nc.zarr.generations import generation_of
from omnizarr.store.cloud.at import At


class Given(TypedDict, total=False):
    """The arguments of `to_omnizarr` that are the same for all that can be written; see `DatasetAccessor`."""

    group: str | None
    compute: bool
    consolidated: bool | None
    append_dim: Hashable | None
    region: Region | None
    safe_chunks: bool
    align_chunks: bool
    storage_options: Mapping[str, Any] | None
    format: str | None
    zarr_format: int | None
    write_empty_chunks: bool | None
    chunkmanager_store_kwargs: Mapping[str, Any] | None


@dataclass(slots=True, kw_only=True)
class Options:
    """What was given, and what holds for the rest."""

    mode: str | None
    group: str | None = None
    compute: bool = True
    consolidated: bool | None = None
    append_dim: Hashable | None = None
    region: Region | None = None
    safe_chunks: bool = True
    align_chunks: bool = False
    storage_options: Mapping[str, Any] | None = None
    format: str | None = None
    zarr_format: int | None = None
    write_empty_chunks: bool | None = None
    chunkmanager_store_kwargs: Mapping[str, Any] | None = None

    @classmethod
    def of(cls, mode: str | None, given: Given) -> Options:
        """Take the arguments of a call.

        Raises:
            TypeError: If there is no such argument.
            NodeTypeError: If the group is not text.
        """
        if unknown := given.keys() - {one.name for one in fields(cls)}:
            raise TypeError(f"to_omnizarr() got an unexpected keyword argument {min(unknown)!r}")
        if (group := given.get("group")) is not None:
            as_path(group, "group")
        return cls(mode=mode, **given)


def save(
    nodes: Sequence[tuple[str, Dataset]], where: object, encoding: Mapping[str, Mapping[str, Any]], options: Options
) -> Any:  # noqa: ANN401 - a group, or what Dask computes later
    """Write datasets.

    Args:
        nodes: Datasets by the paths of their groups, that of the first being empty.
        where: The place.
        encoding: How variables are stored, by those paths and their names.
        options: All else.
    """
    mode = chosen_mode(options.mode, options.append_dim, options.region)
    kind = netcdf_kind(options.format, where if options.zarr_format is None else None)
    if options.storage_options:
        if not is_place(where):
            raise TypeError("storage_options are for a URL or path; a store has its own")
        where = At(os.fspath(where), options.storage_options)  # type: ignore[call-overload]  # a path, as was asked
    if mode == "w":
        inside = None if kind else options.group
        check_apart((dataset for _, dataset in nodes), where, inside, at_once=is_file(kind))
    if kind is not None:
        options.mode = mode
        return _netcdf(nodes, where, kind, encoding, options)
    word = format_word(options.format, options.zarr_format)
    if mode in ("w", "w-"):
        new = word or (where.format if isinstance(where, Group) else "zarr3")
        for path, dataset in nodes:
            rehearse(dataset, encoding.get(path), new)
    group = open_target(where, mode, options.group, word)
    wishes = Wishes(
        mode,
        options.append_dim,
        options.region,
        options.safe_chunks,
        options.align_chunks,
        options.write_empty_chunks,
    )
    work = Work()
    try:
        for path, dataset in nodes:
            own = group.require_group(path) if path else group
            add_dataset(dataset, own, wishes, work, encoding.get(path))
        if options.consolidated or (options.consolidated is None and mode != "r+" and _is_current(group)):
            work.consolidated.append(_root(group))
        if is_place(where):
            work.closed.append(group)
        later = run(work, compute=options.compute, options=options.chunkmanager_store_kwargs)
    except BaseException:
        work.undo()
        if is_place(where):
            group.close()
        raise
    return group if options.compute else later


def _netcdf(
    nodes: Sequence[tuple[str, Dataset]],
    where: object,
    kind: str,
    encoding: Mapping[str, Mapping[str, Any]],
    options: Options,
) -> Any:  # noqa: ANN401 - as above
    mode = options.mode
    if mode not in ("w", "w-"):
        hint = "Open it with omnizarr.Dataset to add to it, or write Zarr without netCDF's own metadata."
        raise UnsupportedError(f"what has netCDF's own metadata is written whole, not with mode {mode!r}", hint=hint)
    if mode == "w-" and _is_there(where):
        raise ExistsError("there is a dataset already", path=str(where), hint='pass mode="w" to replace it')
    top = (options.group or "").strip("/")
    inside = [(f"{top}/{path}".strip("/"), dataset) for path, dataset in nodes]
    words = {f"{top}/{path}".strip("/"): given for path, given in encoding.items()}
    work = Work()
    wishes = Wishes(mode, safe_chunks=options.safe_chunks, align_chunks=options.align_chunks)
    write_netcdf(where, kind, inside, words, work, wishes=wishes)
    later = run(work, compute=options.compute, options=options.chunkmanager_store_kwargs)
    if not options.compute:
        return later
    return None if is_file(kind) else open_target(where, "r+", top, None)


def _is_there(where: object) -> bool:
    if isinstance(where, (str, os.PathLike)) and os.path.isfile(where):  # noqa: PTH113 - a URL is no file, either
        return True
    try:
        open_node(Place(where, "r"), "r", None, None).close()
    except NotFoundError:
        return False
    return True


def open_target(where: object, mode: str, path: str | None, word: str | None) -> Group:
    """Open or create the group that takes a dataset.

    Args:
        where: The place, or a group.
        mode: One of those of `to_omnizarr`.
        path: Path within the place.
        word: The format, if it matters.

    Raises:
        ExistsError: If something is there, for "w-".
        NotFoundError: If nothing is there, for "r+".
        NodeTypeError: If an array is there.
        UnsupportedError: If what is there would be out of step with its own metadata.
    """
    try:
        found = _node(where, mode, (path or "").strip("/"), word)
    except ExistsError as error:
        error.hint = OTHER_MODES
        raise
    if not isinstance(found, Group):
        raise NodeTypeError("this is an array, not a group", path=found.path or "/")
    meta = found.metadata
    if mode in ("a", "a-") and generation_of(meta.attributes, meta.extra, meta.format):
        hint = "Use omnizarr.Dataset, or write the whole anew."
        raise UnsupportedError("what is there has netCDF's own metadata", path=found.path or "/", hint=hint)
    return found


def _node(where: object, mode: str, inner: str, word: str | None) -> Group | Array:
    if not isinstance(where, Group):
        how: Mode = "a" if mode == "a-" else mode  # type: ignore[assignment]  # one of the modes, as was checked
        return open_node(Place(where, how, inner or None), how, word, None)
    found = where
    if inner:
        new = mode in ("w", "w-")
        found = where.create_group(inner, overwrite=mode == "w") if new else where.require_group(inner)
    check_format(found, word)
    return found


def _is_current(group: Group) -> bool:
    return group.format in ("zarr2", "zarr3")


def _root(group: Group) -> Group:
    """Return the group whose metadata is consolidated: the root of the store."""
    if not group.path:
        return group
    root = open_node(Place(group.store, "r+"), "a", group.format, None)
    return root if isinstance(root, Group) else group
