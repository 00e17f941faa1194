"""Reading by tensorstore."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import tensorstore

from torture.inputs.case import Case
from torture.inputs.network import serving
from torture.inputs.readers import NotRunError


def read(case: Case, folder: Path) -> Any:
    """Do what a case asks for."""
    place = folder / case.where
    if case.act == "get":
        store = tensorstore.KvStore.open({"driver": "file", "path": f"{place}/"}).result()
        found = store.read(case.path).result()
        if found.state != "value":
            raise KeyError(case.path)
        return found.value
    if case.act == "http":
        with serving(case, folder) as url:
            spec = {"driver": "zarr3", "kvstore": {"driver": "http", "base_url": url, "path": "/"}}
            return tensorstore.open(spec, open=True, read=True).result().read().result()
    if case.act not in ("array", "zip") or (case.act == "array" and case.path.startswith(("..", "/"))):
        raise NotRunError
    base: Any = {"driver": "file", "path": f"{place}/"}
    if case.act == "zip":
        base = {"driver": "zip", "base": {"driver": "file", "path": str(place)}}
    driver = "zarr" if (place / case.path / ".zarray").exists() else "zarr3"
    if case.path:
        base["path"] += case.path.strip("/") + "/"
    array = tensorstore.open({"driver": driver, "kvstore": base}, open=True, read=True).result()
    return array[case.select if case.select is not None else ...].read().result()
