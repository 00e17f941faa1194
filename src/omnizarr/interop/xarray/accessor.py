"""The accessor `ds.oz` and `dt.oz`: writing what xarray holds."""

from __future__ import annotations

import os
from collections.abc import Hashable, Mapping
from typing import Any

import xarray as xr

from omnizarr.hierarchy.group import Group
from omnizarr.hierarchy.opening import Mode, Place, open_node
from omnizarr.interop.xarray.opening import format_word
from omnizarr.interop.xarray.regions import Region
from omnizarr.interop.xarray.writing import Wishes, Work, add_dataset, check_format, chosen_mode, is_place, run
from omnizarr.errors import NodeTypeError
from omnizarr.store.cloud.at import At


@xr.register_dataset_accessor("oz")
class DatasetAccessor:
    """What Omnizarr adds to datasets of xarray."""

    def __init__(self, dataset: xr.Dataset) -> None:
        self._dataset = dataset

    def to_omnizarr(
        self,
        where: object,
        mode: str | None = None,
        *,
        group: str | None = None,
        encoding: Mapping[str, Mapping[str, Any]] | None = None,
        compute: bool = True,
        consolidated: bool | None = None,
        append_dim: Hashable | None = None,
        region: Region | None = None,
        safe_chunks: bool = True,
        align_chunks: bool = False,
        storage_options: Mapping[str, Any] | None = None,
        format: str | None = None,  # noqa: A002 - the word of the documents
        zarr_format: int | None = None,
        write_empty_chunks: bool | None = None,
        chunkmanager_store_kwargs: Mapping[str, Any] | None = None,
    ) -> Any:  # noqa: ANN401 - a group, or what Dask computes later
        """Write the dataset; the arguments are those of `to_zarr`, and mean the same but for these.

        - Dask's chunks need not line up with what is stored: tasks that write parts of the same chunk or shard lose
          nothing. Only a store that cannot keep them apart refuses that.
        - Appending is one step for all variables: values are written first, shapes last. If something fails, the old
          dataset is there with its old values.

        Args:
            where: Whatever `omnizarr.open` takes for writing, or a group.
            mode: "w" to replace what is there, "w-" to write only where nothing is, "a" to overwrite or add variables,
                "a-" to add only along `append_dim`, "r+" to overwrite values of what is there.
            group: Path of the group within the place.
            encoding: How variables are stored, by their names: `chunks`, `shards`, `compressors`, `filters`,
                `serializer`, `_FillValue`, `dtype`, … in the words of xarray; or `codecs` as for `omnizarr.create_array`.
            compute: Whether to write now what is lazy, else when the result is computed.
            consolidated: Whether to write consolidated metadata; so by default, where new arrays are made.
            append_dim: Dimension at whose end the dataset goes.
            region: Part of each dimension that the dataset goes to, or "auto" to find it by its coordinates.
            safe_chunks: Whether a store that cannot keep tasks apart refuses them.
            align_chunks: Whether to merge Dask's chunks so that no two tasks write to the same stored chunk.
            storage_options: As for `omnizarr.open`.
            format: "zarr3", "zarr2", or another that `omnizarr.create_group` takes; that of what is there, else "zarr3".
            zarr_format: 2 or 3, another word for `format`.
            write_empty_chunks: Whether chunks that hold the fill value alone are stored all the same.
            chunkmanager_store_kwargs: Further arguments of `dask.array.store`.

        Returns:
            The group; or with `compute=False` something of Dask's that writes when it is computed.
        """
        wishes = Wishes(
            chosen_mode(mode, append_dim, region), append_dim, region, safe_chunks, align_chunks, write_empty_chunks
        )
        word = format_word(format, zarr_format)
        found = open_target(where, wishes.mode, group, word, storage_options)
        work = Work()
        try:
            add_dataset(self._dataset, found, wishes, work, encoding)
            finishing(work, found, where, consolidated, wishes)
            later = run(work, compute=compute, options=chunkmanager_store_kwargs)
        except BaseException:
            if is_place(where):
                found.close()
            raise
        return found if compute else later


@xr.register_datatree_accessor("oz")
class TreeAccessor:
    """What Omnizarr adds to trees of xarray."""

    def __init__(self, tree: xr.DataTree) -> None:
        self._tree = tree

    def to_omnizarr(
        self,
        where: object,
        mode: str | None = None,
        *,
        encoding: Mapping[str, Mapping[str, Any]] | None = None,
        write_inherited_coords: bool = False,
        compute: bool = True,
        consolidated: bool | None = None,
        group: str | None = None,
        append_dim: Hashable | None = None,
        region: Region | None = None,
        safe_chunks: bool = True,
        align_chunks: bool = False,
        storage_options: Mapping[str, Any] | None = None,
        format: str | None = None,  # noqa: A002 - the word of the documents
        zarr_format: int | None = None,
        write_empty_chunks: bool | None = None,
        chunkmanager_store_kwargs: Mapping[str, Any] | None = None,
    ) -> Any:  # noqa: ANN401 - as above
        """Write the tree: each node a group. Arguments are as for a dataset, but for these.

        Args:
            where: As there, like all that are not said otherwise.
            mode: As there.
            encoding: As there for each node, by its path.
            write_inherited_coords: Whether coordinates of a parent are written to its children, too.
            compute: As there.
            consolidated: As there.
            group: As there.
            append_dim: As there; nodes without this dimension are written as with mode "a".
            region: As there.
            safe_chunks: As there.
            align_chunks: As there.
            storage_options: As there.
            format: As there.
            zarr_format: As there.
            write_empty_chunks: As there.
            chunkmanager_store_kwargs: As there.
        """
        tree = self._tree
        if unknown := set(encoding or {}) - set(tree.groups):
            raise ValueError(f"unexpected encoding group name(s) provided: {unknown}")
        wishes = Wishes(
            chosen_mode(mode, append_dim, region), append_dim, region, safe_chunks, align_chunks, write_empty_chunks
        )
        found = open_target(where, wishes.mode, group, format_word(format, zarr_format), storage_options)
        work = Work()
        try:
            for path, node in tree.subtree_with_keys:
                dataset = node.to_dataset(inherit=write_inherited_coords or node is tree)
                own = found if node is tree else found.require_group(path)
                add_dataset(dataset, own, wishes, work, (encoding or {}).get(node.path))
            finishing(work, found, where, consolidated, wishes)
            later = run(work, compute=compute, options=chunkmanager_store_kwargs)
        except BaseException:
            if is_place(where):
                found.close()
            raise
        return found if compute else later


def open_target(
    where: object,
    mode: str,
    group: str | None,
    format: str | None,  # noqa: A002 - the word of the documents
    storage_options: Mapping[str, Any] | None,
) -> Group:
    """Open or create the group that takes a dataset.

    Raises:
        ExistsError: If something is there, for "w-".
        NotFoundError: If nothing is there, for "r+".
        NodeTypeError: If an array is there.
    """
    if isinstance(where, Group):
        found = where
        if group:
            found = where.create_group(group, overwrite=mode == "w") if mode in ("w", "w-") else where.require_group(group)
        check_format(found, format)
        return found
    if storage_options:
        if not is_place(where):
            raise TypeError("storage_options are for a URL or path; a store has its own")
        where = At(os.fspath(where), storage_options)  # type: ignore[call-overload]  # a path, as was asked
    how: Mode = "a" if mode == "a-" else mode  # type: ignore[assignment]  # one of the modes, as was checked
    node = open_node(Place(where, how, (group or "").strip("/") or None), how, format, None)
    if not isinstance(node, Group):
        raise NodeTypeError("this is an array, not a group", path=node.path or "/")
    return node


def finishing(work: Work, group: Group, where: object, consolidated: bool | None, wishes: Wishes) -> None:
    """Note what is to be done at the end."""
    if consolidated or (consolidated is None and wishes.mode != "r+" and group.format in ("zarr2", "zarr3")):
        work.consolidated.append(_root(group))
    if is_place(where):
        work.closed.append(group)


def _root(group: Group) -> Group:
    """Return the group whose metadata is consolidated: the root of the store, where that is a group, too."""
    if not group.path:
        return group
    root = open_node(Place(group.store, "r+"), "a", group.format, None)
    return root if isinstance(root, Group) else group
