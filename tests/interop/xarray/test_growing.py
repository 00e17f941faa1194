"""Appends that meet other appends: what the others made visible stays as it is."""

import pickle
import threading

import numpy as np
import pytest

import omnizarr as oz
from omnizarr.errors import ConflictError, StoreError
from omnizarr.interop.xarray import growing as module

xr = pytest.importorskip("xarray")


def filled(value, count=4):
    return xr.Dataset({"a": ("t", np.full(count, float(value)))}, coords={"t": np.full(count, value)})


def planned(where, *, lazy):
    ds = filled(1).chunk(t=2) if lazy else filled(1)
    return ds.oz.to_omnizarr(where, append_dim="t", compute=False)


@pytest.mark.parametrize("sent", [False, True])
@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize("more", [2, 4, 10])
def test_a_late_append_changes_nothing_of_one_that_came_before(tmp_path, sent, lazy, more):
    pytest.importorskip("dask")
    where = tmp_path / "a.zarr"
    filled(0).oz.to_omnizarr(where)
    later = planned(where, lazy=lazy)
    if sent:
        later = pickle.loads(pickle.dumps(later))
    filled(2, more).oz.to_omnizarr(where, append_dim="t")
    if sent:
        later = pickle.loads(pickle.dumps(later))
    with pytest.raises(ConflictError, match="meanwhile"):
        later.compute(scheduler="sync")
    for name in "at":
        np.testing.assert_array_equal(oz.open(where)[name][...], [0] * 4 + [2] * more)


def test_an_append_can_be_sent_elsewhere(tmp_path):
    pytest.importorskip("dask")
    where = tmp_path / "a.zarr"
    filled(0).oz.to_omnizarr(where)
    pickle.loads(pickle.dumps(planned(where, lazy=True))).compute(scheduler="sync")
    for name in "at":
        np.testing.assert_array_equal(oz.open(where)[name][...], [0] * 4 + [1] * 4)


def test_two_plans_do_not_mix_their_values(tmp_path):
    pytest.importorskip("dask")
    where = tmp_path / "a.zarr"
    filled(0).oz.to_omnizarr(where)
    one, other = planned(where, lazy=True), filled(3).chunk(t=2).oz.to_omnizarr(where, append_dim="t", compute=False)
    one.compute(scheduler="sync")
    with pytest.raises(ConflictError):
        other.compute(scheduler="sync")
    np.testing.assert_array_equal(oz.open(where)["t"][...], [0] * 4 + [1] * 4)


def test_threads_append_one_after_another(tmp_path, monkeypatch):
    where = tmp_path / "a.zarr"
    filled(0).oz.to_omnizarr(where)
    settled, go, failed = module.settle, threading.Event(), []

    def slow(*given):
        go.wait(0.3)
        settled(*given)

    monkeypatch.setattr("omnizarr.interop.xarray.writing.settle", slow)

    def append(value):
        try:
            filled(value).oz.to_omnizarr(where, append_dim="t")
        except ConflictError:
            failed.append(value)

    threads = [threading.Thread(target=append, args=(value,)) for value in (1, 2)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    won = 2 if failed == [1] else 1
    found = oz.open(where)["a"][...]
    assert failed == [3 - won] or len(found) == 12
    if failed:
        np.testing.assert_array_equal(found, [0] * 4 + [won] * 4)


def test_a_lost_lease_makes_nothing_visible():
    store = {}
    filled(0).oz.to_omnizarr(store)
    array = oz.open(store, "r+")["a"]
    one = module.Growing(array, (6,))

    def lost():
        raise ConflictError("others may have gone on")

    with module.held_alone([one]):
        one[4:] = [1, 1]
        with pytest.raises(ConflictError, match="gone on"):
            module.settle([one], lost)
    assert oz.open(store)["a"].shape == (4,)


def test_an_append_that_fails_leaves_what_does_not_grow(monkeypatch):
    store = {}
    xr.Dataset({"a": ("t", np.arange(4.0)), "s": ("x", np.arange(3.0))}).oz.to_omnizarr(store)
    before = dict(store)

    def full(*_):
        raise StoreError("the disk is full")

    monkeypatch.setattr(module, "replace", full)
    more = xr.Dataset({"a": ("t", np.arange(4.0)), "s": ("x", np.full(3, 9.0)), "new": ("y", np.arange(4.0))})
    with pytest.raises(StoreError, match="full"):
        more.oz.to_omnizarr(store, append_dim="t")
    assert sorted(oz.open(store)) == ["a", "s"]
    assert {key for key in store if key.startswith("new")} == set()
    np.testing.assert_array_equal(oz.open(store)["s"][...], np.arange(3.0))
    assert before.keys() <= store.keys()
