"""Documents of each dialect for a small array, changed where a test asks for it, and hand-made chunks."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Mapping
from typing import Any

import pytest

Document = Callable[..., bytes]

V0 = {"shape": [4], "chunks": [2], "dtype": "<i4", "fill_value": 0, "cname": "lz4", "clevel": 5, "shuffle": 1}
V1 = {
    "zarr_format": 1,
    "shape": [4],
    "chunks": [2],
    "dtype": "<i4",
    "compression": "none",
    "compression_opts": None,
    "fill_value": 0,
    "order": "C",
}
V2 = {
    "zarr_format": 2,
    "shape": [4],
    "chunks": [2],
    "dtype": "<i4",
    "compressor": None,
    "fill_value": 0,
    "order": "C",
    "filters": None,
}
V3 = {
    "zarr_format": 3,
    "node_type": "array",
    "shape": [4],
    "data_type": "int32",
    "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2]}},
    "chunk_key_encoding": {"name": "default"},
    "fill_value": 0,
    "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
}


def changed(base: Mapping[str, Any]) -> Document:
    """A function that gives a document with other values, or without the fields that are set to `...`."""

    def document(**changes: Any) -> bytes:
        made = {name: value for name, value in {**base, **changes}.items() if value is not ...}
        return json.dumps(made).encode()

    return document


@pytest.fixture
def v0() -> Document:
    return changed(V0)


@pytest.fixture
def v1() -> Document:
    return changed(V1)


@pytest.fixture
def v2() -> Document:
    return changed(V2)


@pytest.fixture
def v3() -> Document:
    """As the others; `chunks` sets the chunk shape of the grid."""

    def document(*, chunks: Any = None, **changes: Any) -> bytes:
        if chunks is not None:
            changes["chunk_grid"] = {"name": "regular", "configuration": {"chunk_shape": chunks}}
        return changed(V3)(**changes)

    return document


@pytest.fixture
def blosc_container() -> Callable[..., bytes]:
    """A Blosc container of one block in one piece, around bytes that are compressed already."""

    def container(payload: bytes, nbytes: int, *, codec: int, typesize: int = 4, flags: int = 0) -> bytes:
        head = struct.pack("<BBBBIII", 2, 1, (codec << 5) | flags, typesize, nbytes, nbytes, 24 + len(payload))
        return head + struct.pack("<Ii", 20, len(payload)) + payload

    return container
