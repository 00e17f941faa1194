"""A writer that is killed while the arrays of a dataset get their new shapes."""

import os

import numpy as np
import pytest
import xarray as xr

import omnizarr as oz
import omnizarr.interop.xarray
from omnizarr.errors import StoreError
from omnizarr.hierarchy.unfinished import GROWTH
from omnizarr.interop.xarray import growing

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork"),
    pytest.mark.filterwarnings("ignore:This process:DeprecationWarning"),
]


def data(start):
    values = np.arange(start, start + 2)
    return xr.Dataset({"t": ("time", values), "u": ("time", -values)}, {"time": values})


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A dataset of which one array is longer than the others."""
    place = tmp_path / "a.zarr"
    data(0).oz.to_omnizarr(place)
    child = os.fork()
    if child == 0:
        reshape, done = growing.Growing.reshape, []

        def stop(self, old, **options):
            if done:
                os._exit(7)
            reshape(self, old, **options)
            done.append(self)

        growing.Growing.reshape = stop
        data(2).oz.to_omnizarr(place, append_dim="time")
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    assert {len(one) for _, one in oz.open_group(place).arrays()} == {2, 4}
    return place


def check(place):
    assert not (place / GROWTH).exists()
    group = oz.open_group(place)
    assert group["t"][...].tolist() == group["time"][...].tolist() == [0, 1, 2, 3]
    xr.testing.assert_equal(xr.open_dataset(place, engine="omnizarr").load(), xr.concat([data(0), data(2)], "time"))


def test_opening_for_writing_finishes_it(place):
    oz.open_group(place, mode="r+")
    check(place)


def test_a_repair_finishes_it(place):
    assert "OZ612" in {one.rule for one in oz.validate(place).findings}
    assert oz.validate(place, repair=True).clean
    check(place)


def test_the_next_append_finds_it_finished(place):
    data(4).oz.to_omnizarr(place, append_dim="time")
    assert oz.open_group(place)["u"][...].tolist() == [0, -1, -2, -3, -4, -5]
    assert not (place / GROWTH).exists()


@pytest.mark.parametrize("whole", [True, False], ids=["nothing can be put back", "all can be put back"])
def test_a_store_that_fails_while_shapes_are_put_back(tmp_path, monkeypatch, whole):
    place = tmp_path / "a.zarr"
    data(0).oz.to_omnizarr(place)
    reshape, done = growing.Growing.reshape, []

    def fail(self, old, *, back=False):
        if done and (whole or not back):
            raise StoreError("on purpose", key="zarr.json")
        done.append(self)
        reshape(self, old, back=back)

    monkeypatch.setattr(growing.Growing, "reshape", fail)
    with pytest.raises(StoreError):
        data(2).oz.to_omnizarr(place, append_dim="time")
    monkeypatch.undo()
    assert (place / GROWTH).exists() == whole
    oz.open_group(place, mode="r+")
    if whole:
        check(place)
    else:
        xr.testing.assert_equal(xr.open_dataset(place, engine="omnizarr").load(), data(0))
