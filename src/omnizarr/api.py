"""The one public door: opening and creating arrays and groups."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal

from omnizarr.array.defaults import Extents
from omnizarr.errors import ExistsError, MetadataError, NodeTypeError
from omnizarr.format.check import check_limits
from omnizarr.format.dialects import ZARR2
from omnizarr.format.names import as_path
from omnizarr.hierarchy.array import Array
from omnizarr.hierarchy.attrs import to_json_object
from omnizarr.hierarchy.create import ZERO, ArrayOptions, check_format
from omnizarr.hierarchy.group import Group, new_array
from omnizarr.hierarchy.listing import find_copy
from omnizarr.hierarchy.opening import Format, Mode, Place, known_options, missing, open_node, tidy
from omnizarr.hierarchy.save import create
from omnizarr.limits import DEFAULT_LIMITS, Limits
from omnizarr.model.array import ArrayMeta
from omnizarr.model.dtype import DType
from omnizarr.model.group import GroupMeta
from omnizarr.model.keys import Keys
from omnizarr.store.cloud.at import At
from omnizarr.store.protocol import place_name

if TYPE_CHECKING:
    import numpy.typing as npt

    from omnizarr.hierarchy.detect import Detected


def open(  # noqa: A001 - it is always used as omnizarr.open
    where: object,
    mode: Mode = "r",
    *,
    path: str | None = None,
    format: Format | None = None,  # noqa: A002 - the word of the documents
    consolidated: bool | None = None,
    allow: Sequence[str] = (),
    storage_options: Mapping[str, Any] | None = None,
    limits: Limits = DEFAULT_LIMITS,
    cache_bytes: int = 0,
    write_empty: bool = False,
) -> Array | Group:
    """Open an array or a group, whichever is there.

    Args:
        where: A path or `file:` URI of a folder or zip archive, a URL of an object store or a server, a binary file, a
            store, or a mapping of keys to bytes.
        mode: "r" to read; "r+" to read and write what exists; "a" the same, where a missing group is created; "w" to
            create a group in place of what is there; "w-" to create a group where nothing is.
        path: Path of the node within the store; its root if not given.
        format: "zarr3", "zarr2", "zarr1", "zarr0", "zarr3-draft" or "n5", to look for that alone, and for that first
            below a group, or to create it ("zarr3" if not given; the last two are only read).
        consolidated: Whether to use consolidated metadata: `None` where there is any and the mode is "r", `True` to
            insist, `False` to ignore it.
        allow: Places that a reference set may lead to besides its own folder and public servers: folders, or URLs; all
            below them is allowed too. "*" allows everything.
        storage_options: Credentials and settings of an object store, by the names of fsspec or obstore: `key`,
            `secret`, `anon`, `profile`, `endpoint_url` and others; for a server, `headers`, which go to that server
            alone. For a reference set on this machine, those of the stores that its references lead to; headers then
            go to the servers that `allow` names.
        limits: Bounds on what documents may claim.
        cache_bytes: Size of a cache of decoded chunks for each array; none by default.
        write_empty: Whether chunks that hold the fill value alone are stored all the same.

    Returns:
        An `Array` or a `Group`.

    Raises:
        NotFoundError: If nothing is there; the hint names what is near.
        ExistsError: If something is there, for "w-".
        MetadataError: If a document breaks its specification.

    >>> import omnizarr as oz
    >>> store = {}
    >>> a = oz.create_array(store, shape=(2, 3), dtype="f4")
    >>> oz.open(store).shape
    (2, 3)
    """
    limits = _allowing(limits, allow)
    place = Place(
        _at(where, storage_options), mode, _inner(path), limits=limits, cache_bytes=cache_bytes, write_empty=write_empty
    )
    return open_node(place, mode, format, consolidated)


def _at(where: object, storage_options: Mapping[str, Any] | None) -> object:
    if not storage_options:
        return where
    if not isinstance(where, (str, os.PathLike)):
        raise TypeError("storage_options are for a URL or path; a store has its own")
    return At(os.fspath(where), storage_options)


def _inner(path: object) -> str | None:
    """Check a path within a place; 0 or [] is no other word for the root."""
    return None if path is None else as_path(path)


def _allowing(limits: Limits, allow: Sequence[str]) -> Limits:
    limits = check_limits(limits)
    if isinstance(allow, str) or not isinstance(allow, Iterable):
        raise NodeTypeError(f"allow is a list of places, not {allow!r}", hint='Pass allow=["…"], a list even of one.')
    return limits._replace(allow=(*limits.allow, *allow)) if allow else limits


def open_array(
    where: object,
    mode: Mode = "r",
    *,
    path: str | None = None,
    format: Format | None = None,  # noqa: A002 - the word of the documents
    allow: Sequence[str] = (),
    storage_options: Mapping[str, Any] | None = None,
    limits: Limits = DEFAULT_LIMITS,
    cache_bytes: int = 0,
    write_empty: bool = False,
    stored_order: Literal["C", "F"] | None = None,
    **options: Any,  # noqa: ANN401 - those of create_array
) -> Array:
    """Open an array; with mode "a", "w" or "w-" create it, for which the keywords of `create_array` are needed.

    The other arguments, and what is raised, are as for `open`.

    Args:
        where: As for `open`, like all arguments that are not said otherwise.
        mode: As for `open`.
        path: As for `open`.
        format: As for `open`.
        allow: As for `open`.
        storage_options: As for `open`.
        limits: As for `open`.
        cache_bytes: As for `open`.
        write_empty: As for `open`.
        stored_order: The order that elements really have in the chunks, where the document is wrong about it: "C" for
            arrays that were migrated from v1 with order "F" and another compressor than Blosc. Whatever rewrites the
            document, as `resize` and `append` do, puts it right.
        **options: Those of `create_array`.

    Raises:
        NodeTypeError: If a group is there.

    >>> import omnizarr as oz
    >>> a = oz.open_array({}, "w", shape=(3,), dtype="i2", fill_value=5)
    >>> a[...]
    array([5, 5, 5], dtype=int16)
    """
    if stored_order not in (None, "C", "F"):
        raise MetadataError(f"stored_order is {stored_order!r}, not 'C' or 'F'")
    limits = _allowing(limits, allow)
    place = Place(
        _at(where, storage_options), mode, _inner(path), limits=limits, cache_bytes=cache_bytes, write_empty=write_empty
    )
    if mode not in ("w", "w-"):
        array = _found_array(place, mode, format, stored_order)
        if array is not None:
            return array
        if mode != "a":
            raise missing(place)
    made = known_options(options)
    try:
        return new_array(place.context, place.path, format or "zarr3", made, overwrite=mode == "w")
    except ExistsError:
        if mode != "a":
            raise
        # Another program was faster, or it is of another format, which `missing` tells.
        array = _found_array(place, mode, format, stored_order)
        if array is None:
            raise missing(place) from None
        return array


def _found_array(place: Place, mode: Mode, form: Format | None, stored_order: Literal["C", "F"] | None) -> Array | None:
    """Return the array at a place, or `None` if nothing of the format is there.

    Raises:
        NodeTypeError: If a group is there.
    """
    meta = place.load(form)
    if meta is None and mode == "r" and form in (None, ZARR2.name):
        meta = find_copy(place.context, place.path)
    if meta is None:
        return None
    if not isinstance(meta, ArrayMeta):
        where = place_name(place.context.store, place.path)
        raise NodeTypeError("this is a group, not an array", path=where, hint="use open_group or open")
    tidy(place.context, place.path)
    return Array(place.context, place.path, meta, stored_order=stored_order)


def open_group(
    where: object,
    mode: Mode = "r",
    *,
    path: str | None = None,
    format: Format | None = None,  # noqa: A002 - the word of the documents
    consolidated: bool | None = None,
    allow: Sequence[str] = (),
    storage_options: Mapping[str, Any] | None = None,
    limits: Limits = DEFAULT_LIMITS,
    cache_bytes: int = 0,
    write_empty: bool = False,
) -> Group:
    """Open a group; with mode "a", "w" or "w-" create it. Arguments and errors are as for `open`.

    Raises:
        NodeTypeError: If an array is there.
    """
    place = Place(
        _at(where, storage_options),
        mode,
        _inner(path),
        limits=_allowing(limits, allow),
        cache_bytes=cache_bytes,
        write_empty=write_empty,
        listed=consolidated is not True,
    )
    node = open_node(place, mode, format, consolidated)
    if isinstance(node, Array):
        where_is = place_name(node.store, node.path)
        raise NodeTypeError("this is an array, not a group", path=where_is, hint="use open_array or open")
    return node


def create_array(
    where: object,
    *,
    path: str | None = None,
    shape: int | Iterable[int] | None = None,
    dtype: npt.DTypeLike | DType | None = None,
    data: Any = None,  # noqa: ANN401 - whatever NumPy takes
    chunks: Extents | Literal["auto"] | bool | None = "auto",
    shards: Extents | Literal["auto"] | bool | None = None,
    codecs: object = "auto",
    fill_value: object = ZERO,
    dims: Sequence[str | None] | None = None,
    attrs: Mapping[str, object] | None = None,
    order: Literal["C", "F"] = "C",
    separator: Literal["/", "."] | None = None,
    cname: str | None = None,
    clevel: int | None = None,
    shuffle: int | str | None = None,
    chunk_keys: Keys | str | Mapping[str, object] | None = None,
    format: Format = "zarr3",  # noqa: A002 - the word of the documents
    overwrite: bool = False,
    storage_options: Mapping[str, Any] | None = None,
    limits: Limits = DEFAULT_LIMITS,
    cache_bytes: int = 0,
    write_empty: bool = False,
) -> Array:
    """Create an array, and the groups above it that are missing.

    Args:
        where: A path or `file:` URI of a folder or zip archive, a URL of an object store or a server, a binary file, a
            store, or a mapping of keys to bytes.
        path: Path of the array within the store; its root if not given.
        shape: Length of each dimension.
        dtype: Whatever NumPy takes for one, or `str` or `bytes` for text or bytes of any length; "float64" by default.
        data: Values to store; shape and type are theirs unless given.
        chunks: Shape of the chunks, one length for all dimensions, or "auto": about 1 MiB. Where chunks differ, the
            length of each of them for a dimension: `[[10, 20, 30], 5]`.
        shards: Shape of shards, which hold several chunks under one key; "auto" where there would be many chunks.
        codecs: Codecs by name, as mappings, as objects of numcodecs or by `omnizarr.codec`; `None` for no compression;
            "auto" for blosc with lz4 and a byte shuffle (zstd for text; nothing for chunks of a few bytes).
        fill_value: Value of what was never written: zero by default; `None`, not for "zarr3", leaves it undefined.
        dims: Names of the dimensions.
        attrs: Attributes.
        order: Whether the last ("C") or the first ("F") dimension varies fastest in a chunk.
        separator: What stands between the indices in the key of a chunk.
        chunk_keys: How chunks are named: an encoding of v3 by name or as a mapping, or a template of keys.
        cname: Blosc's compressor; with `clevel` and `shuffle` short for a Blosc codec, as in the first Zarr.
        clevel: Blosc's level, from 0 to 9.
        shuffle: Blosc's shuffle: 0 or "noshuffle", 1 or "shuffle", 2 or "bitshuffle".
        format: "zarr3", "zarr2", "zarr1" or "zarr0".
        overwrite: Whether what is there may be replaced.
        storage_options: As for `open`.
        limits: Bounds on the size of chunks.
        cache_bytes: Size of a cache of decoded chunks; none by default.
        write_empty: Whether chunks that hold the fill value alone are stored all the same.

    Raises:
        ExistsError: If something is there, unless `overwrite`.
        ShapeError: If shape, chunks, shards, names of dimensions or the fill value do not fit each other.
        MetadataError: If the codecs do not fit the type, or attributes have no form in JSON.
        UnsupportedError: If the type or a codec is not to be had.

    >>> import omnizarr as oz
    >>> a = oz.create_array({}, shape=(100, 200), dtype="f4", chunks=(10, 200), dims=("time", "x"))
    >>> a
    <omnizarr.Array '/' (time: 100, x: 200) float32 chunks=(10, 200) codecs=bytes+blosc zarr3>
    """
    place = Place(
        _at(where, storage_options),
        "w-",
        _inner(path),
        limits=check_limits(limits),
        cache_bytes=cache_bytes,
        write_empty=write_empty,
    )
    options: ArrayOptions = {
        "shape": shape,
        "dtype": dtype,
        "data": data,
        "chunks": chunks,
        "shards": shards,
        "codecs": codecs,
        "fill_value": fill_value,
        "dims": dims,
        "attrs": attrs,
        "order": order,
        "separator": separator,
        "cname": cname,
        "clevel": clevel,
        "shuffle": shuffle,
        "chunk_keys": chunk_keys,
    }
    return new_array(place.context, place.path, format, options, overwrite=overwrite)


def create_group(
    where: object,
    *,
    path: str | None = None,
    attrs: Mapping[str, object] | None = None,
    format: Format = "zarr3",  # noqa: A002 - the word of the documents
    overwrite: bool = False,
    storage_options: Mapping[str, Any] | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> Group:
    """Create a group, and the groups above it that are missing.

    Args:
        where: A path or `file:` URI of a folder or zip archive, a URL of an object store or a server, a binary file, a
            store, or a mapping of keys to bytes.
        path: Path of the group within the store; its root if not given.
        attrs: Attributes.
        format: "zarr3" or "zarr2".
        overwrite: Whether what is there may be replaced.
        storage_options: As for `open`.
        limits: Bounds on documents.

    Raises:
        ExistsError: If something is there, unless `overwrite`.
    """
    place = Place(_at(where, storage_options), "w-", _inner(path), limits=check_limits(limits))
    check_format(format)
    meta = GroupMeta(to_json_object(attrs or {}), format)
    create(place.context, place.path, meta, overwrite=overwrite)
    return Group(place.context, place.path, meta)


def detect(where: object, *, path: str | None = None) -> Detected:
    """Say what is at a place without opening it for good.

    Args:
        where: Whatever `omnizarr.open` takes.
        path: Path of a node within it.

    >>> import omnizarr as oz
    >>> store = {}
    >>> a = oz.create_array(store, shape=(2, 3), dtype="f4")
    >>> oz.detect(store)[:4]
    ('Zarr v3 array', 'zarr3', 'array', 'memory')
    >>> oz.detect({"readme": b"hello"}).what
    'store without a node'
    """
    # Imported when it is needed, which is seldom.
    found: Detected = import_module("omnizarr.hierarchy.detect").detect(where, _inner(path))
    return found


def consolidate(where: object, *, path: str | None = None, format: Format | None = None) -> Group:  # noqa: A002
    """Write consolidated metadata for a group, and return the group; see `Group.consolidate`.

    Raises:
        NotFoundError: If nothing is there.
        NodeTypeError: If an array is there.
    """
    group = open_group(where, "r+", path=path, format=format)
    group.consolidate()
    return group
