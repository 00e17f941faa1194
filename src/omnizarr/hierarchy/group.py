"""Group: a folder of arrays and groups, with attributes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Literal

from omnizarr.array.defaults import Extents
from omnizarr.errors import (
    ExistsError,
    LimitError,
    MetadataError,
    NodeTypeError,
    NotFoundError,
    OmnizarrError,
    ShapeError,
    UnsafeError,
)
from omnizarr.format.names import check_new_path, join, normal_path
from omnizarr.hierarchy import html, save
from omnizarr.hierarchy.array import Array
from omnizarr.hierarchy.attrs import Attributes, to_json_object
from omnizarr.hierarchy.changing import changed_group
from omnizarr.hierarchy.context import Context
from omnizarr.hierarchy.create import ZERO, ArrayOptions, array_meta
from omnizarr.hierarchy.filling import fitting, with_data
from omnizarr.hierarchy.handle import Handle
from omnizarr.hierarchy.listing import Found, children, find, is_there, left_out, not_found, reload, tree, walk
from omnizarr.hierarchy.nodes import Meta, as_path
from omnizarr.hierarchy.transfer import check_apart, consolidate, copy_node, move_node
from omnizarr.hierarchy.tree import Tree
from omnizarr.model.array import ArrayMeta
from omnizarr.model.dtype import DType
from omnizarr.model.group import GroupMeta
from omnizarr.model.jsonvalue import JSON
from omnizarr.model.keys import Keys
from omnizarr.store.protocol import place_name

if TYPE_CHECKING:
    import numpy.typing as npt


class Group(Handle):
    """A group in a store; made by `omnizarr.open_group`, `omnizarr.create_group` and groups, not by hand.

    It behaves like a mapping of names to arrays and groups; a name may be a path of several.

    >>> import omnizarr as oz
    >>> g = oz.create_group({})
    >>> a = g.create_array("ocean/temperature", shape=(3, 4), dtype="f4")
    >>> list(g), g["ocean/temperature"].shape
    (['ocean'], (3, 4))
    """

    __slots__ = ("__weakref__", "_context", "_meta", "_path")

    def __init__(self, context: Context, path: str, meta: GroupMeta) -> None:
        self._context = context if context.read_only else context.for_format(meta.format)
        self._path = path
        self._meta = meta

    @property
    def attrs(self) -> Attributes:
        """The attributes, as a mapping that writes through to the store."""
        return Attributes(self)

    @property
    def format(self) -> str:
        """Dialect that the group is stored in: "zarr3", "zarr2", … as for `format=`."""
        return self._meta.format

    @property
    def metadata(self) -> GroupMeta:
        """All that the documents say, in the neutral model."""
        return self._meta

    def __getitem__(self, path: str) -> Array | Group:
        full = self._full(path)
        meta, copied = find(self._context, full, self._meta.format)
        if meta is None:
            raise not_found(self._context, full)
        return self._node(full, meta, copied=copied)

    def get(self, path: str, default: Array | Group | None = None) -> Array | Group | None:
        """Return the node at a path within the group, or the default if there is none."""
        try:
            return self[path]
        except (NotFoundError, UnsafeError):
            # A path that leads out of the store is that of no node; documents that are unsafe to follow are told of.
            # What was made by somebody since then is there.
            if path not in self:
                return default
        return self[path]

    def __contains__(self, path: object) -> bool:
        if not isinstance(path, str):
            return False
        try:
            return is_there(self._context, self._full(path), self._meta.format)
        except UnsafeError:
            return False

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def __len__(self) -> int:
        return len(self.keys())

    def keys(self) -> list[str]:
        """Return the names of the arrays and groups right below, sorted."""
        return [name for name, _, _ in self._children()]

    def values(self) -> list[Array | Group]:
        """Return the arrays and groups right below."""
        return [node for _, node in self.members()]

    def items(self) -> list[tuple[str, Array | Group]]:
        """Return names and nodes right below."""
        return self.members()

    def members(self, max_depth: int | None = 0) -> list[tuple[str, Array | Group]]:
        """Return the nodes below the group with their paths within it, parents before their children.

        Nodes that cannot be read are left out, with a warning that says why.

        Args:
            max_depth: How many levels of groups are entered: 0 for the nodes right below, `None` for all.
        """
        nodes = []
        for path, meta, copied in walk(self._context, self._path, self._meta.format, max_depth):
            full = join(self._path, path)
            if isinstance(meta, OmnizarrError):
                left_out(full, meta)
            else:
                nodes.append((path, self._node(full, meta, copied=copied)))
        return nodes

    def arrays(self) -> list[tuple[str, Array]]:
        """Return names and arrays right below."""
        return [(name, node) for name, node in self.members() if isinstance(node, Array)]

    def groups(self) -> list[tuple[str, Group]]:
        """Return names and groups right below."""
        return [(name, node) for name, node in self.members() if isinstance(node, Group)]

    def tree(self, depth: int | None = None) -> Tree:
        """Return a picture of all below the group, in text and HTML; `depth` limits its levels."""
        return tree(self._context, self._path, self._meta, depth)

    def create_group(self, path: str, *, attrs: Mapping[str, object] | None = None, overwrite: bool = False) -> Group:
        """Create a group, and the groups above it that are missing.

        Raises:
            ExistsError: If something is there, unless `overwrite`.
            ReadOnlyError: If this group was opened for reading.
        """
        meta = GroupMeta(to_json_object(attrs or {}), self._meta.format)
        full = join(self._path, check_new_path(as_path(path)))
        meta = save.create(self._context, full, meta, overwrite=overwrite, parent=self._path)
        return Group(self._context, full, meta)

    def require_group(self, path: str) -> Group:
        """Return the group at a path, which is created if nothing is there.

        Raises:
            NodeTypeError: If an array is there.
        """
        with self._context.lock:
            node = self.get(path)
            try:
                node = self.create_group(path) if node is None else node
            except ExistsError:  # another program was faster
                node = self[path]
        if isinstance(node, Array):
            raise NodeTypeError("this is an array, not a group", path=node.path)
        return node

    def create_array(
        self,
        path: str,
        *,
        shape: int | Iterable[int] | None = None,
        dtype: npt.DTypeLike | DType | None = None,
        data: Any = None,  # noqa: ANN401 - whatever NumPy takes
        chunks: Extents | Literal["auto"] | bool | None = "auto",
        shards: Extents | Literal["auto"] | bool | None = None,
        codecs: object = "auto",
        fill_value: object = ZERO,
        dims: Sequence[str | None] | None = None,
        attrs: Mapping[str, object] | None = None,
        order: Literal["C", "F"] = "C",
        separator: Literal["/", "."] | None = None,
        cname: str | None = None,
        clevel: int | None = None,
        shuffle: int | str | None = None,
        chunk_keys: Keys | str | Mapping[str, object] | None = None,
        overwrite: bool = False,
    ) -> Array:
        """Create an array, and the groups above it that are missing; see `omnizarr.create_array` for the keywords.

        Raises:
            ExistsError: If something is there, unless `overwrite`.
            ReadOnlyError: If this group was opened for reading.
        """
        options: ArrayOptions = {
            "shape": shape,
            "dtype": dtype,
            "data": data,
            "chunks": chunks,
            "shards": shards,
            "codecs": codecs,
            "fill_value": fill_value,
            "dims": dims,
            "attrs": attrs,
            "order": order,
            "separator": separator,
            "cname": cname,
            "clevel": clevel,
            "shuffle": shuffle,
            "chunk_keys": chunk_keys,
        }
        full = self._full(path)
        return new_array(self._context, full, self._meta.format, options, overwrite=overwrite, parent=self._path)

    def require_array(
        self,
        path: str,
        *,
        shape: int | Iterable[int],
        dtype: npt.DTypeLike | DType,
        **options: Any,  # noqa: ANN401 - those of create_array
    ) -> Array:
        """Return the array at a path, which is created if nothing is there.

        Raises:
            ShapeError: If an array of another shape or type is there.
            NodeTypeError: If a group is there.
        """
        node = self.get(path)
        try:
            if node is None:  # no lock is held, since data may be lazy, and computed from what is in this store
                return self.create_array(path, shape=shape, dtype=dtype, **options)
        except ExistsError:  # another thread or program was faster
            node = self[path]
        if isinstance(node, Group):
            raise NodeTypeError("this is a group, not an array", path=node.path)
        wanted = array_meta({"shape": shape, "dtype": dtype}, "zarr2")
        if node.shape != wanted.shape or node.dtype.newbyteorder("=") != wanted.dtype.numpy.newbyteorder("="):
            raise ShapeError(
                f"the array there has shape {node.shape} and type {node.dtype}, not {wanted.shape} and"
                f" {wanted.dtype.numpy}",
                path=node.path,
            )
        return node

    def __delitem__(self, path: str) -> None:
        full = self._existing(path)
        if full == self._path:
            raise NodeTypeError("a group cannot erase itself", path=full or "/")
        save.erase(self._context, full)

    def move(self, source: str, target: str) -> None:
        """Give a node, with all below it, another path within the group.

        Raises:
            NotFoundError: If nothing is at `source`.
            ExistsError: If something is at `target`, or that is within the node itself.
        """
        old, new = self._existing(source), join(self._path, check_new_path(as_path(target)))
        check_apart(self._context, old, self._context, new, "moved")
        move_node(self._context, old, new, self._meta.format)

    def copy(
        self, source: str, target: str, *, into: Group | None = None, overwrite: bool = False
    ) -> Array | Group | None:
        """Copy a node, with all below it, byte for byte.

        Args:
            source: Path within this group.
            target: Path within this group, or within `into`; empty for that group's own place.
            into: Group that takes the copy; it may be in another store.
            overwrite: Whether what is at `target` may be replaced.

        Returns:
            The copy; `None` if it is of a kind that cannot be read.

        Raises:
            NotFoundError: If nothing is at `source`.
            ExistsError: If something is at `target`, unless `overwrite`, or if one is within the other.
            UnsupportedError: If the group that takes the copy has another format.
        """
        home = self if into is None else into
        old, new = self._existing(source), home._full(check_new_path(as_path(target)))  # noqa: SLF001 - the same class
        check_apart(self._context, old, home._context, new, "copied")  # noqa: SLF001
        hint = "pass overwrite=True to replace it"
        copy_node(self._context, old, home._context, new, overwrite=overwrite, hint=hint)  # noqa: SLF001
        try:
            return home[target]
        except (MetadataError, LimitError, UnsafeError):
            return None

    def consolidate(self) -> None:
        """Write a copy of all documents below into this group's own, so that one request lists them all.

        Whatever is changed through Omnizarr afterwards keeps it in step; where many nodes are made, do it at the end.
        """
        with self._context.placing(self._path):
            consolidate(self._context, self._path, self._meta)

    def refresh(self) -> None:
        """Look at the group's own documents again, in case another program changed them.

        Raises:
            NotFoundError: If the group is gone.
        """
        self._meta = _loaded(self._context, self._path, self._meta.format)

    def __repr__(self) -> str:
        return f"<omnizarr.Group {self.name!r} {self._meta.format} in {self._context.store.uri}>"

    def _repr_html_(self) -> str:
        facts = [("Format", f"{self._meta.format} in {self._context.store.uri}")]
        facts += [(name, repr(value)) for name, value in list(self._meta.attributes.items())[:20]]
        return html.table(f"Group {self.name}", facts, self.tree(depth=3)._repr_html_())

    def __reduce__(self) -> tuple[object, ...]:
        return _reopened, (self._context, self._path, self._meta.format)

    def __dask_tokenize__(self) -> tuple[object, ...]:
        return ("omnizarr.Group", self._context.store.uri, self._path, repr(self._meta))

    def _full(self, path: str) -> str:
        inner = normal_path(as_path(path))
        return join(self._path, inner) if inner else self._path

    def _existing(self, path: str) -> str:
        full = self._full(path)
        if not is_there(self._context, full, self._meta.format):
            raise not_found(self._context, full)
        return full

    def _children(self) -> list[tuple[str, Found, bool]]:
        return children(self._context, self._path, self._meta.format)

    def _node(self, path: str, meta: Meta, *, copied: bool) -> Array | Group:
        if isinstance(meta, ArrayMeta):
            return Array(self._context, path, meta, unchecked=copied)
        return Group(self._context, path, meta)

    def _attributes(self) -> Mapping[str, JSON]:
        return self._meta.attributes

    def _change_attributes(self, values: Mapping[str, JSON], removed: Iterable[str], *, replace: bool) -> None:
        path = self._path
        self._context.check_writable(path)

        def change(context: Context) -> None:
            self._meta = _loaded(context, path, self._meta.format)
            self._meta = save.change_attributes(context, path, self._meta, values, removed, replaced=replace)

        changed_group(self._context, path, self._meta.format, change)


def new_array(
    context: Context, path: str, dialect: str, options: ArrayOptions, *, overwrite: bool, parent: str | None = None
) -> Array:
    """Create an array at a path in a store, and fill it with `data` where given.

    The data are read and checked before anything is erased: they may be those of the array that is replaced.
    """
    context.check_writable(path)
    has_data = options.get("data") is not None
    options = with_data(options) if has_data else options
    meta = array_meta(options, dialect, context.limits)
    values = fitting(options.get("data"), meta, place_name(context.store, path)) if has_data else None
    meta, state = save.create_seen(context, path, meta, overwrite=overwrite, parent=parent)
    array = Array(context, path, meta, seen=state)
    if values is not None:
        try:
            array[...] = values
        except BaseException:  # Ctrl-C as well
            if context.is_near:
                with suppress(OmnizarrError):
                    array._unmake()  # noqa: SLF001 - the classes belong together
            raise
    return array


def _reopened(context: Context, path: str, dialect: str) -> Group:
    return Group(context, path, _loaded(context, path, dialect))


def _loaded(context: Context, path: str, dialect: str) -> GroupMeta:
    meta = reload(context, path, dialect)
    if not isinstance(meta, GroupMeta):
        raise NotFoundError("the group is gone", path=place_name(context.store, path))
    return meta
