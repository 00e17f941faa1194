"""A writer that is killed while the arrays of a dataset get their new shapes."""

import contextlib
import os
import subprocess
import sys
import threading

import numpy as np
import pytest
import xarray as xr

import omnizarr as oz
import omnizarr.interop.xarray
from omnizarr.errors import ConflictError, StoreError
from omnizarr.hierarchy import unfinished
from omnizarr.hierarchy.unfinished import GROWTH
from omnizarr.interop.xarray import growing, writing

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


def test_who_opens_the_group_takes_no_note_of_somebody_who_is_alive(tmp_path, monkeypatch):
    place = tmp_path / "a.zarr"
    data(0).oz.to_omnizarr(place)
    find, seen = unfinished.find_note, []

    def late(store, path, name, **options):
        if name == GROWTH and (place / GROWTH).exists() and not seen:  # it was put, and is not locked yet
            seen.append(subprocess.run([sys.executable, "-c", OPENS, str(place)], check=True))
            assert (place / GROWTH).exists()
        return find(store, path, name, **options)

    monkeypatch.setattr(unfinished, "find_note", late)
    data(2).oz.to_omnizarr(place, append_dim="time")
    assert seen
    check(place)


OPENS = "import sys, omnizarr as oz; oz.open_group(sys.argv[1], mode='r+')"


def test_ctrl_c_while_shapes_are_put_back_leaves_the_note(tmp_path, monkeypatch):
    place = tmp_path / "a.zarr"
    data(0).oz.to_omnizarr(place)
    reshape, done = growing.Growing.reshape, []

    def stop(self, old, *, back=False):
        if done:
            raise KeyboardInterrupt
        done.append(self)
        reshape(self, old, back=back)

    monkeypatch.setattr(growing.Growing, "reshape", stop)
    with pytest.raises(KeyboardInterrupt):
        data(2).oz.to_omnizarr(place, append_dim="time")
    monkeypatch.undo()
    assert (place / GROWTH).exists()
    oz.open_group(place, mode="r+")
    check(place)


def test_a_child_that_is_forked_meanwhile_appends_too(tmp_path, monkeypatch):
    place = tmp_path / "a.zarr"
    data(0).oz.to_omnizarr(place)
    settle = growing.settle
    children = []

    def late(*args):
        monkeypatch.setattr(writing, "settle", settle)
        children.append(os.fork())
        if not children[0]:
            done = threading.Event()

            def append():
                with contextlib.suppress(ConflictError):  # its parent has appended before
                    data(4).oz.to_omnizarr(place, append_dim="time")
                done.set()

            threading.Thread(target=append, daemon=True).start()
            os._exit(0 if done.wait(60) else 7)
        return settle(*args)

    monkeypatch.setattr(writing, "settle", late)
    data(2).oz.to_omnizarr(place, append_dim="time")
    assert os.waitstatus_to_exitcode(os.waitpid(children[0], 0)[1]) == 0
