"""One variable of the result: its grid, and which chunks of which input go where."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod
from typing import NamedTuple

from omnizarr.errors import UnsupportedError
from omnizarr.format.v2 import DIMENSIONS
from omnizarr.model.array import ArrayMeta
from omnizarr.model.codec import canonical
from omnizarr.model.grid import RegularGrid
from omnizarr.refs.combining.blocks import Part, shortened, window
from omnizarr.refs.combining.conflicts import Conflicts
from omnizarr.refs.combining.grids import Cut, count, cut_of, cuts_of, grid_of_cuts, joined, reach, trimmed
from omnizarr.refs.combining.order import Line
from omnizarr.refs.combining.reading import raised, raised_codecs
from omnizarr.refset.model import Chunks, Ids


class Member(NamedTuple):
    """A variable in one of the inputs."""

    source: int
    """The number of the input."""

    meta: ArrayMeta


class Piece(NamedTuple):
    """Chunks of one input in the result."""

    source: int
    start: tuple[int, ...]
    box: tuple[tuple[int, int], ...] | None
    """The chunks that count, where not all of them do."""
    short: tuple[int, int] | None
    """Where the last chunks are cut: their bytes, and those that are kept."""
    more: int
    """How many dimensions are new."""

    def counts(self, meta: ArrayMeta) -> tuple[int, ...]:
        """Return how many chunks there are along each dimension of the result."""
        own = meta.grid.counts(meta.shape) if self.box is None else tuple(b - a for a, b in self.box)
        return (1,) * self.more + own

    def part(self, chunks: Chunks, table: Ids) -> Part:
        """Cut the chunks of the input to what counts."""
        if self.box is not None:
            chunks = window(chunks, self.box)
        if self.short is not None:
            chunks = shortened(chunks, *self.short)
        return Part(self.start, raised(chunks, self.more), table)


@dataclass(slots=True)
class Variable:
    """A variable of the result."""

    meta: ArrayMeta
    pieces: list[Piece] = field(default_factory=list[Piece])
    chunks: Chunks | None = None
    """Its chunks, where these are in the set itself."""


class Layout:
    """Where the members of one variable go.

    Args:
        path: The variable.
        members: Those inputs that have it and count; alike in all but shape and chunks.
        lines: The dimensions along which sets follow each other and that the variable has, or gets.
    """

    def __init__(self, path: str, members: Sequence[Member], lines: Sequence[Line]) -> None:
        self.path = path
        first = members[0].meta
        names = first.dims or (None,) * first.ndim
        self.new = [line for line in lines if line.dim not in names]
        self.dims = (*(line.dim for line in self.new), *names)
        self.lines = {self.dims.index(line.dim): line for line in lines}
        self.first = first
        self._cuts: dict[int, tuple[Cut, ...]] = {}
        self.groups: dict[tuple[int, ...], list[Member]] = {}
        for member in members:
            places = [line.positions[member.source] for line in self.lines.values()]
            place = tuple(one for one in places if one is not None)
            if len(place) == len(places):  # else what it has is dropped: other sets have the same places
                self.groups.setdefault(place, []).append(member)

    @property
    def holes(self) -> int:
        """How many places no input has."""
        return prod(len(line.kept) for line in self.lines.values()) - len(self.groups)

    def cuts(self, meta: ArrayMeta) -> tuple[Cut, ...]:
        """Return the chunks of a member along the dimensions of the result."""
        if id(meta) not in self._cuts:
            self._cuts[id(meta)] = (*(((1, 1, 1),) for _ in self.new), *cuts_of(meta))
        return self._cuts[id(meta)]

    def blocks(self, names: Sequence[str], conflicts: Conflicts) -> list[list[Cut]] | None:
        """Return the chunks along each dimension, block by block; None if inputs contradict each other."""
        fine = True
        found: list[list[Cut]] = []
        for axis in range(len(self.dims)):
            line = self.lines.get(axis)
            at = list(self.lines).index(axis) if line is not None else 0
            seen: dict[int, dict[Cut, list[str]]] = {}
            for place, members in self.groups.items():
                for member in members[:1]:
                    group = seen.setdefault(place[at] if line is not None else 0, {})
                    group.setdefault(self.cuts(member.meta)[axis], []).append(names[member.source])
            for group in seen.values():
                if len(group) > 1:
                    fine = False
                    what = f"chunks along {self.dims[axis] or axis!r}"
                    pairs = [(shown(cut), name) for cut, files in group.items() for name in files]
                    conflicts.compare(self.path, what, [value for value, _ in pairs], [name for _, name in pairs])
            cut = {block: next(iter(group)) for block, group in seen.items()}
            if line is None:
                found.append([cut[0]])
                continue
            usual = RegularGrid((1,)) if line.new else RegularGrid((self._usual(axis),))
            found.append(
                [cut[block] if block in cut else cut_of(usual, 0, size) for block, size in enumerate(line.lengths)]
            )
        return found if fine else None

    def _usual(self, axis: int) -> int:
        return self.first.grid.longest[axis - len(self.new)] or 1

    def variable(self, blocks: list[list[Cut]], names: Sequence[str], *, cut: bool = True) -> Variable:
        """Lay the chunks of all members out.

        Args:
            blocks: What `blocks` gives.
            names: The inputs, for messages.
            cut: Whether chunks that are stored as they are may be cut instead of being stored longer than they hold.

        Raises:
            UnsupportedError: If a chunk would have to be cut at its start, or cannot get a dimension.
        """
        boxes = [self._kept(axis, cuts, names) for axis, cuts in enumerate(blocks)]
        cuts = [[cut for cut, _ in one] for one in boxes]
        grid = grid_of_cuts([joined(one) for one in cuts], self._usuals())
        short: dict[int, tuple[int, int]] = {}
        if grid.stored is not None and cut:
            short = self._shorten(cuts)
            grid = grid_of_cuts([joined(one) for one in cuts], self._usuals())
        starts = [_starts(one) for one in cuts]
        pieces: list[Piece] = []
        for place, members in self.groups.items():
            at = dict(zip(self.lines, place, strict=True))
            index = [at.get(axis, 0) for axis in range(len(self.dims))]
            box = tuple(boxes[axis][block][1] for axis, block in enumerate(index))[len(self.new) :]
            member = members[0]
            whole = all(a == 0 and b == count(cut) for (a, b), cut in zip(box, cuts_of(member.meta), strict=True))
            start = tuple(starts[axis][block] for axis, block in enumerate(index))
            pieces.append(Piece(member.source, start, None if whole else box, short.get(at.get(0, -1)), len(self.new)))
        attributes = {name: value for name, value in self.first.attributes.items() if name != DIMENSIONS}
        meta = self.first._replace(
            shape=tuple(reach(joined(one)) for one in cuts),
            grid=grid,
            dims=self.dims if any(self.dims) or not self.dims else None,
            attributes=attributes,
            codecs=raised_codecs(self.first.codecs, self.first.ndim, len(self.new)),
        )
        return Variable(meta, pieces)

    def _usuals(self) -> list[int]:
        return [1] * len(self.new) + list(self.first.grid.longest)

    def _kept(self, axis: int, cuts: list[Cut], names: Sequence[str]) -> list[tuple[Cut, tuple[int, int]]]:
        """Cut blocks to what counts of them: their chunks then, and which of their own these are."""
        line = self.lines.get(axis)
        found: list[tuple[Cut, tuple[int, int]]] = []
        for block, cut in enumerate(cuts):
            low, high = (0, reach(cut)) if line is None else line.kept[block]
            skipped, rest = _split(cut, low)
            if rest is None:
                name = next(names[n] for n, place in enumerate(line.positions) if place == block) if line else ""
                raise UnsupportedError(
                    f"{name}: what other sets have too ends within a chunk along {self.dims[axis]!r}",
                    path=self.path,
                    hint='keep="last" lets the earlier set end where the later one begins.',
                )
            kept = trimmed(rest, high - low)
            found.append((kept, (skipped, skipped + count(kept))))
        return found

    def _shorten(self, cuts: list[list[Cut]]) -> dict[int, tuple[int, int]]:
        """Where chunks are stored as they are, let the last ones of each block end where the block does."""
        meta = self.first
        raw = len(meta.codecs) == 1 and canonical(meta.codecs[0].name) == "bytes" and not meta.dtype.vlen
        if not raw or 0 not in self.lines or self.lines[0].new:
            return {}
        inner = [joined(one) for one in cuts[1:]]
        stored = {kept for cut in inner for *_, kept in cut}
        if any(len({kept for *_, kept in cut}) > 1 for cut in inner) or (inner and not stored):
            return {}
        row = prod(cut[0][2] for cut in inner) * meta.dtype.itemsize
        found: dict[int, tuple[int, int]] = {}
        for block, cut in enumerate(cuts[0]):
            if cut and cut[-1][0] != cut[-1][2] and cut[-1][1] == 1:
                held, _, full = cut[-1]
                found[block] = full * row, held * row
                cuts[0][block] = (*cut[:-1], (held, 1, held))
        return found


def shown(cut: Cut) -> str:
    """Write the chunks along a dimension for people."""
    runs = [f"{number} × {stored}" if number > 1 else str(stored) for _, number, stored in joined([cut])[:4]]
    return f"{reach(cut)} in chunks of {', '.join(runs)}" if runs else "0"


def _starts(cuts: Sequence[Cut]) -> list[int]:
    found = [0]
    for cut in cuts:
        found.append(found[-1] + count(cut))
    return found


def _split(cut: Cut, at: int) -> tuple[int, Cut | None]:
    """Leave out the chunks before a place, which must be a border of two."""
    skipped = 0
    for number, (length, times, stored) in enumerate(cut):
        if not at:
            return skipped, cut[number:]
        whole = min(times, at // length)
        at -= whole * length
        skipped += whole
        if whole < times:
            return (skipped, None) if at else (skipped, ((length, times - whole, stored), *cut[number + 1 :]))
    return skipped, () if not at else None
