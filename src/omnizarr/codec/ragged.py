"""Fixed-width text stored as variable-length items, as zarr-python 3.0 did in version 2 documents.

The document says `|S3` or `<U3` and lists the filter `vlen-bytes` or `vlen-utf8`: items are stored by length, and the
type only tells the width to return them in.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from math import prod
from struct import Struct
from typing import Any

import numpy as np

from omnizarr.codec.stage import Stage
from omnizarr.codec.steps import Lowered
from omnizarr.errors import CorruptError

_LENGTH = Struct("<I")


class RaggedText:
    """The step between fixed-width items in memory and items by length on disk."""

    __slots__ = ("_dtype", "_name")

    def __init__(self, name: str, dtype: np.dtype[np.generic]) -> None:
        self._name = name
        self._dtype = dtype

    def encode(self, data: bytes | memoryview, shape: tuple[int, ...]) -> bytes:
        """Encode the dense bytes of one chunk."""
        del shape  # the order of items is all
        items: list[Any] = np.frombuffer(data, self._dtype).tolist()
        parts = [_LENGTH.pack(len(items))]
        for item in items:
            raw = item.encode() if isinstance(item, str) else item
            parts += (_LENGTH.pack(len(raw)), raw)
        return b"".join(parts)

    def decode(self, data: bytes | memoryview, size: int | None, shape: tuple[int, ...]) -> bytes:
        """Decode the items of one chunk to `size` dense bytes."""
        raw = bytes(data)
        expected = prod(shape)
        del size  # the kernel checks it
        items = list(islice(self._items(raw), expected))
        if len(items) != expected:
            raise CorruptError(f"{len(items)} items where {expected} were expected", codec=self._name)
        if self._dtype.kind == "U":
            return np.array([item.decode() for item in items], self._dtype).tobytes()
        return np.array(items, self._dtype).tobytes()

    def _items(self, raw: bytes) -> Iterator[bytes]:
        at = 4
        while at < len(raw):
            if at + 4 > len(raw):
                raise CorruptError("an item is cut off", codec=self._name)
            end = at + 4 + _LENGTH.unpack_from(raw, at)[0]
            if end > len(raw):
                raise CorruptError("an item is cut off", codec=self._name)
            yield raw[at + 4 : end]
            at = end


def lower_ragged(name: str, stage: Stage) -> Lowered:
    """Return the step for a vlen codec on a type of fixed width."""
    codec = RaggedText(name, stage.dtype)
    sizes = {"encoded_size": None, "decoded_size": stage.size}
    step = {"codec": codec, "name": name, "kind": "array-bytes", **sizes}
    return Lowered({}, ("python", step), stage.to_bytes(None, typed=False))
