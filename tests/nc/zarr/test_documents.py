"""Documents that go on, names of all kinds, and NCZarr read as plain Zarr."""

from __future__ import annotations

import pytest

from omnizarr.errors import OmnizarrWarning
from omnizarr.nc.zarr.reader import open_reader
from tests.nc.zarr.stores import FOUR, array, names, nczarr, refers, values, zarray

NETCDF = {"_NCProperties": "version=2,netcdf=4.10.1,nczarr=2.0.0"}


def test_documents_may_go_on_after_their_value():
    store = {**nczarr({"x": 4}, ["v"]), **array("v", zarray([4]), {**refers("/x"), "a": 1}, FOUR)}
    source = open_reader({key: data if key == "v/0" else data + b', "b": 3}}' for key, data in store.items()})
    assert values(source).tolist() == [0, 1, 2, 3]
    assert list(source.root.vars["v"].attrs) == ["a"]


def test_names_of_any_letters():
    store = {**nczarr({"größe 1.x": 4}, ["a b.c", "é"]), **array("a b.c", zarray([4]), refers("/größe 1.x"), FOUR)}
    source = open_reader({**store, **array("é", zarray([4]), refers("/größe 1.x"), FOUR)})
    assert [dim.path for dim in source.root.vars["é"].dims] == ["/größe 1.x"]
    assert values(source, "a b.c").tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("name", ["..", "a/b", "", "."])
def test_names_that_lead_elsewhere_are_refused(name):
    with pytest.warns(OmnizarrWarning, match="cannot be a name"):
        assert not open_reader(nczarr({}, [name])).root.vars


def test_pure_reading_of_nczarr():
    attributes = {**refers("/x"), "_ARRAY_DIMENSIONS": ["y"], "_nczarr_attr": {"types": {"a": "<i2"}}, "a": 5}
    store = {**nczarr({"x": 4}, ["v"], attributes=NETCDF), **array("v", zarray([4]), attributes, FOUR)}
    source = open_reader(store, pure=True)
    assert (source.kind, source.generation) == ("zarr", "")
    assert names(source) == ["/y"]
    assert [(one.name, one.type.name) for one in source.root.vars["v"].attrs.values()] == [("a", "int")]
