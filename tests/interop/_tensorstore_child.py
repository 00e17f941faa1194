"""Runs in a process of its own, because tensorstore may end its process: reads and writes what a manifest lists.

The manifest holds `read`, pairs of a driver and a folder, each read into `values.npy` there; and `write`, triples of a
driver, a folder and metadata, each filled with the folder's `values.npy`.
"""

from __future__ import annotations

import json
import resource
import sys
from pathlib import Path

import numpy as np
import tensorstore as ts

MEMORY = 4 << 30


def spec(driver: str, folder: str) -> dict[str, object]:
    return {"driver": driver, "kvstore": {"driver": "file", "path": f"{folder}/array/"}}


def main(path: str) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    manifest = json.loads(Path(path).read_text())
    for driver, folder in manifest["read"]:
        array = ts.open(spec(driver, folder), open=True, read=True).result()
        values = array.read().result()
        if values.dtype.isbuiltin == 2:  # a type of ml_dtypes, which NumPy's files do not name
            values = values.view(f"V{values.itemsize}")
        np.save(f"{folder}/read.npy", values, allow_pickle=False)
    for driver, folder, metadata in manifest["write"]:
        values = np.load(f"{folder}/values.npy", allow_pickle=False)
        whole = {**spec(driver, folder), "metadata": metadata, "create": True}
        array = ts.open(whole).result()
        if values.dtype.kind == "V":
            values = values.view(array.dtype.numpy_dtype)
        array.write(values).result()


if __name__ == "__main__":
    main(sys.argv[1])
