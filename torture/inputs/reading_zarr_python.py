"""Reading by zarr-python."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import zarr
from zarr.core.buffer import default_buffer_prototype
from zarr.storage import LocalStore, ZipStore

from torture.inputs.case import Case
from torture.inputs.readers import NotRunError


def read(case: Case, folder: Path) -> Any:
    """Do what a case asks for."""
    place = folder / case.where
    if case.act == "array":
        array = zarr.open_array(LocalStore(place, read_only=True), path=case.path or None, mode="r")
        return array[case.select if case.select is not None else ...]
    if case.act == "zip":
        with ZipStore(place, mode="r") as store:
            return zarr.open_array(store, path=case.path or None, mode="r")[...]
    if case.act == "get":
        return asyncio.run(_get(LocalStore(place, read_only=True), case.path))
    if case.act == "tree":
        return _tree(zarr.open(LocalStore(place, read_only=True), path=case.path or None, mode="r"))
    raise NotRunError


async def _get(store: LocalStore, key: str) -> bytes:
    found = await store.get(key, default_buffer_prototype())
    if found is None:
        raise KeyError(key)
    return found.to_bytes()


def _tree(node: Any) -> list[Any]:
    if isinstance(node, zarr.Array):
        return [node[...]]
    return [value for _, child in node.members() for value in _tree(child)]
