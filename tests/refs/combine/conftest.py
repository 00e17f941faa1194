"""Sets of arrays that tests make: chunks in the set itself, or in a raw file, with or without compression."""

from __future__ import annotations

import itertools
import json
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pytest

import omnizarr as oz
from omnizarr.refset.model import Chunks, References, Stamp
from omnizarr.refset.store import store_of


class Var(NamedTuple):
    """A variable of a file."""

    dims: tuple[str, ...]
    values: npt.NDArray[Any]
    chunks: tuple[int, ...] | None = None
    attributes: Mapping[str, Any] = {}
    level: int | None = None
    fill: Any = None


def chunk_bytes(var: Var) -> tuple[tuple[int, ...], dict[int, bytes]]:
    """Cut an array as HDF5 does: the last chunks are stored whole, with anything behind the end."""
    chunks = var.chunks or tuple(max(1, n) for n in var.values.shape)
    counts = tuple(-(-n // c) for n, c in zip(var.values.shape, chunks, strict=True))
    found = {}
    for number, index in enumerate(itertools.product(*map(range, counts))):
        block = np.frombuffer(b"\xa5" * (int(np.prod(chunks)) * var.values.itemsize), var.values.dtype).reshape(chunks)
        block = block.copy()
        part = var.values[tuple(slice(i * c, (i + 1) * c) for i, c in zip(index, chunks, strict=True))]
        block[tuple(slice(n) for n in part.shape)] = part
        found[number] = block.tobytes() if var.level is None else zlib.compress(block.tobytes(), var.level)
    return counts, found


def make(folder: Path | None, name: str, variables: Mapping[str, Var], **attributes: Any) -> tuple[str, References]:
    """Make a set; with a folder, its chunks are in a file there."""
    made = References({".zgroup": b'{"zarr_format": 2}', ".zattrs": json.dumps(attributes).encode()})
    data = bytearray(b"head")
    where = name if folder is None else str(folder / name)
    for path, var in variables.items():
        compressor = None if var.level is None else {"id": "zlib", "level": var.level}
        document = {
            "zarr_format": 2,
            "shape": var.values.shape,
            "chunks": var.chunks or [max(1, n) for n in var.values.shape],
            "dtype": var.values.dtype.str,
            "order": "C",
            "fill_value": var.fill,
            "compressor": compressor,
            "filters": None,
        }
        made.documents[f"{path}/.zarray"] = json.dumps(document).encode()
        made.documents[f"{path}/.zattrs"] = json.dumps({"_ARRAY_DIMENSIONS": var.dims, **var.attributes}).encode()
        counts, found = chunk_bytes(var)
        if folder is None:
            made.arrays[path] = Chunks.of_bytes(counts, found)
            continue
        starts, lengths = [], []
        for number in sorted(found):
            starts.append(len(data))
            lengths.append(len(found[number]))
            data += found[number]
        made.arrays[path] = Chunks.ranges(counts, 0, starts, lengths)
    if folder is not None:
        Path(where).write_bytes(data)
        made.urls, made.stamps = [where], {where: Stamp(len(data))}
    return where, made


def opened(references: References) -> Any:
    """Open a set."""
    return oz.open(store_of(references, uri="example", allow=["*"]))


@pytest.fixture
def kit() -> Any:
    """What tests of this folder share."""

    class Kit:
        Var = Var
        make = staticmethod(make)
        opened = staticmethod(opened)

    return Kit
