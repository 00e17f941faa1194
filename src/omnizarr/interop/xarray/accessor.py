"""The accessor `ds.oz`, `da.oz` and `dt.oz`: writing what xarray holds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Unpack

import xarray as xr

from omnizarr.interop.xarray.saving import Given, Options, save

_UNNAMED: Final = "__xarray_dataarray_variable__"
"""What xarray calls arrays without a name, and those with that of a coordinate."""
_NAME: Final = "__xarray_dataarray_name__"
"""The attribute of a dataset that has the name of the latter."""


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
        encoding: Mapping[str, Mapping[str, Any]] | None = None,
        **options: Unpack[Given],
    ) -> Any:  # noqa: ANN401 - a group, or what Dask computes later
        """Write the dataset; the arguments are those of `to_zarr`, and mean the same but for these.

        - Dask's chunks need not line up with what is stored: tasks that write parts of the same chunk or shard lose
          nothing. Only a store that cannot keep them apart refuses that.
        - Appending is one step for all variables that grow: values are written first, shapes last. If something fails
          before that, the old dataset is there with its old values. Variables without `append_dim` are overwritten
          afterwards. With `compute=False`, do not compute two appends to the same arrays at the same time.

        Args:
            where: Whatever `omnizarr.open` takes for writing, or a group.
            mode: "w" to replace what is there, "w-" to write only where nothing is, "a" to overwrite or add variables,
                "a-" to add only along `append_dim`, "r+" to overwrite values of what is there.
            group: Path of the group within the place.
            encoding: How variables are stored, by their names: `chunks`, `shards`, `compressors`, `filters`,
                `serializer`, `_FillValue`, `dtype`, … in the words of xarray; or `codecs`, those of `create_array`.
            compute: Whether to write now what is lazy, else when the result is computed.
            consolidated: Whether to write consolidated metadata; so by default, where new arrays are made.
            append_dim: Dimension at whose end the dataset goes.
            region: Part of each dimension that the dataset goes to, or "auto" to find it by its coordinates.
            safe_chunks: Whether a store that cannot keep tasks apart refuses them.
            align_chunks: Whether to merge Dask's chunks so that no two tasks write to the same stored chunk.
            storage_options: As for `omnizarr.open`.
            format: "zarr3" or "zarr2"; "nczarr" or "nczarr3", so that netCDF's own metadata keeps which dimensions are
                unlimited and of which types attributes are; "netcdf4" or "netcdf3" for a file. By default that of what
                is there, else what the name says: a netCDF file for `out.nc`, and "zarr3" for all others.
            zarr_format: 2 or 3, another word for `format`.
            write_empty_chunks: Whether chunks that hold the fill value alone are stored all the same.
            chunkmanager_store_kwargs: Further arguments of `dask.array.store`.

        Returns:
            The group; or with `compute=False` something of Dask's that writes when it is computed.
        """
        return save([("", self._dataset)], where, {"": encoding or {}}, Options.of(mode, options))


@xr.register_dataarray_accessor("oz")
class ArrayAccessor:
    """What Omnizarr adds to arrays of xarray."""

    def __init__(self, array: xr.DataArray) -> None:
        self._array = array

    def to_omnizarr(
        self,
        where: object,
        mode: str | None = None,
        *,
        encoding: Mapping[str, Mapping[str, Any]] | None = None,
        **options: Unpack[Given],
    ) -> Any:  # noqa: ANN401 - as above
        """Write the array and its coordinates as a dataset; arguments are as for a dataset.

        `xarray.open_dataarray` reads it. As `to_zarr` does, an array without a name, or with that of a coordinate, gets
        one that says so.
        """
        array = self._array
        given = encoding or {}
        if array.name is not None and array.name not in array.coords and array.name not in array.dims:
            dataset = array.to_dataset()
        else:
            dataset = array.to_dataset(name=_UNNAMED)
            if array.name is not None:
                dataset.attrs[_NAME] = array.name
        return save([("", dataset)], where, {"": given}, Options.of(mode, options))


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
        **options: Unpack[Given],
    ) -> Any:  # noqa: ANN401 - as above
        """Write the tree: each node a group. Arguments are as for a dataset, but for these.

        Args:
            where: As there, like all that are not said otherwise.
            mode: As there.
            encoding: As there for each node, by its path.
            write_inherited_coords: Whether coordinates of a parent are written to its children, too.
            options: As there; nodes without `append_dim` are written as with mode "a".
        """
        tree = self._tree
        if unknown := set(encoding or {}) - set(tree.groups):
            raise ValueError(f"unexpected encoding group name(s) provided: {unknown}")
        nodes = [
            (
                path.strip("/") if node is not tree else "",
                node.to_dataset(inherit=write_inherited_coords or node is tree),
            )
            for path, node in tree.subtree_with_keys
        ]
        start = len(tree.path)
        given = {
            "" if path == tree.path else path[start:].strip("/"): words for path, words in (encoding or {}).items()
        }
        return save(nodes, where, given, Options.of(mode, options))
