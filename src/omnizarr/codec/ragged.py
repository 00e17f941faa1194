"""Fixed-width text stored as variable-length items, as zarr-python 3.0 did in version 2 documents.

The document says `|S3` or `<U3` and lists the filter `vlen-bytes` or `vlen-utf8`: items are stored by length, and the
type only tells the width to return them in.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from omnizarr.codec.framing import join, split
from omnizarr.codec.stage import Stage
from omnizarr.codec.steps import Lowered
from omnizarr.errors import CorruptError


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
        return join([item.encode() if isinstance(item, str) else item for item in items])

    def decode(self, data: bytes | memoryview, size: int | None, shape: tuple[int, ...]) -> bytes:
        """Decode the items of one chunk to `size` dense bytes."""
        del size  # the kernel checks it
        items = split(data, prod(shape), self._name)
        texts: list[Any] = items
        if self._dtype.kind == "U":
            try:
                texts = [item.decode() for item in items]
            except UnicodeDecodeError as error:
                raise CorruptError(f"a stored string is not valid UTF-8: {error}", codec=self._name) from error
        width = self._dtype.itemsize // (4 if self._dtype.kind == "U" else 1)
        if any(len(text) > width for text in texts):
            raise CorruptError(f"an item does not fit into the type {self._dtype.str}", codec=self._name)
        return np.array(texts, self._dtype).tobytes()


def lower_ragged(name: str, stage: Stage) -> Lowered:
    """Return the step for a vlen codec on a type of fixed width."""
    codec = RaggedText(name, stage.dtype)
    sizes = {"encoded_size": None, "decoded_size": stage.size}
    step = {"codec": codec, "name": name, "kind": "array-bytes", **sizes}
    return Lowered({}, ("python", step), stage.to_bytes(None, typed=False))
