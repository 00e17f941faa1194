"""A count of an array's chunks: which are stored, which are not, which hold nothing, and which are damaged."""

from __future__ import annotations

from math import prod
from time import monotonic
from typing import Final, NamedTuple

from omnizarr.errors import NodeTypeError
from omnizarr.format.dialects import dialect
from omnizarr.format.names import RESERVED
from omnizarr.hierarchy.array import Array
from omnizarr.native import Checked, Survey
from omnizarr.tools.nodes import open_at
from omnizarr.tools.progress import Progress, silent

_NCZARR: Final = (".nczarray", ".nczattr", ".nczattrs", ".nczgroup")
_MOST_KEPT: Final = 1000
_FIRST: Final = 64
"""Chunks of the first call of the kernel; later ones have as many as take a moment."""

_MOMENT: Final = 0.2


class Fault(NamedTuple):
    """Something wrong with a stored chunk."""

    key: str
    """The chunk's key below the array's path."""

    kind: str
    """A word for what sort of fault it is; see `omnizarr.errors` and, for shards and sizes, the guide."""

    message: str


class Census(NamedTuple):
    """What is stored of an array. A chunk is what has a key of its own: a shard where the array is sharded."""

    chunks: int
    """Chunks that the shape makes."""

    present: int
    missing: int
    nbytes: int
    """Bytes of those that are present."""

    cells: int | None = None
    """Inner chunks that the shape makes; `None` where the array is not sharded or nobody looked into the shards."""

    cells_present: int | None = None
    cells_missing: int | None = None
    filled: int | None = None
    """Chunks, inner ones where sharded, that are stored and hold the fill value alone; `None` unless decoded."""

    outside: tuple[str, ...] = ()
    """Keys of chunks outside the shape, below the array's path; the first thousand."""

    noutside: int = 0
    stray: tuple[str, ...] = ()
    """Keys that are neither chunks nor documents nor below another node; the first thousand."""

    nstray: int = 0
    debris: tuple[str, ...] = ()
    """What writes that were killed have left; the first thousand."""

    ndebris: int = 0
    faults: tuple[Fault, ...] = ()
    """What is wrong with stored chunks; the first thousand."""

    nfaults: int = 0


def census(array: object, *, decode: bool = False, progress: Progress | None = None) -> Census:
    """Count the chunks of an array, inner ones of shards too, and look for damage.

    Without `decode` only names, sizes and the indexes of shards are looked at.

    Args:
        array: A handle, or the place of an array.
        decode: Whether every chunk is decoded.
        progress: What is told how many chunks are done.

    Raises:
        NodeTypeError: If it is a group.

    >>> import omnizarr as oz
    >>> a = oz.create_array({}, shape=(100,), dtype="i4", chunks=(10,))
    >>> a[:25] = 1
    >>> count = oz.census(a)
    >>> count.present, count.missing
    (3, 7)
    """
    node = open_at(array)
    if not isinstance(node, Array):
        raise NodeTypeError("this is a group; chunks are counted array by array", path=node.path or "/")
    return count(node, decode=decode, progress=progress)


def survey(array: Array) -> Survey:
    """Look which chunks are stored, without looking into them."""
    names = {*dialect(array.format).documents, *RESERVED, *_NCZARR}
    access = array._listed()  # noqa: SLF001 - tools work below the surface of handles
    return access.kernel.survey(sorted(names), _MOST_KEPT)


def count(array: Array, *, cells: int | None = None, decode: bool = False, progress: Progress | None = None) -> Census:
    """Count chunks, as `census` does it.

    Args:
        array: The array.
        cells: Look into chunks only if the array is sharded and not more than this many shards are stored; `None` looks
            into all chunks of any array.
        decode: Whether every chunk is decoded.
        progress: What is told how many chunks are done.
    """
    found = survey(array)
    if cells is not None and not decode and (array.shards is None or found.present > cells):
        return _census(array, found, None, decode=False)
    tally = _Tally()
    tally.run(found, decode=decode, progress=progress or silent)
    return _census(array, found, tally, decode=decode)


def _census(array: Array, found: Survey, tally: _Tally | None, *, decode: bool) -> Census:
    cells = array.nchunks if array.shards is not None and tally is not None else None
    inner = tally.cells_present if tally is not None and cells is not None else None
    gone = 0 if tally is None else tally.gone
    total = prod(array.metadata.grid.counts(array.shape))
    return Census(
        chunks=total,
        present=found.present - gone,
        missing=total - found.present + gone,
        nbytes=found.nbytes,
        cells=cells,
        cells_present=inner,
        cells_missing=None if cells is None or inner is None else cells - inner,
        filled=tally.filled if tally is not None and decode else None,
        outside=tuple(found.outside),
        noutside=found.noutside,
        stray=tuple(found.stray),
        nstray=found.nstray,
        debris=tuple(found.debris),
        ndebris=found.ndebris,
        faults=() if tally is None else tuple(tally.faults),
        nfaults=0 if tally is None else tally.nfaults,
    )


class _Tally:
    """The sum over calls of the kernel."""

    def __init__(self) -> None:
        self.gone = self.nbytes = self.cells_present = self.filled = self.nfaults = 0
        self.faults: list[Fault] = []

    def run(self, found: Survey, *, decode: bool, progress: Progress) -> None:
        """Look at all chunks, some at a time, so that progress is shown and Ctrl-C is heard."""
        at, step = 0, _FIRST
        while at < found.present:
            start = monotonic()
            self._add(found.check(at, at + step, decode))
            at = min(at + step, found.present)
            progress(at, found.present, self.nbytes)
            if monotonic() - start < _MOMENT:
                step *= 2
            elif step > _FIRST:
                step //= 2

    def _add(self, part: Checked) -> None:
        self.gone += part.gone
        self.nbytes += part.nbytes
        self.cells_present += part.cells_present
        self.filled += part.filled
        self.nfaults += part.nfaults
        room = _MOST_KEPT - len(self.faults)
        if room > 0 and part.nfaults:
            self.faults += [Fault(*fault) for fault in part.faults[:room]]
