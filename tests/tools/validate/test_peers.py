"""What other writers of today write is found in order."""

from __future__ import annotations

import numpy as np
import pytest
import zarr

from omnizarr.tools.validate import validate

pytestmark = [pytest.mark.peers, pytest.mark.filterwarnings("ignore:Consolidated metadata")]

TYPES = ("i1", "u2", "f4", "f8", "c8", "bool", "M8[ns]", "S4", "U3", str)


@pytest.mark.parametrize("version", [2, 3])
def test_zarr_python(version, tmp_path):
    group = zarr.open_group(tmp_path / "x.zarr", mode="w", zarr_format=version)
    group.attrs["title"] = "é"
    for number, dtype in enumerate(TYPES):
        array = group.create_array(f"a{number}", shape=(5, 6), chunks=(2, 3), dtype=dtype)
        array[...] = np.full((5, 6), "x", object) if dtype is str else np.ones((5, 6), dtype)
    group.create_group("sub/deep")
    group.create_array("sub/nan", shape=(3,), chunks=(2,), dtype="f4", fill_value=np.nan)
    group.create_array("sub/scalar", shape=(), dtype="f4")[...] = 1
    group.create_array("sub/none", shape=(0, 3), chunks=(1, 3), dtype="f4")
    if version == 3:
        group.create_array("shards", shape=(8, 8), shards=(4, 4), chunks=(2, 2), dtype="i4")[:5] = 1
    assert validate(tmp_path / "x.zarr", decode=True).findings == ()
    zarr.consolidate_metadata(tmp_path / "x.zarr", zarr_format=version)
    assert validate(tmp_path / "x.zarr", decode=True).findings == ()


def test_stale_metadata_of_zarr_python(tmp_path):
    group = zarr.open_group(tmp_path / "x.zarr", mode="w", zarr_format=3)
    group.create_array("a", shape=(4,), dtype="i4")
    zarr.consolidate_metadata(tmp_path / "x.zarr")
    group.create_array("b", shape=(4,), dtype="i4")
    assert [one.rule for one in validate(tmp_path / "x.zarr").findings] == ["OZ804"]
    assert validate(tmp_path / "x.zarr", repair=True).clean
    assert sorted(zarr.open_group(tmp_path / "x.zarr", mode="r", use_consolidated=True).keys()) == ["a", "b"]
