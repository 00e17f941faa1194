"""An encoding that cannot be changes nothing: no empty group is left, and nothing that was there is lost."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import omnizarr as oz
import omnizarr.interop.xarray

WRONG = [
    {"b": {}},
    {"a": 3},
    {"a": {"nonsense": 1}},
    {"a": {"chunks": (0,)}},
    {"a": {"chunks": ("q",)}},
    {"a": {"chunks": (4,), "shards": (3,)}},
    {"a": {"compressors": [{"name": "nope"}]}},
    {"a": {"dtype": "frob"}},
    {"t": {"units": "frobs since 2000"}},
]


def _dataset():
    return xr.Dataset({"a": ("x", np.arange(4.0)), "t": ("x", pd.date_range("2000", periods=4))})


@pytest.mark.parametrize("form", ["zarr3", "zarr2", "nczarr"])
@pytest.mark.parametrize("encoding", WRONG, ids=repr)
def test_a_wrong_encoding_leaves_nothing_behind(tmp_path, form, encoding):
    if form == "nczarr" and encoding in WRONG[2:4] + WRONG[5:7]:
        pytest.skip("netCDF takes no notice of these words")
    with pytest.raises((TypeError, ValueError, KeyError)):
        _dataset().oz.to_omnizarr(tmp_path / "x.zarr", encoding=encoding, format=form)
    assert not (tmp_path / "x.zarr").exists()


@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize("encoding", WRONG, ids=repr)
def test_a_wrong_encoding_loses_nothing(tmp_path, encoding, lazy):
    _dataset().oz.to_omnizarr(tmp_path / "x.zarr")
    with pytest.raises((TypeError, ValueError, KeyError)):
        (_dataset().chunk(x=2) if lazy else _dataset()).oz.to_omnizarr(tmp_path / "x.zarr", "w", encoding=encoding)
    with xr.open_dataset(tmp_path / "x.zarr", engine="omnizarr") as ds:
        assert ds["a"].data.tolist() == [0, 1, 2, 3]


def test_into_a_group_of_an_older_format(tmp_path):
    group = oz.create_group(tmp_path / "x.zarr", format="zarr2")
    with pytest.raises(ValueError, match="Use `_FillValue`"):
        _dataset().oz.to_omnizarr(group, "w-", group="g", encoding={"a": {"fill_value": 1}})
    assert "g" not in group
    _dataset().oz.to_omnizarr(group, "w-", group="g", encoding={"a": {"chunks": (2,)}})
    assert group["g/a"].chunks == (2,)
