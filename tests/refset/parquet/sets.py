"""Sets made for the tests of parquet, and what others read out of a set."""

from __future__ import annotations

import json
import random
from math import prod
from pathlib import Path

import fsspec
import numpy as np
import pytest
from fsspec.implementations.reference import LazyReferenceMapper

from omnizarr.refset.model import INLINE, MISSING, WHOLE, Chunks, References

FASTPARQUET = pytest.mark.filterwarnings("ignore:The 'fastparquet' engine is deprecated")
"""Pandas has turned from it, fsspec has not."""

GROUP = b'{"zarr_format":2}'


def zarray(shape, chunks, *, dtype="|u1", separator="."):
    document = {"zarr_format": 2, "shape": list(shape), "chunks": list(chunks), "dtype": dtype, "order": "C"}
    document |= {"fill_value": 0, "compressor": None, "filters": None}
    return json.dumps(document | ({} if separator == "." else {"dimension_separator": separator})).encode()


def source(folder, seed=0, size=4000):
    """Make a file of bytes that are all different from their neighbours."""
    path = Path(folder) / f"source{seed}.bin"
    path.write_bytes(np.random.default_rng(seed).bytes(size))
    return str(path)


def random_set(seed, folder, *, missing=True, whole=True):
    """Make a set of a few arrays with every sort of reference; none of them is empty."""
    rng = random.Random(seed)
    urls = [source(folder, i) for i in range(rng.randint(1, 3))]
    references = References({".zgroup": GROUP}, urls=urls)
    for path in rng.sample(["a", "b", "deep/er", "x y"], rng.randint(1, 3)):
        shape = [rng.randint(1, 6) for _ in range(rng.randint(0, 3))]
        chunks = [rng.randint(1, 3) for _ in shape]
        references.documents[f"{path}/.zarray"] = zarray(shape, chunks)
        references.documents[f"{path}/.zattrs"] = b'{"_ARRAY_DIMENSIONS":[]}'
        counts = tuple(-(-n // c) for n, c in zip(shape, chunks, strict=True))
        references.arrays[path] = random_chunks(rng, counts, len(urls), missing=missing, whole=whole)
    return references


def random_chunks(rng, counts, urls, *, missing=True, whole=True):
    inline, rows = b"", []
    sorts = ["range", "range", "range", "inline", *["missing"] * missing, *["whole"] * whole]
    for _ in range(prod(counts)):
        match rng.choice(sorts):
            case "range":
                rows.append((rng.randrange(urls), rng.randrange(2000), rng.randint(1, 2000)))
            case "whole":
                rows.append((rng.randrange(urls), 0, WHOLE))
            case "inline":
                data = rng.choice([b"", b"abc", bytes(range(256)), b"base64:no such thing", b"base64:AAAA", b'"{}"'])
                rows.append((INLINE, len(inline), len(data)))
                inline += data
            case _:
                rows.append((MISSING, 0, 0))
    columns = zip(*rows, strict=True) if rows else ([], [], [])
    urls_, offsets, lengths = (np.array(column, kind) for column, kind in zip(columns, ("u4", "u8", "u8"), strict=True))
    return Chunks(counts, urls_, offsets, lengths, None, inline)


def bytes_of(references):
    """Read every chunk of a set in the plainest way, by key."""
    found = {}
    for path, chunks in references.arrays.items():
        numbers = range(len(chunks)) if chunks.numbers is None else chunks.numbers.tolist()
        for row, number in enumerate(numbers):
            index = np.unravel_index(number, chunks.counts) if chunks.counts else (0,)
            url, offset, length = (int(c[row]) for c in (chunks.urls, chunks.offsets, chunks.lengths))
            if url == MISSING:
                continue
            if url == INLINE:
                data = chunks.inline[offset : offset + length]
            else:
                data = Path(references.urls[url]).read_bytes()
                data = data if length == WHOLE else data[offset : offset + length]
            found[f"{path}/{'.'.join(map(str, index))}"] = data
    return found


def read_by_fsspec(folder, keys, engine="fastparquet"):
    """Read keys through fsspec's file system of references; missing ones are left out."""
    mapper = LazyReferenceMapper(str(folder), fsspec.filesystem("file"), engine=engine)
    system = fsspec.filesystem("reference", fo=mapper, remote_protocol="file", skip_instance_cache=True)
    found = {}
    for key in keys:
        try:
            found[key] = system.cat_file(key)
        except (KeyError, FileNotFoundError):
            continue
    return found


def tree(folder):
    """List the files of a folder."""
    return sorted(path.relative_to(folder).as_posix() for path in Path(folder).rglob("*") if path.is_file())
