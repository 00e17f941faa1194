"""Virtual datasets: views of others, whose chunks become the chunks of the view where the two meet."""

from __future__ import annotations

import os
from math import prod
from typing import Any, NamedTuple

import numpy as np

from omnizarr.errors import UnsupportedError, warn
from omnizarr.nc.files.hdf5_handles import acquire, release
from omnizarr.refs.scanners.hdf5_chunks import chunk_numbers, chunk_rows
from omnizarr.refs.scanners.hdf5_elements import Element, element_of
from omnizarr.refs.scanners.hdf5_filters import CodecJSON, codecs_of, filters_of
from omnizarr.refs.scanners.hdf5_index import chunk_starts
from omnizarr.refs.scanners.hdf5_site import Site
from omnizarr.refs.scanners.hdf5_values import Laid, embedded
from omnizarr.refset.model import Chunks, Numbers


class _Block(NamedTuple):
    """A block of the view, and the block of another dataset that it shows."""

    start: tuple[int, ...]
    source_start: tuple[int, ...]
    lengths: tuple[int, ...]
    """How long the block is along each dimension of the view."""
    axes: tuple[int | None, ...]
    """The dimension of the view that each one of the source is, or None where it is one element thick and has none."""


class _Part(NamedTuple):
    """The chunks that a mapping brings in."""

    chunks: tuple[int, ...]
    codecs: list[CodecJSON]
    starts: Numbers
    offsets: Numbers
    lengths: Numbers
    url: int = 0

    def moved(self, block: _Block, view: tuple[int, ...]) -> _Part:
        """Bring chunks of a source to their places in the view."""
        chunks = [1] * len(view)
        places = np.zeros((len(self.starts), len(view)), np.int64) + np.array(block.start, np.int64)
        inside = np.ones(len(self.starts), bool)
        for axis, target in enumerate(block.axes):
            length, first = self.chunks[axis], block.source_start[axis]
            if target is None:
                if length > 1:
                    raise _NoMatchError("have chunks that are thicker than the view")
                inside &= self.starts[:, axis] == first
                continue
            chunks[target], begin = length, block.start[target]
            end = begin + block.lengths[target]
            if first % length or begin % length or (end % length and end != view[target]):
                raise _NoMatchError("have chunks that do not meet those of the view")
            column = self.starts[:, axis].astype(np.int64) - first
            inside &= (column >= 0) & (column < block.lengths[target])
            places[:, target] += column
        return _Part(
            tuple(chunks),
            self.codecs,
            places[inside].astype(np.uint64),
            self.offsets[inside],
            self.lengths[inside],
            self.url,
        )


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
        count = dataset.get_create_plist().get_virtual_count()
        parts = [_part(site, dataset, index, element) for index in range(count)]
        return _joined(shape, [one for one in parts if one is not None])
    except _NoMatchError as error:
        return embedded(site.h5py, dataset, element, f"it is a view of other datasets that {error}")


def _part(site: Site, view: Any, index: int, element: Element) -> _Part | None:  # noqa: ANN401 - as above
    plist = view.get_create_plist()
    name, inside = _text(plist.get_virtual_filename(index)), _text(plist.get_virtual_dsetname(index))
    if "%" in name:
        raise _NoMatchError("are as many as there are files")
    path = site.source.url if name == "." else site.beside(name)
    if not os.path.exists(path):  # noqa: PTH110 - the path is text already
        warn(f"{path}, of which {site.source.url} has a view, is not there: the view shows its fill value")
        return None
    handle = None if name == "." else acquire(site.h5py, path)
    file = site.file if handle is None else handle.file
    try:
        if inside not in file:
            warn(f"{path} has no {inside}, of which {site.source.url} has a view: it shows its fill value")
            return None
        source = file[inside].id
        block = _block(site.h5py, plist.get_virtual_vspace(index), plist.get_virtual_srcspace(index), source.shape)
        return _chunks(site, source, path, element, view)._replace(url=site.url(path)).moved(block, view.shape)
    finally:
        if handle is not None:
            release(handle)


def _block(h5py: Any, view: Any, source: Any, shape: tuple[int, ...]) -> _Block:  # noqa: ANN401 - as above
    """Match what a mapping shows to where it shows it."""
    start, count = _bounds(h5py, view, view.get_simple_extent_dims())
    source_start, source_count = _bounds(h5py, source, shape)
    if count == source_count:
        return _Block(start, source_start, count, tuple(range(len(count))))
    thick = [axis for axis, length in enumerate(count) if length > 1]
    if [count[axis] for axis in thick] != [length for length in source_count if length > 1]:
        raise _NoMatchError("have other shapes than what shows them")
    left = iter(thick)
    return _Block(start, source_start, count, tuple(next(left) if length > 1 else None for length in source_count))


def _bounds(h5py: Any, space: Any, shape: tuple[int, ...]) -> tuple[tuple[int, ...], tuple[int, ...]]:  # noqa: ANN401 - as above
    """Return start and lengths of a selection that is one block."""
    if space.get_select_type() == h5py.h5s.SEL_ALL:  # which may not say how much that is
        return (0,) * len(shape), shape
    start, end = space.get_select_bounds()
    count = tuple(int(last) - int(first) + 1 for first, last in zip(start, end, strict=True))
    if prod(count) != space.get_select_npoints():
        raise _NoMatchError("show through in more than one block each")
    return tuple(int(first) for first in start), count


def _chunks(site: Site, source: Any, path: str, element: Element, view: Any) -> _Part:  # noqa: ANN401 - as above
    """Find the chunks of a source, in its own dimensions."""
    h5py, plist = site.h5py, source.get_create_plist()
    found = element_of(h5py, source.get_type())
    if found.dtype != element.dtype or not found.exact or found.kind != "plain":
        raise _NoMatchError("have elements of another type")
    layout = plist.get_layout()
    if layout == h5py.h5d.CHUNKED:
        shape = tuple(int(length) for length in plist.get_chunk())
        rows = chunk_rows(source, path)
        if rows.masks.any():
            raise _NoMatchError("left out filters for some chunks")
        codecs = codecs_of(filters_of(plist), element, shape)
        part = _Part(shape, codecs, chunk_starts(rows.numbers, source.shape, shape), rows.offsets, rows.lengths)
    elif layout == h5py.h5d.CONTIGUOUS and not plist.get_external_count() and source.get_offset() is not None:
        starts, offset = np.zeros((1, len(source.shape)), np.uint64), np.array([source.get_offset()], np.uint64)
        size = np.array([prod(source.shape) * element.dtype.itemsize], np.uint64)
        part = _Part(source.shape, [], starts, offset, size)
    else:
        raise _NoMatchError("are laid out in a way that has no references")
    total = prod(-(-length // n) for length, n in zip(source.shape, part.chunks, strict=True))
    if len(part.starts) < total and _fill(h5py, source, element) != _fill(h5py, view, element):
        raise _NoMatchError("are not all written, and have another fill value")
    return part


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
