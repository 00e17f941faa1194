"""What an array is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

from omnizarr.model.codec import Codec, canonical, sharding_of, transpose_order
from omnizarr.model.dtype import DType
from omnizarr.model.fill import Fill
from omnizarr.model.grid import Grid, Lengths, RegularGrid, may_grow_into
from omnizarr.model.jsonvalue import JSON
from omnizarr.model.keys import Keys


class ArrayMeta(NamedTuple):
    """An array: everything that its documents say, in one form for every dialect."""

    shape: tuple[int, ...]
    dtype: DType
    grid: Grid
    keys: Keys
    fill: Fill
    codecs: tuple[Codec, ...]
    dims: tuple[str | None, ...] | None = None
    attributes: Mapping[str, JSON] = {}
    format: str = "zarr3"
    extra: Mapping[str, JSON] = {}
    """Fields that Omnizarr does not interpret but keeps through a rewrite."""

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    @property
    def is_sharded(self) -> bool:
        """Whether what is stored under one key holds chunks that can be read one by one."""
        return sharding_of(self.codecs) is not None

    @property
    def shards(self) -> tuple[Lengths, ...] | None:
        """The shape of a shard, if the array is sharded: that which is stored under one key.

        A dimension along which shards differ has the length of each of them.
        """
        return self.grid.lengths(self.shape) if self.is_sharded else None

    @property
    def chunks(self) -> tuple[Lengths, ...]:
        """The shape of what is decoded at once: of a chunk in a shard, or of a chunk of the grid.

        A dimension along which chunks differ has the length of each of them.
        """
        return self.cells.lengths(self.shape)

    @property
    def cells(self) -> Grid:
        """The grid of what is decoded at once: of the chunks in shards, or the array's own."""
        codec = sharding_of(self.codecs)
        if codec is None:
            return self.grid
        inner: tuple[int, ...] = tuple(codec.configuration["chunk_shape"])  # type: ignore[arg-type]  # parsers check it
        # A shard's chunks are measured after the transposes before it, so these are undone from the last to the first.
        for step in reversed(self.codecs[:-1]):
            order = transpose_order(step)
            inner = tuple(inner[order.index(axis)] for axis in range(len(order)))
        return RegularGrid(inner)

    @property
    def order(self) -> Literal["C", "F"]:
        """Whether chunks are stored with the first dimension varying fastest ("F") or in any other way ("C")."""
        if self.ndim < 2 or not self.codecs or canonical(self.codecs[0].name) != "transpose":
            return "C"
        return "F" if transpose_order(self.codecs[0]) == tuple(reversed(range(self.ndim))) else "C"


def with_order(meta: ArrayMeta, order: Literal["C", "F"] | None) -> ArrayMeta:
    """Return an array as if its elements lay in its chunks in another order than the document says, if one is given.

    >>> from omnizarr.model.fill import Fill
    >>> from omnizarr.model.grid import RegularGrid
    >>> from omnizarr.model.keys import v2_keys
    >>> a = ArrayMeta((2, 3), DType.of("i4"), RegularGrid((2, 3)), v2_keys(), Fill(None), (Codec("bytes"),))
    >>> with_order(a, "F").order, with_order(with_order(a, "F"), "C").order
    ('F', 'C')
    """
    if order is None or meta.ndim < 2 or meta.order == order:
        return meta
    if order == "C":
        return meta._replace(codecs=meta.codecs[1:])
    turn = Codec("transpose", {"order": list(reversed(range(meta.ndim)))})
    return meta._replace(codecs=(turn, *meta.codecs))


def have_same_chunks(one: ArrayMeta, other: ArrayMeta) -> bool:
    """Whether chunks of one array can be those of another, whatever the shapes are."""
    if (one.dtype, one.fill, one.codecs, one.keys) != (other.dtype, other.fill, other.codecs, other.keys):
        return False
    ours, theirs = one.grid, other.grid
    return one.ndim == other.ndim and type(ours) is type(theirs) and all(map(may_grow_into, ours.edges, theirs.edges))
