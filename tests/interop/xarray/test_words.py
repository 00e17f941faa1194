"""Encodings belong to the dataset that has them."""

import sys

import numpy as np
import pytest

import omnizarr as oz

xr = pytest.importorskip("xarray")

from omnizarr.interop.xarray import OmnizarrBackend  # noqa: E402 - only where xarray is
from omnizarr.interop.xarray.words import _objects  # noqa: E402


@pytest.mark.parametrize("form", ["zarr2", "zarr3"])
def test_a_change_of_an_encoding_changes_no_other(form):
    store = {}
    oz.create_group(store, format=form).create_array("a", data=np.arange(3.0), dims=("x",), codecs=["zstd"])
    first = xr.open_dataset(store, engine=OmnizarrBackend)["a"].encoding["compressors"][0]
    words = first.get("configuration", first)
    words["level"] = 19
    second = xr.open_dataset(store, engine=OmnizarrBackend)["a"].encoding["compressors"][0]
    assert second.get("configuration", second)["level"] != 19


@pytest.mark.parametrize("form", ["zarr2", "zarr3"])
def test_a_change_within_an_attribute_changes_no_other(form):
    store = {}
    group = oz.create_group(store, format=form, attrs={"levels": [1, {"of": [2]}]})
    group.create_array("a", data=np.arange(3.0), dims=("x",), attrs={"flags": [1, {"of": [2]}]})
    first = xr.open_dataset(store, engine=OmnizarrBackend)
    for value in (first.attrs["levels"], first["a"].attrs["flags"]):
        value[1]["of"].append(3)
    second = xr.open_dataset(store, engine=OmnizarrBackend)
    assert second.attrs["levels"] == second["a"].attrs["flags"] == [1, {"of": [2]}]
    assert oz.open(store)["a"].attrs["flags"] == [1, {"of": [2]}]


FILTERED = {
    "delta": ("i4", [{"id": "delta", "dtype": "<i4", "astype": "<i4"}], {"id": "zlib", "level": 3}),
    "scaled": ("f8", [{"id": "fixedscaleoffset", "offset": 0, "scale": 10, "dtype": "<f8", "astype": "<i4"}], None),
    "text": (str, [], {"id": "zstd", "level": 1}),
    "bare": (str, [], None),
    "plain": ("u2", [], {"id": "blosc", "cname": "lz4", "clevel": 5, "shuffle": 1, "blocksize": 0}),
}


def _filtered(store):
    group = oz.create_group(store, format="zarr2")
    for name, (dtype, filters, compressor) in FILTERED.items():
        codecs = [*filters, *([] if compressor is None else [compressor])]
        values = np.array(["a", "", "ü"], object) if dtype is str else np.arange(3)
        group.create_array(name, shape=(3,), dtype=dtype, dims=("x",), codecs=codecs or None, fill_value=None)[:] = (
            values
        )


@pytest.mark.filterwarnings("ignore")
def test_filters_of_v2_are_taken_by_all_who_write(tmp_path):
    pytest.importorskip("zarr")
    _filtered(tmp_path / "a.zarr")
    one = xr.open_dataset(tmp_path / "a.zarr", engine="omnizarr")
    one.to_zarr(tmp_path / "b.zarr", zarr_format=2, consolidated=False)
    one.oz.to_omnizarr(tmp_path / "c.zarr", format="zarr2")
    one.oz.to_omnizarr(tmp_path / "d.zarr", format="zarr3")
    one[["delta", "plain"]].oz.to_omnizarr(tmp_path / "e.zarr", format="nczarr")
    assert [codec.name for codec in oz.open_group(tmp_path / "e.zarr")["delta"].codecs] == ["delta", "bytes", "zlib"]
    for place in ("b.zarr", "c.zarr", "d.zarr"):
        two = xr.open_dataset(tmp_path / place, engine="omnizarr")
        xr.testing.assert_identical(one.load(), two.load())
        for name in one.variables if place != "d.zarr" else ():
            for word in ("filters", "compressors"):
                assert two[name].encoding[word] == one[name].encoding[word]
    there = oz.open_group(tmp_path / "d.zarr")
    assert [codec.name for codec in there["delta"].codecs] == ["numcodecs.delta", "bytes", "numcodecs.zlib"]


def test_filters_of_v2_are_objects_of_numcodecs_where_there_are_such(monkeypatch):
    numcodecs = pytest.importorskip("numcodecs")
    store = {}
    _filtered(store)
    found = xr.open_dataset(store, engine=OmnizarrBackend)
    assert found["delta"].encoding["filters"] == (numcodecs.Delta("<i4"),)
    assert found["text"].encoding["filters"] == ()
    found["delta"].encoding["filters"][0].dtype = "u1"
    monkeypatch.setitem(sys.modules, "numcodecs.registry", None)
    bare = xr.open_dataset(store, engine=OmnizarrBackend)
    assert bare["delta"].encoding["filters"] == tuple(FILTERED["delta"][1])
    copy = {}
    bare.oz.to_omnizarr(copy, format="zarr2")
    assert oz.open(copy)["delta"].codecs == oz.open(store)["delta"].codecs


def test_filters_that_numcodecs_does_not_know_stay_as_they_are():
    pytest.importorskip("numcodecs")
    assert _objects(({"id": "of nobody"}, {"id": "delta"})) == ({"id": "of nobody"}, {"id": "delta"})
