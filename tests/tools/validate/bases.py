"""Small sound stores of every dialect, as mappings of keys to bytes."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

import numpy as np

import omnizarr as oz

Tree = dict[str, bytes]


def kept(make: Callable[[], Tree]) -> Callable[[], Tree]:
    """Make a store once, and give a copy of it to whoever asks."""
    made: list[Tree] = []

    @wraps(make)
    def copy() -> Tree:
        if not made:
            made.append(make())
        return dict(made[0])

    return copy


@kept
def v3() -> Tree:
    """A group with attributes, an array of plain bytes, and in a group below a compressed one."""
    tree: Tree = {}
    group = oz.create_group(tree)
    group.attrs["title"] = "x"
    array = group.create_array(
        "a", shape=(4, 6), chunks=(2, 3), dtype="i4", codecs=[oz.codec.bytes_()], dims=("y", "x"), fill_value=0
    )
    array[...] = np.arange(24).reshape(4, 6) + 1
    other = group.create_array("g/b", shape=(5,), chunks=(2,), dtype="f8", codecs=[oz.codec.zstd()], fill_value=1.5)
    other[...] = np.arange(5)
    return tree


@kept
def sharded() -> Tree:
    """An array of four shards of four chunks each, with a checksum on every index."""
    tree: Tree = {}
    array = oz.create_array(
        tree, shape=(8, 8), chunks=(2, 2), shards=(4, 4), dtype="i4", codecs=[oz.codec.bytes_()], fill_value=0
    )
    array[...] = np.arange(64).reshape(8, 8) + 1
    return tree


@kept
def consolidated() -> Tree:
    tree = v3()
    oz.consolidate(tree)
    return tree


@kept
def v2() -> Tree:
    """The same as `v3` in v2, with names of dimensions among attributes."""
    tree: Tree = {}
    group = oz.create_group(tree, format="zarr2")
    group.attrs["title"] = "x"
    array = group.create_array("a", shape=(4, 6), chunks=(2, 3), dtype="<i4", codecs=[oz.codec.zlib()], dims=("y", "x"))
    array[...] = np.arange(24).reshape(4, 6) + 1
    other = group.create_array("g/b", shape=(5,), chunks=(2,), dtype="<f8", codecs=[], fill_value=1.5)
    other[...] = np.arange(5)
    return tree


@kept
def v2_consolidated() -> Tree:
    tree = v2()
    oz.consolidate(tree)
    return tree


@kept
def v1() -> Tree:
    tree: Tree = {}
    array = oz.create_array(tree, shape=(4, 6), chunks=(2, 3), dtype="<i4", format="zarr1", codecs=[oz.codec.zlib()])
    array[...] = np.arange(24).reshape(4, 6)
    array.attrs["title"] = "x"
    return tree


@kept
def v0() -> Tree:
    tree: Tree = {}
    array = oz.create_array(tree, shape=(4, 6), chunks=(2, 3), dtype="<i4", format="zarr0")
    array[...] = np.arange(24).reshape(4, 6) + 1
    return tree


@kept
def n5() -> Tree:
    document = {"dimensions": [3, 2], "blockSize": [3, 2], "dataType": "int16", "compression": {"type": "raw"}}
    block = struct.pack(">HHII", 0, 2, 3, 2) + np.arange(6, dtype=">i2").tobytes()
    return {
        "attributes.json": dump({"n5": "2.0.0"}),
        "a/attributes.json": dump(document),
        "a/0/0": block,
    }


@kept
def draft() -> Tree:
    """As zarr-python 2.18 wrote it."""
    array = {
        "attributes": {},
        "chunk_grid": {"chunk_shape": [2, 3], "separator": "/", "type": "regular"},
        "chunk_memory_layout": "C",
        "data_type": "<i4",
        "extensions": [],
        "fill_value": 0,
        "shape": [4, 6],
    }
    entry = {
        "extensions": [],
        "metadata_encoding": "https://purl.org/zarr/spec/protocol/core/3.0",
        "metadata_key_suffix": ".json",
        "zarr_format": "https://purl.org/zarr/spec/protocol/core/3.0",
    }
    chunk = np.arange(6, dtype="<i4").tobytes()
    return {
        "zarr.json": dump(entry),
        "meta/root.group.json": dump({"attributes": {}}),
        "meta/root/a.array.json": dump(array),
        "data/root/a/c0/0": chunk,
        "data/root/a/c1/1": chunk,
    }


def lay_out(place: Path, tree: Tree) -> Path:
    """Write a store into a folder, and return that."""
    for key, value in tree.items():
        file = place / key
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(value)
    return place


def dump(value: Any) -> bytes:
    return json.dumps(value).encode()


CLEAN: dict[str, Callable[[], Tree]] = {
    one.__name__: one for one in (v3, sharded, consolidated, v2, v2_consolidated, v1, v0, n5, draft)
}
