"""The order of sets along one dimension: by their coordinates, which must neither overlap nor turn back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from omnizarr.errors import MetadataError
from omnizarr.model.jsonvalue import JSON
from omnizarr.refs.combining.options import Options

Values: TypeAlias = npt.NDArray[Any]

KEEP: Final = 'keep="first" or keep="last" says which of two sets counts where both have a place.'
"""What helps where two sets have the same place."""


@dataclass(slots=True)
class Line:
    """A dimension along which sets follow each other, in blocks: sets with the same coordinates share one."""

    dim: str

    positions: list[int | None]
    """The block of each set; None for those that do not have the dimension."""

    kept: list[tuple[int, int]]
    """The part of each block that counts: all of it, unless it overlaps a neighbour."""

    lengths: list[int]
    """How long the blocks are in their files."""

    new: bool = False
    """Whether the dimension is not in the sets' arrays yet."""

    values: Values | None = None
    """The coordinate, if there is one."""

    attributes: dict[str, JSON] | None = None
    """What is known of the coordinate beyond what the files say."""


def in_given_order(dim: str, lengths: Sequence[int | None]) -> Line:
    """Let sets without a coordinate follow each other as they are given."""
    positions: list[int | None] = []
    sizes: list[int] = []
    for length in lengths:
        positions.append(None if length is None else len(sizes))
        if length is not None:
            sizes.append(length)
    return Line(dim, positions, [(0, size) for size in sizes], sizes)


def by_values(dim: str, values: Sequence[Values | None], names: Sequence[str], options: Options) -> Line:
    """Put sets into the order of their coordinates.

    Args:
        dim: The dimension.
        values: The coordinates of each set, all of one type and in one unit; None for sets without the dimension.
        names: The sets, for messages.
        options: Whether to sort, and what to keep of sets that overlap.

    Raises:
        MetadataError: If coordinates turn back, are not numbers, or overlap those of another set.
    """
    blocks: list[Values] = []
    owners: list[str] = []
    numbers: dict[bytes, int] = {}
    found: list[int | None] = []
    for one, name in zip(values, names, strict=True):
        if one is None:
            found.append(None)
            continue
        number = numbers.setdefault(_key(one), len(blocks))
        if number == len(blocks):
            blocks.append(one)
            owners.append(name)
        found.append(number)
    numeric = bool(blocks) and blocks[0].dtype.kind in "iuf"
    if numeric and options.sort:
        order, kept = _sorted(dim, blocks, owners, options)
    else:
        order, kept = list(range(len(blocks))), [(0, len(one)) for one in blocks]
        _distinct(dim, blocks, owners)
    place: dict[int, int] = {number: at for at, number in enumerate(order)}
    parts = [blocks[number][a:b] for number, (a, b) in zip(order, kept, strict=True)]
    return Line(
        dim,
        [None if number is None else place.get(number) for number in found],
        kept,
        [len(blocks[number]) for number in order],
        values=np.concatenate(parts) if parts else None,
    )


def _key(values: Values) -> bytes:
    return values.tobytes() if values.dtype.kind not in "OT" else repr(values.tolist()).encode()


def _sorted(
    dim: str, blocks: Sequence[Values], owners: Sequence[str], options: Options
) -> tuple[list[int], list[tuple[int, int]]]:
    down = _direction(dim, blocks, owners)
    some = [number for number, one in enumerate(blocks) if len(one)]
    some.sort(key=lambda number: blocks[number][0], reverse=down)
    kept = {number: (0, len(blocks[number])) for number in some}
    order: list[int] = []
    for number in some:
        while order and kept[number][0] < kept[number][1]:
            before = order[-1]
            last, first = blocks[before][kept[before][1] - 1], blocks[number][kept[number][0]]
            if (last > first) if down else (last < first):
                break
            _settle(_Sides(dim, blocks, owners, down), (before, number), kept, options)
            if kept[before][0] < kept[before][1]:
                break
            order.pop()
        if kept[number][0] < kept[number][1]:
            order.append(number)
    return order, [kept[number] for number in order]


class _Sides(NamedTuple):
    dim: str
    blocks: Sequence[Values]
    owners: Sequence[str]
    down: bool


def _settle(sides: _Sides, pair: tuple[int, int], kept: dict[int, tuple[int, int]], options: Options) -> None:
    """Decide which of two sets counts where they overlap."""
    dim, blocks, owners, down = sides
    before, after = pair
    sign = -1 if down else 1
    wide = np.float64 if blocks[before].dtype.kind == "f" else np.int64
    one, two = blocks[before].astype(wide) * sign, blocks[after].astype(wide) * sign
    if options.keep == "error" or (options.keep == "last" and one[kept[before][1] - 1] > two[-1]):
        ends = [f"{blocks[n][0]} … {blocks[n][-1]}" for n in pair]
        raise MetadataError(
            f"{owners[before]} and {owners[after]} overlap along {dim!r}: {ends[0]} and {ends[1]}",
            hint=KEEP,
        )
    if options.keep == "last":
        kept[before] = kept[before][0], int(np.searchsorted(one, two[0], "left"))
    else:
        kept[after] = int(np.searchsorted(two, one[kept[before][1] - 1], "right")), kept[after][1]


def _direction(dim: str, blocks: Sequence[Values], owners: Sequence[str]) -> bool:
    """Say whether coordinates fall, and refuse those that do neither."""
    falling: dict[bool, str] = {}
    for one, name in zip(blocks, owners, strict=True):
        if one.dtype.kind == "f" and bool(np.isnan(one).any()):
            raise MetadataError(f"{name}: the coordinate {dim!r} has values that are not numbers")
        if len(one) < 2:
            continue
        rising = bool((one[1:] > one[:-1]).all())
        if not rising and not bool((one[1:] < one[:-1]).all()):
            raise MetadataError(
                f"{name}: the coordinate {dim!r} neither rises nor falls, or has a value twice",
                hint="sort=False keeps sets in the order given, whatever their coordinates.",
            )
        falling.setdefault(not rising, name)
    if len(falling) == 2:
        raise MetadataError(f"the coordinate {dim!r} rises in {falling[False]} and falls in {falling[True]}")
    return True in falling


def _distinct(dim: str, blocks: Sequence[Values], owners: Sequence[str]) -> None:
    """Refuse a coordinate that two sets have."""
    seen: dict[object, str] = {}
    for one, name in zip(blocks, owners, strict=True):
        for value in one.tolist():
            other = seen.setdefault(value, name)
            if other is not name:
                raise MetadataError(f"{other} and {name} both have {value!r} along {dim!r}")
