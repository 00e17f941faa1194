"""Opening a set, and reading ten chunks of it."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np

from bench.references import data
from bench.references.data import CHUNK, PLACE
from bench.references.stage import Figures, Stages


def _picked(n: int) -> list[int]:
    choose = random.Random(1)
    return [choose.randrange(n) for _ in range(10)]


def _read_ten(array: Any, n: int, stages: Stages) -> Figures:
    values = [array[i * CHUNK : (i + 1) * CHUNK] for i in _picked(n)]
    stages.lap("read ten")
    figures = stages.done()
    blob = np.memmap(PLACE / "blobs" / "blob.bin", "u1", "r")
    for i, got in zip(_picked(n), values, strict=True):
        at = data.offset(i)
        assert got.tobytes() == blob[at : at + 4 * CHUNK].tobytes()
    return figures


def fsspec_opens(name: str, n: int) -> Callable[[], Figures]:
    """Fsspec's file system of references, under zarr-python."""

    def work() -> Figures:
        import fastparquet  # noqa: F401
        import fsspec
        import fsspec.implementations.reference
        import pandas as pd  # noqa: F401
        import ujson  # noqa: F401
        import zarr

        stages = Stages()
        fs = fsspec.filesystem("reference", fo=str(PLACE / name), remote_protocol="file", asynchronous=True)
        store = zarr.storage.FsspecStore(fs, read_only=True)
        array = zarr.open_group(store, mode="r", zarr_format=2, use_consolidated=False)["a"]
        stages.lap("open")
        return _read_ten(array, n, stages)

    return work


def omnizarr_opens(name: str, n: int) -> Callable[[], Figures]:
    """Omnizarr."""

    def work() -> Figures:
        import omnizarr as oz
        from omnizarr.refset import opening  # noqa: F401 - loaded on first use

        stages = Stages()
        array = oz.open(PLACE / name, allow=["*"])["a"]
        stages.lap("open")
        return _read_ten(array, n, stages)

    return work


def formulas() -> Figures:
    """A thousand million references that are one formula."""
    import omnizarr as oz
    from omnizarr.refset import opening  # noqa: F401 - loaded on first use

    count = 1_000_000_000
    gen = {
        "key": "a/{{i}}",
        "url": "{{u}}/blobs/blob.bin",
        "offset": "{{(i * 4096) % 60000000}}",
        "length": "1024",
        "dimensions": {"i": {"stop": count}},
    }
    references = {"version": 1, "templates": {"u": str(PLACE)}, "gen": [gen], "refs": data.documents(count)}
    stages = Stages()
    group: Any = oz.open(references, allow=["*"])
    array = group["a"]
    stages.lap("open")
    far = array[-CHUNK:]
    stages.lap("read one")
    figures = stages.done()
    at = ((count - 1) * 4096) % 60_000_000
    assert far.tobytes() == np.memmap(PLACE / "blobs" / "blob.bin", "u1", "r")[at : at + 1024].tobytes()
    return figures
