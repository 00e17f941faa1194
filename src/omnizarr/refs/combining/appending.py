"""Sets added behind a set that exists, in place: in parquet, only what is new is written."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TypeAlias, Unpack

from omnizarr.errors import ConflictError, MetadataError, NotFoundError
from omnizarr.format.dialects import DIALECTS
from omnizarr.refs.combining.assembling import (
    Settings,
    combine,
    guarded,
    options_of,
    result_documents,
    scanning_of,
    stamps_of,
)
from omnizarr.refs.combining.blocks import UrlTable, placed
from omnizarr.refs.combining.bringing import with_files
from omnizarr.refs.combining.conflicts import listed
from omnizarr.refs.combining.inputs import Input, Loader, Reader, Sets
from omnizarr.refs.combining.keeping import keep_chunks
from omnizarr.refs.combining.options import Options
from omnizarr.refs.combining.planning import Plan, plan
from omnizarr.refs.combining.selectors import Selector
from omnizarr.refs.combining.streaming import sequence
from omnizarr.refs.combining.variables import Variable
from omnizarr.refset.guard import base_of
from omnizarr.refset.model import References, Stamp
from omnizarr.refset.parquet_append import append_parquet
from omnizarr.refset.parquet_metadata import NAME
from omnizarr.refset.parquet_place import place_of
from omnizarr.refset.parquet_reading import read_parquet, records_of, rows_between
from omnizarr.refset.parquet_writing import write_parquet
from omnizarr.store.file import local_path
from omnizarr.store.folder_lock import Held, document_lock

_Fresh: TypeAlias = Sequence[tuple[str, References]]
"""What is added, with its names."""

_NAMES = frozenset(name for one in DIALECTS.values() for name in one.documents)


def append(
    where: str | os.PathLike[str],
    sets: Sets,
    concat: str | Mapping[str, Selector],
    **settings: Unpack[Settings],
) -> None:
    """Add sets behind a set that exists.

    What `combine` checks is checked: the new sets must fit to what is there, and lie behind it along the dimension.
    In parquet, only the last file of each array and new ones are written, and readers see the old set or the new one.
    A set in JSON is replaced as a whole.

    Args:
        where: The set.
        sets: What is new, as for `combine`.
        concat: The dimension along which it grows; a mapping of it says where coordinates are from, as for `combine`.
        settings: As for `combine`.

    Raises:
        MetadataError: If the sets do not fit to what is there, or lie before its end.
        ConflictError: If someone else has changed the set meanwhile; where files have locks, one waits for the other.
    """
    concat = {concat: None} if isinstance(concat, str) else concat
    if len(concat) != 1:
        raise MetadataError("a set grows along one dimension at a time")
    brought = with_files(sets, scanning_of(settings))
    fresh = brought.loaded()
    if not fresh:
        return
    name = os.fspath(where)
    options = options_of(settings)._replace(cut=False)
    reader = Reader(options.limits)
    new = [reader.read(*one) for one in fresh]
    options = guarded(options, brought, new, name)._replace(base=options.base or base_of(name))
    settings = {**settings, "allow": options.allow, "base": options.base}
    if os.path.isfile(where):  # noqa: PTH113 - text
        _append_json(where, fresh, concat, settings)
        return
    place = place_of(where, read_only=True)
    # One after the other where files have locks, for two would write the same records.
    with document_lock(place.store, [place.prefix + NAME]):
        before = place.store.get(place.prefix + NAME)
        try:
            _append_parquet(where, (reader, new, fresh), concat, options, settings)
        except (MetadataError, NotFoundError) as error:
            if place.store.get(place.prefix + NAME) == before:
                raise
            message = "someone else has changed the set meanwhile"
            raise ConflictError(message, path=place.uri, hint="Append again.") from error


def _append_json(
    where: str | os.PathLike[str], fresh: _Fresh, concat: Mapping[str, Selector], settings: Settings
) -> None:
    """Replace a set in JSON by a longer one, with others kept away from it where files have locks.

    Raises:
        ConflictError: If someone else has changed it meanwhile.
    """
    from omnizarr.refs.files import read, write  # noqa: PLC0415 - parquet needs nothing of it

    place = local_path(where)
    with Held(() if os.name == "nt" else [(place, "file")]):
        before = _state(place)
        whole = combine([(os.fspath(where), read(where)), *fresh], concat=concat, **settings)
        if _state(place) != before:  # where files have no locks, or by another program
            raise ConflictError("someone else has changed the set meanwhile", path=place, hint="Append again.")
        write(whole, where, overwrite=True)


def _state(place: str) -> tuple[int, ...]:
    """Stand for what a file is at this moment; nothing if it is gone."""
    try:
        found = os.stat(place)  # noqa: PTH116 - text
    except FileNotFoundError:
        return ()
    return found.st_ino, found.st_size, found.st_mtime_ns


def _append_parquet(
    where: str | os.PathLike[str],
    given: tuple[Reader, Sequence[Input], _Fresh],
    concat: Mapping[str, Selector],
    options: Options,
    settings: Settings,
) -> None:
    reader, new, fresh = given
    name = os.fspath(where)
    old = _existing(reader, name, next(iter(concat)))
    inputs = [old, *new]
    made = plan(inputs, concat, options)
    _check_behind(made, inputs)
    keep_chunks(made, old)
    documents = result_documents(made)
    if not {key for key in old.references.documents if key.rpartition("/")[2] in _NAMES} <= documents.keys():
        # Chunks of different lengths need documents of another format; nothing of the old ones may stay.
        whole = combine([(name, read_parquet(where)), *fresh], concat=concat, **settings)
        write_parquet(whole, where, record_size=place_of(where).metadata().record_size, overwrite=True)
        return
    if any(_is_anew(path, one, inputs) for path, one in made.variables.items() if path in old.dropped):
        # Rows that are written anew name files by the numbers that these have in the whole set.
        old.references, old.dropped = read_parquet(where), frozenset()
    added, rewritten = _added(made, inputs)
    added.documents = {key: text for key, text in documents.items() if old.references.documents.get(key) != text}
    append_parquet(where, added, rewrite=rewritten, limits=options.limits)


def _existing(reader: Reader, where: str, dim: str) -> Input:
    """Read what planning needs of a set in parquet: documents, and the chunks of what is not concatenated."""
    place = place_of(where, read_only=True)
    metadata = place.metadata()
    records = records_of(place, metadata)
    one = reader.read(where, References(metadata.documents))
    kept = [path for path, meta in one.arrays.items() if dim not in (meta.dims or ()) or meta.dims == (dim,)]
    one.references.arrays.update(
        {path: rows_between(records, path, one.arrays[path].grid.counts(one.arrays[path].shape)) for path in kept}
    )
    one.references.urls = records.urls()
    one.references.stamps = {url: Stamp(*parts) for url, parts in records.stamps().items()}
    one.load, one.dropped = _loader(where), frozenset(one.arrays) - set(kept)
    return one


def _loader(where: str) -> Loader:
    return lambda: read_parquet(where)


def _check_behind(made: Plan, inputs: Sequence[Input]) -> None:
    line = made.lines[0]
    early = [one.name for one, at in zip(inputs[1:], line.positions[1:], strict=True) if at == line.positions[0]]
    if line.positions[0] != 0 or early:
        raise MetadataError(
            f"what is new does not lie behind what is there along {line.dim!r}"
            + (f": {listed(early)}" if early else ""),
            hint="Combine all sets anew to put something before the end.",
        )


def _added(made: Plan, inputs: Sequence[Input]) -> tuple[References, list[str]]:
    """Return the new references alone, and the arrays that are given whole."""
    table = UrlTable()
    added = References(urls=table.urls, stamps=stamps_of(inputs[1:]))
    rewritten: list[str] = []
    for path, variable in made.variables.items():
        if variable.chunks is not None:
            added.arrays[path] = variable.chunks
            rewritten.append(path)
            continue
        own = variable.meta.grid.counts(variable.meta.shape)
        before = inputs[0].arrays.get(path)
        old = None if before is None else before.grid.counts(before.shape)
        if {piece.source for piece in variable.pieces} == {0} and own == old:
            continue
        behind = _behind(path, variable, inputs)
        pieces = [piece for piece in variable.pieces if piece.source or not behind]
        if behind and old is not None:
            start = old[0]
            pieces = [piece._replace(start=(piece.start[0] - start, *piece.start[1:])) for piece in pieces]
            own = (own[0] - start, *own[1:])
        else:
            rewritten.append(path)
        parts = [
            piece.part(inputs[piece.source].chunks(path), table.add(inputs[piece.source].references.urls))
            for piece in pieces
        ]
        added.arrays[path] = placed(own, parts)
    return added, rewritten


def _is_anew(path: str, variable: Variable, inputs: Sequence[Input]) -> bool:
    """Whether chunks of the set that grows are written again, in other places than they have."""
    return any(piece.source == 0 for piece in variable.pieces) and not _behind(path, variable, inputs)


def _behind(path: str, variable: Variable, inputs: Sequence[Input]) -> bool:
    """Whether the new chunks follow the old ones, all of which stay as they are."""
    order = sequence(path, variable, inputs)
    if order is None or order[0] != 0:
        return False
    first = next(piece for piece in variable.pieces if piece.source == 0)
    return first.box is None and first.short is None and not first.more
