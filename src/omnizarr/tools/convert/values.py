"""What a conversion is asked for, and what it did."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, Literal, NamedTuple, TypeAlias

from omnizarr.array.defaults import Extents
from omnizarr.errors import UnsupportedError
from omnizarr.format.dialects import WRITABLE
from omnizarr.model.array import ArrayMeta
from omnizarr.model.group import GroupMeta

How: TypeAlias = Literal["keep", "documents", "rename", "copy", "recode", "rechunk"]
"""What is done to a node: nothing; its documents are written anew and chunks stay where they are; chunks get other
names; chunks are copied as they are; they are decoded and encoded otherwise; they are cut otherwise, too."""

Lengths: TypeAlias = Extents | Mapping[str, int] | Literal["auto"] | bool
"""The shape of chunks or shards: as for `create_array`, or lengths by the names of dimensions."""

ALIASES: Final = {f"v{number}": f"zarr{number}" for number in range(4)}
"""Short names of formats."""


class _Kept:
    """Stands for codecs that stay as they are, as far as the format has them."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "<kept>"


KEPT: Final = _Kept()


class Wish(NamedTuple):
    """What the arrays of the target shall be like."""

    format: str
    chunks: Lengths | None = None
    """`None` keeps them."""

    shards: Lengths | None = None
    """`None` keeps them where the format has any; `False` is for none."""

    codecs: object = KEPT
    lossy: bool = False


class Refusal(NamedTuple):
    """Something that the target cannot carry."""

    path: str
    """The node's path below the one that is converted."""

    reason: str
    hint: str = ""
    """What can be done about it."""


class Step(NamedTuple):
    """What is to be done with one node."""

    path: str
    """Below the node that is converted; empty for that itself."""

    how: How
    source: ArrayMeta | GroupMeta
    target: ArrayMeta | GroupMeta
    """As whoever reads the new documents sees it."""

    texts: Mapping[str, bytes]
    """The new documents by name, those that make it a node last."""

    notes: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    consolidated: bool = False
    """Whether it is a group that holds a copy of all documents below it."""

    @property
    def is_array(self) -> bool:
        """Whether it is an array."""
        return isinstance(self.target, ArrayMeta)

    @property
    def moves(self) -> bool:
        """Whether chunks are written."""
        return self.how not in ("keep", "documents")


class Plan(NamedTuple):
    """What is to be done with all nodes, parents first."""

    steps: tuple[Step, ...]
    refused: tuple[Refusal, ...]


class Node(NamedTuple):
    """What a conversion does, or did, to one node."""

    path: str
    kind: Literal["array", "group"]
    how: How
    notes: tuple[str, ...]
    """What else changes, in words."""

    dropped: tuple[str, ...]
    """What the target cannot carry and was allowed to be left out."""


class Conversion(NamedTuple):
    """What a conversion does, or did."""

    source: str
    target: str
    in_place: bool
    format_before: str
    format: str
    nodes: tuple[Node, ...]
    refused: tuple[Refusal, ...]
    """What the target cannot carry; only a dry run returns with any."""

    written: bool
    verified: bool
    resumed: bool
    """Whether it went on from where an earlier run had ended."""

    nbytes: int
    """Bytes of values, or of stored chunks where these were copied as they are, that were moved."""


def format_named(name: str) -> str:
    """Return the name of a format that can be written, from that or a short form of it.

    Raises:
        UnsupportedError: There is none of the name.

    >>> format_named("v3"), format_named("zarr2")
    ('zarr3', 'zarr2')
    """
    full = ALIASES.get(name, name)
    if full in WRITABLE:
        return full
    known = ", ".join((*ALIASES, *WRITABLE))
    raise UnsupportedError(f"nothing can be converted to the format {name!r}", hint=f"Formats are {known}.")


def summary(steps: Sequence[Step]) -> tuple[Node, ...]:
    """Return what users see of a plan."""
    return tuple(Node(one.path, "array" if one.is_array else "group", one.how, one.notes, one.dropped) for one in steps)
