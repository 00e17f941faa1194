"""Coordinates that grow in place keep their chunks, so that what is there stays right while more is written.

A coordinate is in the set itself, in one chunk of its whole length. Were it put into one longer chunk when a set grows,
whoever reads with the old documents would find a chunk of a wrong size, and so would everyone after a crash. As more
chunks of the old length it can be read with the old documents as well as with the new ones.
"""

from __future__ import annotations

from omnizarr.model.grid import RegularGrid
from omnizarr.refs.combining.inputs import Input
from omnizarr.refs.combining.planning import Plan
from omnizarr.refs.combining.variables import Variable
from omnizarr.refset.model import INLINE, Chunks


def keep_chunks(made: Plan, old: Input) -> None:
    """Cut the coordinates of a plan as they are cut in the set that grows, where what they begin with is the same."""
    for path, variable in made.variables.items():
        chunk = _chunk(path, variable, old)
        if chunk and variable.chunks is not None:
            length, size = variable.meta.shape[0], chunk * variable.meta.dtype.itemsize
            count, data = -(-length // chunk), variable.chunks.inline
            rows = {row: data[row * size : (row + 1) * size].ljust(size, b"\0") for row in range(count)}
            variable.chunks = Chunks.of_bytes((count,), rows)
            variable.meta = variable.meta._replace(grid=RegularGrid((chunk,)))


def _chunk(path: str, variable: Variable, old: Input) -> int:
    """Return the length that the chunks of a coordinate keep, or 0 if it is written anew."""
    before, after, held = old.arrays.get(path), variable.meta, old.references.arrays.get(path)
    if variable.chunks is None or before is None or held is None or after.ndim != 1 or before.ndim != 1:
        return 0
    if (before.dtype, before.codecs, before.format) != (after.dtype, after.codecs, after.format):
        return 0
    if not isinstance(before.grid, RegularGrid) or not before.shape[0] or before.shape[0] > after.shape[0]:
        return 0
    if held.numbers is not None or not (held.urls == INLINE).all():
        return 0
    spans = zip(held.offsets.tolist(), held.lengths.tolist(), strict=True)
    there = b"".join(held.inline[start : start + length] for start, length in spans)
    nbytes = before.shape[0] * before.dtype.itemsize
    return before.grid.longest[0] if there[:nbytes] == variable.chunks.inline[:nbytes] else 0
