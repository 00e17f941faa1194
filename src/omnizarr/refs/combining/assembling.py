"""Many sets made one: concatenated along dimensions, their variables merged."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Literal, TypeAlias, TypedDict, Unpack, get_args

from omnizarr.errors import MetadataError
from omnizarr.hierarchy.nodes import Meta, documents
from omnizarr.limits import Limits
from omnizarr.refs.combining.blocks import Part, UrlTable, placed
from omnizarr.refs.combining.bringing import Brought, Scanning, with_files
from omnizarr.refs.combining.conflicts import Attributes, Conflicts
from omnizarr.refs.combining.inputs import Input, Reader, Sets
from omnizarr.refs.combining.options import Options
from omnizarr.refs.combining.planning import Plan, plan
from omnizarr.refs.combining.selectors import Selector
from omnizarr.refs.scanners.many import Progress
from omnizarr.refs.scanners.source import Options as Scan
from omnizarr.refs.taking import reach
from omnizarr.refset.model import Ids, References, Stamp
from omnizarr.store.cloud.servers import named_servers

Compat: TypeAlias = Literal["identical", "override"]
Keep: TypeAlias = Literal["error", "first", "last"]
Missing: TypeAlias = Literal["warn", "fill", "error"]

_WORDS: Final[dict[str, tuple[str, ...]]] = {
    "compat": get_args(Compat),
    "attributes": get_args(Attributes),
    "keep": get_args(Keep),
    "missing": get_args(Missing),
}


class Settings(TypedDict, total=False):
    """How sets are combined where there is a choice; see `Options`."""

    identical: Iterable[str]
    compat: Compat
    attributes: Attributes
    keep: Keep
    missing: Missing
    sort: bool
    base: str
    allow: Sequence[str] | None
    limits: Limits
    scan: Scan
    workers: int | None
    cluster: object
    cache: str | os.PathLike[str] | None
    on_error: Literal["raise", "skip"]
    progress: Progress | None


def options_of(given: Settings) -> Options:
    """Check what a caller asks for.

    Raises:
        MetadataError: If a word is not known.
        TypeError: If there is no such setting.
    """
    for name in given.keys() - Settings.__annotations__.keys():
        if name in Scan._fields:
            raise TypeError(f"{name!r} is an option of scanning: pass scan=omnizarr.refs.Options({name}=…)")
        raise TypeError(f"there is no setting {name!r}; there are {', '.join(Settings.__annotations__)}")
    usual = Options()
    known = Options(
        frozenset(given.get("identical", ())),
        given.get("compat", usual.compat),
        given.get("attributes", usual.attributes),
        given.get("keep", usual.keep),
        given.get("missing", usual.missing),
        given.get("sort", usual.sort),
        usual.cut,
        given.get("base", usual.base),
        _places(given.get("allow")),
        given.get("limits", usual.limits),
    )
    for word, value in known._asdict().items():
        if word in _WORDS and value not in _WORDS[word]:
            raise MetadataError(f"{word} is {value!r}, not one of {', '.join(map(repr, _WORDS[word]))}")
    return known


def _places(allow: Sequence[str] | None) -> tuple[str, ...] | None:
    if isinstance(allow, str):
        raise TypeError("allow is a list of places, not one")
    return None if allow is None else tuple(allow)


def scanning_of(given: Settings) -> Scanning:
    """Say how files are scanned that are given by their places."""
    usual = Scanning()
    return Scanning(
        given.get("scan", usual.options),
        given.get("workers"),
        given.get("cache"),
        given.get("on_error", usual.on_error),
        given.get("progress"),
        given.get("cluster"),
    )


def combine(
    sets: Sets,
    *,
    concat: str | Sequence[str] | Mapping[str, Selector] = (),
    **settings: Unpack[Settings],
) -> References:
    """Make one set of many.

    Variables that have a dimension of `concat` are concatenated along it, in the order of its coordinate; a dimension
    that the sets do not have is put before their own. All other variables must be the same in all sets that have them.

    Args:
        sets: The sets, or pairs of a name and a set; names stand in messages, and patterns are for them. Or the places
            of files and of sets: files are scanned, and sets are read. Or mappings, as JSON has sets.
        concat: The dimensions; a mapping says where the coordinate of each set is from, see `Selector`.
        settings: `identical`, `compat`, `attributes`, `keep`, `missing`, `sort`: see `Options`. For files that are
            scanned: `scan` (its options), `workers`, `cluster`, `cache`, `on_error`, `progress`, as for
            `scan`.

    Raises:
        MetadataError: If the sets do not fit together; all that does not fit is told at once, with the files' names.
    """
    options = options_of(settings)
    reader = Reader(options.limits)
    brought = with_files(sets, scanning_of(settings))
    inputs = [reader.read(name, one) for name, one in brought.loaded()]
    if not inputs:
        raise MetadataError("there are no sets to combine")
    return assembled(plan(inputs, selectors(concat), guarded(options, brought, inputs)), inputs)


def guarded(options: Options, brought: Brought, inputs: Sequence[Input], *more: str) -> Options:
    """Return the options with what may be read to learn coordinates: a set that others wrote reaches not everything.

    Args:
        options: What the caller asks for.
        brought: What was given.
        inputs: The same, read.
        more: Further places of sets.
    """
    own = (inputs[number].references for number in brought.own)
    places = [*more, *brought.places]
    servers = tuple(server for place in places for server in named_servers(place))
    return options._replace(allow=reach(places, own, options.allow, options.limits), servers=servers)


def selectors(concat: str | Sequence[str] | Mapping[str, Selector]) -> Mapping[str, Selector]:
    """Return the dimensions with where their coordinates are from."""
    if isinstance(concat, Mapping):
        return concat
    return dict.fromkeys((concat,) if isinstance(concat, str) else concat)


def assembled(made: Plan, inputs: Sequence[Input]) -> References:
    """Move the chunks of all sets to their places in the result."""
    table = UrlTable()
    ids: list[Ids | None] = [None] * len(inputs)
    result = References(result_documents(made), urls=table.urls)
    for path, variable in made.variables.items():
        if variable.chunks is not None:
            result.arrays[path] = variable.chunks
            continue
        parts: list[Part] = []
        for piece in variable.pieces:
            numbers = ids[piece.source]
            if numbers is None:
                numbers = ids[piece.source] = table.add(inputs[piece.source].references.urls)
            parts.append(piece.part(inputs[piece.source].chunks(path), numbers))
        result.arrays[path] = placed(variable.meta.grid.counts(variable.meta.shape), parts)
    result.stamps = stamps_of(one for one, used in zip(inputs, ids, strict=True) if used is not None)
    for one in inputs:
        for key, value in one.references.others.items():
            if result.others.setdefault(key, value) != value:
                raise MetadataError(f"{one.name} and another set have different values", key=key)
    return result


def result_documents(made: Plan) -> dict[str, bytes]:
    """Write the documents of the result: groups first, the root before all."""
    found: dict[str, bytes] = {}
    metas: dict[str, Meta] = {**made.groups, **{path: one.meta for path, one in made.variables.items()}}
    for path in sorted(metas, key=lambda path: (path in made.variables, path.count("/"), path)):
        prefix = path + "/" if path else ""
        found.update({prefix + name: text for name, text in documents(metas[path]).items()})
    return found


def stamps_of(inputs: Iterable[Input]) -> dict[str, Stamp]:
    """Return what is known of the sources of all sets.

    Raises:
        MetadataError: If a source changed between two scans.
    """
    found: dict[str, Stamp] = {}
    conflicts = Conflicts()
    for one in inputs:
        for url, stamp in one.references.stamps.items():
            if found.setdefault(url, stamp) != stamp:
                conflicts.note(url, f"was {found[url]} when it was scanned first, {stamp} for {one.name}")
    conflicts.check("The file changed between two scans; scan it again.")
    return found
