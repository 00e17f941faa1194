"""Failing stores: whichever operation fails, what was there can still be read, and nothing half-made shows."""

from __future__ import annotations

import contextlib

import numpy as np
import pytest

import omnizarr as oz
from omnizarr.errors import OmnizarrError
from omnizarr.store.fault import Fault, sweep
from omnizarr.store.mapping import DictStore

OLD = np.arange(10, dtype="i4")


def start(fmt):
    """A store with a group of two nodes, consolidated."""

    def make():
        store = DictStore({})
        group = oz.create_group(store, format=fmt, attrs={"title": "t"})
        group.create_array("a", data=OLD, chunks=4, attrs={"n": 1})
        group.create_array("g/b", data=OLD)
        group.consolidate()
        return store

    return make


def state(store, path="a"):
    array = oz.open_group(store, consolidated=False)[path]
    return array[...].tolist(), array.attrs.asdict()


ACTIONS = {
    "append": lambda group: group["a"].append([10, 11, 12]),
    "grow": lambda group: group["a"].resize(14),
    "attrs": lambda group: group["a"].attrs.update(n=2, m=3),
    "root attrs": lambda group: group.attrs.update(title="u"),
    "create": lambda group: group.create_array("new/deep/x", data=OLD, chunks=3),
    "copy": lambda group: group.copy("g", "h"),
    "consolidate": lambda group: group.consolidate(),
}


@pytest.mark.parametrize("fmt", ["zarr3", "zarr2"])
@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("action", ACTIONS)
def test_a_failure_leaves_the_old_or_the_new_state(fmt, when, action):
    make = start(fmt)
    done = make()
    ACTIONS[action](oz.open_group(done, "r+"))
    allowed = [state(make()), state(done)]
    failures = 0
    for failing in sweep(make, Fault(kind="write", when=when)):
        group = oz.open_group(failing, "r+")
        try:
            ACTIONS[action](group)
        except OmnizarrError:
            failures += 1
        assert state(failing.inner) in allowed
        assert state(failing.inner, "g/b")[0] == OLD.tolist()
        for path, node in oz.open_group(failing.inner, consolidated=False).members(None):
            if isinstance(node, oz.Array) and path != "a" and node.nchunks_stored == node.nchunks:
                assert node[...].tolist() == OLD.tolist()
        for _, node in oz.open_group(failing.inner).members(None):
            if isinstance(node, oz.Array):
                node[...]
    assert failures


@pytest.mark.parametrize("fmt", ["zarr3", "zarr2"])
def test_a_failed_shrink_never_brings_back_what_was_cut_off_within_the_shape(fmt):
    for failing in sweep(start(fmt), Fault(kind="write")):
        array = oz.open_group(failing, "r+")["a"]
        with contextlib.suppress(OmnizarrError):
            array.resize(5)
        assert state(failing.inner)[0] in (OLD.tolist(), OLD[:5].tolist())


@pytest.mark.parametrize("fmt", ["zarr3", "zarr2"])
def test_a_failed_read_is_an_error_and_never_a_fill_value(fmt):
    for failing in sweep(start(fmt), Fault(kind="read")):
        try:
            values = oz.open_group(failing, consolidated=False)["a"][...].tolist()
        except OmnizarrError:
            continue
        assert values == OLD.tolist()
