"""Rules about nodes: each one's documents, and how they lie above and below each other."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import Final, Literal, NamedTuple

from omnizarr.errors import OmnizarrError
from omnizarr.format.consolidated import split_v2
from omnizarr.format.dialects import DIALECTS, DRAFT, ZARR2, ZARR3, Dialect, dialect, render
from omnizarr.format.names import ZARR_JSON, ZARRAY, ZATTRS, ZGROUP, ZMETADATA, join
from omnizarr.format.parsed import Meta
from omnizarr.model.array import ArrayMeta
from omnizarr.model.group import GroupMeta
from omnizarr.tools.validate.document import Document, lenient
from omnizarr.tools.validate.old import check_entry_point, check_old
from omnizarr.tools.validate.report import Cure, Sink
from omnizarr.tools.validate.scene import Scene
from omnizarr.tools.validate.v2 import check_v2
from omnizarr.tools.validate.v3 import check_v3

_V2_NODES: Final = (ZARRAY, ZGROUP)


class Node(NamedTuple):
    """A node, readable or not."""

    path: str
    format: str
    kind: Literal["array", "group", ""]
    """Empty where a document is too broken to tell."""

    meta: Meta | None
    """What its documents say, if they can be used."""


def check_nodes(scene: Scene, sink: Sink, tick: Callable[[int], None]) -> dict[str, Node]:
    """Check the documents of all nodes, and return the nodes by path, parents first."""
    _open_consolidated(scene, sink)
    if scene.draft is not None:
        _check_entry(scene, sink)
    nodes: dict[str, Node] = {}
    for number, path in enumerate(sorted(scene.texts)):
        node = _check_node(scene, path, sink)
        if node is not None:
            nodes[path] = node
        tick(number)
    return nodes


def _open_consolidated(scene: Scene, sink: Sink) -> None:
    """Take documents out of consolidated metadata where there are no others."""
    texts = scene.texts.get(scene.start, {})
    if ZMETADATA not in texts or ZARR_JSON in texts or any(name in texts for name in _V2_NODES):
        return
    key = join(scene.start, ZMETADATA)
    try:
        copies = split_v2(texts[ZMETADATA], key, scene.limits)
    except OmnizarrError as error:
        sink.add("OZ801", (scene.start, key), error.message, hint=error.hint)
        return
    cures: list[Cure] = []
    for inner, text in copies.items():
        path, _, name = join(scene.start, inner).rpartition("/")
        if name in ZARR2.documents and name not in scene.texts.get(path, {}):
            scene.texts.setdefault(path, {})[name] = text
            cures.append(Cure("put", join(path, name), value=text))
    message = "there are consolidated metadata, but not the documents that they copy"
    sink.add("OZ808", (scene.start, key), message, cures=tuple(cures))


def _check_entry(scene: Scene, sink: Sink) -> None:
    key = (scene.draft.start if scene.draft else "") + ZARR_JSON
    if scene.entry is None:
        sink.add("OZ432", ("", key), f"there is no {key!r}, which hierarchies of the drafts begin with")
    else:
        check_entry_point(Document(sink, "", key, scene.limits), scene.entry)


def _check_node(scene: Scene, path: str, sink: Sink) -> Node | None:
    texts = scene.texts[path]
    found = [one for one in DIALECTS.values() if any(name in texts and one.claims(texts[name]) for name in one.nodes)]
    if not found:
        if ZATTRS in texts:
            sink.add("OZ507", (path, join(path, ZATTRS)), "there are attributes, but no array or group that has them")
        return None
    own = found[0]
    if ZARR3 in found and ZARR2 in found:
        _two_formats(scene, path, sink)

    def make(name: str) -> Document:
        return Document(sink, path, scene.key(path, name), scene.limits)

    if own is ZARR3:
        meta = check_v3(make(ZARR_JSON), texts[ZARR_JSON])
    elif own is ZARR2:
        meta = check_v2(make, path, {name: texts[name] for name in own.documents if name in texts})
    else:
        meta = check_old(own, make, path, texts)
    return Node(path, own.name if meta is None else meta.format, _kind(own, meta, texts), meta)


def _kind(own: Dialect, meta: Meta | None, texts: dict[str, bytes]) -> Literal["array", "group", ""]:
    if meta is not None:
        return "array" if isinstance(meta, ArrayMeta) else "group"
    if own is ZARR2:
        return "array" if ZARRAY in texts else "group"
    if not own.has_groups:
        return "array"
    if own is not ZARR3:
        return ""
    try:
        value = lenient(texts[ZARR_JSON])
    except (ValueError, RecursionError):
        return ""
    kind = value.get("node_type") if isinstance(value, dict) else None
    return "array" if kind == "array" else "group" if kind == "group" else ""


def _two_formats(scene: Scene, path: str, sink: Sink) -> None:
    names = [name for name in (*_V2_NODES, ZATTRS, ZMETADATA) if name in scene.texts[path]]
    message = f"documents of v2 ({', '.join(names)}) lie beside {ZARR_JSON}"
    cures = [Cure("erase", join(path, name), pointer="zarr3") for name in names]
    cures.append(Cure("erase", join(path, ZARR_JSON), pointer="zarr2"))
    hint = "--repair=zarr3 erases those of v2, --repair=zarr2 that of v3."
    sink.add("OZ502", (path, join(path, ZARR_JSON)), message, hint=hint, cures=tuple(cures))


def check_hierarchy(scene: Scene, nodes: dict[str, Node], sink: Sink) -> None:
    """Check how nodes lie above and below each other."""
    lacking: dict[str, str] = {}
    alike: dict[tuple[str, str], list[str]] = defaultdict(list)
    for path, node in nodes.items():
        _array_and_group(scene, node, nodes, sink)
        if path == scene.start:
            continue
        above, _, name = path.rpartition("/")
        alike[above, name.casefold()].append(name)
        if node.format == ZARR3.name and (name.startswith("__") or not name.strip(".") or name == ZARR_JSON):
            sink.add("OZ505", (path, None), f"the name {name!r} is reserved")
        _check_above(scene, node, nodes, lacking, sink)
    for (above, _), names in alike.items():
        if len(names) > 1:
            shown = " and ".join(repr(name) for name in names)
            sink.add("OZ506", (above, None), f"the names {shown} differ in nothing but case")
    for path, form in lacking.items():
        _lacking(path, form, scene, sink)


def _check_above(scene: Scene, node: Node, nodes: dict[str, Node], lacking: dict[str, str], sink: Sink) -> None:
    own = dialect(node.format)
    path = node.path
    while path != scene.start:
        path = path.rpartition("/")[0]
        parent = nodes.get(path)
        if parent is None:
            if own.has_groups and not own.implicit_groups and scene.draft is None:
                lacking.setdefault(path, node.format)
            continue
        if parent.kind == "array":
            message = f"the {node.kind or 'node'} lies below the array {'/' + path!r}"
            sink.add("OZ503", (node.path, scene.key(node.path, _document(scene, node))), message)
        elif parent.format != node.format and own.has_groups and parent.kind == "group":
            message = f"it is {node.format}, but the group {'/' + path!r} that holds it is {parent.format}"
            sink.add("OZ508", (node.path, None), message)
        return


def _document(scene: Scene, node: Node) -> str:
    names = DIALECTS.get(node.format, DRAFT).nodes
    return next((name for name in names if name in scene.texts.get(node.path, {})), ZARR_JSON)


def _lacking(path: str, form: str, scene: Scene, sink: Sink) -> None:
    name = ZARR_JSON if form == ZARR3.name else ZGROUP
    key = join(path, name)
    message = f"there is no {key!r}, although nodes lie below it"
    cures = tuple(
        Cure("put", join(path, document), value=text) for document, text in render(GroupMeta(format=form)).items()
    )
    rule = "OZ510" if path == scene.start else "OZ504" if form == ZARR3.name else "OZ509"
    sink.add(rule, (path, key), message, cures=cures)


def _array_and_group(scene: Scene, node: Node, nodes: dict[str, Node], sink: Sink) -> None:
    texts = scene.texts.get(node.path, {})
    if ZARRAY not in texts or ZGROUP not in texts or node.format != ZARR2.name:
        return
    prefix = node.path + "/" if node.path else ""
    has_nodes = any(path.startswith(prefix) and path != node.path for path in nodes)
    keys = [key[len(prefix) :] for key in scene.others if key.startswith(prefix)]
    chunks = node.meta is None or any(
        isinstance(node.meta, ArrayMeta) and node.meta.keys.parse(key, node.meta.ndim) is not None for key in keys
    )
    cures: tuple[Cure, ...] = ()
    if not has_nodes and node.meta is not None:
        cures = (Cure("erase", join(node.path, ZGROUP)),)
    elif has_nodes and not chunks:
        cures = (Cure("erase", join(node.path, ZARRAY)),)
    message = f"there are {ZARRAY} and {ZGROUP}; most readers see an array"
    sink.add("OZ501", (node.path, join(node.path, ZARRAY)), message, cures=cures)
