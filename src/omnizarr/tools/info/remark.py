"""Something to know about a node; and what numbers alone tell of an array, for which nobody needs NumPy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

_TINY: Final = 16 << 10
_MANY_TINY: Final = 1000
"""A few small chunks cost nothing."""

_HUGE: Final = 256 << 20
_MANY: Final = 100_000


class Remark(NamedTuple):
    """Something to know about a node."""

    id: str
    """A word that does not change: "tiny-chunks", "stale-consolidation" …"""

    message: str


def of_sizes(each: int, count: int, keys: int, *, sharded: bool, vlen: bool = False) -> Iterator[Remark]:
    """Say what is odd about the sizes of an array.

    Args:
        each: Bytes of a chunk in memory, an inner one where sharded.
        count: How many of them there are.
        keys: How many keys the array is spread over.
        sharded: Whether a key holds several chunks.
        vlen: Whether elements have any length, so that bytes say little.
    """
    if each < _TINY and count >= _MANY_TINY and not vlen:
        yield Remark("tiny-chunks", f"{count} chunks of {each} bytes: larger ones would be read much faster")
    if each > _HUGE:
        yield Remark("huge-chunks", f"a chunk takes {each} bytes of memory, and is decoded as a whole")
    if keys > _MANY:
        hint = "larger chunks or shards would make fewer" if sharded else "shards would make fewer"
        yield Remark("many-keys", f"the array is spread over {keys} keys; {hint}")
