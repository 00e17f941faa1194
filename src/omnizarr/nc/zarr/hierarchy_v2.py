"""The nodes of a Zarr v2 hierarchy, NCZarr or not: one request for the documents of each level.

Groups of NCZarr say what is in them, so nothing is listed there; what they do not name is not seen, as by netcdf-c.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple, TypeAlias

from omnizarr.errors import MetadataError, OmnizarrError, warn
from omnizarr.format import v2
from omnizarr.format.lenient import load_object
from omnizarr.format.names import ZARRAY, ZATTRS, ZGROUP, join
from omnizarr.format.v2_netcdf import Writer, as_meant
from omnizarr.format.v2_netcdf import writer_of as writer_of_array
from omnizarr.limits import Limits
from omnizarr.model.array import ArrayMeta
from omnizarr.model.jsonvalue import JSON
from omnizarr.nc.zarr.documents import Texts
from omnizarr.nc.zarr.generations import (
    DOCUMENTS,
    SPELLINGS,
    Generation,
    generation_of,
    member,
    names_in,
    writer_of,
)
from omnizarr.nc.zarr.nodes import Hierarchy, Node

Kind: TypeAlias = Literal["array", "group", "any"]

_FIRST: Final = ".nczarr"
_NAMES: dict[Kind, tuple[str, ...]] = {
    "array": (ZARRAY, ZATTRS),
    "group": (ZGROUP, ZATTRS),
    "any": (ZARRAY, ZGROUP, ZATTRS),
}
_FIRST_NAMES = tuple(DOCUMENTS)
_MARKED = frozenset(SPELLINGS["array"])
_OLD_LIBRARY = b"netcdf=4.8."


class _Child(NamedTuple):
    parent: Node
    name: str
    kind: Kind


@dataclass(slots=True)
class _Walk:
    """What is the same for all nodes of one hierarchy."""

    texts: Texts
    limits: Limits
    pure: bool
    quote: str = "'"
    generation: Generation = ""
    writer: Writer = ""
    longest: JSON = None
    metas: dict[tuple[bytes, Writer, JSON], ArrayMeta] = field(default_factory=dict)
    parsed: dict[bytes, dict[str, JSON]] = field(default_factory=dict)

    def object(self, texts: Mapping[str, bytes], name: str, path: str) -> dict[str, JSON]:
        """Parse a document; none, and an empty one, say nothing."""
        text = texts.get(name)
        if text is None:
            return {}
        known = self.parsed.get(text)  # arrays of a dataset are much alike
        if known is not None:
            return known
        if not text.strip():
            warn(f"{join(path, name)!r} is empty; it is taken for {{}}")
            return {}
        made = load_object(text, join(path, name), self.limits, quote=self.quote)
        if name == ZARRAY:
            self.parsed[text] = made
        return made


def read_v2(texts: Texts, path: str, own: Mapping[str, bytes], limits: Limits, *, pure: bool) -> Hierarchy:
    """Read the nodes of a hierarchy.

    Args:
        texts: Where documents come from.
        path: The root's path.
        own: The root's own documents, by name.
        limits: Bounds on documents.
        pure: Whether to take NCZarr for plain Zarr.

    Raises:
        MetadataError: If a document of the root cannot be read; what is wrong elsewhere leaves out or marks a node.
    """
    walk = _Walk(texts, limits, pure)
    if _OLD_LIBRARY in own.get(ZATTRS, b""):
        walk.quote = '"'
    if _FIRST in own and not pure:
        walk.generation = "A1" if ".nczattrs" in own or ".nczarray" in own else "A0"
        walk.quote = '"'
    is_array = ZARRAY in own and ZGROUP not in own
    attributes = walk.object(own, ZATTRS, path)
    extra = dict(walk.object(own, ZARRAY if is_array else ZGROUP, path))
    extra.update(_first_marks(walk, own, path))
    root = Node("", path, attributes, extra, is_array=is_array)
    if not walk.generation and not pure:
        walk.generation = generation_of(attributes, extra, "zarr2")
    walk.writer = writer_of(walk.generation, attributes)
    walk.longest = attributes.get("_nczarr_default_maxstrlen")
    if is_array:
        _describe(walk, root, own)
        return Hierarchy(root, "zarr2", walk.generation, walk.writer)
    level = [root]
    while level:
        level = _next_level(walk, level)
    return Hierarchy(root, "zarr2", walk.generation, walk.writer)


def _next_level(walk: _Walk, level: list[Node]) -> list[Node]:
    """Read what is right below some groups; return the groups among that."""
    children = [child for node in level for child in _children(walk, node)]
    first = walk.generation in ("A0", "A1")
    keys: list[str] = []
    widths: list[tuple[str, ...]] = []
    for child in children:
        names = _NAMES[child.kind] + (_FIRST_NAMES if first else ())
        here = join(child.parent.path, child.name)
        keys += [f"{here}/{name}" for name in names]
        widths.append(names)
    values = walk.texts.get_many(keys) if keys else []
    found: list[Node] = []
    at = 0
    for child, names in zip(children, widths, strict=True):
        row = zip(names, values[at : at + len(names)], strict=True)
        at += len(names)
        node = _node(walk, child, {name: text for name, text in row if text is not None})
        if node is None:
            continue
        (child.parent.arrays if node.is_array else child.parent.groups).append(node)
        if not node.is_array:
            found.append(node)
    return found


def _children(walk: _Walk, node: Node) -> list[_Child]:
    mark = None if walk.pure else node.mark("group")
    if mark is None:
        return [_Child(node, name, "any") for name in walk.texts.children(node.path)]
    arrays = array_names(mark)
    groups = names_in(member(mark, "groups"))
    named: list[_Child] = [_Child(node, name, "array") for name in arrays]
    named += [_Child(node, name, "group") for name in groups if name not in arrays]
    return [child for child in named if _is_name(child.name, node.path)]


def array_names(mark: Mapping[str, JSON]) -> list[str]:
    """Return the names of all arrays of a group, in order of definition."""
    listed = names_in(member(mark, "arrays", "vars")) + names_in(member(mark, "user_arrays"))
    order = names_in(member(mark, "array_order"))
    known = set(listed)
    ordered = [name for name in order if name in known]
    return list(dict.fromkeys(ordered + listed))


def _is_name(name: str, path: str) -> bool:
    if name and "/" not in name and name not in (".", "..") and "\0" not in name:
        return True
    warn(f"the group {'/' + path!r} names {name!r}, which cannot be a name; it is left out")
    return False


def _node(walk: _Walk, child: _Child, texts: Mapping[str, bytes]) -> Node | None:
    path = join(child.parent.path, child.name)
    is_array = ZARRAY in texts
    if not is_array and ZGROUP not in texts:
        if child.kind == "any":
            return None
        if child.kind == "array" or not texts:
            warn(f"{path!r} is left out: its group names it, but no document of it is there")
            return None
    try:
        attributes = walk.object(texts, ZATTRS, path)
    except OmnizarrError as error:
        warn(f"the attributes of {path!r} are left out, as they cannot be read: {error.message}")
        attributes = {}
    node = Node(child.name, path, attributes, is_array=is_array)
    try:
        node.extra = walk.object(texts, ZARRAY if is_array else ZGROUP, path)
        marks = _first_marks(walk, texts, path)
        if marks:
            node.extra = {**node.extra, **marks}
    except OmnizarrError as error:
        node.error = error
        if not is_array:
            warn(f"the group {path!r} is left out, as it cannot be read: {error.message}")
            return None
        return node
    if is_array:
        _describe(walk, node, _moved(walk, node) or texts)
    return node


def _moved(walk: _Walk, node: Node) -> Mapping[str, bytes] | None:
    """Follow an array whose elements are in a folder below it, while they are being stored anew."""
    folder = member(node.mark("array"), "stored_in") if not walk.pure else None
    if not isinstance(folder, str) or not _is_name(folder, node.path):
        return None
    path = join(node.path, folder)
    (text,) = walk.texts.get_many([join(path, ZARRAY)])
    if text is None:
        return None
    texts = {ZARRAY: text}
    try:
        node.extra = {**node.extra, **walk.object(texts, ZARRAY, path)}
    except OmnizarrError:  # what is stored anew is not yet whole
        return None
    node.path = path
    return texts


def _first_marks(walk: _Walk, texts: Mapping[str, bytes], path: str) -> dict[str, JSON]:
    """Return what the documents of the first generation hold, under the names that the marks got later."""
    if walk.generation not in ("A0", "A1"):
        return {}
    found: dict[str, JSON] = {}
    for name, mark in DOCUMENTS.items():
        if name in texts:
            found[SPELLINGS[mark][0]] = walk.object(texts, name, path)
            if name in (".nczarray", ".nczattrs"):
                walk.generation = "A1"
    return found


def _describe(walk: _Walk, node: Node, texts: Mapping[str, bytes]) -> None:
    """Find out what an array is like; what is wrong with it becomes its error."""
    document, key = node.extra, join(node.path, ZARRAY)
    node.shape = _shape(document.get("shape"))
    node.dtype = document.get("dtype")
    filters = document.get("filters")
    node.codecs = [*(filters if isinstance(filters, list) else []), document.get("compressor")]
    node.codecs = [one for one in node.codecs if one is not None]
    text = texts.get(ZARRAY, b"")
    if walk.texts.copied:
        node.document = text
        if node.dtype == "|S1" and node.attributes.get("_nczarr_maxstrlen", walk.longest) != 1:
            node.dtype = ">S1"  # which copies do not say, as zarr-python, for whom they are made, does not know it
    try:
        node.meta = _meta(walk, node, text, key)
        node.shape = node.meta.shape
    except OmnizarrError as error:
        node.error = error


def _meta(walk: _Walk, node: Node, text: bytes, key: str) -> ArrayMeta:
    fill = node.attributes.get("_FillValue")
    writer = writer_of_array(node.extra, node.attributes)
    if walk.writer == "old" and writer == "":
        writer = "old"
    known = (text, writer or walk.writer, fill if isinstance(fill, str) else None)
    meta = walk.metas.get(known)
    if meta is None:
        document = {name: value for name, value in node.extra.items() if name not in _MARKED}
        meant = as_meant(document, node.attributes, writer or walk.writer)
        meta = walk.metas[known] = v2.parse_array(_plain(meant), None, key, walk.limits)
    return meta


def _plain(document: dict[str, JSON]) -> dict[str, JSON]:
    if "zarr_format" not in document:
        raise MetadataError("the document does not say that it is of Zarr v2", pointer="/zarr_format")
    return document


def _shape(value: JSON) -> tuple[int, ...]:
    lengths = [int(one) for one in value if isinstance(one, int)] if isinstance(value, list) else []
    whole = isinstance(value, list) and len(lengths) == len(value) and all(0 <= one < 1 << 63 for one in lengths)
    return tuple(lengths) if whole else ()
