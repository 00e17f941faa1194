"""What to do with each node of a hierarchy, before anything is written."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeAlias

from omnizarr.errors import OmnizarrError, UnsafeError
from omnizarr.format.consolidated import split_v3
from omnizarr.format.dialects import ZARR2, ZARR3, dialect
from omnizarr.format.names import ZARR_JSON, ZMETADATA, check_new_path, join
from omnizarr.hierarchy.context import Context
from omnizarr.hierarchy.listing import Found, walk
from omnizarr.hierarchy.real_keys import with_real_keys
from omnizarr.hierarchy.upkeep import is_sound
from omnizarr.model.array import ArrayMeta
from omnizarr.model.group import GroupMeta
from omnizarr.tools.convert.keys import is_whole
from omnizarr.tools.convert.target import array_step, group_step
from omnizarr.tools.convert.values import Plan, Refusal, Step, Wish

Chosen: TypeAlias = Callable[[str], bool]


def make_plan(
    context: Context, path: str, meta: ArrayMeta | GroupMeta, wish: Wish, chosen: Chosen, *, in_place: bool
) -> Plan:
    """Plan the conversion of a node and all below it.

    Args:
        context: Where the node is.
        path: The node's path.
        meta: The node.
        wish: What is asked for.
        chosen: Which arrays are meant. Of the others nothing is written; in place, they stay as they are.
        in_place: Whether the new nodes take the place of the old ones.
    """
    steps: list[Step] = []
    refused: list[Refusal] = []
    groups: list[Step] = []
    for inner, found in _nodes(context, path, meta):
        if isinstance(found, OmnizarrError):
            if chosen(inner):
                hint = f"Leave it out: exclude={inner!r}, or --exclude {inner}."
                refused.append(Refusal(inner, f"it cannot be read: {found.message}", hint))
            continue
        if isinstance(found, ArrayMeta) and inner and not chosen(inner):
            if in_place and found.format != wish.format:
                hint = "Convert all of them, or give a target."
                refused.append(Refusal(inner, "left out, it would keep its format among others of another", hint))
            elif in_place:  # it stays as it is, also in the consolidated metadata of groups above it
                steps.append(Step(inner, "keep", found, found, _texts(context, join(path, inner), found.format)))
            continue
        step, against = _step(context, path, inner, found, wish, in_place=in_place)
        refused += against
        if step is not None:
            (steps if step.is_array else groups).append(step)
    kept = [one for one in groups if in_place or _is_needed(one, steps, chosen)]
    return Plan(tuple(sorted((*kept, *steps), key=lambda one: one.path.split("/") if one.path else [])), tuple(refused))


def _nodes(context: Context, path: str, meta: ArrayMeta | GroupMeta) -> list[tuple[str, Found]]:
    found: list[tuple[str, Found]] = [("", meta)]
    if isinstance(meta, GroupMeta):
        found += [(inner, one) for inner, one, _ in walk(context, path, meta.format, None)]
    return found


def _step(
    context: Context, path: str, inner: str, found: ArrayMeta | GroupMeta, wish: Wish, *, in_place: bool
) -> tuple[Step | None, list[Refusal]]:
    where = join(path, inner) if inner else path
    if inner and not in_place:
        try:
            check_new_path(inner)
        except UnsafeError as error:
            return None, [Refusal(inner, error.message, error.hint or "")]
    if isinstance(found, ArrayMeta):
        found = with_real_keys(context.store, where, found, near=context.is_near)
        whole = partial(is_whole, context.store, where, found)
        return array_step(inner, found, wish, context.limits, in_place=in_place, whole=whole)
    step, against = group_step(inner, found, wish, context.limits, in_place=in_place)
    if step is None:
        return None, against
    return step._replace(consolidated=_is_consolidated(context, where, found) and _can_be(wish.format)), against


def _texts(context: Context, path: str, form: str) -> dict[str, bytes]:
    """Return the documents of a node as they are."""
    names = dialect(form).documents
    found = context.store.get_many([join(path, name) for name in names])
    return {name: text for name, text in zip(names, found, strict=True) if text is not None and is_sound(text)}


def _is_consolidated(context: Context, path: str, meta: GroupMeta) -> bool:
    if meta.format == ZARR3.name:
        document = context.store.get(join(path, ZARR_JSON))
        return document is not None and split_v3(document, join(path, ZARR_JSON), context.limits) is not None
    return meta.format == ZARR2.name and context.store.exists(join(path, ZMETADATA))


def _can_be(form: str) -> bool:
    return dialect(form).has_groups


def _is_needed(group: Step, arrays: list[Step], chosen: Chosen) -> bool:
    """Whether a group belongs to what is chosen: if all is, or it holds an array that is."""
    if not group.path or chosen(group.path):
        return True
    return any(one.path.startswith(group.path + "/") for one in arrays)
