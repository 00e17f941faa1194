"""What a target is: something that takes bytes of anyone's making, with good inputs to begin with."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

_KEY, _END = b"\x1e", b"\x1f"


class Target(NamedTuple):
    """A function that takes any bytes; whatever it raises is a finding."""

    name: str
    seeds: Callable[[], list[bytes]]
    run: Callable[[bytes], None]


def packed(store: Mapping[str, bytes]) -> bytes:
    """Make one input of the values of a store."""
    return b"".join(key.encode() + _KEY + value + _END for key, value in sorted(store.items()))


def unpacked(data: bytes) -> dict[str, bytes]:
    """Make a store of an input, whatever that is."""
    entries = (entry.partition(_KEY) for entry in data.split(_END))
    return {key.decode("utf-8", "replace"): value for key, mark, value in entries if mark}


def parts(data: bytes) -> list[tuple[int, int]]:
    """Return where the values of a store are in an input; all of it if it is no store."""
    found, at = [], 0
    for entry in data.split(_END):
        key, mark, _ = entry.partition(_KEY)
        if mark:
            found.append((at + len(key) + 1, at + len(entry)))
        at += len(entry) + 1
    return found or [(0, len(data))]
