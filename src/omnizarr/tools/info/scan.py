"""A quick look at every node below a group: how many there are, how large, what is odd, and whether copies are in step.

A hierarchy may have thousands of arrays, most of which differ in shape and attributes alone. So what documents say is
worked out once for all that are alike in the rest, and attributes are not parsed. Documents of the plainest kind are
understood without the model and NumPy, which are imported for the first that is not.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from math import prod
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from omnizarr.errors import OmnizarrError
from omnizarr.format.consolidated import MARK, is_document, split_v2, split_v3, without_block
from omnizarr.format.document import load
from omnizarr.format.names import ZARR_JSON, ZARRAY, ZATTRS, ZGROUP, ZMETADATA, check_depth, join
from omnizarr.late import LateModule
from omnizarr.limits import DEFAULT_LIMITS, Limits
from omnizarr.native import cut_member, same_texts, split_object
from omnizarr.store.protocol import Store
from omnizarr.tools.info.remark import of_sizes
from omnizarr.tools.listing.entries import Layout
from omnizarr.tools.listing.plain_documents import layout_v2, layout_v3, names, sizes, without_shape

if TYPE_CHECKING:
    from omnizarr.hierarchy import consolidated, context, listing, nodes
    from omnizarr.hierarchy.consolidated import Block
    from omnizarr.hierarchy.context import Context
    from omnizarr.hierarchy.listing import Found
    from omnizarr.model import array as model
    from omnizarr.model.array import ArrayMeta
    from omnizarr.model.group import GroupMeta
    from omnizarr.tools.info import remarks
else:
    consolidated = LateModule("omnizarr.hierarchy.consolidated")
    context = LateModule("omnizarr.hierarchy.context")
    listing = LateModule("omnizarr.hierarchy.listing")
    nodes = LateModule("omnizarr.hierarchy.nodes")
    model = LateModule("omnizarr.model.array")
    remarks = LateModule("omnizarr.tools.info.remarks")

_SAMPLE: Final = 100
"""Arrays of v2 whose attributes are looked at for conventions."""

_FAST: Final = ("zarr3", "zarr2")
_GROUP_V3: Final = {"zarr_format": b"3", "node_type": b'"group"'}
_GROUP_V2: Final = {"zarr_format": b"2"}

_XARRAY: Final = b'"_ARRAY_DIMENSIONS"'
_OME: Final = b'"multiscales"'

_ONE_BYTE: Final = {f"{order}{one}": one for order in "<>|" for one in ("S1", "i1", "u1", "b1")}
"""Types whose byte order has no meaning: NCZarr spells characters `>S1`, and `|S1` in the copy for zarr-python."""


class Facts(NamedTuple):
    """What counts of a node."""

    is_array: bool
    nbytes: int = 0
    remarks: tuple[str, ...] = ()
    """Their ids."""


class Scan(NamedTuple):
    """What lies below a group."""

    arrays: int
    groups: int
    nbytes: int
    """Bytes of all elements in memory."""

    remarks: Mapping[str, tuple[int, str]]
    """By the id of a remark: how many arrays it is true of, and the path of the first."""

    unreadable: tuple[tuple[str, str], ...]
    """Path and reason of nodes that cannot be read."""

    conventions: tuple[str, ...]
    consolidated: str
    """"none"; "in step"; "stale"; "only" where there are no other documents; "not compared" in a distant store."""

    stale: tuple[str, ...]
    """In words, which entries of consolidated metadata are not what the documents say."""


def scan(context: Context, path: str, meta: GroupMeta) -> Scan:
    """Look at all nodes below a group."""
    scanner = _Scanner(context.store, path, context.limits, near=context.is_near)
    return scanner.run(meta.format)


def scan_near(store: Store, form: str) -> Scan:
    """Look at all nodes below the group at the root of a store in which documents and listings are cheap."""
    return _Scanner(store, "", DEFAULT_LIMITS, near=True).run(form)


class _Scanner:
    def __init__(self, store: Store, root: str, limits: Limits, *, near: bool) -> None:
        self._store = store
        self._limits = limits
        self._near = near
        self._root = root
        self._plans: dict[object, _Plan] = {}
        self._start = len(root) + 1 if root else 0
        self._memo: dict[object, Facts] = {}
        self._remarks: dict[str, tuple[int, str]] = {}
        self._unreadable: list[tuple[str, str]] = []
        self._counts = [0, 0]
        self._nbytes = 0
        self._marks: set[str] = set()
        self._attributes: list[str] = []
        self._stale: list[str] = []
        self._copies: dict[str, bytes] | None = None
        self._block: Block | None = None

    def run(self, form: str) -> Scan:
        store, root = self._store, self._root
        new, old = store.get_many([join(root, ZARR_JSON), join(root, ZMETADATA)])
        state = self._read_copies(new, old)
        # In a distant store the copy is what spares a request for each node.
        distant = self._copies is not None and not self._near
        if distant and self._copies is not None:
            self._block = consolidated.Block(root, self._copies)
        self._group(root, form)
        if self._copies is not None and self._block is None:
            empty = not sum(self._counts) and len(self._copies) > 2
            state = "only" if empty else self._compare_rest(root)
            if empty:
                self._block = consolidated.Block(root, self._copies)
                self._group(root, form)
        elif distant:
            state = "not compared"
        if self._attributes:
            sample = self._get(self._attributes)
            self._look(b"".join(text for text in sample if text is not None))
        return Scan(
            arrays=self._counts[1],
            groups=self._counts[0],
            nbytes=self._nbytes,
            remarks=self._remarks,
            unreadable=tuple(self._unreadable),
            conventions=tuple(sorted(self._marks)),
            consolidated=state,
            stale=tuple(self._stale),
        )

    def _read_copies(self, new: bytes | None, old: bytes | None) -> str:
        limits = self._limits
        try:
            if new is not None and MARK in new:
                self._copies = split_v3(new, join(self._root, ZARR_JSON), limits)
            elif new is None and old is not None:
                self._copies = split_v2(old, join(self._root, ZMETADATA), limits)
        except OmnizarrError as error:
            self._stale.append(f"they cannot be read: {error.message}")
            return "stale"
        return "none"

    def _group(self, path: str, form: str) -> None:
        """Count what is right below a group, and go on with the groups among it."""
        check_depth(path)
        fast = form in _FAST
        rows = self._rows(path, form) if fast else self._slow_rows(path, form)
        for inner, facts, below in list(rows):
            self._counts[facts.is_array] += 1
            if facts.is_array:
                self._nbytes += facts.nbytes
                for one in facts.remarks:
                    count, first = self._remarks.get(one, (0, inner[self._start :]))
                    self._remarks[one] = count + 1, first
            else:
                self._group(inner, below)

    def _slow_rows(self, path: str, form: str) -> Iterator[tuple[str, Facts, str]]:
        whole = context.Context(self._store, read_only=True, limits=self._limits)
        for name, found, _ in listing.children(whole, path, form):
            yield from self._row(join(path, name), found)

    def _row(self, path: str, found: Found | None) -> Iterator[tuple[str, Facts, str]]:
        if isinstance(found, OmnizarrError):
            self._unreadable.append((path[self._start :], found.message))
        elif found is not None:
            if isinstance(found, model.ArrayMeta) and found.dims and found.format == "zarr2":
                self._marks.add("xarray")
            yield path, _facts(found), found.format

    def _rows(self, path: str, form: str) -> Iterator[tuple[str, Facts, str]]:
        """Yield path, facts and format of what is right below a group of v3 or v2."""
        start = path + "/" if path else ""
        if self._block is not None:
            inners = [start + name for name in sorted(self._block.children(path))]
        else:
            inners = sorted(prefix[:-1] for prefix in self._store.list_dir(start)[1])
        missing: list[str] = []
        texts = self._texts_v3(inners) if form == "zarr3" else self._texts_v2(inners)
        for inner, documents in zip(inners, texts, strict=True):
            if not documents:
                missing.append(inner)
                continue
            try:
                facts = self._known(inner, documents)
            except OmnizarrError as error:
                self._unreadable.append((inner[self._start :], error.message))
                continue
            yield inner, facts, form
        if missing and self._block is None:
            # Nodes of other formats, and folders that are none.
            for inner, found in zip(missing, self._others(missing, form), strict=True):
                yield from self._row(inner, found)

    def _others(self, paths: Sequence[str], form: str) -> list[Found | None]:
        return nodes.load_many(self._store, paths, self._limits, form)

    def _get(self, keys: Sequence[str]) -> list[bytes | None]:
        if self._block is not None and self._copies is not None:
            return [self._copies.get(key[self._start :]) for key in keys]
        return self._store.get_many(keys)

    def _texts_v3(self, inners: Sequence[str]) -> list[dict[str, bytes]]:
        keys = [inner + "/" + ZARR_JSON for inner in inners]
        values = self._get(keys)
        if self._copies is not None and self._block is None:
            self._compare(keys, values)
        return [{} if value is None else {ZARR_JSON: value} for value in values]

    def _texts_v2(self, inners: Sequence[str]) -> list[dict[str, bytes]]:
        keys = [inner + "/" + ZARRAY for inner in inners]
        values = self._get(keys)
        rows = [{} if value is None else {ZARRAY: value} for value in values]
        groups = [i for i, value in enumerate(values) if value is None]
        others = [inners[i] + "/" + ZGROUP for i in groups]
        found = self._get(others)
        for i, value in zip(groups, found, strict=True):
            if value is not None:
                rows[i][ZGROUP] = value
        attributes = [inner + "/" + ZATTRS for inner, row in zip(inners, rows, strict=True) if row]
        self._attributes += attributes[: _SAMPLE - len(self._attributes)]
        if self._copies is None or self._block is not None:
            return rows
        self._compare(keys + others + attributes, [*values, *found, *self._get(attributes)])
        return rows

    def _known(self, path: str, texts: Mapping[str, bytes]) -> Facts:
        """Return the facts of a node, worked out once for all whose documents differ in attributes or shape alone."""
        key = texts.get(ZARRAY) or texts.get(ZGROUP, b"")
        if (text := texts.get(ZARR_JSON)) is not None:
            try:
                key, attributes = cut_member(text, "attributes")
                self._look(attributes)
            except ValueError:  # the parser says better what is wrong
                key = text
        rest, listed = without_shape(key)
        plan = self._plans.get(rest)
        shape = None if plan is None else _shape(listed)
        if plan is not None and shape is not None and len(shape) == len(plan.cells):
            return plan.facts(shape)
        facts = self._memo.get(key)
        if facts is None:
            facts = self._plain(texts, rest, listed)
            if facts is None:
                meta = nodes.parse(path, texts, self._limits)
                facts = Facts(is_array=False) if meta is None else _facts(meta)
            self._memo[key] = facts
        return facts

    def _plain(self, texts: Mapping[str, bytes], rest: bytes, listed: bytes) -> Facts | None:
        """Return the facts of a node of the plainest kind, of which the model need not be asked; `None` for others."""
        new = texts.get(ZARR_JSON)
        try:
            members = split_object(next(texts[name] for name in (ZARR_JSON, ZARRAY, ZGROUP) if name in texts))
            if new is not None:
                members.pop("attributes", None)
            if members == (_GROUP_V2 if new is None else _GROUP_V3):
                return Facts(is_array=False)
            shape = _shape(listed) if members.pop("shape", None) == listed else None
            dims = members.pop("dimension_names", None) if new is not None else None
            plan = _plan(layout_v2(members) if new is None else layout_v3(members))
            if plan is None or shape is None or len(shape) != len(plan.cells):
                return None
            if dims is not None and names(load(dims, ""), len(shape)) is None:
                return None
        except (ValueError, OmnizarrError):  # the parser says better what is wrong
            return None
        self._plans[rest] = plan
        return plan.facts(shape)

    def _look(self, attributes: bytes) -> None:
        if _XARRAY in attributes:
            self._marks.add("xarray")
        if _OME in attributes:
            self._marks.add("OME-NGFF")

    def _compare(self, keys: Sequence[str], values: Sequence[bytes | None]) -> None:
        """Note which documents are not as they were copied; what is left of the copies in the end is of none."""
        copies = self._copies
        if copies is None:
            return
        start = self._start
        rows = [(key[start:] if start else key, value) for key, value in zip(keys, values, strict=True) if value]
        pairs = [(key, value, copy) for key, value in rows if (copy := copies.pop(key, None)) is not None]
        if len(pairs) < len(rows):
            known = {key for key, _, _ in pairs}
            self._stale += [f"{key} is missing from them" for key, _ in rows if key not in known]
        same = same_texts([value for _, value, _ in pairs], [copy for _, _, copy in pairs])
        for (key, value, copy), equal in zip(pairs, same, strict=True):
            if not equal and not _same(value, copy):
                self._stale.append(f"{key} differs")

    def _compare_rest(self, root: str) -> str:
        own = [join(root, name) for name in (ZGROUP, ZATTRS)]
        if self._copies is not None and any(key[self._start :] in self._copies for key in own):
            self._compare(own, self._store.get_many(own))
        left = [key for key in self._copies or () if is_document(key)]
        here = self._store.get_many([join(root, key) for key in left])
        for key, value in zip(left, here, strict=True):
            # What is there all the same belongs to a node that counts for another: a `.zgroup` beside a `.zarray`.
            if value is None:
                self._stale.append(f"{key} is gone")
        return "stale" if self._stale else "in step"


def _facts(meta: ArrayMeta | GroupMeta) -> Facts:
    if not isinstance(meta, model.ArrayMeta):
        return Facts(is_array=False)
    nbytes = prod(meta.shape) * meta.dtype.numpy.itemsize
    return Facts(is_array=True, nbytes=nbytes, remarks=tuple(one.id for one in remarks.of_layout(meta)))


def _shape(text: bytes) -> tuple[int, ...] | None:
    try:
        return sizes(load(text, ""))
    except OmnizarrError:
        return None


class _Plan(NamedTuple):
    """What arrays of one layout have in common."""

    item: int
    each: int
    """Bytes of a chunk."""

    cells: tuple[int, ...]
    keys: tuple[int, ...]

    def facts(self, shape: tuple[int, ...]) -> Facts:
        """Return the facts of an array of this layout."""
        count = _count(shape, self.cells)
        keys = count if self.keys is self.cells else _count(shape, self.keys)
        odd = of_sizes(self.each, count, keys, sharded=self.keys is not self.cells)
        return Facts(is_array=True, nbytes=prod(shape) * self.item, remarks=tuple([one.id for one in odd]))


def _plan(layout: Layout | None) -> _Plan | None:
    if layout is None or layout.itemsize is None:
        return None
    cells = tuple(one for one in layout.chunks if isinstance(one, int))
    keys = None if layout.shards is None else tuple(one for one in layout.shards if isinstance(one, int))
    return _Plan(layout.itemsize, prod(cells) * layout.itemsize, cells, keys or cells)


def _count(shape: tuple[int, ...], edges: tuple[int, ...]) -> int:
    """Return how many boxes cover a shape."""
    count = 1
    for size, edge in zip(shape, edges, strict=True):
        count *= -(-size // edge)
    return count


def _same(document: bytes, copy: bytes) -> bool:
    """Whether two documents say the same; consolidated metadata of their own not counted."""
    try:
        return bool(_value(document) == _value(copy))
    except ValueError:
        return False


def _value(document: bytes) -> Any:  # noqa: ANN401 - JSON
    value: Any = json.loads(without_block(document))
    dtype = value.get("dtype") if isinstance(value, dict) else None
    return {**value, "dtype": _ONE_BYTE[dtype]} if isinstance(dtype, str) and dtype in _ONE_BYTE else value
