"""From a plan to what the journal says of it."""

from __future__ import annotations

from collections.abc import Sequence

from omnizarr.format.consolidated import render_v2, render_v3
from omnizarr.format.dialects import ZARR2, ZARR3, dialect
from omnizarr.format.names import ZARR_JSON, ZMETADATA, join
from omnizarr.model.array import ArrayMeta
from omnizarr.tools.convert.journal import SCRATCH, Journal, Record, ndim_of
from omnizarr.tools.convert.target import collides
from omnizarr.tools.convert.values import Step


def journal_of(steps: Sequence[Step], mark: str, words: str, *, in_place: bool) -> Journal:
    """Return the journal of a conversion that is about to begin."""
    changed = any(step.how != "keep" for step in steps)
    records = tuple(
        _in_place(number, step, changed=changed) if in_place else _fresh(step) for number, step in enumerate(steps)
    )
    stale = [join(step.path, ZMETADATA) for step in steps if step.consolidated and step.source.format == ZARR2.name]
    return Journal(
        "building",
        mark,
        words,
        steps[0].source.format,
        in_place,
        records,
        _copies(steps) if changed or not in_place else {},
        tuple(stale) if in_place and changed else (),
    )


def _fresh(step: Step) -> Record:
    keys = step.target.keys if isinstance(step.target, ArrayMeta) else None
    return Record(step.path, step.target.format, _texts(step), new_keys=keys, ndim=ndim_of(step.target))


def _in_place(number: int, step: Step, *, changed: bool) -> Record:
    old, new = step.source, step.target
    same = old.format == new.format
    erased = () if same else tuple(name for name in dialect(old.format).documents if name not in step.texts)
    if step.how == "keep" and not (step.consolidated and changed):
        return Record(step.path, new.format, {}, fresh=False)
    record = Record(step.path, new.format, _texts(step), fresh=not same, erase=erased, ndim=ndim_of(new))
    if not step.moves or not isinstance(old, ArrayMeta) or not isinstance(new, ArrayMeta):
        return record
    if collides(old, new):
        return record._replace(new_keys=new.keys, scratch=f"{SCRATCH}/{number}")
    return record._replace(old_keys=old.keys, new_keys=new.keys)


def _texts(step: Step) -> dict[str, str]:
    return {name: text.decode() for name, text in step.texts.items()}


def _copies(steps: Sequence[Step]) -> dict[str, str]:
    """Return the consolidated metadata of the groups that have any, by their keys."""
    copies: dict[str, str] = {}
    for group in steps:
        if not group.consolidated:
            continue
        start = group.path + "/" if group.path else ""
        texts = {
            join(step.path, name)[len(start) :]: text
            for step in steps
            if step is group or step.path.startswith(start)
            for name, text in step.texts.items()
        }
        if group.target.format == ZARR2.name:
            copies[start + ZMETADATA] = render_v2(texts).decode()
        elif group.target.format == ZARR3.name:
            copies[start + ZARR_JSON] = render_v3(group.texts[ZARR_JSON], texts).decode()
    return copies
