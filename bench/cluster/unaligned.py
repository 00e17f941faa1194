"""64 unaligned tasks into 8 shards, again and again."""

from __future__ import annotations

import shutil
from pathlib import Path
from time import perf_counter


def run(folder: Path, how: str, rounds: int) -> dict[str, object]:
    """Write, and count the rounds whose result is not exact."""
    import dask.array as da
    import numpy as np
    from distributed import Client, LocalCluster

    import omnizarr as oz

    values = np.arange(64 * 24, dtype="i4").reshape(256, 6) + 1
    x = da.from_array(values, chunks=(4, 6))
    place = folder / f"unaligned-{how}.zarr"
    cluster = LocalCluster(n_workers=4, threads_per_worker=2, dashboard_address=":0") if how == "cluster" else None
    client = Client(cluster, set_as_default=False) if cluster is not None else None
    wrong, began = 0, perf_counter()
    for _ in range(rounds):
        lazy = oz.from_dask(x, place, chunks=(11, 3), shards=(33, 6), overwrite=True, compute=False)
        if client is None:
            lazy.compute(scheduler=how)
        else:
            client.compute(lazy).result()
        wrong += not np.array_equal(oz.open_array(place)[...], values)
    seconds = perf_counter() - began
    for one in (client, cluster):
        if one is not None:
            one.close()
    shutil.rmtree(place, ignore_errors=True)
    return {"rounds": rounds, "wrong": wrong, "seconds": round(seconds, 1)}
