"""Zarr of every dialect through references is what it is without them."""

from __future__ import annotations

import zipfile

import numpy as np
import pytest

import omnizarr as oz
from omnizarr.errors import UnsupportedError
from omnizarr.refs.scanners.source import DEFAULTS, Options
from omnizarr.refs.scanners.zarr import scan
from omnizarr.refset.store import store_of

VALUES = np.arange(35, dtype="<i4").reshape(5, 7)


def opened(where, options=DEFAULTS):
    return oz.open(store_of(scan(where, options), uri="example", allow=["*"]))


def make(where, form):
    group = oz.create_group(where, format=form, attrs={"title": "x"})
    for name, codecs in (("a", "auto"), ("b", None)):
        group.create_array(name, shape=(5, 7), chunks=(2, 3), dtype="<i4", codecs=codecs, fill_value=-1)
        group[name][:4] = VALUES[:4]
    inner = group.create_group("inner")
    inner.create_array("scalar", shape=(), dtype="f8")[...] = 2.5
    return group


@pytest.mark.parametrize("form", ["zarr3", "zarr2"])
def test_dialects_with_groups(tmp_path, form):
    make(tmp_path / "x", form)
    group = opened(tmp_path / "x")
    assert group.attrs["title"] == "x"
    for name in "ab":
        np.testing.assert_array_equal(group[name][:4], VALUES[:4])
        assert (group[name][4] == -1).all()
    assert group["inner/scalar"][...] == 2.5


@pytest.mark.parametrize("form", ["zarr0", "zarr1", "zarr2", "zarr3"])
def test_a_lone_array(tmp_path, form):
    array = oz.create_array(tmp_path / "x", shape=(5, 7), chunks=(2, 3), dtype="<i4", format=form)
    array[...] = VALUES
    again = opened(tmp_path / "x")
    np.testing.assert_array_equal(again[...], VALUES)
    assert again.metadata.format == ("zarr3" if form == "zarr3" else "zarr2")


def test_shards_are_referred_to_as_a_whole(tmp_path):
    array = oz.create_array(tmp_path / "x", shape=(50,), chunks=(5,), shards=(20,), dtype="i4")
    array[...] = np.arange(50)
    references = scan(tmp_path / "x")
    assert len(references.arrays[""]) == 3
    assert opened(tmp_path / "x")[7:33].tolist() == list(range(7, 33))


def test_archives(tmp_path):
    make(tmp_path / "x.zip", "zarr2").close()
    np.testing.assert_array_equal(opened(tmp_path / "x.zip")["a"][:4], VALUES[:4])
    assert scan(tmp_path / "x.zip").urls == [str(tmp_path / "x.zip")]


def test_compressed_entries_cannot_be_referred_to(tmp_path):
    make(tmp_path / "x", "zarr2")
    with zipfile.ZipFile(tmp_path / "y.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for path in (tmp_path / "x").rglob("*"):
            if path.is_file():
                archive.write(path, path.relative_to(tmp_path / "x"))
    with pytest.raises(UnsupportedError, match="compressed"):
        scan(tmp_path / "y.zip")


def test_only_what_is_wanted(tmp_path):
    make(tmp_path / "x", "zarr3")
    assert set(scan(tmp_path / "x", Options(only=("a",))).arrays) == {"a"}
    assert set(scan(tmp_path / "x", Options(group="inner")).arrays) == {"scalar"}


def test_what_is_no_file_cannot_be_referred_to():
    store = {}
    oz.create_group(store)
    with pytest.raises(UnsupportedError, match="no files"):
        scan(store)
