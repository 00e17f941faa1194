"""Opening a set, and reading ten chunks of it."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any, Final

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


def _fsspec(name: str) -> Any:
    import fsspec
    import zarr

    fs = fsspec.filesystem("reference", fo=str(PLACE / name), remote_protocol="file", asynchronous=True)
    store = zarr.storage.FsspecStore(fs, read_only=True)
    return zarr.open_group(store, mode="r", zarr_format=2, use_consolidated=False)["a"]


def _omnizarr(name: str) -> Any:
    import omnizarr as oz

    return oz.open(PLACE / name, allow=["*"])["a"]


_OPEN: Final[dict[str, Callable[[str], Any]]] = {"fsspec": _fsspec, "omnizarr": _omnizarr}


OPENERS: Final = tuple(_OPEN)


def opens(name: str, n: int, who: str) -> Callable[[], Figures]:
    """A set is opened, and chunks of it are read; a small one of the same form comes first, before the clock starts.

    So everybody has imported what it needs, and has started its threads.
    """

    def work() -> Figures:
        warm = _OPEN[who](f"small.{name.rpartition('.')[2]}")
        for i in range(10):
            assert warm[i * CHUNK : (i + 1) * CHUNK].nbytes == 4 * CHUNK
        stages = Stages()
        array = _OPEN[who](name)
        stages.lap("open")
        return _read_ten(array, n, stages)

    return work


def _by_formula(count: int) -> dict[str, Any]:
    gen = {
        "key": "a/{{i}}",
        "url": "{{u}}/blobs/blob.bin",
        "offset": "{{(i * 4096) % 60000000}}",
        "length": "1024",
        "dimensions": {"i": {"stop": count}},
    }
    return {"version": 1, "templates": {"u": str(PLACE)}, "gen": [gen], "refs": data.documents(count)}


def formulas() -> Figures:
    """A thousand million references that are one formula; before the clock starts, a thousand."""
    import omnizarr as oz

    small: Any = oz.open(_by_formula(data.SMALL), allow=["*"])
    assert small["a"][-CHUNK:].nbytes == 4 * CHUNK
    count = 1_000_000_000
    references = _by_formula(count)
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
