"""Dask arrays into stored arrays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from omnizarr.array.io import changing, expect_change
from omnizarr.errors import ConflictError, NodeTypeError, ShapeError
from omnizarr.hierarchy.array import Array
from omnizarr.hierarchy.create import ArrayOptions
from omnizarr.hierarchy.group import new_array
from omnizarr.hierarchy.opening import Place, known_options
from omnizarr.interop.dask.blocks import even, is_aligned
from omnizarr.interop.dask.library import dask_module
from omnizarr.interop.dask.origins import read_from, real
from omnizarr.interop.dask.overlap import Output, check_order
from omnizarr.interop.dask.reading import to_dask
from omnizarr.interop.dask.region import Region, region_of
from omnizarr.interop.dask.stored import Stored
from omnizarr.store.cloud.at import located
from omnizarr.store.protocol import place_name
from omnizarr.tools.nodes import open_at


def from_dask(
    x: Any,  # noqa: ANN401 - Dask has no types
    where: object,
    *,
    path: str | None = None,
    region: Any = None,  # noqa: ANN401 - as said below
    compute: bool = True,
    return_stored: bool = False,
    overwrite: bool = False,
    storage_options: Mapping[str, Any] | None = None,
    format: str = "zarr3",  # noqa: A002 - the word of the documents
    **options: Any,  # noqa: ANN401 - those of `create_array`
) -> Any:  # noqa: ANN401 - as said below
    """Write a Dask array into a new array, or into a part of one that is there; each block is a task.

    Blocks need not line up with what is stored: two that meet in one chunk or shard lose nothing of each other's,
    whether they are written by threads, processes or the workers of a cluster. Where a store cannot promise that, an
    error says so before anything is lost.

    Args:
        x: A Dask array.
        where: Where to write: whatever `omnizarr.create_array` takes, or an `Array` that is open for writing.
        path: Path of the array within the store.
        region: Write into this part of an array that is there: a slice for each dimension, or a mapping of dimensions,
            by name or number, to slices.
        compute: Whether to write now; if not, what is returned does so when it is computed.
        return_stored: Whether to return a Dask array that reads what was written.
        overwrite: Whether an array that is there may be replaced.
        storage_options: Credentials and settings of an object store, as for `omnizarr.open`.
        format: As for `omnizarr.create_array`.
        options: The other options of `omnizarr.create_array`: `chunks` (those of the Dask array if not given),
            `shards`, `codecs`, `fill_value`, `dims`, `attrs` and so on.

    Returns:
        The `Array` that was written; a Dask array of the same values if `return_stored`; if not `compute`, a Dask
        `Delayed` that does the work.

    Raises:
        ExistsError: Something is there, unless `overwrite` or `region` is given.
        ShapeError: The region does not have the shape of the values, or lengths of blocks are not known.
        ConflictError: The values would be read from the very array that is to be replaced, or from parts of it that
            other blocks may have overwritten by then.
        StoreError: Other processes cannot write to the store, or not in blocks of this shape.

    >>> import dask.array as da, omnizarr as oz
    >>> a = oz.from_dask(da.arange(10, chunks=3), {}, chunks=4)
    >>> a.chunks, a[...]
    ((4,), array([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]))
    """
    _check_dask(x)
    target = _Target(where, path, storage_options)
    if isinstance(where, Array) or region is not None:
        if options:
            raise TypeError(f"{next(iter(options))}= is for a new array, and this one is there")
        array = target.opened()
        axes = region_of(array, region, x.shape).axes
        check_order([Output(x, real(array.store, array.path), array.name, axes)])
    else:
        array = target.made(x, format, known_options({**_cut(x), **options}), overwrite=overwrite)
    return _Writing(x, array, region_of(array, region, x.shape)).run(compute=compute, return_stored=return_stored)


def to_zarr(  # noqa: PLR0917 - as in Dask
    arr: Any,  # noqa: ANN401 - Dask has no types
    url: object,
    component: str | None = None,
    storage_options: Mapping[str, Any] | None = None,
    region: tuple[slice, ...] | None = None,
    compute: bool = True,
    return_stored: bool = False,
    **options: Any,  # noqa: ANN401 - those of `from_dask`, and `mode` and `overwrite`
) -> Any:  # noqa: ANN401 - as `from_dask`
    """Do what `dask.array.to_zarr` does, with its arguments, by `from_dask`.

    Args:
        arr: A Dask array.
        url: Where to write: a place, a store, or an `Array`.
        component: Path of the array within the store.
        storage_options: Credentials and settings of an object store.
        region: The part of an array that is there.
        compute: Whether to write now.
        return_stored: Whether to return a Dask array that reads what was written.
        options: Those of `from_dask`; `mode="w"` is `overwrite=True`, and `zarr_format=2` is `format="zarr2"`.

    Returns:
        As `from_dask`, though `None` where that gives an `Array`.
    """
    mode = options.pop("mode", "a")
    if "zarr_format" in options:
        options["format"] = f"zarr{options.pop('zarr_format')}"
    if mode == "w":
        options.setdefault("overwrite", True)
    done = from_dask(
        arr,
        url,
        path=component or None,
        storage_options=storage_options,
        region=region,
        compute=compute,
        return_stored=return_stored,
        **options,
    )
    return None if isinstance(done, Array) else done


def _check_dask(x: Any) -> None:  # noqa: ANN401 - whatever was given
    if not isinstance(x, dask_module("dask.array.core").Array):
        raise TypeError(f"this takes a Dask array, not a {type(x).__name__}")
    if any(size != size for size in x.shape):  # noqa: PLR0124 - lengths that Dask does not know are NaN
        raise ShapeError(
            f"the lengths of some blocks are not known: shape {x.shape}", hint="Call x.compute_chunk_sizes() first."
        )


def _cut(x: Any) -> dict[str, Any]:  # noqa: ANN401 - a Dask array
    # Blocks become chunks, as long as one decodes in a moment; larger ones are cut as arrays mostly are.
    chunks = tuple(map(even, x.chunks))
    small = np.prod(chunks, dtype=object) * x.dtype.itemsize <= 64 << 20
    return {"shape": x.shape, "dtype": x.dtype, "chunks": chunks if small and x.ndim else "auto"}


class _Target:
    """Where values go."""

    def __init__(self, where: object, path: str | None, storage_options: Mapping[str, Any] | None) -> None:
        self._where = located(where, storage_options)
        self._path = path

    def opened(self) -> Array:
        """Open what is there."""
        node = open_at(self._where, "r+", path=self._path)
        if not isinstance(node, Array):
            raise NodeTypeError("this is a group, not an array", path=node.name, hint="Name an array in it: path=.")
        node._context.check_writable(node.path)  # noqa: SLF001 - before any work is done
        return node

    def made(self, x: Any, format_: str, options: ArrayOptions, *, overwrite: bool) -> Array:  # noqa: ANN401
        """Make a new array."""
        place = Place(self._where, "w-", self._path)
        if overwrite:
            here = real(place.context.store, place.path)
            if any(one.startswith(here) for one in read_from(x)):
                raise ConflictError(
                    "the values are read from what they would replace",
                    path=place_name(place.context.store, place.path),
                    hint="Write them to another place, or call x.persist() first.",
                )
        return new_array(place.context, place.path, format_, options, overwrite=overwrite)


class _Writing:
    """One write of one Dask array."""

    def __init__(self, x: Any, array: Array, region: Region) -> None:  # noqa: ANN401 - a Dask array
        self._x, self._array, self._region = x, array, region
        meta = array.metadata
        aligned = is_aligned(x.chunks, region.starts, meta.grid, meta.shape) and region.is_plain
        self._stored = Stored(array, unaligned=not aligned)

    def run(self, *, compute: bool, return_stored: bool) -> Any:  # noqa: ANN401 - see `from_dask`
        """Write, or say how to."""
        place = place_name(self._array.store, self._array.path)
        written = self._written(np.zeros((1,) * self._x.ndim, np.int8) if not return_stored or compute else None)
        if not compute:
            # Workers may write at any time from now on, and do not tell this process.
            expect_change(place)
            return written if return_stored else dask_module("dask").delayed(_done)(written)
        with changing(place):
            written.compute()
        if not return_stored:
            return self._array
        return to_dask(self._array)[self._region.selection].rechunk(self._x.chunks)

    def _written(self, mark: np.ndarray[Any, Any] | None) -> Any:  # noqa: ANN401 - a Dask array
        """Return a Dask array each of whose blocks writes one: of marks, or of the values read back."""
        core, layers = dask_module("dask.array.core"), dask_module("dask.layers")
        x = self._x
        if x.ndim == 0:
            # Blocks without dimensions have no slices.
            return x.map_blocks(_write_scalar, self._stored, self._region, mark, dtype=x.dtype, meta=x._meta)  # noqa: SLF001
        small = mark is not None
        return core.map_blocks(
            _write_block,
            x,
            layers.ArraySliceDep(x.chunks),
            self._stored,
            self._region,
            mark,
            chunks=tuple((1,) * len(cut) for cut in x.chunks) if small else x.chunks,
            dtype=np.int8 if small else self._array.dtype,
            meta=np.empty((0,) * x.ndim, np.int8 if small else self._array.dtype),
            token=dask_module("dask.base").tokenize(x, self._stored, self._region.key, small),
            name=None,
        )


def _done(_written: object) -> None:
    """Wait for all blocks: the last task."""


def _write_block(
    block: Any,  # noqa: ANN401 - as Dask gives it
    slices: tuple[slice, ...],
    stored: Stored,
    region: Region,
    mark: np.ndarray[Any, Any] | None,
) -> Any:  # noqa: ANN401 - as above
    selection = region.within(slices)
    stored[selection] = block
    return stored[selection] if mark is None else mark


def _write_scalar(block: Any, stored: Stored, region: Region, mark: object) -> Any:  # noqa: ANN401 - as above
    stored[region.selection] = block
    return block if mark is not None else np.asarray(stored[region.selection])
