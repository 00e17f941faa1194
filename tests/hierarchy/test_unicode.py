"""Names that are no text: halves of pairs of surrogates, which no store can hold, and bytes that are not UTF-8."""

from __future__ import annotations

import os
import shutil
import sys

import numpy as np
import pytest

import omnizarr as oz
from omnizarr.errors import NotFoundError, UnsafeError


@pytest.fixture(params=["folder", "dict"])
def place(request, tmp_path):
    return str(tmp_path / "s.zarr") if request.param == "folder" else {}


@pytest.mark.parametrize("name", ["\ud800", "x/\udcff"])
def test_names_that_no_store_can_hold(name, place):
    group = oz.create_group(place)
    group.create_array("x", shape=(3,), dtype="i4")
    uses = (
        group.__getitem__,
        group.__delitem__,
        group.create_group,
        group.require_group,
        lambda name: group.create_array(name, shape=(3,), dtype="i4"),
        lambda name: group.copy(name, "y"),
        lambda name: group.copy("x", name),
        lambda name: group.move("x", name),
        lambda name: group.move(name, "y"),
        lambda name: oz.open(place, path=name),
        lambda name: oz.open(place, "a", path=name),
        lambda name: oz.create_array(place, path=name, shape=(3,), dtype="i4"),
    )
    for use in uses:
        with pytest.raises(UnsafeError, match="not valid Unicode"):
            use(name)
    assert name not in group
    assert group.get(name) is None
    assert oz.detect(place, path=name).what == "unreadable"
    assert list(group) == ["x"]


@pytest.mark.parametrize("fmt", ["zarr3", "zarr2"])
def test_copies_of_nodes_with_names_that_no_store_can_hold(fmt, tmp_path):
    group = oz.create_group(tmp_path, format=fmt)
    group.create_array("x", shape=(3,), dtype="i4")
    group.consolidate()
    key = tmp_path / ("zarr.json" if fmt == "zarr3" else ".zmetadata")
    old, new = ('"x"', r'"\ud800"') if fmt == "zarr3" else ('"x/.zarray"', r'"\ud800/.zarray"')
    key.write_text(key.read_text().replace(old, new))
    shutil.rmtree(tmp_path / "x")
    for use in (oz.Group.arrays, oz.Group.tree, list):
        with pytest.raises(UnsafeError, match="not valid Unicode"):
            use(oz.open_group(tmp_path))
    assert len(oz.open_group(tmp_path, consolidated=False)) == 0


@pytest.mark.skipif(os.name != "posix" or sys.platform == "darwin", reason="names are Unicode there")
def test_folders_whose_names_are_not_unicode(tmp_path):
    place = os.fsdecode(os.fsencode(tmp_path) + b"/\xff.zarr")
    with pytest.raises(NotFoundError, match="nothing is there"):
        oz.open(place)
    oz.open_group(place, "a").create_array("x", data=np.arange(3))
    assert oz.open(place + "/x")[...].tolist() == oz.open(place)["x"][...].tolist() == [0, 1, 2]
    with pytest.raises(NotFoundError, match="nothing is there"):
        oz.open(place + "/y")
