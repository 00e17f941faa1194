"""What lies on the server: arrays of float32 in Blosc, written once, and the same in icechunk's own form."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import numpy as np

from bench.cloud.server import Server

BUCKET: Final = "bench"
BLOSC: Final = {"cname": "lz4", "clevel": 5, "shuffle": "shuffle", "typesize": 4, "blocksize": 0}
DISTINCT: Final = 16
"""Chunks that differ from each other; their number is how often each is stored."""
ARRAYS: Final = 500


class Grid(NamedTuple):
    """An array that is cut along its first axis."""

    name: str
    planes: int
    edge: int
    """Of a chunk or shard, which is a square."""
    inner: int = 0
    """Edge of the chunks in a shard."""

    @property
    def shape(self) -> tuple[int, int, int]:
        return (self.planes, self.edge, self.edge)

    @property
    def chunk(self) -> tuple[int, int, int]:
        edge = self.inner or self.edge
        return (1, edge, edge)


LARGE: Final = Grid("large", 2_000, 512)
SMALL: Final = Grid("small", 20_000, 128)
SHARDS: Final = Grid("shards", 100, 1024, 64)
GRIDS: Final = {grid.name: grid for grid in (LARGE, SMALL, SHARDS)}


def plane(grid: Grid, i: int) -> Any:
    """Return the values at place i of the first axis: a smooth field with noise, which Blosc halves."""
    rng = np.random.default_rng(i % DISTINCT)
    y, x = np.meshgrid(np.linspace(0, 6, grid.edge), np.linspace(0, 6, grid.edge), indexing="ij")
    field = 280 + 20 * np.sin(y + i % DISTINCT) * np.cos(x) + rng.normal(0, 0.5, (grid.edge, grid.edge))
    return np.round(field.astype("f4") * 64) / np.float32(64)


def whole(grid: Grid) -> Any:
    """Return all values, in one array."""
    values = np.empty(grid.shape, "f4")
    for i in range(DISTINCT):
        values[i::DISTINCT] = plane(grid, i)
    return values


def check(grid: Grid, values: Any) -> None:
    """Compare some planes with what they must be."""
    assert values.shape == grid.shape
    for i in (0, 1, grid.planes // 2, grid.planes - 1):
        np.testing.assert_array_equal(values[i], plane(grid, i))


def document(grid: Grid) -> dict[str, Any]:
    """Return the metadata of an array, as Zarr 3 has it."""
    codecs: list[dict[str, Any]] = [
        {"name": "bytes", "configuration": {"endian": "little"}},
        {"name": "blosc", "configuration": BLOSC},
    ]
    if grid.inner:
        index = [{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "crc32c"}]
        sharding = {"chunk_shape": grid.chunk, "codecs": codecs, "index_codecs": index, "index_location": "end"}
        codecs = [{"name": "sharding_indexed", "configuration": sharding}]
    return {
        "zarr_format": 3,
        "node_type": "array",
        "shape": grid.shape,
        "data_type": "float32",
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": (1, grid.edge, grid.edge)}},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
        "fill_value": 0.0,
        "codecs": codecs,
        "attributes": {},
    }


def _encoded(grid: Grid) -> list[bytes]:
    """Return the distinct chunks as zarr-python writes them."""
    import zarr

    store: dict[str, Any] = {}
    array = zarr.create_array(
        zarr.storage.MemoryStore(store),
        shape=(DISTINCT, grid.edge, grid.edge),
        dtype="f4",
        chunks=grid.chunk,
        shards=(1, grid.edge, grid.edge) if grid.inner else None,
        compressors=zarr.codecs.BloscCodec(**{**BLOSC, "shuffle": "shuffle"}),
        fill_value=0,
    )
    for i in range(DISTINCT):
        array[i] = plane(grid, i)
    return [store[f"c/{i}/0/0"].to_bytes() for i in range(DISTINCT)]


def objects(name: str) -> Iterator[tuple[str, bytes]]:
    """Yield the keys and bytes of an array, or of the group of many arrays."""
    if name == "tree":
        yield "zarr.json", json.dumps({"zarr_format": 3, "node_type": "group", "attributes": {}}).encode()
        for i in range(ARRAYS):
            text = {**document(Grid("", 16, 64)), "attributes": {"number": i, "units": "K"}}
            yield f"a{i:03d}/zarr.json", json.dumps(text).encode()
        return
    grid = GRIDS[name]
    yield "zarr.json", json.dumps(document(grid)).encode()
    chunks = _encoded(grid)
    for i in range(grid.planes):
        yield f"c/{i}/0/0", chunks[i % DISTINCT]


def prepare(server: Server, name: str) -> None:
    """Put what a workload needs."""
    server.delay(0)
    connection = http.client.HTTPConnection(server.url.removeprefix("http://"))
    for key, value in objects(name):
        connection.request("PUT", f"/{BUCKET}/{name}/{key}", value)
        connection.getresponse().read()
    connection.close()


def prepare_icechunk(store: Any, name: str) -> None:
    """Put the same into a store of zarr-python's."""
    from zarr.core.buffer import default_buffer_prototype
    from zarr.core.sync import sync

    make = default_buffer_prototype().buffer.from_bytes

    for key, value in objects(name):
        sync(store.set(key, make(value)))
