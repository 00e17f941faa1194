"""Datasets written to Zarr: the documents, and what our own reader makes of them."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from omnizarr.errors import OmnizarrWarning, ReadOnlyError, SelectionError, UnsupportedError
from omnizarr.nc.opening import create_source, open_source
from omnizarr.nc.source import MemorySource, everything
from omnizarr.nc.tree import Attr, Filter, Group, Storage
from omnizarr.nc.types import CHAR, DOUBLE, FLOAT, INT, STRING, Compound, Field, Vlen
from tests.nc.zarr.datasets import assert_same, fill, simple, with_types

KINDS = ("nczarr", "nczarr3", "zarr", "zarr3")


def document(store: dict[str, bytes], key: str) -> Any:
    return json.loads(bytes(store[key]))


def created(kind: str = "nczarr", root: Group | None = None, **options: Any) -> tuple[dict[str, bytes], Any]:
    store: dict[str, bytes] = {}
    return store, create_source(store, root or simple(), kind, **options)


@pytest.mark.parametrize("kind", ["nczarr", "nczarr3"])
@pytest.mark.parametrize("options", [{}, {"separator": "/"}, {"consolidated": True}, {"xarray": False}], ids=str)
def test_everything_comes_back(kind, options):
    store, source = created(kind, with_types(), **options)
    model = MemorySource(with_types())
    for one in (source, model):
        fill(one)
    assert_same(source, model)
    source.close()
    read = open_source(store)
    assert read.kind == kind
    assert_same(read, model)


@pytest.mark.parametrize("kind", ["zarr", "zarr3"])
def test_plain_zarr_comes_back_but_for_what_it_has_no_words_for(kind):
    store, source = created(kind)
    fill(source)
    source.close()
    assert not any(b"_nczarr" in bytes(text) for text in store.values())
    read = open_source(store)
    assert read.kind == kind
    for group in source.root.walk():
        for var in group.vars.values():
            twin = read.root.find_group(group.path).vars[var.name]
            assert [dim.name for dim in twin.dims] == [dim.name for dim in var.dims]
            np.testing.assert_array_equal(read.read(twin, everything(twin)), source.read(var, everything(var)))
    assert read.root.attrs["t0"] == Attr.of_text("t0", "123")


def test_documents_are_those_that_netcdf_c_reads():
    store, source = created(root=simple())
    fill(source)
    source.close()
    root = document(store, ".zattrs")
    assert root["_nczarr_group"]["dimensions"] == {"x": 4, "t": {"size": 3, "unlimited": 1}}
    assert root["_nczarr_superblock"] == {"version": "2.0.0"}
    assert "|J0" not in root["_nczarr_attr"]["types"].values()
    assert "é".encode() in bytes(store[".zattrs"])
    assert document(store, ".zgroup") == {"zarr_format": 2}
    assert document(store, "c/.zarray")["dtype"] == ">S1"
    assert document(store, "v_byte/.zarray")["dtype"] == "|i1"
    assert document(store, "g/w/.zarray")["dtype"] == ">f8"
    plain = document(store, "v_double/.zarray")
    assert (plain["filters"], plain["order"], plain["fill_value"]) == (None, "C", 9.969209968386869e36)
    assert "dimension_separator" not in plain
    scalar = document(store, "scalar/.zattrs")
    assert scalar["_ARRAY_DIMENSIONS"] == ["_scalar_"]
    assert scalar["_nczarr_array"] == {"dimension_references": [], "storage": "chunked", "scalar": 1}
    assert document(store, "scalar/.zarray")["shape"] == [1]
    for group in ("", "g/", "g/empty/"):
        assert "_nczarr_group" in document(store, f"{group}.zattrs")


def test_plain_zarr_has_arrays_without_dimensions():
    store, source = created("zarr")
    source.close()
    assert document(store, "scalar/.zarray")["shape"] == []
    assert document(store, "scalar/.zattrs") == {"_ARRAY_DIMENSIONS": []}
    assert document(store, "c/.zarray")["dtype"] == "|S1"


def test_names_of_dimensions_can_be_left_out():
    store, source = created(xarray=False)
    source.close()
    assert not any(b"_ARRAY_DIMENSIONS" in bytes(text) for text in store.values())


@pytest.mark.parametrize("kind", ["nczarr", "nczarr3"])
def test_no_fill(kind):
    root = Group()
    root.add_var("v", INT, (root.add_dim("x", 3),), Storage(no_fill=True))
    store, source = created(kind, root)
    source.close()
    read = open_source(store)
    var = read.root.vars["v"]
    assert var.storage.no_fill
    assert read.read(var, everything(var)).tolist() == [0, 0, 0]


def test_the_fill_value_is_that_of_the_moment_of_the_first_write():
    root = Group()
    root.add_var("v", INT, (root.add_dim("x", 3),), Storage(chunks=(1,)))
    store, source = created(root=root)
    var = source.root.vars["v"]
    source.sync()
    var.attrs["_FillValue"] = Attr.of_values("_FillValue", INT, [-1])
    source.changed(var)
    source.sync()
    assert document(store, "v/.zarray")["fill_value"] == -1
    source.write(var, (slice(0, 1, 1),), np.array([5], "i4"))
    var.attrs["_FillValue"] = Attr.of_values("_FillValue", INT, [-2])
    source.changed(var)
    source.close()
    assert document(store, "v/.zarray")["fill_value"] == -1
    assert document(store, "v/.zattrs")["_FillValue"] == -2


def test_growth_reaches_all_variables_of_the_dimension():
    store, source = created()
    t = source.root.vars["v_int"]
    source.write(t, (slice(5, 7, 1), slice(0, 4, 1)), np.ones((2, 4), "i4"))
    source.close()
    assert document(store, "v_float/.zarray")["shape"] == [7, 4]
    read = open_source(store)
    assert read.root.dims["t"].size == 7
    values = read.read(read.root.vars["v_int"], everything(read.root.vars["v_int"]))
    assert (values[:5] == INT.fill).all()
    assert (values[5:] == 1).all()


def test_a_fixed_dimension_does_not_grow():
    _, source = created()
    with pytest.raises(SelectionError, match="out of bounds"):
        source.write(source.root.vars["filled"], (slice(3, 5, 1),), np.zeros(2, "i2"))
    assert source.root.dims["x"].size == 4


def test_strided_and_listed_keys(rng):
    root = Group()
    root.add_var("v", FLOAT, (root.add_dim("y", 7), root.add_dim("x", 9)), Storage(chunks=(2, 4)))
    _, source = created(root=root)
    model = MemorySource(root)
    for key in (
        (slice(0, 7, 3), slice(1, 9, 2)),
        (np.array([6, 0, 3]), slice(0, 9, 1)),
        (np.array([1, 5]), np.array([8, 2])),
        (slice(2, 2, 1), slice(0, 9, 1)),
    ):
        shape = tuple(len(range(p.start, p.stop, p.step)) if isinstance(p, slice) else len(p) for p in key)
        values = rng.normal(size=shape).astype("f4")
        for one in (source, model):
            one.write(one.root.vars["v"], key, values)
        np.testing.assert_array_equal(source.read(source.root.vars["v"], key), model.read(model.root.vars["v"], key))
    assert_same(source, model)


def test_what_was_there_is_replaced(tmp_path):
    place = tmp_path / "d.zarr"
    create_source(place, simple(), "nczarr").close()
    root = Group()
    root.add_var("only", INT)
    create_source(place, root, "nczarr3").close()
    read = open_source(place)
    assert (read.kind, list(read.root.vars)) == ("nczarr3", ["only"])
    assert not list(place.glob(".z*"))


@pytest.mark.parametrize("kind", KINDS)
def test_an_archive(kind, tmp_path):
    place = tmp_path / "d.zip"
    source = create_source(place, simple(), kind)
    fill(source)
    values = source.read(source.root.vars["v_int"], everything(source.root.vars["v_int"]))
    source.close()
    read = open_source(place)
    np.testing.assert_array_equal(read.read(read.root.vars["v_int"], everything(read.root.vars["v_int"])), values)
    again = open_source(place, "a")
    again.write(again.root.vars["scalar"], (), np.array(8, "i4"))
    again.close()
    assert open_source(place).read(open_source(place).root.vars["scalar"], ()) == 8


def test_the_tree_is_a_copy():
    root = simple()
    _, source = created(root=root)
    source.root.dims["x"].name = "other"
    assert root.dims["x"].name == "x"
    assert source.root.vars["c"].dims[0] is source.root.dims["x"]


def test_a_closed_dataset_refuses_changes():
    _, source = created()
    source.close()
    source.close()
    with pytest.raises(ReadOnlyError):
        source.write(source.root.vars["scalar"], (), np.array(1, "i4"))


@pytest.mark.parametrize("name", [".zarray", "a/b", "..", "zarr.json"])
def test_names_that_cannot_be(name):
    root = Group()
    root.add_var(name, INT)
    store: dict[str, bytes] = {"keep": b"me"}
    with pytest.raises(UnsupportedError, match="cannot be a name"):
        create_source(store, root, "nczarr")
    assert store == {"keep": b"me"}


@pytest.mark.parametrize("options", [{"kind": "zarr", "also": "4.9.0"}, {"separator": "-"}, {"colour": True}], ids=str)
def test_options_that_are_none(options):
    with pytest.raises(UnsupportedError):
        create_source({}, Group(), **{"kind": "nczarr", **options})


def test_nothing_is_written_if_something_cannot_be():
    root = simple()
    root.add_var("bad", INT, (root.dims["x"],), Storage(filters=(Filter(12345),)))
    store: dict[str, bytes] = {}
    with pytest.raises(UnsupportedError, match="12345"):
        create_source(store, root, "nczarr")
    root.vars["bad"].storage.filters = (Filter(4),)
    with pytest.raises(UnsupportedError, match="szip"):
        create_source(store, root, "nczarr")
    del root.vars["bad"]
    root.add_var("bad", Vlen("v", INT), (root.dims["x"],))
    with pytest.raises(UnsupportedError, match="plain Zarr"):
        create_source(store, root, "zarr")
    assert store == {}


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("4.9.0", ["/c: ", "/s: ", "/scalar: ", "/p: ", "/z: ", "/g/w: ", "/t: "]),
        ("4.9.2", ["/c: ", "/scalar: ", "/p: ", "/z: ", "/g/w: ", "/t: "]),
        ("4.10.1", ["/p: ", "/z: "]),
    ],
)
def test_what_a_version_cannot_read_is_warned_of_by_name(target, expected):
    root = Group()
    x, t = root.add_dim("x", 4), root.add_dim("t", 0, unlimited=True)
    root.add_var("ok", DOUBLE, (x,))
    root.add_var("c", CHAR, (x,))
    root.add_var("s", STRING, (x,))
    root.add_var("scalar", INT)
    root.add_var("p", root.add_type(Compound("point", (Field("x", INT),))), (x,))
    root.add_var("z", INT, (x,), Storage(filters=(Filter(32015, (3,)),)))
    root.add_var("t", INT, (t,))
    root.add_group("g").add_var("w", DOUBLE, (x,), Storage(endian="big"))
    with pytest.warns(OmnizarrWarning) as caught:
        create_source({}, root, "nczarr", target=target)
    named = {str(one.message).partition(": ")[0] + ": " for one in caught}
    assert named == set(expected)
    assert all(f"netcdf-c {target} " in str(one.message) for one in caught)


def test_two_thousand_variables_are_defined_one_by_one():
    root = Group()
    root.add_dim("x", 4)
    store, source = created(root=root)
    puts = 0
    for number in range(2000):
        var = source.root.add_var(f"v{number}", INT, (source.root.dims["x"],))
        source.changed(source.root)
        source.changed(var)
        puts = len(store)
    assert puts == 2, "definitions wait for sync"
    source.close()
    assert len(open_source(store).root.vars) == 2000
