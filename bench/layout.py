"""What an array of the race looks like on disk, said once and rendered for v2 and v3."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

Codec = Literal["none", "blosc", "zstd", "gzip", "zlib"]
Document = dict[str, Any]

_V3_COMPRESSOR: dict[str, list[Document]] = {
    "none": [],
    "blosc": [
        {
            "name": "blosc",
            "configuration": {"cname": "lz4", "clevel": 5, "shuffle": "shuffle", "typesize": 4, "blocksize": 0},
        }
    ],
    "zstd": [{"name": "zstd", "configuration": {"level": 3, "checksum": False}}],
    "gzip": [{"name": "gzip", "configuration": {"level": 5}}],
}

V2_COMPRESSOR: dict[str, Document | None] = {
    "none": None,
    "blosc": {"id": "blosc", "cname": "lz4", "clevel": 5, "shuffle": 1, "blocksize": 0},
    "zstd": {"id": "zstd", "level": 3},
    "gzip": {"id": "gzip", "level": 5},
    "zlib": {"id": "zlib", "level": 5},
}


@dataclass(frozen=True, slots=True)
class Layout:
    """Shape, chunks, codec and dialect of one float32 array."""

    shape: tuple[int, ...]
    chunks: tuple[int, ...]
    codec: Codec = "blosc"
    version: Literal[2, 3] = 3
    shards: tuple[int, ...] | None = None
    order: Literal["C", "F"] = "C"
    endian: Literal["little", "big"] = "little"

    @property
    def name(self) -> str:
        """A file name that no other layout has."""
        parts = [f"v{self.version}", self.codec, "x".join(map(str, self.chunks))]
        if self.shards:
            parts.append("in" + "x".join(map(str, self.shards)))
        return "-".join([*parts, self.order, self.endian, "x".join(map(str, self.shape))])

    @property
    def dtype(self) -> np.dtype[np.float32]:
        """The type as v2 writes it down; v3 keeps byte order in a codec."""
        return np.dtype(">f4" if self.endian == "big" else "<f4")

    @property
    def grid(self) -> tuple[int, ...]:
        """Shape of what one key holds."""
        return self.shards or self.chunks

    def inner_codecs(self) -> list[Document]:
        """The v3 chain of one chunk, sharding left out."""
        chain: list[Document] = []
        if self.order == "F":
            axes = list(range(len(self.shape)))[::-1]
            chain.append({"name": "transpose", "configuration": {"order": axes}})
        chain.append({"name": "bytes", "configuration": {"endian": self.endian}})
        return chain + _V3_COMPRESSOR[self.codec]

    def v3_document(self) -> Document:
        """The `zarr.json` of this array."""
        codecs = self.inner_codecs()
        if self.shards:
            index_codecs = [{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "crc32c"}]
            sharding = {
                "chunk_shape": list(self.chunks),
                "codecs": codecs,
                "index_codecs": index_codecs,
                "index_location": "end",
            }
            codecs = [{"name": "sharding_indexed", "configuration": sharding}]
        return {
            "zarr_format": 3,
            "node_type": "array",
            "shape": list(self.shape),
            "data_type": "float32",
            "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": list(self.grid)}},
            "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
            "fill_value": 0.0,
            "codecs": codecs,
            "attributes": {},
        }

    def v2_document(self) -> Document:
        """The `.zarray` of this array."""
        return {
            "zarr_format": 2,
            "shape": list(self.shape),
            "chunks": list(self.chunks),
            "dtype": self.dtype.str,
            "compressor": V2_COMPRESSOR[self.codec],
            "fill_value": 0.0,
            "order": self.order,
            "filters": None,
        }


def small_array(version: Literal[2, 3]) -> Layout:
    """One of the many little arrays of the metadata cells."""
    return Layout(shape=(10,), chunks=(10,), codec="none", version=version)
