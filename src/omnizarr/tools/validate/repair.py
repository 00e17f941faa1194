"""Mending what can be mended without a guess, in an order in which every state in between can be read.

Documents come first, those of groups before those of what lies in them; then what is of no use is erased; consolidated
metadata, which copy the documents, come last.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from omnizarr.errors import MetadataError, OmnizarrError, SelectionError
from omnizarr.format.dialects import DIALECTS, ZARR2, ZARR3
from omnizarr.format.document import dump
from omnizarr.hierarchy.context import Context
from omnizarr.hierarchy.grown import finish_growth
from omnizarr.hierarchy.nodes import load
from omnizarr.hierarchy.resize import finish_cut
from omnizarr.hierarchy.transfer import consolidate
from omnizarr.limits import Limits
from omnizarr.model.group import GroupMeta
from omnizarr.model.jsonvalue import JSON
from omnizarr.store.protocol import Store
from omnizarr.tools.validate.document import lenient
from omnizarr.tools.validate.report import Cure, Finding
from omnizarr.tools.validate.rules import RULES

_FORMATS: Final = (ZARR3.name, ZARR2.name)
_DOCUMENTS: Final = frozenset(name for one in DIALECTS.values() for name in one.documents)


def levels(repair: object) -> frozenset[str]:
    """Return the sorts of repair that are asked for: of "safe", "all", and the formats to keep.

    Raises:
        SelectionError: If there is no such sort.

    >>> sorted(levels("all")), levels(False)
    (['all', 'safe'], frozenset())
    """
    if isinstance(repair, bool):
        return frozenset({"safe"} if repair else ())
    if not isinstance(repair, str):
        message = f"repair is {repair!r} of type {type(repair).__name__}, not True, False or text"
        raise SelectionError(message, hint='Repairs are "safe", "all", "zarr3" and "zarr2".')
    words = {word.strip() for word in repair.split(",")}
    unknown = words - {"safe", "all", *_FORMATS}
    if unknown:
        message = f"there is no repair called {min(unknown)!r}"
        raise SelectionError(message, hint="Repairs are safe, all, zarr3 and zarr2.")
    if words.issuperset(_FORMATS):
        raise SelectionError("one format can be kept, zarr3 or zarr2, not both")
    return frozenset({"safe", *words})


def cures_of(findings: Iterable[Finding], wanted: frozenset[str]) -> dict[Cure, Finding]:
    """Return what is to be done, each with the finding that it is for."""
    found: dict[Cure, Finding] = {}
    for finding in findings:
        sort = RULES[finding.rule].repair
        for cure in finding.cures:
            if sort == "choice" and cure.pointer not in wanted:
                continue
            if sort == "choice" or sort in wanted:
                found.setdefault(_hashable(cure), finding)
    return found


def _hashable(cure: Cure) -> Cure:
    """Return the same with a value that can be in a set: documents as their text."""
    return cure._replace(value=dump(cure.value)) if cure.do == "edit" and not isinstance(cure.value, bytes) else cure


def apply(store: Store, limits: Limits, cures: dict[Cure, Finding]) -> list[str]:
    """Do it, and return in words what was done.

    Raises:
        OmnizarrError: The store refused.
    """
    done: list[str] = []
    # Of two for one key, what was copied from consolidated metadata comes last: it knows more than an empty group.
    for cure, finding in sorted(cures.items(), key=lambda one: (one[0].key.count("/"), one[0].key, one[1].rule)):
        if cure.do == "put" and isinstance(cure.value, bytes):
            store.put(cure.key, cure.value)
            done.append(f"{finding.rule}: wrote {cure.key}")
    done += _edit(store, [(cure, finding) for cure, finding in cures.items() if cure.do == "edit"])
    erased = [(cure, finding) for cure, finding in cures.items() if cure.do == "erase"]
    # Documents go first: without one, what is left over is no node, while a document without data is an empty one.
    for cure, finding in sorted(erased, key=lambda one: one[0].key.rpartition("/")[2] not in _DOCUMENTS):
        if store.erase(cure.key):
            done.append(f"{finding.rule}: erased {cure.key}")
    for cure, finding in cures.items():
        if cure.do == "pack":
            data = store.get(cure.key)
            if data is not None:
                store.put(cure.key, data)
                done.append(f"{finding.rule}: kept the last {cure.key}")
    for cure, finding in cures.items():
        if cure.do in ("cut", "grow"):
            done += _finish(store, limits, cure, finding)
    # From the leaves up, for the metadata of a group copy those of the groups in it.
    groups = sorted(
        {cure.key: finding for cure, finding in cures.items() if cure.do == "consolidate"}.items(), reverse=True
    )
    for path, finding in groups:
        done += _consolidate(store, limits, path, finding)
    return done


def _finish(store: Store, limits: Limits, cure: Cure, finding: Finding) -> list[str]:
    context = Context(store, read_only=False, limits=limits)
    done = (finish_cut if cure.do == "cut" else finish_growth)(context, cure.key)
    words = "erased what lies outside" if cure.do == "cut" else "gave arrays their new shapes in"
    return [f"{finding.rule}: {words} /{cure.key}"] if done else []


def _consolidate(store: Store, limits: Limits, path: str, finding: Finding) -> list[str]:
    try:
        meta = load(store, path, limits)
    except OmnizarrError:  # the group itself is broken, which another finding tells
        return []
    if not isinstance(meta, GroupMeta):
        return []
    consolidate(Context(store, read_only=False, limits=limits), path, meta)
    return [f"{finding.rule}: consolidated /{path}"]


def _edit(store: Store, cures: list[tuple[Cure, Finding]]) -> list[str]:
    by_key: dict[str, list[tuple[Cure, Finding]]] = {}
    for cure, finding in cures:
        by_key.setdefault(cure.key, []).append((cure, finding))
    done: list[str] = []
    for key, edits in by_key.items():
        data = store.get(key)
        if data is None:
            continue
        try:
            document = lenient(data)
        except (ValueError, RecursionError):
            continue
        for cure, _ in edits:
            if cure.pointer:
                value = None if cure.drop or not isinstance(cure.value, bytes) else lenient(cure.value)
                change(document, cure.pointer, value, drop=cure.drop)
        store.put(key, dump(document, key))
        rules = ", ".join(dict.fromkeys(finding.rule for _, finding in edits))
        done.append(f"{rules}: rewrote {key}")
    return done


def change(document: JSON, pointer: str, value: JSON, *, drop: bool = False) -> None:
    """Set or remove what a JSON pointer leads to.

    Raises:
        MetadataError: If it leads nowhere.

    >>> document = {"a": [{"b": 1}]}
    >>> change(document, "/a/0/b", 2)
    >>> document
    {'a': [{'b': 2}]}
    """
    *parents, last = (part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:])
    place = document
    for name in parents:
        place = _member(place, name)
    if isinstance(place, dict) and drop:
        place.pop(last, None)
    elif isinstance(place, dict):
        place[last] = value
    elif isinstance(place, list) and last.isdigit() and int(last) < len(place) and not drop:
        place[int(last)] = value
    else:
        raise MetadataError("there is no such member to change", pointer=pointer)


def _member(place: JSON, name: str) -> JSON:
    if isinstance(place, dict):
        return place.get(name)
    return place[int(name)] if isinstance(place, list) and name.isdigit() and int(name) < len(place) else None
