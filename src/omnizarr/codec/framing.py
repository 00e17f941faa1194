"""Items of variable length as the kernel hands them to codecs in Python: a count, then for each its length and bytes.

All numbers are of 32 bits, little-endian; the same form is stored by `vlen-utf8`, `vlen-bytes` and `vlen-array`.
"""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct, error

from omnizarr.errors import CorruptError

_LENGTH = Struct("<I")


def join(items: Sequence[bytes]) -> bytes:
    """Frame items."""
    parts = [_LENGTH.pack(len(items))]
    for item in items:
        parts += (_LENGTH.pack(len(item)), item)
    return b"".join(parts)


def split(data: bytes | memoryview, count: int, name: str) -> list[bytes]:
    """Take items out of their frame.

    Args:
        data: The frame.
        count: How many there must be.
        name: The codec, for messages.

    Raises:
        CorruptError: There are more or fewer, or one is cut off.
    """
    raw = bytes(data)
    items: list[bytes] = []
    try:
        (found,) = _LENGTH.unpack_from(raw)
        at = 4
        for _ in range(count if found == count else 0):
            (length,) = _LENGTH.unpack_from(raw, at)
            items.append(raw[at + 4 : at + 4 + length])
            at += 4 + length
    except error:
        raise CorruptError("an item is cut off", codec=name) from None
    if found != count:
        raise CorruptError(f"{found} items where {count} were expected", codec=name)
    if at != len(raw):
        raise CorruptError(f"the items end at {at}, the chunk at {len(raw)}", codec=name)
    return items
