"""Virtual datasets: views of others, whose chunks become the chunks of the view where the two meet."""

from __future__ import annotations

import os
from math import prod
from typing import Any, NamedTuple

import numpy as np

from omnizarr.errors import UnsupportedError, warn
from omnizarr.refs.scan.hdf5_chunks import chunk_numbers, chunk_rows
from omnizarr.refs.scan.hdf5_elements import Element, element_of
from omnizarr.refs.scan.hdf5_filters import CodecJSON, codecs_of, filters_of
from omnizarr.refs.scan.hdf5_site import Site
from omnizarr.refs.scan.hdf5_values import Laid, embedded
from omnizarr.refset.model import Chunks, Numbers


class _Mapping(NamedTuple):
    """A block of the view, and the block of another dataset that it shows."""

    file: str
    dataset: str
    start: tuple[int, ...]
    source_start: tuple[int, ...]
    count: tuple[int, ...]
    """How long the block is along each dimension of the view."""
    axes: tuple[int, ...]
    """The dimension of the view that each dimension of the source is; the view is one element thick along others."""


class _Part(NamedTuple):
    """The chunks that a mapping brings in."""

    chunks: tuple[int, ...]
    codecs: list[CodecJSON]
    starts: Numbers
    offsets: Numbers
    lengths: Numbers
    url: int


class _NoMatchError(Exception):
    """Chunks of a source are not chunks of the view."""


def virtual(site: Site, dataset: Any, element: Element) -> Laid:  # noqa: ANN401 - of h5py's
    """Find the chunks of a view.

    Raises:
        UnsupportedError: If chunks of the sources are no chunks of the view, and it is too large to be taken into the
            set.
    """
    if site.local is None:
        raise UnsupportedError("it is a view of other files, which are only looked for on this machine")
    shape = dataset.shape
    try:
        if element.kind != "plain" or element.tail:
            raise _NoMatchError("its elements are not numbers")  # noqa: TRY301 - one way out for all
        parts = [_part(site, one, element, dataset) for one in _mappings(site, dataset)]
        parts = [one for one in parts if one is not None]
        return _joined(shape, [one for one in parts if one is not None])
    except _NoMatchError as error:
        return embedded(site.h5py, dataset, element, f"it is a view of other datasets that {error}")


def _mappings(site: Site, dataset: Any) -> list[_Mapping]:  # noqa: ANN401 - as above
    plist, made = dataset.get_create_plist(), []
    for index in range(plist.get_virtual_count()):
        view, source = plist.get_virtual_vspace(index), plist.get_virtual_srcspace(index)
        file = _text(plist.get_virtual_filename(index))
        if "%" in file:
            raise _NoMatchError("are as many as there are files")
        start, count = _block(view, dataset.shape)
        source_start, source_count = _block(source, source.get_simple_extent_dims())
        axes = [axis for axis, length in enumerate(count) if length > 1]
        thick = [axis for axis, length in enumerate(source_count) if length > 1]
        if [count[axis] for axis in axes] != [source_count[axis] for axis in thick]:
            raise _NoMatchError("have other shapes than what shows them")
        made.append(
            _Mapping(
                file,
                _text(plist.get_virtual_dsetname(index)),
                start,
                source_start,
                count,
                _axes(len(count), len(source_count), axes, thick),
            )
        )
    return made


def _axes(ndim: int, source_ndim: int, axes: list[int], thick: list[int]) -> tuple[int, ...]:
    """Match the dimensions of a source to those of the view: the thick ones in order, others where there is room."""
    pairs = dict(zip(thick, axes, strict=True))
    last, made = -1, []
    for axis in range(source_ndim):
        ahead = [pairs[one] for one in range(axis, source_ndim) if one in pairs]
        bound = (ahead[0] if ahead else ndim) - sum(one not in pairs for one in range(axis, source_ndim) if not ahead)
        chosen = pairs.get(axis, min(max(last + 1, bound - 1 if ahead else bound), ndim - 1))
        if chosen <= last or (axis not in pairs and chosen in pairs.values()):
            raise _NoMatchError("have other dimensions than what shows them")
        made.append(chosen)
        last = chosen
    return tuple(made)


def _block(space: Any, extent: tuple[int, ...]) -> tuple[tuple[int, ...], tuple[int, ...]]:  # noqa: ANN401 - as above
    """Return start and lengths of a selection that is one block."""
    if not extent:
        return (), ()
    start, end = space.get_select_bounds()
    count = tuple(int(last) - int(first) + 1 for first, last in zip(start, end, strict=True))
    if prod(count) != space.get_select_npoints():
        raise _NoMatchError("show through in more than one block each")
    return tuple(int(first) for first in start), count


def _part(site: Site, one: _Mapping, element: Element, view: Any) -> _Part | None:  # noqa: ANN401 - as above
    path = site.source.url if one.file == "." else site.beside(one.file)
    if not os.path.exists(path):  # noqa: PTH110 - the path is text already
        warn(f"{path}, of which {site.source.url} has a view, is not there: the view shows its fill value")
        return None
    file = site.file if one.file == "." else site.h5py.File(path, "r", locking="best-effort")
    try:
        if one.dataset not in file:
            warn(f"{path} has no {one.dataset}, of which {site.source.url} has a view: it shows its fill value")
            return None
        return _chunks(site, one, element, file[one.dataset].id, path, view)
    finally:
        if one.file != ".":
            file.close()


def _chunks(site: Site, one: _Mapping, element: Element, source: Any, path: str, view: Any) -> _Part:  # noqa: ANN401, PLR0913, PLR0917 - as above
    h5py, plist = site.h5py, source.get_create_plist()
    found = element_of(h5py, source.get_type())
    if found.dtype != element.dtype or not found.exact or found.kind != "plain":
        raise _NoMatchError("have elements of another type")
    layout = plist.get_layout()
    if layout == h5py.h5d.CHUNKED:
        shape = tuple(int(length) for length in plist.get_chunk())
        rows = chunk_rows(source)
        if rows.masks.any():
            raise _NoMatchError("left out filters for some chunks")
        codecs = codecs_of(filters_of(plist), element, shape)
        starts, offsets, lengths = rows.starts, rows.offsets, rows.lengths
    elif layout == h5py.h5d.CONTIGUOUS and not plist.get_external_count() and source.get_offset() is not None:
        shape, codecs = source.shape, []
        starts = np.zeros((1, len(shape)), np.uint64)
        offsets = np.array([source.get_offset()], np.uint64)
        lengths = np.array([prod(shape) * element.dtype.itemsize], np.uint64)
    else:
        raise _NoMatchError("are laid out in a way that has no references")
    total = prod(-(-length // n) for length, n in zip(source.shape, shape, strict=True))
    if len(starts) < total and _fill(h5py, source, element) != _fill(h5py, view, element):
        raise _NoMatchError("are not all written, and have another fill value")
    return _moved(one, view.shape, shape, codecs, (starts, offsets, lengths), site.url(path))


def _moved(  # noqa: PLR0913, PLR0917 - all of them belong to one chunk
    one: _Mapping,
    view: tuple[int, ...],
    shape: tuple[int, ...],
    codecs: list[CodecJSON],
    rows: tuple[Numbers, Numbers, Numbers],
    url: int,
) -> _Part:
    """Bring the chunks of a source to their places in the view."""
    starts, offsets, lengths = rows
    chunks = [1] * len(view)
    places = np.zeros((len(starts), len(view)), np.int64) + np.array(one.start, np.int64)
    inside = np.ones(len(starts), bool)
    for axis, target in enumerate(one.axes):
        length, first, begin = shape[axis], one.source_start[axis], one.start[target]
        chunks[target] = length
        end = begin + one.count[target]
        if first % length or begin % length or (end % length and end != view[target]):
            raise _NoMatchError("have chunks that do not meet those of the view")
        column = starts[:, axis].astype(np.int64) - first
        inside &= (column >= 0) & (column < one.count[target])
        places[:, target] += column
    return _Part(tuple(chunks), codecs, places[inside].astype(np.uint64), offsets[inside], lengths[inside], url)


def _joined(shape: tuple[int, ...], parts: list[_Part]) -> Laid:
    if not parts:
        return Laid(tuple(max(length, 1) for length in shape), [], None, complete=0 in shape)
    first = parts[0]
    if any(one.chunks != first.chunks or one.codecs != first.codecs for one in parts):
        raise _NoMatchError("have different chunks or filters")
    counts = tuple(-(-length // chunk) for length, chunk in zip(shape, first.chunks, strict=True))
    numbers = chunk_numbers(np.concatenate([one.starts for one in parts]), first.chunks, counts)
    order = np.argsort(numbers, kind="stable")
    numbers = numbers[order]
    if (numbers[1:] == numbers[:-1]).any():
        raise _NoMatchError("lie over each other")
    urls = np.concatenate([np.full(len(one.starts), one.url, np.uint32) for one in parts])
    rows = Chunks.ranges(
        counts,
        urls[order],
        np.concatenate([one.offsets for one in parts])[order],
        np.concatenate([one.lengths for one in parts])[order],
        numbers=numbers,
    )
    return Laid(first.chunks, first.codecs, rows, complete=len(numbers) == prod(counts))


def _fill(h5py: Any, dataset: Any, element: Element) -> bytes:  # noqa: ANN401 - as above
    value = np.zeros((), element.memory)
    plist = dataset.get_create_plist()
    if plist.fill_value_defined() == h5py.h5d.FILL_VALUE_USER_DEFINED:
        plist.get_fill_value(value)
    return value.tobytes()


def _text(name: bytes | str) -> str:
    return name.decode("utf-8", "surrogateescape") if isinstance(name, bytes) else name
