"""Bringing definitions to the store, in an order that leaves a readable dataset at every point in between.

netcdf-c refuses a dataset whose group lists an array that is not there, or whose arrays use dimensions that no group
has. So arrays are written before the groups that list them, groups before those above them, and what nobody refers to
any more is erased at the end. Dimensions that were renamed are in their group under both names while arrays change
over. Chunks are moved by copying, and erased where they were once the new place is in use.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from omnizarr.errors import ConflictError, UnsupportedError
from omnizarr.format.consolidated import render_v2, render_v3, without_block
from omnizarr.format.names import ZARR_JSON, ZARRAY, ZATTRS, ZGROUP, ZMETADATA, join
from omnizarr.nc.kinds import NCZARR
from omnizarr.nc.tree import Group, Var
from omnizarr.nc.types import CHAR
from omnizarr.nc.zarr.layout import array_of
from omnizarr.nc.zarr.sharing import array_held, as_it_is, catch_up, group_held, put_merged
from omnizarr.nc.zarr.style import GROUP_KEY
from omnizarr.nc.zarr.texts import array_texts, dimension_json, dump, group_texts

if TYPE_CHECKING:
    from omnizarr.nc.zarr.writer import ZarrSource
    from omnizarr.nc.zarr.written import Written

_DOCUMENTS = (ZARR_JSON, ZARRAY, ZGROUP, ZATTRS)


def save(source: ZarrSource, *, last: bool = False) -> None:
    """Write all that has changed; at the end also the copy of all documents, if there is to be one.

    What others changed meanwhile stays. No lock but the one of this dataset's own may be held.

    Raises:
        ConflictError: If others changed the same otherwise, or removed it.
    """
    if last:
        _write_copy(source)
        return
    everything = source.all_anew or _has_moved(source)
    groups = list(source.root.walk())
    gone = _prepare(source, groups, everything=everything)
    changed = [group for group in groups if everything or _differs(source, group)]
    arrays = _arrays(source, groups, everything=everything)
    for var in arrays:  # before the first document says how long all of them are
        if var.dims:
            with array_held(source, source.place_of(var, var.path.strip("/"))):
                _clean(source, var)
    for var in arrays:
        _write_array(source, var)
    for group in reversed(changed):
        with group_held(source, source.place_of(group, group.path.strip("/"))):
            _write_group(source, group)
    with source.context.lock:
        _clear(source, groups, gone)


def _prepare(source: ZarrSource, groups: list[Group], *, everything: bool) -> list[str]:
    """Do what comes before any document is written; return the prefixes that are to be erased in the end."""
    with source.context.lock:
        drop_copy(source)
        for group in groups:
            if group in source.marked:
                source.check_names(group)
    _list_both(source, groups)
    if not everything:
        return []
    _check_moved(source, groups)
    with source.context.lock:
        return _move(source, groups)


def _clear(source: ZarrSource, groups: list[Group], gone: list[str]) -> None:
    """Do what comes after all documents are written."""
    gone += _forget(source, groups)
    for prefix in gone:
        source.context.store.erase_prefix(prefix)
    for key in source.old_objects:
        source.context.store.erase(key)
    source.old_objects.clear()
    for dim in (dim for group in groups for dim in group.dims.values()):
        source.names[dim], source.sizes[dim] = dim.name, dim.size
    source.all_anew = source.grown = False
    source.marked.clear()
    source.begun.clear()


def _differs(source: ZarrSource, group: Group) -> bool:
    """Whether the document of a group may differ from what is stored."""
    if group in source.marked or group not in source.places:
        return True
    if any(one not in source.places for one in (*group.vars.values(), *group.groups.values())):
        return True
    return not source.style.is_pure and any(source.sizes.get(dim) != dim.size for dim in group.dims.values())


def _arrays(source: ZarrSource, groups: list[Group], *, everything: bool) -> list[Var]:
    """Return the variables whose documents may differ from what is stored."""
    found: list[Var] = []
    for group in groups:
        for var in group.vars.values():
            known = source.arrays.get(var)
            grown = var.dims and var.shape != (known.meta.shape if known else source.loaded_shape(var))
            if everything or var in source.marked or var not in source.places or grown:
                found.append(var)
    return found


def _clean(source: ZarrSource, var: Var) -> None:
    stored = source.array(var)
    if stored.path == source.places.get(var):
        catch_up(source, var, stored)
    if stored.meta.shape != var.shape:
        stored.clean_beyond(var)


def _write_array(source: ZarrSource, var: Var) -> None:
    stored = source.array(var)
    with ExitStack() as held:
        held.enter_context(array_held(source, source.place_of(var, stored.path)))
        if var not in source.places and var.group is not None:  # which nothing else keeps others from making, too
            held.enter_context(group_held(source, source.place_of(var.group, var.group.path.strip("/"))))
        if stored.path == source.places.get(var):
            catch_up(source, var, stored)
        _write_held(source, var, stored)


def _write_held(source: ZarrSource, var: Var, stored: Written) -> None:
    if var.dims and stored.meta.shape != var.shape:
        stored.grown_to(tuple(map(max, stored.meta.shape, var.shape)) if not stored.is_new else var.shape)
    if stored.is_new and not stored.has_data:
        # Until there is data, the array is whatever the definitions say by now.
        stored.replaced(stored.path, array_of(var, source.style))
    if any(source.names.get(dim, dim.name) != dim.name for dim in var.dims):
        stored.kept = stored.kept._replace(own_dims=False)
    source.warn_of(var)
    if stored.bridge is not None:
        source.context.store.put(join(stored.path, ZARRAY), dump(stored.bridge))
        stored.bridge = None
    document = source.document(var, stored)
    known: Any = source.before.get(var)
    was = {} if known is None else array_texts(known, _as_before(document, known), source.style, stored.kept)
    put_merged(source, var, array_texts(var, document, source.style, stored.kept), was)
    stored.is_new = stored.is_new and not stored.has_data
    source.places[var] = stored.path
    source.before[var] = as_it_is(var)


def _as_before(document: dict[str, Any], known: Var) -> dict[str, Any]:
    """Return a document of an array with the names that dimensions had before, and no lengths: the larger ones stay."""
    made = {**document, "shape": []}
    if "dimension_names" in document and known.dims:
        made["dimension_names"] = [dim.name for dim in known.dims]
    return made


def _write_group(source: ZarrSource, group: Group) -> None:
    kept = source.kept_for(group)
    known: Any = source.before.get(group)
    was = {} if known is None else group_texts(known, source.style, kept)
    put_merged(source, group, group_texts(group, source.style, kept), was)
    source.places[group] = group.path.strip("/")
    source.before[group] = as_it_is(group)


def _check_moved(source: ZarrSource, groups: list[Group]) -> None:
    """Refuse to move a group in which somebody else made something that would not move with it.

    Raises:
        ConflictError: If there is such a thing.
    """
    name = ZARR_JSON if source.style.is_v3 else ZATTRS
    for group in groups:
        place = source.places.get(group)
        if place in (None, group.path.strip("/")) or source.all_anew or source.style.is_pure:
            continue
        document = json.loads(source.context.store.get(join(str(place), name)) or b"{}")
        held = (document.get("attributes") or {}) if source.style.is_v3 else document
        mark = held.get(GROUP_KEY) or {}
        known: Any = source.before.get(group, group)
        others = {*mark.get("arrays", ()), *mark.get("user_arrays", ()), *mark.get("groups", ())}
        others -= {*known.vars, *known.groups, *group.vars, *group.groups}
        if others:
            message = f"somebody else made {', '.join(sorted(others))} in a group that is renamed here"
            raise ConflictError(message, path=group.path, hint="Open the dataset anew, and rename it then.")


def _list_both(source: ZarrSource, groups: list[Group]) -> None:
    """Let groups know renamed dimensions by both names, while arrays in the store still use the old one."""
    store = source.context.store
    name = ZARR_JSON if source.style.is_v3 else ZATTRS
    for group in groups:
        renamed = [dim for dim in group.dims.values() if source.names.get(dim, dim.name) != dim.name]
        if not renamed or group not in source.places or source.style.is_pure or source.all_anew:
            continue
        key = join(source.places[group], name)
        with group_held(source, source.places[group]):
            document = json.loads(store.get(key) or b"{}")
            held = document.get("attributes", document) if source.style.is_v3 else document
            held[GROUP_KEY]["dimensions"].update({dim.name: dimension_json(dim) for dim in renamed})
            store.put(key, dump(document))
        source.texts.pop(key, None)


def _has_moved(source: ZarrSource) -> bool:
    """Whether a name has changed that is part of keys or of references to dimensions."""
    return any(
        node.path.strip("/") != place for nodes in (source.places, source.begun) for node, place in nodes.items()
    ) or any(dim.name != name for dim, name in source.names.items())


def _move(source: ZarrSource, groups: list[Group]) -> list[str]:
    """Copy what lies at old places to the new ones, and return the prefixes that are to be erased."""
    store = source.context.store
    gone: list[str] = []
    used = set(source.places.values())
    for group in groups:
        for var in group.vars.values():
            new = var.path.strip("/")
            old = source.place_of(var, new)
            if old == new:
                continue
            if new in used:
                raise UnsupportedError(
                    f"{new!r} is still the name of something else", path=var.path, hint="Call sync between the renames."
                )
            stored = source.array(var)
            for key in store.list_prefix(f"{old}/"):
                name = key[len(old) + 1 :]
                data = store.get(key) if name not in _DOCUMENTS else None
                if data is not None:
                    store.put(f"{new}/{name}", data)
            stored.replaced(new, stored.meta)
            gone.append(f"{old}/")
        new = group.path.strip("/")
        old = source.place_of(group, new)
        if old != new:
            gone.append(f"{old}/")
    return gone


def _forget(source: ZarrSource, groups: list[Group]) -> list[str]:
    """Forget nodes that are no longer in the tree, and return their prefixes, which nothing else uses."""
    if not any(isinstance(node, Group) for node in source.marked):
        return []  # whoever removes a node says so of its group
    there: set[Group | Var] = {*groups, *(var for group in groups for var in group.vars.values())}
    gone = [node for node in source.places if node not in there]
    used = {f"{source.places[node]}/" for node in there if node in source.places}
    made: list[str] = []
    for node in gone:
        prefix = f"{source.places.pop(node)}/"
        if isinstance(node, Var):
            source.arrays.pop(node, None)
        if not any(one.startswith(prefix) for one in used):
            made.append(prefix)
    return made


def drop_copy(source: ZarrSource) -> None:
    """Erase consolidated metadata before the first change: a copy that is behind would hide it."""
    if source.has_copy:
        if source.style.is_v3:
            store = source.context.store
            store.put(ZARR_JSON, without_block(store.get(ZARR_JSON) or b""))
        else:
            source.context.store.erase(ZMETADATA)
        source.has_copy = False


def _write_copy(source: ZarrSource) -> None:
    wanted = source.style.consolidated
    if wanted is None:
        wanted = source.style.kind == NCZARR and any(
            var.type == CHAR and source.loaded_shape(var) is None for var in source.root.all_vars()
        )
    if not wanted or source.has_copy:
        return
    store = source.context.store
    keys = list(_document_keys(source))
    texts = {key: text for key, text in zip(keys, store.get_many(keys), strict=True) if text is not None}
    if source.style.is_v3:
        root = texts.pop(ZARR_JSON)
        store.put(ZARR_JSON, render_v3(root, texts))
        return
    # zarr-python, whose business this copy is, knows characters by another name.
    for key, text in texts.items():
        if key.endswith(ZARRAY):
            texts[key] = text.replace(b'"dtype": ">S1"', b'"dtype": "|S1"')
    store.put(ZMETADATA, render_v2(texts))


def _document_keys(source: ZarrSource) -> Iterator[str]:
    names = (ZARR_JSON,) if source.style.is_v3 else (ZATTRS, ZGROUP)
    inner = (ZARR_JSON,) if source.style.is_v3 else (ZATTRS, ZARRAY)
    for group in source.root.walk():
        path = group.path.strip("/")
        yield from (join(path, name) for name in names)
        for var in group.vars.values():
            yield from (join(var.path.strip("/"), name) for name in inner)
