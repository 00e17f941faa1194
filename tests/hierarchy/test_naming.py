"""Errors name the place of what they are about, not only its path in a store that nobody sees."""

import os
from pathlib import Path

import numpy as np
import pytest

import omnizarr as oz
from omnizarr.errors import ExistsError, NodeTypeError, OmnizarrError, ReadOnlyError, SelectionError, ShapeError


@pytest.fixture
def place(tmp_path: Path) -> Path:
    where = tmp_path / "a.zarr"
    oz.create_group(where).create_array("t", data=np.arange(4))
    return where


def test_each_error_says_where(place: Path) -> None:
    array = oz.open(place, mode="r+")["t"]

    def assign(values: object) -> None:
        array[:] = values

    cases = {
        (ExistsError, ""): lambda: oz.create_group(place),
        (ExistsError, "/t"): lambda: oz.open_group(place, mode="r+").create_array("t", shape=(2,), dtype="i1"),
        (ReadOnlyError, "/t"): lambda: oz.open(place)["t"].append([1]),
        (NodeTypeError, ""): lambda: oz.open_array(place),
        (NodeTypeError, "/t"): lambda: oz.open_group(place / "t"),
        (NodeTypeError, "/t "): lambda: oz.create_array(place, path="t/x", shape=(2,), dtype="i1"),
        (SelectionError, "/t"): lambda: array[7],
        (SelectionError, "/t  "): lambda: array.oindex[[7]],
        (ShapeError, "/t"): lambda: assign("word"),
    }
    for (kind, path), call in cases.items():
        with pytest.raises(kind) as caught:
            call()
        assert caught.value.path == place.as_uri() + path.strip(), (kind, path)


def test_a_store_that_fails_is_named(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("no folder")
    with pytest.raises(OmnizarrError) as caught:
        oz.create_array(file / "x", shape=(2,), dtype="i1")
    assert str(file) in str(caught.value)
    with pytest.raises(OmnizarrError) as caught:
        oz.Dataset(file / "y", "w")
    assert str(file) in str(caught.value)


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="only for those who may not read everything")
def test_a_folder_that_may_not_be_read_is_named(place: Path) -> None:
    place.chmod(0)
    try:
        with pytest.raises(OmnizarrError) as caught:
            oz.open(place)
    finally:
        place.chmod(0o700)
    assert str(place) in str(caught.value)
