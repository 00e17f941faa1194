"""Stored arrays as Dask arrays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from omnizarr.errors import NodeTypeError
from omnizarr.hierarchy.array import Array
from omnizarr.interop.dask.blocks import blocks_of
from omnizarr.interop.dask.library import dask_module
from omnizarr.interop.dask.stored import Stored
from omnizarr.store.cloud.at import located
from omnizarr.tools.nodes import open_at


def to_dask(
    where: object,
    chunks: Any = None,  # noqa: ANN401 - as said below
    *,
    path: str | None = None,
    storage_options: Mapping[str, Any] | None = None,
    name: str | None = None,
) -> Any:  # noqa: ANN401 - Dask has no types
    """Return a Dask array that reads a stored array; nothing but its documents is read now.

    Each block is one task, and one call of the kernel. Two calls for the same state of the same array give Dask arrays
    of the same name, so that Dask sees that they are the same.

    Args:
        where: Whatever `omnizarr.open` takes, or an array.
        chunks: How to cut it: one block for each stored unit (shard, or else chunk) if not given; else what Dask takes,
            such as `"auto"` (multiples of units), `(100, -1)`, or a mapping by names of dimensions: `{"time": 100}`.
        path: Path of the array within the store.
        storage_options: Credentials and settings of an object store, as for `omnizarr.open`.
        name: Name of the Dask array, which must be unique; made from the array's place and state if not given.

    Raises:
        NotFoundError: Nothing is there.
        NodeTypeError: A group is there.
        ShapeError: The chunks do not fit.
        MissingDependencyError: Dask is not installed.

    >>> import numpy as np, omnizarr as oz
    >>> a = oz.create_array({}, data=np.arange(24).reshape(4, 6), chunks=(2, 3))
    >>> x = oz.to_dask(a)
    >>> x.chunks, int(x.sum().compute())
    (((2, 2), (3, 3)), 276)
    """
    core = dask_module("dask.array.core")
    node = open_at(located(where, storage_options), path=path)
    if not isinstance(node, Array):
        raise NodeTypeError(
            "this is a group, not an array", path=node.name, hint="Name an array in it: path=, or g['name'].to_dask()."
        )
    node._opened()  # noqa: SLF001 - metadata that came from a copy is looked at once more, before it goes to workers
    stored = Stored(node)
    blocks = blocks_of(node.metadata, chunks)
    if name is None:
        name = f"omnizarr-{dask_module('dask.base').tokenize(stored, blocks)}"
    meta = np.empty((0,) * node.ndim, node.dtype)
    return core.from_array(stored, chunks=blocks, name=name, asarray=True, fancy=True, meta=meta, inline_array=True)


def from_zarr(
    url: object,
    component: str | None = None,
    storage_options: Mapping[str, Any] | None = None,
    chunks: Any = None,  # noqa: ANN401 - as for `to_dask`
    name: str | None = None,
    **options: Any,  # noqa: ANN401 - of Dask's function, see below
) -> Any:  # noqa: ANN401 - Dask has no types
    """Do what `dask.array.from_zarr` does, with its arguments, by `to_dask`.

    Args:
        url: Where the store is, or an array.
        component: Path of the array in the store.
        storage_options: Credentials and settings of an object store.
        chunks: How to cut it.
        name: Name of the Dask array.
        options: `inline_array` is taken, and makes no difference.

    Raises:
        TypeError: Another option is given.
    """
    options.pop("inline_array", None)
    if options:
        raise TypeError(f"from_zarr has no option {next(iter(options))!r}")
    return to_dask(url, chunks, path=component or None, storage_options=storage_options, name=name)
