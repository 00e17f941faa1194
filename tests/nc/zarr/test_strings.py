"""Strings: how long they may be, and what becomes of longer ones."""

from __future__ import annotations

import json

import numpy as np
import pytest

from omnizarr.errors import OmnizarrWarning
from omnizarr.nc.opening import create_source, open_source
from omnizarr.nc.source import everything
from omnizarr.nc.tree import Attr, Group, Storage
from omnizarr.nc.types import INT, STRING
from omnizarr.store.fault import Fault, sweep
from omnizarr.store.mapping import DictStore


def definitions() -> Group:
    root = Group()
    root.add_var("s", STRING, (root.add_dim("x", 5),), Storage(chunks=(2,)))
    return root


def dtype_of(store: dict[str, bytes]) -> str:
    return json.loads(bytes(store["s/.zarray"]))["dtype"]


def texts_of(where: object) -> list[str]:
    source = open_source(where)
    return source.read(source.root.vars["s"], everything(source.root.vars["s"])).tolist()


@pytest.mark.parametrize(
    ("own", "default", "expected"), [(None, None, "|S128"), (None, 7, "|S7"), (9, 7, "|S9"), (1, None, "|S1")]
)
def test_attributes_say_how_long(own, default, expected):
    root = definitions()
    if own is not None:
        root.vars["s"].attrs["_nczarr_maxstrlen"] = Attr.of_values("_nczarr_maxstrlen", INT, [own])
    if default is not None:
        root.attrs["_nczarr_default_maxstrlen"] = Attr.of_values("_nczarr_default_maxstrlen", INT, [default])
    store: dict[str, bytes] = {}
    create_source(store, root, "nczarr").close()
    assert dtype_of(store) == expected


def test_what_is_longer_than_asked_for_is_cut_with_a_warning():
    root = definitions()
    root.vars["s"].attrs["_nczarr_maxstrlen"] = Attr.of_values("_nczarr_maxstrlen", INT, [4])
    store: dict[str, bytes] = {}
    source = create_source(store, root, "nczarr")
    with pytest.warns(OmnizarrWarning, match="/s: strings of up to 6 bytes are cut to 4"):
        source.write(source.root.vars["s"], (slice(0, 2, 1),), np.array(["é€x", "ab"], object))
    source.close()
    assert texts_of(store) == ["é", "ab", "", "", ""]


@pytest.mark.parametrize("synced", [False, True])
@pytest.mark.parametrize("kind", ["nczarr", "zarr", "nczarr3"])
def test_otherwise_the_array_is_widened(kind, synced):
    store: dict[str, bytes] = {}
    source = create_source(store, definitions(), kind)
    var = source.root.vars["s"]
    source.write(var, (slice(0, 5, 1),), np.array(["a", "b", "c", "d", "e"], object))
    if synced:
        source.sync()
    source.write(var, (slice(1, 2, 1),), np.array(["é" * 100], object))
    expected = ["a", "é" * 100, "c", "d", "e"]
    assert source.read(var, everything(var)).tolist() == expected
    source.close()
    assert texts_of(store) == expected
    assert kind == "nczarr3" or dtype_of(store) == "|S256"
    assert not any(".wide" in key for key in store)


def test_widening_a_dataset_that_was_there():
    store: dict[str, bytes] = {}
    create_source(store, definitions(), "nczarr").close()
    source = open_source(store, "a")
    source.write(source.root.vars["s"], (slice(4, 5, 1),), np.array(["x" * 1000], object))
    source.close()
    assert texts_of(store) == ["", "", "", "", "x" * 1000]
    assert dtype_of(store) == "|S1024"


@pytest.mark.parametrize("kind", ["nczarr", "zarr"])
@pytest.mark.parametrize("when", ["before", "after"])
def test_a_crash_while_widening_loses_nothing(kind, when):
    before = ["a", "b", "", "", ""]
    after = ["a", "x" * 200, "", "", ""]
    seen = set()

    def made() -> DictStore:
        store: dict[str, bytes] = {}
        source = create_source(store, definitions(), kind)
        source.write(source.root.vars["s"], (slice(0, 2, 1),), np.array(["a", "b"], object))
        source.close()
        return DictStore(store)

    for failing in sweep(made, Fault(kind="write", when=when, times=None)):
        try:
            source = open_source(failing, "a")
            source.write(source.root.vars["s"], (slice(1, 2, 1),), np.array(["x" * 200], object))
            source.close()
        except OSError:
            pass
        found = texts_of(failing.inner)
        assert found in (before, after)
        seen.add(found == after)
        again = open_source(failing.inner, "a")
        again.write(again.root.vars["s"], (slice(1, 2, 1),), np.array(["x" * 200], object))
        again.close()
        assert texts_of(failing.inner) == after
    assert seen == {False, True}
