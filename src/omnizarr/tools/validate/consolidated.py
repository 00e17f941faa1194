"""Rules about consolidated metadata: whether they say what the documents say.

v3: https://zarr-specs.readthedocs.io/en/latest/v3/core/index.html#additional-fields; v2 has no text but the writer's.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Final

from omnizarr.errors import OmnizarrError, UnsafeError, UnsupportedError
from omnizarr.format.consolidated import FIELD, MARK, split_v2, split_v3, without_block
from omnizarr.format.names import ZARR_JSON, ZARRAY, ZATTRS, ZGROUP, ZMETADATA, join
from omnizarr.hierarchy.nodes import parse
from omnizarr.model.group import GroupMeta
from omnizarr.model.jsonvalue import JSON
from omnizarr.native import split_object
from omnizarr.tools.validate.document import lenient
from omnizarr.tools.validate.nodes import Node
from omnizarr.tools.validate.report import Cure, Sink, words
from omnizarr.tools.validate.scene import Scene

_V2: Final = (ZARRAY, ZGROUP, ZATTRS)
_MOST: Final = 20
_PLAIN: Final = b"{}"
_BY_HAND: Final = "A document cannot be read, and the consolidated copy of it may be the last: put that in its place."


def check_consolidated(scene: Scene, nodes: Mapping[str, Node], sink: Sink) -> None:
    """Check the consolidated metadata of each group that has any."""
    for path, texts in scene.texts.items():
        node = nodes.get(path)
        if node is None or not isinstance(node.meta, GroupMeta):
            continue
        if node.format == "zarr3" and MARK in texts.get(ZARR_JSON, b""):
            _check_v3(scene, nodes, path, sink)
        elif node.format == "zarr2" and ZMETADATA in texts:
            _check_v2(scene, nodes, path, sink)


def _cures(path: str) -> tuple[Cure, ...]:
    return (Cure("consolidate", path),)


def _fail(sink: Sink, path: str, key: str, error: OmnizarrError) -> None:
    rule = "OZ807" if isinstance(error, UnsafeError) else "OZ802" if isinstance(error, UnsupportedError) else "OZ801"
    message, pointer = words(error)
    sink.add(rule, (path, key), message, pointer=pointer, cures=_cures(path))


def _check_v3(scene: Scene, nodes: Mapping[str, Node], path: str, sink: Sink) -> None:
    data, key = scene.texts[path][ZARR_JSON], join(path, ZARR_JSON)
    try:
        copies = split_v3(data, key, scene.limits)
    except OmnizarrError as error:
        _fail(sink, path, key, error)
        return
    if copies is None:
        return
    if _may_be_ignored(data) is False:
        message = "must_understand is not false, so that readers without consolidated metadata must refuse the group"
        sink.add("OZ806", (path, key), message, pointer=f"/{FIELD}/must_understand", cures=_cures(path))
    copied = {
        join(path, inner.removesuffix(ZARR_JSON).rstrip("/")): {ZARR_JSON: text} for inner, text in copies.items()
    }
    _compare(_Copies(path, key, "zarr3", copied), scene, nodes, sink)


def _may_be_ignored(data: bytes) -> bool | None:
    try:
        members = split_object(split_object(data.removeprefix(b"\xef\xbb\xbf"))[FIELD])
    except (ValueError, KeyError):
        return None
    return members.get("must_understand") == b"false"


def _check_v2(scene: Scene, nodes: Mapping[str, Node], path: str, sink: Sink) -> None:
    key = join(path, ZMETADATA)
    try:
        copies = split_v2(scene.texts[path][ZMETADATA], key, scene.limits)
    except OmnizarrError as error:
        _fail(sink, path, key, error)
        return
    copied: dict[str, dict[str, bytes]] = {}
    for inner, text in copies.items():
        node, _, name = join(path, inner).rpartition("/")
        if name in _V2:
            copied.setdefault(node, {})[name] = text
    _compare(_Copies(path, key, "zarr2", copied), scene, nodes, sink)


class _Copies:
    """The documents in the consolidated metadata of a group, by path and name."""

    def __init__(self, path: str, key: str, form: str, texts: dict[str, dict[str, bytes]]) -> None:
        self.path = path
        self.key = key
        self.form = form
        self.texts = texts


def _compare(copies: _Copies, scene: Scene, nodes: Mapping[str, Node], sink: Sink) -> None:
    start = copies.path + "/" if copies.path else ""
    own = {path for path, node in nodes.items() if path.startswith(start) and node.format == copies.form}
    own -= {copies.path}
    told: dict[str, int] = {}
    only = _only_copies(copies, scene, nodes)
    cures = () if only is None else (*only, *_cures(copies.path))
    hint = _BY_HAND if only is None else None

    def tell(rule: str, message: str) -> None:
        told[rule] = told.get(rule, 0) + 1
        if told[rule] <= _MOST:
            sink.add(rule, (copies.path, copies.key), message, pointer=None, cures=cures, hint=hint)

    for path, texts in copies.texts.items():
        shown = f"/{path}"
        if path not in scene.texts or (path != copies.path and path not in own):
            if any(name != ZATTRS for name in texts):
                tell("OZ803", f"{shown!r} is in the consolidated metadata, but there is no such node")
        elif not _is_same(texts, scene.texts[path], scene):
            tell("OZ805", f"the consolidated metadata of {shown!r} differ from its documents")
    for path in sorted(own - copies.texts.keys()):
        if nodes[path].meta is not None:  # what cannot be read need not be copied
            tell("OZ804", f"{'/' + path!r} is not in the consolidated metadata")


def _only_copies(copies: _Copies, scene: Scene, nodes: Mapping[str, Node]) -> tuple[Cure, ...] | None:
    """Return what puts documents back that are lost while data are still there; `None` if some are damaged instead.

    To consolidate again would then destroy the last copy of them.
    """
    lost: list[str] = []
    for path, texts in copies.texts.items():
        node = nodes.get(path)
        if node is not None and node.meta is not None:
            continue
        there = scene.texts.get(path, {}).keys() - {ZATTRS}
        if there & texts.keys():
            return None
        if not there and texts.keys() - {ZATTRS}:
            lost.append(path)
    filled = _paths_above((*scene.others, *(f"{path}/" for path in scene.texts))) if lost else set()
    return tuple(
        Cure("put", join(path, name), value=text)
        for path in lost
        if path in filled
        for name, text in copies.texts[path].items()
        if name not in scene.texts.get(path, {})
    )


def _paths_above(keys: Iterable[str]) -> set[str]:
    found: set[str] = set()
    for key in keys:
        above = key.rpartition("/")[0]
        while above and above not in found:
            found.add(above)
            above = above.rpartition("/")[0]
    return found


def _is_same(copies: Mapping[str, bytes], texts: Mapping[str, bytes], scene: Scene) -> bool:
    names = (ZARR_JSON,) if ZARR_JSON in copies else _V2
    if all(_value(copies.get(name), name) == _value(texts.get(name), name) for name in names):
        return True
    # Another spelling of the same is no fault: writers fill in defaults.
    try:
        left = parse("", {name: copies[name] for name in names if name in copies}, scene.limits)
        right = parse("", {name: texts[name] for name in names if name in texts}, scene.limits)
    except OmnizarrError:
        return False
    return left is not None and repr(left) == repr(right)  # as text, for NaN equals nothing


def _value(text: bytes | None, name: str) -> str | bytes | None:
    """Return a document as a text that is equal for equal documents."""
    if text is None:
        text = _PLAIN if name == ZATTRS else None
        if text is None:
            return None
    try:
        value: JSON = lenient(without_block(text) if MARK in text else text)
        if isinstance(value, dict) and value.get(FIELD) is None:
            value = {field: member for field, member in value.items() if field != FIELD}
        return json.dumps(value, sort_keys=True)
    except (ValueError, RecursionError):
        return text
