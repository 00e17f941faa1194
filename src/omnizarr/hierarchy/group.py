"""Group: a folder of arrays and groups, with attributes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from omnizarr.array.defaults import Extents
from omnizarr.errors import ExistsError, NodeTypeError, NotFoundError, ShapeError
from omnizarr.format.names import check_new_path, join, normal_path
from omnizarr.hierarchy import html, save
from omnizarr.hierarchy.array import Array
from omnizarr.hierarchy.attrs import Attributes, to_json_object
from omnizarr.hierarchy.context import Context
from omnizarr.hierarchy.create import ZERO, ArrayOptions, array_meta
from omnizarr.hierarchy.listing import children, find, not_found, tree, walk
from omnizarr.hierarchy.nodes import Meta, load
from omnizarr.hierarchy.transfer import consolidate, copy_node
from omnizarr.hierarchy.tree import Tree
from omnizarr.model.array import ArrayMeta
from omnizarr.model.dtype import DType
from omnizarr.model.group import GroupMeta
from omnizarr.model.jsonvalue import JSON
from omnizarr.store.protocol import Store

if TYPE_CHECKING:
    import numpy.typing as npt


class Group:
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
        self._context = context
        self._path = path
        self._meta = meta

    @property
    def attrs(self) -> Attributes:
        """The attributes, as a mapping that writes through to the store."""
        return Attributes(self)

    @property
    def format(self) -> str:
        """Dialect that the group is stored in: "zarr3" or "zarr2"."""
        return self._meta.format

    @property
    def store(self) -> Store:
        """The store that the group is in."""
        return self._context.store

    @property
    def path(self) -> str:
        """Path of the group in its store; empty at the root."""
        return self._path

    @property
    def name(self) -> str:
        """Path of the group with a slash in front."""
        return "/" + self._path

    @property
    def basename(self) -> str:
        """Last part of the path."""
        return self._path.rpartition("/")[2]

    @property
    def read_only(self) -> bool:
        """Whether the group was opened for reading."""
        return self._context.read_only

    @property
    def metadata(self) -> GroupMeta:
        """All that the documents say, in the neutral model."""
        return self._meta

    def __getitem__(self, path: str) -> Array | Group:
        full = self._full(path)
        meta, copied = find(self._context, full)
        if meta is None:
            raise not_found(self._context, full)
        return self._node(full, meta, copied=copied)

    def get(self, path: str, default: Array | Group | None = None) -> Array | Group | None:
        """Return the node at a path within the group, or the default if there is none."""
        try:
            return self[path]
        except NotFoundError:
            return default

    def __contains__(self, path: object) -> bool:
        return isinstance(path, str) and find(self._context, self._full(path))[0] is not None

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

        Args:
            max_depth: How many levels of groups are entered: 0 for the nodes right below, `None` for all.
        """
        if max_depth == 0:
            start = self._path + "/" if self._path else ""
            return [(name, self._node(start + name, meta, copied=copied)) for name, meta, copied in self._children()]
        below = walk(self._context, self._path, self._meta.format, max_depth)
        return [(path, self._node(join(self._path, path), meta, copied=copied)) for path, meta, copied in below]

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
        full = join(self._path, check_new_path(path))
        save.create(self._context, full, meta, overwrite=overwrite, parent=self._path)
        return Group(self._context, full, meta)

    def require_group(self, path: str) -> Group:
        """Return the group at a path, which is created if nothing is there.

        Raises:
            NodeTypeError: If an array is there.
        """
        node = self.get(path)
        if node is None:
            return self.create_group(path)
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
        }
        full = join(self._path, check_new_path(path))
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
        if node is None:
            return self.create_array(path, shape=shape, dtype=dtype, **options)
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
        full = self[path].path
        if full == self._path:
            raise NodeTypeError("a group cannot erase itself", path=full)
        save.erase(self._context, full)

    def move(self, source: str, target: str) -> None:
        """Give a node, with all below it, another path within the group.

        Raises:
            NotFoundError: If nothing is at `source`.
            ExistsError: If something is at `target`.
        """
        self.copy(source, target)
        save.erase(self._context, self[source].path)

    def copy(self, source: str, target: str, *, into: Group | None = None, overwrite: bool = False) -> Array | Group:
        """Copy a node, with all below it, byte for byte.

        Args:
            source: Path within this group.
            target: Path within this group, or within `into`.
            into: Group that takes the copy; it may be in another store.
            overwrite: Whether what is at `target` may be replaced.

        Returns:
            The copy.

        Raises:
            NotFoundError: If nothing is at `source`.
            ExistsError: If something is at `target`, unless `overwrite`.
        """
        home = self if into is None else into
        node = self[source]
        path = join(home._path, check_new_path(target))  # noqa: SLF001 - the same class
        if home._context.store == self._context.store and f"{path}/".startswith(f"{node.path}/"):  # noqa: SLF001
            raise ExistsError("a node cannot be copied into itself", path=path)
        copy_node(self._context, node.path, node.metadata, home._context, path, overwrite=overwrite)  # noqa: SLF001
        return home[target]

    def consolidate(self) -> None:
        """Write a copy of all documents below into this group's own, so that one request lists them all.

        It is kept in step by whatever is changed through Omnizarr afterwards. Where many nodes are to be made,
        consolidate once at the end.
        """
        consolidate(self._context, self._path, self._meta)

    def refresh(self) -> None:
        """Look at the group's own documents again, in case another program changed them.

        Raises:
            NotFoundError: If the group is gone.
        """
        meta = load(self._context.store, self._path, self._context.limits, self._meta.format)
        if not isinstance(meta, GroupMeta):
            raise NotFoundError("the group is gone", path=self._path)
        self._meta = meta

    def __repr__(self) -> str:
        return f"<omnizarr.Group {self.name!r} {self._meta.format} in {self._context.store.uri}>"

    def _repr_html_(self) -> str:
        facts = [("Format", f"{self._meta.format} in {self._context.store.uri}")]
        facts += [(name, repr(value)) for name, value in list(self._meta.attributes.items())[:20]]
        return html.table(f"Group {self.name}", facts, self.tree(depth=3)._repr_html_())

    def __reduce__(self) -> tuple[object, ...]:
        context = self._context
        options = (context.read_only, context.limits, context.write_empty, context.cache_bytes)
        return _reopened, (context.store, self._path, self._meta.format, *options)

    def __dask_tokenize__(self) -> tuple[object, ...]:
        return ("omnizarr.Group", self._context.store.uri, self._path, repr(self._meta))

    def _full(self, path: str) -> str:
        inner = normal_path(path)
        return join(self._path, inner) if inner else self._path

    def _children(self) -> list[tuple[str, Meta, bool]]:
        return children(self._context, self._path, self._meta.format)

    def _node(self, path: str, meta: Meta, *, copied: bool) -> Array | Group:
        if isinstance(meta, ArrayMeta):
            return Array(self._context, path, meta, unchecked=copied)
        return Group(self._context, path, meta)

    def _attributes(self) -> Mapping[str, JSON]:
        return self._meta.attributes

    def _change_attributes(self, values: Mapping[str, JSON], removed: Iterable[str], *, replace: bool) -> None:
        self._context.check_writable(self._path)
        self.refresh()
        attributes = {} if replace else dict(self._meta.attributes)
        attributes.update(values)
        for name in removed:
            attributes.pop(name, None)
        meta = self._meta._replace(attributes=attributes)
        save.replace(self._context, self._path, self._meta, meta)
        self._meta = meta


def new_array(
    context: Context, path: str, dialect: str, options: ArrayOptions, *, overwrite: bool, parent: str | None = None
) -> Array:
    """Create an array at a path in a store, and fill it with `data` where given."""
    meta = array_meta(options, dialect, context.limits)
    save.create(context, path, meta, overwrite=overwrite, parent=parent)
    array = Array(context, path, meta)
    data = options.get("data")
    if data is not None:
        array[...] = data
    return array


def _reopened(store: Store, path: str, dialect: str, *options: Any) -> Group:  # noqa: ANN401 - see __reduce__
    read_only, limits, write_empty, cache_bytes = options
    context = Context(store, read_only=read_only, limits=limits, write_empty=write_empty, cache_bytes=cache_bytes)
    meta = load(store, path, limits, dialect)
    if not isinstance(meta, GroupMeta):
        raise NotFoundError("the group is gone", path=path)
    return Group(context, path, meta)
