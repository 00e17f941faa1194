"""A dataset as netCDF sees it: groups of dimensions, types, variables and attributes; no data, no store.

The nodes are plain records that whoever builds or changes a dataset fills in; `omnizarr.nc.source` gives them data.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

from omnizarr.nc.types import CHAR, STRING, Type, User, default_fill

Endian: TypeAlias = Literal["native", "little", "big"]


class Attr(NamedTuple):
    """A typed attribute.

    `value` is a `bytes` for text (char), of which no byte is lost, and for every other type a one-dimensional array of
    what `omnizarr.nc.types` says.
    """

    name: str
    type: Type
    value: Any
    shape: tuple[int, ...] = ()
    """Where a file has it with several dimensions, which netCDF knows nothing of: their lengths."""

    @classmethod
    def of_text(cls, name: str, text: str | bytes) -> Attr:
        """Return an attribute of characters."""
        return cls(name, CHAR, text.encode("utf-8", "surrogateescape") if isinstance(text, str) else text)

    @classmethod
    def of_values(cls, name: str, kind: Type, values: object) -> Attr:
        """Return an attribute of numbers, strings or anything but characters."""
        if kind == STRING:
            given = [values] if isinstance(values, str) or values is None else list(values)  # type: ignore[call-overload]
            array = np.empty(len(given), object)
            array[:] = given
            return cls(name, kind, array)
        return cls(name, kind, np.atleast_1d(np.asarray(values, kind.numpy)))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Attr) or self.name != other.name or self.type != other.type:
            return NotImplemented if not isinstance(other, Attr) else False
        return same_values(self.value, other.value)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash((self.name, self.type))


class Filter(NamedTuple):
    """A filter of HDF5's registry: its number and its parameters."""

    id: int
    parameters: tuple[int, ...] = ()


@dataclass(slots=True)
class Storage:
    """How a variable is laid out, beyond what its values are.

    Attributes:
        kind: Contiguous and compact are asked for by users and found in files; on Zarr both mean one chunk.
        chunks: Lengths of a chunk, or `None` to let the writer choose.
        filters: In the order of writing, without shuffle, fletcher32 and deflate, which have fields of their own.
        codecs: What stands for all filters in Zarr: the JSON text of `_Codecs`; empty if unknown.
        no_fill: Whether unwritten elements are left undefined.
        quantize: The attribute's name (`_QuantizeBitGroomNumberOfSignificantDigits`, …) and the number, or `None`.
    """

    kind: Literal["chunked", "contiguous", "compact"] = "chunked"
    chunks: tuple[int, ...] | None = None
    endian: Endian = "native"
    shuffle: bool = False
    deflate: int = 0
    fletcher32: bool = False
    filters: tuple[Filter, ...] = ()
    codecs: str = ""
    no_fill: bool = False
    quantize: tuple[str, int] | None = None


@dataclass(slots=True, eq=False)
class Dim:
    """A dimension: a name and a current length, shared by all variables that refer to it."""

    name: str
    size: int
    unlimited: bool = False
    group: Group | None = field(default=None, repr=False)

    @property
    def path(self) -> str:
        """The full name, as `/forecast/time`."""
        return join_path(self.group.path if self.group else "/", self.name)


@dataclass(slots=True, eq=False)
class Var:
    """A variable: a type, dimensions and attributes. Its values are asked of the source that holds the tree."""

    name: str
    type: Type
    dims: tuple[Dim, ...] = ()
    attrs: dict[str, Attr] = field(default_factory=dict[str, Attr])
    storage: Storage = field(default_factory=Storage)
    group: Group | None = field(default=None, repr=False)
    handle: Any = field(default=None, repr=False)
    """What the source that made the tree needs to find the values; nobody else looks at it."""

    @property
    def path(self) -> str:
        """The full name, as `/forecast/wind`."""
        return join_path(self.group.path if self.group else "/", self.name)

    @property
    def shape(self) -> tuple[int, ...]:
        """The current length of each dimension."""
        return tuple(dim.size for dim in self.dims)

    @property
    def fill(self) -> Any:  # noqa: ANN401 - a scalar of the variable's type
        """What elements hold that were never written: `_FillValue`, or what the type has by default."""
        attr = self.attrs.get("_FillValue")
        if attr is None or not len(attr.value):
            return default_fill(self.type)
        return attr.value[:1] if self.type == CHAR else attr.value[0]


@dataclass(slots=True, eq=False)
class Group:
    """A group; the root has the name "/" and no parent. All mappings keep the order of definition."""

    name: str = "/"
    parent: Group | None = field(default=None, repr=False)
    dims: dict[str, Dim] = field(default_factory=dict[str, Dim])
    types: dict[str, User] = field(default_factory=dict[str, User])
    vars: dict[str, Var] = field(default_factory=dict[str, Var])
    groups: dict[str, Group] = field(default_factory=dict)
    attrs: dict[str, Attr] = field(default_factory=dict[str, Attr])
    handle: Any = field(default=None, repr=False)

    @property
    def path(self) -> str:
        """The full name: "/" for the root, else as `/forecast/surface`."""
        return "/" if self.parent is None else join_path(self.parent.path, self.name)

    def above(self) -> Iterator[Group]:
        """Go from this group up to the root."""
        here: Group | None = self
        while here is not None:
            yield here
            here = here.parent

    def walk(self) -> Iterator[Group]:
        """Go through this group and all below it, each before those in it."""
        yield self
        for group in self.groups.values():
            yield from group.walk()

    def all_vars(self) -> Iterator[Var]:
        """Go through the variables of this group and of all below it."""
        for group in self.walk():
            yield from group.vars.values()

    def find_dim(self, name: str) -> Dim | None:
        """Return the dimension that a name means here: one of this group or of the nearest above; or by full path."""
        if name.startswith("/"):
            home, _, last = name.rpartition("/")
            group = self.find_group(home or "/")
            return group.dims.get(last) if group else None
        return next((group.dims[name] for group in self.above() if name in group.dims), None)

    def find_type(self, name: str) -> User | None:
        """Return the user type that a name means here, as for dimensions; then one of any group, as ncgen does."""
        if name.startswith("/"):
            home, _, last = name.rpartition("/")
            group = self.find_group(home or "/")
            return group.types.get(last) if group else None
        found = next((group.types[name] for group in self.above() if name in group.types), None)
        if found is not None:
            return found
        return next((group.types[name] for group in self.root.walk() if name in group.types), None)

    def find_group(self, path: str) -> Group | None:
        """Return the group at a path, from the root on if it starts with "/", else from here on."""
        here = self.root if path.startswith("/") else self
        for name in filter(None, path.split("/")):
            if name not in here.groups:
                return None
            here = here.groups[name]
        return here

    @property
    def root(self) -> Group:
        """The group without a parent."""
        here = self
        while here.parent is not None:
            here = here.parent
        return here

    def add_dim(self, name: str, size: int, *, unlimited: bool = False) -> Dim:
        """Add a dimension."""
        self.dims[name] = dim = Dim(name, size, unlimited, self)
        return dim

    def add_var(self, name: str, kind: Type, dims: tuple[Dim, ...] = (), storage: Storage | None = None) -> Var:
        """Add a variable."""
        self.vars[name] = var = Var(name, kind, dims, {}, storage or Storage(), self)
        return var

    def add_group(self, name: str) -> Group:
        """Add a group."""
        self.groups[name] = group = Group(name, self)
        return group

    def add_type(self, kind: User) -> User:
        """Add a user type; its `home` becomes this group."""
        self.types[kind.name] = kind = kind._replace(home=self.path)
        return kind


def join_path(home: str, name: str) -> str:
    """Return the full name of something in a group.

    >>> join_path("/", "x"), join_path("/g", "x")
    ('/x', '/g/x')
    """
    return f"{home.rstrip('/')}/{name}"


def same_values(one: Any, other: Any) -> bool:  # noqa: ANN401 - arrays of anything
    """Whether two values are the same to the bit where they are numbers (NaN equals itself), else equal."""
    if isinstance(one, bytes) or isinstance(other, bytes):
        return bool(one == other)
    one, other = np.asarray(one), np.asarray(other)
    if one.shape != other.shape or one.dtype != other.dtype:
        return False
    if one.dtype.names is not None:
        return all(same_values(one[name], other[name]) for name in one.dtype.names)
    if one.dtype.kind == "O":
        return all(_same_object(a, b) for a, b in zip(one.flat, other.flat, strict=True))
    if one.dtype.kind in "fc":
        return bool(np.array_equal(one, other, equal_nan=True))
    return bool(one.tobytes() == other.tobytes())


def _same_object(one: object, other: object) -> bool:
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return same_values(one, other)
    return bool(one == other)
