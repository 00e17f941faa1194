"""Datasets in Zarr that are opened and changed."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from omnizarr.errors import NotFoundError, UnsupportedError
from omnizarr.nc.opening import create_source, open_source
from omnizarr.nc.source import MemorySource, everything
from omnizarr.nc.tree import Attr, Group
from omnizarr.nc.types import CHAR, INT
from tests.nc.zarr.datasets import assert_same, fill, simple, with_types

KINDS = ("nczarr", "nczarr3")


def stored(kind: str = "nczarr", **options: Any) -> dict[str, bytes]:
    store: dict[str, bytes] = {}
    source = create_source(store, with_types() if "zarr3" in kind or kind == "nczarr" else simple(), kind, **options)
    fill(source)
    source.close()
    return {key: bytes(value) for key, value in store.items()}


def model() -> MemorySource:
    made = MemorySource(with_types())
    fill(made)
    return made


def differing(before: dict[str, bytes], after: dict[str, bytes]) -> set[str]:
    return {key for key in before.keys() | after.keys() if before.get(key) != after.get(key)}


@pytest.mark.parametrize("kind", KINDS)
def test_opening_and_closing_changes_nothing(kind):
    store = stored(kind)
    before = dict(store)
    source = open_source(store, "a")
    source.sync()
    source.close()
    assert store == before


@pytest.mark.parametrize("kind", KINDS)
def test_an_attribute_is_one_document(kind):
    store = stored(kind)
    before = dict(store)
    source, expected = open_source(store, "a"), model()
    for one in (source, expected):
        var = one.root.vars["v_int"]
        var.attrs["new"] = Attr.of_text("new", "é")
        del var.attrs["range"]
        one.changed(var)
    source.close()
    copy = {".zmetadata"} if kind == "nczarr" else set()
    assert differing(before, store) == {"v_int/.zattrs" if kind == "nczarr" else "v_int/zarr.json"} | copy
    assert_same(open_source(store), expected)


@pytest.mark.parametrize("kind", KINDS)
def test_growing_and_adding(kind):
    store = stored(kind)
    source, expected = open_source(store, "a"), model()
    for one in (source, expected):
        root = one.root
        one.write(root.vars["v_double"], (slice(4, 6, 1), slice(0, 4, 2)), np.ones((2, 2)))
        new = root.groups["g"].add_var("new", CHAR, (root.dims["t"],))
        new.attrs["n"] = Attr.of_values("n", INT, [1, 2])
        one.changed(root.groups["g"])
        one.write(new, (slice(0, 6, 1),), np.frombuffer(b"abcdef", "S1"))
        root.groups["g"].add_group("deep").attrs["x"] = Attr.of_text("x", "y")
        one.changed(root.groups["g"])
    assert_same(source, expected)
    source.close()
    assert_same(open_source(store), expected)


@pytest.mark.parametrize("kind", KINDS)
def test_names_change(kind):
    store = stored(kind)
    source, expected = open_source(store, "a"), model()
    for one in (source, expected):
        root = one.root
        for table, old, new in ((root.dims, "x", "ex"), (root.vars, "v_int", "w_int"), (root.groups, "g", "group")):
            items = {new if name == old else name: node for name, node in table.items()}
            table[old].name = new
            table.clear()
            table.update(items)
            one.changed(root)
        for name, home in {"u_tracks": "/group"}.items():
            var = root.groups["group"].vars[name]
            var.type = var.type._replace(home=home)
            root.groups["group"].types["tracks"] = var.type
    source.close()
    assert not any(key.startswith(("v_int/", "g/")) for key in store)
    assert_same(open_source(store), expected)


def test_names_are_exchanged():
    store = stored()
    source = open_source(store, "a")
    root = source.root
    one, other = root.vars["v_int"], root.vars["v_short"]
    before = [source.read(var, everything(var)) for var in (one, other)]
    for var, name in ((one, "tmp"), (other, "v_int"), (one, "v_short")):
        del root.vars[var.name]
        var.name = name
        root.vars[name] = var
        source.changed(var)
        source.changed(root)
    source.close()
    read = open_source(store)
    for name, values in zip(("v_short", "v_int"), before, strict=True):
        np.testing.assert_array_equal(read.read(read.root.vars[name], everything(read.root.vars[name])), values)
    assert not any(key.startswith("tmp/") for key in store)


def test_a_variable_that_is_removed_is_erased():
    store = stored()
    source = open_source(store, "a")
    del source.root.vars["v_int"]
    source.changed(source.root)
    source.close()
    assert not any(key.startswith("v_int/") for key in store)
    assert "v_int" not in open_source(store).root.vars


def test_what_nobody_knows_of_stays():
    store = stored("zarr")
    store[".zattrs"] = json.dumps({"b": {"deep": [1, None]}, "a": 1, "flag": True, "_NCProperties": "x"}).encode()
    store["v_int/.zattrs"] = b'{"odd": [1, "x"], "_ARRAY_DIMENSIONS": ["t", "x"], "n": NaN}'
    store["v_int/.zarray"] = store["v_int/.zarray"].replace(b'"zarr_format": 2', b'"zarr_format": 2, "extra": {"y": 1}')
    before = dict(store)
    source = open_source(store, "a")
    root = source.root
    root.attrs["new"] = Attr.of_text("new", "x")
    source.changed(root)
    root.vars["v_int"].attrs["new"] = Attr.of_text("new", "x")
    source.changed(root.vars["v_int"])
    source.close()
    assert differing(before, store) == {".zattrs", "v_int/.zattrs"}
    found = json.loads(store[".zattrs"])
    assert found == {**json.loads(before[".zattrs"]), "new": "x"}
    assert list(found) == ["b", "a", "flag", "_NCProperties", "new"]
    assert b'{"odd": [1, "x"], "n": NaN, "new": "x", "_ARRAY_DIMENSIONS": ["t", "x"]}' in store["v_int/.zattrs"]


def test_dimensions_that_were_made_up_are_not_written():
    store = stored("zarr", xarray=False)
    source = open_source(store, "a")
    var = source.root.vars["v_int"]
    assert var.dims[0].name.startswith("_Anonymous")
    var.attrs["new"] = Attr.of_text("new", "x")
    source.changed(var)
    source.close()
    assert b"_ARRAY_DIMENSIONS" not in store["v_int/.zattrs"]


@pytest.mark.parametrize("kind", ["nczarr", "nczarr3"])
def test_a_copy_of_all_documents_is_kept_in_step(kind):
    store = stored(kind, consolidated=True)
    source = open_source(store, "a")
    source.root.vars["v_int"].attrs["new"] = Attr.of_text("new", "fresh")
    source.changed(source.root.vars["v_int"])
    source.sync()
    assert ".zmetadata" not in store
    assert b"consolidated_metadata" not in store.get("zarr.json", b"")
    source.close()
    assert b"fresh" in store[".zmetadata" if kind == "nczarr" else "zarr.json"]


def test_what_can_only_be_read():
    with pytest.raises(NotFoundError):
        open_source({}, "a")
    import omnizarr as oz

    store: dict[str, bytes] = {}
    oz.create_array(store, shape=(2,), dtype="i4", format="zarr2")
    with pytest.raises(UnsupportedError, match="can only be read"):
        open_source(store, "a")


def test_what_a_crash_left_beyond_the_end_does_not_come_back():
    store = stored()
    source = open_source(store, "a")
    var = source.root.vars["v_int"]
    source.write(var, (slice(3, 6, 1), slice(0, 4, 1)), np.full((3, 4), 99, "i4"))
    del source  # without sync, as a crash would
    again = open_source(store, "a")
    assert again.root.dims["t"].size == 3
    again.write(again.root.vars["v_float"], (slice(3, 6, 1), slice(0, 4, 1)), np.ones((3, 4), "f4"))
    again.close()
    read = open_source(store)
    assert (read.read(read.root.vars["v_int"], everything(read.root.vars["v_int"]))[3:] == INT.fill).all()


@pytest.mark.parametrize("kind", ["nczarr", "nczarr3", "zarr", "zarr3"])
def test_two_variables_that_grow_along_one_dimension(kind):
    store: dict[str, bytes] = {}
    root = Group()
    time = root.add_dim("time", 0, unlimited=True)
    for name in "ab":
        root.add_var(name, INT, (time,))
    for session in range(3):
        source = create_source(store, root, kind) if not session else open_source(store, "a")
        a, b = (source.root.vars[name] for name in "ab")
        first = np.array([session], "i4")
        source.root.dims["time"].unlimited = True  # which plain Zarr does not know
        for var in (a, b):
            source.write(var, (slice(session, session + 1, 1),), first)
        source.close()
    source = open_source(store)
    for name in "ab":
        var = source.root.vars[name]
        assert source.read(var, everything(var)).tolist() == [0, 1, 2]
