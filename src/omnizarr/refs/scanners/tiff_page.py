"""One image of a TIFF file: its shape and type, how it is cut and encoded, and where the pieces are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from omnizarr.errors import CorruptError, UnsupportedError
from omnizarr.refs.scanners.tiff_file import Directory

Offsets = npt.NDArray[np.uint64]

REDUCED: Final = 1
MASK: Final = 4


class Layout(NamedTuple):
    """All that pages must agree on to be one array."""

    width: int
    length: int
    samples: int
    planar: bool
    """Whether each sample has pieces of its own."""
    bits: int
    format: int
    compression: int
    predictor: int
    fill_order: int
    photometric: int
    extra: tuple[int, ...]
    tile: tuple[int, int] | None
    """Rows and columns of a tile; none: strips."""
    strip: int
    """Rows of a strip."""
    tables: bytes
    """What JPEG pieces have in common."""
    nodata: str
    subsampling: tuple[int, ...]
    lerc: tuple[int, ...]

    @property
    def rows(self) -> int:
        """Rows of a piece."""
        return self.tile[0] if self.tile else self.strip

    @property
    def columns(self) -> int:
        """Columns of a piece."""
        return self.tile[1] if self.tile else self.width

    @property
    def counts(self) -> tuple[int, int, int]:
        """How many planes, rows and columns of pieces there are."""
        planes = self.samples if self.planar else 1
        return planes, -(-self.length // self.rows), -(-self.width // self.columns)

    @property
    def together(self) -> int:
        """Samples that lie together in a piece."""
        return 1 if self.planar else self.samples

    @property
    def row_bytes(self) -> int:
        """Bytes of a row of a piece, before compression."""
        return -(-self.columns * self.together * self.bits // 8)


@dataclass(frozen=True, slots=True)
class Page:
    """One image."""

    layout: Layout
    offsets: Offsets
    """Where the pieces are; 0 where there is none."""
    sizes: Offsets
    kind: int
    """What NewSubfileType says: reduced, a mask."""
    directory: Directory
    below: tuple[int, ...]
    """Where the directories of smaller versions are."""


def read_page(directory: Directory, size: int, url: str) -> Page:
    """Read what a directory says of its image.

    Raises:
        CorruptError: If it contradicts itself, or pieces lie outside the file.
        UnsupportedError: If the image is of a kind that has no array.
    """
    layout = _layout(directory, url)
    tiled = layout.tile is not None
    offsets = directory.array(324 if tiled else 273)
    sizes = directory.array(325 if tiled else 279)
    expected = layout.counts[0] * layout.counts[1] * layout.counts[2]
    if sizes is None and layout.compression == 1 and offsets is not None:
        sizes = _plain_sizes(layout)
    for what, found in (("offsets", offsets), ("sizes", sizes)):
        if found is None or found.dtype.kind not in "iu" or len(found) != expected:
            got = "no" if found is None else str(len(found))
            raise CorruptError(f"{url}: the image at {directory.offset} has {got} {what} for {expected} pieces")
    starts, lengths = np.asarray(offsets, np.uint64), np.asarray(sizes, np.uint64)
    there = (starts > 0) & (lengths > 0)
    starts = np.where(there, starts, np.uint64(0))
    outside = there & ((lengths > size) | (starts > size) | (starts + np.minimum(lengths, size) > size))
    if outside.any():
        at = int(np.argmax(outside))
        raise CorruptError(f"{url}: piece {at} of the image at {directory.offset} lies past the end of the file")
    kind = directory.number(254, 0) or {2: REDUCED}.get(directory.number(255, 0), 0)
    return Page(layout, starts, lengths, kind, directory, tuple(directory.numbers(330) or ()))


def _layout(directory: Directory, url: str) -> Layout:
    number = directory.number
    width, length, samples = number(256, 0), number(257, 0), number(277, 1)
    where = f"{url}: the image at {directory.offset}"
    if width <= 0 or length <= 0 or samples <= 0:
        raise CorruptError(f"{where} has {length} rows of {width} pixels of {samples} samples")
    if number(32997, 1) > 1 or number(32998, 1) > 1:
        raise UnsupportedError(f"{where} is a volume, which is not supported", hint="Write its planes as pages.")
    tile = (number(323, 0), number(322, 0)) if 322 in directory or 324 in directory else None
    strip = min(number(278, length) or length, length)
    if (tile and min(tile) <= 0) or strip <= 0:
        raise CorruptError(f"{where} has tiles without a size")
    return Layout(
        width,
        length,
        samples,
        planar=number(284, 1) == 2 and samples > 1,
        bits=_same(directory, 258, 1, where, "bits"),
        format=_same(directory, 339, 1, where, "formats"),
        compression=number(259, 1),
        predictor=number(317, 1),
        fill_order=number(266, 1),
        photometric=number(262, 1),
        extra=tuple(directory.numbers(338) or ()),
        tile=tile,
        strip=strip,
        tables=directory.data(347),
        nodata=directory.text(42113).strip(),
        subsampling=tuple(directory.numbers(530) or ()),
        lerc=tuple(directory.numbers(50674) or ()),
    )


def _same(directory: Directory, tag: int, default: int, where: str, what: str) -> int:
    """Return the number that a tag has for all samples."""
    found = set(directory.numbers(tag) or [default])
    if len(found) > 1:
        raise UnsupportedError(f"{where} has samples of different {what}: {sorted(found)}, which no array has")
    return found.pop()


def _plain_sizes(layout: Layout) -> npt.NDArray[Any]:
    """Return the sizes of pieces that are not compressed, for files that do not tell them."""
    planes, down, across = layout.counts
    rows = np.full((planes, down, across), layout.rows, np.uint64)
    if layout.tile is None:
        rows[:, -1] = layout.length - (down - 1) * layout.rows
    return (rows * np.uint64(layout.row_bytes)).reshape(-1)
