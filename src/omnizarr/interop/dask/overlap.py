"""Values that are read from what is overwritten: no task may change what another is yet to read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np

from omnizarr.errors import ConflictError
from omnizarr.interop.dask.origins import Origin, origin_of, origins

Block: TypeAlias = tuple[int, ...]
"""Which of the arrays that are written, and which block of it."""
Slices: TypeAlias = Sequence[slice]

_MANY: Final = (-1,)
"""Stands for what more than one block overwrites: whoever reads it may come too late for one of them."""


class Output:
    """Values on their way into an array.

    Args:
        values: A Dask array, whose blocks are written in any order; or anything else, which is read whole before it is
            written.
        place: The array, as `origins.real` names it.
        name: What it is called in messages.
        axes: Where the values go along each dimension.
    """

    def __init__(self, values: Any, place: str, name: str, axes: tuple[range, ...]) -> None:  # noqa: ANN401 - see above
        self.values = values
        self.place = place
        self.name = name
        self._axes = axes

    @cached_property
    def is_dask(self) -> bool:
        """Whether it is a Dask array."""
        return hasattr(self.values, "dask")

    @cached_property
    def sources(self) -> dict[str, Origin]:
        """What the values are read from; by layers of the Dask graph, if there is one."""
        if self.is_dask:
            return origins(self.values)
        origin = origin_of(self.values)
        return {} if origin is None else {"": origin}

    @cached_property
    def _edges(self) -> list[tuple[Any, Any]]:
        """The first index of each block along each dimension, and the one behind its last."""
        found: list[tuple[Any, Any]] = []
        cuts: Any = self.values.chunks if self.is_dask else [(len(axis),) for axis in self._axes]
        for axis, cut in zip(self._axes, cuts, strict=True):
            ends = np.cumsum(cut)
            parts = [axis[end - size : end] for end, size in zip(ends.tolist(), cut, strict=True)]
            low = np.array([min(part, default=0) for part in parts])
            high = np.array([max(part, default=-1) + 1 for part in parts])
            found.append((low, high))
        return found

    def blocks_in(self, slices: Slices | None) -> list[Any]:
        """Return the numbers of the blocks along each dimension that change a part of the array: `None` for all."""
        found: list[Any] = []
        for axis, (low, high) in enumerate(self._edges):
            part = slices[axis] if slices is not None and axis < len(slices) else slice(None)
            stop = np.inf if part.stop is None else part.stop
            found.append(np.flatnonzero((low < high) & (low < stop) & (high > (part.start or 0))))
        return found


class _Leaf(NamedTuple):
    """A layer of a graph whose tasks each read a part of an array."""

    origin: Origin
    slices: Mapping[Block, Slices] | None
    """What is read, by the number of the block; `None` if that is not known."""


def check_order(outputs: Sequence[Output]) -> None:
    """Refuse values that are read from what other values overwrite, of the same array or of another.

    What a block reads may be changed by that block alone, which is written when all of it was read.

    Args:
        outputs: All that is written by one call.

    Raises:
        ConflictError: If some may be read too late.
    """
    written = {one.place: number for number, one in enumerate(outputs)}
    for number, output in enumerate(outputs):
        relevant = {name: one for name, one in output.sources.items() if one.place in written}
        if not relevant:
            continue
        if output.is_dask:
            fits = _is_apart(number, outputs, relevant, written)
        else:
            fits = all(written[one.place] == number for one in relevant.values())
        if not fits:
            read = {outputs[written[one.place]].name for one in relevant.values()}
            raise ConflictError(
                f"the values for {output.name!r} are read from {', '.join(map(repr, sorted(read)))}, some of which may"
                " be overwritten before they are",
                path=output.place.rstrip("/"),
                hint="Load the values first (ds.load(), x.persist()), write elsewhere, or write only what has changed.",
            )


def _is_apart(
    number: int, outputs: Sequence[Output], relevant: Mapping[str, Origin], written: Mapping[str, int]
) -> bool:
    """Whether what each block of a Dask array reads is changed by no other block."""
    x: Any = outputs[number].values
    leaves = _leaves(x.dask, relevant)

    def owner(leaf: _Leaf, block: Block) -> Block | None:
        target = written[leaf.origin.place]
        slices = leaf.slices[block] if leaf.slices is not None else None
        found = outputs[target].blocks_in(slices)
        if not all(map(len, found)):
            return None
        return (target, *(int(one[0]) for one in found)) if all(len(one) == 1 for one in found) else _MANY

    known: dict[Any, Block | None] = {}
    dependencies: Mapping[Any, Iterable[Any]] = x.dask.get_all_dependencies()
    for block in np.ndindex(*x.numblocks):
        key = (x.name, *block)
        for one in _upwards(key, dependencies, known, leaves):
            name, *rest = one if isinstance(one, tuple) else (one,)
            leaf = leaves.get(name)
            known[one] = (
                _joined(known[below] for below in dependencies[one]) if leaf is None else owner(leaf, tuple(rest))
            )
        if known[key] not in (None, (number, *block)):
            return False
    return True


def _leaves(graph: Any, relevant: Mapping[str, Origin]) -> dict[str, _Leaf]:  # noqa: ANN401 - Dask has no types
    found = {name: _Leaf(origin, _slices(graph.layers[name], origin)) for name, origin in relevant.items()}
    for name, layer in graph.layers.items():
        below = graph.dependencies[name] & relevant.keys()
        if len(below) == 1 and name not in found:
            origin = relevant[next(iter(below))]
            slices = _slices(layer, origin)
            if slices is not None:
                found[name] = _Leaf(origin, slices)
    return found


def _slices(layer: Any, origin: Origin) -> Mapping[Block, Slices] | None:  # noqa: ANN401 - as above
    """Return what each task of a layer that `from_array` made reads."""
    made = list(getattr(layer, "io_deps", {}).values())
    if not origin.whole or len(made) != 1 or len(layer.indices) != 2 or not hasattr(made[0], "starts"):
        return None
    found: Mapping[Block, Slices] = made[0]
    return found


def _upwards(
    key: object, dependencies: Mapping[Any, Iterable[Any]], known: Mapping[Any, object], leaves: Mapping[str, _Leaf]
) -> Iterator[Any]:
    """Yield tasks that are not known, each after all that it depends on."""
    waiting: list[tuple[Any, bool]] = [(key, False)]
    while waiting:
        one, seen = waiting.pop()
        if one in known:
            continue
        if seen or (one[0] if isinstance(one, tuple) else one) in leaves:
            yield one
            continue
        waiting.append((one, True))
        waiting.extend((below, False) for below in dependencies[one])


def _joined(found: Iterable[Block | None]) -> Block | None:
    owners = {one for one in found if one is not None}
    return next(iter(owners), None) if len(owners) < 2 else _MANY
