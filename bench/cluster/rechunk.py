"""Planes into columns on 4 workers."""

from __future__ import annotations

import os
import shutil
import signal
import threading
from pathlib import Path
from time import perf_counter
from typing import Any, Self

WORKERS = 4


def make(folder: Path, size: int) -> None:
    """Write the array, unless it is there."""
    import numpy as np

    import omnizarr as oz

    side = 1024 if size >= 512e6 else 256
    shape = (max(8, round(size / 4 / side / side)), side, side)
    # Of v2, which rechunker needs.
    place = folder / f"planes-{shape[0]}-{side}.zarr"
    if (folder / "planes").is_symlink():
        (folder / "planes").unlink()
    (folder / "planes").symlink_to(place.name)
    if place.exists():
        return
    array = oz.create_array(f"{place}.part", shape=shape, dtype="f4", chunks=(1, side, side), format="zarr2")
    base = np.random.default_rng(0).normal(size=(side, side)).astype("f4").round(2)
    for at in range(shape[0]):
        array[at] = base + at
    Path(f"{place}.part").rename(place)


class _Watch:
    """Looks at the memory of all workers as long as it lasts."""

    def __init__(self, client: Any) -> None:
        self._client, self.peak, self._done = client, 0, threading.Event()

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()

    def _look(self) -> None:
        import psutil

        while not self._done.wait(0.2):
            for child in psutil.Process().children(recursive=True):
                try:
                    self.peak = max(self.peak, child.memory_info().rss)
                except psutil.Error:
                    continue


def run(folder: Path, engine: str, memory: int) -> dict[str, object]:
    """Rechunk, and return what it took."""
    from distributed import Client, LocalCluster

    source, target = _places(folder, engine)
    shutil.rmtree(target, ignore_errors=True)
    cluster = LocalCluster(
        n_workers=WORKERS, threads_per_worker=1, memory_limit=memory, dashboard_address=":0", silence_logs=50
    )
    with cluster, Client(cluster) as client, _Watch(client) as watch:
        began = perf_counter()
        extra = _ENGINES[engine](source, target, client, memory)
        seconds = perf_counter() - began
    return {"seconds": round(seconds, 1), "peak MB": round(watch.peak / 1e6), **extra}


def _places(folder: Path, engine: str) -> tuple[str, str]:
    return str((folder / "planes").resolve()), str(folder / f"columns-{engine}.zarr")


def _omnizarr(source: str, target: str, client: Any, _memory: int) -> dict[str, object]:
    import omnizarr as oz

    killed: list[int] = []

    def progress(done: int, total: int | None, _nbytes: int) -> None:
        if not killed and total and done >= total // 2:
            killed.extend(list(client.run(os.getpid).values())[:1])
            os.kill(killed[0], signal.SIGKILL)

    shape = oz.open_array(source).shape
    oz.convert(source, target, chunks=[shape[0], 8, 8], cluster=client, progress=progress)
    return {"workers killed": len(killed)}


def _rechunker(source: str, target: str, _client: Any, memory: int) -> dict[str, object]:
    import zarr
    from rechunker import rechunk

    array = zarr.open_array(source, mode="r")
    scratch = target + ".scratch"
    shutil.rmtree(scratch, ignore_errors=True)
    # Of a worker's memory Python itself takes a third; with more than a fifth for the plan, workers are killed.
    plan = rechunk(array, (array.shape[0], 8, 8), str(int(memory * 0.2)) + "B", target, temp_store=scratch)
    plan.execute()
    shutil.rmtree(scratch, ignore_errors=True)
    return {}


def _dask(source: str, target: str, _client: Any, _memory: int) -> dict[str, object]:
    import dask.array as da

    x = da.from_zarr(source)
    side = max(8, x.shape[1] // 16)
    # Tiles of many columns, as one would choose them: one task for each column of 8 × 8 would be hundreds of thousands.
    tiles = x.rechunk((x.shape[0], side, side))
    import zarr

    made = zarr.create_array(target, shape=x.shape, dtype=x.dtype, chunks=(x.shape[0], 8, 8))
    da.store(tiles, made, lock=False)
    return {}


_ENGINES = {"omnizarr": _omnizarr, "rechunker": _rechunker, "dask": _dask}


def is_right(folder: Path, engine: str) -> bool:
    """Whether an engine has made what it should; what it made is deleted."""
    import numpy as np

    import omnizarr as oz

    source, target = _places(folder, engine)
    one, other = oz.open_array(source), oz.open_array(target)
    step = max(1, one.shape[1] // 16)
    right = all(np.array_equal(one[:, at : at + 8], other[:, at : at + 8]) for at in range(0, one.shape[1], step))
    shutil.rmtree(target)
    return right
