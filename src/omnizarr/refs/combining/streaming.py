"""Sets combined and written as they come, in bounded memory: once to see what they are, and once for their chunks."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Unpack

from omnizarr.errors import MetadataError, UnsupportedError
from omnizarr.refs.combining.assembling import (
    Settings,
    guarded,
    options_of,
    result_documents,
    scanning_of,
    selectors,
    stamps_of,
)
from omnizarr.refs.combining.blocks import Part, placed
from omnizarr.refs.combining.bringing import with_files
from omnizarr.refs.combining.inputs import Input, Loader, Reader, Sets
from omnizarr.refs.combining.planning import Plan, plan
from omnizarr.refs.combining.selectors import Selector
from omnizarr.refs.combining.variables import Piece, Variable
from omnizarr.refset.model import References
from omnizarr.refset.parquet_writing import RECORD_SIZE, ArrayWriter, ParquetWriter

_FEW = 64
"""Arrays of so few chunks are kept: they may be coordinates."""


def combine_to(
    sets: Sets,
    where: str | os.PathLike[str],
    *,
    concat: str | Sequence[str] | Mapping[str, Selector] = (),
    record_size: int = RECORD_SIZE,
    overwrite: bool = False,
    **settings: Unpack[Settings],
) -> None:
    """Combine sets as `combine` does, and write the result in parquet while it is made.

    A set given as a name and a function that brings it is brought twice, and not kept: only its documents are, and
    what its coordinates need. Chunks go straight into the files where sets follow each other along the first dimension
    of an array; other arrays are put together first.

    Args:
        sets: The sets, or pairs of a name and a set or a function that brings it; files are scanned, once.
        where: The folder of the result.
        concat: The dimensions, as for `combine`.
        record_size: How many references a file has.
        overwrite: Whether to replace a set that is there.
        settings: As for `combine`.

    Raises:
        MetadataError: If the sets do not fit together.
        ExistsError: If something is there.
    """
    options = options_of(settings)
    wanted = selectors(concat)
    reader = Reader(options.limits)
    brought = with_files(sets, scanning_of(settings))
    inputs = [slim(reader, name, one, wanted) for name, one in brought.inputs]
    if not inputs:
        raise MetadataError("there are no sets to combine")
    if any(one.references.others for one in inputs):
        raise UnsupportedError("parquet has no place for references that are no chunks of an array")
    made = plan(inputs, wanted, guarded(options, brought, inputs))
    with ParquetWriter(where, record_size=record_size, overwrite=overwrite) as writer:
        _write(writer, made, inputs)
        used = {piece.source for one in made.variables.values() for piece in one.pieces}
        writer.finish(result_documents(made), stamps_of(inputs[number] for number in sorted(used)))


def slim(reader: Reader, name: str, given: References | Loader, concat: Iterable[str]) -> Input:
    """Read a set, and keep only what planning needs of one that can be brought again."""
    if not callable(given):
        return reader.read(name, given)
    whole = reader.read(name, given())
    known = {dim for meta in whole.arrays.values() for dim in meta.dims or ()}
    wanted = [dim for dim in concat if dim in known]
    arrays = whole.references.arrays
    large = [
        path
        for path, chunks in arrays.items()
        if len(chunks) > _FEW and set(wanted) <= set(whole.arrays[path].dims or ())
    ]
    kept = {path: chunks for path, chunks in arrays.items() if path not in set(large)}
    others = whole.references.others
    whole.references = References({}, kept, whole.references.urls, whole.references.stamps, others)
    whole.load, whole.dropped = given, frozenset(large)
    return whole


def _write(writer: ParquetWriter, made: Plan, inputs: Sequence[Input]) -> None:
    """Write the chunks of all variables; those whose inputs come in the same order are written together."""
    orders: dict[tuple[int, ...], dict[str, Variable]] = {}
    for path, variable in made.variables.items():
        order = sequence(path, variable, inputs)
        if variable.chunks is not None:
            with writer.array(path) as array:
                array.append(variable.chunks, writer.numbers([]))
        elif order is not None:
            orders.setdefault(order, {})[path] = variable
        else:
            _write_whole(writer, path, variable, inputs)
    for order, variables in orders.items():
        arrays = {path: writer.array(path) for path in variables}
        pieces = {path: {piece.source: piece for piece in one.pieces} for path, one in variables.items()}
        for source in order:
            _write_input(writer, inputs[source], source, arrays, pieces)
        for array in arrays.values():
            array.finish()


def _write_input(
    writer: ParquetWriter,
    one: Input,
    source: int,
    arrays: Mapping[str, ArrayWriter],
    pieces: Mapping[str, Mapping[int, Piece]],
) -> None:
    if one.dropped and one.load is not None:
        again = one.load()
        if again.urls != one.references.urls:
            raise MetadataError(f"{one.name}: the set is another one than before")
        one = Input(one.name, again, one.arrays, one.groups)
    numbers = writer.numbers(one.references.urls)
    for path, array in arrays.items():
        part = pieces[path][source].part(one.chunks(path), numbers)
        array.append(part.chunks, numbers)


def _write_whole(writer: ParquetWriter, path: str, variable: Variable, inputs: Sequence[Input]) -> None:
    parts: list[Part] = []
    for piece in variable.pieces:
        one = inputs[piece.source]
        parts.append(piece.part(one.chunks(path), writer.numbers(one.references.urls)))
    with writer.array(path) as array:
        array.append(placed(variable.meta.grid.counts(variable.meta.shape), parts), writer.numbers([]))


def sequence(path: str, variable: Variable, inputs: Sequence[Input]) -> tuple[int, ...] | None:
    """Return the order of inputs whose chunks follow each other in C order of the grid; None if they do not."""
    counts = variable.meta.grid.counts(variable.meta.shape)
    if not counts:
        return tuple(piece.source for piece in variable.pieces) if len(variable.pieces) == 1 else None
    at = 0
    order: list[int] = []
    for piece in sorted(variable.pieces, key=lambda piece: piece.start):
        own = piece.counts(inputs[piece.source].arrays[path])
        if piece.start[0] != at or any(piece.start[1:]) or own[1:] != counts[1:]:
            return None
        at += own[0]
        order.append(piece.source)
    return tuple(order) if at == counts[0] else None
