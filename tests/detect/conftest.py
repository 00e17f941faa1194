"""Trees of documents that are laid out as a folder, as a zip file or as a mapping."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def lay_out(tmp_path) -> Callable[[str, dict[str, bytes]], Any]:
    """Put a tree of keys at a new place of a kind ("folder", "zip", "topped" or "dict"), and return the place."""

    def make(kind: str, tree: dict[str, bytes]) -> Any:
        if kind == "dict":
            return dict(tree)
        if kind == "folder":
            place = tmp_path / "x.zarr"
            place.mkdir()
            for key, value in tree.items():
                file = place / key
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(value)
            return place
        place = tmp_path / "x.zarr.zip"
        top = "x.zarr/" if kind == "topped" else ""
        with zipfile.ZipFile(place, "w") as archive:
            for key, value in tree.items():
                archive.writestr(top + key, value)
        return place

    return make


@pytest.fixture
def ends_with() -> Callable[[tuple[str, ...], str], bool]:
    """Whether one of the places that are near has the given end."""

    def check(near: tuple[str, ...], end: str) -> bool:
        return any(Path(one).as_posix().rstrip("/").endswith(end) for one in near)

    return check
